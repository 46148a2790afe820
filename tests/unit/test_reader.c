/* SPDX-License-Identifier: MIT */
/*
 * What the line reader makes of a policy file: each row is a file and everything that is reported
 * about it, in order. Nothing of what inih alone would misread may pass, or be misread.
 */
#include "reader.h"

#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tap.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Everything reported, one line each: "3 paths.read <./a>", "3 [name]", "3! complaint". */
struct log {
	char text[8192];
	size_t len;
	size_t entries;
	size_t sections;
	size_t errors;
};

static void put(struct log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct log *log, const char *format, ...)
{
	va_list args;

	if (log->len + 1 == sizeof(log->text))
		return;
	va_start(args, format);
	vsnprintf(log->text + log->len, sizeof(log->text) - log->len, format, args);
	va_end(args);
	log->len += strlen(log->text + log->len);
}

static void on_entry(void *arg, const struct sbx_entry *entry)
{
	struct log *log = arg;

	log->entries++;
	put(log, "%u %s.%s <%s>", entry->line, sbx_keys[entry->key].section,
	    sbx_keys[entry->key].name, entry->text);
	if (*entry->name)
		put(log, " of %s:%u", entry->name, entry->section_line);
	put(log, "%s%s\n", entry->quoted ? " quoted" : "", entry->optional ? " optional" : "");
}

static void on_section(void *arg, unsigned int line, const char *name)
{
	struct log *log = arg;

	log->sections++;
	put(log, "%u [%s]\n", line, name);
}

static void on_error(void *arg, unsigned int line, const char *text)
{
	struct log *log = arg;

	log->errors++;
	put(log, "%u! %s\n", line, text);
}

static const struct sbx_reader_ops ops = { on_entry, on_section, on_error };

struct row {
	const char *name;
	const char *text;
	size_t size;
	const char *log;
};

/* The text may hold NUL bytes. */
#define TEXT(text) text, sizeof(text) - 1
#define X10 "xxxxxxxxxx"
#define X50 X10 X10 X10 X10 X10
#define X190 X50 X50 X50 X10 X10 X10 X10

