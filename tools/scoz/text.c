// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/text.h"
#include "files/output_file.h"
#include "tools/scoz/wrong_file.h"

#include <ctype.h>
#include <fcntl.h>
#include <math.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_WIDTH 132

void text_xml(FILE *out, const char *s)
{
	_cleanup_free_ char *clean = text_clean(s, "\xef\xbf\xbd");

	for (const char *p = clean; *p; p++) {
		switch (*p) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			fputc(*p, out);
		}
	}
}

/* ---- pages ---- */

void page_begin(FILE *out)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
	      "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
	      out);
}

void page_list(FILE *out, const char *title, char *const *texts, size_t n)
{
	if (!n)
		return;
	fprintf(out, "<h2>%s</h2>\n<ul class=\"notes\">\n", title);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "<li>");
		text_xml(out, texts[i]);
		fprintf(out, "</li>\n");
	}
	fprintf(out, "</ul>\n");
}

/* ---- lines ---- */

char *text_shown(const char *s)
{
	_cleanup_free_ char *text = text_clean(s, "?");

	return locale_text(text);
}

/* The digits at @s, with fractions and thousands. */
static size_t number_length(const char *s)
{
	size_t n = strspn(s, "0123456789");

	while (n && (s[n] == '.' || s[n] == ',') && isdigit((unsigned char)s[n + 1]))
		n += 1 + strspn(s + n + 1, "0123456789");
	return n;
}

bool text_alike(const char *a, const char *b)
{
	while (*a && *b) {
		size_t n = number_length(a), k = number_length(b);

		if (n && k) {
			a += n;
			b += k;
		} else if (*a++ != *b++) {
			return false;
		}
	}
	return *a == *b;
}

/* Of a word, with the sign that belongs to it: "12.5 %". */
static size_t word_length(const char *text)
{
	size_t len = strcspn(text, " ");

	while (!strncmp(text + len, " %", 2))
		len += 1 + strcspn(text + len + 1, " ");
	return len;
}

void text_put_wrapped(const char *text, size_t indent, size_t width)
{
	size_t used = 0;

	while (*text) {
		size_t len = word_length(text), w;
		_cleanup_free_ char *word = xstrndup(text, len);

		w = text_width(word);
		if (used && used + 1 + w > width - indent) {
			printf("\n%*s", (int)indent, "");
			used = 0;
		} else if (used) {
			putchar(' ');
			used++;
		}
		fputs(word, stdout);
		used += w;
		text += len;
		text += strspn(text, " ");
	}
	putchar('\n');
}

/* ---- tables ---- */

void table_init(struct table *t, size_t cols)
{
	memset(t, 0, sizeof(*t));
	t->cols = cols;
	t->right = xcalloc(cols, sizeof(*t->right));
}

void table_init_heads(struct table *t, const char *heads)
{
	size_t cols = 1;
	char **cell;

	for (const char *p = heads; *p; p++)
		cols += *p == '|';
	table_init(t, cols);
	cell = table_row(t);
	for (size_t i = 0; i < cols; i++) {
		size_t n = strcspn(heads, "|");

		t->right[i] = *heads == '>';
		cell[i] = xasprintf("%.*s", (int)(n - t->right[i]), heads + t->right[i]);
		heads += n + 1;
	}
}

void table_deinit(struct table *t)
{
	for (size_t i = 0; i < t->rows * t->cols; i++)
		free(t->cell[i]);
	free(t->cell);
	free(t->right);
}

char **table_row(struct table *t)
{
	char **row;

	array_reserve(t->cell, t->cap, (t->rows + 1) * t->cols);
	row = &t->cell[t->rows++ * t->cols];
	memset(row, 0, t->cols * sizeof(*row));
	return row;
}

static size_t column_width(const struct table *t, size_t col)
{
	size_t width = 0;

	for (size_t i = 0; i < t->rows; i++) {
		const char *cell = t->cell[i * t->cols + col];
		size_t w = cell ? text_width(cell) : 0;

		width = w > width ? w : width;
	}
	return width;
}

size_t *table_widths(const struct table *t)
{
	size_t *widths = xcalloc(t->cols, sizeof(*widths));

	for (size_t i = 0; i < t->cols; i++)
		widths[i] = column_width(t, i);
	return widths;
}

