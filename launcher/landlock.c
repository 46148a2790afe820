/* SPDX-License-Identifier: MIT */
/*
 * Landlock: from the image's rules to rulesets of the kernel.
 *
 * Landlock adds up what the rules of a file and of all folders above it grant. So a policy is held
 * exactly when no right is lost on the way down, at any place that a rule names: see
 * launch_landlock_unheld(). Every such place then gets what the engine says of it, and no other
 * opinion is formed here. Where rights are lost, and somebody can be asked, hold.c says which of them
 * are left out for the program. Must never grant what the engine does not, and never follow a link.
 */
#include "landlock.h"

#include "landlock_abi.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BOTH_LAYERS (1 << LAYER_LAUNCHER | 1 << LAYER_PROGRAM)

struct launch_spot {
	const char *path;
	char *own; /* the path, where nobody else has it */
	int fd; /* O_PATH, or -1 for a spot that needs no rule */
	mode_t mode;
	uint8_t rights;
	uint8_t left; /* classes of them that the program's layer leaves to the broker */
	uint8_t layers;
	bool dev; /* at /dev or below */
};

const struct launch_gap launch_landlock_gaps[] = {
	{ 2, "renaming and linking from one folder to another is always refused" },
	{ 3, "truncating is not held" },
	{ 4, "TCP is not held" },
	{ 5, "ioctl on devices is not held" },
	{ 6, "signals and abstract UNIX sockets are not held: a program of the same user can end "
	     "its own "
	     "supervisor, and with it the limits" },
	{ 0, NULL },
};

static int create_ruleset(const struct ll_ruleset *attr, unsigned int flags)
{
	long result = syscall(LL_SYS_CREATE_RULESET, attr, attr ? sizeof(*attr) : (size_t)0, flags);

	return result < 0 ? -errno : (int)result;
}

/* Kernels are known that count an ABI without having all of it: what is said is tried. */
int launch_landlock_abi(void)
{
	int abi = create_ruleset(NULL, LL_CREATE_VERSION);

	if (abi > LL_ABI_MAX)
		abi = LL_ABI_MAX;
	for (; abi > 0; abi--) {
		int fd = create_ruleset(&ll_abis[abi], 0);

		if (fd >= 0) {
			close(fd);
			return abi;
		}
	}
	return 0;
}

/*
 * To create without the right to write would leave an empty file behind a refusal, so what creates
 * can also read, write and truncate. Devices are never made.
 */
static const struct {
	uint8_t class;
	uint64_t access;
} grants[] = {
	{ HOLD_READ, LL_READ_FILE | LL_READ_DIR },
	{ HOLD_EXEC, LL_EXECUTE | LL_READ_FILE },
	{ HOLD_WRITE, LL_READ_FILE | LL_WRITE_FILE | LL_TRUNCATE },
	{ HOLD_CHANGE, LL_READ_FILE | LL_WRITE_FILE | LL_TRUNCATE | LL_REMOVE_DIR | LL_REMOVE_FILE |
			       LL_MAKE_DIR | LL_MAKE_REG | LL_MAKE_SOCK | LL_MAKE_FIFO |
			       LL_MAKE_SYM | LL_REFER },
};

static uint64_t access_of(uint8_t classes, mode_t mode, bool dev, int abi)
{
	uint64_t access = 0;

	for (size_t i = 0; i < sizeof(grants) / sizeof(grants[0]); i++)
		if (classes & grants[i].class)
			access |= grants[i].access;
	if ((classes & (HOLD_READ | HOLD_WRITE)) && (dev || S_ISCHR(mode) || S_ISBLK(mode)))
		access |= LL_IOCTL_DEV;
	return access & ll_abis[abi].fs & (S_ISDIR(mode) ? UINT64_MAX : LL_FILE_RIGHTS);
}

uint64_t launch_landlock_access(uint8_t rights, mode_t mode, bool dev, int abi)
{
	return access_of(launch_hold_classes(rights), mode, dev, abi);
}

