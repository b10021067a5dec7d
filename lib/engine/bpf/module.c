// SPDX-License-Identifier: GPL-2.0-or-later
/* Engine `bpf` and the module of kernel-patches/module: module.bpf.h tells what for. */
#include "engine/bpf/bpf_engine.h"
#include "host/scoz_module.h"
#include "scoz_module.skel.h"

int bpf_choose_module(const struct engine_options *opt, struct error *err)
{
	bool kick = opt->flags & ~opt->no_flags & SCOZ_F_KICK;
	int r = opt->no_ways & ENGINE_MODULE ? -ECANCELED : scoz_module_probe();

	if (r > 0)
		return r;
	if (kick)
		return error_set(
			err, ENOTSUP,
			"--tune kick: engine bpf needs the module scoz.ko for that, which %s "
			"(docs/kernel.md tells how to build it; then: sudo modprobe scoz)",
			r == -ECANCELED ? "--tune no-module excludes" : scoz_module_state(r));
	if (r != -ENOENT && r != -ECANCELED)
		log_info("engine bpf: without the module scoz.ko, which %s", scoz_module_state(r));
	return 0;
}

/* Of the two skeletons only the programs differ: the Makefile sees to that. */
struct scoz *bpf_open_for_module(void)
{
	struct scoz *s = calloc(1, sizeof(*s));
	size_t size;

	if (!s || scoz__create_skeleton(s)) {
		free(s);
		errno = ENOMEM;
		return NULL;
	}
	s->skeleton->data = (void *)scoz_module__elf_bytes(&size);
	s->skeleton->data_sz = size;
	if (bpf_object__open_skeleton(s->skeleton, NULL)) {
		scoz__destroy(s);
		return NULL;
	}
	return s;
}
