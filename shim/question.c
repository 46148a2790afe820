/* SPDX-License-Identifier: MIT */
/*
 * Knows from the rows of pathcalls.def what each system call does. Memory is read as the kernel has just
 * read it. Must never act on what the call was about.
 */
#include "question.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "pathcalls.h"
#include "peer.h"

static const struct row {
	short number;
	struct sbx_path_call call;
	char name[12];
} rows[] = {
#define PATH_CALL(name, ...) { SYS_##name, SBX_PATH_CALL(__VA_ARGS__), #name },
#if !SHIM_HAS_OLD_CALLS
#define OLD_PATH_CALL(...)
#endif
#include "pathcalls.def"
};

/* A row and the call that it is about. */
struct tried {
	const struct row *row;
	const struct shim_call *call;
};

static const struct row *find_row(long number)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].number == number)
			return &rows[i];
	return NULL;
}

static int dir_at(const struct tried *tried, int index)
{
	return index < 0 ? AT_FDCWD : (int)tried->call->args[index];
}

static const char *path_at(const struct tried *tried, int index)
{
	return (const char *)tried->call->args[index];
}

static unsigned int flags_of(const struct tried *tried)
{
	return tried->row->call.flags < 0 ? 0
					  : (unsigned int)tried->call->args[tried->row->call.flags];
}

static bool ask(struct shim_question *question, enum sbx_op op)
{
	question->request = (struct sbx_request){ .op = op,
						  .is_dir = question->at.is_dir,
						  .missing = question->at.missing,
						  .size = -1,
						  .path = question->at.path };
	if (op == SBX_OP_READ || op == SBX_OP_WRITE)
		question->request.size = question->at.size;
	return true;
}

static bool find(struct shim_question *question, const struct tried *tried, bool follow)
{
	question->given = path_at(tried, tried->row->call.path);
	return shim_place_find(&question->at, dir_at(tried, tried->row->call.dir), question->given,
			       follow);
}

static bool ask_open(struct shim_question *question, const struct tried *tried, int flags,
		     unsigned int number)
{
	const int unique = O_CREAT | O_EXCL;
	bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC);

	if (!find(question, tried, !(flags & O_NOFOLLOW) && (flags & unique) != unique))
		return false;
	if (question->at.missing)
		return number == 0 && (flags & O_CREAT) && ask(question, SBX_OP_CREATE);
	if (writes && number == 0)
		return ask(question, SBX_OP_WRITE);
	if (number > (writes ? 1 : 0) || (flags & O_ACCMODE) == O_WRONLY)
		return false;
	return ask(question, question->at.is_dir ? SBX_OP_LIST : SBX_OP_READ);
}

static bool ask_make(struct shim_question *question, const struct tried *tried)
{
	if (!find(question, tried, false) || !ask(question, SBX_OP_CREATE))
		return false;
	question->request.is_dir = tried->row->call.act == SBX_ACT_MKDIR;
	question->request.is_link = tried->row->call.act == SBX_ACT_SYMLINK;
	return true;
}

/* The new name of a link. */
static bool ask_link(struct shim_question *question, const struct tried *tried)
{
	question->given = path_at(tried, tried->row->call.to_path);
	return shim_place_find(&question->at, dir_at(tried, tried->row->call.to_dir),
			       question->given, false) &&
	       ask(question, SBX_OP_CREATE);
}

static bool ask_move(struct shim_question *question, const struct tried *tried, bool follow)
{
	question->given_to = path_at(tried, tried->row->call.to_path);
	if (!find(question, tried, follow) || question->at.missing ||
	    !shim_place_find(&question->to, dir_at(tried, tried->row->call.to_dir),
			     question->given_to, false))
		return false;
	(void)ask(question, SBX_OP_RENAME);
	question->request.to = question->to.path;
	return true;
}

/* The file itself, then the program that runs it as a script, and that one's. */
static bool ask_exec(struct shim_question *question, const struct tried *tried, unsigned int number)
{
	int flags = (int)flags_of(tried), dir = dir_at(tried, tried->row->call.dir);
	const char *path = path_at(tried, tried->row->call.path);

	for (unsigned int i = 0; i < number; i++) {
		if (!shim_program_script(dir, path, flags, question->text))
			return false;
		path = question->text;
		dir = AT_FDCWD;
		flags = 0;
	}
	question->given = *path ? path : question->at.path;
	return number < 5 &&
	       shim_place_find(&question->at, dir, path, !(flags & AT_SYMLINK_NOFOLLOW)) &&
	       !question->at.missing && ask(question, SBX_OP_EXEC);
}

/* "93.184.216.34:443" */
static void put_destination(const struct sbx_request *request, char *text)
{
	bool six = request->addr.family == 6;
	unsigned int port = request->port, scale = 10000;
	size_t len;

	if (six)
		*text++ = '[';
	len = sbx_addr_format(&request->addr, text);
	text += len;
	if (six)
		*text++ = ']';
	*text++ = ':';
	while (scale > 1 && port < scale)
		scale /= 10;
	for (; scale > 0; scale /= 10)
		*text++ = (char)('0' + port / scale % 10);
	*text = '\0';
}

