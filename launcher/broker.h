/* SPDX-License-Identifier: MIT */
/*
 * The broker: performs calls itself where the kernel's rules cannot say what the policy says.
 *
 * What such a call needs is left out of the program's Landlock layer (hold.h), so the kernel refuses
 * it, and the supervisor is asked. The arguments are copied once; what they lead to is pinned by a
 * descriptor; the policy decides about the name that the pinned thing has; and the call is made on
 * the descriptor, by a thread with the caller's umask. Between the decision and the call there is
 * nothing left that the program could exchange.
 */
#ifndef SBX_LAUNCH_BROKER_H
#define SBX_LAUNCH_BROKER_H

#include "hold.h"
#include "judge.h"
#include "masks.h"

/* What became of a call. */
enum launch_served {
	SERVED_LEFT, /* not ours: it is for the judge to see, and the kernel's rules hold it */
	SERVED_HELD, /* allowed, and the kernel's rules hold it: it can go on */
	SERVED_REFUSED, /* by the policy: 'error' */
	SERVED_JUDGED, /* the same, and what there is to say of it is in the judge */
	SERVED_DONE, /* 'error', or when that is 0 'value' is the answer */
	SERVED_SENT, /* and answered: nothing is left to do */
};

struct launch_answer {
	int error; /* positive */
	int64_t value;
};

/* What all threads that serve share. */
struct launch_broker {
	int listener;
	const struct launch_hold *hold;
	struct launch_repos *repos;
	struct launch_masks *masks;
	struct launch_narrow *narrow;
	struct launch_waits *waits; /* NULL: nobody can wait */
	struct launch_servers *servers; /* the program's own; NULL: they are not known */
	bool network; /* destinations are ours to hold */
	struct launch_names *names; /* and look-ups ours to answer */
	bool no_unix_datagram;
	bool hides; /* something is hidden: what Landlock says to who looks would tell of it */
	bool ports; /* Landlock keeps the program from binding TCP sockets */
	bool landlock; /* false: nothing stands behind us, and no call by path may go on */
};

/*
 * Whether Landlock stands behind a call. It does not behind what truncates without opening for
 * writing, nor behind what may become that: flags in memory can be exchanged.
 */
bool launch_broker_backs(const struct launch_broker *broker, enum launch_call_index index,
			 const __u64 args[6]);

enum launch_served launch_broker_call(const struct launch_broker *broker,
				      struct launch_judge *judge, enum launch_call_index index,
				      const struct seccomp_notif *asked,
				      struct launch_answer *answer);
/*
 * socket(), where hosts are allowed by name: the program's own network leads nowhere but to our
 * resolver, and datagrams may go there (SERVED_HELD: its registers decide). What connects is made by us,
 * in the network that we have.
 */
enum launch_served launch_broker_socket(const struct launch_broker *broker,
					const struct seccomp_notif *asked,
					struct launch_answer *answer);
/* The same for a call of looks.def. */
enum launch_served launch_broker_look(const struct launch_broker *broker,
				      struct launch_judge *judge, enum launch_call_index index,
				      const struct seccomp_notif *asked,
				      struct launch_answer *answer);

#endif
