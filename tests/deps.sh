#!/bin/sh
# SPDX-License-Identifier: MIT
#
# deps.sh GOAL...: installs the Debian packages that these goals need and this machine lacks. Only
# looks for commands and files, and asks nobody, when nothing is missing.
set -eu

# goal, kind of test, what must be there, package that brings it (or an expression, for apt)
table='
build command    gcc          gcc
build command    make         make
build command    pkg-config   pkg-config
build file       /usr/include/stdlib.h  libc6-dev
build library    inih         libinih-dev
build library    libseccomp   libseccomp-dev
check command    prove        perl
check command    bash         bash
check command    git          git
check command    python3      python3
check command    node         nodejs
check command    npm          npm
check command    ruby         ruby
check command    man          man-db
check command    mandoc       mandoc
check command    musl-gcc     musl-tools
check command    busybox      busybox-static
check command    tmux         tmux
check command    curl         curl
check command    ip           iproute2
check command    ssh          openssh-client
check file       /usr/sbin/dropbear  dropbear-bin
check command    redis-cli    redis-tools
check file       /usr/lib/postgresql/*/bin/postgres  postgresql
check command    zip          zip
check command    unzip        unzip
check file       /usr/lib/python3*/test/test_os.py  ^libpython3\.[0-9]+-testsuite$
check command    setsid       util-linux
check command    pgrep        procps
check file       /usr/lib/*/libjemalloc.so.2  libjemalloc2
check file       /usr/lib/*/libtcmalloc_minimal.so.4  libtcmalloc-minimal4
check command    bindfs       bindfs
lint  command    clang        clang
lint  command    clang-tidy   clang-tidy
lint  command    clang-format clang-format
lint  command    cppcheck     cppcheck
lint  command    shellcheck   shellcheck
fuzz  command    clang        clang
fuzz  file       /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a  libclang-rt-dev
bench command    hyperfine    hyperfine
bench command    valgrind     valgrind
bench command    bwrap        bubblewrap
bench command    firejail     firejail
bench command    strace       strace
bench command    python3      python3
bench command    node         nodejs
bench command    git          git
bench command    ip           iproute2
bench command    iperf3       iperf3
'

is_there()
{
	case $1 in
	command) command -v "$2" >/dev/null ;;
	library) pkg-config --exists "$2" 2>/dev/null ;;
	file)
		# shellcheck disable=SC2086 # a pattern
		set -- $2
		[ -e "$1" ]
		;;
	esac
}

missing=$(
	printf '%s' "$table" | while read -r goal kind what package; do
		case " $* " in
		*" $goal "*) is_there "$kind" "$what" || printf '%s ' "$package" ;;
		esac
	done
)
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
	sudo=
elif command -v sudo >/dev/null; then
	sudo=sudo
else
	echo "deps: missing packages: $missing" >&2
	echo "deps: only root can install them, and there is no sudo. As root: apt-get install $missing" >&2
	echo "deps: DEPS=no goes on without them" >&2
	exit 1
fi
if ! command -v apt-get >/dev/null; then
	echo "deps: there is no apt-get here; please install what Debian calls: $missing" >&2
	exit 1
fi

log=$(mktemp)
# No database that the system would start from then on: tests make their own.
no_cluster=/etc/postgresql-common/createcluster.d/sbx.conf
trap 'rm -f "$log"; $sudo rm -f "$no_cluster"' EXIT
case $missing in
*postgresql*)
	$sudo mkdir -p "${no_cluster%/*}"
	echo 'create_main_cluster = false' | $sudo tee "$no_cluster" >/dev/null
	;;
esac
install()
{
	# shellcheck disable=SC2086 # lists
	$sudo env DEBIAN_FRONTEND=noninteractive \
		apt-get install -qq --yes --no-install-recommends $missing >"$log" 2>&1
}
echo "deps: installing $missing"
if ! install && ! { $sudo apt-get update -qq >/dev/null && install; }; then
	cat "$log" >&2
	echo "deps: could not install $missing" >&2
	exit 1
fi
