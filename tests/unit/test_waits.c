// SPDX-License-Identifier: GPL-2.0-or-later
/* Wait-for graphs: wPerf's algorithm by its worked examples, and on small graphs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "waits/recorded.h"

enum { A, B, C, D, DISK, N };

static void begin(struct waits *w)
{
	waits_init(w, 0);
	waits_set_end(w, DISK, WAITS_LEAF);
}

static void add(struct waits *w, uint32_t v, uint64_t from, uint64_t to, uint32_t waker)
{
	waits_add(w, v, from, to, waker, 0);
}

static uint64_t waits_weight(struct waits_graph *g, uint32_t from, uint32_t to)
{
	return waits_edge(g, from, to)->weight;
}

#define assert_work(g, a, b, v)	  assert_int_equal(waits_edge(g, a, b)->work, v)
#define assert_weight(g, a, b, v) assert_int_equal(waits_weight(g, a, b), v)

static void test_vectors(void **state)
{
	struct waits w;

	(void)state;
	begin(&w);
	add(&w, B, 0, 4, C);
	add(&w, A, 0, 10, B);
	assert_weight(&w.graph, A, B, 10);
	assert_weight(&w.graph, B, C, 8);
	assert_int_equal(w.graph.n, 2);
	assert_int_equal(waits_edge(&w.graph, B, C)->own, 4);
	/* Each ns of a wait is somebody's: B worked for 6 of A's 10. */
	assert_work(&w.graph, A, B, 6);
	assert_work(&w.graph, B, C, 4 + 4);
	waits_deinit(&w);

	begin(&w);
	add(&w, B, 5, 10, DISK);
	add(&w, A, 2, 10, B);
	assert_weight(&w.graph, A, B, 8);
	assert_weight(&w.graph, B, DISK, 10);
	assert_work(&w.graph, A, B, 3);
	assert_work(&w.graph, B, DISK, 10);
	waits_deinit(&w);

	begin(&w);
	add(&w, C, 1, 5, D);
	add(&w, B, 0, 8, C);
	add(&w, A, 0, 10, B);
	assert_weight(&w.graph, A, B, 10);
	assert_weight(&w.graph, B, C, 16);
	assert_weight(&w.graph, C, D, 12);
	assert_work(&w.graph, A, B, 2);
	assert_work(&w.graph, B, C, 4 + 4);
	assert_work(&w.graph, C, D, 12);
	waits_deinit(&w);

	begin(&w);
	add(&w, B, 0, 4, C);
	add(&w, A, 0, 10, B);
	add(&w, D, 2, 10, B);
	assert_weight(&w.graph, A, B, 10);
	assert_weight(&w.graph, D, B, 8);
	assert_weight(&w.graph, B, C, 10);
	waits_deinit(&w);
}

/* Who sleeps for a time does so of its own. */
static void test_aside(void **state)
{
	struct waits w;

	(void)state;
	begin(&w);
	waits_set_end(&w, D, WAITS_ASIDE);
	add(&w, B, 2, 8, D);
	add(&w, A, 0, 10, B);
	assert_weight(&w.graph, A, B, 10);
	assert_weight(&w.graph, B, D, 12);
	assert_work(&w.graph, A, B, 10);
	waits_deinit(&w);
}

/* Only waits that programs tell of can loop. */
static void test_circle(void **state)
{
	struct waits w;

	(void)state;
	begin(&w);
	add(&w, B, 0, 10, A);
	add(&w, A, 0, 10, B);
	assert_weight(&w.graph, A, B, 10);
	assert_weight(&w.graph, B, A, 20);
	assert_work(&w.graph, A, B, 0);
	waits_deinit(&w);
}

