// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cost of mapping tables: linetable [-k] [-s] BINARY [LOOKUPS]; -k: it is a kernel image; -s:
 * tables are made by the symbolizer, and memory is that of who asks for them. One JSON object a
 * line: building without a cache, reading back from the cache, and looking up random addresses.
 * Memory is that of a child that does only this (peak resident set, with and without file pages).
 */
#include "elf/table_make.h"
#include "maps/maps.h"
#include "symbolizer/symbolizer.h"
#include "table/table.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static bool kernel, apart;

static long status_kb(const char *key)
{
	_cleanup_free_ char *text = read_file("/proc/self/status", NULL);
	const char *p = text ? strstr(text, key) : NULL;

	return p ? atol(p + strlen(key)) : -1;
}

static struct maptable *open_table(const char *path, const char *cache)
{
	struct map_options opt = { .cache_dir = cache, .kernel = kernel };
	struct maptable *t;
	struct error err;

	if (maptable_make(path, path, &opt, &t, &err)) {
		fprintf(stderr, "linetable: %s\n", err.text);
		_exit(1);
	}
	return t;
}

static void measure_open(const char *what, const char *path, const char *cache)
{
	pid_t pid = fork();

	if (!pid) {
		long before = status_kb("VmHWM:");
		struct maptable *t;
		uint64_t start, end;
		struct error err;

		if (apart && symbolizer_start(&err))
			_exit(1);
		start = clock_now_ns();
		t = open_table(path, cache);
		end = clock_now_ns();
		printf("{\"measure\": \"%s\", \"binary\": \"%s\", \"seconds\": %.3f, "
		       "\"peak_rss_mb\": %.1f, \"peak_rss_before_mb\": %.1f, \"rss_anon_mb\": "
		       "%.1f, "
		       "\"table_mb\": %.1f, \"source\": %d}\n",
		       what, path, (end - start) / 1e9, status_kb("VmHWM:") / 1e3, before / 1e3,
		       status_kb("RssAnon:") / 1e3, t->size / 1e6, maptable_source(t));
		fflush(stdout);
		maptable_free(t);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void measure_lookups(const char *path, const char *cache, size_t n)
{
	struct maptable *t = open_table(path, cache);
	uint64_t seed = 1, bytes = 0, start, end, *addr = xcalloc(n, sizeof(*addr));
	struct map_frame frames[MAP_MAX_INLINE];
	struct addr_ranges text;
	size_t found = 0, depth = 0, lines = 0;

	if (maptable_all_ranges(t, &text, NULL))
		return;
	for (size_t i = 0; i < text.n; i++)
		bytes += text.r[i].end - text.r[i].start;
	for (size_t i = 0; i < n; i++) {
		uint64_t at;

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		at = (seed >> 20) % bytes;
		for (size_t k = 0; k < text.n; k++) {
			uint64_t len = text.r[k].end - text.r[k].start;

			if (at < len) {
				addr[i] = text.r[k].start + at;
				break;
			}
			at -= len;
		}
	}
	start = clock_now_ns();
	for (size_t i = 0; i < n; i++) {
		int k = maptable_lookup(t, addr[i], frames, MAP_MAX_INLINE);

		found += k > 0;
		depth += k;
		lines += k > 0 && frames[0].line > 0;
	}
	end = clock_now_ns();
	printf("{\"measure\": \"lookup\", \"binary\": \"%s\", \"lookups\": %zu, \"ns_each\": %.1f, "
	       "\"with_function_pct\": %.1f, \"with_line_pct\": %.1f, \"mean_depth\": %.2f}\n",
	       path, n, (double)(end - start) / n, 100.0 * found / n, 100.0 * lines / n,
	       found ? (double)depth / found : 0);
	free(addr);
	addr_ranges_free(&text);
	maptable_free(t);
}

int main(int argc, char **argv)
{
	char cache[] = "/tmp/scoz-linetable.XXXXXX";
	_cleanup_free_ char *rm = NULL;

	for (; argc > 1 && argv[1][0] == '-'; argc--, argv++) {
		kernel |= !strcmp(argv[1], "-k");
		apart |= !strcmp(argv[1], "-s");
	}
	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: linetable [-k] [-s] BINARY [LOOKUPS]\n");
		return 2;
	}
	if (!mkdtemp(cache))
		return 1;
	setvbuf(stdout, NULL, _IOLBF, 0);
	measure_open("cold", argv[1], NULL);
	measure_open("cold_and_store", argv[1], cache);
	measure_open("cached", argv[1], cache);
	measure_lookups(argv[1], cache, argc > 2 ? strtoul(argv[2], NULL, 10) : 1000000);
	rm = xasprintf("rm -rf %s", cache);
	return system(rm) ? 1 : 0;
}
