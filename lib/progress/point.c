// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The grammar is small, but C++ names make it ambiguous; the rules that settle it:
 *
 * - A word before the first ':' that names a kind (usdt, tracepoint, syscall, mark) wins over a
 *   binary of that name: "./mark:main" reaches the latter.
 * - "\:" is a literal colon everywhere and never separates.
 * - After BINARY a trailing ":digits" is a line. Otherwise every ':' must belong to a "::";
 *   a single one is a line number gone wrong, and said to be so.
 * - "+OFFSET" is the last '+', unless that '+' belongs to operator+, operator++ or operator+=.
 * - BEGIN and END are separated by a ',' outside of brackets ("f<int, long>"); "\," is literal.
 */
#include "progress/point.h"

#include "progress/point_words.h"

#include <ctype.h>

static const char point_forms[] =
	"a point is BINARY:FUNCTION[+OFFSET], BINARY:FILE:LINE, usdt:BINARY:PROVIDER:NAME, "
	"tracepoint:GROUP:NAME[:COMM], syscall:NAME[:COMM] or mark:NAME";

/* A ':' that is neither escaped nor half of a "::". */
static const char *find_single_colon(const char *s)
{
	while ((s = find_colon(s))) {
		if (s[1] != ':')
			return s;
		s += 2;
	}
	return NULL;
}

static bool ends_in_operator(const char *s, size_t n)
{
	static const char word[] = "operator";
	size_t w = sizeof(word) - 1;

	return n >= w && !memcmp(s + n - w, word, w) &&
	       (n == w || (!isalnum((unsigned char)s[n - w - 1]) && s[n - w - 1] != '_'));
}

/* The '+' that begins an offset, or NULL. */
static const char *find_offset(const char *function)
{
	const char *plus = strrchr(function, '+');

	if (!plus)
		return NULL;
	if (ends_in_operator(function, plus - function))
		return NULL; /* operator+, operator+= */
	if (plus > function && plus[-1] == '+' && (!plus[1] || plus[1] == '(') &&
	    ends_in_operator(function, plus - 1 - function))
		return NULL; /* operator++ */
	return plus;
}

static int parse_offset(const char *text, const char *spec, uint64_t *ret, struct error *err)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *digits = hex ? text + 2 : text;
	size_t n = strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789");

	if (!n || digits[n])
		return error_set(err, EINVAL,
				 "'%s': offset '%s' is not a number: write it decimal or as 0x..., "
				 "for example BINARY:FUNCTION+16 or BINARY:FUNCTION+0x10",
				 spec, text);
	errno = 0;
	*ret = strtoull(digits, NULL, hex ? 16 : 10);
	if (errno)
		return error_set(err, EINVAL, "'%s': offset '%s' is too large", spec, text);
	return 0;
}

static int parse_file_line(const char *rest, const char *colon, struct point *ret,
			   struct error *err)
{
	ret->kind = POINT_LINE;
	if (colon == rest)
		return error_set(err, EINVAL, "'%s': FILE is empty: write BINARY:FILE:LINE",
				 ret->spec);
	if (colon[-1] == ':' && (colon - rest < 2 || colon[-2] != '\\'))
		return error_set(err, EINVAL,
				 "'%s': '%s' is neither a function nor FILE:LINE: one ':' stands "
				 "between FILE and LINE",
				 ret->spec, rest);
	ret->name = read_source_path(rest, colon - rest);
	return read_line_number(colon + 1, ret->spec, "BINARY:FILE:LINE", &ret->line, err);
}

static int parse_function(const char *rest, struct point *ret, struct error *err)
{
	const char *plus, *single = find_single_colon(rest);

	ret->kind = POINT_FUNCTION;
	if (!*rest)
		return error_set(err, EINVAL,
				 "'%s': nothing follows BINARY: write BINARY:FUNCTION or "
				 "BINARY:FILE:LINE",
				 ret->spec);
	if (single)
		return error_set(err, EINVAL,
				 "'%s': '%s' after FILE is not a line number: write "
				 "BINARY:FILE:LINE (a literal ':' is written '\\:')",
				 ret->spec, single + 1);
	if (is_digits(rest))
		return error_set(err, EINVAL, "'%s': a line needs its binary too: write BINARY:%s",
				 ret->spec, ret->spec);
	plus = find_offset(rest);
	if (plus == rest)
		return error_set(err, EINVAL,
				 "'%s': no FUNCTION before '+': write BINARY:FUNCTION+OFFSET",
				 ret->spec);
	if (plus) {
		int r = parse_offset(plus + 1, ret->spec, &ret->offset, err);

		if (r)
			return r;
	}
	ret->function = unescape_colons(rest, plus ? (size_t)(plus - rest) : strlen(rest));
	return 0;
}

