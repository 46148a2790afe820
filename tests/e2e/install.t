#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What 'make install' installs works wherever it ends up, and 'make uninstall' leaves nothing behind.
set -u
cd "${SBX_TOP:-.}" || exit
if [ "${SBX_VARIANT:-release}" != release ]; then
	echo '1..0 # SKIP only release builds are installed'
	exit
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
to=$dir/moved
count=0

result() # STATUS NAME
{
	count=$((count + 1))
	if [ "$1" -eq 0 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; fi
}

# With the PREFIX that was built for, so that nothing is built again beside other tests.
prefix=$(cat "${SBX_BUILD:=$PWD/build/release}/prefix")
make_it() { env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make "$@" PREFIX="$prefix" DESTDIR="$dir/stage"; }

make_it install >"$dir/log" 2>&1
result $? 'make install DESTDIR=... succeeds'
[ -z "$(find "$dir/stage" -type f ! -path "$dir/stage$prefix/*")" ]
result $? 'and writes below DESTDIR and PREFIX only'
cp -a "$dir/stage$prefix" "$to"

mkdir "$dir/work"
printf '[sandbox]\ninclude = base\nworkspace = .\n' >"$dir/work/policy.ini"
"$to/bin/sbx-policy" check -p "$dir/work/policy.ini" read "$dir/work/file" >"$dir/log" 2>&1
result $? 'the command finds its profiles beside itself'

cat >"$dir/ask.c" <<'END'
#include <sbx.h>
#include <stdio.h>
int main(void)
{
	struct sbx_errors errors;
	struct sbx_policy *policy;
	const char *files[] = { "policy.ini" };
	struct sbx_load load = { .files = files, .file_count = 1 };

	if (sbx_load(&load, &policy, &errors) < 0) {
		fprintf(stderr, "%s: %s\n", errors.list[0].file, errors.list[0].text);
		return 1;
	}
	printf("%d %d\n", sbx_can_write(policy, "file"), sbx_can_write(policy, "/outside") < 0);
	sbx_free(policy);
	return 0;
}
END
export PKG_CONFIG_PATH="$to/lib/pkgconfig"
# shellcheck disable=SC2046 # flags
gcc -o "$dir/ask" "$dir/ask.c" $(pkg-config --cflags --libs sbx)
result $? 'a program builds with what pkg-config says'
[ "$(cd "$dir/work" && LD_LIBRARY_PATH="$to/lib" "$dir/ask")" = '0 1' ]
result $? 'and libsbx.so finds the profiles beside itself'
# shellcheck disable=SC2046 # flags
gcc -o "$dir/ask" "$dir/ask.c" $(pkg-config --cflags sbx) "$to/lib/libsbx.a" \
	$(pkg-config --libs-only-l --static sbx | sed 's/-lsbx//')
result $? 'it builds with the static library too'

make_it uninstall >"$dir/log" 2>&1
result $? 'make uninstall succeeds'
left=$(find "$dir/stage" ! -type d)
[ -z "$left" ] || echo "# left: $left"
[ -z "$left" ]
result $? 'and leaves nothing behind'
echo "1..$count"
