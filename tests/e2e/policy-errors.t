#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What is wrong with a policy is said in one clear line each, with file and line; nothing is half done.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

# A policy file is refused with exactly these lines: 'LINE: TEXT', of which TEXT is a part of what is
# said, or 'TEXT' alone when no line is meant.
refused() # NAME EXPECTED... (the policy is policy.ini)
{
	local name=$1 at=0 good=0 want start line
	local -a lines

	shift
	sbx show -p policy.ini
	mapfile -t lines <"$DIR/err"
	[ "$STATUS" -eq 125 ] && [ ! -s "$DIR/out" ] && [ "${#lines[@]}" -eq $# ] || good=1
	for want; do
		line=${lines[at]:-}
		at=$((at + 1))
		case $want in
		[0-9]*:*) start="sbx-policy: policy.ini:${want%%:*}: " want=${want#*: } ;;
		*) start='sbx-policy: ' ;;
		esac
		[[ $line == "$start"*"$want"* ]] || good=1
	done
	[ "$good" -eq 0 ] || printf '# expected: %s\n' "$@"
	is_clean "$DIR/err" || good=1
	result $good "$name"
}

# The same for a policy that is written here.
bad() # NAME TEXT EXPECTED...
{
	file policy.ini "$2"
	refused "$1" "${@:3}"
}

# A policy that is fine.
good() # NAME TEXT
{
	file policy.ini "$2"
	sbx lint -p policy.ini
	is 0 "$1"
}

mkdir pipeline out
touch pipeline/a.csv

# -- words that are not known
file policy.ini '[sandbox]\ninclude = none\n\n[paths]\n\n# data\nraed = ./pipeline\n'
sbx check -p policy.ini read ./pipeline
says err "sbx-policy: policy.ini:7: unknown key 'raed' in [paths] (did you mean 'read'?)" \
	"an unknown key is one line, with the key that was meant"
is 125 'it ends with 125, and says nothing on standard output'

bad 'an unknown section names the one that was meant' '[pahts]\nread = ./pipeline\n' \
	"1: unknown section 'pahts' (did you mean 'paths'?)"
bad 'keys below an unknown section are not reported as well' '[zzzz]\na = 1\nb = 2\n' \
	"1: unknown section 'zzzz'"
bad 'a key of another section is sent home' '[paths]\nmemory = 1G\n' \
	"2: unknown key 'memory' in [paths] (it belongs in [limits])"
bad 'a key before any section is refused' 'workspace = .\n' "1: key 'workspace' before any section (it belongs in [sandbox])"
bad 'capital letters are not guessed' '[Sandbox]\nworkspace = .\n' "1: unknown section 'Sandbox' (did you mean 'sandbox'?)"
bad 'a key in capital letters is not guessed' '[paths]\nRead = .\n' "2: unknown key 'Read' in [paths] (did you mean 'read'?)"
bad '[path] needs a name' '[path]\nroot = .\n' '1: section [path] needs a name ([path NAME])'
bad '[path] cannot have just any name' '[path a b]\n' "1: bad name 'a b' in [path NAME]"
bad 'other sections take no name' '[paths mine]\n' "1: unknown section 'paths mine' ([paths] takes no name)"
bad 'a section needs its bracket' '[paths\nread = .\n' "1: no ']' behind '[paths'"
bad 'nothing stands behind a section' '[paths] # mine\n' "1: text behind ']': '# mine'"
bad 'a line needs an equals sign' '[paths]\nread ./pipeline\n' "2: no '=' in 'read ./pipeline' (a line is: key = value)"
bad 'a colon is no equals sign' '[paths]\nread: ./pipeline\n' "2: ':' instead of '=' behind 'read'"
bad 'a key needs a value' '[paths]\nread =\n' "2: 'read' has no value"
bad 'a comma too many is refused' '[paths]\nread = ./pipeline,\n' "2: empty item in the list of 'read' (a comma too many?)"
bad 'two commas are refused' '[paths]\nread = ./pipeline,,./out\n' "2: empty item in the list of 'read'"

