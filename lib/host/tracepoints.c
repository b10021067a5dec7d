// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/tracepoints.h"

#include "base/similar.h"
#include "host/syscall_names.h"

static FILE *open_events(void)
{
	static const char *const roots[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	FILE *f = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(roots) && !f; i++) {
		_cleanup_free_ char *path = sysroot_path("%s/available_events", roots[i]);

		f = fopen(path, "re");
	}
	return f;
}

int tracepoint_check(const char *group, const char *name, struct error *err)
{
	_cleanup_free_ char *others = NULL;
	_cleanup_fclose_ FILE *f = open_events();
	char line[256], *colon;

	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		colon = strchr(line, ':');
		if (!colon || strcmp(colon + 1, name) != 0)
			continue;
		*colon = '\0';
		if (!strcmp(line, group))
			return 0;
		if (!others)
			others = xstrdup("");
		text_add(&others, "%s%s:%s", *others ? ", " : "", line, name);
	}
	return others ? error_set(err, ENOENT,
				  "there is no tracepoint %s in group %s: did you mean %s?", name,
				  group, others)
		      : 0;
}

char *tracepoint_why(const char *name, int code)
{
	_cleanup_fclose_ FILE *f = code == ENOENT ? open_events() : NULL;
	_cleanup_free_ char *near = NULL;
	struct similar similar;
	char line[256], *colon;

	if (code != ENOENT)
		return xstrdup(strerror(code));
	similar_init(&similar, name);
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		colon = strchr(line, ':');
		if (colon)
			similar_add(&similar, colon + 1);
	}
	near = similar_text(&similar);
	return xasprintf("no such tracepoint%s", near);
}

const char *tracepoint_syscall(const char *name)
{
	static const char *const ends[] = { "sys_enter_", "sys_exit_" };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		size_t n = strlen(ends[i]);

		if (!strncmp(name, ends[i], n) && syscall_number(name + n) >= 0)
			return name + n;
	}
	return NULL;
}
