/* SPDX-License-Identifier: MIT */
/*
 * What a run says while it goes on, to the word: refusals, limits, the log and the closing summary;
 * that nothing is said twice; and that neither floods, hostile names nor readers that do not read
 * can hold it up.
 */
#include "scene.h"

#include <signal.h>
#include <time.h>

#define POLICY                  \
	ALONE "tmp = shared\n"  \
	      "[paths]\n"       \
	      "read = ./data\n" \
	      "hide = ./gone\n" \
	      "[limits]\n"      \
	      "memory = 512M\n"

#define MB (UINT64_C(1) << 20)
#define GB (UINT64_C(1) << 30)

static const struct launch_end failed = {
	.status = 1, .usage = { .wall_ms = 12345, .cpu_ms = 4099, .memory_peak = 287 * MB }
};

#define HEAD_ALONE "sbx: exit 1 after 12.3s, CPU 4.1s, memory peak 287 MB (limit 512 MB)"
#define HEAD HEAD_ALONE ", "

#define PASSWD                                                                              \
	"sbx: Cannot read '/etc/passwd': path is outside the sandbox.\n"                    \
	"sbx:   Readable paths: %s/data\n"                                                  \
	"sbx:   By: no rule matches; policy.ini decides. Tried by cat[4123] with openat.\n" \
	"sbx:   To allow it, the user can add to [paths] in policy.ini: read = /etc/passwd\n"

static const char *passwd_text(void)
{
	static char text[PATH_MAX + 1000];

	snprintf(text, sizeof(text), PASSWD, tree_root);
	return text;
}

static void check_amounts(void)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} sizes[] = { { 0, "0 bytes" },
		      { 1, "1 byte" },
		      { 1023, "1023 bytes" },
		      { 1024, "1 KB" },
		      { 1536, "1.5 KB" },
		      { 10 * MB, "10 MB" },
		      { 512 * MB, "512 MB" },
		      { 287 * MB + MB / 3, "287 MB" },
		      { 12 * MB + MB / 4, "12.3 MB" },
		      { GB - 1, "1 GB" },
		      { GB + GB / 2, "1.5 GB" },
		      { 1023 * MB, "1023 MB" },
		      { GB * 1024, "1 TB" },
		      { UINT64_MAX, "16 EB" } };
	static const struct {
		uint64_t ms;
		const char *text, *elapsed;
	} times[] = { { 0, "0 ms", "0.00s" },	    { 42, "42 ms", "0.04s" },
		      { 500, "500 ms", "0.50s" },   { 999, "999 ms", "0.99s" },
		      { 1000, "1 s", "1.0s" },	    { 1500, "1.5 s", "1.5s" },
		      { 12345, "12.3 s", "12.3s" }, { 60000, "60 s", "60.0s" },
		      { 59999, "60 s", "60.0s" },   { 3600000, "3600 s", "3600.0s" } };
	char text[32];

	for (size_t i = 0; i < COUNT(sizes); i++) {
		launch_format_size(text, sizes[i].bytes);
		is(text, sizes[i].text, "%ju bytes are %s", (uintmax_t)sizes[i].bytes,
		   sizes[i].text);
	}
	for (size_t i = 0; i < COUNT(times); i++) {
		launch_format_time(text, times[i].ms);
		is(text, times[i].text, "%ju ms are %s", (uintmax_t)times[i].ms, times[i].text);
		launch_format_elapsed(text, times[i].ms);
		is(text, times[i].elapsed, "and have passed as %s", times[i].elapsed);
	}
}

static const struct launch_who node = { .pid = 4123, .name = "node" };
static const struct launch_who odd = { .pid = 7, .exe = "/usr/bin/odd" };
static const struct launch_who unknown = { .pid = 8 };

