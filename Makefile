# SPDX-License-Identifier: GPL-2.0-or-later
# `make` builds build/scozd and build/scoz; `make check` and `make demo` install what is missing
# first (Debian) and need root. docs/hacking.md tells how the tree is laid out.

CC	 ?= gcc
CLANG	 ?= clang
BPFTOOL	 ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/local/sbin/bpftool) bpftool)
PREFIX	 ?= /usr/local
DESTDIR	 ?=
B	 ?= build

PKGS	 := libbpf libdw libelf libzstd hwloc jansson
# Of the tool only.
TOOL_PKGS := ncursesw
PKG_CFLAGS	 := $(shell pkg-config --cflags $(PKGS))
PKG_LIBS	 := $(shell pkg-config --libs $(PKGS))
TOOL_CFLAGS	 := $(shell pkg-config --cflags $(TOOL_PKGS))
TOOL_LIBS	 := $(shell pkg-config --libs $(TOOL_PKGS))
CFLAGS	 ?= -O2 -g
ALL_CFLAGS = $(CFLAGS) -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wno-format-truncation -Werror \
	   -fno-omit-frame-pointer -ffile-prefix-map=$(CURDIR)=. \
	   -pthread -Iinclude -Iinclude/uapi -Ilib -I. -I$(B) $(PKG_CFLAGS) \
	   $(EXTRA_CFLAGS)
# Zydis and libiberty have no pkg-config files in Debian 12.
LDLIBS	 = $(PKG_LIBS) -lZydis -liberty -lm -lz -pthread $(EXTRA_LDFLAGS)

LIB_SRC	   := $(sort $(wildcard lib/*/*.c lib/engine/*/*.c))
LIB_SRC	   := $(filter-out %.bpf.c,$(LIB_SRC))
DAEMON_SRC := $(sort $(wildcard daemon/*.c))
TOOL_SRC   := $(sort $(wildcard tools/scoz/*.c))
UNIT_SRC   := $(sort $(wildcard tests/unit/test_*.c))
BPF_SRC	   := $(sort $(wildcard lib/engine/bpf/*.bpf.c lib/record/bpf/*.bpf.c))
BPF_HDR	   := $(sort $(wildcard lib/engine/bpf/*.bpf.h lib/record/bpf/*.h) lib/engine/bpf/shared.h lib/record/points.h \
	   lib/account/account.h lib/account/share.h include/uapi/linux/scoz.h)
WORK_SRC   := $(sort $(wildcard workloads/*/*.c))
BENCH_SRC  := $(sort $(wildcard tests/bench/*.c))
SYSTEM_SRC := $(sort $(wildcard tests/system/*.c))
SIM_SRC	   := $(sort $(wildcard tests/sim/*.c))

obj = $(patsubst %.c,$(B)/obj/%.o,$(1))
SKEL := $(patsubst %.bpf.c,$(B)/%.skel.h,$(notdir $(BPF_SRC)))
vpath %.bpf.c $(sort $(dir $(BPF_SRC)))
UNIT := $(patsubst tests/unit/%.c,$(B)/tests/%,$(UNIT_SRC))
WORK := $(patsubst workloads/%.c,$(B)/workloads/%,$(WORK_SRC))
BENCH := $(patsubst tests/bench/%.c,$(B)/bench/%,$(BENCH_SRC))
SYSTEM := $(patsubst tests/system/%.c,$(B)/system/%,$(SYSTEM_SRC))

# A short line for each file; the whole commands with V=1. Warnings and errors stay.
ifeq ($(V),1)
say =
Q =
else
say = @printf '  %-7s %s\n' $(1) $(patsubst $(B)/%,%,$(patsubst $(B)/obj/%,%,$@))
Q = @
endif
MAKEFLAGS += --no-print-directory

.PHONY: all
all: $(B)/scozd $(B)/scoz $(WORK)

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

# The BPF programs carry their own few kernel types (CO-RE relocates them), so that building
# needs no kernel headers and no BTF on the build machine.
$(B)/bpf/%.o: %.bpf.c $(BPF_HDR)
	@mkdir -p $(@D)
	$(call say,CLANG)
	$(Q)$(CLANG) -target bpf -mcpu=v3 -g -O2 -Wall -Wextra -Werror -Wno-unused-parameter \
		-D__TARGET_ARCH_$(subst x86_64,x86,$(subst aarch64,arm64,$(shell uname -m))) \
		-Iinclude -Iinclude/uapi -Ilib -I. -I/usr/include/$(shell $(CC) -print-multiarch) -c $< -o $@
$(B)/%.skel.h: $(B)/bpf/%.o
	$(call say,GEN)
	$(Q)$(BPFTOOL) gen skeleton $< name $* > $@.tmp
	@mv $@.tmp $@

$(call obj,$(wildcard lib/engine/bpf/*.c lib/record/backend*.c)): $(SKEL)

# Names and numbers of this architecture's system calls.
$(B)/syscalls.h:
	@mkdir -p $(@D)
	$(call say,GEN)
	$(Q){ echo 'static const struct { const char *name; int number; } syscall_table[] = {'; \
	  echo '#include <sys/syscall.h>' | $(CC) -E -dM - | \
	  awk '$$2 ~ /^__NR_/ && $$3 ~ /^[0-9]+$$/ { sub("__NR_", "", $$2); \
	       printf "\t{ \"%s\", %s },\n", $$2, $$3 }' | sort; \
	  echo '};'; } > $@.tmp
	@mv $@.tmp $@
$(call obj,lib/base/syscall_names.c): $(B)/syscalls.h

$(B)/libscozcore.a: $(call obj,$(LIB_SRC))
	@rm -f $@
	$(call say,AR)
	$(Q)$(AR) rcs $@ $^
$(B)/scozd: $(call obj,$(DAEMON_SRC)) $(B)/libscozcore.a
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)
$(call obj,tools/scoz/top_screen.c): ALL_CFLAGS += $(TOOL_CFLAGS)
$(B)/scoz: $(call obj,$(TOOL_SRC)) $(B)/libscozcore.a
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(TOOL_LIBS) $(LDLIBS)

# Workloads are programs to be profiled: plain flags, debug information, frame pointers.
$(B)/workloads/%: workloads/%.c $(wildcard workloads/*/*.h)
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) -O2 -g -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wno-format-truncation -Werror \
	   -fno-omit-frame-pointer -ffile-prefix-map=$(CURDIR)=. \
		-fno-optimize-sibling-calls -pthread -Iinclude $< -o $@ -lm

