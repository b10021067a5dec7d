// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * There may be millions of lines, so objects as our writer prints them are taken apart by hand;
 * whatever else a line holds (escapes, spaces, nested values) goes through jansson, which also has
 * the last word on what is JSON.
 */
#include "jsonl/reader.h"

#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/file_open.h"
#include "files/held_file.h"

#define READ_SIZE  (1u << 20)
#define BLOCK_SIZE (64u << 10)

/* ---- the store ---- */

struct jsonl_block {
	struct jsonl_block *next;
	size_t used, size;
	_Alignas(16) char data[];
};

static void *store_alloc(struct jsonl_store *s, size_t size)
{
	struct jsonl_block *b = s->blocks;
	void *p;

	size = (size + 15) & ~(size_t)15;
	if (!b || b->size - b->used < size) {
		size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;

		b = xmalloc(sizeof(*b) + room);
		*b = (struct jsonl_block){ .next = s->blocks, .size = room };
		s->blocks = b;
	}
	p = b->data + b->used;
	b->used += size;
	return memset(p, 0, size);
}

struct piece {
	const char *s;
	size_t len;
};

static bool same_string(const void *texts, uint32_t i, const void *key)
{
	const char *text = ((const char *const *)texts)[i];
	const struct piece *p = key;

	return !strncmp(text, p->s, p->len) && !text[p->len];
}

static const char *intern(struct jsonl_store *t, const char *s, size_t len)
{
	const struct piece key = { s, len };
	uint64_t h = hash_bytes(HASH_START, s, len);
	size_t at = 0;

	/* Whoever makes strings of one hash gets copies: sharing is not worth any time. */
	for (int tries = 0; tries < 32; tries++) {
		uint32_t i = hash_index_next(&t->index, h, &at);

		if (i == HASH_NONE)
			break;
		if (same_string(t->text, i, &key))
			return t->text[i];
	}
	array_reserve(t->text, t->cap, t->n + 1);
	t->text[t->n] = memcpy(store_alloc(t, len + 1), s, len);
	hash_index_add(&t->index, h, t->n);
	return t->text[t->n++];
}

static void forget_index(struct jsonl_store *s)
{
	free(s->text);
	hash_index_deinit(&s->index);
	s->text = NULL;
	s->n = s->cap = 0;
}

void jsonl_store_deinit(struct jsonl_store *s)
{
	forget_index(s);
	while (s->blocks) {
		struct jsonl_block *next = s->blocks->next;

		free(s->blocks);
		s->blocks = next;
	}
}

/* ---- errors ---- */

void jsonl_error_clean(struct error *err)
{
	for (unsigned char *p = err ? (unsigned char *)err->text : NULL; p && *p; p++) {
		bool c1 = *p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0;

		if (*p < 0x20 || *p == 0x7f || c1)
			*p = '?';
		if (c1)
			p[1] = '?';
	}
}

int jsonl_bad(struct jsonl_reader *r, const char *key, const char *what)
{
	return error_set(r->err, EINVAL,
			 "%s, line %zu: \"%s\" %s: the file is damaged; cut it off before that "
			 "line and try again",
			 r->path, r->number, key, what);
}

/* @line: the first one. */
static int not_ours(struct jsonl_reader *r, const char *line, size_t len)
{
	static const struct {
		const char *start, *what;
	} others[] = {
		{ JSONL_START("scoz-profile"), " but a causal profile (of scozd)" },
		{ JSONL_START("scoz-record"), " but a recording (of scoz record)" },
		{ "scoz-causal ", " but a causal recording (of scoz record --causal)" },
	};
	const char *what = ": its first line is not a header";
	const struct jsonl_format *f = r->format;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		size_t n = strlen(others[i].start);

		if (len >= n && !memcmp(line, others[i].start, n))
			what = others[i].what;
	}
	return error_set(r->err, EINVAL, "%s is not a scoz %s%s; %ss are written by %s FILE",
			 r->path, f->noun, what, f->noun, f->command);
}

static int damaged(struct jsonl_reader *r)
{
	return error_set(r->err, EINVAL,
			 "%s, line %zu: not a JSON object (%s): the file is damaged; cut it off "
			 "before that line and try again",
			 r->path, r->bad_line, r->bad_why);
}

