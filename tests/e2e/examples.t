#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The examples do what they say: policies pass their own tests, the C program asks, the demos run, and
# what is to be verified holds.
set -u
: "${SBX_TOP:=$PWD}" "${SBX_BUILD:=$PWD/build/release}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME=$dir/home
mkdir "$HOME"
policy=$SBX_BUILD/bin/sbx-policy
query=$SBX_BUILD/examples/query-c/query
count=0

result() # STATUS NAME
{
	count=$((count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		[ ! -s "$dir/out" ] || sed 's/^/# /' "$dir/out"
	fi
}

cd "$SBX_TOP/examples" || exit
for file in */policy.ini; do
	"$policy" lint -p "$file" >"$dir/out" 2>&1
	result $? "lint passes on $file"
	grep -Eq ' [1-9][0-9]* tests?, 0 failed$' "$dir/out"
	result $? 'which has tests of its own'
	[ "$("$policy" describe -p "$file" | head -n 1)" = '# Your sandbox' ]
	result $? 'and can be described'
done

# Paths are shown as in the policy's own folder, so the answers do not depend on where it is.
cd portfolio || exit
cat >"$dir/expected" <<'END'
read pipeline/positions.csv: allowed
write pipeline/positions.csv: Permission denied
sbx: Cannot write to 'pipeline/positions.csv' (FOLDER/pipeline/positions.csv): path is read-only.
sbx:   Writable paths: ./portfolio
sbx:   By: policy.ini:13 read = ./pipeline
sbx:   To allow it, the user can add to [paths] in policy.ini: write = ./pipeline/positions.csv
connect to example.com:443: Permission denied
sbx: Cannot connect to 'example.com:443': destination not allowed.
sbx:   Allowed destinations: api.github.com:443
sbx:   By: no rule matches; policy.ini decides.
sbx:   To allow it, the user can add to [network] in policy.ini: connect = example.com:443
END
"$query" policy.ini pipeline/positions.csv example.com:443 >"$dir/raw" 2>&1
[ $? -eq 1 ]
result $? 'query-c exits with 1 when something is refused'
sed "s|($(pwd -P)/|(FOLDER/|" "$dir/raw" | diff "$dir/expected" - >"$dir/out"
result $? 'and explains what was refused, and only that'
"$query" policy.ini portfolio/new.md api.github.com:443 >"$dir/out" 2>&1
result $? 'it exits with 0 when all is allowed, a new file included'
printf '[paths]\nraed = .\n' >"$dir/bad.ini"
"$query" "$dir/bad.ini" x y:1 >"$dir/out" 2>&1
[ $? -eq 125 ] && grep -q "bad.ini:2: unknown key 'raed'" "$dir/out"
result $? 'a bad policy is reported with its line'

if [ "${SBX_VARIANT:-release}" = release ]; then
	# With the PREFIX that was built for, so that nothing is built again beside other tests.
	prefix=$(cat "$SBX_BUILD/prefix")
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -C "$SBX_TOP" install \
		PREFIX="$prefix" DESTDIR="$dir/stage" >"$dir/out" 2>&1 &&
		mv "$dir/stage$prefix" "$dir/installed"
	result $? 'sbx can be installed'
	export PKG_CONFIG_PATH=$dir/installed/lib/pkgconfig
	# shellcheck disable=SC2046 # flags
	cc -Wall -Werror -o "$dir/query" "$SBX_TOP/examples/query-c/query.c" \
		$(pkg-config --cflags --libs sbx) -Wl,-rpath,"$dir/installed/lib" >"$dir/out" 2>&1
	result $? 'query-c builds with what pkg-config says'
	"$dir/query" policy.ini pipeline/positions.csv example.com:443 2>&1 |
		diff "$dir/raw" - >"$dir/out"
	result $? 'and answers the same'
fi

cd "$dir" || exit
"$SBX_TOP/examples/portfolio/demo.sh" >"$dir/out" 2>&1
result $? 'the demo runs from any folder'
grep -q "^sbx: Can connect to 'api.github.com:443'" "$dir/out" &&
	grep -q "^sbx: Cannot read '/etc/passwd'" "$dir/out" &&
	grep -q '0 failed$' "$dir/out"
result $? 'it shows what is allowed, what is refused, and the tests'
! grep -q $'\e' "$dir/out"
result $? 'without colours where there is no terminal'

"$SBX_TOP/examples/node-app/demo.sh" >"$dir/out" 2>&1
result $? 'the demo of node-app runs'
grep -qx 'wrote out/report.md' "$dir/out" && grep -qx 'Total: 95.40' "$dir/out"
result $? 'the program did its work'
grep -qx 'could not read /etc/passwd: EACCES' "$dir/out" &&
	grep -q "^sbx: Cannot read '/etc/passwd': path is outside the sandbox" "$dir/out"
result $? 'and what it was refused is explained'
cp -a "$SBX_TOP/examples/node-app" "$dir/app" && rm -f "$dir/app/out/report.md"
(cd "$dir/app" && printf 'write = .\n' | sed '/^write = /r /dev/stdin' policy.ini >wide.ini &&
	"$SBX_BUILD/bin/sbx-launch" -p wide.ini -- node app.js && [ -e out/report.md ]) >"$dir/out" 2>&1
result $? 'a policy may stand where its program can write'

for file in /etc/passwd secrets/plan.txt; do
	"$SBX_TOP/examples/nine-programs/demo.sh" "$file" >"$dir/out" 2>&1
	result $? "programs of nine kinds that read $file are told the same"
	grep -qx '9 programs, one explanation' "$dir/out" &&
		[ "$(grep -c '^[a-z0-9-]* *Tried by .*\[[0-9]*\] with open' "$dir/out")" -eq 9 ]
	result $? 'all nine of them, and who tried'
done
"$SBX_TOP/examples/nine-programs/demo.sh" data/open.txt >"$dir/out" 2>&1
! grep -q 'Tried by' "$dir/out"
result $? 'and nothing about what they may read'

"$SBX_TOP/examples/wrap/demo.sh" >"$dir/out" 2>&1
result $? 'the demo of wrap runs'
grep -qx 'Demo: First' "$dir/out" && grep -qx 'Demo: Second' "$dir/out" &&
	grep -qx 'git ended with 1' "$dir/out"
result $? 'git works behind its wrapper'
grep -qx 'the hook got nothing' "$dir/out" && ! grep -q 'private key' "$dir/out"
result $? 'and its hook is in the sandbox'

"$SBX_TOP/examples/verify/verify.sh" >"$dir/out" 2>&1
result $? 'verify.sh finds nothing wrong'
grep -Eq '^[0-9]+ passed, 0 failed, [0-9]+ skipped$' "$dir/out"
result $? 'and counts it'
missing=''
for what in 'not root when told so' 'no privileges to gain' 'sudo blocked' '/etc read-only' '/usr read-only' \
	'timeout enforced' 'tmp writable' 'python works' 'node works' 'bash works' 'ruby works' \
	'exit codes preserved' 'rm -rf of the world harmless'; do
	grep -Eq "^  (pass|skip)  $what  " "$dir/out" || missing+=" '$what'"
done
[ -z "$missing" ] || echo "# missing:$missing"
[ -z "$missing" ]
result $? 'every promise has its row'
for folder in "$SBX_TOP"/examples/*/; do
	[ -s "$folder/README.md" ] || echo "$folder"
done >"$dir/out"
[ ! -s "$dir/out" ]
result $? 'every example has a README.md'
echo "1..$count"
