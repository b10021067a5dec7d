/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The user's part of a call chain, by unwind tables: the same walk as unwind/unwind.c, which tells
 * how it goes and what keeps it from being wrong; here it reads the tables as BPF maps.
 *
 * Most callers of a sample are those of the sample before, and are found by other processes of the
 * same program, too: what a search has found is remembered by table and offset, so that most frames
 * cost one look. A table's serial tells it from another that has got its number.
 *
 * A walk begins with the registers with which the task entered the kernel: those of an interrupt in
 * user code are saved in the same place as those of a system call. It goes through at most
 * SCOZ_MAX_FRAMES frames by bpf_loop(); each takes two binary searches (nine comparisons a block,
 * without branches, so that there is one path for the verifier) and at most three words of the
 * stack, which is read in stretches, because a read costs more than what it copies.
 *
 * What lies in the maps was checked by who filled them, and none of it is believed here: numbers of
 * tables, blocks and rules are looked up as keys, everything else is cut to what it indexes. So a
 * damaged table makes a wrong chain, and nothing else.
 *
 * A child that has no list of mappings yet is taken for its parent, whose image it has until it
 * execs. Engine bpf makes one for whoever has none, or that of another image, before the records of
 * its exec have been read (learned.bpf.h). Else there is no walk: unwind_user() returns 0, and
 * frame pointers count. Code that has no table (made at run time, or mapped a moment ago) is left
 * by its frame pointer; when no code that is known comes behind it, it may have been anything, and
 * is left out.
 */
#ifndef SCOZ_UNWIND_BPF_H
#define SCOZ_UNWIND_BPF_H

#include "engine/bpf/kernel_types.bpf.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include <linux/scoz.h>
#include "unwind/kernel_layout.h"

/* As unwind.h and unwind_table.h have them, which this side cannot include. */
enum { CFA_NOTHING, CFA_END, CFA_STRANGE, CFA_REG, CFA_DEREF, CFA_PLT };
enum { AT_SAME, AT_LOST, AT_CFA, AT_REG, IN_REG, FROM_CFA };
enum { FOLLOW_RA, FOLLOW_FP, FOLLOW_BX, FOLLOWED };
enum walk_end {
	WALK_COMPLETE,
	WALK_FULL,
	WALK_NO_CODE,
	WALK_NO_RULE,
	WALK_NO_VALUE,
	WALK_NO_STACK
};

/* perf's marker: the next address is where it ran, not where a call returns to. */
#define EXACT_USER (-512ULL)

/* DWARF's numbers, x86-64. */
#define REG_BX 3
#define REG_BP 6
#define REG_SP 7
#define REG_RA 16

#define USER_BITS 56

#define STACK_WORDS   64
#define STACK_BEFORE  64	   /* bytes: frames are read from their ends */
#define STACK_NOWHERE (1ULL << 63) /* no address of a program is near */

/* A return address's rule; serial 0: none. */
struct unwind_memo {
	u32 serial, at;
	struct unwind_kernel_rule rule;
};

#define UNWIND_MEMOS 512 /* of a core and a kind of walk */

struct unwind_walk {
	u64 pc;
	u64 r[32];
	u32 known; /* bits */
	u32 n;	   /* words in frames */
	u32 good;  /* of them, up to the last that is known to be code */
	u32 ended;
	u8 exact, by_pointer, last_by_pointer, word_by_word;
	u32 table; /* of the code at pc */
	u32 serial;
	u64 pointed[2]; /* bits: words in frames that a frame pointer led to */
	u64 zero;
	u64 start, end; /* of the mapping that was found last */
	u64 stack_at;
	u64 stack[STACK_WORDS];
	u64 saved[21];	 /* registers as the kernel saves them */
	u32 pad2, words; /* of what follows, when it is sent */
	u64 frames[SCOZ_MAX_FRAMES + 1];
	struct unwind_memo memo[UNWIND_MEMOS];
};

struct unwind_inner {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_INNER_MAP);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(union unwind_block));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, UNWIND_MAX_TABLES);
	__type(key, u32);
	__array(values, struct unwind_inner);
} unwind_tables SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, UNWIND_MAX_SPACES);
	__type(key, u32);
	__type(value, struct unwind_space);
} unwind_spaces SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct unwind_counts);
} unwind_counters SEC(".maps");

const volatile __u32 unwind_by_tables; /* 0: by frame pointers only */

struct unwind_ctx {
	struct unwind_walk *w;
	struct unwind_space *space;
};

