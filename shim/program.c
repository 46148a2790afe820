/* SPDX-License-Identifier: MIT */
/*
 * Reads ELF headers and "#!" lines, and sets the layout that programs get. Nobody is asked about
 * these opens: whatever is refused here is refused, and explained, when it is executed.
 */
#include "program.h"

#include "call.h"
#include "place.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/personality.h>

#define LEVELS 5 /* of scripts that are run by scripts; the kernel's own limit */
#define HEADERS 64

static int open_file(int dir, const char *path, int flags)
{
	int how = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	char text[SHIM_FD_NAME];
	long fd;

	if (flags & AT_SYMLINK_NOFOLLOW)
		how |= O_NOFOLLOW;
	fd = shim_quietly(SYS_openat, dir, (long)path, how, 0, 0);
	if (fd == -ENOENT && (flags & AT_EMPTY_PATH) && dir >= 0 && !*path)
		fd = shim_quietly(SYS_openat, AT_FDCWD, (long)shim_fd_name(text, dir),
				  how & ~O_NOFOLLOW, 0, 0);
	return (int)fd;
}

static long read_at(int fd, void *to, size_t size, uint64_t at)
{
	return shim_raw(SYS_pread64, fd, (long)to, (long)size, (long)at, 0, 0);
}

static void close_file(int fd)
{
	(void)shim_raw(SYS_close, fd, 0, 0, 0, 0, 0);
}

static bool has_interpreter(int fd, const Elf64_Ehdr *header)
{
	unsigned int count = header->e_phnum < HEADERS ? header->e_phnum : HEADERS;
	Elf64_Phdr program = { 0 };

	for (unsigned int i = 0; i < count; i++) {
		uint64_t at = header->e_phoff + (uint64_t)i * sizeof(program);

		if (read_at(fd, &program, sizeof(program), at) != sizeof(program))
			return true;
		if (program.p_type == PT_INTERP)
			return true;
	}
	return false;
}

static struct shim_program read_elf(int fd, const Elf64_Ehdr *header)
{
	struct shim_program program = { .foreign = true };

	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != SHIM_MACHINE)
		return program;
	program.foreign = false;
	program.floats = header->e_type == ET_DYN && header->e_phentsize == sizeof(Elf64_Phdr) &&
			 !has_interpreter(fd, header);
	return program;
}

/* Cuts the interpreter out of "#! /path argument\n"; NULL when there is none. */
static char *interpreter(char *head, size_t size)
{
	size_t at = 2, start;

	while (at < size && (head[at] == ' ' || head[at] == '\t'))
		at++;
	for (start = at; at < size && head[at] && !strchr(" \t\n", head[at]);)
		at++;
	if (at == start || at == size)
		return NULL;
	head[at] = '\0';
	return head + start;
}

struct shim_program shim_program_read(int dir, const char *path, int flags)
{
	struct shim_program program = { 0 };
	union {
		char bytes[SHIM_HEAD];
		Elf64_Ehdr elf;
	} head = { 0 };

	for (int level = 0; level < LEVELS && path; level++) {
		int fd = open_file(dir, path, flags);
		long got = fd < 0 ? 0 : read_at(fd, head.bytes, sizeof(head.bytes), 0);

		path = NULL;
		if (got >= (long)sizeof(head.elf) && !memcmp(head.bytes, ELFMAG, SELFMAG))
			program = read_elf(fd, &head.elf);
		else if (got > 2 && head.bytes[0] == '#' && head.bytes[1] == '!')
			path = interpreter(head.bytes, (size_t)got);
		if (fd >= 0)
			close_file(fd);
		dir = AT_FDCWD;
		flags = 0;
	}
	return program;
}

bool shim_program_script(int dir, const char *path, int flags, char out[SHIM_HEAD])
{
	int fd = open_file(dir, path, flags);
	long got = fd < 0 ? 0 : read_at(fd, out, SHIM_HEAD, 0);
	char *found = NULL;

	if (got > 2 && out[0] == '#' && out[1] == '!')
		found = interpreter(out, (size_t)got);
	if (fd >= 0)
		close_file(fd);
	if (found)
		memmove(out, found, strlen(found) + 1);
	return found;
}

/*
 * Where other bits are set the sandbox would refuse to set any, in words: then it stays as it is, and
 * a static-PIE goes without some.
 */
long shim_layout_set(const struct shim_program *program)
{
	long before, after;

	if (!SBX_QUIET_FROM)
		return -1;
	before = shim_raw(SYS_personality, 0xffffffff, 0, 0, 0, 0, 0);
	if (before & ~(long)(ADDR_COMPAT_LAYOUT | ADDR_NO_RANDOMIZE))
		return -1;
	after = program->floats ? before | ADDR_COMPAT_LAYOUT : before & ~ADDR_COMPAT_LAYOUT;
	if (after == before)
		return -1;
	(void)shim_raw(SYS_personality, after, 0, 0, 0, 0, 0);
	return before;
}

void shim_layout_restore(long before)
{
	if (before >= 0)
		(void)shim_raw(SYS_personality, before, 0, 0, 0, 0, 0);
}
