// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/kernel_tables.h"
#include "unwind/unwind_table.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#define MAX_BYTES (1ULL << 30)
#define LOOK_US	  50

_Static_assert(sizeof(union unwind_block) == UNWIND_FANOUT * 6, "rows take six bytes");
_Static_assert(sizeof(struct unwind_kernel_rule) == 32 && UNWIND_FOLLOWED == 3, "as programs read");

static struct unwind_kernel_rule convert(const struct unwind_rule *r)
{
	struct unwind_kernel_rule k = { .cfa = r->cfa,
					.cfa_reg = r->cfa_reg,
					.signal = r->signal,
					.cfa_off = r->cfa_off,
					.cfa_add = r->cfa_add };

	for (int i = 0; i < UNWIND_FOLLOWED; i++) {
		k.place[i] = r->at[i].place;
		k.reg[i] = r->at[i].reg;
		k.off[i] = r->at[i].off;
	}
	return k;
}

/* An index of the @n blocks at @child, in as many as that takes; returns how many. */
static size_t put_index(union unwind_block *to, const union unwind_block *child, size_t n)
{
	size_t blocks = (n + UNWIND_FANOUT - 1) / UNWIND_FANOUT;

	for (size_t i = 0; i < blocks * UNWIND_FANOUT; i++)
		to[i / UNWIND_FANOUT].off[i % UNWIND_FANOUT] =
			i < n ? child[i].off[0] : UNWIND_NO_OFFSET;
	return blocks;
}

union unwind_block *kernel_tables_lay_out(const struct unwind_table *t, size_t *ret)
{
	size_t leaves = (t->h->n_row + UNWIND_FANOUT - 1) / UNWIND_FANOUT;
	size_t inner = leaves > UNWIND_FANOUT ? (leaves + UNWIND_FANOUT - 1) / UNWIND_FANOUT : 0;
	size_t rules = (t->h->n_rule + UNWIND_BLOCK_RULES - 1) / UNWIND_BLOCK_RULES;
	size_t first = 1 + inner, n = first + leaves + rules;
	union unwind_block *b;

	if (inner > UNWIND_FANOUT)
		return NULL;
	b = xcalloc(n, sizeof(*b));
	for (size_t i = 0; i < leaves * UNWIND_FANOUT; i++) {
		union unwind_block *leaf = &b[first + i / UNWIND_FANOUT];
		bool used = i < t->h->n_row;

		leaf->off[i % UNWIND_FANOUT] = used ? t->off[i] : UNWIND_NO_OFFSET;
		leaf->rule[i % UNWIND_FANOUT] = used ? t->rule[i] : 0;
	}
	for (size_t i = 0; i < t->h->n_rule; i++)
		b[first + leaves + i / UNWIND_BLOCK_RULES].rules[i % UNWIND_BLOCK_RULES] =
			convert(&t->rules[i]);
	if (inner) {
		put_index(b + 1, b + first, leaves);
		put_index(b, b + 1, inner);
	} else {
		put_index(b, b + first, leaves);
	}
	b->root.deep = inner > 0;
	b->root.leaves = first;
	b->root.rules = first + leaves;
	*ret = n;
	return b;
}

static int fill(int fd, const union unwind_block *b, size_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (bpf_map_update_elem(fd, &i, &b[i], BPF_ANY))
			return -errno;
	}
	return 0;
}

int kernel_tables_add(struct kernel_tables *k, const struct unwind_table *t, const char *name,
		      uint32_t *number, struct error *err)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_INNER_MAP);
	_cleanup_free_ union unwind_block *b = NULL;
	_cleanup_close_ int fd = -1;
	uint32_t key = k->n_unused ? k->unused[k->n_unused - 1] : k->n + 1;
	uint64_t instead =
		k->n_unused ? k->table[key].bytes : 0; /* of one that is there no longer */
	size_t n = 0;
	int r;

	if (key < UNWIND_MAX_TABLES)
		b = kernel_tables_lay_out(t, &n);
	if (!b || k->bytes - instead + n * sizeof(*b) > MAX_BYTES)
		return error_set(
			err, E2BIG,
			"%s: its unwind table is left out: those of all files may take %llu "
			"MB and be %d",
			name, MAX_BYTES >> 20, UNWIND_MAX_TABLES - 1);
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_table", sizeof(key), sizeof(*b), n, &opts);
	r = fd < 0 ? -errno : fill(fd, b, n);
	if (r)
		return error_set(err, -r, "%s: its unwind table cannot be put into the kernel: %s",
				 name, strerror(-r));
	array_reserve(k->pending, k->cap_pending, k->n_pending + 1);
	array_reserve(k->pending_number, k->cap_pending_number, k->n_pending + 1);
	k->pending_number[k->n_pending] = key;
	k->pending[k->n_pending++] = fd;
	fd = -1;
	if (k->n_unused)
		k->n_unused--;
	else
		k->n = key;
	array_reserve(k->table, k->cap_table, key + 1);
	k->table[key] = (struct kernel_table){ n * sizeof(*b), ++k->last_serial };
	k->bytes += k->table[key].bytes - instead;
	*number = key;
	return 0;
}

