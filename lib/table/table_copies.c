// SPDX-License-Identifier: GPL-2.0-or-later
/* Which copy of a function an address is in: its own code, or where it was inlined. */
#include "table/table.h"

static uint32_t scope_at(const struct maptable *t, uint32_t off)
{
	uint32_t iv = table_search(t->iv_off, t->n_iv, off);

	return iv == NONE ? NONE : t->iv_scope[iv];
}

uint32_t maptable_instance(const struct maptable *t, uint64_t vaddr, const char *file,
			   uint32_t line)
{
	uint32_t scope = NONE;

	if (vaddr >= t->h->base && vaddr - t->h->base < NONE)
		scope = scope_at(t, vaddr - t->h->base);
	while (scope != NONE) {
		const struct table_scope *s = &t->scope[scope];

		if (s->parent == NONE || s->call_file == NONE || s->call_line != line ||
		    !path_ends_with(t->str + t->file[s->call_file], file))
			break;
		scope = s->parent;
	}
	return scope;
}

/* Somewhere a line begins in a copy of a function. */
struct line_in {
	uint32_t file, line, scope;
};

static int by_line(const void *a, const void *b)
{
	const struct line_in *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->scope < y->scope ? -1 : x->scope > y->scope;
}

/* "FILE:LINE" of the first line that begins in all @copies, or NULL. */
static char *common_line(const struct maptable *t, struct line_in *v, size_t n, size_t copies)
{
	size_t in = 0;

	if (n)
		qsort(v, n, sizeof(*v), by_line);
	for (size_t i = 0; i < n; i++) {
		if (!i || v[i].file != v[i - 1].file || v[i].line != v[i - 1].line)
			in = 1;
		else
			in += v[i].scope != v[i - 1].scope;
		if (in == copies)
			return xasprintf("%s:%u", t->str + t->file[v[i].file], v[i].line);
	}
	return NULL;
}

/* Of the marked functions: where lines begin in each copy, and how many copies there are. */
static char *line_of_copies(const struct maptable *t, const bool *marked, size_t copies)
{
	_cleanup_free_ struct line_in *v = NULL;
	size_t n = 0, cap = 0;

	for (uint32_t i = 0; i < t->n_row; i++) {
		uint32_t scope;

		if (t->row_file[i] == NONE || !(t->row_line[i] & ROW_STMT) ||
		    !(t->row_line[i] & ROW_LINE))
			continue;
		scope = scope_at(t, t->row_off[i]);
		if (scope == NONE || !marked[t->scope[scope].func])
			continue;
		array_reserve(v, cap, n + 1);
		v[n++] = (struct line_in){ t->row_file[i], t->row_line[i] & ROW_LINE, scope };
	}
	return common_line(t, v, n, copies);
}

/* Copies of the marked functions that have code; *@inlined: those of them that are in another one.
 */
static size_t count_copies(const struct maptable *t, const bool *marked, size_t *inlined)
{
	_cleanup_free_ bool *has_code = xcalloc(t->n_scope + 1, sizeof(*has_code));
	size_t copies = 0;

	*inlined = 0;
	for (uint32_t i = 0; i < t->n_iv; i++) {
		uint32_t scope = t->iv_scope[i];

		for (; scope != NONE && !has_code[scope]; scope = t->scope[scope].parent)
			has_code[scope] = true;
	}
	for (uint32_t i = 0; i < t->n_scope; i++) {
		if (!has_code[i] || !marked[t->scope[i].func])
			continue;
		copies++;
		*inlined += t->scope[i].parent != NONE;
	}
	return copies;
}

/* Where an inlined copy begins nothing tells: its instructions are mixed with those around it. */
int table_refuse_inlined(const struct maptable *t, const bool *marked, const char *function,
			 struct error *err)
{
	_cleanup_free_ char *line = NULL;
	size_t inlined, copies = count_copies(t, marked, &inlined);

	if (!inlined)
		return 0;
	line = line_of_copies(t, marked, copies);
	return error_set(err, ENOTUNIQ,
			 "%s: function \"%s\" is inlined in %zu place%s as well, which a probe at "
			 "its address would miss: name a line of it, %s%s",
			 maptable_name(t), function, inlined, inlined == 1 ? "" : "s",
			 line ? "which counts them all: " : "FILE:LINE", line ? line : "");
}

int table_only_inlined(const struct maptable *t, const bool *marked, const char *function,
		       struct error *err)
{
	_cleanup_free_ char *line = NULL;
	size_t inlined, copies;

	if (!err) /* nobody asks, and the search is not for free */
		return -ENOENT;
	copies = count_copies(t, marked, &inlined);
	line = line_of_copies(t, marked, copies);
	return error_set(err, ENOENT,
			 "function \"%s\" of %s is inlined everywhere and has no address of its "
			 "own: name a line of it instead, %s%s",
			 function, maptable_name(t),
			 line ? "which counts all calls: " : "FILE:LINE", line ? line : "");
}
