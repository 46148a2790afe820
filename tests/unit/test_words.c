/* SPDX-License-Identifier: MIT */
/*
 * What is said about decisions: the exact texts of messages.md, the bounds, the escape of hostile
 * names, the suggestion (tried on a real policy each time), and JSON that python can read.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "load.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PATH_BYTES 4096

static uint64_t state;

static unsigned int below(unsigned int limit)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned int)((state >> 33) % limit);
}

static bool chance(unsigned int percent)
{
	return below(100) < percent;
}

/* Text that grows at its end. */
struct text {
	char bytes[65536];
	size_t len;
};

static void put(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct text *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text->len += (size_t)vsnprintf(text->bytes + text->len, sizeof(text->bytes) - text->len,
				       format, args);
	va_end(args);
	if (text->len >= sizeof(text->bytes))
		BAIL_OUT("a text became too long");
}

/* 'from' with every '@' replaced by the tree's root. */
static const char *placed(const char *from)
{
	static struct text text;

	text.len = 0;
	for (; *from; from++)
		if (*from == '@')
			put(&text, "%s", tree_root);
		else
			put(&text, "%c", *from);
	return text.bytes;
}

#define POLICY                                                                                \
	ALONE "tmp = shared\n"                                                                \
	      "[paths]\n"                                                                     \
	      "read = ./portfolio, ./pipeline\n"                                              \
	      "write = ./out\n"                                                               \
	      "deny = ./portfolio/.git\n"                                                     \
	      "hide = ./portfolio/gone\n"                                                     \
	      "exec = ./tools\n"                                                              \
	      "[path docs]\n"                                                                 \
	      "root = ./docs\n"                                                               \
	      "mode = rw\n"                                                                   \
	      "suffixes = .md, .pdf\n"                                                        \
	      "max_file_bytes = 10\n"                                                         \
	      "reason = \"reports live here, and nothing else\"\n"                            \
	      "[network]\n"                                                                   \
	      "connect = api.example:443, *.cdn.example:80, 10.0.0.0/8:22, unix:./app.sock\n" \
	      "deny = *:25\n"                                                                 \
	      "bind = 127.0.0.1:80\n"

#define READABLE "sbx:   Readable paths: ./portfolio, ./pipeline, ./out, ./tools, ./docs\n"
#define WRITABLE "sbx:   Writable paths: ./out, ./docs\n"
#define NOBODY "sbx:   By: no rule matches; policy.ini decides.\n"
#define ADD "sbx:   To allow it, the user can add to "
#define PATHS ADD "[paths] in policy.ini: "
#define NETWORK ADD "[network] in policy.ini: "

/* '@' is the tree's root. */
static const struct {
	const char *question;
	const char *text;
} texts[] = {
	{ "read /etc/passwd",
	  "sbx: Cannot read '/etc/passwd': path is outside the sandbox.\n" READABLE NOBODY PATHS
	  "read = /etc/passwd\n" },
	{ "write /etc/passwd",
	  "sbx: Cannot write to '/etc/passwd': path is outside the sandbox.\n" WRITABLE NOBODY PATHS
	  "write = /etc/passwd\n" },
	{ "list /etc", "sbx: Cannot list '/etc': path is outside the sandbox.\n" READABLE NOBODY
		       "sbx:   A line for it would open far more; none is suggested.\n" },
	{ "create /etc/sbx-new",
	  "sbx: Cannot create '/etc/sbx-new': path is outside the sandbox.\n" WRITABLE NOBODY PATHS
	  "write = /etc/sbx-new\n" },
	{ "delete /etc/passwd",
	  "sbx: Cannot delete '/etc/passwd': path is outside the sandbox.\n" WRITABLE NOBODY
	  "sbx:   A line for it would open far more; none is suggested.\n" },
	{ "rename /etc/passwd",
	  "sbx: Cannot rename '/etc/passwd': path is outside the sandbox.\n" WRITABLE NOBODY
	  "sbx:   A line for it would open far more; none is suggested.\n" },
	{ "change /etc/passwd",
	  "sbx: Cannot change '/etc/passwd': path is outside the sandbox.\n" WRITABLE NOBODY PATHS
	  "write = /etc/passwd\n" },
	{ "write pipeline/f",
	  "sbx: Cannot write to 'pipeline/f' (@/pipeline/f): path is read-only.\n" WRITABLE
	  "sbx:   By: policy.ini:5 read = ./pipeline\n" PATHS "write = ./pipeline/f\n" },
	{ "delete @/out",
	  "sbx: Cannot delete '@/out': path is outside the sandbox.\n" WRITABLE
	  "sbx:   By: the folder it stands in is not writable; policy.ini decides.\n" PATHS
	  "write = @\n" },
	{ "read portfolio/.git/x",
	  "sbx: Cannot read 'portfolio/.git/x' (@/portfolio/.git/x): denied by a rule.\n"
	  "sbx:   By: policy.ini:7 deny = ./portfolio/.git\n" PATHS
	  "read = ./portfolio/.git/x ?\n" },
	{ "create out/.bashrc",
	  "sbx: Cannot create 'out/.bashrc' (@/out/.bashrc): it runs later, outside the sandbox.\n"
	  "sbx:   Default protection; `protect = no` in [sandbox] lifts all of them\n"
	  "sbx:   By: default protection of '.bashrc': bash runs it at start\n" },
	{ "read portfolio/gone",
	  "sbx: Cannot read 'portfolio/gone' (@/portfolio/gone): path is hidden.\n"
	  "sbx:   By: policy.ini:8 hide = ./portfolio/gone\n"
	  "sbx:   To allow it, the user can change or remove policy.ini:8 hide = "
	  "./portfolio/gone\n" },
	{ "create docs/x.sh", "sbx: Cannot access 'docs/x.sh' (@/docs/x.sh): suffix not allowed.\n"
			      "sbx:   Allowed suffixes: .md, .pdf\n"
			      "sbx:   reports live here, and nothing else\n"
			      "sbx:   By: policy.ini:13 suffixes in [path docs]\n" ADD
			      "[path docs] in policy.ini: suffixes = .sh\n" },
	{ "create docs/README",
	  "sbx: Cannot access 'docs/README' (@/docs/README): suffix not allowed.\n"
	  "sbx:   Allowed suffixes: .md, .pdf\n"
	  "sbx:   reports live here, and nothing else\n"
	  "sbx:   By: policy.ini:13 suffixes in [path docs]\n"
	  "sbx:   To allow it, the user can remove `suffixes` from [path docs] in policy.ini\n" },
	{ "read docs/big.md",
	  "sbx: Cannot read 'docs/big.md' (@/docs/big.md): file too large (11 bytes).\n"
	  "sbx:   Maximum allowed: 10 bytes\n"
	  "sbx:   reports live here, and nothing else\n"
	  "sbx:   By: policy.ini:14 max_file_bytes in [path docs]\n"
	  "sbx:   To allow it, the user can change in [path docs] in policy.ini: "
	  "max_file_bytes = 11\n" },
	{ "exec out/tool", "sbx: Cannot execute 'out/tool' (@/out/tool): program not allowed.\n"
			   "sbx:   Executable paths: ./tools\n"
			   "sbx:   By: policy.ini:6 write = ./out\n" PATHS "exec = ./out/tool\n" },
	{ "connect other.example:443",
	  "sbx: Cannot connect to 'other.example:443': destination not allowed.\n"
	  "sbx:   Allowed destinations: api.example:443, *.cdn.example:80, 10.0.0.0/8:22\n" NOBODY
		  NETWORK "connect = other.example:443\n" },
	{ "connect [2001:db8::1]:443",
	  "sbx: Cannot connect to '[2001:db8::1]:443': destination not allowed.\n"
	  "sbx:   Allowed destinations: api.example:443, *.cdn.example:80, 10.0.0.0/8:22\n" NOBODY
		  NETWORK "connect = [2001:db8::1]:443\n" },
	{ "connect api.example:25",
	  "sbx: Cannot connect to 'api.example:25': denied by a rule.\n"
	  "sbx:   By: policy.ini:18 deny = *:25\n"
	  "sbx:   To allow it, the user can change or remove policy.ini:18 deny = *:25\n" },
	{ "connect unix:./other.sock",
	  "sbx: Cannot connect to 'unix:./other.sock': destination not allowed.\n"
	  "sbx:   Allowed destinations: unix:./app.sock\n" NOBODY NETWORK
	  "connect = unix:@/other.sock\n" },
	{ "connect unix:/run/docker.sock",
	  "sbx: Cannot connect to 'unix:/run/docker.sock': destination not allowed.\n"
	  "sbx:   Allowed destinations: unix:./app.sock\n"
	  "sbx:   This is the container engine's socket: whoever may connect to it controls the "
	  "machine.\n" NOBODY "sbx:   No line is suggested for it.\n" },
	{ "lookup other.example",
	  "sbx: Cannot look up 'other.example': host not allowed. This is the sandbox, not a DNS "
	  "failure.\n"
	  "sbx:   Allowed hosts: api.example, *.cdn.example\n" NOBODY NETWORK
	  "connect = other.example:443\n" },
	{ "bind 0.0.0.0:80",
	  "sbx: Cannot listen on '0.0.0.0:80': address not allowed.\n"
	  "sbx:   Allowed addresses: 127.0.0.1:80, and loopback on port 0 or from 1024 up\n" NOBODY
		  NETWORK "bind = 0.0.0.0:80\n" },
	{ "write policy.ini",
	  "sbx: Cannot write to 'policy.ini' (@/policy.ini): path is outside the "
	  "sandbox.\n" WRITABLE NOBODY "sbx:   No policy line can allow it.\n" },
	{ "read .ssh/id_rsa",
	  "sbx: Cannot read '.ssh/id_rsa' (@/.ssh/id_rsa): path is outside the sandbox.\n" READABLE
		  NOBODY "sbx:   this looks like a credential; no line is suggested\n" },
	{ "read pipeline/f", "sbx: Can read 'pipeline/f' (@/pipeline/f).\n"
			     "sbx:   By: policy.ini:5 read = ./pipeline\n" },
	{ "connect api.example:443", "sbx: Can connect to 'api.example:443'.\n"
				     "sbx:   By: policy.ini:17 connect = api.example:443\n" },
	{ "bind 127.0.0.1:8080", "sbx: Can listen on '127.0.0.1:8080'.\n"
				 "sbx:   By: own = yes in [network]\n" },
	{ "lookup localhost", "sbx: Can look up 'localhost'.\n"
			      "sbx:   By: names of this host always resolve\n" },
};

