// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/labels.h"
#include "base/text_fit.h"
#include "progress/point.h"

#include <ctype.h>

/* As in recordings (BUILDER_MAX_NAME). No compiler makes longer ones: they stay as they are. */
#define LONGEST_NAME 16384

const char *label_binary(const char *target)
{
	bool one = !strstr(target, TARGETS_TOGETHER);
	size_t n;
	const char *name = one ? target_name_in(target, TARGET_FUNCTION, &n) : NULL;

	return name && name[n] && name[n + 1] ? name + n + 1 : NULL;
}

/* Of "operator<", "operator->", "operator()", "operator[]" that begin at @p; 0: there is none. */
static size_t operator_length(const char *name, const char *p)
{
	size_t n = strlen("operator"), more;

	if (strncmp(p, "operator", n) != 0 ||
	    (p > name && (p[-1] == '_' || isalnum((unsigned char)p[-1]))))
		return 0;
	if (!strncmp(p + n, "()", 2) || !strncmp(p + n, "[]", 2))
		return n + 2;
	more = strspn(p + n, "<>-=");
	/* operator<<int>: the last bracket opens arguments. */
	if (more > 1 && p[n + more - 1] == '<' && strchr(p + n + more, '>'))
		more--;
	return more ? n + more : 0;
}

/* Kinds of brackets of which one was open to the end: no other one is looked at, which took ages.
 */
struct unbalanced {
	bool round, angle;
};

static size_t bracketed(const char *p, struct unbalanced *u)
{
	const char open = *p, close = open == '<' ? '>' : ')';
	bool *unbalanced = open == '<' ? &u->angle : &u->round;
	size_t depth = 0;

	if (*unbalanced)
		return 0;
	for (const char *q = p; *q; q++) {
		if (*q == open)
			depth++;
		else if (*q == close && !(close == '>' && q[-1] == '-') && !--depth)
			return q - p + 1;
	}
	*unbalanced = true;
	return 0;
}

/*
 * Without arguments of functions, and of templates unless @templates. "<a::B as c::D>::m" (Rust) is
 * "a::B::m". Unbalanced names stay as they are.
 */
static char *bare_name(const char *name, bool templates)
{
	static const char anonymous[] = "(anonymous namespace)";
	char *out = xmalloc(strlen(name) + 1), *to = out;
	_cleanup_free_ char *copy = NULL;
	struct unbalanced u = { 0 };
	size_t first = *name == '<' ? bracketed(name, &u) : 0;

	if (first) {
		size_t n = first;
		_cleanup_free_ char *inner = xstrndup(name + 1, n - 2);
		char *as = strstr(inner, " as ");

		if (as)
			*as = '\0';
		copy = xasprintf("%s%s", inner, name + n);
		name = copy;
	}
	for (const char *p = name; *p;) {
		size_t n = operator_length(name, p);

		if (!n && text_after(p, anonymous))
			n = strlen(anonymous);
		if (!n && *p == '<' && templates)
			n = bracketed(p, &u);
		if (n) {
			memcpy(to, p, n);
			to += n;
			p += n;
		} else if ((*p == '<' || *p == '(') && (n = bracketed(p, &u))) {
			p += n;
		} else {
			*to++ = *p++;
		}
	}
	*to = '\0';
	/* "foo() const", "foo() [clone .cold]" */
	to = strstr(out, " const");
	if (to && !to[6])
		*to = '\0';
	to = strstr(out, " [clone");
	if (to)
		*to = '\0';
	if (*out)
		return out;
	free(out);
	return xstrdup(name);
}

/* The function and what it belongs to. A lambda says nothing without the function around it. */
static const char *last_parts(const char *name)
{
	const char *parts[3] = { name, name, name };
	struct unbalanced u = { 0 };

	for (const char *p = name; *p;) {
		size_t n = operator_length(name, p);

		if (!n && *p == '<')
			n = bracketed(p, &u);
		if (!n && !strncmp(p, "::", 2)) {
			p += 2;
			if (*p == '{')
				continue;
			parts[0] = parts[1];
			parts[1] = parts[2];
			parts[2] = p;
		} else {
			p += n ? n : 1;
		}
	}
	return parts[1];
}

/* The last @n directories and the file. */
static const char *last_directories(const char *path, size_t n)
{
	const char *from = path + strlen(path);

	for (n++; from > path; from--) {
		if (from[-1] == '/' && !--n)
			break;
	}
	return from;
}

enum {
	FUNCTION_PARTS,
	FUNCTION_BARE,
	FUNCTION_BINARY,
	FUNCTION_TEMPLATE,
	FUNCTION_WHOLE,
	FUNCTION_LEVELS
};
#define MOST_LEVELS 12

