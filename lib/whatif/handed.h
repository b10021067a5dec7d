/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Locks that a program has made of semaphores or conditions, one for each thread, as databases do:
 * the kernel sees that one thread waits until another one wakes it, which may as well be a queue or
 * a barrier. But threads that all come to the progress point themselves, that each wake those who
 * wake them, as often as they are woken, and that do not meet in step, wait for something that the
 * other one had.
 *
 * In step: both have met nobody else since they last met, as at a barrier, or in ping-pong. In a
 * ring nobody wakes who has woken him. Who now and then needs the lock, too, need not be one of
 * them. Who meets different others by turns (neighbours in a grid), who gives work to others of a
 * pool, and who joins workers that come to the point themselves looks the same, so nothing must
 * rely on it alone.
 *
 * No files, no kernel.
 */
#ifndef SCOZ_WHATIF_HANDED_H
#define SCOZ_WHATIF_HANDED_H

#include "trace/trace.h"

struct handed;
struct handed *handed_create(size_t threads);
/* All events in the order of time, but visits of points that are not asked for. */
void handed_event(struct handed *h, const struct trace_event *e);
/* Is it one of those? What it waits for in a futex is a lock. */
bool handed_of(const struct handed *h, uint32_t thread);
void handed_free(struct handed *h);

#endif
