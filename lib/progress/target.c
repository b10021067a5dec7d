// SPDX-License-Identifier: GPL-2.0-or-later
/* Targets; a line is the one kind without a prefix, "./class:7" a line of a file that has the name
 * of one. */
#include "progress/point.h"

#include "base/similar.h"
#include "progress/network_peer.h"
#include "progress/point_words.h"

#include <ctype.h>

#define RANK_MAX 9 /* digits */

static const char target_forms[] =
	"a target is FILE:LINE[-LAST], func:NAME[@BINARY], file:GLOB, bin:GLOB, kernel:FUNCTION, "
	"syscall:NAME, comm:NAME, cgroup:PATH, rank:N, class:on, class:off, class:io, "
	"class:io:DEVICE, class:io:ADDRESS[:PORT] or class:other";

static int parse_target_function(const char *rest, struct target *ret, struct error *err)
{
	const char *at = strchr(rest, '@');

	ret->name = at ? xstrndup(rest, at - rest) : xstrdup(rest);
	if (!*ret->name)
		return error_set(err, EINVAL,
				 "'%s': NAME is empty: write func:NAME or func:NAME@BINARY",
				 ret->spec);
	if (at && !at[1])
		return error_set(err, EINVAL,
				 "'%s': BINARY is empty: write func:NAME@BINARY, or func:NAME for "
				 "any binary",
				 ret->spec);
	ret->binary = at ? xstrdup(at + 1) : NULL;
	return 0;
}

static int parse_target_glob(const char *rest, struct target *ret, struct error *err)
{
	ret->name = xstrdup(rest);
	if (!*rest)
		return error_set(err, EINVAL, "'%s': GLOB is empty: write %s", ret->spec,
				 ret->kind == TARGET_FILE ? "file:GLOB, for example 'file:*/fs/*.c'"
							  : "bin:GLOB, for example 'bin:*/gzip'");
	return 0;
}

static int parse_target_kernel(const char *rest, struct target *ret, struct error *err)
{
	bool syscall = ret->kind == TARGET_SYSCALL;

	ret->name = xstrdup(rest);
	if (!is_identifier(rest, syscall ? "" : ".$*?[]!^-") || isdigit((unsigned char)*rest))
		return error_set(err, EINVAL, "'%s': '%s' is not %s", ret->spec, rest,
				 syscall ? "a system call's name: write syscall:NAME, for example "
					   "syscall:fsync"
					 : "a kernel function: write kernel:FUNCTION, for example "
					   "kernel:copy_page or kernel:ext4_*");
	return 0;
}

/* As the kernel calls it, a name in /sys/block, where '/' is '!'; or a network peer. */
static int parse_device(const char *device, struct target *ret, struct error *err)
{
	const char *without_dev = text_after(device, "/dev/");
	struct network_peer peer;

	if (strcmp(ret->name, "io") != 0)
		return error_set(err, EINVAL,
				 "'%s': class:%s has no devices, only class:io has: write class:%s",
				 ret->spec, ret->name, ret->name);
	if (without_dev && *without_dev)
		return error_set(err, EINVAL, "'%s': write class:io:%s, without /dev/", ret->spec,
				 without_dev);
	if (network_peer_parse(device, &peer))
		ret->peer = true;
	else if (!*device || *device == '.' || strchr(device, '/'))
		return error_set(err, EINVAL,
				 "'%s': '%s' is no block device's name: write class:io:DEVICE with "
				 "a name of /sys/block, for example class:io:vda",
				 ret->spec, device);
	else if (strchr(device, ':'))
		return error_set(err, EINVAL,
				 "'%s': '%s' is no network peer: write class:io:ADDRESS, "
				 "class:io:ADDRESS:PORT or class:io:[ADDRESS]:PORT with a number, "
				 "not a name",
				 ret->spec, device);
	ret->device = xstrdup(device);
	return 0;
}

