// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/probe_sites.h"

#include "elf/table_open.h"
#include "progress/probe_file.h"
#include "progress/usdt.h"

#include <unistd.h>

#define MAX_COPIES (64u << 20) /* bytes of code for all places of a file */

/* The block: this, the places, the copies of their code. */
struct head {
	uint64_t n, size;
};

struct search {
	struct held_file file;
	struct probe_file *code;
	const struct maptable *table;
	struct probe_site *list;
	size_t n, cap;
	uint8_t *copies;
	size_t n_copies, cap_copies;
};

/* ---- reading: by the one without rights ---- */

static int keep_copy(struct search *s, struct probe_site *site, struct error *err)
{
	const struct probe_site *last = s->n ? &s->list[s->n - 1] : NULL;
	const uint8_t *bytes = probe_file_checked(s->code, &site->code_offset, &site->code_size);

	if (last && last->code_size == site->code_size && last->code_offset == site->code_offset) {
		site->copy = last->copy;
		return 0;
	}
	if (site->code_size > MAX_COPIES - s->n_copies)
		return error_set(err, E2BIG, "%s: the functions around its probes are too large",
				 s->file.name);
	array_reserve(s->copies, s->cap_copies, s->n_copies + site->code_size);
	memcpy(s->copies + s->n_copies, bytes, site->code_size);
	site->copy = s->n_copies;
	s->n_copies += site->code_size;
	return 0;
}

static void add(struct search *s, const struct probe_site *site)
{
	array_reserve(s->list, s->cap, s->n + 1);
	s->list[s->n++] = *site;
}

/* Only where an instruction is shown to begin. */
static int add_shown(struct search *s, const struct probe_place *place, struct probe_site *site,
		     struct error *err)
{
	int r = probe_file_check(s->code, place, err);

	if (!r)
		r = keep_copy(s, site, err);
	if (!r)
		add(s, site);
	return r;
}

static int add_place(struct search *s, struct probe_place *place, struct error *err)
{
	_cleanup_free_ uint64_t *statements = NULL;
	struct probe_site site = { 0 };
	uint64_t from, to;

	if (!maptable_vaddr_to_offset(s->table, place->vaddr, &site.offset))
		return error_set(err, EINVAL, "%s: address %#llx is not in the file", s->file.name,
				 (unsigned long long)place->vaddr);
	if (probe_file_around(s->code, place->vaddr, &from, &to)) {
		maptable_statements(s->table, from, to, &statements, &place->n_statements);
		place->statements = statements;
	}
	return add_shown(s, place, &site, err);
}

/* A line may begin in several places of one function: only the first of each counts. */
static int add_line(struct search *s, const struct point *point, struct error *err)
{
	_cleanup_free_ uint64_t *vaddrs = NULL;
	uint64_t last = 0, start, stop;
	size_t n;
	int r = maptable_line_addresses(s->table, point->name, point->line, &vaddrs, &n, err);

	for (size_t i = 0; !r && i < n; i++) {
		struct probe_place place = { .vaddr = vaddrs[i] };

		/* By where it begins: copies of one function have one name. */
		if (probe_file_around(s->code, vaddrs[i], &start, &stop)) {
			if (i && start == last)
				continue;
			last = start;
		}
		r = add_place(s, &place, err);
	}
	return r;
}

static int add_function(struct search *s, const struct point *point, struct error *err)
{
	_cleanup_free_ uint64_t *vaddrs = NULL;
	size_t n;
	int r = maptable_function_addresses(s->table, point->function, &vaddrs, &n, err);

	if (!r && n > 1 && point->offset)
		return error_set(err, ENOTUNIQ,
				 "%s: the compiler made %zu copies of function \"%s\", which an "
				 "OFFSET cannot mean all: name a line (FILE:LINE)",
				 s->file.name, n, point->function);
	for (size_t i = 0; !r && i < n; i++) {
		struct probe_place place = { .vaddr = vaddrs[i] + point->offset,
					     .function = point->function,
					     .function_vaddr = vaddrs[i] };

		r = add_place(s, &place, err);
	}
	return r;
}

static int read_code(struct search *s, const struct point *point, struct error *err)
{
	struct maptable *t = NULL;
	int r = maptable_open_fd(s->file.fd, s->file.name, NULL, &t, err);

	s->table = t;
	if (!r)
		r = probe_file_open(&s->file, &s->code, err);
	if (!r)
		r = (point->kind == POINT_LINE ? add_line : add_function)(s, point, err);
	maptable_free(t);
	return r;
}

/* A probe that a note in the file tells of. */
static int add_note(struct search *s, struct probe_site *site, struct error *err)
{
	struct probe_place place = { .note = true };

	if (!probe_file_vaddr(s->code, site->offset, &place.vaddr))
		return error_set(err, EINVAL, "%s: file offset %#llx is not in its code",
				 s->file.name, (unsigned long long)site->offset);
	return add_shown(s, &place, site, err);
}

static int read_usdt(struct search *s, const struct point *point, struct error *err)
{
	_cleanup_free_ struct usdt_site *found = NULL;
	size_t n = 0;
	int r = usdt_find(&s->file, point->function, point->name, &found, &n, err);

	if (!r)
		r = probe_file_open(&s->file, &s->code, err);
	for (size_t i = 0; !r && i < n; i++) {
		struct probe_site site = { .offset = found[i].probe_offset,
					   .semaphore = found[i].semaphore_offset };

		r = add_note(s, &site, err);
	}
	return r;
}

