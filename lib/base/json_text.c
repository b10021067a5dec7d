// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/json_text.h"

#include "base/base.h"

/* jansson's own answer to no memory cannot be told from text that is no JSON. */
static void __attribute__((constructor)) end_without_memory(void)
{
	json_set_alloc_funcs(xmalloc, free);
}

/* Length of the valid UTF-8 sequence at @s, 0 when there is none. */
static size_t utf8_sequence(const char *s)
{
	unsigned char c = *s;
	size_t len = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
	json_t *j;

	if (strnlen(s, len) < len)
		return 0;
	j = json_stringn(s, len); /* checks the encoding */
	json_decref(j);
	return j ? len : 0;
}

json_t *json_text(const char *s)
{
	json_t *j = json_string(s ? s : "");
	_cleanup_free_ char *copy = NULL;
	char *out;

	if (j)
		return j;
	out = copy = xmalloc(strlen(s) * 3 + 1);
	while (*s) {
		size_t len = utf8_sequence(s);

		if (len) {
			memcpy(out, s, len);
			out += len;
			s += len;
		} else {
			memcpy(out, "\xef\xbf\xbd", 3);
			out += 3;
			s++;
		}
	}
	*out = '\0';
	return json_string(copy);
}