/* What the first 'len' bytes of a path have; false when they are too many to be one. */
static bool rights_before(const struct sbx_image *image, const char *path, size_t len,
			  uint8_t *rights)
{
	char prefix[PATH_MAX];

	if (len >= sizeof(prefix))
		return false;
	memcpy(prefix, path, len);
	prefix[len] = '\0';
	*rights = len ? launch_rights_at(image, prefix) : 0;
	return true;
}

/* What the folder has that holds 'path'; nothing holds "/". */
static bool rights_above(const struct sbx_image *image, const char *path, uint8_t *rights)
{
	const char *slash = strrchr(path, '/');
	size_t len = !slash || !slash[1] ? 0 : slash == path ? 1 : (size_t)(slash - path);

	return rights_before(image, path, len, rights);
}

/* A rule about paths that says something. */
static bool is_path_rule(const struct sbx_rule *rule)
{
	return rule->kind <= SBX_RULE_HIDE && !(rule->flags & SBX_RULE_ABSENT);
}

static bool grants_below(const struct sbx_image *image, const char *folder, size_t len)
{
	uint32_t count = sbx_count(image, SBX_TABLE_rules);

	for (uint32_t i = 0; i < count; i++) {
		const struct sbx_rule *rule = &sbx_rules(image)[i];

		if (is_path_rule(rule) && (rule->rights & PATH_RIGHTS) &&
		    !strncmp(sbx_str(image, rule->path), folder, len))
			return true;
	}
	return false;
}

/*
 * A pattern that adds must add nothing that its folder does not have already; one that takes away
 * must have nothing to take, neither in its folder nor below it.
 */
static const char *pattern_fault(const struct sbx_image *image, const struct sbx_rule *rule)
{
	const char *path = sbx_str(image, rule->path);
	size_t len = strcspn(path, "*?");
	uint8_t above, wanted = rule->rights & PATH_RIGHTS;

	while (len > 0 && path[len - 1] != '/')
		len--;
	if (!rights_before(image, path, len, &above))
		return "its path is too long";
	if (rule->kind == SBX_RULE_ADD ? wanted & ~above : above || grants_below(image, path, len))
		return "it is a pattern";
	return NULL;
}

static const char *section_fault(const struct sbx_image *image, const struct sbx_rule *rule)
{
	const struct sbx_section *section;

	if (rule->kind != SBX_RULE_SET || rule->section == SBX_NONE || !rule->rights)
		return NULL;
	section = &sbx_sections(image)[rule->section];
	if (section->suffixes.count)
		return "it is about the endings of file names";
	return section->max_bytes != UINT64_MAX ? "it is about the sizes of files" : NULL;
}

static const char *rule_fault(const struct sbx_image *image, const struct sbx_rule *rule)
{
	const char *path = sbx_str(image, rule->path), *fault;
	uint8_t here, above;

	if (rule->flags & SBX_RULE_GLOB)
		return pattern_fault(image, rule);
	fault = section_fault(image, rule);
	if (fault)
		return fault;
	if (!rights_above(image, path, &above))
		return "its path is too long";
	here = launch_rights_at(image, path);
	if (above & ~here)
		return "it takes rights away inside a place that has them";
	if ((rule->flags & SBX_RULE_MISSING) && (here & ~above))
		return "it names a place that does not exist yet";
	return NULL;
}

/*
 * Rights change only at places that a rule names. Where none of them loses what the folder above it
 * has, the sum over a file and all folders above it is what the file itself has.
 */
uint32_t launch_landlock_unheld(const struct sbx_image *image, const char **why)
{
	uint32_t count = sbx_count(image, SBX_TABLE_rules);

	for (uint32_t i = 0; i < count; i++) {
		const struct sbx_rule *rule = &sbx_rules(image)[i];
		const char *fault = is_path_rule(rule) ? rule_fault(image, rule) : NULL;

		if (!fault)
			continue;
		if (why)
			*why = fault;
		return i;
	}
	return SBX_NONE;
}

/* What a rule at a place may grant: the policy's own files are never writable. */
static uint8_t rights_granted_at(const struct sbx_image *image, const char *path)
{
	struct sbx_request request = { .op = SBX_OP_WRITE, .size = -1, .path = path };
	struct sbx_verdict verdict;

	sbx_eval(image, &request, &verdict);
	if (verdict.code == SBX_CODE_READ_ONLY)
		verdict.rights &= (uint8_t)~SBX_RIGHT_WRITE;
	return verdict.rights & PATH_RIGHTS;
}

