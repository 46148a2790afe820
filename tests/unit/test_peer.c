/* SPDX-License-Identifier: MIT */
/* How destinations are read: every form, every refusal in its words, addresses against libc. */
#include "peer.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tap.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define PORT_NEEDED "a port is needed (host:443, host:8000-8100 or host:*)"
#define PORT_BAD "a port is a number from 1 to 65535, a range of them, or *"
#define RANGE_BAD "a range of ports runs from the lower to the higher (8000-8100)"
#define HOST_NEEDED "a host is needed (host:443, or *:443 for any)"
#define HOST_BAD "a host name has letters, digits, '-', '_' and dots"
#define LABEL_EMPTY "a host name has no empty labels"
#define STAR_BAD "'*' stands for a whole host or for its first label (*:443, *.example.org:443)"
#define NUMBER_LAST \
	"its last label is a number (an IPv4 address has four, 0 to 255, without leading zeros)"
#define BITS_BEYOND "the address has bits beyond its network (write 10.0.0.0/8, not 10.1.2.3/8)"
#define BITS4 "a network has 0 to 32 bits (10.0.0.0/8:5432)"
#define BITS6 "a network has 0 to 128 bits ([fd00::/8]:443)"
#define NETWORK_BAD "a network is an address and its bits (10.0.0.0/8:5432)"
#define V6_BAD "this is no IPv6 address"
#define V6_BRACKETS "an IPv6 address needs brackets ([::1]:8080, [fd00::/8]:443)"
#define BRACKETS_V6 "brackets are for IPv6 addresses ([::1]:8080)"
#define BEHIND_BRACKET "only ':' and a port may follow ']' ([::1]:8080)"
#define XN "write international names in their xn-- form"
#define UNIX_PATH "unix: needs a path (unix:/run/app.sock, unix:./app.sock)"

struct row {
	const char *text;
	const char *expected;
};

static const struct row accepted[] = {
	{ "example.org:443", "host example.org 443-443" },
	{ "Example.ORG:443", "host example.org 443-443" },
	{ "example.org.:443", "host example.org 443-443" },
	{ "localhost:6379", "host localhost 6379-6379" },
	{ "db:5432", "host db 5432-5432" },
	{ "xn--bcher-kva.example:1", "host xn--bcher-kva.example 1-1" },
	{ "_service.example.org:65535", "host _service.example.org 65535-65535" },
	{ "1password.com:443", "host 1password.com 443-443" },
	{ "10.example:443", "host 10.example 443-443" },
	{ "example.0xyz:443", "host example.0xyz 443-443" },
	{ "example.org:8000-8100", "host example.org 8000-8100" },
	{ "example.org:80-80", "host example.org 80-80" },
	{ "example.org:1-65535", "host example.org 1-65535" },
	{ "example.org:*", "host example.org 0-65535" },
	{ "example.org:0", "host example.org 0-0" },
	{ "*.example.org:443", "subdomains of example.org 443-443" },
	{ "*.Example.Org.:443", "subdomains of example.org 443-443" },
	{ "*.com:443", "subdomains of com 443-443" },
	{ "*:25", "any 25-25" },
	{ "*:*", "any 0-65535" },
	{ "127.0.0.1:8080", "address 127.0.0.1/32 8080-8080" },
	{ "0.0.0.0:0", "address 0.0.0.0/32 0-0" },
	{ "255.255.255.255:1", "address 255.255.255.255/32 1-1" },
	{ "10.0.0.0/8:5432", "address 10.0.0.0/8 5432-5432" },
	{ "0.0.0.0/0:443", "address 0.0.0.0/0 443-443" },
	{ "10.1.2.3/32:*", "address 10.1.2.3/32 0-65535" },
	{ "172.16.0.0/12:80", "address 172.16.0.0/12 80-80" },
	{ "[::1]:8080", "address ::1/128 8080-8080" },
	{ "[::]:80", "address ::/128 80-80" },
	{ "[FD00::ABCD]:443", "address fd00::abcd/128 443-443" },
	{ "[fd00::/8]:443", "address fd00::/8 443-443" },
	{ "[fd00::]/8:443", "address fd00::/8 443-443" },
	{ "[::/0]:443", "address ::/0 443-443" },
	{ "[2001:db8::1]/128:8000-8100", "address 2001:db8::1/128 8000-8100" },
	{ "[::ffff:10.0.0.1]:80", "address 10.0.0.1/32 80-80" },
	{ "[::ffff:a00:1]:80", "address 10.0.0.1/32 80-80" },
	{ "[::ffff:10.0.0.0/104]:80", "address 10.0.0.0/8 80-80" },
	{ "[::ffff:0:0/96]:80", "address 0.0.0.0/0 80-80" },
	{ "[64:ff9b::192.0.2.33]:80", "address 64:ff9b::c000:221/128 80-80" },
	{ "unix:/run/app.sock", "unix /run/app.sock" },
	{ "unix:./app.sock", "unix ./app.sock" },
	{ "unix:../app.sock", "unix ../app.sock" },
	{ "unix:~/app.sock", "unix ~/app.sock" },
	{ "unix:${XDG_RUNTIME_DIR}/bus", "unix ${XDG_RUNTIME_DIR}/bus" },
	{ "unix:/run/with:443", "unix /run/with:443" },
};

