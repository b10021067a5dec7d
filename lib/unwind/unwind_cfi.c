// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Most entries use four or five kinds of instructions. Expressions are compared with the few that
 * programs really have: a register and an offset, what is stored there (stacks that were realigned,
 * signal frames), and the stubs of lazy binding, whose frame depends on the PC itself.
 */
#include "unwind/unwind_cfi.h"
#include "elf/dwarf_cursor.h"

#include <dwarf.h>
#include <elf.h>

#define MAX_REMEMBERED 16
/* Of a CIE; they are executed again for each of its entries. */
#define MAX_INITIAL 256

#define CFA_AARCH64_negate_ra_state 0x2d

static const struct cfi_machine machines[] = {
	{ EM_X86_64, 7, 17, { 16, 6, 3 }, false },
	{ EM_AARCH64, 31, 32, { 30, 29, CFI_NO_REGISTER }, true },
};

const struct cfi_machine *cfi_machine(uint32_t elf)
{
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		if (machines[i].elf == elf)
			return &machines[i];
	}
	return NULL;
}

struct run {
	const struct cfi_machine *m;
	const struct eh_frame_entry *e;
	struct cursor c;
	struct unwind_rule now, initial, kept[MAX_REMEMBERED];
	unsigned int n_kept;
	uint64_t at;
	bool strange;
	bool common; /* these are the instructions of the CIE, which belong to no address */
	cfi_row row;
	void *arg;
};

/* What is handed out: alike where it means the same. */
static struct unwind_rule finished_rule(const struct run *r)
{
	struct unwind_rule rule = r->now;
	uint8_t ra = rule.at[UNWIND_RA].place;

	if (ra == UNWIND_LOST)
		return (struct unwind_rule){ .cfa = UNWIND_END };
	if (rule.cfa == UNWIND_NOTHING || (ra == UNWIND_SAME && !r->m->link_register) ||
	    ra == UNWIND_FROM_CFA)
		return (struct unwind_rule){ .cfa = UNWIND_STRANGE };
	rule.signal = r->e->signal;
	return rule;
}

static void emit(struct run *r)
{
	struct unwind_rule rule = finished_rule(r);

	r->row(r->arg, r->at, &rule);
}

static void advance(struct run *r, uint64_t units)
{
	uint64_t by;

	if (__builtin_mul_overflow(units, r->e->cie->code_alignment_factor, &by) ||
	    by > r->e->end - r->at || (by && r->common)) {
		r->strange = true;
	} else if (by) {
		emit(r);
		r->at += by;
	}
}

static int32_t narrow(struct run *r, int64_t v)
{
	if (v != (int32_t)v)
		r->strange = true;
	return (int32_t)v;
}

static int32_t factored(struct run *r, int64_t v)
{
	int64_t off;

	if (__builtin_mul_overflow(v, r->e->cie->data_alignment_factor, &off)) {
		r->strange = true;
		return 0;
	}
	return narrow(r, off);
}

static uint8_t reg_number(struct run *r, uint64_t reg)
{
	if (reg >= r->m->n)
		r->strange = true;
	return (uint8_t)reg;
}

static int followed(const struct run *r, uint64_t reg)
{
	for (int i = 0; i < UNWIND_FOLLOWED; i++) {
		if (r->m->followed[i] == reg && reg != CFI_NO_REGISTER)
			return i;
	}
	return -1;
}

static void put(struct run *r, uint64_t reg, enum unwind_place place, uint8_t base, int32_t off)
{
	int i = followed(r, reg);

	if (i < 0)
		return;
	r->now.at[i].place = place;
	r->now.at[i].reg = base;
	r->now.at[i].off = off;
}

static void restore(struct run *r, uint64_t reg)
{
	int i = followed(r, reg);

	if (i >= 0)
		r->now.at[i] = r->initial.at[i];
}

static void set_cfa(struct run *r, enum unwind_cfa kind, uint8_t reg, int32_t off, int32_t add)
{
	r->now.cfa = kind;
	r->now.cfa_reg = reg;
	r->now.cfa_off = off;
	r->now.cfa_add = add;
}

static struct cursor block(struct cursor *c)
{
	uint64_t n = cursor_uleb(c);
	struct cursor b = { c->p, c->p, false };

