// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/table_make.h"
#include "daemon/targets.h"

#include "base/similar.h"
#include "host/block_device.h"
#include "host/cgroup.h"
#include "host/process.h"
#include "host/syscall_names.h"
#include "maps/made_code.h"
#include "maps/credit.h"
#include "progress/network_peer.h"

#include <ctype.h>
#include <dirent.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define PATTERN	 "*?["
#define NAMED_NS (100 * NSEC_PER_MSEC)

static int table_ranges(const struct target *t, const struct maptable *table,
			struct addr_ranges *ranges, struct error *err)
{
	switch (t->kind) {
	case TARGET_LINE:
		return maptable_lines_ranges(table, t->name, t->line, t->last, ranges, err);
	case TARGET_FILE:
		return maptable_file_ranges(table, t->name, ranges, err);
	case TARGET_BINARY:
		return maptable_all_ranges(table, ranges, err);
	case TARGET_KERNEL:
		if (strpbrk(t->name, PATTERN))
			return maptable_functions_ranges(table, t->name, ranges, err);
		/* fall through */
	default:
		return maptable_function_ranges(table, t->name, ranges, err);
	}
}

/* Where the target begins, for people; false: it is not known, or told already. */
static bool describe(const struct target *t, const struct maps_binary *b,
		     const struct addr_ranges *ranges, struct resolved_target *ret)
{
	bool system = b->kernel || binary_is_system(b->path);
	struct map_frame frames[MAP_MAX_INLINE];
	const char *file;
	int n, i = 0;

	if ((ret->location[0] && (system || !ret->of_system)) || !ranges->n ||
	    (t->kind != TARGET_FUNCTION && t->kind != TARGET_LINE))
		return false;
	n = maptable_lookup(b->table, ranges->r[0].start, frames, MAP_MAX_INLINE);
	/* What is inlined into the line is somewhere else. */
	while (t->kind == TARGET_LINE && i < n &&
	       !(frames[i].file && frames[i].line >= t->line && frames[i].line <= t->last &&
		 path_ends_with(frames[i].file, t->name)))
		i++;
	if (i >= n || !frames[i].file)
		return false;
	file = strncmp(frames[i].file, "./", 2) ? frames[i].file : frames[i].file + 2;
	snprintf(ret->location, sizeof(ret->location), "%s:%u", file, frames[i].line);
	ret->of_system = system;
	return true;
}

/* Of target @spec, the ranges in binary @like->binary, which may be new; NULL: too many binaries.
 */
static struct addr_ranges *part_ranges(struct resolved_target *r, const struct engine_part *like,
				       const char *spec, struct error *err)
{
	int i = 0;

	while (i < r->n && r->parts[i].binary != like->binary)
		i++;
	if (i == SCOZ_MAX_PARTS) {
		error_set(err, E2BIG,
			  "target %s: it is in more than %d binaries; name one "
			  "(func:NAME@BINARY, or --binary-scope)",
			  spec, SCOZ_MAX_PARTS);
		return NULL;
	}
	if (i == r->n) {
		r->parts[r->n++] = *like;
		r->parts[i].ranges = &r->ranges[i];
	}
	return &r->ranges[i];
}

static void add_ranges(struct addr_ranges *to, const struct addr_ranges *from)
{
	to->r = xreallocarray(to->r, to->n + from->n, sizeof(*to->r));
	for (size_t i = 0; i < from->n; i++)
		to->r[to->n++] = from->r[i];
	addr_ranges_sort_merge(to);
}

/* Considers the names of its functions. */
static void add_near(const struct maps_binary *b, struct similar *similar)
{
	if (b->made)
		made_code_near(b->made, similar);
	else
		maptable_near_functions(b->table, similar);
}

/* Of what a process makes while it runs: where that is now. */
static int add_made(const struct target *t, const struct maps_binary *b,
		    struct resolved_target *ret, struct error *err)
{
	const struct engine_part part = { .binary = b->id };
	uint32_t version = made_code_version(b->made);
	struct addr_ranges found, *all;
	struct similar similar;
	int r;

