/* SPDX-License-Identifier: MIT */
/* Reads the beginning of a file as the kernel's execve() does. Trusts nothing that it reads. */
#include "binary.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define PARTS_MOST 64 /* program headers of a file that are looked at */

/* What "#!" names. */
static void read_line(const char *start, char runner[BINARY_START])
{
	const char *word = start + 2 + strspn(start + 2, " \t");
	size_t len = strcspn(word, " \t\n");

	memcpy(runner, word, len);
	runner[len] = '\0';
}

/* PT_INTERP names the loader; a program without one needs none. */
static enum launch_binary read_parts(int fd, const Elf64_Ehdr *head, char runner[BINARY_START])
{
	for (unsigned int i = 0; i < head->e_phnum && i < PARTS_MOST; i++) {
		off_t at = (off_t)head->e_phoff + (off_t)(i * sizeof(Elf64_Phdr));
		Elf64_Phdr part;

		if (pread(fd, &part, sizeof(part), at) != (ssize_t)sizeof(part))
			return BINARY_UNKNOWN;
		if (part.p_type != PT_INTERP)
			continue;
		if (part.p_filesz >= BINARY_START ||
		    pread(fd, runner, part.p_filesz, (off_t)part.p_offset) !=
			    (ssize_t)part.p_filesz) {
			runner[0] = '\0'; /* a part of a path is none */
			return BINARY_UNKNOWN;
		}
		runner[part.p_filesz] = '\0';
		return BINARY_DYNAMIC;
	}
	return head->e_type == ET_DYN ? BINARY_STATIC_PIE : BINARY_STATIC;
}

static enum launch_binary read_start(int fd, char runner[BINARY_START])
{
	char start[BINARY_START] = "";
	ssize_t got = read(fd, start, sizeof(start) - 1);
	Elf64_Ehdr head;

	if (got > 2 && start[0] == '#' && start[1] == '!') {
		read_line(start, runner);
		return BINARY_SCRIPT;
	}
	memcpy(&head, start, sizeof(head));
	if (got < (ssize_t)sizeof(head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(Elf64_Phdr))
		return BINARY_UNKNOWN;
	return read_parts(fd, &head, runner);
}

enum launch_binary launch_binary_read(const char *path, char runner[BINARY_START])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	enum launch_binary kind = BINARY_UNKNOWN;

	runner[0] = '\0';
	if (fd < 0)
		return kind;
	kind = read_start(fd, runner);
	(void)close(fd);
	return kind;
}
