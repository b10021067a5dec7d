/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is said between who wants a table, the nursery and the worker: one message a datagram. */
#ifndef SCOZ_SYMBOLIZER_PROTOCOL_H
#define SCOZ_SYMBOLIZER_PROTOCOL_H

#include "host/fd_pass.h"

#include <linux/limits.h>

enum symbolizer_message {
	MSG_JOB,     /* to the nursery: file and socket of the job; text: name, root, debug root,
		      * path; with MSG_PROBES: name, POINT, "", path; number: with MSG_LOADS, where to
		      * begin */
	MSG_STARTED, /* from the nursery's child: pidfd of the worker; number: its pid */
	MSG_READY,   /* from the worker: where its opens are to be answered */
	MSG_GO,	     /* to the worker: begin; then: build */
	MSG_FOUND,   /* from the worker: number: fingerprint of the debug files */
	MSG_TABLE,   /* the table; number: its size */
	MSG_UNWIND,  /* the unwind table; number: its size */
	MSG_SITES,   /* where probes go; number: its size */
	MSG_BLOCK,   /* with MSG_LOADS: what was read; number: its size */
	MSG_ERROR,   /* there is none; number: errno; text: why */
	MSG_ENDED, /* from the nursery's child: number: how the worker ended, as waitpid() has it */
};

#define MSG_FDS	    FD_PASS_MAX
#define MSG_STRINGS 4

struct message {
	uint32_t type;
	uint32_t flags; /* of a job: MSG_KERNEL and so on */
	uint64_t number;
	uint64_t memory, cpu_s;		   /* of a job: limits */
	char text[MSG_STRINGS * PATH_MAX]; /* strings, each with its NUL */
};
#define MSG_KERNEL   1u
#define MSG_KALLSYMS 2u
#define MSG_PROBES   4u	 /* no table is wanted, but where probes go */
#define MSG_FRAMES   8u	 /* nor that, but the unwind table */
#define MSG_LOADS    16u /* nor that, but what a perf map tells, */
#define MSG_JITDUMP  32u /* or a jitdump */

/*
 * Descriptors are the receiver's. False, with errno: the other side is gone (EPIPE), what came is
 * no message (EBADMSG), or came with descriptors for which there is no room (EMFILE).
 */
bool message_send(int socket, const struct message *m, const int *fds, int n);
bool message_receive(int socket, struct message *m, int fds[MSG_FDS]);

extern uint64_t symbolizer_most_wait_s; /* for a job, however long its file may take */

/* Does not return. @socket: jobs come here. */
void nursery_main(int socket) __attribute__((noreturn));

#endif
