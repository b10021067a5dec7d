/* SPDX-License-Identifier: MIT */
/*
 * Marks for the scoz profiler: include this file, write SCOZ_PROGRESS() where a unit of work is
 * done. C and C++, Linux on x86-64 and aarch64, no library; elsewhere, and with -mcmodel=large,
 * the marks are empty.
 *
 *   SCOZ_PROGRESS()            a unit of work is done; named "FILE:LINE"
 *   SCOZ_PROGRESS_NAMED("x")   the same, named "x"
 *   SCOZ_BEGIN("x")            work on a unit of "x" begins ...
 *   SCOZ_END("x")              ... and ends, in this thread or in another one
 *
 * Names are string literals; of long ones the last 119 characters count. COZ_PROGRESS,
 * COZ_PROGRESS_NAMED, COZ_BEGIN, COZ_END and COZ_INCREMENT_COUNTER are the same marks, where a name
 * that is no literal stands for "FILE:LINE"; COZ_PRE_BLOCK, COZ_POST_BLOCK and COZ_CATCH_UP, by
 * which programs tell COZ who waits, are empty. Options, by defining before the include:
 * SCOZ_DISABLE (marks are empty), SCOZ_PROBES_ONLY (never open the file of counters: for programs
 * whose seccomp filter kills them for openat or mmap).
 *
 * How it works
 *
 * While nobody profiles, a mark is a load of its 16-bit semaphore and a branch that is not taken.
 * A profiler places a uprobe on the mark's probe, a nop that is hardly ever executed, and names
 * the semaphore as the uprobe's reference counter. Then the kernel raises it in every process
 * that maps the file, running or yet to start, and lowers it when the profiler ends in any way.
 *
 * A raised semaphore leads to scoz_hit_1(). It maps a file of counters, once for a process and
 * module, claims the slot of its name, and from then on a mark is an atomic addition to one
 * of eight cache lines of the slot. Where there is no such file (a container, a sandbox, a user
 * who is new) the probe is executed instead, and the uprobe counts it at a uprobe's cost.
 *
 * Everything a mark needs comes from one piece of assembly, so that copies which the compiler
 * makes (inlining, unrolling, templates) are complete, and the linker drops them as a whole:
 *   .probes        struct scoz_site_1: semaphore, way to the probe, slot
 *   .text.scoz     the probe: nop and return, called with the name as its argument
 *   .note.scoz     for scozd: probe, semaphore, name (relative to the fields), kind
 *   .note.stapsdt  for others: USDT probes scoz:progress, scoz:begin, scoz:end; argument: name
 *
 * Invariants
 * - No locks, no allocation, no libc but clock_gettime(); errno is left alone. A signal handler
 *   may interrupt any step and hit marks itself. Two threads may map the file at once: one wins.
 * - A slot's name is written by the one who moved its state from free to claimed. Others who see
 *   it claimed pass on; so a name may own several slots, and readers add them up.
 * - Begins and ends: started, sum, done are added in this order, so a reader who finds
 *   started == done twice in a row, and nothing changed, has a sum that belongs to the count.
 * - A file serves one user, who owns it: nobody else can truncate it under a running process.
 */
#ifndef SCOZ_H
#define SCOZ_H

#ifndef SCOZ_LINT
#pragma GCC system_header /* the macros are not subject to the program's warnings */
#endif

#ifndef SCOZ_MARKS_DIR
#define SCOZ_MARKS_DIR "/dev/shm/scoz-marks"
#endif
#define SCOZ_MAGIC_	"scozmrk1"
#define SCOZ_SLOTS_	1024
#define SCOZ_SHARDS_	8
#define SCOZ_NAME_SIZE_ 120
#define SCOZ_PROBES_	64 /* slots looked at before giving up */

enum scoz_kind_1 { SCOZ_KIND_PROGRESS_, SCOZ_KIND_BEGIN_, SCOZ_KIND_END_ };
enum scoz_state_1 { SCOZ_FREE_, SCOZ_CLAIMED_, SCOZ_READY_ };

/* The file of counters: header, then slots. */
struct scoz_header_1 {
	char magic[8];
	unsigned int size;   /* of the file */
	unsigned int active; /* 0: nobody reads the counters, execute the probe */
	unsigned int claims; /* grows when a slot has become ready */
	char scoz_unused_1[4076];
};

struct scoz_shard_1 {
	unsigned long visits;
	unsigned long begin_started, begin_ns, begins;
	unsigned long end_started, end_ns, ends;
	unsigned long scoz_unused_1;
};

