#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Real servers for names.t, at an address of its network: ssh, redis and postgres, without any rights.
# Sourced; SERVICES are the clients that then have one to talk to, and none of the servers outlives the
# test. What the machine lacks is skipped, by name.

PATH=$PATH:/usr/sbin
AT=55.0.0.7 SSH_PORT=2222 REDIS_PORT=6379 SQL_PORT=5432
SERVED=$DIR/served
SERVICES=()
POSTGRES=$(find /usr/lib/postgresql/*/bin -name postgres 2>/dev/null | sort -V | tail -n 1)
PSQL=${POSTGRES%/*}/psql # psql in PATH is Debian's script, which looks for clusters of the system
REDIS=$(command -v redis-server || command -v redis-check-rdb) # one program, under two names

mkdir "$SERVED" && : >"$SERVED/pids" && { ! is_root || chown -R "$NOBODY" "$SERVED"; } || exit
trap 'stop_services; cleanup' EXIT
SERVING=()
gone() # PROCESS...
{
	! kill -0 "$@" 2>/dev/null
}

stop_services()
{
	xargs kill <"$SERVED/pids" 2>/dev/null
	[ ${#SERVING[@]} -eq 0 ] || eventually gone "${SERVING[@]}" ||
		xargs kill -KILL <"$SERVED/pids" 2>/dev/null
	SERVING=()
	: >"$SERVED/pids"
}

serve() # COMMAND...
{
	as_user sh -c 'echo $$ >>pids && exec "$@"' - "$@" >log 2>&1 &
	SERVING+=("$!")
}

serve_ssh()
{
	as_user dropbearkey -t ed25519 -f host >public 2>/dev/null || return
	printf '[safe]\n\tdirectory = *\n' >.gitconfig
	ssh-keygen -q -t ed25519 -N '' -f "$DIR/work/key" &&
		mkdir .ssh && cp "$DIR/work/key.pub" .ssh/authorized_keys &&
		sed -n 's/^ssh-ed25519/* &/p' public >"$DIR/work/known" &&
		cc -shared -fPIC -o login.so "$NAMES/login.c" &&
		serve env HOME="$SERVED" LD_PRELOAD=./login.so dropbear -F -E -s -r host -p "$AT:$SSH_PORT"
}

serve_redis()
{
	ln -s "$REDIS" redis-server
	serve ./redis-server --bind "$AT" --port "$REDIS_PORT" --protected-mode no --save ''
}

serve_sql()
{
	as_user "${POSTGRES%/*}/initdb" --no-sync -A trust -U postgres data >/dev/null 2>&1 || return
	echo "host all all $AT/32 trust" >>data/pg_hba.conf
	serve "$POSTGRES" -D data -h "$AT" -p "$SQL_PORT" -k '' -F
}

# Started and listening.
service() # CLIENT PORT FUNCTION PROGRAM...
{
	local program i

	for program in "${@:4}"; do
		if ! command -v "$program" >/dev/null; then
			result 0 "$1 has a server # SKIP there is no $program here"
			return
		fi
	done
	SERVICES+=("$1")
	cd "$SERVED" && "$3" && for ((i = 0; i < 600; i++)); do
		! (: <>"/dev/tcp/$AT/$2") 2>/dev/null || break
		sleep 0.05
	done && [ "$i" -lt 600 ]
	result $? "$1 has a server"
	cd "$DIR/work" || exit
}

service 'git ssh' "$SSH_PORT" serve_ssh git ssh ssh-keygen dropbear dropbearkey
service redis-cli "$REDIS_PORT" serve_redis redis-cli "${REDIS:-redis-server}"
service psql "$SQL_PORT" serve_sql "${POSTGRES:-postgres}" "$PSQL"
