// SPDX-License-Identifier: GPL-2.0-or-later
#include "table/code_loads_build.h"

#define MAX_LOADS (1 << 19)
#define MAX_LINES (1 << 21)
#define MAX_TEXT  (64 << 20)
#define MAX_SIZE  (1 << 30) /* of a function */

static bool can_be(uint64_t start, uint64_t size)
{
	return size && size <= MAX_SIZE && !(start >> 63) && !((start + size) >> 63);
}

/* ---- blocks ---- */

static bool good_lines(const struct code_loads *l, const struct code_load *load)
{
	const struct code_load_line *v = l->line + load->line;

	if (load->line > l->h->n_line || load->n_lines > l->h->n_line - load->line)
		return false;
	for (uint32_t i = 0; i < load->n_lines; i++) {
		if (v[i].file >= l->h->n_text || (i && v[i].offset < v[i - 1].offset))
			return false;
	}
	return true;
}

static bool good_load(const struct code_loads *l, const struct code_load *load)
{
	return can_be(load->start, load->size) &&
	       (load->name < l->h->n_text || load->name == CODE_LOADS_MOVED) && good_lines(l, load);
}

static bool good_block(const struct code_loads *l)
{
	const struct code_loads_header *h = l->h;
	uint64_t want;

	if (l->size < sizeof(*h) || memcmp(h->magic, CODE_LOADS_MAGIC, sizeof(h->magic)) ||
	    h->size != l->size)
		return false;
	want = sizeof(*h) + (uint64_t)h->n_load * sizeof(*l->load) +
	       (uint64_t)h->n_line * sizeof(*l->line) + h->n_text;
	if (want != l->size || h->n_load > MAX_LOADS || h->n_line > MAX_LINES ||
	    h->n_text > MAX_TEXT || (h->n_text && l->text[h->n_text - 1]))
		return false;
	for (uint32_t i = 0; i < h->n_load; i++) {
		/* A line belongs to one function: what is read of them is no more than there is. */
		if (!good_load(l, &l->load[i]) ||
		    (i && l->load[i].line < l->load[i - 1].line + l->load[i - 1].n_lines))
			return false;
	}
	return true;
}

struct code_loads *code_loads_attach(void *mem, size_t size, bool mapped)
{
	struct code_loads *l = xcalloc(1, sizeof(*l));

	*l = (struct code_loads){ .mem = mem, .size = size, .mapped = mapped, .h = mem };
	if (size >= sizeof(*l->h)) {
		l->load = (const void *)(l->h + 1);
		l->line = (const void *)(l->load + l->h->n_load);
		l->text = (const void *)(l->line + l->h->n_line);
	}
	if (good_block(l))
		return l;
	code_loads_free(l);
	return NULL;
}

void code_loads_free(struct code_loads *l)
{
	if (!l)
		return;
	block_free(l->mem, l->size, l->mapped);
	free(l);
}

/* ---- making one ---- */

bool loads_full(const struct loads_builder *b)
{
	return b->n_load == MAX_LOADS || b->n_line >= MAX_LINES / 2 || b->n_text >= MAX_TEXT / 2;
}

struct wanted {
	const char *text;
	size_t n;
};

static bool same_name(const void *text, uint32_t at, const void *key)
{
	const struct wanted *w = key;
	const char *have = (const char *)text + at;

	return !strncmp(have, w->text, w->n) && !have[w->n];
}

uint32_t loads_text(struct loads_builder *b, const char *text, size_t n)
{
	struct wanted w = { text, strnlen(text, n > LOADS_MAX_NAME ? LOADS_MAX_NAME : n) };
	uint64_t h = HASH_START;
	uint32_t found;

	for (size_t i = 0; i < w.n; i++)
		h = hash_mix(h, (unsigned char)text[i]);
	found = hash_index_find(&b->names, h, same_name, b->text, &w);
	if (found != HASH_NONE)
		return found;
	array_reserve(b->text, b->cap_text, b->n_text + w.n + 1);
	memcpy(b->text + b->n_text, text, w.n);
	b->text[b->n_text + w.n] = '\0';
	hash_index_add(&b->names, h, b->n_text);
	found = b->n_text;
	b->n_text += w.n + 1;
	return found;
}

bool loads_add(struct loads_builder *b, const struct code_load *load)
{
	if (!can_be(load->start, load->size))
		return false;
	array_reserve(b->load, b->cap_load, b->n_load + 1);
	b->load[b->n_load++] = *load;
	return true;
}

static void *lay_out(const struct loads_builder *b, size_t *ret)
{
	struct code_loads_header h = { .next = b->next,
				       .n_load = b->n_load,
				       .n_line = b->n_line,
				       .n_text = b->n_text,
				       .foreign = b->foreign,
				       .more = b->more };
	size_t loads = b->n_load * sizeof(*b->load), lines = b->n_line * sizeof(*b->line);
	char *mem;

	memcpy(h.magic, CODE_LOADS_MAGIC, sizeof(h.magic));
	h.size = *ret = sizeof(h) + loads + lines + b->n_text;
	mem = xmalloc(h.size);
	memcpy(mem, &h, sizeof(h));
	if (loads)
		memcpy(mem + sizeof(h), b->load, loads);
	if (lines)
		memcpy(mem + sizeof(h) + loads, b->line, lines);
	if (b->n_text)
		memcpy(mem + sizeof(h) + loads + lines, b->text, b->n_text);
	return mem;
}

struct code_loads *code_loads_read(int fd, const char *name, enum code_loads_kind kind,
				   uint64_t from, struct error *err)
{
	struct loads_builder b = { .next = from };
	struct code_loads *l = NULL;
	size_t size;
	int r = (kind == CODE_LOADS_JITDUMP ? loads_of_jitdump : loads_of_perf_map)(&b, fd, from);

	if (r) {
		error_set(err, -r, "%s: cannot be read: %s", name, strerror(-r));
	} else {
		void *mem = lay_out(&b, &size);

		l = code_loads_attach(mem, size, false);
		if (!l)
			error_set(err, EBADMSG, "%s: what was read of it cannot be", name);
	}
	free(b.load);
	free(b.line);
	free(b.text);
	hash_index_deinit(&b.names);
	return l;
}

static code_loads_reader_fn read_elsewhere;

void code_loads_read_by(code_loads_reader_fn fn)
{
	read_elsewhere = fn;
}

struct code_loads *code_loads_open(int fd, const char *name, enum code_loads_kind kind,
				   uint64_t from, struct error *err)
{
	return (read_elsewhere ? read_elsewhere : code_loads_read)(fd, name, kind, from, err);
}
