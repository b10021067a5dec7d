// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/ahead.h"
#include "record/bpf/shared.h"

#define AGAIN_NS (NSEC_PER_SEC / 5)

void ahead_look(struct ahead *a, const struct queue *q, size_t first, const struct unwinding *u,
		struct maps *maps)
{
	uint64_t now = clock_now_ns();

	if (now - a->since > AGAIN_NS) {
		hash_index_clear(&a->tgids);
		a->since = now;
	}
	for (size_t i = first; i < q->n; i++) {
		const struct record_event *e = (const void *)(q->bytes + q->entries[i].offset);
		const uint64_t *user = (const uint64_t *)(e + 1) + e->n_kernel;

		if (q->entries[i].kind != QUEUE_SAMPLE || e->type != RECORD_EVENT_TICK ||
		    !e->n_user)
			continue;
		user += user[0] == RECORD_EXACT_USER && e->n_user > 1;
		if (hash_index_find_id(&a->tgids, e->tgid) != HASH_NONE ||
		    !unwinding_in_no_file(u, e->tgid, user[0]))
			continue;
		hash_index_add_id(&a->tgids, e->tgid, 0);
		maps_expect_names(maps, e->tgid);
	}
}

void ahead_free(struct ahead *a)
{
	hash_index_deinit(&a->tgids);
}
