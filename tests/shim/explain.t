#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The shim that explains by itself. Nothing is confined here: ordinary permissions refuse, to somebody
# without rights, and the policy of the test says whether that is what the policy wants too.
set -u
cd "${SBX_TOP:-.}" || exit
build=$(cd "${SBX_BUILD:-build/release}" && pwd) || exit
export LC_ALL=C
umask 022
dir=$(mktemp -d) && dir=$(cd "$dir" && pwd -P) && chmod 755 "$dir" || exit
trap 'chmod -R u+rwX "$dir"; rm -rf "$dir"' EXIT
count=0

result() # STATUS NAME
{
	count=$((count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $count - $2"
		return
	fi
	echo "not ok $count - $2"
	sed 's/^/# err: /' "$dir/err"
}

as_user()
{
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all -- "$@"
	else
		"$@"
	fi
}

cp "$build/lib/libsbx-shim.so" "$build"/tests/shim/programs/{tries,tries-musl} "$dir/" 2>/dev/null
shim=$dir/libsbx-shim.so
mkdir -p "$dir/work/open" "$dir/work/closed" "$dir/outside/closed" "$dir/outside/shut"
echo text >"$dir/work/file"
for file in work/closed/file work/tight outside/tight outside/closed/file; do
	echo secret >"$dir/$file"
	chmod 000 "$dir/$file"
done
printf '#!%s\n' "$dir/outside/program" >"$dir/work/script"
cp /bin/true "$dir/outside/program"
chmod 644 "$dir/outside/program"
chmod 755 "$dir/work/script"
ln -s ../outside/tight "$dir/work/link"
ln -s ../outside/closed/new "$dir/work/dangling"
chmod 000 "$dir/outside/shut"
chmod 555 "$dir/outside" "$dir/outside/closed" "$dir/work/closed"
cat >"$dir/policy.ini" <<EOF
[sandbox]
include = none
[paths]
write = $dir/work
read = /usr
read = /lib
exec = /usr
exec = $dir/work
[network]
connect = example.com:443
EOF
"$build/tests/shim/programs/image" "$dir/policy.ini" "$dir/image" 2>"$dir/err"
result $? 'a policy is compiled'
printf 'launcher %s' 'of this run' >>"$dir/image"

# Runs a command with a shim that explains; what it says is in err.
run() # COMMAND...
{
	(cd "$dir/work" && as_user env SANDBOX_SBX_EXPLAIN=self SANDBOX_SBX_IMAGE="$dir/image" \
		LD_PRELOAD="$shim" "$@" >"$dir/out" 2>"$dir/err")
}

explains() # FIRST-LINE NAME COMMAND...
{
	local line=$1 name=$2
	shift 2
	run "$@"
	[ "$(grep -c '^sbx: ' "$dir/err")" -ge 3 ] && [ "$(grep -m1 '^sbx: ' "$dir/err")" = "sbx: $line" ]
	result $? "$name"
}

silent() # NAME COMMAND...
{
	local name=$1
	shift
	run "$@"
	! grep -q '^sbx:' "$dir/err"
	result $? "$name"
}

out=$dir/outside
explains "Cannot read '$out/tight': path is outside the sandbox." 'open for reading' cat "$out/tight"
grep -q "Tried by cat\[[0-9]*\] with openat\." "$dir/err"
result $? 'the program is named, and the system call'
grep -q "Readable paths: $dir/work" "$dir/err"
result $? 'what is allowed is said'
explains "Cannot read 'link' ($out/tight): path is outside the sandbox." 'through a link' cat link
explains "Cannot write to '$out/tight': path is outside the sandbox." 'open for writing' \
	sh -c "echo >>$out/tight"
explains "Cannot create '$out/new': path is outside the sandbox." 'open of a new file' \
	sh -c "echo >$out/new"
explains "Cannot create 'dangling' ($out/closed/new): path is outside the sandbox." \
	'open of a new file through a link' sh -c 'echo >dangling'
explains "Cannot delete '$out/tight': path is outside the sandbox." 'unlink' rm -f "$out/tight"
explains "Cannot delete '$out/closed': path is outside the sandbox." 'rmdir' rmdir "$out/closed"
explains "Cannot create '$out/dir': path is outside the sandbox." 'mkdir' mkdir "$out/dir"
explains "Cannot create '$out/sym': path is outside the sandbox." 'symlink' ln -s x "$out/sym"
explains "Cannot create '$out/fifo': path is outside the sandbox." 'mkfifo' mkfifo "$out/fifo"
explains "Cannot execute '$out/program': program not allowed." 'execve' sh -c "exec $out/program"
explains "Cannot execute '$out/program': program not allowed." 'execve of a script for it' \
	env "$dir/work/script"
explains "Cannot execute '$out/program': program not allowed." 'posix_spawn' \
	python3 -c "import os; os.posix_spawn('$out/program', ['x'], {})"
explains "Cannot list '$out/shut': path is outside the sandbox." 'opendir' ls "$out/shut"

silent 'what the policy allows is not its doing' cat tight
silent 'nor is what stands in a folder that is closed otherwise' cat closed/file
silent 'a file that is missing' cat "$out/missing"
silent 'a folder that is missing' sh -c "echo >$out/missing/file"
silent 'what works' cat file
silent 'an image that is gone' env SANDBOX_SBX_IMAGE=/nowhere sh -c "cat $out/tight"
silent 'an image that is none' env SANDBOX_SBX_IMAGE=/etc/passwd sh -c "cat $out/tight"
silent 'without being told to explain' env -u SANDBOX_SBX_EXPLAIN env SANDBOX_SBX_EXPLAIN=no cat "$out/tight"

for program in tries tries-musl; do
	[ -x "$dir/$program" ] || continue
	explains "Cannot read '$out/tight': path is outside the sandbox." "$program: once" \
		"$dir/$program" again "$out/tight"
	[ "$(grep -c 'Cannot read' "$dir/err")" = 1 ]
	result $? "$program: not again"
	explains "Cannot read '$out/tight': path is outside the sandbox." "$program: a child" \
		"$dir/$program" fork "$out/tight"
	[ "$(grep -c 'Cannot read' "$dir/err")" = 2 ]
	result $? "$program: says it for itself"
	explains "Cannot read '$out/tight': path is outside the sandbox." \
		"$program: on a stack of 8 KB" "$dir/$program" stack "$out/tight"
	explains "Cannot rename '$out/tight': path is outside the sandbox." "$program: rename there" \
		"$dir/$program" rename "$out/tight" "$dir/work/open/x"
	explains "Cannot read '$out/tight': path is outside the sandbox." "$program: fopen" \
		"$dir/$program" fopen "$out/tight"
	run "$dir/$program" mkdtemp "$out/XXXXXX"
	grep -q "Cannot create '$out/......': path is outside the sandbox.\$" "$dir/err"
	result $? "$program: mkdtemp"
	if [ "$(cat /proc/sys/net/ipv4/ip_unprivileged_port_start)" -gt 80 ]; then
		explains "Cannot listen on '0.0.0.0:80': address not allowed." "$program: bind" \
			"$dir/$program" bind 80
	fi
	explains "Cannot connect to '255.255.255.255:9': destination not allowed." \
		"$program: connect" "$dir/$program" connect 9
done

# The two variables stay with those that are started, unless they have others.
run env -i env
sort "$dir/out" >"$dir/sorted"
printf '%s\n' "LD_PRELOAD=$shim" SANDBOX_SBX_EXPLAIN=self "SANDBOX_SBX_IMAGE=$dir/image" |
	cmp -s - "$dir/sorted"
result $? 'what it explains by is kept'
run env -i SANDBOX_SBX_IMAGE=/other env
grep -qx SANDBOX_SBX_IMAGE=/other "$dir/out"
result $? 'but not put over another'
echo "1..$count"
