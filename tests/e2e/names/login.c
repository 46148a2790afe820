/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into an ssh server of names.t: whoever it runs as can log in, by any name, with $HOME and a
 * shell, whatever the system's users have.
 */
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

struct passwd *getpwnam(const char *name)
{
	static struct passwd user;

	user = (struct passwd){ .pw_name = (char *)name,
				.pw_passwd = "x",
				.pw_uid = getuid(),
				.pw_gid = getgid(),
				.pw_gecos = "",
				.pw_dir = getenv("HOME"),
				.pw_shell = "/bin/sh" };
	return &user;
}
