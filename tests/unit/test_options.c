/* SPDX-License-Identifier: MIT */
/*
 * The command line: every option there is, from both tables, with and without values; the command
 * behind it, also as a shell is called; and what is said about one that is not understood.
 */
#include "options.h"

#include <errno.h>

#include "tree.h"
#include "values.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct launch_options options;
static struct launch_error error;

/* Reads a command line; the options are there until the next. */
static int read_words(const char *const *words)
{
	int count = 0;

	launch_options_done(&options);
	error.text[0] = '\0';
	while (words[count])
		count++;
	return launch_options_init(&options, count, (char **)(void *)words, &error);
}

/* getopt_long() with '+' does not reorder: the words stay as they are. */
#define READ(...) read_words((const char *const[]){ "sbx-launch", __VA_ARGS__, NULL })

/* The command as words in brackets; static. */
static const char *command(void)
{
	static char text[1024];
	size_t len = 0;

	text[0] = '\0';
	for (char **at = options.argv; at && *at; at++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "[%s]", *at);
	return text;
}

/* What was set, as "section.key=value(option)"; static. */
static const char *settings(void)
{
	static char text[1024];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < options.load.option_count; i++) {
		const struct sbx_assign *at = &options.load.options[i];

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s.%s=%s(%s)",
					i ? " " : "", at->section, at->key, at->value, at->option);
	}
	return text;
}

static void test_nothing(void)
{
	cmp_ok(read_words((const char *const[]){ "sbx-launch", NULL }), "==", 0,
	       "no words are no mistake");
	ok(!options.argv && !options.load.file_count && !options.load.option_count,
	   "nor a command");
	ok(options.voice == VOICE_NORMAL && options.log_fd == -1 && !options.keep_count &&
		   !options.json && !options.dry_run && !options.doctor && !options.clean &&
		   !options.no_shim && !options.help && !options.version && !options.name &&
		   !options.wrap && !options.output && !options.wrapped && !options.load.trust,
	   "and nothing is switched on");
}

static void test_switches(void)
{
	cmp_ok(READ("--json", "--dry-run", "--doctor", "--clean", "--trust", "--no-shim", "--help",
		    "--version"),
	       "==", 0, "switches");
	ok(options.json && options.dry_run && options.doctor && options.clean &&
		   options.load.trust && options.no_shim && options.help && options.version,
	   "each switches its own on");
	for (size_t i = 0; i < 8; i++) {
		static const char *const words[] = {
			"--json",  "--dry-run", "--doctor", "--clean",
			"--trust", "--no-shim", "--help",   "--version"
		};
		int result = READ(words[i]);
		const bool on[] = { options.json,  options.dry_run,    options.doctor,
				    options.clean, options.load.trust, options.no_shim,
				    options.help,  options.version };
		size_t others = 0;

		for (size_t n = 0; n < COUNT(on); n++)
			others += n != i && on[n];
		ok(!result && on[i] && !others, "%s switches nothing else on", words[i]);
	}
	ok(READ("-h") == 0 && options.help, "-h is --help");
}

static void test_voice(void)
{
	ok(!READ("-q") && options.voice == VOICE_QUIET, "-q");
	ok(!READ("--quiet") && options.voice == VOICE_QUIET, "--quiet");
	ok(!READ("-qq") && options.voice == VOICE_NOTHING, "-qq");
	ok(!READ("-q", "--quiet") && options.voice == VOICE_NOTHING, "-q --quiet");
	ok(!READ("-qqq") && options.voice == VOICE_NOTHING, "more than that is no less");
	ok(!READ("-v") && options.voice == VOICE_VERBOSE, "-v");
	ok(!READ("--verbose") && options.voice == VOICE_VERBOSE, "--verbose");
	ok(!READ("-q", "-v") && options.voice == VOICE_VERBOSE, "the last one decides");
}

