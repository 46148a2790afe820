/* SPDX-License-Identifier: MIT */
/*
 * The TAP library tested with itself: this program runs itself once for each case, named by its
 * first argument, and compares what that run printed and how it ended.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tap.h>

struct run {
	char out[8192];
	char err[8192];
	int status;
};

static int case_passing(void)
{
	plan(4);
	ok(1, "a number is %d", 7);
	ok("a pointer is true");
	pass("it passes");
	is("a", "a");
	done_testing();
}

static int case_failing(void)
{
	plan(NO_PLAN);
	ok(0, "this is false");
	fail();
	pass("this is not");
	done_testing();
}

static int case_strings(void)
{
	plan(NO_PLAN);
	is("left", "right", "two words");
	is(NULL, "right", "NULL and a word");
	is("left", NULL, "a word and NULL");
	is(NULL, NULL, "NULL is NULL");
	isnt("same", "same", "the same word");
	isnt(NULL, NULL, "NULL twice");
	isnt("left", NULL, "a word is not NULL");
	done_testing();
}

static int case_numbers(void)
{
	plan(NO_PLAN);
	cmp_ok(23, "<", 55, "smaller");
	cmp_ok(23, ">", 55, "larger");
	cmp_ok(-1, "==", -1L, "equal");
	cmp_ok(6, "&", 1, "no common bit");
	cmp_ok(1, "/", 0, "dividing by zero is no crash");
	cmp_ok(1, "<=>", 1, "no such operator");
	done_testing();
}

static int case_memory(void)
{
	static const unsigned char a[] = { 1, 2, 3, 0xfe, 5 };
	static const unsigned char b[] = { 1, 2, 3, 0x04, 6 };

	plan(NO_PLAN);
	cmp_mem(a, b, 3, "the same so far");
	cmp_mem(a, b, sizeof(a), "then different");
	cmp_mem(a, b, 0, "nothing equals nothing");
	cmp_mem(NULL, b, 1, "NULL is no memory");
	done_testing();
}

static int case_regex(void)
{
	plan(NO_PLAN);
	like("stranger", "^s.r", "found");
	like("danger", "^s.r", "not found");
	unlike("danger", "^s.r", "rightly not found");
	unlike("stranger", "^s.r", "wrongly found");
	like(NULL, "x", "NULL is like nothing");
	like("x", "(", "no expression");
	done_testing();
}

static int case_skip(void)
{
	plan(4);
	skip(1, 2, "no %s here", "kernel")
	{
		fail("never run");
		fail("never run");
	}
	end_skip;
	skip(0, 1, "not skipped")
	{
		pass("run");
	}
	end_skip;
	pass("after");
	done_testing();
}

static int case_todo(void)
{
	plan(3);
	todo("later");
	ok(0, "not yet");
	ok(1, "already");
	end_todo;
	ok(1, "always");
	done_testing();
}

static int case_skip_all(void)
{
	plan(SKIP_ALL, "nothing to see");
	return 1;
}

static int case_planned_more(void)
{
	plan(3);
	pass("one");
	done_testing();
}

static int case_planned_less(void)
{
	plan(1);
	pass("one");
	fail("two");
	done_testing();
}

static int case_bail_out(void)
{
	plan(2);
	BAIL_OUT("no disk left: %d", 0);
}

static int case_many(void)
{
	plan(NO_PLAN);
	for (int i = 0; i < 300; i++)
		fail("test");
	done_testing();
}

static int case_odd_names(void)
{
	plan(NO_PLAN);
	ok(1, "a # skip in a name");
	ok(1, "two\nlines");
	diag("one\ntwo");
	note("three\nfour");
	done_testing();
}

static const struct {
	const char *name;
	int (*run)(void);
} cases[] = {
	{ "passing", case_passing },
	{ "failing", case_failing },
	{ "strings", case_strings },
	{ "numbers", case_numbers },
	{ "memory", case_memory },
	{ "regex", case_regex },
	{ "skip", case_skip },
	{ "todo", case_todo },
	{ "skip_all", case_skip_all },
	{ "planned_more", case_planned_more },
	{ "planned_less", case_planned_less },
	{ "bail_out", case_bail_out },
	{ "many", case_many },
	{ "odd_names", case_odd_names },
};

static void read_all(FILE *file, char *out, size_t size)
{
	size_t len;

	rewind(file);
	len = fread(out, 1, size - 1, file);
	out[len] = '\0';
	fclose(file);
}

static struct run run_case(const char *name)
{
	struct run run = { .status = -1 };
	FILE *out = tmpfile();
	FILE *err = tmpfile();
	int status;
	pid_t pid;

	if (!out || !err || (pid = fork()) < 0)
		BAIL_OUT("cannot run myself");
	if (pid == 0) {
		dup2(fileno(out), STDOUT_FILENO);
		dup2(fileno(err), STDERR_FILENO);
		execl("/proc/self/exe", "test_tap", name, (char *)NULL);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) == pid && WIFEXITED(status))
		run.status = WEXITSTATUS(status);
	read_all(out, run.out, sizeof(run.out));
	read_all(err, run.err, sizeof(run.err));
	return run;
}

static void test_results(void)
{
	struct run run = run_case("passing");

	is(run.out, "1..4\nok 1 - a number is 7\nok 2\nok 3 - it passes\nok 4\n",
	   "tests that pass are 'ok', numbered and named");
	is(run.err, "", "and nothing more is said");
	cmp_ok(run.status, "==", 0, "and the program ends well");

	run = run_case("failing");
	is(run.out, "not ok 1 - this is false\nnot ok 2\nok 3 - this is not\n1..3\n",
	   "tests that fail are 'not ok', and without a plan the count comes last");
	like(run.err, "^#   Failed test 'this is false'\n#   at .*test_tap.c line [0-9]+\\.\n",
	     "a failure says its name and place");
	like(run.err, "#   Failed test at .*test_tap.c line [0-9]+\\.\n", "or its place alone");
	like(run.err, "# Looks like you failed 2 tests of 3 run\\.\n$", "and failures are counted");
	cmp_ok(run.status, "==", 2, "the exit status is the number of failures");
	cmp_ok(run_case("many").status, "==", 254, "which stays below 255");
}

static void test_comparisons(void)
{
	struct run run = run_case("strings");

	like(run.err, "#          got: 'left'\n#     expected: 'right'\n", "is shows both strings");
	like(run.err, "#          got: NULL\n#     expected: 'right'\n", "NULL got is no crash");
	like(run.err, "#          got: 'left'\n#     expected: NULL\n", "nor is NULL expected");
	like(run.err, "#          got: 'same'\n#     expected: anything else\n", "isnt shows one");
	cmp_ok(run.status, "==", 5, "NULL equals NULL only");

	run = run_case("numbers");
	like(run.err, "#     23\n#         >\n#     55\n", "cmp_ok shows the comparison");
	like(run.err, "unrecognized operator '<=>'", "and what it does not understand");
	cmp_ok(run.status, "==", 4, "and counts what is false");

	run = run_case("memory");
	like(run.err, "offset 3\n#          got: 0xfe\n#     expected: 0x04\n",
	     "cmp_mem shows where the difference starts");
	cmp_ok(run.status, "==", 2, "and compares no further than told");

	run = run_case("regex");
	like(run.err, "'danger'\n#     doesn't match: '\\^s\\.r'\n",
	     "like shows what did not match");
	like(run.err, "'stranger'\n#           matches: '\\^s\\.r'\n", "unlike what did");
	like(run.err, "unable to compile regex '\\('", "a bad expression is a failure");
	cmp_ok(run.status, "==", 4, "as is NULL");
}

static void test_directives(void)
{
	struct run run = run_case("skip");

	is(run.out,
	   "1..4\nok 1 # SKIP no kernel here\nok 2 # SKIP no kernel here\nok 3 - run\nok 4 - "
	   "after\n",
	   "skipped tests count and say why, others run");
	cmp_ok(run.status, "==", 0, "and are no failures");

	run = run_case("todo");
	like(run.out, "^1..3\nnot ok 1 - not yet # TODO later\n", "tests to do are marked");
	like(run.out, "\nok 2 - already # TODO later\nok 3 - always\n$", "until their end");
	is(run.err, "", "their failures are not shouted");
	cmp_ok(run.status, "==", 0, "nor counted");

	run = run_case("skip_all");
	is(run.out, "1..0 # SKIP nothing to see\n", "a whole file can be skipped");
	cmp_ok(run.status, "==", 0, "and has not failed");

	run = run_case("bail_out");
	is(run.out, "1..2\nBail out!  no disk left: 0\n", "BAIL_OUT stops everything");
	cmp_ok(run.status, "==", 255, "with a status of its own");

	run = run_case("odd_names");
	is(run.out, "ok 1 - a \\# skip in a name\nok 2 - two\\nlines\n# three\n# four\n1..2\n",
	   "names cannot be mistaken for directives, and notes are comments");
	is(run.err, "# one\n# two\n", "diagnostics too");
}

static void test_plans(void)
{
	struct run run = run_case("planned_more");

	like(run.err, "planned 3 tests but ran 1\\.", "too few tests are noticed");
	cmp_ok(run.status, "==", 255, "and fail");

	run = run_case("planned_less");
	like(run.err, "planned 1 test but ran 2\\.", "too many tests are noticed");
	like(run.err, "failed 1 test of 2 run\\.", "beside the failures");
	cmp_ok(run.status, "==", 255, "and fail too");
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(cases) / sizeof(cases[0]); i++)
		if (strcmp(argv[1], cases[i].name) == 0)
			return cases[i].run();

	plan(NO_PLAN);
	test_results();
	test_comparisons();
	test_directives();
	test_plans();
	done_testing();
}
