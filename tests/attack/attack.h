/* SPDX-License-Identifier: MIT */
/*
 * attack: one program that makes every attack of cases.def, in a world that the harness made:
 *
 *	attack [-o] ID WORLD [NAME=VALUE...]	-o: files by a system call instruction of its own
 *	attack launch COMMAND...		a launcher that confines nothing, for the native half
 *
 * WORLD has work/ (the sandbox may write), ro/ (may read), secret/ (nothing), home/ and more. Each
 * step of an attack is printed as "step NAME ok" or "step NAME ERRNO". Exit status: 0 it succeeded,
 * 1 it was refused, 2 it cannot be judged here (the last line says why), 3 it succeeded in part.
 *
 * It is hostile but harmless: outside of WORLD it only asks, and what would change the machine is
 * called with arguments that cannot work, to see who refuses: the sandbox or the kernel.
 */
#ifndef ATTACK_H
#define ATTACK_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* A path in the world, good for the next 16 calls. */
const char *at(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What the harness told: NAME=VALUE. Cannot be judged without. */
const char *fact(const char *name);
const char *has_fact(const char *name); /* or NULL */
long fact_number(const char *name);

/*
 * Results of steps, as system calls return them, with errno. An attack has succeeded when some step
 * did and none failed that had to succeed.
 */
void step(const char *name, long result); /* has to succeed natively */
void maybe(const char *name,
	   long result); /* need not: not everybody may, or not every kernel has it */
void never(const char *name, long result); /* must fail everywhere */
void must(const char *name, long result); /* has to succeed everywhere; says so when it does not */
/* Has succeeded when the answer is this errno, or a success for 0. */
void answers(const char *name, long result, int error);

/* With senseless arguments: has succeeded when the kernel itself looked at them. */
void reached(const char *name, long result);

/*
 * In a child, which a step may kill or change. -1 and errno, which for a child that a signal ended
 * is SIGNALLED and its number.
 */
#define SIGNALLED 1000
long in_child(long (*attempt)(void));

/* Threads get their number; all have to come to an end. */
void run_threads(pthread_t *threads, int count, void *(*body)(void *));
void join_threads(const pthread_t *threads, int count);

long how_often(long usually); /* or as the harness says */
/* Seconds, for whoever waits until something has happened; */
double seconds(void);
/* until the other thread of a race has had its turn, on a busy machine. */
#define RACE_SECONDS 10

void cannot_judge(const char *why) __attribute__((noreturn));

/* Tells the harness that it is time, and waits until it has done its part. */
void wait_for_harness(void);

/* As much of a namespace as this user can get, to make the attack in. Never fails. */
void enter_namespaces(int flags);

/* Prints what a file or a piece of memory says; -1 when it cannot be opened or read. */
int spill(const char *path);
int spill_fd(int fd);
void spill_bytes(const void *bytes, size_t size);

/* By libc or, with -o, by an own instruction; -1 and errno. */
int do_open(const char *path, int flags, int mode);
int do_unlink(const char *path);
int do_rmdir(const char *path);
int do_mkdir(const char *path, int mode);
int do_mknod(const char *path, int mode, dev_t device);
int do_rename(const char *from, const char *to);
int do_exchange(const char *a, const char *b);
int do_link(const char *from, const char *to);
int do_symlink(const char *target, const char *path);
int do_truncate(const char *path, long size);

long opens(const char *path, int flags); /* and closes it again */
int write_into(const char *path, int flags); /* "evil" */
bool has_text(int fd, const char *text); /* all of a small file is this */

/* Newer than the headers that this may be built with; and opened for neither reading nor writing. */
enum {
	NR_openat2 = 437,
	NEITHER = 3,
};

/* Any other call with at most five arguments. */
long do_call(long number, long a, long b, long c, long d, long e);
/* A word where the kernel looks at nothing: it may save a question, and never change an answer. */
long with_word(long word, long number, long a, long b, long c, long d, long e);

/* Executes this program or a copy of it for a case. Returns when it cannot, with errno. */
void become(const char *program, const char *id, const char *more);

#define CASE(id, topic, title, function, ...) void function(void);
#include "cases.def"
#undef CASE

#endif