# -- values
bad 'a scalar twice names the first line' '[limits]\nmemory = 1G\ntimeout = 1s\nmemory = 2G\n' \
	"4: 'memory' is set twice (first in line 2)"
bad 'a scalar twice, in two parts of one section' '[limits]\nmemory = 1G\n[paths]\nread = .\n[limits]\nmemory = 1G\n' \
	"6: 'memory' is set twice (first in line 2)"
good 'a list may be given twice' '[paths]\nread = ./pipeline\nread = ./out\n'
bad 'a bad size' '[limits]\nmemory = lots\n' "2: bad size 'lots' for 'memory' (512k, 512M, 1G or 1T; a bare number is bytes)"
bad 'a size with an unknown unit' '[limits]\nmemory = 5X\n' "2: bad size '5X' for 'memory'"
bad 'a size with a fraction says what to write' '[limits]\nmemory = 1.5G\n' "2: bad size '1.5G' for 'memory' (fractions are not read; use a smaller unit: 1536M)"
bad 'a size beyond all numbers' '[limits]\nmemory = 99999999999999999999999T\n' "2: '99999999999999999999999T' is too large for 'memory'"
bad 'a size of nothing' '[limits]\nmemory = 0\n' "2: 'memory' must be at least 1"
bad 'a size below nothing' '[limits]\nmemory = -1\n' "2: 'memory' must be at least 1"
bad 'a bad duration' '[limits]\ntimeout = 5 minutes\n' "2: bad duration '5 minutes' for 'timeout' (500ms, 60s, 5m or 1h; a bare number is seconds)"
bad 'a duration in days' '[limits]\ntimeout = 1d\n' "2: bad duration '1d' for 'timeout'"
bad 'a bad number' '[limits]\nprocesses = many\n' "2: bad number 'many' for 'processes' (digits only)"
bad 'a number with a unit' '[limits]\nprocesses = 1k\n' "2: bad number '1k' for 'processes'"
bad 'a bad word lists the possible ones' '[sandbox]\ntmp = privat\n' \
	"2: unknown word 'privat' for 'tmp' (did you mean 'private'? possible: private, shared, none)"
bad 'a bad word in a list' '[sandbox]\nrequire = landlock, selinux\n' "2: unknown word 'selinux' for 'require'"
bad 'a bad switch' '[sandbox]\nprotect = ja\n' "2: unknown word 'ja' for 'protect' (possible: yes, no, on, off, true, false)"
bad 'a bad suffix' '[path x]\nroot = .\nmode = ro\nsuffixes = md\n' "4: bad suffix 'md' for 'suffixes' (it begins with a dot: .md)"
bad 'a suffix is no pattern' '[path x]\nroot = .\nmode = ro\nsuffixes = *.md\n' "4: bad suffix '*.md' for 'suffixes'"
bad 'a bad variable' '[env]\npass = 1A\n' "2: bad variable '1A' for 'pass'"
bad 'a variable to set needs a value, and what is no name is not repeated' '[env]\nset = s3cret\n' "2: no '=' in an item of 'set' (NAME=VALUE)"
hasnt err s3cret 'because it may be a password'
bad 'a bad URL is not repeated' '[network]\nproxy = ftp://me:s3cret@proxy:21\n' "2: bad URL for 'proxy' (it begins with http://, https://, socks5:// or socks5h://)"
hasnt err s3cret 'because a password may be in it'
bad 'a bad name server' '[network]\ndns = dns.example.org\n' "2: bad address 'dns.example.org' for 'dns' (an IP address: 1.1.1.1"
bad 'a bad system call' '[syscalls]\nallow = Ptrace\n' "2: bad system call 'Ptrace' for 'allow'"
bad 'a bad user' '[sandbox]\nuser = -x\n' "2: bad name '-x' for 'user'"
bad 'a bad case of [test]' '[test]\nallow = peek ./a\n' "2: unknown operation 'peek' for 'allow' (possible: read, write"
bad 'a case of [test] without a target' '[test]\nallow = read\n' "2: bad case 'read' for 'allow' (OP TARGET, such as read ./file)"

