#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What everyday work costs from start to end: bare, in bubblewrap and in sbx, with the like of a
# policy (system read-only, a writable workspace, private tmp, no network). What is compared runs in
# turns, and says the same. SBX_BENCH_ROUNDS sets the number of rounds.
# shellcheck disable=SC2154 # set there
. "${BASH_SOURCE[0]%/*}/setting.bash"
. "${BASH_SOURCE[0]%/*}/material.bash"

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
