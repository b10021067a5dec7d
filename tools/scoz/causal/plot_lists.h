/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SCOZ_PLOT_LISTS_H
#define SCOZ_PLOT_LISTS_H

#include <stdio.h>

#include "tools/scoz/causal/model.h"

/* As HTML; nothing where there is nothing. @labels: by the model's row. */
void plot_list_joints(const struct model *m, char *const *labels, uint32_t progress, FILE *out);
void plot_list_unmeasured(const struct model *m, uint32_t progress, FILE *out);
/* Of the whole page: what was profiled; how. */
void plot_facts(const struct model *m, FILE *out);
void plot_method(const struct model *m, FILE *out);

#endif
