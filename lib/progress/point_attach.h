/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a POINT to what is to be attached; how, knows who counts or records. */
#ifndef SCOZ_POINT_ATTACH_H
#define SCOZ_POINT_ATTACH_H

#include "progress/probe_sites.h"

/* The point, or one of several places that it is. */
enum point_place_kind { PLACE_CODE, PLACE_TRACEPOINT, PLACE_SYSCALL };
struct point_place {
	enum point_place_kind kind;
	const struct held_file *file; /* of code */
	uint64_t offset, ref_ctr;     /* of code: in the file; of the semaphore, 0: none */
	const char *name;	      /* of the tracepoint or system call */
	int syscall;		      /* its number */
	const char *comm;	      /* only of who is called so; NULL: of all */
};
struct point_put {
	int (*put)(const struct point_place *place, void *arg, struct error *err);
	void (*withdraw)(const struct point_place *place, void *arg); /* code that was put last */
	void *arg;
};

/* Puts all that @point is. Not of marks, whose files are found as they appear (mark_search.h). */
int point_attach(const struct point *point, const struct point_put *put, struct error *err);
/* One of @sites, which was shown to be the beginning of an instruction. */
int point_attach_site(const struct held_file *file, const struct probe_sites *sites, size_t i,
		      const char *comm, const struct point_put *put, struct error *err);

#endif
