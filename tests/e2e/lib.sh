#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What the tests of the command share. A test sources it, calls 'run' and the checks below, and ends
# with 'finish', which prints the plan. It then works in $DIR/work, a folder of its own that goes away
# at the end, with a HOME of its own.
#
# As root, 'finish' first runs the whole test again as an ordinary user, on a copy of what is tested:
# both must hold. Such a second run has SBX_AGAIN set. With SBX_ONCE set there is none: somebody else
# has had the tests run as an ordinary user.

umask 022
export LC_ALL=C
unset -v SANDBOX_SBX_IMAGE SUDO_UID POSIXLY_CORRECT SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE \
	REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS PYENV_ROOT PYENV_VERSION CDPATH MAKEFLAGS MFLAGS MAKELEVEL

SBX_TOP=$(cd "${SBX_TOP:-.}" && pwd) || exit
SBX_BUILD=$(cd "${SBX_BUILD:-$SBX_TOP/build/release}" && pwd) || exit
PYTHON=/usr/bin/python3
[ -x "$PYTHON" ] || PYTHON=python3
NOBODY=65534
COUNT=0
FAILED=0
STATUS=0

is_root() { [ "$(id -u)" -eq 0 ]; }

# Runs a command without any rights when this is root, else as it is.
as_user() # COMMAND...
{
	if is_root; then
		setpriv --reuid="$NOBODY" --regid="$NOBODY" --clear-groups --inh-caps=-all -- "$@"
	else
		"$@"
	fi
}

cleanup()
{
	cd /
	chmod -R u+rwX "$DIR" 2>/dev/null
	rm -rf "$DIR"
	# Where launchers keep the files of runs: it stays when it is not empty.
	rmdir "/dev/shm/sbx-$(id -u)" 2>/dev/null
}

# Links on the way would make every message longer, and an ordinary user must be able to get there.
DIR=$(mktemp -d) && DIR=$(cd "$DIR" && pwd -P) && chmod 755 "$DIR" || exit
trap cleanup EXIT
if ! as_user test -x "$DIR" && ! { rmdir "$DIR" && DIR=$(mktemp -d /tmp/XXXXXXXX) && chmod 755 "$DIR"; }; then
	echo 'Bail out! no folder that an ordinary user can reach'
	exit 1
fi

# What is tested, where an ordinary user can reach it: in $DIR/copy.
copy_tested()
{
	local copy=$DIR/copy

	[ ! -d "$copy" ] || return 0
	mkdir -p "$copy/build/lib" "$copy/tests" "$copy/policy" &&
		cp -a "$SBX_BUILD/bin" "$SBX_BUILD/share" "$copy/build/" &&
		cp -a "$SBX_BUILD"/lib/lib* "$copy/build/lib/" &&
		cp -a "$SBX_TOP/tests/e2e" "$copy/tests/" &&
		cp -a "$SBX_TOP/examples" "$copy/" &&
		cp -a "$SBX_TOP"/policy/*.h "$SBX_TOP"/policy/*.def "$copy/policy/" &&
		chown -R 0:0 "$copy" && chmod -R u+rwX,go+rX,go-w "$copy"
}

# Root's own folder is closed to others.
if is_root && ! as_user test -x "$SBX_BUILD/bin/sbx-policy"; then
	copy_tested || exit
	for built in "$SBX_BUILD"/*; do
		[ -e "$DIR/copy/build/${built##*/}" ] || ln -s "$built" "$DIR/copy/build/" || exit
	done
	SBX_BUILD=$DIR/copy/build
fi
SBX=$SBX_BUILD/bin/sbx-policy
LAUNCH=$SBX_BUILD/bin/sbx-launch
mkdir "$DIR/work" "$DIR/home"
export HOME="$DIR/home"
export TMPDIR="$DIR"
cd "$DIR/work" || exit

result() # STATUS NAME
{
	COUNT=$((COUNT + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $COUNT - $2"
		return
	fi
	echo "not ok $COUNT - $2"
	FAILED=$((FAILED + 1))
	if [ -f "$DIR/out" ]; then
		echo "# exit status $STATUS"
		# The end of a line that is cut off must not take the next result with it.
		{ head -c 3000 "$DIR/out" && echo; } | cat -v | sed 's/^/# out: /'
		{ head -c 3000 "$DIR/err" && echo; } | cat -v | sed 's/^/# err: /'
	fi
}

# Runs a command; what it says is in $DIR/out and $DIR/err, how it ends in $STATUS.
run() # COMMAND...
{
	"$@" >"$DIR/out" 2>"$DIR/err"
	STATUS=$?
}

sbx() # ARGUMENT...
{
	run "$SBX" "$@"
}

# Runs a command in the sandbox.
launch() # ARGUMENT...
{
	run "$LAUNCH" "$@"
}

# Waits until a command succeeds, for half a minute at most: machines may be slow.
eventually() # COMMAND...
{
	local end=$((SECONDS + 30))

	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.02
	done
}

# How the last command ended, whatever it said.
exits() # STATUS NAME
{
	[ "$STATUS" -eq "$1" ]
	result $? "$2"
}

# The exit status, and that messages are where they belong: errors on standard error alone, answers
# on standard output alone.
is() # STATUS NAME
{
	local good=0

	[ "$STATUS" -eq "$1" ] || good=1
	case $1 in
	0 | 1) [ ! -s "$DIR/err" ] || good=1 ;;
	*) [ ! -s "$DIR/out" ] && [ -s "$DIR/err" ] || good=1 ;;
	esac
	result $good "$2"
}