static const struct {
	struct launch_hit hit;
	const char *text;
} limits[] = {
	{ { LIMIT_MEMORY, 512 * MB, 513 * MB, &node, NULL },
	  "sbx: Stopped: memory limit exceeded (512 MB; peak 513 MB, mostly node[4123]).\n"
	  "sbx:   To allow more: memory = 1G in [limits]\n" },
	{ { LIMIT_MEMORY, 512 * MB, 3 * GB, NULL, NULL },
	  "sbx: Stopped: memory limit exceeded (512 MB; peak 3 GB).\n"
	  "sbx:   To allow more: memory = 4G in [limits]\n" },
	{ { LIMIT_MEMORY, 1536 * MB, 0, &odd, NULL },
	  "sbx: Stopped: memory limit exceeded (1.5 GB; mostly odd[7]).\n"
	  "sbx:   To allow more: memory = 3G in [limits]\n" },
	{ { LIMIT_MEMORY, 100000, 0, &unknown, NULL },
	  "sbx: Stopped: memory limit exceeded (97.7 KB; mostly process[8]).\n"
	  "sbx:   To allow more: memory = 200000 in [limits]\n" },
	{ { LIMIT_MEMORY, INT64_MAX, 0, NULL, NULL },
	  "sbx: Stopped: memory limit exceeded (8 EB).\n" },
	{ { LIMIT_TIMEOUT, 60000, 60001, NULL, NULL },
	  "sbx: Stopped: time limit exceeded (60 s).\n"
	  "sbx:   To allow more: timeout = 2m in [limits]\n" },
	{ { LIMIT_CPU, 30000, 0, &node, NULL },
	  "sbx: Stopped: CPU time limit exceeded (30 s).\n"
	  "sbx:   To allow more: cpu = 1m in [limits]\n" },
	{ { LIMIT_CPU, 250, 0, NULL, NULL },
	  "sbx: Stopped: CPU time limit exceeded (250 ms).\n"
	  "sbx:   To allow more: cpu = 500ms in [limits]\n" },
	{ { LIMIT_PROCESSES, 50, 50, &node, NULL },
	  "sbx: Cannot start another process: 50 are running (limit 50).\n"
	  "sbx:   To allow more: processes = 100 in [limits]\n" },
	{ { LIMIT_PROCESSES, 1, 0, &node, NULL },
	  "sbx: Cannot start another process: 1 is running (limit 1).\n"
	  "sbx:   To allow more: processes = 2 in [limits]\n" },
	{ { LIMIT_PROCESSES, INT32_MAX, 0, NULL, NULL },
	  "sbx: Cannot start another process: 2147483647 are running (limit 2147483647).\n" },
	{ { LIMIT_OPEN_FILES, 256, 0, NULL, NULL },
	  "sbx: Cannot open more files: limit 256.\n"
	  "sbx:   To allow more: open_files = 512 in [limits]\n" },
	{ { LIMIT_FILE_SIZE, 100 * MB, 0, NULL, "/work/a'b\n" },
	  "sbx: Cannot write to '/work/a\\'b\\n': file size limit (100 MB).\n"
	  "sbx:   To allow more: file_size = 200M in [limits]\n" },
	{ { LIMIT_FILE_SIZE, 100 * MB, 0, NULL, NULL },
	  "sbx: Cannot write: file size limit (100 MB).\n"
	  "sbx:   To allow more: file_size = 200M in [limits]\n" },
	{ { LIMIT_DISK, GB, 0, NULL, "/tmp/x" },
	  "sbx: Cannot write to '/tmp/x': private tmp and home are full (1 GB).\n"
	  "sbx:   To allow more: disk = 2G in [limits]\n" },
	{ { LIMIT_OUTPUT, 10 * MB, 0, NULL, NULL },
	  "sbx: Output cut after 10 MB.\n"
	  "sbx:   To allow more: output = 20M in [limits]\n" },
	{ { LIMIT_NONE, 0, 0, NULL, NULL }, "" },
};

static void check_limits(void)
{
	struct scene scene;

	for (size_t i = 0; i < COUNT(limits); i++) {
		scene_begin(&scene, POLICY, VOICE_QUIET);
		launch_report_limit(scene.report, &limits[i].hit);
		launch_report_limit(scene.report, &limits[i].hit);
		is(scene_read(scene.text), limits[i].text, "limit %zu is told in exact words, once",
		   i);
		scene_end(&scene);
	}
	scene_begin(&scene, POLICY "[errors]\nsuggest = no\n", VOICE_QUIET);
	launch_report_limit(scene.report, &limits[0].hit);
	is(scene_read(scene.text),
	   "sbx: Stopped: memory limit exceeded (512 MB; peak 513 MB, mostly node[4123]).\n",
	   "'suggest = no' leaves the last line out");
	scene_end(&scene);
}

