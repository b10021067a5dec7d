// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/published.h"

struct part {
	struct published *of;
	uint32_t binary;
};

static int publish(const struct maps_mapping *m, void *arg);

/* What it has mapped now, instead of all that was told of it. */
static void publish_again(struct published *p, int pid)
{
	int n = p->n;

	engine_forget_process(p->engine, pid);
	for (int i = 0; i < n; i++) {
		struct part part = { p, p->binary[i] };

		maps_for_each_mapping_of(p->maps, pid, part.binary, publish, &part);
	}
}

/*
 * It may have gone since it was told of, and whoever heard of that may have been here before: an
 * end, an exec, something else in its place. Who hears of it after this look comes after this. What
 * is published of one that has ended would stay: nobody hears of its end again.
 */
static int publish(const struct maps_mapping *m, void *arg)
{
	const struct part *part = arg;
	struct published *p = part->of;

	if (engine_publish_mapping(p->engine, part->binary, m) == -E2BIG)
		p->full = true;
	if (!maps_has_mapping(p->maps, part->binary, m))
		publish_again(p, m->pid);
	return 0;
}

void published_clear(struct published *p)
{
	p->n = 0;
}

void published_add(struct published *p, uint32_t binary)
{
	struct part part = { p, binary };

	p->binary[p->n] = binary;
	p->n++;
	maps_for_each_mapping(p->maps, binary, publish, &part);
}

void published_on_mapping(struct published *p, uint32_t binary, const struct maps_mapping *m)
{
	struct part part = { p, binary };
	int n = p->n;

	engine_withdraw_mapping(p->engine, binary, m);
	for (int i = 0; i < n; i++) {
		if (p->binary[i] == binary)
			publish(m, &part);
	}
}
