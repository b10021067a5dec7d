// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A stone in the shoe: work of a known size inside programs that nobody changed or recompiled.
 *
 * Preloaded, this takes the place of functions of the C library and others, and passes every call
 * on. Before some of them it turns a loop, in stone_target(), which a knob really shortens, as in
 * the programs of ../truth: so what a program gains when that function is cheaper can be measured
 * in it, whatever it does. What the environment says:
 *
 * - STONE_AT=PROGRAM/FUNCTION: whose calls carry the stone; FUNCTION may be "start" (of a process)
 * - STONE_POINT=PROGRAM/FUNCTION: whose calls pass stone_point(); "end": of a process
 * - STONE_TURNS=N: how large it is (a turn takes about 2 ns)
 * - STONE_POINT_EVERY=N: only each Nth call in a thread passes
 * - STONE_KNOB=FILE: an int32, percent of the stone that is taken away
 *
 * Arguments are passed on as eight integers, which holds for all functions below, and
 * for variadic ones among them, on x86-64 and arm64.
 */
#include "../truth/knob.h"
#include "../truth/spin.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NOIPA __attribute__((noipa, visibility("default")))

typedef long function(long, long, long, long, long, long, long, long);

struct carrier {
	const char *name;
	function *next;
	bool stone, point;
} __attribute__((aligned(32))); /* or the compiler aligns each of them as it likes */

static uint64_t turns;
static unsigned long point_every = 1;
static const int32_t *knob;

NOIPA void stone_target(uint64_t n)
{
	TRUTH_SPIN(n);
}

NOIPA void stone_point(void)
{
	__asm__ volatile("");
}

static void carry(void)
{
	int32_t pct = knob ? __atomic_load_n(knob, __ATOMIC_RELAXED) : 0;

	if (pct < 100)
		stone_target(turns * (uint64_t)(100 - (pct < 0 ? 0 : pct)) / 100);
}

static void call(struct carrier *c)
{
	static __thread unsigned long points;

	if (c->stone)
		carry();
	if (c->point && ++points % point_every == 0)
		stone_point();
	if (!c->next)
		__atomic_store_n(&c->next, (function *)dlsym(RTLD_NEXT, c->name), __ATOMIC_RELAXED);
}

/* The linker puts them behind each other. */
#define CARRIER(name) \
	static struct carrier carrier_##name \
		__attribute__((section("carriers"), used)) = { #name, NULL, false, false }; \
	function carried_##name __asm__(#name) __attribute__((visibility("default"))); \
	long carried_##name(long a, long b, long c, long d, long e, long f, long g, long h) \
	{ \
		call(&carrier_##name); \
		return carrier_##name.next(a, b, c, d, e, f, g, h); \
	}
CARRIER(read)
CARRIER(write)
CARRIER(writev)
CARRIER(pwrite64)
CARRIER(pwrite)
CARRIER(send)
CARRIER(sendmsg)
CARRIER(strcoll)
CARRIER(fwrite_unlocked)
CARRIER(deflate)
CARRIER(inflate)
CARRIER(lzma_code)
CARRIER(BZ2_bzBuffToBuffCompress)
CARRIER(sem_post)
CARRIER(sem_wait)

extern struct carrier __start_carriers[], __stop_carriers[];
static bool at_end;

/* FUNCTION of "PROGRAM/FUNCTION", if this is that program. */
static const char *of_this_program(const char *variable)
{
	const char *value = getenv(variable), *slash = value ? strchr(value, '/') : NULL;
	size_t n = slash ? (size_t)(slash - value) : 0;

	if (!slash || strlen(program_invocation_short_name) != n ||
	    memcmp(program_invocation_short_name, value, n))
		return NULL;
	return slash + 1;
}

static unsigned long number(const char *variable, unsigned long otherwise)
{
	const char *value = getenv(variable);
	unsigned long n = value ? strtoul(value, NULL, 10) : 0;

	return n ? n : otherwise;
}

static __attribute__((constructor)) void begin(void)
{
	const char *at = of_this_program("STONE_AT"), *point = of_this_program("STONE_POINT");
	const char *knob_file = getenv("STONE_KNOB");

	turns = number("STONE_TURNS", 0);
	point_every = number("STONE_POINT_EVERY", 1);
	if (at && knob_file)
		knob = knob_map(knob_file);
	for (struct carrier *c = __start_carriers; c < __stop_carriers; c++) {
		c->stone = at && !strcmp(at, c->name);
		c->point = point && !strcmp(point, c->name);
	}
	at_end = point && !strcmp(point, "end");
	if (at && !strcmp(at, "start"))
		carry();
}

static __attribute__((destructor)) void end(void)
{
	if (at_end)
		stone_point();
}
