/* SPDX-License-Identifier: MIT */
/*
 * Writes that do not hang.
 *
 * Standard error is often a pipe that the program has too, and that a caller reads only after the
 * run: a launcher that blocked there would stop answering the program and watching its limits. The
 * descriptor's own flags are shared with others and are left alone; RWF_NOWAIT is for one write.
 * Where it is not to be had (terminals, old kernels) room is asked for first, which others can take.
 */
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_MS 5

static int64_t now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static ssize_t write_now(int fd, const struct iovec *parts, int count, bool wait)
{
	ssize_t written;

	if (!wait) {
		written = pwritev2(fd, parts, count, -1, RWF_NOWAIT);
		if (written >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL))
			return written;
	}
	return writev(fd, parts, count);
}

/* The same, and a reader that went away is an error, not a signal. */
static ssize_t write_quietly(int fd, const struct iovec *parts, int count, bool wait)
{
	const struct timespec none = { 0, 0 };
	sigset_t only_pipe, before, pending;
	ssize_t written;
	int error;

	(void)sigemptyset(&only_pipe);
	(void)sigaddset(&only_pipe, SIGPIPE);
	(void)pthread_sigmask(SIG_BLOCK, &only_pipe, &before);
	(void)sigpending(&pending);
	written = write_now(fd, parts, count, wait);
	error = errno;
	if (written < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE))
		(void)sigtimedwait(&only_pipe, NULL, &none);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return written;
}

void launch_sink_init(struct launch_sink *sink, int fd)
{
	struct stat stat;

	*sink = (struct launch_sink){ .fd = fd, .patience_ms = SINK_PATIENCE_MS };
	sink->regular = fd >= 0 && fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode);
	if (fd >= 0 && isatty(fd)) {
		char path[64];
		int own;

		/* Whoever shares a terminal can stop it while we write: a description of our own may fail. */
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		if (own >= 0)
			sink->fd = own;
	}
}

/* Whether there is room; waiting uses up patience. */
static bool has_room(struct launch_sink *sink)
{
	struct pollfd at = { .fd = sink->fd, .events = POLLOUT };
	int ready;

	do {
		int64_t start = now_ms();

		ready = poll(&at, 1, sink->patience_ms);
		sink->patience_ms -= (int)(now_ms() - start);
		if (sink->patience_ms < 0)
			sink->patience_ms = 0;
	} while (ready < 0 && errno == EINTR);
	return ready > 0;
}

/* There was room for something, but not for this. */
static bool pause_a_moment(struct launch_sink *sink)
{
	if (sink->patience_ms < PAUSE_MS)
		return false;
	sink->patience_ms -= PAUSE_MS;
	(void)poll(NULL, 0, PAUSE_MS);
	return true;
}

/* How much was written, 0 for "try again", or negative when it is to be dropped. */
static ssize_t put_some(struct launch_sink *sink, const struct iovec *parts, int count)
{
	ssize_t written;

	if (!sink->regular && !has_room(sink))
		return -1;
	written = write_quietly(sink->fd, parts, count, sink->regular);
	if (written >= 0)
		return written ? written : -1;
	if (errno == EINTR || (errno == EAGAIN && pause_a_moment(sink)))
		return 0;
	if (errno == EPIPE || errno == EBADF)
		sink->fd = -1;
	return -1;
}

void launch_sink_put(struct launch_sink *sink, const char *bytes, size_t len)
{
	char newline = '\n';
	bool begins = sink->torn;
	size_t done = 0;

	while (sink->fd >= 0 && done < len) {
		const struct iovec parts[] = {
			{ .iov_base = &newline, .iov_len = 1 },
			{ .iov_base = (char *)bytes + done, .iov_len = len - done },
		};
		ssize_t written = put_some(sink, parts + !begins, 1 + begins);

		if (written < 0)
			break;
		if (written > 0) {
			done += (size_t)written - begins;
			begins = false;
			sink->torn = done < len;
		}
	}
}

int launch_write_all(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		const struct iovec part = { .iov_base = (char *)bytes, .iov_len = len };
		ssize_t written = write_quietly(fd, &part, 1, true);

		if (written == 0)
			return -EIO;
		if (written > 0) {
			bytes += written;
			len -= (size_t)written;
		} else if (errno == EAGAIN) {
			struct pollfd at = { .fd = fd, .events = POLLOUT };

			(void)poll(&at, 1, -1);
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}