static __always_inline bool read_stack(struct unwind_walk *w, u64 at, u64 *value)
{
	u64 i = at - w->stack_at;

	if (at & 7 || at >> USER_BITS || (w->word_by_word && i >= sizeof(w->stack)))
		return !bpf_probe_read_user(value, sizeof(*value), (void *)at);
	if (i >= sizeof(w->stack)) {
		u64 from = at < STACK_BEFORE ? 0 : at - STACK_BEFORE;

		if (bpf_probe_read_user(w->stack, sizeof(w->stack), (void *)from)) {
			w->stack_at = STACK_NOWHERE;
			w->word_by_word = 1; /* the end of the stack is near */
			return !bpf_probe_read_user(value, sizeof(*value), (void *)at);
		}
		w->stack_at = from;
		i = at - from;
	}
	*value = w->stack[(i / 8) & (STACK_WORDS - 1)];
	return true;
}

/* What the compiler then knows nothing about: so it keeps masks that older verifiers insist on. */
#define HIDE(x) asm volatile("" : "+r"(x))

/*
 * All ones if @a is above @b, else 0; both are below 2^63. The barrier keeps the compiler from
 * making a branch of it, which would double the verifier's paths.
 */
static __always_inline u64 is_above(u64 a, u64 b)
{
	s64 difference = b - a;

	HIDE(difference);
	return difference >> 63;
}

/* The last one of a block's offsets that is not above @off, or the first. */
static __always_inline u32 search_block(const union unwind_block *b, u32 off)
{
	u64 i = 0;

#pragma unroll
	for (u64 step = UNWIND_FANOUT / 2; step; step /= 2) {
		u64 above = is_above(b->off[(i + step) & (UNWIND_FANOUT - 1)], off);

		i += step & ~above;
		HIDE(i);
	}
	return i & (UNWIND_FANOUT - 1);
}

static __always_inline struct unwind_kernel_rule *search_rule(u32 key, u64 at)
{
	u32 number;
	union unwind_block *root, *b;
	void *table;

	table = bpf_map_lookup_elem(&unwind_tables, &key);
	key = 0;
	root = table ? bpf_map_lookup_elem(table, &key) : NULL;
	if (!root || root->off[0] > at)
		return NULL;
	number = search_block(root, at);
	if (root->root.deep) {
		key = 1 + number;
		b = bpf_map_lookup_elem(table, &key);
		if (!b)
			return NULL;
		number = number * UNWIND_FANOUT + search_block(b, at);
	}
	key = root->root.leaves + number;
	b = bpf_map_lookup_elem(table, &key);
	if (!b)
		return NULL;
	number = b->rule[search_block(b, at)];
	key = root->root.rules + number / UNWIND_BLOCK_RULES;
	b = bpf_map_lookup_elem(table, &key);
	return b ? &b->rules[number % UNWIND_BLOCK_RULES] : NULL;
}

static __always_inline struct unwind_memo *memo_of(struct unwind_walk *w, u32 at)
{
	u32 mixed = (at ^ w->serial << 20) * 0x9e3779b1u;

	return &w->memo[mixed >> 16 & (UNWIND_MEMOS - 1)];
}

static __always_inline struct unwind_kernel_rule *find_rule(struct unwind_walk *w)
{
	u64 at = w->pc - !w->exact - w->zero;
	struct unwind_kernel_rule *rule;
	struct unwind_memo *memo;

	if (at >= UNWIND_NO_OFFSET)
		return NULL;
	memo = memo_of(w, at);
	if (memo->at == at && memo->serial == w->serial)
		return &memo->rule;
	rule = search_rule(w->table, at);
	/* Where somebody was interrupted is seldom met again. */
	if (rule && !w->exact) {
		memo->serial = w->serial;
		memo->at = at;
		memo->rule = *rule;
	}
	return rule;
}

/* Where is the code at w->pc? false: in none of the files. */
__noinline bool find_mapping(struct unwind_walk *w, const struct unwind_space *s)
{
	const struct unwind_mapping *m;
	u64 pc, i = 0;

	if (!w || !s)
		return false;
	pc = (w->pc - !w->exact) & (~0ULL >> 1);
	if (pc >= w->start && pc < w->end)
		return true;
#pragma unroll
	for (u64 step = (UNWIND_MAX_MAPPINGS + 1) / 2; step; step /= 2) {
		u64 above = is_above(s->map[(i + step) & UNWIND_MAX_MAPPINGS].start, pc);

		i += step & ~above;
		HIDE(i);
	}
	m = &s->map[i & UNWIND_MAX_MAPPINGS];
	if (pc < m->start || pc >= m->end)
		return false;
	w->start = m->start;
	w->end = m->end;
	w->zero = m->zero;
	w->table = m->table;
	w->serial = m->serial;
	return true;
}

