// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Address spaces: which process has which binary mapped where.
 *
 * Every process (thread group) has a `struct space`, a sorted array of disjoint executable
 * mappings that know their binary and load bias, so that resolving an address is a hash lookup
 * and a binary search under the read lock. A fork shares the space with the parent until either
 * changes it. Nothing that can block (opening files, reading /proc, callbacks) is done with the
 * lock held.
 *
 * A process that has exited stays for LINGER_NS: samples in the rings of other cores may be older
 * than its exit in this one.
 *
 * Unmapping is not reported by perf; a stale mapping goes when another one covers it, with the
 * process, or when there are so many that /proc is asked which of them there are.
 */
#include "maps/maps_internal.h"

#define LINGER_NS NSEC_PER_SEC
#define MAPPINGS  1024 /* more than most processes have that execute */
#define HOPELESS  8    /* times that, and nobody has got round to /proc */

static void space_put(struct space *s)
{
	if (!s || --s->refs)
		return;
	free(s->v);
	free(s);
}

static struct space *space_new(size_t cap)
{
	struct space *s = xcalloc(1, sizeof(*s));

	s->refs = 1;
	s->cap = cap;
	s->v = cap ? xcalloc(cap, sizeof(*s->v)) : NULL;
	return s;
}

/* The process's own space, to be changed. */
static struct space *space_own(struct process *p)
{
	struct space *s;

	if (p->space->refs == 1)
		return p->space;
	s = space_new(p->space->n + 4);
	s->n = p->space->n;
	if (s->n)
		memcpy(s->v, p->space->v, s->n * sizeof(*s->v));
	space_put(p->space);
	p->space = s;
	return s;
}

