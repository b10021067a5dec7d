/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pprof's profile.proto, read back: independent of how it is written. */
#ifndef TEST_RECORD_EXPORT_PPROF_H
#define TEST_RECORD_EXPORT_PPROF_H

#include "tests/unit/test_record_export.h"

struct bytes {
	const unsigned char *p, *end;
};

static uint64_t varint(struct bytes *b)
{
	uint64_t v = 0;

	for (unsigned int shift = 0;; shift += 7) {
		assert_true(b->p < b->end && shift < 64);
		v |= (uint64_t)(*b->p & 0x7f) << shift;
		if (!(*b->p++ & 0x80))
			return v;
	}
}

/* The next field: a number, or the bytes of a string, message or packed list. */
static unsigned int field(struct bytes *b, uint64_t *number, struct bytes *inner)
{
	uint64_t key;

	*inner = (struct bytes){ 0 };
	*number = 0;
	if (b->p == b->end)
		return 0;
	key = varint(b);
	*number = varint(b);
	if ((key & 7) == 2) {
		assert_true(*number <= (uint64_t)(b->end - b->p));
		*inner = (struct bytes){ b->p, b->p + *number };
		b->p += *number;
	} else {
		assert_int_equal(key & 7, 0);
	}
	return key >> 3;
}

#define PPROF_MAX 128

struct parsed_location {
	uint64_t mapping, address, function[8], line[8];
	size_t n;
};

struct parsed_sample {
	uint64_t location[PPROF_MAX], value[2];
	size_t n;
	char labels[PPROF_MAX]; /* "class=io kind=disk ... " */
};

/* What a profile holds; elements of its lists by their ids. */
struct parsed {
	unsigned char *data;
	char *strings[PPROF_MAX];
	uint64_t function_name[PPROF_MAX], mapping_file[PPROF_MAX], mapping_limit[PPROF_MAX];
	struct parsed_location locations[PPROF_MAX];
	struct parsed_sample samples[PPROF_MAX];
	size_t n_strings, n_samples;
	uint64_t types[8], period, time, duration, default_type, first_mapping;
	size_t n_types;
};

static unsigned char *inflate_all(const char *data, size_t n, size_t *ret)
{
	size_t room = 1 << 22;
	unsigned char *out = xmalloc(room);
	z_stream z = {
		.next_in = (unsigned char *)data, .avail_in = n, .next_out = out, .avail_out = room
	};

	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	*ret = z.total_out;
	inflateEnd(&z);
	return out;
}

/* Strings stand behind what refers to them. */
static void parse_strings(struct parsed *x, struct bytes all)
{
	struct bytes inner;
	unsigned int f;
	uint64_t n;

	while ((f = field(&all, &n, &inner))) {
		if (f == 6) {
			assert_true(x->n_strings < PPROF_MAX);
			x->strings[x->n_strings++] = strndup((const char *)inner.p, n);
		}
	}
	assert_string_equal(x->strings[0], "");
}

static void parse_label(const struct parsed *x, struct bytes b, char *labels)
{
	uint64_t n, key = 0, text = 0, number = 0;
	struct bytes inner;
	unsigned int f;
	char *old = strdup(labels);

	while ((f = field(&b, &n, &inner)))
		*(f == 1 ? &key : f == 2 ? &text : &number) = n;
	assert_true(key && key < x->n_strings && text < x->n_strings);
	if (text)
		snprintf(labels, PPROF_MAX, "%s%s=%s,", old, x->strings[key], x->strings[text]);
	else
		snprintf(labels, PPROF_MAX, "%s%s=%d,", old, x->strings[key], (int)number);
	free(old);
}

static void parse_sample(struct parsed *x, struct bytes b)
{
	struct parsed_sample *s = &x->samples[x->n_samples++];
	struct bytes inner;
	unsigned int f;
	uint64_t n;

	assert_true(x->n_samples <= PPROF_MAX);
	while ((f = field(&b, &n, &inner))) {
		if (f == 1) {
			while (inner.p < inner.end && s->n < PPROF_MAX)
				s->location[s->n++] = varint(&inner);
		} else if (f == 2) {
			s->value[0] = varint(&inner);
			s->value[1] = varint(&inner);
		} else if (f == 3) {
			parse_label(x, inner, s->labels);
		}
	}
}

