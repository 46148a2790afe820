#!/bin/bash
# SPDX-License-Identifier: MIT
#
# No false words: what a policy allows ends in the sandbox as it ends outside, success or error, and
# nothing is explained, because nothing was refused. Each pair of a call and a situation is made by
# the probe, in a folder of its own, bare and in the sandbox; result, errno, descriptor and what is
# left in the folder must be the same, for every way a program can be linked and can enter the kernel.
# shellcheck disable=SC2086 # lists
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

# An ordinary user gets the copy of whoever starts this as root.
PROBES=${PROBES:-$SBX_BUILD/tests/probe}
if [ ! -x "$PROBES/probe" ]; then
	echo 'Bail out! there is no probe: run make check'
	exit 1
fi
cp -r "$PROBES" "$DIR/probes" && chmod -R go+rX "$DIR/probes" || exit
export PROBES=$DIR/probes

# Thousands of folders, three times as fast in memory, where programs may be executed there.
PLACE=$(mktemp -d /dev/shm/sbx-test.XXXXXXXX 2>/dev/null) || PLACE=$DIR/work/place
trap 'chmod -R u+rwX "$PLACE" 2>/dev/null; rm -rf "$PLACE"; cleanup' EXIT
if ! { cp /bin/true "$PLACE/" && "$PLACE/true"; } 2>/dev/null; then
	rm -rf "$PLACE"
	PLACE=$DIR/work/place
	mkdir "$PLACE"
fi
chmod 755 "$PLACE"
cp "$PROBES"/probe* "$PLACE/" && cd "$PLACE" || exit

