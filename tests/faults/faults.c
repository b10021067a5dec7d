// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded (LD_PRELOAD) into scozd or scoz: makes a call fail as it does on a machine that has run
 * out of something. Which one is told by where it is made, a hash of the innermost callers: threads
 * make the nth call another one in every run, but this one the same.
 *
 * FAULTS_LIST=FILE: nothing fails; each place is listed when it is first reached: "KIND PLACE
 * CALLER...", callers as MODULE+OFFSET.
 * FAULTS_AT=PLACE: the first call there fails, in whichever process of the run; with FAULTS_ALWAYS
 * every one. FAULTS_DONE=FILE: made when it has failed.
 * FAULTS_FROM=FILE: once that is there, no memory is to be had any more.
 * FAULTS_RESIDENT=MB: nothing fails, but the program has so much more memory resident.
 *
 * What libc calls inside itself is not seen, except for memory.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../syscall_onward.h"

#define DEPTH  7
#define OURS   2 /* frames: fails(), and the call itself */
#define PLACES 65536

/* Shared with the processes that this one forks. */
struct state {
	atomic_bool failed;
	_Atomic uint64_t seen[PLACES];
};

static struct state *state;
static const char *list, *done, *from;
static uint64_t at;
static bool always, active;
static _Thread_local bool inside __attribute__((tls_model("initial-exec")));

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void append(const char *path, const char *text, size_t len)
{
	long fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
			  0666);

	if (fd < 0)
		return;
	syscall(SYS_write, fd, text, len);
	syscall(SYS_close, fd);
}

static bool is_new(uint64_t place)
{
	for (uint64_t i = place % PLACES, tries = 0; tries < PLACES;
	     tries++, i = (i + 1) % PLACES) {
		uint64_t old = 0;

		if (atomic_compare_exchange_strong(&state->seen[i], &old, place))
			return true;
		if (old == place)
			return false;
	}
	return false;
}

static uint64_t hash(uint64_t h, const void *data, size_t len)
{
	for (const unsigned char *p = data; len--; p++)
		h = (h ^ *p) * 0x100000001b3;
	return h;
}

static bool is_it(const char *kind, void **frames, int n)
{
	uint64_t place = hash(0xcbf29ce484222325, kind, strlen(kind));
	char text[1024];
	size_t len = 0;

	for (int i = OURS; i < n; i++) {
		Dl_info module;
		uintptr_t offset = (uintptr_t)frames[i];
		const char *name = "?";

		if (dladdr(frames[i], &module) && module.dli_fname) {
			offset -= (uintptr_t)module.dli_fbase;
			name = base_name(module.dli_fname);
		}
		place = hash(place, &offset, sizeof(offset));
		if (list && len < sizeof(text))
			len += snprintf(text + len, sizeof(text) - len, " %s+%#lx", name, offset);
	}
	if (!list)
		return place == at;
	if (is_new(place)) {
		char line[1200];

		append(list, line,
		       snprintf(line, sizeof(line), "%s %016lx%.1100s\n", kind, place, text));
	}
	return false;
}

static __attribute__((noinline)) bool fails(const char *kind)
{
	void *frames[OURS + DEPTH];
	int saved = errno;
	bool it;

	if (from)
		return strstr(kind, "alloc") && !syscall(SYS_access, from, F_OK);
	if (!active || inside || (!list && !always && state->failed))
		return false;
	inside = true;
	it = is_it(kind, frames, backtrace(frames, OURS + DEPTH)) &&
	     (!atomic_exchange(&state->failed, true) || always);
	if (it && done)
		append(done, kind, strlen(kind));
	inside = false;
	errno = saved;
	return it;
}

static void grow(const char *mb)
{
	if (mmap(NULL, (size_t)atoi(mb) << 20, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0) == MAP_FAILED)
		abort();
}

