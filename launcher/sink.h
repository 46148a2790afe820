/* SPDX-License-Identifier: MIT */
/*
 * Where a run writes what it has to say. Neither a reader that does not read nor one that went away
 * may hold up, end or fail a run: what finds no room is dropped.
 */
#ifndef SBX_LAUNCH_SINK_H
#define SBX_LAUNCH_SINK_H

#include <stdbool.h>
#include <stddef.h>

#define SINK_PATIENCE_MS 500

struct launch_sink {
	int fd; /* -1 when there is none, or nobody reads it any more */
	int patience_ms; /* how long all writes together may still wait for room */
	bool regular; /* a file, which always has room or never */
	bool torn; /* the last text is there in part: the next one begins a line */
};

/* The descriptor stays the caller's. */
void launch_sink_init(struct launch_sink *sink, int fd);
/* One write, as long as the other side takes it whole. Raises no SIGPIPE. */
void launch_sink_put(struct launch_sink *sink, const char *bytes, size_t len);

/* All of it, however long it takes; raises no SIGPIPE either. 0 or a negative errno. */
int launch_write_all(int fd, const char *bytes, size_t len);

#endif