static void test_values(void)
{
	cmp_ok(READ("--name", "mine", "--wrap=git", "-o", "/bin", "--wrapped", "/bin/git", "x"),
	       "==", 0, "values");
	is(options.name, "mine", "--name");
	is(options.wrap, "git", "--wrap");
	is(options.output, "/bin", "-o");
	is(options.wrapped, "/bin/git", "--wrapped");
	is(command(), "[x]", "and the command");
	ok(!READ("-o/bin") && !strcmp(options.output, "/bin"), "-oDIR");
	ok(!READ("--name=a", "--name=b") && !strcmp(options.name, "b"), "the last name counts");
	ok(!READ("--name=") && !strcmp(options.name, ""), "a value may be empty");
	ok(!READ("--name", "-v") && !strcmp(options.name, "-v"), "or look like an option");
}

static void test_policies(void)
{
	cmp_ok(READ("-p", "a.ini", "--policy", "b.ini", "--policy=-", "-pc.ini", "-p", "a.ini"),
	       "==", 0, "-p repeats");
	ok(options.load.file_count == 5 && !strcmp(options.load.files[0], "a.ini") &&
		   !strcmp(options.load.files[1], "b.ini") && !strcmp(options.load.files[2], "-") &&
		   !strcmp(options.load.files[3], "c.ini") &&
		   !strcmp(options.load.files[4], "a.ini"),
	   "and keeps the order");
	ok(!options.argv && !options.load.option_count, "of files alone");
}

static void test_descriptors(void)
{
	static const char *const bad[] = { "",	  "x",	 "-1",	    "3x",
					   "3 ",  "0x3", "1048577", "99999999999999999999",
					   "3,4", "1.5" };

	ok(!READ("--log-fd", "3") && options.log_fd == 3 && !options.keep_count, "--log-fd");
	ok(!READ("--log-fd=0") && options.log_fd == 0, "--log-fd=0");
	ok(!READ("--log-fd=1048576") && options.log_fd == 1048576, "a large one");
	ok(!READ("--keep-fd", "5", "--keep-fd=3", "--keep-fd=5") && options.keep_count == 3 &&
		   options.keep_fds[0] == 5 && options.keep_fds[1] == 3 &&
		   options.keep_fds[2] == 5 && options.log_fd == -1,
	   "--keep-fd repeats");
	for (size_t i = 0; i < COUNT(bad); i++) {
		char expected[128];

		snprintf(expected, sizeof(expected), "'%s' is not a descriptor's number", bad[i]);
		ok(READ("--log-fd", bad[i]) == -EINVAL && !strcmp(error.text, expected),
		   "'%s' is none for --log-fd", bad[i]);
		ok(READ("--keep-fd", bad[i]) == -EINVAL && !strcmp(error.text, expected),
		   "nor for --keep-fd");
	}
}

/* Options of keys.def that say a value by themselves. */
static const struct {
	const char *value;
	enum sbx_key key;
	bool may_have; /* a value of the user's */
} spoken[] = {
	{ "no", SBX_KEY_sandbox_protect, false },
	{ "no", SBX_KEY_errors_suggest, false },
	{ "all", SBX_KEY_errors_explain, false },
	{ "paths, exec, network, syscalls", SBX_KEY_sandbox_complain, true },
};

static const char *spoken_value(int key, bool *may_have)
{
	*may_have = true;
	for (size_t i = 0; i < COUNT(spoken); i++) {
		if ((int)spoken[i].key == key) {
			*may_have = spoken[i].may_have;
			return spoken[i].value;
		}
	}
	return NULL;
}

