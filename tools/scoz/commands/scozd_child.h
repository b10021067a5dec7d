/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scozd as a child of commands that run experiments themselves. */
#ifndef SCOZ_SCOZD_CHILD_H
#define SCOZ_SCOZD_CHILD_H

/* Of this program; NULL: /proc is not there. To be freed. */
char *own_path(void);
/* Beside this program, where it is installed (bin and sbin), or in PATH; to be freed. */
char *scozd_path(const char *self);

struct scozd_result {
	int status; /* its exit status; -1: it did not end by itself, or could not be started */
	int signal; /* this one came meanwhile, and was told to scozd; 0: none */
	char *said; /* its messages, the last ones of many; to be freed */
};

/*
 * Runs it with nothing to read, and keeps to itself what the command prints. SIGINT, SIGTERM and
 * SIGHUP end it, as they would alone: it puts back what it has changed, and ends what it has
 * started. So does the end of @limit_s.
 */
void scozd_run(char **argv, double limit_s, struct scozd_result *ret);

/* The last line, without "scozd: ", for the reader; to be freed. */
char *scozd_last_words(const char *said);

#endif
