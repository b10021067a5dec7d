// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Questions to a table. A lookup is two binary searches; everything else is asked once per target
 * and simply reads whole arrays.
 *
 * A scope is marked when it is part of the target, and with it everything inlined into it, since
 * parents come before children. Ranges are then the marked intervals: what a lookup of an address
 * in them reports is, by construction, a chain that the target is part of.
 */
#include "map/table.h"

#include <ctype.h>

void addr_ranges_free(struct addr_ranges *ranges)
{
	free(ranges->r);
	*ranges = (struct addr_ranges){ 0 };
}

static int compare_range(const void *pa, const void *pb)
{
	const struct addr_range *a = pa, *b = pb;

	return a->start != b->start ? (a->start < b->start ? -1 : 1)
				    : (a->end > b->end) - (a->end < b->end);
}

void addr_ranges_sort_merge(struct addr_ranges *ranges)
{
	size_t out = 0;

	if (!ranges->n)
		return;
	qsort(ranges->r, ranges->n, sizeof(*ranges->r), compare_range);
	for (size_t i = 0; i < ranges->n; i++) {
		struct addr_range *r = &ranges->r[i];

		if (r->start >= r->end)
			continue;
		if (out && r->start <= ranges->r[out - 1].end) {
			if (r->end > ranges->r[out - 1].end)
				ranges->r[out - 1].end = r->end;
		} else {
			ranges->r[out++] = *r;
		}
	}
	ranges->n = out;
}

static void add_range(struct addr_ranges *ranges, size_t *cap, uint64_t start, uint64_t end)
{
	if (start >= end)
		return;
	/* Neighbours mostly arrive in order. */
	if (ranges->n && ranges->r[ranges->n - 1].end == start) {
		ranges->r[ranges->n - 1].end = end;
		return;
	}
	array_reserve(ranges->r, *cap, ranges->n + 1);
	ranges->r[ranges->n++] = (struct addr_range){ start, end };
}

static const char *file_name(const struct maptable *t, uint32_t file)
{
	return file == NONE ? NULL : t->str + t->file[file];
}

int maptable_lookup(const struct maptable *t, uint64_t vaddr, struct map_frame *frames, int max)
{
	uint64_t wide = vaddr - t->h->base;
	uint32_t row, iv, scope = NONE;
	struct map_frame f = { "[unknown]", NULL, 0 };
	bool has_line = false;
	int n = 0;

	if (max < 1 || vaddr < t->h->base || wide >= NONE)
		return 0;
	row = table_search(t->row_off, t->n_row, wide);
	if (row != NONE && t->row_file[row] != NONE) {
		f.file = file_name(t, t->row_file[row]);
		f.line = t->row_line[row] & ROW_LINE;
		has_line = true;
	}
	iv = table_search(t->iv_off, t->n_iv, wide);
	if (iv != NONE)
		scope = t->iv_scope[iv];
	if (scope == NONE) {
		if (!has_line)
			return 0;
		frames[0] = f;
		return 1;
	}
	while (scope != NONE) {
		const struct table_scope *s = &t->scope[scope];

		f.function = t->str + t->func[s->func].name;
		/* Of a chain too long for @max, the middle is left out: the last stays the last. */
		frames[n < max ? n : max - 1] = f;
		n++;
		f.file = file_name(t, s->call_file);
		f.line = f.file ? s->call_line : 0;
		scope = s->parent;
	}
	return n < max ? n : max;
}

/* "vec<int>::push" and "push<int>" without the arguments at the end. */
static size_t without_template_arguments(const char *name)
{
	size_t n = strlen(name), i = n;
	int depth = 0;

	if (!n || name[n - 1] != '>' || strstr(name, "operator"))
		return n;
	while (i > 0) {
		i--;
		if (name[i] == '>')
			depth++;
		else if (name[i] == '<' && --depth == 0)
			return i ? i : n;
	}
	return n;
}

enum match { MATCH_NO, MATCH_UNQUALIFIED, MATCH_EXACT };

