// SPDX-License-Identifier: GPL-2.0-or-later
/* Files to unwind tables: read here or by a process without rights, kept beside mapping tables. */
#include "elf/elf_image.h"
#include "table/table.h"
#include "unwind/unwind.h"
#include "unwind/unwind_table.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(offsetof(struct unwind_header, checksum) == offsetof(struct table_header, checksum),
	       "table_checksum() takes it as 0 there");

int unwind_table_read(int fd, const char *name, struct unwind_table **ret, struct error *err)
{
	__attribute__((cleanup(cleanup_elf_image))) struct elf_image *image = NULL;
	struct unwind_header *h;
	char path[32];
	int r;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = elf_image_open_fd(fd, path, name, ELF_PROGRAMS, &image, err);
	if (!r)
		r = unwind_table_build(image->elf, name, ret, err);
	if (r)
		return r;
	h = (*ret)->mem;
	h->file_size = image->size;
	h->file_ctime_ns = image->ctime_ns;
	h->checksum = table_checksum(h, h->size);
	return 0;
}

bool unwind_table_is_of(const struct unwind_table *t, int fd)
{
	struct stat st;

	return !fstat(fd, &st) && t->h->file_size == (uint64_t)st.st_size &&
	       t->h->file_ctime_ns ==
		       st.st_ctim.tv_sec * (int64_t)NSEC_PER_SEC + st.st_ctim.tv_nsec &&
	       t->h->checksum == table_checksum(t->mem, t->size);
}

struct unwind_table *unwind_table_cached(const char *cache, int fd)
{
	struct unwind_table *t = NULL;
	size_t size;
	void *mem = cache_map(cache, &size, NULL);

	if (mem)
		t = unwind_table_attach(mem, size, true);
	if (t && !unwind_table_is_of(t, fd)) {
		unwind_table_free(t);
		t = NULL;
	}
	log_debug("cached table %s: %s", cache, t ? "used" : "none, stale or damaged");
	return t;
}

void unwind_table_keep(const char *cache, const struct unwind_table *t)
{
	cache_write(cache, t->mem, t->size);
}

int unwind_open_vdso(void)
{
	const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
	long page = sysconf(_SC_PAGESIZE);
	int fd = image ? memfd_create("vdso", MFD_CLOEXEC) : -1;

	for (int i = 0; fd >= 0 && i < 16; i++) {
		/* From memory that ends somewhere. */
		if (write(fd, image + i * page, page) != page)
			break;
	}
	return fd;
}

static int build_here(int fd, const char *name, const char *cache, struct unwind_table **ret,
		      struct error *err)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0), r;

	if (own < 0)
		return error_set(err, errno, "%s: %s", name, strerror(errno));
	r = unwind_table_read(own, name, ret, err);
	if (!r && cache)
		unwind_table_keep(cache, *ret);
	return r;
}

static unwind_builder_fn build_elsewhere;

void unwind_table_build_by(unwind_builder_fn fn)
{
	build_elsewhere = fn;
}

int unwind_table_open(int fd, const char *name, const char *cache_dir, struct unwind_table **ret,
		      struct error *err)
{
	const struct map_options opt = { .cache_dir = cache_dir };
	_cleanup_free_ char *cache = cache_file_name(&opt, fd, "-unwind");

	*ret = cache ? unwind_table_cached(cache, fd) : NULL;
	if (*ret)
		return 0;
	return (build_elsewhere ? build_elsewhere : build_here)(fd, name, cache, ret, err);
}