static void test_forget(void **state)
{
	struct waits w, all;

	(void)state;
	begin(&w);
	begin(&all);
	for (uint64_t t = 0; t < 10000; t += 10) {
		add(&w, B, t, t + 4, C);
		add(&all, B, t, t + 4, C);
		waits_forget(&w, t > 100 ? t - 100 : 0);
		if (t % 50 == 40) {
			add(&w, A, t - 30, t + 6, B);
			add(&all, A, t - 30, t + 6, B);
		}
	}
	assert_int_equal(waits_weight(&w.graph, B, C), waits_weight(&all.graph, B, C));
	assert_int_equal(w.unfollowed, 0);
	assert_true(w.vertices[B].cap < 200);
	/* What was forgotten is known to be missing. */
	add(&w, A, 0, 10006, B);
	assert_true(w.unfollowed > 9000);
	waits_deinit(&w);
	waits_deinit(&all);
	waits_init(&w, 1);
	add(&w, B, 0, 4, C);
	add(&w, B, 5, 9, C);
	assert_int_equal(w.dropped, 0);
	/* The last one is there, of the first it is known that it is missing. */
	add(&w, A, 0, 9, B);
	assert_weight(&w.graph, B, C, 4 + 4 + 4);
	assert_int_equal(w.unfollowed, 4);
	waits_deinit(&w);
}

/* Memory does not grow with how many waits one leads to, nor time without bounds. */
static void test_many(void **state)
{
	const uint64_t n = 5u << 20;
	struct waits w;

	(void)state;
	begin(&w);
	for (uint64_t t = 0; t < n; t++)
		add(&w, B, 2 * t, 2 * t + 1, C);
	add(&w, A, 0, 2 * n, B);
	assert_true(w.cap_levels < 64);
	/* 4M of them were followed, of the rest it is known. */
	assert_weight(&w.graph, A, B, 2 * n);
	assert_weight(&w.graph, B, C, n + (4u << 20));
	assert_in_range(w.unfollowed, 2 * (n - (4u << 20)), 2 * (n - (4u << 20)) + 2);
	waits_deinit(&w);
}

static void test_device(void **state)
{
	struct waits_graph g = {};

	(void)state;
	waits_edge(&g, A, DISK)->weight = 30;
	waits_edge(&g, B, DISK)->weight = 10;
	waits_edge(&g, A, B)->weight = 5;
	waits_device_idle(&g, DISK, 100);
	assert_weight(&g, DISK, A, 75);
	assert_weight(&g, DISK, B, 25);
	assert_weight(&g, A, B, 5);
	/* Whom an idle device waits for keeps nobody waiting. */
	assert_work(&g, DISK, A, 0);
	waits_graph_free(&g);
}

static void test_merge(void **state)
{
	const uint32_t group[] = { 0, 0, 1, 1, 2 };
	struct waits_life lives[] = {
		{ A, 10, 20, 0 }, { B, 15, 40, 0 }, { C, 25, 30, 0 }, { D, 50, 90, 0 }
	};
	const uint64_t one[] = { 4, 0, 6 }, other[] = { 2, 2, 6 };
	struct waits_graph g = {}, m;
	uint64_t gaps[4];

	(void)state;
	waits_edge(&g, A, B)->weight = 10;
	waits_edge(&g, B, A)->weight = 20;
	waits_edge(&g, B, A)->work = 12;
	waits_edge(&g, A, C)->weight = 8;
	waits_edge(&g, B, D)->weight = 4;
	waits_edge(&g, C, DISK)->weight = 9;
	waits_merge(&g, group, N, 3, NULL, &m);
	assert_weight(&m, 0, 0, 15);
	assert_work(&m, 0, 0, 6);
	assert_weight(&m, 0, 1, 6);
	assert_int_equal(llabs((long long)waits_weight(&m, 1, 2) - 5) <= 1, 1);
	waits_graph_free(&g);
	waits_graph_free(&m);
	assert_int_equal(waits_line_up(lives, 4, 100, gaps), 2);
	assert_int_equal(lives[2].slot, 0);
	assert_int_equal(lives[3].slot, 0);
	assert_int_equal(gaps[0], 10 + 5 + 20 + 10);
	assert_int_equal(gaps[1], 15 + 60);
	assert_true(waits_similarity(one, other, 3) == 0.8);
	assert_true(waits_similarity(one, one, 3) == 1);
}

