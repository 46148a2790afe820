/* SPDX-License-Identifier: MIT */
/*
 * client HOST: connects to its port 80 by the C library's own resolver. Built static, with musl, whose
 * resolver asks all servers at once and reads no nsswitch.conf.
 */
#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>

int main(int argc, char **argv)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *all;
	int failed = argc == 2 ? getaddrinfo(argv[1], "80", &hints, &all) : EAI_FAIL;

	if (failed) {
		fprintf(stderr, "client: %s\n", gai_strerror(failed));
		return 1;
	}
	for (; all; all = all->ai_next)
		if (connect(socket(all->ai_family, SOCK_STREAM, 0), all->ai_addr,
			    all->ai_addrlen) == 0)
			return 0;
	perror("client: connect");
	return 1;
}
