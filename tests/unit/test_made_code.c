// SPDX-License-Identifier: GPL-2.0-or-later
/* What programs tell of code that they make, read from perf maps and jitdumps, and found again. */
#include "test_map_util.h"

#include "maps/made_code.h"
#include "maps/made_name.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#define CODE   0x7f0000001000
#define SECOND NSEC_PER_SEC
#define MUCH   (64ULL << 20)

static struct made_names *names;

static struct code_loads *loads_of(const void *text, size_t n, enum code_loads_kind kind,
				   uint64_t from)
{
	_cleanup_free_ char *path = in_scratch("map");
	struct code_loads *l, *copy;
	struct error err = { 0 };
	int fd;
	void *mem;

	write_file(path, text, n);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	l = code_loads_read(fd, "map", kind, from, &err);
	close(fd);
	if (!l)
		fail_msg("%s", err.text);
	/* As whoever gets it from another process looks at it. */
	mem = xmalloc(l->size);
	memcpy(mem, l->mem, l->size);
	copy = code_loads_attach(mem, l->size, false);
	assert_non_null(copy);
	code_loads_free(l);
	return copy;
}

/* @next: where the next part begins; may be NULL. */
static struct made_code *code_of(const void *text, size_t n, uint64_t from, uint64_t *next)
{
	struct code_loads *l = loads_of(text, n, CODE_LOADS_PERF_MAP, from);
	struct made_code *c = made_code_create(names);

	assert_true(made_code_add(c, l, MUCH, clock_now_ns()));
	if (next)
		*next = l->h->next;
	code_loads_free(l);
	return c;
}

static struct made_code *code_of_text(const char *text)
{
	return code_of(text, strlen(text), 0, NULL);
}

static void add_text(struct made_code *c, const char *text)
{
	struct code_loads *l = loads_of(text, strlen(text), CODE_LOADS_PERF_MAP, 0);

	assert_true(made_code_add(c, l, MUCH, clock_now_ns()));
	code_loads_free(l);
}

/* NULL: none. */
static const char *name_then(struct made_code *c, uint64_t address, uint64_t time)
{
	struct made_function f;

	return made_code_find(c, address, time, &f) ? f.name : NULL;
}

static const char *name_at(struct made_code *c, uint64_t address)
{
	return name_then(c, address, 0);
}

static void expect_then(struct made_code *c, uint64_t address, uint64_t time, const char *name)
{
	const char *got = name_then(c, address, time);

	if (!name && got)
		fail_msg("at %llx is %s", (unsigned long long)address, got);
	else if (name && (!got || strcmp(got, name) != 0))
		fail_msg("at %llx is %s, not %s", (unsigned long long)address,
			 got ? got : "nothing", name);
}

static void expect_name(struct made_code *c, uint64_t address, const char *name)
{
	expect_then(c, address, 0, name);
}

/* ---- perf maps ---- */

static void test_lines(void **state)
{
	struct made_code *t = code_of_text("7f0000002000 10 JS:*hot loop /tmp/a b.js:1:17\n"
					   "0x7f0000001000 0X20 first\n"
					   "7F0000001A00\t8  tab\r\n"
					   "400000 1 Ljava/lang/String;::hashCode\n");

	(void)state;
	expect_name(t, 0x7f0000001000, "first");
	expect_name(t, 0x7f000000101f, "first");
	expect_name(t, 0x7f0000001020, NULL);
	expect_name(t, 0x7f0000000fff, NULL);
	expect_name(t, 0x7f0000001a07, "tab");
	expect_name(t, 0x7f0000002000, "JS:*hot loop /tmp/a b.js:1:17");
	expect_name(t, 0x400000, "Ljava/lang/String;::hashCode");
	expect_name(t, 0x400001, NULL);
	expect_name(t, 0, NULL);
	made_code_destroy(t);
}

