// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/kernel_tables.h"
#include "unwind/unwind_table.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#define MAX_BYTES (1ULL << 30)

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
	uint64_t instead = k->n_unused ? k->size[key] : 0; /* of one that is there no longer */
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
	array_reserve(k->size, k->cap_size, key + 1);
	k->size[key] = n * sizeof(*b);
	k->bytes += k->size[key] - instead;
	*number = key;
	return 0;
}

static void forget_pending(struct kernel_tables *k)
{
	for (size_t i = 0; i < k->n_pending; i++)
		close(k->pending[i]);
	k->n_pending = 0;
}

int kernel_tables_flush(struct kernel_tables *k)
{
	uint32_t done = k->n_pending;
	int r = 0;

	if (!k->n_pending)
		return 0;
	if (bpf_map_update_batch(k->maps.tables, k->pending_number, k->pending, &done, NULL)) {
		/* Older kernels know no batches of such. */
		for (size_t i = 0; i < k->n_pending && !r; i++) {
			if (bpf_map_update_elem(k->maps.tables, &k->pending_number[i],
						&k->pending[i], BPF_ANY))
				r = -errno;
		}
	}
	if (!r)
		forget_pending(k);
	return r;
}

static void empty(struct kernel_tables *k, uint32_t number)
{
	k->bytes -= k->size[number];
	k->size[number] = 0;
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
	forget_pending(k);
	free(k->pending);
	free(k->pending_number);
	free(k->unused);
	free(k->size);
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

int kernel_tables_set_space(const struct kernel_tables *k, int pid, const struct unwind_space *s)
{
	uint32_t key = pid;

	return bpf_map_update_elem(k->maps.spaces, &key, s, BPF_ANY) ? -errno : 0;
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
	}
	return true;
}
