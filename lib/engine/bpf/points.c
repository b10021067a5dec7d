// SPDX-License-Identifier: GPL-2.0-or-later
/* Progress points of engine `bpf`, and whose visits count. */
#include "engine/bpf/bpf_engine.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

void bpf_keep_link(struct bpf_engine *e, struct bpf_link *link)
{
	array_reserve(e->links, e->cap_links, e->n_links + 1);
	e->links[e->n_links++] = link;
}

void bpf_withdraw_site(struct engine *base)
{
	struct bpf_engine *e = bpf_engine(base);

	bpf_link__destroy(e->links[--e->n_links]);
}

static int attach_uprobe(struct bpf_engine *e, const struct engine_point *p, int id,
			 struct error *err)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = id, .ref_ctr_offset = p->ref_ctr);
	struct bpf_link *link;

	link = bpf_program__attach_uprobe_opts(e->skel->progs.on_uprobe, -1, p->path, p->offset,
					       &opts);
	if (!link)
		return error_set(err, errno, "probing %s at file offset %#llx: %s", p->file_name,
				 (unsigned long long)p->offset, engine_uprobe_reason(errno));
	bpf_keep_link(e, link);
	return 0;
}

/* Of the kernel's. */
static int attach_point(struct bpf_engine *e, const struct engine_point *p, int id,
			struct error *err)
{
	struct bpf_link *link;
	int ret = p->kind == ENGINE_SYSCALL
			  ? kernel_points_add_syscall(&e->points, p->syscall, id, &link, err)
			  : kernel_points_add_tracepoint(&e->points, p->name, id, &link, err);

	if (!ret && link)
		bpf_keep_link(e, link);
	return ret;
}

int bpf_add_site(struct engine *e, const struct engine_point *p, int id, bool first,
		 struct error *err)
{
	struct bpf_engine *b = bpf_engine(e);
	struct progress_config config = {};
	uint32_t key = id;

	if (first) {
		config.by_user = p->by_user;
		if (p->role != ENGINE_VISIT && p->latency >= 0) {
			config.role = p->role == ENGINE_BEGIN ? SPAN_ROLE_BEGIN : SPAN_ROLE_END;
			config.slot = p->latency;
			if (config.slot >= b->skel->bss->span_slots)
				b->skel->bss->span_slots = config.slot + 1;
		}
		if (p->comm)
			snprintf(config.comm, sizeof(config.comm), "%s", p->comm);
		if (bpf_map_update_elem(bpf_map__fd(b->skel->maps.progress_configs), &key, &config,
					BPF_ANY))
			return error_set(err, errno, "progress point %d: %s", id, strerror(errno));
	}
	switch (p->kind) {
	case ENGINE_UPROBE:
		return attach_uprobe(b, p, id, err);
	case ENGINE_TRACEPOINT:
	case ENGINE_SYSCALL:
		return attach_point(b, p, id, err);
	}
	return -EINVAL;
}

int bpf_count_user(struct engine *e, uid_t uid)
{
	uint32_t key = uid;
	uint8_t yes = 1;

	return bpf_map_update_elem(bpf_map__fd(bpf_engine(e)->skel->maps.point_users), &key, &yes,
				   BPF_ANY)
		       ? -errno
		       : 0;
}

int bpf_point_others(const struct engine *e, int id, char (*names)[16], int max)
{
	int fd = bpf_map__fd(((const struct bpf_engine *)e)->skel->maps.other_tasks), n = 0;
	struct other_task key, *last = NULL;

	while (n < max && !bpf_map_get_next_key(fd, last, &key)) {
		if ((int)key.point == id)
			memcpy(names[n++], key.comm, sizeof(key.comm));
		last = &key;
	}
	return n;
}

uint64_t bpf_others_hits(const struct engine *e)
{
	int fd = bpf_map__fd(((const struct bpf_engine *)e)->skel->maps.others_hits);
	int cpus = libbpf_num_possible_cpus();
	_cleanup_free_ uint64_t *hits = xcalloc(cpus > 0 ? cpus : 1, sizeof(*hits));
	uint64_t sum = 0;
	uint32_t key = 0;

	if (cpus <= 0 || bpf_map_lookup_elem(fd, &key, hits))
		return 0;
	for (int i = 0; i < cpus; i++)
		sum += hits[i];
	return sum;
}
