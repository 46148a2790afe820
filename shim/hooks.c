/* SPDX-License-Identifier: MIT */
/*
 * The functions themselves, made from hooks.def.
 *
 * Each is called shim_NAME and has NAME only as its label for the linker: in a function that is
 * called unlink the compiler would believe libc's header that the path is not NULL. None may call
 * what another row defines.
 */
#include "birth.h"
#include "call.h"
#include "exec.h"
#include "explain.h"
#include "libc.h"
#include "lookup.h"
#include "spawn.h"
#include "stream.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define CREAT_FLAGS (O_WRONLY | O_CREAT | O_TRUNC)
#define TEMP_FLAGS (O_RDWR | O_CREAT | O_EXCL)

static inline bool needs_mode(int flags)
{
	return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}
#define MODE(flags, mode) (needs_mode(flags) ? (mode) : 0)

/* The arguments of a system call, filled up to five. */
#define FIVE(function, number, ...) FIVE_(function, number, __VA_ARGS__, 0, 0, 0, 0)
#define FIVE_(function, number, a, b, c, d, e, ...) \
	((int)function(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e)))
#define VOUCH(call, ...) FIVE(shim_vouch, SYS_##call, __VA_ARGS__)
#define WAIT(call, ...) FIVE(shim_vouch_cancellable, SYS_##call, __VA_ARGS__)
#define WHOLE(call, ...) FIVE(shim_vouch_whole, SYS_##call, __VA_ARGS__)
#define FIRST(call, ...) FIVE(shim_ask_first, SYS_##call, __VA_ARGS__)
#define TRY(call, ...) FIVE(shim_try, SYS_##call, __VA_ARGS__)
#define UNPACK(...) __VA_ARGS__
#if SHIM_HAS_OLD_CALLS
#define VOUCH_OLD(call, arguments, at, at_arguments) VOUCH(call, UNPACK arguments)
#define WAIT_OLD(call, arguments, at, at_arguments) WAIT(call, UNPACK arguments)
#define TRY_OLD(call, arguments, at, at_arguments) TRY(call, UNPACK arguments)
#else
#define VOUCH_OLD(call, arguments, at, at_arguments) VOUCH(at, UNPACK at_arguments)
#define WAIT_OLD(call, arguments, at, at_arguments) WAIT(at, UNPACK at_arguments)
#define TRY_OLD(call, arguments, at, at_arguments) TRY(at, UNPACK at_arguments)
#endif

static inline long kernel(long result)
{
	return SHIM_UNLIKELY(shim_is_error(result)) ? shim_fail(result) : result;
}
#define KERNEL(result) ((int)kernel(result))

