// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Half of the time in target(), which is called in various ways: calls KIND SECONDS.
 *
 *   nested   it calls itself before and behind what it does
 *   jumps    every fourth call ends by longjmp()
 *   often    each call takes some 10 us
 *   table    it jumps by a table
 *   tail     it ends in another function
 *   hot      it is called five million times in as much work as takes SECONDS
 *
 * How often it is called does not depend on how fast the machine is, nor on who else computes when
 * that is measured.
 */
#include "compute.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long unit; /* rounds of compute() that take 3 ms */
static jmp_buf back;

__attribute__((noipa)) static void beyond(long n)
{
	compute(n);
}

__attribute__((noipa)) void target(long n, int depth, int leap)
{
	if (depth)
		target(n / 4, depth - 1, 0);
	compute(depth ? n / 2 : n);
	if (leap)
		longjmp(back, 1);
	if (depth)
		target(n / 4, depth - 1, 0);
	__asm__ volatile("");
}

__attribute__((noipa)) void target_table(long n, int how)
{
	static const void *const to[] = { &&all, &&half };

	goto *to[how & 1];
half:
	compute(n / 2);
	n /= 2;
all:
	compute(n);
	__asm__ volatile("");
}

__attribute__((noipa, optimize("O2"))) void target_tail(long n)
{
	compute(n);
	beyond(n);
}

__attribute__((noipa)) void round_done(void)
{
	__asm__ volatile("");
}

static void one_round(const char *kind, int nr)
{
	if (!strcmp(kind, "often")) {
		for (int i = 0; i < 300; i++) {
			target(unit / 300, 0, 0);
			compute(unit / 300);
		}
		return;
	}
	if (!strcmp(kind, "hot")) {
		for (int i = 0; i < 50000; i++)
			target(1, 0, 0);
		compute(unit);
		return;
	}
	if (!strcmp(kind, "table"))
		target_table(unit, nr);
	else if (!strcmp(kind, "tail"))
		target_tail(unit);
	else if (!setjmp(back))
		target(unit, strcmp(kind, "nested") ? 0 : 2, !strcmp(kind, "jumps") && nr % 4 == 0);
	compute(strcmp(kind, "tail") ? unit : 0);
}

int main(int argc, char **argv)
{
	double end;
	bool hot;

	if (argc != 3)
		return 2;
	unit = compute_speed(30, 1000000) * 3e-3;
	if (!strcmp(argv[1], "nested")) /* of seven calls a round */
		unit *= 2;
	hot = !strcmp(argv[1], "hot");
	if (hot)
		unit = unit * atof(argv[2]) / 0.3;
	end = now_s() + atof(argv[2]);
	for (int nr = 0; hot ? nr < 100 : now_s() < end; nr++) {
		one_round(argv[1], nr);
		round_done();
	}
	return 0;
}
