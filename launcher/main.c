/* SPDX-License-Identifier: MIT */
/* sbx-launch: runs a command inside the boundaries of a policy. */
#include "plan.h"

#include "doctor.h"
#include "out.h"
#include "wrap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void launch_complain(const char *format, ...)
{
	char raw[2048], text[3072];
	struct sbx_out out;
	va_list args;

	va_start(args, format);
	(void)vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	sbx_out_init(&out, text, sizeof(text) - 1);
	sbx_out_str(&out, "sbx-launch: ");
	sbx_out_escaped(&out, raw, strlen(raw), SBX_ESCAPE_PLAIN);
	sbx_out_str(&out, "\n");
	(void)sbx_out_finish(&out);
	(void)!write(STDERR_FILENO, text, out.len);
}

/* What people see at start: on a terminal, or when they ask for it. */
static void greet(const struct launch *launch)
{
	bool shown = launch->options.voice >= VOICE_VERBOSE ||
		     (launch->options.voice == VOICE_NORMAL && isatty(STDERR_FILENO));

	if (!launch->enforced && launch->options.voice > VOICE_NOTHING)
		launch_complain("warning: enforce = none: this run is NOT in a sandbox");
	if (!shown || launch->options.json)
		return;
	if (launch->options.voice >= VOICE_VERBOSE)
		launch_plan_notes(launch);
	if (launch->user.uid == 0)
		(void)fputs("sbx: warning: running as root; add user = nobody to [sandbox]\n",
			    stderr);
	launch_plan_banner(launch);
}

static int go(struct launch *launch)
{
	if (launch->options.help) {
		launch_options_help();
		return 0;
	}
	if (launch->options.version) {
		printf("sbx-launch %s\n", SBX_VERSION);
		return 0;
	}
	if (launch->options.doctor)
		return launch_doctor(launch->options.json, launch->options.clean, stdout);
	if (launch->options.wrap)
		return launch_wrap(&launch->options);
	if (launch->options.dry_run) {
		launch_plan_print(launch);
		return 0;
	}
	greet(launch);
	return launch_run(launch);
}

/*
 * No descriptor of ours may get the number of a standard stream that is closed: what is written
 * there, or put over it by --json, would hit it. The program finds it closed, as it was.
 */
static bool occupy_streams(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) != fd)
			return false;
	return true;
}

int main(int count, char **args)
{
	static struct launch launch;
	int status;

	if (!occupy_streams())
		_exit(EXIT_LAUNCH);
	status = launch_prepare(&launch, count, args);
	if (!status)
		status = go(&launch);
	launch_private_remove(&launch.place);
	if (fflush(stdout) != 0 && !status)
		status = EXIT_LAUNCH;
	/* All else is given back by ending, and somebody waits for that. */
	_exit(status);
}
