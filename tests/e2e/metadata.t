#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Modes, owners and times, and files in memory: what Landlock does not see. Every call that changes
# them works where files may be written, exactly as without a sandbox, and nowhere else, by whatever
# name or descriptor; with the shim, without it, in a static program, and without Landlock.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

mkdir tools
cat >tools/meta.c <<'END'
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

extern char **environ;

#define MODE 0750
#define FCHMODAT2 452
static const char *path; /* of what is changed */
static int fd, folder; /* it, for reading where it may be read, and where it stands */
static char by_proc[64], by_dev[64], base[256];
static const struct timespec times[2] = { { 1000000001, 123456789 }, { 1000000002, 987654321 } };
static const struct timespec now[2] = { { 0, UTIME_NOW }, { 0, UTIME_NOW } };
static const struct timespec first[2] = { { 1000000003, 5 }, { 0, UTIME_OMIT } };
static const struct timespec second[2] = { { 0, UTIME_OMIT }, { 0, UTIME_NOW } };
static const struct timespec neither[2] = { { 0, UTIME_OMIT }, { 0, UTIME_OMIT } };
static const struct timeval old[2] = { { 1000000004, 999999 }, { 1000000005, 1 } };
static const struct utimbuf oldest = { 1000000006, 1000000007 };

#define ME getuid(), getgid()
#define WAYS                                                                           \
	W(chmod, syscall(SYS_chmod, path, MODE))                                       \
	W(chmod_proc, syscall(SYS_chmod, by_proc, MODE))                               \
	W(chmod_dev, syscall(SYS_chmod, by_dev, MODE))                                 \
	W(fchmod, syscall(SYS_fchmod, fd, MODE))                                       \
	W(fchmodat, syscall(SYS_fchmodat, AT_FDCWD, path, MODE))                       \
	W(fchmodat_in, syscall(SYS_fchmodat, folder, base, MODE))                      \
	W(fchmodat2, syscall(FCHMODAT2, folder, base, MODE, 0))                        \
	W(fchmodat2_link, syscall(FCHMODAT2, folder, base, MODE, AT_SYMLINK_NOFOLLOW)) \
	W(fchmodat2_empty, syscall(FCHMODAT2, fd, "", MODE, AT_EMPTY_PATH))            \
	W(chown, syscall(SYS_chown, path, ME))                                         \
	W(chown_group, syscall(SYS_chown, path, -1, getgid()))                         \
	W(lchown, syscall(SYS_lchown, path, ME))                                       \
	W(fchown, syscall(SYS_fchown, fd, ME))                                         \
	W(fchownat, syscall(SYS_fchownat, folder, base, ME, 0))                        \
	W(fchownat_link, syscall(SYS_fchownat, folder, base, ME, AT_SYMLINK_NOFOLLOW)) \
	W(fchownat_empty, syscall(SYS_fchownat, fd, "", ME, AT_EMPTY_PATH))            \
	W(utime, syscall(SYS_utime, path, &oldest))                                    \
	W(utime_now, syscall(SYS_utime, path, NULL))                                   \
	W(utimes, syscall(SYS_utimes, path, old))                                      \
	W(utimes_now, syscall(SYS_utimes, path, NULL))                                 \
	W(futimesat, syscall(SYS_futimesat, folder, base, old))                        \
	W(futimesat_fd, syscall(SYS_futimesat, fd, NULL, old))                         \
	W(utimensat, syscall(SYS_utimensat, AT_FDCWD, path, times, 0))                 \
	W(utimensat_in, syscall(SYS_utimensat, folder, base, first, 0))                \
	W(utimensat_now, syscall(SYS_utimensat, folder, base, now, 0))                 \
	W(utimensat_some, syscall(SYS_utimensat, folder, base, second, 0))             \
	W(utimensat_null, syscall(SYS_utimensat, folder, base, NULL, 0))               \
	W(utimensat_link, syscall(SYS_utimensat, folder, base, times, AT_SYMLINK_NOFOLLOW)) \
	W(utimensat_proc, syscall(SYS_utimensat, AT_FDCWD, by_proc, first, 0))         \
	W(utimensat_empty, syscall(SYS_utimensat, fd, "", times, AT_EMPTY_PATH))       \
	W(futimens, syscall(SYS_utimensat, fd, NULL, first, 0))                        \
	W(futimens_now, syscall(SYS_utimensat, fd, NULL, NULL, 0))                     \
	W(bad_flags, syscall(FCHMODAT2, folder, base, MODE, 4))                        \
	W(bad_owner_flags, syscall(SYS_fchownat, folder, base, ME, 4))                 \
	W(bad_time_flags, syscall(SYS_utimensat, folder, base, times, 4))              \
	W(bad_pointer, syscall(SYS_chmod, 8, MODE))                                    \
	W(bad_times, syscall(SYS_utimensat, folder, base, 8, 0))                       \
	W(bad_descriptor, syscall(SYS_fchmod, 999, MODE))                              \
	W(bad_folder, syscall(SYS_fchownat, 999, base, ME, 0))                         \
	W(missing, syscall(SYS_fchmodat, folder, "missing", MODE))                     \
	W(no_folder, syscall(SYS_fchmodat, fd, "x", MODE))