# -- the pairs that every program makes
cat >"$DIR/pairs" <<'END'
open64 f O_RDONLY
open64 d0/f O_RDONLY
openat64 dir:d in O_RDWR
openat64 dir:dro x O_RDWR|O_CREAT 0600
creat64 dro/x 0600
creat64 x 0600
fopen64 f r
fopen64 d0/f r
freopen64 f0 r
freopen64 f w+
truncate64 f4 0
truncate64 f 100
mkstemp64 rnd.XXXXXX
mkstemp64 dro/rnd.XXXXXX
mkostemp rnd.XXXXXX O_CLOEXEC|O_APPEND
mkostemp dro/rnd.XXXXXX O_CLOEXEC
mkstemps rnd.XXXXXX.tail 5
mkstemp short.XX
mkstemp rnd.XXXXXX
mkdtemp rnd.XXXXXX
mkdtemp dro/rnd.XXXXXX
mkdtemp no/rnd.XXXXXX
fopen f a
fopen f r+
fopen f rx
fopen x wx
fopen f wx
fopen f re
fopen f0 r+
fopen f q
fopen d w
open f O_RDONLY|O_CREAT 0600
open f O_RDONLY|O_CREAT|O_DIRECTORY 0600
open d O_RDONLY|O_CREAT 0600
open f O_RDONLY|O_TRUNC
open f O_WRONLY|O_RDWR
open f O_WRONLY|O_RDWR|O_TRUNC
open x O_WRONLY|O_RDWR
open x O_WRONLY|O_RDWR|O_CREAT 0600
open d O_WRONLY|O_RDWR
open f0 O_WRONLY|O_RDWR
open f O_RDWR|O_APPEND
open f O_ACCMODE
open f O_WRONLY|O_CREAT|O_TRUNC 0600
open x O_WRONLY|O_CREAT 04755
open x O_RDONLY|O_CREAT 0
open x O_WRONLY|O_CREAT|O_EXCL|O_NOFOLLOW 0644
open lx O_WRONLY|O_CREAT|O_NOFOLLOW 0644
open f O_PATH
open f O_PATH|O_WRONLY|O_CREAT
open lf O_PATH
open d O_PATH|O_DIRECTORY
open f O_RDONLY|O_NOATIME
open other O_RDONLY|O_NOATIME
open st/f O_RDONLY|O_NOATIME
open st/f O_WRONLY|O_CREAT 0644
open f O_RDWR|O_SYNC
open f 0x7fffffff
open e O_WRONLY|O_TMPFILE|O_EXCL 0600
open e O_RDONLY|O_TMPFILE 0600
open dro O_RDWR|O_TMPFILE 0600
open dx O_RDWR|O_TMPFILE 0600
+umask:077 open x O_WRONLY|O_CREAT 0666
+umask:0 mkdir x 0777
+umask:0777 mknod x S_IFREG|0666 0
+umask:027 mkfifo x 0666
openat dir:d in O_RDONLY
openat dir:d ../f O_RDONLY
openat dir:d /dev/null O_RDWR
openat dir:d EMPTY O_RDONLY
openat path:d in O_RDONLY
openat path:d0 f O_RDONLY
openat path:ld in O_RDONLY
openat dir:f in O_RDONLY
openat path:f in O_RDONLY
openat -1 f O_RDONLY
openat 99 f O_RDONLY
openat 99 /dev/null O_RDONLY
openat -100 f O_RDONLY
openat -1 NULL O_RDONLY
openat -1 EMPTY O_RDONLY
openat 99 BAD O_RDONLY
openat dir:e x O_RDWR|O_CREAT|O_EXCL 0644
openat path:dro x O_RDWR|O_CREAT|O_EXCL 0644
openat dir:d . O_RDWR|O_TMPFILE 0644
openat dir:d sub/../in O_RDWR
openat dir:d in/.. O_RDONLY
openat2 CWD f O_RDONLY,0,0
openat2 CWD x O_RDWR|O_CREAT,0640,0
openat2 CWD f O_RDONLY,0640,0
openat2 CWD f O_RDONLY,0,0x4000
openat2 CWD f 0x4000000000000000,0,0
openat2 CWD f O_RDONLY,0,0,8
openat2 CWD f O_RDONLY,0,0,0
openat2 CWD f O_RDONLY,0,0,32
openat2 CWD f O_RDONLY,0,0,5000
openat2 CWD f NULL
openat2 CWD f BAD
openat2 CWD NULL O_RDONLY,0,0
openat2 -1 f O_RDONLY,0,0
openat2 CWD lf O_RDONLY,0,RESOLVE_NO_SYMLINKS
openat2 CWD f O_RDONLY,0,RESOLVE_NO_SYMLINKS
openat2 CWD lself/f O_RDONLY,0,RESOLVE_NO_MAGICLINKS
openat2 CWD /proc/self/cwd O_RDONLY,0,RESOLVE_NO_MAGICLINKS
openat2 CWD /proc/self/status O_RDONLY,0,RESOLVE_NO_XDEV
openat2 CWD f O_RDONLY,0,RESOLVE_NO_XDEV
openat2 dir:d ../f O_RDONLY,0,RESOLVE_BENEATH
openat2 dir:d in O_RDONLY,0,RESOLVE_BENEATH
openat2 dir:d /in O_RDONLY,0,RESOLVE_BENEATH
openat2 dir:d /in O_RDONLY,0,RESOLVE_IN_ROOT
openat2 dir:d ../../../in O_RDONLY,0,RESOLVE_IN_ROOT
openat2 dir:d /../nothing O_RDONLY,0,RESOLVE_IN_ROOT
openat2 dir:d new O_WRONLY|O_CREAT|O_EXCL,0600,RESOLVE_IN_ROOT
openat2 path:d0 f O_RDONLY,0,RESOLVE_BENEATH
openat2 CWD e O_RDWR|O_TMPFILE,0600,0
openat2 CWD lnull O_WRONLY,0,RESOLVE_BENEATH
unlinkat CWD f 0
unlinkat CWD d 0
unlinkat CWD e AT_REMOVEDIR
unlinkat CWD d AT_REMOVEDIR
unlinkat CWD f AT_REMOVEDIR
unlinkat CWD f 0x1000000
unlinkat dir:d in 0
unlinkat dir:d sub AT_REMOVEDIR
unlinkat path:dro f 0
unlinkat path:d0 f 0
unlinkat -1 f 0
unlinkat 99 /nonexistent/x 0
unlinkat dir:f x 0
rename f f
rename f g
rename f h
rename f d
rename d f
rename d e
rename e d
rename e e2
rename d d/sub/x
rename d/sub d
rename d/in in
rename f d/f
rename f f/x
rename f x/
rename e x/
rename lf new
rename f lx
rename d/sub e/sub
rename dro/f new
rename f dro/new
rename dro dro2
rename dro/e e
rename e dro/e
rename st/f new
rename st/own new
rename d0/f new
rename e2 loop/x
rename f {256}
rename f long:4096:x
renameat dir:d in CWD out
renameat CWD f dir:d in
renameat -1 f CWD x
renameat CWD f 99 x
renameat dir:f x CWD x
renameat path:d in path:e in
renameat2 CWD f CWD x 0
renameat2 CWD f CWD g RENAME_NOREPLACE
renameat2 CWD f CWD x RENAME_EXCHANGE
renameat2 CWD f CWD d RENAME_EXCHANGE
renameat2 CWD d CWD d/sub RENAME_EXCHANGE
renameat2 CWD f CWD x RENAME_EXCHANGE|RENAME_NOREPLACE
renameat2 CWD f CWD x RENAME_WHITEOUT
renameat2 CWD f CWD x 0x100
renameat2 CWD dro/f CWD g RENAME_EXCHANGE
link f x
link f g
link f dro/x
link f st/f
link d x
link d dro/x
link st x
link st dro/x
link st/e dro/x/
link other x
link other dro/x
link f0 x
link lf x
link sock x
link pipe x
link st/f x
linkat CWD lf CWD x 0
linkat CWD lf CWD x AT_SYMLINK_FOLLOW
linkat CWD lx CWD x AT_SYMLINK_FOLLOW
linkat path:f EMPTY CWD x AT_EMPTY_PATH
linkat -1 f CWD x 0
linkat CWD f 99 x 0
linkat CWD f CWD x 0x8000
linkat dir:d in dir:e in 0
symlink EMPTY x
symlink NULL x
symlink BAD x
symlink {4095} x
symlink {4096} x
symlink f f
symlink f lx
symlink f x/
symlink x dro/x
symlink /etc/passwd x
symlinkat f dir:d in
symlinkat f dir:d new
symlinkat f -1 new
symlinkat f path:dro new
mkdir x 01777
mkdir x 0
mkdir x/ 0755
mkdir x/. 0755
mkdir st/x 0755
mkdir dx/x 0755
mkdirat dir:d sub 0755
mkdirat dir:d new 0755
mkdirat path:d0 new 0755
mkdirat 99 new 0755
mknod x S_IFSOCK|0600 0
mknod x S_IFIFO|0600 0
mknod x 0600 0
mknod x S_IFDIR|0755 0
mknod x S_IFLNK|0777 0
mknodat dir:e x S_IFREG|0600 0
mknodat path:dro x S_IFREG|0600 0
mknodat 99 x S_IFREG|0600 0
mkfifo st/x 0600
truncate f 0
truncate f 1000000
truncate f -1
truncate d 0
truncate other 0
truncate /dev/null 0
+fsize truncate f 17
+fsize truncate f 3
+hold:prog truncate prog 3
truncate /proc/self/exe 0
open /proc/self/exe O_WRONLY
open /proc/self/exe O_RDWR|O_TRUNC
open /proc/self/exe O_RDONLY
open /proc/self/exe O_RDONLY|O_NOFOLLOW
execve prog
execve lprog
execve lfalse
execve xonly
execve noint
execve dirint
execve fint
execve selfint
execve plain
execve void
execve notelf
execve other
execve /etc/passwd
execve /nonexistent/program
+hold:prog execve prog
+hold:plain execvp ./plain
execve_bare prog
execve_bare lfalse
execve_bare x
execve_args prog BAD
execve_args noexec NULL
execve_env prog BAD
execve_env f NULL
execv prog
execv noint
execl prog
execl d0/f
execlp ./plain
execlp probe-there-is-no-such-command
execvp ./xonly
execvp ./noint
execvp ./plain
execvp ./void
execvp ./notelf
execvp ./selfint
execvp EMPTY
execvp prog
execvp {256}
execvp false
execvp_in .:/bin prog
execvp_in /nonexistent:. prog
execvp_in .:/nonexistent noexec
execvp_in d0:dro f
execvp_in d0:. prog
execvp_in f:. prog
execvp_in loop:. prog
execvp_in {5000}:. prog
execveat CWD prog 0
execveat path:prog EMPTY AT_EMPTY_PATH
execveat path:noexec EMPTY AT_EMPTY_PATH
execveat path:d in 0
execveat CWD lprog AT_SYMLINK_NOFOLLOW
execveat 99 prog 0
execveat CWD prog 0x4
execveat path:lfalse EMPTY AT_EMPTY_PATH
fexecve path:prog
fexecve dir:noexec
fexecve 99
posix_spawn lfalse
posix_spawn noint
posix_spawn plain
posix_spawn xonly
posix_spawn selfint
posix_spawn EMPTY
posix_spawn {256}
posix_spawnp ./prog
posix_spawnp ./plain
posix_spawnp false
posix_spawnp probe-there-is-no-such-command
posix_spawn_open f O_RDONLY
posix_spawn_open x O_RDONLY
posix_spawn_open x O_WRONLY|O_CREAT
posix_spawn_open d0/f O_RDONLY
posix_spawn_open dro/x O_WRONLY|O_CREAT
posix_spawn_open d O_WRONLY
system ./prog
system ./noexec
system ./x
system NULL
popen ./prog
popen ./noint
popen ./d
open /proc/self O_RDONLY|O_DIRECTORY
open /proc/self O_RDONLY|O_NOFOLLOW
open /proc/self/status O_RDONLY
open /proc/self/environ O_RDONLY
open /proc/self/maps O_RDONLY
open /proc/self/cwd O_RDONLY|O_DIRECTORY
open /proc/self/root O_RDONLY|O_DIRECTORY
open /proc/self/fd O_RDONLY|O_DIRECTORY
open /proc/self/fd/0 O_RDONLY
open /proc/self/fd/99 O_RDONLY
open /proc/self/fd/0/x O_RDONLY
open /proc/self/nosuch O_RDONLY
open /proc/self/task/1 O_RDONLY
open /proc/thread-self/comm O_RDONLY
open /proc/0 O_RDONLY
open /proc/1/environ O_RDONLY
open /proc/1/cwd O_RDONLY
open /proc/1/fd O_RDONLY
open /proc/version O_WRONLY
open /proc/version O_RDONLY
opendir /proc/self/fd
+tree:f open /proc/self/cwd/f O_RDWR
+tree:f0 open /proc/self/cwd/f0 O_RDONLY
+tree:dro open /proc/self/cwd/dro/x O_WRONLY|O_CREAT 0600
+tree:f unlink /proc/self/cwd/f
+tree:f rename /proc/self/cwd/f x
mkdir /proc/self/cwd/x 0700
mkdir /proc/self/cwd/dro/x 0700
+hold:f open /proc/self/fd/4 O_RDWR
+hold:f open /dev/fd/4 O_RDONLY
+keep:f4 open /dev/fd/4 O_WRONLY
+hold:f linkat CWD /proc/self/fd/4 CWD x AT_SYMLINK_FOLLOW
+hold:f truncate /proc/self/fd/4 3
+hold:prog execve /proc/self/fd/4
open /dev/fd O_RDONLY
open /dev/fd/99 O_RDONLY
open /dev/fd/x O_RDONLY
open /dev/stdin O_RDONLY
open /dev/null O_RDWR
open /dev/null O_RDONLY|O_DIRECTORY
open /dev/null O_WRONLY|O_CREAT 0600
open /dev/null O_WRONLY|O_CREAT|O_EXCL 0600
open /dev/null O_WRONLY|O_TRUNC
open /dev/null/x O_RDONLY
open /dev/zero O_RDONLY
open lnull O_RDWR
open lnull O_RDWR|O_NOFOLLOW
fopen /dev/null w
opendir /dev/null
execve /dev/null
execve /proc/self/status
open / O_RDONLY
open / O_WRONLY
open / O_PATH
open // O_RDONLY|O_DIRECTORY
opendir /
execve /
open /etc/shadow O_RDONLY
open /nonexistent/x O_RDONLY
open /etc/passwd/x O_RDONLY
open /root/nothing/x O_RDONLY
+alarm open pipe O_RDONLY
+alarm open pipe O_WRONLY
+alarm openat CWD pipe O_WRONLY
+alarm creat pipe 0600
open pipe O_RDWR
open pipe O_RDONLY|O_NONBLOCK
+nofile open f O_RDONLY
+nofile open x O_RDONLY
+nofile open x O_WRONLY|O_CREAT 0600
+nofile open f0 O_RDONLY
+nofile openat CWD f O_RDONLY
+nofile openat2 CWD f O_RDONLY,0,0
+nofile creat x 0600
+nofile fopen f r
+nofile opendir d
+nofile mkstemp rnd.XXXXXX
+nofile mkdir x 0755
+nofile unlink f
+nofile rename f x
+nofile truncate f 0
+nofile execve prog
+nofile posix_spawn prog
+nofile posix_spawn_open f O_RDONLY
+gone open x O_RDONLY
+gone open x O_WRONLY|O_CREAT 0600
+gone open . O_RDONLY
+gone open .. O_RDONLY
+gone mkdir x 0700
+gone mknod x S_IFREG|0600 0
+gone symlink a x
+gone rename x y
+gone unlink x
+gone execve x
+gone execvp false
+cd:d open in O_RDONLY
+cd:d open ../f O_RDONLY
+cd:d unlink ../d/in
+cd:d rmdir ../d
+cd:d rmdir .
+cd:d rename . ../x
+cd:d rmdir ../e
+cd:dx open f O_RDONLY
+cd:dx open . O_RDONLY
+cd:dx creat x 0600
+cd:dro creat x 0600
+cd:st unlink f
+cd:st rmdir e
+cd:st rename f g
+listen:here connect unix unix:here
+listen:here connect unix-packet unix:here
+listen:here bind unix unix:here
+listen:here connect unix unix:./here
+listen:here unlink here
+listen:here open here O_RDWR
connect unix unix:x
connect unix unix:dro/x
connect unix unix:{107}
connect unix unix:{108}
connect unix unix:x@300
connect unix unix:x@2
connect unix NULL@110
connect unix BAD@110
bind unix unix:dro/x
bind unix unix:{107}
bind unix unix:{108}
bind unix unix:x@300
bind unix unix:x@2
bind unix NULL@110
bind unix BAD@110
bind unix-packet unix:x
bind unix-datagram unix:x
bind unix-datagram unix:f
connect unix-datagram unix:x
connect unix-datagram unix:sock
connect unix 127.0.0.1:1
connect tcp4 unix:sock
bind tcp4 unix:x
connect tcp4 listening
connect tcp4 closed
connect tcp4-nonblock listening
connect tcp4-nonblock closed
connect tcp4 127.0.0.1:0
connect tcp4 unspecified
connect tcp4 listening@4
connect tcp4 listening@300
connect tcp4 NULL
connect tcp4 BAD
connect tcp6 ::1:0
connect tcp6 127.0.0.1:1
connect 99 listening
connect -1 NULL
connect dir:d listening
connect dir:d unix:sock
bind tcp4 127.0.0.1:0
bind tcp4 127.0.0.2:0
bind tcp4 192.0.2.1:0
bind tcp4 127.0.0.1:1
bind tcp4 listening
bind tcp4 closed
bind tcp4 127.0.0.1:0@4
bind tcp4 NULL
bind tcp4 BAD
bind tcp6 ::1:0
bind 99 127.0.0.1:0
bind dir:d 127.0.0.1:0
fork
END
common=$(wc -l <"$DIR/pairs")