static void test_later_wins(void **state)
{
	struct made_code *t = code_of_text("1000 100 old\n"
					   "1080 100 middle\n"
					   "1040 10 new\n"
					   "3000 10 twice\n"
					   "3000 10 twice, later\n"
					   "5010 10 inner, older\n"
					   "5000 100 outer, newer\n");

	(void)state;
	expect_name(t, 0x1000, "old");
	expect_name(t, 0x103f, "old");
	expect_name(t, 0x1040, "new");
	expect_name(t, 0x1050, "old");
	expect_name(t, 0x1080, "middle");
	expect_name(t, 0x10ff, "middle");
	expect_name(t, 0x117f, "middle");
	expect_name(t, 0x1180, NULL);
	expect_name(t, 0x3000, "twice, later");
	expect_name(t, 0x5010, "outer, newer");
	made_code_destroy(t);
}

/* Against the simplest way to tell: the last line that has the address. */
static void test_random(void **state)
{
	enum { LINES = 300, SPACE = 4000 };

	(void)state;
	srand(1);
	for (int round = 0; round < 20; round++) {
		_cleanup_free_ char *text = xcalloc(LINES, 64);
		int owner[SPACE + 400];
		struct made_code *t;

		memset(owner, 0xff, sizeof(owner));
		for (int i = 0; i < LINES; i++) {
			int start = rand() % SPACE, size = 1 + rand() % (round % 2 ? 300 : 30);

			sprintf(text + strlen(text), "%x %x f%d\n", start, size, i);
			for (int k = start; k < start + size; k++)
				owner[k] = i;
		}
		t = code_of_text(text);
		for (int k = 0; k < SPACE + 400; k++) {
			char name[16];

			snprintf(name, sizeof(name), "f%d", owner[k]);
			expect_name(t, k, owner[k] < 0 ? NULL : name);
		}
		made_code_destroy(t);
	}
}

/* Lines that say nothing are as if they were not there. */
static void test_nonsense(void **state)
{
	static const char text[] = "\n \nhello\n1000\n1000 \n1000 10\n1000 10 \n10 zz name\n"
				   "1000 0 no size\n"
				   "1000 40000001 more than a gigabyte\n"
				   "ffffffff81000000 10 kernel\n"
				   "7ffffffffffffff8 10 over the edge\n"
				   "fffffffffffff000 2010 around\n"
				   "10000000000000000 10 seventeen digits\n"
				   "-1000 10 minus\n"
				   "1000 10 \0 nothing\n"
				   "2000 10 a\0b\n"
				   "3000 10 last, and cut of";
	uint64_t next;
	struct made_code *t = code_of(text, sizeof(text) - 1, 0, &next);

	(void)state;
	expect_name(t, 0x1000, NULL);
	expect_name(t, 0x2000, "a");
	expect_name(t, 0x3000, NULL);
	expect_name(t, 0xffffffff81000000, NULL);
	expect_name(t, 0x7ffffffffffffff8, NULL);
	/* The last one is still being written. */
	assert_memory_equal(text + next, "3000 10", 7);
	made_code_destroy(t);
	t = code_of(text, 0, 0, &next);
	expect_name(t, 0x1000, NULL);
	assert_int_equal(next, 0);
	made_code_destroy(t);
}

static void test_from(void **state)
{
	static const char text[] = "1000 10 one\n2000 10 two\n3000 10 thr";
	uint64_t next;
	struct made_code *t = code_of(text, strlen(text), 0, &next);

	(void)state;
	assert_int_equal(next, 24);
	made_code_destroy(t);
	t = code_of("1000 10 one\n2000 10 two\n3000 10 three\n", 38, next, &next);
	expect_name(t, 0x1000, NULL);
	expect_name(t, 0x3000, "three");
	assert_int_equal(next, 38);
	made_code_destroy(t);
	/* Behind the end. */
	t = code_of(text, strlen(text), 1 << 20, &next);
	expect_name(t, 0x1000, NULL);
	made_code_destroy(t);
}

