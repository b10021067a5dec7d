/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where in a file the probes of a POINT go. Anybody may have written the file, so it is read by a
 * process without rights where there is one (symbolizer/symbolizer.h). What comes back is places,
 * and a copy of the code that was looked at: who puts a probe there looks into nothing, and only
 * compares that copy with the file.
 */
#ifndef SCOZ_PROBE_SITES_H
#define SCOZ_PROBE_SITES_H

#include "files/held_file.h"
#include "progress/marks.h"
#include "progress/point.h"
#include "scoz.h"
#include "table/maptable.h"

struct probe_site {
	uint64_t offset;		 /* in the file */
	uint64_t semaphore;		 /* in the file: the uprobe's ref_ctr_offset; 0: none */
	uint64_t code_offset, code_size; /* in the file: what was looked at */
	uint64_t copy;			 /* of that, in the block */
	uint32_t kind;			 /* of a mark: enum mark_kind; of code: enum probe_bound */
	int32_t refused;		 /* of a mark: errno why no probe may be there, or 0 */
	char name[SCOZ_NAME_SIZE_];	 /* of a mark */
	char why[512];			 /* of one that is refused */
};

enum probe_bound {
	PROBE_ENTRY,
	PROBE_EXIT,
	PROBE_HANDS_ON, /* the same, by a jump to another function, which returns for it */
};

struct probe_sites {
	void *mem;
	size_t size;
	bool mapped;
	const struct probe_site *list;
	size_t n;
};

/*
 * @point: a function, a line or a USDT probe: at least one place, all of which were shown to be the
 * beginning of an instruction, or an error that says why not (progress/probe_file.h). NULL: all
 * marks of the file, which may be none. May wait for as long as reading a file of that size takes.
 */
int probe_sites_find(const struct held_file *file, const struct point *point,
		     struct probe_sites **ret, struct error *err);
/*
 * The same of the binary that @point names: looked up by its path once, everything else is asked
 * of, and to be done to, @file, which is the caller's to close in any case.
 */
int probe_sites_of_point(const struct point *point, struct held_file *file,
			 struct probe_sites **ret, struct error *err);
/*
 * Where control comes into the code at @ranges and leaves it (progress/code_bounds.h): functions,
 * with all that belongs to them. -ENOTSUP: that cannot all be told, as where they are parts of
 * other functions (inlined).
 */
int probe_sites_of_code(const struct held_file *file, const struct addr_ranges *ranges,
			struct probe_sites **ret, struct error *err);
void probe_sites_free(struct probe_sites *s);
/*
 * Is the code that was looked at for place @i still what it was? To be asked again when the probe
 * is there. -ESTALE: it is not.
 */
int probe_sites_unchanged(const struct probe_sites *s, size_t i, const struct held_file *file,
			  struct error *err);

/*
 * For the one without rights: the same by this very process, of POINT @spec ("": all marks).
 * @path: see struct map_options.
 */
int probe_sites_read(int fd, const char *name, const char *path, const char *spec,
		     struct probe_sites **ret, struct error *err);
/* Takes the block over; NULL, and it is released, when something in it leads outside of it. */
struct probe_sites *probe_sites_attach(void *mem, size_t size, bool mapped);
typedef int (*probe_sites_fn)(int fd, const char *name, const char *spec, struct probe_sites **ret,
			      struct error *err);
void probe_sites_read_by(probe_sites_fn fn);

#endif
