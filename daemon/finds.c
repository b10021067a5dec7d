// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/finds.h"

#define APART	    8	 /* lines further from each other are not read together */
#define LONGEST	    32	 /* lines, what a screen shows */
#define LEAST_PART  0.02 /* of the function: less makes no find longer */
#define CALLS_MUCH  0.05 /* of the function's samples: such a line is a find by itself */
#define MOST_OF_ALL 0.5
#define ONLY_CALLEE 0.75 /* of all that the caller calls */
#define CALLER_PART 0.06 /* of what it calls: with less it only passes on */

bool find_span_parse(const char *name, struct find_span *ret)
{
	const char *colon = strrchr(name, ':');
	unsigned long first, last;
	char *end;

	if (!colon || colon == name || colon[1] < '0' || colon[1] > '9')
		return false;
	first = last = strtoul(colon + 1, &end, 10);
	if (*end == '-' && end[1] >= '0' && end[1] <= '9')
		last = strtoul(end + 1, &end, 10);
	if (*end || !first || last < first || last > UINT32_MAX)
		return false;
	*ret = (struct find_span){ name, colon - name, first, last };
	return true;
}

/* A line where it stands. */
struct placed {
	const struct find_line *l;
	struct find_span at;
	size_t i;
	bool kept;  /* it is part of a find that has been tried */
	bool alone; /* it has to do with calls */
};

static int by_place(const void *pa, const void *pb)
{
	const struct placed *a = pa, *b = pb;
	int c = strcmp(a->l->function, b->l->function);

	if (!c)
		c = a->at.length != b->at.length ? (a->at.length < b->at.length ? -1 : 1)
						 : memcmp(a->at.file, b->at.file, a->at.length);
	return c ? c : (a->at.first > b->at.first) - (a->at.first < b->at.first);
}

static bool same_file(const struct find_span *a, const struct find_span *b)
{
	return a->length == b->length && !memcmp(a->file, b->file, a->length);
}

static bool is_of_caller(const struct find_line *lines, size_t i)
{
	const struct find_line *l = &lines[i], *by;

	if (l->caller == FIND_NO_CALLER || l->caller == i || !l->credit)
		return false;
	by = &lines[l->caller];
	return by->credit >= CALLER_PART * l->credit &&
	       l->credit >= ONLY_CALLEE * (by->total - (double)by->self);
}

/* One step: a caller that is itself called by another line stays with what it calls. */
static void join_callers(const struct find_line *lines, size_t n, struct find *ret)
{
	for (size_t i = 0; i < n; i++) {
		if (is_of_caller(lines, i) && !is_of_caller(lines, lines[i].caller))
			ret[i].as = lines[i].caller;
	}
}

static uint64_t credit_of(const struct placed *p, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += p[i].l->credit;
	return sum;
}

/* As long as nothing stands between that has to be told apart. */
static void join_near(const struct placed *p, size_t n, uint64_t sum, struct find *ret)
{
	double function = credit_of(p, n);
	size_t begin = 0;

	while (begin < n) {
		size_t last = begin, members = 0;
		uint64_t credit = 0;

		for (size_t i = begin; i < n; i++) {
			const struct placed *at = &p[i];
			double own = at->l->credit;

			if (at->kept || (at->alone && at->l->total >= CALLS_MUCH * function))
				break;
			if (at->alone || own < LEAST_PART * function)
				continue;
			if (members && (at->at.first > p[last].at.first + APART ||
					at->at.first >= p[begin].at.first + LONGEST))
				break;
			if (!members)
				begin = i;
			last = i;
			members++;
			credit += at->l->credit;
		}
		for (size_t i = begin; members > 1 && credit <= MOST_OF_ALL * sum && i <= last;
		     i++) {
			if (p[i].alone)
				continue;
			ret[p[i].i].first = p[begin].at.first;
			ret[p[i].i].last = p[last].at.first;
		}
		begin = members ? last + 1 : begin + 1;
	}
}

static void keep(struct placed *p, const struct find_span *kept, size_t n, struct find *ret)
{
	for (size_t i = 0; i < n && !p->kept; i++) {
		if (!same_file(&p->at, &kept[i]) || p->at.first < kept[i].first ||
		    p->at.first > kept[i].last)
			continue;
		p->kept = true;
		if (p->alone)
			continue;
		ret->first = kept[i].first;
		ret->last = kept[i].last;
	}
}

void finds_join(const struct find_line *lines, size_t n, uint64_t sum, const struct find_span *kept,
		size_t n_kept, struct find *ret)
{
	_cleanup_free_ struct placed *p = xcalloc(n + 1, sizeof(*p));
	_cleanup_free_ bool *calls = xcalloc(n + 1, sizeof(*calls));
	size_t placed = 0;

	for (size_t i = 0; i < n; i++)
		ret[i] = (struct find){ .as = i };
	join_callers(lines, n, ret);
	for (size_t i = 0; i < n; i++)
		calls[ret[i].as] |= ret[i].as != i;
	for (size_t i = 0; i < n; i++) {
		struct placed *to = &p[placed];

		*to = (struct placed){ .l = &lines[i], .i = i };
		if (!find_span_parse(lines[i].name, &to->at))
			continue;
		ret[i].first = ret[i].last = to->at.first;
		to->alone = calls[i] || ret[i].as != i || 2 * lines[i].total > 3 * lines[i].self;
		keep(to, kept, n_kept, &ret[i]);
		placed += lines[i].function != NULL;
	}
	qsort(p, placed, sizeof(*p), by_place);
	for (size_t from = 0, to; from < placed; from = to) {
		for (to = from + 1; to < placed; to++) {
			if (strcmp(p[from].l->function, p[to].l->function) != 0 ||
			    !same_file(&p[from].at, &p[to].at))
				break;
		}
		join_near(p + from, to - from, sum, ret);
	}
}