# -- destinations
bad 'a destination needs a port' '[network]\nconnect = example.org\n' "2: bad destination 'example.org' for 'connect': a port is needed"
bad 'so does an address to listen on' '[network]\nbind = 8080\n' "2: bad destination '8080' for 'bind': a port is needed (127.0.0.1:8080, [::1]:8080 or *:8080)"
bad 'a port beyond the last' '[network]\nconnect = example.org:65536\n' "2: bad destination 'example.org:65536' for 'connect': a port is a number from 1 to 65535"
bad 'a port in words' '[network]\nconnect = example.org:https\n' "2: bad destination 'example.org:https' for 'connect'"
bad 'port 0 is for listening' '[network]\nconnect = example.org:0\n' "2: bad destination 'example.org:0' for 'connect': port 0 is for bind only"
bad 'a range of ports the wrong way round' '[network]\nconnect = example.org:90-80\n' "2: bad destination 'example.org:90-80' for 'connect': a range of ports runs from the lower to the higher"
bad 'a network with bits beyond it' '[network]\nconnect = 10.1.2.3/8:80\n' "2: bad destination '10.1.2.3/8:80' for 'connect': the address has bits beyond its network"
bad 'a network with too many bits' '[network]\nconnect = 10.0.0.0/33:80\n' "2: bad destination '10.0.0.0/33:80' for 'connect': a network has 0 to 32 bits"
bad 'an IPv6 network with too many bits' '[network]\nconnect = [fd00::/129]:80\n' "2: bad destination '[fd00::/129]:80' for 'connect': a network has 0 to 128 bits"
bad 'IPv6 without brackets' '[network]\nconnect = ::1:80\n' "2: bad destination '::1:80' for 'connect': an IPv6 address needs brackets"
bad 'a URL is no destination' '[network]\nconnect = https://example.org\n' "2: bad destination 'https://example.org' for 'connect': a destination has no scheme"
bad 'a star inside a host' '[network]\nconnect = api*.example.org:443\n' "2: bad destination 'api*.example.org:443' for 'connect': '*' stands for a whole host"
bad 'an address that others read as octal' '[network]\nconnect = 010.0.0.1:80\n' "2: bad destination '010.0.0.1:80' for 'connect'"
bad 'an abstract socket' '[network]\nconnect = unix:@x\n' "2: bad destination 'unix:@x' for 'connect': abstract sockets cannot be allowed"

