/* SPDX-License-Identifier: MIT */
/*
 * Destinations as text: HOST:PORT, *.HOST:PORT, *:PORT, ADDRESS:PORT, NETWORK/BITS:PORT,
 * [IPV6]:PORT, [IPV6/BITS]:PORT, unix:PATH. Pure: part of the evaluate side.
 */
#ifndef SBX_PEER_H
#define SBX_PEER_H

#include "engine.h"

#define SBX_HOST_MAX 254

enum sbx_peer_kind {
	SBX_PEER_HOST,
	SBX_PEER_SUBDOMAINS, /* "*.host": 'host' is what follows the "*." */
	SBX_PEER_ANY, /* "*" */
	SBX_PEER_ADDRESS, /* 'addr' with 'bits' of network; host bits are zero */
	SBX_PEER_UNIX, /* 'path' points into the parsed text */
};

struct sbx_peer {
	enum sbx_peer_kind kind;
	char host[SBX_HOST_MAX];
	struct sbx_addr addr;
	uint8_t bits;
	uint16_t low; /* ports; "*" is 0 to 65535 */
	uint16_t high;
	const char *path;
};

/* NULL and *peer filled, or a static sentence fragment that says what is wrong with 'text'. */
const char *sbx_peer_parse(const char *text, struct sbx_peer *peer);
/* The same for what is listened on, where hosts are no examples. */
const char *sbx_peer_parse_bind(const char *text, struct sbx_peer *peer);

/*
 * Lower-cases, drops one trailing dot, and refuses what is no host name: empty or long labels,
 * anything but letters, digits, '-' and '_', and names whose last label reads as a number (they
 * would be taken for addresses). NULL, or what is wrong.
 */
const char *sbx_host_normalize(const char *text, size_t len, char out[SBX_HOST_MAX]);

/* Dotted quad or IPv6 (no zone, no brackets). IPv4-mapped IPv6 addresses become IPv4. */
bool sbx_addr_parse(const char *text, size_t len, struct sbx_addr *addr);
/* The canonical text (RFC 5952 for IPv6), NUL-terminated; returns its length. 'out' has 46 bytes. */
size_t sbx_addr_format(const struct sbx_addr *addr, char out[46]);
/* Loopback, private, link-local, shared, multicast, unspecified…: nothing a public name leads to. */
bool sbx_addr_is_private(const struct sbx_addr *addr);
/* The IPv4 address that an IPv6 one leads to, by its form: mapped, compatible, NAT64, 6to4. */
bool sbx_addr_embedded(const struct sbx_addr *addr, struct sbx_addr *inner);
bool sbx_addr_is_loopback(const struct sbx_addr *addr);
/* Clears the bits past 'bits'. */
void sbx_addr_mask(struct sbx_addr *addr, unsigned int bits);

#endif
