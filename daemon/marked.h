/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who has mapped a mark that counts belongs to what is profiled, as who comes to any other progress
 * point does. But most visits of a mark are counted by the program itself, and no engine sees who
 * makes them.
 */
#ifndef SCOZD_MARKED_H
#define SCOZD_MARKED_H

#include "maps/maps.h"
#include "progress/marks.h"

struct marked;

struct marked *marked_create(void);
void marked_destroy(struct marked *m);
/* Binary @id of the maps is that file; @ino 0: it cannot be had. */
void marked_note_binary(struct marked *m, uint32_t id, dev_t dev, ino_t ino);
/* A mark that counts is in the open file @fd. */
void marked_note_file(struct marked *m, int fd);
/* Told of each, once. */
struct marked_take {
	int (*take)(int pid, void *arg, struct error *err);
	void *arg;
};
/*
 * Who has mapped such a file since and whose effective user counts for @marks is taken, for no
 * longer than some 20 ms: the others come the next time. With @again also who was refused is
 * looked at.
 */
void marked_look(struct marked *m, struct maps *maps, const struct marks *marks,
		 const struct marked_take *t, bool again);

#endif
