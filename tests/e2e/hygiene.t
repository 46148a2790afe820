#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Programs that are hard on a library in their process: other allocators, other preloads, auditors,
# sanitizers, tiny stacks, threads that fork, constructors, closed descriptors. In each, what is
# allowed works, and what is refused is explained.
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

# Of the build; for the second run too, which cannot get there.
if [ -z "${PROGRAMS:-}" ]; then
	cp -a "$SBX_BUILD/tests/hygiene" "$DIR/programs" && chmod -R go+rX "$DIR/programs" || exit
	export PROGRAMS=$DIR/programs
fi

file allowed 'mine\n'
file refused 'not mine\n'
words="sbx: Cannot read '$PWD/refused': path is outside the sandbox."

# Runs a command under a policy with these lines more.
confined() # LINES COMMAND...
{
	printf '[paths]\nread = ./allowed\nexec = %s, /bin/sh, /usr/bin/env\n%b' "$PROGRAMS" "$1" >policy.ini
	shift
	launch -q -p policy.ini -- "$@"
}

# What it must have said. Others may have put libraries in front of it; ours is there as well.
held() # NAME
{
	exits 0 "$1: runs to its end"
	has out 'allowed: success' "$1: what is allowed works"
	has out 'refused: Permission denied' "$1: what is not is refused"
	has err "$words" "$1: in words"
}

beside() # NAME LIBRARY
{
	held "$1"
	has out "has $2" "$1: and it is there"
	has out 'has libsbx-shim' "$1: beside ours"
}

subject() # KIND LINES
{
	confined "${2:-}" "$PROGRAMS/subject" "$1" "$PWD/allowed" "$PWD/refused"
}

# With a variable that only a program inside sets.
subject_with() # VARIABLE KIND
{
	# shellcheck disable=SC2016 # what the other shell shall expand
	confined '' /bin/sh -c 'export "$1"; shift; exec "$@"' sh "$1" \
		"$PROGRAMS/subject" "$2" "$PWD/allowed" "$PWD/refused"
}

for kind in plain vfork forks stack signal closed; do
	subject "$kind"
	held "$kind"
done
subject library
held 'a second C library'
[ "$(grep '^second: ' "$DIR/out" | tr '\n' ' ')" = 'second: success second: failure ' ]
result $? 'a second C library: has the same rights'
confined '' "$PROGRAMS/subject-early" early "$PWD/allowed" "$PWD/refused"
held 'a constructor'

# -- other preloads, which the policy gives or a program sets
for name in libjemalloc.so.2 libtcmalloc_minimal.so.4; do
	library=$(find /usr/lib -name "$name" 2>/dev/null | head -n 1)
	for kind in plain few vfork; do
		subject "$kind" "[env]\nset = LD_PRELOAD=$library\n"
		beside "$name by the policy, $kind" "${name%%[._]*}"
		subject_with "LD_PRELOAD=$library" "$kind"
		beside "$name by a shell, $kind" "${name%%[._]*}"
	done
done
for kind in plain stack closed; do
	subject "$kind" "[env]\nset = LD_PRELOAD=$PROGRAMS/second.so\n"
	beside "a second preload by the policy, $kind" second.so
	subject_with "LD_PRELOAD=$PROGRAMS/second.so" "$kind"
	beside "a second preload by a shell, $kind" second.so
	# shellcheck disable=SC2016 # what the other shell shall expand
	confined '' /bin/sh -c 'export LD_PRELOAD="$1:$LD_PRELOAD"; shift; exec "$@"' sh \
		"$PROGRAMS/second.so" "$PROGRAMS/subject" "$kind" "$PWD/allowed" "$PWD/refused"
	beside "a preload in front of ours, $kind" second.so
	has out 'second: was called' "a preload in front of ours, $kind: is asked first"
done

# -- auditors
for kind in plain few library; do
	subject "$kind" "[env]\nset = LD_AUDIT=$PROGRAMS/audit.so\n"
	beside "an auditor by the policy, $kind" audit.so
	subject_with "LD_AUDIT=$PROGRAMS/audit.so" "$kind"
	beside "an auditor by a shell, $kind" audit.so
done

# -- AddressSanitizer. What looks for leaks traces its own process, which no sandbox lets it do.
for program in subject-asan subject-asan-static; do
	for kind in plain vfork closed; do
		confined '[env]\nset = ASAN_OPTIONS=detect_leaks=0\n' "$PROGRAMS/$program" "$kind" \
			"$PWD/allowed" "$PWD/refused"
		held "$program, $kind"
	done
done
has out 'has libsbx-shim' 'with ours beside it'

finish
