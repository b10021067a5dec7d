// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/fields.h"

#include <jansson.h>

struct value {
	json_type type;
	int64_t number;
	const char *text;
	size_t len;
};

/* ---- strings ---- */

struct piece {
	const char *s;
	size_t len;
};

static bool same_string(const void *texts, uint32_t i, const void *key)
{
	const char *text = ((char *const *)texts)[i];
	const struct piece *p = key;

	return !strncmp(text, p->s, p->len) && !text[p->len];
}

static const char *intern(struct strings *t, const char *s, size_t len)
{
	const struct piece key = { s, len };
	uint64_t h = hash_bytes(HASH_START, s, len);
	uint32_t found = hash_index_find(&t->index, h, same_string, t->text, &key);

	if (found != HASH_NONE)
		return t->text[found];
	array_reserve(t->text, t->cap, t->n + 1);
	t->text[t->n] = xstrndup(s, len);
	hash_index_add(&t->index, h, t->n);
	return t->text[t->n++];
}

/* ---- fields ---- */

static int bad(struct fields *f, const char *key, const char *what)
{
	f->bad_key = key;
	f->bad_what = what;
	return -EINVAL;
}

static int set_number(struct fields *f, const struct field *field, int64_t v)
{
	void *to = (char *)f->line + field->offset;

	switch (field->type) {
	case FIELD_U64:
		if (v < 0)
			return bad(f, field->key, "is negative");
		*(uint64_t *)to = v;
		return 0;
	case FIELD_I32:
		if (v < INT32_MIN || v > INT32_MAX)
			return bad(f, field->key, "is not a small integer");
		*(int32_t *)to = v;
		return 0;
	case FIELD_ID:
		if (v < -1 || v >= UINT32_MAX)
			return bad(f, field->key, "is not an id");
		*(uint32_t *)to = v < 0 ? UINT32_MAX : v;
		return 0;
	case FIELD_U32:
		if (v < 0 || v > UINT32_MAX)
			return bad(f, field->key, "is not a small integer");
		*(uint32_t *)to = v;
		return 0;
	default:
		return bad(f, field->key, "is a number");
	}
}

/* Unknown keys are for later versions. null is as good as absent. */
static int set_field(struct fields *f, const struct field *field, const char *key, size_t len,
		     const struct value *v)
{
	void *to;

	while (field->key && (strncmp(field->key, key, len) != 0 || field->key[len]))
		field++;
	if (!field->key || v->type == JSON_NULL)
		return 0;
	to = (char *)f->line + field->offset;
	if (v->type == JSON_INTEGER)
		return set_number(f, field, v->number);
	if (field->type == FIELD_TEXT) {
		if (v->type != JSON_STRING)
			return bad(f, field->key, "is not a string");
		*(const char **)to = intern(&f->strings, v->text, v->len);
		return 0;
	}
	if (field->type == FIELD_FLAG) {
		if (v->type != JSON_TRUE && v->type != JSON_FALSE)
			return bad(f, field->key, "is neither true nor false");
		*(bool *)to = v->type == JSON_TRUE;
		return 0;
	}
	return bad(f, field->key, "is not an integer");
}

static const struct line_kind *begin(struct fields *f, const char *type, size_t len)
{
	for (size_t i = 0; i < f->n_kinds; i++) {
		const struct line_kind *k = &f->kinds[i];

		if (strncmp(k->type, type, len) != 0 || k->type[len])
			continue;
		memcpy(f->line, k->defaults, f->line_size);
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

static int scan_line(struct fields *f, const char *p, const char *end,
		     const struct line_kind **kind)
{
	const char *key;
	size_t len;

	if (!scan_word(&p, end, "{\"type\":\"") || !scan_text(&p, end, &key, &len))
		return FIELDS_UNREADABLE;
	*kind = begin(f, key, len);
	if (!*kind)
		return FIELDS_UNREADABLE;
	while (scan_word(&p, end, ",\"")) {
		struct value v;
		int ret;

		if (!scan_text(&p, end, &key, &len) || !scan_word(&p, end, ":") ||
		    !scan_value(&p, end, &v))
			return FIELDS_UNREADABLE;
		ret = set_field(f, (*kind)->fields, key, len, &v);
		if (ret)
			return ret;
	}
	return scan_word(&p, end, "}") && p == end ? 0 : FIELDS_UNREADABLE;
}

/* ---- by jansson ---- */

static int parse_object(struct fields *f, json_t *o, const struct line_kind **kind)
{
	const char *type = json_string_value(json_object_get(o, "type")), *key;
	json_t *e;

	if (!type)
		return FIELDS_UNREADABLE;
	*kind = begin(f, type, strlen(type));
	if (!*kind)
		return 0;
	json_object_foreach (o, key, e) {
		struct value v = { .type = json_typeof(e),
				   .number = json_integer_value(e),
				   .text = json_string_value(e),
				   .len = json_string_length(e) };
		int ret = set_field(f, (*kind)->fields, key, strlen(key), &v);

		if (ret)
			return ret;
	}
	return 0;
}

/* ------------------------------------------------------------------------------------------ */

int fields_read(struct fields *f, const char *line, size_t len, const struct line_kind **kind)
{
	json_t *o;
	int ret;

	if (!scan_line(f, line, line + len, kind))
		return 0;
	/* A wrong field counts only if the line is whole. */
	o = json_loadb(line, len, 0, NULL);
	ret = parse_object(f, o, kind);
	json_decref(o);
	return ret;
}

void fields_deinit(struct fields *f)
{
	for (size_t i = 0; i < f->strings.n; i++)
		free(f->strings.text[i]);
	free(f->strings.text);
	hash_index_deinit(&f->strings.index);
}