static const struct row accepted[] = {
	{ "what merely has no width may stand in a comment", TEXT("# a \xef\xb8\x8f b\n"), "" },
	{ "an empty file says nothing", TEXT(""), "" },
	{ "empty lines and lines of blanks say nothing", TEXT("\n \n\t \t\n\r\n  \r\n"), "" },
	{ "comments say nothing", TEXT("# [paths]\n; read = ./a\n#\n;\n#\tgr\xc3\xbc\xc3\x9f"),
	  "" },
	{ "a scalar is read", TEXT("[sandbox]\nuser = nobody\n"), "2 sandbox.user <nobody>\n" },
	{ "the last line needs no newline", TEXT("[sandbox]\nuser = nobody"),
	  "2 sandbox.user <nobody>\n" },
	{ "blanks around '=' are free", TEXT("[sandbox]\nuser\t =nobody\nworkspace=.\n"),
	  "2 sandbox.user <nobody>\n3 sandbox.workspace <.>\n" },
	{ "blanks at the end of a line are dropped", TEXT("[sandbox] \t\nuser = nobody \t\n"),
	  "2 sandbox.user <nobody>\n" },
	{ "CRLF ends a line", TEXT("[sandbox]\r\nuser = nobody\r\nworkspace = a, b\r\n"),
	  "2 sandbox.user <nobody>\n3 sandbox.workspace <a>\n3 sandbox.workspace <b>\n" },
	{ "a BOM at the very start is skipped", TEXT("\xef\xbb\xbf[sandbox]\nuser = nobody\n"),
	  "2 sandbox.user <nobody>\n" },
	{ "a BOM alone is an empty file", TEXT("\xef\xbb\xbf"), "" },
	{ "a list is split at its commas", TEXT("[paths]\nread = ./a,./b , ./c d\n"),
	  "2 paths.read <./a>\n2 paths.read <./b>\n2 paths.read <./c d>\n" },
	{ "a list key may repeat, and so may a section",
	  TEXT("[paths]\nread = a\n[sandbox]\n[paths]\nread = b\n"),
	  "2 paths.read <a>\n5 paths.read <b>\n" },
	{ "a scalar is not split", TEXT("[path a]\nreason = one, two,, three,\n"),
	  "1 [a]\n2 path.reason <one, two,, three,> of a:1\n" },
	{ "a scalar may begin with a comma", TEXT("[path a]\nreason = , or so\n"),
	  "1 [a]\n2 path.reason <, or so> of a:1\n" },
	{ "quotes keep commas, comments' signs, blanks and '=' as they are",
	  TEXT("[paths]\nread = \" a, b ;c #d = e \", \"f\"\n"),
	  "2 paths.read < a, b ;c #d = e > quoted\n2 paths.read <f> quoted\n" },
	{ "quotes keep tabs", TEXT("[paths]\nread = \"\ta\tb\t\"\n"),
	  "2 paths.read <\ta\tb\t> quoted\n" },
	{ "in quotes, a quote and a backslash are escaped",
	  TEXT("[paths]\nread = \"a\\\"b\\\\c\\\\\"\n"), "2 paths.read <a\"b\\c\\> quoted\n" },
	{ "outside quotes a backslash is itself", TEXT("[paths]\nread = a\\b\\, c\n"),
	  "2 paths.read <a\\b\\>\n2 paths.read <c>\n" },
	{ "a quoted scalar is read", TEXT("[path a]\nreason = \"a, b ; c\"\n"),
	  "1 [a]\n2 path.reason <a, b ; c> of a:1 quoted\n" },
	{ "an empty quoted text is a text", TEXT("[path a]\nreason = \"\"\n"),
	  "1 [a]\n2 path.reason <> of a:1 quoted\n" },
	{ "';' and '#' inside a word are part of it", TEXT("[paths]\nread = a;b, c#d\n"),
	  "2 paths.read <a;b>\n2 paths.read <c#d>\n" },
	{ "brackets, colons and '=' in a value are part of it",
	  TEXT("[network]\nconnect = [::1]:8080\n[env]\nset = A=b:c=d\n"),
	  "2 network.connect <[::1]:8080>\n4 env.set <A=b:c=d>\n" },
	{ "blank and question mark make a path optional",
	  TEXT("[paths]\nread = a ?, b\t ?,c?, \"d e\" ?, ?\n[sandbox]\nworkdir = x ?\n"),
	  "2 paths.read <a> optional\n2 paths.read <b> optional\n2 paths.read <c?>\n"
	  "2 paths.read <d e> quoted optional\n2 paths.read <?>\n4 sandbox.workdir <x> "
	  "optional\n" },
	{ "a question mark inside quotes is part of the name", TEXT("[paths]\nread = \"a ?\"\n"),
	  "2 paths.read <a ?> quoted\n" },
	{ "a question mark ends a text like any letter", TEXT("[path a]\nreason = why ?\n"),
	  "1 [a]\n2 path.reason <why ?> of a:1\n" },
	{ "each [path NAME] has keys of its own",
	  TEXT("[path a]\nroot = x\nmode = ro\n[path b.c-d_1]\nroot = y\nmode = rw\n[path e]\n"),
	  "1 [a]\n2 path.root <x> of a:1\n3 path.mode <ro> of a:1\n4 [b.c-d_1]\n"
	  "5 path.root <y> of b.c-d_1:4\n6 path.mode <rw> of b.c-d_1:4\n7 [e]\n" },
	{ "a name of 32 bytes is long enough", TEXT("[path " X10 X10 X10 "xx]\nmode = ro\n"),
	  "1 [" X10 X10 X10 "xx]\n2 path.mode <ro> of " X10 X10 X10 "xx:1\n" },
	{ "names of sections end with their section", TEXT("[path a]\n[paths]\nread = x\n"),
	  "1 [a]\n3 paths.read <x>\n" },
	{ "text that is not ASCII is kept", TEXT("[paths]\nread = ./gr\xc3\xbc\xc3\x9f\n"),
	  "2 paths.read <./gr\xc3\xbc\xc3\x9f>\n" },
	{ "an item may be as long as inih's lines allow", TEXT("[paths]\nread = " X190 "xxx\n"),
	  "2 paths.read <" X190 "xxx>\n" },
	{ "a line may be longer than inih's lines",
	  TEXT("[paths]\nread = " X50 "," X50 "," X50 "," X50 "," X50 "\n"),
	  "2 paths.read <" X50 ">\n2 paths.read <" X50 ">\n2 paths.read <" X50 ">\n"
	  "2 paths.read <" X50 ">\n2 paths.read <" X50 ">\n" },
	{ "a comment may be long, and its tail is still comment",
	  TEXT("[paths]\n# " X190 " no comma\nread = a\n;" X190 "xxxxxxxx[sandbox]\n; " X190
	       "xxxxxxread = evil\n"),
	  "3 paths.read <a>\n" },
	{ "a long run of blanks before a value is only blanks",
	  TEXT("[paths]\nread = "
	       "                                                                              "
	       "                                                                              "
	       "                                                                              "
	       "a\n"),
	  "2 paths.read <a>\n" },
};

