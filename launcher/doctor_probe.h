/* SPDX-License-Identifier: MIT */
/*
 * The probes behind --doctor's rows, and the child that each of them runs in.
 *
 * A probe may do to its process what it likes and leave its own children behind: a warden between
 * it and the caller ends and reaps them all, also when time is up. It returns 0 for "it works", or
 * a negative errno after one of the functions below said why not. Only doctor.c uses this.
 */
#ifndef SBX_LAUNCH_DOCTOR_PROBE_H
#define SBX_LAUNCH_DOCTOR_PROBE_H

#include <stdbool.h>
#include <sys/types.h>

enum launch_state {
	STATE_UNTRIED, /* not tried yet, or it could not be; detail says which */
	STATE_YES,
	STATE_NO,
	STATE_SILENT, /* did not answer in time */
	STATE_IMPLIED, /* not tried: what it needs is missing */
};

struct launch_finding {
	enum launch_state state;
	int error; /* the errno behind STATE_NO, or 0 */
	int number; /* what the row counts: the ABI, layers left; else 0 */
	char detail[240]; /* for STATE_YES a remark or "", else what went wrong */
};

typedef int launch_probe(struct launch_finding *found);

/* Runs a probe in a child and fills 'found'. */
void launch_probe_run(launch_probe *probe, struct launch_finding *found);

/* For probes: what failed, with errno's words; its negative errno is returned. */
int launch_probe_failed(struct launch_finding *found, const char *what);
/* Nothing failed, but it did not do what it must: a sentence. Returns -EPROTO. */
int launch_probe_wrong(struct launch_finding *found, const char *sentence);
/* Adds to the detail. */
void launch_probe_say(struct launch_finding *found, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* fork() for a child that ends with its parent at the latest. */
pid_t launch_probe_fork(void);
/* 0 when the child ended with exit status 0, else -1. */
int launch_probe_wait(pid_t pid);

/* doctor_kernel.c */
launch_probe launch_try_landlock;
launch_probe launch_try_landlock_layers;
launch_probe launch_try_no_new_privs;
launch_probe launch_try_seccomp;
launch_probe launch_try_notify;
launch_probe launch_try_notify_killable;
launch_probe launch_try_notify_addfd;
launch_probe launch_try_notify_addfd_send;
launch_probe launch_try_notify_sync;

/* doctor_space.c */
launch_probe launch_try_userns;
launch_probe launch_try_mountns;
launch_probe launch_try_netns;
launch_probe launch_try_netns_route;
launch_probe launch_try_pidns;
launch_probe launch_try_pidns_proc;
launch_probe launch_try_ipcns;

/* doctor_process.c */
launch_probe launch_try_read_memory;
launch_probe launch_try_pidfd;
launch_probe launch_try_close_range;
launch_probe launch_try_subreaper;
launch_probe launch_try_pdeathsig;
launch_probe launch_try_children;
launch_probe launch_try_cpu_timer;
launch_probe launch_try_rlimits;
launch_probe launch_try_smaps;
launch_probe launch_try_memfd_noexec;

#endif
