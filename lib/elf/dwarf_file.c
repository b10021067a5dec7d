// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/dwarf_file.h"
#include "table/table_build.h"

#include <dwarf.h>

static void load(const struct elf_image *image, const char *name, bool split, struct section *s,
		 struct table_builder *b)
{
	_cleanup_free_ char *full = xasprintf("%s%s", name, split ? ".dwo" : "");
	size_t n = 0;
	const void *p = elf_image_load(image, full, &n, b);

	*s = section_of(p, n);
}

bool dwarf_file_open(struct dwarf_file *f, const struct elf_image *image, bool split,
		     uint64_t first, struct table_builder *b)
{
	const char *info = split ? "debug_info.dwo" : "debug_info", *why;

	*f = (struct dwarf_file){ .name = image->name, .first = first };
	why = section_stream_open(&f->info, image, info);
	if (why)
		builder_warn(b, "%s: .%s: %s", image->name, info, why);
	load(image, "debug_abbrev", split, &f->sec.abbrev, b);
	load(image, "debug_str", split, &f->sec.str, b);
	load(image, "debug_str_offsets", split, &f->sec.str_offsets, b);
	load(image, "debug_rnglists", split, &f->sec.rnglists, b);
	load(image, "debug_line_str", false, &f->sec.line_str, b);
	if (!split) {
		load(image, "debug_addr", false, &f->sec.addr, b);
		load(image, "debug_ranges", false, &f->sec.ranges, b);
	}
	return !why;
}

void dwarf_file_close(struct dwarf_file *f)
{
	section_stream_close(&f->info);
	abbrevs_free(&f->abbrevs);
}

uint64_t dwarf_file_next_unit(struct dwarf_file *f, uint64_t off)
{
	uint64_t left = off < f->info.size ? f->info.size - off : 0, length;
	size_t head = left < 12 ? left : 12;
	const uint8_t *p = head ? section_stream_get(&f->info, off, head) : NULL;

	return p && unit_length(p, head, &length) && length <= left ? length : 0;
}

/* What a split unit has from its skeleton. */
static void inherit(struct unit *u, const struct unit *skeleton)
{
	u->low_pc = skeleton->low_pc;
	u->addr_base = skeleton->addr_base;
	u->ranges_base = skeleton->ranges_base;
	u->comp_dir = skeleton->comp_dir;
	if (u->version < 5)
		u->str_offsets_base = 0;
}

const char *dwarf_file_load_unit(struct dwarf_file *f, uint64_t off, const struct unit *skeleton,
				 uint64_t *length)
{
	const struct abbrev *root;
	struct cursor c;
	const uint8_t *p;
	const char *why;
	uint64_t code;

	*length = dwarf_file_next_unit(f, off);
	p = *length ? section_stream_get(&f->info, off, *length) : NULL;
	if (!p) {
		*length = 0;
		return f->info.trouble
			       ? f->info.trouble
			       : "its length reaches beyond its section, or the file is cut off";
	}
	why = unit_read_header(&f->unit, &f->sec, p, *length, f->first + off);
	if (!why)
		why = abbrevs_read(&f->abbrevs, &f->unit);
	if (why)
		return why;
	if (skeleton)
		inherit(&f->unit, skeleton);
	c = f->unit.c;
	code = cursor_uleb(&c);
	root = abbrev_find(&f->abbrevs, code);
	return root ? unit_read_root(&f->unit, &c, &f->abbrevs, root)
		    : dwarf_why(NO_ABBREV, (unsigned long long)code);
}

bool dwarf_file_die(struct dwarf_file *f, uint64_t number, struct attributes *ret)
{
	struct cursor c = { f->unit.start + (number - f->unit.offset), f->unit.c.end, false };
	const struct abbrev *a = abbrev_find(&f->abbrevs, cursor_uleb(&c));

	if (!a)
		return false;
	die_attributes(f, &c, a, ret);
	return !c.bad;
}

void die_attributes(struct dwarf_file *f, struct cursor *c, const struct abbrev *a,
		    struct attributes *ret)
{
	const struct abbrev_attr *attr = &f->abbrevs.attr[a->first];

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
			unit_skip_value(&f->unit, c, attr->form);
			continue;
		}
		unit_value(&f->unit, c, attr, &v);
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
			ret->abstract_origin = v.kind == VALUE_REF ? v.u : 0;
			break;
		case DW_AT_specification:
			ret->specification = v.kind == VALUE_REF ? v.u : 0;
			break;
		case DW_AT_sibling:
			ret->sibling = v.kind == VALUE_REF ? v.u : 0;
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

uint64_t die_skip_attributes(struct dwarf_file *f, struct cursor *c, const struct abbrev *a)
{
	const struct abbrev_attr *attr = &f->abbrevs.attr[a->first];
	uint64_t sibling = 0;

	if (a->fixed >= 0 && !a->children) {
		cursor_skip(c, a->fixed);
		return 0;
	}
	for (uint32_t i = 0; i < a->n; i++, attr++) {
		struct value v;

		if (attr->at != DW_AT_sibling) {
			unit_skip_value(&f->unit, c, attr->form);
			continue;
		}
		unit_value(&f->unit, c, attr, &v);
		if (v.kind == VALUE_REF)
			sibling = v.u;
	}
	return sibling;
}