/* Files made to cost much. */
static void test_large(void **state)
{
	const size_t n = 40 << 20;
	_cleanup_free_ char *text = xmalloc(n + 1);
	struct made_code *t;
	size_t used = 0;
	uint64_t next;

	(void)state;
	/* One line that never ends is passed over. */
	memset(text, 'a', n);
	t = code_of(text, n, 0, &next);
	assert_in_range(next, 32 << 20, 33 << 20);
	made_code_destroy(t);
	/* A name without end is cut. */
	memcpy(text, "1000 10 ", 8);
	text[n / 2] = '\n';
	t = code_of(text, n / 2 + 1, 0, &next);
	assert_int_equal(strlen(name_at(t, 0x1000)), 1024);
	made_code_destroy(t);
	/* More functions than one piece takes: the rest is for the next. */
	for (uint64_t i = 0; used < n - 64 && i < 700000; i++)
		used += sprintf(text + used, "%llx 10 f%llu\n", (unsigned long long)(CODE + 16 * i),
				(unsigned long long)i);
	t = code_of(text, used, 0, &next);
	expect_name(t, CODE, "f0");
	expect_name(t, CODE + 16 * 600000, NULL);
	assert_true(next > 0 && next < used);
	made_code_destroy(t);
	t = code_of(text, used, next, &next);
	expect_name(t, CODE + 16 * 600000, "f600000");
	assert_int_equal(next, used);
	made_code_destroy(t);
	/* Functions of a gigabyte, all over the address space. */
	used = 0;
	for (uint64_t i = 0; i < 3000; i++)
		used += sprintf(text + used, "%llx 40000000 f%d\n", (unsigned long long)(i << 31),
				(int)i);
	t = code_of(text, used, 0, &next);
	expect_name(t, (1023ULL << 31) + 5, "f1023");
	expect_name(t, (2999ULL << 31) + 0x3fffffff, "f2999");
	expect_name(t, (2999ULL << 31) + 0x40000000, NULL);
	made_code_destroy(t);
}

/* ---- what lies where ---- */

/* However often it is told what lies in a page, a lookup looks at what can be seen, and no more is
 * kept. */
static void test_grows(void **state)
{
	struct made_code *c = made_code_create(names);
	struct code_loads *l;
	uint64_t few = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		_cleanup_free_ char *text = NULL;

		for (int k = 0; k < 64; k++)
			text_add(&text, "%llx 40 function %d\n",
				 (unsigned long long)(CODE + 64ULL * k), k);
		text_add(&text, "%llx 40 the last is %d\n", (unsigned long long)(CODE + 64), i);
		add_text(c, text);
		if (i == 10)
			few = made_code_memory(c);
	}
	expect_name(c, CODE + 64, "the last is 999");
	expect_name(c, CODE + 63 * 64, "function 63");
	/* Entries and old names go when room is wanted. */
	assert_true(made_code_memory(c) > few);
	l = loads_of("1000 10 f\n", 10, CODE_LOADS_PERF_MAP, 0);
	assert_true(made_code_add(c, l, made_code_memory(c), clock_now_ns()));
	code_loads_free(l);
	assert_true(made_code_memory(c) < 2 * few);
	expect_name(c, CODE + 64, "the last is 999");
	expect_name(c, CODE + 63 * 64, "function 63");
	expect_name(c, 0x1000, "f");
	made_code_destroy(c);
}

/* What may take no more says so, and keeps what it has. */
static void test_bounded(void **state)
{
	struct made_code *c = code_of_text("1000 10 one\n");
	_cleanup_free_ char *text = NULL;
	struct code_loads *l;
	uint64_t most = made_code_memory(c) + 100000;

	(void)state;
	for (int i = 0; i < 10000; i++)
		text_add(&text, "%llx 10 f%d\n", (unsigned long long)(CODE + 16ULL * i), i);
	l = loads_of(text, strlen(text), CODE_LOADS_PERF_MAP, 0);
	assert_false(made_code_add(c, l, most, clock_now_ns()));
	assert_true(made_code_memory(c) < 3 * most);
	expect_name(c, 0x1000, "one");
	expect_name(c, CODE, "f0");
	expect_name(c, CODE + 16ULL * 9999, NULL);
	code_loads_free(l);
	made_code_clear(c);
	assert_int_equal(made_code_memory(c), 0);
	expect_name(c, CODE, NULL);
	made_code_destroy(c);
}

