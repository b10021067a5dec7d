// SPDX-License-Identifier: GPL-2.0-or-later
#include "map/eh_frame.h"
#include "map/elf_image.h"
#include "map/table_build.h"

static bool read_dwarf(const struct elf_image *debug, const struct map_options *opt,
		       struct table_builder *b)
{
	struct elf_section common;

	if (!opt || !opt->kernel || elf_image_find_section(debug, "gnu_debugaltlink", &common))
		return dwarf_read(debug, opt, b);
	if (!dwarf_stream_read(debug, b))
		return false;
	kernel_source_paths(b);
	return true;
}

static bool add_unnamed(uint64_t start, uint64_t end, void *arg)
{
	builder_unnamed(arg, start, end);
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
	eh_frame_walk(image->elf, add_unnamed, b);
}

static struct maptable *build(struct elf_image **image, const struct debug_files *files,
			      const struct map_options *opt, struct error *err)
{
	struct table_identity id = {
		.build_id = (*image)->build_id,
		.file_size = (*image)->size,
		.file_mtime_ns = (*image)->mtime_ns,
		.debug_fingerprint = files->fingerprint,
	};
	__attribute__((cleanup(cleanup_elf_image))) struct elf_image *debug = NULL;
	_cleanup_free_ char *debug_path = NULL, *build_id = NULL;
	enum map_source source = MAP_NONE;
	struct table_builder b;
	struct maptable *t;
	size_t symbols = 0;

	builder_init(&b);
	if (elf_image_read_layout(*image, &b, err)) {
		builder_deinit(&b);
		return NULL;
	}
	if (!(*image)->has_dwarf)
		debug = debug_files_open(files, *image, &b);
	if ((debug ? debug : *image)->has_dwarf && read_dwarf(debug ? debug : *image, opt, &b))
		source = MAP_DWARF;
	if (debug) {
		id.debug_path = debug_path = xstrdup(debug->path);
		symbols = elf_image_read_symbols(debug, &b);
	}
	if (!symbols)
		symbols = elf_image_read_symbols(*image, &b);
	if (source == MAP_NONE && b.n_symbol)
		source = MAP_SYMTAB;
	if (source != MAP_DWARF && !elf_image_has_symtab(debug ? debug : *image) &&
	    !elf_image_has_symtab(*image))
		b.flags |= TABLE_STRIPPED;
	read_nameless(*image, &b);
	if (source == MAP_NONE && b.n_unnamed)
		source = MAP_UNWIND;
	if (source == MAP_NONE)
		builder_warn(&b, "%s: no debug information and no symbols", (*image)->name);
	id.build_id = build_id = xstrdup((*image)->build_id);

	/* The sections are the larger part of the memory: give them back before laying out. */
	elf_image_close(debug);
	debug = NULL;
	elf_image_close(*image);
	*image = NULL;
	t = builder_finish(&b, source, &id);
	builder_deinit(&b);
	return t;
}

int maptable_open(const char *path, const char *name, const struct map_options *opt,
		  struct maptable **ret, struct error *err)
{
	__attribute__((cleanup(cleanup_elf_image))) struct elf_image *image = NULL;
	_cleanup_free_ char *cache = NULL;
	struct debug_files files = { 0 };
	struct error local;
	struct maptable *t = NULL;
	bool kernel = opt && opt->kernel;
	int rc;

	err = err ? err : &local;
	rc = elf_image_open(path, name, kernel ? ELF_PROGRAMS_AND_MODULES : ELF_PROGRAMS, &image,
			    err);
	if (rc)
		return rc;
	if (!image->has_dwarf)
		debug_files_find(image, opt, &files);
	cache = cache_file_name(opt, image);
	if (cache)
		t = cache_load(cache, image, files.fingerprint);
	if (!t) {
		t = build(&image, &files, opt, err);
		if (t && cache)
			cache_store(cache, t);
	}
	debug_files_free(&files);
	if (!t)
		return err->code;
	t->name = xstrdup(name);
	*ret = t;
	return 0;
}
