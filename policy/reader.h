/* SPDX-License-Identifier: MIT */
/*
 * Compile side: bytes of a policy file in, checked (section, key, item) triples out.
 *
 * inih does the INI reading. In front of it stands a strict line reader, because inih 55 cuts long
 * lines into live pieces, takes indented lines for continuations, drops what follows " ;", cuts
 * section names at 49 bytes and goes on after errors: nothing reaches it that it could misread.
 */
#ifndef SBX_READER_H
#define SBX_READER_H

#include "values.h"

struct sbx_entry {
	unsigned int line;
	enum sbx_key key;
	const char *name; /* NAME of [path NAME], else "" */
	unsigned int section_line; /* where that section began */
	uint64_t value; /* as sbx_value_parse() reads it */
	const char *text; /* one item of a list, or the whole scalar; quotes and escapes resolved */
	bool quoted; /* taken as it is: no pattern, no variable, no " ?" */
	bool optional; /* " ?" stood behind it (path lists and path scalars) */
};

struct sbx_reader_ops {
	/* One item. 'entry' and its strings last for the call only. */
	void (*entry)(void *arg, const struct sbx_entry *entry);
	/* A new [path NAME] section, also when it is empty. */
	void (*section)(void *arg, unsigned int line, const char *name);
	/* One thing wrong; reading goes on with the next line. */
	void (*error)(void *arg, unsigned int line, const char *text);
};

/* Reports everything through 'ops'. Returns 0, or -EINVAL when any error was reported. */
int sbx_read_text(const char *text, size_t size, const struct sbx_reader_ops *ops, void *arg);

/* One value of the command line, split and checked the same way; errors come with line 0. */
int sbx_read_value(enum sbx_key key, const char *value, const struct sbx_reader_ops *ops,
		   void *arg);

#endif