	cursor_skip(c, n);
	if (!c->bad)
		b.end = c->p;
	return b;
}

/* A register and an offset, as every expression here begins. */
static bool base_of(struct run *r, struct cursor *b, uint8_t *reg, int32_t *off)
{
	uint8_t op = cursor_get(b, 1);

	if (op < DW_OP_breg0 || op > DW_OP_breg31)
		return false;
	*reg = reg_number(r, op - DW_OP_breg0);
	*off = narrow(r, cursor_sleb(b));
	return !b->bad;
}

/* ((pc & 15) >= N) << 3, added to what base_of() found. */
static bool is_stub(struct run *r, struct cursor *b, int32_t *from)
{
	static const uint8_t head[] = { DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and },
			     tail[] = { DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus };

	if (r->m->elf != EM_X86_64 || (size_t)(b->end - b->p) != sizeof(head) + 1 + sizeof(tail) ||
	    memcmp(b->p, head, sizeof(head)) ||
	    memcmp(b->p + sizeof(head) + 1, tail, sizeof(tail)) ||
	    b->p[sizeof(head)] < DW_OP_lit0 || b->p[sizeof(head)] > DW_OP_lit15)
		return false;
	*from = b->p[sizeof(head)] - DW_OP_lit0;
	return true;
}

static void cfa_expression(struct run *r, struct cursor b)
{
	int32_t off, add = 0;
	uint8_t reg;

	if (!base_of(r, &b, &reg, &off)) {
		r->strange = true;
	} else if (b.p == b.end) {
		set_cfa(r, UNWIND_REG, reg, off, 0);
	} else if (is_stub(r, &b, &add)) {
		set_cfa(r, UNWIND_PLT, reg, off, add);
	} else if (cursor_get(&b, 1) == DW_OP_deref) {
		if (b.p < b.end && cursor_get(&b, 1) == DW_OP_plus_uconst)
			add = narrow(r, (int64_t)cursor_uleb(&b));
		r->strange |= b.bad || b.p != b.end;
		set_cfa(r, UNWIND_DEREF, reg, off, add);
	} else {
		r->strange = true;
	}
}

static void saved_by_expression(struct run *r, uint64_t reg, struct cursor b)
{
	bool before = r->strange;
	int32_t off;
	uint8_t base;

	if (followed(r, reg) < 0)
		return;
	if (base_of(r, &b, &base, &off) && b.p == b.end && r->strange == before) {
		put(r, reg, UNWIND_AT_REG, base, off);
		return;
	}
	r->strange = before;
	if (reg == r->m->followed[UNWIND_RA])
		r->strange = true;
	put(r, reg, UNWIND_LOST, 0, 0);
}

static void set_offset(struct run *r, int32_t off)
{
	if (r->now.cfa == UNWIND_REG)
		r->now.cfa_off = off;
	else
		r->strange = true;
}

static void remember(struct run *r)
{
	if (r->n_kept == MAX_REMEMBERED)
		r->strange = true;
	else
		r->kept[r->n_kept++] = r->now;
}

static void saved_at(struct run *r, uint64_t reg, int64_t factor)
{
	/* Registers that are not followed may lie where they like. */
	if (followed(r, reg) >= 0)
		put(r, reg, UNWIND_AT_CFA, 0, factored(r, factor));
}

