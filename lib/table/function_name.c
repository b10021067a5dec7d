// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names come from three places: debug information (qualified, without parameters), symbols
 * demangled by libiberty (with parameters, and for templates with the type returned), and people.
 * They are compared without spaces, whole or from a "::" on that is outside of brackets, the
 * demangled one also without its parameters, and without all template arguments.
 */
#include "table/function_name.h"
#include "table/table_build.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>

/*
 * A symbol of some hundred bytes can stand for any length of text: what its substitutions refer to
 * is written out each time. libiberty itself demangles no more than 1 KiB.
 */
#define MAX_DEMANGLED (16 << 10)
#define MAX_NODES     (16 << 10) /* of the tree that it makes, written out likewise */
#define MAX_SYMBOL    1024
#define MAX_GUESSES   10

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80);
}

/* Does "operator" stand at @s, as a word? Its symbol (<<, (), ->) is then no bracket. */
static size_t operator_length(const char *all, const char *s)
{
	static const char word[] = "operator";
	size_t n = sizeof(word) - 1;

	if (strncmp(s, word, n) || (s > all && is_word(s[-1])) || is_word(s[n]))
		return 0;
	if (!strncmp(s + n, "()", 2) || !strncmp(s + n, "[]", 2))
		return n + 2;
	while (s[n] && strchr("<>=-!+*/%^&|~,", s[n]))
		n++;
	return n;
}

/* Depth in brackets behind the character at @s. */
static int step_depth(const char *s, int depth)
{
	if (strchr("<([{", *s))
		return depth + 1;
	if (strchr(">)]}", *s) && depth)
		return depth - 1;
	return depth;
}

/* Of that which opens at @s; the end of the text: there is none. */
static const char *closing_bracket(const char *s)
{
	int depth = 0;

	do
		depth = step_depth(s, depth);
	while (depth && *++s);
	return s;
}

/*
 * Drops the spaces but those between two words, the "::" before template arguments (Rust), and the
 * brackets around the type that a method of Rust belongs to.
 */
static char *without_spaces(const char *s)
{
	char *out = xmalloc(strlen(s) + 1), *p = out;

	if (*s == '<') {
		const char *end = closing_bracket(s);

		if (*end && !strncmp(end + 1, "::", 2) && !memmem(s, end - s, " as ", 4)) {
			_cleanup_free_ char *joined =
				xasprintf("%.*s%s", (int)(end - s - 1), s + 1, end + 1);

			free(out);
			return without_spaces(joined);
		}
	}
	for (; *s; s++) {
		if (*s == ' ' && !(p > out && is_word(p[-1]) && is_word(s[1])))
			continue;
		if (!strncmp(s, "::<", 3))
			s += 2;
		*p++ = *s;
	}
	*p = '\0';
	return out;
}

static size_t without_qualifiers(const char *s, size_t n)
{
	static const char *const kinds[] = { "const", "volatile", "&&", "&", "noexcept" };
	bool again = true;

	while (again) {
		again = false;
		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
			size_t k = strlen(kinds[i]);

			if (n > k && !memcmp(s + n - k, kinds[i], k) &&
			    (!is_word(kinds[i][0]) || s[n - k - 1] == ')' || s[n - k - 1] == ' ')) {
				n -= k;
				again = true;
			}
		}
		while (n && s[n - 1] == ' ')
			n--;
	}
	return n;
}

/* Where the parameters begin, which are at the end; strlen() when there are none. */
static size_t parameters_at(const char *s)
{
	size_t n = without_qualifiers(s, strlen(s)), i = n;
	int depth = 0;

	if (!n || s[n - 1] != ')' || (n >= 10 && !strncmp(s + n - 10, "operator()", 10)))
		return strlen(s);
	while (i > 0) {
		i--;
		depth += (s[i] == ')') - (s[i] == '(');
		if (!depth)
			break;
	}
	/* "(anonymous namespace)" ends no function's name. */
	return i ? i : strlen(s);
}

