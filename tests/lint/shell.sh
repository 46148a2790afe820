#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs shellcheck on every file of the tree that begins as a shell script, and on completions.
set -eu
find . \( -path ./build -o -name .git -o -name node_modules -o -path ./tests/fuzz/corpus \) -prune \
	-o -type f -exec awk 'FNR == 1 {
		if (/^#!.*[\/ ](ba|da)?sh( |$)/ || FILENAME ~ /\.bash$/) print FILENAME
		nextfile
	}' {} + | sort | xargs -r shellcheck --exclude=SC1091