static const struct row refused[] = {
	{ "an unknown key is answered with the nearest one", TEXT("[paths]\nraed = x\n"),
	  "2! unknown key 'raed' in [paths] (did you mean 'read'?)\n" },
	{ "an unknown key that is like nothing is only named", TEXT("[paths]\nzebra = x\n"),
	  "2! unknown key 'zebra' in [paths]\n" },
	{ "a key of another section is sent there", TEXT("[paths]\nconnect = x\n"),
	  "2! unknown key 'connect' in [paths] (it belongs in [network])\n" },
	{ "a key of several sections is sent to each of them", TEXT("[sandbox]\ndeny = x\n"),
	  "2! unknown key 'deny' in [sandbox] (it belongs in [paths] or [network] or "
	  "[syscalls])\n" },
	{ "a key of [path NAME] is sent there", TEXT("[paths]\nroot = x\n"),
	  "2! unknown key 'root' in [paths] (it belongs in [path NAME])\n" },
	{ "a section with a name is shown with it", TEXT("[path a]\nmod = x\n"),
	  "1 [a]\n2! unknown key 'mod' in [path a] (did you mean 'mode'?)\n" },
	{ "keys are told apart by case", TEXT("[paths]\nRead = x\n"),
	  "2! unknown key 'Read' in [paths] (did you mean 'read'?)\n" },
	{ "a quoted key is no key", TEXT("[paths]\n\"read\" = x\n"),
	  "2! unknown key '\"read\"' in [paths]\n" },
	{ "a key longer than inih's names is unknown", TEXT("[paths]\nread" X50 " = x\n"),
	  "2! unknown key 'read" X50 "' in [paths]\n" },
	{ "a key before any section is refused", TEXT("read = x\n"),
	  "1! key 'read' before any section (it belongs in [paths])\n" },
	{ "and so is an unknown one", TEXT("zebra = x\n"),
	  "1! unknown key 'zebra' before any section\n" },
	{ "an unknown section is answered with the nearest one, and its keys are not judged",
	  TEXT("[pahts]\nread = x\nzebra = y\n[paths]\nzebra = z\n"),
	  "1! unknown section 'pahts' (did you mean 'paths'?)\n5! unknown key 'zebra' in "
	  "[paths]\n" },
	{ "an unknown section that is like nothing is only named", TEXT("[zebra]\n"),
	  "1! unknown section 'zebra'\n" },
	{ "sections are told apart by case", TEXT("[Paths]\n"),
	  "1! unknown section 'Paths' (did you mean 'paths'?)\n" },
	{ "a misspelt [path NAME] is recognised", TEXT("[paht portfolio]\n"),
	  "1! unknown section 'paht portfolio' (did you mean 'path NAME'?)\n" },
	{ "only path takes a name", TEXT("[paths a]\n"),
	  "1! unknown section 'paths a' ([paths] takes no name)\n" },
	{ "an empty section is refused", TEXT("[]\n"), "1! empty section name '[]'\n" },
	{ "blanks beside the brackets are refused", TEXT("[ paths ]\nraed = x\n"),
	  "1! blank beside the brackets of '[paths]'\n"
	  "2! unknown key 'raed' in [paths] (did you mean 'read'?)\n" },
	{ "a section of blanks is empty", TEXT("[ ]\n"),
	  "1! blank beside the brackets of '[]'\n1! empty section name '[]'\n" },
	{ "a section must be closed, and its keys are not judged", TEXT("[paths\nread = x\n"),
	  "1! no ']' behind '[paths'\n" },
	{ "nothing may follow a section", TEXT("[paths] read = x\nraed = y\n"),
	  "1! text behind ']': 'read = x' (a comment is a line of its own)\n"
	  "2! unknown key 'raed' in [paths] (did you mean 'read'?)\n" },
	{ "not even a comment", TEXT("[paths] ; here\n"),
	  "1! text behind ']': '; here' (a comment is a line of its own)\n" },
	{ "[path] needs a name", TEXT("[path]\nroot = x\n"),
	  "1! section [path] needs a name ([path NAME])\n" },
	{ "that has no other characters", TEXT("[path a/b]\n"),
	  "1! bad name 'a/b' in [path NAME] (letters, digits, '_', '.' and '-', at most 32)\n" },
	{ "that has no blank", TEXT("[path a b]\n"),
	  "1! bad name 'a b' in [path NAME] (letters, digits, '_', '.' and '-', at most 32)\n" },
	{ "that has at most 32 bytes", TEXT("[path " X10 X10 X10 "xxx]\n"),
	  "1! bad name '" X10 X10 X10
	  "xxx' in [path NAME] (letters, digits, '_', '.' and '-', at most 32)\n" },
	{ "a [path NAME] cannot come twice", TEXT("[path a]\n[path b]\n[path a]\n"),
	  "1 [a]\n2 [b]\n3! section [path a] stands twice (first in line 1)\n3 [a]\n" },
	{ "two long sections that inih cannot tell apart are both unknown",
	  TEXT("[" X50 "a]\n[" X50 "b]\n"),
	  "1! unknown section '" X50 "a'\n2! unknown section '" X50 "b'\n" },
	{ "a scalar cannot be set twice",
	  TEXT("[limits]\n\ntimeout = 1\nmemory = 1\ntimeout = 2\n"),
	  "3 limits.timeout <1>\n4 limits.memory <1>\n5! 'timeout' is set twice (first in line "
	  "3)\n" },
	{ "not in a second part of its section either",
	  TEXT("[limits]\ntimeout = 1\n[paths]\n[limits]\ntimeout = 1\n"),
	  "2 limits.timeout <1>\n5! 'timeout' is set twice (first in line 2)\n" },
	{ "not in one [path NAME]", TEXT("[path a]\nmode = ro\nmode = rw\n"),
	  "1 [a]\n2 path.mode <ro> of a:1\n3! 'mode' is set twice (first in line 2)\n" },
	{ "the same name in two sections is two keys",
	  TEXT("[path a]\nmode = ro\n[network]\nmode = x"),
	  "1 [a]\n2 path.mode <ro> of a:1\n4! unknown word 'x' for 'mode' (possible: none, "
	  "filtered, full)\n" },
	{ "a colon is not '='", TEXT("[limits]\ntimeout: 60\n"),
	  "2! ':' instead of '=' behind 'timeout' (a line is: key = value)\n" },
	{ "not even with '=' behind it", TEXT("[env]\nset : CI=true\n"),
	  "2! ':' instead of '=' behind 'set' (a line is: key = value)\n" },
	{ "a line needs '='", TEXT("[paths]\nread ./a\n"),
	  "2! no '=' in 'read ./a' (a line is: key = value)\n" },
	{ "a line needs a key", TEXT("[paths]\n= x\n"), "2! no key before '='\n" },
	{ "a line needs a value", TEXT("[paths]\nread =\nwrite = \t\n"),
	  "2! 'read' has no value\n3! 'write' has no value\n" },
	{ "a list has no empty item in the middle", TEXT("[paths]\nread = a,,b\n"),
	  "2 paths.read <a>\n2! empty item in the list of 'read' (a comma too many?)\n" },
	{ "nor at the end", TEXT("[paths]\nread = a, \n"),
	  "2 paths.read <a>\n2! empty item in the list of 'read' (a comma too many?)\n" },
	{ "nor at the start", TEXT("[paths]\nread = ,a\n"),
	  "2! empty item in the list of 'read' (a comma too many?)\n" },
	{ "nor behind quotes", TEXT("[paths]\nread = \"a\",\n"),
	  "2 paths.read <a> quoted\n2! empty item in the list of 'read' (a comma too many?)\n" },
	{ "a path is not empty, quoted or not", TEXT("[paths]\nread = \"\"\n"),
	  "2! 'read' has an empty value\n" },
#define COMMENT_HINT "(a comment is a line of its own; quote the value if it belongs to it)"
	{ "a comment does not follow a value", TEXT("[paths]\nread = ./a ; why\n"),
	  "2! comment behind a value: '; why' " COMMENT_HINT "\n" },
	{ "with '#' neither", TEXT("[paths]\nread = ./a, ./b\t# why, oh why\n"),
	  "2 paths.read <./a>\n2! comment behind a value: '# why' " COMMENT_HINT "\n" },
	{ "a comment is no value", TEXT("[paths]\nread = # later\nwrite =;later\n"),
	  "2! comment behind a value: '# later' " COMMENT_HINT "\n"
	  "3! comment behind a value: ';later' " COMMENT_HINT "\n" },
	{ "a comment is no item", TEXT("[paths]\nread = a,#b\n"),
	  "2 paths.read <a>\n2! comment behind a value: '#b' " COMMENT_HINT "\n" },
	{ "a text has no comment behind it", TEXT("[path a]\nreason = so # so\n"),
	  "1 [a]\n2! comment behind a value: '# so' " COMMENT_HINT "\n" },
	{ "a quoted value has none either", TEXT("[path a]\nreason = \"so\" ; so\n"),
	  "1 [a]\n2! comment behind a value: '; so' " COMMENT_HINT "\n" },
	{ "text does not follow a closing quote", TEXT("[paths]\nread = \"a\" \"b\"\n"),
	  "2! text behind the closing quote: '\"b\"'\n" },
	{ "nor does it touch one", TEXT("[paths]\nread = \"a\"b, c\n"),
	  "2! text behind the closing quote: 'b, c'\n" },
	{ "a question mark must be apart from a closing quote", TEXT("[paths]\nread = \"a\"?\n"),
	  "2! text behind the closing quote: '?'\n" },
	{ "a quoted number cannot be optional", TEXT("[limits]\nmemory = \"1M\" ?\n"),
	  "2! text behind the closing quote: '?'\n" },
	{ "a quoted scalar is no list", TEXT("[path a]\nreason = \"a\", \"b\"\n"),
	  "1 [a]\n2! text behind the closing quote: ', \"b\"'\n" },
	{ "a quote must end on its line", TEXT("[paths]\nread = a, \"b, c\nwrite = d\"\n"),
	  "2 paths.read <a>\n2! unterminated quote: '\"b, c'\n"
	  "3! quote inside 'd\"' (put quotes around the whole item)\n" },
	{ "an escaped quote does not end it", TEXT("[paths]\nread = \"a\\\"\n"),
	  "2! unterminated quote: '\"a\\\"'\n" },
	{ "nor does half an escape", TEXT("[paths]\nread = \"a\\\n"),
	  "2! unterminated quote: '\"a\\'\n" },
	{ "other escapes are unknown", TEXT("[paths]\nread = \"a\\nb\"\n"),
	  "2! unknown escape '\\n' in quotes (only \\\" and \\\\)\n" },
	{ "also of letters that are not ASCII", TEXT("[paths]\nread = \"\\\xc3\xbc\"\n"),
	  "2! unknown escape '\\\xc3\xbc' in quotes (only \\\" and \\\\)\n" },
	{ "a quote stands around the whole item", TEXT("[env]\nset = A=\"b, c\"\n"),
	  "2! quote inside 'A=\"b' (put quotes around the whole item)\n" },
	{ "also around a whole text", TEXT("[path a]\nreason = say \"no\"\n"),
	  "1 [a]\n2! quote inside 'say \"no\"' (put quotes around the whole item)\n" },
	{ "what is denied need not be optional", TEXT("[paths]\ndeny = a ?, b\nhide = \"c\" ?\n"),
	  "2! 'deny' may name what does not exist; leave ' ?' away\n2 paths.deny <b>\n"
	  "3! 'hide' may name what does not exist; leave ' ?' away\n" },
	{ "an include cannot be optional", TEXT("[sandbox]\ninclude = node ?\n"),
	  "2! 'include' must exist; leave ' ?' away\n" },
	{ "a size cannot be optional", TEXT("[limits]\nmemory = 1M ?\n"),
	  "2! bad size '1M ?' for 'memory' (512k, 512M, 1G or 1T; a bare number is bytes)\n" },
	{ "every bad item of a list is reported, and the good ones are kept",
	  TEXT("[sandbox]\nrequire = landlok, seccomp, zebra\n"),
	  "2! unknown word 'landlok' for 'require' (did you mean 'landlock'? possible: landlock, "
	  "seccomp, notify, userns, netns)\n2 sandbox.require <seccomp>\n"
	  "2! unknown word 'zebra' for 'require' (possible: landlock, seccomp, notify, userns, "
	  "netns)\n" },
	{ "every bad line is reported",
	  TEXT("[paths]\nraed = x\nfoo\nread = ok\n[limits]\ntimeout = soon\n"),
	  "2! unknown key 'raed' in [paths] (did you mean 'read'?)\n"
	  "3! no '=' in 'foo' (a line is: key = value)\n4 paths.read <ok>\n"
	  "6! bad duration 'soon' for 'timeout' (500ms, 60s, 5m or 1h; a bare number is "
	  "seconds)\n" },
	{ "an indented line continues nothing", TEXT("[paths]\nread = a\n  /etc\n\t, b\n"),
	  "2 paths.read <a>\n3! blank before '/etc' (lines begin in the first column)\n"
	  "4! blank before ', b' (lines begin in the first column)\n" },
	{ "a comment or section is not indented either", TEXT(" # a\n\t[paths]\n"),
	  "1! blank before '# a' (lines begin in the first column)\n"
	  "2! blank before '[paths]' (lines begin in the first column)\n" },
	{ "a NUL hides nothing", TEXT("[paths]\nread = a\0, /etc\nwrite = b\n"),
	  "2! NUL byte in column 9 (a policy is plain text)\n3 paths.write <b>\n" },
	{ "not in a comment either", TEXT("#\0\n"),
	  "1! NUL byte in column 2 (a policy is plain text)\n" },
	{ "control characters are refused", TEXT("[paths]\nread = a\x1b[31m\n"),
	  "2! control character '\\x1b' in column 9\n" },
	{ "and the two that stand for blanks on the way to inih",
	  TEXT("[paths]\nread = a\001b\nread = \"a\002b\"\n"),
	  "2! control character '\\x01' in column 9\n3! control character '\\x02' in column 10\n" },
	{ "so is DEL", TEXT("#\x7f"), "1! control character '\\x7f' in column 2\n" },
	{ "so are form feeds and vertical tabs", TEXT("\f\n\v\n"),
	  "1! control character '\\x0c' in column 1\n2! control character '\\x0b' in column 1\n" },
	{ "so are C1 controls", TEXT("# \xc2\x9b\n"),
	  "1! control character '\\x9b' in column 3\n" },
	{ "a CR that is not followed by a newline is one", TEXT("[paths]\rread = a\r\r\n[paths]\r"),
	  "1! control character '\\x0d' in column 8\n2! control character '\\x0d' in column 8\n" },
	{ "what is not UTF-8 is refused", TEXT("[paths]\nread = gr\xfc\xdf\n# caf\xe9\n"),
	  "2! byte '\\xfc' in column 10 is not UTF-8\n3! byte '\\xe9' in column 6 is not UTF-8\n" },
	{ "overlong, surrogate and cut sequences are not UTF-8",
	  TEXT("#\xc0\xaf\n#\xed\xa0\x80\n#\xf4\x90\x80\x80\n#\xe2\x82\n"),
	  "1! byte '\\xc0' in column 2 is not UTF-8\n2! byte '\\xed' in column 2 is not UTF-8\n"
	  "3! byte '\\xf4' in column 2 is not UTF-8\n4! byte '\\xe2' in column 2 is not UTF-8\n" },
	{ "a BOM in another place is refused", TEXT("\n\xef\xbb\xbf[paths]\n"),
	  "2! invisible character U+FEFF in column 1\n" },
	{ "a second BOM too", TEXT("\xef\xbb\xbf\xef\xbb\xbf# a\n"),
	  "1! invisible character U+FEFF in column 1\n" },
	{ "letters that turn a line around are refused", TEXT("[\xe2\x80\xaeshtap]\n"),
	  "1! invisible character U+202E in column 2\n" },
	{ "in comments too", TEXT("# a \xe2\x80\xae b\n"),
	  "1! invisible character U+202E in column 5\n" },
	{ "but not in a value", TEXT("[paths]\ndeny = ./b\xe2\x80\x8b\n"),
	  "2! invisible character U+200B in column 11\n" },
	{ "nor may a blank that only looks like one", TEXT("[paths]\ndeny = ./secret\xc2\xa0\n"),
	  "2! invisible character U+00A0 in column 16\n" },
	{ "a destination is never optional", TEXT("[network]\ndeny = unix:/run/docker.sock ?\n"),
	  "2! 'deny' may name what is not there; leave ' ?' away\n" },
	{ "an item that inih cannot hold is refused with the limit",
	  TEXT("[paths]\nread = a, " X190 "xxxx, b\n"),
	  "2 paths.read <a>\n2! an item of 'read' is 194 bytes long (the limit is 193 bytes)\n"
	  "2 paths.read <b>\n" },
	{ "so is a scalar", TEXT("[path a]\nreason = " X190 "xx\n"),
	  "1 [a]\n2! 'reason' is 192 bytes long (the limit is 191 bytes)\n" },
	{ "a value that inih would cut into a live line is refused whole",
	  TEXT("[paths]\ndeny = " X190 "xx\\read = /etc/shadow\n"),
	  "2! an item of 'deny' is 211 bytes long (the limit is 193 bytes)\n" },
	{ "long words are cut in complaints", TEXT("[paths]\n" X190 " = x\n"),
	  "2! unknown key '" X50 X10 X10 "xxxxxx…' in [paths]\n" },
};