static const char *when(const struct timespec *time)
{
	static char text[2][64];
	static int turn;
	char *out = text[turn = !turn];

	if (time->tv_sec > 1000001000)
		return "lately";
	snprintf(out, 64, "%ld.%09ld", (long)time->tv_sec, time->tv_nsec);
	return out;
}

/* From a known state on, where that can be had. */
static void show(const char *name, long (*way)(void))
{
	const struct timespec start[2] = { { 1000000000, 0 }, { 1000000000, 0 } };
	struct stat st = { 0 }, link = { 0 };
	long result;
	int error;

	(void)chmod(path, 0700);
	(void)utimensat(AT_FDCWD, path, start, 0);
	(void)utimensat(AT_FDCWD, path, start, AT_SYMLINK_NOFOLLOW);
	errno = 0;
	result = way();
	error = errno;
	(void)stat(path, &st);
	(void)lstat(path, &link);
	printf("%s %s %o %s %s", name, result ? strerrorname_np(error) : "ok", st.st_mode,
	       when(&st.st_atim), when(&st.st_mtim));
	printf(" %s %s\n", S_ISLNK(link.st_mode) ? when(&link.st_mtim) : "-",
	       st.st_uid == getuid() && st.st_gid == getgid() ? "mine" : "not mine");
}

static long nothing(void)
{
	return syscall(SYS_utimensat, AT_FDCWD, path, neither, 0);
}

#define W(name, expression)        \
	static long try_##name(void) \
	{                          \
		return expression; \
	}
WAYS
#undef W

static int change(void)
{
	const char *slash = strrchr(path, '/');
	char before[256];

	snprintf(before, sizeof(before), "%.*s", slash ? (int)(slash - path) : 1,
		 slash ? path : ".");
	snprintf(base, sizeof(base), "%s", slash ? slash + 1 : path);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		fd = open(path, O_PATH);
	folder = open(before, O_PATH);
	snprintf(by_proc, sizeof(by_proc), "/proc/self/fd/%d", fd);
	snprintf(by_dev, sizeof(by_dev), "/dev/fd/%d", fd);
#define W(name, expression) show(#name, try_##name);
	WAYS
	show("nothing", nothing);
	return 0;
}

static void tell(const char *what, long result)
{
	printf("%s %s\n", what, result < 0 ? strerrorname_np(errno) : "ok");
}

/* What has no name, or not any more. */
static int change_nameless(void)
{
	int ends[2], deleted = open("work/gone", O_CREAT | O_RDWR, 0600), second;
	int file = open("work", O_TMPFILE | O_RDWR, 0600);
	struct stat st;
	char name[64];

	unlink("work/gone");
	tell("deleted", fchmod(deleted, 0644));
	tell("tmpfile", fchmod(file, 0640));
	snprintf(name, sizeof(name), "/proc/self/fd/%d", file);
	tell("tmpfile by name", syscall(SYS_chmod, name, 0604));
	fstat(file, &st);
	printf("%o\n", st.st_mode);
	tell("pipe", pipe(ends) < 0 ? -1 : fchmod(ends[0], 0600));
	tell("pipe's owner", fchown(ends[0], getuid(), getgid()));
	tell("socket", socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0 ? -1 : fchmod(ends[0], 0600));
	tell("own mode", chmod("/proc/self/comm", 0600));
	tell("thread's mode", chmod("/proc/thread-self/comm", 0600));
	second = open("work/first", O_CREAT | O_RDWR, 0600);
	if (link("work/first", "work/second") == 0 && unlink("work/first") == 0)
		tell("another name", fchmod(second, 0644));
	return unlink("work/second");
}

