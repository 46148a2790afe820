/* SPDX-License-Identifier: MIT */
/*
 * What this machine knows about names and servers: resolv.conf and hosts, read once, and localhost.
 * Both files are the host's own, but everything in them is checked as if it were not.
 */
#include "upstream.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MOST (8u << 20) /* there are lists of hundreds of thousands of names */
#define BLANKS " \t\r\f\v"
#define DNS_PORT 53

/* Empty when there is none; NULL: out of memory. A last line that is cut is left out. */
static char *read_text(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	size_t len = 0, cap = 4096;
	char *text = malloc(cap + 1), *bigger;
	ssize_t got;

	while (text && fd >= 0 && (got = read(fd, text + len, cap - len)) > 0) {
		len += (size_t)got;
		if (len < cap)
			continue;
		if (cap == FILE_MOST)
			break;
		bigger = realloc(text, (cap *= 2) + 1);
		if (!bigger)
			free(text);
		text = bigger;
	}
	if (fd >= 0)
		(void)close(fd);
	for (; text && len == FILE_MOST && text[len - 1] != '\n';)
		len--;
	if (text)
		text[len] = '\0';
	return text;
}

/* The next word of a line, where '*at' moves on; false at its end. NUL ends everything. */
static bool next_word(const char **at, const char **word, size_t *len)
{
	*at += strspn(*at, BLANKS);
	*len = strcspn(*at, BLANKS "\n#;");
	*word = *at;
	*at += *len;
	return *len > 0;
}

static void next_line(const char **at)
{
	*at += strcspn(*at, "\n");
	*at += **at == '\n';
}

static bool set_place(const char *text, size_t len, uint16_t port, union launch_socket_address *out)
{
	struct sbx_addr addr;
	const char *zone = memchr(text, '%', len);
	char device[IF_NAMESIZE] = "";

	if (!sbx_addr_parse(text, zone ? (size_t)(zone - text) : len, &addr))
		return false;
	*out = (union launch_socket_address){ 0 };
	if (addr.family == 4) {
		out->v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
		memcpy(&out->v4.sin_addr, addr.bytes, 4);
		return !zone;
	}
	out->v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons(port) };
	memcpy(&out->v6.sin6_addr, addr.bytes, 16);
	if (!zone)
		return true;
	len -= (size_t)(zone + 1 - text);
	if (len >= sizeof(device))
		return false;
	memcpy(device, zone + 1, len);
	out->v6.sin6_scope_id = if_nametoindex(device);
	return out->v6.sin6_scope_id;
}

/* ADDRESS, IPV4:PORT, [IPV6] or [IPV6]:PORT, as the policy has checked. */
static bool set_server(const char *text, union launch_socket_address *out)
{
	bool bracket = text[0] == '[';
	size_t len = strcspn(text + bracket, bracket ? "]" : ":");
	const char *rest = text + bracket + len;
	unsigned long port = DNS_PORT;
	char *end;

	if (set_place(text, strlen(text), DNS_PORT, out))
		return true;
	if (bracket && *rest++ != ']')
		return false;
	if (*rest == ':') {
		port = strtoul(rest + 1, &end, 10);
		if (*end || end == rest + 1 || !port || port > UINT16_MAX)
			return false;
	} else if (*rest) {
		return false;
	}
	return set_place(text + bracket, len, (uint16_t)port, out);
}

static void read_searches(struct launch_upstream *upstream, const char *at)
{
	const char *word;
	size_t len;

	/* The last such line is the one that counts. */
	upstream->search_count = 0;
	while (upstream->search_count < LAUNCH_SEARCHES && next_word(&at, &word, &len))
		if (!sbx_host_normalize(word, len, upstream->searches[upstream->search_count]))
			upstream->search_count++;
}

static bool is_word(const char *word, size_t len, const char *other)
{
	return len == strlen(other) && !memcmp(word, other, len);
}

static void read_resolv(struct launch_upstream *upstream, const char *at, bool servers)
{
	for (; *at; next_line(&at)) {
		const char *word;
		size_t len;

		if (!next_word(&at, &word, &len))
			continue;
		if (is_word(word, len, "search") || is_word(word, len, "domain"))
			read_searches(upstream, at);
		else if (is_word(word, len, "nameserver") && servers &&
			 upstream->count < LAUNCH_SERVERS && next_word(&at, &word, &len) &&
			 set_place(word, len, DNS_PORT, &upstream->servers[upstream->count]))
			upstream->count++;
	}
}

