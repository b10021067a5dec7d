// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions and inlined calls of a kernel image from .debug_info, unit by unit.
 *
 * dwarf_info.c does this through libdw, which wants all sections in memory: 230 MB for a
 * distribution's kernel, uncompressed, before the first DIE is read. Here .debug_info and
 * .debug_line pass through a window (section_stream.h), and a unit leaves nothing behind but what
 * the table is made of. Abbreviations tell how large most DIEs are, so that the nine of ten that
 * are no functions are stepped over without looking.
 *
 * Names: a unit notes its subprogram DIEs (`names`), in order of offset. Scopes refer to one of
 * them, mostly of the same unit, and get their names when the unit ends. With link-time
 * optimization they may refer to another unit: these (`far`) are named in further passes, which
 * look only at units that are referred to.
 *
 * Kernels have neither common files (dwz) nor split units; images that do are left to dwarf_info.c.
 */
#include "map/dwarf_line.h"
#include "map/dwarf_unit.h"
#include "map/elf_image.h"
#include "map/section_stream.h"

#include <dwarf.h>

#define MAX_NESTING 256
#define MAX_REFS    8
#define MAX_PASSES  4
#define NO_QUAL	    0 /* the empty string */

struct name {
	uint64_t off, ref; /* ref 0: none */
	const char *name, *linkage;
	uint32_t qual, func; /* func NONE: not asked for yet */
};

struct pending {
	uint64_t origin;
	uint32_t scope;
};

/* What holds for the children of a DIE. */
struct level {
	uint32_t scope, qual;
	bool dead; /* nothing in here matters */
};

struct reader {
	struct table_builder *b;
	const char *file;
	struct section_stream info, line;
	struct dwarf_sections sec;
	struct line_reader lines;
	struct abbrevs abbrevs;
	uint64_t pieces_left;

	/* Of the unit at hand. */
	struct unit unit;
	struct level level[MAX_NESTING + 2];
	struct name *name;
	size_t n_name, cap_name;
	struct pending *pending;
	size_t n_pending, cap_pending;
	bool classes, names_only;
	const char *trouble;

	struct pending *far;
	size_t n_far, cap_far;
};

/* The attributes that matter of a function or an inlined call. */
struct attributes {
	const char *name, *linkage;
	struct value low, high, ranges, entry;
	uint64_t origin, sibling, call_line;
	uint64_t call_file;
	bool has_call_file;
};

static void read_attributes(struct reader *r, struct cursor *c, const struct abbrev *a,
			    struct attributes *ret)
{
	const struct abbrev_attr *attr = &r->abbrevs.attr[a->first];

	memset(ret, 0, sizeof(*ret));
	for (uint32_t i = 0; i < a->n; i++, attr++) {
		struct value v;

		switch (attr->at) {
		case DW_AT_name:
		case DW_AT_linkage_name:
		case DW_AT_MIPS_linkage_name:
		case DW_AT_low_pc:
		case DW_AT_high_pc:
		case DW_AT_ranges:
		case DW_AT_entry_pc:
		case DW_AT_abstract_origin:
		case DW_AT_specification:
		case DW_AT_sibling:
		case DW_AT_call_file:
		case DW_AT_call_line:
			break;
		default:
			unit_skip_value(&r->unit, c, attr->form);
			continue;
		}
		unit_value(&r->unit, c, attr, &v);
		switch (attr->at) {
		case DW_AT_name:
			ret->name = v.s;
			break;
		case DW_AT_low_pc:
			ret->low = v;
			break;
		case DW_AT_high_pc:
			ret->high = v;
			break;
		case DW_AT_ranges:
			ret->ranges = v;
			break;
		case DW_AT_entry_pc:
			ret->entry = v;
			break;
		case DW_AT_abstract_origin:
		case DW_AT_specification:
			if (v.kind == VALUE_REF)
				ret->origin = v.u;
			break;
		case DW_AT_sibling:
			if (v.kind == VALUE_REF)
				ret->sibling = v.u;
			break;
		case DW_AT_call_file:
			ret->call_file = v.u;
			ret->has_call_file = true;
			break;
		case DW_AT_call_line:
			ret->call_line = v.u;
			break;
		default:
			ret->linkage = v.s;
			break;
		}
	}
}

