/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Progress points of a causal recording: finding where they are, and attaching them. */
#ifndef SCOZ_RECORD_CAUSAL_POINTS_H
#define SCOZ_RECORD_CAUSAL_POINTS_H

#include "progress/point.h"
#include "record/recorder.h"

struct causal_points;
/* @r must be there as long as it is used. */
struct causal_points *causal_points_create(struct recorder *r);
/* @point stays the caller's, and must last as long. Errors name it. */
int causal_points_add(struct causal_points *c, const struct point *point, uint32_t id,
		      struct error *err);
/*
 * Is there any mark among them? Programs execute the probes of marks, of which all of this is, only
 * while nobody lets them count otherwise (progress/marks.h).
 */
bool causal_points_have_marks(const struct causal_points *c);
/* The marks of a program that is to be started are attached, if that takes no longer than so. */
void causal_points_search(struct causal_points *c, const char *path, int seconds);
/* The marks of what has been mapped meanwhile. */
void causal_points_poll(struct causal_points *c);
/* After symbolizer_abandon(): its thread may wait for the symbolizer. */
void causal_points_destroy(struct causal_points *c);

#endif
