/* SPDX-License-Identifier: MIT */
/* What is read of resolv.conf, hosts and the policy's dns setting. */
#include "upstream.h"

#include "tree.h"

#include <arpa/inet.h>
#include <errno.h>

static struct launch_upstream upstream;

static void describe(char *out, size_t size)
{
	size_t at = 0;

	out[0] = '\0';
	for (size_t i = 0; i < upstream.count; i++) {
		const union launch_socket_address *place = &upstream.servers[i];
		bool v4 = place->any.sa_family == AF_INET;
		char text[64];

		inet_ntop(place->any.sa_family,
			  v4 ? (void *)&place->v4.sin_addr : (void *)&place->v6.sin6_addr, text,
			  sizeof(text));
		at += (size_t)snprintf(out + at, size - at, "%s%s#%d", i ? " " : "", text,
				       ntohs(place->v4.sin_port));
	}
	for (size_t i = 0; i < upstream.search_count; i++)
		at += (size_t)snprintf(out + at, size - at, " +%s", upstream.searches[i]);
}

static const struct {
	const char *dns;
	const char *resolv;
	const char *expected;
} rows[] = {
	{ NULL, "nameserver 192.0.2.1\n", "192.0.2.1#53" },
	{ NULL, "nameserver 192.0.2.1", "192.0.2.1#53" },
	{ NULL, "", "127.0.0.1#53" },
	{ NULL, "# nameserver 192.0.2.1\n;nameserver 192.0.2.2\n", "127.0.0.1#53" },
	{ NULL, "nameserver\t 192.0.2.1 # ours\nnameserver ::1\r\n", "192.0.2.1#53 ::1#53" },
	{ NULL, "nameserver 1.1.1.1\nnameserver 1.1.1.2\nnameserver 1.1.1.3\nnameserver 1.1.1.4\n",
	  "1.1.1.1#53 1.1.1.2#53 1.1.1.3#53" },
	{ NULL, "nameserver example.org\nnameserver 1.1\nnameserver\nnameserver 1.1.1.1\n",
	  "1.1.1.1#53" },
	{ NULL, "nameserver fe80::1%lo\n", "fe80::1#53" },
	{ NULL, "nameserver fe80::1%nosuchdevice\nnameserver 1.1.1.1%lo\n", "127.0.0.1#53" },
	{ NULL, "nameservers 192.0.2.1\n nameserver 192.0.2.2\n", "192.0.2.2#53" },
	{ NULL, "search a.example B.Example. *.c\nnameserver 1.1.1.1\n",
	  "1.1.1.1#53 +a.example +b.example" },
	{ NULL, "search a.example\ndomain b.example\n", "127.0.0.1#53 +b.example" },
	{ NULL, "search a b c d e f g h i j\n", "127.0.0.1#53 +a +b +c +d +e +f +g +h" },
	{ "9.9.9.9", "nameserver 192.0.2.1\nsearch a.example\n", "9.9.9.9#53 +a.example" },
	{ "9.9.9.9:5353", "", "9.9.9.9#5353" },
	{ "2620:fe::fe", "", "2620:fe::fe#53" },
	{ "[2620:fe::fe]", "", "2620:fe::fe#53" },
	{ "[2620:fe::fe]:65535", "", "2620:fe::fe#65535" },
	{ "9.9.9.9:0", "", "-" },
	{ "9.9.9.9:65536", "", "-" },
	{ "9.9.9.9:", "", "-" },
	{ "9.9.9.9:53x", "", "-" },
	{ "dns.example", "", "-" },
	{ "[::1", "", "-" },
	{ "[::1]x", "", "-" },
	{ "", "", "-" },
};

static void check_servers(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct launch_error error = { "" };
		char text[512] = "-";

		unlink(tree_path("resolv.conf"));
		int failed = launch_upstream_init(&upstream, rows[i].dns,
						  tree_file("resolv.conf", rows[i].resolv, 0600),
						  "/nonexistent", &error);

		if (!failed)
			describe(text, sizeof(text));
		is(text, rows[i].expected, "dns = %s, resolv.conf: %s",
		   rows[i].dns ? rows[i].dns : "", rows[i].resolv);
		if (failed)
			like(error.text, "is no address of a DNS server", "and that is said");
		launch_upstream_done(&upstream);
	}
}

static const char *known(const char *name, uint16_t type)
{
	static char out[256];
	struct launch_dns_addrs addrs;
	size_t at = 0;

	if (!launch_upstream_knows(&upstream, name, type, &addrs))
		return NULL;
	out[0] = '\0';
	for (size_t i = 0; i < addrs.count; i++) {
		char text[46];

		sbx_addr_format(&addrs.each[i], text);
		at += (size_t)snprintf(out + at, sizeof(out) - at, "%s%s", i ? " " : "", text);
	}
	return out;
}

