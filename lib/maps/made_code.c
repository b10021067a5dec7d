// SPDX-License-Identifier: GPL-2.0-or-later
#include "maps/made_code.h"

#include "base/hash_index.h"
#include "maps/made_name.h"

#include <pthread.h>

#define PAGE_SHIFT	 12
#define PAGE_BYTES	 (1u << PAGE_SHIFT)
#define LARGE_PAGES	 64   /* a function that lies in more is in the list of large ones */
#define FEW		 32   /* entries of a list, which need not be cleared */
#define MOST_LOOKS	 4096 /* at entries, for one address */
#define PAST_NS		 (60 * NSEC_PER_SEC) /* samples are looked up within that time */
#define MOST_RANGE_LOOKS (16 << 20)	     /* for the ranges of a name: a tenth of a second */
#define MOST_NEAR	 20000		     /* names among which the nearest are */
#define NOWHERE		 UINT32_MAX	     /* a name: there is nothing any more */
#define AT_ONCE		 1024

struct entry {
	uint64_t start, time;
	uint32_t size, name, line, n_lines;
};

/* Indices of entries, in the order in which they were told. */
struct list {
	uint64_t page;
	uint32_t *v;
	size_t cap;
	uint32_t n, clear_at;
};

struct made_names {
	pthread_mutex_t lock;
	char **v;
	size_t n, cap;
	struct hash_index index;
};

struct made_code {
	struct made_names *names;
	pthread_mutex_t lock;
	struct entry *entry;
	size_t n_entry, cap_entry;
	struct code_load_line *line;
	size_t n_line, cap_line;
	char *text;
	size_t n_text, cap_text;
	struct hash_index texts;
	struct list *page;
	size_t n_page, cap_page;
	struct hash_index pages;
	struct list large;
	uint64_t secret;  /* the program chooses names and places, but not where they fall */
	size_t in_lists;  /* entries that all lists have room for */
	uint32_t version; /* atomic */
	uint64_t memory;  /* atomic */
};

/* ---- names that are given out ---- */

struct made_names *made_names_create(void)
{
	struct made_names *n = xcalloc(1, sizeof(*n));

	pthread_mutex_init(&n->lock, NULL);
	return n;
}

void made_names_destroy(struct made_names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->n; i++)
		free(n->v[i]);
	free(n->v);
	hash_index_deinit(&n->index);
	pthread_mutex_destroy(&n->lock);
	free(n);
}

static bool same_name(const void *names, uint32_t i, const void *key)
{
	return !strcmp(((char *const *)names)[i], key);
}

static const char *keep_name(struct made_names *n, const char *name)
{
	uint64_t h = hash_chosen(HASH_START, name);
	uint32_t found;
	const char *kept;

	pthread_mutex_lock(&n->lock);
	found = hash_index_find(&n->index, h, same_name, n->v, name);
	if (found == HASH_NONE) {
		array_reserve(n->v, n->cap, n->n + 1);
		n->v[n->n] = xstrdup(name);
		hash_index_add(&n->index, h, n->n);
		found = n->n++;
	}
	kept = n->v[found];
	pthread_mutex_unlock(&n->lock);
	return kept;
}

/* ---- what is known ---- */

struct made_code *made_code_create(struct made_names *names)
{
	struct made_code *c = xcalloc(1, sizeof(*c));

	c->names = names;
	c->secret = hash_new_secret();
	pthread_mutex_init(&c->lock, NULL);
	return c;
}

/* Under the lock, as all that follows up to made_code_add(). */
static void forget(struct made_code *c)
{
	for (size_t i = 0; i < c->n_page; i++)
		free(c->page[i].v);
	free(c->page);
	free(c->large.v);
	free(c->entry);
	free(c->line);
	free(c->text);
	hash_index_deinit(&c->texts);
	hash_index_deinit(&c->pages);
	c->page = NULL;
	c->entry = NULL;
	c->line = NULL;
	c->text = NULL;
	c->large = (struct list){ 0 };
	c->n_page = c->cap_page = c->n_entry = c->cap_entry = 0;
	c->n_line = c->cap_line = c->n_text = c->cap_text = c->in_lists = 0;
}

