#!/bin/sh
# SPDX-License-Identifier: MIT
#
# banned.sh FILE...: finds calls of the functions in banned.tab. Comment lines may talk about them.
set -eu
awk '
	FILENAME == ARGV[1] {
		if (NF && !/^#/) {
			name = $1
			sub(/^[^ ]+ +/, "")
			instead[name] = $0
		}
		next
	}
	/^[ \t]*(\/?\*|\/\/)/ { next }
	{
		line = $0
		while (match(line, /[A-Za-z_][A-Za-z_0-9]*[ \t]*\(/)) {
			name = substr(line, RSTART, RLENGTH - 1)
			sub(/[ \t]+$/, "", name)
			line = substr(line, RSTART + RLENGTH)
			if (name in instead) {
				printf "%s:%d: do not call %s: use %s\n", FILENAME, FNR, name, instead[name]
				found = 1
			}
		}
	}
	END { exit found }' "${0%/*}/banned.tab" "$@" >&2