/* Where the name begins: behind the type that a demangled template returns. */
static size_t name_at(const char *s, size_t end)
{
	size_t at = 0, op;
	int depth = 0;

	for (size_t i = 0; i < end; i++) {
		op = depth ? 0 : operator_length(s, s + i);
		if (op)
			break; /* "operator bool" has a space of its own */
		if (s[i] == ' ' && !depth)
			at = i + 1;
		depth = step_depth(s + i, depth);
	}
	return at;
}

static char *without_arguments(const char *s)
{
	char *out = xmalloc(strlen(s) + 1), *p = out;
	int depth = 0;

	for (size_t i = 0; s[i]; i++) {
		size_t op = depth ? 0 : operator_length(s, s + i);

		if (op) {
			memcpy(p, s + i, op);
			p += op;
			i += op - 1;
			continue;
		}
		if (s[i] == '<') {
			depth++;
		} else if (s[i] == '>' && depth) {
			depth--;
		} else if (!depth) {
			*p++ = s[i];
		}
	}
	*p = '\0';
	return out;
}

void function_pattern_init(struct function_pattern *p, const char *wanted)
{
	size_t end, from, to = 0;
	_cleanup_free_ char *bare = NULL;

	*p = (struct function_pattern){ .wanted = wanted, .plain = without_spaces(wanted) };
	end = parameters_at(p->plain);
	p->parameters = end < strlen(p->plain);
	bare = xstrndup(p->plain, end);
	p->arguments = false;
	{
		_cleanup_free_ char *stripped = without_arguments(bare);

		p->arguments = strcmp(stripped, bare) != 0;
		from = to = strlen(stripped);
		while (from && is_word(stripped[from - 1]))
			from--;
		p->key = xstrndup(stripped + from, to - from);
		/* Operators have symbols of their own, closures numbers. */
		if (strstr(stripped, "operator") || !*p->key || isdigit((unsigned char)*p->key))
			*p->key = '\0';
	}
}

void function_pattern_deinit(struct function_pattern *p)
{
	free(p->plain);
	free(p->key);
}

static const char *raw_symbol(const char *name, const char *linkage)
{
	return *linkage ? linkage : name;
}

char *function_symbol(const char *name, const char *linkage)
{
	char *symbol = xstrdup(raw_symbol(name, linkage));
	bool cold;

	while (symbol_strip_suffix(symbol, &cold))
		;
	return symbol;
}

struct demangled {
	char text[MAX_DEMANGLED];
	size_t len;
	unsigned int nodes; /* of what they are written from */
	jmp_buf too_long;   /* libiberty would go on */
};

static void add_demangled(const char *part, size_t len, void *arg)
{
	struct demangled *d = arg;

	if (len >= sizeof(d->text) - d->len)
		longjmp(d->too_long, 1);
	if (len) /* libiberty's reader of Rust names has no text that is empty */
		memcpy(d->text + d->len, part, len);
	d->len += len;
}

static bool demangle_rust(const char *symbol, struct demangled *d)
{
	if (setjmp(d->too_long))
		return false;
	return rust_demangle_callback(symbol, DMGL_PARAMS | DMGL_ANSI, add_demangled, d);
}

static bool print_tree(struct demangle_component *tree, int options, struct demangled *d)
{
	if (setjmp(d->too_long))
		return false;
	return cplus_demangle_print_callback(options, tree, add_demangled, d);
}

/* Looking for what a pack expansion expands reads the tree and writes nothing. */
static bool is_small(const struct demangle_component *c, unsigned int *n)
{
	if (!c)
		return true;
	if (++*n > MAX_NODES)
		return false;
	switch (c->type) {
	case DEMANGLE_COMPONENT_NAME:
	case DEMANGLE_COMPONENT_OPERATOR:
	case DEMANGLE_COMPONENT_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_EXTENDED_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_SUB_STD:
	case DEMANGLE_COMPONENT_CHARACTER:
	case DEMANGLE_COMPONENT_NUMBER:
	case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
	case DEMANGLE_COMPONENT_FUNCTION_PARAM:
	case DEMANGLE_COMPONENT_UNNAMED_TYPE:
		return true;
	case DEMANGLE_COMPONENT_EXTENDED_OPERATOR:
		return is_small(c->u.s_extended_operator.name, n);
	case DEMANGLE_COMPONENT_FIXED_TYPE:
		return is_small(c->u.s_fixed.length, n);
	case DEMANGLE_COMPONENT_CTOR:
		return is_small(c->u.s_ctor.name, n);
	case DEMANGLE_COMPONENT_DTOR:
		return is_small(c->u.s_dtor.name, n);
	case DEMANGLE_COMPONENT_LAMBDA:
	case DEMANGLE_COMPONENT_DEFAULT_ARG:
		return is_small(c->u.s_unary_num.sub, n);
	default:
		return is_small(c->u.s_binary.left, n) && is_small(c->u.s_binary.right, n);
	}
}

