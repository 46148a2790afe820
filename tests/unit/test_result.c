/* SPDX-License-Identifier: MIT */
/*
 * The object of --json: its members, for every way a run can end; any bytes as streams, also many;
 * and readers that are slow or go away.
 */
#include "scene.h"

#include <signal.h>
#include <stdarg.h>

#define POLICY ALONE "tmp = shared\n[limits]\nmemory = 512M\n"

#define MB (UINT64_C(1) << 20)
#define BIG (10 * MB)

/* Prepares 'o', the object, and 'text', its bytes as text. */
#define READ                                                            \
	"import json, sys\n"                                            \
	"def read(name):\n"                                             \
	"    global text, o\n"                                          \
	"    text = open(sys.argv[1] + name, 'rb').read().decode()\n"   \
	"    o = json.loads(text)\n"                                    \
	"    assert text.endswith('}\\n') and text.count('\\n') == 1\n" \
	"read('')\n"

static const char *result_file(void)
{
	return tree_path("result");
}

/* The object, into a file of the tree. */
static void write_result_to(const char *name, const struct scene *scene,
			    const struct launch_end *end, const struct launch_stream *out,
			    const struct launch_stream *err)
{
	int fd = scene_file(name);

	if (launch_report_result(scene->report, end, out, err, "{\"seccomp\":true}", fd) < 0)
		fail("the result can be written");
	close(fd);
}

static void write_result(const struct scene *scene, const struct launch_end *end)
{
	write_result_to("result", scene, end, NULL, NULL);
}

/* A script that grows: one start of python is for many cases. */
struct script {
	char text[16384];
	size_t len;
};

__attribute__((format(printf, 2, 3))) static void add(struct script *script, const char *format,
						      ...)
{
	va_list args;

	va_start(args, format);
	script->len += (size_t)vsnprintf(script->text + script->len,
					 sizeof(script->text) - script->len, format, args);
	va_end(args);
	if (script->len >= sizeof(script->text))
		BAIL_OUT("a script became too long");
}

static const struct {
	struct launch_end end;
	const char *expected;
} ends[] = {
	{ { .status = 0 },
	  "'success': True, 'exit_code': 0, 'signal': None, 'timed_out': False, 'limit': None" },
	{ { .status = 3 },
	  "'success': False, 'exit_code': 3, 'signal': None, 'timed_out': False, 'limit': None" },
	{ { .status = 143, .signal = SIGTERM },
	  "'success': False, 'exit_code': 143, 'signal': 'SIGTERM', 'timed_out': False, "
	  "'limit': None" },
	{ { .status = 128 + 36, .signal = 36 },
	  "'success': False, 'exit_code': 164, 'signal': 'SIGRTMIN+2', 'timed_out': False, "
	  "'limit': None" },
	{ { .status = 124, .signal = SIGKILL, .hit = { .limit = LIMIT_TIMEOUT, .value = 60000 } },
	  "'success': False, 'exit_code': 124, 'signal': 'SIGKILL', 'timed_out': True, "
	  "'limit': {'resource': 'timeout', 'limit': 60000, 'peak': None}" },
	{ { .status = 124, .hit = { .limit = LIMIT_CPU, .value = 30000, .peak = 30010 } },
	  "'success': False, 'exit_code': 124, 'signal': None, 'timed_out': True, "
	  "'limit': {'resource': 'cpu', 'limit': 30000, 'peak': 30010}" },
	{ { .status = 137,
	    .signal = SIGKILL,
	    .hit = { .limit = LIMIT_MEMORY, .value = 512 * MB, .peak = 513 * MB } },
	  "'success': False, 'exit_code': 137, 'signal': 'SIGKILL', 'timed_out': False, "
	  "'limit': {'resource': 'memory', 'limit': 536870912, 'peak': 537919488}" },
	{ { .status = 0, .hit = { .limit = LIMIT_MEMORY, .value = 1 } },
	  "'success': False, 'exit_code': 0, 'signal': None, 'timed_out': False, "
	  "'limit': {'resource': 'memory', 'limit': 1, 'peak': None}" },
};

static void check_ends(void)
{
	const struct launch_stream out = { "hello\n", 6, false };
	struct script script = { .len = 0 };
	struct scene scene;

	scene_begin(&scene, POLICY, VOICE_NOTHING);
	write_result(&scene, &ends[0].end);
	add(&script, "%s",
	    READ "def check(name, **end):\n"
		 "    read(name)\n"
		 "    wanted = {**end, 'v': 1, 'stdout': 'hello\\n', 'stderr': '',\n"
		 "        'truncated': False, 'violations': [], 'layers': {'seccomp': True},\n"
		 "        'usage': {'wall_ms': 1, 'cpu_ms': 2, 'memory_peak_bytes': 3,\n"
		 "        'processes_peak': 4}}\n"
		 "    assert o == wanted, (name, o)\n");
	for (size_t i = 0; i < COUNT(ends); i++) {
		struct launch_end end = ends[i].end;
		char name[32];

		end.usage = (struct launch_usage){ 1, 2, 3, 4 };
		snprintf(name, sizeof(name), "result-end%zu", i);
		write_result_to(name, &scene, &end, &out, NULL);
		add(&script, "check('-end%zu', **{%s})\n", i, ends[i].expected);
	}
	PYTHON_OK(script.text, result_file(), "however a run ends, the object has these members");
	scene_end(&scene);
}