#define PTRACE "sbx: Cannot use 'ptrace': system call not allowed in the sandbox.\n"
#define BASE \
	"sbx:   By: the base filter: it reads and steers other processes. Tried by cat[4123].\n"

static const struct {
	const char *policy, *call;
	unsigned int how;
	const struct launch_who *who;
	const char *text;
} calls[] = {
	{ "", "ptrace", REPORT_LOOSENABLE, &cat,
	  PTRACE BASE
	  "sbx:   To allow it, the user can add to [syscalls] in policy.ini: allow = ptrace\n" },
	{ "", "mount", 0, &cat,
	  "sbx: Cannot use 'mount': system call not allowed in the sandbox.\n"
	  "sbx:   By: the base filter: it changes what paths mean. Tried by cat[4123].\n"
	  "sbx:   No policy line can allow it.\n" },
	{ "", "mount", 0, NULL,
	  "sbx: Cannot use 'mount': system call not allowed in the sandbox.\n"
	  "sbx:   By: the base filter: it changes what paths mean.\n"
	  "sbx:   No policy line can allow it.\n" },
	{ "", "new\033[31m", 0, NULL,
	  "sbx: Cannot use 'new\\x1b[31m': system call not allowed in the sandbox.\n"
	  "sbx:   By: the base filter.\n"
	  "sbx:   No policy line can allow it.\n" },
	{ "[errors]\nsuggest = no\n", "ptrace", REPORT_LOOSENABLE, &cat, PTRACE BASE },
	{ "", "ptrace", REPORT_LOOSENABLE | REPORT_COMPLAIN, &cat,
	  PTRACE BASE
	  "sbx:   To allow it, the user can add to [syscalls] in policy.ini: allow = ptrace\n"
	  "sbx:   Only reported: `complain` in [sandbox] lets it pass\n" },
	{ "[syscalls]\ndeny = getpid, @debug\n", "ptrace", REPORT_LOOSENABLE, &cat,
	  PTRACE
	  "sbx:   By: policy.ini:10 deny = @debug. Tried by cat[4123].\n"
	  "sbx:   To allow it, the user can change or remove policy.ini:10 deny = @debug\n" },
	{ "[syscalls]\ndeny = getpid\n", "getpid", 0, NULL,
	  "sbx: Cannot use 'getpid': system call not allowed in the sandbox.\n"
	  "sbx:   By: policy.ini:10 deny = getpid\n"
	  "sbx:   To allow it, the user can change or remove policy.ini:10 deny = getpid\n" },
	{ "[syscalls]\ndeny = mount\n", "mount", 0, NULL,
	  "sbx: Cannot use 'mount': system call not allowed in the sandbox.\n"
	  "sbx:   By: policy.ini:10 deny = mount\n"
	  "sbx:   No policy line can allow it.\n" },
};

static void check_calls(void)
{
	for (size_t i = 0; i < COUNT(calls); i++) {
		struct scene scene;
		char policy[1000];

		snprintf(policy, sizeof(policy), "%s%s", POLICY, calls[i].policy);
		scene_begin(&scene, policy, VOICE_QUIET);
		launch_report_syscall(scene.report, calls[i].call, calls[i].how, calls[i].who);
		is(scene_read(scene.text), calls[i].text, "call %zu is refused in exact words", i);
		scene_end(&scene);
	}
}

