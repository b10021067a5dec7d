// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/precise.h"
#include "stats/describe.h"
#include "stats/trust.h"

#include <math.h>

/* Where nobody knows how long a verdict takes: so long, and as long as all before it. */
#define PATIENCE_S 60

static void tell(struct session *s, const char *target, const struct awaited_verdict *a)
{
	_cleanup_free_ char *more = isnan(a->more_s) ? NULL : trust_time_text(a->more_s);

	session_say(s, "verdict",
		    "intervals are as narrow as asked for, but there is no verdict on %s yet (%s): "
		    "the run goes on for one%s%s%s",
		    target, doubt_text(a->doubt), more ? ", about " : "", more ? more : "",
		    s->opt.duration > 0 ? ", or until --duration is over" : "");
}

bool precise_goes_on(struct session *s, struct trials *trials, const struct windows *windows,
		     double *since_s)
{
	double now_s = session_elapsed_s(s);
	bool first = !*since_s;
	struct awaited_verdict a;
	const char *target;

	if (!windows_awaited(windows, &a))
		return false;
	target = trials_get(trials, a.trial)->name;
	if (first)
		*since_s = now_s;
	if (a.more_s > TRUST_LONGEST_S || (isnan(a.more_s) && now_s > 2 * *since_s + PATIENCE_S)) {
		session_warn(s,
			     "intervals are as narrow as asked for, and the run ends without a "
			     "verdict on %s (%s): %s",
			     target, doubt_text(a.doubt),
			     isnan(a.more_s) ? "how long one would take cannot be told"
					     : "one would take more than a day");
		return false;
	}
	if (first)
		tell(s, target, &a);
	trials_go_on(trials, a.trial);
	return true;
}
