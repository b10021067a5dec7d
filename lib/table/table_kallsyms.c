// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/kallsyms.h"
#include "table/table_build.h"

/* Between modules, and after the last symbol, the distance to the next one says nothing. */
#define MAX_SIZE (1 << 20)

static int compare_ksym(const void *pa, const void *pb)
{
	const struct kallsym *a = pa, *b = pb;

	return a->address != b->address ? (a->address < b->address ? -1 : 1)
					: strcmp(a->name, b->name);
}

static bool is_text(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* The text is cut into strings. */
static struct kallsym *parse(char *text, size_t *n)
{
	struct kallsym *list = NULL, sym;
	size_t cap = 0;

	*n = 0;
	for (char *line = text, *next; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (!kallsyms_parse(line, &sym))
			continue;
		array_reserve(list, cap, *n + 1);
		list[(*n)++] = sym;
	}
	return list;
}

static int rank(const struct kallsym *s)
{
	int r = s->type == 'T' ? 0 : s->type == 'W' ? 1 : 2;

	/* Marks such as _stext and __entry_text_start share an address with a function. */
	for (const char *p = s->name; *p == '_' && p < s->name + 3; p++)
		r += 3;
	return strchr(s->name, '.') ? r + 3 : r;
}

struct maptable *table_of_kallsyms(int fd, const char *path, struct error *err)
{
	_cleanup_free_ char *text = read_fd(fd, NULL);
	_cleanup_free_ struct kallsym *sym = NULL;
	struct table_identity id = { 0 };
	struct table_builder b;
	struct maptable *t;
	size_t n, n_text = 0, lowest = 0;
	bool visible = false;
	uint64_t stext = 0;

	if (!text) {
		error_set(err, errno, "%s: cannot be read (%s): no kernel functions are known",
			  path, strerror(errno));
		return NULL;
	}
	sym = parse(text, &n);
	sort_array(sym, n, sizeof(*sym), compare_ksym);
	for (size_t i = n; i-- > 0;) {
		visible |= sym[i].address != 0;
		if (sym[i].address && is_text(sym[i].type)) {
			n_text++;
			lowest = i;
			if (!strcmp(sym[i].name, "_stext"))
				stext = sym[i].address;
		}
	}
	if (n && !visible) {
		error_set(err, EACCES,
			  "%s shows only zeros, so no kernel functions are known: run as root, or "
			  "\"sysctl kernel.kptr_restrict=1\" and have CAP_SYSLOG "
			  "(kernel.perf_event_paranoid=1 or less may do as well)",
			  path);
		return NULL;
	}
	if (!n_text) {
		error_set(err, ENODATA, "%s lists no functions: the kernel needs CONFIG_KALLSYMS=y",
			  path);
		return NULL;
	}

	builder_init(&b);
	b.code_vaddr = stext ? stext : sym[lowest].address;
	for (size_t i = lowest; i < n; i++) {
		uint64_t end = sym[i].address + MAX_SIZE;

		if (!is_text(sym[i].type))
			continue;
		/* Should modules be far away from the kernel, the kernel matters more. */
		if (stext && stext - sym[i].address > 0x80000000 && stext > sym[i].address)
			continue;
		for (size_t k = i + 1; k < n; k++) {
			if (sym[k].address > sym[i].address) {
				end = sym[k].address < end ? sym[k].address : end;
				break;
			}
		}
		builder_text(&b, sym[i].address, end);
	}
	builder_text_done(&b);
	for (size_t i = lowest; i < n; i++) {
		if (is_text(sym[i].type))
			builder_symbol(&b, sym[i].name, sym[i].address, 0, rank(&sym[i]));
	}
	/* For others to grow where they were. */
	free(sym);
	free(text);
	sym = NULL;
	text = NULL;
	t = builder_finish(&b, MAP_KALLSYMS, &id);
	builder_deinit(&b);
	return t;
}
