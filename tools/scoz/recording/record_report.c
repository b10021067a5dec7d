// SPDX-License-Identifier: GPL-2.0-or-later
/* scoz report on a recording: what is wrong with it, why there is nothing in it, exit codes. */
#include "tools/scoz/recording/record_model.h"

#include "host/process.h"
#include "tools/scoz/cmds.h"
#include "tools/scoz/text.h"
#include "whatif/polls.h"

static void add_text(char ***texts, size_t *n, char *text)
{
	*texts = xreallocarray(*texts, *n + 1, sizeof(**texts));
	(*texts)[(*n)++] = text;
}

/* Which processes have samples or times: they were recorded, the others only woke somebody. */
static bool *recorded_processes(const struct recording *rec)
{
	bool *recorded = xcalloc(rec->n_processes, sizeof(*recorded));

	for (size_t i = 0; i < rec->n_samples; i++)
		recorded[rec->threads[rec->samples[i].thread].process] = true;
	for (size_t i = 0; i < rec->n_threads; i++)
		recorded[rec->threads[i].process] |= rec->threads[i].has_times;
	return recorded;
}

/* The process that ended most waits without having been recorded. */
static char *stranger_warning(const struct record_model *m)
{
	const struct recording *rec = m->rec;
	_cleanup_free_ bool *recorded = recorded_processes(rec);
	_cleanup_free_ uint64_t *ended = xcalloc(rec->n_processes, sizeof(*ended));
	_cleanup_free_ char *name = NULL;
	size_t best = 0;

	for (size_t i = 0; i < m->n_entries; i++) {
		const struct record_entry *e = &m->entries[i];

		if (e->level > LEVEL_KERNEL && e->level != LEVEL_SCHED &&
		    e->waker != RECORDING_NONE)
			ended[rec->threads[e->waker].process] += e->points;
	}
	for (size_t i = 0; i < rec->n_processes; i++) {
		if (recorded[i] || rec->processes[i].kernel)
			ended[i] = 0;
		if (ended[i] > ended[best])
			best = i;
	}
	if (!rec->n_processes || !record_is_much(ended[best], m->points))
		return NULL;
	name = text_clean(rec->processes[best].name, "?");
	return xasprintf(
		"%.1f %% of the points are waits that %s (process %d) ended, which was not "
		"recorded: what it did meanwhile is not known; record it, too: scoz "
		"record --pid %d, or -a",
		record_percent(ended[best], m->points), name, rec->processes[best].pid,
		rec->processes[best].pid);
}

static char *scozd_warning(const struct recording *rec)
{
	uint64_t time = 0;

	for (size_t i = 0; i < rec->n_scozd; i++)
		time += rec->scozd[i].to - rec->scozd[i].from;
	if (!rec->n_scozd)
		return NULL;
	return xasprintf(
		"scozd (process %d) profiled this machine for %.1f s of the recording: the "
		"time for which it stopped the CPUs counts as time of whoever was "
		"stopped; record again without it",
		rec->scozd[0].pid, (double)time / 1e9);
}

/* Threads that wait for work hide what the others do. */
static char *idle_note(const struct record_model *m)
{
	uint64_t points = 0;
	size_t n = 0, all = 0;

	for (size_t i = 0; i < m->rec->n_threads; i++) {
		uint64_t of_thread = 0;

		for (size_t k = 0; k < RECORD_LEVELS; k++)
			of_thread += m->by_thread[i][k];
		all += of_thread > 0;
		if (!of_thread || !m->idle[i])
			continue;
		n++;
		points += of_thread;
	}
	if (n == all || !record_is_much(points, m->points))
		return NULL;
	return xasprintf(
		"%zu of %zu threads did nothing but wait for work: %.1f %% of the points are "
		"theirs; --no-idle leaves them out",
		n, all, record_percent(points, m->points));
}

static char *rank_note(const struct record_model *m)
{
	const struct recording *rec = m->rec;
	const char *from = NULL;
	int least = INT32_MAX, most = -1;

	for (size_t i = 0; i < rec->n_processes; i++) {
		int rank = rec->processes[i].rank;

		if (rank < 0)
			continue;
		from = rec->processes[i].rank_from;
		least = rank < least ? rank : least;
		most = rank > most ? rank : most;
	}
	if (most <= least || m->options->per == PER_RANK || m->options->filter.ranks.given)
		return NULL;
	return xasprintf(
		"ranks %d to %d of a parallel job (%s): --per rank tells them apart, --rank "
		"chooses some",
		least, most, from ? from : "?");
}