static void test_key(int key)
{
	const struct sbx_keyinfo *info = &sbx_keys[key];
	char with[64], expected[256];
	bool may_have;
	const char *value = spoken_value(key, &may_have);

	snprintf(with, sizeof(with), "%s=some, =value", info->option);
	if (value) {
		snprintf(expected, sizeof(expected), "%s.%s=%s(%s)", info->section, info->name,
			 value, info->option);
		ok(!READ(info->option, "x") && !strcmp(settings(), expected) &&
			   !strcmp(command(), "[x]"),
		   "%s takes no word behind it", info->option);
	}
	snprintf(expected, sizeof(expected), "%s.%s=some, =value(%s)", info->section,
		 key == SBX_KEY_env_pass ? "set" : info->name, info->option);
	if (may_have)
		ok(!READ(with, "x") && !strcmp(settings(), expected) && !strcmp(command(), "[x]"),
		   "%s=VALUE", info->option);
	if (!value)
		ok(!READ(info->option, "some, =value", "x") && !strcmp(settings(), expected) &&
			   !strcmp(command(), "[x]"),
		   "%s VALUE", info->option);
	if (!value) {
		snprintf(expected, sizeof(expected), "option '%s' needs a value", info->option);
		ok(READ("-v", info->option) == -EINVAL && !strcmp(error.text, expected),
		   "%s alone is not enough", info->option);
	}
	if (!may_have) {
		snprintf(expected, sizeof(expected), "option '%s' takes no value", info->option);
		ok(READ(with, "x") == -EINVAL && !strcmp(error.text, expected),
		   "%s=VALUE is too much", info->option);
	}
}

static void test_keys(void)
{
	size_t count = 0;

	for (int key = 0; key < SBX_KEY_COUNT; key++) {
		if (!*sbx_keys[key].option)
			continue;
		test_key(key);
		count++;
	}
	ok(count > 25, "%zu settings have options", count);
	ok(!READ("--allow-read=a", "--memory", "1G", "--allow-read", "b"), "they repeat and mix");
	is(settings(),
	   "paths.read=a(--allow-read) limits.memory=1G(--memory) paths.read=b(--allow-read)",
	   "in their order");
	ok(!READ("--output", "5M", "x") && !options.output, "--output is of the policy");
	is(settings(), "limits.output=5M(--output)", "and not -o");
}

static void test_env(void)
{
	ok(!READ("--env", "NAME") && !strcmp(settings(), "env.pass=NAME(--env)"), "--env NAME");
	ok(!READ("--env=NAME") && !strcmp(settings(), "env.pass=NAME(--env)"), "--env=NAME");
	ok(!READ("--env", "N*") && !strcmp(settings(), "env.pass=N*(--env)"), "--env PATTERN");
	ok(!READ("--env", "A=1") && !strcmp(settings(), "env.set=A=1(--env)"), "--env NAME=VALUE");
	ok(!READ("--env=A=b=c") && !strcmp(settings(), "env.set=A=b=c(--env)"), "--env=A=b=c");
	ok(!READ("--env", "A=") && !strcmp(settings(), "env.set=A=(--env)"), "--env A=");
	ok(!READ("--allow-read", "a=b") && !strcmp(settings(), "paths.read=a=b(--allow-read)"),
	   "other settings have no such form");
}

static void test_complain(void)
{
	ok(!READ("--complain", "paths"), "--complain takes no word behind it");
	is(settings(), "sandbox.complain=paths, exec, network, syscalls(--complain)",
	   "and means all parts");
	is(command(), "[paths]", "the word is the command");
	ok(!READ("--complain=paths", "x"), "--complain=PART");
	is(settings(), "sandbox.complain=paths(--complain)", "means that one");
}

static void test_commands(void)
{
	ok(!READ("-q", "cmd", "-v", "--json", "-p", "x"), "options end at the command");
	is(command(), "[cmd][-v][--json][-p][x]", "which gets all that follows");
	ok(options.voice == VOICE_QUIET && !options.json && !options.load.file_count, "for itself");
	ok(!READ("-q", "--", "-v", "x"), "-- ends them too");
	is(command(), "[-v][x]", "for a command that looks like one");
	ok(!READ("--", "--", "x") && !strcmp(command(), "[--][x]"), "only the first -- is ours");
	ok(!READ("cmd", "--", "x") && !strcmp(command(), "[cmd][--][x]"), "and only before it");
	ok(!READ("--") && !options.argv, "-- alone is no command");
	ok(!READ("-") && !strcmp(command(), "[-]"), "- is a word");
	ok(!READ("") && !strcmp(command(), "[]"), "and so is nothing");
}

