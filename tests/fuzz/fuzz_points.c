// SPDX-License-Identifier: GPL-2.0-or-later
/* What users write on command lines: POINT, TARGET, lists of CPUs, globs, names of functions. */
#include "tests/fuzz/fuzz.h"

#include "table/function_name.h"
#include "table/table_build.h"
#include "progress/point.h"

static void parse(const char *text)
{
	struct progress_spec spec;
	struct target target, again;
	struct point point;
	struct error err;
	int *cpus, n;

	if (!point_parse(text, &point, &err))
		point_free(&point);
	if (!target_parse(text, &target, &err)) {
		_cleanup_free_ char *written = target_text(&target);

		if (target_parse(written, &again, &err) || again.kind != target.kind ||
		    strcmp(again.name, target.name) != 0 || again.line != target.line)
			abort();
		target_free(&again);
		target_free(&target);
	}
	if (!progress_spec_parse(text, &spec, &err))
		progress_spec_free(&spec);
	if (!latency_spec_parse(text, &spec, &err))
		progress_spec_free(&spec);
	if (!cpulist_parse(text, &cpus, &n, &err)) {
		_cleanup_free_ char *again = cpulist_format(cpus, n);

		if (n <= 0 || !cpulist_contains(cpus, n, cpus[0]) || !again)
			abort();
		free(cpus);
	}
}

/* @text: two strings, one after the other. */
static void match(const char *text, const char *other)
{
	struct function_pattern p;
	uint64_t work = 1 << 20;
	bool cold;

	glob_match(text, other);
	path_ends_with(text, other);
	function_pattern_init(&p, text);
	function_pattern_match(&p, other, "");
	function_pattern_match(&p, "ns::f", other);
	function_pattern_deinit(&p);
	free(function_full_name(text, other));
	free(function_symbol(text, other));
	free(symbol_display_name(text, &cold, &work));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = xmalloc(size + 1), *other = NULL;
	size_t n;

	memcpy(text, data, size);
	text[size] = '\0';
	parse(text);
	n = strcspn(text, "\n");
	other = xstrdup(text + n + (text[n] == '\n'));
	text[n] = '\0';
	match(text, other);
	return 0;
}
