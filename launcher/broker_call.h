/* SPDX-License-Identifier: MIT */
/* One call that the broker serves; shared by its parts. */
#ifndef SBX_LAUNCH_BROKER_CALL_H
#define SBX_LAUNCH_BROKER_CALL_H

#include "broker.h"

#include "resolve.h"

#include <sys/stat.h>

struct brokered {
	const struct launch_broker *broker;
	struct launch_judge *judge; /* lends its memory */
	const struct sbx_path_call *ask;
	uint64_t args[6];
	uint64_t flags; /* the argument, or 0 */
	uint64_t id; /* of the question */
	pid_t thread;
	bool narrow; /* under rules that are not ours */
	bool backed; /* what is left to the kernel, Landlock decides */
	struct launch_answer *answer;
};

/* A name in a folder that is pinned: what is made, removed or moved. */
struct entry {
	int folder; /* O_PATH; -1: none */
	char name[NAME_MAX + 2]; /* with a slash behind it where the caller wrote some */
	bool slashed;
	char path[PATH_MAX]; /* the folder's, and the name */
};

/* The question with its arguments; which of them are flags, its table says. The answer becomes empty. */
struct brokered launch_broker_take(const struct launch_broker *broker, struct launch_judge *judge,
				   enum launch_call_index index, const struct seccomp_notif *asked,
				   struct launch_answer *answer);

/* What is left to the kernel, or failed: results of the parts below. */
enum launch_served launch_broker_done(const struct brokered *call, int64_t result);
enum launch_served launch_broker_left(const struct brokered *call, int error);
/*
 * What is asked for could not be pinned. Where that may be for a mask, the judge finds the words, and
 * the kernel refuses it: only for calls that Landlock decides.
 */
enum launch_served launch_broker_unfound(const struct brokered *call, int failed);

/*
 * Copies the path argument 'arg' into 'out'; 0, or a negative errno. The empty path is none.
 */
int launch_broker_path(const struct brokered *call, int8_t arg, char out[PATH_MAX]);
int launch_broker_dir(const struct brokered *call, int8_t arg);

/*
 * Pins the folder of 'path' and splits off its last name. -ELOOP: it cannot be looked at from here,
 * and -EINVAL: there is no name ("..", "/"). To be closed with launch_entry_close() either way.
 */
int launch_entry_find(const struct brokered *call, int dir, const char *path, uint64_t how,
		      struct entry *entry);
void launch_entry_close(struct entry *entry);

/*
 * Pins what a path leads to (launch_target_open). Without Landlock also what is below /proc, as the
 * caller sees it.
 */
int launch_broker_pin(const struct brokered *call, int dir, const char *path, int flags,
		      uint64_t how);
/* What the caller's descriptor stands for that the path names ("/proc/self/fd/5"); -ENOENT: none. */
int launch_broker_pin_own(const struct brokered *call, const char *path);
/*
 * What is pinned by 'fd' is called 'path': the length. -ELOOP: it has no name that rules could be
 * about; -EACCES: it belongs to a process outside, or lies in another procfs than /proc.
 */
int launch_broker_name(const struct brokered *call, int fd, char path[PATH_MAX]);

/*
 * In a user namespace the files of all others look like this one's, the kernel's overflow uid. Whether
 * what is pinned is our own, who may be called so as well:
 */
#define NOBODY 65534
bool launch_broker_owns(int fd, const struct stat *st);

/* Whether the policy allows it; the verdict is the judge's. */
bool launch_broker_allows(const struct brokered *call, struct sbx_request *request);
/*
 * Whether it allows to read something that is there, called judge->at.path, and 'given' by the caller.
 * The judge can say why not.
 */
bool launch_broker_may_read(const struct brokered *call, const struct stat *st, const char *given);
/* Whether a rule hides what is called 'path', from "/" on. */
bool launch_broker_hides(const struct brokered *call, const char *path);
/*
 * Whether something hidden is at the end of a path, or was used as a way: through a link, or by "..".
 * Then judge->at.path is what it is called. As it is now: good for refusing only.
 */
bool launch_broker_hides_way(const struct brokered *call, int dir, const char *path, bool follows);
/* The same, with the RESOLVE_ flags of openat2. */
bool launch_broker_hides_how(const struct brokered *call, int dir, const char *path, bool follows,
			     uint64_t how);
/* What is said to whoever meets it: ENOENT. 'given' is how it was called. */
enum launch_served launch_broker_hidden(const struct brokered *call, enum sbx_op op,
					const char *given);
/*
 * launch_target_look(), unless 'hidden': then -ENOENT. In either case judge->at.path is what it is
 * called.
 */
int launch_broker_pin_seen(const struct brokered *call, int dir, const char *path, int flags,
			   bool *hidden);
/* A file that is executed, a socket that is connected to: SERVED_LEFT unless it is hidden. */
enum launch_served launch_broker_use(const struct brokered *call);

/* Whether any of these classes is left to us anywhere. */
bool launch_broker_serves(const struct brokered *call, uint8_t classes);
/* Whether the kernel's own rules grant all these classes there. */
bool launch_broker_is_held(const struct brokered *call, const char *path, uint8_t classes);
/* The same for an entry that is made or taken away: the folder counts. */
bool launch_broker_is_held_in(const struct brokered *call, const char *path);

/* The umask of the caller becomes that of this thread. */
void launch_broker_umask(const struct brokered *call);

/* The descriptor becomes the caller's, and is its answer. -ENOENT: nobody waits for it any more. */
int launch_broker_send(const struct brokered *call, int fd, bool cloexec);
/* How something that is there is opened for a caller who gave these flags. */
int launch_broker_open_flags(uint64_t flags);
/*
 * A descriptor becomes the caller's: its number there, which is still to be answered. -EALREADY: it has
 * been. Ours is closed then, before the caller goes on to write: who executes a file that it wrote
 * must not find it busy. Else a negative errno, and it is still open; -ESRCH: nobody waits for it. What
 * it was opened from (-1: nothing) is closed either way. What is to be truncated is truncated last: not
 * for somebody who has no room for one more descriptor.
 */
int launch_broker_hand_over(int listener, uint64_t id, int fd, int pinned, uint64_t flags);

enum launch_served launch_broker_open(struct brokered *call, uint64_t flags, mode_t mode,
				      uint64_t how);
enum launch_served launch_broker_truncate(struct brokered *call);
enum launch_served launch_broker_make(struct brokered *call);
enum launch_served launch_broker_remove(struct brokered *call);
enum launch_served launch_broker_rename(struct brokered *call);
enum launch_served launch_broker_link(struct brokered *call);
/* A UNIX socket that becomes a file. */
enum launch_served launch_broker_bind_file(struct brokered *call);
/* Sockets of all kinds. */
enum launch_served launch_broker_connect(struct brokered *call);
enum launch_served launch_broker_bind(struct brokered *call);
enum launch_served launch_broker_listen(struct brokered *call);
enum launch_served launch_broker_change(struct brokered *call);
enum launch_served launch_broker_memfd(struct brokered *call);

#endif
