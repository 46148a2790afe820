/* SPDX-License-Identifier: MIT */
/* The names of operations, reason codes and errnos, straight from their tables. Pure. */
#include "ops.h"

#include <errno.h>
#include <string.h>

const struct sbx_opinfo sbx_ops[SBX_OP_COUNT] = {
#define OP(id, name, verb, right, flags) [SBX_OP_##id] = { name, verb, right, flags },
#include "ops.def"
};

#define OP(...) +1
_Static_assert(0
#include "ops.def"
		       == SBX_OP_COUNT,
	       "ops.def has a row for every operation of sbx.h");

static const char *const code_names[SBX_CODE_COUNT] = {
#define CODE(id, name, error) [SBX_CODE_##id] = name,
#include "codes.def"
};

const int sbx_code_errors[SBX_CODE_COUNT] = {
#define CODE(id, name, error) [SBX_CODE_##id] = error,
#include "codes.def"
};

const char *sbx_op_name(enum sbx_op op)
{
	return sbx_ops[op].name;
}

int sbx_op_find(const char *name, size_t len)
{
	for (int i = 0; i < SBX_OP_COUNT; i++)
		if (strlen(sbx_ops[i].name) == len && !memcmp(sbx_ops[i].name, name, len))
			return i;
	return -1;
}

const char *sbx_code_name(enum sbx_code code)
{
	return code_names[code];
}

const char *sbx_errno_name(int error)
{
	switch (error) {
	case EACCES:
		return "EACCES";
	case ENOENT:
		return "ENOENT";
	case EFBIG:
		return "EFBIG";
	case EXDEV:
		return "EXDEV";
	case EPERM:
		return "EPERM";
	default:
		return "";
	}
}
