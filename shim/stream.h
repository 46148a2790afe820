/* SPDX-License-Identifier: MIT */
/*
 * Functions that open inside libc, where no voucher can be put. libc's own is called, once; when it
 * was refused, the open underneath is repeated, asking, for the sake of the words alone.
 */
#ifndef SHIM_STREAM_H
#define SHIM_STREAM_H

#include <stddef.h>

/* How fopen() opens, by its mode. */
int shim_mode_flags(const char *mode);

/* After libc failed to open 'path' so, or to make a folder. errno stays as it is. */
void shim_open_failed(const char *path, int flags);
void shim_mkdir_failed(const char *path);

#endif
