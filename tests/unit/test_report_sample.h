/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile with known answers, in a file, for tests of what is made of profiles. */
#ifndef TEST_REPORT_SAMPLE_H
#define TEST_REPORT_SAMPLE_H

#include "tests/unit/test_report_fixture.h"
#include "tests/unit/test_report_tool.h"

static char path[64], other[64];

static const double speedups[] = { 0.25, 0.5, 1 };
static const struct fixture_target targets[] = {
	{ { 0, "bar.c:8", "line", "bar.c:8" },
	  .bend = 1,
	  .noise = 0.02,
	  .units = 12,
	  .samples = 500 },
	{ { 1, "func:work_f@bar", "function", "bar.c:20" },
	  .gain = 0.4,
	  .bend = 0.5,
	  .noise = 0.02,
	  .units = 12,
	  .samples = 61022 },
	{ { 2, "kernel:lock,\"it\"\033[31m\n", "kernel", "" },
	  .gain = -0.15,
	  .bend = 1,
	  .noise = 0.02,
	  .units = 12,
	  .samples = 90 },
	{ { 3, "func:rare@bar", "function", "" },
	  .gain = 0.1,
	  .bend = 1,
	  .units = 2,
	  .samples = 10 },
};

static struct fixture fixture = {
	.command = "./bar --fast",
	.speedups = speedups,
	.n_speedups = 3,
	.targets = targets,
	.n_targets = 4,
	.latency = true,
	.footer = true,
};

static void make(const struct fixture *f)
{
	struct error err = { 0 };

	unlink(path);
	if (fixture_write(path, f, &err))
		fail_msg("%s", err.text);
}

static inline void put_text(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

#define HEADER \
	"{\"type\":\"header\",\"format\":\"scoz-profile\",\"version\":1,\"run\":0," \
	"\"engine\":\"bpf\",\"model\":\"wait\",\"mode\":\"windows\"}\n" \
	"{\"type\":\"progress\",\"id\":0,\"name\":\"p\",\"kind\":\"throughput\",\"spec\":\"x:y\"}" \
	"\n" \
	"{\"type\":\"target\",\"id\":0,\"name\":\"a.c:1\",\"kind\":\"line\",\"location\":\"\"}\n"
#define WINDOW(seq, speedup, discard, visits) \
	"{\"type\":\"window\",\"run\":0,\"seq\":" seq ",\"target\":0,\"speedup\":" speedup \
	",\"discard\":" discard ",\"wall_s\":1,\"progress\":[{\"visits\":" visits \
	",\"virtual_s\":1}]}\n"
#define FOOTER "{\"type\":\"footer\",\"run\":0,\"duration_s\":3,\"end\":\"done\"}\n"

static inline json_t *parse_report(void)
{
	json_error_t why;
	json_t *o = json_loads(out_text, 0, &why);

	if (!o)
		fail_msg("not JSON: %s", why.text);
	return o;
}

static int setup(void **state)
{
	(void)state;
	strcpy(path, "/tmp/test_report-XXXXXX");
	strcpy(other, "/tmp/test_report-other-XXXXXX");
	close(mkstemp(path));
	close(mkstemp(other));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	unlink(other);
	free(out_text);
	free(err_text);
	return 0;
}

#endif
