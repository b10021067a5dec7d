// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/dwarf_unit.h"

#include <dwarf.h>

#define MAX_ABBREV_CODE (1 << 20)

bool unit_length(const uint8_t *p, size_t n, uint64_t *length)
{
	struct cursor c = { p, p + n, false };
	uint64_t len = cursor_get(&c, 4), head = 4;

	if (len == 0xffffffff) {
		len = cursor_get(&c, 8);
		head = 12;
	}
	if (c.bad || len > UINT64_MAX - head)
		return false;
	*length = len + head;
	return true;
}

const char *unit_read_header(struct unit *u, const struct dwarf_sections *sec, const uint8_t *p,
			     size_t n, uint64_t offset)
{
	struct cursor *c = &u->c;
	unsigned int version;

	*u = (struct unit){ .sec = sec, .offset = offset, .end = offset + n, .start = p };
	*c = (struct cursor){ p, p + n, false };
	u->offset_size = 4;
	if (cursor_get(c, 4) == 0xffffffff) {
		u->offset_size = 8;
		cursor_skip(c, 8);
	}
	version = cursor_get(c, 2);
	if (c->bad)
		return "its header is cut off";
	if (version < 2 || version > 5)
		return dwarf_why("version %u: none of 2 to 5", version);
	u->version = version;
	u->type = DW_UT_compile;
	if (u->version >= 5) {
		u->type = cursor_get(c, 1);
		u->addr_size = cursor_get(c, 1);
		u->abbrev_offset = cursor_get(c, u->offset_size);
		if (u->type == DW_UT_skeleton || u->type == DW_UT_split_compile)
			u->dwo_id = cursor_get(c, 8);
		else if (u->type == DW_UT_type || u->type == DW_UT_split_type)
			cursor_skip(c, 8 + u->offset_size); /* signature, where the type is */
	} else {
		u->abbrev_offset = cursor_get(c, u->offset_size);
		u->addr_size = cursor_get(c, 1);
	}
	if (c->bad)
		return "its header is cut off";
	if (u->addr_size != 8 && u->addr_size != 4)
		return dwarf_why("addresses of %u bytes: neither 4 nor 8", u->addr_size);
	/* Where a unit does not say, its share begins behind the header of the section. */
	u->str_offsets_base = u->addr_base = u->offset_size == 8 ? 16 : 8;
	u->rnglists_base = u->offset_size == 8 ? 20 : 12;
	return NULL;
}

/* Bytes of a form whose size does not depend on the value, or -1. */
static int fixed_size(const struct abbrevs *a, uint16_t form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_flag:
	case DW_FORM_ref1:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return a->addr_size;
	case DW_FORM_ref_addr:
		return a->version == 2 ? a->addr_size : a->offset_size;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return a->offset_size;
	default:
		return -1;
	}
}

const char *abbrevs_read(struct abbrevs *a, const struct unit *u)
{
	const struct section *sec = &u->sec->abbrev;
	struct cursor c = { sec->p, sec->p + sec->n, false };
	uint64_t code;

	if (a->valid && a->offset == u->abbrev_offset && a->version == u->version &&
	    a->offset_size == u->offset_size && a->addr_size == u->addr_size)
		return NULL;
	if (u->abbrev_offset >= sec->n)
		return dwarf_why("its abbreviations, at 0x%llx, lie beyond .debug_abbrev",
				 (unsigned long long)u->abbrev_offset);
	a->valid = false;
	a->offset = u->abbrev_offset;
	a->version = u->version;
	a->offset_size = u->offset_size;
	a->addr_size = u->addr_size;
	a->n = a->n_attr = 0;
	array_reserve(a->attr, a->cap_attr, 1); /* there are some, even if nothing has any */
	c.p += u->abbrev_offset;
	while ((code = cursor_uleb(&c))) {
		struct abbrev one = { .first = a->n_attr };
		uint64_t tag;

		if (code >= MAX_ABBREV_CODE)
			return dwarf_why("abbreviation %llu: no more than %d are read",
					 (unsigned long long)code, MAX_ABBREV_CODE);
		tag = cursor_uleb(&c);
		one.tag = tag && tag < UINT16_MAX ? tag : UINT16_MAX;
		one.children = cursor_get(&c, 1) != 0;
		while (!c.bad) {
			uint64_t at = cursor_uleb(&c), form = cursor_uleb(&c);
			struct abbrev_attr attr = { at, form, 0 };
			int size;

			if (form == DW_FORM_implicit_const)
				attr.implicit = cursor_sleb(&c);
			if (!at && !form)
				break;
			if (at > UINT16_MAX || form > UINT16_MAX)
				return dwarf_why(
					"abbreviation %llu: attribute 0x%llx of form 0x%llx",
					(unsigned long long)code, (unsigned long long)at,
					(unsigned long long)form);
			size = fixed_size(a, form);
			if (size < 0 || one.fixed > INT32_MAX - 16)
				one.fixed = -1;
			else if (one.fixed >= 0)
				one.fixed += size;
			array_reserve(a->attr, a->cap_attr, a->n_attr + 1);
			a->attr[a->n_attr++] = attr;
			one.n++;
		}
		if (c.bad)
			return dwarf_why("abbreviation %llu is cut off", (unsigned long long)code);
		if (code >= a->n) {
			array_reserve(a->abbrev, a->cap, code + 1);
			memset(a->abbrev + a->n, 0, (code + 1 - a->n) * sizeof(*a->abbrev));
			a->n = code + 1;
		}
		a->abbrev[code] = one;
	}
	a->valid = !c.bad;
	return c.bad ? "its abbreviations are malformed" : NULL;
}