static void build(void)
{
	static const char *const dirs[] = { "portfolio/.git", "out", "tools", ".ssh" };

	tree_begin();
	for (size_t i = 0; i < COUNT(dirs); i++)
		tree_dir(dirs[i]);
	tree_file("pipeline/f", "", 0644);
	tree_file("docs/big.md", "12345678901", 0644);
	tree_file("out/tool", "", 0755);
}

/* What sbx-policy would print, asked from the tree. */
static const char *explain(const struct sbx_policy *policy, const char *question)
{
	static char text[SBX_TEXT_MAX];
	static struct sbx_asked asked;
	struct sbx_report report;

	if (load_ask(policy, question, &asked) < 0)
		BAIL_OUT("%s: %s", question, asked.why);
	report = sbx_asked_report(sbx_policy_image(policy), &asked);
	if (sbx_words_text(&report, text, sizeof(text)) >= sizeof(text))
		BAIL_OUT("SBX_TEXT_MAX is too small for\n%s", text);
	return text;
}

static const char *explain_once(const char *policy_text, const char *question)
{
	struct sbx_policy *policy = load_text(policy_text);
	const char *text = explain(policy, question);

	sbx_free(policy);
	return text;
}

static void check_texts(void)
{
	struct sbx_policy *policy = load_text(POLICY);

	for (size_t i = 0; i < COUNT(texts); i++) {
		char *question = strdup(placed(texts[i].question));

		is(explain(policy, question), placed(texts[i].text), "the words for '%s' are exact",
		   texts[i].question);
		free(question);
	}
	sbx_free(policy);
}

/* A line that the next run cannot have, or does not want. */
static void check_passing_places(void)
{
	like(explain_once(ALONE, "read /proc/1/environ"), "No policy line can allow it",
	     "of one process's entries in /proc no line is suggested");
	like(explain_once(ALONE, "read /proc/none"), "can add to .* read = /proc/none",
	     "of others one is");
	like(explain_once(ALONE, "write /dev/pts/7"), "can add to .*: write = /dev/pts\n",
	     "of terminals all are, for each is there for one run");
}

static void check_network_off(void)
{
	is(explain_once(ALONE, "connect example.com:443"),
	   "sbx: Cannot connect to 'example.com:443': network access is disabled.\n"
	   "sbx:   Allowed destinations: none. Do not retry, change DNS or use a proxy: go on "
	   "without the network, or ask the user.\n" NOBODY NETWORK "connect = example.com:443\n",
	   "without a network there is advice against trying on");
	is(explain_once(ALONE "[network]\nmode = none\n", "connect example.com:443"),
	   "sbx: Cannot connect to 'example.com:443': network access is disabled.\n"
	   "sbx:   Allowed destinations: none. Do not retry, change DNS or use a proxy: go on "
	   "without the network, or ask the user.\n"
	   "sbx:   By: policy.ini:4 mode = none\n"
	   "sbx:   To allow it, the user can remove line 4 (mode = none) and add to [network] in "
	   "policy.ini: connect = example.com:443\n",
	   "a written 'mode = none' must go first");
	is(explain_once(ALONE "[network]\nmode = full\n", "connect example.com:443"),
	   "sbx: Can connect to 'example.com:443'.\nsbx:   By: mode = full in [network]\n",
	   "a full network says so");
}