# -- patterns and paths
bad 'two stars inside a name' '[paths]\nread = ./pipeline/a**\n' "2: bad pattern './pipeline/a**': '**' must stand alone between slashes"
bad 'dot-dot behind a pattern' '[paths]\nread = ./*/../x\n' "2: bad pattern './*/../x': '.' and '..' cannot follow a pattern"
bad 'a missing path names the nearest one' '[paths]\nread = ./pipelnie\n' "2: './pipelnie' does not exist (did you mean 'pipeline'? add ' ?' if it may be missing)"
bad 'a missing path that is like nothing' '[paths]\nread = ./zzzzzzzz\n' "2: './zzzzzzzz' does not exist (add ' ?' behind it if it may be missing)"
bad 'a missing program' '[paths]\nexec = /usr/bin/no-such-program\n' "2: '/usr/bin/no-such-program' does not exist"
good "a missing path with ' ?' is fine" '[paths]\nread = ./pipelnie ?\n'
bad "what looks like ' ?' without its blank is a pattern in a missing folder" '[paths]\nread = ./pipelnie/a?\n' "2: './pipelnie/a?' does not exist"
good 'a path to write to may be missing' '[paths]\nwrite = ./new/folder\n'
good 'deny and hide may name what is missing' '[paths]\ndeny = ./secret\nhide = ~/.ssh\n'
bad "deny and hide need no ' ?'" '[paths]\ndeny = ./secret ?\n' "2: 'deny' may name what does not exist; leave ' ?' away"
bad "an include cannot be optional" '[sandbox]\ninclude = ./x.ini ?\n' "2: 'include' must exist; leave ' ?' away"
bad 'a file is no folder' '[paths]\nread = ./pipeline/a.csv/x\n' "2: './pipeline/a.csv/x': Not a directory"
ln -s loop loop
bad 'links in a circle' '[paths]\nread = ./loop\n' "2: './loop': Too many levels of symbolic links"
bad 'a workspace is a folder' '[sandbox]\nworkspace = ./pipeline/a.csv\n' "2: workspace './pipeline/a.csv' is not a directory"
bad "another user's home is not guessed" '[paths]\nread = ~root/x\n' "2: '~root/x': only '~/' is known"
unset -v SBX_NO_SUCH
bad 'an unset variable' '[paths]\nread = ${SBX_NO_SUCH}/x\n' "2: '\${SBX_NO_SUCH}' is not set (add ' ?' behind the path if it may be missing)"
good "an unset variable with ' ?'" '[paths]\nread = ${SBX_NO_SUCH}/x ?\n'
bad 'an unset variable of something to deny' '[paths]\ndeny = ${SBX_NO_SUCH}/x\n' "2: '\${SBX_NO_SUCH}' is not set"
bad 'a variable without its end' '[paths]\nread = ${HOME/x\n' "2: '\${HOME/x' has a '\${' without '}'"
file policy.ini '[paths]\nread = ${SBX_STAR}/x\n'
export SBX_STAR="$PWD/*"
refused 'a variable cannot bring a pattern' "2: the value of '\${SBX_STAR}' cannot be part of a path"
file policy.ini '[paths]\nread = ~/x\n'
HOME="$PWD/*" refused 'nor can HOME' '2: the value of HOME cannot be part of a path'
HOME='' refused 'without HOME there is no ~' "2: '~/x': HOME is not set"
bad 'a pattern in quotes is a name that does not exist' '[paths]\ndeny = "./*.key"\n' "2: './*.key' is in quotes, so it is a name and not a pattern"
bad 'an explicit workdir must be readable' '[sandbox]\nworkdir = ./out\n[paths]\nread = ./pipeline\n' "2: workdir '"

bad 'a variable without braces is refused' '[paths]\ndeny = $HOME/.ssh\n' '2: '
good 'in quotes it is a name' '[paths]\ndeny = "./$name"\n'
bad 'brackets in a pattern are refused' '[paths]\ndeny = ./*.[ch]\n' '2: '
bad 'braces in a pattern are refused' '[paths]\ndeny = ./*.{key}\n' '2: '

# -- bytes and lines
long=$(printf 'x%.0s' {1..300})
file policy.ini "[paths]\nread = ./pipeline, ./$long\n"
refused 'an item beyond the limit of the INI library' "2: an item of 'read' is 302 bytes long (the limit is "
file policy.ini "[paths]\nread = $(printf './pipeline, %.0s' {1..100})./out\n"
sbx check -p policy.ini read ./out
is 0 'a long list is no long item'
file policy.ini "# $(printf 'y%.0s' {1..190}) \n#$(printf 'z%.0s' {1..199})read = /\n[paths]\nread = ./out\n"
sbx check -p policy.ini read /etc/passwd
is 1 'the tail of a long comment is no line of its own'
bad 'a blank before a key' '[paths]\n  read = ./out\n' "2: blank before 'read = ./out' (lines begin in the first column)"
bad 'a tab before a section' '\t[paths]\n' "1: blank before '[paths]'"
bad 'an indented comment' '[paths]\n # note\n' "2: blank before '# note'"
bad 'a NUL byte' '[paths]\nread = ./out\0/x\n' '2: NUL byte in column 13 (a policy is plain text)'
bad 'a control character' '[paths]\nread = ./out\033[31m\n' "2: control character '\\x1b' in column 13"
bad 'what is not UTF-8' '[paths]\nread = ./out\0377\n' "2: byte '\\xff' in column 13 is not UTF-8"
bad 'a comment behind a value' '[paths]\nread = ./out # mine\n' "2: comment behind a value: '# mine' (a comment is a line of its own; quote the value if it belongs to it)"
bad 'a comment behind a value, the other way' '[paths]\nread = ./out ; mine\n' "2: comment behind a value: '; mine'"
bad 'an unterminated quote' '[paths]\nread = "./out\n' "2: unterminated quote: '\"./out'"
bad 'text behind a quote' '[paths]\nread = "./out"x\n' "2: text behind the closing quote: 'x'"
bad 'a quote inside an item' '[paths]\nread = ./o"ut"\n' "2: quote inside './o\"ut\"' (put quotes around the whole item)"
bad 'an unknown escape in quotes' '[paths]\nread = "./o\\nut"\n' "2: unknown escape '\\n' in quotes"
good 'CRLF is fine' '[paths]\r\n# note\r\nread = ./out\r\n\r\n'
good 'a byte order mark is fine' '\0357\0273\0277[paths]\nread = ./out\n'
good 'both are fine together' '\0357\0273\0277[paths]\r\nread = ./out\r\n'
bad 'UTF-16 is not' '\0377\0376[\0p\0]\0\n\0' "1: byte '\\xff' in column 1 is not UTF-8" '2: NUL byte'
good 'a last line without an end is fine' '[paths]\nread = ./out'
good 'an empty file is a policy, if a narrow one' ''
good 'so is one of blanks and comments' '\n   \n# nothing\n; at all\n'