static int parse_target_class(const char *rest, struct target *ret, struct error *err)
{
	static const char *const classes[] = { "on", "off", "io", "other", "sched", "lock" };
	const char *colon = strchr(rest, ':');

	ret->name = colon ? xstrndup(rest, colon - rest) : xstrdup(rest);
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		if (!strcmp(ret->name, classes[i]))
			return colon ? parse_device(colon + 1, ret, err) : 0;
	}
	return error_set(err, EINVAL,
			 "'%s': there is no class '%s': write class:on, class:off, class:io, "
			 "class:io:DEVICE, class:io:ADDRESS[:PORT] or class:other",
			 ret->spec, ret->name);
}

static int parse_target_comm(const char *rest, struct target *ret, struct error *err)
{
	ret->name = xstrdup(rest);
	if (!*rest)
		return error_set(err, EINVAL,
				 "'%s': NAME is empty: write comm:NAME, for example comm:postgres",
				 ret->spec);
	if (strlen(rest) > COMM_MAX)
		return error_set(
			err, EINVAL,
			"'%s': '%s' is longer than %d characters, of which the kernel keeps "
			"%d: write comm:%.*s",
			ret->spec, rest, COMM_MAX, COMM_MAX, COMM_MAX, rest);
	return 0;
}

static int parse_target_cgroup(const char *rest, struct target *ret, struct error *err)
{
	ret->name = xstrdup(rest);
	if (!*rest)
		return error_set(err, EINVAL,
				 "'%s': PATH is empty: write cgroup:PATH, for example "
				 "cgroup:system.slice/postgresql.service",
				 ret->spec);
	return 0;
}

static int parse_target_rank(const char *rest, struct target *ret, struct error *err)
{
	ret->name = xstrdup(rest);
	if (!is_digits(rest) || strlen(rest) > RANK_MAX)
		return error_set(err, EINVAL,
				 "'%s': '%s' is no rank: write rank:N, for example rank:0",
				 ret->spec, rest);
	return 0;
}

/* "./prog:work", as a point has it; "fucn:work". */
static char *target_meant(const char *spec)
{
	const char *colon = find_colon(spec), *base = path_base(spec);
	_cleanup_free_ char *word = xstrndup(spec, colon - spec + 1);
	const char *prefix = target_prefix(word, 1);

	if (prefix)
		return xasprintf(": did you mean '%s%s'?", prefix, colon + 1);
	if (base > colon || !is_identifier(colon + 1, "$."))
		return xstrdup("");
	if (memchr(base, '.', colon - base) && !strstr(base, ".so")) /* a source file */
		return xasprintf(": did you mean 'func:%s'?", colon + 1);
	return xasprintf(": did you mean 'func:%s@%.*s'?", colon + 1, (int)(colon - base), base);
}

static int parse_target_line(const char *spec, struct target *ret, struct error *err)
{
	const char *colon = find_last_colon(spec), *dot = strrchr(spec, '.');
	_cleanup_free_ char *first = NULL;
	const char *dash;
	int r;

	if (!colon) {
		bool file = strchr(spec, '/') || (dot && dot[1]);

		return error_set(err, EINVAL, "'%s': did you mean '%s:%s'? %s", spec,
				 file ? "file" : "func", spec, target_forms);
	}
	if (colon == spec)
		return error_set(err, EINVAL, "'%s': FILE is empty: write FILE:LINE", spec);
	dash = strchr(colon, '-');
	first = dash ? xstrndup(colon + 1, dash - colon - 1) : xstrdup(colon + 1);
	if (!is_digits(first) || (dash && !is_digits(dash + 1))) {
		_cleanup_free_ char *meant = target_meant(spec);

		return error_set(err, EINVAL,
				 "'%s': '%s' is not a line number, and '%.*s' is no kind of "
				 "target%s; %s",
				 spec, colon + 1, (int)(find_colon(spec) - spec), spec, meant,
				 target_forms);
	}
	if (colon[-1] == ':')
		return error_set(err, EINVAL, "'%s': one ':' stands between FILE and LINE", spec);
	ret->name = read_source_path(spec, colon - spec);
	r = read_line_number(first, spec, "FILE:LINE", &ret->line, err);
	ret->last = ret->line;
	if (!r && dash)
		r = read_line_number(dash + 1, spec, "FILE:LINE-LAST", &ret->last, err);
	if (!r && ret->last < ret->line)
		r = error_set(err, EINVAL, "'%s': lines go from the smaller to the larger: %u-%u",
			      spec, ret->last, ret->line);
	return r;
}

