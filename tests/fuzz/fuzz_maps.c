// SPDX-License-Identifier: GPL-2.0-or-later
/* /proc/PID/maps: names of files in it are chosen by whoever runs the process. */
#include "tests/fuzz/fuzz.h"

#include "maps/maps.h"

#include <sys/stat.h>
#include <unistd.h>

#define PID 7

static char root[64];

static void remove_root(void)
{
	static const char *const parts[] = { "/proc/7/maps", "/proc/7", "/proc", "" };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		_cleanup_free_ char *path = xasprintf("%s%s", root, parts[i]);

		if (remove(path))
			return;
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	_cleanup_free_ char *proc = NULL, *pid = NULL;

	(void)argc;
	(void)argv;
	log_level = LOG_QUIET;
	snprintf(root, sizeof(root), "/tmp/scoz-fuzz-%d", getpid());
	proc = xasprintf("%s/proc", root);
	pid = xasprintf("%s/proc/%d", root, PID);
	if (mkdir(root, 0700) || mkdir(proc, 0700) || mkdir(pid, 0700))
		abort();
	sysroot = root;
	atexit(remove_root);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct maps_options opt = { 0 };
	_cleanup_free_ char *path = xasprintf("%s/proc/%d/maps", root, PID);
	FILE *f = fopen(path, "w");
	struct error err;
	uint32_t id;
	uint64_t place;
	struct maps *m;

	if (!f || fwrite(data, 1, size, f) != size || fclose(f) || maps_create(&opt, &m, &err))
		abort();
	maps_scan_process(m, PID);
	maps_scan_process(m, PID);
	for (uint64_t addr = 0x400000; addr < 0x410000; addr += 0x800)
		maps_place_of(m, PID, addr, &id, &place);
	maps_place_of(m, PID, UINT64_MAX / 2, &id, &place);
	for (id = 0; id < maps_binary_count(m); id++) {
		if (!maps_binary_path(m, id))
			abort();
	}
	maps_code_at(PID, 0x401000);
	maps_destroy(m);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	return fuzz_mutate_lines(data, size, max, seed);
}
