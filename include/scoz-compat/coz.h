/* SPDX-License-Identifier: MIT */
/* For programs instrumented for COZ: put this directory into the include path. */
#include "../scoz.h"
