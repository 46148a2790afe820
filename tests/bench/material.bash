# SPDX-License-Identifier: MIT
#
# What workloads work on; sourced, not run, behind setting.bash.
# shellcheck disable=SC2154 # set there

# 5,000 files in 50 folders, of 40 lines each.
make_tree()
{
	mkdir "$1"
	awk -v top="$1" 'BEGIN {
		for (i = 0; i < 5000; i++) {
			folder = sprintf("%s/part%02d", top, i / 100)
			if (i % 100 == 0)
				system("mkdir " folder)
			name = sprintf("%s/file%04d.txt", folder, i)
			for (line = 0; line < 40; line++)
				print "line", line, "of file", i, (line * i) % 97 == 1 ? "needle" : "hay" >name
			close(name)
		}
	}'
}

make_repository()
{
	local git=(git -C "$1" -c user.name=bench -c user.email=bench@localhost)
	make_tree "$1"
	"${clean[@]}" "${git[@]}" init -q
	"${clean[@]}" "${git[@]}" add .
	"${clean[@]}" "${git[@]}" commit -q -m files
	# Files that are as young as the index would be read again each time.
	sleep 1.1
	"${clean[@]}" "${git[@]}" update-index -q --really-refresh
}

make_sources()
{
	local i
	mkdir "$1"
	for ((i = 0; i < 40; i++)); do
		cat >"$1/unit$i.c" <<END
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int unit$i(const char *text)
{
	char *copy = strdup(text);
	int sum = 0;

	for (size_t i = 0; copy && i < strlen(copy); i++)
		sum += copy[i] * $i;
	free(copy);
	return printf("%d\n", sum);
}
END
	done
	printf 'all: %s\n%%.o: %%.c\n\tgcc -O1 -c -o $@ $<\n' "$(printf 'unit%d.o ' {0..39})" >"$1/Makefile"
}

# 20 packages of 25 files each, and one that depends on them all.
make_packages()
{
	local i n
	mkdir "$1"
	for ((i = 0; i < 20; i++)); do
		mkdir -p "$1/packages/p$i/lib"
		printf '{ "name": "p%d", "version": "1.0.0" }\n' "$i" >"$1/packages/p$i/package.json"
		for ((n = 0; n < 24; n++)); do
			echo "module.exports = $n;" >"$1/packages/p$i/lib/m$n.js"
		done
	done
	{
		printf '{ "name": "all", "version": "1.0.0", "dependencies": {\n'
		for ((i = 0; i < 20; i++)); do
			printf '%s"p%d": "file:packages/p%d"\n' "${comma:-}" "$i" "$i"
			local comma=,
		done
		printf '} }\n'
	} >"$1/package.json"
	(cd "$1" && "${clean[@]}" npm install --package-lock-only --install-links --offline --no-audit \
		--no-fund --no-update-notifier --cache "$1/.cache" >/dev/null)
}

# An archive of 2,000 files.
make_archive()
{
	mkdir -p "$1/files"
	awk -v top="$1/files" 'BEGIN {
		for (i = 0; i < 2000; i++) {
			folder = sprintf("%s/d%02d", top, i / 50)
			if (i % 50 == 0)
				system("mkdir " folder)
			name = sprintf("%s/f%04d", folder, i)
			print "file", i >name
			close(name)
		}
	}'
	tar -C "$1" -cf "$1/files.tar" files
	rm -r "$1/files"
}
