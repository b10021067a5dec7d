// SPDX-License-Identifier: GPL-2.0-or-later
/* Exports of recordings made in memory, read back: nothing is lost, nothing counted twice. */
#include "tests/unit/test_record_export.h"
#include "tests/unit/test_record_export_firefox.h"
#include "tests/unit/test_record_export_pprof.h"

/* ---- folded ---- */

static void folded_totals(struct totals *t)
{
	char *text = export_of(export_folded, NULL), *p = text, *line;
	uint64_t last = UINT64_MAX;

	*t = (struct totals){ 0 };
	while ((line = strsep(&p, "\n")) && *line) {
		char *space = strrchr(line, ' '), *semicolon = strchr(line, ';'), *slash;
		uint64_t n = strtoull(space + 1, NULL, 10);
		int tid = 0;

		assert_non_null(semicolon);
		*space = *semicolon = '\0';
		slash = strrchr(line, '/');
		if (options.per == PER_THREAD)
			tid = atoi(slash + 1);
		slash = strrchr(semicolon + 1, ';');
		count(t, class_of(slash ? slash + 1 : semicolon + 1), tid, n);
		assert_true(n && n <= last);
		last = n;
	}
	free(text);
}

static void test_folded(void **state)
{
	char *text;
	struct totals t;

	(void)state;
	options.per = PER_THREAD;
	folded_totals(&t);
	assert_totals(&t);
	options.per = PER_NOTHING;
	text = export_of(export_folded, NULL);
	assert_string_equal(text,
			    "wor_ker:1;_start;main;read;vfs_read_[k];[L] futex 15\n"
			    "gzip;_start;main;read;vfs_read_[k];[I] disk 11\n"
			    "wor_ker:1;[no call chain];[B] sleep 5\n"
			    "kworker;_start;main;[B] other 3\n"
			    "wor_ker:1;[missing frames];a:b c?d?\"\\?;[libz.so.1];[S] sched 2\n"
			    "sh;_start;main 1\n"
			    "gzip;_start;main 1\n"
			    "wor_ker:1;_start;main;inner_[i];innermost_[i] 1\n"
			    "gzip;_start;main;read;vfs_read_[k] 1\n"
			    "wor_ker:1;[no call chain];[kernel]_[k] 1\n"
			    "kworker;_start;main;inner_[i] 1\n");
	free(text);
}

static void test_folded_per(void **state)
{
	char *text;

	(void)state;
	options.filter.levels = 1u << LEVEL_LOCK;
	options.per = PER_THREAD;
	text = export_of(export_folded, NULL);
	assert_string_equal(text, "wor_ker:1-100/101;_start;main;read;vfs_read_[k];[L] futex 15\n");
	free(text);
	options.per = PER_PROCESS;
	text = export_of(export_folded, NULL);
	assert_string_equal(text, "wor_ker:1-100;_start;main;read;vfs_read_[k];[L] futex 15\n");
	free(text);
}

/* The command before it was executed is the profiler's own code. */
static void test_launcher(void **state)
{
	const char *comm = samples[0].comm, *command = recording.header.command;
	char *text;

	(void)state;
	samples[0].comm = "scozd-launch";
	text = export_of(export_folded, NULL);
	assert_null(strstr(text, "scozd-launch"));
	assert_non_null(strstr(text, "\ngzip;_start;main 1\n"));
	free(text);
	/* Somebody else's, where all is recorded. */
	recording.header.command = "";
	text = export_of(export_folded, NULL);
	assert_non_null(strstr(text, "\nscozd-launch;_start;main 1\n"));
	free(text);
	recording.header.command = command;
	samples[0].comm = comm;
}

/* Stacks that differ only in lines are one; sums stay. */
static void test_folded_merges_lines(void **state)
{
	char *text;

	(void)state;
	samples[0].comm = "gzip";
	text = export_of(export_folded, NULL);
	assert_non_null(strstr(text, "\ngzip;_start;main 2\n"));
	free(text);
	samples[0].comm = "sh";
}

/* ---- speedscope ---- */

