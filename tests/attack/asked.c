/* SPDX-License-Identifier: MIT */
/*
 * Attacks on whoever answers system calls for the kernel: arguments that change while they are judged,
 * callers that die, wait, hide, or stack filters of their own.
 */
#include "attack.h"

#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

static void nap(long milliseconds)
{
	struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

/* What a call is about changes all the time, between work/key and wark/key, or ro/key and so/key. */
struct race {
	const char *name;
	void (*flip)(bool outside);
	int (*attempt)(void); /* opens one of the two */
	const char *path;
};

static struct {
	char path[4096];
	char *letter; /* of the path, which makes the difference */
	int inside, outside; /* the folders */
	int watcher;
	atomic_bool over;
	const struct race *race;
} racing;

enum {
	RACED_FD = 77
};

static void flip_path(bool outside)
{
	bool known = racing.letter[1] == 'o'; /* "ro" */

	__atomic_store_n(racing.letter,
			 outside ? known ? 's' : 'a'
			 : known ? 'r'
				 : 'o',
			 __ATOMIC_RELAXED);
}

static int open_path(void)
{
	return do_open(racing.path, O_RDONLY, 0);
}

/* A watch of what is inside has the number of the first one; any other is a hit. */
static int watch_path(void)
{
	int watch = inotify_add_watch(racing.watcher, racing.path, IN_OPEN);

	return watch < 0 ? -1 : open(watch == 1 ? at("work/key") : "/dev/null", O_RDONLY);
}

static void flip_link(bool outside)
{
	(void)outside;
	if (do_exchange(at("work/there"), at("work/here")) < 0)
		racing.over = true;
}

static int open_link(void)
{
	return do_open(at("work/there"), O_RDONLY, 0);
}

static void flip_descriptor(bool outside)
{
	if (dup2(outside ? racing.outside : racing.inside, RACED_FD) < 0)
		racing.over = true;
}

static int open_by_descriptor(void)
{
	return (int)do_call(SYS_openat, RACED_FD, (long)"key", O_RDONLY, 0, 0);
}

static void flip_folder(bool outside)
{
	if (fchdir(outside ? racing.outside : racing.inside) < 0)
		racing.over = true;
}

static int open_in_folder(void)
{
	return do_open("key", O_RDONLY, 0);
}

static void *flip_on(void *nothing)
{
	for (bool outside = false; !racing.over; outside = !outside)
		racing.race->flip(outside);
	return nothing;
}

/* A hit is told by what the file says: the secret, or "mine". */
static void try_race(const struct race *race, long times)
{
	long refused = 0, hits = 0, others = 0;
	double until = seconds() + RACE_SECONDS;
	pthread_t flipper;

	racing.race = race;
	racing.over = false;
	race->flip(false);
	run_threads(&flipper, 1, flip_on);
	for (long i = 0; i < times || (hits + refused < times / 10 && seconds() < until); i++) {
		int fd = race->attempt();

		if (fd < 0) {
			*(errno == EACCES ? &refused : &others) += 1;
			continue;
		}
		if (!has_text(fd, "mine\n") && hits++ == 0 && lseek(fd, 0, SEEK_SET) == 0)
			spill_fd(fd);
		close(fd);
	}
	racing.over = true;
	join_threads(&flipper, 1);
	printf("race %s: %ld hits, %ld refused, %ld others\n", race->name, hits, refused, others);
	errno = refused ? EACCES : ENOENT;
	step(race->name, hits ? 0 : -1);
}

void path_race(void)
{
	static const struct race races[] = {
		{ "path", flip_path, open_path, "work/key" },
		{ "known", flip_path, open_path, "ro/key" }, /* nothing is to be found out */
		{ "watch", flip_path, watch_path, "work/key" },
		{ "link", flip_link, open_link, "work/key" },
		{ "descriptor", flip_descriptor, open_by_descriptor, "work/key" },
		{ "folder", flip_folder, open_in_folder, "work/key" },
	};

	racing.inside = open(at("work"), O_PATH | O_DIRECTORY);
	racing.outside = open(at("wark"), O_PATH | O_DIRECTORY);
	racing.watcher = inotify_init1(IN_CLOEXEC);
	if (do_symlink(at("work/key"), at("work/here")) < 0 ||
	    do_symlink(at("wark/key"), at("work/there")) < 0 || racing.inside < 0 ||
	    inotify_add_watch(racing.watcher, at("work/key"), IN_OPEN) != 1)
		cannot_judge("no links in work");
	for (size_t i = 0; i < sizeof(races) / sizeof(races[0]); i++) {
		snprintf(racing.path, sizeof(racing.path), "%s", at("%s", races[i].path));
		racing.letter = racing.path + strlen(racing.path) -
				strlen(races[i].path[0] == 'w' ? "ork/key" : "ro/key");
		if (i < 4 || racing.outside >= 0)
			try_race(&races[i], i ? how_often(20000) / 10 : how_often(20000));
	}
}

/* Another program, for as long as it lives and in as many threads as it is told. */
static atomic_long *calls; /* that were made, shared with children */

static void *ask_for_ever(void *kind)
{
	for (;;) {
		if ((long)kind % 3 == 0)
			opens(at("secret/key"), O_RDONLY);
		else if ((long)kind % 3 == 1)
			do_mkdir(at("secret/folder"), 0700);
		else
			do_rename(at("work/a"), at("secret/a"));
		++*calls;
	}
	return NULL;
}

static void share_count(void)
{
	calls = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (calls == MAP_FAILED)
		cannot_judge("no shared memory");
}

static void be_client(long number)
{
	long before = *calls;
	pthread_t threads[2];

	if (number % 4 == 1 || number % 4 == 2)
		run_threads(threads, 2, ask_for_ever);
	if (number % 4 != 2)
		ask_for_ever((void *)number);
	/* becomes another program while its threads wait for answers, which ends them */
	while (*calls <= before)
		sched_yield();
	become("/proc/self/exe", "V052", "gone=yes");
	_exit(1);
}

/* Ended in the middle of one of its calls, or between two, as it happens. */
static void kill_client(long number)
{
	long before = *calls;
	pid_t pid;

	fflush(stdout);
	if ((pid = fork()) == 0)
		be_client(number);
	if (pid < 0)
		cannot_judge("no child");
	while (*calls <= before + number % 4 % 2)
		sched_yield();
	for (volatile long i = 0; i < number % 16 * 1000; i++)
		;
	kill(pid, SIGKILL);
	if (waitpid(pid, NULL, 0) != pid)
		cannot_judge("no child");
}

void dying_clients(void)
{
	if (has_fact("gone"))
		_exit(0);
	share_count();
	for (long i = 0; i < 12; i++)
		kill_client(i);
	wait_for_harness(); /* to look at the supervisor */
	for (long i = 0; i < how_often(200); i++)
		kill_client(i);
	wait_for_harness();
	step("after", spill(at("secret/dir/deep")));
	step("delete", do_unlink(at("secret/dir/deep"))); /* a kind of refusal that is new */
}

static void *read_for_ever(void *nothing)
{
	char bytes[256];
	ssize_t got;
	int fd, out;

	for (;;) {
		if ((fd = do_open(at("secret/key"), O_RDONLY, 0)) < 0)
			continue;
		got = read(fd, bytes, sizeof(bytes));
		out = open(at("work/leak"), O_CREAT | O_EXCL | O_WRONLY, 0600); /* once */
		if (out >= 0 && write(out, bytes, got < 0 ? 0 : (size_t)got) < 0)
			break;
		if (out >= 0)
			close(out);
		close(fd);
	}
	return nothing;
}

/* The harness kills who answers; this ends with them, or after a while by itself. */
void orphaned_calls(void)
{
	pthread_t threads[4];

	run_threads(threads, 4, read_for_ever);
	wait_for_harness();
	for (int i = 0; i < 6000 && access(at("work/stop"), F_OK) < 0; i++)
		nap(10);
	_exit(0);
}

long with_word(long word, long number, long a, long b, long c, long d, long e)
{
#ifdef __x86_64__
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = word;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	if (result >= 0)
		return result;
	errno = (int)-result;
	return -1;
#else
	return syscall(number, a, b, c, d, e, word);
#endif
}

/* The harness made what is deleted, renamed and linked; one of each for every word. */
static void forge(long word, int i)
{
	struct open_how how = { .flags = NEITHER | O_TRUNC };
	long key = (long)at("secret/key"), one = (long)at("secret/new%d", i);
	long fd = with_word(word, SYS_openat, AT_FDCWD, key, O_RDONLY, 0, 0);

	step("read", fd < 0 ? -1 : spill_fd((int)fd));
	step("write", with_word(word, SYS_open, key, O_RDWR, 0, 0, 0));
	step("create", with_word(word, SYS_creat, one, 0600, 0, 0, 0));
	step("link", with_word(word, SYS_link, key, (long)at("work/l%d", i), 0, 0, 0));
	step("rename", with_word(word, SYS_rename, (long)at("secret/from%d", i),
				 (long)at("work/to%d", i), 0, 0, 0));
	step("unlink", with_word(word, SYS_unlink, (long)at("secret/file%d", i), 0, 0, 0, 0));
	step("rmdir", with_word(word, SYS_rmdir, (long)at("secret/dir%d", i), 0, 0, 0, 0));
	step("mkdir", with_word(word, SYS_mkdir, (long)at("secret/made%d", i), 0700, 0, 0, 0));
	step("symlink", with_word(word, SYS_symlink, key, (long)at("secret/s%d", i), 0, 0, 0));
	step("truncate", with_word(word, SYS_truncate, (long)at("ro/file"), 1, 0, 0, 0));
	step("trunc", with_word(word, SYS_open, (long)at("ro/file"), O_TRUNC, 0, 0, 0));
	step("neither", with_word(word, SYS_openat, AT_FDCWD, key, NEITHER, 0, 0));
	step("trunc", with_word(word, SYS_openat, AT_FDCWD, key, NEITHER | O_TRUNC, 0, 0));
	step("how", with_word(word, NR_openat2, AT_FDCWD, (long)at("ro/file"), (long)&how,
			      sizeof(how), 0));
	never("execute", with_word(word, SYS_execve, key, 0, 0, 0, 0));
}

void forged_words(void)
{
	forge((long)strtoul(fact("voucher"), NULL, 16), 0);
	forge((long)strtoul(fact("ask"), NULL, 16), 1);
	forge(0, 2);
	forge(-1, 3);
}

static long add_filter(unsigned flags, long number, unsigned action)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		cannot_judge("no no_new_privs");
	return do_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, (long)&program, 0, 0);
}

