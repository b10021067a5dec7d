// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/cpu_quota.h"

#include "host/cgroup.h"

#define MAX_GROUPS 64 /* with a quota; more are no single program's */

struct group {
	char *dir;
	double before_s; /* throttled when it became known */
};

struct cpu_quotas {
	struct group list[MAX_GROUPS];
	size_t n;
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

static double group_throttled_s(const char *dir)
{
	_cleanup_free_ char *stat = read_of(dir, "cpu.stat");
	double us = number_after(stat, "throttled_usec"), ns = number_after(stat, "throttled_time");

	return us / 1e6 + ns / 1e9;
}

static void add_group(struct cpu_quotas *q, const char *dir)
{
	for (size_t i = 0; i < q->n; i++) {
		if (!strcmp(q->list[i].dir, dir))
			return;
	}
	if (q->n < MAX_GROUPS && group_cpus(dir) > 0)
		q->list[q->n++] = (struct group){ xstrdup(dir), group_throttled_s(dir) };
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

static const char *tightest(const struct cpu_quotas *q, double *cpus)
{
	const char *ret = NULL;

	*cpus = 0;
	for (size_t i = 0; i < q->n; i++) {
		double c = group_cpus(q->list[i].dir);

		if (c > 0 && (!ret || c < *cpus)) {
			*cpus = c;
			ret = q->list[i].dir;
		}
	}
	return ret;
}

struct cpu_quota cpu_quotas_read(const struct cpu_quotas *q)
{
	struct cpu_quota ret = { 0 };

	for (size_t i = 0; i < q->n; i++)
		ret.throttled_s += group_throttled_s(q->list[i].dir) - q->list[i].before_s;
	tightest(q, &ret.cpus);
	if (!in_one_line(q))
		ret.cpus = 0;
	return ret;
}

char *cpu_quotas_text(const struct cpu_quotas *q)
{
	double cpus;
	const char *dir = tightest(q, &cpus);

	return dir ? xasprintf("%s: %.2g CPUs", dir, cpus) : NULL;
}
