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
# Nothing of the last one's is left for the next.
tries() # WAY EXPECTED NAME
{
	file ws/spare ''
	launch -q -p policy.ini --workdir=ws "${options[@]}" -- "$PWD/bin/$kind" "$1" made
	says out "$2" "$program: $1: $3"
	rm -f ws/made
}

programs=(narrow 'narrow --no-shim' narrow-static 'narrow --isolate=none' 'narrow --enforce=seccomp')
# Who may have no namespaces at all here has seen all there is.
! "$LAUNCH" -qq -p policy.ini --workdir=ws --isolate=full -- true 2>/dev/null || programs+=('narrow --isolate=full')
for program in "${programs[@]}"; do
	options=()
	[ "$program" = "${program#* }" ] || options=("${program#* }")
	kind=${program%% *}
	for way in self child thread sibling uncle orphan deep; do tries "$way" "$none" 'stays confined'; done
	for way in parent beside adopter; do tries "$way" "$all" 'is none of them'; done
done

# A subreaper alone takes nothing away.
sed -i 's/^include = bash/&, python/' policy.ini
launch -q -p policy.ini --workdir=ws -- "$PYTHON" -c 'import ctypes, os
print(ctypes.CDLL(None).prctl(36, 1), flush=True)
os.system("echo a >a && mv a b && rm b && echo done")'
says out $'0\ndone' 'whoever confines nobody goes on'
finish