static long listen_too(void)
{
	return add_filter(SECCOMP_FILTER_FLAG_NEW_LISTENER, SYS_openat, SECCOMP_RET_USER_NOTIF);
}

static long listen_to_nothing(void)
{
	return add_filter(SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_LOG, SYS_acct,
			  SECCOMP_RET_ALLOW);
}

void second_listener(void)
{
	step("opens", in_child(listen_too));
	step("nothing", in_child(listen_to_nothing));
}

/* A call that is asked about, and nobody there to ask: must not be taken for a yes. */
static long ask_nobody(void)
{
	if (add_filter(0, SYS_openat, SECCOMP_RET_USER_NOTIF) < 0)
		return -1;
	return do_call(SYS_openat, AT_FDCWD, (long)at("secret/key"), O_RDONLY, 0, 0);
}

static long ask_nobody_for_mine(void)
{
	if (add_filter(0, SYS_openat, SECCOMP_RET_USER_NOTIF) < 0)
		return -1;
	return do_call(SYS_openat, AT_FDCWD, (long)at("work/a"), O_RDONLY, 0, 0);
}

void nobody_listens(void)
{
	answers("secret", in_child(ask_nobody), ENOSYS);
	answers("mine", in_child(ask_nobody_for_mine), ENOSYS);
}