/* First mapping that ends after @addr. */
static size_t space_find(const struct space *s, uint64_t addr)
{
	size_t lo = 0, hi = s->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (s->v[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void space_insert_at(struct space *s, size_t i, struct mapping map)
{
	array_reserve(s->v, s->cap, s->n + 1);
	memmove(&s->v[i + 1], &s->v[i], (s->n - i) * sizeof(*s->v));
	s->v[i] = map;
	s->n++;
}

/* Makes room: what [start, end) covers goes, what it cuts is cut. Returns where it belongs. */
static size_t space_clear(struct space *s, uint64_t start, uint64_t end)
{
	size_t i = space_find(s, start), k;

	if (i < s->n && s->v[i].start < start) {
		struct mapping tail = s->v[i];

		s->v[i].end = start;
		i++;
		if (tail.end > end) {
			tail.start = end;
			space_insert_at(s, i, tail);
			return i;
		}
	}
	for (k = i; k < s->n && s->v[k].end <= end; k++)
		;
	if (k < s->n && s->v[k].start < end)
		s->v[k].start = end;
	if (k > i)
		memmove(&s->v[i], &s->v[k], (s->n - k) * sizeof(*s->v));
	s->n -= k - i;
	return i;
}

static struct process *find_process(const struct maps *m, int pid)
{
	uint32_t i = hash_index_find_id(&m->by_pid, pid);

	return i == HASH_NONE ? NULL : m->process[i];
}

struct process *maps_process(const struct maps *m, int pid)
{
	return find_process(m, pid);
}

static bool has_told(const struct process *p)
{
	return p->made.binary != NONE_BINARY || p->made.dump != NONE_BINARY;
}

/* What the image before has made is gone. */
static void new_image(struct maps *m, struct process *p)
{
	if (p->image && has_told(p))
		chores_made(m, p->pid); /* lets its files go */
	p->image = ++m->images;
	p->crowded = 0;
	made_init(p);
}

static struct process *get_process(struct maps *m, int pid)
{
	struct process *p = find_process(m, pid);

	if (p)
		return p;
	p = xcalloc(1, sizeof(*p));
	p->pid = pid;
	p->space = space_new(0);
	new_image(m, p);
	array_reserve(m->process, m->cap_process, m->n_process + 1);
	hash_index_add_id(&m->by_pid, pid, m->n_process);
	m->process[m->n_process++] = p;
	return p;
}

static void remove_process(struct maps *m, int pid)
{
	uint32_t i = hash_index_find_id(&m->by_pid, pid);
	struct process *p = m->process[i], *last = m->process[--m->n_process];

	hash_index_remove_id(&m->by_pid, pid, i);
	if (p != last) {
		hash_index_remove_id(&m->by_pid, last->pid, m->n_process);
		hash_index_add_id(&m->by_pid, last->pid, i);
		m->process[i] = last;
	}
	if (has_told(p))
		chores_made(m, pid); /* the same */
	space_put(p->space);
	free(p);
}

/* Under the write lock: forgets who exited long enough ago. */
static void forget_gone(struct maps *m, uint64_t now)
{
	while (m->n_gone && now - m->gone[m->gone_first].when > LINGER_NS) {
		struct gone *g = &m->gone[m->gone_first++];
		struct process *p = find_process(m, g->pid);

		m->n_gone--;
		if (p && p->exited_ns == g->when)
			remove_process(m, g->pid);
	}
	if (!m->n_gone) {
		m->gone_first = 0;
	} else if (m->gone_first > m->n_gone) {
		memmove(m->gone, m->gone + m->gone_first, m->n_gone * sizeof(*m->gone));
		m->gone_first = 0;
	}
}

/* Starts anew: a process of that pid that has nothing to do with the last one. */
static void reset_process(struct maps *m, struct process *p, uint64_t time)
{
	p->exited_ns = p->exited = p->execed = p->forked = 0;
	p->parent = 0;
	p->born = time;
	p->scanned = false;
	space_put(p->space);
	p->space = space_new(0);
	new_image(m, p);
}

/*
 * The process that an event at @time is about: alive, or still lingering when the event is older
 * than its exit. A lingering one that ended before @time was another process.
 */
static struct process *process_at(struct maps *m, int pid, uint64_t time)
{
	struct process *p = get_process(m, pid);

	if (p->exited_ns && p->exited < time)
		reset_process(m, p, time);
	return p;
}

int maps_create(const struct maps_options *opt, struct maps **ret, struct error *err)
{
	struct maps *m = xcalloc(1, sizeof(*m));
	pthread_rwlockattr_t attr;

	(void)err;
	if (opt) {
		m->cache_dir = opt->table.cache_dir ? xstrdup(opt->table.cache_dir) : NULL;
		m->debug_root = opt->table.debug_root ? xstrdup(opt->table.debug_root) : NULL;
		m->scope = xcalloc(opt->n_binary_scope, sizeof(*m->scope));
		for (size_t i = 0; i < opt->n_binary_scope; i++)
			m->scope[m->n_scope++] = xstrdup(opt->binary_scope[i]);
	}
	m->table.cache_dir = m->cache_dir;
	m->table.debug_root = m->debug_root;
	/* Samples come all the time: without this, readers could keep a writer out for long. */
	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&m->lock, &attr);
	pthread_rwlockattr_destroy(&attr);
	pthread_mutex_init(&m->build_lock, NULL);
	pthread_cond_init(&m->built, NULL);
	m->chores = chores_create();
	m->perf_maps = opt && opt->perf_maps;
	m->made_maps = made_maps_create();
	binary_init(m);
	*ret = m;
	return 0;
}

void maps_destroy(struct maps *m)
{
	if (!m)
		return;
	chores_destroy(m->chores);
	made_maps_destroy(m->made_maps);
	for (size_t i = 0; i < m->n_process; i++) {
		space_put(m->process[i]->space);
		free(m->process[i]);
	}
	free(m->process);
	hash_index_deinit(&m->by_pid);
	free(m->gone);
	binary_deinit(m);
	free(m->kernel);
	for (size_t i = 0; i < m->n_scope; i++)
		free(m->scope[i]);
	free(m->scope);
	free(m->cache_dir);
	free(m->debug_root);
	pthread_rwlock_destroy(&m->lock);
	pthread_mutex_destroy(&m->build_lock);
	pthread_cond_destroy(&m->built);
	free(m);
}

/* Mappings to be told about once the lock is released. */
struct news {
	void (*fn)(uint32_t, const struct maps_mapping *, void *);
	void *arg;
	struct maps_mapping *v;
	uint32_t *binary;
	size_t n, cap_v, cap_binary;
};

static void news_add(const struct maps *m, struct news *news, int pid, const struct mapping *map)
{
	if (!m->on_mapping)
		return;
	news->fn = m->on_mapping;
	news->arg = m->on_mapping_arg;
	array_reserve(news->v, news->cap_v, news->n + 1);
	array_reserve(news->binary, news->cap_binary, news->n + 1);
	news->v[news->n] = (struct maps_mapping){ pid, map->start, map->end,
						  binary_bias(m->binary[map->binary], map) };
	news->binary[news->n++] = map->binary;
}

static void news_tell(struct news *news)
{
	for (size_t i = 0; i < news->n; i++)
		news->fn(news->binary[i], &news->v[i], news->arg);
	free(news->v);
	free(news->binary);
}

char *maps_file_name(const char *filename)
{
	static const char deleted[] = " (deleted)";
	static const char *const no_file[] = { "//", "/dev/zero", "/SYSV", "/anon_hugepage" };
	size_t n = strlen(filename);

	if (!strcmp(filename, MAPS_VDSO))
		return xstrdup(filename);
	if (filename[0] != '/')
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(no_file); i++) {
		if (text_after(filename, no_file[i]))
			return NULL;
	}
	if (n > sizeof(deleted) && !strcmp(filename + n - (sizeof(deleted) - 1), deleted))
		n -= sizeof(deleted) - 1;
	return xstrndup(filename, n);
}

static uint64_t event_time(uint64_t time)
{
	return time ? time : clock_now_ns();
}

/* What [map.start, map.end) covered is gone; @map.binary may be NONE_BINARY. */
static void space_put_mapping(struct space *s, struct mapping map)
{
	size_t i = space_clear(s, map.start, map.end);

	if (map.binary != NONE_BINARY)
		space_insert_at(s, i, map);
}

/* Has it still what its parent @pid had at @time, as far as that goes? */
static bool began_with(const struct process *child, int pid, uint64_t time)
{
	return child->parent == pid && child->born > time && child->execed <= child->born;
}

/* Nothing that lies there has come later than @map. */
static bool is_latest(const struct space *s, const struct mapping *map)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->v[i].start < map->end && s->v[i].end > map->start &&
		    s->v[i].time > map->time)
			return false;
	}
	return true;
}

