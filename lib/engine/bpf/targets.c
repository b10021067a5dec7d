// SPDX-License-Identifier: GPL-2.0-or-later
/* Targets of engine `bpf`: what they are, where they lie, and what their time adds up to. */
#include "engine/bpf/bpf_engine.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

_Static_assert(ENGINE_CLASS_ON == BPF_CLASS_ON && ENGINE_CLASS_IO == BPF_CLASS_IO &&
		       ENGINE_CLASS_OTHER == BPF_CLASS_OTHER &&
		       ENGINE_CLASS_DISK == BPF_CLASS_DISK && ENGINE_CLASS_PEER == BPF_CLASS_PEER,
	       "the same bits");

/*
 * Those of @programs that this kernel takes, *@state being 0 before. What has been attached stays:
 * what it costs is to be the same with and without speedup, and taking it off waits for every core.
 */
static bool attach_once(struct bpf_engine *b, int *state, struct bpf_program *const *programs,
			size_t n)
{
	if (*state)
		return *state > 0;
	*state = 1;
	for (size_t i = 0; i < n; i++) {
		struct bpf_link *link;

		if (!bpf_program__autoload(programs[i]))
			continue;
		link = bpf_program__attach(programs[i]);
		if (link)
			bpf_keep_link(b, link);
		else
			*state = -1;
	}
	return *state > 0;
}

static bool sees_syscalls(struct bpf_engine *b)
{
	struct bpf_program *const programs[] = { b->skel->progs.on_target_end,
						 b->skel->progs.on_target_begin };
	bool known = b->sees_syscalls;

	if (!attach_once(b, &b->sees_syscalls, programs, ARRAY_SIZE(programs)) && !known)
		log_info("engine bpf: begin and end of system calls cannot be seen (%s): "
			 "they are sampled",
			 strerror(errno));
	return b->sees_syscalls > 0;
}

/* Without tcp_probe there is too little to tell; without sk_data_ready it is TCP alone. */
static bool sees_peers(struct bpf_engine *b)
{
	struct bpf_program *const programs[] = { b->skel->progs.on_tcp_segment,
						 b->skel->progs.on_tcp_state,
						 b->skel->progs.on_data_ready };

	return bpf_program__autoload(b->skel->progs.on_tcp_segment) &&
	       attach_once(b, &b->sees_peers, programs, ARRAY_SIZE(programs));
}

_Static_assert((int)ENGINE_SAMPLED == BPF_SAMPLED && (int)ENGINE_SEEN_TASKS == BPF_SEEN_TASKS &&
		       (int)ENGINE_SEEN_CALLS == BPF_SEEN_SYSCALL &&
		       (int)ENGINE_SEEN_FUNCTION == BPF_SEEN_FUNCTION,
	       "the same ways");

/* How the target's begin and end are seen. */
static enum engine_seen seen(struct engine *e)
{
	enum engine_seen how = engine_can_see(e, e->classes, e->n_calls > 0);

	return how == ENGINE_SEEN_CALLS && !sees_syscalls(bpf_engine(e)) ? ENGINE_SAMPLED : how;
}

_Static_assert(BPF_STRETCHES == MAP_STRETCHES, "all of them");

/* Mappings begin where pages do. */
static void set_code(struct bpf_stretch *to, const struct map_code *from)
{
	uint64_t page = sysconf(_SC_PAGESIZE);

	for (int i = 0; i < from->n; i++) {
		const struct map_stretch *s = &from->stretch[i];

		to[i] = (struct bpf_stretch){ s->offset & ~(page - 1), s->offset + s->size,
					      s->offset - s->vaddr };
	}
}

