/* SPDX-License-Identifier: MIT */
/* The operation table, for the evaluate side itself. */
#ifndef SBX_OPS_H
#define SBX_OPS_H

#include "engine.h"

enum {
	SBX_OP_IS_ENTRY = 1 << 0, /* changes the folder that holds the path */
	SBX_OP_IS_LIST = 1 << 1, /* is about a folder by nature */
	SBX_OP_IS_NET = 1 << 2,
};

struct sbx_opinfo {
	const char *name;
	const char *verb;
	uint8_t right;
	uint8_t flags;
};

/* One more than the last of enum sbx_op. */
#define SBX_OP_COUNT (SBX_OP_LOOKUP + 1)

extern const struct sbx_opinfo sbx_ops[SBX_OP_COUNT];
extern const int sbx_code_errors[SBX_CODE_COUNT];

#endif
