/* SPDX-License-Identifier: MIT */
/*
 * Explains refusals in the program itself, where no supervisor can: the policy is read when
 * something was refused and forgotten again. Works on memory and a stack of its own, because the
 * program's may be small.
 *
 * It decides nothing: the call has been refused by the kernel, and all there is to find out is
 * whether the policy is why. It must never speak of what does not exist, nor twice of the same.
 */
#include "explain.h"

#include "memory.h"
#include "question.h"
#include "start.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

#include "words.h"

#define STACK 65536

/* All that one explanation needs; the stack comes first, and grows down from 'top'. */
struct work {
	_Alignas(16) char stack[STACK];
	const struct shim_call *call;
	long *result;
	bool told;
	struct sbx_verdict verdict;
	struct shim_question question;
	char cwd[PATH_MAX];
	char program[32];
	char text[SBX_TEXT_MAX];
};

static bool read_whole(int fd, char *to, size_t size)
{
	for (size_t done = 0; done < size;) {
		long got = shim_raw(SYS_read, fd, (long)(to + done), (long)(size - done), 0, 0, 0);

		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

/* A copy of the image, because whoever may write the file could change it after the check. */
static struct sbx_image *read_image(int fd, size_t *size)
{
	struct sbx_image *image;
	struct stat st = { 0 };

	if (shim_raw(SYS_fstat, fd, (long)&st, 0, 0, 0, 0) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_size < (off_t)sizeof(*image) || st.st_size > SBX_MAX_IMAGE)
		return NULL;
	*size = (size_t)st.st_size;
	image = shim_map(*size);
	if (!image)
		return NULL;
	/* The launcher may have written more behind it. */
	if (read_whole(fd, (char *)image, *size) && image->size <= *size &&
	    sbx_image_check(image, image->size) == 0)
		return image;
	shim_unmap(image, *size);
	return NULL;
}

static struct sbx_image *get_image(size_t *size)
{
	const char *path = shim_self()->image + strlen(SBX_ENV_IMAGE "=");
	int how = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
	long fd = shim_quietly(SYS_openat, AT_FDCWD, (long)path, how, 0, 0);
	struct sbx_image *image;

	if (fd < 0)
		return NULL;
	image = read_image((int)fd, size);
	(void)shim_raw(SYS_close, fd, 0, 0, 0, 0, 0);
	return image;
}

static uint64_t mix(uint64_t hash, const char *text)
{
	do
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	while (*text++);
	return hash;
}

/* Whether this is the first time in this process; what does not fit any more is told again. */
static bool is_new(uint64_t hash)
{
	static _Atomic uint64_t told[256];
	const size_t count = sizeof(told) / sizeof(told[0]);

	hash += hash == 0;
	for (size_t i = 0; i < 16; i++) {
		uint64_t empty = 0;

		if (atomic_compare_exchange_strong(&told[(hash + i) % count], &empty, hash))
			return true;
		if (empty == hash)
			return false;
	}
	return true;
}

static uint64_t hash_of(const struct work *work, uint32_t pid)
{
	const struct sbx_request *request = &work->question.request;
	uint64_t hash = 0xcbf29ce484222325 ^ pid ^ (uint64_t)request->op << 32 ^
			(uint64_t)work->verdict.code << 40;

	hash = mix(hash, request->path ? request->path : work->question.given);
	return request->to ? mix(hash, request->to) : hash;
}

static const char *program_name(struct work *work)
{
	static const char file[] = "/proc/self/comm";
	long fd = shim_quietly(SYS_openat, AT_FDCWD, (long)file, O_RDONLY | O_CLOEXEC, 0, 0);
	long len = 0;

	if (fd >= 0) {
		len = shim_raw(SYS_read, fd, (long)work->program, sizeof(work->program), 0, 0, 0);
		(void)shim_raw(SYS_close, fd, 0, 0, 0, 0, 0);
	}
	if (len < 2)
		return "?";
	work->program[len - 1] = '\0';
	return work->program;
}

static void tell(struct work *work, const struct sbx_image *image)
{
	uint32_t pid = (uint32_t)shim_raw(SYS_getpid, 0, 0, 0, 0, 0, 0);
	long cwd = shim_raw(SYS_getcwd, (long)work->cwd, sizeof(work->cwd), 0, 0, 0, 0);
	struct sbx_report report = { .image = image,
				     .request = &work->question.request,
				     .verdict = &work->verdict,
				     .given = work->question.given,
				     .given_to = work->question.given_to,
				     .cwd = cwd > 0 ? work->cwd : NULL,
				     .program = program_name(work),
				     .pid = pid,
				     .syscall = work->question.syscall };
	size_t len;

	if (work->verdict.code == SBX_CODE_HIDDEN || !is_new(hash_of(work, pid)))
		return;
	len = sbx_words_text(&report, work->text, sizeof(work->text));
	if (len >= sizeof(work->text))
		len = sizeof(work->text) - 1;
	(void)shim_raw(SYS_write, 2, (long)work->text, (long)len, 0, 0, 0);
}

/* Default protections are not yet in force without a listener: they are not why. */
static bool refuses(const struct sbx_verdict *verdict)
{
	return !verdict->allowed && verdict->code != SBX_CODE_PROTECTED &&
	       !(verdict->flags & SBX_VERDICT_COMPLAIN);
}

static void explain(void *context)
{
	struct work *work = context;
	size_t size;
	struct sbx_image *image = get_image(&size);
	long error = *work->result;

	for (unsigned int i = 0; image && !work->told; i++) {
		if (!shim_question(&work->question, work->call, error, i))
			break;
		sbx_eval(image, &work->question.request, &work->verdict);
		sbx_eval_by_port(image, &work->question.request, &work->verdict);
		work->told = refuses(&work->verdict);
	}
	if (work->told) {
		tell(work, image);
		if (work->verdict.error)
			*work->result = -work->verdict.error;
	}
	if (image)
		shim_unmap(image, size);
}

bool shim_explain(const struct shim_call *call, long *result)
{
	struct work *work = shim_map(sizeof(*work));
	bool told;

	if (!work)
		return false;
	work->call = call;
	work->result = result;
	shim_on_stack(explain, work, work->stack + STACK);
	told = work->told;
	shim_unmap(work, sizeof(*work));
	return told;
}