/* ---- fields ---- */

struct value {
	json_type type;
	int64_t number;
	const char *text;
	size_t len;
	const json_t *json; /* reals and lists, which are never taken apart by hand */
};

static struct value value_of(const json_t *v)
{
	return (struct value){ .type = json_typeof(v),
			       .number = json_integer_value(v),
			       .text = json_string_value(v),
			       .len = json_string_length(v),
			       .json = v };
}

static const struct {
	int64_t min, max;
	const char *otherwise;
} ranges[] = {
	[FIELD_U64] = { 0, INT64_MAX, "is negative" },
	[FIELD_BITS] = { INT64_MIN, INT64_MAX, "" },
	[FIELD_U32] = { 0, UINT32_MAX, "is not a small integer" },
	[FIELD_I32] = { INT32_MIN, INT32_MAX, "is not a small integer" },
	[FIELD_COUNT] = { 0, INT32_MAX, "is not a small integer" },
	[FIELD_ID] = { -1, UINT32_MAX - 1, "is not an id" },
};

static int set_number(struct jsonl_reader *r, const struct field *f, void *to,
		      const struct value *v)
{
	if (v->type != JSON_INTEGER)
		return jsonl_bad(r, f->key, "is not an integer");
	if (v->number < ranges[f->type].min || v->number > ranges[f->type].max)
		return jsonl_bad(r, f->key, ranges[f->type].otherwise);
	if (f->type == FIELD_U64 || f->type == FIELD_BITS)
		*(uint64_t *)to = v->number;
	else
		*(uint32_t *)to = v->number; /* -1 becomes UINT32_MAX */
	return 0;
}

static int set_list(struct jsonl_reader *r, const struct field *f, void *to, const json_t *list);

/* null is as good as absent. */
static int set_value(struct jsonl_reader *r, const struct field *f, void *base,
		     const struct value *v)
{
	void *to = (char *)base + f->offset;

	if (v->type == JSON_NULL)
		return 0;
	switch (f->type) {
	case FIELD_REAL:
		if (v->type != JSON_INTEGER && v->type != JSON_REAL)
			return jsonl_bad(r, f->key, "is not a number");
		*(double *)to =
			v->type == JSON_INTEGER ? (double)v->number : json_real_value(v->json);
		return 0;
	case FIELD_TEXT:
		if (v->type != JSON_STRING)
			return jsonl_bad(r, f->key, "is not a string");
		*(const char **)to = intern(r->store, v->text, v->len);
		return 0;
	case FIELD_FLAG:
		if (v->type != JSON_TRUE && v->type != JSON_FALSE)
			return jsonl_bad(r, f->key, "is neither true nor false");
		*(bool *)to = v->type == JSON_TRUE;
		return 0;
	case FIELD_TEXTS:
	case FIELD_OBJECTS:
	case FIELD_ROWS:
		if (v->type != JSON_ARRAY)
			return jsonl_bad(r, f->key, "is not a list");
		return set_list(r, f, to, v->json);
	default:
		return set_number(r, f, to, v);
	}
}

/* A field by its name; *@seen: which there were. Unknown keys are for later versions. */
static int set_field(struct jsonl_reader *r, const struct field *fields, void *base,
		     const char *key, size_t len, const struct value *v, uint64_t *seen)
{
	const struct field *f = fields;

	while (f->key && (strncmp(f->key, key, len) != 0 || f->key[len]))
		f++;
	if (!f->key)
		return 0;
	*seen |= (uint64_t)(v->type != JSON_NULL) << (f - fields);
	return set_value(r, f, base, v);
}

static int check_required(struct jsonl_reader *r, const struct field *fields, uint64_t seen)
{
	for (const struct field *f = fields; f->key; f++) {
		if (f->flags & FIELD_REQUIRED && !(seen >> (f - fields) & 1))
			return jsonl_bad(r, f->key, "is missing");
	}
	return 0;
}

static int set_object(struct jsonl_reader *r, const struct field *fields, void *base, json_t *o)
{
	uint64_t seen = 0;
	const char *key;
	json_t *e;

	json_object_foreach (o, key, e) {
		const struct value v = value_of(e);
		int ret = set_field(r, fields, base, key, strlen(key), &v, &seen);

		if (ret)
			return ret;
	}
	return check_required(r, fields, seen);
}

