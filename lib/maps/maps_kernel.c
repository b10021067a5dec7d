// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's half of every address space. It is the same for all processes, so it is kept once:
 * `kernel`, a sorted array of stretches of code, each of a binary (the kernel's image, a module)
 * and with a bias, which is what KASLR or loading has moved it by. It is made before any lookup
 * and never changes, so that lookups take no lock. Binaries are as for programs: a module's table
 * is built when somebody asks for it.
 *
 * What is in none of the stretches (modules without debug information, BPF programs, modules
 * loaded later) belongs to a binary whose table is made of kallsyms. Without an image that is
 * MAPS_KERNEL_ID itself.
 */
#include "elf/table_make.h"
#include "maps/kernel_find.h"
#include "maps/maps_internal.h"

#include <unistd.h>

struct opening {
	struct maps *m;
	struct running_kernel k;
	struct map_options opt;
	char *image;   /* the kernel's, or NULL */
	char **module; /* files named by the user */
	size_t n_module, cap_module;
	size_t cap_kernel;
};

static void add_stretch(struct opening *o, uint64_t start, uint64_t end, uint64_t vaddr,
			uint32_t binary)
{
	struct maps *m = o->m;

	array_reserve(m->kernel, o->cap_kernel, m->n_kernel + 1);
	m->kernel[m->n_kernel++] = (struct mapping){
		.start = start, .end = end, .shift = start - vaddr, .binary = binary
	};
}

static int compare_stretch(const void *pa, const void *pb)
{
	const struct mapping *a = pa, *b = pb;

	return a->start != b->start ? (a->start < b->start ? -1 : 1) : 0;
}

/* Sorted and disjoint: where two claim an address, the lower one keeps it. */
static void sort_stretches(struct maps *m)
{
	size_t kept = 0;

	if (m->n_kernel)
		qsort(m->kernel, m->n_kernel, sizeof(*m->kernel), compare_stretch);
	for (size_t i = 0; i < m->n_kernel; i++) {
		struct mapping s = m->kernel[i];

		if (kept && s.start < m->kernel[kept - 1].end)
			s.start = m->kernel[kept - 1].end;
		if (s.start < s.end)
			m->kernel[kept++] = s;
	}
	m->n_kernel = kept;
}

const struct mapping *kernel_find_stretch(const struct maps *m, uint64_t addr)
{
	size_t lo = 0, hi = m->n_kernel;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (m->kernel[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < m->n_kernel && m->kernel[lo].start <= addr ? &m->kernel[lo] : NULL;
}

/* ---- which files ---- */

/* Sorts what the user named into the kernel's image and modules. */
static int take_image(struct opening *o, const char *path, struct error *err)
{
	__attribute__((cleanup(cleanup_elf_image))) struct elf_image *image = NULL;
	int rc = elf_image_open(path, path, ELF_PROGRAMS_AND_MODULES, &image, err);

	if (rc) {
		if (rc == -ENOEXEC) {
			_cleanup_free_ char *why = xstrdup(err->text);

			error_set(err, ENOEXEC,
				  "%s; needed is the uncompressed image with debug information "
				  "(vmlinux), not what the boot loader reads (vmlinuz, bzImage)",
				  why);
		}
		if (rc == -ENOENT) {
			_cleanup_free_ char *why = xstrdup(err->text);

			error_set(err, ENOENT, "%s; auto looks for the running kernel's", why);
		}
		return error_prefix(err, "--kernel-scope");
	}
	if (image->relocatable) {
		array_reserve(o->module, o->cap_module, o->n_module + 1);
		o->module[o->n_module++] = xstrdup(path);
		return 0;
	}
	rc = kernel_image_check(&o->k, image, err);
	if (rc)
		return error_prefix(err, "--kernel-scope");
	if (o->image)
		return error_set(err, EINVAL,
				 "--kernel-scope: %s and %s are both images of the "
				 "kernel: name one, and modules besides",
				 o->image, path);
	o->image = xstrdup(path);
	return 0;
}

static int take_images(struct opening *o, const char *const *images, size_t n, struct error *err)
{
	for (size_t i = 0; i < n; i++) {
		int rc = strcmp(images[i], "auto") ? take_image(o, images[i], err) : 0;

		if (rc)
			return rc;
	}
	if (o->image)
		return 0;
	o->image = kernel_image_find(&o->k, &o->opt);
	if (!o->image)
		log_warn("no image with debug information was found for the running kernel (%s, "
			 "build-id %s): its functions can be targets, its lines cannot; install "
			 "the kernel's debug package (Debian: linux-image-%s-dbg) or name its "
			 "vmlinux with --kernel-scope",
			 o->k.release, *o->k.build_id ? o->k.build_id : "unknown", o->k.release);
	return 0;
}

/* ---- the kernel itself ---- */

static bool find_bias(const struct opening *o, const struct maptable *t, uint64_t *bias)
{
	uint64_t at;

	if (o->k.stext && !maptable_function_address(t, "_stext", &at, NULL)) {
		*bias = o->k.stext - at;
		return true;
	}
	if (!o->k.text)
		return false;
	/* Without symbols: _text is where the first executable segment begins. */
	if (maptable_function_address(t, "_text", &at, NULL))
		at = maptable_code_vaddr(t);
	*bias = o->k.text - at;
	return true;
}

static int add_image(struct opening *o, struct error *err)
{
	struct binary *b = o->m->binary[MAPS_KERNEL_ID];
	struct addr_ranges text = { 0 };
	struct maptable *t = NULL;
	uint64_t bias = 0;
	int rc = maptable_make(o->image, o->image, &o->opt, &t, err);

	if (rc)
		return error_prefix(err, "--kernel-scope");
	if (maptable_warning(t))
		log_info("%s", maptable_warning(t));
	if (maptable_source(t) != MAP_DWARF) {
		log_warn("--kernel-scope %s: it has no debug information%s%s: the kernel's "
			 "functions can be targets, its lines cannot",
			 o->image, maptable_warning(t) ? ": " : "",
			 maptable_warning(t) ? maptable_warning(t) : "");
		maptable_free(t);
		return 0;
	}
	if (!find_bias(o, t, &bias) || bias & 0xfff || maptable_all_ranges(t, &text, NULL)) {
		maptable_free(t);
		return error_set(err, EINVAL,
				 "--kernel-scope %s: where its text lies in the running "
				 "kernel cannot be told: neither _stext nor _text is in both",
				 o->image);
	}
	for (size_t i = 0; i < text.n; i++)
		add_stretch(o, text.r[i].start + bias, text.r[i].end + bias, text.r[i].start,
			    MAPS_KERNEL_ID);
	addr_ranges_free(&text);
	b->table = t;
	b->pub.table = t;
	b->state = BUILT;
	log_info("the kernel's lines are those of %s, moved by %#llx", o->image,
		 (unsigned long long)bias);
	return 0;
}

/* ---- modules ---- */

/* A module's first sections go when it has been initialized; what is there now is another's. */
static bool stays(const char *section)
{
	return strncmp(section, ".init", 5) != 0;
}

static void add_module(struct opening *o, const struct kernel_module *mod)
{
	__attribute__((cleanup(cleanup_elf_image))) struct elf_image *image = NULL;
	uint32_t binary = NONE_BINARY;
	struct elf_code *code;
	struct error err;
	size_t n;

	if (elf_image_open(mod->file, mod->file, ELF_PROGRAMS_AND_MODULES, &image, &err)) {
		log_info("%s", err.text);
		return;
	}
	n = elf_image_code_sections(image, &code);
	for (size_t i = 0; i < n; i++) {
		uint64_t at =
			stays(code[i].name) ? module_section_address(mod->name, code[i].name) : 0;

		if (at >> 63) {
			if (binary == NONE_BINARY) {
				_cleanup_free_ char *name = xasprintf("[%s]", mod->name);

				binary = binary_add_kernel(o->m, name, mod->file);
			}
			add_stretch(o, at, at + code[i].size, code[i].addr, binary);
		}
		free(code[i].name);
	}
	free(code);
}

/* Files that the user named go before those that were found. */
static int assign_modules(struct opening *o, struct kernel_modules *mods, struct error *err)
{
	for (size_t i = 0; i < o->n_module; i++) {
		__attribute__((cleanup(cleanup_elf_image))) struct elf_image *image = NULL;
		struct kernel_module *found = NULL;
		int rc = elf_image_open(o->module[i], o->module[i], ELF_PROGRAMS_AND_MODULES,
					&image, err);

		if (rc)
			return rc;
		for (size_t k = 0; k < mods->n && *image->build_id; k++) {
			if (!strcmp(mods->v[k].build_id, image->build_id))
				found = &mods->v[k];
		}
		if (!found)
			return error_set(err, ESTALE,
					 "--kernel-scope %s: no loaded module has its build-id "
					 "(%s): load this very build of it (insmod), or leave it "
					 "out",
					 o->module[i],
					 *image->build_id ? image->build_id : "missing");
		free(found->file);
		found->file = xstrdup(o->module[i]);
	}
	return 0;
}

static int add_modules(struct opening *o, struct error *err)
{
	struct kernel_modules mods;
	size_t with_lines = 0;
	int rc;

	kernel_modules_read(&mods, &o->k, &o->opt, o->image);
	rc = assign_modules(o, &mods, err);
	for (size_t i = 0; !rc && i < mods.n; i++) {
		if (!mods.v[i].file)
			continue;
		add_module(o, &mods.v[i]);
		with_lines++;
	}
	if (!rc && mods.n)
		log_info("of %zu modules %zu have debug information", mods.n, with_lines);
	kernel_modules_free(&mods);
	return rc;
}

int maps_open_kernel(struct maps *m, const char *const *images, size_t n, struct error *err)
{
	struct opening o = { .m = m, .opt = m->table };
	struct error local;
	int rc;

	err = err ? err : &local;
	o.opt.kernel = true;
	o.opt.root = *sysroot ? sysroot : NULL;
	m->kernel_targets = true;
	rc = running_kernel_read(&o.k, err);
	if (!rc)
		rc = take_images(&o, images, n, err);
	if (!rc && o.image)
		rc = add_image(&o, err);
	if (!rc)
		rc = add_modules(&o, err);
	sort_stretches(m);
	if (!rc && m->n_kernel && m->binary[MAPS_KERNEL_ID]->table)
		m->kernel_symbols = binary_add_kernel(m, "[kernel]", NULL);
	running_kernel_free(&o.k);
	for (size_t i = 0; i < o.n_module; i++)
		free(o.module[i]);
	free(o.module);
	free(o.image);
	return rc;
}

bool maps_kernel_targets(const struct maps *m)
{
	return m->kernel_targets;
}

void maps_kernel_ranges(const struct maps *m, uint32_t binary, struct addr_ranges *r)
{
	struct addr_ranges out = { 0 };
	bool moved = false;
	size_t cap = 0;

	for (size_t k = 0; k < m->n_kernel; k++) {
		const struct mapping *s = &m->kernel[k];

		if (s->binary != binary)
			continue;
		moved = true;
		for (size_t i = 0; i < r->n; i++) {
			uint64_t start = r->r[i].start, end = r->r[i].end;
			uint64_t lo = s->start - s->shift, hi = s->end - s->shift;

			start = start < lo ? lo : start;
			end = end > hi ? hi : end;
			if (start >= end)
				continue;
			array_reserve(out.r, cap, out.n + 1);
			out.r[out.n++] = (struct addr_range){ start + s->shift, end + s->shift };
		}
	}
	if (!moved) /* kallsyms: they are where they are */
		return;
	addr_ranges_free(r);
	*r = out;
	addr_ranges_sort_merge(r);
}
