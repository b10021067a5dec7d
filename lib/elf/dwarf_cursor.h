/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading bytes that are not to be trusted. A cursor never leaves its section: reading past the
 * end yields zeros and sets `bad`, which loops look at.
 */
#ifndef SCOZ_ELF_DWARF_CURSOR_H
#define SCOZ_ELF_DWARF_CURSOR_H

#include "base/base.h"

struct section {
	const uint8_t *p;
	size_t n;
};

/* That of @n bytes at @p; of a section that is not there (NULL), an empty one. */
static inline struct section section_of(const void *p, size_t n)
{
	return p ? (struct section){ p, n } : (struct section){ (const uint8_t *)"", 0 };
}

/* What is wrong, with what was found; until the next one of this thread. */
const char *dwarf_why(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct cursor {
	const uint8_t *p, *end;
	bool bad;
};

static inline uint64_t cursor_get(struct cursor *c, size_t n)
{
	uint64_t v = 0;

	if ((size_t)(c->end - c->p) < n) {
		c->bad = true;
		c->p = c->end;
		return 0;
	}
	switch (n) {
	case 1:
		v = *c->p;
		break;
	case 2: {
		uint16_t x;
		memcpy(&x, c->p, 2);
		v = x;
		break;
	}
	case 3:
		if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
			v = c->p[0] | c->p[1] << 8 | c->p[2] << 16;
		else
			v = c->p[2] | c->p[1] << 8 | c->p[0] << 16;
		break;
	case 4: {
		uint32_t x;
		memcpy(&x, c->p, 4);
		v = x;
		break;
	}
	case 8:
		memcpy(&v, c->p, 8);
		break;
	default:
		c->bad = true;
	}
	c->p += n;
	return v;
}

static inline void cursor_skip(struct cursor *c, uint64_t n)
{
	if ((uint64_t)(c->end - c->p) < n) {
		c->bad = true;
		c->p = c->end;
		return;
	}
	c->p += n;
}

static inline uint64_t cursor_uleb(struct cursor *c)
{
	uint64_t v = 0;

	for (unsigned int shift = 0; c->p < c->end; shift += 7) {
		uint8_t byte = *c->p++;

		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	c->bad = true;
	return 0;
}

static inline int64_t cursor_sleb(struct cursor *c)
{
	uint64_t v = 0;
	unsigned int shift = 0;

	while (c->p < c->end) {
		uint8_t byte = *c->p++;

		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80)) {
			if (byte & 0x40 && shift < 64)
				v |= ~0ULL << shift;
			return v;
		}
	}
	c->bad = true;
	return 0;
}

/* A string that ends within the cursor's bytes, else "" and bad. */
static inline const char *cursor_string(struct cursor *c)
{
	const uint8_t *start = c->p, *nul = memchr(start, 0, c->end - start);

	if (!nul) {
		c->bad = true;
		c->p = c->end;
		return "";
	}
	c->p = nul + 1;
	return (const char *)start;
}

/* The string at @off, which ends within the section, or NULL. */
static inline const char *section_string(const struct section *s, uint64_t off)
{
	if (off >= s->n || !memchr(s->p + off, 0, s->n - off))
		return NULL;
	return (const char *)s->p + off;
}

#endif