static long read_key_by_call(void)
{
	int fd = (int)do_call(SYS_openat, AT_FDCWD, (long)at("secret/key"), O_RDONLY, 0, 0);

	return fd < 0 ? -1 : spill_fd(fd);
}

static long below_allow(void)
{
	return add_filter(0, SYS_openat, SECCOMP_RET_ALLOW) < 0 ? -1 : read_key_by_call();
}

static long below_log(void)
{
	return add_filter(0, SYS_openat, SECCOMP_RET_LOG) < 0 ? -1 : read_key_by_call();
}

static long below_trace(void)
{
	return add_filter(0, SYS_openat, SECCOMP_RET_TRACE) < 0 ? -1 : read_key_by_call();
}

/* Makes it seem to succeed; whoever believes it has descriptor 0. */
static long below_zero(void)
{
	if (add_filter(0, SYS_openat, SECCOMP_RET_ERRNO) < 0 || read_key_by_call() < 0)
		return -1;
	return do_call(SYS_open, (long)at("secret/key"), O_RDONLY, 0, 0, 0);
}

void stacked_filters(void)
{
	step("allow", in_child(below_allow));
	step("log", in_child(below_log));
	never("trace", in_child(below_trace));
	close(0);
	if (open("/dev/null", O_RDONLY) != 0)
		cannot_judge("no /dev/null");
	step("zero", in_child(below_zero));
}

enum {
	FIFOS = 16
};

static atomic_int at_fifos;

static void *open_fifo(void *number)
{
	const char *path = at("work/fifo%ld", (long)number);
	int fd;

	at_fifos++;
	fd = do_open(path, O_RDONLY, 0);
	return fd < 0 || close(fd) < 0 ? NULL : number;
}

