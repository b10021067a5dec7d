// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/top/top_view.h"

#define TOLD_NS NSEC_PER_SEC /* more than that behind is worth a word */

/* ---- columns ---- */

enum column_id {
	COLUMN_PID,
	COLUMN_TID,
	COLUMN_COMM,
	COLUMN_FUNCTION,
	COLUMN_OBJECT,
	COLUMN_THREADS,
	COLUMN_CPU,
	COLUMN_CLASS, /* and those of the other classes behind it */
	COLUMN_BAR = COLUMN_CLASS + TOP_CLASSES,
	COLUMN_WAIT,
	COLUMNS
};

#define P (1u << TOP_BY_PROCESS)
#define T (1u << TOP_BY_THREAD)
#define F (1u << TOP_BY_FUNCTION)

/* Where there is no room, those with the highest rank go first; widths are the least ones. */
static const struct {
	const char *title;
	size_t width;
	bool right;
	int rank;
	unsigned int by;
	enum top_sort sort; /* TOP_SORTS: none */
} columns_of[COLUMNS] = {
	[COLUMN_PID] = { "PID", 7, true, 0, P | T, TOP_SORT_PID },
	[COLUMN_TID] = { "TID", 7, true, 1, T, TOP_SORT_PID },
	[COLUMN_COMM] = { "COMMAND", 15, false, 0, P | T, TOP_SORT_NAME },
	[COLUMN_FUNCTION] = { "FUNCTION", 24, false, 0, F, TOP_SORT_NAME },
	[COLUMN_OBJECT] = { "OBJECT", 14, false, 8, F, TOP_SORTS },
	[COLUMN_THREADS] = { "THR", 5, true, 5, P, TOP_SORT_THREADS },
	[COLUMN_CPU] = { "CPU%", 6, true, 0, P | T | F, TOP_SORT_ON },
	[COLUMN_CLASS + TOP_USER] = { "USR%", 6, true, 7, P | T | F, TOP_SORT_USER },
	[COLUMN_CLASS + TOP_KERNEL] = { "SYS%", 6, true, 7, P | T | F, TOP_SORT_KERNEL },
	[COLUMN_CLASS + TOP_SCHED] = { "S%", 5, true, 2, P | T | F, TOP_SORT_SCHED },
	[COLUMN_CLASS + TOP_IO] = { "I%", 5, true, 2, P | T | F, TOP_SORT_IO },
	[COLUMN_CLASS + TOP_LOCK] = { "L%", 5, true, 2, P | T | F, TOP_SORT_LOCK },
	[COLUMN_CLASS + TOP_OTHER] = { "B%", 5, true, 3, P | T | F, TOP_SORT_OTHER },
	[COLUMN_CLASS + TOP_OPEN] = { "W%", 5, true, 6, P | T | F, TOP_SORT_OPEN },
	[COLUMN_BAR] = { "TIME", 10, false, 9, P | T | F, TOP_SORTS },
	[COLUMN_WAIT] = { "TOP WAIT", 15, false, 4, P | T | F, TOP_SORTS },
};

static const char bar_letters[] = "ukSIL. ";

/* Widths by column, 0: it is not shown. Room that is left goes to what can use it. */
static void lay_out(enum top_by by, size_t cols, size_t width[COLUMNS])
{
	size_t used, left;

	for (int i = 0; i < COLUMNS; i++)
		width[i] = columns_of[i].by & 1u << by ? columns_of[i].width : 0;
	for (int rank = 9;; rank--) {
		used = 0;
		for (int i = 0; i < COLUMNS; i++)
			used += width[i] ? width[i] + 1 : 0;
		if (used <= cols + 1 || !rank)
			break;
		for (int i = 0; i < COLUMNS; i++) {
			if (columns_of[i].rank == rank)
				width[i] = 0;
		}
	}
	left = cols + 1 > used ? cols + 1 - used : 0;
	if (width[COLUMN_BAR] && left > 40) {
		width[COLUMN_BAR] += 10;
		left -= 10;
	}
	if (by == TOP_BY_FUNCTION) {
		size_t part = width[COLUMN_WAIT] ? left / 2 : left;

		width[COLUMN_FUNCTION] += part;
		left -= part;
	}
	if (width[COLUMN_WAIT])
		width[COLUMN_WAIT] += left;
}

static char *number(double v)
{
	return xasprintf(v >= 999.95 ? "%.0f" : "%.1f", v);
}

