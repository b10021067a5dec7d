// SPDX-License-Identifier: GPL-2.0-or-later
/* The report on a recording for people, in the form of perf report. */
#include "tools/scoz/recording/record_model.h"
#include "tools/scoz/text.h"

#define STACK_LINES 16

const char *const record_level_names[RECORD_LEVELS] = {
	"on CPU, user",	       "on CPU, kernel",    "waiting for I/O",
	"waiting for threads", "waiting for a CPU", "waiting, other",
};

static char *time_text(double ns)
{
	return ns >= 1e9   ? xasprintf("%.3g s", ns / 1e9)
	       : ns >= 1e6 ? xasprintf("%.3g ms", ns / 1e6)
			   : xasprintf("%.3g us", ns / 1e3);
}

/* ---- head ---- */

static void print_level(const struct record_model *m, enum record_level level, const char *name,
			const struct record_share *part)
{
	_cleanup_free_ char *mean = NULL;

	if (!part->points)
		return;
	printf("# [%c] %-25s %10llu %8.2f%%", RECORD_LETTERS[level], name,
	       (unsigned long long)part->points, record_percent(part->points, m->points));
	if (level > LEVEL_KERNEL) {
		mean = time_text((double)part->duration / (double)part->samples);
		printf(" %10llu %10s", (unsigned long long)part->samples, mean);
	}
	putchar('\n');
}

static void print_levels(const struct record_model *m)
{
	printf("#\n# %-27s %12s %9s %10s %10s\n", "Class", "Points", "Share", "Waits", "Mean wait");
	for (size_t i = 0; i < RECORD_LEVELS; i++) {
		struct record_share all = { m->levels[i], m->level_samples[i], m->level_ns[i] };

		if (i == LEVEL_LOCK) {
			all.points -= m->held.points;
			all.samples -= m->held.samples;
			all.duration -= m->held.duration;
			print_level(m, i, "waiting for a lock", &m->held);
			print_level(m, i, "waiting for other threads", &all);
		} else {
			print_level(m, i, record_level_names[i], &all);
		}
	}
}

static void print_intro(const struct record_model *m)
{
	const struct recording *rec = m->rec;
	const struct record_header *h = &rec->header;
	_cleanup_free_ char *path = text_shown(rec->path), *host = text_shown(h->host);
	_cleanup_free_ char *command = text_shown(h->command);
	_cleanup_free_ char *kernel = text_shown(h->kernel);
	_cleanup_free_ char *engine = text_shown(h->engine);
	_cleanup_free_ char *scope = text_shown(h->scope);
	_cleanup_free_ char *started = text_shown(h->started);
	_cleanup_free_ char *period = time_text((double)h->period_ns);
	uint64_t all = record_points(rec);

	printf("# %s: %s\n", path, *command ? command : "no command");
	printf("# machine: %s, Linux %s, %u CPUs; recorded: %s, %s, engine %s\n", host, kernel,
	       h->cpus, *scope ? scope : "?", started, engine);
	if (rec->complete)
		printf("# time: %.3f s\n", (double)rec->footer.duration / 1e9);
	printf("# samples: %zu, which stand for %llu points, each %s of a thread; %llu records "
	       "lost\n",
	       rec->n_samples, (unsigned long long)all, period,
	       (unsigned long long)rec->footer.lost);
	if (m->points != all)
		printf("# the filters let %llu points through: 100 %% are these\n",
		       (unsigned long long)m->points);
}

static void print_texts(const char *before, char **texts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *shown = text_shown(texts[i]);

		printf("# %s%s\n", before, shown);
		free(texts[i]);
	}
	free(texts);
}

static void print_warnings_of(const struct record_model *m)
{
	size_t n;
	char **texts = record_warnings(m, &n);

	print_texts("warning: ", texts, n);
}

static void print_notes_of(const struct record_model *m)
{
	size_t n;
	char **texts = record_notes(m, &n);

	if (n)
		printf("#\n");
	print_texts("", texts, n);
}