	if (t->kind != TARGET_FUNCTION && t->kind != TARGET_BINARY)
		return -ENOENT;
	r = made_code_ranges(b->made, t->kind == TARGET_BINARY ? NULL : t->name, &found);
	if (r == -E2BIG)
		return error_set(err, ENOENT, "%s tells of too many functions \"%s\"", b->path,
				 t->name);
	if (r) {
		_cleanup_free_ char *near = NULL;

		similar_init(&similar, t->name);
		add_near(b, &similar);
		near = similar_text(&similar);
		return error_set(err, ENOENT, "%s tells of no function \"%s\"%s", b->path, t->name,
				 near);
	}
	all = part_ranges(ret, &part, t->spec, err);
	if (all) {
		add_ranges(all, &found);
		ret->made += version;
	}
	addr_ranges_free(&found);
	return all ? 0 : -E2BIG;
}

static bool is_own_image(const struct maps_binary *b)
{
	return !strcmp(b->path, process_own_image());
}

/* Has it got code that can be a target, as far as is known by now? */
static bool has_code(const struct maps_binary *b)
{
	return b && (b->made || (b->table && !is_own_image(b)));
}

/* The kernel and its modules are one part, in addresses of the running kernel. */
static int add_part(const struct target *t, const struct maps_binary *b, struct maps *maps,
		    struct resolved_target *ret, struct error *err)
{
	struct engine_part part = { .binary = b->kernel ? MAPS_KERNEL_ID : b->id };
	struct addr_ranges found, *all;
	bool described;
	int r;

	if (b->made)
		return add_made(t, b, ret, err);
	r = table_ranges(t, b->table, &found, err);
	if (r)
		return r;
	described = describe(t, b, &found, ret);
	if (b->kernel)
		maps_kernel_ranges(maps, b->id, &found);
	else if (t->kind == TARGET_FUNCTION && !ret->overloads)
		ret->overloads = maptable_function_overloads(b->table, t->name);
	if (!b->kernel) {
		part.file = maps_file_of(b);
		part.code_vaddr = maptable_code_vaddr(b->table);
		maptable_code(b->table, &part.code);
	}
	all = part_ranges(ret, &part, t->spec, err);
	if (all)
		add_ranges(all, &found);
	if (all && described)
		ret->described = all - ret->ranges;
	addr_ranges_free(&found);
	return all ? 0 : -E2BIG;
}

/* Before the run, tables are waited for. */
static const struct maps_binary *table_of(struct maps *maps, struct handlers *handlers, uint32_t id)
{
	return handlers ? maps_binary_ask(maps, id) : maps_binary_wait(maps, id);
}

/*
 * A kernel binary that is looked into: the kernel itself, modules that have been sampled (tables
 * of all would take long), and kallsyms, which knows functions alone, only when @symbols.
 */
static const struct maps_binary *kernel_binary(struct maps *maps, struct handlers *handlers,
					       uint32_t id, bool symbols)
{
	const struct maps_binary *b;

	if (!maps_binary_is_kernel(maps, id) ||
	    (id != MAPS_KERNEL_ID && !symbols && (!handlers || !handlers_saw_binary(handlers, id))))
		return NULL;
	b = table_of(maps, handlers, id);
	if (!b || !b->table || (maptable_source(b->table) == MAP_KALLSYMS) != symbols)
		return NULL;
	return b;
}

static int find_in_kernel(const struct target *t, struct maps *maps, struct handlers *handlers,
			  struct resolved_target *ret, struct error *err)
{
	uint32_t n = maps_binary_count(maps);
	bool pattern = strpbrk(t->name, PATTERN);
	int r = -ENOENT;

	/* Of a pattern, modules whose tables are not there have their part, too. */
	for (int symbols = 0; symbols < 2 && (r || pattern); symbols++) {
		for (uint32_t id = 0; id < n; id++) {
			const struct maps_binary *b = kernel_binary(maps, handlers, id, symbols);

			if (b && !add_part(t, b, maps, ret, err))
				r = 0;
		}
	}
	return r;
}

/* For kernels that know a system call by its functions. */
static void find_syscall_functions(const struct target *t, struct maps *maps,
				   struct handlers *handlers, struct resolved_target *ret)
{
	struct target function = { .kind = TARGET_KERNEL, .spec = t->spec };

	for (size_t i = 0; (function.name = syscall_function(t->name, i)); i++) {
		find_in_kernel(&function, maps, handlers, ret, NULL);
		free(function.name);
	}
}

static int resolve_syscall(const struct target *t, struct maps *maps, struct handlers *handlers,
			   struct resolved_target *ret, struct error *err)
{
	const struct maps_binary *kernel = table_of(maps, handlers, MAPS_KERNEL_ID);
	int number = syscall_find(t->name, err);

