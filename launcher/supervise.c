/* SPDX-License-Identifier: MIT */
/*
 * The supervisor's loop: one poll() over signals, the listener, the program's captured streams and
 * the launcher's lifeline. Nothing in it waits for anything else, and nothing wakes it while all
 * tasks sleep. Once there is a first question, receivers take them (listen.h); the loop then holds
 * the lock that it shares with them, but while it waits.
 */
#include "inside.h"
#include "names.h"
#include "run.h"

#include "plan.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE_EXIT_MS 500 /* for what the program leaves behind, after SIGTERM */
#define GRACE_LIMIT_MS 2000 /* for a tree that met a limit */
#define GRACE_LOOK_MS 10 /* between looks at memory meanwhile */
#define PIECE 65536
#define RESTORED (-2) /* for 'saved'; -1: there was none */

enum phase {
	PHASE_RUN,
	PHASE_GRACE, /* SIGTERM was sent to whoever is left */
	PHASE_OVER
};

enum source {
	FROM_SIGNALS,
	FROM_LIFELINE,
	FROM_STATUS,
	FROM_LISTENER,
	FROM_MOUNTS,
	FROM_STDOUT,
	FROM_STDERR,
	SOURCES
};

struct captured {
	char *bytes;
	size_t len;
	size_t cap;
	bool cut;
};

struct supervisor {
	struct launch *launch;
	struct launch_report *report;
	struct launch_watch watch;
	struct launch_listen listen;
	pthread_mutex_t lock;
	struct pollfd ready[SOURCES];
	struct captured streams[2];
	int saved[2]; /* our own standard output and error while the program's are in place */
	int status_end; /* our copy of the end that the program writes to */
	int tell;
	pid_t program; /* 0 once it was waited for */
	enum phase phase;
	uint64_t grace_ends;
	int wait_status; /* of the program */
	bool started;
	int failed; /* exit status when it could not be started, else 0 */
	struct launch_end end;
	struct launch_who culprit; /* of end.hit */
	struct launch_inside inside; /* and the rest is for who has a network of its own */
	struct launch_names names;
};

static int timer_signal(void)
{
	return SIGRTMIN;
}

static int open_signals(void)
{
	sigset_t set;

	launch_signals(&set);
	(void)sigaddset(&set, timer_signal());
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

__attribute__((noreturn)) static void fail(const char *what)
{
	launch_complain("%s: %s", what, strerror(errno));
	launch_tree_kill(getpid());
	_exit(EXIT_LAUNCH);
}

/*
 * Puts pipes where the program's streams are to be: it shares our table of descriptors until it
 * takes its own, so ours wait elsewhere.
 */
static void redirect(struct supervisor *super)
{
	for (int i = 0; i < 2; i++) {
		int ends[2];

		super->saved[i] = -1;
		if (!super->launch->options.json)
			continue;
		super->saved[i] = fcntl(i + 1, F_DUPFD_CLOEXEC, 3);
		if (pipe2(ends, O_CLOEXEC) < 0 || dup2(ends[1], i + 1) < 0)
			fail("cannot capture the output");
		(void)close(ends[1]);
		(void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
		super->ready[FROM_STDOUT + i].fd = ends[0];
	}
}

static void restore_streams(struct supervisor *super)
{
	for (int i = 0; i < 2; i++) {
		if (!super->launch->options.json || super->saved[i] == RESTORED)
			continue;
		if (super->saved[i] >= 0)
			(void)dup2(super->saved[i], i + 1);
		else
			(void)close(i + 1);
		if (super->saved[i] >= 0)
			(void)close(super->saved[i]);
		super->saved[i] = RESTORED;
	}
}

/* fork(), but with one table of descriptors for both. */
static pid_t bear(void *arg)
{
	struct supervisor *super = arg;
	pid_t child = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, 0);

	if (child == 0)
		launch_confine(super->launch, super->status_end);
	return child;
}

/* What waits for the program costs us descriptors. It has a limit of its own by now. */
static void raise_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return;
	files.rlim_cur = files.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &files);
}

