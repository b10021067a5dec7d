// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names for people. Debug information has them; this is for what comes from a symbol table: the
 * compiler's suffixes go (foo.isra.0 is foo to whoever wrote it), and of mangled C++ and Rust
 * names those that are only a path of identifiers are spelled out. Templates, operators and the
 * like stay mangled: a full demangler is not worth its size here.
 */
#include "table/table_build.h"

#include <ctype.h>

bool symbol_strip_suffix(char *name, bool *cold)
{
	/* The first two also without a number; without, the others are names: Go's main.clone. */
	static const char *const kinds[] = { "cold",	  "localalias", "part", "isra",
					     "constprop", "lto_priv",	"llvm", "clone" };
	char *end = name + strlen(name), *dot;
	bool number = false;

	/* An optional number, then one of the words. */
	dot = end;
	while (dot > name && dot[-1] != '.')
		dot--;
	if (dot > name + 1 && isdigit((unsigned char)*dot)) {
		for (char *p = dot; *p; p++) {
			if (!isxdigit((unsigned char)*p))
				return false;
		}
		number = true;
		end = --dot;
		while (dot > name && dot[-1] != '.')
			dot--;
	}
	if (dot <= name + 1)
		return false;
	for (size_t i = 0; i < (number ? ARRAY_SIZE(kinds) : 2); i++) {
		if (strlen(kinds[i]) != (size_t)(end - dot) || memcmp(kinds[i], dot, end - dot))
			continue;
		if (i == 0)
			*cold = true;
		dot[-1] = '\0';
		return true;
	}
	return false;
}

/* Rust's older scheme ends a path with 17h and 16 hexadecimal digits. */
static bool is_rust_hash(const char *s, size_t n)
{
	if (n != 17 || s[0] != 'h')
		return false;
	for (size_t i = 1; i < n; i++) {
		if (!isxdigit((unsigned char)s[i]))
			return false;
	}
	return true;
}

static char *demangle_path(const char *symbol)
{
	const char *p = symbol, *last = NULL;
	bool nested;
	size_t len, out = 0, last_len = 0;
	char *ret;

	if (strncmp(p, "_Z", 2))
		return NULL;
	p += 2;
	nested = *p == 'N';
	if (nested) {
		p++;
		while (*p == 'K' || *p == 'V' || *p == 'r')
			p++;
	} else if (*p == 'L') {
		p++;
	}
	len = strlen(symbol);
	ret = xmalloc(2 * len + 8);
	for (;;) {
		size_t n = 0;

		if (nested && *p == 'L')
			p++;
		if (nested && (*p == 'C' || *p == 'D') && isdigit((unsigned char)p[1]) && last) {
			out += sprintf(ret + out, "::%s%.*s", *p == 'D' ? "~" : "", (int)last_len,
				       last);
			p += 2;
			if (*p != 'E')
				goto no;
			return ret;
		}
		if (!isdigit((unsigned char)*p))
			goto no;
		while (isdigit((unsigned char)*p) && n <= len)
			n = n * 10 + (*p++ - '0');
		if (!n || n > strlen(p))
			goto no;
		if (!(nested && p[n] == 'E' && last && is_rust_hash(p, n))) {
			if (n >= 10 && !strncmp(p, "_GLOBAL__N", 10))
				out += sprintf(ret + out, "%s(anonymous namespace)",
					       last ? "::" : "");
			else
				out += sprintf(ret + out, "%s%.*s", last ? "::" : "", (int)n, p);
		}
		last = p;
		last_len = n;
		p += n;
		if (!nested) {
			/* What follows are the parameters; template arguments are not for here. */
			if (*p == 'I')
				goto no;
			return ret;
		}
		if (*p == 'E')
			return ret;
	}
no:
	free(ret);
	return NULL;
}

char *symbol_display_name(const char *symbol, bool *cold)
{
	char *name = xstrdup(symbol), *plain;
	char *at = strchr(name, '@');

	*cold = false;
	if (at && at != name)
		*at = '\0'; /* a version, as in memcpy@@GLIBC_2.14 */
	while (symbol_strip_suffix(name, cold))
		;
	plain = demangle_path(name);
	if (!plain)
		return name;
	free(name);
	return plain;
}
