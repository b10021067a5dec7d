// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/table_make.h"
#include "elf/eh_frame.h"
#include "elf/elf_image.h"
#include "files/file_open.h"
#include "table/table_build.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

static bool read_dwarf(const struct elf_image *debug, const struct map_options *opt,
		       struct table_builder *b)
{
	if (!dwarf_read(debug, opt, b))
		return false;
	if (opt && opt->kernel)
		kernel_source_paths(b);
	return true;
}

static bool add_unnamed(const struct eh_frame_entry *e, void *arg)
{
	builder_unnamed(arg, e->start, e->end);
	return true;
}

/* Of kernel modules, the rest says enough. */
static void read_nameless(const struct elf_image *image, struct table_builder *b)
{
	if (image->relocatable)
		return;
	if (elf_image_is_program(image))
		b->flags |= TABLE_PROGRAM;
	elf_image_read_stubs(image, b);
	eh_frame_walk(image->elf, EH_FRAME, add_unnamed, b);
}

struct table_work {
	struct elf_image *image;
	struct debug_files files;
	int text; /* kallsyms, when there is no image; -1 */
	const char *name;
};

static struct maptable *build_of_image(struct table_work *w, const struct map_options *opt,
				       struct error *err)
{
	struct elf_image *image = w->image;
	struct table_identity id = {
		.file_size = image->size,
		.file_ctime_ns = image->ctime_ns,
		.debug_fingerprint = w->files.fingerprint,
	};
	__attribute__((cleanup(cleanup_elf_image))) struct elf_image *debug = NULL;
	_cleanup_free_ char *debug_path = NULL;
	enum map_source source = MAP_NONE;
	struct table_builder b;
	struct maptable *t;
	size_t symbols = 0;

	builder_init(&b);
	builder_expect(&b, image->size);
	if (elf_image_read_layout(image, &b, err)) {
		builder_deinit(&b);
		return NULL;
	}
	if (!image->has_dwarf)
		debug = debug_files_open(&w->files, image, &b);
	if (debug)
		builder_expect(&b, debug->size);
	if ((debug ? debug : image)->has_dwarf && read_dwarf(debug ? debug : image, opt, &b))
		source = MAP_DWARF;
	if (debug) {
		id.debug_path = debug_path = xstrdup(debug->path);
		symbols = elf_image_read_symbols(debug, &b);
	}
	if (!symbols)
		symbols = elf_image_read_symbols(image, &b);
	if (source == MAP_NONE && b.n_symbol)
		source = MAP_SYMTAB;
	if (source != MAP_DWARF && !elf_image_has_symtab(debug ? debug : image) &&
	    !elf_image_has_symtab(image))
		b.flags |= TABLE_STRIPPED;
	read_nameless(image, &b);
	if (source == MAP_NONE && b.n_unnamed)
		source = MAP_UNWIND;
	if (source == MAP_NONE)
		builder_warn(&b, "%s: no debug information and no symbols", image->name);

	/* The sections are the larger part of the memory: give them back before laying out. */
	elf_image_close(debug);
	debug = NULL;
	elf_image_close(image);
	w->image = NULL;
	t = builder_finish(&b, source, &id);
	builder_deinit(&b);
	return t;
}

struct maptable *table_work_build(struct table_work *w, const struct map_options *opt,
				  struct error *err)
{
	if (w->image)
		return build_of_image(w, opt, err);
	return table_of_kallsyms(w->text, w->name, err);
}

int table_work_begin(int fd, const char *name, const struct map_options *opt,
		     struct table_work **ret, uint64_t *fingerprint, struct error *err)
{
	struct table_work *w = xcalloc(1, sizeof(*w));
	char path[32];
	int rc;