/* A report of what a program did, as the supervisor makes it. */
static const char *tell(const struct sbx_policy *policy, const struct sbx_request *request,
			struct sbx_report report)
{
	static char text[SBX_TEXT_MAX];
	struct sbx_verdict verdict;

	report.image = sbx_policy_image(policy);
	report.request = request;
	report.verdict = &verdict;
	sbx_eval(report.image, request, &verdict);
	(void)sbx_words_text(&report, text, sizeof(text));
	return text;
}

static void check_reports(void)
{
	struct sbx_policy *policy = load_text(POLICY);
	struct sbx_request request = { .op = SBX_OP_READ, .size = -1, .path = "/etc/passwd" };
	const struct sbx_report by_cat = { .given = "/etc/passwd",
					   .cwd = tree_root,
					   .program = "cat",
					   .pid = 4123,
					   .syscall = "openat" };

	is(tell(policy, &request, by_cat),
	   "sbx: Cannot read '/etc/passwd': path is outside the sandbox.\n" READABLE
	   "sbx:   By: no rule matches; policy.ini decides. Tried by cat[4123] with openat.\n" PATHS
	   "read = /etc/passwd\n",
	   "who tried is told when somebody did");
	request = (struct sbx_request){
		.op = SBX_OP_READ, .unseen = true, .size = -1, .path = tree_path("portfolio/.git/x")
	};
	like(tell(policy, &request, (struct sbx_report){ .given = "x", .cwd = tree_root }),
	     ": read = \\./portfolio/\\.git/x \\?\n$",
	     "a line for what nobody could see does not need it to be there");
	request.op = SBX_OP_WRITE;
	like(tell(policy, &request, (struct sbx_report){ .given = "x", .cwd = tree_root }),
	     ": write = \\./portfolio/\\.git/x\n$", "to write, it need not be anyway");
	request = (struct sbx_request){ .op = SBX_OP_RENAME,
					.size = -1,
					.path = tree_path("out/f"),
					.to = tree_path("tools/f") };
	sbx_free(policy);
	policy = load_text(ALONE "[paths]\nwrite = ./out, ./tools\nexec = ./tools\n");
	is(tell(policy, &request,
		(struct sbx_report){ .given = "out/f", .given_to = "tools/f", .cwd = tree_root }),
	   "sbx: Cannot move 'out/f' to 'tools/f': it would gain rights there.\n"
	   "sbx:   Copy it instead.\n"
	   "sbx:   By: no rule matches; policy.ini decides.\n",
	   "a move that gains rights says what to do instead");
	request.to = "/etc/f";
	like(tell(policy, &request,
		  (struct sbx_report){ .given = "out/f", .given_to = "/etc/f", .cwd = tree_root }),
	     "^sbx: Cannot rename '/etc/f': path is outside the sandbox\\.\n",
	     "a rename that fails for its new name is about that");
	sbx_free(policy);
}

/* Of a name that a program looks up: what for, if that is known. */
static void check_looked_up(void)
{
	static const struct {
		uint16_t port;
		const char *line, *name;
	} cases[] = {
		{ 80, "connect = other\\.example:80\n$",
		  "the line is for the port that is wanted" },
		{ 65535, "connect = other\\.example:65535\n$", "whichever that is" },
		{ 0, "connect = other\\.example:443\n$", "or for 443 where nobody knows" },
		{ 25, "No policy line can allow it\\.\n$", "a port that is denied has none" },
	};
	struct sbx_policy *policy = load_text(POLICY);

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct sbx_request request = { .op = SBX_OP_LOOKUP,
						     .port = cases[i].port,
						     .size = -1,
						     .host = "other.example" };

		like(tell(policy, &request,
			  (struct sbx_report){ .given = "other.example", .cwd = tree_root }),
		     cases[i].line, "of a name, %s", cases[i].name);
	}
	sbx_free(policy);
}

static void check_moved_suffixes(void)
{
	struct sbx_policy *policy =
		load_text(ALONE "[path docs]\nroot = ./docs\nmode = rw\nsuffixes = .md\n");
	struct sbx_request request = { .op = SBX_OP_RENAME,
				       .size = -1,
				       .path = tree_path("docs/a.md"),
				       .to = tree_path("docs/a.txt") };
	const struct sbx_report report = { .given = "a", .given_to = "b", .cwd = tree_root };

	like(tell(policy, &request, report), ": suffixes = \\.txt\n$",
	     "to be renamed to another suffix, a file needs the new one");
	request.to = tree_path("docs/a");
	like(tell(policy, &request, report), " can remove `suffixes` from \\[path docs\\]",
	     "and to lose it, a section without any");
	request.path = tree_path("docs/a.txt");
	request.to = tree_path("docs/a.md");
	like(tell(policy, &request, report), ": suffixes = \\.txt\n$",
	     "one whose old suffix is not allowed needs that");
	sbx_free(policy);
	policy = load_text(ALONE "[path docs]\nroot = ./docs\nmode = rw\nsuffixes = .md\n");
	like(explain(policy, "create docs/a.x*"), " can remove `suffixes` from ",
	     "what a policy would not take for a suffix is not suggested");
	like(explain(policy, "create docs/a.x,y"), ": suffixes = \"\\.x,y\"\n$",
	     "what it takes in quotes is");
	sbx_free(policy);
}

static void check_included_mode(void)
{
	static const char *const files[] = { "policy.ini" };
	const struct sbx_assign none = { .section = "network", .key = "mode", .value = "none" };
	const struct sbx_load load = { .files = files,
				       .file_count = 1,
				       .options = &none,
				       .option_count = 1,
				       .cwd = tree_root,
				       .tmp = "/run/sbx-private",
				       .profiles = load_profiles };
	struct sbx_policy *policy;
	struct sbx_errors errors;

	tree_file("part.ini", "[network]\nmode = none\n", 0644);
	policy = load_text("[sandbox]\ninclude = none, ./part.ini\ntmp = shared\n");
	like(explain(policy, "connect example.com:443"),
	     "By: \\./part\\.ini:2 mode = none\n.* can remove \\./part\\.ini:2 mode = none and add "
	     "to \\[network\\] in policy\\.ini: connect = example\\.com:443\n$",
	     "a mode is removed from the file that has it");
	sbx_free(policy);
	tree_file("profiles/shut.ini", "[network]\nmode = none\n", 0644);
	load_profiles = tree_path("profiles");
	policy = load_text("[sandbox]\ninclude = none, shut\ntmp = shared\n");
	load_profiles = NULL;
	like(explain(policy, "connect example.com:443"),
	     "By: profiles/shut\\.ini:2 mode = none\n.* can add to \\[network\\] in policy\\.ini: "
	     "mode = filtered and connect = example\\.com:443\n$",
	     "but not from a profile: one's own counts before it");
	sbx_free(policy);
	(void)tree_file("policy.ini", ALONE, 0600);
	if (sbx_load(&load, &policy, &errors) < 0)
		BAIL_OUT("%s", errors.list[0].text);
	like(explain(policy, "connect example.com:443"),
	     "By: command line mode = none\n.* can remove command line mode = none and add to ",
	     "the command line has it, but not in a line");
	sbx_free(policy);
}