void abbrevs_free(struct abbrevs *a)
{
	free(a->abbrev);
	free(a->attr);
	*a = (struct abbrevs){ 0 };
}

static uint64_t entry(const struct section *s, uint64_t base, uint64_t index, size_t size,
		      bool *bad)
{
	struct cursor c = { s->p, s->p + s->n, false };
	uint64_t v;

	if (index > UINT32_MAX || base > s->n) {
		*bad = true;
		return 0;
	}
	cursor_skip(&c, base + index * size);
	v = cursor_get(&c, size);
	*bad |= c.bad;
	return v;
}

static void indexed_address(const struct unit *u, uint64_t index, struct value *v)
{
	bool bad = false;

	v->u = entry(&u->sec->addr, u->addr_base, index, u->addr_size, &bad);
	v->kind = bad ? VALUE_OTHER : VALUE_ADDR;
}

static void indexed_string(const struct unit *u, uint64_t index, struct value *v)
{
	bool bad = false;
	uint64_t off =
		entry(&u->sec->str_offsets, u->str_offsets_base, index, u->offset_size, &bad);

	v->kind = VALUE_STRING;
	v->s = bad ? NULL : section_string(&u->sec->str, off);
}

static void common_string(const struct unit *u, uint64_t off, struct value *v)
{
	v->kind = VALUE_STRING;
	v->s = u->sec->common ? section_string(&u->sec->common->str, off) : NULL;
}

static void reference(const struct unit *u, uint64_t off, struct value *v)
{
	v->kind = VALUE_REF;
	v->u = u->offset + off;
	if (off >= u->end - u->offset)
		v->kind = VALUE_OTHER;
}

void unit_value(const struct unit *u, struct cursor *c, const struct abbrev_attr *attr,
		struct value *v)
{
	uint16_t form = attr->form;

