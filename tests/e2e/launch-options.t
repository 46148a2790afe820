#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A command line that makes no sense, or a policy that cannot be held: one clear line, the exit status
# that says whose fault it is, and a program that was never started.
# shellcheck source=tests/e2e/lib.sh disable=SC2016 # '$' is for policies
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

# The program leaves a mark where it was started. The policy stands outside of what it may write.
TOUCH=(touch started)
printf '[sandbox]\ninclude = bash\nworkspace = ${workdir}\n' >"$DIR/policy.ini"

launch() # ARGUMENT...
{
	rm -f started
	run "$LAUNCH" "$@"
}

# One line (or as many as are given), the status, no output, and nobody was started.
refused() # STATUS TEXT NAME ARGUMENT...
{
	launch "${@:4}"
	[ "$STATUS" -eq "$1" ] && [ ! -s "$DIR/out" ] && [ ! -e started ] && grep -qF -e "$2" "$DIR/err" &&
		[ "$(grep -vc '^sbx-launch: ' "$DIR/err")" -eq 0 ] && [ "$(wc -l <"$DIR/err")" -eq "${LINES_OF:-1}" ]
	result $? "$3"
}

with() # STATUS TEXT NAME OPTION...
{
	refused "$1" "$2" "$3" -p "$DIR/policy.ini" "${@:4}" -- "${TOUCH[@]}"
}

launch -p "$DIR/policy.ini" -- "${TOUCH[@]}"
[ "$STATUS" -eq 0 ] && [ -e started ] && [ ! -s "$DIR/out" ] && [ ! -s "$DIR/err" ]
result $? 'a good command line runs the program, and says nothing'
launch -p "$DIR/policy.ini" "${TOUCH[@]}"
[ "$STATUS" -eq 0 ] && [ -e started ]
result $? 'also without --'
rm -f started

# Usage.
refused 2 'no command was given (see sbx-launch --help)' 'a command is needed'
refused 2 'no command was given (see sbx-launch --help)' 'also behind options' -p "$DIR/policy.ini" --
with 2 "unknown option '--memroy' (did you mean '--memory'?)" 'an unknown option has a suggestion' --memroy=1G
with 2 "unknown option '--alow-read' (did you mean '--allow-read'?)" 'also with a value behind it' \
	--alow-read /etc
with 2 "unknown option '--frobnicate' (see sbx-launch --help)" 'where one is near' --frobnicate
with 2 "unknown option '-Z'" 'a letter has none' -Z
refused 2 "option '-p' needs a value" '-p needs a file' -p
refused 2 "option '--memory' needs a value" 'a setting needs a value' --memory
with 2 "'x' is not a descriptor's number" '--keep-fd takes a number' --keep-fd=x
with 2 "'-1' is not a descriptor's number" 'from 0 up' --keep-fd=-1
with 2 "'3x' is not a descriptor's number" 'and nothing behind it' --log-fd=3x
with 2 '--keep-fd: descriptor 77 is not open' 'a descriptor to keep must be open' --keep-fd=77
with 125 '--log-fd: descriptor 77 is not open' 'and so must one to write to' --log-fd=77
with 2 '--clean needs --doctor' '--clean means nothing by itself' --clean

# The command.
refused 127 "'no-such-program' was not found in PATH" 'a program that is not in PATH is not found' \
	-p "$DIR/policy.ini" -- no-such-program
refused 127 "'./none' was not found" 'nor is a file that is not there' -p "$DIR/policy.ini" -- ./none
refused 127 "'' was not found" 'nor one without a name' -p "$DIR/policy.ini" -- ''
refused 127 "'./policy.ini/x' was not found" 'nor one below a file' -p "$DIR/policy.ini" -- ./policy.ini/x
printf '#!/bin/sh\ntouch started\n' >script
refused 126 "cannot execute './script': it is not marked as a program (chmod +x?)" \
	'a file that is not marked as a program is not executed' -p "$DIR/policy.ini" -- ./script
mkdir folder
refused 126 "cannot execute './folder': it is a folder" 'nor is a folder' -p "$DIR/policy.ini" -- ./folder
printf '\177ELF and no more' >junk
chmod +x junk
refused 126 "cannot execute './junk': Exec format error" 'nor is junk' -p "$DIR/policy.ini" -- ./junk
printf '#!/no/such/interpreter\n' >orphan
chmod +x orphan
refused 127 "cannot execute './orphan': No such file or directory" 'a script needs its interpreter' \
	-p "$DIR/policy.ini" -- ./orphan

# The policy.
refused 125 'none.ini: cannot be read: No such file or directory' 'a policy must be there' \
	-p none.ini -- "${TOUCH[@]}"
printf '[paths]\nraed = .\n' >"$DIR/bad.ini"
refused 125 "bad.ini:2: unknown key 'raed' in [paths] (did you mean 'read'?)" 'a mistake in it has its line' \
	-p "$DIR/bad.ini" -- "${TOUCH[@]}"