/* What the kernel's rule has to grant there; nothing where the folder above grants it all. */
static uint8_t wanted_rights(const struct launch_landlock *landlock, const struct sbx_rule *rule,
			     uint8_t *left)
{
	const uint16_t none = SBX_RULE_GLOB | SBX_RULE_MISSING | SBX_RULE_ABSENT;
	const struct sbx_image *image = landlock->image;
	const char *path = sbx_str(image, rule->path);
	const struct launch_held *held;
	uint8_t here, above;

	*left = 0;
	if ((rule->kind != SBX_RULE_ADD && rule->kind != SBX_RULE_SET) || (rule->flags & none) ||
	    !rights_above(image, path, &above))
		return 0;
	here = rights_granted_at(image, path);
	if (!landlock->hold)
		return here & ~above ? here : 0;
	held = launch_hold_find(landlock->hold, path, strlen(path));
	*left = launch_hold_classes(here) & (uint8_t) ~(held ? held->classes : 0);
	/* What can be moved takes no rule along but its own. */
	return here & ~above || (held && held->classes & ~held->above) ? here : 0;
}

/*
 * Of a place that does not exist yet, or that a pattern names, the folder that there is: for us alone,
 * who will be asked.
 */
static char *nearest_folder(const struct sbx_image *image, const struct sbx_rule *rule)
{
	char *path = strdup(sbx_str(image, rule->path)), *slash;
	struct stat st;

	if (!path)
		return NULL;
	path[strcspn(path, "*?")] = '\0';
	while ((slash = strrchr(path, '/'))) {
		slash[slash == path] = '\0';
		if (slash == path || lstat(path, &st) == 0)
			break;
	}
	return path;
}

static void take_folder(struct launch_landlock *landlock, const struct sbx_rule *rule)
{
	struct launch_spot *spot = &landlock->spots[landlock->count];
	char *path;

	if (!landlock->hold || (rule->kind != SBX_RULE_ADD && rule->kind != SBX_RULE_SET) ||
	    !(rule->flags & (SBX_RULE_GLOB | SBX_RULE_MISSING)) ||
	    (rule->flags & SBX_RULE_ABSENT) || !(rule->rights & PATH_RIGHTS) ||
	    !(path = nearest_folder(landlock->image, rule)))
		return;
	*spot = (struct launch_spot){ .path = path,
				      .own = path,
				      .fd = -1,
				      .rights = rule->rights & PATH_RIGHTS,
				      .layers = 1 << LAYER_LAUNCHER };
	landlock->count++;
}

static int by_path(const void *a, const void *b)
{
	const struct launch_spot *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* One spot for each place; rules that share one agree, because the engine was asked. */
static void take_rules(struct launch_landlock *landlock)
{
	const struct sbx_image *image = landlock->image;
	struct launch_spot *spots = landlock->spots;
	uint32_t count = sbx_count(image, SBX_TABLE_rules);
	size_t found = 0, kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct sbx_rule *rule = &sbx_rules(image)[i];
		uint8_t left, rights = wanted_rights(landlock, rule, &left);

		if (rights)
			spots[found++] = (struct launch_spot){ .path = sbx_str(image, rule->path),
							       .fd = -1,
							       .rights = rights,
							       .left = left,
							       .layers = BOTH_LAYERS };
	}
	qsort(spots, found, sizeof(*spots), by_path);
	for (size_t i = 0; i < found; i++)
		if (kept == 0 || by_path(&spots[kept - 1], &spots[i]) != 0)
			spots[kept++] = spots[i];
	landlock->count = kept;
	for (uint32_t i = 0; i < count; i++)
		take_folder(landlock, &sbx_rules(image)[i]);
}

static void take_place(struct launch_landlock *landlock, const char *path, uint8_t rights,
		       uint8_t layers)
{
	landlock->spots[landlock->count++] = (struct launch_spot){
		.path = path, .fd = -1, .rights = rights, .layers = layers ? layers : BOTH_LAYERS
	};
}