/* Bytes of a stream, and what python reads of them. */
static const struct {
	const char *bytes;
	size_t len;
	const char *text;
	bool cut, replaced;
} streams[] = {
	{ "", 0, "''", false, false },
	{ "a\0b", 3, "'a\\0b'", false, false },
	{ "\"\\/\b\f\n\r\t\x1f\x7f", 10, "'\"\\\\/\\b\\f\\n\\r\\t\\x1f\\x7f'", false, false },
	{ "\xc3\xa9\xe2\x80\xae\xf0\x9f\x98\x80\xe2\x80\xa8", 12,
	  "'\\xe9\\u202e\\U0001f600\\u2028'", false, false },
	{ "a\xff", 2, "'a\\ufffd'", false, true },
	{ "\xed\xa0\x80", 3, "'\\ufffd' * 3", false, true },
	{ "\xc0\xaf\xf5", 3, "'\\ufffd' * 3", false, true },
	{ "a\xf0\x9f\x98", 4, "'a' + '\\ufffd' * 3", false, true },
	{ "a\xf0\x9f\x98", 4, "'a'", true, false },
	{ "a\xc3", 2, "'a'", true, false },
	{ "a\xc3\xa9", 3, "'a\\xe9'", true, false },
	{ "\xa9\xa9\xa9\xa9", 4, "'\\ufffd' * 4", true, true },
	{ "\xc3", 1, "''", true, false },
	{ "\xff\xc3", 2, "'\\ufffd'", true, true },
	{ "\xe2\x80\xae", 3, "'\\u202e'", true, false },
};

static void check_streams(void)
{
	const struct launch_end end = { .status = 0 };
	struct script script = { .len = 0 };
	struct scene scene;

	scene_begin(&scene, POLICY, VOICE_NOTHING);
	add(&script, "%s",
	    READ "def check(name, which, wanted, replaced, cut):\n"
		 "    read(name)\n"
		 "    assert o[which] == wanted, (name, ascii(o[which]))\n"
		 "    assert ('stdout_replaced' in o) == (replaced and which == 'stdout'), name\n"
		 "    assert ('stderr_replaced' in o) == (replaced and which == 'stderr'), name\n"
		 "    assert o['truncated'] == cut, name\n");
	for (size_t i = 0; i < COUNT(streams) * 2; i++) {
		const struct launch_stream stream = { streams[i / 2].bytes, streams[i / 2].len,
						      streams[i / 2].cut };
		char name[32];

		snprintf(name, sizeof(name), "result-%zu", i);
		write_result_to(name, &scene, &end, i % 2 ? NULL : &stream, i % 2 ? &stream : NULL);
		add(&script, "check('-%zu', '%s', %s, %d, %d)\n", i, i % 2 ? "stderr" : "stdout",
		    streams[i / 2].text, streams[i / 2].replaced, streams[i / 2].cut);
	}
	PYTHON_OK(script.text, result_file(), "streams are told as they were, or marked");
	scene_end(&scene);
}

static void check_violations(void)
{
	static const char script[] =
		READ "v = o['violations']\n"
		     "assert [(x['event'], x['op'], x['count']) for x in v] == [\n"
		     "    ('denial', 'read', 3), ('would_deny', 'syscall', 1),\n"
		     "    ('limit', None, 2)], v\n"
		     "assert v[0]['path'] == '/etc/passwd' and v[0]['run'] == 'r1'\n"
		     "assert v[0]['message'].startswith('sbx: Cannot read')\n"
		     "assert v[2]['resource'] == 'processes' and v[2]['code'] == 'limit'\n"
		     "assert 'violations_left_out' not in o\n"
		     "assert o['success'] is True\n";
	const struct launch_end end = { .status = 0 };
	const struct launch_hit processes = { .limit = LIMIT_PROCESSES, .value = 5 };
	const struct launch_hit output = { .limit = LIMIT_OUTPUT, .value = BIG };
	struct scene scene;

	scene_begin(&scene, POLICY "[errors]\nto = none\n", VOICE_NOTHING);
	for (int i = 0; i < 3; i++)
		scene_deny(&scene, SBX_OP_READ, "/etc/passwd", &cat);
	launch_report_syscall(scene.report, "ptrace", REPORT_COMPLAIN, &cat);
	launch_report_limit(scene.report, &processes);
	launch_report_limit(scene.report, &processes);
	launch_report_limit(scene.report, &output);
	launch_report_end(scene.report, &end);
	write_result(&scene, &end);
	PYTHON_OK(script, result_file(), "violations are listed with their counts");
	scene_end(&scene);
}