/* A file in memory is written and mapped; and never a program. */
static int memory(const char *program)
{
	static char bytes[4 << 20];
	int from = open(program, O_RDONLY), exec;
	char name[64], *argv[] = { (char *)"program", NULL }, *map;
	ssize_t size = read(from, bytes, sizeof(bytes));
	int to = memfd_create("program", MFD_CLOEXEC), plain = memfd_create("plain", 0);

	printf("name %ld\n", (long)readlink("/proc/self/fd/4", name, sizeof(name)));
	tell("write", write(to, bytes, (size_t)size) == size ? 0 : -1);
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, to, 0);
	tell("map", map != MAP_FAILED && !memcmp(map, bytes, 4096) ? 0 : -1);
	tell("to execute from", mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, to, 0) ==
					MAP_FAILED ? -1 : 0);
	printf("flags %d %d\n", fcntl(to, F_GETFD), fcntl(plain, F_GETFD));
	tell("no seals", fcntl(to, F_ADD_SEALS, F_SEAL_WRITE));
	exec = memfd_create("sealed", MFD_ALLOW_SEALING);
	tell("seals", fcntl(exec, F_ADD_SEALS, F_SEAL_GROW));
	tell("bad flags", memfd_create("x", 0xfff0));
	snprintf(name, sizeof(name), "/proc/self/fd/%d", to);
	fflush(stdout);
	tell("chmod", fchmod(to, 0755) < 0 && errno == EPERM ? -1 : 0);
	tell("by name", execve(name, argv, environ));
	tell("by descriptor", syscall(SYS_execveat, to, "", argv, environ, AT_EMPTY_PATH));
	exec = memfd_create("asked", 0x10U);
	tell("asked", exec);
	return 0;
}

/* Whoever makes and takes descriptors for others keeps none. */
static int often(void)
{
	for (int i = 0; i < 1000; i++) {
		int made = memfd_create("often", 0);

		if (made < 0 || fchmod(made, 0600) < 0 || chmod(path, 0600) < 0)
			return 1;
		close(made);
	}
	return 0;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	path = argv[argc - 1];
	if (!strcmp(argv[1], "nameless"))
		return change_nameless();
	if (!strcmp(argv[1], "often"))
		return often();
	return strcmp(argv[1], "memory") ? change() : memory(path);
}
END
cc -D_GNU_SOURCE -w -o tools/meta tools/meta.c && cc -D_GNU_SOURCE -w -static -o tools/meta-static tools/meta.c || exit
cp "$(type -P true)" tools/true

mkdir -p ro work bare "$DIR/outside" work/.git
for folder in ro work bare "$DIR/outside"; do
	file "$folder/file" 'text\n'
	mkdir "$folder/dir"
	ln -s file "$folder/link"
done
ln -s ../ro/file work/out
ln -s ../../outside/file work/away
file work/.npmrc 'registry=x\n'
file work/.git/config '[core]\n'
file work/.git/HEAD 'ref: refs/heads/main\n'
file policy.ini '[sandbox]
include = bash
[paths]
read = ./ro
write = ./work
exec = ./tools
'
NAMES=$(grep -c '^	W(' tools/meta.c)

# One of the three ways to run it.
meta() # ARGUMENT...
{
	case $way in
	shim) launch -p policy.ini -- tools/meta "$@" ;;
	no-shim) launch -p policy.ini --no-shim -- tools/meta "$@" ;;
	static) launch -p policy.ini -- tools/meta-static "$@" ;;
	seccomp) launch -p policy.ini --enforce=seccomp -- tools/meta "$@" ;;
	esac
}

# Everything works as it does without a sandbox, which has been tried in another folder.
same() # NAME
{
	tools/meta change "bare/$1" >"$DIR/bare"
	meta change "work/$1"
	cmp -s "$DIR/bare" "$DIR/out" && [ "$(wc -l <"$DIR/out")" -eq $((NAMES + 1)) ] &&
		[ "$(grep -c ' ok ' "$DIR/out")" -ge 30 ] && [ ! -s "$DIR/err" ]
	result $? "$way: a ${1} of the workspace is changed by every call, as without a sandbox"
	diff "$DIR/bare" "$DIR/out" | sed 's/^/# /'
}

state() { stat -c '%a %u %g %X %Y %Z %n' "$@"; } # FILE...