/* Nobody has asked for this very mark yet: what is wrong with it is told when somebody does. */
static int read_marks(struct search *s, struct error *err)
{
	struct mark_site *found;
	size_t n;
	int r = marks_find_sites(&s->file, &found, &n, err);

	if (!r && n)
		r = probe_file_open(&s->file, &s->code, err);
	for (size_t i = 0; !r && i < n; i++) {
		struct probe_site site = { .offset = found[i].probe_offset,
					   .semaphore = found[i].semaphore_offset,
					   .kind = found[i].kind };
		struct error why = { 0 };

		snprintf(site.name, sizeof(site.name), "%s", found[i].name);
		if (!add_note(s, &site, &why))
			continue;
		site.refused = why.code ? abs(why.code) : EINVAL;
		site.copy = site.code_offset = site.code_size = 0;
		snprintf(site.why, sizeof(site.why), "%s", why.text);
		add(s, &site);
	}
	mark_sites_free(found, n);
	return r;
}

static int read_point(struct search *s, const char *spec, struct error *err)
{
	struct point point;
	int r = point_parse(spec, &point, err);

	if (r)
		return r;
	r = point.kind == POINT_USDT ? read_usdt(s, &point, err) : read_code(s, &point, err);
	point_free(&point);
	return r;
}

static struct probe_sites *lay_out(const struct search *s)
{
	struct head h = { .n = s->n };
	size_t list = s->n * sizeof(*s->list);
	char *mem;

	h.size = sizeof(h) + list + s->n_copies;
	mem = xmalloc(h.size);
	for (size_t i = 0; i < s->n; i++)
		s->list[i].copy += sizeof(h) + list;
	memcpy(mem, &h, sizeof(h));
	if (s->n)
		memcpy(mem + sizeof(h), s->list, list);
	if (s->n_copies)
		memcpy(mem + sizeof(h) + list, s->copies, s->n_copies);
	return probe_sites_attach(mem, h.size, false);
}

int probe_sites_read(int fd, const char *name, const char *spec, struct probe_sites **ret,
		     struct error *err)
{
	struct search s = { .file = { .fd = fd, .name = (char *)name } };
	int r = *spec ? read_point(&s, spec, err) : read_marks(&s, err);

	*ret = r ? NULL : lay_out(&s);
	probe_file_close(s.code);
	free(s.list);
	free(s.copies);
	return r;
}

/* ---- by the one that puts probes there ---- */

static bool is_text(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

static bool site_holds(const struct probe_site *site, size_t size)
{
	if (!is_text(site->name, sizeof(site->name)) || !is_text(site->why, sizeof(site->why)))
		return false;
	if (site->refused)
		return site->refused > 0 && site->refused < 4096;
	return site->copy <= size && site->code_size && site->code_size <= size - site->copy &&
	       site->offset >= site->code_offset &&
	       site->offset - site->code_offset < site->code_size;
}

struct probe_sites *probe_sites_attach(void *mem, size_t size, bool mapped)
{
	struct probe_sites *s = xcalloc(1, sizeof(*s));
	const struct head *h = mem;
	bool holds = size >= sizeof(*h) && h->size == size &&
		     h->n <= (size - sizeof(*h)) / sizeof(*s->list);

	*s = (struct probe_sites){ .mem = mem, .size = size, .mapped = mapped };
	if (holds) {
		s->list = (const void *)(h + 1);
		s->n = h->n;
	}
	for (size_t i = 0; i < s->n && holds; i++)
		holds = site_holds(&s->list[i], size);
	if (holds)
		return s;
	probe_sites_free(s);
	return NULL;
}

void probe_sites_free(struct probe_sites *s)
{
	if (!s)
		return;
	block_free(s->mem, s->size, s->mapped);
	free(s);
}

int probe_sites_unchanged(const struct probe_sites *s, size_t i, const struct held_file *file,
			  struct error *err)
{
	const struct probe_site *site = &s->list[i];
	_cleanup_free_ uint8_t *now = xmalloc(site->code_size);

	if (pread(file->fd, now, site->code_size, site->code_offset) == (ssize_t)site->code_size &&
	    !memcmp(now, (const char *)s->mem + site->copy, site->code_size))
		return 0;
	return error_set(err, ESTALE,
			 "%s: its code was changed while a probe was put there: start again when "
			 "whatever writes to the file has finished",
			 file->name);
}

static probe_sites_fn read_elsewhere;

void probe_sites_read_by(probe_sites_fn fn)
{
	read_elsewhere = fn;
}

int probe_sites_find(const struct held_file *file, const struct point *point,
		     struct probe_sites **ret, struct error *err)
{
	struct error local = { 0 };

	return (read_elsewhere ? read_elsewhere : probe_sites_read)(
		file->fd, file->name, point ? point->spec : "", ret, err ? err : &local);
}

int probe_sites_of_point(const struct point *point, struct held_file *file,
			 struct probe_sites **ret, struct error *err)
{
	_cleanup_free_ char *path = NULL;
	int r = binary_find(point->binary, &path, err);

	*file = HELD_FILE_INIT;
	if (!r)
		r = held_file_open(path, file, err);
	return r ? r : probe_sites_find(file, point, ret, err);
}
