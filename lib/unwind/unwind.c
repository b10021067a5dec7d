// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs of distributions have no frame pointers. What every one of them has, so that exceptions
 * can be thrown through it, is .eh_frame: for each place in the code, where the frame begins (the
 * canonical frame address, CFA: the stack pointer before the call) and where the caller's registers
 * have been saved. It is kept as a program per function that has to be executed up to the place
 * in question, which is nothing to do at every sample.
 *
 * So these programs are executed once for each file, for all places (unwind_build.c, unwind_cfi.c),
 * and what comes out is a sorted table: from here on, this rule (unwind_table.h). A few hundred
 * different rules make up the whole of a program. Only what leads to the next frame is kept: the
 * CFA, the return address, the frame pointer, by which many functions find their CFA, and rbx, by
 * which the dynamic linker's trampolines do. Of the other registers only those of the innermost
 * frame are known; they matter where one is the CFA's base for a few instructions (stacks being
 * realigned, hand-written assembly), where nothing is called.
 *
 * What keeps a wrong table or a wrong stack from doing harm:
 *   - tables are checked when they are attached; a lookup is a binary search, and cannot leave
 * them;
 *   - a frame ends above the one it called, but where a signal handler had a stack of its own: so a
 *     walk ends, and what is read was checked by the reader;
 *   - an entry that is not understood makes a rule that says so, and the walk ends there,
 * incomplete rather than wrong. Only code without any entry is unwound by its frame pointer (code
 * that was made while the program runs has one), when that leads to a return address that is code.
 *
 * A return address may be that of the function behind the one that called (a call that never
 * returns is its last instruction), so callers are looked up by the byte before it; code that was
 * interrupted, by whoever looks or by a signal, is looked up where it is.
 *
 * Engine bpf walks the same way in the kernel, at the sample (engine/bpf/unwind.bpf.h): the tables
 * of all files that what is sampled has mapped lie in maps of their own (kernel_tables.c), beside
 * lists of what is mapped where (follow.c). The recorder, and engine kernel, take frame pointers.
 */
#include "unwind/unwind.h"
#include "unwind/unwind_cfi.h"

/* Of an address, without the signature that arm64 may put above it. */
#define ADDRESS_BITS 48

struct walk {
	const struct unwind_source *source;
	const struct cfi_machine *m;
	struct unwind_registers now;
	bool exact, by_pointer;
	const struct unwind_table *table; /* of the code there, or NULL */
	uint64_t address;		  /* in its file */
	enum unwind_why why;
};

static bool stop(struct walk *w, enum unwind_why why)
{
	w->why = why;
	return false;
}

static bool is_known(const struct walk *w, uint8_t reg)
{
	return w->now.known >> reg & 1;
}

static void set(struct unwind_registers *r, uint8_t reg, uint64_t value)
{
	r->r[reg] = value;
	r->known |= 1u << reg;
}

static bool read_word(const struct walk *w, uint64_t address, uint64_t *ret)
{
	return w->source->read(w->source->arg, address, ret, sizeof(*ret));
}

static bool find_cfa(struct walk *w, const struct unwind_rule *rule, uint64_t *cfa)
{
	uint64_t sp = w->now.r[w->m->sp];

	if (!is_known(w, rule->cfa_reg))
		return stop(w, UNWIND_NO_VALUE);
	*cfa = w->now.r[rule->cfa_reg] + (int64_t)rule->cfa_off;
	if (rule->cfa == UNWIND_DEREF) {
		if (!read_word(w, *cfa, cfa))
			return stop(w, UNWIND_NO_STACK);
		*cfa += (int64_t)rule->cfa_add;
	} else if (rule->cfa == UNWIND_PLT && (w->now.pc & 15) >= (uint32_t)rule->cfa_add) {
		*cfa += 8;
	}
	/* What has not called anything may have no frame: where calls store nothing, or vfork(). */
	if (rule->signal || *cfa > sp || (*cfa == sp && w->exact))
		return true;
	return stop(w, UNWIND_NO_STACK);
}