/* The lowest place that is free, as by looking at each. */
static void test_line_up(void **state)
{
	enum { N = 200 };
	struct waits_life lives[N];
	uint64_t gaps[N], until[N];

	(void)state;
	srand(7);
	for (int round = 0; round < 100; round++) {
		uint64_t from = 0;
		size_t slots = 0;

		for (uint32_t i = 0; i < N; i++) {
			from += rand() % 4;
			lives[i] =
				(struct waits_life){ i, from, from + rand() % (10 * round + 1), 0 };
		}
		for (uint32_t i = 0; i < N; i++) {
			size_t slot = 0;

			while (slot < slots && until[slot] > lives[i].from)
				slot++;
			slots += slot == slots;
			until[slot] = lives[i].to;
			lives[i].vertex = slot;
		}
		assert_int_equal(waits_line_up(lives, N, 3000, gaps), slots);
		for (uint32_t i = 0; i < N; i++)
			assert_int_equal(lives[i].slot, lives[i].vertex);
	}
}

/* So many that each would be compared with each for hours. */
static void test_many_children(void **state)
{
	const uint32_t n = 2000000;
	struct waits_life *lives = xcalloc(n, sizeof(*lives));
	uint64_t *gaps = xcalloc(n, sizeof(*gaps));

	(void)state;
	for (uint32_t i = 0; i < n; i++)
		lives[i] = (struct waits_life){ i, i, n + i, 0 };
	assert_int_equal(waits_line_up(lives, n, 2 * n, gaps), n);
	free(lives);
	free(gaps);
}

/* Of a chain that is told from its end those are held up for whom the first one waits. */
static void test_long_held_up(void **state)
{
	const uint32_t n = 300000;
	struct waits_thread *threads = xcalloc(n, sizeof(*threads));
	uint32_t *same = xcalloc(n, sizeof(*same));
	bool *held = xcalloc(n, sizeof(*held));
	const struct trace t = { .n_threads = n };
	const struct waits_recorded r = {
		.trace = &t, .threads = threads, .group = same, .firsts = same, .n_groups = n
	};
	struct waits_graph g = {};

	(void)state;
	for (uint32_t i = 0; i < n; i++)
		same[i] = i;
	for (uint32_t i = n - 1; i > 0; i--)
		waits_edge(&g, i - 1, i);
	threads[1].visits = true;
	assert_true(waits_held_up(&r, &g, held));
	assert_false(held[0]);
	for (uint32_t i = 1; i < n; i++)
		assert_true(held[i]);
	waits_graph_free(&g);
	free(threads);
	free(same);
	free(held);
}

static enum waits_part_kind kind_of(const struct waits_parts *p, uint32_t v)
{
	assert_true(p->of[v] != WAITS_NONE);
	return p->v[p->of[v]].kind;
}

static void test_knots(void **state)
{
	struct waits_graph g = {};
	struct waits_parts p;

	(void)state;
	/* 0 -> {1 <-> 2}, 0 -> 3, 4 -> 4, 5 -> {6 -> 7 -> 8 -> 6}, 8 -> 3 */
	waits_edge(&g, 0, 1)->weight = 5;
	waits_edge(&g, 1, 2)->weight = 5;
	waits_edge(&g, 2, 1)->weight = 5;
	waits_edge(&g, 0, 3)->weight = 5;
	waits_edge(&g, 4, 4)->weight = 5;
	waits_edge(&g, 5, 6)->weight = 5;
	waits_edge(&g, 6, 7)->weight = 5;
	waits_edge(&g, 7, 8)->weight = 5;
	waits_edge(&g, 8, 6)->weight = 5;
	waits_edge(&g, 8, 3)->weight = 2;
	waits_parts(&g, 10, 0, &p);
	assert_int_equal(kind_of(&p, 0), WAITS_PASS);
	assert_int_equal(kind_of(&p, 1), WAITS_KNOT);
	assert_int_equal(p.of[1], p.of[2]);
	assert_int_equal(kind_of(&p, 3), WAITS_SINK);
	assert_int_equal(kind_of(&p, 4), WAITS_KNOT);
	assert_int_equal(kind_of(&p, 6), WAITS_PASS);
	assert_int_equal(p.of[6], p.of[8]);
	assert_int_equal(p.of[9], WAITS_NONE);
	waits_parts_free(&p);
	/* Without the light one the circle is a knot. */
	waits_parts(&g, 10, 3, &p);
	assert_int_equal(kind_of(&p, 6), WAITS_KNOT);
	waits_parts_free(&p);
	waits_graph_free(&g);
}

