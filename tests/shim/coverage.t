#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The shim has every spelling that a libc has for what it stands before, and nothing else.
set -u
cd "${SBX_TOP:-.}" || exit
build=${SBX_BUILD:-build/release}
shim=$build/lib/libsbx-shim.so
names=$build/shim.names
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
count=0

result() # STATUS NAME
{
	count=$((count + 1))
	if [ "$1" -eq 0 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; fi
}

# The functions that a library has for others, without versions; not those that it keeps for itself.
exports() { nm -D --defined-only "$1" | awk '$2 ~ /[TWi]/ && !/GLIBC_PRIVATE/ { sub(/@.*/, "", $3); print $3 }' | sort -u; }

# Whatever is called like the families, with what libcs put before and after such names.
families='(open|openat|openat2|creat|fopen|freopen|opendir|truncate|unlink|unlinkat|remove|rename|renameat|renameat2|link|linkat|symlink|symlinkat|mkdir|mkdirat|rmdir|x?mknod|x?mknodat|mkfifo|mkfifoat|mko?stemps?|mkdtemp|tmpfile|f?execve|execveat|execv|execvpe?|execl|execle|execlp|posix_spawnp?|fork|Fork|vfork|system|popen|connect|bind|socket|syscall|getaddrinfo|getaddrinfo_a|gai_error|gethostbyname2?(_r)?|res_(query|search))'
pattern="^(_IO_|_*)(libc_)?$families(64)?(_2|_chk|_nocancel)?$"

exports "$shim" >"$dir/shim"
sort -u "$names" | cmp -s - "$dir/shim"
result $? 'exactly the table is exported'
[ "$(wc -l <"$names")" -eq "$(wc -l <"$dir/shim")" ]
result $? 'no row stands twice'

check_libc() # NAME FILE
{
	exports "$2" | grep -E "$pattern" >"$dir/libc"
	[ "$(wc -l <"$dir/libc")" -gt 40 ]
	result $? "$1 has these families"
	comm -13 "$dir/shim" "$dir/libc" >"$dir/missing"
	[ ! -s "$dir/missing" ]
	result $? "every spelling of $1 is there"
	sed 's/^/# missing: /' "$dir/missing"
}

libc=$(ldd /bin/sh | awk '/libc\.so\.6/ { print $3 }')
if [ -n "$libc" ]; then
	check_libc glibc "$libc"
	# What neither libc has would be for nobody; openat2 comes with newer ones.
	{ exports "$libc"; [ -e /lib/ld-musl-x86_64.so.1 ] && exports /lib/ld-musl-x86_64.so.1; } |
		sort -u >"$dir/libcs"
	comm -23 "$dir/shim" "$dir/libcs" | grep -vxE '__asan_default_options|openat2|execveat' >"$dir/more"
	[ ! -s "$dir/more" ]
	result $? 'and none that no libc has'
	sed 's/^/# too many: /' "$dir/more"
fi
musl=$(ls /lib/ld-musl-*.so.1 2>/dev/null)
[ -z "$musl" ] || check_libc musl "$musl"

! readelf -d "$shim" | grep -q NEEDED
result $? 'it needs no library'
! readelf -V "$shim" | grep -q 'GLIBC'
result $? 'nor any version of one'
[ "$(nm -D --undefined-only "$shim" | awk '$1 != "w"')" = '' ]
result $? 'and nothing that must be there'
! readelf -lW "$shim" | grep -q ' TLS '
result $? 'it has no variables of threads'
! readelf -lW "$shim" | grep 'GNU_STACK' | grep -q E
result $? 'nor a stack that can be executed'
readelf -lW "$shim" | grep -q GNU_EH_FRAME
result $? 'a thread that is cancelled can be unwound through it'
echo "1..$count"