static void check_included_sections(void)
{
	struct sbx_policy *policy;

	tree_file("part.ini",
		  "[path docs]\nroot = ./docs\nmode = rw\nsuffixes = .md\n"
		  "max_file_bytes = 10\n",
		  0644);
	policy = load_text("[sandbox]\ninclude = none, ./part.ini\ntmp = shared\n");
	like(explain(policy, "create docs/x.sh"),
	     " add to \\[path docs\\] in \\./part\\.ini: suffixes = \\.sh\n$",
	     "a suffix is added in the file that has the section");
	like(explain(policy, "create docs/x"),
	     " remove `suffixes` from \\[path docs\\] in \\./part\\.ini\n$",
	     "suffixes are removed there");
	like(explain(policy, "read docs/big.md"),
	     " change in \\[path docs\\] in \\./part\\.ini: max_file_bytes = 11\n$",
	     "a size is changed there");
	like(explain(policy, "read /etc/passwd"), " in policy\\.ini: read = /etc/passwd\n$",
	     "other lines are for the policy that includes it");
	sbx_free(policy);
}

static void check_private_address(void)
{
	struct sbx_policy *policy = load_text(ALONE "[network]\nconnect = db.internal:5432\n");
	const struct sbx_request request = { .op = SBX_OP_CONNECT,
					     .size = -1,
					     .host = "db.internal",
					     .port = 5432,
					     .addr = { 4, { 10, 1, 2, 3 } } };

	is(tell(policy, &request,
		(struct sbx_report){ .given = "10.1.2.3:5432", .cwd = tree_root }),
	   "sbx: Cannot connect to '10.1.2.3:5432' (db.internal): the name is allowed, but it "
	   "leads "
	   "to a private address.\n"
	   "sbx:   By: policy.ini:4 connect = db.internal:5432\n" NETWORK
	   "connect = 10.1.2.3:5432\n",
	   "a name that leads to a private address is told apart");
	sbx_free(policy);
	policy = load_text(ALONE "[network]\nconnect = other:1\n");
	like(tell(policy, &request,
		  (struct sbx_report){ .given = "10.1.2.3:5432", .cwd = tree_root }),
	     "^sbx: Cannot connect to '10\\.1\\.2\\.3:5432' \\(db\\.internal\\): destination not",
	     "an address is shown with the name behind it");
	sbx_free(policy);
}

static void many_roots(struct text *text, int count, const char *name)
{
	text->len = 0;
	put(text, ALONE "tmp = shared\n[paths]\n");
	for (int i = 1; i <= count; i++) {
		char place[PATH_MAX];

		snprintf(place, sizeof(place), "many/%s%d", name, i);
		tree_dir(place);
		put(text, "read = ./%s\n", place);
	}
}

static void check_lists(void)
{
	static struct text text;
	char name[121];

	many_roots(&text, 8, "r");
	like(explain_once(text.bytes, "read /etc/passwd"), "many/r1, .*, \\./many/r8\n",
	     "eight paths are listed");
	many_roots(&text, 20, "r");
	like(explain_once(text.bytes, "read /etc/passwd"), "\\./many/r7, \\./many/r8 and 12 more\n",
	     "of twenty, twelve are only counted");
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	many_roots(&text, 8, name);
	like(explain_once(text.bytes, "read /etc/passwd"), " and [567] more\n",
	     "of long ones fewer are listed");
	put(&text, "read = ./many, ./many, ./many\n");
	unlike(explain_once(text.bytes, "read /etc/passwd"), "/many, .*/many,", "and none twice");
	like(explain_once(ALONE "tmp = shared\n", "write /etc/passwd"), "Writable paths: none\n",
	     "where there are none it says so");
	like(explain_once(ALONE "tmp = shared\n[paths]\nread = ./out, ./tools\ndeny = ./out\n",
			  "read /etc/passwd"),
	     "Readable paths: \\./tools\n", "what is denied is not listed as allowed");
}

static void check_roots(void)
{
	struct sbx_policy *policy =
		load_text(ALONE "tmp = shared\n[paths]\nread = ./out, ${policy_dir}/tools\n");
	const struct sbx_request request = { .op = SBX_OP_READ, .size = -1, .path = "/etc/passwd" };
	struct sbx_report report = { .given = "/etc/passwd", .cwd = tree_root };
	char expected[PATH_MAX * 2 + 64];

	snprintf(expected, sizeof(expected), "Readable paths: ./out, %s/tools\n", tree_root);
	ok(strstr(tell(policy, &request, report), expected),
	   "roots are shown as written to who works in the policy's folder, variables filled in");
	snprintf(expected, sizeof(expected), "Readable paths: %s/out, %s/tools\n", tree_root,
		 tree_root);
	report.cwd = "/somewhere/else";
	ok(strstr(tell(policy, &request, report), expected), "and absolute to anybody else");
	report.cwd = NULL;
	ok(strstr(tell(policy, &request, report), expected), "or to nobody in particular");
	sbx_free(policy);
}

static void check_profiles(void)
{
	static const struct {
		const char *policy, *question, *shown, *name;
	} cases[] = {
		{ "[sandbox]\ntmp = shared\n", "read /etc/passwd",
		  "Readable paths: only the system files of profile 'base'\n",
		  "the base profile is named when it stands alone" },
		{ "[sandbox]\ntmp = shared\ninclude = node\n[paths]\nread = ./out\n",
		  "read /etc/passwd",
		  "Readable paths: \\./out \\(and the system files of profile 'node'\\)\n",
		  "a profile is summed up behind the user's own paths" },
		{ "[sandbox]\ntmp = shared\ninclude = node, git\n", "read /etc/passwd",
		  "Readable paths: only the system files of profiles 'node' and 'git'\n",
		  "several profiles are listed by name" },
		{ "[sandbox]\ntmp = shared\ninclude = node\n", "exec out/tool",
		  "Executable paths: only the programs of profile 'node'\n",
		  "of programs it says programs" },
		{ "[sandbox]\ntmp = shared\ninclude = node\n", "write /etc/passwd",
		  "Writable paths: none\n", "what profiles let be written is not offered" },
		{ "[sandbox]\ntmp = shared\ninclude = node\n", "read tools/inside/none",
		  "By: profiles/node\\.ini:2 deny = ", "a profile's rule is named with its file" },
	};
	struct text text = { .len = 0 };

	tree_file("profiles/base.ini", "[paths]\nread = /usr/lib\nwrite = /dev/null\n", 0644);
	put(&text, "[paths]\ndeny = %s/tools/inside\nexec = /usr/bin/env\n", tree_root);
	tree_file("profiles/node.ini", text.bytes, 0644);
	tree_file("profiles/git.ini", "[paths]\nread = /usr/share\n", 0644);
	load_profiles = tree_path("profiles");
	for (size_t i = 0; i < COUNT(cases); i++)
		like(explain_once(cases[i].policy, cases[i].question), cases[i].shown, "%s",
		     cases[i].name);
	load_profiles = NULL;
}

