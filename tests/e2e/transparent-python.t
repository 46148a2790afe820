#!/bin/bash
# SPDX-License-Identifier: MIT
#
# CPython's own tests of files, processes and streams: under a policy that allows what they need, each
# test ends as it ends bare: passed, failed, or skipped for the same reason. What cannot be the same
# stands in a list below, with the reason.
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

if ! "$PYTHON" -c 'import test.test_os, test.test_shutil' 2>/dev/null; then
	echo "1..0 # SKIP $PYTHON comes without its own tests here"
	exit
fi

# Extended attributes answer EOPNOTSUPP in the sandbox: python finds no support, and skips.
cat >"$DIR/expected" <<'END'
test.test_os.ExtendedAttributeTests.test_fds
test.test_os.ExtendedAttributeTests.test_lpath
test.test_os.ExtendedAttributeTests.test_simple
END

mkdir tmp
cat >"$DIR/policy.ini" <<END
[sandbox]
workdir = $DIR/work
protect = no
tmp = shared
home = shared
[paths]
read = /
exec = /
write = $DIR/work, $HOME
write = /dev/ptmx, /dev/pts
[network]
mode = full
unix_datagram = yes
[env]
set = TMPDIR=$DIR/work/tmp
END

# A side of a part, with the same few variables; root has no capabilities in the sandbox.
bare()
{
	if is_root; then
		setpriv --bounding-set=-all --inh-caps=-all --no-new-privs -- env TMPDIR="$DIR/work/tmp" "$@"
	else
		env TMPDIR="$DIR/work/tmp" "$@"
	fi
}

boxed()
{
	"$LAUNCH" -q -p "$DIR/policy.ini" -- "$@"
}

part() # SIDE NAME ARGUMENT...
{
	local side=$1 name=$2

	shift 2
	env -i PATH=/usr/bin:/bin HOME="$HOME" LC_ALL=C.UTF-8 SIDE="$side" \
		bash -c "$(declare -f is_root bare boxed); LAUNCH='$LAUNCH' DIR='$DIR'; \$SIDE \"\$@\"" - \
		"$PYTHON" -m test -v --junit-xml "$DIR/work/$side-$name.xml" "$@" >"$DIR/$side-$name.log" 2>&1 </dev/null
}

# Most of the time is spent waiting: all parts of both sides run side by side.
both() # NAME ARGUMENT...
{
	part bare "$@" &
	part boxed "$@" &
}
both os test_os
both small test_posix test_tempfile test_shutil
# These do not depend on who one is: root, whose run comes a second time as a user, has them there.
least=700
if ! is_root; then
	least=1600
	both io test_io -i '*SignalsTest*'
	both io-signals test_io -m '*SignalsTest*'
	both subprocess test_subprocess -i '*NoPoll*'
	both subprocess-nopoll test_subprocess -m '*NoPoll*'
fi
wait

# How each test ended, "NAME OUTCOME" a line, sorted.
outcomes() # XML...
{
	"$PYTHON" - "$@" <<'END'
import sys, xml.etree.ElementTree as tree
for name in sys.argv[1:]:
    for case in tree.parse(name).iter("testcase"):
        how = [x.tag + (": " + x.text if x.tag == "skipped" and x.text else "")
               for x in case if not x.tag.startswith("system-")]
        print(case.get("name"), "; ".join(sorted(how)) or case.get("result"))
END
}

for side in bare boxed; do
	outcomes "$side"-*.xml | sort >"$DIR/$side"
	result $? "$side: all of it ran to its end"
done

# What differs is tried again alone: tests that wait for time are at the mercy of a busy machine.
names() # FILE...
{
	sed 's/ .*//' "$@" | sort -u
}
diff "$DIR/bare" "$DIR/boxed" | sed -n 's/^[<>] //p' >"$DIR/differ"
names "$DIR/differ" | grep -vxFf "$DIR/expected" >"$DIR/retry"
while read -r name; do
	for try in 1 2 3; do
		for side in bare boxed; do
			part "$side" again "$(cut -d . -f 2 <<<"$name")" -m "$name"
			outcomes "$side-again.xml" >"$DIR/$side.again"
		done
		cmp -s "$DIR/bare.again" "$DIR/boxed.again" && break
	done
	cmp -s "$DIR/bare.again" "$DIR/boxed.again" && [ -s "$DIR/bare.again" ]
	result $? "as bare when it runs alone (try $try): $name"
	diff "$DIR/bare.again" "$DIR/boxed.again" | sed 's/^/# /'
	cmp -s "$DIR/bare.again" "$DIR/boxed.again" || tail -n 40 "$DIR/boxed-again.log" | sed 's/^/# /'
done <"$DIR/retry"

count=$(wc -l <"$DIR/bare")
[ "$(names "$DIR/bare")" = "$(names "$DIR/boxed")" ] && [ "$count" -gt "$least" ]
result $? "the same tests ran ($count)"
passed=$(grep -c ' completed$' "$DIR/boxed")
[ "$passed" -gt $((least * 3 / 4)) ]
result $? "and most of them passed in the sandbox ($passed)"
# A test that cannot be the same must differ: a stale row would hide something.
while read -r name; do
	if grep -q "^$name completed" "$DIR/bare"; then
		grep -q "^$name skipped" "$DIR/boxed"
		result $? "skipped in the sandbox, as is documented: $name"
	fi
done <"$DIR/expected"
# These calls the tests make to see them fail, or to go on when they do.
! grep -h '^sbx: *Cannot' "$DIR"/boxed-*.log |
	grep -vE "^sbx: Cannot use '(chroot|sched_setparam|sched_setscheduler|sched_setaffinity)'" >"$DIR/words"
result $? 'nothing is explained but three calls of schedulers and chroot'
sed 's/^/# /' "$DIR/words" | head -40
finish