# -- files
rm policy.ini
refused 'a missing file' 'policy.ini: cannot be read: No such file or directory'
mkdir policy.ini
refused 'a folder' 'policy.ini: is a directory, not a policy file'
rmdir policy.ini
head -c 10000000 /dev/urandom >policy.ini
refused '10 MB of garbage' 'policy.ini: is too large for a policy (at most 4 MB)'
yes '[garbage' | head -c 3000000 >policy.ini
sbx show -p policy.ini
[ "$STATUS" -eq 125 ] && [ ! -s "$DIR/out" ] && [ "$(wc -l <"$DIR/err")" -eq 21 ]
result $? 'megabytes of lines that are all wrong take 21 lines to say'
head -c 3000000 /dev/urandom | run "$SBX" show -p -
[ "$STATUS" -eq 125 ] && [ ! -s "$DIR/out" ] && [ "$(wc -l <"$DIR/err")" -le 21 ] && is_clean "$DIR/err"
result $? 'so does garbage from standard input, and none of it reaches the terminal'
sbx show -p /dev/zero
is 125 'a file without an end ends'
good 'a policy to be made unreadable is fine' '[paths]\nread = ./out\n'
chmod 000 policy.ini
is_root && chown "$NOBODY" policy.ini
run as_user "$SBX" show -p policy.ini
says err 'sbx-policy: policy.ini: cannot be read: Permission denied' 'an unreadable file is said to be that'
is 125 'and ends it'
rm -f policy.ini
# What a user cannot look into is denied by its name; a name that leads out again is not one.
mkdir locked
touch pipeline/secret
chmod 700 locked
is_root || chmod 000 locked
file policy.ini '[sandbox]\ninclude = none\n[paths]\nread = ./pipeline\ndeny = ./locked/x, ./locked/../pipeline/secret\n'
run as_user "$SBX" check -p policy.ini read pipeline/secret
[ "$STATUS" -ne 0 ]
result $? 'what is denied by way of a folder that cannot be entered is not allowed'
run as_user "$SBX" check -p policy.ini read pipeline/a.csv locked/x
[ "$STATUS" -ne 0 ]
result $? 'nor is what lies in that folder'
file policy.ini '[sandbox]\ninclude = none, ./locked/x.ini\n'
run as_user "$SBX" show -p policy.ini
says err "sbx-policy: policy.ini:2: cannot include './locked/x.ini': Permission denied" 'an include that cannot be reached is not said to be missing'
chmod 755 locked
rm -f policy.ini

# -- links that the program could put there for the next run
mkdir ws elsewhere && mkdir ws/folder ws/held elsewhere/sub && ln -s ../elsewhere ws/link && ln -s folder ws/near &&
	ln -s ../../elsewhere ws/held/link && ln -s ws to-ws
for key in read write exec; do
	bad "$key does not lead through a link that the program could replace" \
		"[sandbox]\nworkspace = ./ws\n[paths]\n$key = ./ws/link\n" \
		"4: './ws/link' leads through the link '$PWD/ws/link', which the program could replace (write '$PWD/elsewhere' instead)"
