// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/futex.h"
#include "record/recording.h"

char record_class_letter(const struct record_sample *s)
{
	switch (s->class) {
	case RECORD_ON:
		return s->kernel ? 'k' : '.';
	case RECORD_IO:
		return 'I';
	case RECORD_LOCK:
		return 'L';
	case RECORD_SCHED:
		return 'S';
	default:
		return 'B';
	}
}

const char *record_class_name(enum record_class class)
{
	static const char *const names[] = {
		[RECORD_ON] = "on",	  [RECORD_IO] = "io",	    [RECORD_LOCK] = "lock",
		[RECORD_SCHED] = "sched", [RECORD_OTHER] = "other",
	};

	return class < RECORD_CLASSES ? names[class] : "other";
}

bool record_kind_is_held(const char *kind)
{
	return kind && strcmp(kind, RECORD_KIND_FUTEX) && strcmp(kind, RECORD_KIND_FUTEX_WAIT);
}