static void check_once(void)
{
	const struct launch_who other = { .pid = 4124, .name = "cat" };
	struct scene scene;

	scene_begin(&scene, POLICY, VOICE_QUIET);
	scene_deny(&scene, SBX_OP_READ, "/etc/passwd", &cat);
	is(scene_read(scene.text), passwd_text(), "a refusal is explained as the engine has it");
	for (int i = 0; i < 41; i++)
		scene_deny(&scene, SBX_OP_READ, "/etc/passwd", &cat);
	is(scene_read(scene.text), "", "and not again to the same process");
	scene_deny(&scene, SBX_OP_READ, "/etc/passwd", &other);
	like(scene_read(scene.text), "Tried by cat\\[4124\\]", "another process is told, too");
	scene_deny(&scene, SBX_OP_WRITE, "/etc/passwd", &cat);
	like(scene_read(scene.text), "^sbx: Cannot write to '/etc/passwd'", "another kind is told");
	scene_deny(&scene, SBX_OP_READ, "/etc/passwd-", &cat);
	like(scene_read(scene.text), "^sbx: Cannot read '/etc/passwd-'", "another target is told");
	launch_report_end(scene.report, &failed);
	is(scene_read(scene.text),
	   "sbx: Cannot read '/etc/passwd': path is outside the sandbox, and 41 more like it\n",
	   "at exit it says how many more there were; quietly, that is all");
	scene_end(&scene);
	scene_begin(&scene, POLICY, VOICE_QUIET);
	for (int target = 1; target <= 6; target++)
		for (int i = 0; i < 10 * target; i++) {
			char path[32];

			snprintf(path, sizeof(path), "/etc/%d", target);
			scene_deny(&scene, SBX_OP_READ, path, &cat);
		}
	(void)scene_read(scene.text);
	launch_report_end(scene.report, &failed);
	is(scene_read(scene.text),
	   "sbx: Cannot read '/etc/6': path is outside the sandbox, and 59 more like it\n"
	   "sbx: Cannot read '/etc/5': path is outside the sandbox, and 49 more like it\n"
	   "sbx: Cannot read '/etc/4': path is outside the sandbox, and 39 more like it\n"
	   "sbx: Cannot read '/etc/3': path is outside the sandbox, and 29 more like it\n"
	   "sbx: and 28 more like others explained before\n",
	   "of many, those that were met most often are named");
	scene_end(&scene);
}

static void check_voices(void)
{
	static const struct {
		enum launch_voice voice;
		bool refusal, hidden, summary;
	} voices[] = { { VOICE_NOTHING, false, false, false },
		       { VOICE_QUIET, true, false, false },
		       { VOICE_NORMAL, true, false, true },
		       { VOICE_VERBOSE, true, true, true } };
	static const struct {
		const char *to;
		bool text, log;
	} ways[] = { { "", true, true },
		     { "[errors]\nto = stderr\n", true, false },
		     { "[errors]\nto = log\n", false, true },
		     { "[errors]\nto = none\n", false, false } };
	struct scene scene;

	for (size_t i = 0; i < COUNT(voices); i++) {
		scene_begin(&scene, POLICY, voices[i].voice);
		scene_deny(&scene, SBX_OP_READ, "/etc/passwd", &cat);
		ok(!!*scene_read(scene.text) == voices[i].refusal, "voice %zu: refusals", i);
		scene_deny(&scene, SBX_OP_READ, tree_path("gone"), &cat);
		ok(!!*scene_read(scene.text) == voices[i].hidden, "voice %zu: hidden places", i);
		like(scene_read(scene.log), "\"code\":\"hidden\"", "voice %zu: the log has all", i);
		launch_report_end(scene.report, &failed);
		ok(!!*scene_read(scene.text) == voices[i].summary, "voice %zu: summary", i);
		scene_end(&scene);
		scene_begin(&scene, POLICY, voices[i].voice);
		launch_report_end(scene.report, &failed);
		is(scene_read(scene.text), voices[i].voice == VOICE_VERBOSE ? HEAD_ALONE "\n" : "",
		   "voice %zu: without a refusal", i);
		scene_end(&scene);
	}
	for (size_t i = 0; i < COUNT(ways); i++) {
		char policy[1000];

		snprintf(policy, sizeof(policy), "%s%s", POLICY, ways[i].to);
		scene_begin(&scene, policy, VOICE_QUIET);
		scene_deny(&scene, SBX_OP_READ, "/etc/passwd", &cat);
		ok(!!*scene_read(scene.text) == ways[i].text, "way %zu: text", i);
		ok(!!*scene_read(scene.log) == ways[i].log, "way %zu: log", i);
		scene_end(&scene);
	}
}