static int bad_row(struct jsonl_reader *r, const struct field *f)
{
	char what[160] = "holds something else than [";
	size_t len = strlen(what);

	for (const struct field *of = f->of; of->key; of++)
		len += snprintf(what + len, sizeof(what) - len, "%s%s", of->key,
				of[1].key ? ", " : "]");
	return jsonl_bad(r, f->key, what);
}

static int set_row(struct jsonl_reader *r, const struct field *f, void *base, const json_t *row)
{
	size_t i = 0;

	for (const struct field *of = f->of; of->key; of++) {
		const json_t *e = json_array_get(row, i++);
		const struct value v = e ? value_of(e) : (struct value){ .type = JSON_NULL };

		if (v.type == JSON_NULL || set_value(r, of, base, &v))
			return bad_row(r, f);
	}
	return 0; /* further values are for later versions */
}

static int set_item(struct jsonl_reader *r, const struct field *f, void *to, json_t *item)
{
	switch (f->type) {
	case FIELD_TEXTS:
		if (!json_is_string(item))
			return jsonl_bad(r, f->key, "holds something else than strings");
		*(const char **)to =
			intern(r->store, json_string_value(item), json_string_length(item));
		return 0;
	case FIELD_OBJECTS:
		if (!json_is_object(item))
			return jsonl_bad(r, f->key, "holds something else than objects");
		return set_object(r, f->of, to, item);
	default:
		return set_row(r, f, to, item);
	}
}

static int set_list(struct jsonl_reader *r, const struct field *f, void *to, const json_t *list)
{
	size_t size = f->type == FIELD_TEXTS ? sizeof(char *) : f->size, n = json_array_size(list);
	char *items = store_alloc(r->store, n * size);

	for (size_t i = 0; i < n; i++) {
		int ret = set_item(r, f, items + i * size, json_array_get(list, i));

		if (ret)
			return ret;
	}
	*(struct jsonl_list *)to = (struct jsonl_list){ items, n };
	return 0;
}

static const struct line_kind *begin(struct jsonl_reader *r, const char *type, size_t len)
{
	const struct jsonl_format *f = r->format;

	for (size_t i = 0; i < f->n_kinds; i++) {
		const struct line_kind *k = &f->kinds[i];

		if (strncmp(k->type, type, len) != 0 || k->type[len])
			continue;
		memcpy(r->line, k->defaults, f->line_size);
		return k;
	}
	return NULL;
}

/* ---- by hand ---- */

/* A string of plain characters; *@p is behind the first quote, and then behind the last. */
static bool scan_text(const char **p, const char *end, const char **ret, size_t *len)
{
	const char *s = *p;

	while (s < end && *s >= ' ' && *s <= '~' && *s != '"' && *s != '\\')
		s++;
	if (s == end || *s != '"')
		return false;
	*ret = *p;
	*len = s - *p;
	*p = s + 1;
	return true;
}

static bool scan_number(const char **p, const char *end, int64_t *ret)
{
	bool negative = *p < end && **p == '-';
	const char *s = *p + negative, *first = s;
	int64_t v = 0;

	/* Eighteen digits fit in any case. */
	for (; s < end && *s >= '0' && *s <= '9' && s - first < 18; s++)
		v = 10 * v + (*s - '0');
	if (s == first || (*first == '0' && s - first > 1) || s == end || (*s != ',' && *s != '}'))
		return false;
	*ret = negative ? -v : v;
	*p = s;
	return true;
}

static bool scan_word(const char **p, const char *end, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(end - *p) < len || memcmp(*p, word, len) != 0)
		return false;
	*p += len;
	return true;
}

static bool scan_value(const char **p, const char *end, struct value *v)
{
	if (scan_word(p, end, "\"")) {
		v->type = JSON_STRING;
		return scan_text(p, end, &v->text, &v->len);
	}
	if (scan_word(p, end, "true")) {
		v->type = JSON_TRUE;
		return true;
	}
	v->type = JSON_INTEGER;
	return scan_number(p, end, &v->number);
}

