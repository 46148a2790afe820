/* SPDX-License-Identifier: MIT */
/* The hash of image edges, inline because a verdict spends most of its time here. Pure. */
#ifndef SBX_HASH_H
#define SBX_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Eight bytes as a number whose lowest byte is the first of them. */
static inline uint64_t sbx_load8(const char *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

static inline uint64_t sbx_load4(const char *bytes)
{
	uint32_t word;

	memcpy(&word, bytes, 4);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap32(word);
#endif
	return word;
}

/* Of the first eight bytes those that there are, without reading past them; zeros for the others. */
static inline uint64_t sbx_load_some(const char *bytes, size_t len)
{
	uint64_t word = 0;

	if (len >= 8)
		return sbx_load8(bytes);
	if (len >= 4)
		return sbx_load4(bytes) | sbx_load4(bytes + len - 4) << (8 * (len - 4));
	for (size_t i = 0; i < len; i++)
		word |= (uint64_t)(unsigned char)bytes[i] << (8 * i);
	return word;
}

/* Hashes sixteen bytes more. Names are filled up with zeros, which they cannot contain. */
static inline uint64_t sbx_hash_block(uint64_t hash, uint64_t low, uint64_t high)
{
	hash = (hash ^ low) * 0xff51afd7ed558ccdu ^ high * 0xc4ceb9fe1a85ec53u;
	return hash ^ hash >> 32;
}

static inline uint64_t sbx_hash_bytes(const char *bytes, size_t len)
{
	uint64_t hash = 0;

	for (; len >= 16; bytes += 16, len -= 16)
		hash = sbx_hash_block(hash, sbx_load8(bytes), sbx_load8(bytes + 8));
	return sbx_hash_block(hash, sbx_load_some(bytes, len),
			      len > 8 ? sbx_load_some(bytes + 8, len - 8) : 0);
}

/*
 * The hash of a place: of the edge that leads to it, and of all those before. "/" has the seed,
 * which lets a builder start over. So all places along a path can be looked up at once.
 */
static inline uint32_t sbx_hash_edge(uint32_t parent, uint64_t bytes_hash, uint8_t kind)
{
	uint64_t mix = bytes_hash ^ parent ^ (uint64_t)kind << 32;

	return (uint32_t)(mix * 0xd6e8feb86659fd93u >> 32);
}

#endif
