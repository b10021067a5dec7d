// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/causal/callers.h"

#include "progress/labels.h"

static int by_share(const void *pa, const void *pb)
{
	const struct call_path *a = pa, *b = pb;

	return (a->share_pct < b->share_pct) - (a->share_pct > b->share_pct);
}

size_t call_paths(const struct profile *p, uint32_t target, struct call_path **ret)
{
	double samples = 0;
	bool callers = false;
	size_t n = 0, cap = 0;

	*ret = NULL;
	for (size_t i = 0; i < p->n_seen; i++)
		samples += p->seen[i].target == target ? p->seen[i].samples : 0;
	for (size_t i = 0; i < p->n_paths && samples > 0; i++) {
		const struct profile_path *path = &p->paths[i];
		size_t k = 0;

		if (path->target != target || !path->n_functions)
			continue;
		callers |= path->n_functions > 1;
		while (k < n && !texts_equal((*ret)[k].functions, (*ret)[k].n, path->functions,
					     path->n_functions))
			k++;
		if (k == n) {
			array_reserve(*ret, cap, n + 1);
			(*ret)[n++] = (struct call_path){ 0, path->functions, path->n_functions };
		}
		(*ret)[k].share_pct += 100 * path->samples / samples;
	}
	if (!callers)
		n = 0;
	if (n)
		qsort(*ret, n, sizeof(**ret), by_share);
	return n;
}

char *call_path_text(const struct call_path *path, const char *arrow)
{
	char **labels = labels_make(path->functions, path->n), *text = xstrdup("");

	for (size_t i = path->n; i-- > 0;) {
		text_add(&text, "%s%s", labels[i], i ? arrow : "");
		free(labels[i]);
	}
	free(labels);
	return text;
}
