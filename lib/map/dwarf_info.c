// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions and inlined calls from .debug_info, through libdw.
 *
 * One walk over all units looks only at DIEs that have code, or that give names to functions
 * (namespaces, classes). Everything else is skipped with its children.
 *
 * Names come last. A concrete function or inlined call refers to an abstract one, that to a
 * declaration in a class; with LTO or dwz these are in other units, possibly later ones. DIEs have
 * no link to their parent, so the walk notes for every function inside a namespace or class what
 * encloses it (`quals`, in order of offset), and the names of all scopes are put together when it
 * is known for the whole file.
 *
 * libdw frees nothing before dwarf_end(), so it is ended and begun again every REOPEN bytes of
 * .debug_info; the sections themselves belong to the Elf and stay.
 *
 * What a file says is bounded: offsets must grow from sibling to sibling, a unit has no more DIEs
 * than bytes, nesting is limited, and so is the number of ranges by the size of the sections.
 */
#include "map/dwarf_line.h"
#include "map/elf_image.h"
#include "map/file_open.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <sys/stat.h>
#include <unistd.h>

#define REOPEN	    (32 << 20)
#define MAX_NESTING 256
#define MAX_REFS    8

struct qual {
	Dwarf_Off off;
	uint32_t name;
};

struct pending {
	Dwarf_Off origin;
	uint32_t scope;
};

/* What is known of one .debug_info: the main one, or that of a split unit. */
struct info_file {
	struct qual *qual;
	size_t n_qual, cap_qual;
	struct pending *pending;
	size_t n_pending, cap_pending;
};

struct walk {
	struct table_builder *b;
	struct line_reader lines;
	const struct elf_image *debug;
	Dwarf *dw, *alt;
	struct info_file main;
	/* Sections that strings were found in lately. */
	struct section seen[4];
	size_t n_seen;

	/* Of the unit at hand. */
	struct info_file *info;
	Dwarf *unit_dw;
	Dwarf_Files *split_files;
	bool classes; /* the language has functions in classes */
	uint64_t dies_left;
	const char *trouble;

	uint64_t pieces_left;
	size_t n_bad, n_split_missing;
};

enum { NO_QUAL = 0 }; /* the empty string */

static void note_qual(struct walk *w, Dwarf_Die *die, uint32_t qual)
{
	struct info_file *f = w->info;
	Dwarf_Off off = dwarf_dieoffset(die);

	if (qual == NO_QUAL || (f->n_qual && f->qual[f->n_qual - 1].off >= off))
		return;
	array_reserve(f->qual, f->cap_qual, f->n_qual + 1);
	f->qual[f->n_qual++] = (struct qual){ off, qual };
}

static uint32_t find_qual(const struct info_file *f, Dwarf_Off off)
{
	size_t lo = 0, hi = f->n_qual;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (f->qual[mid].off < off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < f->n_qual && f->qual[lo].off == off ? f->qual[lo].name : NO_QUAL;
}

static bool ends_in(const struct section *s, const char *string)
{
	const uint8_t *p = (const uint8_t *)string;

	return p >= s->p && p < s->p + s->n && memchr(p, 0, s->p + s->n - p);
}

/* A string of a DIE or NULL. libdw does not look whether it ends before its section does. */
static const char *die_string(struct walk *w, Dwarf_Die *die, unsigned int attr)
{
	Elf_Scn *scn = NULL;
	Dwarf_Attribute a;
	const char *s;
	Elf *elf;

	if (!dwarf_attr(die, attr, &a))
		return NULL;
	s = dwarf_formstring(&a);
	if (!s)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(w->seen) && i < w->n_seen; i++) {
		if (ends_in(&w->seen[i], s))
			return s;
	}
	for (int i = 0; i < 2; i++) {
		elf = i == 0   ? dwarf_getelf(dwarf_cu_getdwarf(die->cu))
		      : w->alt ? dwarf_getelf(w->alt)
			       : NULL;
		while (elf && (scn = elf_nextscn(elf, scn))) {
			Elf_Data *data = elf_rawdata(scn, NULL);
			struct section sec =
				section_of(data ? data->d_buf : NULL, data ? data->d_size : 0);

			if (!ends_in(&sec, s))
				continue;
			w->seen[w->n_seen++ % ARRAY_SIZE(w->seen)] = sec;
			return s;
		}
		scn = NULL;
	}
	return NULL;
}