int bpf_set_target(struct engine *e, const struct scoz_part *parts, int n,
		   const struct scoz_range *ranges, size_t n_ranges, struct error *err)
{
	struct bpf_engine *b = bpf_engine(e);
	struct bpf_target t = {
		.n_parts = n,
		.n_calls = e->n_calls,
		.n_tasks = e->n_tasks,
		.classes = e->classes,
		.waits = engine_speeds_waits(e),
	};
	enum engine_seen how;

	if (e->classes & ENGINE_CLASS_DISK &&
	    !bpf_program__autoload(b->skel->progs.on_block_complete))
		return error_set(
			err, ENOTSUP,
			"this kernel does not tell which block device has ended a wait "
			"(tracepoint block_rq_complete): use class:io, which is all of them");
	if (e->classes & ENGINE_CLASS_PEER && !sees_peers(b))
		return error_set(err, ENOTSUP,
				 "this kernel does not tell whose packet has ended a wait "
				 "(tracepoint tcp_probe): use class:other, which is the network "
				 "and timers");
	bpf_remove_bounds(b);
	how = seen(e);
	t.seen = how == ENGINE_SEEN_WAITS ? BPF_SAMPLED : how; /* of what runs nothing is a hit */
	e->seen = how != ENGINE_SAMPLED;
	t.disk = e->disk;
	memcpy(t.peer_address, e->peer.address, sizeof(t.peer_address));
	t.peer_port = htons(e->peer.port);
	for (int i = 0; i < SCOZ_MAX_PARTS; i++)
		t.call[i] = e->call[i < e->n_calls ? i : 0];
	for (int i = 0; i < e->n_tasks; i++) {
		t.tasks[i].whose = e->tasks[i].whose;
		t.tasks[i].number = e->tasks[i].number;
		memcpy(t.tasks[i].comm, e->tasks[i].comm, sizeof(t.tasks[i].comm));
	}
	for (int i = 0; i < n; i++) {
		t.part[i] = parts[i];
		set_code(t.code[i], &e->code[i]);
		t.generation[i] = e->generation[i];
		if (parts[i].binary == MAPS_KERNEL_ID)
			t.kernel = 1;
		else
			t.user = 1;
	}
	pthread_mutex_lock(&b->publish_lock);
	b->cleared = false;
	pthread_mutex_unlock(&b->publish_lock);
	t.number = b->target->number + 1;
	usleep(100); /* ticks that began before the speedup became 0 */
	memcpy(b->ranges, ranges, n_ranges * sizeof(*ranges));
	memcpy(b->target, &t, sizeof(t));
	return 0;
}

bool bpf_set_control(struct engine *e, bool on)
{
	__atomic_store_n(&bpf_engine(e)->skel->bss->control, on, __ATOMIC_RELAXED);
	return true;
}

void bpf_read_target_time(const struct engine *e, struct engine_ledger *ret)
{
	for (int i = 0; i < e->cores; i++) {
		struct target_time t =
			SHARED_COPY(&((const struct bpf_engine *)e)->target_times[i]);

		ret->target_ran += t.ran;
		ret->target_alone += t.alone;
		ret->related += t.related;
		ret->target_waited += t.waited;
		ret->target_waited_beyond += t.left_out;
		ret->io_waited += t.io;
		ret->woken += t.woken;
		ret->polls += t.polls;
		ret->polled += t.polled;
		ret->shared += t.shared;
		ret->urgent += t.urgent;
		ret->unpaid += t.unpaid;
		ret->busy_waited += t.spun;
		ret->busy_waited_first += t.spun_first;
		ret->target_calls += t.calls;
	}
}

static bool is_part(struct engine *e, uint32_t binary)
{
	bool ret = false;

	pthread_rwlock_rdlock(&e->target_lock);
	for (int i = 0; i < e->n_parts && !ret; i++)
		ret = e->part[i].binary == binary;
	pthread_rwlock_unlock(&e->target_lock);
	return ret;
}

/*
 * Makes room: binaries of other targets than this one are published again when their turn comes.
 * With the publish lock, so nobody but the programs changes the map, and these only add to it.
 */
static void forget_others(struct bpf_engine *e, uint32_t binary)
{
	uint32_t left = bpf_map__max_entries(e->skel->maps.spaces);
	int fd = bpf_map__fd(e->skel->maps.spaces), kept = 0;
	struct space_key key, next;
	bool more = !bpf_map_get_next_key(fd, NULL, &key);

	for (; more && left; left--) {
		more = !bpf_map_get_next_key(fd, &key, &next);
		if (key.binary != binary && !is_part(&e->base, key.binary))
			bpf_map_delete_elem(fd, &key);
		key = next;
	}
	for (int i = 0; i < e->n_published; i++) {
		if (e->published[i] == binary || is_part(&e->base, e->published[i]))
			e->published[kept++] = e->published[i];
	}
	e->n_published = kept;
	e->cleared = true;
}

/* What a process that ends or execs must be cleared from. */
static void remember_published(struct bpf_engine *e, uint32_t binary)
{
	for (int i = 0; i < e->n_published; i++) {
		if (e->published[i] == binary)
			return;
	}
	if (e->n_published == ENGINE_MAX_PUBLISHED)
		forget_others(e, binary);
	e->published[e->n_published++] = binary;
}

