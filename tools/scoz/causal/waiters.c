// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/causal/waiters.h"

#include "tools/scoz/json_values.h"

const struct profile_waiters *waiters_of(const struct profile *p, const char *target)
{
	for (size_t i = p->n_waiters; i-- > 0;) {
		if (!strcmp(p->waiters[i].target, target))
			return &p->waiters[i];
	}
	return NULL;
}

char *waiter_text(const struct profile_waiter *w)
{
	char *text = xstrdup(*w->name ? w->name : "?");

	if (w->threads > 1)
		text_add(&text, " (%u threads)", w->threads);
	if (*w->wait)
		text_add(&text, ", in %s", w->wait);
	return text;
}

json_t *waiters_json(const struct profile *p, const char *target)
{
	const struct profile_waiters *w = waiters_of(p, target);
	json_t *list = w ? json_array() : json_null();

	for (size_t i = 0; w && i < w->n; i++) {
		const struct profile_waiter *x = &w->list[i];

		json_array_append_new(
			list,
			json_pack("{s:o,s:I,s:o,s:I,s:o}", "name", json_clean(x->name), "threads",
				  (json_int_t)x->threads, "share_pct", json_percent(100 * x->share),
				  "samples", (json_int_t)x->samples, "wait", json_clean(x->wait)));
	}
	return list;
}