# The simulator: everything but its main() is also linked into its unit test.
$(call obj,$(SIM_SRC)): ALL_CFLAGS += -fopenmp -Itests/sim
$(B)/libsim.a: $(call obj,$(filter-out tests/sim/main.c,$(SIM_SRC)))
	@rm -f $@
	$(call say,AR)
	$(Q)$(AR) rcs $@ $^
$(B)/sim: $(call obj,tests/sim/main.c) $(B)/libsim.a $(B)/libscozcore.a
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) -fopenmp -o $@ $^ $(LDLIBS)
$(B)/tests/test_sim: ALL_CFLAGS += -Itests/sim
$(B)/tests/test_sim: tests/unit/test_sim.c $(B)/libsim.a $(B)/libscozcore.a
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $(B)/obj/tests/test_sim.d -o $@ $^ $(LDLIBS) -lcmocka

# Of the daemon, parts that stand alone.
$(B)/tests/test_tally: tests/unit/test_tally.c $(call obj,$(addprefix daemon/,chains.c tally.c \
	   locations.c places.c process_table.c)) $(B)/libscozcore.a
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $(B)/obj/tests/test_tally.d -o $@ $^ $(LDLIBS) -lcmocka

.PHONY: unit system bench
unit: $(UNIT)
system: $(SYSTEM) $(B)/fuzz/read_elf
bench: $(BENCH)
$(B)/tests/%: tests/unit/%.c $(B)/libscozcore.a
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $(B)/obj/tests/$*.d -o $@ $< $(B)/libscozcore.a $(LDLIBS) -lcmocka
$(UNIT): | $(B)/obj/tests/
$(B)/obj/tests/:
	@mkdir -p $@
$(B)/bench/%: tests/bench/%.c $(B)/libscozcore.a
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $< $(B)/libscozcore.a $(LDLIBS)

$(B)/system/%: tests/system/%.c $(B)/libscozcore.a
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $< $(B)/libscozcore.a $(LDLIBS)

# Unless the user says something else.
all_cores = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))

.PHONY: deps deps-vm
deps:
	tools/install-deps