# -- and those of two of them: every path of a list in every call of another, '@' being the path
names='f x no/x d e f/x f/ d/ x/ h lf ld le lx lp lx/ ld/ loop ring/x lself/f . .. d/. d/.. e/..'
odd='EMPTY {255} {256} d/{256} long:4095:f long:4096:f cross:f'
wild='NULL BAD EDGE'
closed='f0 f4 f2 d0 d0/f d0/x dx dx/f dr/f dro dro/f dro/x dro/e st/f st/own st/e other l0'
special='pipe sock prog noexec'
# Root needs only look at what ordinary permissions close, some of it to root alone.
if is_root; then
	names='' odd='' wild='' special=''
fi

for_each() # PATHS SHAPE...
{
	local path shape paths=$1

	shift
	for shape in "$@"; do
		for path in $paths; do
			echo "${shape//@/"$path"}"
		done
	done
}

{
	for_each "$names $odd $wild $closed $special" 'open @ O_RDONLY|O_NONBLOCK' \
		'open @ O_WRONLY|O_NONBLOCK' 'open @ O_RDWR|O_CREAT 0640' \
		'open @ O_WRONLY|O_CREAT|O_EXCL 0600' 'open @ O_WRONLY|O_TRUNC|O_NONBLOCK' \
		'open @ O_RDONLY|O_DIRECTORY|O_CLOEXEC' 'open @ O_RDONLY|O_NOFOLLOW|O_NONBLOCK' \
		'open @ O_PATH|O_NOFOLLOW' 'open @ O_RDWR|O_TMPFILE 0600' \
		'openat2 CWD @ O_RDONLY|O_NONBLOCK,0,RESOLVE_BENEATH' \
		'truncate @ 3' 'opendir @' 'unlink @' 'rmdir @' 'remove @' 'rename @ new' 'rename g @' \
		'rename e2 @' 'renameat2 CWD g CWD @ RENAME_NOREPLACE' \
		'renameat2 CWD @ CWD g RENAME_EXCHANGE' 'link @ new' 'link g @' \
		'linkat CWD @ CWD new AT_SYMLINK_FOLLOW' 'symlink target @' 'mkdir @ 0755' \
		'mknod @ S_IFREG|0644 0' 'mkfifo @ 0644' 'execve @'
	# These would wait for the other end of a FIFO.
	for_each "$names $odd $wild $closed" 'creat @ 0644' 'fopen @ r' 'fopen @ w' 'freopen @ a+'
	# libc reads these itself, and falls over bad pointers by itself.
	for_each "$names $closed $special" 'execvp ./@' 'posix_spawn @' 'mkstemp @/rnd.XXXXXX' \
		'bind unix unix:@' 'connect unix unix:@'
} >>"$DIR/pairs"
total=$(wc -l <"$DIR/pairs")