struct scoz_slot_1 {
	unsigned int state; /* enum scoz_state_1 */
	unsigned int hash;
	char name[SCOZ_NAME_SIZE_]; /* padded with zeros */
	struct scoz_shard_1 shard[SCOZ_SHARDS_];
};
#define SCOZ_FILE_SIZE_ (sizeof(struct scoz_header_1) + SCOZ_SLOTS_ * sizeof(struct scoz_slot_1))

/* What a mark has in .probes; the assembly below writes it. */
struct scoz_site_1 {
	unsigned short semaphore;
	unsigned short scoz_unused_1;
	int probe; /* relative to this field */
	struct scoz_slot_1 *slot;
};

static __inline__ unsigned int scoz_hash_1(const char *name)
{
	unsigned int h = 2166136261u;

	while (*name)
		h = (h ^ (unsigned char)*name++) * 16777619u;
	return h;
}

#if defined(__linux__) && defined(__LP64__) && !defined(SCOZ_DISABLE) && \
	!defined(__code_model_large__) && \
	(defined(__x86_64__) || (defined(__aarch64__) && !defined(__AARCH64EB__)))

#define SCOZ_PROBE_ONLY_ 0x100u /* ored to the kind */
#ifdef SCOZ_PROBES_ONLY
#define SCOZ_OPTIONS_ SCOZ_PROBE_ONLY_
#else
#define SCOZ_OPTIONS_ 0u
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* One copy for a module (program or library), whichever object files use it. */
#define SCOZ_SHARED_ __attribute__((__weak__, __visibility__("hidden")))

extern SCOZ_SHARED_ char *scoz_map_1; /* the file, or NULL */
extern SCOZ_SHARED_ unsigned int scoz_misses_1;
SCOZ_SHARED_ void scoz_hit_1(struct scoz_site_1 *site, const char *name, unsigned int kind)
	__attribute__((__noinline__));
SCOZ_SHARED_ void scoz_miss_1(struct scoz_site_1 *site, const char *name, unsigned int kind)
	__attribute__((__noinline__, __cold__));

SCOZ_SHARED_ char *scoz_map_1 = 0;
SCOZ_SHARED_ unsigned int scoz_misses_1 = 0;

#ifdef __x86_64__
enum scoz_arch_1 {
	SCOZ_NR_READ_ = 0,
	SCOZ_NR_CLOSE_ = 3,
	SCOZ_NR_FSTAT_ = 5,
	SCOZ_NR_MMAP_ = 9,
	SCOZ_NR_MUNMAP_ = 11,
	SCOZ_NR_GETEUID_ = 107,
	SCOZ_NR_OPENAT_ = 257,
	SCOZ_O_NOFOLLOW_ = 0400000
};
/* In the kernel's struct stat, as words. */
#define SCOZ_STAT_MODE_(st) ((unsigned int)(st)[3])
#define SCOZ_STAT_UID_(st)  ((unsigned int)((st)[3] >> 32))

static __inline__ long scoz_syscall_1(long nr, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = 0;

	__asm__ __volatile__("syscall"
			     : "+a"(nr)
			     : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			     : "rcx", "r11", "memory");
	return nr;
}

#define SCOZ_ASM_SITE_ "lea{q 771f(%%rip), %[site]| %[site], 771f[rip]}\n"
/* endbr64; the nop of 5 bytes that newer kernels turn into a call; ret */
#define SCOZ_ASM_PROBE_ \
	"772: .byte 0xf3, 0x0f, 0x1e, 0xfa\n" \
	"773: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n" \
	".byte 0xc3\n"
#define SCOZ_ASM_ARGUMENT_ "8@%%rdi"
#define SCOZ_ASM_LITERAL_  "i"
#else
enum scoz_arch_1 {
	SCOZ_NR_READ_ = 63,
	SCOZ_NR_CLOSE_ = 57,
	SCOZ_NR_FSTAT_ = 80,
	SCOZ_NR_MMAP_ = 222,
	SCOZ_NR_MUNMAP_ = 215,
	SCOZ_NR_GETEUID_ = 175,
	SCOZ_NR_OPENAT_ = 56,
	SCOZ_O_NOFOLLOW_ = 0100000
};
#define SCOZ_STAT_MODE_(st) ((unsigned int)(st)[2])
#define SCOZ_STAT_UID_(st)  ((unsigned int)(st)[3])