	if (number < 0)
		return error_prefix(err, "target %s", t->spec);
	if (kernel && kernel->table)
		find_syscall_functions(t, maps, handlers, ret);
	if (!ret->n) /* who knows it by its number needs nothing else */
		ret->parts[ret->n++] =
			(struct engine_part){ .binary = MAPS_KERNEL_ID, .ranges = &ret->ranges[0] };
	ret->parts[0].by_syscall = true;
	ret->parts[0].syscall = number;
	return 0;
}

int target_resolve_kernel(const struct target *t, struct maps *maps, struct handlers *handlers,
			  struct resolved_target *ret, struct error *err)
{
	const struct maps_binary *kernel = table_of(maps, handlers, MAPS_KERNEL_ID);
	struct target function = *t;
	int r;

	if (!kernel || !kernel->table)
		return error_set(err, EACCES, "target %s: no symbols of the kernel: %s", t->spec,
				 kernel && kernel->error ? kernel->error : "unknown reason");
	function.kind = TARGET_KERNEL;
	r = find_in_kernel(&function, maps, handlers, ret, err);
	return r ? error_prefix(err, "target %s", t->spec) : 0;
}

static bool is_file(const char *path, const struct maps_binary *b)
{
	_cleanup_free_ char *real = NULL;
	struct stat st;

	if (stat(path, &st))
		return false;
	if (st.st_ino == b->file.ino && major(st.st_dev) == b->file.dev_major &&
	    minor(st.st_dev) == b->file.dev_minor)
		return true;
	real = realpath(path, NULL); /* some file systems have devices of their own */
	return real && !strcmp(real, b->path);
}

/* The programs of the processes of one name, which are asked for once for all binaries. */
static struct {
	char name[16];
	uint64_t looked_ns;
	char **files; /* as /proc names them */
	size_t n, cap;
} named;

static void look_for_named(const char *name)
{
	_cleanup_free_ char *proc = sysroot_path("/proc");
	uint64_t now = clock_now_ns();
	struct dirent *d;
	DIR *dir;

	if (!strncmp(name, named.name, 15) && now - named.looked_ns < NAMED_NS)
		return;
	while (named.n)
		free(named.files[--named.n]);
	named.looked_ns = now;
	snprintf(named.name, sizeof(named.name), "%.15s", name);
	dir = opendir(proc);
	while (dir && (d = readdir(dir))) {
		_cleanup_free_ char *comm = NULL;

		if (!isdigit((unsigned char)d->d_name[0]))
			continue;
		comm = task_comm(atoi(d->d_name));
		if (!comm || !*comm || strcmp(comm, named.name) != 0)
			continue;
		array_reserve(named.files, named.cap, named.n + 1);
		named.files[named.n++] = xasprintf("%s/%s/exe", proc, d->d_name);
	}
	if (dir)
		closedir(dir);
}

/* Does a process that runs the binary bear this name? The kernel takes it from what was invoked. */
static bool runs_as(const char *name, const struct maps_binary *b)
{
	look_for_named(name);
	for (size_t i = 0; i < named.n; i++) {
		if (is_file(named.files[i], b))
			return true;
	}
	return false;
}

/*
 * Programs are often links to others (redis-server, as): the name by which one is invoked is as
 * good as that of the file.
 */
static bool is_invoked_as(const char *name, const struct maps_binary *b)
{
	_cleanup_free_ char *path = NULL;

	if (strpbrk(name, PATTERN) || b->path[0] != '/' || strstr(b->path, ".so"))
		return false;
	if (!binary_find(name, &path, NULL) && is_file(path, b))
		return true;
	return !strchr(name, '/') && runs_as(name, b);
}

static bool may_hold(const struct target *t, const struct maps_binary *b)
{
	const char *slash = strrchr(b->path, '/');

	if (t->kind == TARGET_BINARY)
		return glob_match(t->name, b->path) ||
		       glob_match(t->name, slash ? slash + 1 : b->path) ||
		       is_invoked_as(t->name, b);
	return !t->binary || path_ends_with(b->path, t->binary) || is_invoked_as(t->binary, b);
}

