// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/cores.h"

#include <hwloc.h>
#include <sys/auxv.h>
#include <unistd.h>

static int select_default(struct cores *c, struct error *err)
{
	int *online, n, kept = 0, ret;

	ret = cpulist_online(&online, &n, err);
	if (ret)
		return ret;
	for (int i = 0; i < n; i++) {
		if (cpu_is_isolated(online[i]))
			log_info("CPU %d is isolated or nohz_full: neither sampled nor delayed",
				 online[i]);
		else
			online[kept++] = online[i];
	}
	c->cpus = online;
	c->n = kept;
	return kept ? 0 : error_set(err, ENOENT, "every CPU is isolated: name some with --cpus");
}

static int select_listed(struct cores *c, const char *list, struct error *err)
{
	_cleanup_free_ int *online = NULL;
	int n, ret;

	ret = cpulist_online(&online, &n, err);
	if (!ret)
		ret = cpulist_parse(list, &c->cpus, &c->n, err);
	if (ret)
		return ret;
	for (int i = 0; i < c->n; i++) {
		if (!cpulist_contains(online, n, c->cpus[i])) {
			_cleanup_free_ char *have = cpulist_format(online, n);

			return error_set(err, ENODEV,
					 "--cpus %s: CPU %d is not online (online: %s)", list,
					 c->cpus[i], have);
		}
	}
	return 0;
}

/*
 * The environment names code for hwloc to load (HWLOC_PLUGINS_PATH): where we have rights that who
 * set it has not, as a program with capabilities, there is none. The command gets it as it was.
 */
static int load_topology(hwloc_topology_t *ret, struct error *err)
{
	static char *nothing[] = { NULL };
	char **all = environ;
	bool failed;

	if (getauxval(AT_SECURE))
		environ = nothing;
	if (hwloc_topology_init(ret)) {
		environ = all;
		return error_set(err, ENOMEM, "hwloc: no topology");
	}
	hwloc_topology_set_flags(*ret, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
	failed = hwloc_topology_load(*ret);
	environ = all;
	if (!failed)
		return 0;
	hwloc_topology_destroy(*ret);
	return error_set(err, EIO, "hwloc cannot read this machine's topology");
}

int cores_select(const char *list, struct cores *ret, struct error *err)
{
	hwloc_topology_t topology;
	int r;

	*ret = (struct cores){};
	r = list ? select_listed(ret, list, err) : select_default(ret, err);
	if (!r)
		r = load_topology(&topology, err);
	if (r) {
		cores_free(ret);
		return r;
	}
	ret->topology = topology;
	return 0;
}

void cores_free(struct cores *c)
{
	if (c->topology)
		hwloc_topology_destroy(c->topology);
	free(c->cpus);
	*c = (struct cores){};
}

int cores_node(const struct cores *c, int i)
{
	hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(c->topology, c->cpus[i]);

	return pu && pu->nodeset ? hwloc_bitmap_first(pu->nodeset) : -1;
}

int cores_bind_thread(const struct cores *c, int i)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	int node = cores_node(c, i), ret;

	if (!set || hwloc_bitmap_only(set, c->cpus[i])) {
		hwloc_bitmap_free(set);
		return -ENOMEM;
	}
	ret = hwloc_set_cpubind(c->topology, set, HWLOC_CPUBIND_THREAD) ? -errno : 0;
	if (node >= 0 && !hwloc_bitmap_only(set, node)) {
		/* Where it cannot be there is one node, or a policy that we must respect. */
		hwloc_set_membind(c->topology, set, HWLOC_MEMBIND_BIND,
				  HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET);
	}
	hwloc_bitmap_free(set);
	return ret;
}
