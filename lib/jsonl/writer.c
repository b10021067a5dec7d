// SPDX-License-Identifier: GPL-2.0-or-later
/* There may be hundreds of thousands of lines a second, so they are put together by hand. */
#include "jsonl/writer.h"

#include <fcntl.h>
#include <math.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json_text.h"
#include "files/output_file.h"

/* ---- lines ---- */

static void put_bytes(struct jsonl_text *t, const char *s, size_t len)
{
	array_reserve(t->buf, t->cap, t->len + len);
	memcpy(t->buf + t->len, s, len);
	t->len += len;
}

static void put(struct jsonl_text *t, const char *s)
{
	put_bytes(t, s, strlen(s));
}

static void put_integer(struct jsonl_text *t, int64_t v)
{
	char digits[20], *p = digits + sizeof(digits);
	uint64_t left = v < 0 ? -(uint64_t)v : (uint64_t)v;

	do
		*--p = '0' + left % 10;
	while (left /= 10);
	if (v < 0)
		*--p = '-';
	put_bytes(t, p, digits + sizeof(digits) - p);
}

static void put_real(struct jsonl_text *t, double v)
{
	char text[32];
	char *comma;

	if (!isfinite(v)) {
		put(t, "null");
		return;
	}
	snprintf(text, sizeof(text), "%.12g", v);
	comma = strchr(text, ','); /* of some locales */
	if (comma)
		*comma = '.';
	put(t, text);
	if (!strpbrk(text, ".e"))
		put(t, ".0");
}

static bool is_plain(const char *s)
{
	for (; *s; s++) {
		if (*s < ' ' || *s > '~' || *s == '"' || *s == '\\')
			return false;
	}
	return true;
}

static void put_text(struct jsonl_text *t, const char *s)
{
	_cleanup_free_ char *escaped = NULL;
	json_t *j;

	if (!s) {
		put(t, "null");
	} else if (is_plain(s)) {
		put(t, "\"");
		put(t, s);
		put(t, "\"");
	} else {
		j = json_text(s);
		escaped = json_dumps(j, JSON_ENCODE_ANY);
		json_decref(j);
		put(t, escaped ? escaped : "\"\"");
	}
}

static void put_key(struct jsonl_text *t, const char *key)
{
	if (t->buf[t->len - 1] != '{')
		put(t, ",");
	put(t, "\"");
	put(t, key);
	put(t, "\":");
}

static void put_fields(struct jsonl_text *t, const struct field *f, const void *from,
		       const void *defaults, bool keys);

static void put_list(struct jsonl_text *t, const struct field *f, const struct jsonl_list *list)
{
	put(t, "[");
	for (size_t i = 0; i < list->n; i++) {
		bool row = f->type == FIELD_ROWS;

		put(t, i ? "," : "");
		if (f->type == FIELD_TEXTS) {
			put_text(t, ((const char **)list->items)[i]);
			continue;
		}
		put(t, row ? "[" : "{");
		put_fields(t, f->of, (const char *)list->items + i * f->size, NULL, !row);
		put(t, row ? "]" : "}");
	}
	put(t, "]");
}

static int64_t integer_at(const struct field *f, const void *p)
{
	switch (f->type) {
	case FIELD_U64:
	case FIELD_BITS:
		return *(const int64_t *)p;
	case FIELD_U32:
		return *(const uint32_t *)p;
	case FIELD_ID:
		return *(const uint32_t *)p == UINT32_MAX ? -1 : (int64_t) * (const uint32_t *)p;
	default:
		return *(const int32_t *)p;
	}
}

static void put_value(struct jsonl_text *t, const struct field *f, const void *p, const void *dflt)
{
	const char *s;

	switch (f->type) {
	case FIELD_REAL:
		put_real(t, *(const double *)p);
		break;
	case FIELD_TEXT:
		s = *(const char *const *)p;
		put_text(t, s || !dflt ? s : *(const char *const *)dflt);
		break;
	case FIELD_FLAG:
		put(t, *(const bool *)p ? "true" : "false");
		break;
	case FIELD_TEXTS:
	case FIELD_OBJECTS:
	case FIELD_ROWS:
		put_list(t, f, p);
		break;
	default:
		put_integer(t, integer_at(f, p));
	}
}