# Nothing works that would change it, nothing is changed, and each refusal is told.
refused() # FILE NAME
{
	local before after refusals allowed='^nothing '

	# A link in the workspace may be changed itself.
	[ -L "$1" ] && allowed='^nothing |^lchown |_link '
	before=$(state -L "$1")
	meta change "$1"
	after=$(state -L "$1")
	[ "$before" = "$after" ]
	result $? "$way: $2 is not changed by any call"
	# "nothing" asks for no change at all, and the kernel does not even look.
	! grep -Ev "$allowed" "$DIR/out" | grep -q ' ok ' && grep -q '^nothing ok ' "$DIR/out"
	result $? "$way: and none of them says that it was"
	grep -E '^(chmod|fchownat|utimensat|fchmodat2_empty|chmod_proc) ' "$DIR/out" | grep -vq ' EACCES '
	[ $? -eq 1 ]
	result $? "$way: they say EACCES"
	has err "Cannot change '$1'" "$way: and the launcher, what was refused"
	# What puts the file into a known state before each call is refused, too.
	refusals=$(sed -n 's/.*, \([0-9]*\) refusals.*/\1/p' "$DIR/err")
	[ "${refusals:-0}" -ge $(($(grep -c ' EACCES ' "$DIR/out") + NAMES)) ]
	result $? "$way: every time"
}

for way in shim no-shim static seccomp; do
	same file
	same dir
	same link
	refused ro/file 'a file that may only be read, also by a descriptor for reading,'
	refused ro/dir 'a folder that may only be read'
	refused work/out 'what a link leads to'
	refused "$DIR/outside/file" 'a file outside'
	refused work/away 'a file outside that a link leads to'
	refused work/.npmrc 'a protected file'
	refused work/.git/config 'the configuration of a repository'
	meta nameless
	says out "deleted ok
tmpfile ok
tmpfile by name ok
100604
pipe ok
pipe's owner ok
socket ok
own mode EPERM
thread's mode EPERM
another name EPERM" "$way: what has no name is the program's own, but for what may have another"
	meta memory tools/true
	says out "name 24
write ok
map ok
to execute from ok
flags 1 0
no seals EPERM
seals ok
bad flags EINVAL
chmod EPERM
by name EACCES
by descriptor EACCES
asked EACCES" "$way: a file in memory is used as ever, and never executed"
done

(ulimit -n 300 && run "$LAUNCH" -q -p policy.ini -- tools/meta often work/file && exit "$STATUS")
result $? 'a thousand files in memory, and the supervisor keeps none of them'

# Where everything may be executed there is nothing to keep a file in memory from.
file all.ini '[sandbox]\ninclude = none\n[paths]\nexec = /\n'
launch -q -p all.ini -- tools/meta memory tools/true
has out 'chmod ok' 'where all may be executed, a file in memory may become a program'
hasnt out 'by name' 'and is executed'

# Somebody else's file: ordinary permissions say no, in the kernel's words, and nobody else says anything.
if is_root; then
	file ro/other 'text\n'
	chown "$NOBODY" ro/other
	other=ro/other
else
	other=/etc/hostname
	[ -f "$other" ] || other=/etc/os-release
fi
launch -p policy.ini -- tools/meta change "$other"
hasnt err 'Cannot change' "a file of somebody else's is refused without a word"
[ "$(grep -E '^(chmod|chown|utimensat) ' "$DIR/out" | grep -c ' EPERM ')" -ge 2 ]
result $? 'and with EPERM'

# A device may be written to by all, which is no reason to take it from others.
launch -p policy.ini -- bash -c 'chmod 600 /dev/null; chown "$(id -u)" /dev/null; echo x >/dev/null'
[ "$(stat -c %a /dev/null)" = 666 ]
result $? '/dev/null stays as it is'
exits 0 'and can be written to'

# Commands of every day, in the workspace and in $TMPDIR.
everyday='set -e
mkdir a && echo text >a/f && chmod 4751 a/f && touch -d @1000000000 a/f && ln -s f a/l
cp -p a/f b && cp -a a c && touch -h -d @1000000001 c/l && tar cf t.tar c && rm -r c && tar xpf t.tar
install -m 755 a/f d && install -d -m 700 e && chgrp "$(id -g)" b && chown -h "$(id -u)" a/l
mv b b2 && ln b2 b3 && chmod -R u+w . && touch -r a/f d
stat -c "%a %u %g %Y %n" a/f c/f b2 b3 d; stat -c "%a" e; stat -c %Y c/l'
mkdir plain
(cd plain && bash -c "$everyday") >"$DIR/bare" 2>&1
for options in '' --no-shim; do
	for where in work/daily '$TMPDIR'; do
		mkdir -p work/daily
		# shellcheck disable=SC2086 # none or one
		launch -q $options -p policy.ini -- bash -c "cd $where && $everyday"
		# tar and chgrp look for names of users: that is another matter.
		cmp -s "$DIR/bare" "$DIR/out" && ! grep -q 'Cannot [^r]' "$DIR/err"
		result $? "cp -p, tar, install, touch and chmod in $where do what they do${options:+, with $options}"
		rm -rf work/daily
	done
