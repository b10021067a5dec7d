/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SCOZ_HOST_NAMESPACES_H
#define SCOZ_HOST_NAMESPACES_H

struct error;

/*
 * BPF programs and the patched kernel have the ids of the first pid namespace, perf and /proc those
 * of ours; and the clock without a time namespace's offset. -EOPNOTSUPP where these are not the
 * same. @who cannot work there, for the message.
 */
int namespaces_check(const char *who, struct error *err);

#endif