/* Names that were found outlive the code. */
static void test_names(void **state)
{
	struct made_code *c = code_of_text("1000 10 one\n");
	const char *name = name_at(c, 0x1000);
	uint32_t version = made_code_version(c);

	(void)state;
	made_code_clear(c);
	assert_int_not_equal(made_code_version(c), version);
	made_code_destroy(c);
	assert_string_equal(name, "one");
}

/* "START-END ..." of where functions of that name are; "": nowhere. */
static void expect_ranges(struct made_code *c, const char *name, const char *want)
{
	_cleanup_free_ char *text = xstrdup("");
	struct addr_ranges r;
	int found = made_code_ranges(c, name, &r);

	for (size_t i = 0; i < r.n; i++)
		text_add(&text, "%s%llx-%llx", i ? " " : "", (unsigned long long)r.r[i].start,
			 (unsigned long long)r.r[i].end);
	assert_int_equal(found, r.n ? 0 : -ENOENT);
	addr_ranges_free(&r);
	assert_string_equal(text, want);
}

static void test_ranges(void **state)
{
	struct made_code *c = code_of_text("1000 100 JS:~f a.js:1:1\n"
					   "2000 100 JS:*f a.js:1:1\n"
					   "3000 100 JS:*g a.js:2:1\n"
					   "4000 80000 large\n");

	(void)state;
	expect_ranges(c, "f", "1000-1100 2000-2100");
	expect_ranges(c, "JS:^f a.js:1:1", "1000-1100 2000-2100");
	expect_ranges(c, "g", "3000-3100");
	expect_ranges(c, "large", "4000-84000");
	expect_ranges(c, "h", "");
	expect_ranges(c, NULL, "1000-1100 2000-2100 3000-3100 4000-84000");
	/* Its memory is used again: at the beginning, in the middle, at the end, and for all of it.
	 */
	add_text(c, "0f80 90 h\n2040 20 h\n30f0 40 h\n4100 20 h\n83ff0 10 h\n");
	expect_ranges(c, "f", "1010-1100 2000-2040 2060-2100");
	expect_ranges(c, "g", "3000-30f0");
	expect_ranges(c, "large", "4000-4100 4120-83ff0");
	expect_ranges(c, "h", "f80-1010 2040-2060 30f0-3130 4100-4120 83ff0-84000");
	add_text(c, "2000 100 JS:*f a.js:1:1\n3000 200 k\n");
	expect_ranges(c, "f", "1010-1100 2000-2100");
	expect_ranges(c, "g", "");
	/* A large one takes the place of small ones. */
	add_text(c, "0 50000 larger\n");
	expect_ranges(c, "f", "");
	expect_ranges(c, "large", "50000-83ff0");
	made_code_destroy(c);
}

/* Whose program it is chooses what it tells: nobody looks for ever. */
static void test_too_many(void **state)
{
	_cleanup_free_ char *text = xstrdup("");
	struct made_code *c = code_of_text("1000 1 f\n");
	struct addr_ranges r;

	(void)state;
	for (int i = 0; i < 20000; i++)
		text_add(&text, "%x 100000 f\n", 0x100000 + 2 * i);
	add_text(c, text);
	assert_int_equal(made_code_ranges(c, "f", &r), -E2BIG);
	assert_int_equal(r.n, 0);
	assert_int_equal(made_code_ranges(c, "g", &r), -ENOENT);
	made_code_destroy(c);
}

static void expect_function(const char *told, const char *want)
{
	char got[MADE_NAME_MAX];

	made_name_function(told, got, sizeof(got));
	assert_string_equal(got, want);
}