static enum match match_name(const char *name, size_t n, const char *wanted, size_t n_wanted)
{
	if (n < n_wanted || memcmp(name + n - n_wanted, wanted, n_wanted))
		return MATCH_NO;
	if (n == n_wanted)
		return MATCH_EXACT;
	return n > n_wanted + 2 && !memcmp(name + n - n_wanted - 2, "::", 2) ? MATCH_UNQUALIFIED
									     : MATCH_NO;
}

static enum match match_func(const struct maptable *t, uint32_t func, const char *wanted)
{
	const char *name = t->str + t->func[func].name;
	const char *linkage = t->str + t->func[func].linkage;
	size_t n = strlen(name), n_wanted = strlen(wanted), plain;
	enum match m;

	if (!n_wanted)
		return MATCH_NO;
	if (!strcmp(linkage, wanted))
		return MATCH_EXACT;
	m = match_name(name, n, wanted, n_wanted);
	if (m || strchr(wanted, '<'))
		return m;
	plain = without_template_arguments(name);
	return plain == n ? MATCH_NO : match_name(name, plain, wanted, n_wanted);
}

/* Marks the functions of that name; those that match exactly push the others out. */
static bool *match_functions(const struct maptable *t, const char *wanted, bool *any)
{
	bool *marked = xcalloc(t->n_func, sizeof(*marked));
	enum match best = MATCH_NO;

	for (uint32_t i = 0; i < t->n_func; i++) {
		enum match m = match_func(t, i, wanted);

		if (m == MATCH_NO || m < best)
			continue;
		if (m > best)
			memset(marked, 0, t->n_func * sizeof(*marked));
		best = m;
		marked[i] = true;
	}
	*any = best != MATCH_NO;
	return marked;
}

static int no_function(const struct maptable *t, const char *function, struct error *err)
{
	return error_set(
		err, ENOENT, "%s has no function \"%s\"%s", maptable_name(t), function,
		maptable_source(t) == MAP_DWARF || maptable_source(t) == MAP_KALLSYMS
			? ""
			: " (and no debug information: inlined and static functions are not "
			  "known; install its -dbgsym package or compile it with -g)");
}

int maptable_function_address(const struct maptable *t, const char *function, uint64_t *vaddr,
			      struct error *err)
{
	_cleanup_free_ bool *marked = NULL;
	uint32_t best = NONE, best_clone = NONE;
	bool any;

	marked = match_functions(t, function, &any);
	for (uint32_t i = 0; any && i < t->n_sym; i++) {
		const struct table_sym *s = &t->sym[i];
		const char *linkage = t->str + t->func[s->func].linkage;

		if (!marked[s->func] || s->flags & SYM_COLD)
			continue;
		/* A specialised copy only where there is nothing else. */
		if (strchr(linkage, '.') && strcmp(linkage, function)) {
			if (s->off < best_clone)
				best_clone = s->off;
		} else if (s->off < best) {
			best = s->off;
		}
	}
	if (best == NONE)
		best = best_clone;
	if (best != NONE) {
		*vaddr = t->h->base + best;
		return 0;
	}
	if (any)
		return error_set(
			err, ENOENT,
			"function \"%s\" of %s is inlined everywhere and has no address of "
			"its own: name a line (FILE:LINE) instead",
			function, maptable_name(t));
	return no_function(t, function, err);
}

static void add_marked_scopes(const struct maptable *t, bool *marked, struct addr_ranges *ret,
			      size_t *cap)
{
	for (uint32_t i = 0; i < t->n_scope; i++) {
		if (t->scope[i].parent != NONE && marked[t->scope[i].parent])
			marked[i] = true;
	}
	for (uint32_t i = 0; i + 1 < t->n_iv; i++) {
		if (t->iv_scope[i] != NONE && marked[t->iv_scope[i]])
			add_range(ret, cap, t->h->base + t->iv_off[i],
				  t->h->base + t->iv_off[i + 1]);
	}
}

/* The out-of-line function that the address "0x3a50" lies in. */
static bool address_scope(const struct maptable *t, const char *address, uint32_t *ret)
{
	uint64_t vaddr;
	uint32_t iv;
	char *end;

	if (strncmp(address, "0x", 2) || !isxdigit((unsigned char)address[2]))
		return false;
	vaddr = strtoull(address, &end, 16);
	if (*end || vaddr < t->h->base || vaddr - t->h->base >= NONE)
		return false;
	iv = table_search(t->iv_off, t->n_iv, vaddr - t->h->base);
	if (iv == NONE || t->iv_scope[iv] == NONE)
		return false;
	*ret = t->iv_scope[iv];
	while (t->scope[*ret].parent != NONE)
		*ret = t->scope[*ret].parent;
	return true;
}