static const struct row refused[] = {
	{ "", PORT_NEEDED },
	{ "example.org", PORT_NEEDED },
	{ "example.org:", PORT_NEEDED },
	{ "10.0.0.1", PORT_NEEDED },
	{ "10.0.0.0/8", PORT_NEEDED },
	{ "*", PORT_NEEDED },
	{ "[::1]", PORT_NEEDED },
	{ "[::1]:", PORT_NEEDED },
	{ "[fd00::]/8", PORT_NEEDED },
	{ "example.org:https", PORT_BAD },
	{ "example.org:65536", PORT_BAD },
	{ "example.org:99999999999999999999", PORT_BAD },
	{ "example.org:-1", PORT_BAD },
	{ "example.org:+1", PORT_BAD },
	{ "example.org:0443", PORT_BAD },
	{ "example.org:0x50", PORT_BAD },
	{ "example.org: 443", PORT_BAD },
	{ "example.org:443 ", PORT_BAD },
	{ "example.org:443 ?", PORT_BAD },
	{ "example.org:80,443", PORT_BAD },
	{ "example.org:0-80", PORT_BAD },
	{ "example.org:80-", PORT_BAD },
	{ "example.org:80-90-100", PORT_BAD },
	{ "example.org:80-65536", PORT_BAD },
	{ "example.org:*-80", PORT_BAD },
	{ "example.org:**", PORT_BAD },
	{ "example.org:80-*", PORT_BAD },
	{ "example.org:443/tcp", PORT_BAD },
	{ "example.org:8100-8000", RANGE_BAD },
	{ ":443", HOST_NEEDED },
	{ ":", HOST_NEEDED },
	{ ".:443", HOST_NEEDED },
	{ "*.:443", HOST_NEEDED },
	{ "exa mple.org:443", HOST_BAD },
	{ " example.org:443", HOST_BAD },
	{ "user@example.org:22", HOST_BAD },
	{ "example.org\t:443", HOST_BAD },
	{ "b\xc3\xbc"
	  "cher.example:443",
	  XN },
	{ "\xff:443", XN },
	{ "example..org:443", LABEL_EMPTY },
	{ ".example.org:443", LABEL_EMPTY },
	{ "example.org..:443", LABEL_EMPTY },
	{ "*..org:443", LABEL_EMPTY },
	{ "*example.org:443", STAR_BAD },
	{ "www.*.org:443", STAR_BAD },
	{ "example.*:443", STAR_BAD },
	{ "*.*.org:443", STAR_BAD },
	{ "**:443", STAR_BAD },
	{ "1.2.3:80", NUMBER_LAST },
	{ "127.1:80", NUMBER_LAST },
	{ "2130706433:80", NUMBER_LAST },
	{ "0x7f.1:80", NUMBER_LAST },
	{ "0x7f000001:80", NUMBER_LAST },
	{ "0X7F.0.0.0X1:80", NUMBER_LAST },
	{ "127.0.0.0x:80", NUMBER_LAST },
	{ "127.0.0.01:80", NUMBER_LAST },
	{ "0177.0.0.1:80", NUMBER_LAST },
	{ "256.0.0.1:80", NUMBER_LAST },
	{ "1.2.3.4.5:80", NUMBER_LAST },
	{ "1.2.3.4.:80", NUMBER_LAST },
	{ "example.123:80", NUMBER_LAST },
	{ "*.1.2.3:80", NUMBER_LAST },
	{ "10.1.2.3/8:80", BITS_BEYOND },
	{ "10.0.0.1/31:80", BITS_BEYOND },
	{ "128.0.0.0/0:80", BITS_BEYOND },
	{ "[fd00::1/8]:80", BITS_BEYOND },
	{ "[fd00::1]/64:80", BITS_BEYOND },
	{ "[::ffff:0:0/95]:80", BITS_BEYOND },
	{ "[::ffff:10.1.2.3/104]:80", BITS_BEYOND },
	{ "10.0.0.0/33:80", BITS4 },
	{ "10.0.0.0/:80", BITS4 },
	{ "10.0.0.0/08:80", BITS4 },
	{ "10.0.0.0/8/8:80", BITS4 },
	{ "10.0.0.0/255.0.0.0:80", BITS4 },
	{ "10.0.0.0/-1:80", BITS4 },
	{ "[fd00::/129]:80", BITS6 },
	{ "[fd00::/]:80", BITS6 },
	{ "[fd00::]/:80", BITS6 },
	{ "example.org/8:80", NETWORK_BAD },
	{ "10/8:80", NETWORK_BAD },
	{ "010.0.0.0/8:80", NETWORK_BAD },
	{ "::1", V6_BRACKETS },
	{ "::1:8080", V6_BRACKETS },
	{ "fd00::/8:443", V6_BRACKETS },
	{ "1:2:3:4:5:6:7:8:80", V6_BRACKETS },
	{ "fe80::1%eth0:80", V6_BRACKETS },
	{ "localhost:80:90", "one ':' is enough (host:443)" },
	{ "[127.0.0.1]:80", BRACKETS_V6 },
	{ "[localhost]:80", BRACKETS_V6 },
	{ "[]:80", BRACKETS_V6 },
	{ "[::1:80", "no ']' behind the IPv6 address" },
	{ "[", "no ']' behind the IPv6 address" },
	{ "[::1]80", BEHIND_BRACKET },
	{ "[::1]x:80", BEHIND_BRACKET },
	{ "[fd00::/8]/8:80", BEHIND_BRACKET },
	{ "[::g]:80", V6_BAD },
	{ "[1::2::3]:80", V6_BAD },
	{ "[12345::]:80", V6_BAD },
	{ "[1:2:3:4:5:6:7]:80", V6_BAD },
	{ "[1:2:3:4:5:6:7:8:9]:80", V6_BAD },
	{ "[::1.2.3]:80", V6_BAD },
	{ "[::01.2.3.4]:80", V6_BAD },
	{ "[::1 ]:80", V6_BAD },
	{ "[fe80::1%eth0]:80", "a zone such as %eth0 cannot be part of a destination" },
	{ "https://example.org", "a destination has no scheme (host:443, not https://host)" },
	{ "https://example.org:443", "a destination has no scheme (host:443, not https://host)" },
	{ "unix:@abstract", "abstract sockets cannot be allowed" },
	{ "unix:", UNIX_PATH },
	{ "unix:app.sock", UNIX_PATH },
	{ "unix:.hidden", UNIX_PATH },
	{ "UNIX:/run/app.sock", PORT_BAD },
};

