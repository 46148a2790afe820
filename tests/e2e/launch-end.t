#!/bin/bash
# SPDX-License-Identifier: MIT
#
# How a run ends: the program's own exit status, signals both ways, nobody left behind, whatever is
# killed.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

# A number that only processes of this test sleep for.
mark=7$$.$RANDOM

# Processes that sleep for it, without the dead that nobody has buried yet.
left()
{
	local pid count=0

	for pid in $(pgrep -f "^sleep $mark" 2>/dev/null); do
		case $(cut -d ' ' -f 3 "/proc/$pid/stat" 2>/dev/null) in
		'' | Z) ;;
		*) count=$((count + 1)) ;;
		esac
	done
	echo "$count"
}

none_left() { [ "$(left)" -eq 0 ]; }
some_left() { [ "$(left)" -ge "$1" ]; }

for code in 0 1 2 42 124 125 126 127 130 137 143 255; do
	launch -- sh -c "exit $code"
	exits "$code" "exit status $code is kept"
done
# As under nohup, a signal may be ignored by who runs this.
for pair in HUP:129 KILL:137 TERM:143 USR1:138 SEGV:139; do
	run env --default-signal "$LAUNCH" -- sh -c "kill -${pair%:*} \$\$"
	exits "${pair#*:}" "SIG${pair%:*} inside is ${pair#*:}"
done
launch -- sh -c 'kill -INT $$'
exits 130 'SIGINT inside is 130'
run bash -c 'trap "echo stopped >&2" INT; "$1" -- sh -c "kill -INT \$\$"; echo "$?"' - "$LAUNCH"
says out 130 'for a shell too'
launch -- nowhere-to-be-found
exits 127 'a command that is not there'
file not-a-program x
launch -- ./not-a-program
exits 126 'one that cannot be executed'
launch -- "$DIR"
exits 126 'nor can a folder'
launch --timeout 300ms -- sleep 20
exits 124 'a timeout'
has err 'time limit' 'is explained'
launch --timeout 300ms -- bash -c 'trap "" TERM; while :; do sleep 20; done'
exits 124 'also when the program does not want to end'

# -- signals are passed on (a shell has those of the keyboard ignored in the background)
for name in HUP TERM USR1 USR2 INT QUIT; do
	rm -f "$DIR/out"
	env --default-signal "$LAUNCH" -q -- bash -c "trap 'echo got $name; exit 9' $name; echo ready; while :; do sleep 0.1; done" >"$DIR/out" 2>"$DIR/err" &
	pid=$!
	eventually grep -qs ready "$DIR/out"
	kill -s "$name" "$pid"
	wait "$pid"
	STATUS=$?
	has out "got $name" "SIG$name reaches the program"
	exits 9 'which decides how it ends'
done
"$LAUNCH" -q -- sleep "$mark" 2>"$DIR/err" &
pid=$!
eventually some_left 1
kill -STOP "$(pgrep -f "^sleep $mark")"
stopped() { [ "$(cut -d ' ' -f 3 "/proc/$pid/stat")" = T ]; }
eventually stopped
result $? 'when the program is stopped, so is the launcher'
kill -CONT "$pid"
running() { [ "$(cut -d ' ' -f 3 "/proc/$(pgrep -f "^sleep $mark")/stat")" = S ]; }
eventually running
result $? 'and continued with it'
kill "$pid"
wait "$pid"
STATUS=$?
exits 143 'and ends by a signal to it'

# -- nobody stays
launch -- bash -c "sleep $mark & (sleep $mark &) ; setsid sleep $mark & disown -a; sleep 0.2; exit 3"
exits 3 'a program that leaves others behind'
none_left
result $? 'takes them along'
launch -- "$PYTHON" -c "
import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp('sleep', ['sleep', '$mark'])
    os._exit(0)
os.wait()"
none_left
result $? 'a daemon too'
launch -- bash -c "trap '' TERM HUP; (trap '' TERM HUP; exec sleep $mark) & sleep 0.1"
none_left
result $? 'and one that does not want to hear'
for victim in launcher supervisor; do
	"$LAUNCH" -qq -- bash -c "sleep $mark & setsid sleep $mark & (sleep $mark &); exec sleep $mark" 2>/dev/null &
	pid=$!
	eventually some_left 4
	case $victim in
	launcher) kill -KILL "$pid" ;;
	supervisor) kill -KILL "$(pgrep -P "$pid")" ;;
	esac
	wait "$pid" 2>/dev/null
	eventually none_left
	result $? "SIGKILL of the $victim leaves nobody"
done
launch -- true
none_left
result $? 'nor does the next start'

# -- at random moments
base=$DIR/sbx
registry=/dev/shm/sbx-$(id -u)

# Files of runs that have to do with this test, wherever they are.
files() { grep -ls -- "$DIR" "$registry"/run.* "$base"/run.*; }

"$LAUNCH" -q -- sh -c "echo ready; sleep $mark" >"$DIR/out" 2>"$DIR/err" &
pid=$!
eventually grep -qs ready "$DIR/out"
[ "$(files | wc -l)" -eq 1 ]
result $? 'a run has a file'
kill "$pid"
wait "$pid"
[ -z "$(files)" ]
result $? 'which goes with it'
SEED=${SBX_SEED:-$RANDOM}
RANDOM=$SEED
echo "# SBX_SEED=$SEED"
for _ in $(seq 100); do
	"$LAUNCH" -qq -- bash -c "sleep $mark & setsid sleep $mark & exec sleep $mark" 2>/dev/null &
	pid=$!
	sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
	kill -KILL "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
done
eventually none_left
result $? 'a launcher killed at a hundred random moments leaves no process'
launch -- true
[ -z "$(ls -A "$base" 2>/dev/null)" ]
result $? 'and after the next start no directory'
[ -z "$(files)" ]
result $? 'and no file'

finish