	w->name = name;
	w->text = -1;
	*fingerprint = 0;
	*ret = w;
	if (opt && opt->kallsyms) {
		w->text = fd;
		return 0;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = elf_image_open_fd(fd, path, name,
			       opt && opt->kernel ? ELF_PROGRAMS_AND_MODULES : ELF_PROGRAMS,
			       &w->image, err);
	if (rc) {
		free(w);
		return rc;
	}
	if (!w->image->has_dwarf)
		debug_files_find(w->image, opt, &w->files);
	*fingerprint = w->files.fingerprint;
	return 0;
}

static void table_work_end(struct table_work *w)
{
	if (!w)
		return;
	debug_files_free(&w->files);
	if (w->text >= 0)
		close(w->text);
	elf_image_close(w->image);
	free(w);
}

char *table_file_path(int fd)
{
	char link[32], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path));
	return n > 0 && n < (ssize_t)sizeof(path) && path[0] == '/' ? xstrndup(path, n)
								    : xstrdup("");
}

/* By this process itself. */
static int build_here(int fd, const char *name, const struct map_options *opt, const char *cache,
		      struct maptable **ret, struct error *err)
{
	struct map_options with_path = opt ? *opt : (struct map_options){ 0 };
	_cleanup_free_ char *path = NULL;
	struct table_work *work;
	uint64_t fingerprint;
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0), rc;

	if (own < 0)
		return error_set(err, errno, "%s: %s", name, strerror(errno));
	if (!with_path.path)
		with_path.path = path = table_file_path(fd);
	opt = &with_path;
	rc = table_work_begin(own, name, opt, &work, &fingerprint, err);
	if (rc)
		return rc;
	*ret = cache ? cache_load(cache, fd, fingerprint) : NULL;
	if (!*ret) {
		*ret = table_work_build(work, opt, err);
		if (*ret && cache)
			cache_store(cache, *ret);
	}
	table_work_end(work);
	return *ret ? 0 : err->code;
}

static table_maker_fn build_elsewhere;

void maptable_set_maker(table_maker_fn fn)
{
	build_elsewhere = fn;
}

int maptable_make_fd(int fd, const char *name, const struct map_options *opt, struct maptable **ret,
		     struct error *err)
{
	_cleanup_free_ char *cache = cache_file_name(opt, fd, opt && opt->kernel ? "-kernel" : "");
	struct error local;
	int rc;

	err = err ? err : &local;
	rc = (build_elsewhere ? build_elsewhere : build_here)(fd, name, opt, cache, ret, err);
	if (rc)
		return rc;
	if ((*ret)->h->flags & TABLE_NAMES_CUT)
		log_warn("%s: its names are too long, or too many for a file of that size: they "
			 "are cut off, or left out",
			 name);
	free((*ret)->name);
	(*ret)->name = xstrdup(name);
	return 0;
}

int maptable_make(const char *path, const char *name, const struct map_options *opt,
		  struct maptable **ret, struct error *err)
{
	_cleanup_close_ int fd = file_open_told(path, name, err);
	_cleanup_free_ char *shown = NULL;
	int rc;

	if (fd < 0)
		return fd;
	if (strcmp(path, name) && strncmp(path, "/proc/self/fd/", 14))
		shown = xasprintf("%s (%s)", name, path);
	rc = maptable_make_fd(fd, shown ? shown : name, opt, ret, err);
	if (!rc && shown) {
		free((*ret)->name);
		(*ret)->name = xstrdup(name);
	}
	return rc;
}

int maptable_make_kallsyms(struct maptable **ret, struct error *err)
{
	_cleanup_free_ char *path = sysroot_path("/proc/kallsyms");
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	const struct map_options opt = { .kallsyms = true };
	int rc;

	if (fd < 0)
		return error_set(err, errno,
				 "%s: cannot be read (%s): no kernel functions are known", path,
				 strerror(errno));
	rc = maptable_make_fd(fd, path, &opt, ret, err);
	if (rc)
		return rc;
	free((*ret)->name);
	(*ret)->name = xstrdup("[kernel]");
	return 0;
}
