/* SPDX-License-Identifier: MIT */
/* image POLICY FILE: compiles a policy, as the launcher does for a run. */
#include <stdio.h>

#include "sbx.h"

int main(int argc, char **argv)
{
	const char *files[] = { argc > 2 ? argv[1] : "" };
	struct sbx_load load = { .files = files, .file_count = 1, .trust = true };
	struct sbx_errors errors;
	struct sbx_policy *policy;
	const void *bytes;
	size_t size;
	FILE *file;

	if (argc < 3 || sbx_load(&load, &policy, &errors) < 0) {
		(void)fprintf(stderr, "bad policy: %s\n", argc < 3 ? "none" : errors.list[0].text);
		return 1;
	}
	bytes = sbx_image_bytes(policy, &size);
	file = fopen(argv[2], "w");
	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
		return 1;
	sbx_free(policy);
	return 0;
}
