// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Profiles for looking at their pages: page_profiles KIND FILE. "large" is the largest page that is
 * promised (200 targets, 10,000 windows, source), "demo" a small one, "points" has several progress
 * points.
 */
#include <stdio.h>

#include "tests/unit/test_report_fixture.h"

static const double speedups[] = { 0.1, 0.5, 1 };

static int write_large(const char *path, struct error *err)
{
	static struct fixture_target many[200];
	const char *lines[17];
	struct fixture f = { .command = "./server --bench",
			     .source = lines,
			     .n_source = ARRAY_SIZE(lines),
			     .speedups = speedups,
			     .n_speedups = ARRAY_SIZE(speedups),
			     .targets = many,
			     .n_targets = ARRAY_SIZE(many),
			     .footer = true };

	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = (struct fixture_target){
			.t = { i,
			       xasprintf("func:acme::storage::ShardedIndex<acme::Backend%zu>"
					 "::find(std::string const&) const@libacme.so.14",
					 i),
			       "line", "src/engine/exec/operators/sharded_index.cc:1843" },
			.gain = i % 7 ? 0 : 0.3 - 0.001 * i,
			.bend = 1,
			.noise = i % 3 ? 0.02 : 0.2,
			.units = 8,
			.samples = 900 - 4 * i,
		};
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		lines[i] = "\t\treturn table->find(hash(key), [&](auto &entry) { return entry == "
			   "key; });";
	return fixture_write(path, &f, err);
}

static int write_small(const char *path, bool points, struct error *err)
{
	static const char *const lines[] = { "static int is_stopword(const char *word)",
					     "{",
					     "\tfor (size_t i = 0; i < N_STOPWORDS; i++) {",
					     "\t\tif (same(word, stopwords[i]))",
					     "\t\t\treturn 1;",
					     "\t}",
					     "\treturn 0;",
					     "}" };
	static const struct fixture_target targets[] = {
		{ { 0, "func:is_stopword@transform", "function", "transform.c:2" },
		  .gain = 0.42,
		  .bend = 1,
		  .noise = 0.03,
		  .units = 24,
		  .samples = 90000 },
		{ { 1, "func:verify_checksum@parse", "function", "parse.c:2" },
		  .gain = 0,
		  .bend = 1,
		  .noise = 0.01,
		  .units = 24,
		  .samples = 81000 },
		{ { 2,
		    "func:std::map<std::string, acme::storage::Order>::operator[](std::string "
		    "const&)@server",
		    "function", "server.cc:3" },
		  .gain = -0.2,
		  .bend = 1,
		  .noise = 0.03,
		  .units = 24,
		  .samples = 12000 },
		{ { 3,
		    "func:std::map<std::string, acme::storage::Price>::operator[](std::string "
		    "const&)@server",
		    "function", "server.cc:5" },
		  .gain = 0.05,
		  .bend = 1,
		  .noise = 0.3,
		  .units = 6,
		  .samples = 9000 },
		{ { 4, "src/log.c:7", "line", "src/log.c:7" },
		  .gain = 0.1,
		  .bend = 0.5,
		  .noise = 0.02,
		  .units = 24,
		  .samples = 7000 },
	};
	struct fixture f = { .command = "workloads/pipeline/run --seconds 150",
			     .name = "build/workloads/pipeline/aggregate:batch_done",
			     .source = lines,
			     .n_source = ARRAY_SIZE(lines),
			     .speedups = speedups,
			     .n_speedups = ARRAY_SIZE(speedups),
			     .targets = targets,
			     .n_targets = ARRAY_SIZE(targets),
			     .latency = points,
			     .footer = true };

	return fixture_write(path, &f, err);
}

int main(int argc, char **argv)
{
	struct error err = { 0 };
	int r;

	if (argc != 3) {
		fprintf(stderr, "usage: page_profiles large|small|points FILE\n");
		return 2;
	}
	r = !strcmp(argv[1], "large") ? write_large(argv[2], &err)
				      : write_small(argv[2], !strcmp(argv[1], "points"), &err);
	if (r)
		fprintf(stderr, "page_profiles: %s\n", err.text);
	return r != 0;
}
