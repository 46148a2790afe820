/* SPDX-License-Identifier: MIT */
/*
 * Landlock: a policy's plain path rules, held by the kernel.
 *
 * The system's <linux/landlock.h> stops at ABI 2; what is newer stands in landlock_abi.h, as a
 * table of rights by ABI. Nothing here prints.
 *
 * Rules are bound to the files that were there when they were opened, not to their names: a file
 * that is moved keeps the rights of its own rule, and one that takes its name does not get them.
 */
#ifndef SBX_LAUNCH_LANDLOCK_H
#define SBX_LAUNCH_LANDLOCK_H

#include "hold.h"

#include <sys/resource.h>

/*
 * The newest ABI that both the kernel and this build know and that really works, 0 when there is no
 * Landlock (or an outer filter hides it).
 */
int launch_landlock_abi(void);

/* What an ABI older than 'abi' leaves to other layers, or does not give. Ends with abi 0. */
struct launch_gap {
	int abi;
	const char *what;
};
extern const struct launch_gap launch_landlock_gaps[];

#define LANDLOCK_TCP 4 /* the first ABI that knows ports */

enum launch_layer {
	LAYER_LAUNCHER, /* A: all the policy allows, reading /proc, the places */
	LAYER_PROGRAM, /* B: the same less /proc of A's own making, plus signal and abstract scopes */
};

/* A place that is not in the policy but must be reachable: private tmp, the log, the command. */
struct launch_place {
	const char *path;
	uint8_t rights; /* SBX_RIGHT_… */
	uint8_t layers; /* 1 << LAYER_…; 0 is all of them */
	int fd; /* the place, where its path leads elsewhere by now; it is taken over. 0: none */
};

/* All that rules will be about, opened once for both layers. */
struct launch_landlock {
	const struct sbx_image *image;
	const struct launch_hold *hold; /* what the program's layer leaves out; NULL: nothing */
	struct launch_spot *spots;
	size_t count;
	struct rlimit files; /* as it was, when many spots needed more; else zero */
};

/*
 * Opens what the image's rules and 'places' name, close-on-exec and following no link: the image
 * has resolved paths, so one that has become a link since, or vanished, is an error that names it.
 * 'out' keeps pointing to the image and the places' paths.
 */
int launch_landlock_open(const struct sbx_image *image, const struct launch_hold *hold,
			 const struct launch_place *places, size_t place_count,
			 struct launch_landlock *out, struct launch_error *error);
/* What lies below a folder over which something else is mounted by now is opened again. */
void launch_landlock_reopen(struct launch_landlock *landlock, const char *folder);
/* In every process that goes on to exec: gives back the limit of open files, too. */
void launch_landlock_done(struct launch_landlock *landlock);

/*
 * Builds a ruleset for 'abi' (files and folders get the rights that apply to them). Returns its
 * descriptor, close-on-exec, or a negative errno. TCP ports are part of layer B where the ABI has
 * them and the policy's network rules can be expressed as ports: mode none (no connect, no bind but
 * what 'own' needs) and filtered rules of one port; mode full leaves the network alone.
 */
int launch_landlock_ruleset(const struct launch_landlock *landlock, int abi,
			    enum launch_layer layer, struct launch_error *error);

/* Makes the ruleset and puts the calling thread under it. */
int launch_landlock_apply(const struct launch_landlock *landlock, int abi, enum launch_layer layer,
			  struct launch_error *error);

/* All of it for one layer. */
int launch_landlock_build(const struct sbx_image *image, int abi, enum launch_layer layer,
			  const struct launch_place *places, size_t place_count,
			  struct launch_error *error);

/* Puts the calling thread under it; E2BIG (16 layers) has its own sentence. Needs no_new_privs. */
int launch_landlock_enforce(int ruleset, struct launch_error *error);

/*
 * What the policy asks that plain rules cannot hold: deny or hide inside something allowed,
 * patterns, suffixes, sizes, [path] modes that take away, roots that do not exist yet. The first
 * such rule, or SBX_NONE. Default protections and the policy's own files are not counted (they are
 * named by the plan). 'why' ends a sentence that begins with the rule.
 */
uint32_t launch_landlock_unheld(const struct sbx_image *image, const char **why);

/* The kernel's rights for ours, on a file of type 'mode'; 'dev' says that it lies below /dev. */
uint64_t launch_landlock_access(uint8_t rights, mode_t mode, bool dev, int abi);

#endif