static bool die_uint(Dwarf_Die *die, unsigned int attr, uint64_t *ret)
{
	Dwarf_Attribute a;
	Dwarf_Word v;

	if (!dwarf_attr(die, attr, &a) || dwarf_formudata(&a, &v))
		return false;
	*ret = v;
	return true;
}

static bool die_ref(Dwarf_Die *die, unsigned int attr, Dwarf_Die *ret)
{
	Dwarf_Attribute a;

	return dwarf_attr(die, attr, &a) && dwarf_formref_die(&a, ret);
}

/* "outer::name", as a string of the builder. */
static uint32_t qualify(struct walk *w, uint32_t outer, const char *name)
{
	_cleanup_free_ char *full = NULL;

	if (outer == NO_QUAL)
		return builder_string(w->b, name);
	full = xasprintf("%s::%s", w->b->str.buf + outer, name);
	return builder_string(w->b, full);
}

/* The function a DIE stands for: its name is here, or in what it refers to. */
static uint32_t name_function(struct walk *w, const struct info_file *f, Dwarf *dw,
			      const Dwarf_Die *start)
{
	const char *name = NULL, *linkage = NULL;
	uint32_t qual = NO_QUAL, func;
	Dwarf_Die die = *start;

	for (int i = 0; i < MAX_REFS; i++) {
		Dwarf_Die next;

		if (!name)
			name = die_string(w, &die, DW_AT_name);
		if (!linkage)
			linkage = die_string(w, &die, DW_AT_linkage_name);
		if (!linkage)
			linkage = die_string(w, &die, DW_AT_MIPS_linkage_name);
		if (qual == NO_QUAL && dwarf_cu_getdwarf(die.cu) == dw)
			qual = find_qual(f, dwarf_dieoffset(&die));
		if (!die_ref(&die, DW_AT_abstract_origin, &next) &&
		    !die_ref(&die, DW_AT_specification, &next))
			break;
		die = next;
	}
	if (!name && linkage) {
		bool cold;
		_cleanup_free_ char *display = symbol_display_name(linkage, &cold);

		return builder_func(w->b, display, linkage);
	}
	if (!name)
		return 0;
	if (qual == NO_QUAL)
		return builder_func(w->b, name, linkage);
	/* The pool moves when it grows: no pointer into it may go along. */
	_cleanup_free_ char *full = xasprintf("%s::%s", w->b->str.buf + qual, name);
	func = builder_func(w->b, full, linkage);
	return func;
}

static void note_scope(struct walk *w, Dwarf_Die *die, uint32_t scope)
{
	struct info_file *f = w->info;
	Dwarf_Die origin = *die, next;

	/* Copies of a function share its abstract DIE: one name for all of them. */
	if (die_ref(die, DW_AT_abstract_origin, &next))
		origin = next;
	if (dwarf_cu_getdwarf(origin.cu) != w->unit_dw) {
		w->b->scope[scope].func = name_function(w, f, w->unit_dw, &origin);
		return;
	}
	array_reserve(f->pending, f->cap_pending, f->n_pending + 1);
	f->pending[f->n_pending++] = (struct pending){ dwarf_dieoffset(&origin), scope };
}

static bool add_ranges(struct walk *w, Dwarf_Die *die, uint32_t scope, uint64_t *first,
		       uint64_t *first_end)
{
	Dwarf_Addr base = 0, start, end;
	ptrdiff_t next = 0;
	bool any = false;

	while ((next = dwarf_ranges(die, next, &base, &start, &end)) > 0) {
		if (!w->pieces_left) {
			w->trouble = "it has more ranges than its sections can hold";
			break;
		}
		w->pieces_left--;
		if (!builder_scope_range(w->b, scope, start, end))
			continue;
		if (!any) {
			*first = start;
			*first_end = end;
		}
		any = true;
	}
	return any;
}

