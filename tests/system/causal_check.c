// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * causal_check FILE [COMM]: a causal recording does not contradict itself: threads leave CPUs that
 * they were on, run where they were told to, and do nothing after their end. Prints what threads of
 * that name (default: all) did, as "KEY VALUE" lines.
 */
#include "trace/trace.h"

#define LATE_NS 1000000 /* after its end a thread's last samples may come */

struct state {
	enum { UNKNOWN, RUNS, READY, BLOCKED, GONE } now;
	uint64_t since, ran;
	bool early; /* woken before it was seen to leave */
	uint64_t sampled, events;
	bool revived;
};

struct check {
	struct trace *t;
	const char *comm;
	struct state *threads;
	uint64_t switches, wakes[TRACE_BYS], waits[TRACE_WAITS], forks, exits, progress, issues,
		completes, samples, weight, wrong, unwoken;
	uint64_t *by_device; /* issues */
};

static void wrong(struct check *c, const struct trace_event *e, const char *what)
{
	if (c->wrong++ < 10)
		fprintf(stderr, "%.6f s: thread %d (%s): %s\n", e->time / 1e9,
			c->t->threads[e->thread].tid, c->t->threads[e->thread].comm, what);
}

static int see(const struct trace_event *e, void *arg)
{
	struct check *c = arg;
	struct state *s;
	bool counts;

	if (e->type == TRACE_COMPLETE || e->type == TRACE_ISSUE) {
		c->completes += e->type == TRACE_COMPLETE;
		c->issues += e->type == TRACE_ISSUE;
		if (e->type == TRACE_ISSUE && e->other != TRACE_NONE)
			c->by_device[e->other]++;
		return 0;
	}
	if (e->thread == TRACE_NONE) { /* an interrupt's progress */
		c->progress++;
		return 0;
	}
	s = &c->threads[e->thread];
	counts = !c->comm || !strcmp(c->comm, c->t->threads[e->thread].comm);
	s->events += e->type != TRACE_SAMPLE;
	if (s->now == GONE && e->type != TRACE_SAMPLE && e->type != TRACE_WAKE)
		wrong(c, e, "does something after its end");
	s->revived |= s->now == GONE && e->type == TRACE_SAMPLE && e->time > s->since + LATE_NS;
	switch (e->type) {
	case TRACE_FORK:
		c->forks += counts;
		s->now = READY;
		break;
	case TRACE_FOLLOW:
		s->now = e->why == TRACE_RUNS ? RUNS : UNKNOWN;
		s->since = e->time;
		break;
	case TRACE_ENTER:
		if (s->now == RUNS)
			wrong(c, e, "is on two CPUs");
		if (s->now == BLOCKED)
			c->unwoken += counts && !s->early;
		s->early = false;
		s->now = RUNS;
		s->since = e->time;
		break;
	case TRACE_LEAVE:
		if (s->now != RUNS && s->now != UNKNOWN)
			wrong(c, e, "leaves a CPU that it was not on");
		if (s->now == RUNS)
			s->ran += e->time - s->since;
		c->switches += counts;
		s->now = e->why == TRACE_BLOCKED ? BLOCKED : READY;
		if (e->why == TRACE_BLOCKED && counts)
			c->waits[e->wait]++;
		break;
	case TRACE_WAKE:
		s->early |= s->now == RUNS;
		if (s->now == BLOCKED && counts)
			c->wakes[e->by]++;
		if (s->now == BLOCKED)
			s->now = READY;
		break;
	case TRACE_EXIT:
		c->exits += counts;
		s->now = GONE;
		s->since = e->time;
		break;
	case TRACE_SAMPLE:
		s->sampled++;
		c->samples += counts;
		c->weight += counts ? e->weight : 0;
		break;
	case TRACE_PROGRESS:
		c->progress += counts;
		break;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const by[TRACE_BYS] = { "nobody", "thread", "device", "timer", "other" };
	struct check c = { .comm = argc > 2 ? argv[2] : NULL };
	struct error err = {};
	uint64_t ran = 0, nowhere = 0, revived = 0;

	if (argc < 2 || trace_open(argv[1], &c.t, &err)) {
		fprintf(stderr, "causal_check: %s\n", argc < 2 ? "which file?" : err.text);
		return 1;
	}
	c.threads = xcalloc(c.t->n_threads + 1, sizeof(*c.threads));
	c.by_device = xcalloc(c.t->n_devices + 1, sizeof(*c.by_device));
	if (trace_each(c.t, see, &c, &err)) {
		fprintf(stderr, "causal_check: %s\n", err.text);
		return 1;
	}
	for (size_t i = 0; i < c.t->n_threads; i++)
		revived += c.threads[i].revived;
	for (size_t i = 0; i < c.t->n_threads; i++)
		nowhere += c.threads[i].events ? 0 : c.threads[i].sampled;
	for (size_t i = 0; i < c.t->n_threads; i++)
		ran += !c.comm || !strcmp(c.comm, c.t->threads[i].comm) ? c.threads[i].ran : 0;
	printf("complete %d\nlost %llu\nduration %.6f\n", c.t->complete,
	       (unsigned long long)c.t->footer.lost, c.t->footer.duration / 1e9);
	printf("switches %llu\nforks %llu\nexits %llu\nprogress %llu\nsamples %llu\n",
	       (unsigned long long)c.switches, (unsigned long long)c.forks,
	       (unsigned long long)c.exits, (unsigned long long)c.progress,
	       (unsigned long long)c.samples);
	printf("ran %.6f\nsampled %.6f\n", ran / 1e9, c.weight / 1e9);
	/* Samples of threads that did nothing else: they were taken for others. */
	printf("nowhere %llu\nrevived %llu\n", (unsigned long long)nowhere,
	       (unsigned long long)revived);
	printf("issues %llu\ncompletes %llu\nunwoken %llu\n", (unsigned long long)c.issues,
	       (unsigned long long)c.completes, (unsigned long long)c.unwoken);
	for (size_t i = 0; i < c.t->n_devices; i++)
		printf("issued_%s %llu\n", c.t->devices[i], (unsigned long long)c.by_device[i]);
	for (int i = 0; i < TRACE_BYS; i++)
		printf("by_%s %llu\n", by[i], (unsigned long long)c.wakes[i]);
	for (int i = 0; i < TRACE_WAITS; i++)
		printf("wait_%s %llu\n", trace_wait_name(i), (unsigned long long)c.waits[i]);
	printf("wrong %llu\n", (unsigned long long)c.wrong);
	free(c.threads);
	free(c.by_device);
	trace_free(c.t);
	return c.wrong != 0;
}