static __inline__ long scoz_syscall_1(long nr, long a, long b, long c, long d, long e)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = 0;

	__asm__ __volatile__("svc #0"
			     : "+r"(x0)
			     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			     : "memory", "cc");
	return x0;
}

#define SCOZ_ASM_SITE_	   "adrp %[site], 771f\n\tadd %[site], %[site], :lo12:771f\n"
/* bti c; nop; ret */
#define SCOZ_ASM_PROBE_	   "772: hint #34\n773: nop\nret\n"
#define SCOZ_ASM_ARGUMENT_ "8@x0"
#define SCOZ_ASM_LITERAL_  "S"
#endif
#define SCOZ_STAT_SIZE_(st) ((st)[6])

/* SCOZ_MARKS_DIR "/" UID */
static __inline__ long scoz_open_1(unsigned int uid)
{
	char path[sizeof(SCOZ_MARKS_DIR) + 12] = SCOZ_MARKS_DIR "/";
	unsigned int n = sizeof(SCOZ_MARKS_DIR), rest;

	for (rest = uid; rest > 9; rest /= 10)
		n++;
	do
		path[n--] = (char)('0' + uid % 10);
	while (uid /= 10);
	return scoz_syscall_1(SCOZ_NR_OPENAT_, -100 /* AT_FDCWD */, (long)path,
			      2 /* O_RDWR */ | 04000 /* O_NONBLOCK */ | 02000000 /* O_CLOEXEC */ |
				      SCOZ_O_NOFOLLOW_,
			      0, 0);
}

/* Checks everything before the mapping: what is not ours is never touched. */
static __inline__ char *scoz_map_file_1(void)
{
	unsigned int uid = (unsigned int)scoz_syscall_1(SCOZ_NR_GETEUID_, 0, 0, 0, 0, 0), i;
	unsigned long st[32] = { 0 };
	struct {
		char magic[8];
		unsigned int size, active;
	} head;
	long fd = scoz_open_1(uid), map = -1, got;

	if (fd < 0)
		return 0;
	got = scoz_syscall_1(SCOZ_NR_FSTAT_, fd, (long)st, 0, 0, 0);
	if (!got && (SCOZ_STAT_MODE_(st) & 0170000) == 0100000 && SCOZ_STAT_UID_(st) == uid &&
	    SCOZ_STAT_SIZE_(st) == SCOZ_FILE_SIZE_) {
		got = scoz_syscall_1(SCOZ_NR_READ_, fd, (long)&head, sizeof(head), 0, 0);
		for (i = 0; got == (long)sizeof(head) && i < 8; i++)
			if (head.magic[i] != SCOZ_MAGIC_[i])
				got = 0;
		if (got == (long)sizeof(head) && head.active && head.size == SCOZ_FILE_SIZE_)
			map = scoz_syscall_1(SCOZ_NR_MMAP_, 0, SCOZ_FILE_SIZE_, 3 /* rw */,
					     1 /* MAP_SHARED */, fd);
	}
	scoz_syscall_1(SCOZ_NR_CLOSE_, fd, 0, 0, 0, 0);
	return map < 0 && map > -4096 ? 0 : (char *)map;
}

static __inline__ int scoz_active_1(char *map)
{
	return map &&
	       __atomic_load_n(&((struct scoz_header_1 *)(void *)map)->active, __ATOMIC_RELAXED);
}

/*
 * The file, mapped and active, or NULL. After a failure only every 4096th call tries again. An
 * inactive old mapping stays: other threads may be in the middle of it.
 */
static __inline__ char *scoz_attach_1(char *old)
{
	char *map;

	if (__atomic_load_n(&scoz_misses_1, __ATOMIC_RELAXED) & 4095 ||
	    !(map = scoz_map_file_1())) {
		__atomic_fetch_add(&scoz_misses_1, 1u, __ATOMIC_RELAXED);
		return 0;
	}
	if (__atomic_compare_exchange_n(&scoz_map_1, &old, map, 0, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE)) {
		__atomic_store_n(&scoz_misses_1, 0, __ATOMIC_RELAXED);
		return map;
	}
	scoz_syscall_1(SCOZ_NR_MUNMAP_, (long)map, SCOZ_FILE_SIZE_, 0, 0, 0);
	return old;
}

static __inline__ int scoz_same_name_1(const char *a, const char *b)
{
	unsigned int i;

	for (i = 0; i < SCOZ_NAME_SIZE_; i++) {
		if (a[i] != b[i])
			return 0;
		if (!a[i])
			return 1;
	}
	return 0;
}