printf '[sandbox]\nworkspace = ${workdir}\n[paths]\nread = ./none\nexec = ./nor-this\n' >"$DIR/gone.ini"
LINES_OF=2 refused 125 "gone.ini:4: './none' does not exist" 'a path to read must be there' \
	-p "$DIR/gone.ini" -- "${TOUCH[@]}"
has err "gone.ini:5: './nor-this' does not exist" 'and so must one to execute'
with 125 "'/no/such/folder' does not exist" 'also on the command line' --allow-read=/no/such/folder
with 125 "'/no/such/program' does not exist" 'for both' --allow-exec=/no/such/program
cp "$DIR/policy.ini" policy.ini
launch -p policy.ini -- sh -c 'echo >>policy.ini; rm policy.ini; mv policy.ini x; echo >policy.ini'
has err "Cannot write to 'policy.ini'" 'a policy stays as it is, in a folder that the program can write'
has err "Cannot delete 'policy.ini'" 'and where it is'
cmp -s policy.ini "$DIR/policy.ini"
result $? 'nothing happens to it'
rm policy.ini
# So does what leads there: whoever replaces it decides what the next run reads, and where it writes.
mkdir "$DIR/far" && cp "$DIR/policy.ini" "$DIR/far/" && ln -s "$DIR/far" far && ln -s far/policy.ini one && ln -s one two
printf '[sandbox]\ninclude = bash, ./far/policy.ini\n[errors]\nlog = ./far/log\n' >including.ini
for way in '-p far/policy.ini' '-p two' '-p including.ini' '--log=far/log'; do
	for option in '' --isolate=none --no-shim; do
		# shellcheck disable=SC2086 # words
		launch $way $option -- sh -c 'rm far; mv far x; ln -sfn /etc one; ln -sfn /etc far/..; mkdir n; mv -T n far'
		has err "Cannot delete 'far'" "a link to them is not removed ($way $option)"
		has err "Cannot rename 'far'" 'nor moved or replaced'
		[ "$(readlink far)" = "$DIR/far" ]
		result $? 'and leads where it did'
		rm -rf n one && ln -s far/policy.ini one
	done
done
launch -p two -- sh -c 'rm two; rm one'
has err "Cannot delete 'two'" 'nor is a link of a chain'
has err "Cannot delete 'one'" 'any of them'
rm -f far one two including.ini
printf '[sandbox]\nworkspace = ${workdir}\n\n[errors]\nlog = /no/such/log\n' >"$DIR/log.ini"
refused 125 "$DIR/log.ini:5: cannot write the log '/no/such/log': No such file or directory (its folder has to be there)" \
	'a log that cannot be written has its line' -p "$DIR/log.ini" -- "${TOUCH[@]}"
with 125 "user 'no-such-user' is not in /etc/passwd" 'a user must exist' --user=no-such-user
for pair in 'landlock enforce none' 'seccomp enforce none' 'landlock enforce seccomp' 'userns isolate none' \
	'netns isolate none'; do
	read -r layer key word <<<"$pair"
	with 125 "command line: '$layer' is required, and '$key = $word' (command line) does without it" \
		"$key = $word does not go with what needs '$layer'" "--require=$layer" "--$key=$word"
done
if ! is_root; then
	with 125 "only root can run a program as user 'root' (leave 'user' out, or start as root)" \
		'only root becomes somebody else' --user=root
fi
with 125 "variable 'SANDBOX_SBX_MINE' is sbx's own" "sbx's own variables are not for policies" \
	--env=SANDBOX_SBX_MINE=x
launch -p "$DIR/policy.ini" --env=SANDBOX_SBX_IMAGE=/forged -- sh -c 'echo "$SANDBOX_SBX_IMAGE"'
hasnt out /forged 'least of all the one that names the compiled policy'

# Where it starts.
printf '[sandbox]\ninclude = bash\n[paths]\nwrite = "%s"\n' "$PWD" >"$DIR/paths.ini"
start() # STATUS TEXT NAME WORKDIR
{
	refused "$1" "$2" "$3" -p "$DIR/paths.ini" --workdir="$4" -- "${TOUCH[@]}"
}
start 125 "workdir '/no/such/folder' does not exist (make it first, or name another)" 'a workdir must be there' /no/such/folder
start 125 "workdir './script' is not a directory" 'and be a folder' ./script
start 125 "workdir '$DIR/home' is not readable by the policy" 'that the program can read' "$DIR/home"
launch -p "$DIR/paths.ini" --workdir=folder -- touch here
[ "$STATUS" -eq 0 ] && [ -e folder/here ]
result $? 'then the program starts there'

# No policy at all.
for place in / "$HOME" "$DIR"; do
	(cd "$place" && "$LAUNCH" -- touch "$DIR/work/started") >"$DIR/out" 2>"$DIR/err"
	STATUS=$?
	is 125 "without a policy, ${place/#$DIR/DIR} is no workspace"
	says err "sbx-launch: no policy was given, and '$place' is too wide to be the workspace (use -p, or go into a project's folder)" \
		'and what to do is said'
done
mkdir project
(cd project && "$LAUNCH" -- sh -c 'echo x >made; cat ../script') >"$DIR/out" 2>"$DIR/err"
[ -e project/made ] && [ ! -s "$DIR/out" ]
result $? 'a folder of a project is'