static void check_flood(void)
{
	static const char script[] =
		READ "v = o['violations']\n"
		     "assert sum(x['count'] for x in v) + o['violations_left_out'] == 70001\n"
		     "assert 100 < len(v) <= 1002, len(v)\n"
		     "assert len(text) < 6 << 20, len(text)\n"
		     "assert any(x.get('dest') == 'example.com:443' for x in v)\n";
	static const enum sbx_op ops[] = { SBX_OP_READ,	  SBX_OP_WRITE,	 SBX_OP_LIST,
					   SBX_OP_CREATE, SBX_OP_DELETE, SBX_OP_RENAME,
					   SBX_OP_CHANGE };
	const struct launch_end end = { .status = 0 };
	static char path[3000];
	struct scene scene;

	scene_begin(&scene, POLICY, VOICE_NOTHING);
	for (size_t op = 0; op < COUNT(ops); op++)
		for (int i = 0; i < 10000; i++) {
			int len = snprintf(path, sizeof(path), "/%d/", i);

			if (i < 2000)
				memset(path + len, 1 + i % 31, sizeof(path) - 1 - (size_t)len);
			scene_deny(&scene, ops[op], path, &cat);
		}
	scene_connect(&scene, "example.com", 443);
	write_result(&scene, &end);
	PYTHON_OK(script, result_file(),
		  "of a flood the object has some of each kind, and the number of the others");
	scene_end(&scene);
}

/* Reads what comes in small sips, and writes it to the result's file. */
static pid_t start_reader(int from, int other, size_t most)
{
	pid_t child = fork();
	char bytes[4000];
	ssize_t len;
	size_t all = 0;
	int fd;

	if (child != 0)
		return child;
	close(other);
	fd = scene_file("result");
	while (all < most && (len = read(from, bytes, sizeof(bytes))) > 0) {
		if (write(fd, bytes, (size_t)len) != len)
			_exit(1);
		all += (size_t)len;
	}
	_exit(0);
}

static int send_result(const struct scene *scene, const struct launch_stream *stream, size_t most)
{
	const struct launch_end end = { .status = 0 };
	int fds[2], error;
	pid_t child;

	if (pipe2(fds, O_NONBLOCK) < 0)
		BAIL_OUT("no pipes");
	(void)fcntl(fds[0], F_SETFL, 0);
	child = start_reader(fds[0], fds[1], most);
	close(fds[0]);
	error = launch_report_result(scene->report, &end, stream, stream, NULL, fds[1]);
	close(fds[1]);
	(void)waitpid(child, NULL, 0);
	return error;
}

static void check_big(void)
{
	static const char script[] =
		READ "import codecs\n"
		     "codecs.register_error('each', lambda e: ('\\ufffd', e.start + 1))\n"
		     "data = open(sys.argv[1][:-6] + 'raw', 'rb').read()\n"
		     "assert o['stdout'] == o['stderr'] == data.decode('utf-8', 'each')\n"
		     "assert o['stdout_replaced'] and o['layers'] == {}\n";
	char *bytes = malloc(BIG);
	const struct launch_stream stream = { bytes, BIG, false };
	uint64_t state = 42;
	struct scene scene;
	int fd = scene_file("raw");

	if (!bytes)
		BAIL_OUT("out of memory");
	for (size_t i = 0; i < BIG; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		bytes[i] = (char)(i % 1000 < 900 ? 'a' + state % 26 : state >> 40);
	}
	if (write(fd, bytes, BIG) != BIG)
		BAIL_OUT("cannot write into the tree");
	close(fd);
	scene_begin(&scene, POLICY, VOICE_NOTHING);
	cmp_ok(send_result(&scene, &stream, SIZE_MAX), "==", 0,
	       "many megabytes go through a pipe that does not block");
	PYTHON_OK(script, result_file(), "and are all there");
	signal(SIGPIPE, SIG_DFL);
	cmp_ok(send_result(&scene, &stream, 100000), "==", -EPIPE,
	       "a reader that goes away is an error, not a signal");
	cmp_ok(launch_report_result(scene.report, &ends[0].end, NULL, NULL, NULL, -1), "==", -EBADF,
	       "as is a descriptor that is none");
	free(bytes);
	scene_end(&scene);
}

int main(void)
{
	plan(NO_PLAN);
	tree_begin();
	check_ends();
	check_streams();
	check_violations();
	check_flood();
	check_big();
	done_testing();
}