static __always_inline bool is_known(const struct unwind_walk *w, u32 reg)
{
	return w->known >> (reg & 31) & 1;
}

static __always_inline bool walk_ends(struct unwind_walk *w, enum walk_end why)
{
	w->ended = why;
	return false;
}

static __always_inline bool step_by_pointer(struct unwind_walk *w)
{
	u64 fp = w->r[REG_BP], next, ra;

	if (!is_known(w, REG_BP))
		return walk_ends(w, WALK_NO_RULE);
	if (!fp && w->last_by_pointer)
		return walk_ends(w, WALK_COMPLETE);
	if (fp & 7 || fp < w->r[REG_SP] || fp + 16 < fp || !read_stack(w, fp, &next) ||
	    !read_stack(w, fp + 8, &ra))
		return walk_ends(w, WALK_NO_RULE);
	if (!ra)
		return walk_ends(w, WALK_COMPLETE);
	w->pc = ra;
	w->r[REG_BP] = next;
	w->r[REG_SP] = fp + 16;
	w->known = 1 << REG_BP | 1 << REG_SP;
	w->exact = 0;
	w->last_by_pointer = 1;
	w->by_pointer++;
	return true;
}

static __always_inline bool find_cfa(struct unwind_walk *w, const struct unwind_kernel_rule *rule,
				     u64 *cfa)
{
	u64 sp = w->r[REG_SP];

	if (!is_known(w, rule->cfa_reg))
		return walk_ends(w, WALK_NO_VALUE);
	*cfa = w->r[rule->cfa_reg & 31] + (s64)rule->cfa_off;
	if (rule->cfa == CFA_DEREF) {
		if (!read_stack(w, *cfa, cfa))
			return walk_ends(w, WALK_NO_STACK);
		*cfa += (s64)rule->cfa_add;
	} else if (rule->cfa == CFA_PLT && (w->pc & 15) >= (u32)rule->cfa_add) {
		*cfa += 8;
	}
	if (rule->signal || *cfa > sp || (*cfa == sp && w->exact))
		return true;
	return walk_ends(w, WALK_NO_STACK);
}

/* The caller's value of register @own; false: it is not known. */
static __always_inline bool find_saved(struct unwind_walk *w, const struct unwind_kernel_rule *rule,
				       u32 which, u32 own, u64 cfa, u64 *value)
{
	u32 reg = rule->reg[which] & 31;
	s64 off = rule->off[which];

	switch (rule->place[which]) {
	case AT_CFA:
		return read_stack(w, cfa + off, value);
	case AT_SAME:
		*value = w->r[own];
		return is_known(w, own);
	case AT_REG:
		return is_known(w, reg) && read_stack(w, w->r[reg] + off, value);
	case IN_REG:
		*value = w->r[reg];
		return is_known(w, reg);
	case FROM_CFA:
		*value = cfa + off;
		return true;
	default:
		return false;
	}
}

static __always_inline bool step_by_rule(struct unwind_walk *w,
					 const struct unwind_kernel_rule *rule)
{
	u64 cfa, ra = 0, bp = 0, bx = 0;
	u32 known = 1 << REG_SP;

	/* x86-64: a call stores it. */
	if (rule->place[FOLLOW_RA] == AT_SAME)
		return walk_ends(w, WALK_NO_VALUE);
	if (!find_cfa(w, rule, &cfa))
		return false;
	if (find_saved(w, rule, FOLLOW_BX, REG_BX, cfa, &bx))
		known |= 1 << REG_BX;
	if (find_saved(w, rule, FOLLOW_FP, REG_BP, cfa, &bp))
		known |= 1 << REG_BP;
	if (!find_saved(w, rule, FOLLOW_RA, REG_RA, cfa, &ra))
		return walk_ends(w, WALK_NO_STACK);
	w->r[REG_BX] = bx;
	w->r[REG_BP] = bp;
	w->r[REG_SP] = cfa;
	w->known = known;
	w->pc = ra;
	w->exact = rule->signal;
	w->last_by_pointer = 0;
	return ra ? true : walk_ends(w, WALK_COMPLETE);
}

static __always_inline bool walk_step(struct unwind_walk *w, bool in_file)
{
	struct unwind_kernel_rule *rule = in_file && w->table ? find_rule(w) : NULL;

	if (!rule)
		return step_by_pointer(w);
	switch (rule->cfa) {
	case CFA_NOTHING:
		return step_by_pointer(w);
	case CFA_END:
		return walk_ends(w, WALK_COMPLETE);
	case CFA_STRANGE:
		return walk_ends(w, WALK_NO_RULE);
	default:
		return step_by_rule(w, rule);
	}
}

