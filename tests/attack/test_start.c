/* SPDX-License-Identifier: MIT */
/*
 * Around the start: what the program gets to see, and that nothing runs when it cannot be held.
 */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <tap.h>
#include <unistd.h>

#define REFUSED 125 /* how the launcher exits when it does not start anything */

static const char *name_of(bool user)
{
	return user ? "an ordinary user" : "root";
}

static void give_secrets(struct scene *scene)
{
	scene_variable(scene, "AWS_SECRET_ACCESS_KEY=%s", scene->marker);
	scene_variable(scene, "GITHUB_TOKEN=%s", scene->marker);
	scene_variable(scene, "SSH_AUTH_SOCK=/tmp/%s", scene->marker);
}

static void begin_in_secret(struct scene *scene)
{
	scene->start_in = "secret";
}

static void inject(struct scene *scene)
{
	static const char *const names[] = { "LD_PRELOAD",    "LD_AUDIT",	 "LD_LIBRARY_PATH",
					     "NODE_OPTIONS",  "BASH_ENV",	 "ENV",
					     "PYTHONSTARTUP", "PYTHONPATH",	 "PERL5OPT",
					     "RUBYOPT",	      "GIT_SSH_COMMAND", "GIT_PAGER",
					     "PAGER",	      "EDITOR",		 "VISUAL" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		scene_variable(scene, "%s=/nowhere/injected-%.8s", names[i], scene->marker);
	scene_fact(scene, "value=/nowhere/injected-%.8s", scene->marker);
}

static void inject_and_pass(struct scene *scene)
{
	inject(scene);
	scene_policy(scene, "[env]\npass = *\n");
}

static const struct attack_hook hooks[] = {
	{ .id = "V044", .arrange = give_secrets },
	{ .id = "V045", .arrange = begin_in_secret },
	{ .id = "V121", .arrange = inject },
	{ .id = NULL },
};
/* The same when the policy passes what it can. */
static const struct attack_hook pass_hooks[] = {
	{ .id = "V121", .arrange = inject_and_pass },
	{ .id = NULL },
};

static bool mark_left(struct scene *scene)
{
	return scene_says(scene, "the program ran") ||
	       access(scene_at(scene, "work/mark"), F_OK) == 0;
}

/* Runs the program that leaves a mark, under a policy with these lines. */
static void test_refusal(const char *lines, const char *what, bool user)
{
	static struct scene scene;

	scene_open(&scene, "V122", attack_ways, user);
	scene_policy(&scene, "%s", lines);
	scene_run(&scene, true, NULL);
	if (!ok(scene.status == REFUSED && !mark_left(&scene),
		"V122 fail closed, as %s: nothing runs with %s", name_of(user), what))
		scene_show(&scene);
	scene_close(&scene);
}

/* In a child: from here on, the kernel has no Landlock, or no seccomp filters. */
static void lose(long number)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		_exit(2);
}