/* "[kernel]" is also called vmlinux, and "[ext4]" ext4 or ext4.ko. */
static bool kernel_may_hold(const struct target *t, const struct maps_binary *b)
{
	_cleanup_free_ char *plain = xstrndup(b->path + 1, strcspn(b->path + 1, "]"));
	_cleanup_free_ char *file =
		b->id == MAPS_KERNEL_ID ? xstrdup("vmlinux") : xasprintf("%s.ko", plain);

	if (t->kind == TARGET_BINARY)
		return glob_match(t->name, plain) || glob_match(t->name, file);
	return !t->binary || !strcmp(t->binary, b->path) || !strcmp(t->binary, plain) ||
	       !strcmp(t->binary, file);
}

static int resolve_programs(const struct target *t, struct maps *maps, struct handlers *handlers,
			    struct resolved_target *ret, struct error *last)
{
	uint32_t n = maps_binary_count(maps);

	for (uint32_t id = MAPS_KERNEL_ID + 1; id < n; id++) {
		const struct maps_binary *b;

		if (!maps_binary_is_made(maps, id) &&
		    (!handlers_saw_binary(handlers, id) || maps_binary_is_kernel(maps, id)))
			continue;
		b = maps_binary_ask(maps, id);
		if (has_code(b) && may_hold(t, b) && add_part(t, b, maps, ret, last) == -E2BIG)
			return -E2BIG;
	}
	return 0;
}

/* What --kernel-scope lets be a target. */
static int resolve_in_scope(const struct target *t, struct maps *maps, struct handlers *handlers,
			    struct resolved_target *ret, struct error *last)
{
	uint32_t n = maps_binary_count(maps);
	bool symbols = t->kind == TARGET_FUNCTION;

	for (int pass = 0; pass <= symbols && (!pass || !ret->n); pass++) {
		for (uint32_t id = 0; id < n; id++) {
			const struct maps_binary *b = kernel_binary(maps, handlers, id, pass);

			if (b && kernel_may_hold(t, b) && add_part(t, b, maps, ret, last) == -E2BIG)
				return -E2BIG;
		}
	}
	return 0;
}

uint32_t target_class_bits(const struct target *t)
{
	const char *name = t->name;

	if (t->device)
		return t->peer ? ENGINE_CLASS_PEER : ENGINE_CLASS_DISK;
	if (!strcmp(name, "on"))
		return ENGINE_CLASS_ON;
	if (!strcmp(name, "off"))
		return ENGINE_CLASS_IO | ENGINE_CLASS_OTHER;
	if (!strcmp(name, "io"))
		return ENGINE_CLASS_IO;
	return !strcmp(name, "other") ? ENGINE_CLASS_OTHER : 0;
}

uint32_t target_classes(const struct target *t)
{
	if (target_is_some_tasks(t))
		return ENGINE_CLASS_ON;
	return t->kind == TARGET_CLASS ? target_class_bits(t) : 0;
}

int target_find_device(const struct target *t, struct engine_part *ret, struct error *err)
{
	struct network_peer peer;

	if (!t->peer)
		return block_disk_find(t->device, &ret->disk, err);
	network_peer_parse(t->device, &peer);
	memcpy(ret->peer.address, peer.address, sizeof(ret->peer.address));
	ret->peer.port = peer.port;
	return 0;
}

static int resolve_tasks(const struct target *t, struct resolved_target *ret, struct error *err)
{
	struct engine_part *p = &ret->parts[ret->n++];
	int r = 0;

	*p = (struct engine_part){
		.binary = MAPS_KERNEL_ID,
		.ranges = &ret->ranges[0],
		.classes = target_classes(t),
	};
	switch (t->kind) {
	case TARGET_COMM:
		p->whose = ENGINE_COMM;
		p->comm = t->name;
		break;
	case TARGET_CGROUP:
		p->whose = ENGINE_CGROUP;
		r = cgroup_id(t->name, &p->number, err);
		if (r == -ENOENT) /* it was there when the run began, and may come back */
			r = 0;
		if (r)
			error_prefix(err, "target %s", t->spec);
		break;
	case TARGET_RANK:
		p->whose = ENGINE_RANK;
		p->number = strtoul(t->name, NULL, 10);
		break;
	case TARGET_CLASS:
		r = t->device ? target_find_device(t, p, err) : 0;
		if (r == -ENOENT) /* taken out; it may come back */
			r = 0;
		if (r)
			error_prefix(err, "target %s", t->spec);
		break;
	default:
		break;
	}
	return r;
}

#define MAX_RAN 10 /* programs in a message */

