// SPDX-License-Identifier: GPL-2.0-or-later
#include "table/maptable.h"

void addr_ranges_free(struct addr_ranges *ranges)
{
	free(ranges->r);
	*ranges = (struct addr_ranges){ 0 };
}

static int compare_range(const void *pa, const void *pb)
{
	const struct addr_range *a = pa, *b = pb;

	return a->start != b->start ? (a->start < b->start ? -1 : 1)
				    : (a->end > b->end) - (a->end < b->end);
}

void addr_ranges_sort_merge(struct addr_ranges *ranges)
{
	size_t out = 0;

	if (!ranges->n)
		return;
	qsort(ranges->r, ranges->n, sizeof(*ranges->r), compare_range);
	for (size_t i = 0; i < ranges->n; i++) {
		struct addr_range *r = &ranges->r[i];

		if (r->start >= r->end)
			continue;
		if (out && r->start <= ranges->r[out - 1].end) {
			if (r->end > ranges->r[out - 1].end)
				ranges->r[out - 1].end = r->end;
		} else {
			ranges->r[out++] = *r;
		}
	}
	ranges->n = out;
}