static void test_shell(void)
{
	ok(!READ("-c", "echo hi") && !strcmp(command(), "[sh][-c][echo hi]"), "-c TEXT");
	ok(!READ("-cecho") && !strcmp(command(), "[sh][-c][echo]"), "-cTEXT");
	ok(!READ("-c", "echo", "name", "-v", "arg"), "-c TEXT NAME ARGUMENT");
	is(command(), "[sh][-c][echo][name][-v][arg]", "passes them on");
	ok(!READ("-lc", "echo") && !strcmp(command(), "[sh][-l][-c][echo]"), "-lc TEXT");
	ok(!READ("-l", "-c", "echo", "n") && !strcmp(command(), "[sh][-l][-c][echo][n]"), "-l -c");
	ok(!READ("-ilc", "x") && !strcmp(command(), "[sh][-l][-i][-c][x]"), "-ilc TEXT");
	ok(!READ("-l") && !strcmp(command(), "[sh][-l]"), "-l");
	ok(!READ("-i") && !strcmp(command(), "[sh][-i]"), "-i");
	ok(!READ("-l", "file", "x") && !strcmp(command(), "[sh][-l][file][x]"), "-l FILE");
	ok(!READ("-q", "-p", "a", "-c", "x") && !strcmp(command(), "[sh][-c][x]"), "behind others");
	ok(options.load.file_count == 1 && options.voice == VOICE_QUIET, "which count");
	ok(!READ("-c", "x", "--", "-n") && !strcmp(command(), "[sh][-c][x][-n]"),
	   "-c TEXT -- NAME");
	ok(!READ("-c", "") && !strcmp(command(), "[sh][-c][]"), "an empty text is one");
}

static void test_mistakes(void)
{
	static const struct {
		const char *words[4];
		const char *text;
	} mistakes[] = {
		{ { "--jsom" }, "unknown option '--jsom' (did you mean '--json'?)" },
		{ { "--polcy=x" }, "unknown option '--polcy' (did you mean '--policy'?)" },
		{ { "--allow-raed", "x" },
		  "unknown option '--allow-raed' (did you mean '--allow-read'?)" },
		{ { "--timeuot=5" }, "unknown option '--timeuot' (did you mean '--timeout'?)" },
		{ { "--qqqqqqqqqqqq" }, "unknown option '--qqqqqqqqqqqq'" },
		{ { "--qqqqqqqqqqqq=1" }, "unknown option '--qqqqqqqqqqqq'" },
		{ { "-z" }, "unknown option '-z'" },
		{ { "-qz" }, "unknown option '-z'" },
		{ { "--memory=1", "-zq" }, "unknown option '-z'" },
		{ { "-v", "--jsom", "x" }, "unknown option '--jsom' (did you mean '--json'?)" },
		{ { "-p" }, "option '-p' needs a value" },
		{ { "-q", "--policy" }, "option '--policy' needs a value" },
		{ { "--name" }, "option '--name' needs a value" },
		{ { "--log-fd" }, "option '--log-fd' needs a value" },
		{ { "--wrap" }, "option '--wrap' needs a value" },
		{ { "-o" }, "option '-o' needs a value" },
		{ { "-c" }, "option '-c' needs a value" },
		{ { "--json=1" }, "option '--json' takes no value" },
		{ { "--quiet=1" }, "option '--quiet' takes no value" },
		{ { "--help=", "x" }, "option '--help' takes no value" },
		{ { "--no-protect=yes" }, "option '--no-protect' takes no value" },
	};

	for (size_t i = 0; i < COUNT(mistakes); i++) {
		const char *const *words = mistakes[i].words;
		int result = READ(words[0], words[1], words[2]);

		cmp_ok(result, "==", -EINVAL, "'%s' is a mistake", words[0]);
		is(error.text, mistakes[i].text, "which is explained");
	}
	ok(READ("--p\xff\x1b") == -EINVAL && READ("-\xff") == -EINVAL, "whatever the bytes");
}