done
bad 'nor deeper' '[sandbox]\nworkspace = ./ws\n[paths]\nread = ./ws/link/sub\n' "4: './ws/link/sub' leads through the link '$PWD/ws/link'"
bad 'nor where it leads into the workspace now' '[sandbox]\nworkspace = ./ws\n[paths]\nread = ./ws/near\n' "4: './ws/near' leads through"
bad 'nor does a section' '[sandbox]\nworkspace = ./ws\n[path a]\nroot = ./ws/link\nmode = ro\n' "4: './ws/link' leads through"
bad 'nor a socket' '[sandbox]\nworkspace = ./ws\n[network]\nconnect = unix:./ws/link/sock\n' "leads through the link '$PWD/ws/link'"
good 'what is denied may' '[sandbox]\nworkspace = ./ws\n[paths]\ndeny = ./ws/link\n'
good 'and what leads through a link that stays' '[sandbox]\nworkspace = ./to-ws\n[paths]\nread = ./to-ws/folder\n'
good 'also below what may only be read' '[sandbox]\nworkspace = ./ws\n[path a]\nroot = ./ws/held\nmode = ro\n[paths]\nread = ./ws/held/link\n'

# -- the log
file part.ini ''
bad 'the log is not the policy' '[sandbox]\ninclude = none\n[errors]\nlog = ./policy.ini\n' \
	"4: the log is 'policy.ini', a file of the policy (name another one)"
bad 'nor what it includes' '[sandbox]\ninclude = none, ./part.ini\n[errors]\nlog = ./part.ini\n' "4: the log is './part.ini', a file of the policy"
ln part.ini part.log
bad 'under whatever name' '[sandbox]\ninclude = none, ./part.ini\n[errors]\nlog = ./part.log\n' "4: the log is './part.ini', a file of the policy"
rm part.log part.ini

# -- includes
bad 'a missing profile names the nearest one' '[sandbox]\ninclude = nod\n' "2: no profile is called 'nod' (did you mean 'node'?)"
bad 'a missing profile that is like nothing tells how files are written' '[sandbox]\ninclude = zzzzzzzzz\n' "2: no profile is called 'zzzzzzzzz' (a file is written with a slash: './zzzzzzzzz')"
bad 'a profile is not found by a path in its name' '[sandbox]\ninclude = ..\n' "2: no profile is called '..'"
bad 'a missing include' '[sandbox]\ninclude = none, ./other.ini\n' "2: cannot include './other.ini': No such file or directory"
bad 'an include that is a folder' '[sandbox]\ninclude = none, ./pipeline/\n' './pipeline/: is a directory, not a policy file'
file one.ini '[sandbox]\ninclude = ./two.ini\n'
file two.ini '[sandbox]\n\n\ninclude = ./three.ini\n'
file three.ini '\n[sandbox]\ninclude = ./one.ini\n'
sbx show -p one.ini
says err 'sbx-policy: ./three.ini:3: files include each other: one.ini -> ./two.ini -> ./three.ini -> one.ini' \
	'files that include each other are shown all the way round'
is 125 'and end it'
file policy.ini '[sandbox]\ninclude = ./policy.ini\n'
refused 'a file that includes itself' '2: files include each other: policy.ini -> policy.ini'
ln -s . here
file policy.ini '[sandbox]\ninclude = here/here/policy.ini\n'
refused 'by way of a link too' '2: files include each other: policy.ini -> policy.ini'
file policy.ini '[sandbox]\ninclude = none, ./left.ini, ./right.ini\n'
file left.ini '[sandbox]\ninclude = ./both.ini\n'
file right.ini '[sandbox]\ninclude = ./both.ini\n'
file both.ini '[limits]\nmemory = 1G\n[path out]\nroot = ./out\nmode = ro\n'
sbx lint -p policy.ini
is 0 'a file that is included twice is read once'
for n in {1..500}; do file "chain/$n.ini" "[sandbox]\ninclude = none, ./$((n + 1)).ini\n"; done
file chain/501.ini ''
(
	[ "${SBX_VARIANT:-release}" != release ] || ulimit -v 150000
	sbx lint -p chain/1.ini
	exit "$STATUS"
)
result $? 'a long chain of files costs no memory to speak of'
file sub/other.ini '[paths]\nraed = x\n'
file policy.ini '[sandbox]\ninclude = ./sub/other.ini\n'
refused 'what is wrong in an included file is said with its own name' "./sub/other.ini:2: unknown key 'raed'"
file sub/policy.ini '[sandbox]\ninclude = ./other.ini\n'
sbx show -p sub/policy.ini
has err 'sub/other.ini:2: unknown key' 'that name leads to it from the current directory'

