/* SPDX-License-Identifier: MIT */
/*
 * syscalls.def as data: the calls, the rules about their arguments, and BPF made of both. Shared by
 * the build-time generator, the launcher and whoever answers notifications, so that all of them
 * decide by the same rows.
 */
#ifndef SBX_LAUNCH_CALLS_H
#define SBX_LAUNCH_CALLS_H

#include "filter.h"
#include "pathcalls.h"

#include <errno.h>

enum launch_call_index {
#define CALL(group, name, ...) LAUNCH_CALL_##name,
#include "syscalls.def"
	LAUNCH_CALL_COUNT
};

enum {
	LAUNCH_TESTS = 3,
	LAUNCH_NUMBERS = 512, /* every call of syscalls.def has a smaller one */
};

/* What an ARG row says: one of the first four, or the errno to answer. */
enum launch_outcome {
	ARG_TELL = -3, /* allowed; whoever listens is told before */
	ARG_PRETEND = -2, /* nothing is done, and 0 answered */
	ARG_REFUSE = -1, /* refused in words where there is a listener, else EPERM */
	ARG_ALLOW = 0,
	ARG_EPERM = EPERM,
	ARG_EACCES = EACCES,
	ARG_EOPNOTSUPP = EOPNOTSUPP,
};

/* Whether (lower half of args[arg] & mask) == value is 'equal'. A mask of 0 ends the tests. */
struct launch_test {
	uint32_t mask;
	uint32_t value;
	uint8_t arg;
	bool equal;
};

struct launch_rule {
	enum launch_call_index call;
	enum launch_outcome outcome;
	struct launch_test tests[LAUNCH_TESTS];
};

/* The rules of a call stand together, in the order in which they are tried. */
const struct launch_rule *launch_rules(size_t *count);

/*
 * Whether the call, or some uses of it, pass the listening filter only to be refused by whoever
 * listens, or for it to know of them. Every such call must be notified.
 */
bool launch_call_asks(const struct launch_call *call);
/* What to answer such a call. Arguments are registers: no other thread can change them. */
enum launch_outcome launch_call_judge(const struct launch_call *call, const uint64_t args[6]);

/* What pathcalls.def or metacalls.def says about it; SBX_ACT_NOTHING for what has no row there. */
const struct sbx_path_call *launch_call_path(enum launch_call_index call);
/* It has a row of metacalls.def: no layer decides it after us. */
bool launch_call_is_unheld(enum launch_call_index call);

/* What a call of looks.def does. */
enum launch_look_act {
	LOOK_NOTHING, /* it is none of these calls */
	LOOK_STAT,
	LOOK_LSTAT,
	LOOK_STATX,
	LOOK_ACCESS,
	LOOK_READLINK,
	LOOK_STATFS,
	LOOK_CHDIR,
	LOOK_WATCH,
	LOOK_LIST,
};

/* A row: numbers of arguments, or -1. */
struct launch_look {
	int8_t act;
	int8_t dir;
	int8_t path;
	int8_t out;
	int8_t more;
	int8_t flags;
};
const struct launch_look *launch_call_look(enum launch_call_index call);
/* Of those, one that asks for news: it is asked about wherever the supervisor acts. */
bool launch_call_is_watch(enum launch_call_index call);

/* A new process or thread. */
bool launch_call_is_birth(enum launch_call_index call);
/* kill() and its kin; and fcntl(), which says who gets a signal when there is something to read. */
bool launch_call_is_signal(enum launch_call_index call);

struct launch_program {
	unsigned short len;
	struct sock_filter code[BPF_MAXINSNS];
};

/*
 * Builds the base filter; 'listening' says that a notify filter follows: what is refused passes then,
 * and is refused there, in words. loosened[i] says that row i is allowed whatever it says; NULL loosens
 * nothing. 'program' is undefined on failure.
 */
int launch_filter_build(bool listening, const bool *loosened, struct launch_program *program);

/*
 * What a policy says about system calls, by row of syscalls.def, about kinds of sockets, and about
 * what is explained.
 */
struct launch_wishes {
	bool allowed[LAUNCH_CALL_COUNT];
	bool denied[LAUNCH_CALL_COUNT];
	bool no_udp;
	bool no_unix_datagram;
	bool asks_network; /* connect and bind are decided by rules */
	bool files; /* files, and sockets that are files, are the supervisor's to make */
	bool umasks; /* the supervisor makes files, and wants to know umasks */
	bool vouched; /* Landlock decides, so a voucher is enough */
	bool scopes; /* and keeps signals inside */
	bool no_tcp;
	bool names; /* sockets are the supervisor's to make: hosts are allowed by name */
	/* Modes, owners, times and lengths are the supervisor's to change, and watches its to add. */
	bool metadata;
	bool memfd; /* and files in memory its to make */
	bool quiet; /* what libraries open for reading by themselves is not asked about */
	bool hushes; /* what libc opens inside itself, sockets too, is refused without words */
	/*
	 * Something is hidden: who only looks at files is asked about, and no call by path is vouched
	 * for, because Landlock would say that what is hidden is there.
	 */
	bool hides;
};

/* With a listener what is denied is for that one to refuse, in words. */
int launch_filter_wishes(const struct sbx_image *image, struct launch_wishes *wishes,
			 struct launch_error *error);

/*
 * Judges socket(2) and socketpair(2) by the kind of socket: 'refuse', or it passes here. One of a pair
 * can send to any address too. Returns its length.
 */
#define LAUNCH_SOCKETS_LEN 14
unsigned short launch_filter_sockets(const struct launch_wishes *wishes, uint32_t refuse,
				     struct sock_filter code[LAUNCH_SOCKETS_LEN]);

/*
 * The notify filter: births, what is refused or denied, and what Landlock decides without a voucher
 * (see contract.h) are asked about, and so are kinds of sockets; all else passes.
 */
int launch_filter_build_notify(const struct launch_wishes *wishes, struct launch_program *program);

/*
 * Base filter and notify filter in one, as the kernel would join their answers: half the time to load,
 * and one program to run for each call. This is what runs with a listener have.
 */
int launch_filter_build_both(const struct launch_wishes *wishes, struct launch_program *program);

#endif
