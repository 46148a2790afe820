/* SPDX-License-Identifier: MIT */
/* The command line of sbx-launch, from tables. Looks at nothing but its arguments. */
#include "options.h"

#include "values.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPT_LOG_FD = 256,
	OPT_JSON,
	OPT_DOCTOR,
	OPT_CLEAN,
	OPT_DRY_RUN,
	OPT_VERSION,
	OPT_KEEP_FD,
	OPT_TRUST,
	OPT_NO_SHIM,
	OPT_NAME,
	OPT_WRAP,
	OPT_WRAPPED,
	OPT_KEY = 1000
};

static const struct {
	struct option option;
	const char *arg;
	const char *help;
} own[] = {
	{ { "policy", required_argument, NULL, 'p' },
	  "FILE",
	  "the policy; repeats, - is standard input" },
	{ { "quiet", no_argument, NULL, 'q' },
	  NULL,
	  "no banner, summary or warnings; twice: nothing at all" },
	{ { "verbose", no_argument, NULL, 'v' }, NULL, "say what is done and why" },
	{ { "json", no_argument, NULL, OPT_JSON },
	  NULL,
	  "capture the output, print one JSON result" },
	{ { "log-fd", required_argument, NULL, OPT_LOG_FD },
	  "N",
	  "write JSON lines to this descriptor" },
	{ { "dry-run", no_argument, NULL, OPT_DRY_RUN },
	  NULL,
	  "print what each layer would enforce, and stop" },
	{ { "doctor", no_argument, NULL, OPT_DOCTOR },
	  NULL,
	  "what this machine can enforce, tried for real" },
	{ { "clean", no_argument, NULL, OPT_CLEAN },
	  NULL,
	  "with --doctor: remove what killed runs left" },
	{ { "keep-fd", required_argument, NULL, OPT_KEEP_FD },
	  "N",
	  "leave this descriptor open for the program" },
	{ { "trust", no_argument, NULL, OPT_TRUST },
	  NULL,
	  "accept policy files that others may write" },
	{ { "no-shim", no_argument, NULL, OPT_NO_SHIM },
	  NULL,
	  "run without the library that vouches for calls: slower" },
	{ { "wrap", required_argument, NULL, OPT_WRAP },
	  "TOOL",
	  "write a wrapper that runs TOOL under these options" },
	{ { NULL, required_argument, NULL, 'o' }, "DIR", "with --wrap: where to" },
	{ { "wrapped", required_argument, NULL, OPT_WRAPPED },
	  "FILE",
	  "for wrappers: find the tool past this file" },
	{ { NULL, required_argument, NULL, 'c' },
	  "TEXT",
	  "run TEXT by sh -c, for use as a shell; so do -l and -i" },
	{ { "name", required_argument, NULL, OPT_NAME },
	  "NAME",
	  "what to call the run in its log, instead of a random id" },
	{ { "help", no_argument, NULL, 'h' }, NULL, "this text" },
	{ { "version", no_argument, NULL, OPT_VERSION }, NULL, "the version" },
};

#define OWN (sizeof(own) / sizeof(own[0]))

/* Options that say a value by themselves, or take one only if given. */
static const struct {
	enum sbx_key key;
	int has_arg;
	const char *value; /* without an argument */
	const char *help; /* where the key's own does not fit, else NULL */
} special[] = {
	{ SBX_KEY_sandbox_protect, no_argument, "no",
	  "lift the default protections inside writable places" },
	{ SBX_KEY_errors_suggest, no_argument, "no",
	  "leave out the line that would allow what was refused" },
	{ SBX_KEY_errors_explain, no_argument, "all",
	  "explain what libc, the loader and some libraries do inside themselves too, slower" },
	{ SBX_KEY_sandbox_complain, optional_argument, "paths, exec, network, syscalls", NULL },
};

static int has_arg(enum sbx_key key, const char **value)
{
	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
		if (special[i].key == key) {
			*value = special[i].value;
			return special[i].has_arg;
		}
	}
	*value = NULL;
	return required_argument;
}

