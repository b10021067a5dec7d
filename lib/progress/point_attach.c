// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/point_attach.h"

#include "host/syscall_names.h"
#include "host/tracepoints.h"

int point_attach_site(const struct held_file *file, const struct probe_sites *sites, size_t i,
		      const char *comm, const struct point_put *put, struct error *err)
{
	const struct probe_site *site = &sites->list[i];
	const struct point_place place = {
		.kind = PLACE_CODE,
		.file = file,
		.offset = site->offset,
		.ref_ctr = site->semaphore,
		.comm = comm,
	};
	int ret;

	/* Of such a site nothing else was checked. */
	if (site->refused)
		return error_set(err, site->refused, "%s", site->why);
	ret = put->put(&place, put->arg, err);
	if (ret)
		return ret;
	ret = probe_sites_unchanged(sites, i, file, err);
	if (ret)
		put->withdraw(&place, put->arg);
	return ret;
}

static int attach_code(const struct point *point, const struct point_put *put, struct error *err)
{
	_cleanup_held_file_ struct held_file file = HELD_FILE_INIT;
	struct probe_sites *sites = NULL;
	int ret = probe_sites_of_point(point, &file, &sites, err);

	for (size_t i = 0; !ret && i < sites->n; i++)
		ret = point_attach_site(&file, sites, i, point->comm, put, err);
	probe_sites_free(sites);
	return ret;
}

int point_attach(const struct point *point, const struct point_put *put, struct error *err)
{
	struct point_place place = { .name = point->name, .comm = point->comm, .syscall = -1 };
	int ret = 0;

	switch (point->kind) {
	case POINT_FUNCTION:
	case POINT_LINE:
	case POINT_USDT:
		return attach_code(point, put, err);
	case POINT_TRACEPOINT:
		place.kind = PLACE_TRACEPOINT;
		ret = tracepoint_check(point->function, place.name, err);
		break;
	case POINT_SYSCALL:
		place.kind = PLACE_SYSCALL;
		place.syscall = syscall_find(place.name, err);
		ret = place.syscall < 0 ? place.syscall : 0;
		if (syscall_ends(place.syscall))
			ret = error_set(err, EINVAL,
					"nobody comes back from system call %s, and calls are "
					"counted as they end: "
					"tracepoint:sched:sched_process_exit counts who ends",
					place.name);
		break;
	case POINT_MARK:
		return 0;
	}
	return ret ? ret : put->put(&place, put->arg, err);
}