size_t table_width(const struct table *t)
{
	_cleanup_free_ size_t *widths = table_widths(t);
	size_t width = 0;

	for (size_t i = 0; i < t->cols; i++)
		width += widths[i] + (i ? 2 : 0);
	return width;
}

void table_shorten(struct table *t, size_t col, size_t max)
{
	_cleanup_free_ char **names = xcalloc(t->rows, sizeof(*names));
	size_t n = 0, back = 0;

	for (size_t r = 1; r < t->rows; r++) {
		if (t->cell[r * t->cols + col])
			names[n++] = t->cell[r * t->cols + col];
	}
	names_shorten(names, n, max, locale_ellipsis());
	for (size_t r = 1; r < t->rows; r++) {
		if (t->cell[r * t->cols + col])
			t->cell[r * t->cols + col] = names[back++];
	}
}

void table_print_row(const struct table *t, const size_t *widths, size_t row)
{
	size_t spaces = 0;

	for (size_t i = 0; i < t->cols; i++) {
		const char *cell = t->cell[row * t->cols + i];
		size_t used = cell ? text_width(cell) : 0;
		size_t pad = widths[i] - used;

		if (t->right[i])
			spaces += pad;
		if (used) {
			printf("%*s%s", (int)spaces, "", cell);
			spaces = 0;
		} else {
			spaces += used;
		}
		if (!t->right[i])
			spaces += pad;
		spaces += 2;
	}
	putchar('\n');
}

void table_print(struct table *t)
{
	_cleanup_free_ size_t *widths = table_widths(t);

	for (size_t i = 0; i < t->rows; i++)
		table_print_row(t, widths, i);
	table_deinit(t);
}

/* ---- where output goes ---- */

size_t output_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize ws;

	if (columns && atoi(columns) > 0)
		return atoi(columns);
	if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col)
		return ws.ws_col;
	return DEFAULT_WIDTH;
}

size_t prose_width(void)
{
	return !getenv("COLUMNS") && !isatty(STDOUT_FILENO) ? SIZE_MAX : output_width();
}

bool output_ends_with(const char *path, const char *end)
{
	size_t a = strlen(path), b = strlen(end);

	return a >= b && !strcasecmp(path + a - b, end);
}

bool output_is_page(const char *path)
{
	return !strcmp(path, "-") || output_ends_with(path, ".html") ||
	       output_ends_with(path, ".htm");
}

FILE *output_open(const char *path)
{
	const char *kept = NULL;
	struct error err = {};
	struct stat st;
	bool regular;
	FILE *out;
	int fd;

	if (!path || !strcmp(path, "-"))
		return stdout;
	fd = output_file_open(path, O_WRONLY | O_NOCTTY, OUTPUT_USERS, NULL, &err);
	if (fd < 0) {
		log_warn("%s", err.text);
		return NULL;
	}
	out = fdopen(fd, "w");
	if (!out) {
		log_warn("%s: cannot open for writing: %s: choose another file with -o", path,
			 strerror(errno));
		close(fd);
		return NULL;
	}
	regular = !fstat(fd, &st) && S_ISREG(st.st_mode);
	if (regular && st.st_size)
		kept = scoz_file(path);
	if (kept) {
		log_warn("%s exists and is %s: it is not replaced; remove it, or choose another "
			 "file with -o",
			 path, kept);
		fclose(out);
		return NULL;
	}
	if (regular && ftruncate(fd, 0)) {
		log_warn("%s: cannot empty it: %s: choose another file with -o", path,
			 strerror(errno));
		fclose(out);
		return NULL;
	}
	return out;
}

int output_close(FILE *out, const char *path)
{
	bool bad;

	if (out == stdout)
		return 0; /* main() flushes it */
	bad = ferror(out);
	errno = 0;
	if (bad) { /* of the write that failed the reason is forgotten: that of another one */
		clearerr(out);
		fputc('\n', out);
	}
	bad |= fclose(out) != 0;
	if (bad)
		log_warn("%s: cannot write: %s: what is there is incomplete; make room, or choose "
			 "another file with -o",
			 path, errno ? strerror(errno) : "an earlier write failed");
	return bad ? 1 : 0;
}