int maptable_function_ranges(const struct maptable *t, const char *function,
			     struct addr_ranges *ret, struct error *err)
{
	_cleanup_free_ bool *func = NULL, *scope = NULL;
	uint32_t around;
	size_t cap = 0;
	bool any;

	*ret = (struct addr_ranges){ 0 };
	func = match_functions(t, function, &any);
	if (!any && address_scope(t, function, &around)) {
		scope = xcalloc(t->n_scope, sizeof(*scope));
		scope[around] = true;
		add_marked_scopes(t, scope, ret, &cap);
	}
	if (any) {
		scope = xcalloc(t->n_scope, sizeof(*scope));
		for (uint32_t i = 0; i < t->n_scope; i++)
			scope[i] = func[t->scope[i].func];
		add_marked_scopes(t, scope, ret, &cap);
		for (uint32_t i = 0; i < t->n_sym; i++) {
			const struct table_sym *s = &t->sym[i];

			if (func[s->func])
				add_range(ret, &cap, t->h->base + s->off,
					  t->h->base + s->off + s->size);
		}
	}
	addr_ranges_sort_merge(ret);
	return ret->n ? 0 : no_function(t, function, err);
}

static bool *match_files(const struct maptable *t, const char *file, const char *glob, bool *any)
{
	bool *marked = xcalloc(t->n_file, sizeof(*marked));
	_cleanup_free_ char *tail = glob ? xasprintf("*/%s", glob) : NULL;

	*any = false;
	for (uint32_t i = 0; i < t->n_file; i++) {
		const char *path = t->str + t->file[i];

		marked[i] = glob ? glob_match(glob, path) || glob_match(tail, path)
				 : path_ends_with(path, file);
		*any |= marked[i];
	}
	return marked;
}

/* Code of the marked files; @line 0: any line. Calls inlined from there count as well. */
static void file_line_ranges(const struct maptable *t, const bool *files, uint32_t line,
			     struct addr_ranges *ret)
{
	_cleanup_free_ bool *scope = xcalloc(t->n_scope, sizeof(*scope));
	size_t cap = 0;

	for (uint32_t i = 0; i + 1 < t->n_row; i++) {
		if (t->row_file[i] != NONE && files[t->row_file[i]] &&
		    (!line || (t->row_line[i] & ROW_LINE) == line))
			add_range(ret, &cap, t->h->base + t->row_off[i],
				  t->h->base + t->row_off[i + 1]);
	}
	for (uint32_t i = 0; i < t->n_scope; i++) {
		const struct table_scope *s = &t->scope[i];

		scope[i] = s->call_file != NONE && files[s->call_file] &&
			   (!line || s->call_line == line);
	}
	add_marked_scopes(t, scope, ret, &cap);
	addr_ranges_sort_merge(ret);
}

static int no_lines(const struct maptable *t, struct error *err)
{
	return error_set(err, ENOENT,
			 "%s has no line information: compile it with -g or install its debug "
			 "symbols%s%s",
			 maptable_name(t), maptable_warning(t) ? "; note: " : "",
			 maptable_warning(t) ? maptable_warning(t) : "");
}

/* Says which lines nearby have code. */
static int no_line(const struct maptable *t, const bool *files, const char *file, uint32_t line,
		   struct error *err)
{
	uint32_t before = 0, after = NONE;

	for (uint32_t i = 0; i < t->n_row; i++) {
		uint32_t l = t->row_line[i] & ROW_LINE;

		if (t->row_file[i] == NONE || !files[t->row_file[i]] || !l)
			continue;
		if (l < line && l > before)
			before = l;
		if (l > line && l < after)
			after = l;
	}
	if (before && after != NONE)
		return error_set(
			err, ENOENT,
			"%s has no code for %s:%u; the nearest lines with code are %u and %u",
			maptable_name(t), file, line, before, after);
	return error_set(err, ENOENT, "%s has no code for %s:%u; the nearest line with code is %u",
			 maptable_name(t), file, line,
			 before		 ? before
			 : after == NONE ? 0
					 : after);
}

