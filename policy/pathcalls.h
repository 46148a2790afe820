/* SPDX-License-Identifier: MIT */
/* pathcalls.def as data, for whoever makes a table of it. */
#ifndef SBX_PATHCALLS_H
#define SBX_PATHCALLS_H

#include <stdint.h>

/* What a call does that Landlock decides. */
enum sbx_act {
	SBX_ACT_NOTHING, /* it is none of these calls */
	SBX_ACT_OPEN,
	SBX_ACT_OPEN_HOW,
	SBX_ACT_CREAT,
	SBX_ACT_TRUNCATE,
	SBX_ACT_MKDIR,
	SBX_ACT_MKNOD,
	SBX_ACT_SYMLINK,
	SBX_ACT_UNLINK,
	SBX_ACT_RMDIR,
	SBX_ACT_RENAME,
	SBX_ACT_LINK,
	SBX_ACT_EXEC,
	SBX_ACT_CONNECT,
	SBX_ACT_BIND,

	/* What it does not see; only the launcher has rows of these. */
	SBX_ACT_MODE,
	SBX_ACT_OWNER,
	SBX_ACT_OWNER_OF_LINK,
	SBX_ACT_SECONDS, /* times, by the unit that they are told in */
	SBX_ACT_MICROSECONDS,
	SBX_ACT_NANOSECONDS,
	SBX_ACT_MEMFD,
	SBX_ACT_LISTEN,
};

/* A row: numbers of arguments, or -1. */
struct sbx_path_call {
	int8_t act;
	int8_t dir;
	int8_t path;
	int8_t to_dir;
	int8_t to_path;
	int8_t flags;
};

/* What rows are made with: SBX_PATH_CALL(act, ...) is a struct sbx_path_call. */
#define SBX_PATH_CALL(act, dir, path, to_dir, to_path, flags)                                      \
	{                                                                                          \
		SBX_ACT_##act, SBX_ARG_##dir, SBX_ARG_##path, SBX_ARG_##to_dir, SBX_ARG_##to_path, \
			SBX_ARG_##flags                                                            \
	}
enum {
	SBX_ARG_NONE = -1,
	SBX_ARG_0,
	SBX_ARG_1,
	SBX_ARG_2,
	SBX_ARG_3,
	SBX_ARG_4
};

#endif
