/* SPDX-License-Identifier: MIT */
/*
 * What the fuzz targets share: how libFuzzer calls them, how a broken promise ends a run, and what
 * text and JSON must look like whatever went in.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "sbx.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* libFuzzer calls these. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
/* And has this one. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* Unlike assert(), always there. */
#define MUST(condition) ((condition) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #condition))
_Noreturn void fuzz_fail(const char *file, int line, const char *promise);

/* A copy that ends in a NUL, of its exact size, so that reading past it is seen; free() it. */
char *fuzz_text(const uint8_t *data, size_t size);

/* The length of the UTF-8 character at 's', or 0; written apart from policy/ to judge it. */
size_t fuzz_char(const char *s, size_t left, uint32_t *c);
bool fuzz_is_utf8(const char *s, size_t len);
/* UTF-8 without control characters; those of 'but' are allowed. */
bool fuzz_is_plain(const char *s, size_t len, const char *but);
/* Whether all of it is one JSON value. */
bool fuzz_is_json(const char *s, size_t len);

/*
 * The whole compile side on a text, which comes in as standard input. Nothing of the machine is
 * looked at but a small folder made for this, unless the text itself names a path.
 */
enum {
	FUZZ_GENERIC = 1 << 0, /* nothing of this machine is in the image: cwd is /srv */
	FUZZ_LENIENT = 1 << 1,
};
void fuzz_compile_start(void);
int fuzz_compile(const char *text, size_t size, unsigned int how, struct sbx_policy **policy,
		 struct sbx_errors *errors);

#endif
