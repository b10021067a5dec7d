// SPDX-License-Identifier: GPL-2.0-or-later
/* scoz report on a recording: what is wrong with it, why there is nothing in it, exit codes. */
#include "tools/scoz/record_model.h"

#include "tools/scoz/cmds.h"
#include "tools/scoz/text.h"

static void add_text(char ***texts, size_t *n, char *text)
{
	*texts = xreallocarray(*texts, *n + 1, sizeof(**texts));
	(*texts)[(*n)++] = text;
}

char **record_warnings(const struct record_model *m, size_t *n)
{
	const struct recording *rec = m->rec;
	uint64_t off = 0, offered = m->samples + rec->footer.lost;
	char **t = NULL;

	*n = 0;
	for (size_t i = LEVEL_IO; i < RECORD_LEVELS; i++)
		off += m->level_samples[i];
	if (!rec->complete)
		add_text(&t, n,
			 xstrdup("the recording was cut off: what it says is valid, but the end is "
				 "missing, and waits that had not ended are not in it"));
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
	if (ret == EXIT_DONE && !m->points) {
		_cleanup_free_ char *reason = record_reason(m);

		fflush(stdout);
		log_warn("%s", reason);
		ret = EXIT_NOTHING;
	}
	record_model_free(m);
	recording_free(rec);
	return ret;
}