int launch_upstream_init(struct launch_upstream *upstream, const char *dns, const char *resolv,
			 const char *hosts, struct launch_error *error)
{
	char *text = read_text(resolv);

	*upstream = (struct launch_upstream){ .timeout_ms = 1500,
					      .tries = 2,
					      .hosts = read_text(hosts) };
	if (!text || !upstream->hosts) {
		free(text);
		launch_upstream_done(upstream);
		return launch_fail(error, ENOMEM, "cannot read '%s' and '%s': out of memory",
				   resolv, hosts);
	}
	read_resolv(upstream, text, !dns);
	free(text);
	if (!upstream->count && !set_server(dns ? dns : "127.0.0.1", &upstream->servers[0])) {
		launch_upstream_done(upstream);
		return launch_fail(error, EINVAL, "'%s' is no address of a DNS server", dns);
	}
	if (!upstream->count)
		upstream->count = 1;
	return 0;
}

void launch_upstream_done(struct launch_upstream *upstream)
{
	free(upstream->hosts);
	upstream->hosts = NULL;
}

static bool ends_in(const char *name, const char *domain)
{
	size_t len = strlen(name), end = strlen(domain);

	return len > end + 1 && name[len - end - 1] == '.' && !strcmp(name + len - end, domain);
}

bool launch_is_localhost(const char *name)
{
	return !strcmp(name, "localhost") || ends_in(name, "localhost");
}

static bool fits(const struct sbx_addr *addr, uint16_t type)
{
	return type == (addr->family == 4 ? ns_t_a : ns_t_aaaa);
}

static void add_addr(struct launch_dns_addrs *addrs, const struct sbx_addr *addr, uint16_t type)
{
	if (fits(addr, type) && addrs->count < LAUNCH_DNS_ADDRS)
		addrs->each[addrs->count++] = *addr;
}

/* Calls 'each' for each name and address of the file. */
static void each_host(const char *at,
		      void (*each)(void *arg, const char *name, const struct sbx_addr *addr),
		      void *arg)
{
	for (; *at; next_line(&at)) {
		char name[SBX_HOST_MAX];
		struct sbx_addr addr;
		const char *word;
		size_t len;

		if (!next_word(&at, &word, &len) || !sbx_addr_parse(word, len, &addr))
			continue;
		while (next_word(&at, &word, &len))
			if (!sbx_host_normalize(word, len, name))
				each(arg, name, &addr);
	}
}

struct search {
	const char *name;
	uint16_t type;
	bool found;
	struct launch_dns_addrs *addrs;
};

static void look(void *arg, const char *name, const struct sbx_addr *addr)
{
	struct search *search = arg;

	if (strcmp(name, search->name) != 0)
		return;
	search->found = true;
	add_addr(search->addrs, addr, search->type);
}

bool launch_upstream_knows(const struct launch_upstream *upstream, const char *name, uint16_t type,
			   struct launch_dns_addrs *addrs)
{
	static const struct sbx_addr loopback4 = { 4, { 127, 0, 0, 1 } };
	static const struct sbx_addr loopback6 = { 6, { [15] = 1 } };
	struct search search = { .name = name, .type = type, .addrs = addrs };

	*addrs = (struct launch_dns_addrs){ .ttl = 60 };
	if (launch_is_localhost(name)) {
		add_addr(addrs, &loopback4, type);
		add_addr(addrs, &loopback6, type);
		return true;
	}
	each_host(upstream->hosts, look, &search);
	return search.found;
}

struct visit {
	void (*each)(void *arg, const char *name, const struct sbx_addr *addr);
	void *arg;
};

/* Lists against advertising lead nowhere, by the thousand. */
static void visit(void *arg, const char *name, const struct sbx_addr *addr)
{
	const struct visit *visit = arg;
	struct sbx_addr to = sbx_addr_canonical(addr, SBX_OP_CONNECT);

	if (!sbx_addr_is_loopback(&to) && !launch_is_localhost(name))
		visit->each(visit->arg, name, addr);
}

void launch_upstream_hosts(const struct launch_upstream *upstream,
			   void (*each)(void *arg, const char *name, const struct sbx_addr *addr),
			   void *arg)
{
	struct visit all = { each, arg };

	each_host(upstream->hosts, visit, &all);
}

bool launch_upstream_bare(const struct launch_upstream *upstream, const char *name,
			  char bare[SBX_HOST_MAX])
{
	for (size_t i = 0; i < upstream->search_count; i++) {
		size_t len;

		if (!ends_in(name, upstream->searches[i]))
			continue;
		len = strlen(name) - strlen(upstream->searches[i]) - 1;
		memcpy(bare, name, len);
		bare[len] = '\0';
		return true;
	}
	return false;
}
