/* SPDX-License-Identifier: MIT */
/*
 * The TAP library: counts tests and prints them. Every line is flushed at once, so that a fork in a
 * test repeats nothing and a crash loses nothing.
 */
#include "tap.h"

#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int planned = NO_PLAN;
static int run;
static int failed;
static char todo_why[512];
static int in_todo;

/* What is said about a test goes to standard output while it is only to do. */
static FILE *diag_stream(void)
{
	return in_todo ? stdout : stderr;
}

/* Prints "# " before every line. */
static void comment(FILE *stream, const char *text)
{
	do {
		size_t len = strcspn(text, "\n");

		fprintf(stream, "# %.*s\n", (int)len, text);
		text += len;
		text += *text == '\n';
	} while (*text);
	fflush(stream);
}

TAP_FORMAT(2, 0)
static void vcomment(FILE *stream, const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0)
		abort();
	comment(stream, text);
	free(text);
}

void tap_diag(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vcomment(stderr, format, args);
	va_end(args);
}

void tap_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vcomment(stdout, format, args);
	va_end(args);
}

/* More about the test that just failed. */
TAP_FORMAT(1, 2)
static void explain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vcomment(diag_stream(), format, args);
	va_end(args);
}

/* A name stays on its line, and a '#' in it starts no directive. */
static void print_name(const char *name)
{
	for (; *name; name++) {
		if (*name == '\n' || *name == '\r')
			fputs(*name == '\n' ? "\\n" : "\\r", stdout);
		else
			printf("%s%c", *name == '#' || *name == '\\' ? "\\" : "", *name);
	}
}

/* The name always begins with the blank that the macros put there. */
TAP_FORMAT(4, 0)
static void vresult(const char *file, int line, int test, const char *format, va_list args)
{
	char *name;

	if (vasprintf(&name, format, args) < 0)
		abort();
	printf("%sok %d", test ? "" : "not ", ++run);
	if (name[1]) {
		fputs(" -", stdout);
		print_name(name);
	}
	if (in_todo)
		printf(" # TODO%s", todo_why);
	putchar('\n');
	fflush(stdout);
	if (!test) {
		failed += !in_todo;
		if (name[1])
			explain("  Failed%s test '%s'\n  at %s line %d.", in_todo ? " (TODO)" : "",
				name + 1, file, line);
		else
			explain("  Failed%s test at %s line %d.", in_todo ? " (TODO)" : "", file,
				line);
	}
	free(name);
}

#define RESULT(test)                                     \
	do {                                             \
		va_list args;                            \
                                                         \
		va_start(args, format);                  \
		vresult(file, line, test, format, args); \
		va_end(args);                            \
	} while (0)

int tap_ok(const char *file, int line, int test, const char *format, ...)
{
	RESULT(test);
	return test;
}

static int same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void explain_string(const char *label, const char *value)
{
	const char *quote = value ? "'" : "";

	explain("%s%s%s%s", label, quote, value ? value : "NULL", quote);
}

int tap_is(const char *file, int line, const char *got, const char *expected, const char *format,
	   ...)
{
	int test = same(got, expected);

	RESULT(test);
	if (!test) {
		explain_string("         got: ", got);
		explain_string("    expected: ", expected);
	}
	return test;
}

int tap_isnt(const char *file, int line, const char *got, const char *expected, const char *format,
	     ...)
{
	int test = !same(got, expected);

	RESULT(test);
	if (!test) {
		explain_string("         got: ", got);
		explain("    expected: anything else");
	}
	return test;
}