static __attribute__((constructor)) void begin(void)
{
	const char *name = getenv("FAULTS_PROGRAM"), *place = getenv("FAULTS_AT");
	const char *resident = getenv("FAULTS_RESIDENT");
	void *frame;

	if (!name || strcmp(program_invocation_short_name, name))
		return;
	if (resident)
		grow(resident);
	from = getenv("FAULTS_FROM");
	list = getenv("FAULTS_LIST");
	done = getenv("FAULTS_DONE");
	always = getenv("FAULTS_ALWAYS");
	if (!list && !place)
		return;
	at = place ? strtoull(place, NULL, 16) : 0;
	state = (void *)syscall(SYS_mmap, NULL, sizeof(*state), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	inside = true;
	backtrace(&frame, 1); /* loads what it needs */
	inside = false;
	active = state != MAP_FAILED;
}

/* REAL: the call that ours stands before. */
#define REAL(ret, name, ...) \
	static ret (*real)(__VA_ARGS__); \
	if (!real) \
	real = (ret(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

#define FAIL(kind, error, value) \
	do { \
		if (fails(kind)) { \
			errno = error; \
			return value; \
		} \
	} while (0)

/* Of glibc; dlsym() wants memory itself. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

void *malloc(size_t size)
{
	FAIL("malloc", ENOMEM, NULL);
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	FAIL("calloc", ENOMEM, NULL);
	return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	FAIL("realloc", ENOMEM, NULL);
	return __libc_realloc(p, size);
}

void *reallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	FAIL("reallocarray", ENOMEM, NULL);
	return __libc_realloc(p, bytes);
}

static mode_t mode_of(int flags, va_list ap)
{
	return flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
	REAL(int, open, const char *, int, mode_t);
	mode_t mode;
	va_list ap;

	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	FAIL("open", EMFILE, -1);
	return real(path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	REAL(int, openat, int, const char *, int, mode_t);
	mode_t mode;
	va_list ap;

	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	FAIL("openat", EMFILE, -1);
	return real(dir, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
	REAL(FILE *, fopen, const char *, const char *);
	FAIL("fopen", EMFILE, NULL);
	return real(path, mode);
}

ssize_t read(int fd, void *buf, size_t n)
{
	REAL(ssize_t, read, int, void *, size_t);
	FAIL("read", EIO, -1);
	return real(fd, buf, n);
}

ssize_t pread(int fd, void *buf, size_t n, off_t from)
{
	REAL(ssize_t, pread, int, void *, size_t, off_t);
	FAIL("pread", EIO, -1);
	return real(fd, buf, n, from);
}

ssize_t write(int fd, const void *buf, size_t n)
{
	REAL(ssize_t, write, int, const void *, size_t);
	FAIL("write", ENOSPC, -1);
	return real(fd, buf, n);
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t to)
{
	REAL(ssize_t, pwrite, int, const void *, size_t, off_t);
	FAIL("pwrite", ENOSPC, -1);
	return real(fd, buf, n, to);
}

int ftruncate(int fd, off_t size)
{
	REAL(int, ftruncate, int, off_t);
	FAIL("ftruncate", ENOSPC, -1);
	return real(fd, size);
}

void *mmap(void *where, size_t n, int prot, int flags, int fd, off_t from)
{
	REAL(void *, mmap, void *, size_t, int, int, int, off_t);
	FAIL("mmap", ENOMEM, MAP_FAILED);
	return real(where, n, prot, flags, fd, from);
}

int ioctl(int fd, unsigned long request, ...)
{
	REAL(int, ioctl, int, unsigned long, void *);
	void *arg;
	va_list ap;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	FAIL("ioctl", ENOMEM, -1);
	return real(fd, request, arg);
}

pid_t fork(void)
{
	REAL(pid_t, fork, void);
	FAIL("fork", EAGAIN, -1);
	return real();
}

pid_t _Fork(void)
{
	REAL(pid_t, _Fork, void);
	FAIL("fork", EAGAIN, -1);
	return real();
}

int pipe2(int fds[2], int flags)
{
	REAL(int, pipe2, int *, int);
	FAIL("pipe2", EMFILE, -1);
	return real(fds, flags);
}

int socketpair(int domain, int type, int protocol, int fds[2])
{
	REAL(int, socketpair, int, int, int, int *);
	FAIL("socketpair", EMFILE, -1);
	return real(domain, type, protocol, fds);
}

int memfd_create(const char *name, unsigned int flags)
{
	REAL(int, memfd_create, const char *, unsigned int);
	FAIL("memfd_create", EMFILE, -1);
	return real(name, flags);
}

int epoll_create1(int flags)
{
	REAL(int, epoll_create1, int);
	FAIL("epoll_create1", EMFILE, -1);
	return real(flags);
}

int epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
	REAL(int, epoll_ctl, int, int, int, struct epoll_event *);
	FAIL("epoll_ctl", ENOMEM, -1);
	return real(epoll, op, fd, event);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	REAL(int, pthread_create, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	if (fails("pthread_create"))
		return EAGAIN;
	return real(thread, attr, run, arg);
}

/* What libc has no call for. */
long syscall(long number, ...)
{
	long a[6];
	va_list ap;

	va_start(ap, number);
	syscall_arguments(ap, a);
	va_end(ap);
	if (number == SYS_bpf)
		FAIL("bpf", ENOMEM, -1);
	else if (number == SYS_perf_event_open)
		FAIL("perf_event_open", EMFILE, -1);
	return syscall_onward(number, a);
}
