// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/fuzz/fuzz.h"

#include <elf.h>

static size_t pick(unsigned int *seed, size_t n)
{
	return n ? (size_t)rand_r(seed) % n : 0;
}

/* ---- ELF ---- */

static Elf64_Shdr *some_section(uint8_t *data, size_t size, unsigned int *seed)
{
	Elf64_Ehdr *e = (Elf64_Ehdr *)data;
	Elf64_Shdr *s;
	size_t i;

	if (size < sizeof(*e) || memcmp(e->e_ident, ELFMAG, SELFMAG) ||
	    e->e_ident[EI_CLASS] != ELFCLASS64 || e->e_shentsize != sizeof(*s) || !e->e_shnum ||
	    e->e_shoff % 8 || e->e_shoff > size || e->e_shnum > (size - e->e_shoff) / sizeof(*s))
		return NULL;
	i = pick(seed, e->e_shnum);
	s = (Elf64_Shdr *)(data + e->e_shoff) + i;
	if (s->sh_type == SHT_NOBITS || !s->sh_size || s->sh_offset > size ||
	    s->sh_size > size - s->sh_offset)
		return NULL;
	return s;
}

/* One that grows moves to the end of the file. */
size_t fuzz_mutate_elf(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	Elf64_Shdr *s = NULL;
	size_t n, room;

	if (pick(&seed, 16))
		for (int i = 0; i < 8 && !s; i++)
			s = some_section(data, size, &seed);
	if (!s)
		return LLVMFuzzerMutate(data, size, max);
	n = s->sh_size;
	if (pick(&seed, 4) == 0 && size + n + 64 < max) {
		room = n + 64;
		memmove(data + size, data + s->sh_offset, n);
		s->sh_offset = size;
		s->sh_size = LLVMFuzzerMutate(data + size, n, room);
		return size + s->sh_size;
	}
	/* What it became shorter by stays behind it. */
	s->sh_size = LLVMFuzzerMutate(data + s->sh_offset, n, n);
	return size;
}

/* ---- lines ---- */

struct line {
	size_t at, n; /* with its newline */
};

static struct line some_line(const uint8_t *data, size_t size, unsigned int *seed)
{
	size_t at = pick(seed, size), end;
	const uint8_t *nl;

	while (at && data[at - 1] != '\n')
		at--;
	nl = memchr(data + at, '\n', size - at);
	end = nl ? (size_t)(nl - data) + 1 : size;
	return (struct line){ at, end - at };
}

/* Replaces @n bytes at @at by @n_by; returns the new size, or the old one when that is too much. */
static size_t replace(uint8_t *data, size_t size, size_t max, size_t at, size_t n, const void *by,
		      size_t n_by)
{
	if (size - n + n_by > max)
		return size;
	memmove(data + at + n_by, data + at + n, size - at - n);
	memcpy(data + at, by, n_by);
	return size - n + n_by;
}

static size_t change_number(uint8_t *data, size_t size, size_t max, struct line l,
			    unsigned int *seed)
{
	static const char *const numbers[] = { "0",	     "1",	   "-1",
					       "2",	     "0.5",	   "-0.0",
					       "1e-9",	     "1e308",	   "4294967295",
					       "4294967296", "2147483648", "9223372036854775807",
					       "null",	     "1e-320" };
	const char *by = numbers[pick(seed, ARRAY_SIZE(numbers))];
	size_t at = l.at + pick(seed, l.n), n = 0;

	while (at < l.at + l.n && !strchr("0123456789-", data[at]))
		at++;
	while (at + n < l.at + l.n && data[at + n] && strchr("0123456789.-+e", data[at + n]))
		n++;
	return replace(data, size, max, at, n, by, strlen(by));
}

size_t fuzz_mutate_lines(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	static uint8_t copy[1 << 16];
	struct line l, to;

	if (!size)
		return LLVMFuzzerMutate(data, size, max);
	l = some_line(data, size, &seed);
	if (l.n > sizeof(copy) - 64)
		return LLVMFuzzerMutate(data, size, max);
	memcpy(copy, data + l.at, l.n);
	switch (pick(&seed, 8)) {
	case 0:
		return replace(data, size, max, l.at, l.n, "", 0);
	case 1: /* moved */
		size = replace(data, size, max, l.at, l.n, "", 0);
		/* fall through */
	case 2: /* doubled */
		to = size ? some_line(data, size, &seed) : (struct line){ 0, 0 };
		return replace(data, size, max, to.at, 0, copy, l.n);
	case 3:
	case 4:
		return change_number(data, size, max, l, &seed);
	case 5:
	case 6: {
		size_t n = LLVMFuzzerMutate(copy, l.n, l.n + 64);

		return replace(data, size, max, l.at, l.n, copy, n);
	}
	default:
		return LLVMFuzzerMutate(data, size, max);
	}
}
