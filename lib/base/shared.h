/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is mapped and written by others meanwhile, by the kernel or by BPF programs. Perf rings say
 * when their records may be read (lib/ring/); here, each word stands for itself.
 */
#ifndef SCOZ_BASE_SHARED_H
#define SCOZ_BASE_SHARED_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t __attribute__((may_alias)) shared_word;

/* Copies @n words of 8 bytes, each as it was at one time, in order of address but no further tie.
 */
static inline void shared_read(void *to, const void *from, size_t n)
{
	shared_word *t = to;
	const shared_word *f = from;

	for (size_t i = 0; i < n; i++)
		t[i] = __atomic_load_n(&f[i], __ATOMIC_RELAXED);
}

/* The structure at @p, of whole words. */
#define SHARED_COPY(p) \
	({ \
		__typeof__(*(p)) shared_copy_; \
		_Static_assert(sizeof(shared_copy_) % 8 == 0, "whole words"); \
		shared_read(&shared_copy_, (p), sizeof(shared_copy_) / 8); \
		shared_copy_; \
	})

#endif