static uint32_t call_file(struct walk *w, Dwarf_Die *die)
{
	uint64_t index;

	if (!die_uint(die, DW_AT_call_file, &index))
		return NONE;
	if (w->split_files) {
		const char *s = dwarf_filesrc(w->split_files, index, NULL, NULL);

		return s ? builder_file(w->b, s) : NONE;
	}
	return line_program_file(&w->lines, index);
}

static bool may_hold_code(Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);
}

static void walk_children(struct walk *w, Dwarf_Die *parent, uint32_t scope, uint32_t qual,
			  int depth);

static void take_back_scope(struct walk *w, uint32_t scope)
{
	if (scope + 1 == w->b->n_scope)
		w->b->n_scope = scope;
}

static void walk_subprogram(struct walk *w, Dwarf_Die *die, uint32_t qual, int depth)
{
	uint64_t start = 0, end = 0;
	Dwarf_Addr entry;
	uint32_t scope, off, sym;

	note_qual(w, die, qual);
	if (!may_hold_code(die))
		return;
	scope = builder_scope(w->b, NONE, NONE, 0);
	if (!add_ranges(w, die, scope, &start, &end)) {
		take_back_scope(w, scope);
		return;
	}
	note_scope(w, die, scope);
	if (dwarf_entrypc(die, &entry) || !builder_offset(w->b, entry, &off))
		entry = start;
	if (builder_offset(w->b, entry, &off)) {
		sym = w->b->n_sym;
		array_reserve(w->b->sym, w->b->cap_sym, sym + 1);
		/* The scope stands in for its function until that has a name. */
		w->b->sym[w->b->n_sym++] = (struct table_sym){ scope, off, 0, SYM_SCOPE };
	}
	walk_children(w, die, scope, qual, depth + 1);
}

static void walk_inlined(struct walk *w, Dwarf_Die *die, uint32_t parent, uint32_t qual, int depth)
{
	uint64_t start, end, line = 0;
	uint32_t scope, file;

	if (!may_hold_code(die))
		return;
	file = call_file(w, die);
	if (!die_uint(die, DW_AT_call_line, &line) || line > ROW_LINE)
		line = 0;
	scope = builder_scope(w->b, parent, file, line);
	if (!add_ranges(w, die, scope, &start, &end)) {
		take_back_scope(w, scope);
		return;
	}
	note_scope(w, die, scope);
	walk_children(w, die, scope, qual, depth + 1);
}

static void walk_die(struct walk *w, Dwarf_Die *die, uint32_t scope, uint32_t qual, int depth)
{
	const char *name;

	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		walk_subprogram(w, die, qual, depth);
		break;
	case DW_TAG_inlined_subroutine:
		if (scope != NONE)
			walk_inlined(w, die, scope, qual, depth);
		break;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		if (scope != NONE)
			walk_children(w, die, scope, qual, depth + 1);
		break;
	case DW_TAG_namespace:
		name = die_string(w, die, DW_AT_name);
		walk_children(w, die, NONE, qualify(w, qual, name ? name : "(anonymous namespace)"),
			      depth + 1);
		break;
	case DW_TAG_module:
		walk_children(w, die, NONE, qual, depth + 1);
		break;
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type:
		if (!w->classes || !dwarf_haschildren(die))
			break;
		name = die_string(w, die, DW_AT_name);
		walk_children(w, die, NONE, name ? qualify(w, qual, name) : qual, depth + 1);
		break;
	default:
		break;
	}
}

