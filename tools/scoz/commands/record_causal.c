// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/commands/record_causal.h"

#define MARKS_S 5 /* that a command waits until it has been looked through */

bool progress_list_add(struct progress_list *l, const char *text)
{
	struct progress_spec spec;
	struct error err = {};

	if (progress_spec_parse(text, &spec, &err)) {
		log_warn("--progress %s: %s", text, err.text);
		return false;
	}
	array_reserve(l->v, l->cap, l->n + 1);
	l->v[l->n++] = spec;
	return true;
}

void progress_list_free(struct progress_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		progress_spec_free(&l->v[i]);
	free(l->v);
}

int causal_attach(struct causal_points *c, const struct progress_list *l, char **command,
		  struct error *err)
{
	_cleanup_free_ char *path = NULL;
	int ret = 0;

	for (size_t i = 0; !ret && i < l->n; i++)
		ret = causal_points_add(c, &l->v[i].begin, i, err);
	if (!ret && command && !binary_find(command[0], &path, NULL))
		causal_points_search(c, path, MARKS_S);
	return ret;
}

void causal_write_points(struct trace_writer *w, const struct progress_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		trace_write_point(w, l->v[i].name);
}