static __inline__ struct scoz_slot_1 *scoz_find_1(char *map, const char *name)
{
	struct scoz_slot_1 *slots =
		(struct scoz_slot_1 *)(void *)(map + sizeof(struct scoz_header_1));
	unsigned int hash = scoz_hash_1(name), i, k;

	for (i = 0; i < SCOZ_PROBES_; i++) {
		struct scoz_slot_1 *slot = &slots[(hash + i) % SCOZ_SLOTS_];
		unsigned int state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);

		if (state == SCOZ_FREE_ &&
		    __atomic_compare_exchange_n(&slot->state, &state, (unsigned int)SCOZ_CLAIMED_,
						0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
			slot->hash = hash;
			for (k = 0; name[k]; k++)
				slot->name[k] = name[k];
			__atomic_store_n(&slot->state, (unsigned int)SCOZ_READY_, __ATOMIC_RELEASE);
			__atomic_fetch_add(&((struct scoz_header_1 *)(void *)map)->claims, 1u,
					   __ATOMIC_RELEASE);
			return slot;
		}
		if (state == SCOZ_READY_ && slot->hash == hash &&
		    scoz_same_name_1(slot->name, name))
			return slot;
	}
	return 0;
}

/* Under another name, because strict C hides it; neither can conflict with <time.h> like this. */
struct scoz_time_1 {
	long sec, nsec;
};
extern int scoz_clock_gettime_1(int clock, struct scoz_time_1 *time) __asm__("clock_gettime");

static __inline__ unsigned long scoz_now_1(void)
{
	struct scoz_time_1 t = { 0, 0 };

	scoz_clock_gettime_1(1 /* CLOCK_MONOTONIC */, &t);
	return (unsigned long)t.sec * 1000000000ul + (unsigned long)t.nsec;
}

static __inline__ void scoz_count_1(struct scoz_slot_1 *slot, unsigned int kind)
{
	/* Threads have their stacks far apart; any shard is correct. */
	unsigned long stack = (unsigned long)__builtin_frame_address(0) >> 16;
	struct scoz_shard_1 *s = &slot->shard[stack * 0x9e3779b97f4a7c15ul >> 61];

	if (kind == SCOZ_KIND_PROGRESS_) {
		__atomic_fetch_add(&s->visits, 1ul, __ATOMIC_RELAXED);
	} else if (kind == SCOZ_KIND_BEGIN_) {
		__atomic_fetch_add(&s->begin_started, 1ul, __ATOMIC_RELAXED);
		__atomic_fetch_add(&s->begin_ns, scoz_now_1(), __ATOMIC_RELEASE);
		__atomic_fetch_add(&s->begins, 1ul, __ATOMIC_RELEASE);
	} else {
		__atomic_fetch_add(&s->end_started, 1ul, __ATOMIC_RELAXED);
		__atomic_fetch_add(&s->end_ns, scoz_now_1(), __ATOMIC_RELEASE);
		__atomic_fetch_add(&s->ends, 1ul, __ATOMIC_RELEASE);
	}
}

/* The first time for a site, and whenever there is no file to count in. */
#ifdef __clang__
__attribute__((__no_sanitize__("cfi", "function"))) /* the probe is no function they know */
#endif
SCOZ_SHARED_ void
scoz_miss_1(struct scoz_site_1 *site, const char *name, unsigned int kind)
{
	char *map = __atomic_load_n(&scoz_map_1, __ATOMIC_ACQUIRE);
	struct scoz_slot_1 *slot = 0;

	if (kind & SCOZ_PROBE_ONLY_)
		map = 0;
	else if (!scoz_active_1(map))
		map = scoz_attach_1(map);
	if (map)
		slot = scoz_find_1(map, name);
	if (slot) {
		__atomic_store_n(&site->slot, slot, __ATOMIC_RELEASE);
		scoz_count_1(slot, kind);
	} else {
		((void (*)(const char *))((unsigned long)&site->probe +
					  (unsigned long)(long)site->probe))(name);
	}
}

