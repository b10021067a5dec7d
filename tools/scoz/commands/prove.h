/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scoz doctor --prove: predictions beside the truth, on this machine, now. */
#ifndef SCOZ_PROVE_H
#define SCOZ_PROVE_H

#include "host/capabilities.h"

#define PROVE_PROGRAM	  "--prove-program" /* scoz doctor's first argument, as scozd's command */
#define PROVE_SECONDS	  30.0		    /* for both programs */
#define PROVE_SECONDS_MIN 12.0
#define PROVE_SECONDS_MAX 600.0

/* Prints what came out; returns the exit status of scoz doctor. */
int prove(double seconds, bool json);
/* For programs, where scozd cannot run: the same JSON, of nothing. */
void prove_nothing(const struct capabilities *c);
/* @argv: name of the program, its knob file. Runs until it is ended. */
int prove_program(int argc, char **argv);
/* Names of the programs, NULL at the end. */
extern const char *const prove_names[];

#endif
