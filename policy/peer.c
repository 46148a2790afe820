/* SPDX-License-Identifier: MIT */
/*
 * Destinations as text: hosts, addresses, networks and ports, read strictly.
 *
 * A spelling that another program could read as a different destination is refused: octal and short
 * IPv4 addresses, zones, bits beyond a network. IPv4 dressed as IPv6 becomes IPv4, so that one
 * destination has one form.
 *
 * Pure: bytes in, answer out. Must stay free of allocation, system calls, locks, errno and locale.
 */
#include "peer.h"

#include <string.h>

enum {
	V4_BITS = 32,
	V6_BITS = 128,
	MAPPED_BITS = 96,
	LABEL_MAX = 63
};

#define PORT_BAD "a port is a number from 1 to 65535, a range of them, or *"
#define STAR_BAD "'*' stands for a whole host or for its first label (*:443, *.example.org:443)"

#define NUMBER_LAST \
	"its last label is a number (an IPv4 address has four, 0 to 255, without leading zeros)"
#define V6_BAD "this is no IPv6 address"

/* These are known by where they are, not by their text. */
static const char port_needed[] = "a port is needed (host:443, host:8000-8100 or host:*)";
static const char host_needed[] = "a host is needed (host:443, or *:443 for any)";

struct span {
	const char *at;
	size_t len;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char to_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	c = to_lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Takes the first 'len' bytes off. */
static void span_skip(struct span *span, size_t len)
{
	span->at += len;
	span->len -= len;
}

/* Cuts 'text' at the first 'c'; false, and all of it in 'left', when there is none. */
static bool span_split(struct span text, char c, struct span *left, struct span *right)
{
	const char *found = memchr(text.at, c, text.len);

	*left = (struct span){ text.at, found ? (size_t)(found - text.at) : text.len };
	*right = text;
	span_skip(right, found ? left->len + 1 : left->len);
	return found;
}

static bool span_begins(struct span text, const char *with)
{
	size_t len = strlen(with);

	return text.len >= len && !memcmp(text.at, with, len);
}

/* Decimal without leading zeros, which some programs read as octal. */
static bool number_parse(struct span text, unsigned int max, unsigned int *out)
{
	unsigned int value = 0;

	if (!text.len || (text.len > 1 && text.at[0] == '0'))
		return false;
	for (size_t i = 0; i < text.len; i++) {
		if (!is_digit(text.at[i]))
			return false;
		value = value * 10 + (unsigned int)(text.at[i] - '0');
		if (value > max)
			return false;
	}
	*out = value;
	return true;
}

static bool v4_parse(struct span text, uint8_t out[4])
{
	for (int i = 0; i < 4; i++) {
		struct span part;
		unsigned int octet;
		bool more = span_split(text, '.', &part, &text);

		if (more != (i < 3) || !number_parse(part, 255, &octet))
			return false;
		out[i] = (uint8_t)octet;
	}
	return true;
}

/* Up to four hexadecimal digits; returns how many there were. */
static size_t group_parse(struct span text, unsigned int *out)
{
	unsigned int value = 0;
	size_t len = 0;

	while (len < text.len && len < 4 && hex_digit(text.at[len]) >= 0)
		value = value << 4 | (unsigned int)hex_digit(text.at[len++]);
	*out = value;
	return len;
}

/* Sixteen bytes as far as they are known, and where "::" stands among them. */
struct v6 {
	uint8_t bytes[16];
	size_t len;
	size_t gap;
};

enum {
	NO_GAP = 17
};

/* One group, or the dotted quad that may end an address; takes it off 'text'. */
static bool v6_take_group(struct span *text, struct v6 *v6)
{
	unsigned int group;
	size_t digits = group_parse(*text, &group);

	if (digits < text->len && text->at[digits] == '.') {
		if (v6->len > 12 || !v4_parse(*text, v6->bytes + v6->len))
			return false;
		v6->len += 4;
		text->len = 0;
		return true;
	}
	if (!digits || v6->len > 14)
		return false;
	v6->bytes[v6->len++] = (uint8_t)(group >> 8);
	v6->bytes[v6->len++] = (uint8_t)group;
	span_skip(text, digits);
	return true;
}

/* The ':' or "::" between groups; a single one must have a group behind it. */
static bool v6_take_colons(struct span *text, struct v6 *v6)
{
	if (text->len < 2 || text->at[0] != ':')
		return false;
	if (text->at[1] != ':') {
		span_skip(text, 1);
		return true;
	}
	if (v6->gap != NO_GAP)
		return false;
	v6->gap = v6->len;
	span_skip(text, 2);
	return true;
}

/* Moves what follows the gap to the end. The gap stands for at least one group. */
static bool v6_close_gap(struct v6 *v6)
{
	size_t tail;

	if (v6->gap == NO_GAP)
		return v6->len == 16;
	if (v6->len > 14)
		return false;
	tail = v6->len - v6->gap;
	memmove(v6->bytes + 16 - tail, v6->bytes + v6->gap, tail);
	memset(v6->bytes + v6->gap, 0, 16 - v6->len);
	return true;
}

static bool v6_parse(struct span text, uint8_t out[16])
{
	struct v6 v6 = { .gap = NO_GAP };

	if (span_begins(text, "::"))
		v6_take_colons(&text, &v6);
	while (text.len) {
		if (!v6_take_group(&text, &v6))
			return false;
		if (text.len && !v6_take_colons(&text, &v6))
			return false;
	}
	if (!v6_close_gap(&v6))
		return false;
	memcpy(out, v6.bytes, 16);
	return true;
}

static bool is_mapped(const struct sbx_addr *addr)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return addr->family == 6 && !memcmp(addr->bytes, mapped, sizeof(mapped));
}

