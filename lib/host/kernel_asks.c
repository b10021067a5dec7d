// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/kernel_asks.h"

#include "host/bpf/shared.h"
#include "kernel_asks.skel.h"

#include <bpf/bpf.h>
#include <unistd.h>

struct kernel_asks *kernel_asks_open(void)
{
	libbpf_print_fn_t old = libbpf_set_print(NULL);
	struct kernel_asks *k = kernel_asks__open_and_load();

	libbpf_set_print(old);
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
