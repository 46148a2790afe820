#!/bin/bash
# SPDX-License-Identifier: MIT
#
# demo.sh: asks this folder's policy a few questions. 'make demo' builds sbx-policy and runs this.
set -eu
cd "$(dirname "$(readlink -f "$0")")"
# shellcheck source=examples/show.sh
. ../show.sh

show 'The policy allows this:' \
	sbx-policy check -p policy.ini connect api.github.com:443
show 'It does not allow this, and says why and what would help:' \
	sbx-policy check -p policy.ini read /etc/passwd
show 'Every rule that spoke:' \
	sbx-policy why -p policy.ini connect api.github.com:25
show 'The policy has tests of its own:' \
	sbx-policy lint -p policy.ini