static void count_hosts(void *arg, const char *name, const struct sbx_addr *addr)
{
	char text[46];
	char *out = arg;

	sbx_addr_format(addr, text);
	snprintf(out + strlen(out), 256 - strlen(out), "%s=%s ", name, text);
}

static void check_hosts(void)
{
	static const char hosts[] = "127.0.0.1 localhost own\n"
				    "# 10.0.0.9 commented\n"
				    "10.0.0.1\tDB.internal  db # commented2\n"
				    "fd00::1 db\n"
				    "10.0.0.2 db\n"
				    "10.0.0.3\n"
				    "bogus name\n"
				    "10.0.0.4 odd*name *.star 12 fine.\n"
				    "0.0.0.0 ads.test\n"
				    "10.0.0.5 last";
	char all[256] = "";

	if (launch_upstream_init(&upstream, NULL, "/nonexistent", tree_file("hosts", hosts, 0600),
				 &(struct launch_error){ "" }) < 0)
		BAIL_OUT("no memory");
	is(known("db", ns_t_a), "10.0.0.1 10.0.0.2", "all addresses of a name");
	is(known("db", ns_t_aaaa), "fd00::1", "of the family that is asked for");
	is(known("db.internal", ns_t_a), "10.0.0.1", "in lower case");
	is(known("db.internal", ns_t_aaaa), "", "a name that is there has no others");
	is(known("commented", ns_t_a), NULL, "comments are none");
	is(known("commented2", ns_t_a), NULL, "behind names too");
	is(known("name", ns_t_a), NULL, "lines without an address are none");
	is(known("fine", ns_t_a), "10.0.0.4", "what is no host name is passed over");
	is(known("star", ns_t_a), NULL, "there are no patterns");
	is(known("last", ns_t_a), "10.0.0.5", "the last line needs no end");
	is(known("ads.test", ns_t_a), "0.0.0.0", "nowhere is an address");
	is(known("localhost", ns_t_a), "127.0.0.1", "localhost");
	is(known("localhost", ns_t_aaaa), "::1", "localhost, although the file does not say so");
	is(known("a.b.localhost", ns_t_a), "127.0.0.1", "all below it");
	is(known("notlocalhost", ns_t_a), NULL, "not its neighbour");
	is(known("localhost.example", ns_t_a), NULL, "nor what only begins like it");
	launch_upstream_hosts(&upstream, count_hosts, all);
	is(all,
	   "db.internal=10.0.0.1 db=10.0.0.1 db=fd00::1 db=10.0.0.2 fine=10.0.0.4 last=10.0.0.5 ",
	   "all that lead somewhere");
	launch_upstream_done(&upstream);
}

static void check_bare(void)
{
	char bare[SBX_HOST_MAX] = "";

	if (launch_upstream_init(&upstream, NULL,
				 tree_file("search.conf", "search corp.example svc.local\n", 0600),
				 "/nonexistent", &(struct launch_error){ "" }) < 0)
		BAIL_OUT("no memory");
	ok(launch_upstream_bare(&upstream, "api.github.com.svc.local", bare), "a domain appended");
	is(bare, "api.github.com", "is taken off");
	ok(!launch_upstream_bare(&upstream, "api.github.com", bare), "no domain, nothing to take");
	ok(!launch_upstream_bare(&upstream, "corp.example", bare), "the domain itself");
	ok(!launch_upstream_bare(&upstream, "notcorp.example", bare), "a look-alike");
	launch_upstream_done(&upstream);
}

/* Lists of half a million names are in use. */
static void check_large(void)
{
	size_t len = 9u << 20;
	char *text = malloc(len + 1);

	memset(text, '#', len);
	memcpy(text, "10.0.0.1 first\n", 15);
	memcpy(text + (8u << 20) - 20, "\n10.0.0.1 cut", 13);
	text[len] = '\0';
	if (launch_upstream_init(&upstream, NULL, "/nonexistent", tree_file("large", text, 0600),
				 &(struct launch_error){ "" }) < 0)
		BAIL_OUT("no memory");
	is(known("first", ns_t_a), "10.0.0.1", "a large file is read");
	ok(strlen(upstream.hosts) < 8u << 20, "up to a line, and no further than that");
	launch_upstream_done(&upstream);
	free(text);
	ok(launch_upstream_init(&upstream, NULL, "/dev", "/dev", &(struct launch_error){ "" }) == 0,
	   "what is no file is empty");
	launch_upstream_done(&upstream);
}

int main(void)
{
	plan(NO_PLAN);
	tree_begin();
	check_servers();
	check_hosts();
	check_bare();
	check_large();
	done_testing();
}
