// SPDX-License-Identifier: GPL-2.0-or-later
/* Which waits in futex() are for a lock, and who has it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <linux/futex.h>

#include "record/bpf/futex_words.h"
#include "record/futex.h"
#include "record/lock_words.h"
#include "record/recording.h"

enum { SELF = 100, OTHER = 101, STRANGER = 102 };

static bool is_thread(uint32_t tid, void *arg)
{
	(void)arg;
	return tid == SELF || tid == OTHER;
}

static uint32_t holder;

static bool is_lock_word;

static const char *ask(struct record_futex f, bool woken, enum futex_name names)
{
	const struct futex_question q = { .futex = &f,
					  .tid = SELF,
					  .woken = woken,
					  .is_lock_word = is_lock_word,
					  .names = names,
					  .is_thread = is_thread };

	return record_futex_kind(&q, &holder);
}

#define OPERATION(operation, ...) \
	((struct record_futex){ .op = operation, .known = RECORD_FUTEX_WORDS, __VA_ARGS__ })
#define WAIT(...) OPERATION(FUTEX_WAIT | FUTEX_PRIVATE_FLAG, __VA_ARGS__)
#define is_lock(f, woken) \
	assert_string_equal(ask(f, woken, FUTEX_NAME_SILENT), RECORD_KIND_FUTEX_LOCK)
#define is_wait(f, woken) \
	assert_string_equal(ask(f, woken, FUTEX_NAME_SILENT), RECORD_KIND_FUTEX_WAIT)

/* A tid where a lock keeps its owner: then that thread has it, however the wait ends. */
static void test_known_holders(void **state)
{
	(void)state;
	is_lock(WAIT(.value = 2, .words = { 2, 0, OTHER }), false); /* glibc's mutex */
	assert_int_equal(holder, OTHER);
	is_lock(WAIT(.value = 3, .words = { 3, 0, 0, 0, OTHER }), false); /* rwlock, a reader */
	assert_int_equal(holder, OTHER);
	is_lock(WAIT(.value = 3, .words = { 3, 0, 0, OTHER }), false); /* ... a writer */
	assert_int_equal(holder, OTHER);
	is_lock(WAIT(.value = OTHER | FUTEX_WAITERS, .words = { OTHER | FUTEX_WAITERS }), false);
	assert_int_equal(holder, OTHER);
	is_lock(OPERATION(FUTEX_LOCK_PI, .words = { OTHER | FUTEX_WAITERS }), false);
	assert_int_equal(holder, OTHER);
	is_lock(OPERATION(FUTEX_LOCK_PI, .words = {}), true); /* it cannot be for anything else */
	assert_int_equal(holder, 0);
}

/* What stands there by chance is no holder. */
static void test_no_holders(void **state)
{
	struct record_futex f = WAIT(.value = 2, .words = { 2, 0, OTHER });

	(void)state;
	is_wait(WAIT(.value = 2, .words = { 2, 0, STRANGER }), false);
	is_wait(WAIT(.value = 2, .words = { 2, 0, SELF }), false);
	is_wait(WAIT(.value = 0, .words = { 0, 0, OTHER }), false); /* a condition, counting */
	is_wait(WAIT(.value = 7, .words = { 7, 0, OTHER }), false);
	f.known = 1; /* what lies behind the word could not be read */
	is_wait(f, false);
	is_wait(OPERATION(FUTEX_WAIT_REQUEUE_PI, .words = { OTHER }), false);
	assert_int_equal(holder, 0);
}

/* Without a holder: the word that is waited at goes from taken to free, or to taken again. */
static void test_released(void **state)
{
	(void)state;
	is_lock_word = true;
	for (uint32_t after = 0; after <= 2; after++) {
		is_lock(WAIT(.value = 2, .words = { 2 }, .after = after, .has_after = 1), true);
		/* Whoever gave up has not seen anybody release it. */
		is_wait(WAIT(.value = 2, .words = { 2 }, .after = after, .has_after = 1), false);
	}
	is_wait(WAIT(.value = 2, .words = { 2 }), true);
	is_lock(OPERATION(FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, .value = 2, .words = { 2 },
			  .has_after = 1),
		true);
	is_lock_word = false;
	/* Counters go on. */
	is_wait(WAIT(.value = 2, .words = { 2 }, .after = 3, .has_after = 1), true);
	is_wait(WAIT(.value = 3, .words = { 3 }, .after = 4, .has_after = 1), true);
	is_wait(WAIT(.value = 1, .words = { 1 }, .after = 0, .has_after = 1), true);
	/* musl, libgomp; and Rust's parker, which waits at -1 and is sent 1 */
	is_lock(WAIT(.value = 0x80000010, .words = { 0x80000010 }, .has_after = 1), true);
	is_lock(WAIT(.value = UINT32_MAX, .words = { UINT32_MAX }, .has_after = 1), true);
	is_wait(WAIT(.value = UINT32_MAX, .words = { UINT32_MAX }, .after = 1, .has_after = 1),
		true);
	/* musl's semaphores */
	is_wait(WAIT(.value = 0x80000000, .words = { 0x80000000 }, .after = 0x80000001,
		     .has_after = 1),
		true);
	/* A thread that has ended clears its tid: that is a join. */
	is_wait(WAIT(.value = OTHER, .words = { OTHER }, .has_after = 1), true);
}

