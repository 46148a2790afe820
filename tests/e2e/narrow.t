#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Who confines itself further by Landlock stays so: what the supervisor does for others it does not do for
# it, nor for whoever was born by it, whatever became of that one's parents. For all others it goes on.
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

mkdir bin ws
cc -O1 -pthread -o bin/narrow "$SBX_TOP/tests/e2e/narrow/narrow.c" &&
	cc -O1 -pthread -static -o bin/narrow-static "$SBX_TOP/tests/e2e/narrow/narrow.c" || exit
file ws/there 'there\n'
file policy.ini '[sandbox]
include = bash
workspace = ./ws

[paths]
exec = ./bin
deny = ./ws/*.key
'
"$LAUNCH" -q -p policy.ini --workdir=ws -- "$PWD/bin/narrow" self made >"$DIR/out" 2>"$DIR/err"
if [ $? -eq 99 ] || grep -q 'no Landlock' "$DIR/out"; then
	echo '1..0 # SKIP nobody can confine itself here'
	exit
fi
none=$(printf '%s EACCES\n' create write read rename unlink)
all=$(printf '%s ok\n' create write read rename unlink)
for program in narrow 'narrow --no-shim' narrow-static 'narrow --isolate=full' 'narrow --isolate=none' 'narrow --enforce=seccomp'; do
	options=()
	[ "$program" = "${program#* }" ] || options=("${program#* }")
	kind=${program%% *}
	for way in self child thread sibling uncle orphan deep; do
		file ws/spare ''
		launch -q -p policy.ini --workdir=ws "${options[@]}" -- "$PWD/bin/$kind" "$way" made
		[ "$STATUS" -ne 125 ] || continue
		says out "$none" "$program: $way: stays confined"
		rm -f ws/made
	done
	for way in parent beside adopter; do
		file ws/spare ''
		launch -q -p policy.ini --workdir=ws "${options[@]}" -- "$PWD/bin/$kind" "$way" made
		[ "$STATUS" -ne 125 ] || continue
		says out "$all" "$program: $way: is none of them"
		rm -f ws/made
	done
done

# A subreaper alone, and a parent that another has chosen, take nothing away.
file adopt.sh 'echo a >a && mv a b && rm b && echo done'
launch -q -p policy.ini --workdir=ws -- bash -c "$(cat adopt.sh)"
says out 'done' 'whoever confines nobody goes on'
finish
