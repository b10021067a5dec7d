/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Causal profiles for other programs. Each returns an exit code; I/O errors stay with @out. */
#ifndef SCOZ_PROFILE_EXPORT_H
#define SCOZ_PROFILE_EXPORT_H

#include "tools/scoz/causal/model.h"

int export_coz(const struct model *m, FILE *out); /* for the COZ viewer */
int export_csv(const struct model *m, FILE *out);

#endif