static void test_functions(void **state)
{
	(void)state;
	expect_function("JS:*heavy /srv/a.js:2:15", "heavy");
	expect_function("LazyCompile:~heavy /srv/a.js:2:15", "heavy");
	expect_function("JS:+run node:internal/x:1:2", "run");
	expect_function("py::heavy:/srv/a.py", "heavy");
	expect_function("int Main.heavy(int, long)", "Main.heavy");
	expect_function("LMain;::heavy", "LMain;::heavy");
	expect_function("std::f(int)", "std::f");
	expect_function("(anonymous)", "(anonymous)");
	expect_function("made hot", "made hot");
	expect_function("", "");
	assert_string_equal(made_name_plain("JS:*heavy /srv/a.js:2:15"), "heavy /srv/a.js:2:15");
	assert_string_equal(made_name_plain("JS:* /srv/a.js:2:15"), "JS:* /srv/a.js:2:15");
	assert_string_equal(made_name_plain("std::f"), "std::f");
	assert_true(made_name_is("JS:*heavy /srv/a.js:2:15", "JS:~heavy /srv/a.js:2:15"));
	assert_true(made_name_is("JS:*heavy /srv/a.js:2:15", "heavy /srv/a.js:2:15"));
	assert_true(made_name_is("JS:*heavy /srv/a.js:2:15", "heavy"));
	assert_false(made_name_is("JS:*heavy /srv/a.js:2:15", "heavy /srv/a.js:3:15"));
	assert_false(made_name_is("JS:*heavier /srv/a.js:2:15", "heavy"));
	assert_true(made_name_is("int Main.heavy(int)", "Main.heavy"));
	assert_true(made_name_is("int Main.heavy(int)", "heavy"));
	assert_false(made_name_is("int Main.tooheavy(int)", "heavy"));
	assert_true(made_name_is("LMain;::heavy", "heavy"));
	assert_true(made_name_is("made hot", "made hot"));
	assert_false(made_name_is("made hot", "hot"));
	assert_false(made_name_is("made hot", ""));
}

/* ---- jitdumps ---- */

struct dump {
	char v[1 << 16];
	size_t n;
};

static void put(struct dump *d, const void *what, size_t n)
{
	assert_true(d->n + n <= sizeof(d->v));
	memcpy(d->v + d->n, what, n);
	d->n += n;
}

static void put32(struct dump *d, uint32_t v)
{
	put(d, &v, sizeof(v));
}

static void put64(struct dump *d, uint64_t v)
{
	put(d, &v, sizeof(v));
}

static struct dump *dump_new(uint64_t flags)
{
	struct dump *d = xcalloc(1, sizeof(*d));
	static const uint32_t header[] = { 0x4a695444, 1, 40, 62, 0, 7 };

	put(d, header, sizeof(header));
	put64(d, 1);
	put64(d, flags);
	return d;
}

static void put_record(struct dump *d, uint32_t id, uint64_t time, uint32_t size)
{
	put32(d, id);
	put32(d, 16 + size);
	put64(d, time);
}

static void put_load(struct dump *d, uint64_t time, uint64_t start, uint64_t size, const char *name)
{
	static const char code[256];

	put_record(d, 0, time, 40 + strlen(name) + 1 + size);
	put32(d, 7);
	put32(d, 7);
	put64(d, start);
	put64(d, start);
	put64(d, size);
	put64(d, 0);
	put(d, name, strlen(name) + 1);
	put(d, code, size);
}

static void put_move(struct dump *d, uint64_t time, uint64_t from, uint64_t to, uint64_t size)
{
	put_record(d, 1, time, 48);
	put32(d, 7);
	put32(d, 7);
	put64(d, to);
	put64(d, from);
	put64(d, to);
	put64(d, size);
	put64(d, 0);
}

struct line {
	uint64_t offset;
	uint32_t line;
	const char *file;
};

static void put_lines(struct dump *d, uint64_t start, const struct line *v, size_t n)
{
	uint32_t size = 16;

	for (size_t i = 0; i < n; i++)
		size += 16 + strlen(v[i].file) + 1;
	put_record(d, 2, 1, size);
	put64(d, start);
	put64(d, n);
	for (size_t i = 0; i < n; i++) {
		put64(d, start + v[i].offset);
		put32(d, v[i].line);
		put32(d, 0);
		put(d, v[i].file, strlen(v[i].file) + 1);
	}
}