{
	printf '[sandbox]\nworkdir = %s\nprotect = no\ntmp = shared\n' "$PLACE"
	printf '[paths]\nread = /\nexec = /\nwrite = %s, /proc/version\n' "$PLACE"
	printf '[network]\nmode = full\nunix_datagram = yes\n'
} >"$DIR/policy.ini"

# Without capabilities, as everything in the sandbox is.
without_rights() # COMMAND...
{
	if is_root; then
		$drop "$@"
	else
		"$@"
	fi
}
drop='setpriv --bounding-set=-all --inh-caps=-all --no-new-privs --'

# What a run left in its folders; lines begin with the number of their pair.
left()
(
	cd t || exit
	find . -mindepth 2 \( -type f -printf '%P %M %n %s\n' \) -o -printf '%P %M %n %l\n'
	find . -type f -size -9 -exec grep -H '' {} +
) 2>/dev/null

# The first pairs of a list in new folders: NAME gets the results, NAME.err what was said, NAME.left.
side() # NAME PAIRS COMMAND...
{
	local name=$1 count=$2 good

	shift 2
	mkdir t && head -n "$count" "$LIST" >"$DIR/lines" && ./probe build t <"$DIR/lines" || return
	"$@" <"$DIR/lines" >"$DIR/$name" 2>"$DIR/$name.err"
	good=$?
	left | sed 's/^\.\///; s/rnd\.[A-Za-z0-9]*/rnd/' | sort >"$DIR/$name.left"
	chmod -R u+rwX t 2>/dev/null
	rm -rf t
	return "$good"
}