static void test_long_chain(void **state)
{
	const uint32_t n = 200000;
	struct waits_graph g = {};
	struct waits_parts p;

	(void)state;
	for (uint32_t v = 0; v + 1 < n; v++)
		waits_edge(&g, v, v + 1)->weight = 1;
	waits_parts(&g, n, 0, &p);
	assert_int_equal(p.n, n);
	assert_int_equal(kind_of(&p, n - 1), WAITS_SINK);
	waits_parts_free(&p);
	waits_edge(&g, n - 1, 0)->weight = 1;
	waits_parts(&g, n, 0, &p);
	assert_int_equal(p.n, 1);
	waits_parts_free(&p);
	waits_graph_free(&g);
}

static void test_refine(void **state)
{
	const bool inside[] = { true, true, true, true, false };
	struct waits_graph g = {}, r;

	(void)state;
	waits_edge(&g, A, B)->weight = 100;
	waits_edge(&g, B, A)->weight = 90;
	waits_edge(&g, B, C)->weight = 30;
	waits_edge(&g, C, A)->weight = 10;
	waits_edge(&g, A, D)->weight = 5;
	waits_edge(&g, D, A)->weight = 80;
	waits_edge(&g, DISK, A)->weight = 500;
	waits_refine(&g, inside, N, 20, &r);
	/* D falls out with its lightest edge, then C; the rest is a circle. */
	assert_int_equal(r.n, 2);
	assert_weight(&r, A, B, 100);
	assert_weight(&r, B, A, 90);
	waits_graph_free(&r);
	/* All are heavy enough. */
	waits_refine(&g, inside, N, 4, &r);
	assert_int_equal(r.n, 6);
	waits_graph_free(&r);
	waits_graph_free(&g);
}

/* The lightest edge goes, one after the other; what falls off goes with it. */
static void refine_slowly(const struct waits_graph *g, size_t n, uint64_t enough,
			  struct waits_graph *left)
{
	*left = (struct waits_graph){};
	for (size_t i = 0; i < g->n; i++)
		*waits_edge(left, g->edges[i].from, g->edges[i].to) = g->edges[i];
	for (;;) {
		struct waits_graph next = {};
		uint32_t out[16] = {}, in[16] = {}, best = WAITS_NONE, single = WAITS_NONE;
		uint64_t inside[16] = {}, most = 0;
		size_t lightest = 0;
		bool circle = true, heavy = true, one = true;
		struct waits_parts p;

		for (size_t i = 0; i < left->n; i++) {
			const struct waits_edge *e = &left->edges[i], *l = &left->edges[lightest];

			single = single == WAITS_NONE ? e->from : single;
			one &= e->from == single && e->to == single;
			heavy &= e->weight > enough;
			circle &= ++out[e->from] < 2 && ++in[e->to] < 2;
			if (e->weight < l->weight)
				lightest = i;
		}
		if (one || circle || heavy)
			return;
		for (size_t i = 0; i < left->n; i++) {
			if (i != lightest)
				*waits_edge(&next, left->edges[i].from, left->edges[i].to) =
					left->edges[i];
		}
		waits_parts(&next, n, 0, &p);
		for (size_t i = 0; i < next.n; i++) {
			if (p.of[next.edges[i].from] == p.of[next.edges[i].to])
				inside[p.of[next.edges[i].from]] += next.edges[i].weight;
		}
		for (uint32_t i = 0; i < p.n; i++) {
			if (inside[i] && inside[i] >= most) {
				most = inside[i];
				best = i;
			}
		}
		if (best == WAITS_NONE) {
			waits_parts_free(&p);
			waits_graph_free(&next);
			return;
		}
		waits_graph_free(left);
		for (size_t i = 0; i < next.n; i++) {
			const struct waits_edge *e = &next.edges[i];

			if (p.of[e->from] == best && p.of[e->to] == best)
				*waits_edge(left, e->from, e->to) = *e;
		}
		waits_parts_free(&p);
		waits_graph_free(&next);
	}
}