static int read_row(const struct row *row, struct log *log)
{
	/* In a block of its own size, so that a sanitizer sees every byte too far. */
	char *copy = malloc(row->size ? row->size : 1);
	int result;

	*log = (struct log){ .len = 0 };
	memcpy(copy, row->text, row->size);
	result = sbx_read_text(copy, row->size, &ops, log);
	free(copy);
	return result;
}

static void test_files(void)
{
	static struct log log;

	for (size_t i = 0; i < COUNT(accepted); i++) {
		int result = read_row(&accepted[i], &log);

		is(log.text, accepted[i].log, "%s", accepted[i].name);
		cmp_ok(result, "==", 0, "and nothing is wrong with it");
	}
	for (size_t i = 0; i < COUNT(refused); i++) {
		int result = read_row(&refused[i], &log);

		is(log.text, refused[i].log, "%s", refused[i].name);
		cmp_ok(result, "==", -EINVAL, "and the file is refused");
	}
}

static const struct {
	const char *name;
	enum sbx_key key;
	const char *value;
	const char *log;
} options[] = {
	{ "an option's list is split", SBX_KEY_paths_read, "a, \"b, c\", d ?",
	  "0 paths.read <a>\n0 paths.read <b, c> quoted\n0 paths.read <d> optional\n" },
	{ "an option's scalar is not", SBX_KEY_sandbox_workdir, " a, b ",
	  "0 sandbox.workdir <a, b>\n" },
	{ "an option's value has no limit of inih's", SBX_KEY_sandbox_workdir, X190 X190,
	  "0 sandbox.workdir <" X190 X190 ">\n" },
	{ "an option may come again", SBX_KEY_limits_timeout, "60s", "0 limits.timeout <60s>\n" },
	{ "an option's value is checked", SBX_KEY_limits_timeout, "soon",
	  "0! bad duration 'soon' for 'timeout' (500ms, 60s, 5m or 1h; a bare number is "
	  "seconds)\n" },
	{ "an option needs a value", SBX_KEY_paths_read, " ", "0! 'read' has no value\n" },
	{ "an option's list has no empty item", SBX_KEY_paths_read, "a,",
	  "0 paths.read <a>\n0! empty item in the list of 'read' (a comma too many?)\n" },
	{ "an option has no second line", SBX_KEY_paths_read, "a\nb",
	  "0! control character '\\x0a' in column 2\n" },
	{ "an option is UTF-8", SBX_KEY_paths_read, "\xff",
	  "0! byte '\\xff' in column 1 is not UTF-8\n" },
	{ "an option has no comment", SBX_KEY_paths_read, "a # b",
	  "0! comment behind a value: '# b' " COMMENT_HINT "\n" },
	{ "an option's quotes end", SBX_KEY_paths_read, "\"a", "0! unterminated quote: '\"a'\n" },
	{ "an option's deny cannot be optional", SBX_KEY_paths_deny, "a ?",
	  "0! 'deny' may name what does not exist; leave ' ?' away\n" },
};