/* A run whose launcher finds no such system call. Its exit status, output in the scene. */
static void run_without(struct scene *scene, long number)
{
	const char *argv[64];
	int out[2], status = 0;
	ssize_t got;
	pid_t pid;

	scene_run(scene, true, NULL); /* writes the policy, and shows that it can run */
	unlink(scene_at(scene, "work/mark"));
	scene_command(scene, true, argv);
	if (pipe2(out, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		BAIL_OUT("no child");
	if (pid == 0) {
		dup2(out[1], 1);
		dup2(out[1], 2);
		lose(number);
		scene_execute(scene, argv);
	}
	close(out[1]);
	scene->length = 0;
	while ((got = read(out[0], scene->out + scene->length,
			   sizeof(scene->out) - 1 - scene->length)) > 0)
		scene->length += (size_t)got;
	scene->out[scene->length] = 0;
	close(out[0]);
	waitpid(pid, &status, 0);
	scene->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_missing_layer(const char *lines, long number, const char *what, bool user)
{
	static struct scene scene;

	scene_open(&scene, "V122", attack_ways, user);
	scene_policy(&scene, "%s", lines);
	run_without(&scene, number);
	if (!ok(scene.status == REFUSED && !mark_left(&scene),
		"V122 fail closed, as %s: nothing runs %s", name_of(user), what))
		scene_show(&scene);
	scene_close(&scene);
}

/* Without a layer that nothing requires: whoever holds instead, the attack must not get through. */
static void test_without(const char *id, long number, const char *what, bool user)
{
	static struct scene scene;

	scene_open(&scene, id, attack_ways, user);
	run_without(&scene, number);
	if (!ok((scene.status == REFUSED || scene.status == 1) && !scene_says(&scene, " ok\n") &&
			!scene_says(&scene, scene.marker),
		"V122 fail closed, as %s: %s without %s: refused", name_of(user), id, what))
		scene_show(&scene);
	scene_close(&scene);
}

static void test_missing_policy(bool user)
{
	static struct scene scene;
	const char *argv[64];

	scene_open(&scene, "V122", attack_ways, user);
	scene_command(&scene, true, argv); /* and nobody wrote the policy */
	scene_capture(&scene, argv, NULL);
	if (!ok(scene.status == REFUSED && !mark_left(&scene),
		"V122 fail closed, as %s: nothing runs without the policy", name_of(user)))
		scene_show(&scene);
	scene_close(&scene);
}

static void test_fail_closed(bool user)
{
	static struct scene scene;

	scene_open(&scene, "V122", attack_ways, user);
	scene_run(&scene, true, NULL);
	if (!ok(scene.status == 0 && mark_left(&scene),
		"V122 fail closed, as %s: a good policy runs", name_of(user)))
		scene_show(&scene);
	scene_close(&scene);

	test_refusal("nonsense\n", "a line that is none", user);
	test_refusal("raed = /etc\n", "an unknown key", user);
	test_refusal("[sandbxo]\n", "an unknown section", user);
	test_refusal("read = /nowhere/at/all\n", "a missing path", user);
	test_refusal("[sandbox]\ninclude = no-such-profile\n", "a missing profile", user);
	test_refusal("[limits]\nmemory = many\n", "a bad number", user);
	test_refusal("[sandbox]\nrequire = magic\n", "an unknown layer required", user);
	test_missing_layer("[sandbox]\nrequire = landlock\n", 444 /* landlock_create_ruleset */,
			   "without the Landlock that it requires", user);
	test_missing_layer("[sandbox]\nrequire = seccomp\n", SYS_seccomp,
			   "without the seccomp that it requires", user);
	test_missing_layer("", 446 /* landlock_restrict_self */,
			   "when Landlock fails at the last moment", user);
	test_missing_policy(user);
	test_without("V001", 444, "Landlock", user);
	test_without("V083", SYS_seccomp, "seccomp", user);
}

/* Whatever the launcher makes of it: the policy must be the same afterwards. */
static void test_own_policy(bool user)
{
	static struct scene scene;
	struct {
		char text[2048];
		ssize_t size;
	} before = { 0 }, after = { 0 };
	int fd;

	scene_open(&scene, "V123", attack_ways, user);
	scene.policy_in = "work";
	scene_run(&scene, false, NULL);
	ok(scene.status == 0 && access(scene_at(&scene, "work/policy.ini"), F_OK) < 0,
	   "V123 edits its own policy, as %s: works natively", name_of(user));
	scene_close(&scene);

	scene_open(&scene, "V123", attack_ways, user);
	scene.policy_in = "work";
	scene_run(&scene, true, NULL);
	fd = open(scene_at(&scene, "work/policy.ini"), O_RDONLY | O_CLOEXEC);
	after.size = read(fd, after.text, sizeof(after.text));
	close(fd);
	scene_run(&scene, true, NULL); /* writes it again */
	fd = open(scene_at(&scene, "work/policy.ini"), O_RDONLY | O_CLOEXEC);
	before.size = read(fd, before.text, sizeof(before.text));
	close(fd);
	if (!ok(before.size > 0 && before.size == after.size &&
			!memcmp(before.text, after.text, (size_t)before.size) &&
			(scene.status == 1 || scene.status == REFUSED) &&
			!scene_says(&scene, " ok\n"),
		"V123 edits its own policy, as %s: refused in the sandbox", name_of(user)))
		scene_show(&scene);
	scene_close(&scene);
}

/* An inner policy that allows more than the outer one. */
static void test_nesting(bool user)
{
	static struct scene scene;
	const char *variant = getenv("SBX_VARIANT"), *inner[64], *argv[64];
	char generous[256], place[256];
	size_t count = 0;

	scene_open(&scene, "V001", attack_ways, user);
	snprintf(generous, sizeof(generous), "write = %s/secret\n", scene.world);
	scene_policy(&scene, "%s", generous);
	scene_run(&scene, true, NULL);
	if (!ok(scene.status == 0 && strstr(scene.out, scene.marker),
		"V124 nesting, as %s: the inner policy alone allows it", name_of(user)))
		scene_show(&scene);
	scene_close(&scene);

	if (variant && !strcmp(variant, "asan")) {
		tap_skip(1, "V124: the inner launcher's sanitizer needs more memory than it gets");
		return;
	}
	scene_open(&scene, "V001", attack_ways, user);
	scene_policy(&scene, "%s", generous);
	scene.policy_in = "ro";
	scene_run(&scene, true, NULL); /* writes ro/policy.ini */
	scene_command(&scene, true, inner);
	scene.policy[0] = 0;
	scene.policy_in = ".";
	snprintf(place, sizeof(place), "%s", attack_launcher());
	for (int i = 0; i < 2; i++)
		*strrchr(place, '/') = 0;
	scene_policy(&scene, "exec = %s/bin\nread = %s/share\nwrite = %s/tmp\n", place, place,
		     attack_folder());
	scene_run(&scene, true, NULL); /* writes policy.ini */
	argv[count++] = attack_launcher();
	argv[count++] = "-p";
	argv[count++] = scene_at(&scene, "policy.ini");
	argv[count++] = "-qq";
	argv[count++] = "--";
	for (size_t i = 0; inner[i]; i++)
		argv[count++] = inner[i];
	for (size_t i = 0; i < count; i++)
		if (!strcmp(argv[i], "-p") && i > 3)
			argv[i + 1] = scene_at(&scene, "ro/policy.ini");
	argv[count] = NULL;
	scene_capture(&scene, argv, NULL);
	if (!ok((scene.status == 1 || scene.status == REFUSED) &&
			!strstr(scene.out, scene.marker) && !scene_says(&scene, " ok\n"),
		"V124 nesting, as %s: the outer policy still holds", name_of(user)))
		scene_show(&scene);
	scene_close(&scene);
}

/* Below that many layers, the program that leaves a mark. */
static void under_layers(struct scene *scene, int layers, bool user)
{
	const char *argv[64];
	struct scene *other = malloc(sizeof(*other));

	if (!other)
		BAIL_OUT("no memory");
	scene_open(scene, "V125", attack_ways, user);
	scene_run(scene, false, NULL); /* writes the policy */
	*other = *scene;
	other->row = attack_row("V122");
	scene_command(other, true, argv);
	scene_fact(scene, "layers=%d", layers);
	for (size_t i = 0; argv[i]; i++)
		scene_fact(scene, "c%zu=%s", i, argv[i]);
	scene_run(scene, false, NULL);
	free(other);
}

static void test_layers(bool user)
{
	static struct scene scene;

	under_layers(&scene, 8, user);
	if (!ok(scene.status == 0 && mark_left(&scene), "V125 layers, as %s: starts under 8 of 16",
		name_of(user)))
		scene_show(&scene);
	scene_close(&scene);
	for (int layers = 15; layers <= 16; layers++) {
		under_layers(&scene, layers, user);
		if (!ok(scene.status == REFUSED && !mark_left(&scene),
			"V125 layers, as %s: refuses to start under %d of 16", name_of(user),
			layers))
			scene_show(&scene);
		scene_close(&scene);
	}
}

static void in_both_builds(bool user)
{
	for (const struct attack_way *way = attack_ways; way->name; way++)
		attack_all(START, way, user, hooks);
	if (getenv("SBX_ATTACK"))
		return;
	setenv("SBX_ATTACK", "V121", 1);
	attack_all(START, attack_ways, user, pass_hooks);
	unsetenv("SBX_ATTACK");
	test_fail_closed(user);
	test_own_policy(user);
	test_nesting(user);
	test_layers(user);
}

int main(void)
{
	attack_begin();
	attack_as_each(in_both_builds);
	return attack_end();
}
