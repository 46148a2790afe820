/* SPDX-License-Identifier: MIT */
/*
 * probe: one program that makes one call and says how it ended.
 *
 *	probe [-m MODE] CALL WORD...	this call
 *	probe build FOLDER <LINES	for each line a folder FOLDER/0001..., with what it names
 *	probe [-m MODE] run FOLDER <LINES	each line's call, in its folder and in a child
 *
 * A line is [+SETUP]... CALL WORD...; calls.c has the calls, words.c what words mean, tree.c the
 * names that can be built. MODE says who enters the kernel: the function of libc (libc), its
 * syscall() (syscall) or an instruction of this program (raw). Functions that are no system call
 * have only the first; run passes them by in another mode.
 *
 * What is printed: CALL, = and the result, errno ("-" when the call left it alone), and of a new
 * descriptor what the kernel says of it; of a child that did not end with 0, how it ended.
 */
#ifndef PROBE_H
#define PROBE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

enum probe_mode {
	MODE_LIBC,
	MODE_SYSCALL,
	MODE_RAW
};

/* How a call tells what it did. */
enum probe_kind {
	KIND_NUMBER, /* 0 or -1 and errno */
	KIND_OPEN, /* a descriptor or -1 and errno */
	KIND_POINTER, /* a pointer or NULL and errno */
	KIND_ERROR, /* 0 or an error number */
	KIND_REMOVE, /* like a number; after a success errno may be that of a first try */
};

#define PROBE_ARGS 8

struct probe_call {
	const char *name;
	const char *words; /* a letter a word, see words.c */
	enum probe_kind kind;
	long number; /* of the system call, or -1 */
	long (*libc)(const long *args);
};

const struct probe_call *probe_call_find(const char *name);
long probe_call_make(const struct probe_call *call, enum probe_mode mode, const long *args);

/* Fills args from the words; false when one makes no sense. */
bool probe_words(const char *letters, char *const *words, long *args);

/* Does what a word that begins with '+' says. */
bool probe_setup(const char *word);

/* Makes in the current folder what the words name. */
bool probe_tree(char *const *words);

/* The file that carries a word's path, without what stands before it. */
const char *probe_path_of(const char *word);

#endif
