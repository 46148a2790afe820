/* SPDX-License-Identifier: MIT */
/* What the kernel will see in a file that is executed. */
#ifndef SBX_LAUNCH_BINARY_H
#define SBX_LAUNCH_BINARY_H

#define BINARY_START 256 /* bytes that the kernel looks at */

enum launch_binary {
	BINARY_UNKNOWN, /* it cannot be read, or is none of the others */
	BINARY_SCRIPT, /* "#!": its interpreter runs it */
	BINARY_DYNAMIC, /* its loader runs it */
	BINARY_STATIC,
	BINARY_STATIC_PIE, /* lies where the kernel likes to put it */
};

/* 'runner' becomes the path of the interpreter or loader, or empty. Follows no link and never waits. */
enum launch_binary launch_binary_read(const char *path, char runner[BINARY_START]);

#endif