static void start(struct supervisor *super)
{
	struct launch *launch = super->launch;
	struct launch_error error;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		fail("cannot make a pipe");
	super->ready[FROM_STATUS].fd = ends[0];
	super->status_end = ends[1];
	redirect(super);
	super->program =
		launch->apart ? launch_inside_bear(&super->inside, bear, super) : bear(super);
	if (super->program < 0)
		fail("cannot fork");
	raise_files();
	launch_names_init(
		&super->names,
		&(struct launch_names_setup){ .image = launch->image,
					      .space = launch->apart ? &super->inside.space : NULL,
					      .upstream = launch->names ? &launch->upstream : NULL,
					      .report = super->report,
					      .lock = &super->lock });
	/* Only now that the program is born: nobody may hold a lock that it would need. */
	if (launch->names && launch_names_start(&super->names, &error) < 0) {
		launch_complain("%s", error.text);
		launch_tree_kill(getpid());
		_exit(EXIT_LAUNCH);
	}
	/* Only now: the program stays in the session of the terminal. */
	(void)setsid();
}

static void begin_end(struct supervisor *super, uint64_t grace)
{
	struct launch_tree *tree = &super->watch.tree;
	siginfo_t none;

	launch_watch_release(&super->watch);
	/* Who has no child, and is their subreaper, has no descendant. */
	if ((!super->program && waitid(P_ALL, 0, &none, WEXITED | WNOHANG | WNOWAIT) < 0) ||
	    (launch_tree_find(tree) == 0 && tree->count == 0)) {
		super->phase = PHASE_OVER;
		return;
	}
	super->phase = PHASE_GRACE;
	super->grace_ends = launch_now() + grace;
	for (size_t i = 0; grace && i < tree->count; i++) {
		(void)kill(tree->list[i].pid, SIGTERM);
		(void)kill(tree->list[i].pid, SIGCONT);
	}
}

static void take_hit(struct supervisor *super, enum launch_limit limit, struct launch_hit hit)
{
	if (super->end.hit.limit != LIMIT_NONE || super->phase != PHASE_RUN)
		return;
	if (hit.who) {
		super->culprit = *hit.who;
		hit.who = &super->culprit;
	}
	super->end.hit = hit;
	launch_report_limit(super->report, &hit);
	/* Memory that grows is not asked kindly. */
	begin_end(super, limit == LIMIT_MEMORY ? 0 : GRACE_LIMIT_MS);
}

/* Limits that the kernel holds by a signal, as the program's end shows them. */
static void judge_signal(struct supervisor *super, int number)
{
	const struct launch_limits *limits = &super->launch->limits;

	if (number == SIGXCPU && limits->cpu_ms)
		take_hit(super, LIMIT_CPU,
			 (struct launch_hit){ .limit = LIMIT_CPU, .value = limits->cpu_ms });
	else if (number == SIGXFSZ && limits->file_size)
		launch_report_limit(super->report,
				    &(struct launch_hit){ .limit = LIMIT_FILE_SIZE,
							  .value = limits->file_size });
}

static void program_ended(struct supervisor *super, int status)
{
	super->program = 0;
	super->wait_status = status;
	if (WIFSIGNALED(status))
		judge_signal(super, WTERMSIG(status));
	if (super->phase == PHASE_RUN)
		begin_end(super, GRACE_EXIT_MS);
}

static void program_stopped(struct supervisor *super, int number)
{
	struct launch_message message = { .step = STEP_STOPPED, .value = number };

	if (!launch_watch_is_stopping(&super->watch))
		(void)!write(super->tell, &message, sizeof(message));
}

static void reap(struct supervisor *super)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (pid != super->program)
			continue;
		if (WIFSTOPPED(status))
			program_stopped(super, WSTOPSIG(status));
		else
			program_ended(super, status);
	}
}

static void take_signals(struct supervisor *super)
{
	struct signalfd_siginfo info;

	while (read(super->ready[FROM_SIGNALS].fd, &info, sizeof(info)) == sizeof(info)) {
		int number = (int)info.ssi_signo;

		if (number == SIGCHLD)
			reap(super);
		else if (number == timer_signal())
			launch_watch_wake(&super->watch, false);
		else if (super->program > 0)
			(void)kill(super->program, number);
	}
}

