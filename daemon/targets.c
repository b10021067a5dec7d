// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/targets.h"

static const char *kind_name(enum target_kind kind)
{
	switch (kind) {
	case TARGET_LINE:
		return "line";
	case TARGET_FUNCTION:
		return "function";
	case TARGET_FILE:
		return "file";
	case TARGET_BINARY:
		return "binary";
	case TARGET_KERNEL:
		return "kernel";
	case TARGET_SYSCALL:
		return "syscall";
	case TARGET_CLASS:
		break;
	}
	return "class";
}

static int table_ranges(const struct target *t, const struct maptable *table,
			struct addr_ranges *ranges, struct error *err)
{
	switch (t->kind) {
	case TARGET_LINE:
		return maptable_line_ranges(table, t->name, t->line, ranges, err);
	case TARGET_FILE:
		return maptable_file_ranges(table, t->name, ranges, err);
	case TARGET_BINARY:
		return maptable_all_ranges(table, ranges, err);
	default:
		return maptable_function_ranges(table, t->name, ranges, err);
	}
}

/* Where the target begins, for people. */
static void describe(const struct target *t, const struct maptable *table,
		     const struct addr_ranges *ranges, struct resolved_target *ret)
{
	struct map_frame frames[MAP_MAX_INLINE];
	const char *file;

	if (ret->location[0] || !ranges->n ||
	    (t->kind != TARGET_FUNCTION && t->kind != TARGET_LINE) ||
	    maptable_lookup(table, ranges->r[0].start, frames, MAP_MAX_INLINE) < 1 ||
	    !frames[0].file)
		return;
	file = strncmp(frames[0].file, "./", 2) ? frames[0].file : frames[0].file + 2;
	snprintf(ret->location, sizeof(ret->location), "%s:%u", file,
		 t->kind == TARGET_LINE ? t->line : frames[0].line);
}

static int add_part(const struct target *t, const struct maps_binary *b,
		    struct resolved_target *ret, struct error *err)
{
	struct addr_ranges *ranges;
	int r;

	if (ret->n == ENGINE_MAX_PARTS)
		return error_set(err, E2BIG,
				 "target %s: it is in more than %d binaries; name one "
				 "(func:NAME@BINARY, or --binary-scope)",
				 t->spec, ENGINE_MAX_PARTS);
	ranges = &ret->ranges[ret->n];
	r = table_ranges(t, b->table, ranges, err);
	if (r)
		return r;
	ret->parts[ret->n] = (struct engine_part){
		.binary = b->id,
		.file = b->file,
		.code_vaddr = maptable_code_vaddr(b->table),
		.ranges = ranges,
	};
	describe(t, b->table, ranges, ret);
	ret->n++;
	return 0;
}

static int resolve_kernel(const struct target *t, struct maps *maps, struct resolved_target *ret,
			  struct error *err)
{
	static const char *const syscall_prefixes[] = { "__x64_sys_", "__arm64_sys_", "__se_sys_" };
	const struct maps_binary *kernel = maps_binary(maps, MAPS_KERNEL_ID);
	struct target function = *t;
	int r = -ENOENT;

	if (!kernel || !kernel->table)
		return error_set(err, EACCES, "target %s: no symbols of the kernel: %s", t->spec,
				 kernel && kernel->error ? kernel->error : "unknown reason");
	function.kind = TARGET_KERNEL;
	if (t->kind == TARGET_KERNEL)
		return add_part(&function, kernel, ret, err);
	for (size_t i = 0; r && i < ARRAY_SIZE(syscall_prefixes); i++) {
		_cleanup_free_ char *name = xasprintf("%s%s", syscall_prefixes[i], t->name);

		function.name = name;
		r = add_part(&function, kernel, ret, NULL);
	}
	return r ? error_set(err, ENOENT, "target %s: this kernel has no such system call", t->spec)
		 : 0;
}

static bool may_hold(const struct target *t, const struct maps_binary *b)
{
	const char *slash = strrchr(b->path, '/');

	if (t->kind == TARGET_BINARY)
		return glob_match(t->name, b->path) ||
		       glob_match(t->name, slash ? slash + 1 : b->path);
	return !t->binary || path_ends_with(b->path, t->binary);
}

int target_resolve(const struct target *t, struct maps *maps, struct handlers *handlers,
		   struct resolved_target *ret, struct error *err)
{
	uint32_t n = maps_binary_count(maps);
	struct error last = {};

	*ret = (struct resolved_target){ .kind = kind_name(t->kind) };
	if (t->kind == TARGET_CLASS)
		return error_set(err, ENOTSUP,
				 "target %s: waiting cannot be sped up yet by this version; use a "
				 "line, a function, a file or a binary",
				 t->spec);
	if (t->kind == TARGET_KERNEL || t->kind == TARGET_SYSCALL)
		return resolve_kernel(t, maps, ret, err);
	for (uint32_t id = MAPS_KERNEL_ID + 1; id < n; id++) {
		const struct maps_binary *b;
		int r;

		if (!handlers_saw_binary(handlers, id))
			continue;
		b = maps_binary(maps, id);
		if (!b || !b->table || !may_hold(t, b))
			continue;
		r = add_part(t, b, ret, &last);
		if (r == -E2BIG) {
			resolved_target_free(ret);
			*err = last;
			return r;
		}
	}
	if (ret->n)
		return 0;
	if (last.code)
		return error_set(err, ENOENT, "target %s: %s", t->spec, last.text);
	return error_set(
		err, ENOENT,
		"target %s: no sampled binary matches it; it has not run yet, or --binary-scope "
		"excludes it",
		t->spec);
}

void resolved_target_free(struct resolved_target *r)
{
	for (int i = 0; i < ENGINE_MAX_PARTS; i++)
		addr_ranges_free(&r->ranges[i]);
	r->n = 0;
}