static void check_settings(void)
{
	unlike(explain_once(ALONE "tmp = shared\n[errors]\nsuggest = no\n", "read /etc/passwd"),
	       "To allow", "'suggest = no' leaves the last line out");
	unlike(explain_once(ALONE "[errors]\nsuggest = no\n", "create /tmp/x"), "TMPDIR",
	       "of whatever kind");
	like(explain_once(ALONE "complain = paths\ntmp = shared\n", "read /etc/passwd"),
	     "\nsbx:   Only reported: `complain` in \\[sandbox\\] lets it pass\n$",
	     "what is not really refused says so");
	like(explain_once(ALONE
			  "[path a]\nroot = ./out\nmode = ro\nreason = \"say \\\"please\\\"\"\n",
			  "write out/tool"),
	     "\nsbx:   say \"please\"\n", "a reason is given word for word");
	like(explain_once(ALONE "[path a]\nroot = ./out\nmode = none\nreason = nobody's business\n",
			  "read out/tool"),
	     "\nsbx:   nobody's business\n", "also where a section allows nothing");
	unlike(explain_once(ALONE "[path a]\nroot = ./out\nmode = ro\nreason = why\n",
			    "read tools/x"),
	       "why", "and only of the section that decided");
	like(explain_once(ALONE, "create /tmp/sbx-none/x"),
	     "\nsbx:   Use \\$TMPDIR \\(/run/sbx-private\\) instead\\.\n",
	     "in /tmp the private one is offered");
}

/* --- Hostile names --- */