/*
 * Whose arguments follow on a parameter in the type of a conversion operator, libiberty finds out
 * by reading them twice; and those in there four times.
 */
static bool is_ambiguous(const char *symbol)
{
	unsigned int n = 0;

	if (!strstr(symbol, "cv"))
		return false;
	for (const char *p = symbol; (p = strchr(p, 'T')) != NULL;) {
		p++;
		p += strspn(p, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
		n += p[0] == '_' && p[1] == 'I';
	}
	return n > MAX_GUESSES;
}

static bool demangle_cplus(const char *symbol, int options, struct demangled *d)
{
	struct demangle_component *tree;
	void *mem = NULL;
	bool done;

	if (strlen(symbol) > MAX_SYMBOL || is_ambiguous(symbol))
		return false;
	tree = cplus_demangle_v3_components(symbol, options, &mem);
	done = tree && is_small(tree, &d->nodes) && print_tree(tree, options, d);
	free(mem);
	return done;
}

static char *demangle(const char *name, const char *linkage)
{
	_cleanup_free_ char *symbol = NULL;
	struct demangled d;

	if (raw_symbol(name, linkage)[0] != '_')
		return NULL;
	symbol = function_symbol(name, linkage);
	d.len = d.nodes = 0;
	if (demangle_rust(symbol, &d))
		return xstrndup(d.text, d.len);
	d.len = 0;
	return demangle_cplus(symbol, DMGL_PARAMS | DMGL_ANSI, &d) ? xstrndup(d.text, d.len) : NULL;
}

/* Behind the parameters at @s and what follows on them, when the name goes on with "::"; else @s.
 */
static const char *skip_parameters(const char *s)
{
	const char *end;
	size_t n;

	if (!strncmp(s, "(anonymous namespace)", 21))
		return s;
	end = closing_bracket(s);
	if (!*end)
		return s;
	end++;
	n = strcspn(end, ":");
	return !strncmp(end + n, "::", 2) && !without_qualifiers(end, n) ? end + n : s;
}

/*
 * @d without the parameters of functions that enclose others and without ABI tags, which debug
 * information has not either. @outer: bytes of what encloses it.
 */
static char *without_details(struct demangled *d, size_t *outer)
{
	char *out = xmalloc(d->len + 1);
	size_t n = 0, op;
	int depth = 0;

	*outer = 0;
	d->text[d->len] = '\0';
	for (const char *s = d->text; *s;) {
		if (!strncmp(s, "[abi:", 5)) {
			s += strcspn(s, "]");
			s += *s == ']';
			continue;
		}
		if (!depth && *s == '(')
			s = skip_parameters(s);
		if (!depth && !strncmp(s, "::", 2))
			*outer = n;
		op = depth ? 0 : operator_length(d->text, s);
		if (!op)
			depth = step_depth(s, depth);
		for (op = op ? op : 1; op; op--)
			out[n++] = *s++;
	}
	out[n] = '\0';
	return out;
}

char *function_outer_name(const char *linkage)
{
	_cleanup_free_ char *symbol = function_symbol("", linkage), *bare = NULL;
	struct demangled d;
	size_t outer;

	d.len = d.nodes = 0;
	if (!demangle_cplus(symbol, DMGL_ANSI, &d))
		return NULL;
	bare = without_details(&d, &outer);
	return outer ? xstrndup(bare, outer) : NULL;
}

char *function_shown_name(const char *symbol, uint64_t *work_left)
{
	struct demangled d;
	uint64_t work;
	size_t outer;
	bool done;

	if (strncmp(symbol, "_Z", 2) && strncmp(symbol, "_R", 2))
		return NULL;
	if (!*work_left)
		return NULL;
	d.len = d.nodes = 0;
	/* Of the older scheme, which looks like C++, a hash is the last part. */
	done = (symbol[1] == 'R' || strstr(symbol, "17h")) && demangle_rust(symbol, &d);
	work = d.len;
	if (!done) {
		d.len = 0;
		done = demangle_cplus(symbol, DMGL_ANSI, &d);
		work += d.len + d.nodes;
	}
	work += strlen(symbol);
	*work_left -= work < *work_left ? work : *work_left;
	if (!done)
		return NULL;
	if (!memchr(d.text, '(', d.len) && !memchr(d.text, '[', d.len)) /* most names */
		return xstrndup(d.text, d.len);
	return without_details(&d, &outer);
}

char *function_full_name(const char *name, const char *linkage)
{
	char *full = demangle(name, linkage);

	return full ? full : xstrdup(name);
}

/* Whole, or from a "::" outside of brackets on. */
static enum function_match compare(const char *wanted, const char *name)
{
	_cleanup_free_ char *plain = without_spaces(name);
	size_t n = strlen(plain), w = strlen(wanted);
	int depth = 0;

	if (n < w || strcmp(plain + n - w, wanted))
		return FUNCTION_NO;
	if (n == w)
		return FUNCTION_EXACT;
	if (n < w + 3 || strncmp(plain + n - w - 2, "::", 2))
		return FUNCTION_NO;
	for (size_t i = 0; i < n - w; i++)
		depth = step_depth(plain + i, depth);
	return depth ? FUNCTION_NO : FUNCTION_UNQUALIFIED;
}

static enum function_match better(enum function_match a, enum function_match b)
{
	return a > b ? a : b;
}

/* Where the template arguments begin with which a name ends; strlen() when it does not. */
static size_t last_arguments_at(const char *name)
{
	size_t n = strlen(name), i = n;
	int depth = 0;

	if (!n || name[n - 1] != '>' || strstr(name, "operator"))
		return n;
	while (i > 0) {
		i--;
		depth += (name[i] == '>') - (name[i] == '<');
		if (!depth)
			break;
	}
	return i && !depth ? i : n;
}

/* @name without parameters. */
static enum function_match compare_bare(const struct function_pattern *p, const char *name)
{
	_cleanup_free_ char *stripped = NULL;
	enum function_match m = compare(p->plain, name);

	if (m == FUNCTION_EXACT)
		return m;
	if (p->arguments) {
		stripped = xstrndup(name, last_arguments_at(name));
		return better(m, compare(p->plain, stripped));
	}
	stripped = without_arguments(name);
	return better(m, compare(p->plain, stripped));
}

enum function_match function_pattern_match(const struct function_pattern *p, const char *name,
					   const char *linkage)
{
	_cleanup_free_ char *full = NULL, *bare = NULL;
	const char *raw = raw_symbol(name, linkage);
	enum function_match m = FUNCTION_NO;
	size_t from, end;

	if (!*p->plain)
		return FUNCTION_NO;
	if (!strcmp(linkage, p->wanted) || !strcmp(name, p->wanted))
		return FUNCTION_EXACT;
	if (*p->key && !strstr(name, p->key) && !strstr(raw, p->key))
		return FUNCTION_NO;
	if (!p->parameters)
		m = compare_bare(p, name);
	if (m == FUNCTION_EXACT || raw[0] != '_')
		return m;
	full = demangle(name, linkage);
	if (!full)
		return m;
	end = parameters_at(full);
	from = name_at(full, end);
	if (p->parameters)
		return better(compare(p->plain, full), compare(p->plain, full + from));
	bare = xstrndup(full + from, end - from);
	return better(m, compare_bare(p, bare));
}
