/* SPDX-License-Identifier: MIT */
/*
 * The evaluate side: an image and a request in, a verdict out.
 *
 * Everything declared here is pure: no allocation, no system call, no lock, no errno, no stdio. It
 * runs inside the launcher, inside strangers' processes and inside the fuzzers alike.
 */
#ifndef SBX_ENGINE_H
#define SBX_ENGINE_H

#include "image.h"
#include "sbx.h"

/* Why a request was refused. The table codes.def owns errno and words. */
enum sbx_code {
#define CODE(id, name, error) SBX_CODE_##id,
#include "codes.def"
	SBX_CODE_COUNT
};

struct sbx_addr {
	uint8_t family; /* 0 when unknown, else 4 or 6 */
	uint8_t bytes[16];
};

/*
 * A question. 'path' is absolute and resolved: the engine skips empty components and "." but
 * refuses "..", which only the file system can answer. connect and bind take 'path' for a UNIX
 * socket, else host, addr or both. 'to' is where a rename leads.
 */
struct sbx_request {
	enum sbx_op op;
	bool is_dir; /* what is there, or will be created, is a directory */
	bool is_link; /* a symbolic link will be created */
	bool missing; /* nothing is there */
	bool unseen; /* whether anything is there is not known; only words differ */
	bool new_repo; /* the repository it belongs to did not exist at start */
	uint16_t port; /* of a look-up, what the name is wanted for: 0 where nobody knows */
	int64_t size; /* of the file; negative when it does not matter */
	const char *path;
	const char *to;
	const char *host; /* as sbx_host_normalize() left it */
	struct sbx_addr addr;
};

enum {
	SBX_VERDICT_PARENT = 1 << 0, /* the folder decided, not the entry itself */
	SBX_VERDICT_REPO = 1 << 1, /* holds only for a repository that existed at start */
	SBX_VERDICT_COMPLAIN = 1 << 2, /* the policy wants this reported, not refused */
	SBX_VERDICT_TARGET = 1 << 3, /* of a rename: the new name decided */
	SBX_VERDICT_OWN = 1 << 4, /* allowed by [network] own */
	SBX_VERDICT_BY_PORT = 1 << 5, /* no rule about destinations is held */
	SBX_VERDICT_SERVED = 1 << 6, /* the kernel cannot read there, and so not execute */
	SBX_VERDICT_SERVED_FILE = 1 << 7, /* nor would it with a line for the file itself */
	SBX_VERDICT_REPLACED = 1 << 8, /* what the rule was about is not there any more */
};

struct sbx_verdict {
	bool allowed;
	uint8_t code;
	uint8_t rights; /* all that the path has */
	uint16_t flags;
	int error; /* the errno of a refusal, else 0 */
	uint32_t rule; /* that decided; SBX_NONE when none spoke */
	uint32_t section; /* the [path] section in force, or SBX_NONE */
};

/* One rule that spoke on the way down; 'len' is how much of the path it spoke for. */
struct sbx_step {
	uint32_t rule;
	uint32_t len;
};

struct sbx_trace {
	struct sbx_step *steps;
	size_t cap;
	size_t count; /* may exceed cap: then some were not kept */
};

/* A rule that the policy does not have: "what if it said write = PATH?" */
struct sbx_extra {
	const char *path; /* 'len' bytes of it */
	size_t len;
	uint8_t rights; /* SBX_RIGHT_SOCKET: as if the very destination asked for were listed */
	bool missing; /* PATH does not exist yet */
};

/* 0, or -EINVAL when the bytes are not an image that this build can trust its memory to. */
int sbx_image_check(const void *bytes, size_t size);

void sbx_eval(const struct sbx_image *image, const struct sbx_request *request,
	      struct sbx_verdict *verdict);
/* The same; 'extra' and 'trace' may be NULL. */
void sbx_eval_with(const struct sbx_image *image, const struct sbx_request *request,
		   const struct sbx_extra *extra, struct sbx_trace *trace,
		   struct sbx_verdict *verdict);

/* The parts behind sbx_eval_with(): paths in eval.c, destinations in evalnet.c. */
void sbx_eval_path(const struct sbx_image *image, const struct sbx_request *request,
		   const struct sbx_extra *extra, struct sbx_trace *trace,
		   struct sbx_verdict *verdict);
void sbx_eval_net(const struct sbx_image *image, const struct sbx_request *request,
		  const struct sbx_extra *extra, struct sbx_trace *trace,
		  struct sbx_verdict *verdict);
/* The suffix and size rules of verdict->section; fills the verdict and is false when they refuse. */
bool sbx_eval_section(const struct sbx_image *image, const struct sbx_request *request,
		      struct sbx_verdict *verdict);
void sbx_refuse(struct sbx_verdict *verdict, enum sbx_code code, uint32_t rule);

/*
 * Makes a verdict of sbx_eval() on a destination what Landlock makes of it, which knows ports and no
 * listeners of the program's own: these cannot be connected to, and with own = yes only a port that
 * the kernel chooses can be listened on, at every address.
 */
void sbx_eval_by_port(const struct sbx_image *image, const struct sbx_request *request,
		      struct sbx_verdict *verdict);

/* One path component against one pattern of '*' and '?'. */
bool sbx_glob_match(const char *pattern, size_t pattern_len, const char *name, size_t name_len);

/*
 * The address that the kernel will use: IPv4 dressed as IPv6 is IPv4, and to connect to "any" is to
 * connect to this very host.
 */
struct sbx_addr sbx_addr_canonical(const struct sbx_addr *addr, enum sbx_op op);

/*
 * The key under which a destination's ports are found: 'h' host, 'w' what follows "*.", "*" anything,
 * '4' or '6' with the bits and the address of a network. Returns its length.
 */
#define SBX_NETKEY_MAX 256
size_t sbx_netkey_name(char out[SBX_NETKEY_MAX], char kind, const char *name);
size_t sbx_netkey_addr(char out[SBX_NETKEY_MAX], const struct sbx_addr *addr, unsigned int bits);

/* Where nobody knows what a name is looked up for, the port of nearly all of them stands in. */
#define SBX_LOOKUP_PORT 443

static inline uint16_t sbx_lookup_port(const struct sbx_request *request)
{
	return request->port ? request->port : SBX_LOOKUP_PORT;
}

enum sbx_network {
	SBX_NETWORK_NONE,
	SBX_NETWORK_FILTERED,
	SBX_NETWORK_FULL
};
/* The mode in force: as written, else by whether any destination is listed. */
enum sbx_network sbx_network_mode(const struct sbx_image *image);

const char *sbx_op_name(enum sbx_op op);
int sbx_op_find(const char *name, size_t len); /* -1 when there is none */
const char *sbx_code_name(enum sbx_code code);
const char *sbx_errno_name(int error); /* "EACCES"; for the codes' own errnos */

#endif