static void describe(const struct sbx_peer *peer, char *out, size_t size)
{
	char addr[46];

	switch (peer->kind) {
	case SBX_PEER_HOST:
		snprintf(out, size, "host %s %u-%u", peer->host, peer->low, peer->high);
		break;
	case SBX_PEER_SUBDOMAINS:
		snprintf(out, size, "subdomains of %s %u-%u", peer->host, peer->low, peer->high);
		break;
	case SBX_PEER_ANY:
		snprintf(out, size, "any %u-%u", peer->low, peer->high);
		break;
	case SBX_PEER_ADDRESS:
		sbx_addr_format(&peer->addr, addr);
		snprintf(out, size, "address %s/%u %u-%u", addr, peer->bits, peer->low, peer->high);
		break;
	case SBX_PEER_UNIX:
		snprintf(out, size, "unix %s", peer->path);
		break;
	}
}

static void test_parse(void)
{
	struct sbx_peer peer, before;
	char got[512];

	for (size_t i = 0; i < COUNT(accepted); i++) {
		const char *wrong = sbx_peer_parse(accepted[i].text, &peer);

		if (wrong)
			snprintf(got, sizeof(got), "%s", wrong);
		else
			describe(&peer, got, sizeof(got));
		is(got, accepted[i].expected, "'%s' is a destination", accepted[i].text);
	}
	memset(&peer, 0x5a, sizeof(peer));
	before = peer;
	for (size_t i = 0; i < COUNT(refused); i++)
		is(sbx_peer_parse(refused[i].text, &peer), refused[i].expected,
		   "'%s' is refused in words", refused[i].text);
	ok(!memcmp(&peer, &before, sizeof(peer)), "a refused text leaves the result alone");
}