static int tid_of(const char *name)
{
	const char *digits = strpbrk(name, "0123456789");

	while (digits && atoi(digits) < 100)
		digits = strpbrk(digits + 1, "0123456789");
	return digits ? atoi(digits) : 0;
}

static const char *speedscope_leaf(const json_t *file, const json_t *chain)
{
	json_t *list = at(at(file, "shared"), "frames");
	size_t i, n = json_array_size(chain);
	json_t *frame;

	assert_true(n > 0);
	json_array_foreach (chain, i, frame)
		assert_true((size_t)json_integer_value(frame) < json_array_size(list));
	return text_at(item(list, json_integer_value(item(chain, n - 1))), "name");
}

static void speedscope_totals(const json_t *file, struct totals *t)
{
	json_t *profiles = at(file, "profiles"), *p, *weight;
	size_t i, k;

	*t = (struct totals){ 0 };
	json_array_foreach (profiles, i, p) {
		uint64_t sum = 0;

		assert_string_equal(text_at(p, "type"), "sampled");
		assert_string_equal(text_at(p, "unit"), "nanoseconds");
		assert_int_equal(json_array_size(at(p, "samples")),
				 json_array_size(at(p, "weights")));
		json_array_foreach (at(p, "weights"), k, weight) {
			uint64_t ns = json_integer_value(weight);

			assert_int_equal(ns % recording.header.period_ns, 0);
			count(t, class_of(speedscope_leaf(file, item(at(p, "samples"), k))),
			      tid_of(text_at(p, "name")), ns / recording.header.period_ns);
			sum += ns;
		}
		assert_int_equal(number_at(p, "endValue") - number_at(p, "startValue"), sum);
	}
}

static void test_speedscope(void **state)
{
	json_t *file = json_of(export_speedscope), *p, *f;
	struct totals t;

	(void)state;
	assert_string_equal(text_at(file, "$schema"),
			    "https://www.speedscope.app/file-format-schema.json");
	assert_string_equal(text_at(file, "name"), "gzip \"it\"");
	assert_string_equal(text_at(file, "exporter"), "scoz 0.1");
	speedscope_totals(file, &t);
	assert_totals(&t);
	assert_int_equal(json_array_size(at(file, "profiles")), 3);
	assert_int_equal(number_at(file, "activeProfileIndex"), 1);
	p = item(at(file, "profiles"), 0);
	assert_string_equal(text_at(p, "name"), "gzip 100");
	/* main on two lines, then in the kernel, then two waits alike: three. */
	assert_int_equal(json_array_size(at(p, "weights")), 4);
	assert_int_equal(json_integer_value(item(at(p, "weights"), 3)), 11 * MS);
	assert_true(json_equal(item(at(p, "samples"), 0), item(at(p, "samples"), 1)));
	p = item(at(file, "profiles"), 1);
	assert_string_equal(text_at(p, "name"), "wor ker;1 101 (process 100)");
	/* By when they began: the lock before the scheduler. */
	assert_string_equal(speedscope_leaf(file, item(at(p, "samples"), 1)), "[L] futex");
	assert_string_equal(speedscope_leaf(file, item(at(p, "samples"), 2)), "[S] sched");
	f = item(at(at(file, "shared"), "frames"), 1);
	assert_string_equal(text_at(f, "name"), "main");
	assert_string_equal(text_at(f, "file"), "gzip.c");
	assert_int_equal(number_at(f, "line"), 18); /* of 20 and 18 */
	json_decref(file);
}

/* ---- firefox ---- */