done

if ! command -v "$PYTHON" >"$DIR/out"; then
	result 0 'shutil and os # SKIP no python'
else
	file py.ini '[sandbox]\ninclude = python\n[paths]\nwrite = ./work\n'
	launch -q -p py.ini -- "$PYTHON" -Ic '
import mmap, os, shutil, sys, tempfile
os.chdir("work")
open("p", "w").write("x")
os.chmod("p", 0o640); os.utime("p", ns=(5, 7)); os.chown("p", os.getuid(), os.getgid())
shutil.copy2("p", "q"); shutil.copystat("p", "q"); shutil.copytree(".", "copy", symlinks=True, ignore=shutil.ignore_patterns(".*", "copy"))
s = os.stat("q"); print(oct(s.st_mode), s.st_mtime_ns)
with tempfile.TemporaryDirectory() as d:
    shutil.copystat("p", d); os.chmod(d, 0o700); print(oct(os.stat(d).st_mode))
fd = os.memfd_create("x"); os.write(fd, b"in memory"); print(mmap.mmap(fd, 9)[:])
shutil.rmtree("copy"); os.remove("p"); os.remove("q")'
	says out "0o100640 7
0o40700
b'in memory'" 'shutil, tempfile and memfd_create of python'
	says err '' 'without a word'
fi

# Programs that change modes and times by themselves, under their profiles: no word about it.
quietly() # NAME PROFILE COMMAND...
{
	local name=$1 profile=$2

	shift 2
	if ! type -P "$1" >"$DIR/out"; then
		result 0 "$name # SKIP no $1"
		return
	fi
	printf '[sandbox]\ninclude = %s\n[paths]\nwrite = ./work\nexec = ./work\n' "$profile" >own.ini
	launch -q -p own.ini --workdir=work -- "$@"
	[ "$STATUS" -eq 0 ] && ! grep -q 'Cannot change' "$DIR/err"
	result $? "$name"
}
rm -rf work/.git work/.npmrc
file work/Makefile 'all: prog\n\t./prog\nprog: a.o\n\tcc -o $@ $^\na.o: a.c\n\tcc -c $<\n'
file work/a.c 'int main(void) { return 0; }\n'
file work/package.json '{"name":"x","version":"1.0.0","bin":"x.js"}\n'
file work/package-lock.json '{"name":"x","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"x","version":"1.0.0"}}}\n'
file work/x.js '#!/usr/bin/env node\n'
quietly 'cc and make' build make
quietly 'ar, strip and install' build bash -c 'set -e
ar rc liba.a a.o && ranlib liba.a && cp -p prog prog2 && strip prog2 && ./prog2 && install -m 711 prog2 prog3 && ./prog3'
quietly 'git init, add, commit, gc and clone' 'git, bash' bash -c 'set -e
mkdir repo && cd repo && git init -q . && echo text >file && chmod +x file && git add file
git -c user.name=x -c user.email=x@x commit -qm x && git gc -q && git checkout -q -b other
cd .. && git clone -q repo copy && test -x copy/file'
quietly 'node, with modes and times' node node -e 'const fs = require("fs");
fs.writeFileSync("n", "x", { mode: 0o600 }); fs.chmodSync("n", 0o640); fs.utimesSync("n", 5, 7);
const fd = fs.openSync("n", "r"); fs.fchmodSync(fd, 0o600); fs.futimesSync(fd, 1, 2);
fs.lutimesSync("n", 8, 9); fs.chownSync("n", process.getuid(), process.getgid());
fs.cpSync("n", "m", { preserveTimestamps: true });
if (fs.statSync("m").mtimeMs !== 9000 || (fs.statSync("n").mode & 0o777) !== 0o600) process.exit(1);'
quietly 'npm ci' npm npm ci --offline --no-audit --no-fund
quietly 'npm pack' npm npm pack --offline

finish