/* @p has mapped that before it was the parent of others, of which was heard already. */
static void hand_down(struct maps *m, const struct process *p, const struct mapping *map,
		      struct news *news)
{
	if (map->time >= p->forked)
		return;
	for (size_t k = 0; k < m->n_process; k++) {
		struct process *child = m->process[k];

		if (!began_with(child, p->pid, map->time) || !is_latest(child->space, map))
			continue;
		space_put_mapping(space_own(child), *map);
		if (map->binary != NONE_BINARY)
			news_add(m, news, child->pid, map);
		hand_down(m, child, map, news);
	}
}

static void forget_mappings(struct process *p)
{
	space_put(p->space);
	p->space = space_new(0);
}

/* Should /proc be asked what it has mapped? Whoever maps at ever other places has few at a time. */
static bool grows_crowded(struct process *p)
{
	size_t most = p->crowded ? p->crowded : MAPPINGS;

	if (p->space->n > HOPELESS * most)
		forget_mappings(p);
	if (p->space->n <= most || p->to_scan)
		return false;
	return p->to_scan = true;
}

void maps_scanned_again(struct maps *m, int pid, bool told)
{
	struct process *p;

	pthread_rwlock_wrlock(&m->lock);
	p = find_process(m, pid);
	if (p && p->to_scan && !told)
		forget_mappings(p);
	if (p)
		p->to_scan = false;
	pthread_rwlock_unlock(&m->lock);
}

void maps_add(struct maps *m, uint64_t time, int pid, uint64_t start, uint64_t len, uint64_t pgoff,
	      struct file_id id, const char *filename)
{
	_cleanup_free_ char *path = maps_file_name(filename);
	struct seen seen = { start, start + len, pgoff, id, path };
	struct mapping map = { start, seen.end, start - pgoff, event_time(time), NONE_BINARY };
	struct news news = { 0 };
	struct process *p;
	bool crowded = false;