static void test_options(void)
{
	static struct log log;

	for (size_t i = 0; i < COUNT(options); i++) {
		int result;

		log = (struct log){ .len = 0 };
		result = sbx_read_value(options[i].key, options[i].value, &ops, &log);
		is(log.text, options[i].log, "%s", options[i].name);
		cmp_ok(result, "==", log.errors ? -EINVAL : 0, "and its result says so");
	}
}

/* What another user of inih in this process could have set must not change what a policy means. */
static void test_settings_of_inih(void)
{
	static const struct row row = { "", TEXT("[paths]\nread = \"a ;b\"\n"), "" };
	static struct log log;
	char *prefixes = ini_start_comment_prefixes, *inline_prefixes = ini_inline_comment_prefixes;
	bool on_stack = ini_use_stack;
	int initial = ini_initial_alloc;

	ini_start_comment_prefixes = (char[]){ "r" };
	cmp_ok(read_row(&row, &log), "==", -EINVAL, "a line that inih drops is noticed");
	is(log.text, "2! the INI library misreads this line (nothing behind it was read)\n",
	   "and said");
	ini_start_comment_prefixes = (char[]){ "[" };
	cmp_ok(read_row(&row, &log), "==", -EINVAL, "a section that inih drops is noticed");
	is(log.text, "2! the INI library misreads this line (nothing behind it was read)\n",
	   "before a key can land in another one");
	ini_start_comment_prefixes = prefixes;
	ini_use_stack = false;
	ini_initial_alloc = 20;
	cmp_ok(read_row(&row, &log), "==", -EINVAL, "a buffer that is too small is noticed");
	is(log.text, "0! the INI library is set up for shorter lines than it was built for\n",
	   "and said");
	ini_use_stack = on_stack;
	ini_initial_alloc = initial;
	ini_inline_comment_prefixes = (char[]){ ";b" };
	ini_allow_multiline = false;
	cmp_ok(read_row(&row, &log), "==", 0, "other settings change nothing");
	is(log.text, "2 paths.read <a ;b> quoted\n", "at all");
	ini_inline_comment_prefixes = inline_prefixes;
	ini_allow_multiline = true;
}

