/* SPDX-License-Identifier: MIT */
/*
 * Does a path look like a credential, or lead to a socket that is known for what it can do? Used to
 * keep from suggesting a line that would open one, and by lint. A matter of names, not a boundary.
 * Pure.
 */
#include "words.h"

#include <string.h>

static const struct {
	const char *pattern;
	const char *what; /* NULL: only looks like one */
} credentials[] = {
#define CREDENTIAL(pattern, what) { pattern, what },
#include "credentials.def"
};

static const struct {
	const char *pattern;
	struct sbx_socket socket; /* of the usual ones, without a name */
} sockets[] = {
#define SOCKET(pattern, what, why) { pattern, { what, why } },
#define USUAL(pattern) { pattern, { NULL, NULL } },
#include "sockets.def"
};

static size_t component(const char *text)
{
	size_t len = 0;

	while (text[len] && text[len] != '/')
		len++;
	return len;
}

/* Whether the pattern's components are the next ones of the path; what lies below counts too. */
static bool matches_here(const char *pattern, const char *path)
{
	for (;;) {
		size_t pattern_len = component(pattern);
		size_t len = component(path);

		if (!sbx_glob_match(pattern, pattern_len, path, len))
			return false;
		pattern += pattern_len;
		path += len;
		if (!*pattern)
			return true;
		if (!*path)
			return false;
		pattern++;
		path++;
	}
}

static bool matches(const char *pattern, const char *path)
{
	if (pattern[0] == '/')
		return matches_here(pattern + 1, path + 1);
	for (const char *c = path; *c; c++)
		if (*c == '/' && matches_here(pattern, c + 1))
			return true;
	return false;
}

const char *sbx_credential(const char *path)
{
	if (path[0] != '/')
		return NULL;
	for (size_t i = 0; i < sizeof(credentials) / sizeof(credentials[0]); i++)
		if (matches(credentials[i].pattern, path))
			return credentials[i].what;
	return NULL;
}

/* The first row that is about the path decides. */
static const struct sbx_socket *find_socket(const char *path)
{
	for (size_t i = 0; path[0] == '/' && i < sizeof(sockets) / sizeof(sockets[0]); i++)
		if (matches(sockets[i].pattern, path))
			return &sockets[i].socket;
	return NULL;
}

const struct sbx_socket *sbx_socket(const char *path)
{
	const struct sbx_socket *socket = find_socket(path);

	return socket && socket->what ? socket : NULL;
}

bool sbx_socket_is_usual(const char *path)
{
	const struct sbx_socket *socket = find_socket(path);

	return socket && !socket->what;
}