static const char *fill(char *out, size_t label, size_t total)
{
	for (size_t i = 0; i < total; i++)
		out[i] = (i + 1) % (label + 1) ? 'a' : '.';
	out[total] = '\0';
	return out;
}

static void test_host_lengths(void)
{
	char text[300], out[SBX_HOST_MAX] = "untouched";

	is(sbx_host_normalize(text, strlen(fill(text, 63, 253)), out), NULL,
	   "a name of 253 bytes is a host");
	is(out, text, "and is kept whole");
	memcpy(out, "untouched", 10);
	is(sbx_host_normalize(text, strlen(fill(text, 63, 254)), out),
	   "a host name has at most 253 bytes", "one of 254 is not");
	is(sbx_host_normalize(text, strlen(fill(text, 64, 70)), out),
	   "a label of a host name has at most 63 bytes", "a label of 64 bytes is refused");
	is(sbx_host_normalize("a\0b", 3, out), HOST_BAD, "a NUL inside a host is refused");
	is(out, "untouched", "a refused host leaves the result alone");
	fill(text, 63, 253);
	text[253] = '.';
	is(sbx_host_normalize(text, 254, out), NULL, "the trailing dot does not count");
	is(sbx_host_normalize("EXAMPLE.org:443", 11, out), NULL, "only 'len' bytes are looked at");
	is(out, "example.org", "and those in lower case");
	memcpy(text, "WWW.Example.Org.", 17);
	is(sbx_host_normalize(text, 16, text), NULL, "a host may be normalised in place");
	is(text, "www.example.org", "and is right then");
}

static const struct row private_rows[] = {
	{ "0.0.0.0", "private" },
	{ "0.255.255.255", "private" },
	{ "1.0.0.0", "public" },
	{ "9.255.255.255", "public" },
	{ "10.0.0.0", "private" },
	{ "10.255.255.255", "private" },
	{ "11.0.0.0", "public" },
	{ "100.63.255.255", "public" },
	{ "100.64.0.0", "private" },
	{ "100.127.255.255", "private" },
	{ "100.128.0.0", "public" },
	{ "126.255.255.255", "public" },
	{ "127.0.0.1", "private" },
	{ "128.0.0.0", "public" },
	{ "169.253.255.255", "public" },
	{ "169.254.169.254", "private" },
	{ "169.255.0.0", "public" },
	{ "172.15.255.255", "public" },
	{ "172.16.0.0", "private" },
	{ "172.31.255.255", "private" },
	{ "172.32.0.0", "public" },
	{ "192.0.0.255", "private" },
	{ "192.0.1.0", "public" },
	{ "192.167.255.255", "public" },
	{ "192.168.0.0", "private" },
	{ "192.169.0.0", "public" },
	{ "198.17.255.255", "public" },
	{ "198.18.0.0", "private" },
	{ "198.19.255.255", "private" },
	{ "198.20.0.0", "public" },
	{ "223.255.255.255", "public" },
	{ "224.0.0.1", "private" },
	{ "239.255.255.255", "private" },
	{ "240.0.0.0", "private" },
	{ "255.255.255.255", "private" },
	{ "8.8.8.8", "public" },
	{ "::", "private" },
	{ "::1", "private" },
	{ "::2", "private" },
	{ "fbff::1", "public" },
	{ "fc00::", "private" },
	{ "fdff:ffff::1", "private" },
	{ "fe00::1", "public" },
	{ "fe7f::1", "public" },
	{ "fe80::1", "private" },
	{ "febf::1", "private" },
	{ "fec0::1", "private" },
	{ "feff::1", "private" },
	{ "ff02::1", "private" },
	{ "2001:4860:4860::8888", "public" },
	{ "64:ff9b:1::1", "private" },
	{ "64:ff9b:1:ffff::8.8.8.8", "private" },
	{ "64:ff9b:2::10.0.0.1", "public" },
	{ "64:ff9b::10.0.0.1", "private" },
	{ "64:ff9b::8.8.8.8", "public" },
	{ "64:ff9b::1:10.0.0.1", "public" },
	{ "2002:a00:1::", "private" },
	{ "2002:c0a8:101::1", "private" },
	{ "2002:808:808::", "public" },
	{ "2003:a00:1::", "public" },
	{ "::10.0.0.1", "private" },
	{ "::8.8.8.8", "public" },
	{ "::ffff:192.168.1.1", "private" },
	{ "::ffff:8.8.8.8", "public" },
};

