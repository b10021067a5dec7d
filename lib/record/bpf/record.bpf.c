// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel side of `scoz record` on a stock kernel: blocked samples (Ahn et al., OSDI 2024) of
 * every thread, system wide. One object; one header for each concern.
 */
#include "record/bpf/state.bpf.h"
#include "record/bpf/wakers.bpf.h"
#include "record/bpf/emit.bpf.h"
#include "record/bpf/waits.bpf.h"
#include "record/bpf/tasks.bpf.h"
#include "record/bpf/points.bpf.h"
#include "record/bpf/mapped.bpf.h"

char LICENSE[] SEC("license") = "GPL";