/* Did that do? If not, nothing is said about the line yet. */
static bool scan_line(struct jsonl_reader *r, const char *p, const char *end,
		      const struct line_kind **kind)
{
	struct error *err = r->err;
	uint64_t seen = 0;
	const char *key;
	bool ok = false;
	size_t len;

	if (!scan_word(&p, end, "{\"type\":\"") || !scan_text(&p, end, &key, &len))
		return false;
	*kind = begin(r, key, len);
	if (!*kind)
		return false;
	r->err = NULL;
	while (scan_word(&p, end, ",\"")) {
		struct value v;

		if (!scan_text(&p, end, &key, &len) || !scan_word(&p, end, ":") ||
		    !scan_value(&p, end, &v) ||
		    set_field(r, (*kind)->fields, r->line, key, len, &v, &seen))
			goto out;
	}
	ok = scan_word(&p, end, "}") && p == end && !check_required(r, (*kind)->fields, seen);
out:
	r->err = err;
	return ok;
}

/* ---- lines ---- */

static int unreadable_line(struct jsonl_reader *r, const char *line, size_t len, const char *why)
{
	char start[64];
	size_t n = snprintf(start, sizeof(start), JSONL_START("%s"), r->format->name);

	if (!r->started && memcmp(line, start, len < n ? len : n) != 0)
		return not_ours(r, line, len);
	if (!r->n_bad++) {
		r->bad_line = r->number;
		snprintf(r->bad_why, sizeof(r->bad_why), "%s", why);
	}
	return 0;
}

static int check_version(struct jsonl_reader *r, uint64_t version)
{
	if (version <= r->format->version)
		return 0;
	return error_set(
		r->err, ENOTSUP,
		"%s was written by a newer scoz (format version %llu, this one reads up to "
		"%llu): update scoz",
		r->path, (unsigned long long)version, (unsigned long long)r->format->version);
}

/* Before anything else is believed of a header: a later version's fields may be of other types. */
static int check_header(struct jsonl_reader *r, const json_t *header)
{
	const char *format = json_string_value(json_object_get(header, "format"));
	json_int_t version = json_integer_value(json_object_get(header, "version"));

	if (!format || strcmp(format, r->format->name) || version < 0)
		return 0;
	return check_version(r, version);
}

static int take_header(struct jsonl_reader *r)
{
	const struct jsonl_header *h = r->line;

	if (h->version < 1)
		return jsonl_bad(r, "version", "is not a positive integer");
	if (check_version(r, h->version))
		return -ENOTSUP;
	r->skipped += r->n_bad;
	r->n_bad = 0;
	r->started = true;
	return 0;
}

/* A line of that kind has been taken apart, with that result. NULL: of a later version. */
static int take_line(struct jsonl_reader *r, const struct line_kind *kind, int ret,
		     const char *line, size_t len)
{
	const struct jsonl_header *h = r->line;
	bool header = kind && kind == r->format->kinds;

	if (!r->started && !(header && !strcmp(h->format, r->format->name)))
		return not_ours(r, line, len);
	if (r->n_bad && !header)
		return damaged(r);
	if (!kind) {
		r->unknown++;
		return 0;
	}
	if (!ret && header)
		ret = take_header(r);
	return ret ? ret : r->take(r, kind - r->format->kinds);
}

static int read_line(struct jsonl_reader *r, const char *line, size_t len)
{
	const struct line_kind *kind;
	const char *type;
	json_error_t why;
	json_t *o;
	int ret = 0, newer = 0;

	r->number++;
	if (scan_line(r, line, line + len, &kind))
		return take_line(r, kind, 0, line, len);
	o = json_loadb(line, len, 0, &why);
	type = json_string_value(json_object_get(o, "type"));
	if (type) {
		kind = begin(r, type, strlen(type));
		if (kind == r->format->kinds)
			newer = check_header(r, o);
		if (kind && !newer)
			ret = set_object(r, kind->fields, r->line, o);
		ret = newer ? newer : take_line(r, kind, ret, line, len);
	} else {
		ret = unreadable_line(r, line, len, o ? "no \"type\"" : why.text);
	}
	json_decref(o);
	return ret;
}

