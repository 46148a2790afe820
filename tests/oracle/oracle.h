/* SPDX-License-Identifier: MIT */
/* The parts of the oracle test: trees that are planted twice, and random calls. */
#ifndef ORACLE_H
#define ORACLE_H

#include "../kernel/confined.h"
#include "../kernel/grown.h"
#include "doer.h"

/* --- plot.c --- */

#define PLOT_MOST 40

struct plot_entry {
	char path[64]; /* below the root */
	char kind; /* '/', 'f', 'l' a link, 'h' one more name of a file, 'p' a FIFO, 's' a socket */
	char target[64]; /* DOER_TEXT at its beginning stands for the root */
	mode_t mode;
	bool foreign; /* somebody else's, where that can be had */
};

struct plot {
	struct plot_entry entries[PLOT_MOST];
	size_t count;
	uid_t uid; /* whose it is */
	bool held; /* somebody has all FIFOs open: nobody waits */
};

/* By a shell; ends the test when it fails. */
void plot_shell(const char *format, ...) TAP_FORMAT(1, 2);

void plot_grow(struct plot *plot);
/* In the folder 'root', which is emptied. */
void plot_plant(const struct plot *plot, const char *root);
/* A text that differs when anything that can be seen in the tree does. To be freed. */
char *plot_picture(const char *root);
const struct plot_entry *plot_some(const struct plot *plot);

/* --- draw.c --- */

/* Any call with any arguments. */
void draw(const struct plot *plot, struct doer_case *what);
/* In words, for who has to find out. */
void draw_show(const struct doer_case *what);

#endif
