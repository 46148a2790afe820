/* SPDX-License-Identifier: MIT */
/* What single values mean: every type's accepted forms, every refusal with its words. */
#include "values.h"
#include "out.h"

#include <stdio.h>
#include <string.h>
#include <tap.h>

#include "engine.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* KEY(section, name) as the rows below call it. */
#define K(section, name) SBX_KEY_##section##_##name

#define SIZE_HINT "512k, 512M, 1G or 1T; a bare number is bytes"
#define DURATION_HINT "500ms, 60s, 5m or 1h; a bare number is seconds"
#define VARIABLE_HINT "letters, digits and '_', not beginning with a digit"
#define PATTERN_HINT "letters, digits, '_' and '*', not beginning with a digit"
#define ADDRESS_HINT "an IP address: 1.1.1.1, 1.1.1.1:53, ::1 or [::1]:53"
#define SYSCALL_HINT "a name such as ptrace, or a group such as @debug"
#define OPS "read, write, list, create, delete, rename, change, exec, connect, bind, lookup"
#define LONG_TEXT "aaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaa"

static const struct {
	enum sbx_key key;
	const char *text;
	uint64_t value;
} accepted[] = {
	{ K(limits, memory), "1", 1 },
	{ K(limits, memory), "1024", 1024 },
	{ K(limits, memory), "007", 7 },
	{ K(limits, memory), "512k", 512 << 10 },
	{ K(limits, memory), "512K", 512 << 10 },
	{ K(limits, memory), "512kB", 512 << 10 },
	{ K(limits, memory), "512KiB", 512 << 10 },
	{ K(limits, memory), "512m", 512 << 20 },
	{ K(limits, memory), "512M", 512 << 20 },
	{ K(limits, memory), "512MB", 512 << 20 },
	{ K(limits, memory), "512mb", 512 << 20 },
	{ K(limits, memory), "512MiB", 512 << 20 },
	{ K(limits, memory), "512mIb", 512 << 20 },
	{ K(limits, memory), "1G", UINT64_C(1) << 30 },
	{ K(limits, memory), "1gb", UINT64_C(1) << 30 },
	{ K(limits, memory), "1GiB", UINT64_C(1) << 30 },
	{ K(limits, memory), "1T", UINT64_C(1) << 40 },
	{ K(limits, memory), "1tb", UINT64_C(1) << 40 },
	{ K(limits, memory), "1TiB", UINT64_C(1) << 40 },
	{ K(limits, memory), "9223372036854775807", INT64_MAX },
	{ K(limits, memory), "8388607T", UINT64_C(8388607) << 40 },
	{ K(path, max_file_bytes), "10M", 10 << 20 },
	{ K(limits, timeout), "60", 60000 },
	{ K(limits, timeout), "1ms", 1 },
	{ K(limits, timeout), "60s", 60000 },
	{ K(limits, timeout), "5m", 300000 },
	{ K(limits, timeout), "1h", 3600000 },
	{ K(limits, cpu), "9223372036854775807ms", INT64_MAX },
	{ K(limits, processes), "50", 50 },
	{ K(limits, processes), "2147483647", INT32_MAX },
	{ K(limits, cpu_percent), "200", 200 },
	{ K(sandbox, protect), "yes", 1 },
	{ K(sandbox, protect), "on", 1 },
	{ K(sandbox, protect), "true", 1 },
	{ K(sandbox, protect), "no", 0 },
	{ K(sandbox, protect), "off", 0 },
	{ K(sandbox, protect), "false", 0 },
	{ K(sandbox, enforce), "auto", 0 },
	{ K(sandbox, enforce), "none", 3 },
	{ K(sandbox, tmp), "shared", 1 },
	{ K(path, mode), "rwx", 4 },
	{ K(path, mode), "rw", 2 },
	{ K(sandbox, require), "netns", 4 },
	{ K(sandbox, user), "nobody", 0 },
	{ K(sandbox, user), "1000", 0 },
	{ K(sandbox, user), "build.user_2-x", 0 },
	{ K(path, suffixes), ".md", 0 },
	{ K(path, suffixes), ".tar.gz", 0 },
	{ K(network, dns), "1.1.1.1", 0 },
	{ K(network, dns), "1.1.1.1:53", 0 },
	{ K(network, dns), "127.0.0.53:65535", 0 },
	{ K(network, dns), "::1", 0 },
	{ K(network, dns), "2606:4700:4700::1111", 0 },
	{ K(network, dns), "[::1]", 0 },
	{ K(network, dns), "[::1]:53", 0 },
	{ K(network, proxy), "http://proxy.example.org:3128", 0 },
	{ K(network, proxy), "https://proxy.example.org", 0 },
	{ K(network, proxy), "socks5://127.0.0.1:1080", 0 },
	{ K(network, proxy), "socks5h://localhost:1080/", 0 },
	{ K(network, proxy), "http://[::1]:3128", 0 },
	{ K(network, proxy), "http://[::1]", 0 },
	{ K(network, proxy), "http://user:pass@proxy.example.org:3128", 0 },
	{ K(network, proxy), "http://user@proxy:3128", 0 },
	{ K(network, proxy), "http://us%40er:p:a:ss@[::1]:3128/", 0 },
	{ K(syscalls, allow), "ptrace", 0 },
	{ K(syscalls, allow), "_llseek", 0 },
	{ K(syscalls, deny), "@debug", 0 },
	{ K(syscalls, deny), "io_uring_setup", 0 },
	{ K(env, pass), "NODE_ENV", 0 },
	{ K(env, pass), "LC_*", 0 },
	{ K(env, pass), "*", 0 },
	{ K(env, pass), "none", 0 },
	{ K(env, secret), "GITHUB_TOKEN", 0 },
	{ K(env, secret_file), "_x1", 0 },
	{ K(env, set), "CI=true", 0 },
	{ K(env, set), "EMPTY=", 0 },
	{ K(env, set), "URL=a=b, c d", 0 },
	{ K(test, allow), "read ./pipeline/a.csv", SBX_OP_READ },
	{ K(test, allow), "connect api.github.com:443", SBX_OP_CONNECT },
	{ K(test, refuse), "lookup\texample.org", SBX_OP_LOOKUP },
	{ K(path, reason), "", 0 },
	{ K(path, reason), "generated reports live here, and nothing else", 0 },
	{ K(network, connect), "api.github.com:443", 0 },
	{ K(network, connect), "unix:/run/app.sock", 0 },
	{ K(network, bind), "127.0.0.1:8080", 0 },
	{ K(network, bind), "127.0.0.1:0", 0 },
	{ K(network, bind), "*:8080", 0 },
	{ K(network, deny), "*:25", 0 },
	{ K(network, deny), "unix:/run/docker.sock", 0 },
	{ K(network, deny), "*:0", 0 },
	{ K(paths, read), "./pipeline", 0 },
	{ K(sandbox, workdir), ".", 0 },
	{ K(sandbox, include), "node", 0 },
};