/* Bytes that no reader should ever see as they are. This list is the test's own. */
static bool is_hostile(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c || c == 0x180e ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
	       (c >= 0xe0000 && c <= 0xe0fff) || (c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff;
}

static size_t encode(uint32_t c, char *out)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* The strict decoder: 0 when there is no valid character at 'text'. */
static size_t decode(const char *text, uint32_t *c)
{
	unsigned char lead = (unsigned char)text[0];
	size_t len = lead < 0x80 ? 1 : lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
	char again[4];

	if (len == 0 || lead > 0xf4)
		return 0;
	*c = len == 1 ? lead : lead & (0xff >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if (((unsigned char)text[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | ((unsigned char)text[i] & 0x3f);
	}
	return encode(*c, again) == len && !memcmp(text, again, len) ? len : 0;
}

/* NULL, or what is wrong with an explanation. */
static const char *fault_of(const char *text)
{
	const char *line = text;

	while (*line) {
		size_t len = strcspn(line, "\n");

		if (strncmp(line, "sbx: ", 5) != 0)
			return "a line does not begin with 'sbx: '";
		if (len + 1 > SBX_LINE_MAX)
			return "a line has more than 500 bytes";
		if (!line[len])
			return "the last line does not end";
		for (size_t i = 0, step; i < len; i += step) {
			uint32_t c;

			step = decode(line + i, &c);
			if (!step)
				return "it is not UTF-8";
			if (is_hostile(c))
				return "a hostile character got through";
		}
		line += len + 1;
	}
	return line == text ? "nothing is said" : NULL;
}

struct hostile {
	struct sbx_policy *policy;
	FILE *json; /* one object a line */
	FILE *names; /* what each was about, in hex */
	unsigned long texts;
	unsigned long faults;
	size_t longest_json;
};

static void write_json(struct hostile *hostile, const struct sbx_report *report)
{
	static char json[2 * SBX_JSON_MAX];
	struct sbx_out out;

	sbx_out_init(&out, json, sizeof(json));
	sbx_out_str(&out, "{");
	sbx_words_json(report, &out);
	sbx_out_str(&out, "}");
	if (sbx_out_finish(&out) >= sizeof(json))
		BAIL_OUT("a JSON object of %zu bytes", out.want);
	if (out.len > hostile->longest_json)
		hostile->longest_json = out.len;
	fprintf(hostile->json, "%s\n", json);
	for (const char *c = report->given; *c; c++)
		fprintf(hostile->names, "%02x", (unsigned char)*c);
	fputc('\n', hostile->names);
}

/* One name in all its places: path, target, program, given otherwise. */
static void say_hostile(struct hostile *hostile, const char *folder, const char *name)
{
	static char path[2 * PATH_BYTES], text[SBX_TEXT_MAX];
	static const enum sbx_op ops[] = { SBX_OP_READ, SBX_OP_WRITE, SBX_OP_CREATE, SBX_OP_EXEC,
					   SBX_OP_RENAME };
	struct sbx_verdict verdict;
	struct sbx_request request = { .size = 11, .path = path, .to = path };
	struct sbx_report report = { .image = sbx_policy_image(hostile->policy),
				     .request = &request,
				     .verdict = &verdict,
				     .given = name,
				     .given_to = chance(50) ? name : NULL,
				     .cwd = chance(50) ? tree_root : name,
				     .program = chance(50) ? name : NULL,
				     .syscall = "openat" };
	const char *fault;

	snprintf(path, sizeof(path), "%s/%s/%s", tree_root, folder, name);
	request.op = ops[below(COUNT(ops))];
	sbx_eval(report.image, &request, &verdict);
	if (sbx_words_text(&report, text, sizeof(text)) >= sizeof(text))
		fault = "SBX_TEXT_MAX is too small";
	else
		fault = fault_of(text);
	hostile->texts++;
	if (fault && hostile->faults++ < 3)
		diag("%s:\n%s", fault, text);
	write_json(hostile, &report);
}

static const char *const folders[] = { "nowhere",	 "out",	 "portfolio", "portfolio/gone",
				       "portfolio/.git", "docs", "tools" };

static void say_everywhere(struct hostile *hostile, const char *name)
{
	for (size_t i = 0; i < COUNT(folders); i++)
		say_hostile(hostile, folders[i], name);
}

static void say_every_byte(struct hostile *hostile)
{
	for (unsigned int byte = 1; byte < 256; byte++) {
		const char name[] = { 'x', (char)byte, 'y', '\0' };
		const char last[] = { (char)byte, '\0' };

		say_everywhere(hostile, name);
		say_hostile(hostile, "out", last);
	}
}

static void say_every_range(struct hostile *hostile)
{
	static const uint32_t ranges[][2] = { { 0x7f, 0xaf },	     { 0x600, 0x61f },
					      { 0x180b, 0x180f },    { 0x2000, 0x206f },
					      { 0xfe00, 0xfe0f },    { 0xfef0, 0xffff },
					      { 0xd7f0, 0xe00f },    { 0x1d170, 0x1d17f },
					      { 0xdfff0, 0xe0080 },  { 0xe01f0, 0xe0200 },
					      { 0x10fff0, 0x110010 } };

	for (size_t i = 0; i < COUNT(ranges); i++) {
		for (uint32_t c = ranges[i][0]; c <= ranges[i][1]; c++) {
			char name[16] = "a";
			size_t len = 1 + encode(c, name + 1);

			memcpy(name + len, ".md", 4);
			say_hostile(hostile, folders[below(COUNT(folders))], name);
		}
	}
}

/* Any bytes, whole characters, or what is longest when escaped, up to the longest path there is. */
static void say_random(struct hostile *hostile, int count)
{
	static char name[PATH_BYTES + 8];
	static const char *const parts[] = { "\x01",	 "\xe2\x80\xae", "\xf3\xa0\x80\x81",
					     "'",	 "\\",		 "\"",
					     "\xff",	 "\xc3\xa9",	 "/",
					     "a",	 "\xe2\x80",	 "\xed\xa0\x80",
					     "\xc0\xaf", "\n",		 "\x1b[31m",
					     "..." };

	for (int i = 0; i < count; i++) {
		size_t limit = chance(10) ? PATH_BYTES - 1 - strlen(tree_root) - 20 : below(400);
		size_t len = 0;
		bool bytes = chance(30), one = chance(30);
		const char *part = parts[below(COUNT(parts))];

		while (len < limit) {
			char byte[2] = { (char)(1 + below(255)), '\0' };
			const char *next = bytes ? byte : one ? part : parts[below(COUNT(parts))];

			memcpy(name + len, next, strlen(next));
			len += strlen(next);
		}
		name[len] = '\0';
		say_hostile(hostile, folders[below(COUNT(folders))], name);
	}
}

/* Runs python3 with these arguments; its exit status, or -1 when there is no python. */
static int run_python(const char *const args[])
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		(void)!freopen("/dev/null", "w", stdout);
		execvp("python3", (char *const *)args);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status) == 127 ? -1 : WEXITSTATUS(status);
}

static void check_python(const char *json, const char *names)
{
	static const char script[] =
		"import json, sys\n"
		"for line, name in zip(open(sys.argv[1]), open(sys.argv[2])):\n"
		"    path, name = json.loads(line)['path'], bytes.fromhex(name)\n"
		"    try: text = name.decode()\n"
		"    except UnicodeDecodeError: continue\n"
		"    assert path == (text or None), (path, text)\n";
	const char *const tool[] = { "python3", "-m", "json.tool", "--json-lines", json, NULL };
	const char *const compare[] = { "python3", "-c", script, json, names, NULL };
	int status = run_python(tool);

	skip(status < 0, 2, "there is no python3");
	cmp_ok(status, "==", 0, "python reads every line of JSON");
	cmp_ok(run_python(compare), "==", 0, "and finds the names in it as they were");
	end_skip;
}

static void check_hostile(void)
{
	struct hostile hostile = { .policy = load_text(POLICY) };
	const char *json = tree_path("lines.json"), *names = tree_path("names.hex");

	hostile.json = fopen(json, "w");
	hostile.names = fopen(names, "w");
	if (!hostile.json || !hostile.names)
		BAIL_OUT("cannot write in the tree");
	say_every_byte(&hostile);
	say_every_range(&hostile);
	say_random(&hostile, 3000);
	fclose(hostile.json);
	fclose(hostile.names);
	cmp_ok(hostile.faults, "==", 0,
	       "%lu explanations of hostile names are escaped and have lines of 500 bytes at most",
	       hostile.texts);
	cmp_ok(hostile.longest_json, "<", SBX_JSON_MAX, "SBX_JSON_MAX is enough for all of them");
	check_python(json, names);
	sbx_free(hostile.policy);
}

/* Names stand in policies too. What cannot be seen is refused there; the rest must not mislead. */
static void check_hostile_policy(void)
{
	static const char name[] = "out/b): path is allowed. (x'\\";
	struct text text = { .len = 0 };
	const char *said;

	tree_dir(name);
	put(&text, ALONE "tmp = shared\n[path a]\nroot = \"./");
	for (const char *c = name; *c; c++)
		put(&text, "%s%c", *c == '\\' ? "\\" : "", *c);
	put(&text, "\"\nmode = ro\nsuffixes = .md\nreason = it's \\x1b\n");
	said = explain_once(text.bytes, "read /etc/passwd");
	is(fault_of(said) ? fault_of(said) : "", "", "odd roots are shown as they are");
	said = explain_once(text.bytes, "read out/b): path is allowed. (x'\\/x");
	is(fault_of(said) ? fault_of(said) : "", "", "odd names and reasons too");
	like(said, "\\\\\\): path is allowed\\. \\\\\\(x", "and do not end the parentheses");
}

/* --- Suggestions --- */

/* Names that a policy file can hold only with care. The second half is not in the tree. */
static const char *const odd_names[] = {
	"plain",   "x,y",   "q\"q",   "two  blanks", "st*r", "h#sh", "a #b",   "semi;c", "a ;b",
	"${HOME}", "~",	    "~tilde", "back\\",	     "[x]",  "=eq",  "don't",  " start", "end ",
	"sure ?",  "what?", "a.md",   "\xc3\xa9",    "**",   "$",    "b.c,d",  "new",	 "n,w",
	"n\"w",	   "n w",   "n*w",    "n#w",	     "n #w", "n;w",  "${new}", "~new",	 "new\\",
	"new ?",   " new",  "new ",   "n.md",	     "n?"
};
#define ODD_EXISTING 25

/* A policy and the questions about it use few of them, so that they meet. */
static const char *few_names[4];

static void choose_names(void)
{
	for (size_t i = 0; i < COUNT(few_names); i++)
		few_names[i] = odd_names[below(ODD_EXISTING)];
}

static const char *odd_name(void)
{
	return few_names[below(COUNT(few_names))];
}

static const char *new_name(void)
{
	return odd_names[ODD_EXISTING + below(COUNT(odd_names) - ODD_EXISTING)];
}

static void build_odd_tree(void)
{
	char path[PATH_MAX];

	for (int i = 0; i < ODD_EXISTING; i++) {
		for (int k = 0; k < ODD_EXISTING; k++) {
			snprintf(path, sizeof(path), "odd/%s/%s", odd_names[i], odd_names[k]);
			if (k % 3)
				tree_file(path, "text of 16 bytes", 0755);
			else
				tree_dir(path);
		}
	}
}

static void put_quoted(struct text *text, const char *item)
{
	put(text, "\"");
	for (; *item; item++)
		put(text, *item == '"' || *item == '\\' ? "\\%c" : "%c", *item);
	put(text, "\"\n");
}

static void random_target(char out[PATH_MAX])
{
	int len = snprintf(out, PATH_MAX, "./odd");

	for (unsigned int depth = below(4); depth > 0; depth--)
		len += snprintf(out + len, (size_t)(PATH_MAX - len), "/%s", odd_name());
}

static void put_random_rule(struct text *text, int number)
{
	static const char *const keys[] = { "read", "write", "exec", "deny", "hide", "read" };
	static const char *const modes[] = { "none", "ro", "rw", "rx", "rwx", "rwx" };
	char root[PATH_MAX];

	random_target(root);
	/* Two levels exist; a section each would make them the same root. */
	if (strlen(root) > 6 && strchr(root + 6, '/') && strchr(strchr(root + 6, '/') + 1, '/'))
		*strrchr(root, '/') = '\0';
	if (chance(60)) {
		put(text, "[paths]\n%s = ", keys[below(COUNT(keys))]);
		put_quoted(text, root);
		return;
	}
	put(text, "[path s%d]\nmode = %s\n", number, modes[below(COUNT(modes))]);
	if (chance(50))
		put(text, "suffixes = .txt, .csv\n");
	if (chance(30))
		put(text, "max_file_bytes = %u\n", 1 + below(30));
	put(text, "root = ");
	put_quoted(text, root);
}

static void put_random_network(struct text *text)
{
	static const char *const lines[] = {
		"connect = a.example:443",
		"connect = *.example:80",
		"deny = *:25",
		"deny = 10.0.0.0/8:*",
		"bind = 127.0.0.1:80",
		"connect = unix:./odd/plain",
		"deny = unix:./odd/semi;c",
		"connect = localhost:6379",
		"deny = bad.example:*",
	};

	put(text, "[network]\n");
	if (chance(15))
		put(text, "mode = %s\n", chance(50) ? "none" : "filtered");
	else
		for (unsigned int i = below(4); i > 0; i--)
			put(text, "%s\n", lines[below(COUNT(lines))]);
	if (chance(20))
		put(text, "own = no\n");
}

/* Sections with one root are an error: those policies are made anew. */
static struct sbx_policy *random_policy(struct text *text)
{
	struct sbx_policy *policy = NULL;
	struct sbx_errors errors;

	do {
		choose_names();
		text->len = 0;
		put(text, ALONE "tmp = shared\nprotect = %s\n", chance(50) ? "yes" : "no");
		for (int i = (int)below(7); i > 0; i--)
			put_random_rule(text, i);
		put_random_network(text);
	} while (load_try(text->bytes, &policy, &errors) < 0 &&
		 (strstr(errors.list[0].text, "the same root") ||
		  strstr(errors.list[0].text, "contradicts")));
	if (!policy)
		BAIL_OUT("policy.ini:%u: %s in\n%s", errors.list[0].line, errors.list[0].text,
			 text->bytes);
	return policy;
}

/* Whether the target of a question, "./odd/x", is in the tree. */
static bool is_there(const char *target)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", tree_root, target);
	return access(path, F_OK) == 0;
}

/* What is not there can only be created, in a folder that is: nothing is said about other probes. */
static void random_question(char out[PATH_MAX + 32])
{
	static const char *const ops[] = { "read",   "write",  "list", "delete",
					   "rename", "change", "exec" };
	static const char *const peers[] = {
		"connect a.example:443",    "connect b.example:443",
		"connect b.example:25",	    "connect 10.1.2.3:80",
		"connect 93.184.216.34:80", "connect [2001:db8::1]:80",
		"connect bad.example:80",   "connect localhost:6379",
		"connect 127.0.0.1:1",	    "bind 0.0.0.0:8080",
		"bind 127.0.0.1:80",	    "bind [::1]:22",
		"bind 127.0.0.1:25",	    "lookup a.example",
		"lookup b.example",	    "lookup bad.example",
		"connect 0.0.0.0:80",	    "connect [::ffff:1.2.3.4]:80",
		"bind unix:./odd/n.sock",   "bind unix:./odd/x,y/n*.sock",
	};
	char target[PATH_MAX];

	if (chance(20)) {
		snprintf(out, PATH_MAX + 32, "%s", peers[below(COUNT(peers))]);
		return;
	}
	do
		random_target(target);
	while (!is_there(target));
	if (chance(35))
		snprintf(out, PATH_MAX + 32, "create %s/%s%s", target, new_name(),
			 chance(15) ? "/" : "");
	else if (chance(15))
		snprintf(out, PATH_MAX + 32, "connect unix:%s", target);
	else
		snprintf(out, PATH_MAX + 32, "%s %s", ops[below(COUNT(ops))], target);
}

/* The policy as the user would have it after following the advice. */
static bool follow(const char *policy, const struct sbx_report *report,
		   const struct sbx_suggestion *suggestion, const char *line, struct text *out)
{
	const struct sbx_image *image = report->image;
	bool network = !strncmp(line, "connect", 7) || !strncmp(line, "bind", 4);
	const char *drops = !strncmp(line, "max", 3)		     ? "max_file_bytes"
			    : suggestion->kind == SBX_SUGGEST_REMOVE ? "suffixes"
								     : NULL;
	char header[64];
	const char *at, *end;

	out->len = 0;
	if (suggestion->kind == SBX_SUGGEST_LINE) {
		put(out, "%s[%s]\n%s\n", policy, network ? "network" : "paths", line);
		return true;
	}
	if (suggestion->kind == SBX_SUGGEST_MODE) {
		at = strstr(strstr(policy, "[network]"), "mode = none\n");
		put(out, "%.*s%s[network]\n%s\n", (int)(at - policy), policy,
		    at + strlen("mode = none\n"), line);
		return true;
	}
	if (suggestion->kind != SBX_SUGGEST_SECTION && suggestion->kind != SBX_SUGGEST_REMOVE)
		return false;
	snprintf(header, sizeof(header), "[path %s]\n",
		 sbx_str(image, sbx_sections(image)[report->verdict->section].name));
	at = strstr(policy, header) + strlen(header);
	put(out, "%.*s%s\n", (int)(at - policy), policy, line);
	if (drops) {
		end = strstr(at, drops);
		put(out, "%.*s", (int)(end - at), at);
		at = strchr(end, '\n') + 1;
	}
	put(out, "%s", at);
	return true;
}

/* NULL, or why the question is still refused. */
static const char *still_refused(const char *policy_text, const char *question)
{
	static struct sbx_errors errors;
	static struct sbx_asked asked;
	struct sbx_policy *policy = NULL;
	const char *why = NULL;

	if (load_try(policy_text, &policy, &errors) < 0)
		return errors.list[0].text;
	if (load_ask(policy, question, &asked) < 0)
		why = asked.why;
	else if (!asked.verdict.allowed)
		why = sbx_code_name((enum sbx_code)asked.verdict.code);
	sbx_free(policy);
	return why;
}

struct advice {
	unsigned long refused, followed, kinds[SBX_SUGGEST_IMPOSSIBLE + 1];
	int useless, missed;
};

/* Where it is said that no line helps, the obvious one must not. */
static void try_obvious(const char *policy, const struct sbx_asked *asked, const char *question,
			struct advice *advice)
{
	static const char *const keys[] = { "read",  "write", "read",  "write",
					    "write", "write", "write", "exec" };
	struct text *text;

	if (asked->request.op > SBX_OP_EXEC || !asked->request.path)
		return;
	text = calloc(1, sizeof(*text));
	if (!text)
		BAIL_OUT("out of memory");
	put(text, "%s[paths]\n%s = ", policy, keys[asked->request.op]);
	put_quoted(text, asked->request.path);
	if (!still_refused(text->bytes, question) && advice->missed++ < 3)
		diag("%s: it is not said that this helps:\n%s", question, text->bytes);
	free(text);
}

static void try_advice(struct text *policy_text, const struct sbx_policy *policy,
		       const char *question, struct advice *advice)
{
	static struct text followed;
	static struct sbx_asked asked;
	struct sbx_suggestion suggestion;
	struct sbx_report report;
	char line[SBX_LINE_MAX * 4];
	struct sbx_out out;
	const char *why;

	if (load_ask(policy, question, &asked) < 0 || asked.verdict.allowed)
		return;
	advice->refused++;
	report = sbx_asked_report(sbx_policy_image(policy), &asked);
	sbx_suggest(&report, &suggestion);
	advice->kinds[suggestion.kind]++;
	sbx_out_init(&out, line, sizeof(line));
	sbx_suggest_value(&report, &suggestion, &out);
	(void)sbx_out_finish(&out);
	if (suggestion.kind == SBX_SUGGEST_CHANGE || suggestion.kind == SBX_SUGGEST_IMPOSSIBLE)
		try_obvious(policy_text->bytes, &asked, question, advice);
	if (!follow(policy_text->bytes, &report, &suggestion, line, &followed))
		return;
	advice->followed++;
	why = still_refused(followed.bytes, question);
	/* Of two limits that a section sets, one is told at a time. */
	if (why && !strcmp(why, "size") && suggestion.key == SBX_KEY_path_suffixes)
		why = NULL;
	if (why && advice->useless++ < 4)
		diag("'%s' does not help: %s\n%s\nasked: %s", line, why, followed.bytes, question);
}

static void check_suggestions(void)
{
	const char *variant = getenv("SBX_VARIANT"), *seed = getenv("SBX_SEED");
	unsigned long wanted = variant && !strcmp(variant, "asan") ? 500 : 4000;
	static struct text text;
	struct advice advice = { 0 };

	state = seed && *seed ? strtoul(seed, NULL, 0) : (unsigned long)getpid() * 7919 + 1;
	diag("SBX_SEED=%lu", (unsigned long)state);
	build_odd_tree();
	while (advice.followed < wanted && advice.useless < 4) {
		struct sbx_policy *policy = random_policy(&text);

		for (int i = 0; i < 8; i++) {
			char question[PATH_MAX + 32];

			random_question(question);
			try_advice(&text, policy, question, &advice);
		}
		sbx_free(policy);
	}
	cmp_ok(advice.useless, "==", 0, "%lu suggestions were followed, and each one helped",
	       advice.followed);
	cmp_ok(advice.missed, "==", 0, "where none was made, the obvious line would not have");
	for (size_t i = 0; i < COUNT(advice.kinds); i++)
		note("suggestions of kind %zu: %lu", i, advice.kinds[i]);
}

static void check_credentials(void)
{
	static const char *const paths[] = {
		"read /root/.ssh/id_rsa", "read /etc/shadow",  "read .ssh",
		"read out/.env",	  "read x/server.key", "write /root/.aws/credentials"
	};
	static const char *const harmless[] = { "read out/environment", "read /usr/lib/x.key",
						"read x/id_rsa.pub", "read x/.env.example" };
	struct sbx_policy *policy = load_text(ALONE "tmp = shared\n");

	for (size_t i = 0; i < COUNT(paths); i++) {
		const char *text = explain(policy, paths[i]);

		like(text, "\nsbx:   this looks like a credential; no line is suggested\n$",
		     "no line is suggested: %s", paths[i]);
		unlike(text, "To allow", "not even a wider one: %s", paths[i]);
	}
	for (size_t i = 0; i < COUNT(harmless); i++)
		like(explain(policy, harmless[i]), "To allow it", "a line is suggested: %s",
		     harmless[i]);
	sbx_free(policy);
}

/* Text that does not fit is cut between characters, and the length wanted is told. */
static void check_cuts(void)
{
	struct sbx_policy *policy = load_text(POLICY);
	struct sbx_asked asked;
	struct sbx_report report;
	char whole[SBX_TEXT_MAX], part[SBX_TEXT_MAX];
	size_t len;
	int wrong = 0;

	(void)load_ask(policy, "read \xc3\xa9\xe6\x97\xa5\xf0\x9f\x98\x80\xe2\x80\xae", &asked);
	report = sbx_asked_report(sbx_policy_image(policy), &asked);
	len = sbx_words_text(&report, whole, sizeof(whole));
	for (size_t size = 0; size <= len + 1; size++) {
		memset(part, '#', sizeof(part));
		wrong += sbx_words_text(&report, part, size) != len;
		wrong += part[size] != '#';
		if (size > 0)
			wrong += strlen(part) >= size || strncmp(part, whole, strlen(part)) != 0;
	}
	cmp_ok(wrong, "==", 0, "in any buffer the text is a beginning of the whole");
	sbx_free(policy);
}

int main(void)
{
	plan(NO_PLAN);
	state = 1;
	build();
	check_texts();
	check_passing_places();
	check_network_off();
	check_reports();
	check_looked_up();
	check_moved_suffixes();
	check_included_mode();
	check_included_sections();
	check_private_address();
	check_lists();
	check_roots();
	check_profiles();
	check_settings();
	check_credentials();
	check_cuts();
	check_hostile_policy();
	check_hostile();
	check_suggestions();
	done_testing();
}
