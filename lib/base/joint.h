/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SCOZ_JOINT_H
#define SCOZ_JOINT_H

/* Between the names of targets that are tried together. */
#define TARGETS_TOGETHER " + "

#endif