/* A line has no prefix, which any text begins with: it comes last. */
static const struct {
	enum target_kind kind;
	const char *prefix, *name;
	int (*parse)(const char *rest, struct target *ret, struct error *err);
} target_kinds[] = {
	{ TARGET_FUNCTION, "func:", "function", parse_target_function },
	{ TARGET_FILE, "file:", "file", parse_target_glob },
	{ TARGET_BINARY, "bin:", "binary", parse_target_glob },
	{ TARGET_KERNEL, "kernel:", "kernel", parse_target_kernel },
	{ TARGET_SYSCALL, "syscall:", "syscall", parse_target_kernel },
	{ TARGET_COMM, "comm:", "comm", parse_target_comm },
	{ TARGET_CGROUP, "cgroup:", "cgroup", parse_target_cgroup },
	{ TARGET_RANK, "rank:", "rank", parse_target_rank },
	{ TARGET_CLASS, "class:", "class", parse_target_class },
	{ TARGET_LINE, "", "line", parse_target_line },
};

const char *target_prefix(const char *word, unsigned int changed)
{
	for (size_t i = 0; i < ARRAY_SIZE(target_kinds); i++) {
		const char *prefix = target_kinds[i].prefix;

		if (*prefix && edit_distance(prefix, word, changed) <= changed)
			return prefix;
	}
	return NULL;
}

/* Which of target_kinds[] @text is one of. */
static size_t target_kind_of(const char *text)
{
	size_t i = 0;

	while (!text_after(text, target_kinds[i].prefix))
		i++;
	return i;
}

static size_t target_kind_index(enum target_kind kind)
{
	size_t i = 0;

	while (target_kinds[i].kind != kind)
		i++;
	return i;
}

const char *target_kind_name(enum target_kind kind)
{
	return target_kinds[target_kind_index(kind)].name;
}

char *target_text(const struct target *t)
{
	const char *prefix = target_kinds[target_kind_index(t->kind)].prefix;

	if (t->kind == TARGET_LINE) {
		_cleanup_free_ char *file = escape_colons(t->name);
		_cleanup_free_ char *lines = t->last > t->line
						     ? xasprintf("%u-%u", t->line, t->last)
						     : xasprintf("%u", t->line);
		_cleanup_free_ char *text = xasprintf("%s:%s", file, lines);

		/* A file that is called like a kind of target */
		return xasprintf("%s%s", *target_kinds[target_kind_of(text)].prefix ? "./" : "",
				 text);
	}
	return xasprintf("%s%s%s%s%s%s", prefix, t->name, t->binary ? "@" : "",
			 t->binary ? t->binary : "", t->device ? ":" : "",
			 t->device ? t->device : "");
}

const char *target_name_in(const char *text, enum target_kind kind, size_t *n)
{
	const char *name = text_after(text, target_kinds[target_kind_index(kind)].prefix);

	if (name && n)
		*n = strcspn(name, kind == TARGET_FUNCTION ? "@" : "");
	return name;
}

static int parse_target(struct target *ret, struct error *err)
{
	size_t i = target_kind_of(ret->spec);

	if (!*ret->spec)
		return error_set(err, EINVAL, "the target is empty; %s", target_forms);
	ret->kind = target_kinds[i].kind;
	return target_kinds[i].parse(text_after(ret->spec, target_kinds[i].prefix), ret, err);
}

int target_parse(const char *text, struct target *ret, struct error *err)
{
	int r;

	*ret = (struct target){ .spec = xstrdup(text) };
	r = parse_target(ret, err);
	if (r) {
		error_prefix(err, "target");
		target_free(ret);
	}
	return r;
}

void target_free(struct target *t)
{
	free(t->spec);
	free(t->name);
	free(t->binary);
	free(t->device);
	*t = (struct target){ 0 };
}
