// SPDX-License-Identifier: GPL-2.0-only
/* Questions of user space that only the kernel can answer at once: lib/host/kernel_asks.h. */
#include <linux/types.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "host/bpf/shared.h"

char LICENSE[] SEC("license") = "GPL";

char name[KERNEL_NAME];
__u32 kind;
__u64 address;
__s64 result;

SEC("syscall")
int find_type(void *ctx)
{
	result = bpf_btf_find_by_name_kind(name, sizeof(name), kind, 0);
	return 0;
}

SEC("syscall")
int find_address(void *ctx)
{
	address = 0;
	result = bpf_kallsyms_lookup_name(name, sizeof(name), 0, &address);
	return 0;
}