/* Of numbers, texts and flags. */
static bool is_default(const struct field *f, const void *p, const void *dflt)
{
	const char *s, *usual;

	if (f->type == FIELD_FLAG)
		return *(const bool *)p == *(const bool *)dflt;
	if (f->type != FIELD_TEXT)
		return integer_at(f, p) == integer_at(f, dflt);
	s = *(const char *const *)p;
	usual = *(const char *const *)dflt;
	return !s || (usual && !strcmp(s, usual));
}

static void put_fields(struct jsonl_text *t, const struct field *f, const void *from,
		       const void *defaults, bool keys)
{
	const struct field *first = f;

	for (; f->key; f++) {
		const void *p = (const char *)from + f->offset;
		const void *dflt = defaults ? (const char *)defaults + f->offset : NULL;

		if (dflt && (f->flags & FIELD_OPTIONAL || f->type == FIELD_FLAG) &&
		    is_default(f, p, dflt))
			continue;
		if (keys)
			put_key(t, f->key);
		else if (f > first)
			put(t, ",");
		put_value(t, f, p, dflt);
	}
}

void jsonl_put(struct jsonl_text *t, const struct line_kind *kind, const void *line)
{
	put(t, "{");
	put_key(t, "type");
	put_text(t, kind->type);
	put_fields(t, kind->fields, line, kind->defaults, true);
	put(t, "}\n");
}

/* ---- files ---- */

int jsonl_file_error(const struct jsonl_file *f, int errnum, struct error *err)
{
	if (errnum == ENOSPC || errnum == EDQUOT || errnum == EFBIG)
		return error_set(err, errnum,
				 "%s: %s: the %s is readable up to here; %s and run again", f->path,
				 errnum == ENOSPC   ? "no space left on device"
				 : errnum == EDQUOT ? "disk quota exceeded"
						    : "file size limit reached",
				 f->noun,
				 errnum == EFBIG ? "raise the limit (ulimit -f)" : "free space");
	return error_set(err, errnum, "%s: cannot write: %s: the %s is readable up to here",
			 f->path, strerror(errnum), f->noun);
}

/* Of @done bytes that were written, the last line may be half. */
static void take_back_half_line(struct jsonl_file *f, const char *lines, size_t done)
{
	const char *nl = memrchr(lines, '\n', done);
	size_t half = done - (nl ? (size_t)(nl - lines) + 1 : 0);
	off_t end = half && f->regular ? lseek(f->fd, 0, SEEK_END) : 0;

	if (half && f->regular && (end < (off_t)half || ftruncate(f->fd, end - (off_t)half) < 0))
		f->broken = true;
}

int jsonl_file_write(struct jsonl_file *f, const char *lines, size_t len, struct error *err)
{
	size_t done = 0;

	if (f->broken)
		return error_set(err, EIO,
				 "%s: not written to any more: an earlier line could not be "
				 "written whole; the %s is readable up to there",
				 f->path, f->noun);
	while (done < len) {
		ssize_t n = write(f->fd, lines + done, len - done);
		int saved = errno;

		if (n > 0) {
			done += n;
			continue;
		}
		if (n < 0 && saved == EINTR)
			continue;
		take_back_half_line(f, lines, done);
		return jsonl_file_error(f, n < 0 ? saved : ENOSPC, err);
	}
	return 0;
}

int jsonl_file_sync(struct jsonl_file *f, struct error *err)
{
	if (f->regular && fdatasync(f->fd) < 0 && errno != EINVAL && errno != EROFS)
		return jsonl_file_error(f, errno, err);
	return 0;
}

int jsonl_file_open(struct jsonl_file *f, const struct jsonl_format *format, const char *path,
		    struct error *err)
{
	/* O_NONBLOCK: nor is waited for whoever has a lease on it. */
	const int flags = O_RDWR | O_APPEND | O_NONBLOCK;
	struct stat st;

	*f = JSONL_FILE_INIT;
	f->noun = format->noun;
	f->path = xstrdup(path);
	f->fd = output_file_open(path, flags, OUTPUT_PRIVATE, &f->created, err);
	if (f->fd < 0)
		return f->fd;
	if (fstat(f->fd, &st) < 0)
		return jsonl_file_error(f, errno, err);
	f->regular = S_ISREG(st.st_mode);
	f->before = st.st_size;
	if (f->regular && flock(f->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return error_set(err, EBUSY,
				 "%s: another run is writing to it: wait for it to end, or choose "
				 "another file with -o",
				 path);
	return 0;
}

void jsonl_file_close(struct jsonl_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	free(f->path);
	*f = JSONL_FILE_INIT;
}