static void test_private(void)
{
	struct sbx_addr addr;

	for (size_t i = 0; i < COUNT(private_rows); i++) {
		const char *text = private_rows[i].text;

		if (!sbx_addr_parse(text, strlen(text), &addr))
			addr.family = 99;
		is(addr.family == 99		? "no address"
		   : sbx_addr_is_private(&addr) ? "private"
						: "public",
		   private_rows[i].expected, "%s is %s", text, private_rows[i].expected);
	}
	addr = (struct sbx_addr){ .family = 6 };
	inet_pton(AF_INET6, "::ffff:10.0.0.1", addr.bytes);
	ok(sbx_addr_is_private(&addr), "IPv4 still dressed as IPv6 is seen through");
	inet_pton(AF_INET6, "::ffff:8.8.8.8", addr.bytes);
	ok(!sbx_addr_is_private(&addr), "also when it is public");
	addr = (struct sbx_addr){ 0 };
	ok(sbx_addr_is_private(&addr), "an unknown address is not called public");
}

static void test_loopback(void)
{
	static const struct row rows[] = {
		{ "127.0.0.0", "yes" },
		{ "127.255.255.255", "yes" },
		{ "126.255.255.255", "no" },
		{ "128.0.0.0", "no" },
		{ "::1", "yes" },
		{ "::", "no" },
		{ "::2", "no" },
		{ "::ffff:127.0.0.1", "yes" },
		{ "::127.0.0.1", "no" },
		{ "0.0.0.0", "no" },
		{ "64:ff9b::7f00:1", "no" },
	};
	struct sbx_addr addr = { 0 };

	ok(!sbx_addr_is_loopback(&addr), "an unknown address is not loopback");
	for (size_t i = 0; i < COUNT(rows); i++) {
		ok(sbx_addr_parse(rows[i].text, strlen(rows[i].text), &addr), "%s is an address",
		   rows[i].text);
		is(sbx_addr_is_loopback(&addr) ? "yes" : "no", rows[i].expected,
		   "whether %s is loopback: %s", rows[i].text, rows[i].expected);
	}
	addr = (struct sbx_addr){ .family = 6 };
	inet_pton(AF_INET6, "::ffff:127.0.0.1", addr.bytes);
	ok(sbx_addr_is_loopback(&addr), "mapped loopback is loopback");
}

static void test_mask(void)
{
	static const struct {
		const char *text;
		unsigned int bits;
		const char *expected;
	} rows[] = {
		{ "255.255.255.255", 0, "0.0.0.0" },
		{ "255.255.255.255", 1, "128.0.0.0" },
		{ "10.1.2.3", 8, "10.0.0.0" },
		{ "172.31.255.255", 12, "172.16.0.0" },
		{ "10.1.2.3", 31, "10.1.2.2" },
		{ "10.1.2.3", 32, "10.1.2.3" },
		{ "10.1.2.3", 200, "10.1.2.3" },
		{ "ffff::1", 0, "::" },
		{ "fdff::1", 7, "fc00::" },
		{ "2001:db8::1", 127, "2001:db8::" },
		{ "2001:db8::1", 128, "2001:db8::1" },
		{ "2001:db8::1", 1000, "2001:db8::1" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct sbx_addr addr;
		char got[46] = "no address";

		if (sbx_addr_parse(rows[i].text, strlen(rows[i].text), &addr)) {
			sbx_addr_mask(&addr, rows[i].bits);
			sbx_addr_format(&addr, got);
		}
		is(got, rows[i].expected, "%u bits of %s are %s", rows[i].bits, rows[i].text,
		   rows[i].expected);
	}
}

static void test_format(void)
{
	static const struct row rows[] = {
		{ "0:0:0:0:0:0:0:0", "::" },
		{ "0:0:0:0:0:0:0:1", "::1" },
		{ "1:0:0:0:0:0:0:0", "1::" },
		{ "2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1" },
		{ "2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1" },
		{ "2001:0:0:1:0:0:0:1", "2001:0:0:1::1" },
		{ "0:1:2:3:4:5:6:7", "0:1:2:3:4:5:6:7" },
		{ "1:2:3:4:5:6:0:0", "1:2:3:4:5:6::" },
		{ "0001:0020:0300:4000:0:0:0:0", "1:20:300:4000::" },
		{ "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255",
		  "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff" },
		{ "::ffff:1.2.3.4", "1.2.3.4" },
		{ "::1.2.3.4", "::102:304" },
		{ "1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0" },
		{ "192.0.2.1", "192.0.2.1" },
	};
	struct sbx_addr addr = { 0 };
	char got[46] = "x";

	cmp_ok((intmax_t)sbx_addr_format(&addr, got), "==", 0, "an unknown address has no text");
	is(got, "", "not even a letter");
	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t len = 0;

		memcpy(got, "no address", 11);
		if (sbx_addr_parse(rows[i].text, strlen(rows[i].text), &addr))
			len = sbx_addr_format(&addr, got);
		is(got, rows[i].expected, "%s is written %s", rows[i].text, rows[i].expected);
		cmp_ok((intmax_t)len, "==", (intmax_t)strlen(got), "and its length is returned");
	}
	addr = (struct sbx_addr){ .family = 6 };
	inet_pton(AF_INET6, "::ffff:1.2.3.4", addr.bytes);
	sbx_addr_format(&addr, got);
	is(got, "::ffff:1.2.3.4", "a mapped address that was not normalised shows what it is");
}

