// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/session.h"
#include "daemon/lease.h"
#include "daemon/members.h"
#include "daemon/status.h"

#include <unistd.h>

#define SLICE_S	  0.02
#define LOOK_NS	  (100 * NSEC_PER_MSEC) /* for processes that are new */
#define CHAINS_NS (2 * NSEC_PER_SEC)	/* that windows wait for unwind tables, in all */

atomic_bool session_interrupted, session_at_once;

const char *run_end_text(enum run_end end)
{
	static const char *const words[] = {
		[END_NONE] = "",
		[END_DONE] = "done",
		[END_SIGNAL] = "signal",
		[END_DURATION] = "duration",
		[END_PRECISION] = "precision",
		[END_CPU_GONE] = "cpu gone",
		[END_FAILED] = "failed",
		[END_OUTPUT_FAILED] = "output failed",
	};

	return words[end];
}

static void add_text(char ***list, size_t *n, size_t *cap, char *text)
{
	array_reserve(*list, *cap, *n + 1);
	(*list)[(*n)++] = text;
}

void session_reason(struct session *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_text(&s->reasons, &s->n_reasons, &s->cap_reasons, xvasprintf(fmt, ap));
	va_end(ap);
}

/* An event, or a line that begins with @before. */
static void say(const struct session *s, const char *event, const char *before, const char *text)
{
	if (s->opt.json)
		status_event(true, session_elapsed_s(s), event, text);
	else
		log_warn("%s%s", before, text);
}

void session_warn(struct session *s, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	add_text(&s->warnings, &s->n_warnings, &s->cap_warnings, text);
	say(s, "warning", "warning: ", text);
}

void session_say(struct session *s, const char *event, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	say(s, event, "", text);
}

void session_event(struct session *s, const char *event, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	status_event(s->opt.json, session_elapsed_s(s), event, text);
}

double session_elapsed_s(const struct session *s)
{
	return (clock_now_ns() - s->start_ns) / 1e9;
}

static bool cpu_is_gone(struct session *s)
{
	int cpu = s->handlers ? handlers_gone(s->handlers) : -1;

	if (cpu < 0)
		return false;
	if (s->end != END_CPU_GONE)
		session_warn(s,
			     "CPU %d went offline (it may be back): what ran there since is not "
			     "known, so the run ends; the last windows may say too little",
			     cpu);
	s->end = END_CPU_GONE;
	return true;
}

bool session_over(struct session *s)
{
	lease_beat(s->lease);
	if (session_interrupted) {
		s->end = s->end ? s->end : END_SIGNAL;
		return true;
	}
	if (s->opt.duration > 0 && session_elapsed_s(s) >= s->opt.duration) {
		s->end = END_DURATION;
		return true;
	}
	if (cpu_is_gone(s))
		return true;
	if (s->opt.command && !s->opt.end_to_end && !command_running(&s->command)) {
		s->command_status = s->command.status;
		if (s->command.interrupted) /* Ctrl-C went to the command: it was meant for all */
			session_interrupted = true;
		return true;
	}
	return false;
}

void session_renew_users(struct session *s)
{
	_cleanup_free_ uid_t *users = NULL;
	size_t n;

	if (points_have_marks(s->points) &&
	    members_users(&s->opt, s->launcher.uid, s->command.pid, &users, &n))
		points_only_users(s->points, users, n);
}

void session_look_for_marks(struct session *s)
{
	uint64_t now = clock_now_ns();
	bool refresh = now - s->marks_refreshed_ns > NSEC_PER_SEC;
	struct error why;

	if (!points_have_marks(s->points) || s->in_window)
		return;
	if (refresh) {
		s->marks_refreshed_ns = now;
		session_renew_users(s); /* who is new among them comes before others */
		points_refresh(s->points);
	}
	for (int i = 0; i < MAPS_FILES_AT_ONCE && points_take_more(s->points); i++) {
		uint32_t id;
		_cleanup_free_ char *path = maps_next_file(s->maps, &s->marks_searched, &id);

		if (!path)
			break;
		points_add_binary(s->points, path, id);
	}
	points_attach_found(s->points, 0);
	if (refresh || now - s->marked_looked_ns > LOOK_NS) {
		s->marked_looked_ns = now;
		points_take_marked(s->points, s->maps, &(struct marked_take){ session_involve, s },
				   refresh);
	}
	if (points_miscount_users(s->points, &why))
		session_warn(s, "%s", why.text);
	if (points_leave_users_out(s->points, &why))
		session_warn(s, "%s", why.text);
	if (points_unsearched(s->points, &why))
		session_warn(
			s,
			"%s: marks in it, and in others of which this is true, are not counted "
			"by probes",
			why.text);
}

void session_look(struct session *s)
{
	uint64_t now = clock_now_ns();

	session_look_for_marks(s);
	points_look(s->points);
	if (s->polling)
		polling_look(s->polling);
	if (now - s->processes_looked_ns > LOOK_NS) {
		s->processes_looked_ns = now;
		process_table_look(s->processes);
	}
}

bool session_sleep(struct session *s, double seconds)
{
	uint64_t end = clock_now_ns() + seconds * NSEC_PER_SEC, now;

	while (!session_over(s)) {
		session_look(s);
		now = clock_now_ns();
		if (now >= end)
			return true;
		usleep(end - now > SLICE_S * NSEC_PER_SEC ? SLICE_S * 1e6 : (end - now) / 1000 + 1);
	}
	return false;
}

void session_expect_chains(struct session *s, int pid)
{
	if (s->unwind)
		unwind_follow_involved(s->unwind, pid);
}

int session_involve(int pid, void *arg, struct error *err)
{
	struct session *s = arg;
	int ret = engine_involve(s->engine, pid, err);

	if (!ret)
		session_expect_chains(s, pid);
	return ret;
}

bool session_await_chains(struct session *s)
{
	bool known = options_know_members(&s->opt);
	uint64_t began = clock_now_ns(), waited = s->chains_waited_ns;

	while (s->unwind && s->chains_waited_ns < CHAINS_NS &&
	       unwind_follow_busy(s->unwind, known)) {
		if (!session_sleep(s, 0.01))
			return false;
		s->chains_waited_ns = waited + (clock_now_ns() - began);
	}
	if (waited < CHAINS_NS && s->chains_waited_ns >= CHAINS_NS)
		session_warn(s,
			     "unwind tables of what is profiled were still being made after "
			     "%llu s of waiting: call chains of the windows until then go by "
			     "frame pointers, and may miss callers; another run finds in the "
			     "cache what has been made by then",
			     CHAINS_NS / NSEC_PER_SEC);
	else if (s->chains_waited_ns > waited)
		log_info("waited %.2f s for unwind tables of what is profiled",
			 (s->chains_waited_ns - waited) / 1e9);
	return true;
}

static void forget_mappings(int pid, void *arg)
{
	struct session *s = arg;

	engine_forget_process(s->engine, pid);
	if (s->unwind)
		unwind_follow_execed(s->unwind, pid);
}

uint64_t session_lost(const struct session *s)
{
	struct handlers_counts counts;

	handlers_counts_now(s->handlers, &counts);
	return counts.lost;
}

bool session_repair(struct session *s, struct error *err)
{
	uint64_t lost = session_lost(s);

	if (lost == s->repaired)
		return true;
	s->repaired = lost;
	s->repairs++;
	return !maps_rescan(s->maps, forget_mappings, s, err);
}