void made_code_destroy(struct made_code *c)
{
	if (!c)
		return;
	forget(c);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static uint64_t memory(const struct made_code *c)
{
	return c->cap_entry * sizeof(*c->entry) + c->cap_line * sizeof(*c->line) + c->cap_text +
	       c->cap_page * sizeof(*c->page) + c->in_lists * sizeof(uint32_t) +
	       (c->texts.size + c->pages.size) * sizeof(struct hash_slot);
}

static void changed(struct made_code *c)
{
	__atomic_store_n(&c->memory, memory(c), __ATOMIC_RELAXED);
	__atomic_add_fetch(&c->version, 1, __ATOMIC_RELEASE);
}

static bool same_text(const void *text, uint32_t at, const void *key)
{
	return !strcmp((const char *)text + at, key);
}

static uint32_t add_text(struct made_code *c, const char *text)
{
	size_t n = strlen(text) + 1;
	uint64_t h = hash_secret(c->secret, text, n);
	uint32_t found = hash_index_find(&c->texts, h, same_text, c->text, text);

	if (found != HASH_NONE)
		return found;
	array_reserve(c->text, c->cap_text, c->n_text + n);
	memcpy(c->text + c->n_text, text, n);
	hash_index_add(&c->texts, h, c->n_text);
	c->n_text += n;
	return c->n_text - n;
}

static bool same_page(const void *pages, uint32_t i, const void *key)
{
	return ((const struct list *)pages)[i].page == *(const uint64_t *)key;
}

static struct list *find_page(struct made_code *c, uint64_t page)
{
	uint32_t i = hash_index_find(&c->pages, hash_secret(c->secret, &page, sizeof(page)),
				     same_page, c->page, &page);

	return i == HASH_NONE ? NULL : &c->page[i];
}

static struct list *get_page(struct made_code *c, uint64_t page)
{
	struct list *l = find_page(c, page);

	if (l)
		return l;
	array_reserve(c->page, c->cap_page, c->n_page + 1);
	hash_index_add(&c->pages, hash_secret(c->secret, &page, sizeof(page)), c->n_page);
	c->page[c->n_page] = (struct list){ .page = page };
	return &c->page[c->n_page++];
}

/* Bytes of a page. */
struct covered {
	uint64_t bits[PAGE_BYTES / 64];
};

/* Covers [from, to) of the page; false: all of it was covered already. */
static bool cover(struct covered *c, uint32_t from, uint32_t to)
{
	bool some = false;

	for (uint32_t i = from; i < to;) {
		uint32_t first = i % 64, n = to - i < 64 - first ? to - i : 64 - first;
		uint64_t mask = (n == 64 ? ~0ULL : (1ULL << n) - 1) << first;

		some |= (c->bits[i / 64] & mask) != mask;
		c->bits[i / 64] |= mask;
		i += n;
	}
	return some;
}

/* What newer functions have taken the place of, and so long ago that nobody asks for it. */
static void clear_list(struct made_code *c, struct list *l, uint64_t now)
{
	uint64_t base = l->page << PAGE_SHIFT;
	struct covered covered = { { 0 } };
	uint32_t kept = l->n;

	for (uint32_t i = l->n; i-- > 0;) {
		const struct entry *e = &c->entry[l->v[i]];
		uint64_t end = e->start + e->size;
		uint32_t from = e->start > base ? e->start - base : 0;
		uint32_t to = end - base < PAGE_BYTES ? end - base : PAGE_BYTES;
		bool old = !e->time || e->time + PAST_NS < now;

		/* What is not old hides nothing that was there before: both may be asked for. */
		if (!old || cover(&covered, from, to))
			l->v[--kept] = l->v[i];
	}
	memmove(l->v, l->v + kept, (l->n - kept) * sizeof(*l->v));
	l->n -= kept;
	if (l->n && l->n < l->cap / 4) {
		c->in_lists -= l->cap - 2 * l->n;
		l->cap = 2 * l->n;
		l->v = xreallocarray(l->v, l->cap, sizeof(*l->v));
	}
}

static void append(struct made_code *c, struct list *l, uint32_t entry, uint64_t now)
{
	if (l != &c->large && l->n >= FEW && l->n >= l->clear_at) {
		clear_list(c, l, now);
		l->clear_at = 2 * l->n;
	}
	c->in_lists -= l->cap;
	array_reserve(l->v, l->cap, l->n + 1);
	c->in_lists += l->cap;
	l->v[l->n++] = entry;
}

static void add_entry(struct made_code *c, const struct entry *e, uint64_t now)
{
	uint64_t first = e->start >> PAGE_SHIFT, last = (e->start + e->size - 1) >> PAGE_SHIFT;
	uint32_t i = c->n_entry;

	array_reserve(c->entry, c->cap_entry, c->n_entry + 1);
	c->entry[c->n_entry++] = *e;
	if (last - first >= LARGE_PAGES) {
		append(c, &c->large, i, now);
		return;
	}
	for (uint64_t page = first; page <= last; page++)
		append(c, get_page(c, page), i, now);
}

/* The newest one of a list that has the address, and was there at that time. */
static const struct entry *newest(const struct made_code *c, const struct list *l, uint64_t address,
				  uint64_t time, uint64_t *until)
{
	uint32_t looks = 0;

	for (uint32_t i = l ? l->n : 0; i-- > 0 && looks < MOST_LOOKS; looks++) {
		const struct entry *e = &c->entry[l->v[i]];

		if (address < e->start || address - e->start >= e->size)
			continue;
		if (!time || e->time <= time)
			return e;
		if (e->time < *until)
			*until = e->time;
	}
	return NULL;
}

static const struct entry *find(struct made_code *c, uint64_t address, uint64_t time,
				uint64_t *until)
{
	struct list *page = find_page(c, address >> PAGE_SHIFT);
	const struct entry *small = newest(c, page, address, time, until);
	const struct entry *large = newest(c, &c->large, address, time, until);

	return !large || (small && small > large) ? small : large; /* told later */
}

/* @n lines, whose files are in @text, for one function alone. */
static void add_lines(struct made_code *c, struct entry *e, const struct code_load_line *v,
		      uint32_t n, const char *text)
{
	e->line = c->n_line;
	e->n_lines = n;
	for (uint32_t i = 0; i < n; i++) {
		struct code_load_line to = v[i];

		to.file = add_text(c, text + to.file);
		c->line[c->n_line++] = to;
	}
}

static void reserve_lines(struct made_code *c, uint32_t n)
{
	array_reserve(c->line, c->cap_line, c->n_line + n + 1);
}

/* It is where it was moved to, and no longer where it was. */
static void move(struct made_code *c, const struct code_load *load, uint64_t now)
{
	uint64_t until = 0;
	const struct entry *old = find(c, load->from, 0, &until);
	struct entry gone, moved;

	if (!old || old->name == NOWHERE)
		return;
	gone = moved = *old;
	gone.name = NOWHERE;
	gone.n_lines = 0;
	gone.time = moved.time = load->time;
	moved.start = load->start;
	moved.size = load->size;
	moved.n_lines = 0;
	if (old->start == load->from) {
		reserve_lines(c, old->n_lines);
		moved.line = c->n_line;
		moved.n_lines = old->n_lines;
		memcpy(c->line + c->n_line, c->line + old->line, old->n_lines * sizeof(*c->line));
		c->n_line += old->n_lines;
	}
	add_entry(c, &gone, now);
	add_entry(c, &moved, now);
}

static void add_load(struct made_code *c, const struct code_loads *l, const struct code_load *load,
		     uint64_t now)
{
	struct entry e = { .start = load->start, .time = load->time, .size = load->size };

	if (load->name == CODE_LOADS_MOVED) {
		move(c, load, now);
		return;
	}
	e.name = add_text(c, l->text + load->name);
	reserve_lines(c, load->n_lines);
	add_lines(c, &e, l->line + load->line, load->n_lines, l->text);
	add_entry(c, &e, now);
}

/* Those in no list any more, and the texts of these. */
static void rebuild(struct made_code *c)
{
	_cleanup_free_ uint32_t *number = xcalloc(c->n_entry + 1, sizeof(*number));
	struct made_code old = *c;

	c->entry = NULL;
	c->line = NULL;
	c->text = NULL;
	c->texts = (struct hash_index){ 0 };
	c->n_entry = c->cap_entry = c->n_line = c->cap_line = c->n_text = c->cap_text = 0;
	for (size_t k = 0; k <= old.n_page; k++) {
		const struct list *l = k < old.n_page ? &old.page[k] : &old.large;

		for (uint32_t i = 0; i < l->n; i++)
			number[l->v[i]] = 1;
	}
	for (size_t i = 0; i < old.n_entry; i++) {
		struct entry e = old.entry[i];

		if (!number[i])
			continue;
		number[i] = c->n_entry;
		reserve_lines(c, e.n_lines);
		add_lines(c, &e, old.line + e.line, e.n_lines, old.text);
		if (e.name != NOWHERE)
			e.name = add_text(c, old.text + e.name);
		array_reserve(c->entry, c->cap_entry, c->n_entry + 1);
		c->entry[c->n_entry++] = e;
	}
	for (size_t k = 0; k <= old.n_page; k++) {
		struct list *l = k < old.n_page ? &c->page[k] : &c->large;

		for (uint32_t i = 0; i < l->n; i++)
			l->v[i] = number[l->v[i]];
	}
	free(old.entry);
	free(old.line);
	free(old.text);
	hash_index_deinit(&old.texts);
}

static bool has_room(struct made_code *c, uint64_t most, uint64_t now)
{
	if (memory(c) < most)
		return true;
	for (size_t i = 0; i < c->n_page; i++)
		clear_list(c, &c->page[i], now);
	rebuild(c);
	return memory(c) < most - most / 4; /* else this would be for a few more each time */
}

bool made_code_add(struct made_code *c, const struct code_loads *l, uint64_t most, uint64_t now)
{
	bool room = true;

	/* Who looks up waits for a part only. */
	for (uint32_t i = 0; i < l->h->n_load && room;) {
		pthread_mutex_lock(&c->lock);
		for (uint32_t k = 0; k < AT_ONCE && i < l->h->n_load && room; k++) {
			room = has_room(c, most, now);
			if (room)
				add_load(c, l, &l->load[i++], now);
		}
		changed(c);
		pthread_mutex_unlock(&c->lock);
	}
	return room;
}

void made_code_clear(struct made_code *c)
{
	pthread_mutex_lock(&c->lock);
	forget(c);
	changed(c);
	pthread_mutex_unlock(&c->lock);
}

uint64_t made_code_memory(const struct made_code *c)
{
	return __atomic_load_n(&c->memory, __ATOMIC_RELAXED);
}

uint32_t made_code_version(const struct made_code *c)
{
	return __atomic_load_n(&c->version, __ATOMIC_ACQUIRE);
}

/* ---- lookups ---- */

static void find_line(struct made_code *c, const struct entry *e, uint64_t address,
		      struct made_function *ret)
{
	const struct code_load_line *v = c->line + e->line;
	uint32_t lo = 0, hi = e->n_lines;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (v[mid].offset <= address - e->start)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return;
	ret->file = keep_name(c->names, c->text + v[lo - 1].file);
	ret->line = v[lo - 1].line;
}

bool made_code_find(struct made_code *c, uint64_t address, uint64_t time, struct made_function *ret)
{
	const struct entry *e;

	*ret = (struct made_function){ .until = UINT64_MAX };
	pthread_mutex_lock(&c->lock);
	e = find(c, address, time, &ret->until);
	ret->since = e ? e->time : 0;
	if (e && e->name == NOWHERE)
		e = NULL;
	if (e) {
		ret->name = keep_name(c->names, c->text + e->name);
		find_line(c, e, address, ret);
	}
	pthread_mutex_unlock(&c->lock);
	return e;
}

/* What is found, and how often was looked at something for it. */
struct search {
	struct addr_ranges ranges;
	size_t cap;
	uint64_t looks;
};

static void add_range(struct search *s, uint64_t start, uint64_t end)
{
	if (start >= end)
		return;
	array_reserve(s->ranges.r, s->cap, s->ranges.n + 1);
	s->ranges.r[s->ranges.n++] = (struct addr_range){ start, end };
}

static void cut(struct search *s, uint64_t start, uint64_t end)
{
	size_t n = s->ranges.n;

	for (size_t i = 0; i < n; i++) {
		struct addr_range *r = &s->ranges.r[i];
		uint64_t behind = r->end;

		if (r->end <= start || r->start >= end)
			continue;
		if (r->start < start) {
			r->end = start;
			add_range(s, end, behind);
		} else {
			r->start = end < r->end ? end : r->end;
		}
	}
	s->looks += n;
}

/* What is left where something newer than entry @i lies in the list. */
static void cut_newer(const struct made_code *c, const struct list *l, uint32_t i, struct search *s)
{
	for (uint32_t k = l ? l->n : 0; k-- > 0 && l->v[k] > i && s->looks < MOST_RANGE_LOOKS;) {
		const struct entry *e = &c->entry[l->v[k]];

		s->looks++;
		cut(s, e->start, e->start + e->size);
	}
}

/* Where entry @i still lies. */
static void add_live(struct made_code *c, uint32_t i, struct search *all)
{
	const struct entry *e = &c->entry[i];
	uint64_t first = e->start >> PAGE_SHIFT, last = (e->start + e->size - 1) >> PAGE_SHIFT;
	struct search own = { .looks = all->looks };

	add_range(&own, e->start, e->start + e->size);
	cut_newer(c, &c->large, i, &own);
	for (uint64_t page = first; page <= last && own.looks < MOST_RANGE_LOOKS; page++) {
		own.looks++;
		cut_newer(c, find_page(c, page), i, &own);
	}
	for (size_t k = 0; k < own.ranges.n; k++)
		add_range(all, own.ranges.r[k].start, own.ranges.r[k].end);
	all->looks = own.looks;
	free(own.ranges.r);
}

int made_code_ranges(struct made_code *c, const char *name, struct addr_ranges *ret)
{
	uint32_t last = NOWHERE;
	struct search s = { 0 };
	bool same = false;

	pthread_mutex_lock(&c->lock);
	for (uint32_t i = 0; i < c->n_entry && s.looks < MOST_RANGE_LOOKS; i++) {
		const struct entry *e = &c->entry[i];

		if (e->name == NOWHERE)
			continue;
		if (name && e->name != last)
			same = made_name_is(c->text + e->name, name);
		last = e->name;
		if (!name)
			add_range(&s, e->start, e->start + e->size);
		else if (same)
			add_live(c, i, &s);
	}
	pthread_mutex_unlock(&c->lock);
	if (s.looks >= MOST_RANGE_LOOKS)
		free(s.ranges.r);
	*ret = s.looks < MOST_RANGE_LOOKS ? s.ranges : (struct addr_ranges){ 0 };
	addr_ranges_sort_merge(ret);
	return s.looks >= MOST_RANGE_LOOKS ? -E2BIG : ret->n ? 0 : -ENOENT;
}

void made_code_near(struct made_code *c, struct similar *similar)
{
	char function[MADE_NAME_MAX];
	size_t n = 0;

	pthread_mutex_lock(&c->lock);
	for (size_t at = 0; at < c->n_text && n < MOST_NEAR; at += strlen(c->text + at) + 1, n++) {
		if (made_name_is(c->text + at, similar->wanted)) /* it has gone */
			continue;
		made_name_function(c->text + at, function, sizeof(function));
		similar_add(similar, function);
	}
	pthread_mutex_unlock(&c->lock);
}