/* Where a policy allows "/", terminals below /dev must still be terminals: "/" has no ioctl. */
static void take_dev(struct launch_landlock *landlock)
{
	uint8_t rights = launch_rights_at(landlock->image, "/dev");

	if (!rights || !launch_rights_at(landlock->image, "/") || access("/dev", F_OK) < 0)
		return;
	take_place(landlock, "/dev", rights, BOTH_LAYERS);
	if (landlock->hold)
		landlock->spots[landlock->count - 1].left =
			launch_hold_classes(rights) &
			(uint8_t)~launch_hold_at(landlock->hold, "/dev");
}

/* openat2() is asked to refuse links anywhere; without it, the last component at least is none. */
static int open_spot(const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = open(path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

/* Spots may be many; launch_landlock_done() brings the limit back that the program inherits. */
static bool raise_files(struct rlimit *old)
{
	struct rlimit most;

	if (old->rlim_max != 0 || getrlimit(RLIMIT_NOFILE, old) < 0)
		return false;
	most = (struct rlimit){ old->rlim_max, old->rlim_max };
	return setrlimit(RLIMIT_NOFILE, &most) == 0;
}

static int fail_open(struct launch_error *error, const char *path, int code)
{
	if (code == ENOENT || code == ENOTDIR)
		return launch_fail(error, code,
				   "'%s' is allowed by the policy, but is gone since it was read",
				   path);
	if (code == ELOOP)
		return launch_fail(error, code,
				   "'%s' is allowed by the policy, but has become a link since it "
				   "was read",
				   path);
	return launch_fail(error, code, "cannot open '%s' for its Landlock rule: %s", path,
			   strerror(code));
}

/*
 * A link below /proc that leads to no file (the pipe behind /dev/stdin) is named by the image as it
 * is. The kernel lets such things be opened anyway, and no rule can be made for them.
 */
static bool needs_no_rule(const char *path, int code)
{
	return code == ELOOP && !strncmp(path, "/proc/", 6);
}

static int open_spots(struct launch_landlock *landlock, struct launch_error *error)
{
	for (size_t i = 0; i < landlock->count; i++) {
		struct launch_spot *spot = &landlock->spots[i];
		struct stat st;
		int fd = spot->fd >= 0 ? spot->fd : open_spot(spot->path);

		if (fd == -EMFILE && raise_files(&landlock->files))
			fd = open_spot(spot->path);
		if (fd < 0 && needs_no_rule(spot->path, -fd))
			continue;
		if (fd < 0)
			return fail_open(error, spot->path, -fd);
		spot->fd = fd;
		if (fstat(fd, &st) < 0)
			return fail_open(error, spot->path, errno);
		if (S_ISLNK(st.st_mode))
			return fail_open(error, spot->path, ELOOP);
		spot->mode = st.st_mode;
		spot->dev = launch_is_within(spot->path, "/dev", strlen("/dev"));
	}
	return 0;
}

/*
 * Folders beside what is denied need no rule: one that is gone has none, and half of the descriptors
 * are for other things.
 */
static void take_beside(struct launch_landlock *landlock)
{
	const struct launch_hold *hold = landlock->hold;
	struct rlimit files;

	if (!hold || getrlimit(RLIMIT_NOFILE, &files) < 0)
		return;
	for (size_t i = 0; i < hold->beside_count; i++) {
		int fd = open_spot(hold->beside[i]);
		struct stat st;

		if (fd < 0)
			continue;
		if ((rlim_t)fd >= files.rlim_cur / 2 || fstat(fd, &st) < 0 ||
		    !S_ISDIR(st.st_mode)) {
			(void)close(fd);
			continue;
		}
		take_place(landlock, hold->beside[i], SBX_RIGHT_READ, 1 << LAYER_PROGRAM);
		landlock->spots[landlock->count - 1].fd = fd;
		landlock->spots[landlock->count - 1].mode = st.st_mode;
		landlock->spots[landlock->count - 1].dev =
			launch_is_within(hold->beside[i], "/dev", strlen("/dev"));
	}
}

int launch_landlock_open(const struct sbx_image *image, const struct launch_hold *hold,
			 const struct launch_place *places, size_t place_count,
			 struct launch_landlock *out, struct launch_error *error)
{
	size_t room = 2 * (size_t)sbx_count(image, SBX_TABLE_rules) + place_count + 2 +
		      (hold ? hold->beside_count : 0);
	struct launch_landlock landlock = { .image = image, .hold = hold };
	int result;

	landlock.spots = calloc(room, sizeof(*landlock.spots));
	if (!landlock.spots) {
		(void)launch_fail(error, ENOMEM, "out of memory");
		return -ENOMEM;
	}
	take_rules(&landlock);
	take_dev(&landlock);
	take_place(&landlock, "/proc", SBX_RIGHT_READ, 1 << LAYER_LAUNCHER);
	for (size_t i = 0; i < place_count; i++) {
		take_place(&landlock, places[i].path, places[i].rights, places[i].layers);
		if (places[i].fd > 0)
			landlock.spots[landlock.count - 1].fd = places[i].fd;
	}
	result = open_spots(&landlock, error);
	if (result < 0) {
		launch_landlock_done(&landlock);
		return result;
	}
	take_beside(&landlock);
	*out = landlock;
	return result;
}

void launch_landlock_reopen(struct launch_landlock *landlock, const char *folder)
{
	size_t len = strlen(folder);

	for (size_t i = 0; i < landlock->count; i++) {
		struct launch_spot *spot = &landlock->spots[i];

		if (spot->fd < 0 || strncmp(spot->path, folder, len) != 0 ||
		    (spot->path[len] && spot->path[len] != '/'))
			continue;
		(void)close(spot->fd);
		/* What is not there any more needs no rule. */
		spot->fd = open_spot(spot->path);
	}
}

void launch_landlock_done(struct launch_landlock *landlock)
{
	for (size_t i = 0; i < landlock->count; i++) {
		if (landlock->spots[i].fd >= 0)
			close(landlock->spots[i].fd);
		free(landlock->spots[i].own);
	}
	free(landlock->spots);
	if (landlock->files.rlim_max)
		(void)setrlimit(RLIMIT_NOFILE, &landlock->files);
	*landlock = (struct launch_landlock){ 0 };
}

/* The kernel's right that a network rule is about, 0 for none. */
static uint64_t port_access(const struct sbx_image *image, const struct sbx_port *port)
{
	switch (sbx_rules(image)[port->rule].kind) {
	case SBX_RULE_CONNECT:
		return LL_CONNECT_TCP;
	case SBX_RULE_BIND:
		return LL_BIND_TCP;
	default:
		return 0;
	}
}

/*
 * A right is handled only where every rule about it names one port. Where there is a broker, it connects
 * and binds for the program, which has no right to do so by itself.
 */
static uint64_t handled_net(const struct launch_landlock *landlock, int abi)
{
	const struct sbx_image *image = landlock->image;
	uint32_t count = sbx_count(image, SBX_TABLE_ports);
	uint64_t handled = ll_abis[abi].net;

	if (sbx_network_mode(image) == SBX_NETWORK_FULL)
		return 0;
	if (landlock->hold)
		return handled;
	for (uint32_t i = 0; i < count; i++) {
		const struct sbx_port *port = &sbx_ports(image)[i];

		if (port->low != port->high)
			handled &= ~port_access(image, port);
	}
	return handled;
}

static int add_port(int ruleset, uint64_t access, uint16_t port, struct launch_error *error)
{
	struct ll_port_rule rule = { .access = access, .port = port };

	if (syscall(LL_SYS_ADD_RULE, ruleset, LL_RULE_PORT, &rule, 0) == 0)
		return 0;
	return launch_fail(error, errno, "cannot add the Landlock rule for TCP port %u: %s",
			   (unsigned int)port, strerror(errno));
}

/* 'own' means listening on a port that the kernel chooses; others need the supervisor. */
static int add_ports(int ruleset, const struct sbx_image *image, uint64_t handled,
		     struct launch_error *error)
{
	uint32_t count = sbx_count(image, SBX_TABLE_ports);
	int result = 0;

	if ((handled & LL_BIND_TCP) && sbx_setting(image, SBX_KEY_network_own)->value)
		result = add_port(ruleset, LL_BIND_TCP, 0, error);
	for (uint32_t i = 0; i < count && result == 0; i++) {
		const struct sbx_port *port = &sbx_ports(image)[i];
		uint64_t access = port_access(image, port) & handled;

		if (access)
			result = add_port(ruleset, access, port->low, error);
	}
	return result;
}

/*
 * The kernel looks for the right to truncate whenever a file is opened, and up to "/" where it finds
 * none: that made every open for reading take a fifth longer. Where there is a broker, all that
 * truncates without opening for writing is its to do (filter_build.c), and nobody need look.
 */
static uint64_t handled_fs(const struct launch_landlock *landlock, int abi)
{
	return ll_abis[abi].fs & ~(landlock->hold ? LL_TRUNCATE : 0);
}

static int add_spots(int ruleset, const struct launch_landlock *landlock, int abi,
		     enum launch_layer layer, struct launch_error *error)
{
	for (size_t i = 0; i < landlock->count; i++) {
		const struct launch_spot *spot = &landlock->spots[i];
		uint8_t left = layer == LAYER_PROGRAM ? spot->left : 0;
		struct ll_path_rule rule = { .access = access_of(launch_hold_classes(spot->rights) &
									 (uint8_t)~left,
								 spot->mode, spot->dev, abi) &
						       handled_fs(landlock, abi),
					     .fd = spot->fd };

		if (spot->fd < 0 || !rule.access || !(spot->layers & (1 << layer)))
			continue;
		if (syscall(LL_SYS_ADD_RULE, ruleset, LL_RULE_PATH, &rule, 0) < 0)
			return launch_fail(error, errno,
					   "cannot add the Landlock rule for '%s': %s", spot->path,
					   strerror(errno));
	}
	return 0;
}

int launch_landlock_ruleset(const struct launch_landlock *landlock, int abi,
			    enum launch_layer layer, struct launch_error *error)
{
	struct ll_ruleset attr;
	int ruleset, result;

	if (abi < 1 || abi > LL_ABI_MAX)
		return launch_fail(error, EINVAL, "there is no Landlock ABI %d", abi);
	attr = (struct ll_ruleset){ .fs = handled_fs(landlock, abi) };
	if (layer == LAYER_PROGRAM) {
		attr.net = handled_net(landlock, abi);
		attr.scoped = ll_abis[abi].scoped;
	}
	ruleset = create_ruleset(&attr, 0);
	if (ruleset < 0)
		return launch_fail(error, -ruleset, "cannot make a Landlock ruleset: %s",
				   strerror(-ruleset));
	result = add_spots(ruleset, landlock, abi, layer, error);
	if (result == 0 && !landlock->hold)
		result = add_ports(ruleset, landlock->image, attr.net, error);
	if (result < 0) {
		close(ruleset);
		return result;
	}
	return ruleset;
}

int launch_landlock_build(const struct sbx_image *image, int abi, enum launch_layer layer,
			  const struct launch_place *places, size_t place_count,
			  struct launch_error *error)
{
	struct launch_landlock landlock = { .image = image };
	int result = launch_landlock_open(image, NULL, places, place_count, &landlock, error);

	if (result < 0)
		return result;
	result = launch_landlock_ruleset(&landlock, abi, layer, error);
	launch_landlock_done(&landlock);
	return result;
}

int launch_landlock_enforce(int ruleset, struct launch_error *error)
{
	if (syscall(LL_SYS_RESTRICT_SELF, ruleset, 0) == 0)
		return 0;
	if (errno == E2BIG)
		return launch_fail(error, E2BIG,
				   "16 Landlock layers are in use already; the kernel allows no "
				   "more. Start fewer sandboxes inside each other");
	return launch_fail(error, errno, "cannot enforce the Landlock rules: %s", strerror(errno));
}

int launch_landlock_apply(const struct launch_landlock *landlock, int abi, enum launch_layer layer,
			  struct launch_error *error)
{
	int ruleset = launch_landlock_ruleset(landlock, abi, layer, error);
	int failed;

	if (ruleset < 0)
		return ruleset;
	failed = launch_landlock_enforce(ruleset, error);
	(void)close(ruleset);
	return failed;
}