# -- settings that do not go together
bad 'mode = none beside connect names both lines' '[network]\nmode = none\n\nconnect = example.org:443\n' \
	"2: 'mode = none' contradicts 'connect = example.org:443' in policy.ini:4 (remove one of them)"
bad 'mode = full beside bind names both lines' '[network]\nbind = 127.0.0.1:80\nmode = full\n' \
	"3: 'mode = full' contradicts 'bind = 127.0.0.1:80' in policy.ini:2"
bad 'mode = none beside a proxy' '[network]\nmode = none\nproxy = http://me:s3cret@proxy.example.org:3128\n' "2: 'mode = none' contradicts 'proxy"
hasnt err s3cret 'of which the password is not repeated'
good 'mode = none beside deny is fine' '[network]\nmode = none\ndeny = *:25\n'
good 'mode = filtered beside connect is fine' '[network]\nmode = filtered\nconnect = example.org:443\n'
bad 'two [path] sections with one root' '[path a]\nroot = ./out\nmode = ro\n[path b]\nroot = out/../out/\nmode = rw\n' \
	"6: [path b] and [path a] (policy.ini:3) have the same root '$PWD/out'"
bad 'two [path] sections with one name' '[path a]\nroot = ./out\nmode = ro\n[path a]\nroot = ./pipeline\nmode = rw\n' \
	'4: section [path a] stands twice (first in line 1)'
bad '[path] without a mode' '\n[path a]\nroot = ./out\n' "2: [path a] has no 'mode'"
bad '[path] without a root' '[path a]\nmode = ro\n' "1: [path a] has no 'root'"
bad '[path] without anything' '[path a]\n' "1: [path a] has no 'root'" "1: [path a] has no 'mode'"
bad '[path] with a missing root' '[path a]\nroot = ./otu\nmode = ro\n' "2: './otu' does not exist (did you mean 'out'?"
bad '[path] with a pattern' '[path a]\nroot = ./*\nmode = ro\n' "2: 'root = ./*' must be one path, not a pattern"
bad 'a bad mode is one error, not two' '[path a]\nroot = ./out\nmode = wr\n' "3: unknown word 'wr' for 'mode'"

file first.ini '[sandbox]\ninclude = none\ntmp = shared\nprotect = no\n[limits]\nmemory = 1G\ntimeout = 60s\n'
file second.ini '[sandbox]\n\ntmp = none\n'
sbx show -p first.ini -p second.ini
says err "sbx-policy: second.ini:3: 'tmp = none' contradicts 'tmp = shared' in first.ini:3" \
	'two files that contradict each other are both named'