static int read_lines(struct jsonl_reader *r, int fd)
{
	_cleanup_free_ char *buf = NULL;
	size_t cap = 0, have = 0, scanned = 0;

	for (;;) {
		size_t start = 0;
		ssize_t n;
		char *nl;

		array_reserve(buf, cap, have + READ_SIZE);
		n = read(fd, buf + have, cap - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set(r->err, errno, "%s: cannot read: %s", r->path,
					 strerror(errno));
		if (n == 0)
			break;
		have += n;
		while ((nl = memchr(buf + scanned, '\n', have - scanned))) {
			int ret = read_line(r, buf + start, nl - buf - start);

			if (ret)
				return ret;
			start = scanned = nl - buf + 1;
		}
		scanned = have - start;
		memmove(buf, buf + start, scanned);
		have = scanned;
		if (have > JSONL_MAX_LINE)
			return error_set(r->err, EINVAL,
					 "%s, line %zu: longer than %u MiB: not a scoz %s, or a "
					 "damaged one",
					 r->path, r->number + 1, JSONL_MAX_LINE >> 20,
					 r->format->noun);
	}
	r->ends_with_newline = have == 0;
	return have ? read_line(r, buf, have) : 0;
}

int jsonl_read(struct jsonl_reader *r, int fd)
{
	int ret = read_lines(r, fd);

	if (!ret && !r->number)
		ret = error_set(r->err, ENODATA, "%s is empty: nothing was recorded in it",
				r->path);
	else if (!ret && !r->started)
		ret = error_set(r->err, ENODATA,
				"%s is cut off within its first line: nothing was recorded in it",
				r->path);
	r->cut_off = r->n_bad > 0;
	r->skipped += r->n_bad;
	forget_index(r->store);
	if (ret)
		jsonl_error_clean(r->err);
	return ret;
}

/* ---- opening ---- */

int jsonl_open(const struct jsonl_format *format, const char *path, struct error *err)
{
	_cleanup_close_ int found = open(path, O_PATH | O_CLOEXEC);
	struct stat st;
	int fd = found < 0 ? -errno : held_file_reopen(found, &st);

	if (fd == -ENOEXEC && !S_ISDIR(st.st_mode) && file_is_open_already(path)) {
		/* A FIFO may have no writer any more: no reason to wait for another. */
		fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		if (fd >= 0)
			fcntl(fd, F_SETFL, 0);
		else
			fd = -errno;
	}
	if (fd >= 0)
		return fd;
	if (fd == -ENOEXEC && S_ISDIR(st.st_mode))
		return error_set(err, EISDIR, "%s is a directory: name a %s in it", path,
				 format->noun);
	if (fd == -ENOEXEC)
		return error_set(err, EINVAL,
				 "%s is not a regular file: to read a %s from a pipe, name "
				 "/dev/stdin",
				 path, format->noun);
	if (fd == -ENOENT && found >= 0)
		return error_set(err, ENOENT,
				 "%s cannot be opened, as /proc is not mounted here: mount -t proc "
				 "proc /proc",
				 path);
	if (fd == -ENOENT)
		return error_set(err, ENOENT,
				 "%s: no such file: record one with %s %s -- COMMAND, or name "
				 "another",
				 path, format->command, path);
	return error_set(err, -fd, "%s: cannot open: %s", path, strerror(-fd));
}

/* What a pipe holds is for who reads the file: it is looked at without being taken. */
static ssize_t peek_pipe(int fd, char *to, size_t n)
{
	struct pollfd more = { fd, 0, 0 };
	ssize_t got;

	do {
		int pair[2];

		if (pipe2(pair, O_CLOEXEC))
			return -1;
		got = tee(fd, pair[1], n, 0);
		if (got > 0)
			got = read(pair[0], to, got);
		close(pair[0]);
		close(pair[1]);
	} while (got > 0 && (size_t)got < n && poll(&more, 1, 10) >= 0 &&
		 !(more.revents & POLLHUP));
	return got;
}

static ssize_t peek(int fd, char *to, size_t n)
{
	ssize_t got = pread(fd, to, n, 0);

	return got < 0 && errno == ESPIPE ? peek_pipe(fd, to, n) : got;
}

bool jsonl_is(const struct jsonl_format *format, const char *path)
{
	_cleanup_close_ int fd = jsonl_open(format, path, NULL);
	char start[64], there[64];
	ssize_t n = snprintf(start, sizeof(start), JSONL_START("%s"), format->name);

	return fd >= 0 && peek(fd, there, n) == n && !memcmp(start, there, n);
}
