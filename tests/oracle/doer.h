/* SPDX-License-Identifier: MIT */
/*
 * What the test asks of the program that it starts bare and in a sandbox: one system call at a time,
 * with any arguments, through a pipe; what came of it comes back through another.
 */
#ifndef DOER_H
#define DOER_H

#include <stdbool.h>
#include <stdint.h>

#define DOER_PATH 4400 /* longer than any path may be */
#define DOER_TEXT "@" /* begins a path from the root of the tree */

enum doer_call {
	DO_OPENAT2,
	DO_OPEN,
	DO_OPENAT,
	DO_CREAT,
	DO_RENAME,
	DO_RENAMEAT2,
	DO_LINK,
	DO_LINKAT,
	DO_UNLINK,
	DO_UNLINKAT,
	DO_RMDIR,
	DO_MKDIR,
	DO_MKNOD,
	DO_SYMLINK,
	DO_TRUNCATE,
	DO_COUNT
};

/* What relative paths start from. */
enum doer_dir {
	DIR_HERE,
	DIR_FOLDER,
	DIR_FILE,
	DIR_NONE,
	DIR_COUNT
};

/* Where a path or a struct is, when it is not where it should be. */
enum doer_place {
	AT_ITS_PLACE,
	AT_NULL,
	AT_ONE,
	AT_NOTHING,
	AT_THE_END,
	PLACE_COUNT
};

struct doer_case {
	enum doer_call call;
	bool raw; /* by syscall(), else by the function of libc */
	enum doer_dir dir, to_dir;
	enum doer_place place, to_place, how_place;
	uint64_t flags, mode, resolve;
	uint64_t size; /* of struct open_how, as it is said to be */
	bool dirty; /* what is behind the struct is not zero */
	uint32_t mask;
	int64_t length;
	bool links; /* what was opened gets the name 'to' */
	char base[256]; /* DIR_FOLDER */
	char path[DOER_PATH];
	char to[DOER_PATH];
};

struct doer_result {
	int64_t value; /* or -errno */
	int32_t descriptor_flags, status_flags;
	uint32_t mode;
	int64_t size;
	int64_t offsets[2]; /* after a write at the beginning, and one more after going back */
	int32_t link_error;
};

#endif
