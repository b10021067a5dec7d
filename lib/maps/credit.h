/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose code a frame is, and which frame of a call chain a sample is credited to when targets are
 * chosen from samples (docs/reading-a-profile.md, "Targets that are chosen"). Pure.
 */
#ifndef SCOZ_MAPS_CREDIT_H
#define SCOZ_MAPS_CREDIT_H

#include "maps/maps.h"

/* What is preferred comes first. */
enum code_origin {
	CODE_OWN,	 /* its source is the user's; or of the kernel, where that was asked for */
	CODE_OWN_BINARY, /* the source is not known, the binary is not of the system */
	CODE_PROGRAM,	 /* a program of the system, or what the user's binary has of others */
	CODE_LIBRARY,	 /* of the system or of a language */
	CODE_PASSING,	 /* ran there, but means its caller: stubs, places that enable interrupts */
	CODE_OUTSIDE,	 /* out of the user's scope */
	CODE_UNKNOWN,	 /* no function is known there */
};

/* Sources of compilers, languages, package managers and distributions. */
bool source_is_system(const char *path);
bool binary_is_system(const char *path);

/* Frames of one address, innermost first, as maptable_lookup() gives them: into @ret. */
void code_origins(const struct maps_binary *binary, const struct map_frame *frames, int n,
		  uint8_t *ret);
/*
 * The frame (of @n, innermost first) that a sample is credited to, or -1. A caller never stands for
 * code that is not known: at the first such frame the search ends.
 */
int code_credit(const uint8_t *origin, int n);
/*
 * Is something that @samples of the @credited are credited to worth being tried by itself, with
 * @all samples taken? And are there enough of them to tell that nothing is?
 */
bool code_worth_trying(uint64_t samples, uint64_t credited, uint64_t all);
bool code_can_tell(uint64_t credited);
/* Is the function known by its address alone, or not at all? */
bool function_is_unnamed(const char *function);
/* sched_yield(): whose loop it is in, it means its caller. */
bool function_yields(const char *function);
/* Of the kernel: does it run BPF programs, or is it one? Nearly all of that is the profiler's. */
bool function_is_of_bpf(const char *function);

#endif