/* Programs and libraries that were sampled, by the last part of their paths. */
static char *what_ran(struct maps *maps, struct handlers *handlers)
{
	uint32_t n = maps_binary_count(maps);
	char *text = xstrdup("");
	int listed = 0;

	for (uint32_t id = MAPS_KERNEL_ID + 1; id < n && listed < MAX_RAN; id++) {
		const char *path =
			handlers_saw_binary(handlers, id) ? maps_binary_path(maps, id) : NULL;

		if (path && path[0] == '/')
			text_add(&text, "%s%s",
				 listed++ ? ", " : "; sampled were: ", strrchr(path, '/') + 1);
	}
	return text;
}

/* In all that was sampled, or may have been, there is no such target. */
static int nowhere(const struct target *t, struct maps *maps, struct handlers *handlers,
		   const struct error *last, struct error *err)
{
	_cleanup_free_ char *near = NULL, *ran = NULL;
	uint32_t n = maps_binary_count(maps), looked = 0;
	struct similar similar;

	if (t->kind == TARGET_FUNCTION) {
		similar_init(&similar, t->name);
		for (uint32_t id = MAPS_KERNEL_ID + 1; id < n; id++) {
			const struct maps_binary *b;

			if (!handlers_saw_binary(handlers, id) || maps_binary_is_kernel(maps, id))
				continue;
			b = maps_binary_ask(maps, id);
			if (!has_code(b) || !may_hold(t, b))
				continue;
			add_near(b, &similar);
			looked++;
		}
		near = similar_text(&similar);
	}
	if (looked > 1)
		return error_set(err, ENOENT,
				 "target %s: none of the %u binaries that were sampled has a "
				 "function \"%s\"%s",
				 t->spec, looked, t->name, near);
	if (last->code)
		return error_set(err, ENOENT, "target %s: %s", t->spec, last->text);
	ran = what_ran(maps, handlers);
	return error_set(err, ENOENT,
			 "target %s: no sampled binary matches it; it has not run yet, or "
			 "--binary-scope excludes it%s",
			 t->spec, ran);
}

/* A binary that was sampled and may hold the target, and of which no table is there yet. */
static const char *still_unread(const struct target *t, struct maps *maps,
				struct handlers *handlers)
{
	bool of_kernel = t->kind == TARGET_KERNEL || t->kind == TARGET_SYSCALL;
	uint32_t n = maps_binary_count(maps);

	for (uint32_t id = 0; id < n; id++) {
		bool kernel = maps_binary_is_kernel(maps, id);
		const struct maps_binary *b;

		if (!handlers_saw_binary(handlers, id) ||
		    (kernel ? !maps_kernel_targets(maps) : of_kernel))
			continue;
		if (maps_binary_ask(maps, id))
			continue;
		b = maps_binary_unread(maps, id);
		if (kernel || (!is_own_image(b) && may_hold(t, b)))
			return b->path;
	}
	return NULL;
}

int target_resolve(const struct target *t, struct maps *maps, struct handlers *handlers,
		   bool patient, struct resolved_target *ret, struct error *err)
{
	const char *unread;
	/* A file name such as util.c:10 is a program's before it is one of the kernel's many. */
	bool wide = t->kind == TARGET_FILE || t->kind == TARGET_BINARY;
	struct error last = {};
	int r;

	*ret = (struct resolved_target){ .kind = target_kind_name(t->kind) };
	if (target_is_tasks(t))
		return resolve_tasks(t, ret, err);
	unread = patient ? still_unread(t, maps, handlers) : NULL;
	if (unread)
		return error_set(err, EAGAIN, "target %s: %s is still being read", t->spec, unread);
	if (t->kind == TARGET_SYSCALL)
		return resolve_syscall(t, maps, handlers, ret, err);
	if (t->kind == TARGET_KERNEL)
		return target_resolve_kernel(t, maps, handlers, ret, err);
	r = resolve_programs(t, maps, handlers, ret, &last);
	if (!r && maps_kernel_targets(maps) && (wide || !ret->n))
		r = resolve_in_scope(t, maps, handlers, ret, &last);
	if (r) {
		resolved_target_free(ret);
		*err = last;
		return r;
	}
	if (ret->n)
		return 0;
	return nowhere(t, maps, handlers, &last, err);
}

