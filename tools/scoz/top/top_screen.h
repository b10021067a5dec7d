/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The terminal: lines go in, keys come out. There is one at a time. */
#ifndef SCOZ_TOP_SCREEN_H
#define SCOZ_TOP_SCREEN_H

#include "tools/scoz/top/top_view.h"

/* Is there a terminal? */
int top_screen_check(struct error *err);
int top_screen_open(struct error *err);
/* Leaves the terminal as it was; also when the program ends otherwise. */
void top_screen_close(void);
void top_screen_size(size_t *rows, size_t *cols);
void top_screen_put(const struct top_lines *lines);
/*
 * The next key, after at most @ms. TOP_NO_KEY: there was none, or the size has changed, or all is
 * to be drawn anew (@resized). -EIO: the terminal has gone.
 */
int top_screen_key(int ms, bool *resized);

#endif