/* The program is confined; the table of descriptors is ours alone again. */
static void program_listens(struct supervisor *super, int listener)
{
	struct launch *launch = super->launch;
	char layers[256];

	super->started = true;
	(void)close(super->status_end);
	super->status_end = -1;
	restore_streams(super);
	super->watch.notified = listener >= 0;
	launch_listen_init(&super->listen, &(struct launch_listen_setup){
						   .fd = listener,
						   .program = super->program,
						   .names = &super->names,
						   .image = launch->image,
						   .own = launch->place.image,
						   .wishes = &launch->wishes,
						   .hold = launch->brokers ? &launch->hold : NULL,
						   .covers = &launch->covers,
						   .landlock = launch->abi > 0,
						   .ports = launch->abi >= LANDLOCK_TCP,
						   .limit = launch->limits.processes,
						   .watch = &super->watch,
						   .report = super->report,
						   .lock = &super->lock });
	super->ready[FROM_LISTENER].fd = listener;
	launch_plan_layers(launch, listener >= 0, layers);
	launch_report_start(super->report, (const char *const *)launch->options.argv,
			    super->program, layers);
	if (launch->enforced && listener < 0 && launch->options.voice >= VOICE_NORMAL)
		launch_complain("nobody can listen inside another sandbox: %s explained, and "
				"processes are counted by looking",
				launch->shimless ? "refusals are not"
						 : "only programs that load the shim are");
}

static void take_status(struct supervisor *super)
{
	struct launch_message message;
	ssize_t got = read(super->ready[FROM_STATUS].fd, &message, sizeof(message));

	if (got == sizeof(message) && message.step == STEP_LISTENING) {
		program_listens(super, message.value);
	} else if (got == sizeof(message) && message.step == STEP_FAILED) {
		restore_streams(super);
		super->failed = message.value;
		launch_complain("%s", message.error.text);
	} else if (got <= 0 && !(got < 0 && errno == EINTR)) {
		(void)close(super->ready[FROM_STATUS].fd);
		super->ready[FROM_STATUS].fd = -1;
	}
}

static void keep(struct supervisor *super, struct captured *stream, const char *bytes, size_t len)
{
	uint64_t most = super->launch->limits.output;
	size_t room = most > stream->len ? (size_t)(most - stream->len) : 0;

	if (len > room) {
		len = room;
		if (!stream->cut)
			launch_report_limit(super->report,
					    &(struct launch_hit){ .limit = LIMIT_OUTPUT,
								  .value = most });
		stream->cut = true;
	}
	if (stream->len + len > stream->cap) {
		size_t cap = stream->cap ? stream->cap * 2 : PIECE;
		char *bigger;

		while (cap < stream->len + len)
			cap *= 2;
		bigger = realloc(stream->bytes, cap);
		if (!bigger) {
			stream->cut = true;
			return;
		}
		stream->bytes = bigger;
		stream->cap = cap;
	}
	if (len)
		memcpy(stream->bytes + stream->len, bytes, len);
	stream->len += len;
}

/* Reads on after the limit, so that the program is not stopped by a full pipe. */
static void take_stream(struct supervisor *super, int which)
{
	struct pollfd *from = &super->ready[FROM_STDOUT + which];
	static char piece[PIECE];
	ssize_t got = read(from->fd, piece, sizeof(piece));

	if (got > 0) {
		keep(super, &super->streams[which], piece, (size_t)got);
	} else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
		(void)close(from->fd);
		from->fd = -1;
	}
}

static void launcher_is_gone(struct supervisor *super)
{
	launch_tree_kill(getpid());
	if (!super->launch->user.foreign)
		launch_private_remove(&super->launch->place);
	_exit(EXIT_LIMIT);
}

static int sooner(int a, int b)
{
	return a < 0 ? b : b < 0 || a < b ? a : b;
}

static int time_left(const struct supervisor *super)
{
	uint64_t now = launch_now();
	int due;

	if (super->phase == PHASE_GRACE)
		return sooner(sooner(launch_births_due(&super->listen.births), GRACE_LOOK_MS),
			      super->grace_ends > now ? (int)(super->grace_ends - now) : 0);
	due = launch_watch_due(&super->watch);
	return super->started ? sooner(due, launch_births_due(&super->listen.births)) : due;
}

/* The first question starts the receivers; afterwards only their news are for us. */
static void take_questions(struct supervisor *super)
{
	struct pollfd *from = &super->ready[FROM_LISTENER];
	uint64_t news;

	if (super->listen.wake >= 0)
		(void)!read(super->listen.wake, &news, sizeof(news));
	else if (!(from->revents & POLLIN))
		from->fd = -1;
	else if (launch_listen_start(&super->listen) == 0)
		from->fd = super->listen.wake;
	else if (launch_listen_serve(&super->listen) < 0)
		from->fd = -1;
}

