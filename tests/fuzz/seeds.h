/* SPDX-License-Identifier: MIT */
/*
 * Policies whose images the fuzzing of images starts from, with requests that go well with them.
 * They name only places that any machine might have, and nothing of the one they are compiled on.
 *
 * A request is a line: an operation's letter, 'a' being the first of enum sbx_op; a letter whose
 * bits, counted from 'a', say is_dir, new_repo, "a large file" and "given otherwise"; and the
 * target, with TAB and a second one for a rename.
 */
#ifndef SEEDS_H
#define SEEDS_H

#define SHORT "/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a"
#define LONG SHORT SHORT SHORT SHORT

static const struct {
	const char *name;
	const char *policy;
	const char *requests;
} seeds[] = {
	{ "smallest", "[sandbox]\nprotect = no\n[paths]\nread = /usr\n",
	  "aa/usr/bin/env\nba/usr/bin/env\naa/etc/passwd\nha/usr/bin/env\nia10.0.0.1:443\n" },
	{ "paths",
	  "[sandbox]\nworkspace = /usr\nprotect = no\ncomplain = exec\n"
	  "[paths]\nread = /srv/data, /etc/ssl ?\nwrite = /srv/out, /var/new/deep\n"
	  "exec = /usr/bin\ndeny = /srv/data/raw\nhide = /srv/data/raw/keys\n",
	  "aa/srv/data/a.csv\naa/srv/data/raw/a\naa/srv/data/raw/keys/a\nda/var/new\ndb/var/new\n"
	  "fa/srv/out/a\t/usr/b\nca/srv/out\nea/srv/data/a\nga/srv/out/a\nha/srv/out/run\n" },
	{ "globs",
	  "[sandbox]\nprotect = no\n[paths]\nread = /srv/**/*.md, /srv/*/doc, /srv/a?c*e\n"
	  "write = /srv/**/test_*, /srv/**/build/**/obj\ndeny = /**/*.key, /srv/**/.git/h*s\n",
	  "aa/srv/x/y.md\nba/srv/x/test_1/a\naa/srv/x/a.key\naa/srv/x/doc/a\naa/srv/abcde\n"
	  "ba/srv/build/a/b/obj/c\naa/srv/.git/hooks\naa/srv//./x/../y.md\n" },
	{ "protections", "[sandbox]\nworkspace = /usr\n[paths]\nwrite = /srv/.bashrc\n",
	  "ba/usr/.git/hooks/pre-commit\nbc/usr/.git/config\nba/srv/.bashrc\nba/usr/.npmrc\n" },
	{ "section",
	  "[sandbox]\nprotect = no\n[path reports]\nroot = /srv/reports\nmode = rw\n"
	  "suffixes = .md, .pdf\nmax_file_bytes = 10M\nreason = \"only reports, \\\"final\\\" "
	  "ones\"\n"
	  "[path none]\nroot = /srv/reports/raw\nmode = none\n",
	  "aa/srv/reports/a.md\naa/srv/reports/a.exe\nae/srv/reports/a.md\naa/srv/reports/raw/"
	  "a.md\n"
	  "ca/srv/reports\n" },
	{ "network",
	  "[sandbox]\nprotect = no\n[network]\n"
	  "connect = api.example.org:443, *.example.com:8000-8100, 10.0.0.0/8:5432, [fd00::/8]:*\n"
	  "connect = localhost:6379, unix:/run/app.sock\ndeny = *:25, unix:/run/app.sock/no\n"
	  "bind = 127.0.0.1:8080\nown = no\n",
	  "iaapi.example.org:443\niawww.example.com:8001\nia10.1.2.3:5432\nia[fd00::1]:22\n"
	  "iaunix:/run/"
	  "app.sock\nja127.0.0.1:8080\nja0.0.0.0:80\nkaapi.example.org\nkaevil.example\n"
	  "ia8.8.8.8:25\niaunix:/run/app.sock/"
	  "no\nibapi.example.org:443\nia[::]:6379\nia0.0.0.0:6379\n"
	  "ia[::ffff:10.1.2.3]:5432\njaunix:/run/new.sock\n" },
	{ "off", "[sandbox]\nprotect = no\n[network]\nmode = none\n[errors]\nsuggest = yes\n",
	  "iaapi.example.org:443\nja127.0.0.1:8080\nja127.0.0.1:80\nkalocalhost\nia10.0.0.1:1\n"
	  "aa/tmp/x\nba/var/tmp/x\n" },
	{ "open", "[sandbox]\nprotect = no\ncomplain = paths, network\n[network]\nmode = full\n",
	  "iaapi.example.org:443\nka8.8.8.8\naa/etc/passwd\nia[::1]:1\n" },
	{ "many",
	  "[paths]\nread = /srv/a, /srv/b, /srv/c, /srv/d, /srv/e, /srv/f, /srv/g, /srv/h, /srv/i\n"
	  "read = /srv/a, /srv/j, /srv/k, /srv/l\nwrite = /srv/m/n/o/p\ndeny = /srv/m/n/o/p/q/*/r\n"
	  "[sandbox]\nprotect = no\n",
	  "aa/etc/passwd\nba/etc/passwd\nfa/srv/m/n/o/p/q\t/srv/m/n/o/p/s\nai/srv/a/x\ndb/srv/m/n\n"
	  "aa/home/user/.ssh/id_rsa\nfa/srv/m/n/o/p/x\t/srv/a/x\n" },
	/* Every 'Z' becomes an escape, which no policy file can hold. */
	{ "hostile",
	  "[sandbox]\nprotect = no\n[path aZ]\nroot = /srv/Za\nmode = rw\nsuffixes = .Zmd, .pdf\n"
	  "max_file_bytes = 10\nreason = whyZ\n[paths]\nread = /srv/b/Z\ndeny = /srv/c/*Z\n"
	  "[network]\nconnect = unix:/run/Z\n",
	  "aa/srv/\x1b"
	  "a/a.exe\nae/srv/\x1b"
	  "a/a.pdf\naa/srv/x\naa/srv/c/\x1b\niaunix:/run/\x1b\n"
	  "iaunix:/run/x\nba/srv/b/\x1b\n" },
	/* Gets many places that all lead to each other: 37 KB in which a walk takes minutes. */
	{ "crowd", "[sandbox]\nprotect = no\n[paths]\nread = /srv/*/b\n",
	  "aa" LONG LONG LONG LONG "\n" },
	/* The profile's own path is of this run, so that this one is not for the corpus. */
	{ "", "[sandbox]\ninclude = node\nprotect = no\n[paths]\nread = /srv/a ?\n",
	  "aa/etc/passwd\nha/etc/passwd\nba/etc/passwd\nia10.0.0.1:1\n" },
};

#endif