static const struct {
	enum sbx_key key;
	const char *text;
	const char *why;
} refused[] = {
	{ K(limits, memory), "", "bad size '' for 'memory' (" SIZE_HINT ")" },
	{ K(limits, memory), "lots", "bad size 'lots' for 'memory' (" SIZE_HINT ")" },
	{ K(limits, memory), "512Q", "bad size '512Q' for 'memory' (" SIZE_HINT ")" },
	{ K(limits, memory), "512b", "bad size '512b' for 'memory' (" SIZE_HINT ")" },
	{ K(limits, memory), "512 M", "bad size '512 M' for 'memory' (" SIZE_HINT ")" },
	{ K(limits, memory), "512M ?", "bad size '512M ?' for 'memory' (" SIZE_HINT ")" },
	{ K(limits, memory), "512MM", "bad size '512MM' for 'memory' (" SIZE_HINT ")" },
	{ K(limits, memory), "512Mi", "bad size '512Mi' for 'memory' (" SIZE_HINT ")" },
	{ K(limits, memory), "+1", "bad size '+1' for 'memory' (" SIZE_HINT ")" },
	{ K(limits, memory), "0x10", "bad size '0x10' for 'memory' (" SIZE_HINT ")" },
	{ K(limits, memory), "-", "bad size '-' for 'memory' (" SIZE_HINT ")" },
	{ K(limits, memory), "--1", "bad size '--1' for 'memory' (" SIZE_HINT ")" },
	{ K(limits, memory), "1.5G",
	  "bad size '1.5G' for 'memory' (fractions are not read; use a smaller unit: 1536M)" },
	{ K(limits, memory), "1,5G",
	  "bad size '1,5G' for 'memory' (fractions are not read; use a smaller unit: 1536M)" },
	{ K(limits, memory), "0", "'memory' must be at least 1" },
	{ K(limits, memory), "0G", "'memory' must be at least 1" },
	{ K(limits, memory), "-1", "'memory' must be at least 1" },
	{ K(limits, memory), "-99999999999999999999G", "'memory' must be at least 1" },
	{ K(path, max_file_bytes), "0", "'max_file_bytes' must be at least 1" },
	{ K(limits, memory), "9223372036854775808",
	  "'9223372036854775808' is too large for 'memory'" },
	{ K(limits, memory), "18446744073709551616",
	  "'18446744073709551616' is too large for 'memory'" },
	{ K(limits, memory), "18446744073709551617k",
	  "'18446744073709551617k' is too large for 'memory'" },
	{ K(limits, memory), "16777216T", "'16777216T' is too large for 'memory'" },
	{ K(limits, memory), "8388608T", "'8388608T' is too large for 'memory'" },
	{ K(limits, timeout), "0", "'timeout' must be at least 1" },
	{ K(limits, timeout), "0ms", "'timeout' must be at least 1" },
	{ K(limits, timeout), "-5s", "'timeout' must be at least 1" },
	{ K(limits, timeout), "60S", "bad duration '60S' for 'timeout' (" DURATION_HINT ")" },
	{ K(limits, timeout), "1d", "bad duration '1d' for 'timeout' (" DURATION_HINT ")" },
	{ K(limits, timeout), "1h30m", "bad duration '1h30m' for 'timeout' (" DURATION_HINT ")" },
	{ K(limits, timeout), "s", "bad duration 's' for 'timeout' (" DURATION_HINT ")" },
	{ K(limits, timeout), "0.5s",
	  "bad duration '0.5s' for 'timeout' (fractions are not read; use a smaller unit: "
	  "1500ms)" },
	{ K(limits, timeout), "9223372036854776s",
	  "'9223372036854776s' is too large for 'timeout'" },
	{ K(limits, cpu), "99999999999999999h", "'99999999999999999h' is too large for 'cpu'" },
	{ K(limits, processes), "0", "'processes' must be at least 1" },
	{ K(limits, processes), "-1", "'processes' must be at least 1" },
	{ K(limits, processes), "50x", "bad number '50x' for 'processes' (digits only)" },
	{ K(limits, processes), "1k", "bad number '1k' for 'processes' (digits only)" },
	{ K(limits, processes), "1.5", "bad number '1.5' for 'processes' (digits only)" },
	{ K(limits, processes), "2147483648", "'2147483648' is too large for 'processes'" },
	{ K(sandbox, protect), "maybe",
	  "unknown word 'maybe' for 'protect' (possible: yes, no, on, off, true, false)" },
	{ K(sandbox, protect), "True",
	  "unknown word 'True' for 'protect' (did you mean 'true'? possible: yes, no, on, off, "
	  "true, false)" },
	{ K(sandbox, protect), "1",
	  "unknown word '1' for 'protect' (possible: yes, no, on, off, true, false)" },
	{ K(sandbox, tmp), "privat",
	  "unknown word 'privat' for 'tmp' (did you mean 'private'? possible: private, shared, "
	  "none)" },
	{ K(sandbox, tmp), "SHARED",
	  "unknown word 'SHARED' for 'tmp' (did you mean 'shared'? possible: private, shared, "
	  "none)" },
	{ K(sandbox, tmp), "elsewhere",
	  "unknown word 'elsewhere' for 'tmp' (possible: private, shared, none)" },
	{ K(sandbox, tmp), "", "unknown word '' for 'tmp' (possible: private, shared, none)" },
	{ K(sandbox, tmp), "private|shared",
	  "unknown word 'private|shared' for 'tmp' (possible: private, shared, none)" },
	{ K(sandbox, require), "landlcok",
	  "unknown word 'landlcok' for 'require' (did you mean 'landlock'? possible: landlock, "
	  "seccomp, notify, userns, netns)" },
	{ K(path, mode), "wr",
	  "unknown word 'wr' for 'mode' (did you mean 'rw'? possible: none, ro, rw, rx, rwx)" },
	{ K(sandbox, user), "",
	  "bad name '' for 'user' (letters, digits, '_', '.' and '-', not beginning with '-')" },
	{ K(sandbox, user), "-rf",
	  "bad name '-rf' for 'user' (letters, digits, '_', '.' and '-', not beginning with '-')" },
	{ K(sandbox, user), "a b",
	  "bad name 'a b' for 'user' (letters, digits, '_', '.' and '-', not beginning with '-')" },
	{ K(path, suffixes), "md", "bad suffix 'md' for 'suffixes' (it begins with a dot: .md)" },
	{ K(path, suffixes), ".", "bad suffix '.' for 'suffixes' (it begins with a dot: .md)" },
	{ K(path, suffixes), "", "bad suffix '' for 'suffixes' (it begins with a dot: .md)" },
	{ K(path, suffixes), "*.md",
	  "bad suffix '*.md' for 'suffixes' (it stands for the end of a name: .md, not *.md)" },
	{ K(path, suffixes), ".md ?",
	  "bad suffix '.md ?' for 'suffixes' (it stands for the end of a name: .md, not *.md)" },
	{ K(path, suffixes), "./md",
	  "bad suffix './md' for 'suffixes' (it is the end of a name, without '/')" },
	{ K(network, dns), "", "bad address '' for 'dns' (" ADDRESS_HINT ")" },
	{ K(network, dns), "dns.example",
	  "bad address 'dns.example' for 'dns' (" ADDRESS_HINT ")" },
	{ K(network, dns), "1.1.1", "bad address '1.1.1' for 'dns' (" ADDRESS_HINT ")" },
	{ K(network, dns), "1.1.1.1:", "bad address '1.1.1.1:' for 'dns' (" ADDRESS_HINT ")" },
	{ K(network, dns), "1.1.1.1:0", "bad address '1.1.1.1:0' for 'dns' (" ADDRESS_HINT ")" },
	{ K(network, dns), "1.1.1.1:65536",
	  "bad address '1.1.1.1:65536' for 'dns' (" ADDRESS_HINT ")" },
	{ K(network, dns), "1.1.1.1:4294967349",
	  "bad address '1.1.1.1:4294967349' for 'dns' (" ADDRESS_HINT ")" },
	{ K(network, dns), "1.1.1.1:53x",
	  "bad address '1.1.1.1:53x' for 'dns' (" ADDRESS_HINT ")" },
	{ K(network, dns), "[1.1.1.1]:53",
	  "bad address '[1.1.1.1]:53' for 'dns' (" ADDRESS_HINT ")" },
	{ K(network, dns), "[::1", "bad address '[::1' for 'dns' (" ADDRESS_HINT ")" },
	{ K(network, dns), "[", "bad address '[' for 'dns' (" ADDRESS_HINT ")" },
	{ K(network, dns), "[::1]53", "bad address '[::1]53' for 'dns' (" ADDRESS_HINT ")" },
	{ K(network, proxy), "proxy.example.org:3128",
	  "bad URL for 'proxy' (it begins with http://, https://, socks5:// or socks5h://)" },
	{ K(network, proxy), "ftp://user:secret@host",
	  "bad URL for 'proxy' (it begins with http://, https://, socks5:// or socks5h://)" },
	{ K(network, proxy), "",
	  "bad URL for 'proxy' (it begins with http://, https://, "
	  "socks5:// or socks5h://)" },
	{ K(network, proxy), "http://",
	  "bad URL for 'proxy' (no host: http://proxy.example.org:3128)" },
	{ K(network, proxy), "http://:3128",
	  "bad URL for 'proxy' (no host: http://proxy.example.org:3128)" },
	{ K(network, proxy), "http://user:secret@",
	  "bad URL for 'proxy' (no host: http://proxy.example.org:3128)" },
	{ K(network, proxy), "http://127.1:80",
	  "bad URL for 'proxy' (no host: http://proxy.example.org:3128)" },
	{ K(network, proxy), "http://a@b@host",
	  "bad URL for 'proxy' (one '@' ends USER:PASSWORD; another one is written %40)" },
	{ K(network, proxy), "http://@host",
	  "bad URL for 'proxy' (one '@' ends USER:PASSWORD; another one is written %40)" },
	{ K(network, proxy),
	  "http://host:", "bad URL for 'proxy' (the port is a number from 1 to 65535)" },
	{ K(network, proxy), "http://host:0",
	  "bad URL for 'proxy' (the port is a number from 1 to 65535)" },
	{ K(network, proxy), "http://host:65536",
	  "bad URL for 'proxy' (the port is a number from 1 to 65535)" },
	{ K(network, proxy), "http://host:00000000080",
	  "bad URL for 'proxy' (the port is a number from 1 to 65535)" },
	{ K(network, proxy), "http://[::1]x",
	  "bad URL for 'proxy' (the port is a number from 1 to 65535)" },
	{ K(network, proxy), "http://::1:3128",
	  "bad URL for 'proxy' (no host: http://proxy.example.org:3128)" },
	{ K(network, proxy), "http://[::1",
	  "bad URL for 'proxy' (an IPv6 address stands in brackets: http://[::1]:3128)" },
	{ K(network, proxy), "http://[127.0.0.1]:80",
	  "bad URL for 'proxy' (an IPv6 address stands in brackets: http://[::1]:3128)" },
	{ K(network, proxy), "http://host:80/path",
	  "bad URL for 'proxy' (nothing follows host and port: http://proxy.example.org:3128)" },
	{ K(network, proxy), "http://host:80?q",
	  "bad URL for 'proxy' (nothing follows host and port: http://proxy.example.org:3128)" },
	{ K(network, proxy), "http://ho st",
	  "bad URL for 'proxy' (blanks and special characters are written %20)" },
	{ K(syscalls, allow), "Open", "bad system call 'Open' for 'allow' (" SYSCALL_HINT ")" },
	{ K(syscalls, allow), "@", "bad system call '@' for 'allow' (" SYSCALL_HINT ")" },
	{ K(syscalls, allow), "@@a", "bad system call '@@a' for 'allow' (" SYSCALL_HINT ")" },
	{ K(syscalls, deny), "a b", "bad system call 'a b' for 'deny' (" SYSCALL_HINT ")" },
	{ K(env, pass), "A-B", "bad variable 'A-B' for 'pass' (" PATTERN_HINT ")" },
	{ K(env, pass), "1A", "bad variable '1A' for 'pass' (" PATTERN_HINT ")" },
	{ K(env, pass), "A?", "bad variable 'A?' for 'pass' (" PATTERN_HINT ")" },
	{ K(env, pass), "TOKEN=hush", "bad variable 'TOKEN' for 'pass' (a name, without '=')" },
	{ K(env, secret), "A*", "bad variable 'A*' for 'secret' (" VARIABLE_HINT ")" },
	{ K(env, secret), "", "bad variable '' for 'secret' (" VARIABLE_HINT ")" },
	{ K(env, secret), "TOKEN=hush", "bad variable 'TOKEN' for 'secret' (a name, without '=')" },
	{ K(env, set), "hush", "no '=' in an item of 'set' (NAME=VALUE)" },
	{ K(env, set), "=hush", "bad variable '' for 'set' (" VARIABLE_HINT ")" },
	{ K(env, set), "A B=hush", "bad variable 'A B' for 'set' (" VARIABLE_HINT ")" },
	{ K(env, set), "1A=hush", "bad variable '1A' for 'set' (" VARIABLE_HINT ")" },
	{ K(test, allow), "raed ./x",
	  "unknown operation 'raed' for 'allow' (did you mean 'read'? possible: " OPS ")" },
	{ K(test, refuse), "fly away", "unknown operation 'fly' for 'refuse' (possible: " OPS ")" },
	{ K(test, allow), "", "unknown operation '' for 'allow' (possible: " OPS ")" },
	{ K(test, allow), "read", "bad case 'read' for 'allow' (OP TARGET, such as read ./file)" },
	{ K(test, allow), "read ",
	  "bad case 'read ' for 'allow' (OP TARGET, such as read ./file)" },
	{ K(network, connect), "example.org",
	  "bad destination 'example.org' for 'connect': a port is needed (host:443, "
	  "host:8000-8100 or host:*)" },
	{ K(network, connect), "example.org:0",
	  "bad destination 'example.org:0' for 'connect': port 0 is for bind only" },
	{ K(network, bind), "unix:/run/x",
	  "bad destination 'unix:/run/x' for 'bind': a socket file is allowed by its folder "
	  "(write = FOLDER in [paths])" },
	{ K(network, bind), "80",
	  "bad destination '80' for 'bind': a port is needed (127.0.0.1:8080, [::1]:8080 or "
	  "*:8080)" },
	{ K(network, bind), "[::1]",
	  "bad destination '[::1]' for 'bind': a port is needed (127.0.0.1:8080, [::1]:8080 or "
	  "*:8080)" },
	{ K(network, bind), ":80",
	  "bad destination ':80' for 'bind': an address is needed (127.0.0.1:8080, [::1]:8080 or "
	  "*:8080)" },
	{ K(network, connect), ":80",
	  "bad destination ':80' for 'connect': a host is needed (host:443, or *:443 for any)" },
	{ K(paths, read), "", "'read' has an empty value" },
	{ K(sandbox, workdir), "", "'workdir' has an empty value" },
	{ K(sandbox, include), "", "'include' has an empty value" },
	{ K(sandbox, user), "a\x1b[31mb",
	  "bad name 'a\\x1b[31mb' for 'user' (letters, digits, '_', '.' and '-', not beginning "
	  "with '-')" },
	{ K(limits, processes), LONG_TEXT "bbbbbbbbbb",
	  "bad number '" LONG_TEXT "bbbbbb…' for 'processes' (digits only)" },
};

