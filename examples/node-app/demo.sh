#!/bin/bash
# SPDX-License-Identifier: MIT
#
# demo.sh: runs app.js inside its policy, which explains what it refuses. 'make demo' builds sbx and
# runs this.
set -eu
cd "$(dirname "$(readlink -f "$0")")"
# shellcheck source=examples/show.sh
. ../show.sh

show 'A program in the sandbox. It does its work, and is refused what its policy does not allow:' \
	sbx-launch -p policy.ini -- node app.js
show 'What it wrote is there:' \
	cat out/report.md
show 'The same question, asked before anything is tried:' \
	sbx-policy why -p policy.ini read /etc/passwd