/* A circle, so that it is a knot, and @edges more; no two weigh the same. */
static void random_knot(struct waits_graph *g, uint32_t n, size_t edges, uint64_t *seed)
{
	for (size_t i = 0; i < n + edges; i++) {
		uint32_t from = i, to = (i + 1) % n;

		*seed = *seed * 6364136223846793005u + 1442695040888963407u;
		if (i >= n) {
			from = (*seed >> 33) % n;
			to = (*seed >> 45) % n;
		}
		waits_edge(g, from, to)->weight = (*seed >> 54) * 100000 + i + 1;
	}
}

static void test_refine_random(void **state)
{
	bool inside[1000];
	struct waits_graph g = {}, r, slow;
	uint64_t seed = 1;

	(void)state;
	memset(inside, true, sizeof(inside));
	for (int k = 0; k < 2000; k++) {
		uint32_t n = 2 + k % 11;
		uint64_t enough = (uint64_t)(k % 7) * 20000000;

		random_knot(&g, n, k % 60, &seed);
		waits_refine(&g, inside, n, enough, &r);
		refine_slowly(&g, n, enough, &slow);
		assert_int_equal(r.n, slow.n);
		for (size_t i = 0; i < slow.n; i++)
			assert_weight(&r, slow.edges[i].from, slow.edges[i].to,
				      slow.edges[i].weight);
		assert_int_equal(r.n, slow.n);
		waits_graph_free(&r);
		waits_graph_free(&slow);
		waits_graph_free(&g);
	}
	/* One edge at a time this would take a minute. */
	random_knot(&g, ARRAY_SIZE(inside), 50000, &seed);
	waits_refine(&g, inside, ARRAY_SIZE(inside), UINT64_MAX, &r);
	assert_true(r.n);
	waits_graph_free(&r);
	waits_graph_free(&g);
}

/* ---- a recording ---- */

static char path[64];

struct script {
	uint64_t time;
	uint8_t type;
	uint32_t thread, other;
	uint8_t why, by;
};

static void write_script(const struct script *s, size_t n, int threads)
{
	const struct trace_header h = { 1000000, "x", "command", "h", "k", "now", 2 };
	struct trace_writer *w;

	unlink(path);
	assert_int_equal(trace_writer_open(path, &h, &w, NULL), 0);
	trace_write_process(w, 0, 100, "p");
	trace_write_device(w, "sda");
	trace_write_point(w, "done");
	for (int i = 0; i < threads; i++)
		trace_write_thread(
			w, &(struct trace_thread){ 100 + i, 100, 0, i ? "worker" : "main" });
	for (size_t i = 0; i < n; i++) {
		const struct trace_event e = { .time = s[i].time,
					       .type = s[i].type,
					       .thread = s[i].thread,
					       .other = s[i].other,
					       .stack = 7,
					       .why = s[i].why,
					       .wait = TRACE_WAIT_FUTEX,
					       .by = s[i].by };

		assert_int_equal(trace_write_event(w, &e), 0);
	}
	assert_int_equal(trace_writer_close(w, NULL, NULL), 0);
}