is 125 'and nothing is guessed'
file second.ini '[sandbox]\ntmp = shared\nprotect = off\n[limits]\nmemory = 512M\ntimeout = 1h\n'
sbx show -p first.ini -p second.ini
is 0 'files that say the same in other words go together'
has out '[limits] memory = 512M   # second.ini:5' 'of two limits the stricter one holds'
has out '[limits] timeout = 60s   # first.ini:7' 'in whichever file it stands'
sbx show -p second.ini -p first.ini
has out '[limits] memory = 512M   # second.ini:5' 'and in whichever order'
file weak.ini '[limits]\nmemory = 1M\n'
file policy.ini '[sandbox]\ninclude = none, ./weak.ini\n[limits]\nmemory = 1G\n'
sbx show -p policy.ini
has out '[limits] memory = 1G   # policy.ini:4' 'a file is stronger than what it includes'
file a/policy.ini '[sandbox]\ninclude = none\nworkdir = .\n[paths]\nread = .\n'
file b/policy.ini '[sandbox]\ninclude = none\nworkdir = .\n[paths]\nread = .\n'
sbx show -p a/policy.ini -p b/policy.ini
is 125 'the same words in two folders are two paths'
file a/policy.ini '[path data]\nroot = .\nmode = ro\n'
file b/policy.ini '[path data]\nroot = .\nmode = ro\n'
sbx show -p a/policy.ini -p b/policy.ini
says err 'sbx-policy: b/policy.ini:1: section [path data] is also in a/policy.ini:1 (give one of them another name)' \
	'two files cannot have a [path] section of the same name'

# -- many errors
numbered() # COUNT
{
	echo '[limits]'
	for ((n = 1; n <= $1; n++)); do echo "wrong$n = 1"; done
}
numbered 20 >policy.ini
sbx show -p policy.ini
[ "$(wc -l <"$DIR/err")" -eq 20 ] && ! grep -q more "$DIR/err"
result $? '20 errors are listed, one line each'
numbered 25 >policy.ini
sbx show -p policy.ini
[ "$(grep -c '^sbx-policy: policy\.ini:[0-9]*: unknown key ' "$DIR/err")" -eq 20 ]
result $? 'of 25 errors, 20 are listed in order'
[ "$(tail -n 1 "$DIR/err")" = 'sbx-policy: and 5 more errors' ]
result $? 'and the others are counted'
numbered 21 >policy.ini
sbx show -p policy.ini
[ "$(tail -n 1 "$DIR/err")" = 'sbx-policy: and 1 more error' ]
result $? 'also when there is one'
bad 'each item of a list is judged by itself' '[network]\nconnect = one, two:80, three:x, [four]:1\n' \
	"2: bad destination 'one'" "2: bad destination 'three:x'" "2: bad destination '[four]:1'"
bad 'errors of reading and of meaning are listed together' '[paths]\nraed = .\nread = ./nothing-here\n[limits]\nmemory = x\n' \
	"2: unknown key 'raed'" "5: bad size 'x'" "3: './nothing-here' does not exist"

mkdir full
(cd full && for n in {1..1000}; do echo >"file-of-a-long-name-$n"; done)
{ echo '[paths]'; for n in {1..5000}; do echo "read = ./full/nothing-like-it-$n"; done; } >policy.ini
run timeout 20 "$SBX" show -p policy.ini
[ "$STATUS" -eq 125 ] && [ "$(tail -n 1 "$DIR/err")" = 'sbx-policy: and 4980 more errors' ]
result $? 'no time is spent on what is not said'

# -- every command refuses alike
file policy.ini '[paths]\nraed = ./out\n'
for command in 'check read ./out' 'why read ./out' show lint 'resolve ./out' describe "compile -o $DIR/image"; do
	# shellcheck disable=SC2086 # words
	sbx $command -p policy.ini
	is 125 "${command%% *} refuses a bad policy, and prints nothing"
done
sbx describe -p policy.ini --json
is 2 'there is no JSON of a page for people, and that is said'
[ ! -e "$DIR/image" ]
result $? 'nothing was compiled'
printf '[paths]\nraed = ./out\n' | run "$SBX" show -p -
says err "sbx-policy: stdin:2: unknown key 'raed' in [paths] (did you mean 'read'?)" 'standard input has a name'
name=$(printf 'bad\n\033[31m\342\200\256.ini')
file "$name" '[paths]\nraed = ./out\n'
sbx show -p "$name"
says err "sbx-policy: bad\\n\\x1b[31m\\u{202e}.ini:2: unknown key 'raed' in [paths] (did you mean 'read'?)" \
	"a file's hostile name is escaped"
bad 'what cannot be seen in a file is refused' '[paths]\nre\0342\0200\0256ad = x\nread = ./\0342\0200\0213no\n' \
	'2: invisible character U+202E' '3: invisible character U+200B'
finish