	if (seen.end <= start)
		return;
	pthread_rwlock_wrlock(&m->lock);
	forget_gone(m, clock_now_ns());
	p = process_at(m, pid, map.time);
	if (map.time >= p->execed) { /* not of an image that is gone */
		if (path) {
			map.binary = binary_find_or_add(m, pid, &seen);
			news_add(m, &news, pid, &map);
			made_mapped(m, p, map.binary, path);
		}
		space_put_mapping(space_own(p), map);
		hand_down(m, p, &map, &news);
		crowded = grows_crowded(p);
	}
	pthread_rwlock_unlock(&m->lock);
	news_tell(&news);
	if (crowded)
		chores_scan(m, pid);
}

/* The child has what the parent had, and what it has mapped itself since. */
static void inherit(struct maps *m, const struct process *parent, struct process *child,
		    uint64_t time, struct news *news)
{
	struct space *own = child->space;

	child->space = parent->space;
	child->space->refs++;
	for (size_t i = 0; i < own->n; i++) {
		if (own->v[i].time > time)
			space_put_mapping(space_own(child), own->v[i]);
	}
	space_put(own);
	/* The code, too, that it had made, until the child tells of its own. */
	if (child->made.binary == NONE_BINARY)
		child->made.binary = parent->made.binary;
	for (size_t i = 0; i < child->space->n; i++)
		news_add(m, news, child->pid, &child->space->v[i]);
}

void maps_fork(struct maps *m, uint64_t time, int parent_pid, int child_pid)
{
	struct process *parent, *child;
	struct news news = { 0 };

	if (parent_pid == child_pid)
		return;
	time = event_time(time);
	pthread_rwlock_wrlock(&m->lock);
	forget_gone(m, clock_now_ns());
	child = process_at(m, child_pid, time);
	parent = process_at(m, parent_pid, time);
	if (parent->forked < time)
		parent->forked = time;
	/*
	 * A child that was read from /proc meanwhile, or has execed since, is known better than by
	 * this event, which is older.
	 */
	if (child->execed <= time && !(child->scanned && child->space->n)) {
		child->born = time;
		child->parent = parent_pid;
		inherit(m, parent, child, time, &news);
	}
	child->scanned = false;
	pthread_rwlock_unlock(&m->lock);
	news_tell(&news);
}

/* What @p had before @time, and what its children have of that. */
static void forget_until(struct maps *m, struct process *p, uint64_t time)
{
	struct space *s = space_own(p);
	size_t kept = 0;

	for (size_t i = 0; i < s->n; i++) {
		if (s->v[i].time > time)
			s->v[kept++] = s->v[i];
	}
	s->n = kept;
	for (size_t k = 0; time < p->forked && k < m->n_process; k++) {
		if (began_with(m->process[k], p->pid, time))
			forget_until(m, m->process[k], time);
	}
}

void maps_exec(struct maps *m, uint64_t time, int pid)
{
	struct process *p;

	time = event_time(time);
	pthread_rwlock_wrlock(&m->lock);
	p = process_at(m, pid, time);
	forget_until(m, p, time);
	p->execed = time;
	p->scanned = false;
	new_image(m, p);
	pthread_rwlock_unlock(&m->lock);
}

bool maps_exit(struct maps *m, uint64_t time, int pid)
{
	uint64_t now = clock_now_ns();
	struct process *p;
	bool gone;

	time = event_time(time);
	pthread_rwlock_wrlock(&m->lock);
	forget_gone(m, now);
	/* Of one that nothing was heard of so far, too: its fork may still lie in another core's
	 * ring. */
	p = get_process(m, pid);
	/* One that was born or has execed later is another process of that pid. */
	gone = p->born <= time && p->execed <= time;
	if (!p->exited_ns && gone) {
		p->exited = time;
		p->exited_ns = now;
		array_reserve(m->gone, m->cap_gone, m->gone_first + m->n_gone + 1);
		m->gone[m->gone_first + m->n_gone++] = (struct gone){ now, pid };
	}
	pthread_rwlock_unlock(&m->lock);
	return gone;
}

