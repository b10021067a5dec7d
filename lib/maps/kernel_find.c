// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which files belong to the running kernel. A file is believed when its build-id is the one that
 * the kernel tells of itself (/sys/kernel/notes), or of a module (/sys/module/NAME/notes): lines
 * of another build would be wrong everywhere, and nobody would notice.
 */
#include "maps/kernel_find.h"
#include "host/kallsyms.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A build-id from ELF notes as /sys/kernel/notes holds them. */
static bool notes_build_id(const void *notes, size_t size, char *hex, size_t room)
{
	const uint8_t *p = notes, *end = p + size;

	*hex = '\0';
	while (end - p >= 12) {
		uint32_t head[3]; /* lengths of name and description, type */
		uint64_t name, desc;

		memcpy(head, p, sizeof(head));
		p += sizeof(head);
		name = ((uint64_t)head[0] + 3) & ~3ULL;
		desc = ((uint64_t)head[1] + 3) & ~3ULL;
		if (name + desc > (uint64_t)(end - p))
			return false;
		if (head[2] == NT_GNU_BUILD_ID && head[0] == 4 && !memcmp(p, "GNU", 4) && head[1] &&
		    2 * (size_t)head[1] < room) {
			for (uint32_t i = 0; i < head[1]; i++)
				sprintf(hex + 2 * i, "%02x", p[name + i]);
			return true;
		}
		p += name + desc;
	}
	return false;
}

/* _text and _stext come early in kallsyms, which is long: no more of it is read than needed. */
struct text_search {
	struct running_kernel *kernel;
	bool any;
};

static bool is_text(const struct kallsym *sym, void *arg)
{
	struct text_search *search = arg;
	struct running_kernel *k = search->kernel;

	search->any = true;
	if (!strcmp(sym->name, "_text"))
		k->text = sym->address;
	else if (!strcmp(sym->name, "_stext"))
		k->stext = sym->address;
	return k->text && k->stext;
}

static int read_text_address(struct running_kernel *k, struct error *err)
{
	_cleanup_free_ char *path = sysroot_path("/proc/kallsyms");
	struct text_search search = { .kernel = k };
	int r = kallsyms_each(is_text, &search);

	if (r)
		return error_set(err, -r,
				 "%s: cannot be read (%s): where the kernel lies is not known",
				 path, strerror(-r));
	if (k->text || k->stext)
		return 0;
	return error_set(err, search.any ? EACCES : ENODATA,
			 "%s does not tell where the kernel's text begins (_text): run as root, "
			 "or \"sysctl kernel.kptr_restrict=1\" and have CAP_SYSLOG",
			 path);
}

int running_kernel_read(struct running_kernel *k, struct error *err)
{
	_cleanup_free_ char *notes_path = sysroot_path("/sys/kernel/notes"), *notes = NULL;
	_cleanup_free_ char *release_path = sysroot_path("/proc/sys/kernel/osrelease");
	size_t n = 0;
	int rc;

	*k = (struct running_kernel){ 0 };
	rc = read_text_address(k, err);
	if (rc)
		return rc;
	k->release = read_file(release_path, NULL);
	if (!k->release)
		k->release = xstrdup("");
	k->release[strcspn(k->release, "\n")] = '\0';
	notes = read_file(notes_path, &n);
	if (notes)
		notes_build_id(notes, n, k->build_id, sizeof(k->build_id));
	return 0;
}

void running_kernel_free(struct running_kernel *k)
{
	free(k->release);
	*k = (struct running_kernel){ 0 };
}

int kernel_image_check(const struct running_kernel *k, const struct elf_image *image,
		       struct error *err)
{
	if (!*k->build_id)
		return error_set(err, ENODATA,
				 "%s: whether it is the running kernel's image cannot be told: "
				 "/sys/kernel/notes shows no build-id (the kernel must be linked "
				 "with --build-id); use --kernel-scope auto for its functions",
				 image->name);
	if (!strcmp(k->build_id, image->build_id))
		return 0;
	return error_set(err, ESTALE,
			 "%s is not the image of the running kernel: its build-id is %s, that of "
			 "the running kernel (%s) is %s; name the image of the running kernel, or "
			 "let --kernel-scope auto look for it",
			 image->name, *image->build_id ? image->build_id : "missing", k->release,
			 k->build_id);
}

/* Has the file debug information, in itself or elsewhere? */
static bool image_has_debug_files(const struct elf_image *image, const struct map_options *opt)
{
	struct debug_files files = { 0 };
	bool any;

	if (image->has_dwarf)
		return true;
	debug_files_find(image, opt, &files);
	any = files.n > 0;
	debug_files_free(&files);
	return any;
}

