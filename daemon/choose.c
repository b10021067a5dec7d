// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/choose.h"

#include "host/syscall_names.h"
#include "maps/credit.h"

#define MAX_CHOSEN 8 /* at a time */
#define MAX_MORE   4 /* for what is expected of them */
#define MAX_CALLS  4 /* system calls, beside these */

void chosen_target_free(struct chosen_target *t)
{
	free(t->name);
	free(t->sites);
	*t = (struct chosen_target){};
}

static void free_from(struct choices *c, size_t first)
{
	while (c->n > first) {
		free(c->list[--c->n].line);
		chosen_target_free(&c->list[c->n].target);
	}
}

void choices_free(struct choices *c)
{
	free_from(c, 0);
	free(c->list);
	*c = (struct choices){};
}

/* With the parts of @site that make it what it is. */
static void add_site(struct chosen_target *t, const struct location_site *site)
{
	bool line = t->kind == TARGET_LINE, whole = t->kind == TARGET_BINARY;
	struct location_site s = { .binary = site->binary,
				   .line = line ? site->line : 0,
				   .file = line ? site->file : NULL,
				   .function = line || whole ? NULL : site->function };

	for (size_t i = 0; i < t->n_sites; i++) {
		if (!memcmp(&t->sites[i], &s, sizeof(s)))
			return;
	}
	array_reserve(t->sites, t->cap_sites, t->n_sites + 1);
	t->sites[t->n_sites++] = s;
}

/* Takes @name. */
static void add(struct choices *c, char *name, enum target_kind kind,
		const struct location_site *sites, size_t n_sites, uint64_t samples)
{
	struct choice *new;

	array_reserve(c->list, c->cap, c->n + 1);
	new = &c->list[c->n++];
	*new = (struct choice){ .target = { .name = name, .kind = kind }, .samples = samples };
	for (size_t i = 0; i < n_sites; i++)
		add_site(&new->target, &sites[i]);
}

static int by_name(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;

	return strcmp(x->target.name, y->target.name);
}

static int by_samples(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;

	return x->samples != y->samples ? (x->samples < y->samples ? 1 : -1) : by_name(a, b);
}

/* Puts together what has the same name, most sampled first. */
static void merge(struct choices *c)
{
	size_t kept = 0;

	if (!c->n)
		return;
	qsort(c->list, c->n, sizeof(*c->list), by_name);
	for (size_t i = 1; i < c->n; i++) {
		struct choice *to = &c->list[kept], *from = &c->list[i];

		if (by_name(to, from)) {
			c->list[++kept] = *from;
			continue;
		}
		to->samples += from->samples;
		if (from->most > to->most) {
			free(to->line);
			to->line = from->line;
			to->most = from->most;
		} else {
			free(from->line);
		}
		for (size_t k = 0; k < from->target.n_sites; k++)
			add_site(&to->target, &from->target.sites[k]);
		chosen_target_free(&from->target);
	}
	c->n = kept + 1;
	qsort(c->list, c->n, sizeof(*c->list), by_samples);
}

static const struct profile_expectation *expected(const struct choice *c,
						  const struct expectations *e)
{
	return expectations_half(e, c->line ? c->line : c->target.name);
}

void choices_keep_worth(struct choices *c, uint64_t sum, uint64_t all, const struct expectations *e)
{
	size_t kept = 0, by_samples;

	while (kept < c->n && kept < MAX_CHOSEN &&
	       code_worth_trying(c->list[kept].samples, sum, all))
		kept++;
	by_samples = kept;
	for (size_t i = kept; i < c->n && kept < by_samples + MAX_MORE; i++) {
		struct choice saved = c->list[i];

		if (!expectation_is_sure(expected(&saved, e)))
			continue;
		c->list[i] = c->list[kept];
		c->list[kept++] = saved;
	}
	free_from(c, kept);
}

void choices_add_waits(struct choices *c, uint64_t io_waited, uint64_t ran, uint64_t sum,
		       uint64_t all)
{
	double samples = ran ? (double)io_waited / ran * sum : 0;
	uint64_t some = samples < sum ? samples : sum;

	if (!code_worth_trying(some, sum + some, all + some))
		return;
	add(c, xstrdup("class:io"), TARGET_CLASS, NULL, 0, some);
	qsort(c->list, c->n, sizeof(*c->list), by_samples);
}