static void execute(struct run *r)
{
	struct cursor *c = &r->c;
	uint8_t op = cursor_get(c, 1);
	uint64_t reg;
	int32_t off;

	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		advance(r, op & 0x3f);
		return;
	case DW_CFA_offset:
		saved_at(r, op & 0x3f, cursor_uleb(c));
		return;
	case DW_CFA_restore:
		restore(r, op & 0x3f);
		return;
	}
	switch (op) {
	case DW_CFA_nop:
		break;
	case DW_CFA_advance_loc1:
		advance(r, cursor_get(c, 1));
		break;
	case DW_CFA_advance_loc2:
		advance(r, cursor_get(c, 2));
		break;
	case DW_CFA_advance_loc4:
		advance(r, cursor_get(c, 4));
		break;
	case DW_CFA_def_cfa:
		reg = cursor_uleb(c);
		set_cfa(r, UNWIND_REG, reg_number(r, reg), narrow(r, cursor_uleb(c)), 0);
		break;
	case DW_CFA_def_cfa_sf:
		reg = cursor_uleb(c);
		set_cfa(r, UNWIND_REG, reg_number(r, reg), factored(r, cursor_sleb(c)), 0);
		break;
	case DW_CFA_def_cfa_register:
		reg = cursor_uleb(c);
		r->strange |= r->now.cfa != UNWIND_REG;
		r->now.cfa_reg = reg_number(r, reg);
		break;
	case DW_CFA_def_cfa_offset:
		set_offset(r, narrow(r, cursor_uleb(c)));
		break;
	case DW_CFA_def_cfa_offset_sf:
		set_offset(r, factored(r, cursor_sleb(c)));
		break;
	case DW_CFA_def_cfa_expression:
		cfa_expression(r, block(c));
		break;
	case DW_CFA_offset_extended:
		reg = cursor_uleb(c);
		saved_at(r, reg, cursor_uleb(c));
		break;
	case DW_CFA_offset_extended_sf:
		reg = cursor_uleb(c);
		saved_at(r, reg, cursor_sleb(c));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		reg = cursor_uleb(c);
		saved_at(r, reg, -(int64_t)(cursor_uleb(c) & INT32_MAX));
		break;
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		reg = cursor_uleb(c);
		off = factored(r,
			       op == DW_CFA_val_offset ? (int64_t)cursor_uleb(c) : cursor_sleb(c));
		put(r, reg, UNWIND_FROM_CFA, 0, off);
		break;
	case DW_CFA_expression:
		reg = cursor_uleb(c);
		saved_by_expression(r, reg, block(c));
		break;
	case DW_CFA_val_expression:
		reg = cursor_uleb(c);
		block(c);
		r->strange |= reg == r->m->followed[UNWIND_RA];
		put(r, reg, UNWIND_LOST, 0, 0);
		break;
	case DW_CFA_restore_extended:
		restore(r, cursor_uleb(c));
		break;
	case DW_CFA_undefined:
		put(r, cursor_uleb(c), UNWIND_LOST, 0, 0);
		break;
	case DW_CFA_same_value:
		put(r, cursor_uleb(c), UNWIND_SAME, 0, 0);
		break;
	case DW_CFA_register:
		reg = cursor_uleb(c);
		put(r, reg, UNWIND_IN_REG, reg_number(r, cursor_uleb(c)), 0);
		break;
	case DW_CFA_remember_state:
		remember(r);
		break;
	case DW_CFA_restore_state:
		if (r->n_kept)
			r->now = r->kept[--r->n_kept];
		else
			r->strange = true;
		break;
	case DW_CFA_GNU_args_size:
		cursor_uleb(c);
		break;
	case CFA_AARCH64_negate_ra_state: /* of SPARC it is another one, DW_CFA_GNU_window_save */
		r->now.ra_signed ^= r->m->link_register;
		r->strange |= !r->m->link_register;
		break;
	default:
		r->strange = true;
	}
}

static void run(struct run *r, const uint8_t *p, const uint8_t *end)
{
	r->c = (struct cursor){ p, end, false };
	while (r->c.p < r->c.end && !r->strange) {
		execute(r);
		r->strange |= r->c.bad;
	}
}

bool cfi_run(const struct cfi_machine *m, const struct eh_frame_entry *e, cfi_row row, void *arg)
{
	struct run r = { .m = m, .e = e, .at = e->rules_from, .row = row, .arg = arg };
	const uint8_t *first = e->cie->initial_instructions,
		      *end = e->cie->initial_instructions_end;

	if (e->cie->return_address_register != m->followed[UNWIND_RA] ||
	    end - first > MAX_INITIAL) {
		r.strange = true;
	} else {
		r.common = true;
		run(&r, first, end);
		r.common = false;
	}
	/* What holds for all its entries holds from their beginning. */
	r.strange |= r.at != e->rules_from;
	r.initial = r.now;
	if (!r.strange)
		run(&r, e->program, e->program_end);
	if (r.strange)
		r.now = (struct unwind_rule){ 0 };
	if (r.at < e->end)
		emit(&r);
	return !r.strange;
}
