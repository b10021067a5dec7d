// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Questions to a table. A lookup is two binary searches; everything else is asked once per target
 * and simply reads whole arrays.
 *
 * A scope is marked when it is part of the target, and with it everything inlined into it, since
 * parents come before children. Ranges are then the marked intervals: what a lookup of an address
 * in them reports is, by construction, a chain that the target is part of.
 */
#include "base/similar.h"
#include "table/function_name.h"
#include "table/table.h"

#include <ctype.h>

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

	table_is_wanted(t);
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

static bool has_name(const struct maptable *t, const char *name)
{
	for (uint32_t i = 0; i < t->n_func; i++) {
		if (!strcmp(t->str + t->func[i].name, name))
			return true;
	}
	return false;
}

/*
 * Where there is a resolver of that name, who calls it gets one of the copies that it chooses from
 * ("f.avx2", target_clones), or what has other names: memcpy@GLIBC_2.2.5 is for programs of old.
 */
static bool is_old_version(const struct maptable *t, const char *wanted)
{
	size_t n = strlen(wanted) + 1;
	_cleanup_free_ char *resolver = xasprintf("%s" RESOLVER_SUFFIX, wanted);

	if (!has_name(t, resolver))
		return false;
	for (uint32_t i = 0; i < t->n_func; i++) {
		const char *name = t->str + t->func[i].name;

		if (!strncmp(name, resolver, n) && strcmp(name, resolver) != 0)
			return false;
	}
	return true;
}

/* Marks the functions of that name; those that match exactly push the others out. */
static bool *match_functions(const struct maptable *t, const char *wanted, bool *any)
{
	bool *marked = xcalloc(t->n_func, sizeof(*marked));
	enum function_match best = FUNCTION_NO;
	struct function_pattern p;

	table_is_wanted(t);
	function_pattern_init(&p, wanted);
	for (uint32_t i = 0; i < t->n_func; i++) {
		enum function_match m = function_pattern_match(&p, t->str + t->func[i].name,
							       t->str + t->func[i].linkage);

		if (m == FUNCTION_NO || m < best)
			continue;
		if (m > best)
			memset(marked, 0, t->n_func * sizeof(*marked));
		best = m;
		marked[i] = true;
	}
	function_pattern_deinit(&p);
	*any = best != FUNCTION_NO && !is_old_version(t, wanted);
	return marked;
}

void maptable_near_functions(const struct maptable *t, struct similar *similar)
{
	table_is_wanted(t);
	for (uint32_t i = 0; i < t->n_func; i++) {
		const char *name = t->str + t->func[i].name, *colon = strrchr(name, ':');

		if (strncmp(name, "_Z", 2))
			similar_add(similar, name);
		/* Who leaves out the namespace may err in the rest. */
		if (colon && !strchr(similar->wanted, ':'))
			similar_add(similar, colon + 1);
	}
}

static char *near_functions(const struct maptable *t, const char *function)
{
	struct similar similar;

	similar_init(&similar, function);
	maptable_near_functions(t, &similar);
	return similar_text(&similar);
}

#define MAX_LISTED  12	 /* functions of one name in a message */
#define MAX_TOLD    4096 /* that are told apart */
#define MAX_CHOICES 4	 /* of what may be behind one */

/* "f.avx2" and "__f_avx2" for "f". */
static bool implements(const char *name, const char *function)
{
	size_t n = strlen(function);

	while (*name == '_' && *function != '_')
		name++;
	/* __memcpy_chk_avx2 is for __memcpy_chk. */
	return !strncmp(name, function, n) && (name[n] == '.' || name[n] == '_') &&
	       strncmp(name + n, "_chk", 4) != 0 && strcmp(name + n, RESOLVER_SUFFIX) != 0;
}

/* What an IFUNC of that name may choose, as far as that is seen by names; "" else. */
static char *implementations(const struct maptable *t, const char *function)
{
	char *text = xstrdup("");
	size_t n = 0;

	for (uint32_t i = 0; i < t->n_sym; i++) {
		const char *name = t->str + t->func[t->sym[i].func].name;

		if (t->sym[i].flags & SYM_COLD || !implements(name, function))
			continue;
		if (n++ < MAX_CHOICES)
			text_add(&text, "%s%s", n > 1 ? ", " : "", name);
	}
	if (n > MAX_CHOICES)
		text_add(&text, " and %zu more", n - MAX_CHOICES);
	return text;
}

