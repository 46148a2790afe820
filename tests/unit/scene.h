/* SPDX-License-Identifier: MIT */
/* A report with a policy, whose text and log are files of the tree: for tests of what a run says. */
#ifndef SCENE_H
#define SCENE_H

#include "report.h"

#include <errno.h>
#include <sys/wait.h>

#include "load.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct scene {
	struct sbx_policy *policy;
	const struct sbx_image *image;
	struct launch_report *report;
	int text, log;
};

static const struct launch_who cat = {
	.pid = 4123, .name = "cat", .exe = "/usr/bin/cat", .cwd = "/work"
};

static inline int scene_file(const char *name)
{
	int fd = open(tree_path(name), O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0)
		BAIL_OUT("cannot make %s", name);
	return fd;
}

/* What was written there since it was asked last; static. */
static inline const char *scene_read(int fd)
{
	static char text[1 << 20];
	ssize_t len = pread(fd, text, sizeof(text) - 1, 0);

	if (len < 0 || ftruncate(fd, 0) < 0)
		BAIL_OUT("cannot read a file of the tree");
	text[len] = '\0';
	return text;
}

static inline void scene_begin_on(struct scene *scene, const char *policy, enum launch_voice voice,
				  int text, int log)
{
	scene->policy = load_text(policy);
	scene->image = sbx_policy_image(scene->policy);
	scene->text = text;
	scene->log = log;
	if (launch_report_new(&(struct launch_report_setup){ .image = scene->image,
							     .voice = voice,
							     .text_fd = text,
							     .log_fd = log,
							     .run = "r1",
							     .keep = true },
			      &scene->report) < 0)
		BAIL_OUT("out of memory");
}

static inline void scene_begin(struct scene *scene, const char *policy, enum launch_voice voice)
{
	scene_begin_on(scene, policy, voice, scene_file("text"), scene_file("log"));
}

static inline void scene_end(struct scene *scene)
{
	launch_report_free(scene->report);
	sbx_free(scene->policy);
	if (scene->text >= 0)
		close(scene->text);
	if (scene->log >= 0)
		close(scene->log);
}

static inline void scene_deny(struct scene *scene, enum sbx_op op, const char *path,
			      const struct launch_who *who)
{
	const struct sbx_request request = { .op = op, .size = -1, .path = path };
	struct sbx_verdict verdict;
	const struct sbx_report denial = { .image = scene->image,
					   .request = &request,
					   .verdict = &verdict,
					   .given = path,
					   .syscall = "openat" };

	sbx_eval(scene->image, &request, &verdict);
	if (verdict.allowed)
		BAIL_OUT("%s is allowed", path);
	launch_report_denial(scene->report, &denial, who, "landlock");
}

static inline void scene_connect(struct scene *scene, const char *host, uint16_t port)
{
	const struct sbx_request request = {
		.op = SBX_OP_CONNECT, .size = -1, .host = host, .port = port
	};
	struct sbx_verdict verdict;
	char given[300];
	const struct sbx_report denial = { .image = scene->image,
					   .request = &request,
					   .verdict = &verdict,
					   .given = given,
					   .syscall = "connect" };

	snprintf(given, sizeof(given), "%s:%d", host, port);
	sbx_eval(scene->image, &request, &verdict);
	launch_report_denial(scene->report, &denial, &cat, "seccomp");
}

/* Runs a script of python; its exit status, or -1 when there is no python. */
static inline int scene_python(const char *script, const char *file)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		execlp("python3", "python3", "-c", script, file, (char *)NULL);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status) == 127 ? -1 : WEXITSTATUS(status);
}

#define PYTHON_OK(script, file, ...)                               \
	do {                                                       \
		int python_status = scene_python(script, file);    \
                                                                   \
		skip(python_status < 0, 1, "there is no python3"); \
		cmp_ok(python_status, "==", 0, __VA_ARGS__);       \
		end_skip;                                          \
	} while (0)

#endif