static bool is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

/* Frees @path unless the file there is what is wanted. */
static char *accept(char *path, const char *name, const char *build_id,
		    const struct map_options *opt)
{
	__attribute__((cleanup(cleanup_elf_image))) struct elf_image *image = NULL;
	struct error err;

	if (!path || !is_file(path))
		goto no;
	if (elf_image_open(path, path, ELF_PROGRAMS_AND_MODULES, &image, &err)) {
		log_info("%s: passed over: %s", name, err.text);
		goto no;
	}
	if (strcmp(image->build_id, build_id)) {
		log_info("%s: %s is passed over: its build-id is %s, not %s", name, path,
			 *image->build_id ? image->build_id : "missing", build_id);
		goto no;
	}
	if (!image_has_debug_files(image, opt)) {
		log_info("%s: %s is passed over: it has no debug information", name, path);
		goto no;
	}
	return path;
no:
	free(path);
	return NULL;
}

static const char *debug_root_of(const struct map_options *opt)
{
	return opt && opt->debug_root ? opt->debug_root : "/usr/lib/debug";
}

static char *by_build_id(const char *id, const struct map_options *opt)
{
	return strlen(id) > 2
		       ? sysroot_path("%s/.build-id/%.2s/%s.debug", debug_root_of(opt), id, id + 2)
		       : NULL;
}

/* Where debuginfod's clients keep what they have fetched. */
static char *by_debuginfod(const char *id, int way)
{
	const char *cache = user_env("DEBUGINFOD_CACHE_PATH"), *xdg = user_env("XDG_CACHE_HOME"),
		   *home = user_env("HOME");

	switch (way) {
	case 0:
		return cache ? sysroot_path("%s/%s/debuginfo", cache, id) : NULL;
	case 1:
		return xdg ? sysroot_path("%s/debuginfod_client/%s/debuginfo", xdg, id) : NULL;
	case 2:
		return home ? sysroot_path("%s/.cache/debuginfod_client/%s/debuginfo", home, id)
			    : NULL;
	default:
		return home ? sysroot_path("%s/.debuginfod_client_cache/%s/debuginfo", home, id)
			    : NULL;
	}
}

char *kernel_image_find(const struct running_kernel *k, const struct map_options *opt)
{
	const char *root = debug_root_of(opt), *rel = k->release;
	char *candidates[] = {
		sysroot_path("%s/boot/vmlinux-%s", root, rel),
		sysroot_path("%s/lib/modules/%s/vmlinux", root, rel),
		sysroot_path("%s/usr/lib/modules/%s/vmlinux", root, rel),
		sysroot_path("%s/lib/modules/%s/vmlinux.debug", root, rel),
		sysroot_path("/lib/modules/%s/build/vmlinux", rel),
		sysroot_path("/lib/modules/%s/vmlinux", rel),
		sysroot_path("/boot/vmlinux-%s", rel),
		by_build_id(k->build_id, opt),
		by_debuginfod(k->build_id, 0),
		by_debuginfod(k->build_id, 1),
		by_debuginfod(k->build_id, 2),
		by_debuginfod(k->build_id, 3),
	};
	char *found = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(candidates); i++) {
		if (found || !*k->build_id)
			free(candidates[i]);
		else
			found = accept(candidates[i], "the running kernel", k->build_id, opt);
	}
	return found;
}

/* ---- modules ---- */

/* "kernel/fs/foo-bar.ko.xz" is the module foo_bar. */
static bool is_module(const char *path, size_t n, const char *name)
{
	const char *base = path;
	size_t len;

	for (size_t i = 0; i < n; i++) {
		if (path[i] == '/')
			base = path + i + 1;
	}
	len = n - (base - path);
	for (size_t i = 0; i < len; i++) {
		char c = base[i] == '-' ? '_' : base[i];

		if (base[i] == '.')
			return !name[i];
		if (c != name[i])
			return false;
	}
	return false;
}

/* Finds the line of @list that names the module: its path without what compression adds. */
static char *path_in_list(const char *list, const char *module)
{
	for (const char *line = list, *end; line && *line; line = *end ? end + 1 : NULL) {
		size_t n = strcspn(line, ":\n");

		end = line + strcspn(line, "\n");
		if (is_module(line, n, module)) {
			char *path = xstrndup(line, n), *ko = strstr(path, ".ko");

			if (ko)
				ko[3] = '\0';
			return path;
		}
	}
	return NULL;
}