static int parse_in_binary(struct point *ret, struct error *err)
{
	const char *colon = find_colon(ret->spec), *rest, *last;

	if (!colon)
		return error_set(err, EINVAL, "'%s': there is no ':' in it; %s", ret->spec,
				 point_forms);
	if (colon == ret->spec)
		return error_set(err, EINVAL,
				 "'%s': BINARY is empty: write a path, or a name in PATH, before "
				 "the first ':'",
				 ret->spec);
	ret->binary = unescape_colons(ret->spec, colon - ret->spec);
	rest = colon + 1;
	last = find_last_colon(rest);
	if (last && is_digits(last + 1))
		return parse_file_line(rest, last, ret, err);
	return parse_function(rest, ret, err);
}

static int parse_usdt(const char *rest, struct point *ret, struct error *err)
{
	static const char form[] = "usdt:BINARY:PROVIDER:NAME";
	const char *provider = find_colon(rest), *name;

	ret->kind = POINT_USDT;
	name = provider ? find_colon(provider + 1) : NULL;
	if (!name)
		return error_set(err, EINVAL, "'%s': %s is missing: write %s", ret->spec,
				 provider ? "NAME" : "PROVIDER", form);
	ret->binary = unescape_colons(rest, provider - rest);
	ret->function = unescape_colons(provider + 1, name - provider - 1);
	ret->name = unescape_colons(name + 1, strlen(name + 1));
	if (!*ret->binary || !*ret->function || !*ret->name)
		return error_set(err, EINVAL, "'%s': %s is empty: write %s", ret->spec,
				 !*ret->binary	   ? "BINARY"
				 : !*ret->function ? "PROVIDER"
						   : "NAME",
				 form);
	if (find_colon(name + 1))
		return error_set(err, EINVAL,
				 "'%s': '%s' follows NAME: write %s (a ':' in BINARY is written "
				 "'\\:')",
				 ret->spec, find_colon(name + 1), form);
	return 0;
}

static int parse_comm(const char *text, const char *form, struct point *ret, struct error *err)
{
	ret->comm = unescape_colons(text, strlen(text));
	if (!*ret->comm)
		return error_set(err, EINVAL,
				 "'%s': COMM is empty: write %s, without the last ':' for any "
				 "command",
				 ret->spec, form);
	if (strlen(ret->comm) > COMM_MAX)
		return error_set(err, EINVAL,
				 "'%s': COMM '%s' is longer than the %d characters the kernel "
				 "keeps: write '%.*s'",
				 ret->spec, ret->comm, COMM_MAX, COMM_MAX, ret->comm);
	return 0;
}

static int parse_tracepoint(const char *rest, struct point *ret, struct error *err)
{
	static const char form[] = "tracepoint:GROUP:NAME[:COMM]";
	const char *name = find_colon(rest), *comm;

	ret->kind = POINT_TRACEPOINT;
	if (!name)
		return error_set(err, EINVAL,
				 "'%s': NAME is missing: write %s, for example "
				 "tracepoint:block:block_rq_complete",
				 ret->spec, form);
	comm = find_colon(name + 1);
	ret->function = xstrndup(rest, name - rest);
	ret->name = comm ? xstrndup(name + 1, comm - name - 1) : xstrdup(name + 1);
	if (!is_identifier(ret->function, "-"))
		return error_set(err, EINVAL, "'%s': GROUP '%s' is not a tracepoint group: %s",
				 ret->spec, ret->function, form);
	if (!is_identifier(ret->name, "-"))
		return error_set(err, EINVAL, "'%s': NAME '%s' is not a tracepoint: %s", ret->spec,
				 ret->name, form);
	return comm ? parse_comm(comm + 1, form, ret, err) : 0;
}

static int parse_syscall(const char *rest, struct point *ret, struct error *err)
{
	static const char form[] = "syscall:NAME[:COMM]";
	const char *comm = find_colon(rest);

	ret->kind = POINT_SYSCALL;
	ret->name = comm ? xstrndup(rest, comm - rest) : xstrdup(rest);
	if (!is_identifier(ret->name, ""))
		return error_set(err, EINVAL,
				 "'%s': '%s' is not a system call's name: write %s, for example "
				 "syscall:fsync",
				 ret->spec, ret->name, form);
	return comm ? parse_comm(comm + 1, form, ret, err) : 0;
}

static int parse_mark(const char *rest, struct point *ret, struct error *err)
{
	ret->kind = POINT_MARK;
	ret->name = unescape_colons(rest, strlen(rest));
	if (!*ret->name)
		return error_set(err, EINVAL,
				 "'%s': NAME is empty: write mark:NAME with the name given to "
				 "SCOZ_PROGRESS_NAMED(), SCOZ_BEGIN() or SCOZ_END()",
				 ret->spec);
	return 0;
}

static const struct {
	const char *prefix;
	int (*parse)(const char *rest, struct point *ret, struct error *err);
} point_kinds[] = {
	{ "usdt:", parse_usdt },
	{ "tracepoint:", parse_tracepoint },
	{ "syscall:", parse_syscall },
	{ "mark:", parse_mark },
};

