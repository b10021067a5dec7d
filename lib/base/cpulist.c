// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/base.h"

#include <ctype.h>

#define MAX_CPU 65535

static int compare_int(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static int parse_number(const char **p, long *ret)
{
	char *end;

	if (!isdigit((unsigned char)**p))
		return -EINVAL;
	*ret = strtol(*p, &end, 10);
	*p = end;
	return *ret > MAX_CPU ? -EINVAL : 0;
}

int cpulist_parse(const char *text, int **cpus, int *n, struct error *err)
{
	const char *p = text;
	size_t cap = 0, count = 0, out = 0;
	int *list = NULL;

	while (*p && *p != '\n') {
		long lo, hi;

		if (parse_number(&p, &lo))
			goto bad;
		hi = lo;
		if (*p == '-') {
			p++;
			if (parse_number(&p, &hi) || hi < lo)
				goto bad;
		}
		for (long c = lo; c <= hi; c++) {
			array_reserve(list, cap, count + 1);
			list[count++] = c;
		}
		if (*p == ',')
			p++;
		else if (*p && *p != '\n')
			goto bad;
	}
	if (!count)
		goto bad;
	qsort(list, count, sizeof(*list), compare_int);
	for (size_t i = 0; i < count; i++) {
		if (!i || list[i] != list[out - 1])
			list[out++] = list[i];
	}
	*cpus = list;
	*n = out;
	return 0;
bad:
	free(list);
	return error_set(err, EINVAL, "CPU list \"%s\" is not understood: write for instance 0-3,8",
			 text);
}

char *cpulist_format(const int *cpus, int n)
{
	char *s = xstrdup("");

	for (int i = 0; i < n;) {
		int j = i;

		while (j + 1 < n && cpus[j + 1] == cpus[j] + 1)
			j++;
		if (j > i)
			text_add(&s, "%s%d-%d", *s ? "," : "", cpus[i], cpus[j]);
		else
			text_add(&s, "%s%d", *s ? "," : "", cpus[i]);
		i = j + 1;
	}
	return s;
}

int cpulist_online(int **cpus, int *n, struct error *err)
{
	_cleanup_free_ char *path = sysroot_path("/sys/devices/system/cpu/online");
	_cleanup_free_ char *text = read_file(path, NULL);

	if (!text)
		return error_set(err, errno, "%s: %s", path, strerror(errno));
	return cpulist_parse(text, cpus, n, err);
}

bool cpulist_contains(const int *cpus, int n, int cpu)
{
	while (n > 0 && cpus[n - 1] != cpu)
		n--;
	return n > 0;
}

/* Membership of a sysfs CPU list; false when the file is empty or absent. */
static bool listed(const char *file, int cpu)
{
	_cleanup_free_ char *path = sysroot_path("/sys/devices/system/cpu/%s", file);
	_cleanup_free_ char *text = read_file(path, NULL);
	_cleanup_free_ int *cpus = NULL;
	int n = 0;

	if (!text || cpulist_parse(text, &cpus, &n, NULL))
		return false;
	return cpulist_contains(cpus, n, cpu);
}

bool cpu_is_isolated(int cpu)
{
	return listed("isolated", cpu) || listed("nohz_full", cpu);
}
