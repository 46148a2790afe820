#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What the supervisor remembers of paths is never in the way: of a static program, all of whose calls
# are questions. What others make, remove and exchange meanwhile, where the program cannot, is seen; what
# is refused is refused in words however often it is tried.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

mkdir ws data
file data/there 'there\n'
file data/secret 'SECRET\n'
file elsewhere 'elsewhere\n'
BUSYBOX=$(readlink -f "$(command -v busybox)")
file policy.ini "[sandbox]\ninclude = base\nprotect = no\n[paths]\nwrite = ./ws\nread = ./data\nexec = $BUSYBOX\ndeny = ./data/secret\n"

# Inside and outside take turns: a file each.
cat >ws/inside.sh <<'END'
data=$1
try()
{
	busybox cat "$data/$1" 2>&1 | busybox sed "s|$data/||"
}
turn()
{
	echo >"ws/asked$1"
	until [ -e "ws/done$1" ]; do :; done
}
try new; try new
turn 1
try new; try there
turn 2
try new; try there
turn 3
try new
try secret; try secret
for i in 1 2 3 4 5; do try there; done
END
outside() # NUMBER COMMAND...
{
	eventually [ -e "ws/asked$1" ]
	"${@:2}"
	echo >"ws/done$1"
}

for how in --isolate=auto --isolate=none --enforce=seccomp --hide=./data/hidden; do
	rm -f ws/asked* ws/done* data/new
	{
		outside 1 cp elsewhere data/new
		outside 2 rm data/new
		outside 3 cp elsewhere data/new
	} &
	launch -p policy.ini "$how" -- "$BUSYBOX" sh ws/inside.sh "$PWD/data"
	wait
	says out "cat: can't open 'new': No such file or directory
cat: can't open 'new': No such file or directory
elsewhere
there
cat: can't open 'new': No such file or directory
there
elsewhere
cat: can't open 'secret': Permission denied
cat: can't open 'secret': Permission denied
there
there
there
there
there" "what others do is seen at once ($how)"
	has err "sbx: Cannot read '$PWD/data/secret': denied by a rule." 'what is refused has its words'
	has err '2 × read denied' 'each time'
done
finish
