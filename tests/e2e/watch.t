#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Watches (inotify): what may be read can be watched, exactly as without a sandbox, and nothing else, by
# whatever name or descriptor; with the shim, in a static program, where names are hidden, and without
# Landlock.
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

cat >watch.c <<'END'
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void say(const char *name, int watch)
{
	printf("%s %s\n", name, watch < 0 ? strerrorname_np(errno) : "watched");
}

static void inside(int fd)
{
	static char long_name[5000];
	int pipes[2], memory = memfd_create("m", 0), name = open("ws/f", O_PATH);
	char link[32];

	memset(long_name, 'x', sizeof(long_name) - 1);
	say("folder", inotify_add_watch(fd, "ws", IN_CREATE | IN_OPEN));
	say("added", inotify_add_watch(fd, "ws", IN_CLOSE | IN_MASK_ADD));
	say("again", inotify_add_watch(fd, "ws", IN_CLOSE | IN_MASK_CREATE));
	say("both", inotify_add_watch(fd, "ws", IN_CLOSE | IN_MASK_CREATE | IN_MASK_ADD));
	say("both of none", inotify_add_watch(99, "ws", IN_CLOSE | IN_MASK_CREATE | IN_MASK_ADD));
	say("file", inotify_add_watch(fd, "ws/f", IN_MODIFY));
	say("read-only", inotify_add_watch(fd, "ro/f", IN_MODIFY));
	say("file as folder", inotify_add_watch(fd, "ws/f", IN_MODIFY | IN_ONLYDIR));
	say("unreadable as folder", inotify_add_watch(fd, "ws/no", IN_MODIFY | IN_ONLYDIR));
	say("unreadable", inotify_add_watch(fd, "ws/no", IN_MODIFY));
	say("link", inotify_add_watch(fd, "ws/l", IN_MODIFY));
	say("link itself", inotify_add_watch(fd, "ws/l", IN_ATTRIB | IN_DONT_FOLLOW));
	say("missing", inotify_add_watch(fd, "ws/none", IN_MODIFY));
	say("below a file", inotify_add_watch(fd, "ws/f/x", IN_MODIFY));
	say("no name", inotify_add_watch(fd, "", IN_MODIFY));
	say("long name", inotify_add_watch(fd, long_name, IN_MODIFY));
	say("bad name", inotify_add_watch(fd, (char *)8, IN_MODIFY));
	say("no bits", inotify_add_watch(fd, "ws", 0));
	say("no descriptor", inotify_add_watch(99, "ws", IN_OPEN));
	say("another descriptor", inotify_add_watch(memory, "ws", IN_OPEN));
	say("mere name", inotify_add_watch(name, "ws", IN_OPEN));
	snprintf(link, sizeof(link), "/proc/self/fd/%d", memory);
	say("memory", inotify_add_watch(fd, link, IN_MODIFY));
	if (pipe(pipes) == 0)
		snprintf(link, sizeof(link), "/proc/self/fd/%d", pipes[0]);
	say("pipe", inotify_add_watch(fd, link, IN_MODIFY));
	snprintf(link, sizeof(link), "/proc/self/fd/%d", name);
	say("named", inotify_add_watch(fd, link, IN_MODIFY));
}

static void news(int fd)
{
	char bytes[4096] __attribute__((aligned(8)));
	const struct inotify_event *event = (const struct inotify_event *)bytes;
	int made;

	say("watch", inotify_add_watch(fd, "ws", IN_CREATE));
	made = open("ws/new", O_CREAT | O_WRONLY, 0600);
	if (read(fd, bytes, sizeof(bytes)) > 0)
		printf("%s\n", event->name);
	if (made >= 0)
		close(made);
	unlink("ws/new");
}

/* To a folder whose name is too long to be told; 'make' makes it. */
static void deep(int fd, int make)
{
	char name[201];

	memset(name, 'd', 200);
	name[200] = '\0';
	if (chdir("out") < 0)
		return;
	for (int i = 0; i < 25; i++) {
		if (make)
			mkdir(name, 0755);
		if (chdir(name) < 0)
			return;
	}
	if (make)
		close(open("secret", O_CREAT | O_WRONLY, 0644));
	say("deep", inotify_add_watch(fd, ".", IN_OPEN));
	say("deep file", inotify_add_watch(fd, "secret", IN_OPEN));
}

static void outside(int fd)
{
	char link[32];

	say("file", inotify_add_watch(fd, "out/f", IN_OPEN));
	say("folder", inotify_add_watch(fd, "out", IN_OPEN));
	say("denied", inotify_add_watch(fd, "ws/denied", IN_OPEN));
	snprintf(link, sizeof(link), "/proc/self/fd/%d", open("out", O_PATH));
	say("named", inotify_add_watch(fd, link, IN_OPEN));
	deep(fd, 0);
}

int main(int count, char **args)
{
	int fd = inotify_init1(IN_CLOEXEC);

	for (int i = 1; i < count; i++)
		if (!strcmp(args[i], "inside"))
			inside(fd);
		else if (!strcmp(args[i], "news"))
			news(fd);
		else if (!strcmp(args[i], "make"))
			deep(fd, 1);
		else
			outside(fd);
	return 0;
}
END
cc -D_GNU_SOURCE -o watch watch.c && cc -D_GNU_SOURCE -static -o watch-static watch.c || exit
mkdir ws ro out
touch ws/f ws/no ws/denied ro/f out/f
ln -s f ws/l
chmod 000 ws/no
# shellcheck disable=SC2064 # now
trap "chmod 600 ws/no; cleanup" EXIT
./watch make >/dev/null
file policy.ini '[sandbox]\ninclude = base\nprotect = no\n[paths]\nwrite = ./ws\nread = ./ro\nexec = ./watch, ./watch-static\ndeny = ./ws/denied\n'

# Root without its rights may do what the program may do.
bare() # COMMAND...
{
	if is_root; then setpriv --bounding-set=-all --inh-caps=-all -- "$@"; else "$@"; fi
}
bare ./watch inside news >native
grep -qx new native && grep -qx 'folder watched' native
result $? 'natively, what is there can be watched'

# Where names are hidden, descriptors that only name something can be read, or are not to be had; nor is
# what has too long a name.
sed 's/^mere name .*/mere name EINVAL/' native >native-hiding
echo 'file EACCES
folder EACCES
denied EACCES
named EACCES
deep ENAMETOOLONG
deep file ENAMETOOLONG' >refused
sed 's/^named .*/named ENOENT/; /^deep/d' refused >refused-hiding

for program in ./watch ./watch-static; do
	for how in '' --isolate=none --enforce=seccomp --hide=./ws/hidden; do
		case $how in --hide*) which=-hiding ;; *) which= ;; esac
		launch -q -p policy.ini ${how:+"$how"} -- "$program" inside news
		says out "$(cat native$which)" "$program is answered as without a sandbox ($how)"
		launch -q -p policy.ini ${how:+"$how"} -- "$program" outside
		says out "$(cat refused$which)" 'and watches nothing that it may not read'
		has err "sbx: Cannot read 'out/f' ($PWD/out/f): path is outside the sandbox." 'in words'
		has err 'Tried by watch' 'that name it'
		has err "sbx: Cannot read 'ws/denied' ($PWD/ws/denied): denied by a rule." 'and the rule'
	done
done
finish
