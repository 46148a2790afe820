#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What work costs where the supervisor makes calls for the program: with the default protections, which
# have it change files, and with a deny inside of the workspace, which has it open them all, too
# (without mounts to hold it otherwise). What is short is also done ten times in one sandbox, where the
# launch is a smaller part of it. SBX_BENCH_ROUNDS sets the number of rounds.
# shellcheck disable=SC2154,SC2016 # set there, and what others expand
. "${BASH_SOURCE[0]%/*}/setting.bash"
. "${BASH_SOURCE[0]%/*}/material.bash"

profiles=(--include=bash --include=git --include=npm --include=build)

add() # WORKLOAD FOLDER COMMAND...
{
	local name=$1 folder=$2
	shift 2
	plan "$name" bare "$folder" "$@"
	plan "$name" protected "$folder" "$launch" -q "${profiles[@]}" -- "$@"
	plan "$name" denied "$folder" "$launch" -q "${profiles[@]}" --isolate=none --deny=./none-of-yours -- "$@"
}

make_repository "$dir/work/repository"
make_sources "$dir/work/sources"
make_packages "$dir/work/packages"
make_archive "$dir/work/archive"

add 'git status' "$dir/work/repository" git status
add 'git status, 10 times' "$dir/work/repository" bash -c 'for i in {1..10}; do git status; done'
add 'git add, commit' "$dir/work/repository" bash -c 'for i in 1 2 3 4 5 6 7 8; do echo $RANDOM >part0$i/new; done; git add . && git -c user.name=bench -c user.email=bench@localhost commit -q -m more'
add 'make -j2' "$dir/work/sources" make -B -s -j2
add 'npm ci' "$dir/work/packages" npm ci --offline --install-links --no-audit --no-fund \
	--ignore-scripts --silent --no-update-notifier --cache .cache
add 'unpacking 2,000 files' "$dir/work/archive" bash -c 'rm -rf files && tar --numeric-owner -xf files.tar'
measure broker "${SBX_BENCH_ROUNDS:-10}"