LIST=$DIR/pairs
# Collects "NUMBER RUN: bare ..." and "NUMBER RUN: boxed ..." for the pairs that differ.
: >"$DIR/different"
compare() # RUN BARE
{
	local kind

	for kind in '' .left; do
		diff "$DIR/$2$kind" "$DIR/boxed$kind" >"$DIR/diff"
		[ $? -le 1 ] || return
		sed -nE "s|^< ([0-9]{4})(.*)|\\1 $1: bare\\2|p; s|^> ([0-9]{4})(.*)|\\1 $1: boxed\\2|p" \
			"$DIR/diff" >>"$DIR/different"
		! grep -qE '^[<>] ([^0-9]|$)' "$DIR/diff" || return # belongs to no pair
	done
}

WITHIN=
boxed() # RUN BARE PAIRS ARGUMENT...
{
	local run=$1 bare=$2 count=$3

	shift 3
	side boxed "$count" $WITHIN "$LAUNCH" -q -p "$DIR/policy.ini" "$@"
	result $? "$run: all calls were made"
	cp "$DIR/boxed.err" "$DIR/err" && : >"$DIR/out"
	! grep -q '^sbx' "$DIR/err"
	result $? "$run: nothing is explained"
	cmp -s "$DIR/$bare.err" "$DIR/err"
	result $? "$run: and nothing else is said but what is said bare"
	rm -f "$DIR/out"
	compare "$run" "$bare"
	result $? "$run: results and folders could be compared"
}

