// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/quotas.h"

#include "host/cgroup.h"

#include <unistd.h>

#define LOOK_NS	       (100 * NSEC_PER_MSEC)
#define READ_NS	       (20 * NSEC_PER_MSEC) /* groups may go with the command */
#define OTHERS_LOOK_NS (2 * NSEC_PER_SEC)
#define MUCH	       0.01 /* of the run */

static int add_process(int pid, void *arg, struct error *err)
{
	(void)err;
	cpu_quotas_add_process(arg, pid);
	return 0;
}

/* Who may be moved to another group at any time, but is one process. */
static void look_at_command(struct session *s)
{
	if (!s->opt.command)
		return;
	/* It starts where we are. */
	cpu_quotas_add_process(s->quotas, s->command.pid ? s->command.pid : getpid());
}

static void look_at_others(struct session *s)
{
	struct error err;

	for (size_t i = 0; i < s->opt.n_pids; i++)
		cpu_quotas_add_process(s->quotas, s->opt.pids[i]);
	for (size_t i = 0; i < s->opt.n_cgroups; i++)
		cgroup_each_process(s->opt.cgroups[i], add_process, s->quotas, &err);
}

void quotas_look(struct session *s)
{
	uint64_t now = clock_now_ns();

	if (!s->quotas)
		s->quotas = cpu_quotas_create();
	if (now - s->quotas_looked_ns >= LOOK_NS) {
		s->quotas_looked_ns = now;
		look_at_command(s);
	}
	if (now - s->other_quotas_looked_ns >= OTHERS_LOOK_NS) {
		s->other_quotas_looked_ns = now;
		look_at_others(s);
	}
	if (now - s->quotas_read_ns >= READ_NS) {
		s->quotas_read_ns = now;
		cpu_quotas_read(s->quotas);
	}
}

struct cpu_quota quotas_read(struct session *s)
{
	return s->quotas ? cpu_quotas_read(s->quotas) : (struct cpu_quota){ 0 };
}

struct cpu_quota quotas_begin(struct session *s)
{
	return s->quotas ? cpu_quotas_begin(s->quotas) : (struct cpu_quota){ 0 };
}

void quotas_warn(struct session *s)
{
	_cleanup_free_ char *text = s->quotas ? cpu_quotas_text(s->quotas) : NULL;
	double throttled;

	if (!text)
		return;
	throttled = cpu_quotas_read(s->quotas).throttled_s;
	log_info("CPU quota (%s): it kept the program's cores from running for %.2f s", text,
		 throttled);
	if (throttled > MUCH * session_elapsed_s(s))
		session_warn(s,
			     "the profiled program has a CPU quota (%s), which kept its cores from "
			     "running for %.1f s: what is predicted is gained under this quota; "
			     "where others use it, too, nothing can be said",
			     text, throttled);
}