/* In parts of @part bytes of the file, as it grows; 0: at once. */
static struct made_code *code_of_dump(const struct dump *d, size_t part)
{
	struct made_code *c = made_code_create(names);
	uint64_t from = 0;

	for (size_t n = part ? part : d->n;; n += part) {
		struct code_loads *l =
			loads_of(d->v, n < d->n ? n : d->n, CODE_LOADS_JITDUMP, from);

		assert_false(l->h->foreign);
		assert_true(l->h->next >= from && l->h->next <= d->n);
		assert_true(made_code_add(c, l, MUCH, 10 * SECOND));
		from = l->h->next;
		code_loads_free(l);
		if (n >= d->n)
			return c;
	}
}

static void expect_line(struct made_code *c, uint64_t address, const char *file, uint32_t line)
{
	struct made_function f;

	assert_true(made_code_find(c, address, 0, &f));
	assert_int_equal(f.line, line);
	if (!file)
		assert_null(f.file);
	else
		assert_string_equal(f.file, file);
}

/* Memory is used again; what lay there when the address was seen counts. */
static void test_times(void **state)
{
	struct dump *d = dump_new(0);

	(void)state;
	put_load(d, 1 * SECOND, 0x1000, 0x20, "first");
	put_load(d, 2 * SECOND, 0x1010, 0x20, "second");
	put_load(d, 3 * SECOND, 0x1000, 0x10, "third");
	put_record(d, 3, 4 * SECOND, 0);
	for (size_t part = 0; part < 60; part += 7) {
		struct made_code *c = code_of_dump(d, part);
		struct made_function f;

		expect_then(c, 0x1004, SECOND / 2, NULL);
		expect_then(c, 0x1004, 1 * SECOND, "first");
		expect_then(c, 0x1014, 2 * SECOND - 1, "first");
		expect_then(c, 0x1014, 2 * SECOND, "second");
		expect_then(c, 0x1004, 2 * SECOND, "first");
		expect_then(c, 0x1004, 9 * SECOND, "third");
		expect_then(c, 0x1014, 9 * SECOND, "second");
		expect_name(c, 0x1004, "third");
		/* Until when what is told holds. */
		assert_true(made_code_find(c, 0x1004, 2 * SECOND, &f));
		assert_int_equal(f.since, 1 * SECOND);
		assert_int_equal(f.until, 3 * SECOND);
		assert_false(made_code_find(c, 0x1004, SECOND / 2, &f));
		assert_int_equal(f.since, 0);
		assert_int_equal(f.until, 1 * SECOND);
		made_code_destroy(c);
	}
	free(d);
	/* Of a clock that is not ours no times are known: the last counts. */
	d = dump_new(1);
	put_load(d, 1 * SECOND, 0x1000, 0x20, "first");
	put_load(d, 90 * SECOND, 0x1000, 0x20, "second");
	{
		struct made_code *c = code_of_dump(d, 0);

		expect_then(c, 0x1000, 2 * SECOND, "second");
		made_code_destroy(c);
	}
	free(d);
}

static void test_moves(void **state)
{
	static const struct line lines[] = { { 0, 10, "a.js" }, { 8, 11, "a.js" } };
	struct dump *d = dump_new(0);
	struct made_code *c;

	(void)state;
	put_lines(d, 0x1000, lines, 2);
	put_load(d, 1 * SECOND, 0x1000, 0x20, "f");
	put_move(d, 2 * SECOND, 0x1000, 0x5000, 0x20);
	put_load(d, 3 * SECOND, 0x6000, 0x20, "g");
	put_move(d, 4 * SECOND, 0x6000, 0x6010, 0x20); /* onto itself */
	put_move(d, 5 * SECOND, 0x9000, 0x9100, 0x20); /* nothing */
	for (int parts = 0; parts < 2; parts++) {
		c = code_of_dump(d, parts ? 50 : 0);
		expect_then(c, 0x1004, 1 * SECOND, "f");
		expect_then(c, 0x5004, 1 * SECOND, NULL);
		expect_then(c, 0x1004, 2 * SECOND, NULL);
		expect_then(c, 0x5004, 2 * SECOND, "f");
		expect_line(c, 0x5004, "a.js", 10);
		expect_line(c, 0x500c, "a.js", 11);
		expect_name(c, 0x6004, NULL);
		expect_name(c, 0x6014, "g");
		expect_name(c, 0x602f, "g");
		expect_name(c, 0x9104, NULL);
		made_code_destroy(c);
	}
	free(d);
}

