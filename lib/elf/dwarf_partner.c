// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/dwarf_partner.h"
#include "files/file_open.h"
#include "table/table_build.h"

#include <dwarf.h>

/* Of that build-id, which the file that names it told. */
static struct elf_image *open_if(const struct elf_image *debug, const struct map_options *opt,
				 const char *path, const char *build_id, struct table_builder *b)
{
	int fd = file_open_partner(opt ? opt->root : NULL, path, debug->owner, NULL);
	struct elf_image *image;
	struct error err;

	if (fd < 0 || elf_image_open_fd(fd, path, path, ELF_PROGRAMS_AND_MODULES, &image, &err))
		return NULL;
	if (!strcmp(image->build_id, build_id))
		return image;
	builder_warn(b, "common debug file %s does not match: its build-id is %s, not %s", path,
		     *image->build_id ? image->build_id : "missing", build_id);
	elf_image_close(image);
	return NULL;
}

/* The name in .gnu_debugaltlink, and the build-id as hex digits; NULL: there is none. */
static const char *common_name(const struct elf_image *debug, char hex[2 * 64 + 1])
{
	size_t size, n;
	const char *name = elf_image_section(debug, "gnu_debugaltlink", &size);
	const char *nul = name ? memchr(name, 0, size) : NULL;

	if (!nul)
		return NULL;
	n = name + size - (nul + 1);
	if (n <= 1 || n > 64)
		return NULL;
	for (size_t i = 0; i < n; i++)
		sprintf(hex + 2 * i, "%02x", (uint8_t)nul[1 + i]);
	return name;
}

/* @name in the directory of @file below @root. */
static char *beside(const char *file, const char *root, const char *name)
{
	const char *slash = strrchr(file, '/');

	return xasprintf("%s%.*s%s", root, slash ? (int)(slash - file + 1) : 0, file, name);
}

/* Not a file below a directory that is held open. */
static bool is_descriptor(const char *path)
{
	return !strncmp(path, "/proc/self/fd/", 14) && !strchr(path + 14, '/');
}

struct elf_image *dwarf_common_open(const struct elf_image *debug, const struct map_options *opt,
				    struct table_builder *b)
{
	const char *debug_root = opt && opt->debug_root ? opt->debug_root : "/usr/lib/debug";
	const char *roots[] = { opt && opt->root ? opt->root : "", "" };
	const char *file = opt && opt->path && *opt->path ? opt->path : debug->name;
	char hex[2 * 64 + 1];
	const char *name = common_name(debug, hex);
	struct elf_image *common = NULL;

	if (!name)
		return NULL;
	for (size_t i = *roots[0] ? 0 : 1; i < ARRAY_SIZE(roots) && !common; i++) {
		_cleanup_free_ char *by_id = xasprintf("%s%s/.build-id/%.2s/%s.debug", roots[i],
						       debug_root, hex, hex + 2);
		_cleanup_free_ char *dwz = xasprintf("%s%s/.dwz/%s", roots[i], debug_root, name);
		_cleanup_free_ char *by_name = NULL;

		/* The name is relative to the file that has it. */
		if (*name == '/')
			by_name = xasprintf("%s%s", roots[i], name);
		else if (!is_descriptor(debug->path))
			by_name = beside(debug->path, "", name);
		else
			by_name = beside(file, roots[i], name);
		common = open_if(debug, opt, by_id, hex, b);
		if (!common)
			common = open_if(debug, opt, by_name, hex, b);
		if (!common)
			common = open_if(debug, opt, dwz, hex, b);
	}
	if (!common) {
		b->flags |= TABLE_PARTIAL;
		builder_warn(b, "%s: common debug file %s (dwz) is missing: some names are unknown",
			     debug->name, name);
	}
	return common;
}

/* Loads the unit that has the skeleton's number. */
static bool find_other_half(struct dwarf_file *f, const struct unit *skeleton)
{
	uint64_t off = 0, length;

	do {
		const char *why = dwarf_file_load_unit(f, off, skeleton, &length);

		if (!why && f->unit.dwo_id == skeleton->dwo_id && f->unit.type != DW_UT_split_type)
			return true;
		off += length;
	} while (length);
	return false;
}

static char *split_path(const struct unit *skeleton, const char *root)
{
	const char *name = skeleton->dwo_name, *dir = skeleton->comp_dir;

	return *name == '/' || !dir ? xasprintf("%s%s", root, name)
				    : xasprintf("%s%s/%s", root, dir, name);
}

static const char *why_not_opened(int error)
{
	return error == EPERM	  ? "it belongs to another user than the program"
	       : error == ENOENT  ? "it is not there; packages of them (.dwp) are not read"
	       : error == ENOEXEC ? "not a regular file"
				  : strerror(error);
}

static void tell(char **why, const char *path, const char *what)
{
	if (!*why)
		*why = xasprintf("%s: %s", path, what);
}

/* In a container: under its root first. Returns a descriptor or a negative errno, and the path. */
static int open_split(const struct elf_image *debug, const struct map_options *opt,
		      const struct unit *skeleton, char **path)
{
	const char *roots[] = { opt && opt->root ? opt->root : "", "" };
	int fd = -ENOENT;

	*path = NULL;
	for (size_t i = *roots[0] ? 0 : 1; i < ARRAY_SIZE(roots) && fd == -ENOENT; i++) {
		free(*path);
		*path = split_path(skeleton, roots[i]);
		fd = file_open_partner(roots[0], *path, debug->owner, NULL);
	}
	return fd;
}

bool dwarf_split_open(struct dwarf_file *f, struct elf_image **image, const struct elf_image *debug,
		      const struct map_options *opt, const struct unit *skeleton,
		      struct table_builder *b, char **why)
{
	_cleanup_free_ char *path = NULL;
	struct error err;
	int fd = open_split(debug, opt, skeleton, &path);

	if (fd < 0) {
		tell(why, path, why_not_opened(-fd));
		return false;
	}
	if (elf_image_open_fd(fd, path, path, ELF_PROGRAMS_AND_MODULES, image, &err)) {
		if (!*why)
			*why = xstrdup(err.text);
		return false;
	}
	if (dwarf_file_open(f, *image, true, DWARF_SPLIT, b)) {
		f->sec.addr = skeleton->sec->addr;
		f->sec.ranges = skeleton->sec->ranges;
		f->sec.common = skeleton->sec->common;
		if (find_other_half(f, skeleton))
			return true;
	}
	tell(why, path, "it is of another build");
	dwarf_file_close(f);
	elf_image_close(*image);
	return false;
}
