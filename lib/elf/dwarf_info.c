// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions and inlined calls from .debug_info, unit by unit.
 *
 * .debug_info and .debug_line pass through windows (section_stream.h): a distribution's kernel has
 * 230 MB of them, uncompressed. A unit leaves nothing behind but what the table is made of and the
 * scopes that its DIEs are in. Abbreviations tell how large most DIEs are, so that the nine of ten
 * that are no functions are stepped over without looking. What is in functions without code is read
 * only of C++: there classes of their own may be in them.
 *
 * Names come last. A function's machine code, or an inlined call, refers to an abstract DIE, that
 * to a declaration in a class. DIEs have no link to their parents, so the walk notes for every
 * function inside a namespace or class what encloses it (`quals`). Lambdas have no names: the
 * symbol of their function tells what it is called ("main::{lambda(int)#2}"), or, where the
 * compiler gives none to what no other unit can call, their order does ("main::{lambda#2}"). Mostly
 * all of it is in the same unit, and scopes get their names when the unit ends. With link-time
 * optimization or dwz they may refer to other units and files: these (`far`) are named in further
 * passes, which load only the units that are referred to.
 *
 * What a file says is bounded: nothing is read twice but in those passes, nesting is limited, and
 * so are by the size of the sections the number of ranges and that of symbols that are taken apart.
 */
#include "elf/dwarf_file.h"
#include "elf/dwarf_line.h"
#include "elf/dwarf_partner.h"
#include "table/function_name.h"

#include <dwarf.h>

#define MAX_NESTING 256
#define MAX_REFS    8
#define NO_QUAL	    0 /* the empty string */
/* Of a short symbol a long text can be made: so often at most (a lambda takes some 300 bytes). */
#define FEW_SYMBOLS	 1000
#define BYTES_PER_SYMBOL 128

struct qual {
	uint64_t number; /* of a function's DIE */
	uint32_t name;	 /* of what encloses it */
	bool counted;	 /* a class in that has no name but its number */
};

/* A scope that wants a name, and what was found on the way. */
struct nameless {
	uint64_t at;		/* where to look next */
	uint32_t scope;		/* that wants it */
	uint32_t name, linkage; /* strings of the builder; 0: not found yet */
	uint32_t qual, refs;
	bool counted; /* as that of `struct qual` */
};

struct nameless_list {
	struct nameless *v;
	size_t n, cap;
};

/* What holds for the children of a DIE. */
struct level {
	uint32_t scope, qual;
	bool dead;    /* nothing in here matters */
	bool counted; /* as that of `struct qual` */
	bool unnamed; /* the children of a class whose name is still to be told, by its methods */
	uint16_t holder; /* of the classes in here: the level of a class, a function, or the unit */

	/* Of a holder. */
	uint64_t function; /* whose children are here, when its name is wanted; 0: no more */
	uint32_t n_lambda, n_type; /* without names */
	uint32_t inside;	   /* what encloses the function's classes */
	bool inside_counted;
};

struct walk {
	struct table_builder *b;
	const struct elf_image *debug;
	const struct map_options *opt;
	struct dwarf_file main, common;
	struct section_stream line;
	struct line_reader lines;
	uint64_t pieces_left, symbols_left;
	size_t n_split_missing;
	char *split_missing; /* what is wrong with the first */
	struct qual *qual;   /* in order of their numbers */
	size_t n_qual, cap_qual;
	struct nameless_list far;

	/* Of the unit at hand. */
	struct dwarf_file *file;
	struct line_reader *files; /* that call sites are told by */
	bool classes;		   /* the language has functions in classes */
	bool local_classes;	   /* ... and these in functions, or without names */
	struct level level[MAX_NESTING + 2];
	struct nameless_list near;
	const char *trouble;
};

static void add_nameless(struct nameless_list *l, const struct nameless *what)
{
	array_reserve(l->v, l->cap, l->n + 1);
	l->v[l->n++] = *what;
}

static int compare_nameless(const void *pa, const void *pb)
{
	const struct nameless *a = pa, *b = pb;

	return a->at != b->at ? (a->at < b->at ? -1 : 1)
			      : (a->scope > b->scope) - (a->scope < b->scope);
}

static void sort_nameless(struct nameless_list *l)
{
	sort_array(l->v, l->n, sizeof(*l->v), compare_nameless);
}

