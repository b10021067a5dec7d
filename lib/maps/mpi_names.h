/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What files and functions of MPI do when a task waits by polling (account/polling.h). The files
 * are known by their names, the functions by theirs: those that programs call, and those by which
 * the libraries call each other, are named in stripped libraries, too. The others are what
 * surrounds these. Pure.
 */
#ifndef SCOZ_MAPS_MPI_NAMES_H
#define SCOZ_MAPS_MPI_NAMES_H

#include "base/base.h"
#include "account/polling.h"

enum mpi_file {
	MPI_FILE_NONE,
	MPI_FILE_MPI,
	MPI_FILE_MPICH,
	MPI_FILE_PROGRESS,
	MPI_FILE_DEVICE,
	MPI_FILE_EVENTS,
	MPI_FILE_LIBC,
};

enum mpi_file mpi_file(const char *path);
/* Of what has no other role in it. */
enum scoz_poll_role mpi_file_role(enum mpi_file kind);

#define MPI_NAME_MOST 64
/* The @i-th function with a role of its own in such a file; false: there are no more. */
bool mpi_function(enum mpi_file kind, size_t i, char name[MPI_NAME_MOST],
		  enum scoz_poll_role *role);
/* By name; that of the file, if it has none of its own. */
enum scoz_poll_role mpi_role(enum mpi_file kind, const char *function);
/* Does the call return only when all have come to it, or nearly so? */
bool mpi_call_meets(const char *function);

#endif