	*v = (struct value){ VALUE_CONST, 0, NULL };
	if (form == DW_FORM_indirect)
		form = cursor_uleb(c);
	switch (form) {
	case DW_FORM_addr:
		v->kind = VALUE_ADDR;
		v->u = cursor_get(c, u->addr_size);
		break;
	case DW_FORM_addrx:
	case DW_FORM_GNU_addr_index:
		indexed_address(u, cursor_uleb(c), v);
		break;
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
		indexed_address(u, cursor_get(c, form - DW_FORM_addrx1 + 1), v);
		break;
	case DW_FORM_data1:
	case DW_FORM_flag:
		v->u = cursor_get(c, 1);
		break;
	case DW_FORM_data2:
		v->u = cursor_get(c, 2);
		break;
	case DW_FORM_data4:
	case DW_FORM_data8:
		v->u = cursor_get(c, form == DW_FORM_data4 ? 4 : 8);
		/* Before DWARF 4 these were offsets, too. */
		if (u->version < 4)
			v->kind = VALUE_OFFSET;
		break;
	case DW_FORM_udata:
		v->u = cursor_uleb(c);
		break;
	case DW_FORM_sdata:
		v->u = cursor_sleb(c);
		break;
	case DW_FORM_implicit_const:
		v->u = attr->implicit;
		break;
	case DW_FORM_flag_present:
		v->u = 1;
		break;
	case DW_FORM_sec_offset:
		v->kind = VALUE_OFFSET;
		v->u = cursor_get(c, u->offset_size);
		break;
	case DW_FORM_rnglistx:
		v->kind = VALUE_RANGE_INDEX;
		v->u = cursor_uleb(c);
		break;
	case DW_FORM_string:
		v->kind = VALUE_STRING;
		v->s = cursor_string(c);
		break;
	case DW_FORM_strp:
		v->kind = VALUE_STRING;
		v->s = section_string(&u->sec->str, cursor_get(c, u->offset_size));
		break;
	case DW_FORM_line_strp:
		v->kind = VALUE_STRING;
		v->s = section_string(&u->sec->line_str, cursor_get(c, u->offset_size));
		break;
	case DW_FORM_strx:
	case DW_FORM_GNU_str_index:
		indexed_string(u, cursor_uleb(c), v);
		break;
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
		indexed_string(u, cursor_get(c, form - DW_FORM_strx1 + 1), v);
		break;
	case DW_FORM_ref1:
		reference(u, cursor_get(c, 1), v);
		break;
	case DW_FORM_ref2:
		reference(u, cursor_get(c, 2), v);
		break;
	case DW_FORM_ref4:
		reference(u, cursor_get(c, 4), v);
		break;
	case DW_FORM_ref8:
		reference(u, cursor_get(c, 8), v);
		break;
	case DW_FORM_ref_udata:
		reference(u, cursor_uleb(c), v);
		break;
	case DW_FORM_ref_addr:
		v->kind = VALUE_REF;
		v->u = cursor_get(c, u->version == 2 ? u->addr_size : u->offset_size) |
		       (u->offset & DWARF_FIRST);
		break;
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
		v->kind = u->sec->common ? VALUE_REF : VALUE_OTHER;
		v->u = cursor_get(c, form == DW_FORM_ref_sup4	? 4
				     : form == DW_FORM_ref_sup8 ? 8
								: u->offset_size) |
		       DWARF_COMMON;
		break;
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_strp_sup:
		common_string(u, cursor_get(c, u->offset_size), v);
		break;
	default:
		v->kind = VALUE_OTHER;
		unit_skip_value(u, c, form);
		break;
	}
}

void unit_skip_value(const struct unit *u, struct cursor *c, uint16_t form)
{
	const struct abbrevs sizes = { .version = u->version,
				       .offset_size = u->offset_size,
				       .addr_size = u->addr_size };
	int n = fixed_size(&sizes, form);
	uint64_t actual;

	if (n >= 0) {
		cursor_skip(c, n);
		return;
	}
	switch (form) {
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		cursor_uleb(c);
		break;
	case DW_FORM_string:
		cursor_string(c);
		break;
	case DW_FORM_block1:
		cursor_skip(c, cursor_get(c, 1));
		break;
	case DW_FORM_block2:
		cursor_skip(c, cursor_get(c, 2));
		break;
	case DW_FORM_block4:
		cursor_skip(c, cursor_get(c, 4));
		break;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		cursor_skip(c, cursor_uleb(c));
		break;
	case DW_FORM_indirect:
		actual = cursor_uleb(c);
		if (actual == DW_FORM_indirect || actual > UINT16_MAX)
			c->bad = true;
		else
			unit_skip_value(u, c, actual);
		break;
	default:
		c->bad = true;
	}
}

const char *unit_read_root(struct unit *u, struct cursor *c, const struct abbrevs *a,
			   const struct abbrev *root)
{
	/* Indexed strings and addresses can come before the attribute that says where to look. */
	for (int pass = 0; pass < 2; pass++) {
		struct cursor at = *c;

		for (uint32_t i = 0; i < root->n; i++) {
			const struct abbrev_attr *attr = &a->attr[root->first + i];
			struct value v;

			unit_value(u, &at, attr, &v);
			switch (attr->at) {
			case DW_AT_str_offsets_base:
				u->str_offsets_base = v.u;
				break;
			case DW_AT_addr_base:
			case DW_AT_GNU_addr_base:
				u->addr_base = v.u;
				break;
			case DW_AT_rnglists_base:
				u->rnglists_base = v.u;
				break;
			case DW_AT_stmt_list:
				u->has_lines = true;
				u->line_offset = v.u;
				break;
			case DW_AT_comp_dir:
				u->comp_dir = v.s;
				break;
			case DW_AT_language:
				u->language = v.u;
				break;
			case DW_AT_low_pc:
				u->low_pc = v.kind == VALUE_ADDR ? v.u : 0;
				break;
			case DW_AT_dwo_name:
			case DW_AT_GNU_dwo_name:
				u->dwo_name = v.s;
				break;
			case DW_AT_GNU_dwo_id:
				u->dwo_id = v.u;
				break;
			case DW_AT_GNU_ranges_base:
				u->ranges_base = v.u;
				break;
			default:
				break;
			}
		}
		if (at.bad)
			return "its first DIE is cut off";
		if (pass)
			*c = at;
	}
	return NULL;
}