static int chosen_at_start(const struct maptable *t, const char *function, struct error *err)
{
	_cleanup_free_ char *list = implementations(t, function);
	const char *slash = strrchr(maptable_name(t), '/');

	return error_set(
		err, ENOENT,
		"%s has no function \"%s\": it is chosen when the program starts (IFUNC): "
		"name what is chosen, which `scoz record` tells%s%s%s, or as a target all of "
		"the file, bin:*%s",
		maptable_name(t), function, *list ? " (" : "", list, *list ? ")" : "",
		slash ? slash : maptable_name(t));
}

static int no_function(const struct maptable *t, const char *function, struct error *err)
{
	_cleanup_free_ char *near = NULL, *resolver = NULL;

	if (!err) /* nobody asks, and the search is not for free */
		return -ENOENT;
	resolver = xasprintf("%s" RESOLVER_SUFFIX, function);
	if (has_name(t, resolver))
		return chosen_at_start(t, function, err);
	near = near_functions(t, function);
	return error_set(
		err, ENOENT, "%s has no function \"%s\"%s%s", maptable_name(t), function, near,
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
	return any ? table_only_inlined(t, marked, function, err) : no_function(t, function, err);
}

struct candidates {
	const struct table_sym **sym;
	size_t n, cap;
};

static void add_candidate(struct candidates *c, const struct table_sym *s)
{
	array_reserve(c->sym, c->cap, c->n + 1);
	c->sym[c->n++] = s;
}

static int compare_candidate(const void *pa, const void *pb)
{
	const struct table_sym *a = *(const struct table_sym *const *)pa;
	const struct table_sym *b = *(const struct table_sym *const *)pb;

	if (a->off != b->off)
		return a->off < b->off ? -1 : 1;
	return (a > b) - (a < b);
}

/* Of several names of the same, the first stays. */
static void sort_candidates(struct candidates *c)
{
	size_t n = 0;

	if (!c->n)
		return;
	qsort(c->sym, c->n, sizeof(*c->sym), compare_candidate);
	for (size_t i = 0; i < c->n; i++) {
		if (!n || c->sym[n - 1]->off != c->sym[i]->off)
			c->sym[n++] = c->sym[i];
	}
	c->n = n;
}

static char *candidate_symbol(const struct maptable *t, const struct table_sym *s)
{
	return function_symbol(t->str + t->func[s->func].name, t->str + t->func[s->func].linkage);
}

/* "FILE:LINE" of its first line, or NULL. */
static char *candidate_line(const struct maptable *t, const struct table_sym *s)
{
	uint32_t row = table_search(t->row_off, t->n_row, s->off);

	if (row == NONE || t->row_file[row] == NONE)
		return NULL;
	return xasprintf("%s:%u", file_name(t, t->row_file[row]), t->row_line[row] & ROW_LINE);
}

/* A way to write each: its name, with parameters, the symbol, or its first line. */
static char *candidate_text(const struct maptable *t, const struct table_sym *s, int way)
{
	const struct table_func *f = &t->func[s->func];

	switch (way) {
	case 0:
		return t->str[f->name] == '_' && strchr("ZR", t->str[f->name + 1])
			       ? NULL /* mangled */
			       : xstrdup(t->str + f->name);
	case 1:
		return function_full_name(t->str + f->name, t->str + f->linkage);
	case 2:
		return candidate_symbol(t, s);
	default:
		return candidate_line(t, s);
	}
}

static void free_texts(char **text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(text[i]);
	free(text);
}

static bool are_distinct(char *const *text, size_t n)
{
	_cleanup_free_ char **sorted = xreallocarray(NULL, n, sizeof(*sorted));

	memcpy(sorted, text, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare_strings);
	for (size_t i = 1; i < n; i++) {
		if (!strcmp(sorted[i - 1], sorted[i]))
			return false;
	}
	return true;
}

/* The first way in which all are told apart; NULL: there is none, or they are too many. */
static char **distinct_texts(const struct maptable *t, const struct candidates *c)
{
	for (int way = 0; way < 4 && c->n <= MAX_TOLD; way++) {
		char **text = xcalloc(c->n, sizeof(*text));
		size_t n = 0;

		while (n < c->n && (text[n] = candidate_text(t, c->sym[n], way)) != NULL)
			n++;
		if (n == c->n && are_distinct(text, n))
			return text;
		free_texts(text, n);
	}
	return NULL;
}

/* Functions that differ; copies that the compiler made of one are one. */
static bool all_copies(const struct maptable *t, const struct candidates *c)
{
	_cleanup_free_ char *first = candidate_symbol(t, c->sym[0]);
	_cleanup_free_ char *line = candidate_line(t, c->sym[0]);

	for (size_t i = 1; i < c->n; i++) {
		_cleanup_free_ char *symbol = candidate_symbol(t, c->sym[i]);
		_cleanup_free_ char *other = candidate_line(t, c->sym[i]);
		bool clone = strchr(t->str + t->func[c->sym[i]->func].linkage, '.') ||
			     strchr(t->str + t->func[c->sym[0]->func].linkage, '.');

		if (strcmp(first, symbol))
			return false;
		if (line && other ? strcmp(line, other) : !clone)
			return false;
	}
	return true;
}

static void find_candidates(const struct maptable *t, const bool *marked, struct candidates *ret)
{
	const struct table_sym *part = NULL;

	*ret = (struct candidates){ .n = 0 };
	for (uint32_t i = 0; i < t->n_sym; i++) {
		const struct table_sym *s = &t->sym[i];

		if (!marked[s->func] || s->flags & SYM_COLD)
			continue;
		/* The rest of a function whose beginning was inlined. */
		if (strstr(t->str + t->func[s->func].linkage, ".part."))
			part = s;
		else
			add_candidate(ret, s);
	}
	if (!ret->n && part)
		add_candidate(ret, part);
	sort_candidates(ret);
}

static char *list_candidates(const struct maptable *t, const struct candidates *c)
{
	char **text = distinct_texts(t, c), *list = xstrdup("");

	for (size_t i = 0; text && i < c->n && i < MAX_LISTED; i++)
		text_add(&list, "%s%s", i ? "; " : "", text[i]);
	if (text && c->n > MAX_LISTED)
		text_add(&list, " and %zu more", c->n - MAX_LISTED);
	if (text)
		free_texts(text, c->n);
	return list;
}

int maptable_function_addresses(const struct maptable *t, const char *function, uint64_t **vaddrs,
				size_t *n, struct error *err)
{
	_cleanup_free_ bool *marked = NULL;
	struct candidates c;
	bool any;
	int r = 0;

	*vaddrs = NULL;
	*n = 0;
	marked = match_functions(t, function, &any);
	if (!any)
		return no_function(t, function, err);
	find_candidates(t, marked, &c);
	if (!c.n) {
		r = table_only_inlined(t, marked, function, err);
	} else if (!all_copies(t, &c)) {
		_cleanup_free_ char *list = list_candidates(t, &c);

		r = error_set(err, ENOTUNIQ, "%s has %zu functions \"%s\"%s%s", maptable_name(t),
			      c.n, function,
			      *list	       ? ": write which one: "
			      : c.n > MAX_TOLD ? ": write its parameters, or a line (FILE:LINE)"
					       : ", and nothing tells them apart: compile it with "
						 "-g and name a line (FILE:LINE)",
			      list);
	} else if (!(r = table_refuse_inlined(t, marked, function, err))) {
		*vaddrs = xcalloc(c.n, sizeof(**vaddrs));
		for (size_t i = 0; i < c.n; i++)
			(*vaddrs)[(*n)++] = t->h->base + c.sym[i]->off;
	}
	free(c.sym);
	return r;
}

char *maptable_function_overloads(const struct maptable *t, const char *function)
{
	_cleanup_free_ bool *marked = NULL;
	struct candidates c;
	char *list = NULL;
	bool any;

	marked = match_functions(t, function, &any);
	find_candidates(t, marked, &c);
	if (c.n > 1 && !all_copies(t, &c))
		list = list_candidates(t, &c);
	if (list && !*list)
		text_add(&list, "%zu functions of that name", c.n);
	free(c.sym);
	return list;
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

/*
 * Who runs a loop of OpenMP, or one that gcc made parallel, runs it in a function of its own, which
 * threads enter without the one that it is a part of: "f._omp_fn.0" (gcc), "f.omp_outlined" (clang
 * from 17 on). 0: @name is of none such; else the length of "f".
 */
static size_t outlined_from(const char *name)
{
	static const char *const marks[] = { "._omp_fn.", "._loopfn.", ".omp_outlined" };

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		const char *at = strstr(name, marks[i]);

		if (at && at > name)
			return at - name;
	}
	return 0;
}

static bool is_called(const struct maptable *t, uint32_t func, const char *name, size_t len)
{
	const char *names[] = { t->str + t->func[func].name, t->str + t->func[func].linkage };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strncmp(names[i], name, len) && !names[i][len])
			return true;
	}
	return false;
}