static int no_file(const struct maptable *t, const char *file, struct error *err)
{
	return error_set(err, ENOENT, "no source file of %s matches \"%s\"", maptable_name(t),
			 file);
}

int maptable_line_addresses(const struct maptable *t, const char *file, uint32_t line,
			    uint64_t **vaddrs, size_t *n, struct error *err)
{
	_cleanup_free_ bool *files = NULL;
	uint64_t *with_code = NULL, *bare = NULL;
	size_t n_with = 0, cap_with = 0, n_bare = 0, cap_bare = 0;
	bool any;

	*vaddrs = NULL;
	*n = 0;
	if (!t->n_row)
		return no_lines(t, err);
	files = match_files(t, file, NULL, &any);
	if (!any)
		return no_file(t, file, err);
	for (uint32_t i = 0; i + 1 < t->n_row; i++) {
		uint64_t addr = t->h->base + t->row_off[i];

		if (t->row_file[i] == NONE || !files[t->row_file[i]] ||
		    t->row_line[i] != (line | ROW_STMT))
			continue;
		if (t->row_off[i] != t->row_off[i + 1]) {
			array_reserve(with_code, cap_with, n_with + 1);
			with_code[n_with++] = addr;
		} else if (!n_bare || bare[n_bare - 1] != addr) {
			array_reserve(bare, cap_bare, n_bare + 1);
			bare[n_bare++] = addr;
		}
	}
	/* Statements without code of their own count only where the line has none at all. */
	if (n_with) {
		*vaddrs = with_code;
		*n = n_with;
		free(bare);
		return 0;
	}
	free(with_code);
	*vaddrs = bare;
	*n = n_bare;
	return n_bare ? 0 : no_line(t, files, file, line, err);
}

void maptable_statements(const struct maptable *t, uint64_t start, uint64_t end, uint64_t **vaddrs,
			 size_t *n)
{
	size_t cap = 0;

	*vaddrs = NULL;
	*n = 0;
	for (uint32_t i = 0; i < t->n_row; i++) {
		uint64_t addr = t->h->base + t->row_off[i];

		if (addr < start || addr >= end || t->row_file[i] == NONE ||
		    !(t->row_line[i] & ROW_STMT) || (*n && (*vaddrs)[*n - 1] == addr))
			continue;
		array_reserve(*vaddrs, cap, *n + 1);
		(*vaddrs)[(*n)++] = addr;
	}
}

int maptable_line_ranges(const struct maptable *t, const char *file, uint32_t line,
			 struct addr_ranges *ret, struct error *err)
{
	_cleanup_free_ bool *files = NULL;
	bool any;

	*ret = (struct addr_ranges){ 0 };
	if (!t->n_row)
		return no_lines(t, err);
	if (!line)
		return error_set(err, ENOENT, "%s:0 is not a line: lines count from 1", file);
	files = match_files(t, file, NULL, &any);
	if (!any)
		return no_file(t, file, err);
	file_line_ranges(t, files, line, ret);
	return ret->n ? 0 : no_line(t, files, file, line, err);
}

int maptable_file_ranges(const struct maptable *t, const char *glob, struct addr_ranges *ret,
			 struct error *err)
{
	_cleanup_free_ bool *files = NULL;
	bool any;

	*ret = (struct addr_ranges){ 0 };
	if (!t->n_row)
		return no_lines(t, err);
	files = match_files(t, NULL, glob, &any);
	if (!any)
		return no_file(t, glob, err);
	file_line_ranges(t, files, 0, ret);
	return ret->n ? 0 : no_file(t, glob, err);
}

int maptable_all_ranges(const struct maptable *t, struct addr_ranges *ret, struct error *err)
{
	size_t cap = 0;

	*ret = (struct addr_ranges){ 0 };
	for (uint32_t i = 0; i < t->n_text; i++)
		add_range(ret, &cap, t->text[i].start, t->text[i].end);
	addr_ranges_sort_merge(ret);
	return ret->n ? 0 : error_set(err, ENOENT, "%s has no executable code", maptable_name(t));
}
