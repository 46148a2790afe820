#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A proof that cannot fail proves nothing: the lint scripts must refuse what they are there for.
set -u
cd "${SBX_TOP:-.}" || exit
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/lib"
grep '^lib/libsbx-eval' tests/lint/may-use.tab >"$dir/table"
count=0

result() # STATUS NAME
{
	count=$((count + 1))
	if [ "$1" -eq 0 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; fi
}

# Builds an archive from the C code given, and asks may-use.sh about it.
prove_use()
{
	rm -f "$dir/lib/libsbx-eval.a"
	printf '%s\n' "$1" >"$dir/one.c"
	printf '%s\n' 'int sbx_two(void); int sbx_two(void) { return 2; }' >"$dir/two.c"
	(cd "$dir" && gcc -O1 -fno-builtin -w -c one.c two.c && ar rcs lib/libsbx-eval.a one.o two.o) &&
		tests/lint/may-use.sh "$dir" "$dir/table" >"$dir/out" 2>&1
}

refused() { grep -q "may not use '$1' (needed by one.o)" "$dir/out"; }

prove_use 'int sbx_two(void); int sbx_one(char *a) { memset(a, 0, 9); return sbx_two(); }'
result $? 'memset and what the archive itself has may be used'
! prove_use 'void *sbx_one(void) { return malloc(9); }' && refused malloc
result $? 'malloc is refused, and the object named'
! prove_use 'int *__errno_location(void); int sbx_one(void) { return *__errno_location(); }' && refused __errno_location
result $? 'errno is refused'
! prove_use 'int sbx_one(void) { return getpid(); }' && refused getpid
result $? 'a system call is refused'
prove_use 'static int one;' && ar d "$dir/lib/libsbx-eval.a" two.o &&
	! tests/lint/may-use.sh "$dir" "$dir/table" >/dev/null 2>&1
result $? 'an empty archive proves nothing'

banned() { printf '%s\n' "$1" >"$dir/code.c"; tests/lint/banned.sh "$dir/code.c" 2>"$dir/out"; }

! banned '	n = sprintf (buffer, "%d", 1);' && grep -q "code.c:1: .*snprintf" "$dir/out"
result $? 'a banned call is found, and what to use instead is said'
banned '	n = snprintf(buffer, size, "%d", my_gets(1));'
result $? 'its neighbours are not'
banned ' * Unlike strcpy(), this one is safe.'
result $? 'nor are comments'
echo "1..$count"