/* 10 MB that begin with 'head' and repeat 'piece'. */
static char *flood(const char *head, const char *piece, size_t piece_len, size_t size)
{
	char *text = malloc(size + piece_len);
	size_t at = strlen(head);

	memcpy(text, head, at);
	for (; at < size; at += piece_len)
		memcpy(text + at, piece, piece_len);
	return text;
}

static void test_floods(void)
{
	static const struct {
		const char *name;
		const char *head;
		const char *piece;
		size_t len;
	} rows[] = {
		{ "one line of letters", "", TEXT("a") },
		{ "one line of NULs", "", TEXT("\0") },
		{ "bytes that are not UTF-8", "", TEXT("\xff\n") },
		{ "opening brackets", "", TEXT("[") },
		{ "sections", "", TEXT("[a]\n") },
		{ "equal signs", "[paths]\n", TEXT("=") },
		{ "quotes", "[paths]\nread = ", TEXT("\"") },
		{ "backslashes in quotes", "[paths]\nread = \"", TEXT("\\\\") },
		{ "commas", "[paths]\nread = a", TEXT(",") },
		{ "blanks and commas", "[paths]\nread = a", TEXT(" ,") },
		{ "blanks behind a comma", "[paths]\nread = x, ", TEXT(" ") },
		{ "bad items", "[network]\nconnect = x", TEXT(",x") },
		{ "items that are too long by far", "[paths]\nread = x", TEXT("x") },
		{ "unknown keys", "[paths]\n", TEXT("raed = x\n") },
		{ "keys that are set twice", "[limits]\n", TEXT("cpu = 1\n") },
		{ "sections of one name", "", TEXT("[path a]\n") },
		{ "newlines and one letter", "a", TEXT("\n") },
		{ "long comments and one letter", "a\n#", TEXT("x") },
	};
	static struct log log;
	const size_t size = 10 << 20;

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *text = flood(rows[i].head, rows[i].piece, rows[i].len, size);
		int result;

		log = (struct log){ .len = 0 };
		result = sbx_read_text(text, size, &ops, &log);
		cmp_ok(result, "==", -EINVAL, "10 MB of %s are refused", rows[i].name);
		ok(log.errors <= 1001, "with at most a thousand errors and one to end them");
		free(text);
	}
}

