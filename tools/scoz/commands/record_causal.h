/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scoz record --causal: everything the scheduler did goes to the file, too. */
#ifndef SCOZ_COMMANDS_RECORD_CAUSAL_H
#define SCOZ_COMMANDS_RECORD_CAUSAL_H

#include "record/causal_points.h"
#include "record/trace_output.h"

struct progress_list {
	struct progress_spec *v;
	size_t n, cap;
};
/* One --progress; false: said why not. */
bool progress_list_add(struct progress_list *l, const char *text);
void progress_list_free(struct progress_list *l);

/* All of @l, before the recorder starts; @command: NULL or what it will run. */
int causal_attach(struct causal_points *c, const struct progress_list *l, char **command,
		  struct error *err);
/* And their names, once the file is open. */
void causal_write_points(struct trace_writer *w, const struct progress_list *l);

#endif