static void test_firefox(void **state)
{
	json_t *file = json_of(export_firefox), *meta = at(file, "meta"), *thread, *s;
	struct totals t;
	uint64_t kernel;

	(void)state;
	assert_int_equal(number_at(meta, "preprocessedProfileVersion"), 60);
	assert_int_equal(number_at(meta, "startTime"), 1735732800000);
	assert_int_equal(number_at(meta, "interval"), 1);
	assert_firefox_tables(file);
	firefox_totals(file, &t, &kernel);
	assert_totals(&t);
	assert_int_equal(kernel, 2);

	thread = item(at(file, "threads"), 0);
	assert_string_equal(text_at(thread, "name"), "gzip");
	assert_string_equal(text_at(thread, "pid"), "100");
	assert_true(json_is_true(at(thread, "isMainThread")));
	s = at(thread, "samples");
	assert_sample(file, s, 3, 4, 10, "[I] disk"); /* from its beginning */
	assert_sample(file, s, 5, 15, 0, NULL);	      /* its end */

	thread = item(at(file, "threads"), 1);
	assert_string_equal(text_at(thread, "processName"), "gzip");
	assert_false(json_is_true(at(thread, "isMainThread")));
	s = at(thread, "samples");
	assert_sample(file, s, 0, 3, 1, "innermost");
	assert_sample(file, s, 1, 4, 15, "[L] futex");
	assert_sample(file, s, 2, 18, 2, "[S] sched");
	assert_sample(file, s, 3, 21, 0, NULL); /* nothing is known for 4 ms */
	assert_sample(file, s, 4, 25, 5, "[B] sleep");
	assert_sample(file, s, 5, 31, 1, "[kernel]");

	s = at(item(at(file, "threads"), 2), "samples");
	assert_sample(file, s, 0, 0, 3, "[B] other"); /* began before the recording */
	assert_int_equal(number_at(item(at(file, "threads"), 2), "unregisterTime"), 90);
	json_decref(file);
}

static void test_firefox_markers(void **state)
{
	json_t *file = json_of(export_firefox), *m, *data;

	(void)state;
	m = at(item(at(file, "threads"), 1), "markers");
	assert_int_equal(size_of(m), 3);
	column(m, "phase");
	assert_string_equal(firefox_text(file, column(m, "name"), 0), "[L] futex");
	assert_true(real(column(m, "startTime"), 0) == 4);
	assert_true(real(column(m, "endTime"), 0) == 21);
	data = item(column(m, "data"), 0);
	assert_string_equal(text_at(data, "type"), "wait");
	assert_int_equal(number_at(data, "points"), 15);
	assert_string_equal(json_string_value(item(at(at(file, "shared"), "stringArray"),
						   number_at(data, "waker"))),
			    "sh 100");
	data = item(column(m, "data"), 1);
	assert_null(json_object_get(data, "waker"));
	data = item(column(at(item(at(file, "threads"), 2), "markers"), "data"), 0);
	assert_string_equal(text_at(data, "unfinished"), "yes");
	json_decref(file);
}

/* ---- pprof ---- */

static void test_pprof_numbers(void **state)
{
	static const uint64_t numbers[] = { 0,	   1,	  127,	      128,	 129,
					    16383, 16384, 1ULL << 63, UINT64_MAX };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct pprof_buffer b = { 0 };
		struct bytes in;

		pprof_varint(&b, numbers[i]);
		in = (struct bytes){ b.data, b.data + b.n };
		assert_true(varint(&in) == numbers[i] && in.p == in.end);
		free(b.data);
	}
}

static void test_pprof(void **state)
{
	struct parsed *x = parse_pprof();
	const struct parsed_location *l;
	const struct parsed_sample *s;
	struct totals t;

	(void)state;
	pprof_totals(x, &t);
	assert_totals(&t);
	assert_int_equal(x->n_types, 4);
	assert_string_equal(x->strings[x->types[0]], "samples");
	assert_string_equal(x->strings[x->types[1]], "count");
	assert_string_equal(x->strings[x->types[2]], "time");
	assert_string_equal(x->strings[x->types[3]], "nanoseconds");
	assert_string_equal(x->strings[x->default_type], "time");
	assert_string_equal(x->strings[x->mapping_file[x->first_mapping]], "/bin/gzip");
	assert_int_equal(x->period, MS);
	assert_int_equal(x->duration, 100 * MS);
	assert_int_equal(x->time, 1735732800000000000);

	s = find_sample(x, "class=lock,kind=futex,comm=wor ker;1,thread=101,pid=100,waker=sh 100,");
	assert_int_equal(s->value[0], 15);
	assert_int_equal(s->n, 4); /* innermost first, no frame for the wait */
	assert_string_equal(function_of(x, &x->locations[s->location[0]], 0), "vfs_read");
	l = &x->locations[s->location[2]];
	assert_string_equal(function_of(x, l, 0), "main");
	assert_int_equal(l->line[0], 20);
	assert_int_equal(l->address, 0x20);
	assert_string_equal(x->strings[x->mapping_file[l->mapping]], "/bin/gzip");

	s = find_sample(x, "class=io,kind=disk,comm=gzip,thread=100,pid=100,event=sda,");
	assert_int_equal(s->value[0], 11); /* two of them */

	s = find_sample(x, "class=on,kind=user,comm=wor ker;1,thread=101,pid=100,");
	assert_int_equal(s->n, 2); /* main with what is inlined there, and _start */
	l = &x->locations[s->location[0]];
	assert_int_equal(l->n, 3);
	assert_string_equal(function_of(x, l, 0), "innermost");
	assert_string_equal(function_of(x, l, 1), "inner");
	assert_string_equal(function_of(x, l, 2), "main");
	assert_int_equal(l->line[1], 7);
	free_pprof(x);
}

