/* SPDX-License-Identifier: MIT */
/*
 * Asks a policy before acting, with nothing but sbx.h:
 *
 *	query POLICY FILE HOST:PORT
 *
 * Exits with 0 when everything is allowed, 1 when something is refused, 125 on a bad policy.
 */
#include <sbx.h>
#include <stdio.h>
#include <string.h>

/* Prints the answer of a can_ function, and for a refusal the reasons; 1 when there is one. */
static int tell(const struct sbx_policy *policy, enum sbx_op op, const char *target, int answer)
{
	static const char *const verbs[] = {
		[SBX_OP_READ] = "read",
		[SBX_OP_WRITE] = "write",
		[SBX_OP_CONNECT] = "connect to",
	};
	char text[SBX_TEXT_MAX];

	printf("%s %s: %s\n", verbs[op], target, answer ? strerror(-answer) : "allowed");
	if (answer && sbx_explain(policy, op, target, 0, text, sizeof(text)) > 0)
		printf("%s", text);
	return answer != 0;
}

static void report(const struct sbx_errors *errors)
{
	for (size_t i = 0; i < errors->count; i++)
		(void)fprintf(stderr, "query: %s:%u: %s\n", errors->list[i].file,
			      errors->list[i].line, errors->list[i].text);
}

int main(int argc, char **argv)
{
	const char *const *files = (const char *const *)argv + 1;
	const struct sbx_load load = { .files = files, .file_count = 1 };
	struct sbx_policy *policy;
	struct sbx_errors errors;
	int refused;

	if (argc != 4) {
		(void)fputs("usage: query POLICY FILE HOST:PORT\n", stderr);
		return 2;
	}
	if (sbx_load(&load, &policy, &errors) < 0) {
		report(&errors);
		return 125;
	}
	refused = tell(policy, SBX_OP_READ, argv[2], sbx_can_read(policy, argv[2]));
	refused |= tell(policy, SBX_OP_WRITE, argv[2], sbx_can_write(policy, argv[2]));
	refused |= tell(policy, SBX_OP_CONNECT, argv[3], sbx_can_connect(policy, argv[3]));
	sbx_free(policy);
	return refused;
}
