// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/commands/whatif_cpus.h"

#include "tools/scoz/arguments.h"
#include "tools/scoz/cmds.h"
#include "tools/scoz/commands/whatif_messages.h"
#include "tools/scoz/text.h"
#include "whatif/cpus.h"

#include <math.h>

#define SPINS 0.01
#define LOCKS 0.02
#define FITS  0.05 /* of the time: so much less is nothing to tell */

bool whatif_parse_cpus(const char *text, struct whatif_cpus *ret)
{
	_cleanup_free_ char *copy = xstrdup(text);
	char *save = NULL;
	double n;

	ret->n = 0;
	for (char *w = strtok_r(copy, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		bool more = *w == '+';

		if (ret->n == WHATIF_MOST_CPUS || !parse_number(w + more, 1, CPUS_MOST, &n) ||
		    n != floor(n))
			return false;
		ret->asked[ret->n].n = n;
		ret->asked[ret->n++].more = more;
	}
	return ret->n > 0;
}

static void print_notes(const struct cpus_told *told)
{
	printf("# threads wanted a CPU that others had for %.0f %% of the time that they could "
	       "run\n",
	       100 * told->queued);
	if (isfinite(told->fit) && fabs(told->fit - 1) > FITS)
		printf("# what they did, run again on as many CPUs, takes %.0f %% %s than it took: "
		       "others had them,\n# too, or threads may not run on all; bounds allow for "
		       "that\n",
		       100 * fabs(1 - 1 / told->fit), told->fit > 1 ? "less" : "more");
	if (told->locks > LOCKS && told->used == 1)
		printf("# they wait for locks: how much more, if two of them run at once, one CPU "
		       "does "
		       "not tell\n");
	if (told->spun > SPINS)
		printf("# they spun for %.0f %% of the time that they ran: what that depends on is "
		       "only known\n# within the bounds\n",
		       100 * told->spun);
	printf("# locks that nobody waits for yet, memory that all CPUs share, and threads that "
	       "are "
	       "bound to\n# CPUs are not seen: with these more CPUs bring less\n");
}

static void print(const struct trace *t, const struct cpus_asked *asked, size_t n,
		  const struct cpus_told *told)
{
	struct table table;
	char **row;

	_cleanup_free_ char *name = text_shown(t->path);

	printf("# %s: %.1f s, %zu events, on %u CPU%s\n", name, t->end / 1e9, t->n_events,
	       told->used, told->used == 1 ? "" : "s");
	if (told->by_run_time)
		printf("# by how many percent the command would end sooner with more of them, and "
		       "between which bounds\n");
	else
		printf("# by how many percent less time a unit of progress would take with more of "
		       "them (%llu units),\n# and between which bounds\n",
		       (unsigned long long)told->visits);
	table_init_heads(&table, ">CPUs|>less time");
	for (size_t i = 0; i < n; i++) {
		row = table_row(&table);
		row[0] = xasprintf("%u", asked[i].cpus);
		row[1] = xasprintf("%.1f [%.1f, %.1f]", asked[i].a.middle + 0.0, asked[i].a.low,
				   asked[i].a.high);
	}
	table_print(&table);
	print_notes(told);
}

int whatif_more_cpus(const struct trace *t, uint32_t point, const struct whatif_cpus *c)
{
	struct cpus_asked asked[WHATIF_MOST_CPUS];
	struct cpus_told told;
	struct error err = {};

	for (size_t i = 0; i < c->n; i++)
		asked[i] = (struct cpus_asked){ .cpus = c->asked[i].n, .more = c->asked[i].more };
	if (cpus_predict(t, point, asked, c->n, &told, &err)) {
		log_warn("%s", err.text);
		return EXIT_FAILED;
	}
	whatif_warn(t);
	for (size_t i = 0; i < c->n; i++) {
		if (asked[i].cpus > told.used)
			continue;
		log_warn("--cpus %u: threads ran on %u already: more are wanted, such as +1",
			 asked[i].cpus, told.used);
		return EXIT_USAGE;
	}
	if (!told.concluded) {
		whatif_nothing(t, told.by_run_time, told.visits, told.strangers);
		return EXIT_NOTHING;
	}
	print(t, asked, c->n, &told);
	return EXIT_DONE;
}