both() # PROGRAM MODE PAIRS
{
	[ -x "$1" ] || return
	side "bare-$1-$2" "$3" without_rights "./$1" -m "$2" run t
	result $? "$1, $2: all calls were made bare"
	boxed "$1, $2" "bare-$1-$2" "$3" -- "./$1" -m "$2" run t
}

both probe libc "$total"
both probe syscall "$common"
both probe raw "$common"
both probe-static libc "$common"
both probe-static raw "$total"
both probe-static-pie libc "$common"
both probe-musl libc "$common"
both probe-musl-static libc "$common"
boxed 'probe without the shim' bare-probe-libc "$total" --no-shim -- ./probe -m libc run t
boxed 'probe, all explained' bare-probe-libc "$total" --explain-all -- ./probe -m libc run t

# The pairs of the list, one by one.
report()
{
	local -A different=()
	local number=0 key line rest

	while read -r key rest; do
		different[$key]+="# $rest"$'\n'
	done <"$DIR/different"
	while read -r line; do
		number=$((number + 1))
		printf -v key '%04d' "$number"
		if [ -z "${different[$key]-}" ]; then
			result 0 "as bare: $line"
		else
			result 1 "as bare: $line"
			head -12 <<<"${different[$key]}"
		fi
	done <"$LIST"
}
report