static void test_lines_of_source(void **state)
{
	/* 255 alone: the same file again. */
	static const struct line exact[] = {
		{ 0, 10, "a.js" }, { 4, 12, "\xff" }, { 16, 3, "b.js" }, { 90, 4, "b.js" }
	};
	static const struct line shifted[] = { { 64, 10, "a.js" }, { 68, 12, "a.js" } };
	struct dump *d = dump_new(0);
	struct made_code *c;

	(void)state;
	put_lines(d, 0x1000, exact, 4);
	put_record(d, 4, 1, 0); /* how to unwind it */
	put_load(d, 1, 0x1000, 0x20, "f");
	put_load(d, 1, 0x2000, 0x20, "no lines");
	put_lines(d, 0x3000, exact, 2);
	put_load(d, 1, 0x4000, 0x20, "lines of another");
	for (int parts = 0; parts < 2; parts++) {
		c = code_of_dump(d, parts ? 33 : 0);
		expect_line(c, 0x1003, "a.js", 10);
		expect_line(c, 0x100f, "a.js", 12);
		expect_line(c, 0x101f, "b.js", 3);
		expect_line(c, 0x2000, NULL, 0);
		expect_line(c, 0x4000, NULL, 0);
		made_code_destroy(c);
	}
	free(d);
	/* Who tells addresses as they would be in a file of ELF's is not believed. */
	d = dump_new(0);
	put_lines(d, 0x1000, shifted, 2);
	put_load(d, 1, 0x1000, 0x80, "f");
	c = code_of_dump(d, 0);
	expect_name(c, 0x1044, "f");
	expect_line(c, 0x1044, NULL, 0);
	made_code_destroy(c);
	free(d);
}

/* Lines of no function do not have the file read again from there each time that it grows. */
static void test_lines_of_nothing(void **state)
{
	static const struct line line = { 0, 10, "a.js" };
	struct dump *d = dump_new(0);
	struct code_loads *l;
	size_t last = 0;

	(void)state;
	for (int i = 0; i < 3; i++) {
		last = d->n;
		put_lines(d, 0x1000 + 0x100 * i, &line, 1);
	}
	l = loads_of(d->v, d->n, CODE_LOADS_JITDUMP, 0);
	assert_int_equal(l->h->next, last);
	code_loads_free(l);
	put_load(d, 1, 0x1200, 0x20, "f");
	l = loads_of(d->v, d->n, CODE_LOADS_JITDUMP, last);
	assert_int_equal(l->h->next, d->n);
	assert_int_equal(l->h->n_load, 1);
	assert_int_equal(l->load[0].n_lines, 1);
	code_loads_free(l);
	free(d);
}

static void expect_foreign(const void *v, size_t n, bool foreign)
{
	struct code_loads *l = loads_of(v, n, CODE_LOADS_JITDUMP, 0);

	assert_int_equal(l->h->foreign, foreign);
	code_loads_free(l);
}