int launch_options_set(struct launch_options *options, const char *section, const char *key,
		       const char *value, const char *option)
{
	struct sbx_load *load = &options->load;
	struct sbx_assign *list =
		reallocarray((void *)load->options, load->option_count + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	list[load->option_count++] = (struct sbx_assign){ section, key, value, option };
	load->options = list;
	return 0;
}

int launch_options_own(struct launch_options *options, const char *section, const char *key,
		       char *value, const char *option)
{
	int failed;

	if (options->own_count == sizeof(options->own_values) / sizeof(options->own_values[0])) {
		free(value);
		return -E2BIG;
	}
	options->own_values[options->own_count++] = value;
	failed = launch_options_set(options, section, key, value, option);
	if (!failed)
		options->load.implied++;
	return failed;
}

/* --env NAME passes, --env NAME=VALUE sets. */
static int take_key(struct launch_options *options, enum sbx_key key, const char *arg)
{
	const char *value;
	bool sets = key == SBX_KEY_env_pass && arg && strchr(arg, '=');

	(void)has_arg(key, &value);
	return launch_options_set(options, sbx_keys[key].section, sets ? "set" : sbx_keys[key].name,
				  arg ? arg : value, sbx_keys[key].option);
}

static bool read_fd(const char *text, int *fd)
{
	char *end;
	long number = strtol(text, &end, 10);

	if (!*text || *end || number < 0 || number > 1 << 20)
		return false;
	*fd = (int)number;
	return true;
}

static int take_fd(struct launch_options *options, int option, const char *arg,
		   struct launch_error *error)
{
	int fd, *list;

	if (!read_fd(arg, &fd))
		return launch_fail(error, EINVAL, "'%s' is not a descriptor's number", arg);
	if (option == OPT_LOG_FD) {
		options->log_fd = fd;
		return 0;
	}
	list = reallocarray(options->keep_fds, options->keep_count + 1, sizeof(*list));
	if (!list)
		return launch_fail(error, ENOMEM, "out of memory");
	list[options->keep_count++] = fd;
	options->keep_fds = list;
	return 0;
}

static int take_file(struct launch_options *options, const char *file)
{
	const char **list = reallocarray((void *)options->load.files, options->load.file_count + 1,
					 sizeof(*list));

	if (!list)
		return -ENOMEM;
	list[options->load.file_count++] = file;
	options->load.files = list;
	return 0;
}

static int take_own(struct launch_options *options, int option, char *arg,
		    struct launch_error *error)
{
	switch (option) {
	case 'c':
		options->shell_text = arg;
		return 0;
	case 'l':
		options->shell_login = true;
		return 0;
	case 'i':
		options->shell_interactive = true;
		return 0;
	case 'p':
		return take_file(options, arg);
	case 'q':
		options->voice = options->voice <= VOICE_QUIET ? VOICE_NOTHING : VOICE_QUIET;
		return 0;
	case 'v':
		options->voice = VOICE_VERBOSE;
		return 0;
	case OPT_LOG_FD:
	case OPT_KEEP_FD:
		return take_fd(options, option, arg, error);
	case OPT_NAME:
		options->name = arg;
		return 0;
	case OPT_WRAP:
		options->wrap = arg;
		return 0;
	case OPT_WRAPPED:
		options->wrapped = arg;
		return 0;
	case 'o':
		options->output = arg;
		return 0;
	default:
		break;
	}
	options->json |= option == OPT_JSON;
	options->dry_run |= option == OPT_DRY_RUN;
	options->doctor |= option == OPT_DOCTOR;
	options->clean |= option == OPT_CLEAN;
	options->load.trust |= option == OPT_TRUST;
	options->no_shim |= option == OPT_NO_SHIM;
	options->help |= option == 'h';
	options->version |= option == OPT_VERSION;
	return 0;
}

/* getopt's table: our own options, then those of keys.def, whose value is OPT_KEY and the key. */
static void make_table(struct option table[OWN + SBX_KEY_COUNT + 1])
{
	size_t count = 0;
	const char *value;

	for (size_t i = 0; i < OWN; i++)
		if (own[i].option.name)
			table[count++] = own[i].option;
	for (int key = 0; key < SBX_KEY_COUNT; key++)
		if (*sbx_keys[key].option)
			table[count++] = (struct option){ sbx_keys[key].option + 2,
							  has_arg((enum sbx_key)key, &value), NULL,
							  OPT_KEY + key };
	table[count] = (struct option){ 0 };
}

/* The known option nearest to what was written, or NULL. */
static const char *near_option(const struct option *table, const char *text)
{
	unsigned int best = UINT32_MAX;
	const char *found = NULL;

	for (; table->name; table++) {
		unsigned int distance = sbx_distance(table->name, text);

		if (distance < best) {
			best = distance;
			found = table->name;
		}
	}
	return found && sbx_distance_is_near(best, strlen(text)) ? found : NULL;
}

static int complain(const struct option *table, int option, char **args, struct launch_error *error)
{
	const char *text = args[optind - 1], *near;
	char name[64];

	if (option == ':')
		return launch_fail(error, EINVAL, "option '%s' needs a value", text);
	for (const struct option *at = table; optopt && at->name; at++)
		if (at->val == optopt)
			return launch_fail(error, EINVAL, "option '--%s' takes no value", at->name);
	if (optopt && optopt < 256)
		return launch_fail(error, EINVAL, "unknown option '-%c'", optopt);
	(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, "="), text);
	near = near_option(table, name + strspn(name, "-"));
	if (near)
		return launch_fail(error, EINVAL, "unknown option '%s' (did you mean '--%s'?)",
				   name, near);
	return launch_fail(error, EINVAL, "unknown option '%s'", name);
}

