/* SPDX-License-Identifier: MIT */
/*
 * Destinations: what is read, written down and read again is the same; hosts have one spelling; and
 * addresses mean what the C library takes them for.
 */
#include "fuzz.h"

#include "peer.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_sentence(const char *wrong)
{
	MUST(*wrong && strlen(wrong) < 120 && fuzz_is_plain(wrong, strlen(wrong), ""));
}

static void check_host(const char *host)
{
	size_t len = strlen(host);
	char again[SBX_HOST_MAX];

	MUST(len > 0 && len < SBX_HOST_MAX && host[0] != '.' && host[len - 1] != '.');
	MUST(strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == len && !strstr(host, ".."));
	MUST(!sbx_host_normalize(host, len, again) && !strcmp(again, host));
}

/* Everything past the network is zero, and masking once more changes nothing. */
static void check_masked(const struct sbx_addr *addr, unsigned int bits)
{
	struct sbx_addr masked = *addr;

	sbx_addr_mask(&masked, bits);
	MUST(!memcmp(&masked, addr, sizeof(masked)));
	for (unsigned int bit = bits; bit < 128; bit++)
		MUST(!(addr->bytes[bit / 8] >> (7 - bit % 8) & 1));
}

static void check_format(const struct sbx_addr *addr)
{
	char text[46];
	size_t len = sbx_addr_format(addr, text);
	struct sbx_addr again;
	uint8_t bytes[16];

	MUST(len < sizeof(text) && len == strlen(text));
	MUST(sbx_addr_parse(text, len, &again) && !memcmp(&again, addr, sizeof(again)));
	MUST(inet_pton(addr->family == 4 ? AF_INET : AF_INET6, text, bytes) == 1);
	MUST(!memcmp(bytes, addr->bytes, addr->family == 4 ? 4 : 16));
	MUST(!sbx_addr_is_loopback(addr) || sbx_addr_is_private(addr));
}

/* The C library is the second opinion; IPv4 dressed as IPv6 is the one thing it leaves alone. */
static void check_addr(const char *text)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct sbx_addr addr;
	uint8_t bytes[16] = { 0 };
	bool parsed = sbx_addr_parse(text, strlen(text), &addr);
	bool v4 = inet_pton(AF_INET, text, bytes) == 1;
	bool v6 = !v4 && inet_pton(AF_INET6, text, bytes) == 1;

	MUST(parsed == (v4 || v6));
	if (!parsed)
		return;
	if (v6 && !memcmp(bytes, mapped, sizeof(mapped))) {
		MUST(addr.family == 4 && !memcmp(addr.bytes, bytes + 12, 4));
	} else {
		MUST(addr.family == (v4 ? 4 : 6));
		MUST(!memcmp(addr.bytes, bytes, sizeof(bytes)));
	}
	check_format(&addr);
}

static void write_down(const struct sbx_peer *peer, char *text, size_t size)
{
	char host[SBX_HOST_MAX + 8] = "*", addr[46];

	if (peer->kind == SBX_PEER_HOST || peer->kind == SBX_PEER_SUBDOMAINS) {
		snprintf(host, sizeof(host), "%s%s", peer->kind == SBX_PEER_HOST ? "" : "*.",
			 peer->host);
	} else if (peer->kind == SBX_PEER_ADDRESS) {
		(void)sbx_addr_format(&peer->addr, addr);
		snprintf(host, sizeof(host), peer->addr.family == 4 ? "%s/%u" : "[%s/%u]", addr,
			 peer->bits);
	}
	if (peer->low == 0 && peer->high == UINT16_MAX)
		snprintf(text, size, "%s:*", host);
	else if (peer->low == peer->high)
		snprintf(text, size, "%s:%u", host, peer->low);
	else
		snprintf(text, size, "%s:%u-%u", host, peer->low, peer->high);
}

static void check_network(const struct sbx_peer *peer)
{
	unsigned int most = peer->addr.family == 4 ? 32 : 128;
	char key[SBX_NETKEY_MAX];

	MUST(peer->addr.family == 4 || peer->addr.family == 6);
	MUST(peer->bits <= most);
	check_masked(&peer->addr, peer->bits);
	MUST(sbx_netkey_addr(key, &peer->addr, peer->bits) == 2 + most / 8);
}

static void check_peer(const char *text)
{
	struct sbx_peer peer, again;
	char written[SBX_HOST_MAX + 64], key[SBX_NETKEY_MAX];
	const char *wrong;

	/* What cannot be read leaves the result alone. */
	memset(&peer, 0x5a, sizeof(peer));
	memset(&again, 0x5a, sizeof(again));
	wrong = sbx_peer_parse(text, &peer);
	if (wrong) {
		check_sentence(wrong);
		MUST(!memcmp(&peer, &again, sizeof(peer)));
		return;
	}
	if (peer.kind == SBX_PEER_UNIX) {
		MUST(peer.path == text + 5 && *peer.path);
		return;
	}
	MUST(peer.low <= peer.high && (peer.kind == SBX_PEER_ADDRESS) == (peer.addr.family != 0));
	if (peer.kind == SBX_PEER_HOST || peer.kind == SBX_PEER_SUBDOMAINS) {
		check_host(peer.host);
		MUST(sbx_netkey_name(key, 'h', peer.host) == strlen(peer.host) + 1);
	} else if (peer.kind == SBX_PEER_ADDRESS) {
		check_network(&peer);
	}
	write_down(&peer, written, sizeof(written));
	MUST(!sbx_peer_parse(written, &again) && !memcmp(&peer, &again, sizeof(peer)));
}

static void check_name(const char *text, size_t size)
{
	char host[SBX_HOST_MAX];
	const char *wrong = sbx_host_normalize(text, size, host);

	if (wrong)
		check_sentence(wrong);
	else
		check_host(host);
}

/* Any bytes are an address. */
static void check_bytes(const uint8_t *data, size_t size)
{
	struct sbx_addr addr = { .family = size % 2 ? 4 : 6 };
	size_t len = addr.family == 4 ? 4 : 16;

	if (size < len + 1)
		return;
	memcpy(addr.bytes, data, len);
	if (addr.family == 4 || memcmp(addr.bytes, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12) != 0)
		check_format(&addr);
	sbx_addr_mask(&addr, data[len] % (len * 8 + 1));
	check_masked(&addr, data[len] % (len * 8 + 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);

	check_peer(text);
	check_addr(text);
	check_name(text, size);
	check_bytes(data, size);
	free(text);
	return 0;
}