/* What a rule takes away lies open: nothing but to end it is left. */
static void take_mounts(struct supervisor *super)
{
	const char *gone = launch_covers_gone(&super->launch->covers);

	if (!gone || super->phase == PHASE_OVER)
		return;
	launch_complain("'%s' was removed or replaced by somebody outside, and the mask over it "
			"went with it: the run was ended",
			gone);
	super->failed = EXIT_LAUNCH;
	super->ready[FROM_MOUNTS].fd = -1;
	super->phase = PHASE_OVER;
}

static void serve(struct supervisor *super)
{
	const struct pollfd *ready = super->ready;

	if (ready[FROM_LIFELINE].revents)
		launcher_is_gone(super);
	if (ready[FROM_STATUS].revents)
		take_status(super);
	if (ready[FROM_SIGNALS].revents)
		take_signals(super);
	if (ready[FROM_LISTENER].revents)
		take_questions(super);
	if (ready[FROM_MOUNTS].revents)
		take_mounts(super);
	for (int i = 0; i < 2; i++)
		if (ready[FROM_STDOUT + i].revents)
			take_stream(super, i);
}

static void look(struct supervisor *super)
{
	struct launch_hit hit;
	enum launch_limit limit;

	if (super->started && launch_births_due(&super->listen.births) == 0)
		launch_births_count(&super->listen.births);
	if (super->phase == PHASE_GRACE && launch_watch_memory_is_over(&super->watch))
		super->phase = PHASE_OVER;
	if (super->phase != PHASE_RUN)
		return;
	limit = launch_watch_look(&super->watch, &hit);
	if (limit == LIMIT_OPEN_FILES)
		launch_report_limit(super->report, &hit);
	else if (limit != LIMIT_NONE)
		take_hit(super, limit, hit);
}

/* Keeps the lock in the end: what receivers still hear of is not reported any more. */
static void loop(struct supervisor *super)
{
	(void)pthread_mutex_lock(&super->lock);
	while (super->phase != PHASE_OVER) {
		int ms = time_left(super);

		(void)pthread_mutex_unlock(&super->lock);
		if (poll(super->ready, SOURCES, ms) < 0 && errno != EINTR)
			fail("cannot wait");
		(void)pthread_mutex_lock(&super->lock);
		serve(super);
		look(super);
		if (super->phase == PHASE_GRACE &&
		    (launch_now() >= super->grace_ends ||
		     (launch_tree_find(&super->watch.tree) == 0 && !super->watch.tree.count)))
			super->phase = PHASE_OVER;
	}
}

/* Nobody is left, so that the pipes have an end. */
static void drain(struct supervisor *super)
{
	while (super->ready[FROM_STATUS].fd >= 0 && poll(&super->ready[FROM_STATUS], 1, 0) > 0)
		take_status(super);
	for (int i = 0; i < 2; i++)
		while (super->ready[FROM_STDOUT + i].fd >= 0) {
			struct pollfd *from = &super->ready[FROM_STDOUT + i];

			if (poll(from, 1, 0) <= 0)
				break;
			take_stream(super, i);
		}
}

static int exit_status(const struct supervisor *super)
{
	if (super->failed)
		return super->failed;
	switch (super->end.hit.limit) {
	case LIMIT_NONE:
		break;
	case LIMIT_TIMEOUT:
	case LIMIT_CPU:
		return EXIT_TIMEOUT;
	default:
		return EXIT_LIMIT;
	}
	if (WIFSIGNALED(super->wait_status))
		return 128 + WTERMSIG(super->wait_status);
	return WEXITSTATUS(super->wait_status);
}