/* ---- rows ---- */

static char *cell_text(const struct record_model *m, const struct record_row *row,
		       enum record_sort by)
{
	const struct record_entry *e = row->entry;
	const struct record_frame *f = row->frame;
	const struct record_thread *t = &m->rec->threads[e->thread];
	const struct record_process *p = record_process_of(m, e->thread);
	_cleanup_free_ char *s = NULL;

	switch (by) {
	case SORT_COMM:
		return text_shown(e->comm);
	case SORT_DSO:
		return text_shown(*f->object ? path_base(f->object) : "[unknown]");
	case SORT_SYM:
		s = text_shown(f->symbol);
		return xasprintf("[%c] %s%s", RECORD_LETTERS[row->level], s,
				 f->kind == FRAME_INLINED ? " (inlined)" : "");
	case SORT_PID:
		return xasprintf("%d", t->pid);
	case SORT_TID:
		return xasprintf("%d", t->tid);
	case SORT_CLASS:
		return xstrdup(row->level <= LEVEL_KERNEL
				       ? "on"
				       : record_class_name((enum record_class)(row->level - 1)));
	case SORT_KIND:
		return text_shown(e->kind ? e->kind : "-");
	case SORT_CPU:
		return xasprintf("%u", e->cpu);
	case SORT_WAKER:
		s = record_waker_name(m, e->waker, e->event);
		return locale_text(s);
	case SORT_PROCESS:
		return text_shown(p->name);
	case SORT_RANK:
		return p->rank < 0 ? xstrdup("-") : xasprintf("%d", p->rank);
	case SORT_FILE:
		return text_shown(f->file ? f->file : "-");
	default:
		s = text_shown(f->file ? f->file : "-");
		return f->file ? xasprintf("%s:%u", s, f->line) : xstrdup(s);
	}
}

static const char *const titles[RECORD_SORTS] = {
	[SORT_COMM] = "Command",
	[SORT_DSO] = "Shared Object",
	[SORT_SYM] = "Symbol",
	[SORT_PID] = "Pid",
	[SORT_TID] = "Tid",
	[SORT_CLASS] = "Class",
	[SORT_KIND] = "Kind",
	[SORT_CPU] = "CPU",
	[SORT_WAKER] = "Woken by",
	[SORT_FILE] = "Source",
	[SORT_SRCLINE] = "Source:Line",
	[SORT_PROCESS] = "Process",
	[SORT_RANK] = "Rank",
};

static void print_padded(const char *s, size_t width, bool last)
{
	size_t used = text_width(s);

	printf("  %s%*s", s, last || used > width ? 0 : (int)(width - used), "");
}

static void print_titles(const struct record_options *o, const size_t *width)
{
	static const char dots[] =
		"................................................................";

	printf("# %s", o->children ? "Children      Self" : "Overhead");
	for (size_t k = 0; k < o->n_sort; k++)
		print_padded(titles[o->sort[k]], width[k], k + 1 == o->n_sort);
	printf("\n# %s", o->children ? "........  ........" : "........");
	for (size_t k = 0; k < o->n_sort; k++) {
		size_t n = width[k] < sizeof(dots) - 1 ? width[k] : sizeof(dots) - 1;
		char line[sizeof(dots)];

		memcpy(line, dots, n);
		line[n] = '\0';
		print_padded(line, width[k], k + 1 == o->n_sort);
	}
	printf("\n#\n");
}

static bool is_shown(const struct record_model *m, const struct record_group *g,
		     const struct record_row *row)
{
	uint64_t points = m->options->children ? row->total : row->self;

	return record_percent(points, g->points) >= m->options->percent_limit;
}

