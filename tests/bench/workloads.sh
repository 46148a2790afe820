#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What everyday work costs from start to end: bare, in bubblewrap and in sbx, with the like of a
# policy (system read-only, a writable workspace, private tmp, no network). What is compared runs in
# turns, and says the same. SBX_BENCH_ROUNDS sets the number of rounds.
# shellcheck disable=SC2154 # set there
. "${BASH_SOURCE[0]%/*}/setting.bash"

modules='argparse, array, ast, asyncio, base64, bisect, calendar, cmd, code, codecs, collections,
colorsys, configparser, contextlib, copy, csv, ctypes, dataclasses, datetime, decimal, difflib, dis,
doctest, email.message, enum, filecmp, fnmatch, fractions, ftplib, functools, getpass, gettext, glob,
gzip, hashlib, heapq, hmac, html.parser, http.server, imaplib, inspect, ipaddress, json, locale,
logging.handlers, mimetypes, multiprocessing, optparse, pathlib, pickle, platform, plistlib, pprint,
pydoc, queue, random, smtplib, statistics, tarfile, unittest.mock'
modules=${modules//$'\n'/ }

add() # WORKLOAD FOLDER COMMAND...
{
	local name=$1 folder=$2
	shift 2
	plan "$name" bare "$folder" "$@"
	bubblewrap "$folder" "$@"
	plan "$name" bwrap "$folder" "${sandboxed[@]}"
	plan "$name" sbx "$folder" "$launch" -q -- "$@"
}

# 5,000 files in 50 folders, of 40 lines each.
make_tree()
{
	mkdir "$1"
	awk -v top="$1" 'BEGIN {
		for (i = 0; i < 5000; i++) {
			folder = sprintf("%s/part%02d", top, i / 100)
			if (i % 100 == 0)
				system("mkdir " folder)
			name = sprintf("%s/file%04d.txt", folder, i)
			for (line = 0; line < 40; line++)
				print "line", line, "of file", i, (line * i) % 97 == 1 ? "needle" : "hay" >name
			close(name)
		}
	}'
}

make_repository()
{
	local git=(git -C "$1" -c user.name=bench -c user.email=bench@localhost)
	make_tree "$1"
	"${clean[@]}" "${git[@]}" init -q
	"${clean[@]}" "${git[@]}" add .
	"${clean[@]}" "${git[@]}" commit -q -m files
	# Files that are as young as the index would be read again each time.
	sleep 1.1
	"${clean[@]}" "${git[@]}" update-index -q --really-refresh
}

make_sources()
{
	local i
	mkdir "$1"
	for ((i = 0; i < 40; i++)); do
		cat >"$1/unit$i.c" <<END
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int unit$i(const char *text)
{
	char *copy = strdup(text);
	int sum = 0;

	for (size_t i = 0; copy && i < strlen(copy); i++)
		sum += copy[i] * $i;
	free(copy);
	return printf("%d\n", sum);
}
END
	done
	printf 'all: %s\n%%.o: %%.c\n\tgcc -O1 -c -o $@ $<\n' "$(printf 'unit%d.o ' {0..39})" >"$1/Makefile"
}

make_repository "$dir/work/repository"
make_sources "$dir/work/sources"

add launch "$dir/work" /bin/true
add 'python, 60 imports' "$dir/work" "$python" -c "import $modules"
add 'node start' "$dir/work" "$(command -v node)" -e 0
add 'git status' "$dir/work/repository" git status
add 'make -j2' "$dir/work/sources" make -B -s -j2
add 'find | xargs grep' "$dir/work/repository" \
	bash -c 'find . -name "*.txt" -print0 | xargs -0 grep -c needle'
measure workloads "${SBX_BENCH_ROUNDS:-30}"
