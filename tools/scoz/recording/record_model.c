// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/recording/record_model.h"

/* ---- keys ---- */

static bool same_key(const void *map, uint32_t i, const void *key)
{
	const struct keymap *m = map;

	return !memcmp(m->keys + i * m->key_size, key, m->key_size);
}

size_t keymap_add(struct keymap *m, const void *key)
{
	uint64_t h = HASH_START;
	uint32_t found;

	for (size_t i = 0; i < m->key_size; i += 8) {
		uint64_t word;

		memcpy(&word, (const char *)key + i, 8); /* sizes are multiples of 8 */
		h = hash_mix(h, word);
	}
	found = hash_index_find(&m->index, h, same_key, m, key);
	if (found != HASH_NONE)
		return found;
	array_reserve(m->keys, m->cap, (m->n + 1) * m->key_size);
	memcpy(m->keys + m->n * m->key_size, key, m->key_size);
	hash_index_add(&m->index, h, m->n);
	return m->n++;
}

void keymap_deinit(struct keymap *m)
{
	free(m->keys);
	hash_index_deinit(&m->index);
}

/* ---- chains ---- */

/* Parents stand before their children, so one pass is enough. */
static void mark_nodes(struct record_model *m)
{
	const struct recording *rec = m->rec;

	m->kernel_node = xcalloc(rec->n_stacks, sizeof(*m->kernel_node));
	m->broken_node = xcalloc(rec->n_stacks, sizeof(*m->broken_node));
	for (size_t i = 0; i < rec->n_stacks; i++) {
		const struct record_stack *s = &rec->stacks[i];
		enum record_frame_kind kind = rec->frames[s->frame].kind;
		bool has_parent = s->parent != RECORDING_NONE;

		m->kernel_node[i] = kind == FRAME_KERNEL || (kind == FRAME_INLINED && has_parent &&
							     m->kernel_node[s->parent]);
		m->broken_node[i] =
			kind == FRAME_MISSING || (has_parent && m->broken_node[s->parent]);
	}
}

bool record_model_skips(const struct record_model *m, uint32_t node)
{
	return (m->options->no_kernel && m->kernel_node[node]) ||
	       (!m->options->inlined && m->rec->stacks[node].parent != RECORDING_NONE &&
		m->rec->frames[m->rec->stacks[node].frame].kind == FRAME_INLINED);
}

uint32_t record_model_leaf(const struct record_model *m, uint32_t stack)
{
	while (stack != RECORDING_NONE && record_model_skips(m, stack))
		stack = m->rec->stacks[stack].parent;
	return stack;
}

const struct record_frame *record_model_frame(const struct record_model *m, uint32_t stack,
					      uint32_t node)
{
	static const struct record_frame none = { .symbol = "[no call chain]", .object = "" };
	static const struct record_frame kernel = { .symbol = "[kernel]",
						    .object = "[kernel]",
						    .kind = FRAME_KERNEL };

	if (node != RECORDING_NONE)
		return &m->rec->frames[m->rec->stacks[node].frame];
	return stack == RECORDING_NONE ? &none : &kernel;
}

/* ---- folding ---- */

static bool is_selected(const struct record_model *m, const struct record_sample *s)
{
	return record_filter_sample(&m->options->filter, m->rec, s) &&
	       !(m->options->no_idle && m->idle[s->thread]);
}

#define IDLE_SHARE 1000 /* of whose time less than this part is anything but waiting for work */

/* It ran, wanted to, waited for a device, or for what somebody held. */
static bool is_busy(const struct record_sample *s)
{
	return s->class == RECORD_LOCK ? record_kind_is_held(s->kind) : s->class != RECORD_OTHER;
}