static void unmap(struct sbx_addr *addr)
{
	memcpy(addr->bytes, addr->bytes + 12, 4);
	memset(addr->bytes + 4, 0, 12);
	addr->family = 4;
}

/* As written: what is mapped stays IPv6. */
static bool addr_parse_raw(struct span text, struct sbx_addr *out)
{
	struct sbx_addr addr = { 0 };

	if (memchr(text.at, ':', text.len)) {
		addr.family = 6;
		if (!v6_parse(text, addr.bytes))
			return false;
	} else {
		addr.family = 4;
		if (!v4_parse(text, addr.bytes))
			return false;
	}
	*out = addr;
	return true;
}

bool sbx_addr_parse(const char *text, size_t len, struct sbx_addr *addr)
{
	if (!addr_parse_raw((struct span){ text, len }, addr))
		return false;
	if (is_mapped(addr))
		unmap(addr);
	return true;
}

static size_t put_number(char *out, unsigned int value, unsigned int base)
{
	char digits[8];
	size_t len = 0;

	do {
		digits[len++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	for (size_t i = 0; i < len; i++)
		out[i] = digits[len - 1 - i];
	return len;
}

static size_t put_v4(char *out, const uint8_t bytes[4])
{
	size_t len = 0;

	for (int i = 0; i < 4; i++) {
		if (i)
			out[len++] = '.';
		len += put_number(out + len, bytes[i], 10);
	}
	return len;
}

static unsigned int group_at(const uint8_t bytes[16], size_t i)
{
	return (unsigned int)bytes[2 * i] << 8 | bytes[2 * i + 1];
}

/* The first of the longest runs of zero groups; runs of one do not count. */
static size_t longest_zeros(const uint8_t bytes[16], size_t *first)
{
	size_t best = 1;
	size_t run = 0;

	*first = 8;
	for (size_t i = 0; i < 8; i++) {
		run = group_at(bytes, i) ? 0 : run + 1;
		if (run > best) {
			best = run;
			*first = i + 1 - run;
		}
	}
	return best > 1 ? best : 0;
}

static size_t put_v6(char *out, const uint8_t bytes[16])
{
	size_t first;
	size_t zeros = longest_zeros(bytes, &first);
	size_t len = 0;

	for (size_t i = 0; i < 8; i++) {
		if (i == first) {
			out[len++] = ':';
			i += zeros - 1;
			if (i == 7)
				out[len++] = ':';
			continue;
		}
		if (i)
			out[len++] = ':';
		len += put_number(out + len, group_at(bytes, i), 16);
	}
	return len;
}

size_t sbx_addr_format(const struct sbx_addr *addr, char out[46])
{
	size_t len = 0;

	if (addr->family == 4) {
		len = put_v4(out, addr->bytes);
	} else if (is_mapped(addr)) {
		memcpy(out, "::ffff:", 7);
		len = 7 + put_v4(out + 7, addr->bytes + 12);
	} else if (addr->family == 6) {
		len = put_v6(out, addr->bytes);
	}
	out[len] = '\0';
	return len;
}

void sbx_addr_mask(struct sbx_addr *addr, unsigned int bits)
{
	for (unsigned int i = 0; i < sizeof(addr->bytes); i++) {
		unsigned int before = i * 8;

		if (bits <= before)
			addr->bytes[i] = 0;
		else if (bits < before + 8)
			addr->bytes[i] &= (uint8_t)(0xff00u >> (bits - before));
	}
}

struct network {
	uint8_t family;
	uint8_t bits;
	uint8_t bytes[16];
};

static const struct network loopback[] = {
	{ 4, 8, { 127 } },
	{ 6, 128, { [15] = 1 } },
};

static const struct network private[] = {
	{ 4, 8, { 0 } }, /* this host */
	{ 4, 8, { 10 } },
	{ 4, 10, { 100, 64 } }, /* shared by carriers */
	{ 4, 8, { 127 } },
	{ 4, 16, { 169, 254 } }, /* link-local: the metadata services of clouds */
	{ 4, 12, { 172, 16 } },
	{ 4, 24, { 192, 0, 0 } },
	{ 4, 16, { 192, 168 } },
	{ 4, 15, { 198, 18 } },
	{ 4, 4, { 224 } }, /* multicast */
	{ 4, 4, { 240 } }, /* reserved, broadcast */
	{ 6, 128, { 0 } },
	{ 6, 128, { [15] = 1 } },
	{ 6, 7, { 0xfc } },
	{ 6, 10, { 0xfe, 0x80 } },
	{ 6, 10, { 0xfe, 0xc0 } },
	{ 6, 8, { 0xff } },
	{ 6, 48, { 0x00, 0x64, 0xff, 0x9b, 0x00, 0x01 } }, /* translation inside a site */
};

/* IPv6 networks that lead to the IPv4 address whose bytes start at 'offset'. */
static const struct {
	struct network net;
	uint8_t offset;
} embedding[] = {
	{ { 6, 96, { 0 } }, 12 },
	{ { 6, 96, { [10] = 0xff, [11] = 0xff } }, 12 },
	{ { 6, 96, { 0x00, 0x64, 0xff, 0x9b } }, 12 },
	{ { 6, 16, { 0x20, 0x02 } }, 2 },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool in_network(const struct sbx_addr *addr, const struct network *net)
{
	struct sbx_addr masked = *addr;

	if (addr->family != net->family)
		return false;
	sbx_addr_mask(&masked, net->bits);
	return !memcmp(masked.bytes, net->bytes, net->family == 4 ? 4 : 16);
}

static bool in_any(const struct sbx_addr *addr, const struct network *nets, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (in_network(addr, &nets[i]))
			return true;
	return false;
}

bool sbx_addr_embedded(const struct sbx_addr *addr, struct sbx_addr *inner)
{
	for (size_t i = 0; i < COUNT(embedding); i++) {
		if (!in_network(addr, &embedding[i].net))
			continue;
		*inner = (struct sbx_addr){ .family = 4 };
		memcpy(inner->bytes, addr->bytes + embedding[i].offset, 4);
		return true;
	}
	return false;
}

bool sbx_addr_is_private(const struct sbx_addr *addr)
{
	struct sbx_addr inner;

	/* An address that nobody knows is not known to be public. */
	if (addr->family != 4 && addr->family != 6)
		return true;
	return in_any(addr, private, COUNT(private)) ||
	       (sbx_addr_embedded(addr, &inner) && in_any(&inner, private, COUNT(private)));
}

bool sbx_addr_is_loopback(const struct sbx_addr *addr)
{
	struct sbx_addr plain = *addr;

	if (is_mapped(&plain))
		unmap(&plain);
	return in_any(&plain, loopback, COUNT(loopback));
}

static bool is_host_char(char c)
{
	c = to_lower(c);
	return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '_';
}

/* What some resolvers would read as (part of) an address: 127, 0x7f. */
static bool label_is_number(struct span label)
{
	bool hex = label.len >= 2 && label.at[0] == '0' && to_lower(label.at[1]) == 'x';

	for (size_t i = hex ? 2 : 0; i < label.len; i++)
		if (hex ? hex_digit(label.at[i]) < 0 : !is_digit(label.at[i]))
			return false;
	return true;
}

static const char *check_host_chars(struct span text)
{
	for (size_t i = 0; i < text.len; i++) {
		if ((unsigned char)text.at[i] >= 0x80)
			return "write international names in their xn-- form";
		if (text.at[i] == '*')
			return STAR_BAD;
		if (text.at[i] != '.' && !is_host_char(text.at[i]))
			return "a host name has letters, digits, '-', '_' and dots";
	}
	return NULL;
}

static const char *check_labels(struct span text)
{
	struct span label;
	bool more;

	do {
		more = span_split(text, '.', &label, &text);
		if (!label.len)
			return "a host name has no empty labels";
		if (label.len > LABEL_MAX)
			return "a label of a host name has at most 63 bytes";
	} while (more);
	return label_is_number(label) ? NUMBER_LAST : NULL;
}

const char *sbx_host_normalize(const char *text, size_t len, char out[SBX_HOST_MAX])
{
	struct span host = { text, len };
	const char *wrong;

	if (host.len && host.at[host.len - 1] == '.')
		host.len--;
	if (!host.len)
		return host_needed;
	wrong = check_host_chars(host);
	if (wrong)
		return wrong;
	if (host.len > SBX_HOST_MAX - 1)
		return "a host name has at most 253 bytes";
	wrong = check_labels(host);
	if (wrong)
		return wrong;
	for (size_t i = 0; i < host.len; i++)
		out[i] = to_lower(host.at[i]);
	out[host.len] = '\0';
	return NULL;
}

static const char *ports_parse(struct span text, struct sbx_peer *peer)
{
	struct span low_text, high_text;
	bool range = span_split(text, '-', &low_text, &high_text);
	unsigned int low, high;

	if (!text.len)
		return port_needed;
	if (text.len == 1 && text.at[0] == '*') {
		peer->low = 0;
		peer->high = UINT16_MAX;
		return NULL;
	}
	if (!number_parse(low_text, UINT16_MAX, &low))
		return PORT_BAD;
	high = low;
	if (range && (!low || !number_parse(high_text, UINT16_MAX, &high)))
		return PORT_BAD;
	if (low > high)
		return "a range of ports runs from the lower to the higher (8000-8100)";
	peer->low = (uint16_t)low;
	peer->high = (uint16_t)high;
	return NULL;
}

/* 'addr' as written and 'bits' of network; what covers only mapped addresses becomes IPv4. */
static const char *set_network(struct sbx_addr addr, unsigned int bits, struct sbx_peer *peer)
{
	struct sbx_addr masked = addr;

	sbx_addr_mask(&masked, bits);
	if (memcmp(&masked, &addr, sizeof(addr)) != 0)
		return "the address has bits beyond its network (write 10.0.0.0/8, not 10.1.2.3/8)";
	if (is_mapped(&addr) && bits >= MAPPED_BITS) {
		unmap(&addr);
		bits -= MAPPED_BITS;
	}
	peer->kind = SBX_PEER_ADDRESS;
	peer->addr = addr;
	peer->bits = (uint8_t)bits;
	return NULL;
}

/* 'bits' is NULL where none are written. */
static const char *network_parse(struct span text, const struct span *bits, struct sbx_peer *peer)
{
	bool v6 = memchr(text.at, ':', text.len);
	unsigned int count = v6 ? V6_BITS : V4_BITS;
	struct sbx_addr addr;

	if (v6 && memchr(text.at, '%', text.len))
		return "a zone such as %eth0 cannot be part of a destination";
	if (!addr_parse_raw(text, &addr))
		return v6 ? V6_BAD : "a network is an address and its bits (10.0.0.0/8:5432)";
	if (bits && !number_parse(*bits, count, &count))
		return v6 ? "a network has 0 to 128 bits ([fd00::/8]:443)"
			  : "a network has 0 to 32 bits (10.0.0.0/8:5432)";
	return set_network(addr, count, peer);
}

/* [IPV6]:PORT, [IPV6/BITS]:PORT, [IPV6]/BITS:PORT */
static const char *bracket_parse(struct span text, struct sbx_peer *peer)
{
	struct span inner, rest, addr, bits, port;
	const char *wrong;
	bool network;

	span_skip(&text, 1);
	if (!span_split(text, ']', &inner, &rest))
		return "no ']' behind the IPv6 address";
	if (!memchr(inner.at, ':', inner.len))
		return "brackets are for IPv6 addresses ([::1]:8080)";
	network = span_split(inner, '/', &addr, &bits);
	if (!network && span_begins(rest, "/")) {
		span_skip(&rest, 1);
		span_split(rest, ':', &bits, &port);
		span_skip(&rest, bits.len);
		network = true;
	}
	if (!rest.len)
		return port_needed;
	if (!span_begins(rest, ":"))
		return "only ':' and a port may follow ']' ([::1]:8080)";
	span_skip(&rest, 1);
	wrong = network_parse(addr, network ? &bits : NULL, peer);
	return wrong ? wrong : ports_parse(rest, peer);
}

static const char *host_parse(struct span host, struct sbx_peer *peer)
{
	struct span addr, bits;
	bool network = span_split(host, '/', &addr, &bits);
	uint8_t quad[4];

	if (host.len == 1 && host.at[0] == '*') {
		peer->kind = SBX_PEER_ANY;
		return NULL;
	}
	if (span_begins(host, "*.")) {
		span_skip(&host, 2);
		peer->kind = SBX_PEER_SUBDOMAINS;
		return sbx_host_normalize(host.at, host.len, peer->host);
	}
	if (network || v4_parse(host, quad))
		return network_parse(addr, network ? &bits : NULL, peer);
	peer->kind = SBX_PEER_HOST;
	return sbx_host_normalize(host.at, host.len, peer->host);
}

/* Of what has more than one ':' outside brackets. */
static const char *colons_wrong(struct span text)
{
	size_t colons = 0;

	for (size_t i = 0; i < text.len; i++) {
		colons += text.at[i] == ':';
		if (i && text.at[i] == ':' && text.at[i - 1] == ':')
			colons = 3;
	}
	return colons > 2 ? "an IPv6 address needs brackets ([::1]:8080, [fd00::/8]:443)"
			  : "one ':' is enough (host:443)";
}

static const char *net_parse(struct span text, struct sbx_peer *peer)
{
	struct span host, port;
	const char *wrong;

	if (span_begins(text, "["))
		return bracket_parse(text, peer);
	if (!span_split(text, ':', &host, &port))
		return port_needed;
	if (span_begins(port, "//"))
		return "a destination has no scheme (host:443, not https://host)";
	if (memchr(port.at, ':', port.len))
		return colons_wrong(text);
	wrong = host_parse(host, peer);
	if (!wrong)
		wrong = ports_parse(port, peer);
	if (!wrong && peer->kind == SBX_PEER_HOST && !strcmp(peer->host, "unix"))
		wrong = "no host can be called 'unix' (unix:/run/app.sock is a socket)";
	return wrong;
}

static const char *unix_parse(struct span path, struct sbx_peer *peer)
{
	static const char *const starts[] = { "/", "./", "../", "~", "${" };

	if (span_begins(path, "@"))
		return "abstract sockets cannot be allowed";
	for (size_t i = 0; i < COUNT(starts); i++) {
		if (!span_begins(path, starts[i]))
			continue;
		peer->kind = SBX_PEER_UNIX;
		peer->path = path.at;
		return NULL;
	}
	return "unix: needs a path (unix:/run/app.sock, unix:./app.sock)";
}

const char *sbx_peer_parse(const char *text, struct sbx_peer *peer)
{
	struct span span = { text, strlen(text) };
	struct sbx_peer parsed = { 0 };
	const char *wrong;

	if (span_begins(span, "unix:")) {
		span_skip(&span, 5);
		wrong = unix_parse(span, &parsed);
	} else {
		wrong = net_parse(span, &parsed);
	}
	if (!wrong)
		*peer = parsed;
	return wrong;
}

const char *sbx_peer_parse_bind(const char *text, struct sbx_peer *peer)
{
	const char *wrong = sbx_peer_parse(text, peer);

	if (wrong == port_needed)
		return "a port is needed (127.0.0.1:8080, [::1]:8080 or *:8080)";
	if (wrong == host_needed)
		return "an address is needed (127.0.0.1:8080, [::1]:8080 or *:8080)";
	return wrong;
}