static void forget_pending(struct kernel_tables *k)
{
	for (size_t i = 0; i < k->n_pending; i++)
		close(k->pending[i]);
	k->n_pending = 0;
}

/* Tables that are given to the programs by a thread, which then owns them. */
struct flush {
	struct flushes *all;
	int outer;
	uint32_t last; /* the number of the last one, and its id to the kernel */
	uint32_t last_id;
	int *fds;
	uint32_t *numbers;
	size_t n;
	int result; /* atomic: 1: not known yet */
	int users;  /* atomic: this thread, and who asked */
};

struct flushes {
	pthread_mutex_t lock;
	pthread_cond_t ended;
	int running;
};

static void flush_put(struct flush *f)
{
	if (__atomic_sub_fetch(&f->users, 1, __ATOMIC_ACQ_REL))
		return;
	free(f->fds);
	free(f->numbers);
	free(f);
}

static int give(int outer, const uint32_t *numbers, const int *fds, size_t n)
{
	uint32_t done = n;

	if (!bpf_map_update_batch(outer, numbers, fds, &done, NULL))
		return 0;
	/* Older kernels know no batches of such. */
	for (size_t i = 0; i < n; i++) {
		if (bpf_map_update_elem(outer, &numbers[i], &fds[i], BPF_ANY))
			return -errno;
	}
	return 0;
}

static void *flush_main(void *arg)
{
	struct flush *f = arg;
	struct flushes *all = f->all;

	pthread_setname_np(pthread_self(), "scoz/flush");
	__atomic_store_n(&f->result, give(f->outer, f->numbers, f->fds, f->n), __ATOMIC_RELEASE);
	for (size_t i = 0; i < f->n; i++)
		close(f->fds[i]);
	flush_put(f);
	pthread_mutex_lock(&all->lock);
	all->running--;
	pthread_cond_broadcast(&all->ended);
	pthread_mutex_unlock(&all->lock);
	return NULL;
}

static uint32_t id_of(int fd)
{
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &size) ? 0 : info.id;
}

/* They are put in order: the last one is there when all are. */
static bool is_given(const struct flush *f)
{
	uint32_t id = 0;

	return f->last_id && !bpf_map_lookup_elem(f->outer, &f->last, &id) && id == f->last_id;
}

static struct flush *flush_new(struct kernel_tables *k)
{
	struct flush *f = xcalloc(1, sizeof(*f));

	if (!k->flushes) {
		k->flushes = xcalloc(1, sizeof(*k->flushes));
		pthread_mutex_init(&k->flushes->lock, NULL);
		pthread_cond_init(&k->flushes->ended, NULL);
	}
	*f = (struct flush){ .all = k->flushes,
			     .outer = k->maps.tables,
			     .last = k->pending_number[k->n_pending - 1],
			     .last_id = id_of(k->pending[k->n_pending - 1]),
			     .n = k->n_pending,
			     .result = 1,
			     .users = 2 };
	f->fds = xcalloc(f->n, sizeof(*f->fds));
	f->numbers = xcalloc(f->n, sizeof(*f->numbers));
	for (size_t i = 0; i < f->n; i++) {
		f->fds[i] = fcntl(k->pending[i], F_DUPFD_CLOEXEC, 0);
		f->numbers[i] = k->pending_number[i];
	}
	return f;
}

static bool start(struct flush *f)
{
	pthread_t thread;
	bool started;

	pthread_mutex_lock(&f->all->lock);
	started = !pthread_create(&thread, NULL, flush_main, f);
	f->all->running += started;
	pthread_mutex_unlock(&f->all->lock);
	if (started)
		pthread_detach(thread);
	return started;
}

int kernel_tables_flush(struct kernel_tables *k)
{
	struct flush *f;
	int r;

	if (!k->n_pending)
		return 0;
	f = flush_new(k);
	if (start(f)) {
		while ((r = __atomic_load_n(&f->result, __ATOMIC_ACQUIRE)) > 0 && !is_given(f))
			usleep(LOOK_US);
	} else {
		r = give(f->outer, f->numbers, f->fds, f->n);
		for (size_t i = 0; i < f->n; i++)
			close(f->fds[i]);
		flush_put(f);
	}
	flush_put(f);
	if (r < 0)
		return r;
	forget_pending(k);
	return 0;
}

static void flushes_end(struct flushes *all)
{
	if (!all)
		return;
	pthread_mutex_lock(&all->lock);
	while (all->running)
		pthread_cond_wait(&all->ended, &all->lock);
	pthread_mutex_unlock(&all->lock);
	pthread_mutex_destroy(&all->lock);
	pthread_cond_destroy(&all->ended);
	free(all);
}

