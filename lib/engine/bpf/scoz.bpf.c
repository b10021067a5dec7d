// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel side of engine `bpf`: per-core sampling, accounting and stops on a stock kernel.
 * One object, so that all programs share the maps; one header for each concern.
 */
#include "engine/bpf/page.bpf.h"
#include "engine/bpf/context.bpf.h"
#include "engine/bpf/stop.bpf.h"
#include "engine/bpf/match.bpf.h"
#include "engine/bpf/mapped.bpf.h"
#include "engine/bpf/tick.bpf.h"
#include "engine/bpf/waits.bpf.h"
#include "engine/bpf/switched.bpf.h"
#include "engine/bpf/sched.bpf.h"
#include "engine/bpf/spin.bpf.h"
#include "engine/bpf/operations.bpf.h"
#include "engine/bpf/peer.bpf.h"
#include "engine/bpf/progress.bpf.h"

char LICENSE[] SEC("license") = "GPL";