/* Each class as many letters as its share is worth; in sum always as many as there is room for. */
static char *bar_text(const struct top_row *row, size_t room)
{
	char *text = xmalloc(room + 1);
	uint64_t whole = 0, sum = 0;
	size_t at = 0;

	for (int c = 0; c < TOP_CLASSES; c++)
		whole += row->time[c];
	memset(text, ' ', room);
	text[room] = '\0';
	for (int c = 0; whole && c < TOP_CLASSES; c++) {
		sum += row->time[c];
		for (; at < (size_t)((double)sum / whole * room + 0.5); at++)
			text[at] = bar_letters[c];
	}
	return text;
}

static char *wait_text(const struct top_row *row)
{
	const struct top_wait *w = &row->wait;
	bool same = row->symbol && w->function && !strcmp(row->symbol, w->function);
	const char *function = w->function && !same ? w->function : NULL;

	if (!w->ns)
		return xstrdup("");
	return xasprintf("%c%s%s%s%s%s%s%s", TOP_LETTERS[w->class], w->kind ? " " : "",
			 w->kind ? w->kind : "", function ? " " : "", function ? function : "",
			 *w->waker ? " <- " : "", w->waker, w->open ? " ..." : "");
}

static char *cell_text(const struct top_result *r, const struct top_row *row, int column,
		       size_t room)
{
	switch (column) {
	case COLUMN_PID:
		return xasprintf("%d", row->pid);
	case COLUMN_TID:
		return xasprintf("%d", row->tid);
	case COLUMN_COMM:
		return xstrdup(row->comm);
	case COLUMN_FUNCTION:
		return xstrdup(row->symbol);
	case COLUMN_OBJECT:
		return xstrdup(path_base(row->object));
	case COLUMN_THREADS:
		return xasprintf("%u", row->threads);
	case COLUMN_CPU:
		return number(top_percent(r, row, TOP_USER) + top_percent(r, row, TOP_KERNEL));
	case COLUMN_BAR:
		return bar_text(row, room);
	case COLUMN_WAIT:
		return wait_text(row);
	default:
		return number(top_percent(r, row, column - COLUMN_CLASS));
	}
}

/* ---- lines ---- */

static struct top_line *add_line(struct top_lines *lines, enum top_attr attr, char *text)
{
	array_reserve(lines->v, lines->cap, lines->n + 1);
	lines->v[lines->n] = (struct top_line){ .text = text, .attr = attr };
	return &lines->v[lines->n++];
}

void top_lines_clear(struct top_lines *lines)
{
	for (size_t i = 0; i < lines->n; i++)
		free(lines->v[i].text);
	lines->n = 0;
}

static void __attribute__((format(printf, 5, 6)))
add_text(struct top_lines *lines, const struct top_view *v, size_t cols, enum top_attr attr,
	 const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	add_line(lines, attr, top_cut(text, cols, v->utf8));
	free(text);
}

static void add_cell(char **line, char *text, size_t width, bool right, bool utf8)
{
	_cleanup_free_ char *fit = top_fit(text, width, right, utf8);

	text_add(line, "%s%s", *line ? " " : "", fit);
	free(text);
}

static char *finish_line(char *line, size_t cols, bool utf8, bool trim)
{
	char *ret = top_cut(line ? line : "", cols, utf8);
	size_t n = strlen(ret);

	while (trim && n && ret[n - 1] == ' ')
		ret[--n] = '\0';
	free(line);
	return ret;
}

static void add_header(struct top_lines *lines, const struct top_view *v, const size_t *width,
		       size_t cols)
{
	char *line = NULL;

	for (int i = 0; i < COLUMNS; i++) {
		bool sorted = columns_of[i].sort == v->query.sort;

		if (width[i])
			add_cell(&line,
				 xasprintf("%s%s", columns_of[i].title,
					   !sorted	      ? ""
					   : v->query.reverse ? "^"
							      : "v"),
				 width[i], columns_of[i].right, v->utf8);
	}
	add_line(lines, ATTR_HEADER, finish_line(line, cols, v->utf8, v->batch));
}