/* sbx-launch -c TEXT [NAME [ARGUMENT]...], as a shell is called. */
static int make_shell(struct launch_options *options, int count, char **args)
{
	static char sh[] = "sh", c[] = "-c", l[] = "-l", i[] = "-i";
	char **argv = calloc((size_t)count + 6, sizeof(*argv));
	size_t at = 0;

	if (!argv)
		return -ENOMEM;
	argv[at++] = sh;
	if (options->shell_login)
		argv[at++] = l;
	if (options->shell_interactive)
		argv[at++] = i;
	if (options->shell_text) {
		argv[at++] = c;
		argv[at++] = options->shell_text;
	}
	while (count-- > 0)
		argv[at++] = *args++;
	options->argv = options->own_argv = argv;
	return 0;
}

int launch_options_init(struct launch_options *options, int count, char **args,
			struct launch_error *error)
{
	struct option table[OWN + SBX_KEY_COUNT + 1];
	int option, result = 0;

	*options = (struct launch_options){ .voice = VOICE_NORMAL, .log_fd = -1 };
	make_table(table);
	opterr = 0;
	optind = 0;
	while (!result && (option = getopt_long(count, args, "+:p:qvhc:o:li", table, NULL)) != -1) {
		if (option == '?' || option == ':')
			result = complain(table, option, args, error);
		else if (option >= OPT_KEY)
			result = take_key(options, (enum sbx_key)(option - OPT_KEY), optarg);
		else
			result = take_own(options, option, optarg, error);
		if (result == -ENOMEM)
			(void)launch_fail(error, ENOMEM, "out of memory");
	}
	if (!result && (options->shell_text || options->shell_login || options->shell_interactive))
		result = make_shell(options, count - optind, args + optind);
	else if (optind < count)
		options->argv = args + optind;
	return result;
}

void launch_options_done(struct launch_options *options)
{
	free((void *)options->load.files);
	free((void *)options->load.options);
	free(options->keep_fds);
	free(options->own_argv);
	for (size_t i = 0; i < options->own_count; i++)
		free(options->own_values[i]);
}

/* "--memory=1G", or "--no-protect" for an option that says a value by itself. */
static int write_setting(const struct sbx_assign *setting, void (*put)(FILE *, const char *),
			 FILE *to)
{
	const char *value;
	char *word;
	int takes = required_argument;

	for (int key = 0; key < SBX_KEY_COUNT; key++)
		if (strcmp(sbx_keys[key].option, setting->option) == 0)
			takes = has_arg((enum sbx_key)key, &value);
	if (takes == no_argument) {
		put(to, setting->option);
		return 0;
	}
	if (asprintf(&word, "%s=%s", setting->option, setting->value) < 0)
		return -ENOMEM;
	put(to, word);
	free(word);
	return 0;
}