static void test_values(void)
{
	char why[256], shown[SBX_SHOWN_MAX];
	uint64_t value;

	for (size_t i = 0; i < COUNT(accepted); i++) {
		value = 99;
		is(sbx_value_parse(accepted[i].key, accepted[i].text, &value, why), NULL,
		   "%s = %s is accepted", sbx_keys[accepted[i].key].name, accepted[i].text);
		cmp_ok((intmax_t)value, "==", (intmax_t)accepted[i].value, "and means %ju",
		       (uintmax_t)accepted[i].value);
	}
	value = 99;
	for (size_t i = 0; i < COUNT(refused); i++)
		is(sbx_value_parse(refused[i].key, refused[i].text, &value, why), refused[i].why,
		   "%s = %s is refused in words", sbx_keys[refused[i].key].name,
		   sbx_shown(refused[i].text, strlen(refused[i].text), shown));
	cmp_ok((intmax_t)value, "==", 99, "a refused value leaves the result alone");
}

/* Whatever the text, a complaint fits its buffer, and every preset is a good value. */
static void test_every_key(void)
{
	char text[400];
	bool fits = true;

	memset(text, '\xff', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (unsigned int key = 0; key < SBX_KEY_COUNT; key++) {
		const struct sbx_keyinfo *info = &sbx_keys[key];
		uint64_t value;
		char why[256];

		if (sbx_value_parse((enum sbx_key)key, text, &value, why))
			fits = fits && strlen(why) < 256 && why[strlen(why) - 1] != '\xff';
		cmp_ok(sbx_key_find(info->section, info->name), "==", key,
		       "%s in [%s] is found in the table", info->name, info->section);
		if (*info->preset)
			is(sbx_value_parse((enum sbx_key)key, info->preset, &value, why), NULL,
			   "the preset of %s in [%s] is a good value", info->name, info->section);
		ok((info->type == SBX_TYPE_WORD || info->type == SBX_TYPE_WORDS) == !!*info->words,
		   "%s in [%s] has words exactly when its type needs them", info->name,
		   info->section);
	}
	ok(fits, "400 bytes that are not UTF-8 make a complaint that fits");
}

static void test_tables(void)
{
	cmp_ok(sbx_key_find("paths", "raed"), "==", SBX_KEY_COUNT, "an unknown key is not found");
	cmp_ok(sbx_key_find("path", "read"), "==", SBX_KEY_COUNT, "nor a key of another section");
	is(sbx_key_near("paths", "raed"), "read", "'raed' is like 'read'");
	is(sbx_key_near("paths", "READ"), "read",
	   "case is no distance when something is suggested");
	is(sbx_key_near("path", "max-file-bytes"), "max_file_bytes", "nor is a hyphen much");
	is(sbx_key_near("paths", "connect"), NULL, "other sections' keys are not suggested");
	is(sbx_key_near("paths", ""), NULL, "nothing is like the empty word");
	is(sbx_key_near("errors", "x"), NULL, "one letter is like nothing");
	is(sbx_key_near("paths", LONG_TEXT), NULL, "a very long word is like nothing");
	is(sbx_section_near("pahts"), "paths", "'pahts' is like 'paths'");
	is(sbx_section_near("Network"), "network", "'Network' is like 'network'");
	is(sbx_section_near("zebra"), NULL, "'zebra' is like no section");
	ok(sbx_type_is_list(SBX_TYPE_PATHS) && !sbx_type_is_list(SBX_TYPE_PATH),
	   "types know whether they are lists");
}

static void test_distance(void)
{
	static const struct {
		const char *a;
		const char *b;
		unsigned int distance;
	} rows[] = {
		{ "", "", 0 },		{ "read", "read", 0 }, { "", "read", 4 },
		{ "read", "raed", 1 },	{ "read", "red", 1 },  { "read", "reead", 1 },
		{ "read", "road", 1 },	{ "read", "Read", 1 }, { "ab", "ba", 1 },
		{ "ca", "abc", 3 },	{ "abcd", "badc", 2 }, { "kitten", "sitting", 3 },
		{ "read", "write", 4 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		cmp_ok(sbx_distance(rows[i].a, rows[i].b), "==", rows[i].distance,
		       "from '%s' to '%s' it is %u", rows[i].a, rows[i].b, rows[i].distance);
		cmp_ok(sbx_distance(rows[i].b, rows[i].a), "==", rows[i].distance, "and back");
	}
	cmp_ok(sbx_distance(LONG_TEXT, LONG_TEXT), ">", 60, "words beyond 64 bytes are far apart");
	ok(sbx_distance_is_near(1, 4) && !sbx_distance_is_near(2, 4), "one letter of four is near");
	ok(sbx_distance_is_near(2, 6) && !sbx_distance_is_near(3, 6), "two of six are near");
	ok(sbx_distance_is_near(3, 9) && !sbx_distance_is_near(4, 9), "three of nine are near");
	ok(!sbx_distance_is_near(1, 1), "a word that changed wholly is not near");
}

static void test_words(void)
{
	char out[8] = "kept";

	ok(sbx_word_at("a|bc|def", 0, out, sizeof(out)), "there is a first word");
	is(out, "a", "and it is 'a'");
	ok(sbx_word_at("a|bc|def", 2, out, sizeof(out)), "there is a third word");
	is(out, "def", "and it is 'def'");
	ok(!sbx_word_at("a|bc|def", 3, out, sizeof(out)), "there is no fourth word");
	ok(!sbx_word_at("", 0, out, sizeof(out)), "no words, no first word");
	ok(!sbx_word_at("wordword", 0, out, sizeof(out)), "a word that does not fit is not cut");
	is(out, "def", "and the buffer is left alone");
}

static void test_shown(void)
{
	uint32_t point;
	static const struct {
		const char *text;
		const char *shown;
	} rows[] = {
		{ "plain", "plain" },
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "\xf0\x9f\x90\x8b", "\xf0\x9f\x90\x8b" },
		{ "a\nb\tc\x7f", "a\\x0a"
				 "b\\x09"
				 "c\\x7f" },
		{ "\x1b[2J", "\\x1b[2J" },
		{ "\xff\xfe", "\\xff\\xfe" },
		{ "\xc3", "\\xc3" },
		{ "\xc0\xaf", "\\xc0\\xaf" },
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" },
		{ "\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80" },
		{ "\xc2\x9b", "\\xc2\\x9b" },
		{ "a\xe2\x80\xae"
		  "b",
		  "a\\xe2\\x80\\xae"
		  "b" },
		{ "\xe2\x80\x8b", "\\xe2\\x80\\x8b" },
		{ "\xef\xbb\xbfread", "\\xef\\xbb\\xbfread" },
		{ "\xf3\xa0\x81\x81", "\\xf3\\xa0\\x81\\x81" },
		{ LONG_TEXT "123456", LONG_TEXT "123456" },
		{ LONG_TEXT "1234567", LONG_TEXT "123456…" },
		{ LONG_TEXT "12345\xc3\xbc", LONG_TEXT "12345…" },
		{ LONG_TEXT "123\x01", LONG_TEXT "123…" },
	};
	char out[SBX_SHOWN_MAX];

	for (size_t i = 0; i < COUNT(rows); i++)
		is(sbx_shown(rows[i].text, strlen(rows[i].text), out), rows[i].shown,
		   "text is shown as '%s'", rows[i].shown);
	is(sbx_shown("a\0b", 3, out), "a\\x00b", "a NUL is shown");
	cmp_ok((intmax_t)sbx_utf8_decode("\xe2\x82\xac", 3, &point), "==", 3,
	       "a euro sign has three bytes");
	cmp_ok((intmax_t)sbx_utf8_decode("\xe2\x82\xac", 2, &point), "==", 0,
	       "and two of them are nothing");
	cmp_ok((intmax_t)sbx_utf8_decode("", 0, &point), "==", 0, "no bytes, no character");
}

int main(void)
{
	plan(NO_PLAN);
	test_values();
	test_every_key();
	test_tables();
	test_distance();
	test_words();
	test_shown();
	done_testing();
}