static void empty(struct kernel_tables *k, uint32_t number)
{
	k->bytes -= k->table[number].bytes;
	k->table[number].bytes = 0;
}

void kernel_tables_drop(struct kernel_tables *k, uint32_t number)
{
	size_t i = 0;

	while (i < k->n_pending && k->pending_number[i] != number)
		i++;
	if (i < k->n_pending) {
		close(k->pending[i]);
		k->pending[i] = k->pending[--k->n_pending];
		k->pending_number[i] = k->pending_number[k->n_pending];
		empty(k, number);
	} else if (k->bytes > MAX_BYTES / 2) {
		/* Only where it has to be: the kernel waits each time, as for
		 * kernel_tables_flush(). */
		bpf_map_delete_elem(k->maps.tables, &number);
		empty(k, number);
	}
	array_reserve(k->unused, k->cap_unused, k->n_unused + 1);
	k->unused[k->n_unused++] = number;
}

uint32_t kernel_tables_count(const struct kernel_tables *k)
{
	return k->n - k->n_unused;
}

void kernel_tables_deinit(struct kernel_tables *k)
{
	flushes_end(k->flushes);
	forget_pending(k);
	free(k->pending);
	free(k->pending_number);
	free(k->unused);
	free(k->table);
}

bool kernel_tables_zero(const struct unwind_table *t, uint64_t start, uint64_t pgoff,
			uint64_t *zero)
{
	uint64_t bias;

	if (!unwind_table_bias(t, start, pgoff, &bias))
		return false;
	*zero = bias + t->h->base;
	return true;
}

void kernel_tables_set_file(const struct kernel_tables *k, const struct unwind_file_id *id,
			    uint64_t size, uint32_t generation, uint32_t number,
			    const struct unwind_table *t)
{
	struct unwind_file f = { .table = number,
				 .serial = k->table[number].serial,
				 .size = size,
				 .generation = generation };
	uint64_t page = sysconf(_SC_PAGESIZE);

	if (k->maps.files < 0)
		return;
	for (uint32_t i = 0; i < t->h->n_segment && i < UNWIND_FILE_STRETCHES; i++) {
		const struct unwind_segment *s = &t->h->segment[i];

		f.stretch[i].first = s->offset & ~(page - 1);
		f.stretch[i].end = s->offset + s->size;
		f.stretch[i].zero = s->offset - s->vaddr + t->h->base;
	}
	bpf_map_update_elem(k->maps.files, id, &f, BPF_ANY);
}

void kernel_tables_drop_file(const struct kernel_tables *k, const struct unwind_file_id *id)
{
	if (k->maps.files >= 0)
		bpf_map_delete_elem(k->maps.files, id);
}

int kernel_tables_set_space(const struct kernel_tables *k, int pid, const struct unwind_space *s)
{
	uint32_t key = pid;

	return bpf_map_update_elem(k->maps.spaces, &key, s, BPF_ANY) ? -errno : 0;
}

static bool space_has_any(const struct unwind_space *s, const struct unwind_mapping *in)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->map[i].start < in->end && s->map[i].end > in->start)
			return true;
	}
	return false;
}

bool unwind_space_lacks(const struct unwind_space *s, const struct unwind_space *theirs)
{
	if (theirs->start_code != s->start_code || theirs->start_stack != s->start_stack)
		return false;
	if (theirs->n_maps == UNWIND_MAPS_GROWN)
		return s->n <= theirs->n;
	for (uint32_t i = 0; i < theirs->n; i++) {
		if (theirs->map[i].table && !space_has_any(s, &theirs->map[i]))
			return true;
	}
	return false;
}

bool kernel_tables_know_more(const struct kernel_tables *k, int pid, const struct unwind_space *s)
{
	static __thread struct unwind_space theirs;
	uint32_t key = pid;

	return !bpf_map_lookup_elem(k->maps.spaces, &key, &theirs) &&
	       unwind_space_lacks(s, &theirs);
}

void kernel_tables_drop_space(const struct unwind_maps *maps, int pid)
{
	uint32_t key = pid;

	bpf_map_delete_elem(maps->spaces, &key);
}

bool kernel_tables_counts(const struct unwind_maps *maps, struct unwind_counts *ret)
{
	int cpus = libbpf_num_possible_cpus();
	_cleanup_free_ struct unwind_counts *all = xcalloc(cpus > 0 ? cpus : 1, sizeof(*all));
	uint32_t key = 0;

	*ret = (struct unwind_counts){ 0 };
	if (cpus <= 0 || maps->counters < 0 || bpf_map_lookup_elem(maps->counters, &key, all))
		return false;
	for (int i = 0; i < cpus; i++) {
		for (int w = 0; w < UNWIND_KERNEL_WHYS; w++)
			ret->ended[w] += all[i].ended[w];
		ret->frames += all[i].frames;
		ret->by_pointer += all[i].by_pointer;
		ret->unknown += all[i].unknown;
		ret->walked_ns += all[i].walked_ns;
	}
	return true;
}
