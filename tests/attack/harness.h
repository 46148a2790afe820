/* SPDX-License-Identifier: MIT */
/*
 * Judges the attacks of cases.def: each is made natively first, in a throw-away world, and must
 * succeed there; then in the sandbox, in another world like it, where it must be refused. What the
 * program says of itself is not believed alone: no secret may be in its output, nothing outside of
 * work/ may change, and hooks look at what else it was after.
 *
 * Run by root, everything is done once more as an ordinary user.
 */
#ifndef ATTACK_HARNESS_H
#define ATTACK_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum attack_topic {
	FILES,
	CALLS,
	PROCESS,
	NETWORK,
	START,
	ASKED,
	SHIM,
	HOLES,
	UNSEEN
};

/* As cases.def describes them. */
enum {
	INSIDE = 0,
	LEAK = 1,
	CHANGE = 2,
	SEEN = 4
};
enum {
	SILENT = 1,
	USER = 2,
	WORKS = 4,
	WAITS = 8,
	PREPARE = 16,
	APART = 32,
	KERNEL = 64,
	REFUSES = 128,
	EXECUTES = 256
};

struct attack_row {
	const char *id;
	enum attack_topic topic;
	const char *title, *expect;
	unsigned effects, flags;
};

/* How the attacking program is built, and how it is called. */
struct attack_way {
	const char *name;
	const char *program; /* in the folder of programs */
	const char *option; /* or NULL */
	const char *before[4]; /* a command that starts it */
	const char *loads; /* its output shows that this happened, or NULL */
	bool quiet; /* refused to read, it gets no words: its instruction lies where libraries do */
};
extern const struct attack_way attack_ways[]; /* dynamic, static; ends with a name of NULL */

struct scene {
	const struct attack_row *row;
	const struct attack_way *way;
	bool user; /* as an ordinary user, while the harness is root */
	char world[64];
	char marker[40]; /* in every secret */
	char program[128];

	bool sandboxed;

	/* for hooks to fill, before the run */
	char policy[1024]; /* more lines of it */
	char facts[12][160];
	size_t fact_count;
	char variables[24][160];
	size_t variable_count;
	const char *start_in; /* a folder of the world; "work" */
	const char *policy_in; /* the same for the policy; "." */
	int terminal; /* what becomes its controlling terminal; -1 */
	int descriptor; /* what it inherits as 3, 100 and 1023; -1 */
	bool wrapped; /* one more process above the launcher */
	bool loud; /* refusals are explained */
	const char *const *watched; /* names that must not change in work/ either; ends with NULL */
	pid_t child; /* the launcher, or what natively stands in for it */
	pid_t victim;
	int things[4]; /* of the hooks */

	/* the result */
	size_t length;
	int status; /* exit status, 128 and a signal's number, or -1 when it took too long */
	char out[1 << 21]; /* the last: it is not cleared */
};

struct attack_hook {
	const char *id;
	void (*arrange)(struct scene *scene);
	void (*meanwhile)(struct scene *scene);
	bool (*seen)(struct scene *scene);
	void (*clear)(struct scene *scene);
	const char *explained; /* the sandbox says this; or NULL */
};

/* Makes the folder of the programs; says so and ends the test when there is no launcher. */
void attack_begin(void);
int attack_end(void);

const char *attack_folder(void); /* that all of it happens in */
const char *attack_launcher(void);
bool attack_root(void); /* the harness is root */

/* Calls 'test' for root and for an ordinary user, or for the ordinary user that this is. */
void attack_as_each(void (*test)(bool user));

/*
 * From here on: all of the world is allowed, but for secret/, home/ and the like, which become holes
 * in it; and the launcher is started by one of the programs, which changes what it finds (NULL: by
 * none).
 */
void attack_in_holes(bool on);
void attack_beneath(const char *program);

/* All rows of a topic; 'hooks' end with an id of NULL. */
void attack_all(enum attack_topic topic, const struct attack_way *way, bool user,
		const struct attack_hook *hooks);
/* The same by a program that is built and started in every way there is. */
void attack_in_every_way(enum attack_topic topic, bool user, const struct attack_hook *hooks);

/* In every way; and where no namespaces are to be had. */
void attack_twice(enum attack_topic topic, bool user, const struct attack_hook *hooks);
/* Aimed at holes, with namespaces to be had and without. */
void attack_holes(enum attack_topic topic, bool user, const struct attack_hook *hooks);

/* For tests that are not like the others. */
const struct attack_row *attack_row(const char *id);
void scene_open(struct scene *scene, const char *id, const struct attack_way *way, bool user);
void scene_close(struct scene *scene);
void scene_fact(struct scene *scene, const char *format, ...) __attribute__((format(printf, 2, 3)));
/*
 * How often a race is run in the sandbox: with the shim and without 'full', or what SBX_ATTACK_TIMES
 * says; elsewhere it is enough to see that nothing is different.
 */
void scene_races(struct scene *scene, int full, int some);
void scene_variable(struct scene *scene, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void scene_policy(struct scene *scene, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void scene_put(const struct scene *scene, const char *name, const void *bytes, size_t size);
/* Files that are made from here on belong to the user whose run it is, or to us again. */
void scene_own_files(const struct scene *scene, bool on);
void scene_copy(const struct scene *scene, const char *from, const char *to, int mode);
void scene_run(struct scene *scene, bool sandboxed, void (*meanwhile)(struct scene *));
/* The command that scene_run() starts; ends with NULL. */
void scene_command(struct scene *scene, bool sandboxed, const char *argv[64]);
void scene_become(const struct scene *scene); /* in a child: the user whose run this is */
void scene_execute(struct scene *scene, const char *const argv[]); /* in a child: and start it */
void scene_capture(struct scene *scene, const char *const argv[],
		   void (*meanwhile)(struct scene *));
void scene_victim(struct scene *scene); /* a process to attack, and facts about it */
void scene_no_victim(struct scene *scene);
const char *scene_at(const struct scene *scene, const char *name); /* good for the next 8 calls */
bool scene_says(const struct scene *scene, const char *text);
void scene_show(const struct scene *scene);
size_t scene_processes(const struct scene *scene); /* and threads of the program, now */
void scene_end_all(const struct scene *scene); /* of them */

/* The process that answers for the sandbox, while it runs; 0 when there is none. */
pid_t scene_supervisor(const struct scene *scene);
struct scene_holds {
	size_t descriptors, threads; /* 0 descriptors: it does not let itself be looked at */
};
struct scene_holds scene_holds(pid_t pid);

#endif