/* In time that grows with their number; with its square, this would take hours. */
static void test_many(void)
{
	static struct log log;
	const size_t count = 100000;
	char *text = malloc(count * 16);
	size_t len = 0;

	for (size_t i = 0; i < count; i++)
		len += (size_t)snprintf(text + len, 16, "[path %zu]\n", i);
	log = (struct log){ .len = 0 };
	cmp_ok(sbx_read_text(text, len, &ops, &log), "==", 0, "many sections are read");
	cmp_ok((intmax_t)log.sections, "==", (intmax_t)count, "all of them");
	free(text);
	len = 10 << 20;
	text = flood("[paths]\nread=a", ",a", 2, len);
	log = (struct log){ .len = 0 };
	cmp_ok(sbx_read_text(text, len, &ops, &log), "==", 0,
	       "a list of five million items is read");
	cmp_ok((intmax_t)log.entries, "==", (intmax_t)(len - 12) / 2, "all of them");
	free(text);
}

static void test_too_many(void)
{
	static struct log log;
	char *text = flood("[paths]\n", "x\n", 2, 4000);

	log = (struct log){ .len = 0 };
	sbx_read_text(text, 4000, &ops, &log);
	cmp_ok((intmax_t)log.errors, "==", 1001, "reading stops after a thousand errors");
	log = (struct log){ .len = 0 };
	sbx_read_text(text, 8 + 2 * 999, &ops, &log);
	cmp_ok((intmax_t)log.errors, "==", 999, "and not before");
	free(text);
}

