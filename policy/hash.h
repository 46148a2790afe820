/* SPDX-License-Identifier: MIT */
/* The hash of image edges, inline because a verdict spends most of its time here. Pure. */
#ifndef SBX_HASH_H
#define SBX_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Up to eight bytes as a number, without reading past them. */
static inline uint64_t sbx_hash_load(const char *bytes, size_t len)
{
	uint64_t low = 0, high = 0;

	if (len >= 8) {
		memcpy(&low, bytes, 8);
		return low;
	}
	if (len >= 4) {
		memcpy(&low, bytes, 4);
		memcpy(&high, bytes + len - 4, 4);
		return low | high << 32;
	}
	if (len == 0)
		return 0;
	low = (unsigned char)bytes[0];
	high = (unsigned char)bytes[len / 2];
	/* cppcheck-suppress arrayIndexOutOfBoundsCond ; it takes len for more than it can be here */
	return low | high << 8 | (uint64_t)(unsigned char)bytes[len - 1] << 16;
}

static inline uint64_t sbx_hash_bytes(const char *bytes, size_t len)
{
	uint64_t hash = len * 0x9e3779b97f4a7c15u;

	while (len > 8) {
		hash = (hash ^ sbx_hash_load(bytes, 8)) * 0xff51afd7ed558ccdu;
		hash ^= hash >> 29;
		bytes += 8;
		len -= 8;
	}
	hash = (hash ^ sbx_hash_load(bytes, len)) * 0xff51afd7ed558ccdu;
	hash ^= hash >> 32;
	return hash * 0xc4ceb9fe1a85ec53u;
}

/* Mixes in where the edge starts and of which kind it is. The seed lets a builder start over. */
static inline uint32_t sbx_hash_edge(uint32_t seed, uint64_t bytes_hash, uint32_t parent,
				     uint8_t kind)
{
	uint64_t mix = bytes_hash ^ ((((uint64_t)parent << 3) | kind) + seed) * 0x9e3779b97f4a7c15u;

	mix ^= mix >> 29;
	return (uint32_t)(mix * 0xd6e8feb86659fd93u >> 32);
}

#endif