# Limits.
for limit in timeout cpu cpu-percent memory processes open-files file-size output; do
	with 125 "--$limit: '${limit/-/_}' must be at least 1" "$limit = 0 is refused" "--$limit=0"
	with 125 "--$limit: '${limit/-/_}' must be at least 1" 'and so is less' "--$limit=-5"
done
with 125 "bad duration 'soon' for 'timeout' (500ms, 60s, 5m or 1h; a bare number is seconds)" \
	'a time is a number' --timeout=soon
with 125 "bad size '1X' for 'memory'" 'a size too' --memory=1X
with 125 "'99999999999999999999' is too large for 'memory'" 'that fits' --memory=99999999999999999999
with 125 'memory: no program starts in less than a megabyte' 'memory that nothing starts in is refused' \
	--memory=64k
with 125 'starts with fewer than' 'and so are too few files' --open-files=4
ulimit -Sn "$(ulimit -Hn)" 2>/dev/null
(ulimit -n 500 && "$LAUNCH" -p "$DIR/policy.ini" --open-files=501 -- "${TOUCH[@]}") >"$DIR/out" 2>"$DIR/err"
STATUS=$?
is 125 'a hard limit of the session is not raised'
has err 'open_files: above the hard limit of this session (ulimit -Hn)' 'and named'
(ulimit -n 500 && "$LAUNCH" -p "$DIR/policy.ini" --open-files=500 -- sh -c 'ulimit -n') >"$DIR/out" 2>"$DIR/err"
says out 500 'but met'
(ulimit -f 1000 && "$LAUNCH" -p "$DIR/policy.ini" --file-size=1G -- "${TOUCH[@]}") >"$DIR/out" 2>"$DIR/err"
STATUS=$?
is 125 'the largest file has a hard limit too'
has err 'file_size: above the hard limit of this session (ulimit -Hf)' 'and it is named'
[ ! -e started ]
result $? 'and nothing was started'

# What no layer holds is never left out in silence.
with 125 "'complain' in [sandbox] cannot be enforced" 'complain' --complain
with 125 "'disk' in [limits] cannot be enforced: it takes a mount" 'a limit of disk space without a mount' \
	--disk=1M --isolate=none
with 125 "'disk' in [limits] cannot be enforced: it is about private tmp and home" \
	'a limit of disk space that nothing has' --disk=1M --tmp=shared
launch -p "$DIR/policy.ini" --dry-run -- "${TOUCH[@]}"
is 0 'what is left out is named by --dry-run'
has out 'private tmp    $TMPDIR' 'where private tmp is'
has out 'modes, owners and times of files' 'and changes that Landlock does not see'
[ ! -e started ]
result $? 'and starts nothing'
launch -v -p "$DIR/policy.ini" -- true
has err 'modes, owners and times of files' '-v names it too'

# Texts that come from elsewhere are harmless.
launch -p $'\e[31mpolicy\u202e.ini' -- true
clean 'what a name has in it does not reach the terminal'
launch -p "$DIR/policy.ini" -- $'\e[31m\nprogram'
clean 'nor does that of a program'

# What is answered and not run.
launch --help
is 0 '--help answers'
has out 'usage: sbx-launch [OPTION]... [--] COMMAND [ARGUMENT]...' 'how it is used'
launch --version
is 0 '--version answers'
[[ $(cat "$DIR/out") =~ ^sbx-launch\ [0-9]+\.[0-9]+ ]]
result $? 'which one it is'
# -- streams that are closed
run bash -c '"$1" --json -- echo hello <&- 2>&-' - "$LAUNCH"
json_is 'j["stdout"] == "hello\n"' 'closed standard streams do no harm'
run bash -c '"$1" --json -- true >/dev/full' - "$LAUNCH"
exits 125 'a result that cannot be written is no success'
has err 'the result cannot be written: No space left on device' 'and is said'
file deny.ini '[sandbox]\nworkspace = ./w\n[syscalls]\ndeny = ioctl\n'
mkdir -p w
launch -p deny.ini -- true
exits 0 'a call that starting needs afterwards may be denied'
# -- a proxy
file proxy.ini '[sandbox]\nworkspace = ./w\n[network]\nproxy = http://127.0.0.1:9\n'
launch -q -p proxy.ini -- bash -c 'echo "$http_proxy $HTTPS_PROXY $all_proxy $no_proxy"; exec 3<>/dev/tcp/127.0.0.1/9'
says out 'http://127.0.0.1:9 http://127.0.0.1:9 http://127.0.0.1:9 localhost,127.0.0.1,::1' \
	'a proxy is told to programs'
has err 'Connection refused' 'and may be connected to'
launch -q -p proxy.ini -- bash -c 'exec 3<>/dev/tcp/127.0.0.1/10'
has err "Cannot connect to '127.0.0.1:10': destination not allowed." 'nobody else may'
if is_root; then
	run bash -c 'cd /etc && "$1" -- true' - "$LAUNCH"
	exits 125 'a folder of the system is no workspace by itself'
fi

finish