/* The semaphore is up. */
SCOZ_SHARED_ void scoz_hit_1(struct scoz_site_1 *site, const char *name, unsigned int kind)
{
	char *map = __atomic_load_n(&scoz_map_1, __ATOMIC_ACQUIRE);
	struct scoz_slot_1 *slot = __atomic_load_n(&site->slot, __ATOMIC_ACQUIRE);

	/* A slot in a file that has been replaced is of no use. */
	if (__builtin_expect((unsigned long)slot - (unsigned long)map < SCOZ_FILE_SIZE_ && slot &&
				     scoz_active_1(map),
			     1))
		scoz_count_1(slot, kind);
	else
		scoz_miss_1(site, name, kind);
}

#ifdef __cplusplus
}
#endif

/*
 * 771 site, 772 probe function, 773 probe. "?": in the group of the function, if it has one
 * (inline functions and templates), so that they are kept or dropped together.
 */
#define SCOZ_ASM_(kind_name) \
	SCOZ_ASM_SITE_ \
	".pushsection .probes, \"aw?\", @progbits\n" \
	".balign 8\n" \
	"771: .2byte 0, 0\n" \
	".4byte 772f - .\n" \
	".8byte 0\n" \
	".popsection\n" \
	".pushsection .text.scoz, \"ax?\", @progbits\n" \
	".balign 16\n" SCOZ_ASM_PROBE_ \
	".4byte 771b - .\n" /* unlike any other, so that linkers do not fold probes into one */ \
	".popsection\n" \
	".pushsection .note.scoz, \"a?\", @note\n" \
	".balign 4\n" \
	".4byte 5, 32, 1\n" \
	".asciz \"scoz\"\n" \
	".balign 4\n" \
	".8byte 773b - .\n" \
	".8byte 771b - .\n" \
	".8byte %c[name] - .\n" \
	".4byte %c[kind], 0\n" \
	".popsection\n" \
	".pushsection .note.stapsdt, \"?\", @note\n" \
	".balign 4\n" \
	".4byte 8, 775f - 774f, 3\n" \
	".asciz \"stapsdt\"\n" \
	"774: .8byte 773b, _.stapsdt.base, 771b\n" \
	".asciz \"scoz\"\n" \
	".asciz \"" kind_name "\"\n" \
	".asciz \"" SCOZ_ASM_ARGUMENT_ "\"\n" \
	"775: .balign 4\n" \
	".popsection\n" \
	".ifndef _.stapsdt.base\n" \
	".pushsection .stapsdt.base, \"aG\", @progbits, .stapsdt.base, comdat\n" \
	".weak _.stapsdt.base\n" \
	".hidden _.stapsdt.base\n" \
	"_.stapsdt.base: .space 1\n" \
	".size _.stapsdt.base, 1\n" \
	".popsection\n" \
	".endif\n"

#if (defined(__GNUC__) && __GNUC__ >= 9) || (defined(__clang__) && __clang_major__ >= 11)
#define SCOZ_INLINE_ASM_ __asm__ __volatile__ __inline__ /* does not count as much code */
#else
#define SCOZ_INLINE_ASM_ __asm__ __volatile__
#endif

/* A block, so that it can be used with and without a semicolon. @size_: of the name, with its 0. */
#define SCOZ_MARK_(kind_, kind_name, name_, size_) \
	{ \
		struct scoz_site_1 *scoz_site_; \
\
		SCOZ_INLINE_ASM_(SCOZ_ASM_(kind_name) \
				 : [site] "=r"(scoz_site_) \
				 : [kind] "i"(kind_), [name] SCOZ_ASM_LITERAL_(name_)); \
		if (__builtin_expect( \
			    __atomic_load_n(&scoz_site_->semaphore, __ATOMIC_RELAXED) != 0, 0)) \
			scoz_hit_1(scoz_site_, SCOZ_TAIL_(name_, size_), (kind_) | SCOZ_OPTIONS_); \
	}

/* Of a long name the end: that is where "FILE:LINE" differs. */
#define SCOZ_TAIL_(name, size) &(name)[(size) > SCOZ_NAME_SIZE_ ? (size)-SCOZ_NAME_SIZE_ : 0]

/*
 * @name if it is a literal, else @other, and the size of that: an array of which the compiler says,
 * whether it optimises or not, that it is constant. That of a pointer it only knows where it does.
 */
#ifdef __cplusplus
extern "C++" {
template <unsigned long N> char (&scoz_shape_1(const char (&)[N]))[2];
char scoz_shape_1(...);
}
#define SCOZ_IS_LITERAL_(name) \
	(sizeof(char[__builtin_constant_p(name) && sizeof(scoz_shape_1(name)) == 2 ? 2 : 1]) == 2)