/* --- names --- */

static void note_qual(struct walk *w, uint64_t number, uint32_t qual, bool counted)
{
	if (qual == NO_QUAL)
		return;
	array_reserve(w->qual, w->cap_qual, w->n_qual + 1);
	w->qual[w->n_qual++] = (struct qual){ number, qual, counted };
}

static void find_qual(const struct walk *w, uint64_t number, struct nameless *what)
{
	size_t lo = 0, hi = w->n_qual;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (w->qual[mid].number < number)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < w->n_qual && w->qual[lo].number == number) {
		what->qual = w->qual[lo].name;
		what->counted = w->qual[lo].counted;
	}
}

/* As much of it as the builder keeps. */
static char *qualified(const char *outer, const char *name)
{
	return xasprintf("%s::%.*s", outer, BUILDER_MAX_NAME, name);
}

/* @what->qual encloses it. NULL: nothing is known. */
static char *full_name(struct walk *w, const char *name, const char *linkage,
		       const struct nameless *what)
{
	_cleanup_free_ char *outer = NULL;
	bool cold;

	if (!name)
		return linkage ? symbol_display_name(linkage, &cold, &w->b->demangling_left) : NULL;
	if (what->qual == NO_QUAL)
		return xstrdup(name);
	if (what->counted && linkage && w->symbols_left) {
		w->symbols_left--;
		outer = function_outer_name(linkage);
	}
	return qualified(outer ? outer : w->b->str.buf + what->qual, name);
}

static uint32_t function_called(struct walk *w, const char *name, const char *linkage,
				const struct nameless *what)
{
	_cleanup_free_ char *full = full_name(w, name, linkage, what);

	return full ? builder_func(w->b, full, linkage) : 0;
}

/* A string that was found earlier; the builder's move when there are more. */
static char *found_earlier(struct walk *w, uint32_t string)
{
	return string ? xstrdup(w->b->str.buf + string) : NULL;
}

/* Follows references in the unit at hand; false: they lead on into another one. */
static bool follow(const struct walk *w, struct dwarf_file *f, struct nameless *what,
		   const char **name, const char **linkage)
{
	struct attributes a;

	for (; what->refs < MAX_REFS; what->refs++) {
		if (!dwarf_file_at_hand(f, what->at))
			return false;
		if (!dwarf_file_die(f, what->at, &a))
			break;
		*name = *name ? *name : a.name;
		*linkage = *linkage ? *linkage : a.linkage;
		if (what->qual == NO_QUAL)
			find_qual(w, what->at, what);
		if (!a.abstract_origin && !a.specification)
			break;
		what->at = a.abstract_origin ? a.abstract_origin : a.specification;
	}
	return true;
}

/* The function, or NONE when another unit knows it: then @what tells what is known so far. */
static uint32_t function_at(struct walk *w, struct dwarf_file *f, struct nameless *what)
{
	_cleanup_free_ char *old_name = found_earlier(w, what->name),
			    *old_linkage = found_earlier(w, what->linkage);
	const char *name = old_name, *linkage = old_linkage;

	if (follow(w, f, what, &name, &linkage))
		return function_called(w, name, linkage, what);
	what->name = name ? builder_string(w->b, name) : 0;
	what->linkage = linkage ? builder_string(w->b, linkage) : 0;
	return NONE;
}

/* What the unit at hand has to say of the scopes in @l from @i on; returns where it has no more. */
static size_t name_scopes(struct walk *w, struct dwarf_file *f, const struct nameless_list *l,
			  size_t i)
{
	uint32_t func = 0;
	struct nameless last = { 0 };

	for (; i < l->n && l->v[i].at < f->unit.end; i++) {
		struct nameless what = l->v[i];

		if (what.at != last.at || what.name != last.name || what.linkage != last.linkage ||
		    what.qual != last.qual || what.refs != last.refs || func == NONE) {
			last = what;
			func = function_at(w, f, &what);
		}
		if (func == NONE)
			add_nameless(&w->far, &what);
		else
			w->b->scope[what.scope].func = func;
	}
	return i;
}

/* Of references that lead nowhere: what was found on the way has to do. */
static size_t give_up(struct walk *w, const struct nameless_list *l, size_t i, uint64_t end)
{
	for (; i < l->n && l->v[i].at < end; i++) {
		const struct nameless *what = &l->v[i];
		_cleanup_free_ char *name = found_earlier(w, what->name),
				    *linkage = found_earlier(w, what->linkage);

		w->b->scope[what->scope].func = function_called(w, name, linkage, what);
	}
	return i;
}

