/* SPDX-License-Identifier: MIT */
/*
 * Attacks by system calls.
 */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <tap.h>
#include <unistd.h>

#define NOBODY 65534

/* struct file_handle, with room */
struct handle {
	unsigned bytes;
	int type;
	unsigned char data[128];
};

static void handle_of_key(const struct scene *scene, struct handle *handle)
{
	int where;

	memset(handle, 0, sizeof(*handle));
	handle->bytes = sizeof(handle->data);
	if (syscall(SYS_name_to_handle_at, AT_FDCWD, scene_at(scene, "secret/key"), handle, &where,
		    0) < 0)
		BAIL_OUT("no handle: %s", strerror(errno));
}

static void give_handle(struct scene *scene)
{
	struct handle handle;

	handle_of_key(scene, &handle);
	scene_put(scene, "ro/handle", &handle, sizeof(handle));
}

/* Here the handle is the secret. */
static void keep_handle(struct scene *scene)
{
	struct handle handle;

	handle_of_key(scene, &handle);
	for (unsigned i = 0; i < handle.bytes && i < 16; i++)
		snprintf(scene->marker + 2 * i, 3, "%02x", handle.data[i]);
}

/* In a session keyring of this test alone, which what it starts inherits. */
static void give_key(struct scene *scene)
{
	static bool joined;

	if (!joined && syscall(SYS_keyctl, 1 /* join a session keyring */, NULL) < 0)
		BAIL_OUT("no keyring: %s", strerror(errno));
	joined = true;
	if (syscall(SYS_add_key, "user", scene->world, scene->marker, strlen(scene->marker), -3) <
	    0)
		BAIL_OUT("no key: %s", strerror(errno));
	scene_fact(scene, "key=%s", scene->world);
}

/* things: the master's side, the terminal */
static void give_terminal(struct scene *scene)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);

	if (master < 0 || unlockpt(master) < 0)
		BAIL_OUT("no terminal");
	scene->things[0] = master;
	scene->terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (scene->terminal < 0)
		BAIL_OUT("no terminal");
	scene_fact(scene, "text=%.12s", scene->marker);
	scene->marker[12] = 0;
}

/* What is typed into a terminal is shown on it. */
static bool typed(struct scene *scene)
{
	struct pollfd shown = { .fd = scene->things[0], .events = POLLIN };
	char text[4096];
	/* The kernel takes its time, natively. */
	bool any = poll(&shown, 1, scene->sandboxed ? 20 : 5000) > 0;
	ssize_t got = !any ? 0 : read(scene->things[0], text, sizeof(text) - 1);

	text[got < 0 ? 0 : got] = 0;
	return strstr(text, scene->marker);
}

static void close_terminal(struct scene *scene)
{
	close(scene->terminal);
	close(scene->things[0]);
	scene->terminal = -1;
}

/* things: memory, queue, semaphores */
static void give_system_v(struct scene *scene)
{
	key_t key = (key_t)(strtoul(scene->marker + 20, NULL, 16) & 0x7ffffff) + 1;
	uid_t owner = attack_root() && scene->user ? NOBODY : getuid();
	struct shmid_ds memory = { .shm_perm = { .uid = owner, .gid = owner, .mode = 0600 } };
	struct msqid_ds queue = { .msg_perm = { .uid = owner, .gid = owner, .mode = 0600 } };
	struct semid_ds semaphores = { .sem_perm = { .uid = owner, .gid = owner, .mode = 0600 } };
	struct {
		long type;
		char text[4];
	} message = { 1, "abc" };
	char *at;

	scene->things[0] = shmget(key, 4096, IPC_CREAT | IPC_EXCL | 0600);
	scene->things[1] = msgget(key, IPC_CREAT | IPC_EXCL | 0600);
	scene->things[2] = semget(key, 1, IPC_CREAT | IPC_EXCL | 0600);
	at = shmat(scene->things[0], NULL, 0);
	if (at == (void *)-1 || msgsnd(scene->things[1], &message, 4, 0) < 0)
		BAIL_OUT("no System V things: %s", strerror(errno));
	memcpy(at, scene->marker, strlen(scene->marker) + 1);
	shmdt(at);
	queue.msg_qbytes = 1024;
	if (shmctl(scene->things[0], IPC_SET, &memory) < 0 ||
	    msgctl(scene->things[1], IPC_SET, &queue) < 0 ||
	    semctl(scene->things[2], 0, IPC_SET, &semaphores) < 0)
		BAIL_OUT("no System V things: %s", strerror(errno));
	scene_fact(scene, "shm=%d", key);
	scene_fact(scene, "shmid=%d", scene->things[0]);
}

static void remove_system_v(struct scene *scene)
{
	shmctl(scene->things[0], IPC_RMID, NULL);
	msgctl(scene->things[1], IPC_RMID, NULL);
	semctl(scene->things[2], 0, IPC_RMID);
}

static const struct attack_hook hooks[] = {
	{ .id = "V037", .arrange = give_handle },
	{ .id = "V038", .arrange = keep_handle },
	{ .id = "V082", .arrange = give_key },
	{ .id = "V084", .arrange = give_terminal, .seen = typed, .clear = close_terminal },
	{ .id = "V085", .arrange = give_system_v, .clear = remove_system_v },
	{ .id = NULL },
};

static void in_both_builds(bool user)
{
	for (const struct attack_way *way = attack_ways; way->name; way++)
		attack_all(CALLS, way, user, hooks);
}

int main(void)
{
	attack_begin();
	attack_as_each(in_both_builds);
	return attack_end();
}