#define SCOZ_LITERAL_OR_(name, other) \
	(SCOZ_IS_LITERAL_(name) ? static_cast<const char *>(name) \
				: static_cast<const char *>(other))
#define SCOZ_SIZE_OR_(name, other) (SCOZ_IS_LITERAL_(name) ? sizeof(name) : sizeof(other))
#else
#define SCOZ_IS_POINTER_(name) \
	__builtin_types_compatible_p(__typeof__(name), __typeof__(&(name)[0]))
#define SCOZ_LITERAL_OR_(name, other) \
	__builtin_choose_expr(__builtin_constant_p(name) && !SCOZ_IS_POINTER_(name), name, other)
#define SCOZ_SIZE_OR_(name, other) sizeof(SCOZ_LITERAL_OR_(name, other))
#endif

#else
#define SCOZ_MARK_(kind_, kind_name, name, size) \
	{ \
		(void)sizeof(name); \
	}
#define SCOZ_LITERAL_OR_(name, other) (name)
#define SCOZ_SIZE_OR_(name, other)    0
#endif

#define SCOZ_STATEMENT_(block) \
	do \
	block while (0)
#define SCOZ_STRING_2_(x)	  #x
#define SCOZ_STRING_(x)		  SCOZ_STRING_2_(x)
#define SCOZ_MARK_PROGRESS_(name) SCOZ_MARK_(0, "progress", name, sizeof(name))
#define SCOZ_MARK_BEGIN_(name)	  SCOZ_MARK_(1, "begin", name, sizeof(name))
#define SCOZ_MARK_END_(name)	  SCOZ_MARK_(2, "end", name, sizeof(name))
#define SCOZ_HERE_		  __FILE__ ":" SCOZ_STRING_(__LINE__)

/* "" name "": a name that is not a literal does not compile. */
#define SCOZ_PROGRESS()		  SCOZ_STATEMENT_(SCOZ_MARK_PROGRESS_(SCOZ_HERE_))
#define SCOZ_PROGRESS_NAMED(name) SCOZ_STATEMENT_(SCOZ_MARK_PROGRESS_("" name ""))
#define SCOZ_BEGIN(name)	  SCOZ_STATEMENT_(SCOZ_MARK_BEGIN_("" name ""))
#define SCOZ_END(name)		  SCOZ_STATEMENT_(SCOZ_MARK_END_("" name ""))

/*
 * As in coz.h: the first without parentheses, all of them with or without a semicolon. There a mark
 * has one counter for its place, by the name that it has when it is reached first; what is no
 * literal is not known here, where profilers look for names before that, and the place is. The
 * expression is compiled, and never run.
 */
#ifndef COZ_PROGRESS
#define SCOZ_COZ_(kind_, kind_name, name_) \
	{ \
		if (0) { \
			const char *scoz_name_ = (name_); \
\
			(void)scoz_name_; \
		} \
		SCOZ_MARK_(kind_, kind_name, SCOZ_LITERAL_OR_(name_, SCOZ_HERE_), \
			   SCOZ_SIZE_OR_(name_, SCOZ_HERE_)) \
	}
#define COZ_PROGRESS		 SCOZ_MARK_PROGRESS_(SCOZ_HERE_)
#define COZ_PROGRESS_NAMED(name) SCOZ_COZ_(0, "progress", name)
#define COZ_BEGIN(name)		 SCOZ_COZ_(1, "begin", name)
#define COZ_END(name)		 SCOZ_COZ_(2, "end", name)

/* By one of these numbers, which need not be constant. */
#define COZ_COUNTER_TYPE_THROUGHPUT 1
#define COZ_COUNTER_TYPE_BEGIN	    2
#define COZ_COUNTER_TYPE_END	    3
#define COZ_INCREMENT_COUNTER(type, name) \
	{ \
		switch (type) { \
		case COZ_COUNTER_TYPE_THROUGHPUT: \
			COZ_PROGRESS_NAMED(name) \
			break; \
		case COZ_COUNTER_TYPE_BEGIN: \
			COZ_BEGIN(name) \
			break; \
		case COZ_COUNTER_TYPE_END: \
			COZ_END(name) \
			break; \
		} \
	}
/* Around locks that COZ does not know: the kernel tells scozd who waits and who wakes. */
#define COZ_PRE_BLOCK		    ((void)0)
#define COZ_POST_BLOCK(skip_delays) ((void)(skip_delays))
#define COZ_CATCH_UP		    ((void)0)
#endif

#endif
