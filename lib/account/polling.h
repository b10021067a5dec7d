/* SPDX-License-Identifier: GPL-2.0-only OR GPL-2.0-or-later */
/*
 * Is a task waiting that asks again and again whether something has come? Pure; compiled into BPF
 * programs and tests.
 *
 * The libraries of MPI wait so. Their loops have no instruction that tells, and are not one loop:
 * each round calls a function of progress, which calls one of each device, which looks at memory
 * that others write, or asks the kernel. The same functions also deliver what has come, so where a
 * sample lies does not decide, but the chain of callers does, read from the innermost frame on:
 *
 *	[sched_yield, poll, ...] [libevent] [a library of MPI, few deep] ENGINE library... CALL
 *
 * What looks is right below the engine of progress, or, as its clock is, a function further in its
 * own library; what delivers (matches, unpacks, copies, reduces) is deeper, or in another library,
 * and is work. Above it there has to be one of the calls that return when something has come: who
 * asks by MPI_Test() may have other things to do.
 */
#ifndef SCOZ_POLLING_H
#define SCOZ_POLLING_H

#include <linux/types.h>

enum scoz_poll_role {
	SCOZ_POLL_OTHER,   /* nothing of MPI */
	SCOZ_POLL_LIBRARY, /* of MPI, or of a device it uses */
	SCOZ_POLL_OWN,	   /* the library of an engine */
	SCOZ_POLL_ENGINE,  /* of progress: asks all devices */
	SCOZ_POLL_CALL,	   /* of MPI, and waits */
	SCOZ_POLL_ASK,	   /* asks the kernel, and need not wait for the answer */
	SCOZ_POLL_YIELD,   /* lets others have the core */
	SCOZ_POLL_EVENTS,  /* libevent, by which Open MPI asks */
};

/* A function, or part of one; offsets in its file. Sorted, and apart from each other. */
struct scoz_poll_range {
	__u32 start, end;
	__u32 role;
	__u32 pad;
};

enum scoz_poll_verdict { SCOZ_POLL_GO_ON, SCOZ_POLL_WAITS, SCOZ_POLL_WORKS };

/* Of the libraries' frames, those that may lie below the engine: a device's, and who it asks by. */
#define SCOZ_POLL_DEEP	     1
#define SCOZ_POLL_DEEP_OWN   2 /* all in the engine's library */
#define SCOZ_POLL_DEEP_ASKED 3

struct scoz_poll_chain {
	__u32 frames;
	__u32 deep;    /* frames of libraries below the engine */
	__u32 foreign; /* of these, of other libraries than the engine's */
	__u32 asked, yielded, engine;
};

static inline __u32 scoz_poll_deep(const struct scoz_poll_chain *c)
{
	if (c->asked)
		return SCOZ_POLL_DEEP_ASKED;
	return c->foreign ? SCOZ_POLL_DEEP : SCOZ_POLL_DEEP_OWN;
}

/* The next frame, innermost first. */
static inline enum scoz_poll_verdict scoz_poll_frame(struct scoz_poll_chain *c, __u32 role)
{
	__u32 first = !c->frames++;

	switch (role) {
	case SCOZ_POLL_ASK:
	case SCOZ_POLL_YIELD:
		if (!first) /* it calls nothing but the kernel */
			return SCOZ_POLL_WORKS;
		c->asked = 1;
		c->yielded = role == SCOZ_POLL_YIELD;
		return SCOZ_POLL_GO_ON;
	case SCOZ_POLL_EVENTS: /* who is called by it has got an event */
		return c->deep ? SCOZ_POLL_WORKS : SCOZ_POLL_GO_ON;
	case SCOZ_POLL_LIBRARY:
	case SCOZ_POLL_OWN:
		if (c->engine || c->yielded)
			return SCOZ_POLL_GO_ON;
		c->foreign += role == SCOZ_POLL_LIBRARY;
		return ++c->deep > scoz_poll_deep(c) ? SCOZ_POLL_WORKS : SCOZ_POLL_GO_ON;
	case SCOZ_POLL_ENGINE:
		c->engine = 1;
		return SCOZ_POLL_GO_ON;
	case SCOZ_POLL_CALL: /* nobody yields who has anything to do */
		return c->engine || c->yielded ? SCOZ_POLL_WAITS : SCOZ_POLL_WORKS;
	default:
		return SCOZ_POLL_WORKS;
	}
}

#endif
