#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Folders beside what is denied by name: Landlock lets them be read, and it knows folders, not names.
# So what is put in their place must be served all the same, and what is moved must not take a right
# along to where it would not have it.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

inside() # COMMAND...
{
	launch -q -p policy.ini "${options[@]}" -- "$@"
}

fresh()
{
	rm -rf ws
	mkdir -p ws/src/deep/hole ws/named ws/way/open ws/secret
	file ws/src/file 'source\n'
	file ws/src/deep/hole/key 'no secret yet\n'
	file ws/way/open/file 'open\n'
	file ws/secret/key 'SECRET\n'
}

file policy.ini '[sandbox]
include = bash
protect = no
[paths]
write = ./ws, ./ws/named
deny = ./ws/secret, ./ws/way/none, ./ws/new/deep/hole
'
fresh
launch -p policy.ini --isolate=none --dry-run -- true
has out 'folders beside what is denied are read by Landlock, too' 'the plan says so'

for options in "--isolate=auto" "--isolate=none" "--isolate=none --no-shim" "--enforce=seccomp"; do
	how=" ($options)"
	read -ra options <<<"$options"
	fresh
	works 'source' 'a folder beside a hole' cat ws/src/file
	works 'open' 'and deeper' cat ws/way/open/file
	refuses 'denied by a rule' 'the hole itself' cat ws/secret/key
	refuses 'denied by a rule' 'by way of the folder beside it' cat ws/src/../secret/key
	works 'new
file' 'another in its place is read' bash -c 'rm -rf ws/src && mkdir ws/src && echo new >ws/src/file && cat ws/src/file && ls ws/src'
	works 'new
file' 'one with a line of its own, too' bash -c 'rm -rf ws/named && mkdir ws/named && echo new >ws/named/file && cat ws/named/file && ls ws/named'
	works 'once more
d' 'and is written' bash -c 'mkdir ws/named/d && echo once more >ws/named/file && cat ws/named/file && rm ws/named/file && ls ws/named'
	fresh
	works 'source' 'what is moved is read where it is' bash -c 'mv ws/src ws/moved && cat ws/moved/file'
	works 'another' 'and what comes after it' bash -c 'mkdir ws/src && echo another >ws/src/file && cat ws/src/file'
	fresh
	refuses 'denied by a rule' 'none takes the place of a hole' mv -T ws/src ws/way/none
	refuses 'denied by a rule' 'or of a folder around one' mv -T ws/src ws/new
	refuses 'denied by a rule' 'that somebody makes before' bash -c 'mkdir ws/new && mv -T ws/src/deep ws/new/deep'
	refuses 'denied by a rule' 'or is exchanged for one' "$PYTHON" -Ic 'import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for pair in (b"ws/src", b"ws/way"), (b"ws/way", b"ws/src"), (b"ws/src", b"ws/secret"):
    if libc.renameat2(-100, pair[0], -100, pair[1], 2) == 0:
        print("SECRET", pair)
raise SystemExit(1)'
	[ -e ws/src/file ] && [ -e ws/secret/key ] && [ -e ws/way/open/file ]
	result $? "and nothing has moved$how"
done

# -- in a place with a line of its own, whatever lets it be replaced
options=(--isolate=none) how=
fresh
file policy.ini '[sandbox]\ninclude = bash\nprotect = no\n[paths]\nread = ./ws\nwrite = ./ws/named, ./ws/*\ndeny = ./ws/way/none\n'
works 'new' 'a pattern' bash -c 'mv ws/named ws/x && mkdir ws/named && ls ws/named && echo new'
fresh
mkdir ws/named/sub
file ws/named/sub/file 'moved\n'
file policy.ini '[sandbox]\ninclude = bash\nprotect = no\n[paths]\nwrite = ./ws, ./ws/named, ./ws/named/sub\ndeny = ./ws/secret\n'
works 'moved' 'one in another that is' bash -c 'mv ws/named/sub ws/x && rmdir ws/named && mkdir ws/named && mv ws/x ws/named/sub && cat ws/named/sub/file'
fresh
cp "$(type -P true)" ws/named/
file policy.ini '[sandbox]\ninclude = bash\nprotect = no\n[paths]\nwrite = ./ws\nexec = ./ws/named\ndeny = ./ws/secret\n'
works 'runs' 'what is executed' bash -c 'ws/named/true && echo runs'
refuses "Cannot execute 'ws/named/true'" 'in another folder it is refused in words' \
	bash -c 'cp -r ws/named ws/x && rm -r ws/named && mv ws/x ws/named && ws/named/true'
has err '  It was put there during this run; the next one can execute it.' 'which say when it works'
hasnt err 'To allow it' 'and suggest no line, as there is one'
works 'runs' 'and it does' bash -c 'ws/named/true && echo runs'
fresh
cp "$(type -P true)" ws/way/true
file policy.ini '[sandbox]\ninclude = bash\nworkspace = ./ws\n[paths]\ndeny = ./ws/secret\n'
refuses "Cannot execute 'way/true'" 'what a workspace lets be executed, and the kernel cannot' bash -c 'way/true'
has err '  Nothing can be executed where sbx has to open the files itself, because of the rule below.' 'says why'
has err '  By: policy.ini:5 deny = ./ws/secret. Tried by' 'and names the rule'
has err 'To allow it, the user can add to [paths] in policy.ini: exec = ./ws/way/true' 'and a line'
file policy.ini '[sandbox]\ninclude = bash\nworkspace = ./ws\n[paths]\nexec = ./ws/way/true\ndeny = ./ws/secret\n'
works 'runs' 'that helps' bash -c 'way/true && echo runs'
file policy.ini '[sandbox]\ninclude = bash\nworkspace = ./ws\n[paths]\ndeny = ./ws/secret, ./ws/**/.env\n'
refuses "Cannot execute 'way/true'" 'where a pattern could take the file itself' bash -c 'way/true'
has err 'To allow it, the user can change or remove policy.ini:5 deny = ./ws/secret' 'a line for it would not'