/* A UNIX socket is made, like a file; its path may end where the address does. */
static bool ask_socket(struct shim_question *question, const struct tried *tried)
{
	const struct sockaddr_un *address = (const void *)path_at(tried, tried->row->call.path);
	size_t size = flags_of(tried), head = offsetof(struct sockaddr_un, sun_path);

	if (size <= head || size > sizeof(*address))
		return false;
	memcpy(question->text, address->sun_path, size - head);
	question->text[size - head] = '\0';
	question->given = question->text;
	return shim_place_find(&question->at, AT_FDCWD, question->text, false) &&
	       question->at.missing && ask(question, SBX_OP_BIND);
}

/* A name that was not found (lookup.c); text has room for what a host can be called. */
static bool ask_lookup(struct shim_question *question, const struct tried *tried)
{
	static const char *const functions[SBX_TOLD_COUNT] = {
#define LOOKUP(name) [SBX_TOLD_##name] = #name,
#include "lookups.def"
	};
	const struct sbx_told *told = (const void *)path_at(tried, tried->row->call.path);
	size_t len = flags_of(tried) - offsetof(struct sbx_told, name);
	unsigned long by = (unsigned long)tried->call->args[3];

	if (by >= SBX_TOLD_COUNT || len > sizeof(told->name) ||
	    sbx_host_normalize(told->name, len, question->text))
		return false;
	question->given = question->text;
	question->syscall = functions[by];
	question->request =
		(struct sbx_request){ .op = SBX_OP_LOOKUP, .size = -1, .host = question->text };
	return true;
}

static bool ask_network(struct shim_question *question, const struct tried *tried, enum sbx_op op)
{
	const void *memory = path_at(tried, tried->row->call.path);
	const struct sockaddr_in *four = memory;
	const struct sockaddr_in6 *six = memory;
	unsigned long size = flags_of(tried);

	if (op == SBX_OP_BIND && size >= sizeof(sa_family_t) && four->sin_family == AF_UNIX)
		return ask_socket(question, tried);
	if (size > sizeof(sa_family_t) && four->sin_family == SBX_TOLD_FAMILY)
		return ask_lookup(question, tried);
	question->request = (struct sbx_request){ .op = op, .size = -1 };
	if (size < sizeof(*four))
		return false;
	question->request.port = ntohs(four->sin_port);
	if (four->sin_family == AF_INET) {
		question->request.addr.family = 4;
		memcpy(question->request.addr.bytes, &four->sin_addr, 4);
	} else if (six->sin6_family == AF_INET6 && size >= 24) {
		question->request.addr.family = 6;
		memcpy(question->request.addr.bytes, &six->sin6_addr, 16);
	} else {
		return false;
	}
	put_destination(&question->request, question->text);
	question->given = question->text;
	return true;
}

/* Calls that are one question only. */
static bool ask_one(struct shim_question *question, const struct tried *tried)
{
	switch (tried->row->call.act) {
	case SBX_ACT_TRUNCATE:
		return find(question, tried, true) && !question->at.missing &&
		       ask(question, SBX_OP_WRITE);
	case SBX_ACT_UNLINK:
	case SBX_ACT_RMDIR:
		return find(question, tried, false) && !question->at.missing &&
		       ask(question, SBX_OP_DELETE);
	case SBX_ACT_MKDIR:
	case SBX_ACT_MKNOD:
	case SBX_ACT_SYMLINK:
		return ask_make(question, tried);
	case SBX_ACT_RENAME:
		return ask_move(question, tried, false);
	case SBX_ACT_CONNECT:
		return ask_network(question, tried, SBX_OP_CONNECT);
	case SBX_ACT_BIND:
		return ask_network(question, tried, SBX_OP_BIND);
	default:
		return false;
	}
}

bool shim_question(struct shim_question *question, const struct shim_call *call, long error,
		   unsigned int number)
{
	struct tried tried = { find_row(call->number), call };

	if (!tried.row)
		return false;
	question->syscall = tried.row->name;
	question->given_to = NULL;
	switch (tried.row->call.act) {
	case SBX_ACT_OPEN:
		return ask_open(question, &tried, (int)flags_of(&tried), number);
	case SBX_ACT_OPEN_HOW:
		return ask_open(question, &tried,
				(int)((const struct open_how *)path_at(&tried, 2))->flags, number);
	case SBX_ACT_CREAT:
		return ask_open(question, &tried, O_WRONLY | O_CREAT | O_TRUNC, number);
	case SBX_ACT_EXEC:
		return ask_exec(question, &tried, number);
	case SBX_ACT_LINK:
		/* What a link would gain is what a move would. */
		if (number == 1 && error == -EXDEV)
			return ask_move(question, &tried, flags_of(&tried) & AT_SYMLINK_FOLLOW);
		return number == 0 && ask_link(question, &tried);
	default:
		return number == 0 && ask_one(question, &tried);
	}
}