/* 0 runs, waits for 1 which is woken by the disk; 2 is preempted. */
static void test_recorded(void **state)
{
	static const struct script s[] = {
		{ 1000, TRACE_FOLLOW, 0, 0, TRACE_RUNS, 0 },
		{ 1000, TRACE_FORK, 1, 0, 0, 0 },
		{ 1010, TRACE_ENTER, 1, 0, 0, 0 },
		{ 1015, TRACE_ISSUE, 1, 0, 0, 0 },
		{ 1020, TRACE_LEAVE, 1, 0, TRACE_BLOCKED, 0 },
		{ 1030, TRACE_LEAVE, 0, 0, TRACE_BLOCKED, 0 },
		{ 1035, TRACE_COMPLETE, TRACE_NONE, 0, 0, 0 },
		{ 1040, TRACE_WAKE, 1, 0, 0, TRACE_BY_DEVICE },
		{ 1041, TRACE_WAKE, 1, 0, 0, TRACE_BY_THREAD }, /* is awake: ignored */
		{ 1045, TRACE_ENTER, 1, 0, 0, 0 },
		{ 1060, TRACE_WAKE, 0, 1, 0, TRACE_BY_THREAD },
		{ 1060, TRACE_ENTER, 0, 0, 0, 0 },
		{ 1070, TRACE_LEAVE, 1, 0, TRACE_QUEUED, 0 },
		{ 1090, TRACE_ENTER, 1, 0, 0, 0 },
		{ 1100, TRACE_LEAVE, 1, 0, TRACE_BLOCKED, 0 },
		{ 1100, TRACE_EXIT, 1, 0, 0, 0 },
	};
	struct waits_recorded r;
	struct error err;
	struct trace *t;

	(void)state;
	write_script(s, ARRAY_SIZE(s), 2);
	assert_int_equal(trace_open(path, &t, &err), 0);
	assert_int_equal(waits_read(t, 0, &r, &err), 0);
	assert_weight(&r.waits.graph, 0, 1, 30);
	assert_weight(&r.waits.graph, 1, 2, 20 + 10);
	/* Of 100 it was busy for 20. */
	assert_weight(&r.waits.graph, 2, 1, 80);
	assert_int_equal(r.threads[0].times.on, 30 + 40);
	assert_int_equal(r.threads[0].times.waited, 30);
	assert_int_equal(r.threads[1].times.on, 10 + 25 + 10);
	assert_int_equal(r.threads[1].times.queued, 10 + 5 + 20);
	assert_int_equal(r.threads[1].times.waited, 20);
	assert_int_equal(r.threads[1].times.kinds[TRACE_WAIT_FUTEX], 20);
	waits_group(&r, true);
	assert_int_equal(r.n_groups, 5);
	waits_recorded_free(&r);
	trace_free(t);
}

