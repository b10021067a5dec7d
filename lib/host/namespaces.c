// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/namespaces.h"

#include "base/base.h"

#include <unistd.h>

#define INIT_PID_NS "pid:[4026531836]"

int namespaces_check(const char *who, struct error *err)
{
	_cleanup_free_ char *pid = sysroot_path("/proc/self/ns/pid");
	_cleanup_free_ char *offsets = sysroot_path("/proc/self/timens_offsets");
	_cleanup_free_ char *text = read_file(offsets, NULL);
	long long s = 0, ns = 0;
	char name[64] = "";

	if (readlink(pid, name, sizeof(name) - 1) > 0 && strcmp(name, INIT_PID_NS))
		return error_set(err, EOPNOTSUPP,
				 "%s cannot profile from inside a pid namespace (a "
				 "container): run it on the host, or with the host's (--pid=host)",
				 who);
	if (text && sscanf(text, "monotonic %lld %lld", &s, &ns) == 2 && (s || ns))
		return error_set(err, EOPNOTSUPP,
				 "%s cannot profile from inside a time namespace whose clock "
				 "is set apart: run it on the host",
				 who);
	return 0;
}