static void parse_location(struct parsed *x, struct bytes b)
{
	struct parsed_location l = { 0 };
	struct bytes inner, part;
	uint64_t n, m, id = 0;
	unsigned int f, g;

	while ((f = field(&b, &n, &inner))) {
		if (f == 1)
			id = n;
		else if (f == 2)
			l.mapping = n;
		else if (f == 3)
			l.address = n;
		else if (f == 4) {
			while ((g = field(&inner, &m, &part)))
				*(g == 1 ? &l.function[l.n] : &l.line[l.n]) = m;
			l.n++;
		}
	}
	assert_true(id && id < PPROF_MAX && !x->locations[id].n && l.n);
	x->locations[id] = l;
}

static uint64_t parse_named(struct bytes b, unsigned int name_field, uint64_t *names,
			    uint64_t *limits)
{
	uint64_t n, id = 0, name = 0, limit = 0;
	struct bytes inner;
	unsigned int f;

	while ((f = field(&b, &n, &inner))) {
		if (f == 1)
			id = n;
		else if (f == name_field)
			name = n;
		else if (f == 3)
			limit = n;
	}
	assert_true(id && id < PPROF_MAX && !names[id]);
	names[id] = name;
	if (limits)
		limits[id] = limit;
	return id;
}

static void parse_type(struct parsed *x, struct bytes b)
{
	uint64_t n;
	struct bytes inner;

	while (field(&b, &n, &inner))
		x->types[x->n_types++] = n;
}

static struct parsed *parse_pprof(void)
{
	struct parsed *x = xcalloc(1, sizeof(*x));
	size_t len;
	char *gz = export_of(export_pprof, &len);
	struct bytes all, inner;
	unsigned int f;
	uint64_t n;

	x->data = inflate_all(gz, len, &len);
	free(gz);
	all = (struct bytes){ x->data, x->data + len };
	parse_strings(x, all);
	while ((f = field(&all, &n, &inner))) {
		if (f == 1)
			parse_type(x, inner);
		else if (f == 2)
			parse_sample(x, inner);
		else if (f == 3) {
			n = parse_named(inner, 5, x->mapping_file, x->mapping_limit);
			x->first_mapping = x->first_mapping ? x->first_mapping : n;
		} else if (f == 4)
			parse_location(x, inner);
		else if (f == 5)
			parse_named(inner, 2, x->function_name, NULL);
		else if (f == 9)
			x->time = n;
		else if (f == 10)
			x->duration = n;
		else if (f == 12)
			x->period = n;
		else if (f == 14)
			x->default_type = n;
	}
	return x;
}

static void free_pprof(struct parsed *x)
{
	for (size_t i = 0; i < x->n_strings; i++)
		free(x->strings[i]);
	free(x->data);
	free(x);
}

static const char *label_of(const struct parsed_sample *s, const char *name)
{
	static char value[PPROF_MAX];
	const char *p = strstr(s->labels, name);

	snprintf(value, sizeof(value), "%.*s", p ? (int)strcspn(p + strlen(name), ",") : 0,
		 p ? p + strlen(name) : "");
	return value;
}

static void pprof_totals(const struct parsed *x, struct totals *t)
{
	*t = (struct totals){ 0 };
	for (size_t i = 0; i < x->n_samples; i++) {
		const struct parsed_sample *s = &x->samples[i];
		const char *name = label_of(s, "class=");
		int class = 0;

		while (class < RECORD_CLASSES && strcmp(name, record_class_name(class)))
			class ++;
		assert_true(class < RECORD_CLASSES);
		assert_int_equal(s->value[1], s->value[0] * MS);
		count(t, class, atoi(label_of(s, "thread=")), s->value[0]);
		for (size_t k = 0; k < s->n; k++)
			assert_true(x->locations[s->location[k]].n);
	}
	for (size_t i = 0; i < PPROF_MAX; i++) {
		const struct parsed_location *l = &x->locations[i];

		for (size_t k = 0; k < l->n; k++)
			assert_true(x->function_name[l->function[k]]);
		assert_true(!l->mapping || (x->mapping_file[l->mapping] &&
					    l->address < x->mapping_limit[l->mapping]));
	}
}

static const struct parsed_sample *find_sample(const struct parsed *x, const char *labels)
{
	for (size_t i = 0; i < x->n_samples; i++) {
		if (!strcmp(x->samples[i].labels, labels))
			return &x->samples[i];
	}
	fail_msg("no sample with %s", labels);
	return NULL;
}

static const char *function_of(const struct parsed *x, const struct parsed_location *l, size_t line)
{
	return x->strings[x->function_name[l->function[line]]];
}

#endif