/* Steps over the attributes of a DIE; returns its sibling, or 0. */
static uint64_t skip_attributes(struct reader *r, struct cursor *c, const struct abbrev *a)
{
	const struct abbrev_attr *attr = &r->abbrevs.attr[a->first];
	uint64_t sibling = 0;

	if (a->fixed >= 0 && !a->children) {
		cursor_skip(c, a->fixed);
		return 0;
	}
	for (uint32_t i = 0; i < a->n; i++, attr++) {
		struct value v;

		if (attr->at != DW_AT_sibling) {
			unit_skip_value(&r->unit, c, attr->form);
			continue;
		}
		unit_value(&r->unit, c, attr, &v);
		if (v.kind == VALUE_REF)
			sibling = v.u;
	}
	return sibling;
}

struct piece_sink {
	struct reader *r;
	uint32_t scope;
	bool any;
	uint64_t first;
};

static void add_piece(uint64_t start, uint64_t end, void *arg)
{
	struct piece_sink *s = arg;

	if (!builder_scope_range(s->r->b, s->scope, start, end))
		return;
	if (!s->any)
		s->first = start;
	s->any = true;
}

static bool add_pieces(struct reader *r, const struct attributes *a, uint32_t scope,
		       uint64_t *first)
{
	struct piece_sink sink = { .r = r, .scope = scope };

	if (a->ranges.kind != VALUE_NONE) {
		r->trouble = unit_ranges(&r->unit, &a->ranges, &r->pieces_left, add_piece, &sink);
	} else if (a->low.kind == VALUE_ADDR && a->high.kind != VALUE_NONE && r->pieces_left) {
		r->pieces_left--;
		add_piece(a->low.u, a->high.kind == VALUE_ADDR ? a->high.u : a->low.u + a->high.u,
			  &sink);
	}
	*first = sink.first;
	return sink.any;
}

static bool may_hold_code(const struct attributes *a)
{
	return a->low.kind == VALUE_ADDR || a->ranges.kind != VALUE_NONE;
}

static void take_back_scope(struct reader *r, uint32_t scope)
{
	if (scope + 1 == r->b->n_scope)
		r->b->n_scope = scope;
}

static void note_name(struct reader *r, uint64_t off, const struct attributes *a, uint32_t qual)
{
	array_reserve(r->name, r->cap_name, r->n_name + 1);
	r->name[r->n_name++] = (struct name){ off, a->origin, a->name, a->linkage, qual, NONE };
}

static void note_scope(struct reader *r, uint64_t off, const struct attributes *a, uint32_t scope)
{
	array_reserve(r->pending, r->cap_pending, r->n_pending + 1);
	r->pending[r->n_pending++] = (struct pending){ a->origin ? a->origin : off, scope };
}

