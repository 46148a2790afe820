/* SPDX-License-Identifier: MIT */
/* Answers the kernel's questions about system calls. */
#include "listen.h"

#include "broker_wait.h"
#include "contract.h"
#include "known.h"
#include "lookup.h"
#include "names.h"
#include "repos.h"
#include "servers.h"
#include "signals.h"
#include "sockets.h"
#include "target.h"
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Newer than the system's header. */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

int launch_listen_install(const struct launch_wishes *wishes)
{
	struct launch_program built;
	struct sock_fprog program = { .filter = built.code };
	unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
	int failed = launch_filter_build_both(wishes, &built);
	long fd;

	if (failed)
		return failed;
	program.len = built.len;
	fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		     flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &program);
	if (fd < 0 && errno == EINVAL)
		fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	return fd < 0 ? -errno : (int)fd;
}

/* The loop's times have changed. */
static void rouse(const struct launch_listen *listen)
{
	const uint64_t one = 1;

	if (listen->wake >= 0)
		(void)!write(listen->wake, &one, sizeof(one));
}

/* An answer may come too late: who asked has died, and that is all. */
static void answer(const struct launch_listen *listen, uint64_t id, int error, bool go_on)
{
	struct seccomp_notif_resp response = {
		.id = id, .error = -error, .flags = go_on ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0
	};

	(void)ioctl(listen->with.fd, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

static void refuse_birth(const struct launch_listen *listen, const struct launch_birth *birth)
{
	struct launch_who who = { .pid = birth->thread };
	struct launch_hit hit = { .limit = LIMIT_PROCESSES,
				  .value = listen->births.limit,
				  .peak = listen->births.limit,
				  .who = &who };

	answer(listen, birth->id, EAGAIN, false);
	launch_who_fill(&who, birth->thread);
	launch_report_limit(listen->with.report, &hit);
}

/* Told by listen->births. */
static void end_birth(void *arg, const struct launch_birth *birth, enum launch_birth_end end)
{
	struct launch_listen *listen = arg;

	switch (end) {
	case BIRTH_GOES_ON:
		launch_masks_born(&listen->masks);
		if (listen->with.watch->next == UINT64_MAX)
			rouse(listen);
		launch_watch_wake(listen->with.watch, true);
		answer(listen, birth->id, 0, true);
		break;
	case BIRTH_REFUSED:
		refuse_birth(listen, birth);
		break;
	case BIRTH_FAILED:
		answer(listen, birth->id, EAGAIN, false);
		break;
	}
}

static void serve_birth(struct launch_listen *listen, const struct seccomp_notif *asked)
{
	launch_births_ask(&listen->births,
			  (struct launch_birth){ .id = asked->id, .thread = (pid_t)asked->pid });
	if (listen->births.waiting.count)
		rouse(listen);
}

static void number_rows(struct launch_listen *listen)
{
	size_t count;
	const struct launch_call *calls = launch_calls(&count);

	for (size_t i = 0; i < LAUNCH_NUMBERS; i++)
		listen->rows[i] = LAUNCH_CALL_COUNT;
	for (size_t i = 0; i < count; i++)
		if (calls[i].number >= 0)
			listen->rows[calls[i].number] = (uint16_t)i;
}

void launch_listen_init(struct launch_listen *listen, const struct launch_listen_setup *setup)
{
	*listen = (struct launch_listen){ .with = *setup, .root = getpid(), .wake = -1 };
	listen->births = (struct launch_births){ .root = listen->root,
						 .limit = setup->limit ? setup->limit : UINT64_MAX,
						 .tell = end_birth,
						 .arg = listen,
						 .tasks = 1 };
	number_rows(listen);
	launch_target_init();
	launch_masks_init(&listen->masks);
	launch_narrow_init(&listen->narrow, listen->root, setup->program);
	if (setup->hold)
		listen->broker =
			(struct launch_broker){ .listener = setup->fd,
						.hold = setup->hold,
						.repos = launch_repos_new(),
						.masks = &listen->masks,
						.narrow = &listen->narrow,
						.waits = launch_waits_new(setup->fd),
						.servers = launch_servers_new(),
						.network = setup->wishes->asks_network,
						.names = setup->names,
						.no_unix_datagram = setup->wishes->no_unix_datagram,
						.ports = setup->ports,
						.hides = setup->wishes->hides,
						.landlock = setup->landlock };
	/* To go on is an answer where Landlock decides, and does not tell what is hidden. */
	if (setup->hold && setup->landlock && !setup->wishes->hides)
		listen->known = launch_known_new(setup->hold);
}

/* What is refused for strangers may be done to the sandbox's own processes. */
static bool is_about_own(const struct launch_listen *listen, enum launch_call_index call,
			 const uint64_t args[6])
{
	pid_t target;

	switch (call) {
	case LAUNCH_CALL_prlimit64:
	case LAUNCH_CALL_sched_setaffinity:
	case LAUNCH_CALL_sched_setparam:
	case LAUNCH_CALL_sched_setscheduler:
	case LAUNCH_CALL_sched_setattr:
		target = (pid_t)args[0];
		break;
	case LAUNCH_CALL_setpriority:
	case LAUNCH_CALL_ioprio_set:
		if ((int)args[0] != (call == LAUNCH_CALL_setpriority ? PRIO_PROCESS : 1))
			return false;
		target = (pid_t)args[1];
		break;
	default:
		return false;
	}
	return target > 0 && launch_tree_is_below(listen->root, target);
}

/* What the call gets: 0 to go on, or an errno. */
static int judge(const struct launch_listen *listen, enum launch_call_index index,
		 const uint64_t args[6])
{
	size_t count;
	const struct launch_call *call = &launch_calls(&count)[index];
	enum launch_outcome outcome = launch_call_judge(call, args);

	if (listen->with.wishes->denied[index])
		return EPERM;
	if (outcome == ARG_ALLOW || outcome == ARG_TELL ||
	    (outcome == ARG_REFUSE && is_about_own(listen, index, args)))
		return 0;
	return outcome > 0 ? (int)outcome : EPERM;
}

static bool is_valid(const struct launch_listen *listen, uint64_t id)
{
	return ioctl(listen->with.fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

/* Of what is left to the kernel, a mask refuses what is behind it. */
static const char *name_layer(const struct launch_judge *judge, const char *layer)
{
	bool masked = judge->covers && judge->request.path &&
		      launch_covers_over(judge->covers, judge->request.path);

	return masked && !strcmp(layer, "landlock") ? "mask" : layer;
}

/*
 * libc's own doing, at an address where libraries are: what a program itself wants comes from the shim,
 * with a word, or from elsewhere. Whether a program has the shim can be told no better.
 */
static bool is_inside_libc(const struct launch_listen *listen, const struct seccomp_notif *asked)
{
	uint64_t word = asked->data.args[5];

	return listen->with.wishes->hushes && SBX_QUIET_FROM && word != SBX_ASK &&
	       word != SBX_VOUCHER && asked->data.instruction_pointer >= SBX_QUIET_FROM;
}

/* What the judge has recorded. Leaves no trace where it is known too late: who asked has died. */
static void say(struct launch_listen *listen, const struct launch_judge *judge,
		const struct seccomp_notif *asked, const char *layer)
{
	struct launch_who who;

	launch_who_fill(&who, (pid_t)asked->pid);
	(void)pthread_mutex_lock(listen->with.lock);
	if (is_valid(listen, asked->id))
		launch_report_denial(listen->with.report, &judge->report, &who,
				     name_layer(judge, layer));
	(void)pthread_mutex_unlock(listen->with.lock);
}

/*
 * Who vouches for a call that comes here all the same asks again if it was refused and wants words.
 * (Nobody vouches for what no other layer decides: there the word is a left-over in a register.)
 */
static bool is_vouched_in_vain(enum launch_call_index index, const struct seccomp_notif *asked,
			       int error)
{
	return asked->data.args[5] == SBX_VOUCHER && !launch_call_is_unheld(index) &&
	       !launch_call_look(index)->act && SBX_IS_REFUSAL(error) &&
	       (error != EFBIG || asked->data.nr != SYS_truncate);
}

/*
 * A mere name (O_PATH) is asked about only where something is hidden, and read instead, for it cannot be
 * handed over. Libraries begin that way at / to walk through folders; else they could.
 */
static bool is_walk_from_root(const struct launch_listen *listen, const struct launch_judge *judge,
			      enum launch_call_index index, const struct seccomp_data *data)
{
	const struct sbx_path_call *ask = launch_call_path(index);

	return listen->with.wishes->hushes && ask->act == SBX_ACT_OPEN &&
	       data->args[ask->flags] & O_PATH && judge->verdict.code == SBX_CODE_OUTSIDE &&
	       !strcmp(judge->request.path, "/");
}

/*
 * Where the kernel decides, nobody is told of what libc reads inside itself, either. Code without a file,
 * and a static program that the kernel has put there, have wishes of their own.
 */
static bool needs_no_words(const struct launch_listen *listen, const struct launch_judge *judge,
			   enum launch_call_index index, const struct seccomp_notif *asked,
			   int error)
{
	return is_vouched_in_vain(index, asked, error) ||
	       is_walk_from_root(listen, judge, index, &asked->data) ||
	       (is_inside_libc(listen, asked) && launch_listen_only_reads(index, &asked->data) &&
		launch_target_is_library((pid_t)asked->pid, asked->data.instruction_pointer));
}

/*
 * What the policy refuses is said; what it does not goes on. 'otherwise' is the answer to what is not
 * said; 0: it goes on.
 */
static void explain_path(struct launch_listen *listen, struct launch_judge *judge,
			 enum launch_call_index index, const struct seccomp_notif *asked,
			 const char *layer, int otherwise)
{
	int error;

	judge->final = otherwise;
	error = launch_judge_call(judge, index, &asked->data, (pid_t)asked->pid);
	if (!error)
		error = otherwise;
	else if (!needs_no_words(listen, judge, index, asked, error))
		say(listen, judge, asked, layer);
	answer(listen, asked->id, error, error == 0);
}

/* A call that no other layer decides never goes on; but for chdir(), which nobody else can make. */
static enum launch_served ask_broker(struct launch_judge *judge, enum launch_call_index index,
				     const struct seccomp_notif *asked,
				     struct launch_answer *result)
{
	bool looks = launch_call_look(index)->act;
	enum launch_served served = SERVED_LEFT;

	if (judge->broker && looks)
		served = launch_broker_look(judge->broker, judge, index, asked, result);
	else if (judge->broker)
		served = launch_broker_call(judge->broker, judge, index, asked, result);
	if ((!launch_call_is_unheld(index) && !looks) || served == SERVED_JUDGED ||
	    served == SERVED_DONE || served == SERVED_SENT ||
	    (looks && launch_call_look(index)->act == LOOK_CHDIR && served == SERVED_HELD))
		return served;
	*result = (struct launch_answer){ .error = looks ? ENOENT : EPERM };
	return SERVED_DONE;
}

static bool explains_all(const struct launch_listen *listen)
{
	return sbx_setting(listen->with.image, SBX_KEY_errors_explain)->value;
}

/*
 * What libc and its modules ask others for by themselves, and do without: names of users, and of hosts,
 * which have words of their own.
 */
static bool is_usual(const struct launch_listen *listen, const struct launch_judge *judge)
{
	const struct sbx_request *request = &judge->request;

	return request->op == SBX_OP_CONNECT && request->path && !explains_all(listen) &&
	       sbx_socket_is_usual(request->path);
}

static void serve_name(struct launch_listen *listen, struct launch_judge *judge,
		       const struct seccomp_notif *asked)
{
	if (launch_lookup_judge(judge, &listen->with.names->lookups, &asked->data,
				(pid_t)asked->pid))
		say(listen, judge, asked, "shim");
	answer(listen, asked->id, EBADF, false);
}

static void serve_path(struct launch_listen *listen, struct launch_judge *judge,
		       enum launch_call_index index, const struct seccomp_notif *asked)
{
	struct seccomp_notif_resp response = { .id = asked->id };
	struct launch_answer result;
	/* Then the kernel refuses it too, for its own reason; else we have to. */
	bool backed = !judge->broker || launch_broker_backs(judge->broker, index, asked->data.args);

	switch (ask_broker(judge, index, asked, &result)) {
	case SERVED_SENT:
		return;
	case SERVED_LEFT:
		explain_path(listen, judge, index, asked, "landlock", 0);
		return;
	case SERVED_REFUSED:
		if (is_vouched_in_vain(index, asked, result.error)) {
			answer(listen, asked->id, result.error, false);
			return;
		}
		explain_path(listen, judge, index, asked, "broker", backed ? 0 : result.error);
		return;
	case SERVED_HELD:
		response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		break;
	case SERVED_JUDGED:
		launch_judge_record(judge, index);
		if (!needs_no_words(listen, judge, index, asked, result.error) &&
		    !is_usual(listen, judge))
			say(listen, judge, asked, "broker");
		__attribute__((fallthrough));
	case SERVED_DONE:
		response.error = -result.error;
		response.val = result.value;
		break;
	}
	(void)ioctl(listen->with.fd, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

static void serve_signal(struct launch_listen *listen, enum launch_call_index index,
			 const struct seccomp_notif *asked, const uint64_t args[6])
{
	int error = 0;
	enum launch_signal served =
		launch_signal_serve(listen->root, index, args, (pid_t)asked->pid, &error);

	answer(listen, asked->id, served == SIGNAL_FAILED ? error : 0, served == SIGNAL_GOES_ON);
}

static void serve_socket(const struct launch_listen *listen, const struct seccomp_notif *asked)
{
	struct launch_answer result;
	enum launch_served served = launch_broker_socket(&listen->broker, asked, &result);

	if (served != SERVED_SENT)
		answer(listen, asked->id, served == SERVED_HELD ? 0 : result.error,
		       served == SERVED_HELD);
}

/*
 * A library's look at the network. Only the shim knows who calls. The program chooses how long it takes
 * to find out; so the lock is not held.
 */
static bool is_look(const struct launch_listen *listen, const struct seccomp_notif *asked)
{
	char file[PATH_MAX];
	uint64_t args[6];

	for (int i = 0; i < 6; i++)
		args[i] = asked->data.args[i];
	return args[5] == SBX_ASK && !explains_all(listen) && launch_socket_may_look(args) &&
	       launch_target_code((pid_t)asked->pid, args[3], file) &&
	       launch_socket_looks(args, file);
}

/* A kind that is not to be had. False: it may be, or the call as such is denied. */
static bool refuse_socket(const struct launch_listen *listen, enum launch_call_index index,
			  const struct seccomp_notif *asked, const uint64_t args[6], bool looks)
{
	bool hushed = index == LAUNCH_CALL_socket && is_inside_libc(listen, asked);
	struct launch_socket socket;
	struct launch_who who;
	size_t count;

	if (listen->with.wishes->denied[index] ||
	    !launch_socket_refused(listen->with.wishes, index, args, &socket))
		return false;
	hushed |= looks || (socket.usual && !explains_all(listen));
	if (!hushed)
		launch_who_fill(&who, (pid_t)asked->pid);
	if (!hushed && is_valid(listen, asked->id))
		launch_report_socket(listen->with.report, launch_calls(&count)[index].name, &socket,
				     &who);
	answer(listen, asked->id, EACCES, false);
	return true;
}

/* Who will have children that it may not have borne: its own calls say so, or those of a child. */
static void note_adopter(struct launch_listen *listen, enum launch_call_index index,
			 const struct seccomp_notif *asked)
{
	pid_t process;

	if (index != LAUNCH_CALL_prctl &&
	    !(index == LAUNCH_CALL_clone && asked->data.args[0] & CLONE_PARENT))
		return;
	process = launch_target_process((pid_t)asked->pid);
	if (index == LAUNCH_CALL_clone)
		process = launch_task_parent(process);
	launch_narrow_adopts(&listen->narrow, process);
}

/* A call whose registers decide. */
static void serve_call(struct launch_listen *listen, const struct launch_call *call,
		       enum launch_call_index index, const struct seccomp_notif *asked, bool looks)
{
	uint64_t args[6];
	struct launch_who who;
	int error = EPERM;

	for (int i = 0; i < 6; i++)
		args[i] = asked->data.args[i];
	if (call && refuse_socket(listen, index, asked, args, looks))
		return;
	if (call)
		error = judge(listen, index, args);
	if (call && !error && launch_call_is_signal(index)) {
		serve_signal(listen, index, asked, args);
		return;
	}
	if (!error)
		note_adopter(listen, index, asked);
	if (call && !error && launch_call_is_birth(index)) {
		serve_birth(listen, asked);
		return;
	}
	if (!error && index == LAUNCH_CALL_socket && listen->with.wishes->names) {
		serve_socket(listen, asked);
		return;
	}
	if (!error && index == LAUNCH_CALL_umask)
		launch_masks_set(&listen->masks, launch_target_process((pid_t)asked->pid),
				 (mode_t)args[0] & 0777);
	if (!error && index == LAUNCH_CALL_landlock_restrict_self)
		launch_narrow_add(&listen->narrow, launch_target_process((pid_t)asked->pid));
	if (error)
		launch_who_fill(&who, (pid_t)asked->pid);
	if (error && is_valid(listen, asked->id))
		launch_report_syscall(listen->with.report, call ? call->name : "?",
				      call && call->loosenable ? REPORT_LOOSENABLE : 0, &who);
	answer(listen, asked->id, error, error == 0);
}

bool launch_listen_only_reads(enum launch_call_index index, const struct seccomp_data *data)
{
	const uint64_t more = O_ACCMODE | O_CREAT | O_TRUNC | O_PATH | (O_TMPFILE & ~O_DIRECTORY);
	const struct sbx_path_call *ask = launch_call_path(index);

	return ask->act == SBX_ACT_OPEN && !(data->args[ask->flags] & more);
}

enum launch_call_index launch_listen_row(const struct launch_listen *listen,
					 const struct seccomp_notif *asked)
{
	size_t number = (size_t)asked->data.nr;

	return number < LAUNCH_NUMBERS ? listen->rows[number] : LAUNCH_CALL_COUNT;
}

void launch_listen_go_on(const struct launch_listen *listen, uint64_t id)
{
	answer(listen, id, 0, true);
}

struct launch_judge launch_listen_judge(const struct launch_listen *listen)
{
	return (struct launch_judge){ .image = listen->with.image,
				      .own = listen->with.own,
				      .covers = listen->with.covers,
				      .broker = listen->broker.repos ? &listen->broker : NULL };
}

/* Without memory for a broker nobody can look for the program: then nothing is there. */
static bool is_by_path(const struct launch_listen *listen, enum launch_call_index index)
{
	return launch_call_path(index)->act != SBX_ACT_NOTHING || launch_call_is_watch(index) ||
	       (listen->with.wishes->hides && launch_call_look(index)->act);
}

void launch_listen_answer(struct launch_listen *listen, struct launch_judge *judge,
			  const struct seccomp_notif *asked)
{
	size_t count;
	enum launch_call_index index = launch_listen_row(listen, asked);
	const struct launch_call *call =
		index == LAUNCH_CALL_COUNT ? NULL : &launch_calls(&count)[index];
	bool looks;

	if (index == LAUNCH_CALL_connect && launch_lookup_is_told(&asked->data)) {
		serve_name(listen, judge, asked);
		return;
	}
	if (call && is_by_path(listen, index) && !listen->with.wishes->denied[index]) {
		serve_path(listen, judge, index, asked);
		return;
	}
	looks = index == LAUNCH_CALL_socket && is_look(listen, asked);
	(void)pthread_mutex_lock(listen->with.lock);
	serve_call(listen, call, index, asked, looks);
	(void)pthread_mutex_unlock(listen->with.lock);
}