static char *function_label(const char *target, const char *name, size_t level)
{
	const char *binary = label_binary(target);
	_cleanup_free_ char *full = binary ? xstrndup(name, binary - 1 - name) : xstrdup(name);
	_cleanup_free_ char *bare = bare_name(full, level == FUNCTION_TEMPLATE);
	bool address = !strncmp(full, "0x", 2);

	if (level >= FUNCTION_LEVELS)
		return xstrdup(target);
	if (level == FUNCTION_WHOLE)
		return xasprintf("%s%s%s", full, binary ? "@" : "", binary ? binary : "");
	if ((level == FUNCTION_BINARY || address) && binary)
		return xasprintf("%s@%s", bare, binary);
	return xstrdup(level == FUNCTION_BARE ? bare : last_parts(bare));
}

static char *label_of_one(const char *target, size_t level)
{
	const char *function = target_name_in(target, TARGET_FUNCTION, NULL);

	if (function)
		return function_label(target, function, level);
	/* FILE:LINE; the others have a word before their colon. */
	if (level < MOST_LEVELS - 1 && strchr(target, '/') && target[strcspn(target, ":/")] == '/')
		return xstrdup(last_directories(target, level));
	return xstrdup(target);
}

static char *target_at(const char *target, size_t level)
{
	char *text = NULL;

	if (strlen(target) > LONGEST_NAME)
		return xstrdup(target);
	while (target) {
		const char *more = strstr(target, TARGETS_TOGETHER);
		_cleanup_free_ char *part =
			more ? xstrndup(target, more - target) : xstrdup(target);
		_cleanup_free_ char *label = label_of_one(part, level);

		text_add(&text, "%s%s", text ? TARGETS_TOGETHER : "", label);
		target = more ? more + strlen(TARGETS_TOGETHER) : NULL;
	}
	return text;
}

/* Each part between colons without its directories. */
static char *without_directories(const char *point)
{
	char *text = xstrdup("");

	while (*point) {
		size_t n = strcspn(point, ":");
		_cleanup_free_ char *part = xstrndup(point, n);
		const char *slash = strrchr(part, '/');

		text_add(&text, "%s%.1s", slash && slash[1] ? slash + 1 : part, point + n);
		point += n + (point[n] == ':');
	}
	return text;
}

/* Without the binary; with it; everything. */
static char *point_at(const char *point, size_t level)
{
	size_t binary = strcspn(point, ":");
	const char *slash = memchr(point, '/', binary);

	if (level > 1 || strlen(point) > LONGEST_NAME)
		return xstrdup(point);
	return without_directories(
		!level && slash && point[binary] && point[binary + 1] ? point + binary + 1 : point);
}

static char **make_apart(const char *const *targets, size_t n,
			 char *(*label_at)(const char *target, size_t level))
{
	char **labels = xcalloc(n ? n : 1, sizeof(*labels));
	_cleanup_free_ size_t *level = xcalloc(n ? n : 1, sizeof(*level));
	_cleanup_free_ bool *again = xcalloc(n ? n : 1, sizeof(*again));
	bool any = true;

	for (size_t i = 0; i < n; i++)
		labels[i] = label_at(targets[i], 0);
	while (any) {
		any = false;
		for (size_t i = 0; i < n; i++) {
			for (size_t j = 0; j < n; j++) {
				if (!strcmp(labels[i], labels[j]) &&
				    strcmp(targets[i], targets[j]) != 0)
					again[i] = level[i] < MOST_LEVELS;
			}
		}
		for (size_t i = 0; i < n; i++) {
			if (!again[i])
				continue;
			again[i] = false;
			any = true;
			free(labels[i]);
			labels[i] = label_at(targets[i], ++level[i]);
		}
	}
	return labels;
}

char **labels_make(const char *const *targets, size_t n)
{
	return make_apart(targets, n, target_at);
}

char **labels_of_points(const char *const *points, size_t n)
{
	return make_apart(points, n, point_at);
}

/* Without what stands before the last part of a name, or the last directory of a path. */
static char *tail_of(const char *label, size_t width, const char *ellipsis)
{
	const char *at = label;

	if (strlen(label) > LONGEST_NAME)
		return xstrdup(label);
	while (text_width(at) + 1 > width) {
		const char *part = strstr(at, "::"), *slash = strchr(at, '/');
		const char *next = part ? part + 2 : slash ? slash + 1 : NULL;

		if (!next || !*next)
			break;
		at = next;
	}
	return at == label ? xstrdup(label) : xasprintf("%s%s", ellipsis, at);
}

void labels_fit(char **labels, size_t n, size_t width, const char *ellipsis)
{
	_cleanup_free_ char **tails = xcalloc(n ? n : 1, sizeof(*tails));
	bool unique = true;

	for (size_t i = 0; i < n; i++)
		tails[i] = text_width(labels[i]) > width ? tail_of(labels[i], width, ellipsis)
							 : xstrdup(labels[i]);
	for (size_t i = 0; i < n && unique; i++) {
		for (size_t j = 0; j < i && unique; j++)
			unique = strcmp(tails[i], tails[j]) || !strcmp(labels[i], labels[j]);
	}
	for (size_t i = 0; i < n; i++) {
		if (!unique) {
			free(tails[i]);
			continue;
		}
		free(labels[i]);
		labels[i] = tails[i];
	}
	names_shorten(labels, n, width, ellipsis);
}