#define REAL(name)                                                 \
	({                                                         \
		static void *_Atomic slot;                         \
		(__typeof__(&shim_##name))shim_real(&slot, #name); \
	})

/* In a function that 'failed' is the result of. */
#define INSIDE(name, then, ...)                                                \
	({                                                                     \
		__typeof__(&shim_##name) real = REAL(name);                    \
		if (!real)                                                     \
			shim_set_errno(ENOSYS);                                \
		__typeof__(failed) result = real ? real(__VA_ARGS__) : failed; \
		if (real && result == failed)                                  \
			then;                                                  \
		result;                                                        \
	})

#define PASS(name, ...)                                     \
	({                                                  \
		__typeof__(&shim_##name) real = REAL(name); \
		if (!real)                                  \
			shim_set_errno(ENOSYS);             \
		real ? real(__VA_ARGS__) : failed;          \
	})

/* The functions' spellings with underscores say the same. */
#define SBX_TOLD___res_query SBX_TOLD_res_query
#define SBX_TOLD___res_search SBX_TOLD_res_search
#define LOOK_UP(way, function, ...) \
	(shim_lookup_begins(name, SBX_TOLD_##function), way(function, __VA_ARGS__))

/* Flags that need a mode, where there can be none: libc has something to say about that. */
#define FORTIFIED(flags, name, arguments, body)                \
	({                                                     \
		__typeof__(&shim_##name) real = NULL;          \
		if (needs_mode(flags) && !(real = REAL(name))) \
			end_process();                         \
		real ? real arguments : (body);                \
	})

#define SPAWN(name, search)                                                                  \
	shim_spawn(&(struct shim_spawn){ REAL(name), search, pid, path, actions, attributes, \
					 argv },                                             \
		   envp)

/* As far as it matters here: glibc's struct gaicb, which musl does not have. */
struct shim_gaicb {
	const char *name;
	const char *service;
	const struct addrinfo *hints;
};

#define EXPORT __attribute__((visibility("default")))

#define HOOK(type, name, failure, parameters, body) \
	EXPORT type shim_##name parameters __asm__(#name);
#define LIST(name, kind) \
	EXPORT int shim_##name(const char *path, const char *first, ...) __asm__(#name);
#include "hooks.def"

/* As abort() would, for a libc that has no words for it. */
static void end_process(void)
{
	long pid = shim_raw(SYS_getpid, 0, 0, 0, 0, 0, 0);

	(void)shim_raw(SYS_tgkill, pid, shim_raw(SYS_gettid, 0, 0, 0, 0, 0, 0), SIGABRT, 0, 0, 0);
	(void)shim_raw(SYS_kill, pid, SIGKILL, 0, 0, 0, 0);
}

/*
 * libc's own opens where no voucher can be put; the rest of it is its fdopendir(). (glibc looks at the
 * path first, and whoever has none ends there.)
 */
static DIR *open_dir(const char *path)
{
	static void *_Atomic slot;
	DIR *(*real)(int) = (DIR * (*)(int)) shim_real(&slot, "fdopendir");
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	DIR *stream = NULL;
	int fd;

	if (!real) {
		shim_set_errno(ENOSYS);
		return NULL;
	}
	if (!shim_is_glibc())
		fd = WAIT(openat, AT_FDCWD, path, flags);
	else if (*(const volatile char *)path)
		fd = VOUCH(openat, AT_FDCWD, path, flags | O_NONBLOCK);
	else
		fd = shim_fail(-ENOENT);
	if (fd >= 0 && !(stream = real(fd)))
		(void)shim_raw(SYS_close, fd, 0, 0, 0, 0, 0);
	return stream;
}

static long remove_file(const char *path)
{
	long result = TRY_OLD(unlink, (path), unlinkat, (AT_FDCWD, path, 0));

	if (result == -EISDIR)
		result = TRY_OLD(rmdir, (path), unlinkat, (AT_FDCWD, path, AT_REMOVEDIR));
	return result;
}

/* The kernel takes 32 bits of a device number. */
static long make_node(int dir, const char *path, mode_t mode, dev_t device)
{
	if (shim_is_glibc() && (unsigned int)device != device)
		return -EINVAL;
	return TRY(mknodat, dir, path, mode, (unsigned int)device);
}

static long make_node_old(int version, int dir, const char *path, mode_t mode, const dev_t *device)
{
	if (shim_is_glibc() && version != 0)
		return -EINVAL;
	return make_node(dir, path, mode, *device);
}

/* Nobody but the supervisor looks at the word: a socket that may be had is nobody's question. */
static long open_socket(int family, int type, int protocol, const void *caller)
{
	return shim_raw(SYS_socket, family, type, protocol, (long)caller, 0, (long)SBX_ASK);
}

static void begin_lookups(struct shim_gaicb *const *list, int count)
{
	for (int i = 0; i < count; i++)
		if (list[i])
			shim_lookup_begins(list[i]->name, SBX_TOLD_getaddrinfo_a);
}

/*
 * What getaddrinfo_a() came to, whenever the program asks. Of what it asked for it may have kept no more
 * than the name.
 */
static int end_lookup(int (*real)(struct shim_gaicb *request), struct shim_gaicb *request)
{
	if (!real)
		return EAI_SYSTEM;
	return shim_lookup_ended(real(request), request->name, NULL, request->hints,
				 SBX_TOLD_getaddrinfo_a);
}

static bool is_ours(long number)
{
	switch (number) {
#define PATH_CALL(name, ...) case SYS_##name:
#if !SHIM_HAS_OLD_CALLS
#define OLD_PATH_CALL(...)
#endif
#include "pathcalls.def"
		return true;
	default:
		return false;
	}
}

static __attribute__((noinline)) long vouch_any(long number, long a, long b, long c, long d, long e)
{
	if (number == SYS_execve)
		return kernel(shim_start_path((const char *)a, (char *const *)b, (char *const *)c));
	if (number == SYS_execveat)
		return kernel(shim_start_at((int)a, (const char *)b, (char *const *)c,
					    (char *const *)d, (int)e));
	if (number == SYS_openat2)
		return shim_ask_first(number, a, b, c, d, e);
	if (number == SYS_truncate || number == SYS_bind)
		return shim_vouch_whole(number, a, b, c, d, e);
	return shim_vouch(number, a, b, c, d, e);
}

/* What is none of ours goes as it came, so that nothing stands between a caller and the kernel. */
static long any_call(long number, long a, long b, long c, long d, long e, long f)
{
	if (SHIM_UNLIKELY(is_ours(number)))
		return vouch_any(number, a, b, c, d, e);
	return kernel(shim_raw(number, a, b, c, d, e, number == SYS_socket ? (long)SBX_ASK : f));
}

#define HOOK(type, name, failure, parameters, body) \
	type shim_##name parameters                 \
	{                                           \
		type failed = failure;              \
		(void)failed;                       \
		return body;                        \
	}
#define LIST(name, kind)                                                \
	int shim_##name(const char *path, const char *first, ...)       \
	{                                                               \
		va_list rest;                                           \
		va_start(rest, first);                                  \
		long result = shim_start_list(kind, path, first, rest); \
		va_end(rest);                                           \
		return KERNEL(result);                                  \
	}
#include "hooks.def"
