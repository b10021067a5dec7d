/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does the task poll for what others have to do (account/polling.h)? Which functions are what, the
 * daemon tells by the number of the file's unwind table (engine_set_polling()), so that nothing has
 * to be known of a process but where its files are mapped, which the walk knows. Without unwind
 * tables nothing is seen: chains by frame pointers lead nowhere in these libraries.
 */
#ifndef SCOZ_POLLING_BPF_H
#define SCOZ_POLLING_BPF_H

#include "account/polling.h"
#include "engine/bpf/match.bpf.h"

volatile __u32 polling_known; /* of some file it is known */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UNWIND_MAX_TABLES);
	__type(key, u32);
	__type(value, struct bpf_polling_file);
} polling_files SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, BPF_POLLING_RANGES);
	__type(key, u32);
	__type(value, struct scoz_poll_range);
} polling_ranges SEC(".maps");

#define POLLING_STEPS 13
_Static_assert(BPF_POLLING_RANGES < 1 << POLLING_STEPS, "ranges that are not found");

#define NO_POLLING_RANGE 0xffffffffu

/* What is said of @at by ranges from @first on, @n of them. */
__noinline u32 find_polling_range(u32 first, u32 n, u64 at)
{
	u32 lo = first, hi = first + n;

	for (int i = 0; i < POLLING_STEPS && lo < hi; i++) {
		u32 mid = (lo + hi) / 2;
		struct scoz_poll_range *r = bpf_map_lookup_elem(&polling_ranges, &mid);

		if (!r)
			break;
		if (at < r->start)
			hi = mid;
		else if (at >= r->end)
			lo = mid + 1;
		else
			return r->role;
	}
	return NO_POLLING_RANGE;
}

/* Of the code at w->pc, where find_mapping() has found it. */
static __always_inline u32 polling_role(const struct unwind_walk *w)
{
	u64 at = w->pc - !w->exact - w->zero;
	struct bpf_polling_file *f;
	u32 key = w->table, role;

	f = key ? bpf_map_lookup_elem(&polling_files, &key) : NULL;
	if (!f || !f->known)
		return SCOZ_POLL_OTHER;
	role = find_polling_range(f->first, f->n, at);
	return role == NO_POLLING_RANGE ? f->role : role;
}

struct polling_ctx {
	struct unwind_walk *w;
	struct unwind_space *space;
	struct scoz_poll_chain chain;
	u32 verdict;
};

/* Looked at once by the verifier, which else follows each role through each frame. */
__noinline u32 polling_verdict(struct scoz_poll_chain *chain, u32 role)
{
	return chain ? scoz_poll_frame(chain, role) : SCOZ_POLL_WORKS;
}

static long polling_frame(u32 index, void *arg)
{
	struct polling_ctx *c = arg;
	struct unwind_walk *w = c->w;

	if (index >= SCOZ_MAX_FRAMES)
		return 1;
	w->pc = w->frames[index];
	w->exact = !index;
	c->verdict = SCOZ_POLL_WORKS;
	if (!find_mapping(w, c->space)) /* nor is the marker of a signal's frame in any */
		return 1;
	c->verdict = polling_verdict(&c->chain, polling_role(w));
	return c->verdict != SCOZ_POLL_GO_ON;
}

/* The chain is walked where it begins in code of these files only. */
__noinline u32 polls(struct match *m)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct polling_ctx c = {};
	struct pt_regs *regs;
	u32 words;

	if (!m || !unwind_by_tables || !polling_known || task->flags & PF_KTHREAD)
		return 0;
	c.w = &m->walk;
	c.space = unwind_space_of(task);
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	if (!c.space || !regs)
		return 0;
	c.w->pc = user_ip(regs);
	c.w->exact = 1;
	c.w->start = c.w->end = 0;
	if (!find_mapping(c.w, c.space) || polling_role(c.w) == SCOZ_POLL_OTHER)
		return 0;
	words = walked_user(m);
	c.w->start = c.w->end = 0;
	bpf_loop(words, polling_frame, &c, 0);
	return c.verdict == SCOZ_POLL_WAITS;
}

#endif