static void sum_up(struct supervisor *super)
{
	struct launch_end *end = &super->end;
	struct rusage usage = { 0 };
	uint64_t resident, limit = super->watch.limits->memory;

	(void)getrusage(RUSAGE_CHILDREN, &usage);
	resident = (uint64_t)usage.ru_maxrss * 1024;
	end->status = exit_status(super);
	end->signal = WIFSIGNALED(super->wait_status) ? WTERMSIG(super->wait_status) : 0;
	end->usage.wall_ms = launch_now() - super->watch.started;
	end->usage.cpu_ms = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
			    (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
	if (end->usage.cpu_ms < super->watch.cpu_ms)
		end->usage.cpu_ms = super->watch.cpu_ms;
	/*
	 * What a short run had is missed between two looks: then the kernel's own figure of its largest
	 * process, which has files in it; they do not count for the limit, so it may be beyond that.
	 */
	end->usage.memory_peak = super->watch.memory_peak;
	if (resident > end->usage.memory_peak && (!limit || resident < limit))
		end->usage.memory_peak = resident;
	end->usage.processes_peak = super->watch.tasks_peak;
}

/* Nobody is told when the last byte goes; what is full in the end says it. */
static void look_at_disk(struct supervisor *super)
{
	const struct launch *launch = super->launch;
	const char *place = launch->place.tmp[0] ? launch_stand_tmp(launch->image, &launch->place)
						 : launch->place.home;
	struct launch_hit hit = { .limit = LIMIT_DISK,
				  .value = sbx_setting(launch->image, SBX_KEY_limits_disk)->value };
	struct statvfs there;

	if (!launch->enforced || !hit.value || statvfs(place, &there) < 0 || there.f_bavail)
		return;
	hit.peak = hit.value;
	launch_report_limit(super->report, &hit);
}

static void print_result(struct supervisor *super)
{
	struct launch_stream streams[2];
	char layers[256];
	int failed;

	for (int i = 0; i < 2; i++)
		streams[i] =
			(struct launch_stream){ super->streams[i].bytes ? super->streams[i].bytes
									: "",
						super->streams[i].len, super->streams[i].cut };
	launch_plan_layers(super->launch, super->listen.with.fd >= 0, layers);
	failed = launch_report_result(super->report, &super->end, &streams[0], &streams[1], layers,
				      STDOUT_FILENO);
	/* A caller who gets no result must not take the run for a success. */
	if (failed) {
		launch_complain("the result cannot be written: %s", strerror(-failed));
		super->end.status = EXIT_LAUNCH;
	}
}

/* As the program ended by Ctrl-C, so do we: a shell script around us must see it. */
__attribute__((noreturn)) static void leave(const struct launch_end *end)
{
	if (end->signal == SIGINT && end->status == 128 + SIGINT)
		launch_interrupt_self();
	_exit(end->status);
}

static void prepare(struct supervisor *super)
{
	struct launch *launch = super->launch;
	struct launch_report_setup setup = { .image = launch->image,
					     .voice = launch->options.voice,
					     .text_fd = STDERR_FILENO,
					     .log_fd = launch->log_fd,
					     .run = launch->options.name ? launch->options.name
									 : launch->place.id,
					     .keep = launch->options.json };
	struct launch_error error;

	if ((launch->apart && launch_inside_begin(&super->inside, &error) < 0) ||
	    (launch->user.foreign && launch_user_become(&launch->user, &error) < 0) ||
	    ((launch->user.foreign || launch->apart) && launch_user_drop(0, &error) < 0)) {
		launch_complain("%s", error.text);
		_exit(EXIT_LAUNCH);
	}
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 ||
	    access("/proc/thread-self/children", R_OK) < 0)
		fail("the processes of a run could not be found (/proc/thread-self/children)");
	/* With --json, text would only be in the way of whoever reads the result. */
	if (launch->options.json)
		setup.voice = setup.voice == VOICE_VERBOSE ? VOICE_VERBOSE : VOICE_NOTHING;
	if (launch_report_new(&setup, &super->report) < 0)
		fail("cannot start");
	for (int i = 0; i < SOURCES; i++)
		super->ready[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
	launch_watch_init(&super->watch, &launch->limits, getpid(), timer_signal(), false);
	super->listen.with.fd = super->listen.wake = -1;
}

void launch_supervise(struct launch *launch, int lifeline, int tell)
{
	struct supervisor super = {
		.launch = launch, .tell = tell, .status_end = -1, .lock = PTHREAD_MUTEX_INITIALIZER
	};

	prepare(&super);
	super.ready[FROM_SIGNALS].fd = open_signals();
	super.ready[FROM_LIFELINE].fd = lifeline;
	super.ready[FROM_MOUNTS] =
		(struct pollfd){ .fd = launch_covers_watch(&launch->covers), .events = POLLPRI };
	start(&super);
	loop(&super);
	reap(&super);
	launch_tree_kill(getpid());
	if (super.program > 0)
		super.wait_status = SIGKILL; /* as waitpid() would have it */
	drain(&super);
	restore_streams(&super);
	look_at_disk(&super);
	sum_up(&super);
	super.end.repos = super.listen.broker.repos;
	launch_report_end(super.report, &super.end);
	if (launch->options.json)
		print_result(&super);
	leave(&super.end);
}