/* Who waits by polling is on the CPU: no class tells. */
static char *polling_note(const struct record_model *m)
{
	const struct recording *rec = m->rec;
	_cleanup_free_ uint8_t *polls = polls_in(
		&(struct polls_stacks){ rec->frames, rec->n_frames, rec->stacks, rec->n_stacks });
	uint64_t polled = 0, on = 0;

	for (size_t i = 0; i < rec->n_samples; i++) {
		const struct record_sample *s = &rec->samples[i];

		if (s->class != RECORD_ON || !record_filter_sample(&m->options->filter, rec, s))
			continue;
		on += s->points;
		polled += s->stack != RECORDING_NONE && polls[s->stack] ? s->points : 0;
	}
	if (!record_is_much(polled, on))
		return NULL;
	return xasprintf(
		"%.1f %% of the points on the CPU wait for other ranks by polling in MPI: no "
		"wait of any class, and no work either",
		record_percent(polled, on));
}

char **record_notes(const struct record_model *m, size_t *n)
{
	char *texts[] = { idle_note(m), rank_note(m), polling_note(m) };
	char **t = NULL;

	*n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (texts[i])
			add_text(&t, n, texts[i]);
	}
	return t;
}

/* Not of what the recorder ended; -1: there was none. */
static char *command_warning(const struct record_footer *f)
{
	_cleanup_free_ char *text = process_status_text(f->command_status);

	if (!text || !f->end || strcmp(f->end, "done") != 0)
		return NULL;
	return xasprintf("the command %s", text);
}

char **record_warnings(const struct record_model *m, size_t *n)
{
	const struct recording *rec = m->rec;
	uint64_t off = 0, offered = m->samples + rec->footer.lost;
	char **t = NULL, *text = stranger_warning(m);

	*n = 0;
	for (size_t i = LEVEL_IO; i < RECORD_LEVELS; i++)
		off += m->level_samples[i];
	if (!rec->complete)
		add_text(&t, n,
			 xstrdup("the recording was cut off: what it says is valid, but the end is "
				 "missing, and waits that had not ended are not in it"));
	if (text)
		add_text(&t, n, text);
	text = command_warning(&rec->footer);
	if (text)
		add_text(&t, n, text);
	text = scozd_warning(rec);
	if (text)
		add_text(&t, n, text);
	if (rec->skipped_lines)
		add_text(&t, n,
			 xasprintf("%zu lines at the end cannot be read", rec->skipped_lines));
	if (rec->unknown_lines)
		add_text(&t, n,
			 xasprintf("%zu lines are of kinds that this scoz does not know: update it",
				   rec->unknown_lines));
	if (rec->footer.lost)
		add_text(&t, n,
			 xasprintf("%llu records (%.2f %%) were lost because the rings were full: "
				   "shares may be wrong; record with a longer period",
				   (unsigned long long)rec->footer.lost,
				   record_percent(rec->footer.lost, offered)));
	if (m->broken)
		add_text(&t, n,
			 xasprintf("%llu samples (%.2f %%) have broken call chains: their outer "
				   "callers are missing; build with -fno-omit-frame-pointer",
				   (unsigned long long)m->broken,
				   record_percent(m->broken, m->samples)));
	if (m->chainless)
		add_text(&t, n,
			 xasprintf("%llu samples (%.2f %%) have no call chain",
				   (unsigned long long)m->chainless,
				   record_percent(m->chainless, m->samples)));
	if (m->unfinished)
		add_text(&t, n,
			 xasprintf("%llu of %llu waits went on when the recording ended: they "
				   "count as far as they were recorded, and nobody woke them",
				   (unsigned long long)m->unfinished, (unsigned long long)off));
	return t;
}

char *record_reason(const struct record_model *m)
{
	const struct recording *rec = m->rec;
	_cleanup_free_ char *path = text_clean(rec->path, "?");
	double period = (double)rec->header.period_ns / 1e6;

	if (m->points)
		return NULL;
	if (rec->n_samples)
		return xasprintf("%s: the filters leave none of %zu samples: try with fewer or "
				 "others",
				 path, rec->n_samples);
	if (!rec->complete)
		return xasprintf(
			"%s: no samples: it was cut off before the first one; record again", path);
	if (rec->footer.lost)
		return xasprintf("%s: no samples: all %llu records were lost; record with a longer "
				 "period",
				 path, (unsigned long long)rec->footer.lost);
	return xasprintf("%s: no samples: within %.3f s nothing that was recorded ran or waited "
			 "for a period of %g ms; record longer, or something else",
			 path, (double)rec->footer.duration / 1e9, period);
}

int record_conclude(const struct record_model *m, int ret)
{
	_cleanup_free_ char *reason = ret == EXIT_DONE ? record_reason(m) : NULL;

	if (!reason)
		return ret;
	fflush(stdout);
	log_warn("%s", reason);
	return EXIT_NOTHING;
}

int record_report(const char *path, const struct record_options *options)
{
	struct error err = { 0 };
	struct record_model *m;
	struct recording *rec;
	int ret = EXIT_DONE;

	if (recording_read(path, &rec, &err)) {
		log_warn("%s", err.text);
		return EXIT_FAILED;
	}
	m = record_model_create(rec, options);
	if (options->json)
		ret = record_write_json(m, stdout);
	else
		record_print_text(m);
	ret = record_conclude(m, ret);
	record_model_free(m);
	recording_free(rec);
	return ret;
}