static void add_row(struct top_lines *lines, const struct top_view *v, const struct top_result *r,
		    size_t row, const size_t *width, size_t cols)
{
	struct top_line *made;
	char *line = NULL;
	size_t bar = 0, at = 0;

	for (int i = 0; i < COLUMNS; i++) {
		if (!width[i])
			continue;
		if (i == COLUMN_BAR)
			bar = at;
		at += width[i] + 1;
		add_cell(&line, cell_text(r, &r->rows[row], i, width[i]), width[i],
			 columns_of[i].right, v->utf8);
	}
	made = add_line(lines, !v->batch && row == v->selected ? ATTR_SELECTED : ATTR_NORMAL,
			finish_line(line, cols, v->utf8, v->batch));
	made->bar = bar;
	made->n_bar = width[COLUMN_BAR];
}

/* ---- the parts of the screen ---- */

static void add_title(struct top_lines *lines, const struct top_view *v, const struct top_result *r,
		      const struct top_info *info, size_t cols)
{
	_cleanup_free_ char *lost =
		info->lost ? xasprintf("  %llu records lost", (unsigned long long)info->lost)
			   : xstrdup("");
	_cleanup_free_ char *of = r->span < info->window_ns
					  ? xasprintf(" of %.3g", info->window_ns / 1e9)
					  : xstrdup("");
	_cleanup_free_ char *behind =
		info->behind_ns >= TOLD_NS
			? xasprintf("  %.0f s behind (names are being read)", info->behind_ns / 1e9)
			: xstrdup("");

	add_text(lines, v, cols, ATTR_TITLE,
		 "scoz top  %s%s  the last %.3g%s s, every %.3g ms, %s%s%s", info->clock,
		 v->frozen ? "  FROZEN (space goes on)" : "", r->span / 1e9, of,
		 info->period_ns / 1e6, info->engine, lost, behind);
}

static void add_summary(struct top_lines *lines, const struct top_view *v,
			const struct top_result *r, size_t cols)
{
	double n[TOP_CLASSES];

	for (int c = 0; c < TOP_CLASSES; c++)
		n[c] = r->span ? (double)r->time[c] / (double)r->span : 0;
	add_text(lines, v, cols, ATTR_NORMAL,
		 "%zu process%s, %zu thread%s: CPU %.2f, S %.2f, I %.2f, L %.2f, "
		 "B %.2f, W %.2f",
		 r->processes, r->processes == 1 ? "" : "es", r->threads,
		 r->threads == 1 ? "" : "s", n[TOP_USER] + n[TOP_KERNEL], n[TOP_SCHED], n[TOP_IO],
		 n[TOP_LOCK], n[TOP_OTHER], n[TOP_OPEN]);
}

static char *scope_text(const struct top_view *v)
{
	static const char *const what[TOP_BYS] = { "Processes", "Threads", "Functions" };
	const char *innermost = v->query.by != TOP_BY_FUNCTION ? ""
				: v->query.user_functions      ? " of programs"
							       : "";

	if (v->query.tid)
		return xasprintf("%s%s of thread %d %s", what[v->query.by], innermost, v->query.tid,
				 v->comm);
	if (v->query.pid)
		return xasprintf("%s%s of process %d %s", what[v->query.by], innermost,
				 v->query.pid, v->comm);
	return xasprintf("%s%s", what[v->query.by], innermost);
}

static void add_scope(struct top_lines *lines, const struct top_view *v, const struct top_result *r,
		      size_t cols)
{
	_cleanup_free_ char *scope = scope_text(v);
	_cleanup_free_ char *idle =
		r->n_idle ? xasprintf(", %zu idle hidden", r->n_idle) : xstrdup("");

	add_text(lines, v, cols, ATTR_NORMAL, "%s by %s%s, class %s%s", scope,
		 top_sort_names[v->query.sort], v->query.reverse ? " reversed" : "",
		 top_filter_title(v), idle);
}

static void add_reason(struct top_lines *lines, const struct top_view *v,
		       const struct top_result *r, const struct top_info *info, size_t cols)
{
	const char *why = "no thread was there in this window";

	if (info->gone && !r->threads)
		why = "what is watched (--pid) has ended";
	else if (!r->span)
		why = "the first samples are awaited";
	else if (r->n_idle)
		why = "all are idle, and hidden: i shows them";
	else if (v->filter)
		why = "no time of this class: c shows other classes";
	add_text(lines, v, cols, ATTR_NORMAL, "%s", why);
}

