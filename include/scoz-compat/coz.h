/* SPDX-License-Identifier: MIT */
/* For programs instrumented for COZ: put this directory into the include path. */
#include "../scoz.h"

/* What programs have by COZ's own header without asking for it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
