// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/cpu_quota.h"

#include "host/cgroup.h"

#include <unistd.h>

#define MAX_GROUPS 64 /* with a quota; more are no single program's */

struct group {
	char *dir;
	double before_s; /* throttled when it became known */
	double last_s;	 /* ... when it was read last */
	double cpus;	 /* likewise */
	bool gone;
};

struct cpu_quotas {
	struct group list[MAX_GROUPS];
	size_t n;
	double forgotten_s; /* throttled by those that have gone */
	char *last;	    /* cpu_quotas_text() of when there was a quota */
};

struct cpu_quotas *cpu_quotas_create(void)
{
	return xcalloc(1, sizeof(struct cpu_quotas));
}

void cpu_quotas_destroy(struct cpu_quotas *q)
{
	if (!q)
		return;
	for (size_t i = 0; i < q->n; i++)
		free(q->list[i].dir);
	free(q->last);
	free(q);
}

static char *read_of(const char *dir, const char *name)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", dir, name);

	return read_file(path, NULL);
}

/* v2: "QUOTA PERIOD" or "max PERIOD" in cpu.max; v1: cpu.cfs_quota_us, -1 without a limit. */
static double group_cpus(const char *dir)
{
	_cleanup_free_ char *max = read_of(dir, "cpu.max");
	_cleanup_free_ char *quota = read_of(dir, "cpu.cfs_quota_us");
	_cleanup_free_ char *period = read_of(dir, "cpu.cfs_period_us");
	double q = 0, p = 0;

	if (max && sscanf(max, "%lf %lf", &q, &p) == 2 && p > 0)
		return q / p;
	if (quota && period && sscanf(quota, "%lf", &q) == 1 && sscanf(period, "%lf", &p) == 1 &&
	    q > 0 && p > 0)
		return q / p;
	return 0;
}

static double number_after(const char *text, const char *key)
{
	const char *at = text ? strstr(text, key) : NULL;
	double v = 0;

	return at && sscanf(at + strlen(key), " %lf", &v) == 1 ? v : 0;
}

/* False: it has gone, and keeps what it was. */
static bool read_group(struct group *g)
{
	_cleanup_free_ char *stat = read_of(g->dir, "cpu.stat");
	double s;

	g->gone |= !stat && access(g->dir, F_OK);
	if (g->gone)
		return false;
	s = number_after(stat, "throttled_usec") / 1e6 + number_after(stat, "throttled_time") / 1e9;
	if (s < g->last_s) /* another one of that name */
		g->before_s -= g->last_s;
	g->last_s = s;
	g->cpus = group_cpus(g->dir);
	return true;
}

static void add_group(struct cpu_quotas *q, const char *dir)
{
	struct group g = { .dir = (char *)dir };

	for (size_t i = 0; i < q->n; i++) {
		if (!q->list[i].gone && !strcmp(q->list[i].dir, dir))
			return;
	}
	if (q->n == MAX_GROUPS)
		cpu_quotas_begin(q);
	if (q->n == MAX_GROUPS || !read_group(&g) || !(g.cpus > 0))
		return;
	g.dir = xstrdup(dir);
	g.before_s = g.last_s;
	q->list[q->n++] = g;
}

/* @group begins with a slash, and is taken apart. */
static void add_group_and_above(struct cpu_quotas *q, const char *mount, char *group)
{
	for (char *end = group + strlen(group); end; end = strrchr(group, '/')) {
		_cleanup_free_ char *dir = NULL;

		*end = '\0';
		dir = sysroot_path("%s%s", mount, group);
		add_group(q, dir);
	}
}

void cpu_quotas_add_process(struct cpu_quotas *q, int pid)
{
	_cleanup_free_ char *path = sysroot_path("/proc/%d/cgroup", pid);
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	char line[4096];

	while (f && fgets(line, sizeof(line), f)) {
		char *controllers = strchr(line, ':'), *group;

		group = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!group || group[1] != '/')
			continue;
		*group++ = '\0';
		group[strcspn(group, "\n")] = '\0';
		if (!group[1]) /* the mount itself */
			*group = '\0';
		if (!controllers[1])
			add_group_and_above(q, CGROUP_ROOT, group);
		else if (strstr(controllers, "cpu") && !strstr(controllers, "cpuset"))
			add_group_and_above(q, CGROUP_ROOT "/cpu", group);
	}
}

static bool is_above(const char *dir, const char *other)
{
	size_t n = strlen(dir);

	return !strncmp(dir, other, n) && (other[n] == '/' || !other[n]);
}

/* Of two, one is within the other. */
static bool in_one_line(const struct cpu_quotas *q)
{
	for (size_t i = 0; i < q->n; i++) {
		for (size_t k = 0; k < i; k++) {
			if (!is_above(q->list[i].dir, q->list[k].dir) &&
			    !is_above(q->list[k].dir, q->list[i].dir))
				return false;
		}
	}
	return true;
}

static const struct group *tightest(const struct cpu_quotas *q)
{
	const struct group *ret = NULL;

	for (size_t i = 0; i < q->n; i++) {
		const struct group *g = &q->list[i];

		if (g->cpus > 0 && (!ret || g->cpus < ret->cpus))
			ret = g;
	}
	return ret;
}

/* What is known of each; the last text is that of the tightest. */
static void look(struct cpu_quotas *q)
{
	const struct group *t;

	for (size_t i = 0; i < q->n; i++)
		read_group(&q->list[i]);
	t = tightest(q);
	if (!t)
		return;
	free(q->last);
	q->last = xasprintf("%s: %.2g CPUs", t->dir, t->cpus);
}

static struct cpu_quota current(const struct cpu_quotas *q)
{
	struct cpu_quota ret = { .throttled_s = q->forgotten_s };
	const struct group *t = tightest(q);

	for (size_t i = 0; i < q->n; i++)
		ret.throttled_s += q->list[i].last_s - q->list[i].before_s;
	ret.cpus = t && in_one_line(q) ? t->cpus : 0;
	return ret;
}

struct cpu_quota cpu_quotas_read(struct cpu_quotas *q)
{
	look(q);
	return current(q);
}

static void drop_gone(struct cpu_quotas *q)
{
	size_t n = 0;

	for (size_t i = 0; i < q->n; i++) {
		struct group *g = &q->list[i];

		if (!g->gone) {
			q->list[n++] = *g;
			continue;
		}
		q->forgotten_s += g->last_s - g->before_s;
		free(g->dir);
	}
	q->n = n;
}

struct cpu_quota cpu_quotas_begin(struct cpu_quotas *q)
{
	look(q);
	drop_gone(q);
	return current(q);
}

char *cpu_quotas_text(struct cpu_quotas *q)
{
	look(q);
	return q->last ? xstrdup(q->last) : NULL;
}
