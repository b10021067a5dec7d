// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/kernel_asks.h"

#include "host/bpf/shared.h"
#include "kernel_asks.skel.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <unistd.h>

static bool misled;

/* As the kernel has them; NULL: that cannot be told. */
static struct btf *loaded_types(int fd)
{
	struct bpf_btf_info info = {};
	uint32_t len = sizeof(info);
	struct btf *types = NULL;
	void *data;

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return NULL;
	data = malloc(info.btf_size);
	info = (struct bpf_btf_info){ .btf = (uintptr_t)data, .btf_size = info.btf_size };
	len = sizeof(info);
	if (data && !bpf_obj_get_info_by_fd(fd, &info, &len))
		types = btf__new(data, info.btf_size);
	free(data);
	return types;
}

/*
 * Every kernel that loads our programs knows functions, and that they are global: did libbpf tell
 * it so?
 */
static bool has_functions(const struct kernel_asks *k)
{
	int fd = bpf_object__btf_fd(k->obj), id;
	struct btf *types = fd < 0 ? NULL : loaded_types(fd);
	const struct btf_type *function = NULL;
	bool has;

	if (fd >= 0 && !types)
		return true;
	id = types ? btf__find_by_name_kind(types, bpf_program__name(k->progs.find_type),
					    BTF_KIND_FUNC)
		   : -1;
	if (id > 0)
		function = btf__type_by_id(types, id);
	has = function && btf_vlen(function) == BTF_FUNC_GLOBAL;
	btf__free(types);
	return has;
}

bool kernel_asks_misled(void)
{
	return misled;
}

struct kernel_asks *kernel_asks_open(void)
{
	libbpf_print_fn_t old = libbpf_set_print(NULL);
	struct kernel_asks *k = kernel_asks__open_and_load();

	libbpf_set_print(old);
	misled |= k && !has_functions(k);
	if (k && !k->bss) { /* loaded, but it cannot be mapped */
		kernel_asks__destroy(k);
		k = NULL;
	}
	return k;
}

void kernel_asks_close(struct kernel_asks *k)
{
	kernel_asks__destroy(k);
}

static int64_t ask(struct kernel_asks *k, const struct bpf_program *question, const char *name)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	if (strlen(name) >= sizeof(k->bss->name))
		return -ENAMETOOLONG;
	memset(k->bss->name, 0, sizeof(k->bss->name));
	memcpy(k->bss->name, name, strlen(name));
	if (bpf_prog_test_run_opts(bpf_program__fd(question), &opts))
		return -errno;
	return k->bss->result;
}

int kernel_asks_type(struct kernel_asks *k, const char *name, int kind)
{
	int64_t found;

	k->bss->kind = kind;
	found = ask(k, k->progs.find_type, name);
	if (found <= INT32_MAX)
		return found;
	close(found >> 32); /* in a module's */
	return -ENOENT;
}

uint64_t kernel_asks_address(struct kernel_asks *k, const char *name)
{
	return ask(k, k->progs.find_address, name) ? 0 : k->bss->address;
}