/* Of one call several may be in a chain: it has as many as that with the most. */
static void add_call(struct choices *c, const char *call, uint64_t samples)
{
	char *name = target_compose(TARGET_SYSCALL, call, NULL);

	for (size_t i = 0; i < c->n; i++) {
		if (strcmp(c->list[i].target.name, name) != 0)
			continue;
		if (c->list[i].samples < samples)
			c->list[i].samples = samples;
		free(name);
		return;
	}
	add(c, name, TARGET_SYSCALL, NULL, 0, samples);
}

void choices_add_calls(struct choices *c, const struct entered *e, size_t n, uint64_t sum,
		       uint64_t all)
{
	struct choices calls = {};

	for (size_t i = 0; i < n; i++) {
		const char *call = syscall_entered_by(e[i].function);

		if (call && code_worth_trying(e[i].samples, sum, all))
			add_call(&calls, call, e[i].samples);
	}
	if (!calls.n)
		return;
	qsort(calls.list, calls.n, sizeof(*calls.list), by_samples);
	free_from(&calls, MAX_CALLS);
	for (size_t i = 0; i < calls.n; i++) {
		array_reserve(c->list, c->cap, c->n + 1);
		c->list[c->n++] = calls.list[i];
	}
	free(calls.list);
	qsort(c->list, c->n, sizeof(*c->list), by_samples);
}

double choices_weight(const struct choices *c, size_t i, const struct expectations *e)
{
	double most = 0;

	for (size_t k = 0; k < c->n; k++) {
		const struct profile_expectation *x = expected(&c->list[k], e);

		most = x && x->high > most ? x->high : most;
	}
	return c->list[i].samples * expectation_favour(expected(&c->list[i], e), most);
}

/* What the samples of a run are credited to. */
struct credits {
	struct tally_sums *location;
	struct tally_binary *binary;
	size_t n_location, n_binary;
	uint64_t sum, all; /* credited to something; all samples */
};

static void credits_read(struct session *s, struct credits *ret)
{
	struct handlers_counts counts;

	handlers_locations(s->handlers, &ret->location, &ret->n_location);
	handlers_binaries(s->handlers, &ret->binary, &ret->n_binary);
	handlers_counts(s->handlers, &counts);
	ret->all = counts.samples;
	ret->sum = 0;
	for (size_t i = 0; i < ret->n_location; i++)
		ret->sum += ret->location[i].credit;
	for (size_t i = 0; i < ret->n_binary; i++)
		ret->sum += ret->binary[i].sums.credit;
}

static void add_binary(struct session *s, uint32_t id, uint64_t samples, struct choices *ret)
{
	struct location_site site = { .binary = id };

	add(ret, locations_binary_target(maps_binary_path(s->maps, id)), TARGET_BINARY, &site, 1,
	    samples);
}

/* Lines and functions as they were sampled; the functions of the lines; the binaries of these. */
enum grain { PLACES, FUNCTIONS, BINARIES };

/* Lines that are one find bear its name, and come together by that. */
static void add_lines(struct session *s, uint32_t id, const struct find *f, uint64_t samples,
		      struct choices *ret)
{
	_cleanup_free_ struct location_site *sites = NULL;
	size_t n = locations_sites(s->locations, id, &sites);
	const char *name = locations_get(s->locations, id)->target;
	struct find_span at;

	find_span_parse(name, &at);
	add(ret, xasprintf("%.*s:%u-%u", (int)at.length, at.file, f->first, f->last), TARGET_LINE,
	    sites, n, samples);
	ret->list[ret->n - 1].line = xstrdup(name);
	ret->list[ret->n - 1].most = samples;
}

static void add_location(struct session *s, uint32_t id, enum grain grain, uint64_t samples,
			 struct choices *ret)
{
	const struct location *l = locations_get(s->locations, id);
	_cleanup_free_ struct location_site *sites = NULL;
	size_t n = locations_sites(s->locations, id, &sites);

	if (l->kind == TARGET_KERNEL &&
	    function_is_of_bpf(target_name_in(l->target, TARGET_KERNEL, NULL)))
		return;
	if (grain == BINARIES && l->binary[0] != '[')
		add_binary(s, sites[0].binary, samples, ret);
	else if (grain == FUNCTIONS && l->function)
		add(ret, xstrdup(l->function),
		    l->binary[0] == '[' ? TARGET_KERNEL : TARGET_FUNCTION, sites, 1, samples);
	else if (grain != BINARIES)
		add(ret, xstrdup(l->target), l->kind, sites, n, samples);
}