static void note_entry(struct reader *r, const struct attributes *a, uint32_t scope, uint64_t first)
{
	struct table_builder *b = r->b;
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
static struct level enter_subprogram(struct reader *r, uint64_t off, const struct attributes *a,
				     const struct level *up)
{
	struct level in = { NONE, up->qual, true };
	uint64_t first;
	uint32_t scope;

	note_name(r, off, a, up->qual);
	if (r->names_only) {
		in.dead = false;
		return in;
	}
	if (!may_hold_code(a))
		return in;
	scope = builder_scope(r->b, NONE, NONE, 0);
	if (!add_pieces(r, a, scope, &first)) {
		take_back_scope(r, scope);
		return in;
	}
	note_scope(r, off, a, scope);
	note_entry(r, a, scope, first);
	in.scope = scope;
	in.dead = false;
	return in;
}

static struct level enter_inlined(struct reader *r, uint64_t off, const struct attributes *a,
				  const struct level *up)
{
	struct level in = { NONE, up->qual, true };
	uint32_t scope, file = NONE;
	uint64_t line = a->call_line <= ROW_LINE ? a->call_line : 0, first;

	if (up->scope == NONE || !may_hold_code(a))
		return in;
	if (a->has_call_file)
		file = line_program_file(&r->lines, a->call_file);
	scope = builder_scope(r->b, up->scope, file, line);
	if (!add_pieces(r, a, scope, &first)) {
		take_back_scope(r, scope);
		return in;
	}
	note_scope(r, off, a, scope);
	in.scope = scope;
	in.dead = false;
	return in;
}

/* "outer::name", as a string of the builder. */
static uint32_t qualify(struct reader *r, uint32_t outer, const char *name)
{
	_cleanup_free_ char *full = NULL;

	if (outer == NO_QUAL)
		return builder_string(r->b, name);
	full = xasprintf("%s::%s", r->b->str.buf + outer, name);
	return builder_string(r->b, full);
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
static struct level enter(struct reader *r, struct cursor *c, const struct abbrev *a, uint64_t off,
			  const struct level *up, uint64_t *sibling)
{
	enum interest what = up->dead ? SKIP : interest(a->tag);
	struct level in = { NONE, up->qual, true };
	struct attributes attr;

	if (what == CLASS && !r->classes)
		what = SKIP;
	if (what == INLINED && r->names_only)
		what = SKIP;
	if (what == SKIP || what == BLOCK) {
		*sibling = skip_attributes(r, c, a);
		if (what == BLOCK && (up->scope != NONE || r->names_only))
			in = *up;
		return in;
	}
	read_attributes(r, c, a, &attr);
	*sibling = attr.sibling;
	switch (what) {
	case SUBPROGRAM:
		return enter_subprogram(r, off, &attr, up);
	case INLINED:
		return enter_inlined(r, off, &attr, up);
	case NAMESPACE:
		in.qual = qualify(r, up->qual, attr.name ? attr.name : "(anonymous namespace)");
		break;
	case CLASS:
		if (attr.name)
			in.qual = qualify(r, up->qual, attr.name);
		break;
	default: /* a module gives no name */
		in.qual = NO_QUAL;
		break;
	}
	in.dead = false;
	return in;
}

static const char *walk(struct reader *r)
{
	struct unit *u = &r->unit;
	struct cursor *c = &u->c;
	size_t depth = 0;

	while (c->p < c->end && !c->bad && !r->trouble) {
		uint64_t off = u->offset + (c->p - u->start), sibling, here;
		uint64_t code = cursor_uleb(c);
		const struct abbrev *a;
		struct level in;

		if (!code) {
			if (!depth || !--depth)
				return NULL;
			continue;
		}
		a = abbrev_find(&r->abbrevs, code);
		if (!a)
			return "it uses an abbreviation that does not exist";
		if (!depth) { /* the root has been read already, and is no function */
			unit_read_root(u, c, &r->abbrevs, a);
			if (!a->children)
				return NULL;
			r->level[++depth] = (struct level){ NONE, NO_QUAL, false };
			continue;
		}
		in = enter(r, c, a, off, &r->level[depth], &sibling);
		if (!a->children)
			continue;
		here = u->offset + (c->p - u->start);
		if (in.dead && sibling >= here && sibling < u->end) {
			c->p = u->start + (sibling - u->offset);
			continue;
		}
		if (depth >= MAX_NESTING)
			return "its DIEs are nested too deeply";
		r->level[++depth] = in;
	}
	return r->trouble ? r->trouble : c->bad ? "it ends in the middle of a DIE" : NULL;
}

static struct name *find_name(struct reader *r, uint64_t off)
{
	size_t lo = 0, hi = r->n_name;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (r->name[mid].off < off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < r->n_name && r->name[lo].off == off ? &r->name[lo] : NULL;
}

/* The function of the DIE at @origin; NONE and where to go on when the answer is elsewhere. */
static uint32_t function_at(struct reader *r, uint64_t origin, uint64_t *elsewhere)
{
	struct name *start = find_name(r, origin), *n = start;
	const char *name = NULL, *linkage = NULL;
	uint32_t qual = NO_QUAL;

	if (!start)
		return 0;
	if (start->func != NONE)
		return start->func;
	for (int i = 0; n && i < MAX_REFS; i++) {
		name = name ? name : n->name;
		linkage = linkage ? linkage : n->linkage;
		qual = qual != NO_QUAL ? qual : n->qual;
		if (!n->ref)
			break;
		if (n->ref < r->unit.offset || n->ref >= r->unit.end) {
			if (!name && !linkage) {
				*elsewhere = n->ref;
				return NONE;
			}
			break;
		}
		n = find_name(r, n->ref);
	}
	if (name && qual != NO_QUAL) {
		/* The pool moves when it grows: no pointer into it may go along. */
		_cleanup_free_ char *full = xasprintf("%s::%s", r->b->str.buf + qual, name);

		start->func = builder_func(r->b, full, linkage);
	} else if (name) {
		start->func = builder_func(r->b, name, linkage);
	} else if (linkage) {
		bool cold;
		_cleanup_free_ char *display = symbol_display_name(linkage, &cold);

		start->func = builder_func(r->b, display, linkage);
	} else {
		start->func = 0;
	}
	return start->func;
}

static void add_far(struct reader *r, uint64_t origin, uint32_t scope)
{
	array_reserve(r->far, r->cap_far, r->n_far + 1);
	r->far[r->n_far++] = (struct pending){ origin, scope };
}

static void name_pending(struct reader *r)
{
	for (size_t i = 0; i < r->n_pending; i++) {
		const struct pending *p = &r->pending[i];
		uint64_t elsewhere = p->origin;
		uint32_t func = NONE;

		if (p->origin >= r->unit.offset && p->origin < r->unit.end)
			func = function_at(r, p->origin, &elsewhere);
		if (func == NONE)
			add_far(r, elsewhere, p->scope);
		else
			r->b->scope[p->scope].func = func;
	}
}

static void read_lines(struct reader *r)
{
	uint64_t off = r->unit.line_offset, length;
	const char *why = NULL;
	const uint8_t *p;

	r->lines.n_file = 0;
	if (!r->unit.has_lines)
		return;
	p = section_stream_get(&r->line, off, 12);
	if (!p || !unit_length(p, 12, &length) || length > r->line.size - off ||
	    !(p = section_stream_get(&r->line, off, length))) {
		why = r->line.trouble ? r->line.trouble : "it is not in .debug_line";
	} else {
		r->lines.line = (struct section){ p, length };
		r->lines.origin = off;
		why = line_program_read(&r->lines, off, r->unit.comp_dir);
	}
	if (why)
		builder_warn(r->b, "%s: line program at 0x%llx: %s", r->file,
			     (unsigned long long)off, why);
}

/* Reads the unit at @off into the window and r->unit. Returns its length, 0: cannot be had. */
static uint64_t load_unit(struct reader *r, uint64_t off)
{
	uint64_t left = r->info.size - off, length;
	size_t head = left < 12 ? left : 12;
	const uint8_t *p = section_stream_get(&r->info, off, head);

	if (!p || !unit_length(p, head, &length) || length > left)
		return 0;
	p = section_stream_get(&r->info, off, length);
	if (!p)
		return 0;
	r->trouble = unit_read_header(&r->unit, &r->sec, p, length, off);
	if (!r->trouble)
		r->trouble = abbrevs_read(&r->abbrevs, &r->unit);
	return length;
}

static void read_root(struct reader *r)
{
	struct cursor c = r->unit.c;
	const struct abbrev *a = abbrev_find(&r->abbrevs, cursor_uleb(&c));

	r->trouble = !a ? "it uses an abbreviation that does not exist"
			: unit_read_root(&r->unit, &c, &r->abbrevs, a);
	switch (r->unit.language) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case 0x2c: /* DW_LANG_C17 */
	case DW_LANG_Mips_Assembler:
		r->classes = false;
		break;
	default:
		r->classes = true;
	}
}

static void read_unit(struct reader *r)
{
	r->n_name = r->n_pending = 0;
	if (!r->trouble)
		read_root(r);
	if (!r->trouble && r->unit.type != DW_UT_type && r->unit.type != DW_UT_split_type) {
		if (!r->names_only)
			read_lines(r);
		r->trouble = walk(r);
	}
	if (r->trouble)
		builder_warn(r->b, "%s: DWARF unit at 0x%llx: %s", r->file,
			     (unsigned long long)r->unit.offset, r->trouble);
}

static int compare_pending(const void *pa, const void *pb)
{
	const struct pending *a = pa, *b = pb;

	return a->origin != b->origin ? (a->origin < b->origin ? -1 : 1)
				      : (a->scope > b->scope) - (a->scope < b->scope);
}

/* One more pass, for the scopes in `far`: their names are in units other than their own. */
static void name_far(struct reader *r)
{
	struct pending *far = r->far;
	size_t n = r->n_far, i = 0;
	uint64_t off = 0, length, left;

	r->far = NULL;
	r->n_far = r->cap_far = 0;
	sort_array(far, n, sizeof(*far), compare_pending);
	while (i < n && off < r->info.size) {
		const uint8_t *p;
		size_t head;

		left = r->info.size - off;
		head = left < 12 ? left : 12;
		p = section_stream_get(&r->info, off, head);
		if (!p || !unit_length(p, head, &length) || length > left)
			break;
		if (far[i].origin < off + length) {
			if (!load_unit(r, off))
				break;
			read_unit(r);
			for (; i < n && far[i].origin < off + length; i++) {
				uint64_t elsewhere = 0;
				uint32_t func = function_at(r, far[i].origin, &elsewhere);

				if (func == NONE)
					add_far(r, elsewhere, far[i].scope);
				else
					r->b->scope[far[i].scope].func = func;
			}
		}
		off += length;
	}
	free(far);
}

static void read_units(struct reader *r)
{
	uint64_t off = 0, length;

	while (off < r->info.size) {
		length = load_unit(r, off);
		if (!length) {
			builder_warn(r->b, "%s: DWARF unit at 0x%llx: %s", r->file,
				     (unsigned long long)off,
				     r->info.trouble ? r->info.trouble
						     : "its length reaches beyond its "
						       "section, or the file is cut off");
			break;
		}
		read_unit(r);
		name_pending(r);
		off += length;
	}
	r->names_only = true;
	for (int pass = 0; r->n_far && pass < MAX_PASSES; pass++)
		name_far(r);
}

static void load(struct reader *r, const struct elf_image *image, const char *name,
		 struct section *s)
{
	size_t n = 0;
	const void *p = elf_image_load(image, name, &n, r->b);

	*s = section_of(p, n);
}

static bool open_sections(struct reader *r, const struct elf_image *debug)
{
	const char *what = ".debug_info";
	const char *why = section_stream_open(&r->info, debug, "debug_info");

	if (!why) {
		what = ".debug_line";
		why = section_stream_open(&r->line, debug, "debug_line");
	}
	if (why)
		builder_warn(r->b, "%s: %s: %s", debug->name, what, why);
	load(r, debug, "debug_abbrev", &r->sec.abbrev);
	load(r, debug, "debug_str", &r->sec.str);
	load(r, debug, "debug_line_str", &r->sec.line_str);
	load(r, debug, "debug_str_offsets", &r->sec.str_offsets);
	load(r, debug, "debug_addr", &r->sec.addr);
	load(r, debug, "debug_ranges", &r->sec.ranges);
	load(r, debug, "debug_rnglists", &r->sec.rnglists);
	r->lines.str = r->sec.str;
	r->lines.line_str = r->sec.line_str;
	r->lines.total = r->line.size;
	return !why;
}

bool dwarf_stream_read(const struct elf_image *debug, struct table_builder *b)
{
	struct reader *r = xcalloc(1, sizeof(*r));
	bool any;

	r->b = r->lines.b = b;
	r->file = debug->name;
	if (open_sections(r, debug)) {
		r->pieces_left = 2 * r->info.size + r->sec.ranges.n + r->sec.rnglists.n + (1 << 20);
		read_units(r);
	}
	for (size_t i = 0; i < b->n_sym; i++) {
		if (b->sym[i].flags & SYM_SCOPE) {
			b->sym[i].func = b->scope[b->sym[i].func].func;
			b->sym[i].flags = 0;
		}
	}
	any = b->n_seq || b->n_piece;
	section_stream_close(&r->info);
	section_stream_close(&r->line);
	line_reader_deinit(&r->lines);
	abbrevs_free(&r->abbrevs);
	free(r->name);
	free(r->pending);
	free(r->far);
	free(r);
	return any;
}