/* What libc makes of the text: 4, 6 or 0, with mapped addresses as IPv4. */
static int libc_parse(const char *text, uint8_t bytes[16])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	memset(bytes, 0, 16);
	if (inet_pton(AF_INET, text, bytes) == 1)
		return 4;
	if (inet_pton(AF_INET6, text, bytes) != 1)
		return 0;
	if (memcmp(bytes, mapped, sizeof(mapped)) != 0)
		return 6;
	memmove(bytes, bytes + 12, 4);
	memset(bytes + 4, 0, 12);
	return 4;
}

static bool agrees(const char *text)
{
	uint8_t bytes[16];
	int family = libc_parse(text, bytes);
	struct sbx_addr addr;
	bool parsed = sbx_addr_parse(text, strlen(text), &addr);

	if (parsed != (family != 0))
		return false;
	return !parsed || (addr.family == family && !memcmp(addr.bytes, bytes, 16));
}

/* Mostly made of pieces that addresses are made of, so that many are valid. */
static void random_text(char *out, size_t size)
{
	static const char *const pieces[] = {
		":",   ":",  ":",  "::", "0",	  "1",	     "ffff",   "abcd",	  ".", ".", "255",
		"256", "10", "01", "g",	 "12345", "::ffff:", "1:2:3:", "1.2.3.4", "%", "",  ""
	};
	size_t len = 0;

	for (int count = 1 + rand() % 12; count > 0; count--) {
		snprintf(out + len, size - len, "%s", pieces[(size_t)rand() % COUNT(pieces)]);
		len += strlen(out + len);
	}
}

static void test_against_libc(void)
{
	unsigned int seed = 20240229;
	char text[128] = "", got[64], again[46];
	bool same = true, stable = true;
	struct sbx_addr addr, back;

	srand(seed);
	for (int i = 0; i < 300000 && same && stable; i++) {
		random_text(text, sizeof(text));
		same = agrees(text);
		if (!same || !sbx_addr_parse(text, strlen(text), &addr))
			continue;
		sbx_addr_format(&addr, again);
		stable = sbx_addr_parse(again, strlen(again), &back) &&
			 !memcmp(&addr, &back, sizeof(addr));
	}
	ok(same, "random texts are addresses exactly where libc says so (seed %u, '%s')", seed,
	   text);
	ok(stable, "an address that is written can be read again ('%s')", text);
	for (int i = 0; i < 100000 && same; i++) {
		addr = (struct sbx_addr){ .family = 6 };
		for (int j = 0; j < 16; j++)
			addr.bytes[j] = rand() % 3 ? 0 : (uint8_t)rand();
		addr.bytes[0] |= 1; /* libc writes ::1.2.3.4 where RFC 5952 does not ask for it */
		inet_ntop(AF_INET6, addr.bytes, got, sizeof(got));
		sbx_addr_format(&addr, again);
		same = !strcmp(got, again);
	}
	ok(same, "random addresses are written as libc writes them ('%s')", again);
}

int main(void)
{
	plan(NO_PLAN);
	test_parse();
	test_host_lengths();
	test_private();
	test_loopback();
	test_mask();
	test_format();
	test_against_libc();
	done_testing();
}