/* What is worth trying; code of which nothing is known stands for its binary. */
static void choose_by_grain(struct session *s, const struct credits *c, enum grain grain,
			    const struct find *finds, struct choices *ret)
{
	for (size_t i = 0; i < c->n_location; i++) {
		const struct find *f = grain == PLACES && finds ? &finds[i] : NULL;
		uint64_t samples = c->location[i].credit;

		if (samples && f && f->last > f->first)
			add_lines(s, i, f, samples, ret);
		else if (samples)
			add_location(s, f ? f->as : i, grain, samples, ret);
	}
	for (size_t i = 0; i < c->n_binary; i++) {
		if (c->binary[i].sums.credit && !maps_binary_is_kernel(s->maps, i))
			add_binary(s, i, c->binary[i].sums.credit, ret);
	}
	merge(ret);
	choices_keep_worth(ret, c->sum, c->all, s->expected);
}

#define NEARLY_ALL 0.8 /* by so much more: nine tenths of all calls */

/* NULL: lines were asked for one by one. */
static struct find *find(struct session *s, const struct credits *c, const struct find_span *kept,
			 size_t n_kept)
{
	_cleanup_free_ struct find_line *lines = NULL;
	struct find *ret;

	if (s->opt.granularity == GRANULARITY_LINE)
		return NULL;
	lines = xcalloc(c->n_location + 1, sizeof(*lines));
	ret = xcalloc(c->n_location + 1, sizeof(*ret));
	for (size_t i = 0; i < c->n_location; i++) {
		const struct location *l = locations_get(s->locations, i);
		const struct tally_sums *sums = &c->location[i];

		lines[i] = (struct find_line){ l->target,   NULL,	  sums->self,
					       sums->total, sums->credit, FIND_NO_CALLER };
		if (l->kind != TARGET_LINE)
			continue;
		lines[i].function = l->function;
		if (sums->margin >= NEARLY_ALL * sums->credit && sums->caller < c->n_location &&
		    locations_get(s->locations, sums->caller)->kind == TARGET_LINE)
			lines[i].caller = sums->caller;
	}
	finds_join(lines, c->n_location, c->sum, kept, n_kept, ret);
	return ret;
}

/*
 * What the program asks of the kernel, and can ask for less often. Where the kernel has lines these
 * tell more; functions are many, and each has little of its own.
 */
static void choose_calls(struct session *s, const struct credits *c, struct choices *ret)
{
	const struct maps_binary *kernel = maps_binary_ask(s->maps, MAPS_KERNEL_ID);
	_cleanup_free_ struct entered *e = NULL;
	size_t n = 0;

	if (!maps_kernel_targets(s->maps) || !kernel || !kernel->table ||
	    maptable_source(kernel->table) != MAP_KALLSYMS)
		return;
	e = xcalloc(c->n_location + 1, sizeof(*e));
	for (size_t i = 0; i < c->n_location; i++) {
		const struct location *l = locations_get(s->locations, i);

		if (l->kind == TARGET_KERNEL && c->location[i].total)
			e[n++] = (struct entered){ target_name_in(l->target, TARGET_KERNEL, NULL),
						   c->location[i].total };
	}
	choices_add_calls(ret, e, n, c->sum, c->all);
}

void choose_targets(struct session *s, const struct find_span *kept, size_t n_kept,
		    struct choices *ret)
{
	_cleanup_free_ struct find *finds = NULL;
	struct engine_ledger ledger;
	struct credits c;
	bool can_tell;

	*ret = (struct choices){};
	credits_read(s, &c);
	finds = find(s, &c, kept, n_kept);
	choose_by_grain(s, &c, PLACES, finds, ret);
	/* With fewer samples in all a place may yet turn out to have its share. */
	for (enum grain g = FUNCTIONS; !ret->n && g <= BINARIES && code_can_tell(c.sum); g++)
		choose_by_grain(s, &c, g, NULL, ret);
	can_tell = ret->n || code_can_tell(c.sum);
	if (can_tell)
		choose_calls(s, &c, ret);
	if (engine_knows_classes(s->engine) && !s->opt.n_binary_scope && !s->opt.n_source_scope) {
		engine_read_ledger(s->engine, &ledger);
		ret->waits_first = ledger.io_waited > ledger.ran;
		if (can_tell || ret->waits_first)
			choices_add_waits(ret, ledger.io_waited, ledger.ran, c.sum, c.all);
	}
	free(c.location);
	free(c.binary);
}
