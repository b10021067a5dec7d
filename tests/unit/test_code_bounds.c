// SPDX-License-Identifier: GPL-2.0-or-later
/* Where control comes into code and leaves it. */
#include "progress/code_bounds.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define BASE 0x1000

struct piece {
	uint64_t start;
	size_t n;
	const uint8_t *bytes;
};
#define PIECE(START, ...) \
	{ \
		START, sizeof((uint8_t[]){ __VA_ARGS__ }), (uint8_t[]) \
		{ \
			__VA_ARGS__ \
		} \
	}

static void note(uint64_t addr, enum probe_bound bound, void *arg)
{
	char *text = arg, one[32];

	snprintf(one, sizeof(one), " %s %llx",
		 bound == PROBE_ENTRY  ? "in"
		 : bound == PROBE_EXIT ? "out"
				       : "on",
		 (unsigned long long)addr);
	strcat(text, one);
}

static void check(const struct piece *list, size_t n, const char *want)
{
	struct code_bounds_piece pieces[4] = {};
	char got[256] = "";
	const char *why;

	for (size_t i = 0; i < n; i++) {
		struct code code = { EM_X86_64, list[i].bytes, list[i].start,
				     list[i].start + list[i].n };

		code_flow_init(&pieces[i].flow, &code);
	}
	if (code_bounds_find(pieces, n, note, got, &why)) {
		assert_string_equal(got, ""); /* all or nothing */
		snprintf(got, sizeof(got), "%s", why);
	}
	assert_string_equal(got, want);
	for (size_t i = 0; i < n; i++)
		code_flow_deinit(&pieces[i].flow);
}
#define CHECK(want, ...) \
	do { \
		const struct piece list[] = { __VA_ARGS__ }; \
		check(list, ARRAY_SIZE(list), want); \
	} while (0)

static void finds_all_ways(void **state)
{
	(void)state;
	/* push; je +2; pop; ret; pop; ret */
	CHECK(" out 1004 out 1006 in 1000", PIECE(BASE, 0x55, 0x74, 0x02, 0x58, 0xc3, 0x58, 0xc3));
	/* of the kernel, whose addresses are large */
	CHECK(" out ffffffff81000004 out ffffffff81000006 in ffffffff81000000",
	      PIECE(0xffffffff81000000, 0x55, 0x74, 0x02, 0x58, 0xc3, 0x58, 0xc3));
	/* nop; jmp 0x2000, which is another function */
	CHECK(" on 1001 in 1000", PIECE(BASE, 0x90, 0xe9, 0xfa, 0x0f, 0x00, 0x00));
	/* a call comes back; what follows ret is not looked at */
	CHECK(" out 1005 in 1000",
	      PIECE(BASE, 0xe8, 0x00, 0x10, 0x00, 0x00, 0xc3, 0xff, 0xe0, 0xc3));
	/* the cold part is jumped to, and jumps back: je 0x2000; ret | nop; jmp 0x1006 */
	CHECK(" out 1006 in 1000", PIECE(BASE, 0x0f, 0x84, 0xfa, 0x0f, 0x00, 0x00, 0xc3),
	      PIECE(0x2000, 0x90, 0xe9, 0x00, 0xf0, 0xff, 0xff));
	/* it returns itself */
	CHECK(" out 1006 in 1000 out 2001", PIECE(BASE, 0x0f, 0x84, 0xfa, 0x0f, 0x00, 0x00, 0xc3),
	      PIECE(0x2000, 0x90, 0xc3));
	/* two functions of one name */
	CHECK(" out 1001 in 1000 out 2000 in 2000", PIECE(BASE, 0x90, 0xc3), PIECE(0x2000, 0xc3));
}

static void tells_what_it_cannot(void **state)
{
	(void)state;
	CHECK("it jumps where it computes (a jump table)", PIECE(BASE, 0xff, 0xe0));
	CHECK("it is not seen to return", PIECE(BASE, 0x90, 0xf4));
	/* je 0x2000; ret */
	CHECK("a condition decides whether it goes on in another function",
	      PIECE(BASE, 0x0f, 0x84, 0xfa, 0x0f, 0x00, 0x00, 0xc3));
	/* nop; je 0x1000; ret: each round of the loop would be a call */
	CHECK("it jumps back to where it begins", PIECE(BASE, 0x90, 0x74, 0xfd, 0xc3));
	/* je into an immediate */
	CHECK("its code contradicts what is said of it",
	      PIECE(BASE, 0x74, 0x02, 0xb8, 0x90, 0x90, 0x90, 0x90, 0xc3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_all_ways),
		cmocka_unit_test(tells_what_it_cannot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
