#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A healthy start is silent: under its own profile, with nothing but a workspace, no program hears of a
# refusal; with the shim, without it, and with everything explained.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

git init -q . && git -c user.name=me -c user.email=me@example.org commit -q --allow-empty -m first || exit
file a.c 'int main(void) { return 0; }\n'
file package.json '{ "name": "healthy", "version": "1.0.0", "scripts": { "test": "true" } }\n'

silent() # COMMAND...
{
	local option

	for option in '' --no-shim --explain-all; do
		# shellcheck disable=SC2086 # an option or nothing
		launch -v $option -- "$@"
		[ "$STATUS" -eq 0 ]
		result $? "$* works${option:+ with $option}"
		! grep -q '^sbx: Cannot' "$DIR/err"
		result $? 'and no refusal is told'
	done
}

silent node -e 1
silent npm --version
silent "$PYTHON" -c 1
silent ruby -e 1
silent bash -c :
(unset -v SHELL && exec "$LAUNCH" --no-shim -- bash -c 'echo "$SHELL"') >"$DIR/out" 2>"$DIR/err"
STATUS=$?
[ "$STATUS" -eq 0 ] && [ "$(cat "$DIR/out")" = /bin/sh ] && ! grep -q '^sbx: Cannot' "$DIR/err"
result $? 'bash without a SHELL asks nobody for it'
silent git status
silent gcc a.c -o a.out

# A python3 that a version manager chooses: a script in front of the real one.
real=$(command -v python3)
pyenv=$HOME/.pyenv
mkdir -p "$pyenv/shims" "$pyenv/libexec" "$pyenv/versions/3.11.99/bin"
ln -s "$PYTHON" "$pyenv/versions/3.11.99/bin/python3"
file "$pyenv/version" '3.11.99\n'
file "$pyenv/shims/python3" '#!/usr/bin/env bash
set -e
program="${0##*/}"
export PYENV_ROOT="'"$pyenv"'"
exec "'"$pyenv"'/libexec/pyenv" exec "$program" "$@"
'
file "$pyenv/libexec/pyenv" '#!/usr/bin/env bash
set -e
read -r version <"$PYENV_ROOT/version"
exec "$PYENV_ROOT/versions/$version/bin/$2" "${@:3}"
'
chmod +x "$pyenv/shims/python3" "$pyenv/libexec/pyenv"
PATH=$pyenv/shims:$PATH silent python3 -c 1

# And that of this machine, where there is one.
if [ "$real" != "$PYTHON" ]; then
	HOME=$(getent passwd "$(id -u)" | cut -d: -f6) silent "$real" -c 1
fi
finish