/* ---- any format ---- */

static void test_pprof_ranks(void **state)
{
	static struct record_process ranks[] = { { .rank = 0 }, { .rank = 3 } };
	struct parsed *x;

	(void)state;
	recording.processes = ranks;
	recording.n_processes = 2;
	threads[3].process = 1;
	x = parse_pprof();
	for (size_t i = 0; i < x->n_samples; i++) {
		const struct parsed_sample *s = &x->samples[i];

		assert_string_equal(label_of(s, "rank="),
				    strcmp(label_of(s, "thread="), "300") ? "0" : "3");
	}
	free_pprof(x);
	threads[3].process = 0;
}

static void test_strange_names(void **state)
{
	static const char clean[] = "a;b c\xef\xbf\xbd"
				    "d\xef\xbf\xbd\"\\\xef\xbf\xbd";
	struct parsed *x = parse_pprof();
	json_t *file = json_of(export_speedscope);
	bool found = false;
	json_t *f;
	size_t i;

	(void)state;
	json_array_foreach (at(at(file, "shared"), "frames"), i, f)
		found |= !strcmp(text_at(f, "name"), clean);
	assert_true(found);
	json_decref(file);
	file = json_of(export_firefox);
	found = false;
	for (i = 0; i < size_of(at(at(file, "shared"), "stackTable")); i++)
		found |= !strcmp(firefox_name(file, i), clean);
	assert_true(found);
	json_decref(file);
	found = false;
	for (i = 0; i < x->n_strings; i++)
		found |= !strcmp(x->strings[i], clean);
	assert_true(found);
	free_pprof(x);
}

static void assert_all_totals(void)
{
	struct parsed *x;
	struct totals t;
	json_t *file;
	uint64_t kernel;

	options.per = PER_THREAD;
	folded_totals(&t);
	assert_totals(&t);
	file = json_of(export_speedscope);
	speedscope_totals(file, &t);
	assert_totals(&t);
	json_decref(file);
	file = json_of(export_firefox);
	assert_firefox_tables(file);
	firefox_totals(file, &t, &kernel);
	assert_totals(&t);
	json_decref(file);
	x = parse_pprof();
	pprof_totals(x, &t);
	assert_totals(&t);
	free_pprof(x);
}

static void test_empty(void **state)
{
	(void)state;
	recording.n_samples = 0;
	assert_all_totals();
	recording.n_threads = recording.n_stacks = recording.n_frames = 0;
	assert_all_totals();
}

static void test_no_chains(void **state)
{
	struct record_sample copies[ARRAY_SIZE(samples)];

	(void)state;
	memcpy(copies, samples, sizeof(samples));
	for (size_t i = 0; i < ARRAY_SIZE(copies); i++)
		copies[i].stack = NO;
	recording.samples = copies;
	recording.n_stacks = recording.n_frames = 0;
	assert_all_totals();
}