/* More of them wait for a writer than there is anybody to answer calls. */
void waiting_opens(void)
{
	pthread_t threads[FIFOS];
	int fd;

	for (long i = 0; i < FIFOS; i++)
		must("mkfifo", do_mknod(at("work/fifo%ld", i), S_IFIFO | 0600, 0));
	run_threads(threads, FIFOS, open_fifo);
	while (at_fifos < FIFOS)
		sched_yield();
	nap(20);
	for (long i = 0; i < 40; i++) {
		must("open", opens(at("work/a"), O_RDWR));
		must("mkdir", do_mkdir(at("work/d%ld", i), 0700));
	}
	step("outside", spill(at("secret/key")));
	for (long i = 0; i < FIFOS; i++) {
		while ((fd = do_open(at("work/fifo%ld", i), O_WRONLY | O_NONBLOCK, 0)) < 0)
			if (errno != ENXIO)
				cannot_judge("no fifo to write to");
		pthread_join(threads[i], NULL);
		close(fd);
	}
}

static atomic_long wrong, hits, refused;

static void *open_own_and_secret(void *number)
{
	char own[300], text[32];
	long times = how_often(1000);
	int fd;

	snprintf(own, sizeof(own), "%s", at("work/own%ld", (long)number));
	snprintf(text, sizeof(text), "own %ld\n", (long)number);
	for (long i = 0; i < times; i++) {
		bool outside = i % 4 == 3;

		fd = do_open(outside ? at("secret/key") : own, O_RDONLY, 0);
		if (outside && fd < 0)
			*(errno == EACCES ? &refused : &wrong) += 1;
		else if (outside && hits++ == 0)
			spill_fd(fd);
		else if (!outside && (fd < 0 || !has_text(fd, text)))
			wrong++;
		if (fd >= 0)
			close(fd);
	}
	return NULL;
}

void many_threads(void)
{
	pthread_t threads[64];
	char text[32];

	for (int i = 0; i < 64; i++) {
		int fd = open(at("work/own%d", i), O_CREAT | O_WRONLY, 0600);

		snprintf(text, sizeof(text), "own %d\n", i);
		if (fd < 0 || write(fd, text, strlen(text)) < 0)
			cannot_judge("no files");
		close(fd);
	}
	run_threads(threads, 64, open_own_and_secret);
	join_threads(threads, 64);
	printf("%ld hits, %ld refused, %ld wrong\n", hits, refused, wrong);
	errno = EINVAL;
	must("right", wrong ? -1 : 0);
	errno = refused ? EACCES : ENOENT;
	step("outside", hits ? 0 : -1);
}

static long read_key(void)
{
	return spill(at("secret/key"));
}

/* Its parent ends at once, and nobody of this program is its parent then. */
static void be_daemon(int out)
{
	pid_t parent = getpid();
	int error;

	if (fork() != 0)
		_exit(0);
	while (getppid() == parent)
		sched_yield();
	error = read_key() < 0 ? errno : 0;
	fflush(stdout);
	_exit(write(out, &error, sizeof(error)) < 0);
}

static long read_key_as_daemon(void)
{
	int ends[2], error = 0;
	pid_t pid;

	fflush(stdout);
	if (setsid() < 0 || pipe(ends) < 0 || (pid = fork()) < 0)
		return -1;
	if (pid == 0)
		be_daemon(ends[1]);
	close(ends[1]);
	if (read(ends[0], &error, sizeof(error)) != sizeof(error))
		error = EIO;
	waitpid(pid, NULL, 0);
	errno = error;
	return error ? -1 : 0;
}

void daemon_reads(void)
{
	step("daemon", in_child(read_key_as_daemon));
}

static long read_key_undumpable(void)
{
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		return -1;
	must("allowed", opens(at("work/a"), O_RDONLY));
	must("create", opens(at("work/new"), O_CREAT | O_RDWR));
	must("mkdir", do_mkdir(at("work/new-folder"), 0700));
	return read_key();
}

void undumpable(void)
{
	step("undumpable", read_key_undumpable());
	step("create", do_open(at("secret/new"), O_CREAT | O_WRONLY, 0600));
	step("delete", do_unlink(at("secret/key")));
}

/*
 * A program that nobody may read cannot be looked at while it runs, either: where somebody else would
 * have to act for it, it can do nothing.
 */
void unreadable_program(void)
{
	if (!has_fact("again")) {
		become(fact("copy"), "V069", "again=yes");
		cannot_judge("no copy");
	}
	must("allowed", opens(at("work/a"), O_RDONLY));
	step("create", opens(at("work/new"), O_CREAT | O_RDWR));
	step("read", read_key());
	step("create-outside", do_open(at("secret/new"), O_CREAT | O_WRONLY, 0600));
}