/* Arithmetic wraps: a test library has no business ending on an overflow. */
static int compare(intmax_t a, const char *op, intmax_t b)
{
	uintmax_t ua = (uintmax_t)a;
	uintmax_t ub = (uintmax_t)b;
	const struct {
		const char *op;
		int result;
	} table[] = {
		{ "==", a == b },
		{ "!=", a != b },
		{ "<", a < b },
		{ "<=", a <= b },
		{ ">", a > b },
		{ ">=", a >= b },
		{ "&&", a && b },
		{ "||", a || b },
		{ "+", ua + ub != 0 },
		{ "-", ua - ub != 0 },
		{ "*", ua * ub != 0 },
		{ "/", b == -1 ? a != 0 : b && a / b },
		{ "%", b != -1 && b && a % b },
		{ "&", (ua & ub) != 0 },
		{ "|", (ua | ub) != 0 },
		{ "^", (ua ^ ub) != 0 },
		{ "<<", ub < 64 && ua << ub != 0 },
		{ ">>", ub < 64 && ua >> ub != 0 },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(table[i].op, op) == 0)
			return table[i].result;
	return -1;
}

int tap_cmp_ok(const char *file, int line, intmax_t a, const char *op, intmax_t b,
	       const char *format, ...)
{
	int test = compare(a, op, b);

	RESULT(test > 0);
	if (test < 0)
		explain("    unrecognized operator '%s'", op);
	else if (!test)
		explain("    %jd\n        %s\n    %jd", a, op, b);
	return test > 0;
}

int tap_cmp_mem(const char *file, int line, const void *got, const void *expected, size_t size,
		const char *format, ...)
{
	const unsigned char *a = got;
	const unsigned char *b = expected;
	size_t at = 0;
	int test;

	while (a && b && at < size && a[at] == b[at])
		at++;
	test = a && b ? at == size : a == b;
	RESULT(test);
	if (!test && a && b)
		explain("    Difference starts at offset %zu\n         got: 0x%02x\n"
			"    expected: 0x%02x",
			at, a[at], b[at]);
	else if (!test)
		explain("         got: %s\n    expected: %s", a ? "not NULL" : "NULL",
			b ? "not NULL" : "NULL");
	return test;
}

int tap_like(const char *file, int line, int wanted, const char *got, const char *regex,
	     const char *format, ...)
{
	regex_t compiled;
	char error[256] = "";
	int code = regcomp(&compiled, regex, REG_EXTENDED | REG_NOSUB);
	int test = 0;

	if (code) {
		regerror(code, &compiled, error, sizeof(error));
	} else {
		int matches = got && regexec(&compiled, got, 0, NULL, 0) == 0;

		test = matches == wanted;
		regfree(&compiled);
	}
	RESULT(test);
	if (code)
		explain("    unable to compile regex '%s': %s", regex, error);
	else if (!test) {
		explain_string("                  ", got);
		explain("    %s '%s'", wanted ? "doesn't match:" : "      matches:", regex);
	}
	return test;
}

void tap_plan(int count, const char *format, ...)
{
	planned = count;
	if (count == SKIP_ALL) {
		va_list args;

		fputs("1..0 # SKIP", stdout);
		va_start(args, format);
		vprintf(format, args);
		va_end(args);
		putchar('\n');
		fflush(stdout);
		exit(0);
	}
	if (count != NO_PLAN) {
		printf("1..%d\n", count);
		fflush(stdout);
	}
}

void tap_skip(int count, const char *format, ...)
{
	char why[512];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	while (count-- > 0)
		printf("ok %d # SKIP %s\n", ++run, why);
	fflush(stdout);
}

void tap_todo(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(todo_why, sizeof(todo_why), format, args);
	va_end(args);
	in_todo = 1;
}

void tap_end_todo(void)
{
	in_todo = 0;
}

void tap_bail_out(const char *format, ...)
{
	va_list args;

	fputs("Bail out! ", stdout);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	exit(255);
}

int exit_status(void)
{
	in_todo = 0;
	if (planned == NO_PLAN) {
		printf("1..%d\n", run);
		fflush(stdout);
	} else if (planned != run) {
		tap_diag("Looks like you planned %d test%s but ran %d.", planned,
			 planned == 1 ? "" : "s", run);
	}
	if (failed)
		tap_diag("Looks like you failed %d test%s of %d run.", failed,
			 failed == 1 ? "" : "s", run);
	if (planned != NO_PLAN && planned != run)
		return 255;
	return failed < 254 ? failed : 254;
}
