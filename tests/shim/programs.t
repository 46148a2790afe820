#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Real programs with the shim in them: they do what they do without it, and nothing is said.
set -u
cd "${SBX_TOP:-.}" || exit
build=$(cd "${SBX_BUILD:-build/release}" && pwd) || exit
shim=$build/lib/libsbx-shim.so
dir=$(mktemp -d) && chmod 755 "$dir" || exit
trap 'rm -rf "$dir"' EXIT
count=0

result() # STATUS NAME
{
	count=$((count + 1))
	if [ "$1" -eq 0 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; fi
}

# The same output, errors and exit status with and without the shim.
same() # NAME COMMAND...
{
	local name=$1 bare shimmed
	shift
	bare=$("$@" 2>&1; echo "exit $?")
	shimmed=$(LD_PRELOAD=$shim "$@" 2>&1; echo "exit $?")
	[ "$bare" = "$shimmed" ]
	result $? "$name"
	[ "$bare" = "$shimmed" ] || diff <(echo "$bare") <(echo "$shimmed") | sed 's/^/# /'
}

# What the program says, with the shim.
says() # NAME TEXT COMMAND...
{
	local name=$1 text=$2 said
	shift 2
	said=$(LD_PRELOAD=$shim "$@" 2>&1)
	[ "$said" = "$text" ]
	result $? "$name"
	[ "$said" = "$text" ] || printf '# %s\n' "$said"
}

compile() # NAME FLAGS...
{
	local name=$1
	shift
	gcc -O1 -g -o "$dir/$name" -x c - "$@"
}

same 'cat' cat /etc/hostname
same 'cat of what is not there' cat /nowhere
same 'ls' ls -l /usr
same 'a shell and its pipes' sh -c 'ls / | sort -r | head -3; exit 7'
same 'a script that is no script' bash -c "printf 'echo hello \$1\n' >$dir/plain; chmod +x $dir/plain; $dir/plain you"
same 'find -exec' find "$dir" -exec echo {} ';'
same 'xargs' sh -c 'echo 1 2 3 | xargs -n 1 echo'
same 'git' git --version
same 'node' node -e 'const fs = require("fs"); try { fs.readFileSync("/nowhere") } catch (e) { console.log(e.code) }
	console.log(require("child_process").execFileSync("/bin/echo", ["hi"], { env: {} }).toString())'
# shellcheck disable=SC2016 # other languages
same 'ruby' ruby -e 'puts `echo hi`; begin; File.read("/nowhere"); rescue => e; puts e.class; end'
# shellcheck disable=SC2016
same 'perl' perl -e 'print `echo hi`; open(F, "/nowhere") or print "$!\n"'
same 'python' python3 -c 'import subprocess, os, tempfile
print(subprocess.run(["echo", "hi"], env={}, capture_output=True).stdout)
print(os.listdir("/")[:0])
with tempfile.TemporaryDirectory() as d: print(os.path.isdir(d))
try: open("/nowhere")
except OSError as e: print(e)'
same 'gcc' sh -c "echo 'int main(void){return 0;}' | gcc -x c -o $dir/empty - && $dir/empty"

keeps="LD_PRELOAD=$shim"
says 'env -i keeps it' "$keeps" env -i env
says 'so do a shell and env -i' "$keeps" sh -c 'env -i env'
says 'and unset' "$keeps" bash -c 'unset LD_PRELOAD; env | grep LD_PRELOAD'
says 'and python with no environment' "$keeps" python3 -c 'import subprocess; subprocess.run(["/usr/bin/env"], env={})'
says 'and node' "$keeps" node -e 'require("child_process").spawnSync("/usr/bin/env", [], { env: {}, stdio: "inherit" })'
says 'and perl' "$keeps" perl -e '%ENV = (); exec "/usr/bin/env"'
says 'and find -exec' "$keeps" env -i find /dev/null -exec env ';'

# Sanitizers: gcc's stands behind the shim, clang's in the program itself.
compile asan -fsanitize=address <<'C'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	char *memory = malloc(3);
	FILE *file = fopen("/etc/hostname", "r");
	(void)argv;
	printf("%d %d\n", open("/nowhere", O_RDONLY), file != NULL);
	fflush(stdout);
	return argc > 1 ? memory[argc + 1] : (fclose(file), free(memory), 0);
}
C
same 'a program with AddressSanitizer' "$dir/asan"
LD_PRELOAD=$shim "$dir/asan" 1 2 3 4 2>&1 | grep -q heap-buffer-overflow
result $? 'which still finds what it is there for'

# A library whose constructor opens files, before and behind the shim; and by dlmopen and LD_AUDIT.
compile early.so -shared -fPIC <<'C'
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
static __attribute__((constructor)) void early(void)
{
	FILE *file = fopen("/dev/null", "r");
	int fd = open("/dev/null", O_RDONLY);
	if (!file || fd < 0 || open("/nowhere", O_RDONLY) >= 0)
		_exit(9);
	fclose(file);
	close(fd);
}
C
for list in "$shim:$dir/early.so" "$dir/early.so:$shim" "$shim $dir/early.so"; do
	[ "$(LD_PRELOAD=$list /bin/echo good 2>&1)" = good ]
	result $? 'a library whose constructor opens files'
done
[ "$(LD_PRELOAD=$dir/early.so:$shim env -i env)" = "LD_PRELOAD=$shim" ]
result $? 'beside it the shim is kept'
[ "$(LD_PRELOAD=$dir/early.so:$shim sh -c env | grep LD_PRELOAD)" = "LD_PRELOAD=$dir/early.so:$shim" ]
result $? 'and the order that the user chose'
compile dlm -ldl <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	void *other = dlmopen(LM_ID_NEWLM, argv[argc - 1], RTLD_NOW);
	puts(other ? "good" : dlerror());
	fopen("/nowhere", "r");
	return 0;
}
C
says 'dlmopen of a library' good "$dir/dlm" "$dir/early.so"
says 'dlmopen of the shim itself' good "$dir/dlm" "$shim"
compile audit.so -shared -fPIC <<'C'
unsigned int la_version(unsigned int version) { return version; }
C
[ "$(LD_AUDIT=$dir/audit.so LD_PRELOAD=$shim sh -c 'env echo good' 2>&1)" = good ]
result $? 'LD_AUDIT'
for allocator in libjemalloc.so.2 libtcmalloc_minimal.so.4; do
	if LD_PRELOAD=$allocator true 2>&1 | grep -q .; then
		count=$((count + 1))
		echo "ok $count # SKIP no $allocator here"
		continue
	fi
	[ "$(LD_PRELOAD=$shim:$allocator sh -c 'env -i sh -c "cat /dev/null; echo good"' 2>&1)" = good ] &&
		[ "$(LD_PRELOAD=$allocator:$shim python3 -c 'print("good")' 2>&1)" = good ]
	result $? "$allocator"
done

# A program that changes its user when it is executed ignores the shim without a word.
if [ "$(id -u)" = 0 ]; then
	compile setuid <<-'C'
	#include <stdio.h>
	#include <sys/auxv.h>
	int main(void) { printf("%lu\n", getauxval(AT_SECURE)); return 0; }
	C
	chown 65534 "$dir/setuid" && chmod u+s "$dir/setuid"
	if [ "$("$dir/setuid")" = 1 ]; then
		says 'a set-uid program' 1 "$dir/setuid"
		says 'a set-uid program from a shell' 1 env -i sh -c "$dir/setuid; :"
	fi
fi
echo "1..$count"
