// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/wrong_file.h"

#include "profile/profile.h"
#include "record/recording.h"
#include "trace/trace.h"
#include "tools/scoz/cmds.h"

const char *input_file(const char *argument)
{
	return strcmp(argument, "-") ? argument : "/dev/stdin";
}

const char *scoz_file(const char *path)
{
	return profile_is(path)	    ? "a causal profile"
	       : recording_is(path) ? "a recording"
	       : trace_is(path)	    ? "a causal recording"
				    : NULL;
}

int cannot_read(const char *path, enum file_kind wanted, const struct error *err)
{
	if (wanted != FILE_CAUSAL && trace_is(path))
		log_warn("%s: a causal recording (of scoz record --causal): `scoz waits` and "
			 "`scoz whatif` read it",
			 path);
	else if (wanted == FILE_CAUSAL && recording_is(path))
		log_warn("%s: a recording without who woke whom: record with --causal for that",
			 path);
	else if (wanted == FILE_PROFILE && recording_is(path))
		log_warn(
			"%s: a recording (of scoz record), not a causal profile (of scozd): "
			"`scoz report` and `scoz plot` read it, and `scoz export --format folded`, "
			"speedscope, firefox or pprof",
			path);
	else if (wanted == FILE_RECORDING && profile_is(path))
		log_warn("%s: a causal profile (of scozd), not a recording (of scoz record): `scoz "
			 "report`, `scoz plot` and `scoz targets` read it, and `scoz export "
			 "--format coz`, csv or json",
			 path);
	else
		log_warn("%s", err->text);
	return EXIT_FAILED;
}