static void check_summary(void)
{
	struct launch_end end = failed;
	struct scene scene;

	scene_begin(&scene, POLICY, VOICE_NORMAL);
	scene_deny(&scene, SBX_OP_WRITE, "/etc/hosts", &cat);
	scene_deny(&scene, SBX_OP_WRITE, "/etc/resolv.conf", &cat);
	scene_connect(&scene, "example.com", 443);
	(void)scene_read(scene.text);
	launch_report_end(scene.report, &end);
	is(scene_read(scene.text),
	   HEAD "3 refusals (2 kinds)\n"
		"sbx:   2 \xc3\x97 write outside: /etc/hosts, /etc/resolv.conf\n"
		"sbx:   1 \xc3\x97 connect: example.com:443\n",
	   "the summary groups refusals by kind");
	scene_end(&scene);
	scene_begin(&scene, POLICY, VOICE_NORMAL);
	for (int i = 0; i < 6; i++)
		launch_report_limit(scene.report, &limits[8].hit);
	launch_report_syscall(scene.report, "ptrace", 0, &cat);
	launch_report_syscall(scene.report, "mount", REPORT_COMPLAIN, &cat);
	(void)scene_read(scene.text);
	end = (struct launch_end){ .status = 137, .signal = SIGKILL, .hit = limits[0].hit };
	launch_report_end(scene.report, &end);
	is(scene_read(scene.text),
	   "sbx: Stopped: memory limit exceeded (512 MB; peak 513 MB, mostly node[4123]).\n"
	   "sbx:   To allow more: memory = 1G in [limits]\n"
	   "sbx: Cannot start another process: 50 are running (limit 50), and 5 more like it\n"
	   "sbx: exit 137 (SIGKILL) after 0.00s, CPU 0.00s, 1 refusal (1 kind), 1 only reported "
	   "(1 kind)\n"
	   "sbx:   6 \xc3\x97 processes limit\n"
	   "sbx:   1 \xc3\x97 syscall: ptrace\n"
	   "sbx:   1 \xc3\x97 syscall (only reported): mount\n"
	   "sbx:   1 \xc3\x97 memory limit\n",
	   "limits and what was let pass are told apart, and the limit that ended the run is told");
	scene_end(&scene);
}

static void check_long_summary(void)
{
	static const enum sbx_op ops[] = { SBX_OP_READ,	  SBX_OP_WRITE,	 SBX_OP_LIST,
					   SBX_OP_CREATE, SBX_OP_DELETE, SBX_OP_RENAME,
					   SBX_OP_CHANGE, SBX_OP_EXEC };
	static const char *const names[] = { "\n", "\x1b[2J", "\xe2\x80\xae", "\xff\xfe",
					     "sbx: \r" };
	struct scene scene;
	char path[PATH_MAX];
	const char *text;
	size_t longest = 0;

	scene_begin(&scene, POLICY, VOICE_NORMAL);
	for (size_t op = 0; op < COUNT(ops); op++)
		for (size_t i = 0; i < COUNT(names); i++) {
			size_t len = (size_t)snprintf(path, sizeof(path), "/%zu", i);

			while (len + strlen(names[i]) < 3000)
				len += (size_t)snprintf(path + len, sizeof(path) - len, "%s",
							names[i]);
			scene_deny(&scene, ops[op], path, &cat);
			scene_deny(&scene, ops[op], path, &cat);
		}
	launch_report_syscall(scene.report, "ptrace", 0, &cat);
	scene_connect(&scene, "example.com", 443);
	(void)scene_read(scene.text);
	launch_report_end(scene.report, &failed);
	text = scene_read(scene.text);
	like(text, "\nsbx:   10 \xc3\x97 read outside: /0[^,]*, /1[^,]*, /2[^,]* and 2 more\n",
	     "few targets are named");
	like(text, "\nsbx:   and 2 of 2 other kinds\n$", "and few kinds");
	unlike(text, "[\x01-\x09\x0b-\x1f]|\xe2\x80\xae|\xff", "hostile bytes are escaped");
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		size_t len = strcspn(line, "\n") + 1;

		longest = len > longest ? len : longest;
		if (strncmp(line, "sbx: ", 5) != 0)
			fail("a line is not ours: %s", line);
	}
	cmp_ok(longest, "<=", 500, "lines have 500 bytes at most");
	scene_end(&scene);
}