/* Records that cannot be are the end of it; what is still being written is waited for. */
static void test_foreign(void **state)
{
	struct dump *d = dump_new(0);

	(void)state;
	expect_foreign("", 0, false);
	expect_foreign(d->v, 20, false);
	expect_foreign("this is something else, and it is longer than a header", 54, true);
	put_load(d, 1, 0x1000, 0x20, "f");
	expect_foreign(d->v, d->n, false);
	put_record(d, 0, 1, -16 + 4);
	expect_foreign(d->v, d->n, true);
	d->n -= 16;
	put_record(d, 0, 1, 1 << 30);
	expect_foreign(d->v, d->n, true);
	d->n -= 16;
	/* Too short for what they are, of strange sizes, and unknown ones. */
	put_record(d, 0, 1, 8);
	put64(d, 0);
	put_record(d, 1, 1, 8);
	put64(d, 0);
	put_record(d, 2, 1, 8);
	put64(d, 0);
	put_record(d, 77, 1, 8);
	put64(d, 0);
	put_load(d, 1, 0xffffffff81000000, 0x20, "kernel");
	put_move(d, 1, 0x1000, 0xffffffff81000000, 0x20);
	put_load(d, 1, 0x3000, 0x20, "behind");
	{
		struct made_code *c = code_of_dump(d, 0);

		expect_name(c, 0x1000, "f");
		expect_name(c, 0x3000, "behind");
		expect_name(c, 0xffffffff81000000, NULL);
		made_code_destroy(c);
	}
	free(d);
}

/* What a reader makes of it is looked at as whatever it may have become. */
static void test_damaged(void **state)
{
	static const struct line lines[] = { { 0, 10, "a.js" }, { 8, 11, "b.js" } };
	struct dump *d = dump_new(0);
	struct code_loads *l;
	int taken = 0;

	(void)state;
	put_lines(d, 0x1000, lines, 2);
	put_load(d, 1, 0x1000, 0x20, "f");
	put_load(d, 1, 0x2000, 0x20, "g");
	l = loads_of(d->v, d->n, CODE_LOADS_JITDUMP, 0);
	srand(3);
	for (size_t i = 0; i < l->size * 8; i++) {
		char *mem = xmalloc(l->size);
		struct code_loads *bad;

		memcpy(mem, l->mem, l->size);
		mem[i / 8] ^= 1 << i % 8;
		bad = code_loads_attach(mem, l->size, false);
		if (bad) {
			struct made_code *c = made_code_create(names);

			made_code_add(c, bad, MUCH, 1);
			name_at(c, 0x1004);
			name_at(c, 0x2004);
			made_code_destroy(c);
			code_loads_free(bad);
			taken++;
		}
	}
	assert_in_range(taken, 1, l->size * 8 - 1);
	for (size_t n = 0; n < l->size; n++)
		assert_null(code_loads_attach(memcpy(xmalloc(n + 1), l->mem, n), n, false));
	code_loads_free(l);
	free(d);
}

static uint64_t cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* @n names, each of 20 words of which bit k of the name's number changes word k; CPU time, ns. */
static uint64_t time_of_names(int n, bool chosen)
{
	char *text = xmalloc(n * 350), *end = text;
	struct made_code *c;
	uint64_t before;

	for (int i = 0; i < n; i++) {
		end += sprintf(end, "%llx 40 ", CODE + i * 64ULL);
		for (int b = 0; b < 20; b++, end += 16) {
			memcpy(end, "abcdefghijklmnop", 16);
			if (chosen && i >> b & 1) { /* what cancels out in hash_bytes() */
				end[7] ^= 0x80;
				end[15] ^= 0x80;
				end[12] ^= 0x04;
			} else if (i >> b & 1) {
				end[3] ^= 0x01;
			}
		}
		*end++ = '\n';
	}
	c = code_of(text, end - text, 0, NULL);
	before = cpu_time();
	for (int i = 0; i < n; i++)
		name_at(c, CODE + i * 64ULL);
	before = cpu_time() - before;
	made_code_destroy(c);
	free(text);
	return before;
}

/* A program cannot choose names that are all found at the same place. */
static void test_chosen_names(void **state)
{
	uint64_t plain = time_of_names(10000, false), chosen = time_of_names(10000, true);

	(void)state;
	if (chosen > 20 * plain + 20000000)
		fail_msg("chosen names take %.3f s, others %.3f s", chosen / 1e9, plain / 1e9);
}

static int setup(void **state)
{
	(void)state;
	names = made_names_create();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	made_names_destroy(names);
	return 0;
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_later_wins),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_from),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_grows),
		cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_moves),
		cmocka_unit_test(test_lines_of_source),
		cmocka_unit_test(test_lines_of_nothing),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_chosen_names),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

int main(void)
{
	return run_in_scratch(run, false);
}
