// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/probe_sites.h"

#include "elf/table_make.h"
#include "progress/code_bounds.h"
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
	const char *path; /* of the file, or NULL */
	struct probe_file *code;
	const struct maptable *table;
	struct probe_site *list;
	size_t n, cap;
	uint8_t *copies;
	size_t n_copies, cap_copies;
};

/* ---- reading: by the one without rights ---- */

static int keep_copy(struct search *s, struct probe_site *site, const uint8_t *bytes,
		     struct error *err)
{
	const struct probe_site *last = s->n ? &s->list[s->n - 1] : NULL;

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
	const uint8_t *bytes;

	if (!r) {
		bytes = probe_file_checked(s->code, &site->code_offset, &site->code_size);
		r = keep_copy(s, site, bytes, err);
	}
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

/* Copies of a function that were inlined in the same one; those that have a place already. */
struct instances {
	uint32_t *v;
	size_t n, cap;
};

static bool is_another(struct instances *in, uint32_t instance)
{
	for (size_t i = 0; i < in->n; i++) {
		if (in->v[i] == instance)
			return false;
	}
	array_reserve(in->v, in->cap, in->n + 1);
	in->v[in->n++] = instance;
	return true;
}

/*
 * A line may begin in several places of one function: only the first counts, of each time that the
 * function was inlined there.
 */
static int add_line(struct search *s, const struct point *point, struct error *err)
{
	_cleanup_free_ uint64_t *vaddrs = NULL;
	struct instances in = { 0 };
	uint64_t last = 0, start, stop;
	size_t n;
	int r = maptable_line_addresses(s->table, point->name, point->line, &vaddrs, &n, err);

	for (size_t i = 0; !r && i < n; i++) {
		struct probe_place place = { .vaddr = vaddrs[i] };

		/* By where it begins: copies of one function have one name. */
		if (probe_file_around(s->code, vaddrs[i], &start, &stop)) {
			if (start != last)
				in.n = 0;
			last = start;
			if (!is_another(&in, maptable_instance(s->table, vaddrs[i], point->name,
							       point->line)))
				continue;
		}
		r = add_place(s, &place, err);
	}
	free(in.v);
	return r;
}

static int add_function(struct search *s, const struct point *point, struct error *err)
{
	_cleanup_free_ uint64_t *vaddrs = NULL;
	size_t n;
	int r = maptable_function_addresses(s->table, point->function, &vaddrs, &n, err);

	if (r == -ENOENT && probe_file_imports(s->code, point->function))
		return error_set(
			err, ENOENT,
			"%s has no function \"%s\" of its own, it calls that of a library: "
			"write the library's path before it (`ldd %s` lists them)",
			s->file.name, point->function, s->file.name);
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
	const struct map_options opt = { .path = s->path };
	struct maptable *t = NULL;
	int r = maptable_make_fd(s->file.fd, s->file.name, &opt, &t, err);

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

/* ---- where code is entered and left ---- */

#define BOUNDS_SPEC '=' /* what no POINT begins with */
#define MAX_PIECES  64

struct bounds {
	struct search *search;
	struct code_bounds_piece pieces[MAX_PIECES];
	uint64_t offset[MAX_PIECES];
	size_t n;
	int failed;
	struct error *err;
};

static int add_piece(struct bounds *b, uint64_t start, uint64_t end, uint64_t *reached)
{
	struct search *s = b->search;
	struct code code;
	int r;

	if (b->n == MAX_PIECES)
		return error_set(b->err, ENOTSUP, "%s: it consists of too many pieces",
				 s->file.name);
	r = probe_file_function(s->code, start, end, &code, &b->offset[b->n], b->err);
	if (r)
		return r;
	code_flow_init(&b->pieces[b->n].flow, &code);
	b->pieces[b->n++].continued = false;
	*reached = code.end;
	return 0;
}

/* Functions that follow each other are one range; what lies between them is filled with nops. */
static int add_pieces(struct bounds *b, uint64_t start, uint64_t end)
{
	int r = 0;

	while (start < end && !r)
		r = add_piece(b, start, end, &start);
	return r;
}

static void add_bound(uint64_t addr, enum probe_bound bound, void *arg)
{
	struct bounds *b = arg;
	struct probe_site site = { .kind = bound };
	const char *why;
	size_t i = 0;

	while (addr < b->pieces[i].flow.code.start || addr >= b->pieces[i].flow.code.end)
		i++;
	site.code_offset = b->offset[i];
	site.code_size = b->pieces[i].flow.code.end - b->pieces[i].flow.code.start;
	site.offset = site.code_offset + (addr - b->pieces[i].flow.code.start);
	why = code_no_probe(&b->pieces[i].flow.code, addr);
	if (!b->failed && why)
		b->failed = error_set(b->err, ENOTSUP,
				      "%s: the kernel puts no probe on the instruction at %#llx "
				      "(%s)",
				      b->search->file.name, (unsigned long long)addr, why);
	if (!b->failed)
		b->failed = keep_copy(b->search, &site, b->pieces[i].flow.code.bytes, b->err);
	if (!b->failed)
		add(b->search, &site);
}

static int find_bounds(struct bounds *b, const char *spec)
{
	unsigned long long start, end;
	const char *why;
	int used, r = 0;

	for (; !r && sscanf(spec, "%llx-%llx%n", &start, &end, &used) == 2; spec += used) {
		r = add_pieces(b, start, end);
		used += spec[used] == ',';
	}
	if (!r && *spec)
		r = error_set(b->err, EINVAL, "'%s' are no addresses", spec);
	if (!r && code_bounds_find(b->pieces, b->n, add_bound, b, &why))
		r = error_set(b->err, ENOTSUP, "%s: %s", b->search->file.name, why);
	return r ? r : b->failed;
}

static int read_bounds(struct search *s, const char *spec, struct error *err)
{
	struct bounds *b = xcalloc(1, sizeof(*b));
	int r = probe_file_open(&s->file, &s->code, err);

	b->search = s;
	b->err = err;
	if (!r)
		r = find_bounds(b, spec);
	for (size_t i = 0; i < b->n; i++) {
		free((void *)b->pieces[i].flow.code.bytes);
		code_flow_deinit(&b->pieces[i].flow);
	}
	free(b);
	return r;
}

static int read_spec(struct search *s, const char *spec, struct error *err)
{
	if (!*spec)
		return read_marks(s, err);
	return *spec == BOUNDS_SPEC ? read_bounds(s, spec + 1, err) : read_point(s, spec, err);
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

int probe_sites_read(int fd, const char *name, const char *path, const char *spec,
		     struct probe_sites **ret, struct error *err)
{
	struct search s = { .file = { .fd = fd, .name = (char *)name }, .path = path };
	int r = read_spec(&s, spec, err);

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

static int find(const struct held_file *file, const char *spec, struct probe_sites **ret,
		struct error *err)
{
	struct error local = { 0 };

	err = err ? err : &local;
	return read_elsewhere ? read_elsewhere(file->fd, file->name, spec, ret, err)
			      : probe_sites_read(file->fd, file->name, NULL, spec, ret, err);
}

int probe_sites_find(const struct held_file *file, const struct point *point,
		     struct probe_sites **ret, struct error *err)
{
	return find(file, point ? point->spec : "", ret, err);
}

int probe_sites_of_code(const struct held_file *file, const struct addr_ranges *ranges,
			struct probe_sites **ret, struct error *err)
{
	_cleanup_free_ char *spec = xstrdup("=");

	for (size_t i = 0; i < ranges->n; i++)
		text_add(&spec, "%s%llx-%llx", i ? "," : "", (unsigned long long)ranges->r[i].start,
			 (unsigned long long)ranges->r[i].end);
	return find(file, spec, ret, err);
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