static void withdraw(struct bpf_engine *e, uint32_t binary, const struct maps_mapping *m)
{
	struct space_key key = { .tgid = m->pid, .binary = binary };
	int fd = bpf_map__fd(e->skel->maps.spaces);
	struct space s, before;

	if (bpf_map_lookup_elem(fd, &key, &s))
		return;
	before = s;
	space_withdraw(&s, m->start, m->end);
	if (memcmp(&before, &s, sizeof(s)))
		bpf_map_update_elem(fd, &key, &s, BPF_EXIST);
}

void bpf_withdraw_mapping(struct engine *base, uint32_t binary, const struct maps_mapping *m)
{
	struct bpf_engine *e = bpf_engine(base);

	pthread_mutex_lock(&e->publish_lock);
	for (int i = 0; i < e->n_published; i++) {
		if (e->published[i] != binary)
			withdraw(e, e->published[i], m);
	}
	pthread_mutex_unlock(&e->publish_lock);
}

int bpf_publish_mapping(struct engine *base, uint32_t binary, const struct maps_mapping *m)
{
	const struct segment new = { .start = m->start, .end = m->end, .bias = m->bias };
	struct bpf_engine *e = bpf_engine(base);
	struct space_key key = { .tgid = m->pid, .binary = binary };
	int fd = bpf_map__fd(e->skel->maps.spaces);
	struct space s;
	int r;

	pthread_mutex_lock(&e->publish_lock);
	remember_published(e, binary);
	if (bpf_map_lookup_elem(fd, &key, &s))
		s = (struct space){};
	space_put(&s, &new);
	r = bpf_map_update_elem(fd, &key, &s, BPF_ANY);
	if (r == -E2BIG && !e->cleared) {
		forget_others(e, binary);
		r = bpf_map_update_elem(fd, &key, &s, BPF_ANY);
	}
	pthread_mutex_unlock(&e->publish_lock);
	return r;
}

/* What the programs have of images stays; whether that is any. */
static bool forget_unknown(struct space *s)
{
	bool any = false;

	for (int i = 0; i < BPF_MAX_SEGMENTS; i++) {
		if (!s->seg[i].image)
			s->seg[i].end = 0;
		any |= s->seg[i].end != 0;
	}
	return any;
}

static void forget(struct engine *base, int pid, bool images)
{
	struct bpf_engine *e = bpf_engine(base);
	int fd = bpf_map__fd(e->skel->maps.spaces);

	pthread_mutex_lock(&e->publish_lock);
	for (int i = 0; i < e->n_published; i++) {
		struct space_key key = { .tgid = pid, .binary = e->published[i] };
		struct space s;

		if (!images && !bpf_map_lookup_elem(fd, &key, &s) && forget_unknown(&s))
			bpf_map_update_elem(fd, &key, &s, BPF_EXIST);
		else
			bpf_map_delete_elem(fd, &key);
	}
	pthread_mutex_unlock(&e->publish_lock);
}

void bpf_forget_process(struct engine *e, int pid)
{
	forget(e, pid, true);
}

/* What the programs have of the image that follows stays; what they had of this one does not fit
 * it. */
void bpf_forget_image(struct engine *e, int pid)
{
	forget(e, pid, false);
}

_Static_assert((int)ENGINE_COMM == BPF_COMM && (int)ENGINE_CGROUP == BPF_CGROUP &&
		       (int)ENGINE_RANK == BPF_RANK,
	       "the programs know whose it is by the same numbers");

void bpf_set_rank(struct engine *e, int pid, int rank)
{
	int map = bpf_map__fd(bpf_engine(e)->skel->maps.ranks);
	uint32_t key = pid, value = rank;

	if (rank < 0)
		bpf_map_delete_elem(map, &key);
	else
		bpf_map_update_elem(map, &key, &value, BPF_ANY);
}

/* What a file had before is left behind: programs may be reading it. */
int bpf_set_polling(struct engine *base, uint32_t table, uint32_t role,
		    const struct scoz_poll_range *ranges, size_t n)
{
	struct bpf_engine *e = bpf_engine(base);
	struct bpf_polling_file f = { .known = 1, .first = e->n_polling, .n = n, .role = role };

	if (n > BPF_POLLING_RANGES - e->n_polling)
		return -ENOSPC;
	for (size_t i = 0; i < n; i++) {
		uint32_t key = e->n_polling + i;

		if (bpf_map_update_elem(bpf_map__fd(e->skel->maps.polling_ranges), &key, &ranges[i],
					BPF_ANY))
			return -errno;
	}
	if (bpf_map_update_elem(bpf_map__fd(e->skel->maps.polling_files), &table, &f, BPF_ANY))
		return -errno;
	e->n_polling += n;
	if (e->skel->bss)
		e->skel->bss->polling_known = 1;
	return 0;
}