static const char log_script[] =
	"import json, sys, re\n"
	"lines = [json.loads(l) for l in open(sys.argv[1])]\n"
	"assert [l['event'] for l in lines] == ['start', 'denial', 'denial', 'limit', "
	"'would_deny',\n"
	"    'denial', 'exit'], lines\n"
	"for l in lines:\n"
	"    assert l['v'] == 1 and l['run'] == 'r1'\n"
	"    assert re.fullmatch(r'\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z', "
	"l['time'])\n"
	"start, read, net, limit, call, again, end = lines\n"
	"assert start['command'] == ['node', 'a\\nb', '\\\\xff'] and start['pid'] == 99\n"
	"assert start['policy'] == 'policy.ini' and start['layers'] == {'landlock': 7}\n"
	"members = set('v time run event op code resolved syscall errno pid exe cwd layer rule '\n"
	"    'allowed suggest reason message count'.split())\n"
	"assert set(read) == members | {'path'}, set(read) ^ members\n"
	"assert set(net) == members | {'dest'}, set(net) ^ members\n"
	"assert set(call) == members | {'path'}, set(call) ^ members\n"
	"assert set(limit) == members | {'path', 'resource', 'limit', 'peak'}, set(limit) ^ "
	"members\n"
	"assert (read['op'], read['code'], read['path'], read['errno'], read['syscall'], "
	"read['pid'],\n"
	"    read['exe'], read['cwd'], read['layer'], read['count'], read['suggest']) == ('read',\n"
	"    'outside', '/etc/passwd', 'EACCES', 'openat', 4123, '/usr/bin/cat', '/work', "
	"'landlock',\n"
	"    1, 'read = /etc/passwd')\n"
	"assert read['message'].startswith(\"sbx: Cannot read '/etc/passwd'\")\n"
	"assert net['op'] == 'connect' and net['dest'] == 'example.com:443'\n"
	"assert (limit['code'], limit['resource'], limit['limit'], limit['peak'], limit['errno'],\n"
	"    limit['layer']) == ('limit', 'processes', 50, 50, 'EAGAIN', 'limit')\n"
	"assert (call['op'], call['code'], call['syscall'], call['errno'], call['layer'],\n"
	"    call['suggest']) == ('syscall', 'syscall', 'ptrace', 'EPERM', 'seccomp',\n"
	"    'allow = ptrace')\n"
	"assert again['path'] == '/etc/passwd' and again['count'] == 41\n"
	"assert (end['exit_code'], end['signal'], end['timed_out'], end['refusals'], "
	"end['kinds'],\n"
	"    end['would_deny'], end['limits'], end['not_logged']) == (1, None, False, 43, 2, 1, 1, "
	"0)\n"
	"assert end['limit'] is None and end['usage']['wall_ms'] == 12345\n";

static void check_log(void)
{
	static const char *const argv[] = { "node", "a\nb", "\xff", NULL };
	struct scene scene;

	scene_begin(&scene, POLICY, VOICE_NOTHING);
	launch_report_start(scene.report, argv, 99, "{\"landlock\":7}");
	for (int i = 0; i < 42; i++)
		scene_deny(&scene, SBX_OP_READ, "/etc/passwd", &cat);
	scene_connect(&scene, "example.com", 443);
	launch_report_limit(scene.report, &limits[8].hit);
	launch_report_syscall(scene.report, "ptrace", REPORT_LOOSENABLE | REPORT_COMPLAIN, &cat);
	launch_report_end(scene.report, &failed);
	PYTHON_OK(log_script, tree_path("log"), "the log has every member of every event");
	is(scene_read(scene.text), "", "with '-qq' there is no text at all");
	scene_end(&scene);
}

static void check_long_command(void)
{
	static char argument[100000];
	const char *const argv[] = { "a", argument, argument, NULL };
	struct scene scene;
	const char *line;

	memset(argument, 1, sizeof(argument) - 1);
	scene_begin(&scene, POLICY, VOICE_NOTHING);
	launch_report_start(scene.report, argv, 99, NULL);
	line = scene_read(scene.log);
	like(line, "\"command\":\\[\"a\"\\],\"arguments_left_out\":2,.*\"layers\":\\{\\}\\}\n$",
	     "of an endless command the log has the beginning");
	scene_end(&scene);
}