/* The caller's value of one of the registers; false: it is not known. */
static bool find_saved(const struct walk *w, const struct unwind_rule *rule, int which,
		       uint64_t cfa, uint64_t *ret)
{
	uint8_t own = w->m->followed[which], reg = rule->at[which].reg;
	int64_t off = rule->at[which].off;

	if (own == CFI_NO_REGISTER)
		return false;
	switch (rule->at[which].place) {
	case UNWIND_SAME:
		*ret = is_known(w, own) ? w->now.r[own] : 0;
		return is_known(w, own);
	case UNWIND_AT_CFA:
		return read_word(w, cfa + off, ret);
	case UNWIND_AT_REG:
		return is_known(w, reg) && read_word(w, w->now.r[reg] + off, ret);
	case UNWIND_IN_REG:
		*ret = is_known(w, reg) ? w->now.r[reg] : 0;
		return is_known(w, reg);
	case UNWIND_FROM_CFA:
		*ret = cfa + off;
		return true;
	default:
		return false;
	}
}

static bool step_by_rule(struct walk *w, const struct unwind_rule *rule)
{
	const struct cfi_machine *m = w->m;
	struct unwind_registers caller = { 0 };
	uint64_t cfa, value;

	/* Only who has not called anything has its return address where the call left it. */
	if (rule->at[UNWIND_RA].place == UNWIND_SAME && !w->exact)
		return stop(w, UNWIND_NO_VALUE);
	if (!find_cfa(w, rule, &cfa))
		return false;
	for (int i = 0; i < UNWIND_FOLLOWED; i++) {
		if (find_saved(w, rule, i, cfa, &value))
			set(&caller, m->followed[i], value);
		else if (i == UNWIND_RA)
			return stop(w, UNWIND_NO_STACK);
	}
	caller.pc = caller.r[m->followed[UNWIND_RA]];
	if (rule->ra_signed)
		caller.pc &= (1ULL << ADDRESS_BITS) - 1;
	set(&caller, m->sp, cfa);
	w->now = caller;
	w->exact = rule->signal;
	w->by_pointer = false;
	return w->now.pc ? true : stop(w, UNWIND_COMPLETE);
}

static bool step_by_pointer(struct walk *w)
{
	uint8_t reg = w->m->followed[UNWIND_FP];
	uint64_t fp = w->now.r[reg], sp = w->now.r[w->m->sp], pair[2];

	if (!is_known(w, reg))
		return stop(w, UNWIND_NO_RULE);
	if (!fp && w->by_pointer)
		return stop(w, UNWIND_COMPLETE);
	if (fp & 7 || fp < sp || fp + 16 < fp ||
	    !w->source->read(w->source->arg, fp, pair, sizeof(pair)))
		return stop(w, UNWIND_NO_RULE);
	if (!pair[1])
		return stop(w, UNWIND_COMPLETE);
	w->now = (struct unwind_registers){ .pc = pair[1] };
	set(&w->now, reg, pair[0]);
	set(&w->now, w->m->sp, fp + sizeof(pair));
	w->exact = false;
	w->by_pointer = true;
	return true;
}

static bool step(struct walk *w)
{
	const struct unwind_rule *rule;

	if (!w->table)
		return step_by_pointer(w);
	rule = unwind_table_find(w->table, w->address);
	switch (rule->cfa) {
	case UNWIND_NOTHING:
		return step_by_pointer(w);
	case UNWIND_END:
		return stop(w, UNWIND_COMPLETE);
	case UNWIND_STRANGE:
		return stop(w, UNWIND_NO_RULE);
	default:
		return step_by_rule(w, rule);
	}
}

static bool is_code(struct walk *w)
{
	const struct unwind_source *s = w->source;

	return s->find(s->arg, w->now.pc - !w->exact, &w->table, &w->address) ||
	       stop(w, UNWIND_NO_CODE);
}

size_t unwind_stack(const struct unwind_source *source, const struct unwind_registers *at,
		    struct unwind_frame *frames, size_t max, enum unwind_why *why)
{
	struct walk w = {
		.source = source,
		.m = cfi_machine(source->machine),
		.now = *at,
		.exact = true,
		.why = UNWIND_NO_VALUE,
	};
	bool more = w.m && is_known(&w, w.m->sp) && is_code(&w);
	size_t n = 0;

	if (max)
		frames[n++] = (struct unwind_frame){ w.now.pc, true, false };
	while (more && n < max) {
		more = step(&w) && is_code(&w);
		if (more)
			frames[n++] = (struct unwind_frame){ w.now.pc, w.exact, w.by_pointer };
	}
	*why = more ? UNWIND_FULL : w.why;
	return n;
}
