/* SPDX-License-Identifier: MIT */
/* tries WAY ARGUMENT...: makes calls that are refused, in ways that no ordinary command has. */
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK 8192

static char **arguments;

static void again(void)
{
	for (int i = 0; i < 5; i++)
		if (open(arguments[0], O_RDONLY) >= 0)
			_exit(1);
}

static void in_child(void)
{
	again();
	if (fork() == 0) {
		again();
		_exit(0);
	}
	(void)wait(NULL);
}

static int on_stack(void *context)
{
	(void)context;
	again();
	return 0;
}

static void small_stack(void)
{
	char *memory =
		mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int status;

	(void)mprotect(memory, STACK, PROT_NONE);
	(void)waitpid(clone(on_stack, memory + 2 * STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL),
		      &status, 0);
}

static void rename_it(void)
{
	(void)rename(arguments[0], arguments[1]);
}

static void fopen_it(void)
{
	FILE *file = fopen(arguments[0], "r");

	if (file)
		(void)fclose(file);
}

static void mkdtemp_it(void)
{
	(void)mkdtemp(arguments[0]);
}

static struct sockaddr_in address(uint32_t host)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(host) };

	at.sin_port = htons((uint16_t)strtol(arguments[0], NULL, 10));
	return at;
}

static void bind_it(void)
{
	struct sockaddr_in at = address(INADDR_ANY);

	(void)bind(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&at, sizeof(at));
}

/* To everybody, which the kernel refuses with EACCES. */
static void connect_it(void)
{
	struct sockaddr_in at = address(INADDR_BROADCAST);

	(void)connect(socket(AF_INET, SOCK_DGRAM, 0), (struct sockaddr *)&at, sizeof(at));
}

static const struct {
	const char *name;
	void (*way)(void);
} ways[] = { { "again", again },      { "fork", in_child },	{ "stack", small_stack },
	     { "rename", rename_it }, { "fopen", fopen_it },	{ "mkdtemp", mkdtemp_it },
	     { "bind", bind_it },     { "connect", connect_it } };

int main(int argc, char **argv)
{
	arguments = argv + 2;
	for (size_t i = 0; argc > 2 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], ways[i].name))
			ways[i].way();
	return 0;
}
