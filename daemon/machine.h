/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of the machine while it is profiled: what it does to precision, the report says. */
#ifndef SCOZD_MACHINE_H
#define SCOZD_MACHINE_H

#include "run/cores.h"

/* Since boot, in seconds, to a clock tick. */
struct machine_times {
	double stolen; /* taken by the host */
	double busy;   /* anything but idle and waiting for devices; not stolen */
};
/* Of the profiled cores, by their index; @per_core may be NULL. @sum: over them. */
void machine_read(const struct cores *cores, struct machine_times *per_core,
		  struct machine_times *sum);

/*
 * How long a fixed piece of work takes now, on this core, in ns (some microseconds' worth of
 * multiplications): the best of a few tries, which interrupts and the host have not cut in two.
 */
uint32_t machine_speed_ns(void);

#endif