static int parse_point(struct point *ret, struct error *err)
{
	if (!*ret->spec)
		return error_set(err, EINVAL, "the progress point is empty; %s", point_forms);
	for (size_t i = 0; i < ARRAY_SIZE(point_kinds); i++) {
		const char *rest = text_after(ret->spec, point_kinds[i].prefix);

		if (rest)
			return point_kinds[i].parse(rest, ret, err);
	}
	return parse_in_binary(ret, err);
}

int point_parse(const char *text, struct point *ret, struct error *err)
{
	int r;

	*ret = (struct point){ .spec = xstrdup(text) };
	r = parse_point(ret, err);
	if (r) {
		error_prefix(err, "progress point");
		point_free(ret);
	}
	return r;
}

void point_free(struct point *p)
{
	free(p->spec);
	free(p->binary);
	free(p->function);
	free(p->name);
	free(p->comm);
	*p = (struct point){ 0 };
}

char *point_text_in(const struct point *p, const char *binary)
{
	size_t n = p->kind == POINT_USDT ? strlen("usdt:") : 0;
	_cleanup_free_ char *escaped = escape_colons(binary);

	return xasprintf("%.*s%s%s", (int)n, p->spec, escaped, find_colon(p->spec + n));
}

/* The '=' that ends NAME, or NULL: in "prog:operator==" or "/a=b/prog:f" there is no NAME. */
static const char *find_name_end(const char *text)
{
	const char *equals = text + strcspn(text, "=:/");

	return *equals == '=' ? equals : NULL;
}

int progress_spec_parse(const char *text, struct progress_spec *ret, struct error *err)
{
	const char *equals = find_name_end(text);
	int r;

	*ret = (struct progress_spec){ 0 };
	if (equals == text)
		return error_set(err, EINVAL,
				 "progress point '%s': NAME is empty: write NAME=POINT or POINT",
				 text);
	r = point_parse(equals ? equals + 1 : text, &ret->begin, err);
	if (r)
		return r;
	ret->name = equals ? xstrndup(text, equals - text) : xstrdup(text);
	return 0;
}

#define MAX_COMMAS 64

/* The commas that may separate BEGIN from END: not escaped and outside of brackets. */
static size_t find_commas(const char *s, const char **commas)
{
	size_t n = 0;
	int depth = 0;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] == ',')
			s++;
		else if (strchr("<([{", *s))
			depth++;
		else if (strchr(">)]}", *s) && depth)
			depth--;
		else if (*s == ',' && !depth && n < MAX_COMMAS)
			commas[n++] = s;
	}
	return n;
}

/* Splits at @comma and parses both sides; on failure nothing is left to free. */
static int parse_ends(const char *text, const char *comma, struct point *begin, struct point *end,
		      struct error *err)
{
	_cleanup_free_ char *b = unescape(text, comma - text, ',');
	_cleanup_free_ char *e = unescape(comma + 1, strlen(comma + 1), ',');
	int r = point_parse(b, begin, err);

	if (r) {
		error_prefix(err, "BEGIN");
		return r;
	}
	r = point_parse(e, end, err);
	if (r) {
		error_prefix(err, "END");
		point_free(begin);
	}
	return r;
}

int latency_spec_parse(const char *text, struct progress_spec *ret, struct error *err)
{
	static const char form[] = "write NAME=BEGIN,END with a point at each end, for example "
				   "request=prog:accept_request,prog:send_reply";
	const char *equals = find_name_end(text), *commas[MAX_COMMAS], *found = NULL;
	size_t n;
	int r;

	*ret = (struct progress_spec){ 0 };
	if (!equals || equals == text)
		return error_set(err, EINVAL, "latency '%s': it has no NAME: %s", text, form);
	n = find_commas(equals + 1, commas);
	if (!n)
		return error_set(err, EINVAL, "latency '%s': there is no ',' before END: %s", text,
				 form);
	/* Only one of several commas may separate: the one that leaves a point on each side. */
	for (size_t i = 0; n > 1 && i < n; i++) {
		if (parse_ends(equals + 1, commas[i], &ret->begin, &ret->end, NULL))
			continue;
		point_free(&ret->begin);
		point_free(&ret->end);
		if (found)
			return error_set(err, EINVAL,
					 "latency '%s': it is not clear which ',' ends BEGIN: "
					 "write the others as '\\,'",
					 text);
		found = commas[i];
	}
	r = parse_ends(equals + 1, found ? found : commas[0], &ret->begin, &ret->end, err);
	if (r) {
		error_prefix(err, "latency '%s'", text);
		return r;
	}
	ret->latency = true;
	ret->name = xstrndup(text, equals - text);
	return 0;
}

void progress_spec_free(struct progress_spec *s)
{
	free(s->name);
	point_free(&s->begin);
	point_free(&s->end);
	*s = (struct progress_spec){ 0 };
}
