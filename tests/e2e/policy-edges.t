#!/bin/bash
# SPDX-License-Identifier: MIT
#
# sbx-policy at its edges: other ways to the same place, and words that look like they said more than
# they do. Every refusal here stands beside a neighbour that is allowed.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

ALONE='[sandbox]\ninclude = none\ntmp = shared\n'

allows() # OP TARGET NAME
{
	sbx check -p policy.ini "$1" "$2"
	is 0 "$3"
}

refuses() # OP TARGET NAME
{
	sbx check -p policy.ini "$1" "$2"
	is 1 "$3"
}

# -- what cannot be looked at
mkdir -p private/keys real/private/keys
ln -s real link
file policy.ini "$ALONE"'workspace = .\n[paths]\ndeny = ./private/keys, ./link/private\n'
chmod 000 private real/private
sbx compile -p policy.ini -o "$DIR/image"
chmod 755 private real/private
for path in private/keys private/./keys link/private/keys real/private/keys; do
	run env SANDBOX_SBX_IMAGE="$DIR/image" "$SBX" check read "$path"
	is 1 "a folder that could not be searched is denied by its name: $path"
done
run env SANDBOX_SBX_IMAGE="$DIR/image" "$SBX" check read private
is 0 'and what is beside it is not'

# -- moving things
mkdir -p proj/sub other stage .config
file policy.ini "$ALONE"'workspace = .\n[paths]\ndeny = ./run/private\n'
refuses create ./.config/fish/config.fish 'what runs later cannot be made'
sbx check -p policy.ini create ./.ssh
is 1 'nor can a link stand where it would be looked for'
refuses rename ./.config 'nor can its folder be moved'
allows rename ./stage 'while others can'
mkdir -p run/private
refuses rename ./run 'a folder with a denied place in it stays'
allows rename ./proj 'one without does not have to'
mkdir -p .jj/repo
file .jj/repo/extra.ini '[limits]\ntimeout = 5\n'
file policy.ini '[sandbox]\ninclude = none, ./.jj/repo/extra.ini\ntmp = shared\nworkspace = .\n'
refuses rename ./.jj 'nor does a folder that the policy includes a file of'

# -- patterns come and go
mkdir ex
touch ex/a.txt
file policy.ini "$ALONE"'[paths]\nwrite = ./ex/*.txt\n'
allows create ./ex/new.txt 'what a pattern lets be written can be made'
allows delete ./ex/a.txt 'and removed'
refuses create ./ex/new.sh 'and nothing beside it'

# -- words that say less than they seem to
file policy.ini "$ALONE"'workspace = .\n[paths]\ndeny = ./proj ./other\n'
sbx show -p policy.ini
is 125 'a forgotten comma is not a name'
file policy.ini "$ALONE"'workspace = .\n[paths]\ndeny = '"'./proj'"'\n'
sbx show -p policy.ini
is 125 'nor are the quotes of a shell'
file policy.ini "$ALONE"'workspace = .\n[paths]\ndeny = /proc/self/environ\n'
sbx show -p policy.ini
is 125 '/proc/self is not one place'
file policy.ini "$ALONE"'[paths]\nread = /proc\n'
allows read /proc/self/status 'while /proc is'

# -- variables of the environment in bundled profiles
file policy.ini '[sandbox]\ntmp = shared\n'
run env SSL_CERT_DIR=/ "$SBX" check -p policy.ini read /etc/shadow
is 1 'a variable does not open the machine'
mkdir certs
touch certs/ca.pem
run env SSL_CERT_DIR="$PWD/certs" "$SBX" check -p policy.ini read certs/ca.pem
is 0 'but says where certificates are'

# -- sockets
file policy.ini "$ALONE"'[paths]\nhide = /run/docker.sock\n[network]\nmode = full\n'
refuses connect unix:/run/docker.sock 'a hidden socket stays hidden with the whole network'
allows connect unix:/run/other.sock 'another one does not'
allows connect example.com:25 'nor does the network'
file policy.ini "$ALONE"'workspace = .\n[network]\ndeny = unix:./proj\n'
refuses bind unix:./proj/s 'a denied place is no place to listen'
allows bind unix:./other/s 'another one is'

# -- the same destination by other names
file policy.ini "$ALONE"'[network]\nconnect = *:443, 127.0.0.1:80\ndeny = 93.184.216.34:443, 0.0.0.0:80\n'
for dest in 93.184.216.34:443 '[64:ff9b::5db8:d822]:443' '[2002:5db8:d822::]:443' \
	'[::ffff:93.184.216.34]:443' 0.0.0.0:80; do
	refuses connect "$dest" "deny holds for every spelling: $dest"
done
allows connect 93.184.216.35:443 'and not for the neighbour'
allows connect 127.0.0.1:80 'nor for what it does not name'
file policy.ini "$ALONE"'[network]\nbind = *:8080\ndeny = 192.168.1.5:8080\n'
refuses bind 0.0.0.0:8080 'to listen on all addresses is to listen on the denied one'
allows bind 192.168.1.6:8080 'another address is free'
file policy.ini "$ALONE"'[network]\nconnect = *:443\ndeny = *.evil.example:443, evil.example:1-65535\n'
refuses lookup a.evil.example 'a name that leads nowhere is not asked for'
refuses lookup evil.example 'by whatever range of ports'
allows lookup good.example 'and others are'

# -- suggestions
file policy.ini "$ALONE"'workspace = .\n'
for question in 'list /' 'list /root' 'delete /etc/hosts'; do
	# shellcheck disable=SC2086 # words
	sbx check -p policy.ini $question
	hasnt out 'To allow it' "no line that opens far more is suggested: $question"
done
sbx check -p policy.ini create ./.bashrc
hasnt out 'To allow it' 'nor one that lifts a default protection'
for dest in unix:/var/run/docker.sock 169.254.169.254:80; do
	sbx check -p policy.ini connect "$dest"
	hasnt out 'To allow it' "nor one that hands over keys: $dest"
done
sbx check -p policy.ini read /etc/hostname
has out 'read = /etc/hostname' 'while a file is'
finish