static size_t name_far_in(struct walk *w, struct dwarf_file *f, const struct nameless_list *far,
			  size_t i)
{
	uint64_t off = 0, length, size;

	for (; i < far->n && (length = dwarf_file_next_unit(f, off)); off += length) {
		uint64_t end = f->first + off + length;

		i = give_up(w, far, i, f->first + off);
		if (i == far->n || far->v[i].at >= end)
			continue;
		if (!dwarf_file_load_unit(f, off, NULL, &size))
			i = name_scopes(w, f, far, i);
		i = give_up(w, far, i, end);
	}
	return i;
}

/* One more pass for each reference from unit to unit. */
static void name_far(struct walk *w)
{
	for (int pass = 0; w->far.n && pass < MAX_REFS; pass++) {
		struct nameless_list far = w->far;
		size_t i;

		w->far = (struct nameless_list){ 0 };
		sort_nameless(&far);
		i = name_far_in(w, &w->main, &far, 0);
		i = give_up(w, &far, i, DWARF_COMMON);
		i = name_far_in(w, &w->common, &far, i);
		give_up(w, &far, i, UINT64_MAX);
		free(far.v);
	}
	give_up(w, &w->far, 0, UINT64_MAX);
}

/* --- the walk over a unit --- */

/* "outer::name", as a string of the builder. */
static uint32_t qualify(struct walk *w, uint32_t outer, const char *name)
{
	_cleanup_free_ char *full = NULL;

	if (outer == NO_QUAL)
		return builder_string(w->b, name);
	full = qualified(w->b->str.buf + outer, name);
	return builder_string(w->b, full);
}

/* What encloses a class at @l, which holds it: there may be a function around. */
static uint32_t enclosing(struct walk *w, const struct level *l, bool *counted)
{
	struct level *holder = &w->level[l->holder];
	struct nameless what = { .at = holder->function };
	const char *name = NULL, *linkage = NULL;
	_cleanup_free_ char *full = NULL;

	if (holder->function) {
		follow(w, w->file, &what, &name, &linkage);
		full = full_name(w, name, linkage, &what);
		holder->inside = full ? builder_string(w->b, full) : l->qual;
		holder->inside_counted = what.counted;
		holder->function = 0;
	}
	*counted = holder->inside ? holder->inside_counted : l->counted;
	return holder->inside ? holder->inside : l->qual;
}

/* The class whose children are at @l has no name. What it is, its first method tells. */
static void name_class(struct walk *w, struct level *l, const char *method)
{
	struct level *holder;
	char name[32];

	if (!l->unnamed)
		return;
	name_class(w, l - 1, NULL);
	holder = &w->level[l[-1].holder];
	if (method && (!strncmp(method, "operator()", 10) || strstr(method, "lambda")))
		snprintf(name, sizeof(name), "{lambda#%u}", ++holder->n_lambda);
	else
		snprintf(name, sizeof(name), "{unnamed type#%u}", ++holder->n_type);
	l->qual = qualify(w, enclosing(w, l - 1, &l->counted), name);
	l->counted = true;
	l->unnamed = false;
}

struct piece_sink {
	struct walk *w;
	uint32_t scope;
	bool any;
	uint64_t first;
};

static void add_piece(uint64_t start, uint64_t end, void *arg)
{
	struct piece_sink *s = arg;

	if (!builder_scope_range(s->w->b, s->scope, start, end))
		return;
	if (!s->any)
		s->first = start;
	s->any = true;
}

static bool add_pieces(struct walk *w, const struct attributes *a, uint32_t scope, uint64_t *first)
{
	struct piece_sink sink = { .w = w, .scope = scope };

	if (a->ranges.kind != VALUE_NONE) {
		w->trouble =
			unit_ranges(&w->file->unit, &a->ranges, &w->pieces_left, add_piece, &sink);
	} else if (a->low.kind == VALUE_ADDR && a->high.kind != VALUE_NONE && w->pieces_left) {
		w->pieces_left--;
		add_piece(a->low.u, a->high.kind == VALUE_ADDR ? a->high.u : a->low.u + a->high.u,
			  &sink);
	}
	*first = sink.first;
	return sink.any;
}