/* --- Attacks --- */

static void check_hostile_names(void)
{
	static const char script[] = "import json, sys\n"
				     "for l in open(sys.argv[1], 'rb'): json.loads(l.decode())\n";
	struct launch_who who = { .pid = 1 };
	struct scene scene;
	bool clean = true;

	scene_begin(&scene, POLICY, VOICE_VERBOSE);
	for (unsigned int byte = 1; byte < 256; byte++) {
		const char path[] = { '/', 'x', (char)byte, 'y', '\0' };
		const char *text;

		who.pid = (pid_t)byte;
		memset(who.name, (int)byte, sizeof(who.name) - 1);
		memset(who.exe, (int)byte, sizeof(who.exe) - 1);
		memset(who.cwd, (int)byte, sizeof(who.cwd) - 1);
		scene_deny(&scene, SBX_OP_READ, path, &who);
		launch_report_syscall(scene.report, path, REPORT_LOOSENABLE, &who);
		launch_report_limit(scene.report, &(struct launch_hit){ .limit = LIMIT_FILE_SIZE,
									.value = 1,
									.who = &who,
									.path = path });
		text = scene_read(scene.text);
		for (; *text; text++)
			clean &= (*text >= 0x20 && *text < 0x7f) || *text == '\n';
	}
	ok(clean, "every byte in every name comes out as something to see");
	launch_report_end(scene.report, &failed);
	PYTHON_OK(script, tree_path("log"), "and is valid JSON in the log");
	scene_end(&scene);
}

static double seconds_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

static size_t count_of(const char *text, const char *word)
{
	size_t count = 0;

	while ((text = strstr(text, word))) {
		count++;
		text++;
	}
	return count;
}

static void check_flood(void)
{
	struct scene scene;
	struct timespec start;
	const char *text;
	char path[64];
	struct stat log;

	scene_begin(&scene, POLICY, VOICE_NORMAL);
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (int i = 0; i < 100000; i++) {
		snprintf(path, sizeof(path), "/flood/%d", i);
		scene_deny(&scene, SBX_OP_READ, path, &cat);
	}
	note("100,000 refusals took %.2f s", seconds_since(&start));
	cmp_ok((intmax_t)seconds_since(&start), "<", 20, "a flood of refusals is not slow");
	text = scene_read(scene.text);
	cmp_ok(count_of(text, "sbx: Cannot read"), "==", REPORT_EXPLAINED, "few are explained");
	cmp_ok(count_of(text, "only counted"), "==", 1, "and it is said once that no more are");
	scene_connect(&scene, "example.com", 443);
	like(scene_read(scene.text), "^sbx: Cannot connect to 'example\\.com:443'",
	     "a flood does not hide another kind");
	launch_report_end(scene.report, &failed);
	is(scene_read(scene.text),
	   HEAD "100001 refusals (2 kinds)\n"
		"sbx:   100000 \xc3\x97 read outside: /flood/0, /flood/1, /flood/2 and 509 or "
		"more others\n"
		"sbx:   1 \xc3\x97 connect: example.com:443\n",
	   "all are counted");
	fstat(scene.log, &log);
	cmp_ok(log.st_size, "<", 2000000, "the log does not grow without bound");
	text = scene_read(scene.log);
	like(text, "\"refusals\":100001,\"kinds\":2,.*\"not_logged\":99488\\}\n$",
	     "and says how many it does not have");
	like(text, "\"dest\":\"example.com:443\"", "but not those of another kind");
	scene_end(&scene);
}

