// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/kernel_types.h"

#include "host/bpf_programs.h"
#include "host/kallsyms.h"
#include "host/kernel_asks.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

int kernel_types_open(struct kernel_types *ret, struct error *err)
{
	*ret = (struct kernel_types){ 0 };
	/* libbpf reads them, whatever we do. */
	if (!access("/sys/kernel/btf/vmlinux", R_OK))
		ret->asks = kernel_asks_open();
	if (ret->asks && kernel_asks_type(ret->asks, "task_struct", BTF_KIND_STRUCT) > 0)
		return 0;
	kernel_types_close(ret);
	ret->own = btf__load_vmlinux_btf();
	ret->btf = ret->own;
	if (ret->own)
		return 0;
	return error_set(err, ENOENT,
			 "the kernel offers no type information (/sys/kernel/btf/vmlinux): engine "
			 "bpf needs a kernel built with CONFIG_DEBUG_INFO_BTF; run `scoz doctor`");
}

void kernel_types_close(struct kernel_types *t)
{
	kernel_asks_close(t->asks);
	btf__free(t->own);
	*t = (struct kernel_types){ 0 };
}

int kernel_types_find(const struct kernel_types *t, const char *name, int kind)
{
	return t->asks ? kernel_asks_type(t->asks, name, kind)
		       : btf__find_by_name_kind(t->btf, name, kind);
}

bool kernel_has_tracepoint(const struct kernel_types *t, const char *name)
{
	_cleanup_free_ char *type = xasprintf("btf_trace_%s", name);

	return kernel_types_find(t, type, BTF_KIND_TYPEDEF) > 0;
}

bool kernel_lets_follow(const struct kernel_types *t, const struct bpf_program *prog)
{
	enum bpf_attach_type type = bpf_program__expected_attach_type(prog);
	const char *function = strchr(bpf_program__section_name(prog), '/') + 1;
	int id = kernel_types_find(t, function, BTF_KIND_FUNC);

	return id > 0 && !bpf_try_load(BPF_PROG_TYPE_TRACING, type, id);
}

bool kernel_tells_mappings(const struct kernel_types *t)
{
	return kernel_has_tracepoint(t, "mm_filemap_map_pages") &&
	       kernel_types_find(t, "bpf_iter_task_vma_new", BTF_KIND_FUNC) > 0;
}

static bool find_member(const struct btf *btf, uint32_t id, const char *member, uint32_t *at)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	if (!t || !btf_is_composite(t))
		return false;
	for (int i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const char *name = btf__name_by_offset(btf, m->name_off);
		uint32_t deeper = *at + btf_member_bit_offset(t, i) / 8;

		/* Members of what has no name are members, too. */
		if (*name ? strcmp(name, member) != 0 : !find_member(btf, m->type, member, &deeper))
			continue;
		*at = deeper;
		return true;
	}
	return false;
}

/*
 * Some kernels have it in a struct. (A relocation in the BPF programs would not do: a struct that
 * there is not libbpf looks for in modules, too, which takes CAP_SYS_ADMIN.)
 */
uint64_t kernel_preempt_count(void)
{
	const struct kernel_addresses *a = kernel_addresses();
	struct btf *btf;
	uint32_t at = 0;
	bool found;

	if (a->preempt_count || !a->pcpu_hot)
		return a->preempt_count;
	btf = btf__load_vmlinux_btf();
	found = btf && find_member(btf, btf__find_by_name_kind(btf, "pcpu_hot", BTF_KIND_STRUCT),
				   "preempt_count", &at);
	btf__free(btf);
	return found ? a->pcpu_hot + at : 0;
}