static __always_inline bool put_word(struct unwind_walk *w, u64 word)
{
	u32 n = READ_ONCE(w->n);

	if (n >= SCOZ_MAX_FRAMES)
		return false;
	w->frames[n] = word;
	if (w->last_by_pointer)
		w->pointed[n >> 6 & 1] |= 1ULL << (n & 63);
	w->n = n + 1;
	return true;
}

/* Puts the frame at hand, and goes to its caller. */
static long walk_frame(u32 index, void *arg)
{
	struct unwind_ctx *c = arg;
	struct unwind_walk *w = c->w;
	bool in_file = find_mapping(w, c->space);

	if (w->exact && index && !put_word(w, EXACT_USER))
		return 1;
	if (!put_word(w, w->pc))
		return 1;
	if (in_file)
		w->good = w->n;
	return !walk_step(w, in_file) || w->pc >> USER_BITS;
}

#if defined(__TARGET_ARCH_x86)
/* In the order in which the kernel saves them. */
static __always_inline bool first_registers(struct unwind_walk *w, struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	u64 *s = w->saved;

	/* r15 to r12, bp, bx, r11 to r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss */
	if (bpf_core_field_offset(struct pt_regs, sp) != 19 * 8 ||
	    bpf_core_field_offset(struct pt_regs, bp) != 4 * 8 || !regs ||
	    bpf_probe_read_kernel(s, sizeof(w->saved), regs))
		return false;
	if ((s[17] & 0xffff) != 0x33 && (s[17] & 0xffff) != 0xe033) /* not 64-bit code */
		return false;
	w->pc = s[16];
	w->r[0] = s[10];
	w->r[1] = s[12];
	w->r[2] = s[11];
	w->r[3] = s[5];
	w->r[4] = s[13];
	w->r[5] = s[14];
	w->r[6] = s[4];
	w->r[7] = s[19];
	w->r[8] = s[9];
	w->r[9] = s[8];
	w->r[10] = s[7];
	w->r[11] = s[6];
	w->r[12] = s[3];
	w->r[13] = s[2];
	w->r[14] = s[1];
	w->r[15] = s[0];
	w->known = 0xffff;
	return !(w->pc >> 63);
}
#else
static __always_inline bool first_registers(struct unwind_walk *w, struct task_struct *task)
{
	return false;
}
#endif

static __always_inline struct unwind_space *unwind_space_of(struct task_struct *task)
{
	struct mm_struct *mm = task->mm;
	struct task_struct *parent;
	struct unwind_space *s;
	u32 tgid = task->tgid;

	if (!mm)
		return NULL;
	s = bpf_map_lookup_elem(&unwind_spaces, &tgid);
	if (!s) {
		parent = task->real_parent;
		tgid = parent ? parent->tgid : 0;
		s = bpf_map_lookup_elem(&unwind_spaces, &tgid);
	}
	return s && s->start_code == mm->start_code && s->start_stack == mm->start_stack ? s : NULL;
}

/*
 * The current task's user chain in w->frames, as bpf_get_stack() would have it (a frame that was
 * interrupted has EXACT_USER before it). Returns how many words, 0: none is to be had by tables.
 */
__noinline u32 unwind_user(struct unwind_walk *w)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct unwind_counts *counts;
	struct unwind_ctx ctx = { .w = w };
	u64 began = bpf_ktime_get_ns();
	u32 key = 0, why;

	if (!w || !unwind_by_tables || task->flags & PF_KERNELS)
		return 0;
	counts = bpf_map_lookup_elem(&unwind_counters, &key);
	if (!counts)
		return 0;
	ctx.space = unwind_space_of(task);
	if (!ctx.space || !ctx.space->n || !first_registers(w, task)) {
		counts->unknown++;
		return 0;
	}
	w->n = w->good = 0;
	w->exact = 1;
	w->by_pointer = w->last_by_pointer = 0;
	w->pointed[0] = w->pointed[1] = 0;
	w->start = w->end = 0;
	w->ended = WALK_FULL;
	w->table = 0;
	w->stack_at = STACK_NOWHERE;
	w->word_by_word = 0;
	bpf_loop(SCOZ_MAX_FRAMES, walk_frame, &ctx, 0);
	counts->walked_ns += bpf_ktime_get_ns() - began;
	if (!w->good) /* made at run time, and nothing that is known called it */
		return 0;
	why = w->good < w->n ? WALK_NO_CODE : w->ended & (UNWIND_KERNEL_WHYS - 1);
	w->ended = why;
	counts->ended[why]++;
	counts->frames += w->good;
	counts->by_pointer += w->by_pointer;
	return w->good;
}

#endif
