/* SPDX-License-Identifier: MIT */
/*
 * The plan: what each layer will enforce here, and what cannot be enforced. A policy that asks for
 * what no layer can hold is refused, by file and line.
 */
#ifndef SBX_LAUNCH_PLAN_H
#define SBX_LAUNCH_PLAN_H

#include "run.h"

/* Whether the kernel's questions can be listened to: inside another sandbox somebody does already. */
bool launch_plan_listens(void);
/* Decides abi and enforced. -EINVAL when the policy asks for what cannot be held here. */
int launch_plan_make(struct launch *launch, struct launch_error *error);

/* For --dry-run: a table on standard output; with --json one object. */
void launch_plan_print(const struct launch *launch);
/* What is left out, and where the policy came from: for -v, on standard error. */
void launch_plan_notes(const struct launch *launch);
/* "sbx: node under policy.ini: write ./out; read 2 paths; …", on standard error. */
void launch_plan_banner(const struct launch *launch);

/* {"landlock":7,"seccomp":true,"notify":true} */
void launch_plan_layers(const struct launch *launch, bool listening, char out[256]);

#endif