static void mark_outlined(const struct maptable *t, bool *func)
{
	_cleanup_free_ bool *asked = xcalloc(t->n_func + 1, sizeof(*asked));

	memcpy(asked, func, t->n_func * sizeof(*asked));
	for (uint32_t i = 0; i < t->n_func; i++) {
		const char *name = t->str + t->func[i].name;
		size_t len = outlined_from(name);

		for (uint32_t k = 0; len && !func[i] && k < t->n_func; k++)
			func[i] = asked[k] && is_called(t, k, name, len);
	}
}

/* Of the marked functions, inlined copies too. */
static void add_marked_functions(const struct maptable *t, const bool *func,
				 struct addr_ranges *ret, size_t *cap)
{
	_cleanup_free_ bool *scope = xcalloc(t->n_scope + 1, sizeof(*scope));

	for (uint32_t i = 0; i < t->n_scope; i++)
		scope[i] = func[t->scope[i].func];
	add_marked_scopes(t, scope, ret, cap);
	for (uint32_t i = 0; i < t->n_sym; i++) {
		const struct table_sym *s = &t->sym[i];

		if (func[s->func])
			add_range(ret, cap, t->h->base + s->off, t->h->base + s->off + s->size);
	}
}

int maptable_functions_ranges(const struct maptable *t, const char *glob, struct addr_ranges *ret,
			      struct error *err)
{
	_cleanup_free_ bool *func = xcalloc(t->n_func + 1, sizeof(*func));
	size_t cap = 0;

