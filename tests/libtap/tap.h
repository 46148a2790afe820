/* SPDX-License-Identifier: MIT */
/*
 * Tests in C that speak TAP, with the interface of libtap, which could stand in for it.
 *
 *	#include <tap.h>
 *
 *	int main(void)
 *	{
 *		plan(NO_PLAN);
 *		ok(1 + 1 == 2, "one and one make two");
 *		is(name, "sbx", "the name is right");
 *		cmp_ok(n, "<", 10, "%d is a small number", n);
 *		done_testing();
 *	}
 *
 * Names of tests are printf formats, must be literals, and may be left out: the blank that the macros
 * put before them keeps the format from being empty. Results go to standard output, what went wrong
 * to standard error. The process exits with the number of failed tests.
 */
#ifndef TAP_H
#define TAP_H

#include <stddef.h>
#include <stdint.h>

#define NO_PLAN (-1)
#define SKIP_ALL (-2)

/* plan(3), plan(NO_PLAN), or plan(SKIP_ALL, "why"), which ends the program. */
#define plan(count, ...) tap_plan(count, " " __VA_ARGS__)

#define ok(test, ...) tap_ok(__FILE__, __LINE__, !!(test), " " __VA_ARGS__)
#define pass(...) tap_ok(__FILE__, __LINE__, 1, " " __VA_ARGS__)
#define fail(...) tap_ok(__FILE__, __LINE__, 0, " " __VA_ARGS__)

/* Strings; NULL equals NULL only. */
#define is(got, expected, ...) tap_is(__FILE__, __LINE__, got, expected, " " __VA_ARGS__)
#define isnt(got, expected, ...) tap_isnt(__FILE__, __LINE__, got, expected, " " __VA_ARGS__)

/* Numbers; 'op' is a C operator as a string: == != < <= > >= + - * / % & | ^ && || << >>. */
#define cmp_ok(a, op, b, ...) tap_cmp_ok(__FILE__, __LINE__, a, op, b, " " __VA_ARGS__)

#define cmp_mem(got, expected, size, ...) \
	tap_cmp_mem(__FILE__, __LINE__, got, expected, size, " " __VA_ARGS__)

/* POSIX extended regular expressions. */
#define like(got, regex, ...) tap_like(__FILE__, __LINE__, 1, got, regex, " " __VA_ARGS__)
#define unlike(got, regex, ...) tap_like(__FILE__, __LINE__, 0, got, regex, " " __VA_ARGS__)

/* skip(condition, count, "why"); ...count tests... end_skip; */
#define skip(condition, count, ...)                   \
	do {                                          \
		if (condition) {                      \
			tap_skip(count, __VA_ARGS__); \
			break;                        \
		}
#define end_skip \
	}        \
	while (0)

/* Tests from todo("why") to end_todo may fail. */
#define todo(...) tap_todo(" " __VA_ARGS__)
#define end_todo tap_end_todo()

#define diag(...) tap_diag(__VA_ARGS__)
#define note(...) tap_note(__VA_ARGS__)
#define BAIL_OUT(...) tap_bail_out(" " __VA_ARGS__)
#define done_testing() return exit_status()

#define TAP_FORMAT(at, args) __attribute__((format(printf, at, args)))

void tap_plan(int count, const char *format, ...) TAP_FORMAT(2, 3);
int tap_ok(const char *file, int line, int test, const char *format, ...) TAP_FORMAT(4, 5);
int tap_is(const char *file, int line, const char *got, const char *expected, const char *format,
	   ...) TAP_FORMAT(5, 6);
int tap_isnt(const char *file, int line, const char *got, const char *expected, const char *format,
	     ...) TAP_FORMAT(5, 6);
int tap_cmp_ok(const char *file, int line, intmax_t a, const char *op, intmax_t b,
	       const char *format, ...) TAP_FORMAT(6, 7);
int tap_cmp_mem(const char *file, int line, const void *got, const void *expected, size_t size,
		const char *format, ...) TAP_FORMAT(6, 7);
int tap_like(const char *file, int line, int wanted, const char *got, const char *regex,
	     const char *format, ...) TAP_FORMAT(6, 7);
void tap_skip(int count, const char *format, ...) TAP_FORMAT(2, 3);
void tap_todo(const char *format, ...) TAP_FORMAT(1, 2);
void tap_end_todo(void);
void tap_diag(const char *format, ...) TAP_FORMAT(1, 2);
void tap_note(const char *format, ...) TAP_FORMAT(1, 2);
void tap_bail_out(const char *format, ...) TAP_FORMAT(1, 2) __attribute__((noreturn));

/* Finishes the output; 0 when all is well, else failed tests up to 254, or 255 for a wrong plan. */
int exit_status(void);

#endif