/* A scope of the DIE's code, which wants a name; NONE when it has no code in the text. */
static uint32_t add_scope(struct walk *w, uint64_t number, const struct attributes *a,
			  uint32_t parent, uint32_t call_file, uint32_t call_line, uint64_t *first)
{
	uint32_t scope;

	if (a->low.kind != VALUE_ADDR && a->ranges.kind == VALUE_NONE)
		return NONE;
	scope = builder_scope(w->b, parent, call_file, call_line);
	if (!add_pieces(w, a, scope, first)) {
		if (scope + 1 == w->b->n_scope)
			w->b->n_scope = scope;
		return NONE;
	}
	/* Copies of a function share its abstract DIE: one name for all of them. */
	add_nameless(&w->near,
		     &(struct nameless){ .at = a->abstract_origin ? a->abstract_origin : number,
					 .scope = scope });
	return scope;
}

static void note_entry(struct walk *w, const struct attributes *a, uint32_t scope, uint64_t first)
{
	struct table_builder *b = w->b;
	uint64_t entry = a->entry.kind == VALUE_ADDR ? a->entry.u
			 : a->low.kind == VALUE_ADDR ? a->low.u
						     : first;
	uint32_t off;

	if (a->entry.kind == VALUE_CONST && a->low.kind == VALUE_ADDR)
		entry = a->low.u + a->entry.u;
	if (!builder_offset(b, entry, &off) && !builder_offset(b, first, &off))
		return;
	array_reserve(b->sym, b->cap_sym, b->n_sym + 1);
	/* The scope stands in for its function until that has a name. */
	b->sym[b->n_sym++] = (struct table_sym){ scope, off, 0, SYM_SCOPE };
}

/* @up: where the DIE is. Returns what holds for its children. */
static struct level enter_subprogram(struct walk *w, uint64_t number, const struct attributes *a,
				     struct level *up)
{
	struct level in = { .holder = up - w->level + 1 };
	uint64_t first;

	name_class(w, up, a->name);
	note_qual(w, number, up->qual, up->counted);
	in.qual = up->qual;
	in.counted = up->counted;
	in.function = w->local_classes ? number : 0;
	in.scope = add_scope(w, number, a, NONE, NONE, 0, &first);
	in.dead = in.scope == NONE && !w->local_classes;
	if (in.scope != NONE)
		note_entry(w, a, in.scope, first);
	return in;
}

static struct level enter_inlined(struct walk *w, uint64_t number, const struct attributes *a,
				  const struct level *up)
{
	struct level in = *up;
	uint32_t file = NONE;
	uint64_t line = a->call_line <= ROW_LINE ? a->call_line : 0, first;

	if (up->scope != NONE) {
		if (a->has_call_file)
			file = line_program_file(w->files, a->call_file);
		in.scope = add_scope(w, number, a, up->scope, file, line, &first);
	}
	in.dead = in.scope == NONE;
	return in;
}

static struct level enter_class(struct walk *w, const struct attributes *a, struct level *up)
{
	struct level in = { .scope = NONE, .qual = up->qual, .holder = up - w->level + 1 };

	in.counted = up->counted;
	in.unnamed = !a->name && w->local_classes;
	if (!a->name)
		return in;
	name_class(w, up, NULL);
	in.qual = qualify(w, enclosing(w, up, &in.counted), a->name);
	return in;
}

enum interest { SKIP, SUBPROGRAM, INLINED, BLOCK, NAMESPACE, MODULE, CLASS };

static enum interest interest(uint16_t tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
		return SUBPROGRAM;
	case DW_TAG_inlined_subroutine:
		return INLINED;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		return BLOCK;
	case DW_TAG_namespace:
		return NAMESPACE;
	case DW_TAG_module:
		return MODULE;
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type:
		return CLASS;
	default:
		return SKIP;
	}
}

/* Reads a DIE; @sibling: what follows its children, or 0. Returns what holds for these. */
static struct level enter(struct walk *w, struct cursor *c, const struct abbrev *a, uint64_t number,
			  struct level *up, uint64_t *sibling)
{
	enum interest what = up->dead ? SKIP : interest(a->tag);
	struct level in = { .scope = NONE, .qual = up->qual, .dead = true, .holder = up->holder };
	struct attributes attr;