size_t maps_living(struct maps *m, int **pids)
{
	size_t n = 0;

	pthread_rwlock_rdlock(&m->lock);
	*pids = xcalloc(m->n_process + 1, sizeof(**pids));
	for (size_t i = 0; i < m->n_process; i++) {
		if (!m->process[i]->exited_ns)
			(*pids)[n++] = m->process[i]->pid;
	}
	pthread_rwlock_unlock(&m->lock);
	return n;
}

static bool knows(const struct space *s, const struct mapping *map)
{
	size_t i = space_find(s, map->start);

	return i < s->n && s->v[i].start == map->start && s->v[i].end == map->end &&
	       s->v[i].shift == map->shift && s->v[i].binary == map->binary;
}

void maps_replace(struct maps *m, int pid, const struct seen *seen, size_t n)
{
	struct space *s = space_new(n);
	uint64_t now = clock_now_ns();
	struct news news = { 0 };
	struct process *p;

	pthread_rwlock_wrlock(&m->lock);
	p = process_at(m, pid, now);
	for (size_t i = 0; i < n; i++) {
		struct mapping map = { seen[i].start, seen[i].end, seen[i].start - seen[i].pgoff,
				       now, binary_find_or_add(m, pid, &seen[i]) };

		space_put_mapping(s, map);
		if (!knows(p->space, &map))
			news_add(m, &news, pid, &map);
		made_mapped(m, p, map.binary, seen[i].path);
	}
	space_put(p->space);
	p->space = s;
	p->scanned = true;
	p->to_scan = false;
	p->crowded = 2 * n + MAPPINGS;
	p->parent = 0;
	pthread_rwlock_unlock(&m->lock);
	news_tell(&news);
}

void maps_reassign(struct maps *m, uint32_t old, uint32_t new, uint64_t since)
{
	struct news news = { 0 };

	pthread_rwlock_wrlock(&m->lock);
	for (size_t k = 0; k < m->n_process; k++) {
		struct process *p = m->process[k];

		for (size_t i = 0; i < p->space->n; i++) {
			struct mapping *map = &p->space->v[i];

			if (map->binary != old || map->time < since)
				continue;
			map = &space_own(p)->v[i];
			map->binary = new;
			news_add(m, &news, p->pid, map);
		}
	}
	pthread_rwlock_unlock(&m->lock);
	news_tell(&news);
}

/* In no file that has a table: what the process has made, as far as it tells. */
static bool resolve_made(const struct maps *m, struct process *p, uint64_t addr,
			 uint32_t *binary_id, uint64_t *place, bool *look)
{
	if (p->made.binary == NONE_BINARY)
		return false;
	*look = made_look_is_due(p);
	binary_is_needed(m->binary[p->made.binary]);
	*binary_id = p->made.binary;
	*place = addr;
	return true;
}

bool maps_place_of(struct maps *m, int pid, uint64_t addr, uint32_t *binary_id, uint64_t *place)
{
	struct process *p;
	bool found = false, look = false;

	if (addr >> 63) {
		const struct mapping *k = kernel_find_stretch(m, addr);

		*binary_id = k ? k->binary : m->kernel_symbols;
		*place = k ? addr - k->shift : addr;
		return true;
	}
	pthread_rwlock_rdlock(&m->lock);
	p = find_process(m, pid);
	if (p) {
		const struct space *s = p->space;
		size_t i = space_find(s, addr);

		if (i < s->n && s->v[i].start <= addr) {
			binary_is_needed(m->binary[s->v[i].binary]);
			*binary_id = s->v[i].binary;
			*place = addr - s->v[i].shift;
			found = true;
		}
		/* Memory that is shared with itself, or was mapped from a file that is gone. */
		if (m->perf_maps && (!found || binary_is_no_program(m->binary[*binary_id])))
			found |= resolve_made(m, p, addr, binary_id, place, &look);
	}
	pthread_rwlock_unlock(&m->lock);
	if (look)
		chores_made(m, pid);
	return found;
}

