// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/capabilities_internal.h"

static void check_cores(struct capabilities *c)
{
	struct capability *p = capability_add(c, "cores", false);
	_cleanup_free_ int *cpus = NULL;
	int n;

	capability_online_cpus(&cpus, &n);
	if (n > 1)
		capability_ok(p, xasprintf("%d CPUs online", n));
	else
		capability_settle(p, CAPABILITY_LIMITED, xstrdup("one CPU online"),
				  xstrdup("nothing runs in parallel, so speeding anything up helps "
					  "as much as "
					  "it is used: a plain profiler tells the same"),
				  NULL);
}

static bool cpuinfo_flag(const char *flag)
{
	_cleanup_free_ char *text = capability_text_of("/proc/cpuinfo");
	char *line = text ? strstr(text, "\nflags") : NULL, *end;

	if (!line)
		return false;
	end = strchr(line + 1, '\n');
	if (end)
		*end = '\0';
	for (char *word = strtok(line, " \t:"); word; word = strtok(NULL, " \t:"))
		if (!strcmp(word, flag))
			return true;
	return false;
}

static void check_virtual(struct capabilities *c)
{
	struct capability *p = capability_add(c, "virtual-machine", false);
	_cleanup_free_ char *vendor = capability_text_of("/sys/class/dmi/id/sys_vendor");
	bool is = cpuinfo_flag("hypervisor") || capability_exists("/sys/hypervisor/type") ||
		  (vendor && strstr(vendor, "QEMU"));

	if (is)
		capability_settle(
			p, CAPABILITY_LIMITED,
			xasprintf("a virtual machine%s%s", vendor ? " of " : "",
				  vendor ? vendor : ""),
			xstrdup("a tick costs about 10 us and neighbours make noise: expect wider "
				"intervals, and watch the steal time"),
			NULL);
	else
		capability_ok(p, xstrdup("no virtual machine that would show"));
}

static void check_steal(struct capabilities *c)
{
	struct capability *p = capability_add(c, "steal-time", false);
	_cleanup_free_ char *text = capability_text_of("/proc/stat");
	unsigned long long v[8] = { 0 }, sum = 0;
	double share;

	if (!text || sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1],
			    &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]) < 8) {
		capability_settle(
			p, CAPABILITY_LIMITED, xstrdup("/proc/stat does not tell"),
			xstrdup("what the host takes is not known, so no interval allows for it"),
			NULL);
		return;
	}
	for (int i = 0; i < 8; i++)
		sum += v[i];
	/* of the time in which this machine wanted to run */
	sum -= v[3] + v[4];
	share = sum ? 100.0 * v[7] / sum : 0;
	if (share < 1)
		capability_ok(p, xasprintf("%.2f %% of the busy time since boot", share));
	else
		capability_settle(
			p, CAPABILITY_LIMITED,
			xasprintf("%.1f %% of the busy time since boot", share),
			xstrdup("the host gives this CPU to others: intervals are wider by what "
				"that may do to predictions, which no longer run mends, and noise "
				"takes longer"),
			NULL);
}

/* The governor of CPUs, when they have one that changes frequencies. */
static void check_governor(struct capabilities *c)
{
	struct capability *p = capability_add(c, "cpu-frequency", false);
	_cleanup_free_ char *changing = NULL;
	_cleanup_free_ int *cpus = NULL;
	int n, known = 0, other = 0;

	capability_online_cpus(&cpus, &n);
	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *name = xasprintf(
			"/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpus[i]);
		_cleanup_free_ char *governor = capability_text_of(name);

		if (!governor)
			continue;
		known++;
		if (strcmp(governor, "performance")) {
			other++;
			free(changing);
			changing = xstrdup(governor);
		}
	}
	if (other)
		capability_settle(
			p, CAPABILITY_LIMITED,
			xasprintf("governor '%s' on %d of %d CPUs", changing, other, n),
			xstrdup("frequencies change with the load, so speeds of windows differ"),
			xstrdup("sudo cpupower frequency-set -g performance (package "
				"linux-cpupower)"));
	else
		capability_ok(
			p, xstrdup(known ? "governor 'performance'" : "not controlled from here"));
}

static void check_smt(struct capabilities *c)
{
	struct capability *p = capability_add(c, "smt", false);

	if (capability_number_of("/sys/devices/system/cpu/smt/active") == 1)
		capability_settle(
			p, CAPABILITY_LIMITED, xstrdup("hardware threads share cores"),
			xstrdup("a stopped thread makes its sibling faster, so delays count for "
				"less than they should"),
			xstrdup("echo off | sudo tee /sys/devices/system/cpu/smt/control"));
	else
		capability_ok(p, xstrdup("no hardware threads share a core"));
}

static void check_isolated(struct capabilities *c)
{
	struct capability *p = capability_add(c, "isolated-cpus", false);
	_cleanup_free_ char *isolated = capability_text_of("/sys/devices/system/cpu/isolated");
	_cleanup_free_ char *nohz = capability_text_of("/sys/devices/system/cpu/nohz_full");
	bool some = isolated && *isolated;
	bool full = nohz && *nohz && strcmp(nohz, "(null)");

	if (some || full)
		capability_settle(p, CAPABILITY_LIMITED,
				  xasprintf("isolated: %s; nohz_full: %s", some ? isolated : "none",
					    full ? nohz : "none"),
				  xstrdup("these CPUs are neither sampled nor delayed"),
				  xstrdup("name them if they shall be: scozd --cpus LIST"));
	else
		capability_ok(p, xstrdup("none"));
}

void capabilities_of_machine(struct capabilities *c)
{
	check_cores(c);
	check_isolated(c);
	check_smt(c);
	check_governor(c);
	check_virtual(c);
	check_steal(c);
}