	if (what == CLASS && (!w->classes || !a->children))
		what = SKIP;
	if (what == SKIP || what == BLOCK) {
		*sibling = die_skip_attributes(w->file, c, a);
		if (what == BLOCK)
			in = *up;
		return in;
	}
	die_attributes(w->file, c, a, &attr);
	*sibling = attr.sibling;
	switch (what) {
	case SUBPROGRAM:
		return enter_subprogram(w, number, &attr, up);
	case INLINED:
		return enter_inlined(w, number, &attr, up);
	case NAMESPACE:
		in.qual = qualify(w, up->qual, attr.name ? attr.name : "(anonymous namespace)");
		break;
	case CLASS:
		return enter_class(w, &attr, up);
	default: /* a module gives no name */
		break;
	}
	in.dead = false;
	return in;
}

static const char *walk(struct walk *w)
{
	struct unit *u = &w->file->unit;
	struct cursor *c = &u->c;
	size_t depth = 0;

	while (c->p < c->end && !c->bad && !w->trouble) {
		uint64_t number = u->offset + (c->p - u->start), sibling, here;
		uint64_t code = cursor_uleb(c);
		const struct abbrev *a;
		struct level in;

		if (!code) {
			if (!depth || !--depth)
				return NULL;
			continue;
		}
		a = abbrev_find(&w->file->abbrevs, code);
		if (!a)
			return dwarf_why(NO_ABBREV, (unsigned long long)code);
		if (!depth) { /* the root is no function */
			die_skip_attributes(w->file, c, a);
			if (!a->children)
				return NULL;
			w->level[++depth] = (struct level){ .scope = NONE, .holder = 1 };
			continue;
		}
		in = enter(w, c, a, number, &w->level[depth], &sibling);
		if (!a->children)
			continue;
		here = u->offset + (c->p - u->start);
		if (in.dead && sibling >= here && sibling < u->end) {
			c->p = u->start + (sibling - u->offset);
			continue;
		}
		if (depth >= MAX_NESTING)
			return "its DIEs are nested too deeply";
		w->level[++depth] = in;
	}
	return w->trouble ? w->trouble : c->bad ? "it ends in the middle of a DIE" : NULL;
}

static bool has_local_classes(uint32_t language)
{
	switch (language) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_ObjC_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case 0x2a: /* DW_LANG_C_plus_plus_17 */
	case 0x2b: /* DW_LANG_C_plus_plus_20 */
	case 0x3a: /* DW_LANG_C_plus_plus_23 */
		return true;
	default:
		return false;
	}
}

static bool has_classes(uint32_t language)
{
	switch (language) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case 0x2c: /* DW_LANG_C17 */
	case DW_LANG_Mips_Assembler:
		return false;
	default:
		return true;
	}
}

/* The unit that @f has at hand. */
static const char *read_dies(struct walk *w, struct dwarf_file *f, struct line_reader *files)
{
	const char *why;

	w->file = f;
	w->files = files;
	w->classes = has_classes(f->unit.language);
	w->local_classes = has_local_classes(f->unit.language);
	w->trouble = NULL;
	w->near.n = 0;
	why = walk(w);
	sort_nameless(&w->near);
	for (size_t i = name_scopes(w, f, &w->near, 0); i < w->near.n; i++)
		add_nameless(&w->far, &w->near.v[i]);
	return why;
}

/* --- units and files --- */

static const char *read_split(struct walk *w, const struct unit *skeleton)
{
	struct line_reader own = { .b = w->b }, *files = &w->lines;
	size_t n_qual = w->n_qual, n_lines;
	const void *lines;
	struct elf_image *image;
	struct dwarf_file f;
	const char *why;

	if (!dwarf_split_open(&f, &image, w->debug, w->opt, skeleton, w->b, &w->split_missing)) {
		w->n_split_missing++;
		return NULL;
	}
	w->pieces_left += 2 * f.info.size + f.sec.rnglists.n;
	w->symbols_left += f.info.size / BYTES_PER_SYMBOL;
	lines = elf_image_load(image, "debug_line.dwo", &n_lines, w->b);
	own.line = section_of(lines, n_lines);
	own.str = f.sec.str;
	own.line_str = f.sec.line_str;
	if (lines && !line_program_read(&own, 0, skeleton->comp_dir))
		files = &own;
	why = read_dies(w, &f, files);
	w->n_qual = n_qual; /* nothing refers to it from elsewhere */
	line_reader_deinit(&own);
	dwarf_file_close(&f);
	elf_image_close(image);
	return why;
}