static void fill(int fd)
{
	static const char bytes[4096];
	int flags = fcntl(fd, F_GETFL);

	(void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	while (write(fd, bytes, sizeof(bytes)) > 0)
		continue;
	(void)fcntl(fd, F_SETFL, flags);
}

/* Standard error that blocks, and a log that does not, or the other way round. */
static void check_full_pipes(int text_flags, int log_flags, const char *name)
{
	struct scene scene;
	struct timespec start;
	int text[2], log[2];
	char path[64];

	if (pipe2(text, text_flags) < 0 || pipe2(log, log_flags) < 0)
		BAIL_OUT("no pipes");
	fill(text[1]);
	fill(log[1]);
	clock_gettime(CLOCK_MONOTONIC, &start);
	scene_begin_on(&scene, POLICY, VOICE_NORMAL, text[1], log[1]);
	alarm(30);
	for (int i = 0; i < 100; i++) {
		snprintf(path, sizeof(path), "/full/%d", i);
		scene_deny(&scene, SBX_OP_READ, path, &cat);
	}
	launch_report_end(scene.report, &failed);
	alarm(0);
	cmp_ok((intmax_t)seconds_since(&start), "<", 10, "%s that is full holds up nothing", name);
	ok((fcntl(text[1], F_GETFL) & O_NONBLOCK) == text_flags &&
		   (fcntl(log[1], F_GETFL) & O_NONBLOCK) == log_flags,
	   "and keeps its flags");
	scene_end(&scene);
	close(text[0]);
	close(log[0]);
}

/* A reader that comes back finds whole lines, but for the one that was cut. */
static void check_torn(void)
{
	static char bytes[1 << 20];
	static const char *const argv[] = { "a", NULL };
	static char layers[20000];
	struct scene scene;
	int log[2];
	ssize_t len;
	const char *line = bytes;

	if (pipe(log) < 0)
		BAIL_OUT("no pipes");
	(void)fcntl(log[1], F_SETPIPE_SZ, 16384);
	memset(layers, ' ', sizeof(layers) - 1);
	layers[0] = '{';
	layers[sizeof(layers) - 2] = '}';
	scene_begin_on(&scene, POLICY, VOICE_NOTHING, -1, log[1]);
	launch_report_start(scene.report, argv, 1, layers);
	len = read(log[0], bytes, sizeof(bytes) / 2);
	scene_deny(&scene, SBX_OP_READ, "/etc/passwd", &cat);
	len += read(log[0], bytes + len, sizeof(bytes) / 2);
	bytes[len] = '\0';
	line = strchr(line, '\n');
	ok(line && strncmp(line + 1, "{\"v\":1", 6) == 0 && bytes[len - 1] == '\n' &&
		   !strchr(line + 1, '\n')[1],
	   "a line that found no room does not spoil the next one");
	scene_end(&scene);
	close(log[0]);
}

static void check_closed(void)
{
	struct scene scene;
	int text[2];
	int number = fcntl(1, F_DUPFD, 500);

	if (pipe(text) < 0 || number < 0)
		BAIL_OUT("no pipes");
	signal(SIGPIPE, SIG_DFL);
	close(text[0]);
	close(number);
	scene_begin_on(&scene, POLICY, VOICE_VERBOSE, text[1], number);
	scene_deny(&scene, SBX_OP_READ, "/etc/passwd", &cat);
	launch_report_end(scene.report, &failed);
	pass("a reader that went away and a descriptor that is closed end nothing");
	scene.log = -1;
	scene_end(&scene);
	scene_begin_on(&scene, POLICY, VOICE_VERBOSE, -1, -1);
	scene_deny(&scene, SBX_OP_READ, "/etc/passwd", &cat);
	launch_report_limit(scene.report, &limits[0].hit);
	launch_report_end(scene.report, &failed);
	pass("nor does having nowhere to say it");
	scene_end(&scene);
	launch_report_free(NULL);
}

static void check_full_disk(void)
{
	struct scene scene;
	int full = open("/dev/full", O_WRONLY);

	scene_begin_on(&scene, POLICY, VOICE_NORMAL, -1, full);
	scene_deny(&scene, SBX_OP_READ, "/etc/passwd", &cat);
	launch_report_end(scene.report, &failed);
	pass("a log that is full ends nothing");
	scene_end(&scene);
}

int main(void)
{
	plan(NO_PLAN);
	tree_begin();
	tree_dir("data");
	check_amounts();
	check_limits();
	check_calls();
	check_once();
	check_voices();
	check_summary();
	check_long_summary();
	check_log();
	check_long_command();
	check_hostile_names();
	check_flood();
	check_full_pipes(0, O_NONBLOCK, "a blocking pipe");
	check_full_pipes(O_NONBLOCK, 0, "a non-blocking pipe");
	check_torn();
	check_closed();
	check_full_disk();
	done_testing();
}