# -- and that the pairs are worth something
[ "$common" -ge 300 ]
result $? "there are at least 300 pairs ($common by every program, $total in all)"
! grep -hE 'cannot set up|no such call|no child' "$DIR"/bare-*
result $? 'every line of the list could be made'
kinds=$(awk '$5 ~ /^E/ { print $5 }' "$DIR/bare-probe-libc" | sort -u | wc -l)
[ "$kinds" -ge 25 ]
result $? "at least 25 different errors occur ($kinds)"

# -- devices: nobody without capabilities can make one, and Landlock, whose rules have no right for
# them, answers before the kernel looks at capabilities
: >"$DIR/out"
for device in 'S_IFCHR|0600 0x103' 'S_IFBLK|0600 0x700'; do
	[ "$(without_rights ./probe mknod x $device)" = 'mknod = -1 EPERM' ] &&
		[ "$("$LAUNCH" -q -p "$DIR/policy.ini" -- ./probe mknod x $device 2>"$DIR/err")" = 'mknod = -1 EACCES' ] &&
		[ ! -e x ]
	result $? "no device can be made: mknod x $device"
done

# -- on a read-only mount, which has to be made
cat >"$DIR/read-only" <<'END'
open f O_RDONLY
open f O_WRONLY
open f O_RDWR
open f O_RDONLY|O_TRUNC
open f O_RDONLY|O_CREAT 0600
open f O_WRONLY|O_CREAT 0600
open f O_WRONLY|O_CREAT|O_EXCL 0600
open x O_RDONLY
open x O_WRONLY
open x O_WRONLY|O_CREAT 0600
open no/x O_WRONLY|O_CREAT 0600
open f/x O_WRONLY|O_CREAT 0600
open lx O_WRONLY|O_CREAT 0600
open lf O_WRONLY
open loop O_WRONLY
open d O_WRONLY
open f0 O_RDONLY
open f0 O_WRONLY
open d0/f O_WRONLY
open dro/x O_WRONLY|O_CREAT 0600
open e O_RDWR|O_TMPFILE 0600
open pipe O_RDWR|O_NONBLOCK
open f O_PATH
openat2 CWD f O_RDWR,0,RESOLVE_BENEATH
creat f 0600
creat x 0600
fopen f r
fopen f r+
fopen x w
freopen f a
opendir d
truncate f 0
truncate x 0
truncate f0 0
unlink f
unlink x
unlink d
unlink dro/f
rmdir e
rmdir d
rmdir f
rmdir x
remove f
remove e
rename f x
rename f g
rename x y
rename d e
rename f no/x
renameat2 CWD f CWD g RENAME_EXCHANGE
renameat2 CWD f CWD g RENAME_NOREPLACE
link f x
link f g
link x y
link d x
symlink a x
symlink a f
mkdir x 0755
mkdir d 0755
mkdir no/x 0755
mkdir f/x 0755
mknod x S_IFREG|0600 0
mknod f S_IFREG|0600 0
mkfifo x 0600
mkstemp rnd.XXXXXX
mkdtemp rnd.XXXXXX
bind unix unix:x
bind unix unix:f
connect unix unix:sock
execve prog
execve noexec
posix_spawn prog
END
count=$(wc -l <"$DIR/read-only")
if is_root; then
	WITHIN='unshare --mount'