static void read_lines(struct walk *w, const struct unit *u)
{
	uint64_t off = u->line_offset, length;
	const char *why = NULL;
	const uint8_t *p;

	w->lines.n_file = 0;
	if (!u->has_lines)
		return;
	p = section_stream_get(&w->line, off, 12);
	if (!p || !unit_length(p, 12, &length) || length > w->line.size - off ||
	    !(p = section_stream_get(&w->line, off, length))) {
		why = w->line.trouble ? w->line.trouble : "it is not in .debug_line";
	} else {
		w->lines.line = (struct section){ p, length };
		w->lines.origin = off;
		why = line_program_read(&w->lines, off, u->comp_dir);
	}
	if (why)
		builder_warn(w->b, "%s: line program at 0x%llx: %s", w->main.name,
			     (unsigned long long)off, why);
}

static const char *read_unit(struct walk *w)
{
	const struct unit *u = &w->main.unit;

	if (u->type == DW_UT_type || u->type == DW_UT_split_type)
		return NULL;
	read_lines(w, u);
	if (u->dwo_name && (u->type == DW_UT_skeleton || u->version < 5))
		return read_split(w, u);
	return read_dies(w, &w->main, &w->lines);
}

/* There is no code in it, but declarations in namespaces and classes. */
static const char *read_common(struct walk *w)
{
	return read_dies(w, &w->common, &w->lines);
}

static void read_units(struct walk *w, struct dwarf_file *f, const char *(*read)(struct walk *w))
{
	uint64_t off = 0, length = 1;

	for (; length && off < f->info.size; off += length) {
		const char *why = dwarf_file_load_unit(f, off, NULL, &length);

		if (!why)
			why = read(w);
		if (why)
			builder_warn(w->b, "%s: DWARF unit at 0x%llx: %s", f->name,
				     (unsigned long long)off, why);
	}
}

static bool open_lines(struct walk *w)
{
	const char *why = section_stream_open(&w->line, w->debug, "debug_line");

	if (why)
		builder_warn(w->b, "%s: .debug_line: %s", w->debug->name, why);
	w->lines.str = w->main.sec.str;
	w->lines.line_str = w->main.sec.line_str;
	w->lines.total = w->line.size;
	return !why;
}

bool dwarf_read(const struct elf_image *debug, const struct map_options *opt,
		struct table_builder *b)
{
	struct walk *w = xcalloc(1, sizeof(*w));
	struct elf_image *common = NULL;
	bool any;

	w->b = w->lines.b = b;
	w->debug = debug;
	w->opt = opt;
	if (dwarf_file_open(&w->main, debug, false, 0, b) && open_lines(w)) {
		common = dwarf_common_open(debug, opt, b);
		if (common && dwarf_file_open(&w->common, common, false, DWARF_COMMON, b))
			w->main.sec.common = &w->common.sec;
		w->symbols_left = FEW_SYMBOLS + w->main.info.size / BYTES_PER_SYMBOL;
		w->pieces_left = 2 * w->main.info.size + w->main.sec.ranges.n +
				 w->main.sec.rnglists.n + (1 << 20);
		read_units(w, &w->main, read_unit);
		if (w->far.n)
			read_units(w, &w->common, read_common);
		name_far(w);
	}
	for (size_t i = 0; i < b->n_sym; i++) {
		if (b->sym[i].flags & SYM_SCOPE) {
			b->sym[i].func = b->scope[b->sym[i].func].func;
			b->sym[i].flags = 0;
		}
	}
	if (w->n_split_missing) {
		b->flags |= TABLE_PARTIAL;
		builder_warn(b,
			     "%s: no inlined calls are known where its debug information is in "
			     "split files (.dwo) that cannot be read: %zu, the first: %s",
			     debug->name, w->n_split_missing, w->split_missing);
	}
	any = b->n_seq || b->n_piece;
	section_stream_close(&w->line);
	dwarf_file_close(&w->main);
	dwarf_file_close(&w->common);
	elf_image_close(common);
	line_reader_deinit(&w->lines);
	free(w->split_missing);
	free(w->qual);
	free(w->near.v);
	free(w->far.v);
	free(w);
	return any;
}