static void write_fd(const char *option, int fd, void (*put)(FILE *, const char *), FILE *to)
{
	char word[32];

	(void)snprintf(word, sizeof(word), "%s=%d", option, fd);
	put(to, word);
}

int launch_options_write(const struct launch_options *options, void (*put)(FILE *, const char *),
			 FILE *to)
{
	static const char *const voices[] = { "-qq", "-q", NULL, "-v" };
	const struct {
		bool on;
		const char *word;
	} flags[] = {
		{ options->json, "--json" },
		{ options->load.trust, "--trust" },
		{ options->no_shim, "--no-shim" },
	};
	int failed = 0;

	if (voices[options->voice])
		put(to, voices[options->voice]);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (flags[i].on)
			put(to, flags[i].word);
	if (options->log_fd >= 0)
		write_fd("--log-fd", options->log_fd, put, to);
	for (size_t i = 0; i < options->keep_count; i++)
		write_fd("--keep-fd", options->keep_fds[i], put, to);
	if (options->name) {
		put(to, "--name");
		put(to, options->name);
	}
	for (size_t i = 0; !failed && i < options->load.option_count; i++)
		failed = write_setting(&options->load.options[i], put, to);
	return failed;
}

static const char *help_of(enum sbx_key key)
{
	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++)
		if (special[i].key == key && special[i].help)
			return special[i].help;
	return sbx_keys[key].help;
}

/* What stands for a value in --help. */
static const char *value_name(enum sbx_key key)
{
	switch (sbx_keys[key].type) {
	case SBX_TYPE_PATHS:
	case SBX_TYPE_PATH:
		return "PATH";
	case SBX_TYPE_INCLUDES:
		return "PROFILE";
	case SBX_TYPE_SIZE:
		return "SIZE";
	case SBX_TYPE_DURATION:
		return "TIME";
	case SBX_TYPE_NUMBER:
		return "N";
	case SBX_TYPE_PEERS:
		return "DEST";
	case SBX_TYPE_ADDRESS:
		return "ADDRESS";
	case SBX_TYPE_URL:
		return "URL";
	case SBX_TYPE_PATTERNS:
		return "NAME[=VALUE]";
	case SBX_TYPE_WORD:
	case SBX_TYPE_WORDS:
		return "WORD";
	default:
		return "NAME";
	}
}

static void print_option(const char *name, const char *arg, bool optional, int letter,
			 const char *help)
{
	char text[48] = "";

	if (name)
		(void)snprintf(text, sizeof(text), "--%s%s%s%s", name,
			       arg ? optional ? "[=" : "=" : "", arg ? arg : "",
			       arg && optional ? "]" : "");
	if (!name)
		printf("  -%c %-25s %s\n", letter, arg, help);
	else if (letter < OPT_LOG_FD)
		printf("  -%c, %-24s %s\n", letter, text, help);
	else
		printf("      %-24s %s\n", text, help);
}

void launch_options_help(void)
{
	const char *value;

	printf("usage: sbx-launch [OPTION]... [--] COMMAND [ARGUMENT]...\n\n"
	       "Runs a command inside the boundaries of a policy, and explains what it refuses.\n"
	       "Without -p the current directory is the workspace.\n\nOptions:\n");
	for (size_t i = 0; i < OWN; i++)
		print_option(own[i].option.name, own[i].arg, false, own[i].option.val, own[i].help);
	printf("\nSettings of the policy, stronger than its files (see sbx-policy(5)):\n");
	for (int key = 0; key < SBX_KEY_COUNT; key++) {
		int takes;

		if (!*sbx_keys[key].option)
			continue;
		takes = has_arg((enum sbx_key)key, &value);
		print_option(sbx_keys[key].option + 2,
			     takes == no_argument ? NULL : value_name((enum sbx_key)key),
			     takes == optional_argument, OPT_KEY, help_of((enum sbx_key)key));
	}
	printf("\nExit status: the command's own; 128+N when signal N ended it; 124 timeout or "
	       "CPU\n"
	       "time; 137 another limit; 125 sbx-launch failed; 126 cannot execute; 127 not "
	       "found;\n"
	       "2 usage. Manual: sbx-launch(1), sbx-policy(5).\n");
}
