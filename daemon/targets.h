/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Targets of experiments as address ranges: of what users name, in all known binaries; of what was
 * chosen from samples, where these lay.
 */
#ifndef SCOZD_TARGETS_H
#define SCOZD_TARGETS_H

#include "daemon/ring_handlers.h"
#include "daemon/options.h"
#include "engine/engine.h"
#include "maps/maps.h"

struct resolved_target {
	const char *kind; /* as in the profile */
	char location[256];
	int described;	/* the part that is there */
	bool of_system; /* that is one of the system's, where the user's may be meant */
	int n;
	struct engine_part parts[SCOZ_MAX_PARTS];
	struct addr_ranges ranges[SCOZ_MAX_PARTS];
	char *overloads; /* a function's name stands for all of these; NULL: for one */
	bool functions;	 /* it is several targets, all of them functions of programs */
	uint32_t made;	 /* versions of the code that processes make, summed */
};

/* A target chosen from samples; classes and system calls have no sites. Of a binary as a whole,
 * sites have no more than its number. */
struct chosen_target {
	char *name; /* TARGET notation, for people and the profile */
	enum target_kind kind;
	struct location_site *sites;
	size_t n_sites, cap_sites;
};

/*
 * Looks the target up in the kernel or in every binary that has been sampled so far (or is named
 * by the target). -ENOENT with an error text when it is nowhere. Waits for no table: where one that
 * may hold the target is still being built it is left out, or with @patient, -EAGAIN.
 */
int target_resolve(const struct target *t, struct maps *maps, struct handlers *handlers,
		   bool patient, struct resolved_target *ret, struct error *err);
/* The same for one that was chosen: only its sites are looked at, by what their tables tell. */
int target_resolve_chosen(const struct chosen_target *c, struct maps *maps,
			  struct handlers *handlers, bool patient, struct resolved_target *ret,
			  struct error *err);
/* It is code, which may be sped up with other code. */
static inline bool target_goes_together(const struct target *t)
{
	return !target_is_tasks(t) && t->kind != TARGET_SYSCALL;
}
/*
 * Makes @to all of both (--together); takes what @from holds. -E2BIG: together they are in too many
 * binaries; @to is to be freed then.
 */
int resolved_target_join(struct resolved_target *to, struct resolved_target *from, const char *spec,
			 struct error *err);
bool resolved_target_is_functions(const struct resolved_target *r);
/* Has more been told since of code that processes make, and that it is of? */
bool resolved_target_is_old(const struct resolved_target *r, struct maps *maps);
/* Do both have the same addresses? */
bool resolved_target_same(const struct resolved_target *a, const struct resolved_target *b);
void resolved_target_free(struct resolved_target *r);

/* ---- what target_check.c asks, too ---- */
/* Of a class, what it is (ENGINE_CLASS_*); 0: there is no such class of its own. */
uint32_t target_class_bits(const struct target *t);
/* The same of any target; 0: code, or a system call. */
uint32_t target_classes(const struct target *t);
/* The disk or the peer of a class that has one. -ENOENT: it is not there. */
int target_find_device(const struct target *t, struct engine_part *ret, struct error *err);
/* Before the run (@handlers: NULL), tables are waited for. */
int target_resolve_kernel(const struct target *t, struct maps *maps, struct handlers *handlers,
			  struct resolved_target *ret, struct error *err);

#endif