int target_resolve_chosen(const struct chosen_target *c, struct maps *maps,
			  struct handlers *handlers, bool patient, struct resolved_target *ret,
			  struct error *err)
{
	const char *name = target_name_in(c->name, c->kind, NULL);
	const struct target t = { .kind = c->kind, .spec = c->name, .name = (char *)name };
	struct error last = {};

	*ret = (struct resolved_target){ .kind = target_kind_name(c->kind) };
	if (c->kind == TARGET_CLASS)
		return resolve_tasks(&t, ret, err);
	if (c->kind == TARGET_SYSCALL)
		return resolve_syscall(&t, maps, handlers, ret, err);
	for (size_t i = 0; i < c->n_sites && last.code != E2BIG; i++) {
		const struct location_site *site = &c->sites[i];
		const struct maps_binary *b = maps_binary_ask(maps, site->binary);
		struct target t = { .kind = c->kind, .spec = c->name };

		t.name = (char *)(c->kind == TARGET_LINE ? site->file : site->function);
		t.line = t.last = site->line;
		if (!b && patient) {
			resolved_target_free(ret);
			return error_set(err, EAGAIN, "target %s: %s is still being read", c->name,
					 maps_binary_path(maps, site->binary));
		}
		if (has_code(b))
			add_part(&t, b, maps, ret, &last);
		else if (b && b->error)
			error_set(&last, ENOENT, "%s", b->error);
	}
	if (ret->n && last.code != E2BIG)
		return 0;
	resolved_target_free(ret);
	if (last.code == E2BIG)
		return error_set(err, E2BIG, "%s", last.text);
	return error_set(err, ENOENT, "target %s: %s", c->name,
			 last.code ? last.text : "it is in no binary that can be read");
}

/* Tasks, and system calls, whose functions are needed only where there is one. */
static int add_seen(struct resolved_target *to, const struct resolved_target *from, int i,
		    const char *spec, struct error *err)
{
	if (to->n == SCOZ_MAX_PARTS)
		return error_set(err, E2BIG, "target %s: at most %d can be one", spec,
				 SCOZ_MAX_PARTS);
	to->parts[to->n] = from->parts[i];
	to->parts[to->n].ranges = &to->ranges[to->n];
	to->n++;
	return 0;
}

bool resolved_target_is_functions(const struct resolved_target *r)
{
	return r->functions || !strcmp(r->kind, "function");
}

int resolved_target_join(struct resolved_target *to, struct resolved_target *from, const char *spec,
			 struct error *err)
{
	struct addr_ranges *all;
	int ret = 0;

	for (int i = 0; i < from->n && !ret; i++) {
		if (from->parts[i].by_syscall || from->parts[i].classes) {
			ret = add_seen(to, from, i, spec, err);
			continue;
		}
		all = part_ranges(to, &from->parts[i], spec, err);
		if (all)
			add_ranges(all, &from->ranges[i]);
		else
			ret = -E2BIG;
	}
	if (from->overloads && to->overloads)
		text_add(&to->overloads, ", %s", from->overloads);
	else if (from->overloads)
		to->overloads = xstrdup(from->overloads);
	to->made += from->made;
	to->functions = resolved_target_is_functions(to) && resolved_target_is_functions(from);
	to->kind = "together";
	to->location[0] = '\0';
	resolved_target_free(from);
	return ret;
}

bool resolved_target_is_old(const struct resolved_target *r, struct maps *maps)
{
	uint32_t made = 0;

	for (int i = 0; i < r->n && r->made; i++) {
		const struct maps_binary *b = r->parts[i].binary == MAPS_KERNEL_ID
						      ? NULL
						      : maps_binary_ask(maps, r->parts[i].binary);

		made += b && b->made ? made_code_version(b->made) : 0;
	}
	return made != r->made;
}

bool resolved_target_same(const struct resolved_target *a, const struct resolved_target *b)
{
	bool same = a->n == b->n;

	for (int i = 0; i < a->n && same; i++)
		same = a->parts[i].binary == b->parts[i].binary &&
		       a->ranges[i].n == b->ranges[i].n &&
		       !memcmp(a->ranges[i].r, b->ranges[i].r,
			       a->ranges[i].n * sizeof(*a->ranges[i].r));
	return same;
}

void resolved_target_free(struct resolved_target *r)
{
	for (int i = 0; i < SCOZ_MAX_PARTS; i++)
		addr_ranges_free(&r->ranges[i]);
	free(r->overloads);
	r->overloads = NULL;
	r->n = 0;
}