static void print_rows(const struct record_model *m, const struct record_group *g)
{
	const struct record_options *o = m->options;
	char **cells = xcalloc(g->n_rows * o->n_sort, sizeof(*cells));
	size_t width[RECORD_SORTS], hidden = 0;
	uint64_t hidden_points = 0;

	for (size_t k = 0; k < o->n_sort; k++)
		width[k] = strlen(titles[o->sort[k]]);
	for (size_t i = 0; i < g->n_rows; i++) {
		for (size_t k = 0; is_shown(m, g, &g->rows[i]) && k < o->n_sort; k++) {
			char *text = cell_text(m, &g->rows[i], o->sort[k]);
			size_t w = text_width(text);

			cells[i * o->n_sort + k] = text;
			width[k] = w > width[k] ? w : width[k];
		}
	}
	print_titles(o, width);
	for (size_t i = 0; i < g->n_rows; i++) {
		const struct record_row *row = &g->rows[i];

		if (!is_shown(m, g, row)) {
			hidden++;
			hidden_points += row->self;
			continue;
		}
		if (o->children)
			printf("%9.2f%%", record_percent(row->total, g->points));
		printf("%*.2f%%", 9, row->share / 100.0);
		for (size_t k = 0; k < o->n_sort; k++) {
			print_padded(cells[i * o->n_sort + k], width[k], k + 1 == o->n_sort);
			free(cells[i * o->n_sort + k]);
		}
		putchar('\n');
		if (o->graph)
			record_print_graph(g, row);
	}
	if (hidden)
		printf("#\n# %zu rows below the limit are not shown: %.2f %% together\n", hidden,
		       record_percent(hidden_points, g->points));
	free(cells);
}

/* ---- processes and threads ---- */

static void print_shares(const char *what, const uint64_t *part, uint64_t whole)
{
	static const char *const names[] = { "on CPU", "I/O", "scheduling", "locks", "other" };

	printf("# %s:", what);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (part[i] != UINT64_MAX)
			printf("%s %s %.2f %%", i ? "," : "", names[i],
			       record_percent(part[i], whole));
	}
	putchar('\n');
}

static void print_heading(const struct record_model *m, const struct record_group *g)
{
	const struct record_thread *t = &m->rec->threads[g->heaviest->thread];
	const struct record_process *p = record_process_of(m, g->heaviest->thread);
	_cleanup_free_ char *comm = text_shown(g->heaviest->comm);
	const uint64_t *l = g->levels;
	uint64_t sampled[] = { l[LEVEL_USER] + l[LEVEL_KERNEL], l[LEVEL_IO], l[LEVEL_SCHED],
			       l[LEVEL_LOCK], l[LEVEL_OTHER] };

	if (m->options->per == PER_RANK && p->rank < 0)
		printf("# No rank");
	else if (p->rank >= 0)
		printf("# Rank %d: ", p->rank);
	else
		printf("# ");
	if (m->options->per == PER_THREAD)
		printf("%s %d of process %d", p->rank < 0 ? "Thread" : "thread", t->tid, t->pid);
	else if (m->options->per == PER_PROCESS || p->rank >= 0)
		printf("%s %d", p->rank < 0 ? "Process" : "process", t->pid);
	printf(" (%s): %llu points, %.2f %% of all\n", comm, (unsigned long long)g->points,
	       record_percent(g->points, m->points));
	print_shares("sampled", sampled, g->points);
	if (m->options->per == PER_THREAD && t->has_times) {
		uint64_t exact[] = { t->on, t->io, t->sched, UINT64_MAX, t->other };
		_cleanup_free_ char *time = time_text((double)(t->to - t->from));

		print_shares("exact, locks among other", exact, t->to - t->from);
		printf("# recorded for %s%s\n", time, t->exited ? ", then it ended" : "");
	}
	printf("#\n");
}

/* ---- waits ---- */

