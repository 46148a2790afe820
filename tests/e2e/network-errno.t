#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What the policy allows ends for sockets as it ends outside, although somebody else connects, binds
# and listens: more than 200 pairs of a call and a situation, bare and in the sandbox.
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

# Of the build; for the second run too, which cannot get there.
if [ -z "${PROGRAMS:-}" ]; then
	cp -a "$SBX_BUILD/tests/hygiene" "$DIR/programs" && chmod -R go+rX "$DIR/programs" || exit
	export PROGRAMS=$DIR/programs
fi

cat >policy.ini <<END
[sandbox]
tmp = shared
[paths]
write = ./room
exec = $PROGRAMS
[network]
connect = 0.0.0.0/0:*, [::]/0:*
bind = 0.0.0.0/0:*, [::]/0:*
END

# Without capabilities, as everything in the sandbox is.
bare=()
is_root && bare=(setpriv --bounding-set=-all --inh-caps=-all --no-new-privs --)

# In a room of its own: what it prints, what is said, how it ends. All wait for the most part.
start() # NAME COMMAND...
{
	local name=$1

	shift
	mkdir "room/$name" && {
		timeout --foreground 60 "$@" errnos "$PWD/room/$name" >"$DIR/$name.out" 2>"$DIR/$name.err"
		echo $? >"$DIR/$name.status"
	} &
}

same() # NAME WORDS
{
	STATUS=$(cat "$DIR/$1.status")
	cp "$DIR/$1.out" "$DIR/out"
	cp "$DIR/$1.err" "$DIR/err"
	exits 0 "$2: all calls are made"
	[ ! -s "$DIR/err" ]
	result $? "$2: nothing is explained"
	diff "$DIR/bare.out" "$DIR/$1.out" >"$DIR/out"
	result $? "$2: each is answered as it is bare"
}

mkdir room
start bare "${bare[@]}" "$PROGRAMS/sockets"
start shim "$LAUNCH" -q -p policy.ini -- "$PROGRAMS/sockets"
start static "$LAUNCH" -q -p policy.ini -- "$PROGRAMS/sockets-static"
start seccomp "$LAUNCH" -q --enforce=seccomp -p policy.ini -- "$PROGRAMS/sockets"
wait
[ "$(wc -l <"$DIR/bare.out")" -gt 200 ] && [ "$(grep -c ': ok$' "$DIR/bare.out")" -gt 50 ] &&
	[ "$(sed 's/.*: //' "$DIR/bare.out" | sort -u | wc -l)" -gt 18 ]
result $? 'bare, they are answered in many ways'
same bare 'bare'
same shim 'with the shim'
same static 'a static program'
same seccomp 'without Landlock'
finish