else
	WITHIN='unshare --user --map-root-user --mount'
fi
WITHIN+=" bash $DIR/within"
# shellcheck disable=SC2016 # for the script
printf '%s\n' 'mount --bind t t && mount -o remount,bind,ro t && exec "$@"' >"$DIR/within"
mkdir t
if $WITHIN true 2>"$DIR/err"; then
	rmdir t
	LIST=$DIR/read-only
	: >"$DIR/different"
	# Whom root's files belong to cannot be seen in a namespace of users: hence --trust.
	for program in probe probe-static; do
		rm -f "$DIR/out"
		side "ro-$program" "$count" $WITHIN $drop "./$program" run t
		result $? "$program, on a read-only mount: all calls were made bare"
		boxed "$program, on a read-only mount" "ro-$program" "$count" --trust -- "./$program" run t
	done
	report
	grep -q 'open = -1 EROFS' "$DIR/ro-probe"
	result $? 'it was read-only'
else
	rmdir t
	result 0 "# SKIP no mount can be made here: $(head -1 "$DIR/err")"
fi

# -- under a hail of signals whose handler lets no call begin anew: what does not wait for anything
# is never interrupted.
WITHIN=
LIST=$DIR/storm
cat >"$LIST" <<'END'
+storm fork
+storm open f O_RDONLY
+storm open f O_WRONLY|O_CREAT 0600
+storm open x O_RDONLY
+storm open f0 O_RDONLY
+storm open dro/x O_WRONLY|O_CREAT 0600
+storm openat CWD f O_RDWR
+storm openat2 CWD f O_RDWR,0,0
+storm truncate f 3
+storm truncate f4 3
+storm unlink x
+storm unlink dro/f
+storm rmdir d
+storm mkdir d 0755
+storm rename x y
+storm link f g
+storm execve x
+storm execve noexec
+storm posix_spawn x
END
count=$(wc -l <"$LIST")
: >"$DIR/different"
both probe libc "$count"
both probe-musl libc "$count"
report
# In a program without the shim nobody blocks signals: the kernel may interrupt a call that nobody has
# received yet. It is then not made, and the program is told so.
side boxed-static 1 "$LAUNCH" -q -p "$DIR/policy.ini" -- ./probe-static run t
[ "$(grep -cE 'fork = (0 -|-1 EINTR)$' "$DIR/boxed-static")" -eq 1 ]
result $? 'a static program forks, or is told that it was interrupted'
finish