static void print_wakers(const struct record_model *m, const struct record_wait *w,
			 const struct record_wakers *list, const char *before)
{
	for (size_t i = 0; i < list->n && i < 3; i++) {
		const struct record_waker *by = &list->list[i];
		_cleanup_free_ char *name = record_waker_name(m, by->thread, by->event);
		_cleanup_free_ char *shown = locale_text(name);
		bool known = by->event || by->thread != RECORDING_NONE;

		printf("%s%s %.0f %%", i ? ", " : before, known ? shown : "unknown",
		       record_percent(by->points, w->points));
	}
	if (list->n > 3)
		printf(", %zu more", list->n - 3);
}

static void print_wait(const struct record_model *m, const struct record_wait *w)
{
	_cleanup_free_ char *kind = w->kind ? text_shown(w->kind) : NULL;
	_cleanup_free_ char *time = time_text((double)w->points * (double)m->rec->header.period_ns);
	_cleanup_free_ char *mean = time_text((double)w->duration / (double)w->samples);

	printf("%9.2f%%  %s in %llu waits of %s on average", record_percent(w->points, m->points),
	       time, (unsigned long long)w->samples, mean);
	printf("%s%s", kind ? "; " : "", kind ? kind : "");
	if (w->level != LEVEL_SCHED) {
		print_wakers(m, w, &w->holders, "; held by ");
		print_wakers(m, w, &w->wakers, "; woken by ");
	}
	putchar('\n');
	if (w->stack == RECORDING_NONE)
		printf("              [no call chain]\n");
	record_print_stack(m, w->stack, "              ", STACK_LINES);
}

static void print_waits(const struct record_model *m)
{
	size_t shown = 0;

	for (size_t i = 0; i < m->n_waits; i++) {
		const struct record_wait *w = &m->waits[i];

		if (!i || m->waits[i - 1].level != w->level) {
			printf("%s# [%c] %s: %.2f %% of all points\n#\n", i ? "\n" : "",
			       RECORD_LETTERS[w->level], record_level_names[w->level],
			       record_percent(m->levels[w->level], m->points));
			shown = 0;
		}
		if (shown++ < m->options->top_waits)
			print_wait(m, w);
	}
	if (!m->n_waits)
		printf("# no waits\n");
}

/* ---- hints ---- */

static void print_wrapped(const char *first, const char *other, const char *text)
{
	size_t width = output_width() > 60 ? output_width() : 60;
	_cleanup_free_ char *copy = locale_text(text);
	char *p = copy, *word;
	size_t used = printf("%s", first);

	while ((word = strsep(&p, " "))) {
		if (used + text_width(word) + 1 > width && used > strlen(other))
			used = printf("\n%s", other) - 1;
		used += printf(" %s", word);
	}
	putchar('\n');
}

static void print_hints(const struct record_model *m)
{
	bool predictable = false;
	size_t n;
	struct record_hint *hints = record_make_hints(m, &n);

	if (n)
		printf("\n#\n# What to do\n#\n");
	for (size_t i = 0; i < n; i++) {
		char first[] = { '#', ' ', '[', RECORD_LETTERS[hints[i].level], ']', '\0' };

		print_wrapped(first, "#    ", hints[i].text);
		predictable |= hints[i].level != LEVEL_LOCK;
		free(hints[i].text);
	}
	if (predictable)
		print_wrapped("#", "#",
			      "What that would bring to the program: of devices, scozd --target "
			      "class:io; of more CPUs, scoz record --causal and scoz whatif --cpus "
			      "+1.");
	free(hints);
}

void record_print_text(const struct record_model *m)
{
	bool rows = !m->options->top_waits;

	print_intro(m);
	print_warnings_of(m);
	if (!m->points)
		return;
	print_levels(m);
	print_notes_of(m);
	printf("#\n");
	if (!rows)
		print_waits(m);
	for (size_t i = 0; rows && i < m->n_groups; i++) {
		if (m->options->per != PER_NOTHING) {
			printf("%s", i ? "\n" : "");
			print_heading(m, &m->groups[i]);
		}
		print_rows(m, &m->groups[i]);
	}
	if (!m->options->no_hints)
		print_hints(m);
}
