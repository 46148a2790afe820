/* SPDX-License-Identifier: MIT */
/*
 * Loads the base filter, and judges what [syscalls] asks of it.
 *
 * A run without a listener loads a program that is part of the binary. Nothing here may weaken it but
 * 'allow', and that only for rows of syscalls.def that say so.
 */
#include "calls.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "values.h"

/* One entry of [syscalls] allow or deny. */
struct wish {
	const struct sbx_image *image;
	const struct sbx_item *item;
	const char *text;
	const char *key;
	bool *marked; /* per row of syscalls.def; marks what the entry means */
	struct launch_error *error;
};

/* What starts the program after the filter was loaded. */
static const enum launch_call_index needed[] = { LAUNCH_CALL_execve, LAUNCH_CALL_seccomp,
						 LAUNCH_CALL_close_range, LAUNCH_CALL_write,
						 LAUNCH_CALL_exit_group };

/* "policy.ini:4: " and the sentence. */
__attribute__((format(printf, 2, 3))) static int complain(const struct wish *wish,
							  const char *format, ...)
{
	const struct sbx_file *file = &sbx_files(wish->image)[wish->item->file];
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return launch_fail(wish->error, EINVAL, "%s:%u: %s", sbx_str(wish->image, file->name),
			   wish->item->line, text);
}

/* The nearest name, or group when the text is one; NULL when nothing is near. */
static const char *nearest(const char *text)
{
	size_t count;
	const struct launch_call *calls = launch_calls(&count);
	const char *best = NULL;
	unsigned int best_distance = UINT32_MAX;

	for (size_t i = 0; i < count; i++) {
		const char *word = text[0] == '@' ? calls[i].group : calls[i].name;
		unsigned int distance = sbx_distance(text, word);

		if (distance < best_distance) {
			best = word;
			best_distance = distance;
		}
	}
	return sbx_distance_is_near(best_distance, strlen(text)) ? best : NULL;
}

static int unknown(const struct wish *wish)
{
	const char *kind = wish->text[0] == '@' ? "group" : "system call";
	const char *word = nearest(wish->text);

	if (word)
		return complain(wish, "unknown %s '%s' for '%s' (did you mean '%s'?)", kind,
				wish->text, wish->key, word);
	return complain(wish, "unknown %s '%s' for '%s'", kind, wish->text, wish->key);
}

static int judge_allow(const struct wish *wish, const struct launch_call *call)
{
	if (call->verdict == CALL_ALLOW || call->loosenable)
		return 0;
	if (wish->text[0] == '@')
		return complain(wish, "group '%s' cannot be allowed because of '%s': %s",
				wish->text, call->name, call->reason);
	return complain(wish, "system call '%s' cannot be allowed: %s", wish->text, call->reason);
}

static int judge_deny(const struct wish *wish, const struct launch_call *call)
{
	size_t count;
	const struct launch_call *calls = launch_calls(&count);

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (call == &calls[needed[i]])
			return complain(wish, "'%s' cannot be denied: '%s' starts the program",
					wish->text, call->name);
	return 0;
}

static bool is_meant(const char *text, const struct launch_call *call)
{
	return strcmp(text, text[0] == '@' ? call->group : call->name) == 0;
}

static int read_wish(const struct wish *wish, bool deny)
{
	size_t count;
	const struct launch_call *calls = launch_calls(&count);
	bool found = false;
	int error;

	for (size_t i = 0; i < count; i++) {
		if (!is_meant(wish->text, &calls[i]))
			continue;
		error = deny ? judge_deny(wish, &calls[i]) : judge_allow(wish, &calls[i]);
		if (error < 0)
			return error;
		found = true;
		wish->marked[i] = deny || calls[i].verdict != CALL_ALLOW;
	}
	return found ? 0 : unknown(wish);
}

