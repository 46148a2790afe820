#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Hard links. Rules are about names: a second name, also one in the same folder, must not lift what a
# rule says of the first.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

mkdir ws ws/sub
file ws/secret 'TOPSECRET\n'
file ws/kept 'kept\n'
file ws/plain 'plain\n'
file ws/.npmrc 'registry\n'
file policy.ini '[sandbox]
include = bash, python
workspace = ./ws

[paths]
deny = ./ws/secret

[path kept]
root = ./ws/kept
mode = ro
'
inside() { launch -q -p policy.ini --workdir=./ws "$@"; }

for shim in --shim --no-shim; do
	option=()
	[ "$shim" = --shim ] || option=(--no-shim)
	for place in second sub/second; do
		inside "${option[@]}" -- bash -c "ln secret $place; cat $place"
		exits 1 "$shim: what is denied gets no other name ($place)"
		hasnt out TOPSECRET 'and is not read by one'
		[ ! -e "ws/$place" ]
		result $? 'and nothing is left behind'
		inside "${option[@]}" -- bash -c "ln .npmrc $place; echo evil >$place"
		[ "$(cat ws/.npmrc)" = registry ]
		result $? "$shim: what is protected is not changed by another name ($place)"
		rm -f "ws/$place"
		inside "${option[@]}" -- bash -c "ln kept $place; echo evil >$place"
		[ "$(cat ws/kept)" = kept ]
		result $? "$shim: what is read-only is not changed by another name ($place)"
		rm -f "ws/$place"
		inside "${option[@]}" -- bash -c "ln plain $place && cat $place && rm $place"
		exits 0 "$shim: what may be written may have another name ($place)"
		has out plain 'by which it is read'
	done
	inside "${option[@]}" -- "$PYTHON" -c 'import os; os.link("secret", "second")'
	has err "Cannot move 'secret' to 'second'" "$shim: it is explained"
	inside "${option[@]}" -- "$PYTHON" -c 'import os
d = os.open(".", os.O_RDONLY)
os.link("secret", "second", src_dir_fd=d, dst_dir_fd=d)'
	exits 1 "$shim: nor by folders that are open"
	[ ! -e ws/second ]
	result $? 'and nothing is left behind'
done
[ "$(cat ws/secret)" = TOPSECRET ]
result $? 'all is as it was'

finish
