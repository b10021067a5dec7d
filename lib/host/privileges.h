/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capabilities (capabilities(7)) of processes: profiling needs CAP_BPF and CAP_PERFMON, not root.
 * Sets are bit masks as in /proc/PID/status.
 */
#ifndef SCOZ_PRIVILEGES_H
#define SCOZ_PRIVILEGES_H

#include "base/base.h"
#include <linux/capability.h>

#define PRIVILEGE(capability) (1ULL << (capability))

/* What scozd keeps once it has begun; what each of them is for: docs/security.md. */
#define PRIVILEGES_OF_SCOZD \
	(PRIVILEGE(CAP_BPF) | PRIVILEGE(CAP_PERFMON) | PRIVILEGE(CAP_SYS_ADMIN) | \
	 PRIVILEGE(CAP_SYS_PTRACE) | PRIVILEGE(CAP_SYS_RESOURCE) | PRIVILEGE(CAP_IPC_LOCK) | \
	 PRIVILEGE(CAP_SYS_NICE) | PRIVILEGE(CAP_SYSLOG) | PRIVILEGE(CAP_KILL) | \
	 PRIVILEGE(CAP_DAC_READ_SEARCH) | PRIVILEGE(CAP_DAC_OVERRIDE) | PRIVILEGE(CAP_CHOWN))

/* One of the sets of this process, "CapEff", "CapBnd"; 0 when it cannot be read. */
uint64_t privileges_own(const char *set);
bool privileges_have(uint64_t caps, int capability);
/* With these cores can be sampled and stopped. */
bool privileges_suffice(uint64_t caps);
/*
 * Makes all permitted capabilities effective: files that carry them need not (setcap's "=p"), so
 * that one which is outside of the bounding set does not keep the program from being executed.
 */
void privileges_raise(void);
/*
 * Gives up all but @caps (a set), in this thread. Not for a thread that starts the command: by exec
 * root gets its capabilities back, and a process that gains some is not dumpable, so that nobody
 * but root may look into it, and it leaves no core file.
 */
void privileges_keep(uint64_t caps);
/*
 * Gives up what the file of this program was given (setcap): what is left its user has in every
 * program. For what reads files that others may have written. Root stays root.
 */
void privileges_keep_users(void);
/* The command that lets others than root profile, as far as the bounding set allows; NULL: not. */
char *privileges_setcap(void);
/*
 * Could process @pid, whose effective user is @uid in its own words, profile this machine? False
 * when it has gone, is somebody else's by now, or has its capabilities in a user namespace only.
 */
bool privileges_of_profiler(int pid, uint32_t uid);

#endif
