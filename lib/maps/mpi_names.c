// SPDX-License-Identifier: GPL-2.0-or-later
#include "maps/mpi_names.h"

static const struct {
	const char *prefix;
	enum mpi_file kind;
} files[] = {
	{ "libmpi.so", MPI_FILE_MPI },
	{ "libmpich.so", MPI_FILE_MPICH },
	{ "libopen-pal.so", MPI_FILE_PROGRESS },
	{ "libopen-rte.so", MPI_FILE_DEVICE },
	{ "libmca_", MPI_FILE_DEVICE },
	{ "mca_", MPI_FILE_DEVICE },
	{ "libucp.so", MPI_FILE_PROGRESS },
	{ "libuct", MPI_FILE_DEVICE },
	{ "libucs.so", MPI_FILE_DEVICE },
	{ "libfabric.so", MPI_FILE_DEVICE },
	{ "libpsm2.so", MPI_FILE_DEVICE },
	{ "libevent", MPI_FILE_EVENTS },
	{ "libc.so", MPI_FILE_LIBC },
	{ "libc-2.", MPI_FILE_LIBC },
};

/* What returns when others have done their part. */
static const char *const calls[] = {
	"Recv",
	"Send",
	"Ssend",
	"Rsend",
	"Bsend",
	"Sendrecv",
	"Sendrecv_replace",
	"Mrecv",
	"Probe",
	"Mprobe",
	"Wait",
	"Waitall",
	"Waitany",
	"Waitsome",
	"Barrier",
	"Bcast",
	"Reduce",
	"Allreduce",
	"Reduce_scatter",
	"Reduce_scatter_block",
	"Scan",
	"Exscan",
	"Gather",
	"Gatherv",
	"Scatter",
	"Scatterv",
	"Allgather",
	"Allgatherv",
	"Alltoall",
	"Alltoallv",
	"Alltoallw",
	"Neighbor_allgather",
	"Neighbor_allgatherv",
	"Neighbor_alltoall",
	"Neighbor_alltoallv",
	"Neighbor_alltoallw",
	"Win_fence",
	"Win_lock",
	"Win_lock_all",
	"Win_unlock",
	"Win_unlock_all",
	"Win_flush",
	"Win_flush_all",
	"Win_flush_local",
	"Win_flush_local_all",
	"Win_start",
	"Win_complete",
	"Win_wait",
	"Win_create",
	"Win_allocate",
	"Win_allocate_shared",
	"Win_free",
	"Init",
	"Init_thread",
	"Finalize",
	"Comm_create",
	"Comm_create_group",
	"Comm_dup",
	"Comm_split",
	"Comm_split_type",
	"Comm_free",
	"Comm_disconnect",
	"Comm_accept",
	"Comm_connect",
	"Comm_spawn",
	"Comm_spawn_multiple",
	"Intercomm_create",
	"Intercomm_merge",
	"Cart_create",
	"Graph_create",
	"Dist_graph_create",
	"Dist_graph_create_adjacent",
	"File_open",
	"File_close",
	"File_read_all",
	"File_write_all",
	"File_read_at_all",
	"File_write_at_all",
	"File_sync",
};

/* Functions of progress: they ask all devices. */
static const char *const engines[] = {
	"opal_progress",
	"ompi_sync_wait_mt",
	"ompi_request_default_wait",
	"ompi_request_default_wait_all",
	"ompi_request_default_wait_any",
	"ompi_request_default_wait_some",
	"ucp_worker_progress",
};

/* Of libc; aliases, of which the table has one. */
static const struct {
	const char *name;
	enum scoz_poll_role role;
} asks[] = {
	{ "sched_yield", SCOZ_POLL_YIELD }, { "__sched_yield", SCOZ_POLL_YIELD },
	{ "poll", SCOZ_POLL_ASK },	    { "__poll", SCOZ_POLL_ASK },
	{ "epoll_wait", SCOZ_POLL_ASK },    { "__epoll_wait", SCOZ_POLL_ASK },
	{ "select", SCOZ_POLL_ASK },	    { "__select", SCOZ_POLL_ASK },
	{ "ppoll", SCOZ_POLL_ASK },	    { "__ppoll", SCOZ_POLL_ASK },
};

/* ---- files ---- */

enum mpi_file mpi_file(const char *path)
{
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (text_after(name, files[i].prefix))
			return files[i].kind;
	}
	return MPI_FILE_NONE;
}

enum scoz_poll_role mpi_file_role(enum mpi_file kind)
{
	switch (kind) {
	case MPI_FILE_NONE:
	case MPI_FILE_LIBC:
		return SCOZ_POLL_OTHER;
	case MPI_FILE_EVENTS:
		return SCOZ_POLL_EVENTS;
	case MPI_FILE_PROGRESS:
		return SCOZ_POLL_OWN;
	default:
		return SCOZ_POLL_LIBRARY;
	}
}

/* ---- functions ---- */

static bool has_calls(enum mpi_file kind)
{
	return kind == MPI_FILE_MPI || kind == MPI_FILE_MPICH;
}

static bool has_engines(enum mpi_file kind)
{
	return kind == MPI_FILE_MPI || kind == MPI_FILE_PROGRESS;
}

/* Calls have two names: MPI_Recv() and PMPI_Recv(). */
bool mpi_function(enum mpi_file kind, size_t i, char name[MPI_NAME_MOST], enum scoz_poll_role *role)
{
	size_t n_calls = has_calls(kind) ? 2 * ARRAY_SIZE(calls) : 0;
	size_t n_engines = has_engines(kind) ? ARRAY_SIZE(engines) : 0;
	size_t n_asks = kind == MPI_FILE_LIBC ? ARRAY_SIZE(asks) : 0;

	if (i < n_calls) {
		snprintf(name, MPI_NAME_MOST, "%sMPI_%s", i % 2 ? "" : "P", calls[i / 2]);
		*role = SCOZ_POLL_CALL;
		return true;
	}
	i -= n_calls;
	if (i < n_engines) {
		snprintf(name, MPI_NAME_MOST, "%s", engines[i]);
		*role = SCOZ_POLL_ENGINE;
		return true;
	}
	i -= n_engines;
	if (i >= n_asks)
		return false;
	snprintf(name, MPI_NAME_MOST, "%s", asks[i].name);
	*role = asks[i].role;
	return true;
}

enum scoz_poll_role mpi_role(enum mpi_file kind, const char *function)
{
	char name[MPI_NAME_MOST];
	enum scoz_poll_role role;

	for (size_t i = 0; mpi_function(kind, i, name, &role); i++) {
		if (!strcmp(name, function))
			return role;
	}
	return mpi_file_role(kind);
}

bool mpi_call_meets(const char *function)
{
	static const char *const all[] = { "MPI_Barrier",  "MPI_Allreduce", "MPI_Allgather",
					   "MPI_Alltoall", "MPI_Win_fence", "MPI_Reduce_scatter" };

	function += *function == 'P';
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (text_after(function, all[i]))
			return true;
	}
	return false;
}