deps-vm:
	tools/install-deps vm

.PHONY: check check-unit check-system check-vm check-style vm-kernels demo
# The kernels are built beside tests that a busy machine does not touch.
check: deps deps-vm
	$(MAKE) $(all_cores) all unit system
	tests/run --beside 'make vm-kernels'
check-unit: unit
	tests/run unit
check-system: all system
	tests/run system
check-vm: deps-vm
	$(MAKE) $(all_cores) all system
	$(MAKE) vm-kernels
	tests/run vm
# What takes hours: every patch of the series builds, an hour of stress with and without KASAN and
# lockdep, data races (KCSAN), each fuzzer for FUZZ_S seconds.
FUZZ_S ?= 3600
.PHONY: check-long
check-long: deps-vm
	$(MAKE) $(all_cores) all system
	$(MAKE) vm-kernels
	tools/vm/every-patch 6.1
	tools/vm/every-patch 6.12
	SCOZ_STRESS_SECONDS=3600 SCOZ_STRESS_KERNELS="6.12:debug" VM_TEST_TIMEOUT=8000 \
		tests/vm/test-kernel-selftests
	SCOZ_STRESS_SECONDS=600 SCOZ_STRESS_KERNELS="6.1:debug 6.12:kcsan" tests/vm/test-kernel-selftests
	tests/vm/long-text-poke
	SCOZ_RECORD_SWITCHES=10000000 tests/system/test-record-switches
	SCOZ_RECORD_THREADS=10000 tests/system/test-record-threads
	$(MAKE) $(all_cores) fuzz
	tests/fuzz/run -s $(FUZZ_S)
check-style:
	tools/check-style
# The kernels that the tests boot (docs/vm.md).
vm-kernels:
	tools/vm/vm build 6.1
	tools/vm/vm build 6.12
	tools/vm/vm build 6.12 --config debug
demo: deps
	$(MAKE) $(all_cores) all
	workloads/pipeline/demo

.PHONY: bench-record-accuracy bench-record-cost
bench-record-accuracy: all system
	tests/bench/record-accuracy
bench-record-cost: all bench
	tests/bench/record-cost

# Accuracy and cost; each prints its table. They want an otherwise idle machine.
.PHONY: bench-truth bench-truth-coz bench-sim bench-accuracy bench-overhead bench-latency
.PHONY: bench-weather bench-real bench-linetable bench-engines bench-kernel-cost
bench-real: all
	tests/bench/real-programs
bench-engines: all
	tests/bench/engines
bench-kernel-cost:
	tests/bench/kernel-cost
bench-truth: all
	tests/bench/truth-suite
bench-truth-coz: all
	tests/bench/truth-suite --coz
bench-weather: all bench
	tests/bench/weather
bench-sim: $(B)/sim
	tests/bench/sim
bench-accuracy: all
	tests/bench/truth-compare -t 4 -s 5 -d 30 "barrier2 --iter-us 500" \
		"barrier2 --iter-us 1000" "barrier2 --iter-us 5000" "barrier2 --iter-us 50000" churn2
bench-overhead: all bench system
	tests/bench/overhead
bench-latency: all bench
	tests/bench/latency
bench-linetable: bench
	tests/bench/make-big-binary $(B)/big 100
	$(B)/bench/linetable $(B)/big

.PHONY: install
install: all
	install -D -m 755 $(B)/scozd $(DESTDIR)$(PREFIX)/sbin/scozd
	install -D -m 755 $(B)/scoz $(DESTDIR)$(PREFIX)/bin/scoz
	install -D -m 644 include/scoz.h $(DESTDIR)$(PREFIX)/include/scoz.h
	install -D -m 644 include/scoz-compat/coz.h $(DESTDIR)$(PREFIX)/include/scoz-compat/coz.h
	install -D -m 644 docs/man/scozd.8 $(DESTDIR)$(PREFIX)/share/man/man8/scozd.8
	install -D -m 644 docs/man/scoz.1 $(DESTDIR)$(PREFIX)/share/man/man1/scoz.1
	install -D -m 644 docs/man/scoz-top.1 $(DESTDIR)$(PREFIX)/share/man/man1/scoz-top.1

.PHONY: clean
clean:
	rm -rf $(B)

include tests/fuzz/fuzz.mk

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)
.SECONDARY:
.DELETE_ON_ERROR:
