/* SPDX-License-Identifier: MIT */
/* Which variables reach the program: every class of them, hostile ones, and secrets in files. */
#include "env.h"

#include <errno.h>
#include <signal.h>

#include "tree.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Policies: "main" has level 1, "below" is included by it, options are the command line. */
static struct sbx_policy *load(const char *env, const char *below, const char *option)
{
	struct sbx_assign assign = { "env", "set", option, "--env" };
	struct sbx_errors errors;
	struct sbx_policy *policy;
	char text[4096];
	const char *file;

	snprintf(text, sizeof(text), "[sandbox]\ninclude = none\n[env]\n%s", below);
	tree_file("below.ini", text, 0644);
	snprintf(text, sizeof(text), "[sandbox]\ninclude = none, ./below.ini\n[env]\n%s", env);
	file = tree_file("main.ini", text, 0644);
	if (sbx_load(&(struct sbx_load){ .files = &file,
					 .file_count = 1,
					 .options = &assign,
					 .option_count = option ? 1 : 0,
					 .trust = true },
		     &policy, &errors) < 0)
		BAIL_OUT("%s:%u: %s", errors.list[0].file, errors.list[0].line,
			 errors.list[0].text);
	return policy;
}

static struct launch_error error;

/* The result as "A=1 B=2", or the error; static. */
static const char *build(const struct sbx_policy *policy, const char *const *from,
			 const char *const *extra, const char *dir)
{
	static char text[8192];
	char **env = NULL;
	size_t len = 0;

	error.text[0] = '\0';
	if (launch_env_build(sbx_policy_image(policy), (char *const *)from, (char *const *)extra,
			     NULL, dir, &env, &error) < 0) {
		ok(!env, "a failure leaves the result alone");
		return error.text;
	}
	text[0] = '\0';
	for (char **at = env; *at && len < sizeof(text); at++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", len ? " " : "",
					*at);
	free(env);
	return text;
}

#define FROM(...) ((const char *const[]){ __VA_ARGS__, NULL })

struct row {
	const char *pass; /* lines of [env] */
	const char *name;
	const char *why; /* NULL: it passes */
};

static const struct row rows[] = {
	{ "", "PATH", NULL },
	{ "", "HOME", NULL },
	{ "", "LC_ALL", NULL },
	{ "", "LC_", NULL },
	{ "", "NO_COLOR", NULL },
	{ "", "NODE_EXTRA_CA_CERTS", NULL },
	{ "", "PIP_CERT", NULL },
	{ "", "path", "not in the safe set" },
	{ "", "PATHX", "not in the safe set" },
	{ "", "XPATH", "not in the safe set" },
	{ "", "NODE_ENV", "not in the safe set" },
	{ "", "", "no name" },
	{ "", "LD_PRELOAD", "the loader" },
	{ "", "GITHUB_TOKEN", "a token" },
	{ "pass = NODE_ENV\n", "NODE_ENV", NULL },
	{ "pass = NODE_ENV\n", "NODE_ENVX", "not in the safe set" },
	{ "pass = NODE_ENV\n", "node_env", "not in the safe set" },
	{ "pass = NODE_ENV\n", "PATH", NULL },
	{ "pass = NODE_*\n", "NODE_ENV", NULL },
	{ "pass = NODE_*\n", "NODE_OPTIONS", "node loads" },
	{ "pass = *_ENV\n", "BASH_ENV", "bash runs" },
	{ "pass = A*B*C\n", "AxBxBxC", NULL },
	{ "pass = A*B*C\n", "AxBxBxCx", "not in the safe set" },
	{ "pass = none\n", "PATH", "empties" },
	{ "pass = none\n", "none", "not in the safe set" },
	{ "pass = none\n", "FOO", "not in the safe set" },
	{ "pass = none, PATH\n", "PATH", NULL },
	{ "pass = none, PATH\n", "HOME", "empties" },
	{ "pass = none, LC_*\n", "LC_ALL", NULL },
	{ "pass = none, *\n", "HOME", NULL },
	{ "pass = *\n", "ANYTHING", NULL },
	{ "pass = *\n", "a b", NULL },
	{ "pass = *\n", "", "no name" },
	{ "pass = *\n", "LD_PRELOAD", "the loader" },
	{ "pass = *\n", "LD_*", "the loader" },
	{ "pass = *, LD_*\n", "LD_*", "the loader" },
	{ "pass = *, LD_*\n", "LD_PRELOAD", "the loader" },
	{ "pass = LD_PRELOAD\n", "LD_PRELOAD", NULL },
	{ "pass = LD_PRELOAD\n", "LD_AUDIT", "the loader" },
	{ "pass = *\n", "BASH_ENV", "bash runs" },
	{ "pass = *\n", "ENV", "sh runs" },
	{ "pass = *\n", "BASH_FUNC_x%%", "a function" },
	{ "pass = *\n", "NODE_OPTIONS", "node loads" },
	{ "pass = NODE_OPTIONS\n", "NODE_OPTIONS", NULL },
	{ "pass = *\n", "PYTHONSTARTUP", "python runs" },
	{ "pass = *\n", "PYTHONPATH", "python loads" },
	{ "pass = *\n", "PERL5OPT", "perl" },
	{ "pass = *\n", "RUBYOPT", "ruby" },
	{ "pass = *\n", "GIT_SSH_COMMAND", "git runs" },
	{ "pass = *\n", "PAGER", "to show output" },
	{ "pass = *\n", "MANPAGER", "to show output" },
	{ "pass = *\n", "EDITOR", "to edit" },
	{ "pass = *\n", "VISUAL", "to edit" },
	{ "pass = *\n", "npm_config_script_shell", "npm" },
	{ "pass = *\n", "https_proxy", "requests" },
	{ "pass = *\n", "XDG_RUNTIME_DIR", "session outside" },
	{ "pass = *\n", "GITHUB_TOKEN", "a token" },
	{ "pass = GITHUB_TOKEN\n", "GITHUB_TOKEN", "a token" },
	{ "pass = *\n", "github_token", "a token" },
	{ "pass = *\n", "Aws_Secret_Access_Key", "a secret" },
	{ "pass = *\n", "npm_config__authToken", "a token" },
	{ "pass = *\n", "NPM_CONFIG__PASSWORD", "a password" },
	{ "pass = *\n", "SSH_AUTH_SOCK", "keys of ssh" },
	{ "pass = *\n", "DATABASE_URL", "a password in it" },
	{ "secret = GITHUB_TOKEN\n", "GITHUB_TOKEN", NULL },
	{ "secret = GITHUB_TOKEN\n", "github_token", "a token" },
	{ "secret = LD_PRELOAD\n", "LD_PRELOAD", NULL },
	{ "secret = PLAIN\n", "PLAIN", NULL },
	{ "secret_file = PLAIN\npass = *\n", "PLAIN", "in a file" },
	{ "secret_file = HOME\n", "HOME", "in a file" },
	{ "secret_file = PLAIN\nsecret = PLAIN\n", "PLAIN", NULL },
	{ "pass = *\n", "SANDBOX_SBX", "sbx's own" },
	{ "pass = SANDBOX_SBX_POLICY\n", "SANDBOX_SBX_POLICY", "sbx's own" },
	{ "pass = *\n", "SANDBOX_SB", NULL },
};

static void test_rows(void)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct row *row = &rows[i];
		struct sbx_policy *policy = load(row->pass, "", NULL);
		int len = (int)strcspn(row->pass, "\n");
		const char *why = "";
		bool passes = launch_env_passes(sbx_policy_image(policy), row->name, &why);
		char entry[64];

		snprintf(entry, sizeof(entry), "%s=value", row->name);
		ok(passes == !row->why && (passes ? !why : !!strstr(why, row->why)),
		   "'%.*s': '%s' %s", len, row->pass, row->name, row->why ? row->why : "passes");
		if (!strstr(row->pass, "secret"))
			is(build(policy, FROM(entry), NULL, NULL), passes ? entry : "",
			   "and that is what is built");
		sbx_free(policy);
	}
}

static void test_hostile(void)
{
	struct sbx_policy *policy = load("pass = *\n", "", NULL);
	char *huge = malloc((1 << 20) + 3), *name = malloc((1 << 20) + 3), **env = NULL;
	const char *const none[] = { NULL };

	if (!huge || !name)
		BAIL_OUT("out of memory");
	is(build(policy, FROM("A=1", "A=2", "B=", "A=3"), NULL, NULL),
	   "A=1 B=", "of duplicates the first counts");
	is(build(policy, FROM("A", "=x", "", "=", "A=1", "B"), NULL, NULL), "A=1",
	   "entries without a name or '=' are dropped");
	is(build(policy, FROM("A==b=c"), NULL, NULL), "A==b=c", "a value may hold '='");
	is(build(policy, FROM("LD_PRELOAD=x", "LD_PRELOAD", "PATH=/bin", "LD_PRELOAD=y"), NULL,
		 NULL),
	   "PATH=/bin", "a duplicate does not bring back what is dropped");
	is(build(policy, none, NULL, NULL), "", "an empty environment stays empty");
	is(build(policy, NULL, NULL, NULL), "", "and so does none");
	memset(huge, 'x', (1 << 20) + 2);
	memcpy(huge, "A=", 2);
	huge[(1 << 20) + 2] = '\0';
	memset(name, 'S', (1 << 20) + 2);
	memcpy(name + (1 << 20), "=1", 3);
	ok(!launch_env_build(sbx_policy_image(policy), (char *const *)FROM(huge, name), NULL, NULL,
			     NULL, &env, &error) &&
		   env[0] && !strcmp(env[0], huge) && env[1] && !strcmp(env[1], name) && !env[2],
	   "names and values of a megabyte pass whole");
	ok(env && env[0] != huge, "as a copy");
	free(env);
	free(huge);
	free(name);
	sbx_free(policy);
}

/* What stands in where nobody else says anything. */
static void test_fallback(void)
{
	static const struct {
		const char *policy, *from, *extra, *expected;
	} cases[] = {
		{ "", "B=1", NULL, "A=0" },
		{ "", "SHELL=/caller", NULL, "SHELL=/caller A=0" },
		{ "pass = A\n", "A=/caller", NULL, "A=/caller" },
		{ "set = A=/policy\n", "B=1", NULL, "A=/policy" },
		{ "", "B=1", "A=/launcher", "A=/launcher" },
		{ "pass = none\n", "A=/caller", NULL, "A=0" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sbx_policy *policy = load(cases[i].policy, "", NULL);
		char **env = NULL, text[256] = "";

		if (!ok(!launch_env_build(sbx_policy_image(policy),
					  (char *const *)FROM(cases[i].from),
					  (char *const *)FROM(cases[i].extra),
					  (char *const *)FROM("A=0"), NULL, &env, &error),
			"an environment with a fallback is built"))
			continue;
		for (char **at = env; *at; at++)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
				 at == env ? "" : " ", *at);
		is(text, cases[i].expected, "'%s' gives '%s'", cases[i].from, cases[i].expected);
		free(env);
		sbx_free(policy);
	}
}

static void test_many(void)
{
	enum {
		MANY = 50000,
		EACH = 32
	};
	struct sbx_policy *policy = load("pass = *\n", "", NULL);
	char **from = calloc(2 * MANY + 1, sizeof(*from)), *texts = malloc(MANY * EACH);
	char **env = NULL;
	size_t count = 0;

	if (!from || !texts)
		BAIL_OUT("out of memory");
	for (int i = 0; i < MANY; i++) {
		snprintf(texts + i * EACH, EACH, "V%d=%d", i, i);
		from[i] = from[2 * MANY - 1 - i] = texts + i * EACH;
	}
	alarm(60);
	ok(!launch_env_build(sbx_policy_image(policy), from, NULL, NULL, NULL, &env, &error),
	   "a hundred thousand variables are no trouble");
	alarm(0);
	while (env && env[count])
		count++;
	ok(count == MANY && !strcmp(env[0], "V0=0") && !strcmp(env[MANY - 1], "V49999=49999"),
	   "each once, in their order");
	free(env);
	free(from);
	free(texts);
	sbx_free(policy);
}

struct set_row {
	const char *env; /* level 1 */
	const char *below; /* level 2 */
	const char *option; /* level 0 */
	const char *result; /* for A=caller TOKEN=t */
};

static const struct set_row set_rows[] = {
	{ "set = B=1\n", "", NULL, "B=1" },
	{ "set = B=1\npass = A\n", "", NULL, "A=caller B=1" },
	{ "set = A=1\npass = A\n", "", NULL, "A=1" },
	{ "set = LD_PRELOAD=/x.so\n", "", NULL, "LD_PRELOAD=/x.so" },
	{ "set = B=1\n", "set = B=2\n", NULL, "B=1" },
	{ "", "set = B=2\n", NULL, "B=2" },
	{ "set = B=1\n", "set = B=2\n", "B=0", "B=0" },
	{ "set = B=1, B=1\n", "", NULL, "B=1" },
	{ "set = B=1, B=2\n", "", NULL,
	  "main.ini:4: variable 'B' contradicts main.ini:4 (a line in a stronger file, or on the "
	  "command line, decides)" },
	{ "set = B=1\nset = C=1\nset = B=secret2\n", "", NULL,
	  "main.ini:6: variable 'B' contradicts main.ini:4 (a line in a stronger file, or on the "
	  "command line, decides)" },
	{ "set = B=1\nset = B=2\n", "", "B=0", "B=0" },
	{ "set = B=1\n", "set = B=2\nset = B=3\n", NULL, "B=1" },
	{ "set = B=\n", "", NULL, "B=" },
	{ "set = \"B=a, b ${TMPDIR}\"\n", "", NULL, "B=a, b ${TMPDIR}" },
	{ "set = SANDBOX_SBX_X=1\n", "", NULL,
	  "main.ini:4: variable 'SANDBOX_SBX_X' is sbx's own (choose a name that does not begin "
	  "with SANDBOX_SBX)" },
	{ "secret = SANDBOX_SBX_X\n", "", NULL,
	  "main.ini:4: variable 'SANDBOX_SBX_X' is sbx's own (choose a name that does not begin "
	  "with SANDBOX_SBX)" },
	{ "secret = TOKEN\n", "", NULL, "TOKEN=t" },
	{ "secret = TOKEN, TOKEN\n", "secret = TOKEN\n", NULL, "TOKEN=t" },
	{ "secret = GONE\n", "", NULL,
	  "main.ini:4: secret 'GONE' is not in the environment (export it before the start, or "
	  "take the line out)" },
	{ "secret_file = GONE\n", "", NULL,
	  "main.ini:4: secret_file 'GONE' is not in the environment (export it before the start, "
	  "or take the line out)" },
	{ "secret = GONE\n", "", "GONE=test", "GONE=test" },
	{ "secret = TOKEN\n", "", "TOKEN=test", "TOKEN=test" },
	{ "secret = TOKEN\n", "set = TOKEN=weak\n", NULL, "TOKEN=t" },
	{ "secret = TOKEN\nset = TOKEN=t\n", "", NULL, "TOKEN=t" },
	{ "secret = TOKEN\nset = TOKEN=u\n", "", NULL,
	  "main.ini:4: variable 'TOKEN' contradicts main.ini:5 (a line in a stronger file, or on "
	  "the command line, decides)" },
	{ "secret_file = TOKEN\n", "", NULL,
	  "main.ini:4: secret_file 'TOKEN' has no place to be ('tmp = private' makes one)" },
	{ "secret_file = TOKEN\n", "", "TOKEN_FILE=/else", "TOKEN_FILE=/else" },
};

/* Errors name the file by its whole path; that part is left out here. */
static const char *without_tree(const char *text)
{
	static char out[8192];
	size_t len = strlen(tree_root), at = 0;

	while (*text && at < sizeof(out) - 1) {
		if (!strncmp(text, tree_root, len))
			text += len + 1;
		else
			out[at++] = *text++;
	}
	out[at] = '\0';
	return out;
}

static void test_set(void)
{
	for (size_t i = 0; i < COUNT(set_rows); i++) {
		const struct set_row *row = &set_rows[i];
		struct sbx_policy *policy = load(row->env, row->below, row->option);

		is(without_tree(build(policy, FROM("A=caller", "TOKEN=t"), NULL, NULL)),
		   row->result, "row %zu of what is set", i);
		sbx_free(policy);
	}
}

static void test_extra(void)
{
	struct sbx_policy *policy = load("set = TMPDIR=/mine\npass = X\n", "", "TMPDIR=/option");

	is(build(policy, FROM("X=1", "HOME=/root", "TMPDIR=/theirs"),
		 FROM("TMPDIR=/run/1/tmp", "HOME=/run/1/home", "SANDBOX_SBX_ID=7"), NULL),
	   "X=1 TMPDIR=/run/1/tmp HOME=/run/1/home SANDBOX_SBX_ID=7",
	   "what the launcher adds is stronger than everything");
	sbx_free(policy);
}

static const char *contents(const char *path, struct stat *stat)
{
	static char text[64];
	int fd = open(path, O_RDONLY | O_NOFOLLOW);
	ssize_t len;

	if (fd < 0 || fstat(fd, stat) < 0)
		return "none";
	len = read(fd, text, sizeof(text) - 1);
	text[len < 0 ? 0 : len] = '\0';
	close(fd);
	return text;
}

static void test_secret_file(void)
{
	struct sbx_policy *policy =
		load("secret_file = TOKEN, OTHER\npass = *\n", "secret_file = TOKEN\n", NULL);
	char *dir = tree_dir("secrets"), *token = tree_path("secrets/TOKEN"), expected[PATH_MAX];
	const char *const from[] = { "TOKEN=one\ntwo=", "OTHER=", "A=1", NULL };
	char *victim = tree_file("victim", "safe", 0600);
	struct stat stat = { 0 };
	mode_t mask = umask(0777);

	snprintf(expected, sizeof(expected), "A=1 TOKEN_FILE=%s OTHER_FILE=%s/OTHER", token, dir);
	is(build(policy, from, NULL, dir), expected, "secret files are named by NAME_FILE");
	umask(mask);
	is(contents(token, &stat), "one\ntwo=", "and hold the value as it is");
	ok((stat.st_mode & 07777) == 0400 && stat.st_uid == geteuid(),
	   "with mode 0400 whatever the umask, for the user");
	is(contents(tree_path("secrets/OTHER"), &stat), "", "also when it is empty");
	like(build(policy, from, NULL, dir), "cannot write secret_file 'TOKEN': File exists",
	     "what is there already is not overwritten");
	unlink(token);
	tree_link("secrets/TOKEN", victim);
	like(build(policy, from, NULL, dir), "cannot write secret_file 'TOKEN'",
	     "nor is a link followed");
	is(contents(victim, &stat), "safe", "and its target is untouched");
	tree_link("linked", dir);
	like(build(policy, from, NULL, tree_path("linked")), "cannot open '.*/linked' for secrets",
	     "the folder itself is no link either");
	like(build(policy, from, NULL, tree_path("missing")), "No such file",
	     "a missing folder is an error");
	unlike(error.text, "one", "which does not show the value");
	sbx_free(policy);
}

static void test_secret_owner(void)
{
	struct sbx_policy *policy = load("secret_file = TOKEN\n", "", NULL);
	char *dir = tree_dir("theirs");
	struct stat stat = { 0 };

	skip(geteuid() != 0, 1, "only root can give files away") if (chown(dir, 65534, 65534) < 0)
		BAIL_OUT("cannot give a folder away");
	build(policy, FROM("TOKEN=t"), NULL, dir);
	contents(tree_path("theirs/TOKEN"), &stat);
	ok(stat.st_uid == 65534 && stat.st_gid == 65534 && (stat.st_mode & 07777) == 0400,
	   "a secret file belongs to whom its folder belongs to");
	end_skip;
	sbx_free(policy);
}

int main(void)
{
	plan(NO_PLAN);
	tree_begin();
	test_rows();
	test_hostile();
	test_fallback();
	test_many();
	test_set();
	test_extra();
	test_secret_file();
	test_secret_owner();
	done_testing();
}