static void add_table(struct top_lines *lines, struct top_view *v, const struct top_result *r,
		      const struct top_info *info, size_t rows, size_t cols)
{
	size_t width[COLUMNS];

	lay_out(v->query.by, cols, width);
	add_header(lines, v, width, cols);
	if (!r->n_rows)
		add_reason(lines, v, r, info, cols);
	v->page_rows = rows > lines->n ? rows - lines->n : 1;
	if (v->selected >= r->n_rows)
		v->selected = r->n_rows ? r->n_rows - 1 : 0;
	if (v->first > v->selected)
		v->first = v->selected;
	if (v->selected >= v->first + v->page_rows)
		v->first = v->selected - v->page_rows + 1;
	if (v->batch)
		v->first = 0;
	else if (v->first + v->page_rows > r->n_rows)
		v->first = r->n_rows > v->page_rows ? r->n_rows - v->page_rows : 0;
	for (size_t i = v->first; i < r->n_rows && lines->n < rows; i++)
		add_row(lines, v, r, i, width, cols);
}

static void add_stack(struct top_lines *lines, struct top_view *v, const struct top_info *info,
		      size_t rows, size_t cols)
{
	const struct record_stack *s;
	struct top_lines all = {};

	add_text(lines, v, cols, ATTR_HEADER, "The call chain met most often, innermost first: %s",
		 v->cursor.symbol ? v->cursor.symbol : "");
	for (uint32_t id = v->cursor.stack; id != RECORDING_NONE; id = s->parent) {
		const struct record_frame *f;

		s = info->stack(id, info->arg);
		f = s ? info->frame(s->frame, info->arg) : NULL;
		if (!f)
			break;
		if (f->file && f->line)
			add_text(&all, v, cols, ATTR_NORMAL, "  %s%s  %s:%u", f->symbol,
				 f->kind == FRAME_INLINED ? " (inlined)" : "", f->file, f->line);
		else
			add_text(&all, v, cols, ATTR_NORMAL, "  %s%s  %s", f->symbol,
				 f->kind == FRAME_INLINED ? " (inlined)" : "",
				 f->object ? path_base(f->object) : "");
	}
	if (!all.n)
		add_text(&all, v, cols, ATTR_NORMAL,
			 "  no call chain: a wait that goes on, or one whose chain could not be "
			 "read");
	v->page_rows = rows > lines->n ? rows - lines->n : 1;
	if (v->scroll >= all.n)
		v->scroll = all.n - 1;
	for (size_t i = 0; i < all.n; i++) {
		if (i >= v->scroll && lines->n < rows)
			add_line(lines, all.v[i].attr, all.v[i].text);
		else
			free(all.v[i].text);
	}
	free(all.v);
}

static void add_help(struct top_lines *lines, struct top_view *v, size_t rows, size_t cols)
{
	size_t n = 0;

	while (top_help[n])
		n++;
	v->page_rows = rows > 1 ? rows : 1;
	if (v->scroll >= n)
		v->scroll = n - 1;
	for (size_t i = v->scroll; i < n && lines->n < rows; i++)
		add_text(lines, v, cols, ATTR_NORMAL, "%s", top_help[i]);
}

void top_view_draw(struct top_view *v, const struct top_result *r, const struct top_info *info,
		   size_t rows, size_t cols, struct top_lines *ret)
{
	/* A line with the most important keys, where there is room for one. */
	bool hint = !v->batch && rows >= 12;
	size_t room = v->batch ? SIZE_MAX : rows - hint;

	top_lines_clear(ret);
	if (!rows || !cols)
		return;
	if (v->page == PAGE_HELP) {
		add_help(ret, v, room, cols);
	} else {
		/* On a tiny terminal the table is what matters. */
		if (room >= 4)
			add_title(ret, v, r, info, cols);
		if (room >= 8)
			add_summary(ret, v, r, cols);
		if (room >= 6)
			add_scope(ret, v, r, cols);
		if (v->page == PAGE_STACK)
			add_stack(ret, v, info, room, cols);
		else
			add_table(ret, v, r, info, room, cols);
	}
	while (!v->batch && ret->n > room)
		free(ret->v[--ret->n].text);
	if (!hint)
		return;
	while (ret->n < room)
		add_line(ret, ATTR_NORMAL, xstrdup(""));
	add_text(ret, v, cols, ATTR_HINT, "%s",
		 v->page == PAGE_TABLE
			 ? "q quit  h help  p t f views  Enter open  Esc back  <> sort  "
			   "c class  i idle"
			 : "q quit  Esc back");
}
