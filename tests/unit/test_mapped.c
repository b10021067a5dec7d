// SPDX-License-Identifier: GPL-2.0-or-later
/* Where binaries lie in a process, as both engines note it down: what others took the place of. */
#include "engine/bpf/space.h"
#include "engine/kernel/told.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* All that @s has, as the program of image 7 has it: "start-end+bias". */
static void has(const struct space *s, const char *want)
{
	_cleanup_free_ char *got = xstrdup("");

	for (int i = 0; i < BPF_MAX_SEGMENTS; i++) {
		if (segment_holds(&s->seg[i], 7))
			text_add(&got, "%s%llx-%llx+%llx", *got ? " " : "", s->seg[i].start,
				 s->seg[i].end, s->seg[i].bias);
	}
	assert_string_equal(got, want);
}

static void put(struct space *s, uint64_t start, uint64_t end, uint64_t bias, uint64_t image)
{
	space_put(s, &(struct segment){ start, end, bias, image });
}

static void several_stretches(void **state)
{
	struct space s = {};

	(void)state;
	put(&s, 0x1000, 0x2000, 0xa0, 7);
	put(&s, 0x5000, 0x6000, 0xa0, 0); /* told by handlers */
	has(&s, "1000-2000+a0 5000-6000+a0");
	/* Loaded again elsewhere. */
	put(&s, 0x9000, 0xa000, 0x80a0, 7);
	has(&s, "1000-2000+a0 5000-6000+a0 9000-a000+80a0");
	/* Told again. */
	put(&s, 0x9000, 0xa000, 0x80a0, 0);
	assert_int_equal(s.seg[2].image, 7);
	put(&s, 0x5000, 0x6000, 0xa0, 7);
	assert_int_equal(s.seg[1].image, 7);
	/* Of another image than this one. */
	put(&s, 0xc000, 0xd000, 0xa0, 8);
	has(&s, "1000-2000+a0 5000-6000+a0 9000-a000+80a0");
}

static void withdrawn(void **state)
{
	struct space s = {};

	(void)state;
	put(&s, 0x1000, 0x5000, 0xa0, 7);
	put(&s, 0x6000, 0x7000, 0xa0, 7);
	space_withdraw(&s, 0x5000, 0x6000);
	has(&s, "1000-5000+a0 6000-7000+a0");
	space_withdraw(&s, 0x2000, 0x3000);
	has(&s, "1000-2000+a0 6000-7000+a0 3000-5000+a0");
	space_withdraw(&s, 0x0, 0x1800);
	has(&s, "1800-2000+a0 6000-7000+a0 3000-5000+a0");
	space_withdraw(&s, 0x4800, 0x6800);
	has(&s, "1800-2000+a0 6800-7000+a0 3000-4800+a0");
	space_withdraw(&s, 0x0, 0x10000);
	has(&s, "");
	/* The same file from another place on, where it was before. */
	put(&s, 0x1000, 0x2000, 0xa0, 7);
	put(&s, 0x1000, 0x2000, 0xb0, 7);
	has(&s, "1000-2000+b0");
	/* No room: the newest is there. */
	for (uint64_t i = 1; i <= BPF_MAX_SEGMENTS; i++)
		put(&s, i * 0x10000, i * 0x10000 + 0x1000, 0xc0, 7);
	has(&s, "60000-61000+c0 10000-11000+c0 20000-21000+c0 30000-31000+c0 40000-41000+c0 "
		"50000-51000+c0");
}

/* ---- the patched kernel: it replaces what begins at the same place ---- */

struct kernel {
	struct scoz_mapping v[16];
	size_t n;
};

static int tell(const struct scoz_mapping *m, void *arg)
{
	struct kernel *k = arg;

	for (size_t i = 0; i < k->n; i++) {
		if (k->v[i].tgid == m->tgid && k->v[i].binary == m->binary &&
		    k->v[i].start == m->start) {
			k->v[i] = *m;
			return 0;
		}
	}
	if (k->n == ARRAY_SIZE(k->v))
		return -ENOSPC;
	k->v[k->n++] = *m;
	return 0;
}

/* Where in which binaries address @at is: "binary:vaddr". */
static void is_in(const struct kernel *k, uint32_t pid, uint64_t at, const char *want)
{
	_cleanup_free_ char *got = xstrdup("");

	for (size_t i = 0; i < k->n; i++) {
		if (k->v[i].tgid == pid && at >= k->v[i].start && at < k->v[i].end)
			text_add(&got, "%s%u:%llx", *got ? " " : "", k->v[i].binary,
				 at - k->v[i].bias);
	}
	assert_string_equal(got, want);
}

static void kernel_is_told(void **state)
{
	struct kernel k = {};
	struct told t;
	size_t n;

	(void)state;
	told_init(&t);
	told_put(&t, &(struct scoz_mapping){ 10, 1, 0x1000, 0x4000, 0x800 }, tell, &k);
	told_put(&t, &(struct scoz_mapping){ 10, 1, 0x6000, 0x7000, 0x800 }, tell, &k);
	told_put(&t, &(struct scoz_mapping){ 11, 1, 0x1000, 0x4000, 0x800 }, tell, &k);
	is_in(&k, 10, 0x1400, "1:c00");
	/* Its own does nothing, another binary takes the midst. */
	told_withdraw(&t, 10, 1, 0x2000, 0x3000, tell, &k);
	is_in(&k, 10, 0x2000, "1:1800");
	told_withdraw(&t, 10, 2, 0x2000, 0x3000, tell, &k);
	told_put(&t, &(struct scoz_mapping){ 10, 2, 0x2000, 0x3000, 0x2000 }, tell, &k);
	is_in(&k, 10, 0x1fff, "1:17ff");
	is_in(&k, 10, 0x2000, "2:0");
	is_in(&k, 10, 0x3000, "1:2800");
	is_in(&k, 10, 0x6000, "1:5800");
	is_in(&k, 11, 0x2000, "1:1800");
	/* All of it; of a place that was withdrawn no function is left. */
	told_withdraw(&t, 10, 3, 0x1000, 0x8000, tell, &k);
	is_in(&k, 10, 0x1000, "1:0");
	is_in(&k, 10, 0x1001, "");
	is_in(&k, 10, 0x3001, "");
	is_in(&k, 10, 0x6001, "");
	assert_int_equal(t.n, 1);
	told_forget(&t, 11);
	assert_int_equal(t.n, 0);
	/* What the kernel has no room for is said, and is not thought to be told. */
	for (uint64_t i = 0; k.n < ARRAY_SIZE(k.v); i++) {
		const struct scoz_mapping m = { 12, 1, i << 12, (i + 1) << 12, 0 };

		assert_int_equal(told_put(&t, &m, tell, &k), 0);
	}
	n = t.n;
	assert_int_equal(told_put(&t, &(struct scoz_mapping){ 13, 1, 0, 0x1000, 0 }, tell, &k),
			 -ENOSPC);
	assert_int_equal(t.n, n);
	told_deinit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(several_stretches),
		cmocka_unit_test(withdrawn),
		cmocka_unit_test(kernel_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