struct echo {
	char text[256];
	unsigned int count;
};

static void keep(void *arg, const struct sbx_entry *entry)
{
	struct echo *echo = arg;

	echo->count++;
	snprintf(echo->text, sizeof(echo->text), "%s", entry->text);
}

static void no_section(void *arg, unsigned int line, const char *name)
{
	(void)arg;
	(void)line;
	(void)name;
}

static void count_misread(void *arg, unsigned int line, const char *text)
{
	unsigned int *misread = &((struct echo *)arg)->count;

	(void)line;
	*misread += strstr(text, "INI library") ? 1000000 : 0;
}

static const struct sbx_reader_ops echo_ops = { keep, no_section, count_misread };

/* Adds what fits. */
static void add(char *text, size_t size, const char *piece)
{
	size_t len = strlen(text);

	snprintf(text + len, size - len, "%s", piece);
}

static const char *const nasty[] = { "\"",	 "\\",	 ",",  ";",	      "#",  "=",
				     ":",	 " ",	 "\t", "?",	      "[",  "]",
				     "a",	 "b",	 " ;", " #",	      " ?", "\xc3\xbc",
				     "\xc3\xa0", "\x85", "%",  "\xe2\x82\xac" };

/* Text in quotes comes back as it was, whatever it is. */
static void test_quoting(void)
{
	unsigned int seed = 4711;
	bool same = true;

	srand(seed);
	for (int round = 0; round < 20000 && same; round++) {
		char text[256] = "", file[700] = "[path a]\nreason = \"";
		size_t len = strlen(file);
		struct echo echo = { .count = 0 };

		for (int n = rand() % 40; n > 0; n--) {
			const char *piece = nasty[(size_t)rand() % COUNT(nasty)];

			if ((unsigned char)*piece != 0x85)
				add(text, sizeof(text), piece);
		}
		for (const char *at = text; *at; at++) {
			if (*at == '"' || *at == '\\')
				file[len++] = '\\';
			file[len++] = *at;
		}
		memcpy(file + len, "\"\n", 3);
		same = !sbx_read_text(file, len + 2, &echo_ops, &echo) && echo.count == 1 &&
		       !strcmp(echo.text, text);
	}
	ok(same, "whatever stands in quotes comes back unchanged (seed %u)", seed);
}

/* Garbage is refused or read; never does inih see something else than was sent. */
static void test_garbage(void)
{
	static const char *const heads[] = { "[paths]\nread = ", "[path a]\nreason = ", "",
					     "[env]\nset = A=", "[test]\nallow = read " };
	unsigned int seed = 815;
	bool sound = true;

	srand(seed);
	for (int round = 0; round < 50000 && sound; round++) {
		char text[512] = "";
		struct echo echo = { .count = 0 };

		add(text, sizeof(text), heads[(size_t)rand() % COUNT(heads)]);
		for (int n = rand() % 24; n > 0; n--)
			add(text, sizeof(text),
			    rand() % 12 ? nasty[(size_t)rand() % COUNT(nasty)] : "\n");
		sbx_read_text(text, strlen(text), &echo_ops, &echo);
		sound = echo.count < 1000000;
	}
	ok(sound, "inih never misreads a line of garbage (seed %u)", seed);
}

int main(void)
{
	plan(NO_PLAN);
	test_files();
	test_options();
	test_settings_of_inih();
	test_floods();
	test_many();
	test_too_many();
	test_quoting();
	test_garbage();
	done_testing();
}
