// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text_fit.h"

size_t utf8_decode(const char *s, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)s;
	size_t len;

	if (*p < 0x80) {
		*code = *p;
		return 1;
	}
	if (*p < 0xc2 || *p > 0xf4)
		return 0;
	len = *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
	*code = *p & (0x7f >> len);
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (p[i] & 0x3f);
	}
	if (*code < least[len] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
		return 0;
	return len;
}

static bool is_harmless(uint32_t c)
{
	if (c < 0x20 || (c >= 0x7f && c < 0xa0) || (c & 0xfffe) == 0xfffe)
		return false;
	/* Marks, separators, embeddings, overrides and isolates change what stands elsewhere. */
	return !(c >= 0x200b && c <= 0x200f) && !(c >= 0x2028 && c <= 0x202e) &&
	       !(c >= 0x2060 && c <= 0x206f) && c != 0xfeff;
}

char *text_clean(const char *s, const char *replacement)
{
	size_t room = strlen(replacement), n = 0;
	char *out = xmalloc(strlen(s) * (room > 4 ? room : 4) + 1);

	while (*s) {
		uint32_t code;
		size_t len = utf8_decode(s, &code);

		if (len && is_harmless(code)) {
			memcpy(out + n, s, len);
			n += len;
		} else {
			memcpy(out + n, replacement, room);
			n += room;
		}
		s += len ? len : 1;
	}
	out[n] = '\0';
	return out;
}
