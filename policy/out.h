/* SPDX-License-Identifier: MIT */
/*
 * Text into a caller's buffer, without stdio. Pure.
 *
 * Text that does not fit is dropped whole characters at a time, and counted: 'want' is the length
 * that everything would have had.
 */
#ifndef SBX_OUT_H
#define SBX_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sbx_out {
	char *text;
	size_t size;
	size_t len;
	size_t want;
};

enum sbx_escape {
	SBX_ESCAPE_PLAIN, /* hostile bytes only */
	SBX_ESCAPE_QUOTED, /* also what would end 'single quotes' or fake an escape */
	SBX_ESCAPE_ASIDE, /* also what would end (parentheses) */
	SBX_ESCAPE_JSON, /* the inside of a JSON string */
};

/* The character at 'bytes' and its length; 0 where there is no valid UTF-8. */
size_t sbx_utf8_decode(const char *bytes, size_t left, uint32_t *c);
/* Controls, and what is not seen, looks like a plain blank, or moves what is seen. */
bool sbx_is_invisible(uint32_t c);

void sbx_out_init(struct sbx_out *out, char *text, size_t size);
void sbx_out_bytes(struct sbx_out *out, const char *bytes, size_t len);
void sbx_out_str(struct sbx_out *out, const char *text);
void sbx_out_number(struct sbx_out *out, uint64_t number);
/*
 * Control, bidirectional, zero-width and other invisible characters and what is not UTF-8 come out
 * as \n, \xNN or \u{NNNN}; in JSON as \u00NN.
 */
void sbx_out_escaped(struct sbx_out *out, const char *bytes, size_t len, enum sbx_escape how);
/* The same, shortened in the middle to at most 'max' bytes. */
void sbx_out_shortened(struct sbx_out *out, const char *text, size_t max, enum sbx_escape how);
/* "text", as JSON. */
void sbx_out_json(struct sbx_out *out, const char *text);
/* Ends the text with a NUL, cut if need be; returns 'want'. */
size_t sbx_out_finish(struct sbx_out *out);

#endif