static size_t regions(struct maps *m, int pid, bool ended, struct maps_region **ret)
{
	const struct process *p;
	size_t n = 0;

	*ret = NULL;
	pthread_rwlock_rdlock(&m->lock);
	p = find_process(m, pid);
	if (p && (ended || !p->exited_ns)) {
		n = p->space->n;
		*ret = xcalloc(n + 1, sizeof(**ret));
		for (size_t i = 0; i < n; i++) {
			const struct mapping *v = &p->space->v[i];

			(*ret)[i] = (struct maps_region){ v->start,
							  v->end,
							  v->start - v->shift,
							  m->binary[v->binary]->pub.serial,
							  v->binary,
							  m->binary[v->binary]->pub.file };
		}
	}
	pthread_rwlock_unlock(&m->lock);
	return n;
}

size_t maps_regions(struct maps *m, int pid, struct maps_region **ret)
{
	return regions(m, pid, false, ret);
}

size_t maps_last_regions(struct maps *m, int pid, struct maps_region **ret)
{
	return regions(m, pid, true, ret);
}

struct list {
	struct maps_mapping *v;
	size_t n, cap;
};

/* Under the lock. */
static void list_mappings(const struct maps *m, const struct process *p, uint32_t binary_id,
			  struct list *ret)
{
	if (p->made.binary == binary_id && !p->exited_ns) {
		array_reserve(ret->v, ret->cap, ret->n + 1);
		ret->v[ret->n++] = (struct maps_mapping){ p->pid, 0, UINT64_MAX, 0 };
	}
	for (size_t k = 0; k < p->space->n && !p->exited_ns; k++) {
		const struct mapping *map = &p->space->v[k];

		if (map->binary != binary_id)
			continue;
		array_reserve(ret->v, ret->cap, ret->n + 1);
		ret->v[ret->n++] = (struct maps_mapping){ p->pid, map->start, map->end,
							  binary_bias(m->binary[binary_id], map) };
	}
}

static int each(struct list *l, int (*fn)(const struct maps_mapping *, void *), void *arg)
{
	int rc = 0;

	for (size_t i = 0; i < l->n && !rc; i++)
		rc = fn(&l->v[i], arg);
	free(l->v);
	return rc;
}

int maps_for_each_mapping(struct maps *m, uint32_t binary_id,
			  int (*fn)(const struct maps_mapping *, void *), void *arg)
{
	struct list l = { 0 };

	pthread_rwlock_rdlock(&m->lock);
	for (size_t i = 0; i < m->n_process; i++)
		list_mappings(m, m->process[i], binary_id, &l);
	pthread_rwlock_unlock(&m->lock);
	return each(&l, fn, arg);
}

int maps_for_each_mapping_of(struct maps *m, int pid, uint32_t binary_id,
			     int (*fn)(const struct maps_mapping *, void *), void *arg)
{
	const struct process *p;
	struct list l = { 0 };

	pthread_rwlock_rdlock(&m->lock);
	p = find_process(m, pid);
	if (p)
		list_mappings(m, p, binary_id, &l);
	pthread_rwlock_unlock(&m->lock);
	return each(&l, fn, arg);
}

bool maps_has_mapping(struct maps *m, uint32_t binary_id, const struct maps_mapping *map)
{
	const struct process *p;
	bool has = false;

	pthread_rwlock_rdlock(&m->lock);
	p = find_process(m, map->pid);
	if (p && !p->exited_ns && p->made.binary == binary_id) {
		has = true;
	} else if (p && !p->exited_ns) {
		size_t i = space_find(p->space, map->start);

		has = i < p->space->n && p->space->v[i].binary == binary_id &&
		      p->space->v[i].start == map->start && p->space->v[i].end == map->end;
	}
	pthread_rwlock_unlock(&m->lock);
	return has;
}

void maps_on_mapping(struct maps *m,
		     void (*fn)(uint32_t binary_id, const struct maps_mapping *, void *), void *arg)
{
	pthread_rwlock_wrlock(&m->lock);
	m->on_mapping = fn;
	m->on_mapping_arg = arg;
	pthread_rwlock_unlock(&m->lock);
}
