/* SPDX-License-Identifier: MIT */
/* Patterns of one path component: '*' is any run of bytes, '?' one character. Pure. */
#include "engine.h"

/* How many bytes the character at 's' has; a byte that starts no valid sequence stands alone. */
static size_t char_len(const char *s, size_t left)
{
	unsigned char lead = (unsigned char)s[0];
	size_t want = lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1;

	if (want > left)
		return 1;
	for (size_t i = 1; i < want; i++)
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			return 1;
	return want;
}

/* Only the last '*' is ever retried, so the cost is at most the product of the lengths. */
bool sbx_glob_match(const char *pattern, size_t pattern_len, const char *name, size_t name_len)
{
	size_t p = 0, n = 0, star = SIZE_MAX, retry = 0;

	while (n < name_len) {
		if (p < pattern_len && pattern[p] == '*') {
			star = p++;
			retry = n;
		} else if (p < pattern_len && pattern[p] == '?') {
			n += char_len(name + n, name_len - n);
			p++;
		} else if (p < pattern_len && pattern[p] == name[n]) {
			n++;
			p++;
		} else if (star != SIZE_MAX) {
			retry += char_len(name + retry, name_len - retry);
			n = retry;
			p = star + 1;
		} else {
			return false;
		}
	}
	while (p < pattern_len && pattern[p] == '*')
		p++;
	return p == pattern_len;
}