/* What --help prints. */
static const char *help(void)
{
	static char text[1 << 16];
	int was = dup(STDOUT_FILENO);
	int fd = open(tree_path("help"), O_RDWR | O_CREAT | O_TRUNC, 0600);
	ssize_t len;

	(void)fflush(stdout);
	if (was < 0 || fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
		BAIL_OUT("cannot catch the output");
	launch_options_help();
	(void)fflush(stdout);
	(void)dup2(was, STDOUT_FILENO);
	len = pread(fd, text, sizeof(text) - 1, 0);
	close(was);
	close(fd);
	text[len < 0 ? 0 : len] = '\0';
	return text;
}

/* Every option as --help has it: none twice, none that this test does not know. */
static void test_names(void)
{
	static const char *const own[] = { "policy",  "quiet",	 "verbose", "json",
					   "log-fd",  "dry-run", "doctor",  "clean",
					   "keep-fd", "trust",	 "no-shim", "wrap",
					   "wrapped", "name",	 "help",    "version" };
	char names[128][32] = { "" };
	const char *line = help();
	size_t count = 0, twice = 0, settings_count = 0;

	for (; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		const char *name = strstr(line, "--");

		/* An option's name is at one place of a line, behind blanks or a letter. */
		if (strncmp(line, "  ", 2) != 0 || name != line + 6 || count == COUNT(names))
			continue;
		snprintf(names[count++], sizeof(names[0]), "%.*s", (int)strcspn(name + 2, "[= \n"),
			 name + 2);
	}
	for (size_t i = 0; i < count; i++)
		for (size_t n = 0; n < i; n++)
			if (!strcmp(names[i], names[n])) {
				diag("--%s is there twice", names[i]);
				twice++;
			}
	cmp_ok(twice, "==", 0, "of %zu options no two have one name", count);
	for (int key = 0; key < SBX_KEY_COUNT; key++) {
		settings_count += *sbx_keys[key].option != '\0';
		for (size_t i = 0; i < COUNT(own); i++)
			twice += *sbx_keys[key].option && !strcmp(sbx_keys[key].option + 2, own[i]);
	}
	cmp_ok(twice, "==", 0, "nor has a setting the name of an option of our own");
	cmp_ok(count, "==", COUNT(own) + settings_count, "and --help has all of them");
}

static char written[32][64];
static size_t written_count;

static void put(FILE *to, const char *word)
{
	(void)to;
	if (written_count < COUNT(written) - 1)
		snprintf(written[written_count++], sizeof(written[0]), "%s", word);
}

static void test_write(void)
{
	const char *words[COUNT(written) + 1] = { "sbx-launch" };
	char before[1024];

	cmp_ok(READ("-qq", "--json", "--trust", "--no-shim", "--log-fd=4", "--keep-fd=5",
		    "--keep-fd=6", "--name", "a b", "--memory=1G", "--no-protect", "--env=A=b c",
		    "--env=X", "--complain", "--explain-all", "cmd"),
	       "==", 0, "a long command line");
	snprintf(before, sizeof(before), "%s", settings());
	written_count = 0;
	cmp_ok(launch_options_write(&options, put, stdout), "==", 0, "can be written again");
	for (size_t i = 0; i < written_count; i++)
		words[i + 1] = written[i];
	cmp_ok(read_words(words), "==", 0, "and read");
	is(settings(), before, "to the same settings");
	ok(options.voice == VOICE_NOTHING && options.json && options.load.trust &&
		   options.no_shim && options.log_fd == 4 && options.keep_count == 2 &&
		   options.keep_fds[0] == 5 && options.keep_fds[1] == 6 &&
		   !strcmp(options.name, "a b"),
	   "and the same options");
}

int main(void)
{
	plan(NO_PLAN);
	tree_begin();
	test_nothing();
	test_switches();
	test_voice();
	test_values();
	test_policies();
	test_descriptors();
	test_keys();
	test_env();
	test_complain();
	test_commands();
	test_shell();
	test_mistakes();
	test_names();
	test_write();
	launch_options_done(&options);
	done_testing();
}