static const char malformed[] = "its list of ranges is malformed";

static const char *old_ranges(const struct unit *u, uint64_t off, uint64_t *budget,
			      void (*fn)(uint64_t, uint64_t, void *), void *arg)
{
	const struct section *s = &u->sec->ranges;
	struct cursor c = { s->p, s->p + s->n, false };
	uint64_t base = u->low_pc, select = u->addr_size == 8 ? UINT64_MAX : UINT32_MAX;

	cursor_skip(&c, off);
	while (!c.bad) {
		uint64_t start = cursor_get(&c, u->addr_size), end = cursor_get(&c, u->addr_size);

		if (c.bad || (!start && !end))
			break;
		if (!(*budget)--) {
			*budget = 0;
			return "it has more ranges than its sections can hold";
		}
		if (start == select)
			base = end;
		else
			fn(base + start, base + end, arg);
	}
	return c.bad ? malformed : NULL;
}

static const char *new_ranges(const struct unit *u, uint64_t off, uint64_t *budget,
			      void (*fn)(uint64_t, uint64_t, void *), void *arg)
{
	const struct section *s = &u->sec->rnglists;
	struct cursor c = { s->p, s->p + s->n, false };
	uint64_t base = u->low_pc;
	struct value a, b;

	cursor_skip(&c, off);
	while (!c.bad) {
		uint8_t op = cursor_get(&c, 1);

		if (c.bad || op == DW_RLE_end_of_list)
			break;
		if (!(*budget)--) {
			*budget = 0;
			return "it has more ranges than its sections can hold";
		}
		switch (op) {
		case DW_RLE_base_addressx:
			indexed_address(u, cursor_uleb(&c), &a);
			base = a.u;
			break;
		case DW_RLE_base_address:
			base = cursor_get(&c, u->addr_size);
			break;
		case DW_RLE_startx_endx:
			indexed_address(u, cursor_uleb(&c), &a);
			indexed_address(u, cursor_uleb(&c), &b);
			if (a.kind == VALUE_ADDR && b.kind == VALUE_ADDR)
				fn(a.u, b.u, arg);
			break;
		case DW_RLE_startx_length:
			indexed_address(u, cursor_uleb(&c), &a);
			b.u = cursor_uleb(&c);
			if (a.kind == VALUE_ADDR)
				fn(a.u, a.u + b.u, arg);
			break;
		case DW_RLE_offset_pair:
			a.u = cursor_uleb(&c);
			b.u = cursor_uleb(&c);
			fn(base + a.u, base + b.u, arg);
			break;
		case DW_RLE_start_end:
			a.u = cursor_get(&c, u->addr_size);
			b.u = cursor_get(&c, u->addr_size);
			fn(a.u, b.u, arg);
			break;
		case DW_RLE_start_length:
			a.u = cursor_get(&c, u->addr_size);
			b.u = cursor_uleb(&c);
			fn(a.u, a.u + b.u, arg);
			break;
		default:
			return dwarf_why("its list of ranges has an entry of kind 0x%x", op);
		}
	}
	return c.bad ? malformed : NULL;
}

const char *unit_ranges(const struct unit *u, const struct value *v, uint64_t *budget,
			void (*fn)(uint64_t, uint64_t, void *), void *arg)
{
	uint64_t off = v->u;
	bool bad = false;

	if (v->kind == VALUE_RANGE_INDEX)
		off = u->rnglists_base +
		      entry(&u->sec->rnglists, u->rnglists_base, v->u, u->offset_size, &bad);
	else if (v->kind != VALUE_OFFSET)
		bad = true;
	if (bad)
		return malformed;
	return u->version >= 5 ? new_ranges(u, off, budget, fn, arg)
			       : old_ranges(u, off + u->ranges_base, budget, fn, arg);
}