/* How many rows the list marks, or a negative errno. */
static int read_wishes(const struct sbx_image *image, enum sbx_key key,
		       bool marked[LAUNCH_CALL_COUNT], struct launch_error *error)
{
	const struct sbx_range *items = &sbx_setting(image, key)->items;
	bool deny = key == SBX_KEY_syscalls_deny;
	int count = 0;
	int failed;

	memset(marked, 0, LAUNCH_CALL_COUNT * sizeof(*marked));
	for (uint32_t i = 0; i < items->count; i++) {
		const struct sbx_item *item = &sbx_items(image)[items->first + i];
		const struct wish wish = {
			image,	item, sbx_str(image, item->text), deny ? "deny" : "allow",
			marked, error
		};

		if ((failed = read_wish(&wish, deny)) < 0)
			return failed;
	}
	for (size_t i = 0; i < LAUNCH_CALL_COUNT; i++)
		count += marked[i];
	return count;
}

int launch_filter_wishes(const struct sbx_image *image, struct launch_wishes *wishes,
			 struct launch_error *error)
{
	int failed;

	/* Much of it is for whoever has a supervisor to say. */
	*wishes = (struct launch_wishes){ .vouched = true, .scopes = true };
	failed = read_wishes(image, SBX_KEY_syscalls_allow, wishes->allowed, error);
	if (failed >= 0)
		failed = read_wishes(image, SBX_KEY_syscalls_deny, wishes->denied, error);
	wishes->no_udp = sbx_network_mode(image) != SBX_NETWORK_FULL;
	wishes->no_unix_datagram =
		wishes->no_udp && !sbx_setting(image, SBX_KEY_network_unix_datagram)->value;
	wishes->asks_network = wishes->no_udp;
	wishes->quiet = wishes->hushes = sbx_setting(image, SBX_KEY_errors_explain)->value == 0;
	return failed < 0 ? failed : 0;
}

int launch_filter_check(const struct sbx_image *image, struct launch_error *error)
{
	struct launch_wishes wishes;

	return launch_filter_wishes(image, &wishes, error);
}

static int load(const struct sock_fprog *program, struct launch_error *error)
{
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program) == 0)
		return 0;
	return launch_fail(error, errno, "cannot load the seccomp filter: %s", strerror(errno));
}

static int load_loosened(const bool *loosened, struct launch_error *error)
{
	struct launch_program program;
	int failed = launch_filter_build(false, loosened, &program);

	if (failed < 0)
		return launch_fail(error, -failed, "cannot build the seccomp filter: %s",
				   strerror(-failed));
	return load(&(struct sock_fprog){ program.len, program.code }, error);
}

/*
 * Refuses what is denied, and kinds of sockets, and passes all else; foreign architectures are the
 * base filter's.
 */
static int load_denied(const struct launch_wishes *wishes, struct launch_error *error)
{
	enum {
		HEAD = 4,
		PER_CALL = 2,
		TAIL = 3
	};
	struct sock_filter code[HEAD + PER_CALL * LAUNCH_CALL_COUNT + LAUNCH_SOCKETS_LEN + TAIL] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, seccomp_arch_native(), 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	unsigned short len = HEAD;
	size_t count;
	const struct launch_call *calls = launch_calls(&count);

	for (size_t i = 0; i < count; i++) {
		if (!wishes->denied[i] || calls[i].number < 0)
			continue;
		code[len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							   (uint32_t)calls[i].number, 0, 1);
		code[len++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	}
	code[len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 1, 0);
	code[len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socketpair, 0,
						   LAUNCH_SOCKETS_LEN);
	len += launch_filter_sockets(wishes, SECCOMP_RET_ERRNO | EACCES, code + len);
	code[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return load(&(struct sock_fprog){ len, code }, error);
}

static bool any(const bool *marked)
{
	for (size_t i = 0; i < LAUNCH_CALL_COUNT; i++)
		if (marked[i])
			return true;
	return false;
}

int launch_filter_load(const struct launch_wishes *wishes, struct launch_error *error)
{
	int failed = any(wishes->allowed) ? load_loosened(wishes->allowed, error)
					  : load(&launch_filter_standalone, error);

	if (failed < 0)
		return failed;
	return any(wishes->denied) || wishes->no_udp ? load_denied(wishes, error) : 0;
}
