// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions as targets that are seen: probes where they begin and end (spread.bpf.h). */
#include "engine/bpf/bpf_engine.h"

#include <bpf/libbpf.h>

static int attach(struct bpf_engine *e, struct bpf_program *program, const char *path,
		  uint64_t offset, struct error *err)
{
	struct bpf_link *link = bpf_program__attach_uprobe(program, false, -1, path, offset);

	if (!link)
		return error_set(err, errno, "%s", engine_uprobe_reason(errno));
	array_reserve(e->bounds, e->cap_bounds, e->n_bounds + 1);
	e->bounds[e->n_bounds++] = link;
	return 0;
}

int bpf_add_bounds(struct engine *base, const struct engine_bounds *b, bool ends, struct error *err)
{
	struct bpf_engine *e = bpf_engine(base);
	struct bpf_program *program =
		ends ? e->skel->progs.on_function_end : e->skel->progs.on_function_begin;
	const uint64_t *offsets = ends ? b->exits : b->entries;
	size_t n = ends ? b->n_exits : b->n_entries;
	int r = 0;

	for (size_t i = 0; !r && i < n; i++)
		r = attach(e, program, b->path, offsets[i], err);
	return r;
}

void bpf_see_functions(struct engine *e, bool on)
{
	bpf_engine(e)->target->seen = on ? BPF_SEEN_FUNCTION : BPF_SAMPLED;
	if (!on)
		bpf_remove_bounds(bpf_engine(e));
}

void bpf_read_bounds(const struct engine *e, int cpu, struct engine_crossed *ret)
{
	struct target_time t = SHARED_COPY(&((const struct bpf_engine *)e)->target_times[cpu]);

	*ret = (struct engine_crossed){ t.calls, t.agreed, t.differed };
}

void bpf_remove_bounds(struct bpf_engine *e)
{
	while (e->n_bounds)
		bpf_link__destroy(e->bounds[--e->n_bounds]);
}
