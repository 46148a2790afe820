#!/bin/sh
# SPDX-License-Identifier: MIT
#
# may-use.sh BUILD [TABLE]: proves that what was built keeps the promises of its folder.
#  1. Libraries listed in may-use.tab need no symbol from outside but those listed.
#  2. libsbx.so exports exactly the functions of sbx.h, versioned.
#  3. libsbx.a defines no global symbol outside our name space.
set -eu
build=$1
table=${2:-${0%/*}/may-use.tab}
ours='^sbx_' # what global symbols of libsbx.a are called
result=0

complain()
{
	echo "may-use: $*" >&2
	result=1
}

# Of an archive, or of a shared library: "U name" or "T name" for each global symbol, sorted.
symbols()
{
	case $1 in
	*.a) nm --extern-only "$1" ;;
	*) nm --extern-only --dynamic "$1" ;;
	esac | awk 'NF > 1 { kind = $(NF - 1); print (kind ~ /[Uw]/ ? "U" : "T"), $NF }' | sort -u
}

needed()
{
	symbols "$1" | awk '
		$1 == "T" { defined[$2] = 1 }
		$1 == "U" { wanted[$2] = 1 }
		END { for (name in wanted) if (!(name in defined)) print name }' | sort
}

libraries=$(awk 'NF && !/^#/ { print $1 }' "$table" | sort -u)
for library in $libraries; do
	symbols "$build/$library" | grep -q '^T ' || complain "$library defines nothing"
	for symbol in $(needed "$build/$library"); do
		awk -v library="$library" -v symbol="$symbol" '
			$1 == library && $2 == symbol { found = 1 }
			END { exit !found }' "$table" ||
			complain "$library may not use '$symbol'" \
				"(needed by $(nm -Ao "$build/$library" | awk -v symbol="$symbol" '
				$NF == symbol { split($1, part, ":"); print part[2]; exit }'))"
	done
done

if [ -e "$build/lib/libsbx.so.0" ]; then
	wanted=$(sed -n 's/^		\(sbx_[a-z_]*\);/T \1@@SBX_0/p' "$build/libsbx.map" | sort)
	exported=$(symbols "$build/lib/libsbx.so.0" | grep '^T' | grep -Ev '^T SBX_0(@@|$)')
	[ -n "$wanted" ] || complain "libsbx.map lists nothing"
	[ "$wanted" = "$exported" ] || complain "libsbx.so exports other symbols than sbx.h declares:" \
		"$exported"
	for symbol in $(symbols "$build/lib/libsbx.a" | sed -n 's/^T //p' | grep -v "$ours"); do
		complain "libsbx.a defines '$symbol', which is not in our name space ($ours)"
	done
fi
exit $result
