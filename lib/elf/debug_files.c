// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where a stripped file's debug information is: by build-id under the debug root, by the name in
 * .gnu_debuglink next to the file, in .debug/ beside it and under the debug root. A process in a
 * container may bring its own debug root (map_options.root), which is asked first.
 *
 * Looking costs some stat() calls. Their results make the fingerprint by which a cached table is
 * known to be stale after debug symbols were installed or removed; checking that a file really
 * belongs (build-id or CRC) is left to when the table is built.
 */
#include "elf/elf_image.h"
#include "files/file_open.h"
#include "table/table_build.h"

#include <elfutils/libdwelf.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static uint64_t stir(uint64_t h, uint64_t x)
{
	h = (h ^ x) * 0x9fb21c651e98df25ULL;
	return h ^ (h >> 31);
}

static void candidate(struct debug_files *f, const struct elf_image *image,
		      const struct map_options *opt, char *path, bool by_id)
{
	struct stat st;
	int fd;

	for (size_t i = 0; i < f->n; i++) {
		if (!strcmp(f->c[i].path, path))
			goto no;
	}
	fd = file_open_partner(opt ? opt->root : NULL, path, image->owner, &st);
	if (fd < 0)
		goto no;
	if (st.st_dev == image->dev && st.st_ino == image->ino) {
		close(fd);
		goto no;
	}
	for (const char *p = path; *p; p++)
		f->fingerprint = stir(f->fingerprint, (uint8_t)*p);
	f->fingerprint = stir(f->fingerprint, st.st_size);
	f->fingerprint = stir(f->fingerprint, st.st_dev);
	f->fingerprint = stir(f->fingerprint, st.st_ino);
	f->fingerprint = stir(f->fingerprint, st.st_uid);
	f->fingerprint = stir(f->fingerprint, st.st_ctim.tv_sec);
	f->fingerprint = stir(f->fingerprint, st.st_ctim.tv_nsec);
	array_reserve(f->c, f->cap, f->n + 1);
	f->c[f->n++] = (struct debug_candidate){ path, fd, by_id };
	return;
no:
	free(path);
}

static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? xstrndup(path, slash - path) : xstrdup(".");
}

static void beside(struct debug_files *f, const struct elf_image *image,
		   const struct map_options *opt, const char *root, const char *dir,
		   const char *debug_root, const char *link)
{
	candidate(f, image, opt, xasprintf("%s%s/%s", root, dir, link), false);
	candidate(f, image, opt, xasprintf("%s%s/.debug/%s", root, dir, link), false);
	if (dir[0] == '/' || !dir[0])
		candidate(f, image, opt, xasprintf("%s%s%s/%s", root, debug_root, dir, link),
			  false);
}

void debug_files_find(const struct elf_image *image, const struct map_options *opt,
		      struct debug_files *ret)
{
	const char *debug_root = opt && opt->debug_root ? opt->debug_root : "/usr/lib/debug";
	const char *roots[] = { opt && opt->root ? opt->root : "", "" };
	size_t n_roots = *roots[0] ? 2 : 1;
	const char *link;
	GElf_Word crc;

	*ret = (struct debug_files){ 0 };
	for (size_t i = 0; i < n_roots && strlen(image->build_id) > 2; i++)
		candidate(ret, image, opt,
			  xasprintf("%s%s/.build-id/%.2s/%s.debug", roots[i], debug_root,
				    image->build_id, image->build_id + 2),
			  true);
	link = image->no_sections ? NULL : dwelf_elf_gnu_debuglink(image->elf, &crc);
	if (!link || !*link || strchr(link, '/'))
		return;
	ret->crc = crc;
	for (size_t i = 0; i < n_roots; i++) {
		_cleanup_free_ char *dir = directory_of(image->name);

		/* What people are shown may be short, or relative, or a link. */
		if (image->name[0] == '/')
			beside(ret, image, opt, roots[i], dir, debug_root, link);
		if (opt && opt->path && *opt->path) {
			_cleanup_free_ char *real_dir = directory_of(opt->path);

			beside(ret, image, opt, roots[i], real_dir, debug_root, link);
		}
	}
	if (!strstr(image->path, "/map_files/") && !strstr(image->path, "/fd/")) {
		_cleanup_free_ char *dir = directory_of(image->path);

		beside(ret, image, opt, "", dir, debug_root, link);
	}
}

void debug_files_free(struct debug_files *f)
{
	for (size_t i = 0; i < f->n; i++) {
		if (f->c[i].fd >= 0)
			close(f->c[i].fd);
		free(f->c[i].path);
	}
	free(f->c);
	*f = (struct debug_files){ 0 };
}

static bool crc_is(int fd, uint32_t wanted)
{
	enum { CHUNK = 1 << 18 };
	_cleanup_free_ uint8_t *buf = xmalloc(CHUNK);
	uint32_t crc = crc32(0, NULL, 0);
	off_t off = 0;
	ssize_t n;

	while ((n = pread(fd, buf, CHUNK, off)) > 0) {
		crc = crc32(crc, buf, n);
		off += n;
	}
	return n == 0 && crc == wanted;
}

struct elf_image *debug_files_open(struct debug_files *f, const struct elf_image *image,
				   struct table_builder *b)
{
	for (size_t i = 0; i < f->n; i++) {
		struct debug_candidate *c = &f->c[i];
		struct elf_image *debug;
		struct error e;
		bool same_id;
		int fd = c->fd;

		c->fd = -1;
		if (fd < 0 ||
		    elf_image_open_fd(fd, c->path, c->path, ELF_PROGRAMS_AND_MODULES, &debug, &e)) {
			builder_warn(b, "debug file is of no use: %s", e.text);
			continue;
		}
		same_id = *image->build_id && !strcmp(image->build_id, debug->build_id);
		if (same_id || (!c->by_build_id && crc_is(debug->fd, f->crc))) {
			return debug; /* with nothing else, it may still have .symtab */
		}
		if (c->by_build_id || (*image->build_id && *debug->build_id)) {
			builder_warn(b, "debug file %s does not match: its build-id is %s, not %s",
				     c->path, *debug->build_id ? debug->build_id : "missing",
				     image->build_id);
		} else {
			builder_warn(b,
				     "debug file %s does not match the checksum in "
				     ".gnu_debuglink of %s",
				     c->path, image->name);
		}
		elf_image_close(debug);
	}
	return NULL;
}