static void walk_children(struct walk *w, Dwarf_Die *parent, uint32_t scope, uint32_t qual,
			  int depth)
{
	Dwarf_Die die;
	int rc;

	if (depth > MAX_NESTING) {
		w->trouble = "its DIEs are nested too deeply";
		return;
	}
	rc = dwarf_child(parent, &die);
	while (rc == 0 && !w->trouble) {
		Dwarf_Off off = dwarf_dieoffset(&die);

		if (!w->dies_left--) {
			w->dies_left = 0;
			w->trouble = "it has more DIEs than bytes";
			return;
		}
		walk_die(w, &die, scope, qual, depth);
		rc = dwarf_siblingof(&die, &die);
		if (rc == 0 && dwarf_dieoffset(&die) <= off) {
			w->trouble = "a sibling lies before its predecessor";
			return;
		}
	}
	if (rc < 0 && !w->trouble)
		w->trouble = dwarf_errmsg(-1);
}

static bool has_classes(Dwarf_Die *cu)
{
	switch (dwarf_srclang(cu)) {
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

static int compare_pending(const void *pa, const void *pb)
{
	const struct pending *a = pa, *b = pb;

	return a->origin != b->origin ? (a->origin < b->origin ? -1 : 1)
				      : (a->scope > b->scope) - (a->scope < b->scope);
}

static bool reopen(struct walk *w);

static void name_pending(struct walk *w, struct info_file *f, Dwarf *dw)
{
	Dwarf_Off since = 0;
	uint32_t func = 0;

	sort_array(f->pending, f->n_pending, sizeof(*f->pending), compare_pending);
	for (size_t i = 0; i < f->n_pending; i++) {
		const struct pending *p = &f->pending[i];
		Dwarf_Die die;

		if (!i || p->origin != p[-1].origin) {
			if (dw == w->dw && p->origin - since > REOPEN) {
				if (!reopen(w))
					return;
				dw = w->dw;
				since = p->origin;
			}
			func = dwarf_offdie(dw, p->origin, &die) ? name_function(w, f, dw, &die)
								 : 0;
		}
		w->b->scope[p->scope].func = func;
	}
}

static void info_file_deinit(struct info_file *f)
{
	free(f->qual);
	free(f->pending);
}

/*
 * The other half of a skeleton unit. libdw opens whatever file the skeleton names: only let it
 * when that is a regular file, not a device or a FIFO.
 */
static bool find_split(struct walk *w, Dwarf_Die *skeleton, Dwarf_Die *ret, uint64_t *file_size)
{
	const char *name = die_string(w, skeleton, DW_AT_dwo_name), *dir;
	_cleanup_free_ char *path = NULL;
	struct stat st;
	int fd;

	if (!name)
		name = die_string(w, skeleton, DW_AT_GNU_dwo_name);
	if (!name)
		return false;
	dir = die_string(w, skeleton, DW_AT_comp_dir);
	path = *name == '/' || !dir ? xstrdup(name) : xasprintf("%s/%s", dir, name);
	fd = file_open_named(NULL, path, w->debug->owner, &st);
	if (fd < 0)
		return false;
	close(fd);
	*file_size = st.st_size;
	return dwarf_cu_info(skeleton->cu, NULL, NULL, NULL, ret, NULL, NULL, NULL) == 0 &&
	       ret->addr;
}

static void walk_split(struct walk *w, Dwarf_Die *skeleton)
{
	struct info_file split = { 0 };
	uint64_t file_size;
	Dwarf_Die cu;
	size_t n;

	if (!find_split(w, skeleton, &cu, &file_size)) {
		w->n_split_missing++;
		return;
	}
	w->info = &split;
	w->unit_dw = dwarf_cu_getdwarf(cu.cu);
	w->classes = has_classes(&cu);
	w->dies_left = 8 * file_size; /* its sections may be compressed */
	if (dwarf_getsrcfiles(&cu, &w->split_files, &n))
		w->split_files = NULL;
	walk_children(w, &cu, NONE, NO_QUAL, 0);
	name_pending(w, &split, w->unit_dw);
	w->split_files = NULL;
	info_file_deinit(&split);
}

static void walk_unit(struct walk *w, Dwarf_Die *cu, uint64_t bytes)
{
	const char *why = NULL;
	uint8_t type = DW_UT_compile;
	uint64_t stmt_list;

	w->trouble = NULL;
	w->dies_left = bytes;
	w->info = &w->main;
	w->unit_dw = w->dw;
	w->classes = has_classes(cu);
	w->lines.n_file = 0;
	if (die_uint(cu, DW_AT_stmt_list, &stmt_list))
		why = line_program_read(&w->lines, stmt_list, die_string(w, cu, DW_AT_comp_dir));
	if (why) {
		w->n_bad++;
		builder_warn(w->b, "%s: line program at 0x%llx: %s", w->debug->name,
			     (unsigned long long)stmt_list, why);
	}
	dwarf_cu_info(cu->cu, NULL, &type, NULL, NULL, NULL, NULL, NULL);
	if (type == DW_UT_skeleton)
		walk_split(w, cu);
	else
		walk_children(w, cu, NONE, NO_QUAL, 0);
	if (w->trouble) {
		w->n_bad++;
		builder_warn(w->b, "%s: DWARF unit at 0x%llx: %s", w->debug->name,
			     (unsigned long long)dwarf_dieoffset(cu), w->trouble);
	}
}

/*
 * Left alone, libdw would open whatever path the file names, and wait if that is a FIFO. There is
 * no call to say that there is no common file: this is what it notes itself after it has looked.
 */
static void set_alt(struct walk *w)
{
	dwarf_setalt(w->dw, w->alt ? w->alt : (Dwarf *)-1);
}

static bool reopen(struct walk *w)
{
	if (w->dw)
		dwarf_end(w->dw);
	w->n_seen = 0; /* those of split units are gone */
	w->dw = dwarf_begin_elf(w->debug->elf, DWARF_C_READ, NULL);
	if (!w->dw) {
		builder_warn(w->b, "%s: its debug information cannot be read: %s", w->debug->name,
			     dwarf_errmsg(-1));
		return false;
	}
	set_alt(w);
	return true;
}

/* Of that build-id, which the file that names it told. */
static struct elf_image *open_if(struct walk *w, const struct map_options *opt, const char *path,
				 const char *build_id)
{
	int fd = file_open_named(opt ? opt->root : NULL, path, w->debug->owner, NULL);
	struct elf_image *image;
	struct error err;

	if (fd < 0 || elf_image_open_fd(fd, path, path, ELF_PROGRAMS_AND_MODULES, &image, &err))
		return NULL;
	if (!strcmp(image->build_id, build_id))
		return image;
	builder_warn(w->b, "common debug file %s does not match: its build-id is %s, not %s", path,
		     *image->build_id ? image->build_id : "missing", build_id);
	elf_image_close(image);
	return NULL;
}

/* The file that dwz moved common parts to. NULL: there is none. */
static struct elf_image *open_alt(struct walk *w, const struct map_options *opt)
{
	const char *debug_root = opt && opt->debug_root ? opt->debug_root : "/usr/lib/debug";
	const char *roots[] = { opt && opt->root ? opt->root : "", "" };
	const char *name;
	const void *id;
	char hex[2 * 64 + 1];
	ssize_t n = dwelf_dwarf_gnu_debugaltlink(w->dw, &name, &id);
	struct elf_image *alt = NULL;

	if (n <= 1 || n > 64)
		return NULL;
	for (ssize_t i = 0; i < n; i++)
		sprintf(hex + 2 * i, "%02x", ((const uint8_t *)id)[i]);
	for (size_t i = *roots[0] ? 0 : 1; i < ARRAY_SIZE(roots) && !alt; i++) {
		_cleanup_free_ char *by_id = xasprintf("%s%s/.build-id/%.2s/%s.debug", roots[i],
						       debug_root, hex, hex + 2);
		_cleanup_free_ char *dwz = xasprintf("%s%s/.dwz/%s", roots[i], debug_root, name);
		_cleanup_free_ char *by_name = NULL;
		const char *slash = strrchr(w->debug->path, '/');

		/* The name is relative to the file that has it. */
		if (*name == '/')
			by_name = xasprintf("%s%s", roots[i], name);
		else
			by_name = xasprintf("%.*s%s", slash ? (int)(slash - w->debug->path + 1) : 0,
					    w->debug->path, name);
		alt = open_if(w, opt, by_id, hex);
		if (!alt)
			alt = open_if(w, opt, by_name, hex);
		if (!alt)
			alt = open_if(w, opt, dwz, hex);
	}
	if (!alt) {
		builder_warn(w->b,
			     "%s: common debug file %s (dwz) is missing: some names are unknown",
			     w->debug->name, name);
		return NULL;
	}
	elf_image_expand(alt, w->b);
	w->alt = dwarf_begin_elf(alt->elf, DWARF_C_READ, NULL);
	set_alt(w);
	return alt;
}

static void walk_units(struct walk *w)
{
	Dwarf_Off off = 0, next, since = 0;
	size_t header;
	int rc;

	while ((rc = dwarf_next_unit(w->dw, off, &next, &header, NULL, NULL, NULL, NULL, NULL,
				     NULL)) == 0) {
		Dwarf_Die cu;

		if (dwarf_offdie(w->dw, off + header, &cu)) {
			walk_unit(w, &cu, next - off);
		} else {
			w->n_bad++;
			builder_warn(w->b, "%s: DWARF unit at 0x%llx: %s", w->debug->name,
				     (unsigned long long)off, dwarf_errmsg(-1));
		}
		if (next <= off)
			break;
		off = next;
		if (off - since > REOPEN) {
			if (!reopen(w))
				return;
			since = off;
		}
	}
	if (rc < 0) {
		w->n_bad++;
		builder_warn(w->b, "%s: DWARF unit at 0x%llx: %s", w->debug->name,
			     (unsigned long long)off, dwarf_errmsg(-1));
	}
}

static void load_section(const struct elf_image *debug, const char *name, struct section *s)
{
	size_t n = 0;
	const void *p = elf_image_section(debug, name, &n);

	*s = section_of(p, n);
}

bool dwarf_read(const struct elf_image *debug, const struct map_options *opt,
		struct table_builder *b)
{
	struct walk w = { .b = b, .debug = debug, .lines.b = b };
	size_t info_size, ranges_size, rnglists_size;
	struct elf_image *alt;

	elf_image_expand(debug, b);
	if (!reopen(&w))
		return false;
	alt = open_alt(&w, opt);
	load_section(debug, "debug_line", &w.lines.line);
	load_section(debug, "debug_line_str", &w.lines.line_str);
	load_section(debug, "debug_str", &w.lines.str);
	elf_image_section(debug, "debug_info", &info_size);
	elf_image_section(debug, "debug_ranges", &ranges_size);
	elf_image_section(debug, "debug_rnglists", &rnglists_size);
	w.pieces_left = 2 * (uint64_t)info_size + ranges_size + rnglists_size + (1 << 20);
	walk_units(&w);
	if (w.dw)
		name_pending(&w, &w.main, w.dw);
	for (size_t i = 0; i < b->n_sym; i++) {
		if (b->sym[i].flags & SYM_SCOPE) {
			b->sym[i].func = b->scope[b->sym[i].func].func;
			b->sym[i].flags = 0;
		}
	}
	if (w.n_split_missing)
		builder_warn(b,
			     "%s: %zu split debug files (.dwo) are missing: no inlined calls "
			     "are known there",
			     debug->name, w.n_split_missing);
	if (w.dw)
		dwarf_end(w.dw);
	if (w.alt)
		dwarf_end(w.alt);
	elf_image_close(alt);
	line_reader_deinit(&w.lines);
	info_file_deinit(&w.main);
	return b->n_seq || b->n_piece;
}