	*ret = (struct addr_ranges){ 0 };
	table_is_wanted(t);
	for (uint32_t i = 0; i < t->n_func; i++)
		func[i] = glob_match(glob, t->str + t->func[i].name);
	add_marked_functions(t, func, ret, &cap);
	addr_ranges_sort_merge(ret);
	return ret->n ? 0
		      : error_set(err, ENOENT, "%s has no function that \"%s\" matches",
				  maptable_name(t), glob);
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
		mark_outlined(t, func);
		add_marked_functions(t, func, ret, &cap);
	}
	addr_ranges_sort_merge(ret);
	return ret->n ? 0 : no_function(t, function, err);
}

static bool *match_files(const struct maptable *t, const char *file, const char *glob, bool *any)
{
	bool *marked = xcalloc(t->n_file, sizeof(*marked));
	_cleanup_free_ char *tail = glob ? xasprintf("*/%s", glob) : NULL;

	*any = false;
	table_is_wanted(t);
	for (uint32_t i = 0; i < t->n_file; i++) {
		const char *path = t->str + t->file[i];

		marked[i] = glob ? glob_match(glob, path) || glob_match(tail, path)
				 : path_ends_with(path, file);
		*any |= marked[i];
	}
	return marked;
}

/* Code of the marked files; @line 0: any line. Calls inlined from there count as well. */
/* @first 0: all lines. */
static void file_lines_ranges(const struct maptable *t, const bool *files, uint32_t first,
			      uint32_t last, struct addr_ranges *ret)
{
	_cleanup_free_ bool *scope = xcalloc(t->n_scope, sizeof(*scope));
	size_t cap = 0;

	for (uint32_t i = 0; i + 1 < t->n_row; i++) {
		uint32_t line = t->row_line[i] & ROW_LINE;

		if (t->row_file[i] != NONE && files[t->row_file[i]] &&
		    (!first || (line >= first && line <= last)))
			add_range(ret, &cap, t->h->base + t->row_off[i],
				  t->h->base + t->row_off[i + 1]);
	}
	for (uint32_t i = 0; i < t->n_scope; i++) {
		const struct table_scope *s = &t->scope[i];

		scope[i] = s->call_file != NONE && files[s->call_file] &&
			   (!first || (s->call_line >= first && s->call_line <= last));
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
	_cleanup_free_ char *near = NULL;
	struct similar similar;

	similar_init(&similar, path_base(file));
	for (uint32_t i = 0; i < t->n_file; i++)
		similar_add(&similar, path_base(t->str + t->file[i]));
	near = similar_text(&similar);
	return error_set(err, ENOENT, "no source file of %s matches \"%s\"%s", maptable_name(t),
			 file, near);
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

int maptable_lines_ranges(const struct maptable *t, const char *file, uint32_t first, uint32_t last,
			  struct addr_ranges *ret, struct error *err)
{
	_cleanup_free_ bool *files = NULL;
	bool any;

	*ret = (struct addr_ranges){ 0 };
	if (!t->n_row)
		return no_lines(t, err);
	if (!first)
		return error_set(err, ENOENT, "%s:0 is not a line: lines count from 1", file);
	files = match_files(t, file, NULL, &any);
	if (!any)
		return no_file(t, file, err);
	file_lines_ranges(t, files, first, last, ret);
	return ret->n ? 0 : no_line(t, files, file, first, err);
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
	file_lines_ranges(t, files, 0, 0, ret);
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
