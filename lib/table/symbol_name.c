// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names for people. Debug information has them; this is for what comes from a symbol table: the
 * compiler's suffixes go (foo.isra.0 is foo to whoever wrote it), and names of C++ and Rust are
 * demangled.
 */
#include "table/function_name.h"
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

bool symbol_is_name(const char *symbol)
{
	return !(symbol[0] == '_' && (symbol[1] == 'Z' || symbol[1] == 'R')) &&
	       !symbol[strcspn(symbol, ".@")];
}

char *symbol_display_name(const char *symbol, bool *cold, uint64_t *work_left)
{
	char *name = xstrdup(symbol), *shown;
	char *at = strchr(name, '@');

	*cold = false;
	if (at && at != name)
		*at = '\0'; /* a version, as in memcpy@@GLIBC_2.14 */
	while (symbol_strip_suffix(name, cold))
		;
	shown = function_shown_name(name, work_left);
	if (!shown)
		return name;
	free(name);
	return shown;
}
