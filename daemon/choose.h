/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which targets are worth trying, by what samples are credited to (maps/origin.h). */
#ifndef SCOZD_CHOOSE_H
#define SCOZD_CHOOSE_H

#include "daemon/session.h"
#include "daemon/targets.h"

struct choice {
	struct chosen_target target;
	uint64_t samples;
};
struct choices {
	struct choice *list; /* most sampled first */
	size_t n, cap;
};

/* Lines and functions, or what is larger where none of these matters; a few at most. */
void choose_targets(struct session *s, struct choices *ret);
void choices_free(struct choices *c);
void chosen_target_free(struct chosen_target *t);

#endif