/* As deep as the reader lets through, and a circle, which it does not. */
static void test_deep(void **state)
{
	enum { DEPTH = 8192 };
	struct record_stack *deep = xcalloc(DEPTH, sizeof(*deep));
	char *text, *last;
	size_t n = 0;

	(void)state;
	for (uint32_t i = 0; i < DEPTH; i++)
		deep[i] = (struct record_stack){ 1, i - 1 };
	recording.stacks = deep;
	recording.n_stacks = DEPTH;
	samples[0].stack = DEPTH - 1;
	recording.n_samples = 1;
	text = export_of(export_folded, NULL);
	for (last = text; (last = strchr(last, ';')); last++)
		n++;
	assert_int_equal(n, DEPTH);
	free(text);
	text = export_of(export_pprof, NULL);
	free(text);
	for (int i = 0; i < 2; i++) {
		struct totals t;
		uint64_t kernel;
		json_t *file = json_of(i ? export_firefox : export_speedscope);

		i ? firefox_totals(file, &t, &kernel) : speedscope_totals(file, &t);
		assert_totals(&t);
		json_decref(file);
	}
	deep[0].parent = DEPTH - 1;
	text = export_of(export_folded, NULL);
	assert_string_equal(strrchr(text, ' '), " 1\n");
	free(text);
	samples[0].stack = 1;
	free(deep);
}

static uint64_t filtered(void)
{
	struct record_view v;
	uint64_t points;

	record_view_init(&v, &recording, &options);
	points = v.points;
	record_view_deinit(&v);
	return points;
}

static void only(int option, const char *arg)
{
	assert_int_equal(record_filter_option(&options.filter, option, arg), 0);
}

static void test_filters(void **state)
{
	(void)state;
	assert_int_equal(filtered(), expected().all);
	only(FILTER_CLASS, "IL");
	assert_int_equal(filtered(), 26);
	only(FILTER_CLASS, "k");
	assert_int_equal(filtered(), 2);
	only(FILTER_CLASS, "on,off");
	only(FILTER_COMM, "gzi,sh");
	assert_int_equal(filtered(), 1);
	only(FILTER_COMM, "gzipper,shell");
	assert_int_equal(filtered(), 0);
	only(FILTER_COMM, "sh,gzip");
	assert_int_equal(filtered(), 14);
	options.filter.comms = NULL;
	only(FILTER_TID, "101,300");
	assert_int_equal(filtered(), 28);
	only(FILTER_PID, "300");
	assert_int_equal(filtered(), 4);
	record_filter_deinit(&options.filter);
	options.filter = (struct record_filter){ 0 };
	samples[1].cpu = 101;
	only(FILTER_CPU, "101");
	assert_int_equal(filtered(), 1);
	record_filter_deinit(&options.filter);
	samples[1].cpu = 0;
}

static void test_indexes(void **state)
{
	struct export_strings s = { 0 };
	struct export_map m;
	char text[16];

	(void)state;
	export_map_init(&m, 2);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 10000; i++) {
			snprintf(text, sizeof(text), "%u", i);
			assert_int_equal(export_strings_add(&s, text), i);
			assert_int_equal(export_map_add(&m, (uint32_t[]){ i & 7, i }), i);
		}
	}
	assert_int_equal(s.n, 10000);
	assert_string_equal(s.text[4711], "4711");
	assert_int_equal(m.keys[2 * 4711 + 1], 4711);
	export_strings_deinit(&s);
	export_map_deinit(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_folded, setup),
		cmocka_unit_test_setup(test_folded_per, setup),
		cmocka_unit_test_setup(test_launcher, setup),
		cmocka_unit_test_setup(test_folded_merges_lines, setup),
		cmocka_unit_test_setup(test_speedscope, setup),
		cmocka_unit_test_setup(test_firefox, setup),
		cmocka_unit_test_setup(test_firefox_markers, setup),
		cmocka_unit_test(test_pprof_numbers),
		cmocka_unit_test_setup(test_pprof, setup),
		cmocka_unit_test_setup(test_pprof_ranks, setup),
		cmocka_unit_test_setup(test_strange_names, setup),
		cmocka_unit_test_setup(test_empty, setup),
		cmocka_unit_test_setup(test_no_chains, setup),
		cmocka_unit_test_setup(test_deep, setup),
		cmocka_unit_test_setup(test_filters, setup),
		cmocka_unit_test_setup(test_indexes, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