/* A task a thread: of four workers two follow one another. */
static void test_short_lived(void **state)
{
	static const struct script s[] = {
		{ 0, TRACE_FOLLOW, 0, 0, TRACE_RUNS, 0 },
		{ 0, TRACE_FORK, 1, 0, 0, 0 },
		{ 0, TRACE_ENTER, 1, 0, 0, 0 },
		{ 10, TRACE_LEAVE, 1, 0, TRACE_BLOCKED, 0 },
		{ 25, TRACE_WAKE, 1, 0, 0, TRACE_BY_THREAD },
		{ 25, TRACE_ENTER, 1, 0, 0, 0 },
		{ 40, TRACE_LEAVE, 1, 0, TRACE_BLOCKED, 0 },
		{ 40, TRACE_EXIT, 1, 0, 0, 0 },
		{ 60, TRACE_FORK, 2, 0, 0, 0 },
		{ 60, TRACE_ENTER, 2, 0, 0, 0 },
		{ 90, TRACE_LEAVE, 2, 0, TRACE_BLOCKED, 0 },
		{ 90, TRACE_EXIT, 2, 0, 0, 0 },
		{ 100, TRACE_LEAVE, 0, 0, TRACE_QUEUED, 0 },
	};
	struct waits_recorded r;
	struct error err;
	struct trace *t;
	char *name;

	(void)state;
	write_script(s, ARRAY_SIZE(s), 3);
	assert_int_equal(trace_open(path, &t, &err), 0);
	assert_int_equal(waits_read(t, 0, &r, &err), 0);
	waits_group(&r, false);
	assert_int_equal(r.group[1], r.group[2]);
	assert_int_not_equal(r.group[0], r.group[1]);
	assert_weight(&r.graph, r.group[1], r.group[0], 20 + 10 + 15);
	assert_work(&r.graph, r.group[1], r.group[0], 20 + 10 + 15);
	assert_int_equal(r.sizes[r.group[1]], 1);
	name = waits_group_name(&r, r.group[1]);
	assert_string_equal(name, "worker (2 threads of 100)");
	free(name);
	/* Of a parallel job. */
	t->processes[0].rank = 3;
	name = waits_group_name(&r, r.group[1]);
	assert_string_equal(name, "worker (2 threads of 100, rank 3)");
	free(name);
	name = waits_vertex_name(&r, 2);
	assert_string_equal(name, "worker (102, rank 3)");
	free(name);
	t->processes[0].rank = -1;
	waits_recorded_free(&r);
	/* Processes, as a shell makes them. */
	t->threads[2].pid = 102;
	assert_int_equal(waits_read(t, 0, &r, &err), 0);
	waits_group(&r, true);
	name = waits_group_name(&r, r.group[1]);
	assert_string_equal(name, "worker (101) and 1 others after it");
	free(name);
	waits_recorded_free(&r);
	trace_free(t);
}

/* Who wakes is sometimes seen before who goes to sleep has left; or not at all. */
static void test_early(void **state)
{
	static const struct script s[] = {
		{ 0, TRACE_FOLLOW, 0, 0, TRACE_RUNS, 0 },
		{ 0, TRACE_FOLLOW, 1, 0, TRACE_RUNS, 0 },
		{ 9, TRACE_WAKE, 1, 0, 0, TRACE_BY_THREAD },
		{ 10, TRACE_LEAVE, 1, 0, TRACE_BLOCKED, 0 },
		{ 30, TRACE_ENTER, 1, 0, 0, 0 },
		{ 40, TRACE_LEAVE, 1, 0, TRACE_BLOCKED, 0 },
		{ 47, TRACE_ENTER, 1, 0, 0, 0 },
		{ 100, TRACE_LEAVE, 0, 0, TRACE_QUEUED, 0 },
	};
	struct waits_recorded r;
	struct error err;
	struct trace *t;

	(void)state;
	write_script(s, ARRAY_SIZE(s), 2);
	assert_int_equal(trace_open(path, &t, &err), 0);
	assert_int_equal(waits_read(t, 0, &r, &err), 0);
	assert_int_equal(r.threads[1].times.queued, 20);
	assert_int_equal(r.threads[1].times.waited, 7);
	assert_int_equal(r.unwoken, 1);
	assert_weight(&r.waits.graph, 1, r.nobody, 7);
	waits_recorded_free(&r);
	trace_free(t);
}

/*
 * 1 and 2 come to a progress point, and wait for 0, which waits for the disk; 3 and 4 have nothing
 * to do and wait, for longer, for 5, which made them and sleeps. Both pairs are called alike.
 */