# -- a line that adds nothing to the folder above gives nothing that could be taken elsewhere
for options in --isolate=auto --isolate=none; do
	how=" ($options)"
	options=("$options")
	fresh
	mkdir ws/other
	cp "$(type -P true)" ws/named/
	cp "$(type -P true)" ws/other/
	mkdir -p out
	file policy.ini '[sandbox]\ninclude = bash\nprotect = no\nworkspace = ./ws\n[paths]\nread = ./ws/named\nwrite = ./out\n'
	works 'runs' 'what is in a folder with such a line can be executed' bash -c 'named/true && echo runs'
	for folder in other named; do
		refuses "Cannot execute '../out/$folder/true'" "but nowhere else: $folder" \
			bash -c "cp -r $folder ../out/ && rm -r ../out/$folder && mv $folder ../out/ && ../out/$folder/true"
		rm -rf "out/$folder"
	done
	fresh
	mkdir ws/other
	file ws/named/text 'SECRET\n'
	file ws/other/text 'SECRET\n'
	file policy.ini '[sandbox]\ninclude = bash\nprotect = no\nworkspace = ./ws\n[paths]\nread = ./ws/named\n[path out]\nroot = ./out\nmode = rw\nsuffixes = .md\n'
	for folder in other named; do
		refuses "Cannot access '../out/$folder.md/text'" "nor read where only suffixes are allowed: $folder" \
			bash -c "mv $folder ../out/$folder.md && cat ../out/$folder.md/text"
		rm -rf "out/$folder.md"
	done
done

# -- few descriptors, many folders; and no processes
fresh
mkdir ws/{1..300}
file policy.ini '[sandbox]\ninclude = bash\nprotect = no\n[paths]\nwrite = ./ws\ndeny = ./ws/secret\n'
run bash -c 'ulimit -n 200; exec "$@"' - "$LAUNCH" -q -p policy.ini --isolate=none -- bash -c 'echo >ws/300/x && ls ws/300'
says out x 'many folders and few descriptors'
file policy.ini '[sandbox]\ninclude = bash\n[paths]\nread = /proc\ndeny = /proc/kcore\n'
launch -p policy.ini --isolate=none --dry-run -- true
has out '/proc: read by the broker' 'processes come and go'
hasnt out '/proc: read by the broker (some 30 us a call); folders' 'so their folders have no rules'

# -- the same folder under two names, by mounts
file policy.ini '[sandbox]\ninclude = bash\nprotect = no\n[paths]\nread = ./ws, ./ws/way/open\ndeny = ./ws/secret, ./ws/way, ./ws/alias/none\n'
mounted() # NAME MOUNTS FILE
{
	for options in "--isolate=none" "--isolate=none --no-shim" "--isolate=auto"; do
		fresh
		mkdir ws/alias ws/src/under
		# shellcheck disable=SC2086 # options
		run unshare $kind bash -c "$2"'; shift; "$@"' - - "$LAUNCH" -q --trust -p policy.ini \
			$options -- cat "$3"
		[ "$STATUS" -ne 0 ] && ! grep -q SECRET "$DIR/out" && grep -q 'denied by a rule' "$DIR/err"
		result $? "$1 ($options)"
	done
}
kind=-m
is_root || kind=-Urm
if unshare "$kind" true 2>/dev/null; then
	mounted 'what is beside it is mounted over what is denied' \
		'mount --bind ws/src ws/secret; mount -t tmpfs none ws/src/under; echo SECRET >ws/secret/under/key; mount -t tmpfs none ws/secret/under; echo SECRET >ws/secret/under/key' \
		ws/secret/under/key
	mounted 'what is denied is mounted where something else is denied' \
		'mkdir ws/way/s; echo SECRET >ws/way/s/key; mount --bind ws/way ws/alias' ws/way/s/key
	file policy.ini '[sandbox]\ninclude = bash\nprotect = no\n[paths]\nread = ./ws\ndeny = ./ws/secret\n'
	mounted 'what is denied is mounted beside it' 'mount --bind ws/secret ws/alias' ws/secret/key
	# Names in the kernel's list of mounts are written with escapes.
	mkdir 'odd name'
	file policy.ini '[sandbox]\ninclude = bash\nprotect = no\n[paths]\nread = ./odd name\ndeny = ./odd name/none\n'
	run unshare "$kind" bash -c 'mount -t tmpfs none "odd name"; mkdir "odd name/in"; shift; "$@"' - - \
		"$LAUNCH" --trust -p policy.ini --isolate=none --dry-run -- true
	has out 'folders beside what is denied are read by Landlock' 'a mount of its own is no second name'
else
	echo "ok $((COUNT += 1)) # skip no mount namespaces here"
fi
finish