has() # out|err TEXT NAME
{
	grep -qF -e "$2" "$DIR/$1"
	result $? "$3"
}

hasnt() # out|err TEXT NAME
{
	! grep -qF -e "$2" "$DIR/$1"
	result $? "$3"
}

# All of it, whatever the number of lines.
says() # out|err TEXT NAME
{
	[ "$(cat "$DIR/$1")" = "$2" ]
	result $? "$3"
}

# What follows is about commands that the test's own 'inside' runs in the sandbox; 'how' ends the name.
SECRETS=SECRET # what none that is refused may say: a pattern

works() # OUTPUT NAME COMMAND...
{
	local text=$1 name=$2

	shift 2
	inside "$@"
	[ "$STATUS" -eq 0 ] && [ "$(cat "$DIR/out")" = "$text" ] && ! grep -q '^sbx: Cannot' "$DIR/err"
	result $? "$name${how:-}"
}

refuses() # WORDS NAME COMMAND...
{
	local text=$1 name=$2

	shift 2
	inside "$@"
	[ "$STATUS" -ne 0 ] && ! grep -Eq "$SECRETS" "$DIR/out" && grep -qF "$text" "$DIR/err"
	result $? "$name${how:-}"
}

is_json() { "$PYTHON" -m json.tool "$DIR/out" >"$DIR/json" 2>"$DIR/json.err"; }

json() # NAME
{
	is_json
	result $? "$1"
}

# A python expression about the answer, which is called 'j'.
json_is() # EXPRESSION NAME
{
	"$PYTHON" -c 'import json, sys
j = json.load(open(sys.argv[1]))
sys.exit(not eval("(" + sys.argv[2] + ")"))' "$DIR/out" "$1" 2>"$DIR/json.err"
	result $? "$2"
}

# Nothing that a terminal would act on, or that hides or turns around what is read.
is_clean() # FILE...
{
	"$PYTHON" -c 'import sys, unicodedata
for name in sys.argv[1:]:
    text = open(name, "rb").read().decode("utf-8")
    for c in text:
        if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            sys.exit(1)' "$@" 2>/dev/null
}

clean() # NAME
{
	is_clean "$DIR/out" "$DIR/err"
	result $? "$1"
}

# A file from text with escapes as printf(1) knows them.
file() # NAME TEXT
{
	case $1 in */*) mkdir -p "${1%/*}" ;; esac
	printf '%b' "$2" >"$1"
}

# policy.ini, from text with escapes, beginning without any profile.
policy() # TEXT
{
	printf '[sandbox]\ninclude = none\n%b' "$1" >policy.ini
}

# The test once more, by somebody without rights.
again_as_user()
{
	local line plan=0 before=$COUNT test

	test=$(basename "$0")
	copy_tested && mkdir -p "$DIR/user" && chown "$NOBODY" "$DIR/user" || return
	while IFS= read -r line; do
		case $line in
		'ok '[0-9]* | 'not ok '[0-9]*)
			COUNT=$((COUNT + 1))
			case $line in not*) FAILED=$((FAILED + 1)) ;; esac
			echo "${line%%ok *}ok $COUNT - as an ordinary user: ${line#* - }"
			;;
		1..[0-9]*) plan=${line#1..} ;;
		*) echo "$line" ;;
		esac
	done < <(cd / && as_user env HOME="$DIR/user" TMPDIR="$DIR/user" SBX_AGAIN=yes \
		SBX_TOP="$DIR/copy" SBX_BUILD="$DIR/copy/build" bash "$DIR/copy/tests/e2e/$test" 2>&1)
	[ "$plan" -gt 0 ] && [ "$plan" -eq $((COUNT - before)) ]
}

finish()
{
	if is_root && [ -z "${SBX_ONCE:-}" ]; then
		STATUS=0
		rm -f "$DIR/out"
		again_as_user
		result $? 'and all of it ran as an ordinary user too'
	fi
	echo "1..$COUNT"
	[ "$FAILED" -eq 0 ]
}
