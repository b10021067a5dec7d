// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/target_check.h"

#include "elf/table_make.h"
#include "host/cgroup.h"
#include "host/syscall_names.h"

static int check_class(const struct target *t, const struct options *opt, struct error *err)
{
	bool class = t->kind == TARGET_CLASS;
	struct engine_part part;
	uint64_t id;

	if (class && !strcmp(t->name, "lock"))
		return error_set(err, ENOTSUP,
				 "target %s: waiting for a lock cannot be sped up by itself, only "
				 "what its owner does meanwhile: make the functions that hold the "
				 "lock the target (`scoz record` tells who waits where, and for "
				 "whom)",
				 t->spec);
	if (class && !target_class_bits(t))
		return error_set(
			err, ENOTSUP,
			"target %s: waiting for a CPU is not sped up by experiments, which "
			"make others wait for CPUs; what more CPUs would bring a recording "
			"tells: `scoz record --causal --progress POINT -- COMMAND`, then "
			"`scoz whatif --cpus +1`",
			t->spec);
	if (!class && opt->waits)
		return error_set(err, ENOTSUP,
				 "target %s: what a process waits for is not sped up, only what "
				 "it runs on a CPU: leave --waits out, or name code",
				 t->spec);
	if (!strcmp(opt->engine, "kernel") || opt->model != SCOZ_MODEL_WAIT || opt->batch)
		return error_set(err, ENOTSUP,
				 "target %s: that can be sped up by engine bpf in model wait "
				 "only: use --engine bpf, without --batch and --model core",
				 t->spec);
	if ((t->kind == TARGET_CGROUP && cgroup_id(t->name, &id, err)) ||
	    (class && t->device && target_find_device(t, &part, err)))
		return error_prefix(err, "target %s", t->spec);
	return 0;
}

/* What cannot be, whatever runs: 0 where that cannot be told yet. */
static int check_one(const struct target *t, const struct options *opt, struct maps *maps,
		     const struct map_options *map_opt, struct error *err)
{
	_cleanup_free_ char *path = NULL;
	struct resolved_target r = { .n = 0 };
	struct addr_ranges ranges;
	struct maptable *table;
	struct error why = {};
	int ret = 0;

	if (target_is_tasks(t))
		return check_class(t, opt, err);
	if (t->kind == TARGET_SYSCALL && syscall_find(t->name, &why) < 0)
		return error_set(err, ENOENT, "target %s: %s", t->spec, why.text);
	if (t->kind == TARGET_KERNEL) {
		ret = target_resolve_kernel(t, maps, NULL, &r, err);
		resolved_target_free(&r);
		return ret;
	}
	if (t->kind != TARGET_FUNCTION || !t->binary)
		return 0;
	path = target_file(t, opt);
	if (!path)
		return 0;
	ret = maptable_make(path, t->binary, map_opt, &table, &why);
	if (ret)
		return error_set(err, -ret, "target %s: %s", t->spec, why.text);
	ret = maptable_function_ranges(table, t->name, &ranges, &why);
	if (!ret)
		addr_ranges_free(&ranges);
	maptable_free(table);
	return ret ? error_set(err, -ret, "target %s: %s", t->spec, why.text) : 0;
}

/* Some targets were named, and each is seen; @waits: as waits, nothing else. */
static bool all_seen(const struct options *opt, const struct engine *engine, bool waits)
{
	for (size_t i = 0; i < opt->n_targets; i++) {
		const struct target *t = &opt->targets[i];
		enum engine_seen how =
			engine_can_see(engine, target_classes(t), t->kind == TARGET_SYSCALL);

		if (waits ? how != ENGINE_SEEN_WAITS : how == ENGINE_SAMPLED)
			return false;
	}
	return opt->n_targets > 0;
}

double targets_seen(const struct options *opt, const struct engine *engine)
{
	return all_seen(opt, engine, false);
}

double targets_wait(const struct options *opt, const struct engine *engine)
{
	return all_seen(opt, engine, true);
}

enum sort { SORT_CODE, SORT_CALLS, SORT_TASKS, SORT_CLASS };

static enum sort sort_of(const struct target *t)
{
	if (t->kind == TARGET_CLASS)
		return SORT_CLASS;
	return target_is_some_tasks(t)	   ? SORT_TASKS
	       : t->kind == TARGET_SYSCALL ? SORT_CALLS
					   : SORT_CODE;
}

/*
 * Of one sort, what is in any of them is in it once, however it is found out. Of different sorts
 * some would be seen and some sampled, and what is in both counted twice. Classes of waits are told
 * by how they ended, and what runs (class:on) is everything.
 */
static int check_together(const struct options *opt, struct error *err)
{
	enum sort first = sort_of(&opt->targets[0]);

	for (size_t i = 0; i < opt->n_targets; i++) {
		const struct target *t = &opt->targets[i];
		enum sort sort = sort_of(t);

		if (sort == SORT_CLASS)
			return error_set(err, ENOTSUP,
					 "target %s: --together takes no classes: try it alone",
					 t->spec);
		if (sort != first)
			return error_set(err, ENOTSUP,
					 "target %s: --together takes code, or system calls, or "
					 "tasks (comm:, cgroup:, rank:), and %s is of another "
					 "kind, which may run inside of it: try them one by one",
					 t->spec, opt->targets[0].spec);
		if (sort == SORT_CALLS &&
		    (!strcmp(opt->engine, "kernel") || opt->model != SCOZ_MODEL_WAIT || opt->batch))
			return error_set(err, ENOTSUP,
					 "target %s: several system calls can be sped up together "
					 "by engine bpf in model wait only: use --engine bpf, "
					 "without --batch and --model core",
					 t->spec);
	}
	return 0;
}

int targets_check(const struct options *opt, struct maps *maps, const struct map_options *map_opt,
		  struct error *err)
{
	int ret = opt->together ? check_together(opt, err) : 0;

	for (size_t i = 0; !ret && i < opt->n_targets; i++)
		ret = check_one(&opt->targets[i], opt, maps, map_opt, err);
	if (!ret && opt->n_source_scope && maps_kernel_targets(maps)) {
		const struct maps_binary *kernel = maps_binary_wait(maps, MAPS_KERNEL_ID);

		if (!kernel || !kernel->table || maptable_source(kernel->table) == MAP_KALLSYMS)
			ret = error_set(
				err, ENOENT,
				"--source-scope with --kernel-scope needs the source lines "
				"of the kernel, and there is no image of this kernel with "
				"debug information: install linux-image-$(uname -r)-dbg, name "
				"its VMLINUX with -k, or leave -k or -s out");
	}
	return ret;
}
