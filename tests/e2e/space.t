#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What takes namespaces: a limit of disk space, and isolate = full. Where none can be had both are
# refused by name, before anything runs; where they can, nothing is left of them.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

cc -D_GNU_SOURCE -o "$DIR/no-userns" "$SBX_TOP/tests/e2e/without-namespaces.c" || exit
cat >"$DIR/queue.c" <<'END_OF_C'
/* queue: whether there is a message queue of System V with the number 4711. */
#include <stdio.h>
#include <sys/msg.h>

int main(int argc, char **argv)
{
	int id = msgget(4711, argc > 1 ? IPC_CREAT | 0600 : 0);

	(void)argv;
	puts(id < 0 ? "none" : "there");
	return 0;
}
END_OF_C
cc -o "$DIR/queue" "$DIR/queue.c" || exit
mkdir ws
file ws/token 'SECRET\n'
file policy.ini '[sandbox]
include = bash, python
workspace = ./ws
home = private
[paths]
deny = ./ws/token
'

mounts() { cut -d' ' -f4- /proc/self/mountinfo; }
mounts >"$DIR/mounts"
unmounted() # NAME
{
	mounts | cmp -s - "$DIR/mounts"
	result $? "$1"
}

# Where no namespace can be had.
for setting in 'isolate sandbox --isolate=full' 'disk limits --disk=1M'; do
	read -r key section option <<<"$setting"
	run "$DIR/no-userns" "$LAUNCH" -p policy.ini "$option" -- touch started
	is 125 "$key is refused without namespaces"
	has err "'$key' in [$section] cannot be enforced" 'by its name'
	[ "$(wc -l <"$DIR/err")" -eq 1 ] && [ ! -e ws/started ]
	result $? 'in one line, and nothing runs'
done
if ! unshare -m true 2>/dev/null && ! unshare -Urm true 2>/dev/null; then
	finish
	exit
fi

# Disk space: tmp and home together.
disk() # COMMAND
{
	launch -p policy.ini --disk=1M -- bash -c "$1"
}
disk 'head -c 500000 /dev/zero >$TMPDIR/a && head -c 400000 /dev/zero >$HOME/b && echo fits'
is 0 'what fits can be written'
says out fits 'to both'
disk 'head -c 600000 /dev/zero >$TMPDIR/a && head -c 600000 /dev/zero >$HOME/b'
exits 1 'what does not cannot'
has err 'No space left on device' 'and the program is told'
has err 'disk' 'and so is the user'
has err 'To allow more: disk = 2M in [limits]' 'with what would help'
disk 'head -c 600000 /dev/zero >big && stat -c %s big && rm big'
says out 600000 'the workspace has no such limit'
disk 'printf "#!/bin/sh\necho ran\n" >$TMPDIR/x && chmod +x $TMPDIR/x && stat -f -c %T $TMPDIR; ls -d $TMPDIR/*'
has out tmpfs 'it is in memory'
launch -p policy.ini --disk=1M --dry-run -- true
has out 'together 1 MB at most' 'the plan says so'
if is_root; then
	launch -q -p policy.ini --user=nobody --disk=1M -- bash -c 'echo x >$TMPDIR/a && echo x >$HOME/b && id -u'
	says out 65534 'another user can use it'
fi
base=$TMPDIR/sbx
[ -z "$(ls -A "$base" 2>/dev/null)" ]
result $? 'and nothing of it is left'
unmounted 'nor anything mounted'

# Processes of its own.
full() # COMMAND...
{
	launch -q -p policy.ini --isolate=full -- "$@"
}
sleep 300 &
sleeper=$!
full bash -c 'echo /proc/[0-9]* | wc -w; ls -d /proc/'$sleeper' 2>&1; cat /proc/1/comm'
exits 0 'isolate = full runs a program'
has out sbx-launch 'the first process is the supervisor'
[ "$(head -n 1 "$DIR/out")" -le 4 ]
result $? 'and there are no others'
full bash -c "kill -0 $sleeper"
exits 1 'which cannot be signalled'
kill "$sleeper"
wait "$sleeper" 2>/dev/null
full bash -c 'kill -TERM 1; kill -KILL 1; sleep 0.1; echo alive'
has out alive 'nor can the supervisor'
has err 'Operation not permitted' 'and that is said'
full cat token
hasnt out SECRET 'masks stand there too'
has err "Cannot read 'token'" 'and are explained'
full bash -c 'exit 7'
exits 7 'the exit status is the program'"'"'s'
full bash -c 'kill -SEGV $$'
exits 139 'and so is the signal'
full bash -c '(sleep 300 & sleep 300 &) ; echo over'
says out over 'what is left behind is ended'
launch -q -p policy.ini --isolate=full --timeout=300ms -- sleep 60
exits 124 'limits hold'
launch -p policy.ini --isolate=full --json -- bash -c 'echo text'
json_is "j['success'] and j['stdout'].strip() == 'text'" 'and a result can be had'
"$DIR/queue" make >/dev/null
launch -q -p policy.ini --isolate=full --allow-exec="$DIR/queue" -- "$DIR/queue"
hasnt out there 'System V IPC is its own'
ipcrm -Q 4711 2>/dev/null
launch -p policy.ini --isolate=full --dry-run -- true
has out 'mounts, processes, System V IPC, host name' 'the plan names what is taken'
if is_root; then
	full bash -c 'umount /proc; mount -t proc proc /proc'
	exits 32 'and cannot be changed from inside'
	launch -q -p policy.ini --isolate=full --user=nobody -- bash -c 'id -u; echo /proc/[0-9]* | wc -w'
	has out 65534 'another user can be in it'
fi

# Gone, or only waited for by somebody else.
is_over() # PID
{
	[ ! -e "/proc/$1" ] || grep -q '^State:[[:space:]]*[ZX]' "/proc/$1/status" 2>/dev/null
}

# The masks of a copy are watched as well.
"$LAUNCH" -q -p policy.ini --isolate=full -- bash -c 'echo >started; sleep 60' >"$DIR/out" 2>"$DIR/err" &
launcher=$!
for _ in $(seq 500); do [ ! -e ws/started ] || break; sleep 0.02; done
file ws/new 'SECRET\n'
mv ws/new ws/token
wait "$launcher"
STATUS=$?
exits 125 'who replaces what is masked ends the run'
rm -f ws/started

for victim in launcher supervisor; do
	"$LAUNCH" -q -p policy.ini --isolate=full --disk=1M -- bash -c 'echo >started; sleep 61.5' >"$DIR/out" 2>"$DIR/err" &
	launcher=$! target=$launcher
	for _ in $(seq 500); do [ ! -e ws/started ] || break; sleep 0.02; done
	read -r supervisor _ <"/proc/$launcher/task/$launcher/children"
	read -r program _ <"/proc/$supervisor/task/$supervisor/children"
	[ "$victim" = launcher ] || target=$supervisor
	kill -KILL "$target"
	wait "$launcher" 2>/dev/null
	for _ in $(seq 250); do is_over "$program" && is_over "$supervisor" && break; sleep 0.02; done
	[ -n "$program" ] && is_over "$program" && is_over "$supervisor"
	result $? "a killed $victim takes all along"
	unmounted 'and nothing is mounted'
	rm -f ws/started
done
launch -q -p policy.ini -- true
[ -z "$(ls -A "$base" 2>/dev/null)" ]
result $? 'and nothing is left behind'
finish