static void find_idle(struct record_model *m)
{
	const struct recording *rec = m->rec;
	_cleanup_free_ uint64_t *busy = xcalloc(rec->n_threads, sizeof(*busy));
	_cleanup_free_ uint64_t *all = xcalloc(rec->n_threads, sizeof(*all));

	for (size_t i = 0; i < rec->n_samples; i++) {
		const struct record_sample *s = &rec->samples[i];

		all[s->thread] += s->points;
		busy[s->thread] += is_busy(s) ? s->points : 0;
	}
	m->idle = xcalloc(rec->n_threads, sizeof(*m->idle));
	for (size_t i = 0; i < rec->n_threads; i++)
		m->idle[i] = all[i] && busy[i] * IDLE_SHARE < all[i];
}

static void count_sample(struct record_model *m, const struct record_sample *s)
{
	enum record_level level = record_level_of(s);

	m->samples++;
	m->points += s->points;
	m->levels[level] += s->points;
	m->level_samples[level]++;
	m->level_ns[level] += s->duration;
	if (level == LEVEL_LOCK && record_kind_is_held(s->kind)) {
		m->held.points += s->points;
		m->held.samples++;
		m->held.duration += s->duration;
	}
	m->by_thread[s->thread][level] += s->points;
	m->unfinished += s->unfinished;
	if (s->stack == RECORDING_NONE)
		m->chainless++;
	else
		m->broken += m->broken_node[s->stack];
}

static void fold_samples(struct record_model *m)
{
	struct entry_key {
		uint32_t thread, stack, cpu, waker;
		const char *comm, *kind, *event;
		uint32_t level, holder;
	} key;
	struct keymap map = { .key_size = sizeof(key) };
	bool by_cpu = false;
	size_t cap = 0;

	for (size_t i = 0; i < m->options->n_sort; i++)
		by_cpu |= m->options->sort[i] == SORT_CPU;
	for (size_t i = 0; i < m->rec->n_samples; i++) {
		const struct record_sample *s = &m->rec->samples[i];
		struct record_entry *e;
		size_t at;

		m->comms[s->thread] = s->comm;
		if (!is_selected(m, s))
			continue;
		count_sample(m, s);
		key = (struct entry_key){
			s->thread, s->stack, by_cpu ? s->cpu : 0, s->waker, s->comm,
			s->kind,   s->event, record_level_of(s),  s->holder
		};
		at = keymap_add(&map, &key);
		if (at == m->n_entries) {
			array_reserve(m->entries, cap, at + 1);
			m->n_entries++;
			m->entries[at] = (struct record_entry){
				.thread = key.thread,
				.stack = key.stack,
				.cpu = key.cpu,
				.waker = key.waker,
				.holder = key.holder,
				.comm = key.comm,
				.kind = key.kind,
				.event = key.event,
				.level = record_level_of(s),
			};
		}
		e = &m->entries[at];
		e->points += s->points;
		e->samples++;
		e->duration += s->duration;
	}
	keymap_deinit(&map);
}

struct record_model *record_model_create(const struct recording *rec,
					 const struct record_options *options)
{
	struct record_model *m = xcalloc(1, sizeof(*m));

	m->rec = rec;
	m->options = options;
	m->by_thread = xcalloc(rec->n_threads, sizeof(*m->by_thread));
	m->comms = xcalloc(rec->n_threads, sizeof(*m->comms));
	for (size_t i = 0; i < rec->n_threads; i++)
		m->comms[i] = rec->threads[i].comm;
	mark_nodes(m);
	find_idle(m);
	fold_samples(m);
	record_make_groups(m);
	record_make_waits(m);
	return m;
}

void record_model_free(struct record_model *m)
{
	for (size_t i = 0; i < m->n_groups; i++) {
		free(m->groups[i].rows);
		free(m->groups[i].calls);
	}
	for (size_t i = 0; i < m->n_waits; i++) {
		free(m->waits[i].wakers.list);
		free(m->waits[i].holders.list);
	}
	free(m->groups);
	free(m->waits);
	free(m->entries);
	free(m->by_thread);
	free(m->comms);
	free(m->kernel_node);
	free(m->broken_node);
	free(m->idle);
	free(m);
}
