// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/commands/record_causal.h"

bool progress_list_add(struct progress_list *l, const char *text)
{
	struct progress_spec spec;
	struct error err = {};

	if (progress_spec_parse(text, &spec, &err)) {
		log_warn("--progress %s: %s", text, err.text);
		return false;
	}
	if (!causal_can_have(&spec.begin)) {
		log_warn("--progress %s: a place in a program is wanted: BINARY:FUNCTION, "
			 "BINARY:FILE:LINE or usdt:BINARY:PROVIDER:NAME",
			 text);
		progress_spec_free(&spec);
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

int causal_points(struct recorder *r, const struct progress_list *l, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < l->n; i++)
		ret = causal_add_point(r, &l->v[i].begin, i, err);
	return ret;
}

void causal_write_points(struct trace_writer *w, const struct progress_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		trace_write_point(w, l->v[i].name);
}
