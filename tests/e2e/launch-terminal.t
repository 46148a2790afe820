#!/bin/bash
# SPDX-License-Identifier: MIT
#
# At a terminal: shells and interpreters inside are used as they are outside. Ctrl-C reaches the
# program alone, Ctrl-Z and fg work, and a window may change its size.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

export TERM=xterm SHELL=/bin/bash
socket=$DIR/tmux.sock
tmux_() { tmux -S "$socket" -f /dev/null "$@"; }
trap 'tmux_ kill-server 2>/dev/null; cleanup' EXIT

# Types a line.
type_() # TEXT
{
	tmux_ send-keys -t t -l "$1"
	tmux_ send-keys -t t Enter
}

key() { tmux_ send-keys -t t "$1"; }
screen() { tmux_ capture-pane -p -t t; }

# Waits until a line of the screen matches; ten seconds at most.
see() # REGEX NAME
{
	local i

	for i in $(seq 100); do
		screen 2>/dev/null | grep -qE -- "$1" && break
		sleep 0.1
	done
	screen | grep -qE -- "$1"
	result $? "$2"
	if [ "$i" -eq 100 ]; then
		screen | grep -v '^$' | sed 's/^/# /'
	fi
}

tmux_ new-session -d -x 100 -y 40 -s t "exec bash --norc --noprofile"
type_ "PS1='out''er> '; cd '$DIR/work'; L='$LAUNCH'; P='$PYTHON'; clear"
see '^outer>' 'a shell in a terminal'

# -- an interpreter
type_ '"$L" -- "$P" -q'
see '^sbx: .* under the built-in policy: ' 'on a terminal the banner says what holds'
see '^>>> *$' 'python3 is interactive'
type_ 'import time; print("sleep" + "ing"); time.sleep(1000)'
see '^sleeping' 'it works'
key C-c
see '^KeyboardInterrupt' 'Ctrl-C reaches it'
type_ 'print("still" + " here")'
see '^still here' 'and nobody else'
key C-z
see 'Stopped' 'Ctrl-Z stops the whole of it, and the shell knows'
type_ 'fg; true'
type_ 'print("back" + " again")'
see '^back again' 'fg continues it'
type_ 'import sys; sys.exit(7)'
see '^outer> *$' 'it ends'
type_ 'echo "status $?"'
see '^status 0' 'and fg; true went on'

# -- a shell with jobs of its own
type_ 'clear; "$L" -q -- bash --norc --noprofile'
sleep 0.5
type_ "PS1='inn''er> '"
see '^inner> *$' 'bash is interactive'
type_ 'sleep 1000'
sleep 0.5
key C-z
see 'Stopped +sleep 1000' 'Ctrl-Z stops its job, not the sandbox'
type_ 'jobs | wc -l; fg'
see '^sleep 1000' 'fg brings it back'
key C-c
type_ 'echo "job ended: $?"'
see '^job ended: 130' 'Ctrl-C ends it'
type_ 'stty size'
see '^40 100' 'the size of the window is known'
tmux_ resize-window -t t -x 90 -y 35
sleep 0.5
type_ 'stty size'
see '^35 90' 'and so is its change'
type_ "trap 'echo window chan''ged' WINCH; \"$PYTHON\" -c 'import os; print(os.isatty(0), os.isatty(1), os.isatty(2))'"
see '^True True True' 'programs inside have the terminal'
type_ 'exit 5'
see '^outer> *$' 'the shell ends'
type_ 'echo "status $?"'
see '^status 5' 'with its status'
type_ 'stty -a | grep -c " icanon"'
see '^1' 'and the terminal is as it was'

# -- a loop of a script ends by Ctrl-C, as it does without a sandbox
type_ 'clear; for i in 1 2 3; do "$L" -q -- sleep 1000; echo "next"; done'
sleep 1
key C-c
type_ 'echo "af""ter"'
see '^after' 'Ctrl-C ends the program'
[ "$(screen | grep -c '^next')" -eq 0 ]
result $? 'and the loop around it'

# -- a terminal that nobody reads must not keep the limits from being held
mkdir -p "$DIR/outside"
"$PYTHON" - "$LAUNCH" "$DIR/outside" >"$DIR/out" 2>"$DIR/err" <<'END'
import os, pty, subprocess, sys
master, slave = pty.openpty()
script = """import os, sys, time
for i in range(300):
    try: os.mkdir(sys.argv[1] + "/new-%d" % i)
    except OSError: pass
time.sleep(60)"""
run = subprocess.Popen([sys.argv[1], "--timeout=1s", "--", sys.executable, "-Ic", script, sys.argv[2]],
                       stderr=slave, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
os.close(slave)
try:
    print(run.wait(timeout=60))
except subprocess.TimeoutExpired:
    run.kill()
    print("it hangs")
END
says out 124 'a terminal that nobody reads does not keep the time limit from being held'
finish
