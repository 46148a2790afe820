/* SPDX-License-Identifier: MIT */
/*
 * The few functions of string.h that the shim, the evaluate side in it and compilers by themselves
 * call: its own, because another library's could be hooked, or resolved too late. Hidden: the
 * program must never get to see these.
 */
#include <stddef.h>
#include <stdint.h>

/* Not from string.h, whose attributes would let the compiler leave things out. */
void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);
int bcmp(const void *a, const void *b, size_t size);
void *memchr(const void *from, int byte, size_t size);
size_t strlen(const char *text);
char *strchr(const char *text, int byte);
int strncmp(const char *a, const char *b, size_t size);
int strcmp(const char *a, const char *b);

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((char *)to)[i] = ((const char *)from)[i];
	return to;
}

void *memmove(void *to, const void *from, size_t size)
{
	if ((uintptr_t)to <= (uintptr_t)from)
		for (size_t i = 0; i < size; i++)
			((char *)to)[i] = ((const char *)from)[i];
	else
		while (size-- > 0)
			((char *)to)[size] = ((const char *)from)[size];
	return to;
}

void *memset(void *to, int byte, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((char *)to)[i] = (char)byte;
	return to;
}

int memcmp(const void *a, const void *b, size_t size)
{
	const unsigned char *left = a, *right = b;

	for (size_t i = 0; i < size; i++)
		if (left[i] != right[i])
			return left[i] - right[i];
	return 0;
}

int bcmp(const void *a, const void *b, size_t size)
{
	return memcmp(a, b, size);
}

void *memchr(const void *from, int byte, size_t size)
{
	const unsigned char *bytes = from;

	for (size_t i = 0; i < size; i++)
		if (bytes[i] == (unsigned char)byte)
			return (void *)(uintptr_t)(bytes + i);
	return NULL;
}

size_t strlen(const char *text)
{
	size_t len = 0;

	while (text[len])
		len++;
	return len;
}

char *strchr(const char *text, int byte)
{
	for (; *text != (char)byte; text++)
		if (!*text)
			return NULL;
	return (char *)(uintptr_t)text;
}

int strncmp(const char *a, const char *b, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (a[i] != b[i] || !a[i])
			return (unsigned char)a[i] - (unsigned char)b[i];
	return 0;
}

int strcmp(const char *a, const char *b)
{
	return strncmp(a, b, SIZE_MAX);
}
