// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/base.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

static struct {
	void (*fn)(char *text, size_t size);
	int process; /* its children have nothing to undo */
	atomic_int thread;
	char text[512];
} last_thing;

void on_out_of_memory(void (*fn)(char *text, size_t size))
{
	last_thing.process = getpid();
	last_thing.fn = fn;
}

static void __attribute__((noreturn)) out_of_memory(void)
{
	int none = 0, self = gettid();
	char line[600];
	int n;

	if (last_thing.fn && last_thing.process == getpid()) {
		if (atomic_compare_exchange_strong(&last_thing.thread, &none, self))
			last_thing.fn(last_thing.text, sizeof(last_thing.text));
		else if (none != self)
			pause(); /* until the other one has done its last things */
	}
	n = snprintf(line, sizeof(line), "%s: out of memory%s%s\n", program_invocation_short_name,
		     *last_thing.text ? ": " : "", last_thing.text);
	if (write(STDERR_FILENO, line, n) < 0)
		_exit(1);
	_exit(1);
}

static void *checked(void *p)
{
	if (!p)
		out_of_memory();
	return p;
}

void *xmalloc(size_t size)
{
	return checked(malloc(size ? size : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return checked(calloc(n ? n : 1, size ? size : 1));
}

void *xreallocarray(void *p, size_t n, size_t size)
{
	return checked(reallocarray(p, n ? n : 1, size ? size : 1));
}

char *xstrdup(const char *s)
{
	return checked(strdup(s));
}

char *xstrndup(const char *s, size_t n)
{
	return checked(strndup(s, n));
}

char *xvasprintf(const char *fmt, va_list ap)
{
	char *s;

	return checked(vasprintf(&s, fmt, ap) < 0 ? NULL : s);
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	return s;
}

void text_add(char **text, const char *fmt, ...)
{
	_cleanup_free_ char *end = NULL;
	char *longer;
	va_list ap;

	va_start(ap, fmt);
	end = xvasprintf(fmt, ap);
	va_end(ap);
	longer = xasprintf("%s%s", *text ? *text : "", end);
	free(*text);
	*text = longer;
}

void cleanup_free(void *pp)
{
	free(*(void **)pp);
}

void cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

void cleanup_fclose(FILE **f)
{
	if (*f)
		fclose(*f);
}

void block_free(void *mem, size_t size, bool mapped)
{
	if (mapped)
		munmap(mem, size);
	else
		free(mem);
}

bool texts_equal(const char *const *a, size_t n_a, const char *const *b, size_t n_b)
{
	if (n_a != n_b)
		return false;
	for (size_t i = 0; i < n_a; i++) {
		if (strcmp(a[i], b[i]) != 0)
			return false;
	}
	return true;
}

char *text_join(char **argv)
{
	char *text = xstrdup("");

	for (; argv && *argv; argv++)
		text_add(&text, "%s%s", *text ? " " : "", *argv);
	return text;
}