/* modules.order of a build directory names objects, and began with kernel/ in older kernels. */
static char *in_build_directory(const char *dir, const char *order, const char *module)
{
	_cleanup_free_ char *path = order ? path_in_list(order, module) : NULL;
	const char *rel = path;
	char *plain;
	size_t n;

	if (!path)
		return NULL;
	n = strlen(path);
	if (n > 2 && !strcmp(path + n - 2, ".o"))
		path[n - 2] = '\0';
	else if (n > 3 && !strcmp(path + n - 3, ".ko"))
		path[n - 3] = '\0';
	plain = xasprintf("%s/%s.ko", dir, rel);
	if (is_file(plain) || strncmp(rel, "kernel/", 7))
		return plain;
	free(plain);
	return xasprintf("%s/%s.ko", dir, rel + 7);
}

struct module_lists {
	char *dep, *order, *build; /* texts, and the build directory */
};

static char *find_module_file(const struct kernel_module *mod, const struct running_kernel *k,
			      const struct map_options *opt, const struct module_lists *lists)
{
	_cleanup_free_ char *rel = lists->dep ? path_in_list(lists->dep, mod->name) : NULL;
	const char *root = debug_root_of(opt);
	char *candidates[6] = { by_build_id(mod->build_id, opt) };
	char *found = NULL;

	candidates[1] = in_build_directory(lists->build, lists->order, mod->name);
	if (rel) {
		bool absolute = rel[0] == '/';

		candidates[2] =
			absolute ? sysroot_path("%s%s", root, rel)
				 : sysroot_path("%s/lib/modules/%s/%s", root, k->release, rel);
		candidates[3] = xasprintf("%s.debug", candidates[2]);
		candidates[4] = absolute ? NULL
					 : sysroot_path("%s/usr/lib/modules/%s/%s.debug", root,
							k->release, rel);
		candidates[5] = absolute ? sysroot_path("%s", rel)
					 : sysroot_path("/lib/modules/%s/%s", k->release, rel);
	}
	for (size_t i = 0; i < ARRAY_SIZE(candidates); i++) {
		if (found)
			free(candidates[i]);
		else
			found = accept(candidates[i], mod->name, mod->build_id, opt);
	}
	return found;
}

static void read_build_id(struct kernel_module *mod)
{
	_cleanup_free_ char *dir = sysroot_path("/sys/module/%s/notes", mod->name);
	struct dirent *e;
	DIR *d = opendir(dir);

	while (d && !*mod->build_id && (e = readdir(d))) {
		_cleanup_free_ char *path = xasprintf("%s/%s", dir, e->d_name), *notes = NULL;
		size_t n;

		notes = read_file(path, &n); /* NULL for "." and ".." */
		if (notes)
			notes_build_id(notes, n, mod->build_id, sizeof(mod->build_id));
	}
	if (d)
		closedir(d);
}

void kernel_modules_read(struct kernel_modules *m, const struct running_kernel *k,
			 const struct map_options *opt, const char *image)
{
	_cleanup_free_ char *path = sysroot_path("/proc/modules"), *text = read_file(path, NULL);
	_cleanup_free_ char *dep = sysroot_path("/lib/modules/%s/modules.dep", k->release);
	const char *slash = image ? strrchr(image, '/') : NULL;
	struct module_lists lists = {
		.dep = read_file(dep, NULL),
		.build = slash ? xstrndup(image, slash - image) : xstrdup("."),
	};
	_cleanup_free_ char *order = xasprintf("%s/modules.order", lists.build);

	if (image)
		lists.order = read_file(order, NULL);
	*m = (struct kernel_modules){ 0 };
	for (char *line = text, *next; line && *line; line = next) {
		struct kernel_module *mod;

		next = line + strcspn(line, "\n");
		next += *next == '\n';
		array_reserve(m->v, m->cap, m->n + 1);
		mod = &m->v[m->n++];
		*mod = (struct kernel_module){ .name = xstrndup(line, strcspn(line, " \n")) };
		read_build_id(mod);
		if (*mod->build_id)
			mod->file = find_module_file(mod, k, opt, &lists);
	}
	free(lists.dep);
	free(lists.order);
	free(lists.build);
}

void kernel_modules_free(struct kernel_modules *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free(m->v[i].name);
		free(m->v[i].file);
	}
	free(m->v);
	*m = (struct kernel_modules){ 0 };
}

uint64_t module_section_address(const char *module, const char *section)
{
	_cleanup_free_ char *path = sysroot_path("/sys/module/%s/sections/%s", module, section);
	_cleanup_free_ char *text = NULL;

	if (strchr(section, '/'))
		return 0;
	text = read_file(path, NULL);
	return text ? strtoull(text, NULL, 16) : 0;
}