static void test_held_up(void **state)
{
	static const struct script s[] = {
		{ 0, TRACE_FOLLOW, 0, 0, TRACE_RUNS, 0 },
		{ 0, TRACE_FOLLOW, 1, 0, TRACE_BLOCKED, 0 },
		{ 0, TRACE_FOLLOW, 2, 0, TRACE_BLOCKED, 0 },
		{ 0, TRACE_FOLLOW, 5, 0, TRACE_RUNS, 0 },
		{ 0, TRACE_FORK, 3, 5, 0, 0 },
		{ 0, TRACE_FORK, 4, 5, 0, 0 },
		{ 1, TRACE_ENTER, 3, 0, 0, 0 },
		{ 1, TRACE_ENTER, 4, 0, 0, 0 },
		{ 2, TRACE_LEAVE, 3, 0, TRACE_BLOCKED, 0 },
		{ 2, TRACE_LEAVE, 4, 0, TRACE_BLOCKED, 0 },
		{ 3, TRACE_LEAVE, 5, 0, TRACE_BLOCKED, 0 },
		{ 4, TRACE_ISSUE, 0, 0, 0, 0 },
		{ 4, TRACE_LEAVE, 0, 0, TRACE_BLOCKED, 0 },
		{ 20, TRACE_COMPLETE, TRACE_NONE, 0, 0, 0 },
		{ 20, TRACE_WAKE, 0, 0, 0, TRACE_BY_DEVICE },
		{ 20, TRACE_ENTER, 0, 0, 0, 0 },
		{ 30, TRACE_WAKE, 1, 0, 0, TRACE_BY_THREAD },
		{ 30, TRACE_WAKE, 2, 0, 0, TRACE_BY_THREAD },
		{ 30, TRACE_ENTER, 1, 0, 0, 0 },
		{ 31, TRACE_PROGRESS, 1, 0, 0, 0 },
		{ 31, TRACE_PROGRESS, TRACE_NONE, 0, 0, 0 }, /* an interrupt */
		{ 90, TRACE_WAKE, 5, 0, 0, TRACE_BY_TIMER },
		{ 90, TRACE_ENTER, 5, 0, 0, 0 },
		{ 90, TRACE_WAKE, 3, 5, 0, TRACE_BY_THREAD },
		{ 90, TRACE_WAKE, 4, 5, 0, TRACE_BY_THREAD },
		{ 100, TRACE_LEAVE, 5, 0, TRACE_QUEUED, 0 },
	};
	struct waits_recorded r;
	struct error err;
	struct trace *t;
	bool held[16];
	char *name;

	(void)state;
	write_script(s, ARRAY_SIZE(s), 6);
	assert_int_equal(trace_open(path, &t, &err), 0);
	assert_int_equal(waits_read(t, 0, &r, &err), 0);
	waits_group(&r, true);
	assert_true(waits_held_up(&r, &r.graph, held));
	assert_true(held[r.group[0]] && held[r.group[1]] && held[r.group[2]] && held[r.group[6]]);
	assert_false(held[r.group[3]] || held[r.group[4]] || held[r.group[5]]);
	name = waits_group_name(&r, r.group[1]);
	assert_string_equal(name, "worker (2 threads of 100, 101 first)");
	free(name);
	name = waits_group_name(&r, r.group[4]);
	assert_string_equal(name, "worker (2 threads of 100, 103 first)");
	free(name);
	r.threads[1].visits = false;
	assert_false(waits_held_up(&r, &r.graph, held));
	waits_recorded_free(&r);
	trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),	      cmocka_unit_test(test_circle),
		cmocka_unit_test(test_forget),	      cmocka_unit_test(test_aside),
		cmocka_unit_test(test_many),	      cmocka_unit_test(test_device),
		cmocka_unit_test(test_merge),	      cmocka_unit_test(test_line_up),
		cmocka_unit_test(test_many_children), cmocka_unit_test(test_long_held_up),
		cmocka_unit_test(test_knots),	      cmocka_unit_test(test_long_chain),
		cmocka_unit_test(test_refine),	      cmocka_unit_test(test_refine_random),
		cmocka_unit_test(test_recorded),      cmocka_unit_test(test_short_lived),
		cmocka_unit_test(test_early),	      cmocka_unit_test(test_held_up),
	};
	int r;

	snprintf(path, sizeof(path), "/tmp/test_waits.%d", getpid());
	r = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return r;
}