/* A latch of two, musl's condition, who joins thread 2 of a container: all go from 2 to 0. */
static void test_taken_or_counted(void **state)
{
	const struct record_futex f = WAIT(.value = 2, .words = { 2 }, .has_after = 1);

	(void)state;
	is_lock_word = false;
	assert_string_equal(ask(f, true, FUTEX_NAME_SILENT), RECORD_KIND_FUTEX);
	assert_string_equal(ask(f, true, FUTEX_NAME_WAIT), RECORD_KIND_FUTEX_WAIT);
	assert_string_equal(ask(f, true, FUTEX_NAME_LOCK), RECORD_KIND_FUTEX_LOCK);
	is_lock_word = true;
	assert_string_equal(ask(f, true, FUTEX_NAME_WAIT), RECORD_KIND_FUTEX_WAIT);
	is_lock_word = false;
	/* Who has it is known: whatever the name of what called the lock. */
	assert_string_equal(ask((struct record_futex)WAIT(.value = 2, .words = { 2, 0, OTHER }),
				true, FUTEX_NAME_WAIT),
			    RECORD_KIND_FUTEX_LOCK);
}

static void test_lock_words(void **state)
{
	struct lock_words *w = lock_words_create();

	(void)state;
	/* Several threads wait at the same value, again and again. */
	for (int i = 0; i < 8; i++)
		assert_int_equal(lock_words_wait(w, 1, 0x1000, i % 2, 2), i >= 3);
	/* One's own condition; a latch that counts down; the same address in other processes */
	for (int i = 0; i < 8; i++) {
		assert_false(lock_words_wait(w, 1, 0x2000, 1, 2));
		assert_false(lock_words_wait(w, 1, 0x3000, i % 2, 2 - i % 2));
		assert_false(lock_words_wait(w, i, 0x4000, i, 2));
	}
	/* However many there are, they take no more room, and those of now are known. */
	for (uint64_t word = 0; word < 100000; word += 4) {
		for (int i = 0; i < 4; i++)
			assert_int_equal(lock_words_wait(w, 2, word, i, 2), i == 3);
	}
	lock_words_destroy(w);
}

/* What causal recordings know when a wait begins. */
static void test_begins(void **state)
{
	static const struct {
		struct record_futex futex;
		enum futex_held held;
		uint32_t holder;
	} known[] = {
		{ OPERATION(FUTEX_LOCK_PI, .words = { OTHER }), FUTEX_HELD, 0 },
		{ OPERATION(FUTEX_LOCK_PI2 | FUTEX_PRIVATE_FLAG, .words = {}), FUTEX_HELD, 0 },
		{ OPERATION(FUTEX_WAIT_REQUEUE_PI, .value = 7, .words = { 7 }), FUTEX_NOT_HELD, 0 },
		{ WAIT(.value = OTHER | FUTEX_WAITERS), FUTEX_HELD, 0 }, /* robust, musl */
		{ WAIT(.value = UINT32_MAX, .words = { UINT32_MAX }), FUTEX_NOT_HELD,
		  0 },						     /* park */
		{ WAIT(.value = FUTEX_WAITERS), FUTEX_NOT_HELD, 0 }, /* musl's semaphore */
		{ WAIT(.value = 2, .words = { 2, 0, OTHER }), FUTEX_HELD_BY, OTHER },
		{ WAIT(.value = 2, .words = { 2, 0, 1u << 30 }), FUTEX_TAKEN, 1u << 30 },
		{ WAIT(.value = 2, .words = { 2 }), FUTEX_TAKEN, 0 },
		{ WAIT(.value = 3, .words = { 3, 0, 0, 0, OTHER }), FUTEX_HELD_BY, OTHER },
		{ WAIT(.value = 3, .words = { 3, 0, 0, OTHER }), FUTEX_HELD_BY, OTHER },
		{ WAIT(.value = 1, .words = { 1, 0, OTHER }), FUTEX_NOT_HELD, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		uint32_t who;

		assert_int_equal(futex_held(&known[i].futex, &who), known[i].held);
		assert_int_equal(who, known[i].holder);
	}
}

static const char *by_name(const char *function)
{
	return ask((struct record_futex){}, true, record_futex_name(function));
}

static void test_names(void **state)
{
	static const char *const locks[] = { "__lll_lock_wait", "pthread_mutex_lock@@GLIBC_2.2.5",
					     "__pthread_mutex_cond_lock",
					     "___pthread_rwlock_wrlock",
					     "parking_lot::raw_mutex::RawMutex::lock_slow" };
	static const char *const waits[] = { "___pthread_cond_wait",
					     "pthread_cond_timedwait@@GLIBC_2.3.2",
					     "__new_sem_wait_slow64.constprop.0",
					     "pthread_barrier_wait",
					     "std::sys::sync::condvar::futex::Condvar::wait",
					     "__pthread_clockjoin_ex" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(locks); i++)
		assert_string_equal(by_name(locks[i]), RECORD_KIND_FUTEX_LOCK);
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++)
		assert_string_equal(by_name(waits[i]), RECORD_KIND_FUTEX_WAIT);
	assert_string_equal(by_name("main"), RECORD_KIND_FUTEX);
	/* A lock's function beside words that no rule knows: it is one. */
	assert_string_equal(ask(WAIT(.value = 1, .words = { 1 }), true, FUTEX_NAME_LOCK),
			    RECORD_KIND_FUTEX_LOCK);
}

static void test_held(void **state)
{
	(void)state;
	assert_true(record_kind_is_held("mutex"));
	assert_true(record_kind_is_held("rwsem"));
	assert_true(record_kind_is_held(RECORD_KIND_FUTEX_LOCK));
	assert_false(record_kind_is_held(RECORD_KIND_FUTEX_WAIT));
	assert_false(record_kind_is_held(RECORD_KIND_FUTEX));
	assert_false(record_kind_is_held(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_holders), cmocka_unit_test(test_no_holders),
		cmocka_unit_test(test_released),      cmocka_unit_test(test_names),
		cmocka_unit_test(test_held),	      cmocka_unit_test(test_taken_or_counted),
		cmocka_unit_test(test_lock_words),    cmocka_unit_test(test_begins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
