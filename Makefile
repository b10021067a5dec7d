# SPDX-License-Identifier: GPL-2.0-or-later
# `make` builds build/scozd and build/scoz; `make help` lists the other goals. docs/hacking.md tells
# how the tree is laid out.

CC	 ?= gcc
CLANG	 ?= clang
BPFTOOL	 ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/local/sbin/bpftool) bpftool)
PREFIX	 ?= /usr/local
DESTDIR	 ?=
B	 ?= build
# By one name, however it was given: what an object depends on is noted under that of the object.
override B := $(patsubst $(CURDIR)/%,%,$(abspath $(B)))

PKGS	 := libbpf libdw libelf libzstd hwloc jansson
# Of the tool only.
TOOL_PKGS := ncursesw
# Before make deps there may be none: that is not to be complained of four times.
pkg_config	 = $(shell command -v pkg-config >/dev/null && pkg-config $(1))
PKG_CFLAGS	 := $(call pkg_config,--cflags $(PKGS))
PKG_LIBS	 := $(call pkg_config,--libs $(PKGS))
TOOL_CFLAGS	 := $(call pkg_config,--cflags $(TOOL_PKGS))
TOOL_LIBS	 := $(call pkg_config,--libs $(TOOL_PKGS))
CFLAGS	 ?= -O2 -g
ALL_CFLAGS = $(CFLAGS) -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wformat-security -Wno-format-truncation -Werror \
	   -fno-omit-frame-pointer -ffile-prefix-map=$(CURDIR)=. \
	   -pthread -Iinclude -Iinclude/uapi -Ilib -I. -I$(B) $(PKG_CFLAGS) \
	   $(EXTRA_CFLAGS)
# Zydis and libiberty have no pkg-config files in Debian 12.
LDLIBS	 = $(PKG_LIBS) -lZydis -liberty -lm -lz -pthread $(EXTRA_LDFLAGS)

LIB_SRC	   := $(sort $(wildcard lib/*/*.c lib/engine/*/*.c))
LIB_SRC	   := $(filter-out %.bpf.c,$(LIB_SRC))
DAEMON_SRC := $(sort $(wildcard daemon/*.c))
TOOL_SRC   := $(sort $(wildcard tools/scoz/*.c tools/scoz/*/*.c))
UNIT_SRC   := $(sort $(wildcard tests/unit/test_*.c))
BPF_SRC	   := $(sort $(wildcard lib/engine/bpf/*.bpf.c lib/host/bpf/*.bpf.c lib/record/bpf/*.bpf.c))
WORK_SRC   := $(filter-out workloads/stones/stone.c,$(sort $(wildcard workloads/*/*.c)))
BENCH_SRC  := $(sort $(wildcard tests/bench/*.c))
SYSTEM_SRC := $(sort $(wildcard tests/system/*.c))
SIM_SRC	   := $(sort $(wildcard tests/sim/*.c))

obj = $(patsubst %.c,$(B)/obj/%.o,$(1))
SKEL := $(patsubst %.bpf.c,$(B)/%.skel.h,$(notdir $(BPF_SRC))) $(B)/scoz_module.skel.h
vpath %.bpf.c $(sort $(dir $(BPF_SRC)))
UNIT := $(patsubst tests/unit/%.c,$(B)/tests/%,$(UNIT_SRC))
WORK := $(patsubst workloads/%.c,$(B)/workloads/%,$(WORK_SRC)) $(B)/workloads/stones/libscozstone.so
BENCH := $(patsubst tests/bench/%.c,$(B)/bench/%,$(BENCH_SRC))
SYSTEM := $(patsubst tests/system/%.c,$(B)/system/%,$(SYSTEM_SRC))

# A line for what is made in the end; of each file that is compiled only a terminal hears, in one line that changes. The
# whole commands with V=1. Warnings and errors stay.
live = [ -t 1 ] && [ "$${TERM:-dumb}" != dumb ]
ifeq ($(V),1)
say =
Q =
else
made = $(1) $(patsubst $(B)/%,%,$(patsubst $(B)/obj/%,%,$@))
say = @if $(live); then printf '\r\033[K  %-7s %s$(if $(filter CC CLANG,$(1)),,\n)' $(made); \
	$(if $(filter CC CLANG,$(1)),,else printf '  %-7s %s\n' $(made);) fi
Q = @
endif
say_end = @if $(live); then printf '\r\033[K'; fi
MAKEFLAGS += --no-print-directory

# The headers of a program that is made of one file, or of a BPF object.
headers = -MMD -MP -MF $(patsubst $(B)/%,$(B)/obj/%.d,$@)
directories = @mkdir -p $(@D) $(dir $(patsubst $(B)/%,$(B)/obj/%,$@))

.PHONY: all programs help
all: $(B)/scozd $(B)/scoz $(WORK) ## scozd, scoz and the workloads, into build/ (the goal without a name)
	$(say_end)
programs: $(B)/scozd $(B)/scoz ## scozd and scoz alone: what is installed
	$(say_end)
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-22s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo "V=1: whole commands; B=DIR: instead of build/; EXTRA_CFLAGS, EXTRA_LDFLAGS; PREFIX, DESTDIR"

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

# The BPF programs carry their own few kernel types (CO-RE relocates them), so that building
# needs no kernel headers and no BTF on the build machine.
compile_bpf = $(CLANG) -target bpf -mcpu=v3 -g -O2 -Wall -Wextra -Werror -Wno-unused-parameter \
	-D__TARGET_ARCH_$(subst x86_64,x86,$(subst aarch64,arm64,$(shell uname -m))) \
	-Iinclude -Iinclude/uapi -Ilib -I. -I/usr/include/$(shell $(CC) -print-multiarch) $(headers) -c $< -o $@
$(B)/bpf/%.o: %.bpf.c Makefile
	$(directories)
	$(call say,CLANG)
	$(Q)$(compile_bpf)
# The same for machines with the module (lib/engine/bpf/module.bpf.h).
$(B)/bpf/scoz_module.o: scoz.bpf.c Makefile
	$(directories)
	$(call say,CLANG)
	$(Q)$(compile_bpf) -DSCOZ_MODULE
$(B)/%.skel.h: $(B)/bpf/%.o
	$(call say,GEN)
	$(Q)$(BPFTOOL) gen skeleton $< name $* > $@.tmp
	@mv $@.tmp $@

# But for the programs themselves the two skeletons are the same (lib/engine/bpf/module.c).
$(B)/bpf/same-skeletons: $(B)/scoz.skel.h $(B)/scoz_module.skel.h
	@for n in scoz scoz_module; do sed "/__elf_bytes(size_t/,\$$d; s/$$n/scoz/g; s/SCOZ_MODULE/SCOZ/" $(B)/$$n.skel.h \
		>$@.$$n; done; cmp $@.scoz $@.scoz_module
	@touch $@

$(call obj,$(wildcard lib/engine/bpf/*.c lib/host/kernel_asks.c lib/record/backend*.c)): $(SKEL) $(B)/bpf/same-skeletons

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
$(call obj,lib/host/syscall_names.c): $(B)/syscalls.h

# Style sheets and scripts of the pages that scoz plot writes, as strings: page_css, ...
PAGE := tools/scoz/causal/page.css tools/scoz/causal/page.js tools/scoz/causal/paint_once.js tools/scoz/recording/flame.css tools/scoz/recording/flame.js
$(B)/page.h: $(PAGE) Makefile
	@mkdir -p $(@D)
	$(call say,GEN)
	$(Q)echo '#pragma once' > $@.tmp
	$(Q)for f in $(PAGE); do echo "static const char $$(basename $$f | tr . _)[] __attribute__((unused)) ="; \
		sed -e '/SPDX/d' -e 's/[\\"]/\\&/g; s/.*/"&\\n"/' $$f; echo ';'; \
	done >> $@.tmp
	@mv $@.tmp $@
$(call obj,tools/scoz/causal/plot_html.c tools/scoz/causal/diff_html.c tools/scoz/recording/record_page.c) $(UNIT): $(B)/page.h

$(B)/libscozcore.a: $(call obj,$(LIB_SRC))
	@rm -f $@
	$(call say,AR)
	$(Q)$(AR) rcs $@ $^
$(B)/scozd: $(call obj,$(DAEMON_SRC)) $(B)/libscozcore.a
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)
$(call obj,tools/scoz/top/top_screen.c): ALL_CFLAGS += $(TOOL_CFLAGS)
$(B)/scoz: $(call obj,$(TOOL_SRC)) $(B)/libscozcore.a
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(TOOL_LIBS) $(LDLIBS)

# Workloads are programs to be profiled: plain flags, debug information, frame pointers.
WORK_FLAGS = -O2 -g -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wno-format-truncation -Werror \
	-fno-omit-frame-pointer -ffile-prefix-map=$(CURDIR)=. -fno-optimize-sibling-calls
$(B)/workloads/%: workloads/%.c Makefile
	$(directories)
	$(call say,CC)
	$(Q)$(CC) $(WORK_FLAGS) -pthread -Iinclude $(headers) $< -o $@ -lm
$(B)/workloads/stones/libscozstone.so: workloads/stones/stone.c Makefile
	$(directories)
	$(call say,CC)
	$(Q)$(CC) $(WORK_FLAGS) -fno-builtin -fPIC -shared $(headers) $< -o $@ -ldl

# The simulator: everything but its main() is also linked into its unit test.
$(call obj,$(SIM_SRC)): ALL_CFLAGS += -fopenmp -Itests/sim
$(B)/libsim.a: $(call obj,$(filter-out tests/sim/main.c,$(SIM_SRC)))
	@rm -f $@
	$(call say,AR)
	$(Q)$(AR) rcs $@ $^
$(B)/sim: $(call obj,tests/sim/main.c) $(B)/libsim.a $(B)/libscozcore.a
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) -fopenmp -o $@ $^ $(LDLIBS)
$(B)/tests/test_sim $(B)/tests/test_whatif $(B)/tests/test_whatif_devices $(B)/tests/test_whatif_cpus $(B)/tests/test_waits_known: ALL_CFLAGS += -Itests/sim
$(B)/tests/test_sim $(B)/tests/test_whatif $(B)/tests/test_whatif_devices $(B)/tests/test_whatif_cpus $(B)/tests/test_waits_known: $(B)/tests/%: tests/unit/%.c $(B)/libsim.a $(B)/libscozcore.a
	$(directories)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) $(headers) -o $@ $< $(filter %.a,$^) $(LDLIBS) -lcmocka

# What tests the daemon's parts.
$(B)/tests/test_callers $(B)/tests/test_tally $(B)/tests/test_targets $(B)/tests/test_mark_search $(B)/tests/test_expectation $(B)/tests/test_finds $(B)/tests/test_polling $(B)/tests/test_prior $(B)/tests/test_scozd $(B)/tests/test_speedup_off \
$(B)/tests/test_trials $(B)/tests/test_window_discard: $(B)/tests/%: tests/unit/%.c \
	   $(call obj,$(filter-out daemon/main.c,$(DAEMON_SRC))) $(B)/libscozcore.a
	$(directories)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) $(headers) -o $@ $< $(filter %.o %.a,$^) $(LDLIBS) -lcmocka

# It plays the engine and its unwind tables.
$(B)/tests/test_polling: LDLIBS += -Wl,--wrap=unwind_follow_table -Wl,--wrap=engine_set_polling
# What is chosen, and the engine.
$(B)/tests/test_trials: LDLIBS += -Wl,--wrap=choose_targets -Wl,--wrap=target_resolve_chosen -Wl,--wrap=engine_set_target \
	-Wl,--wrap=boundaries_find -Wl,--wrap=profile_writer_target
# How often marks are read.
$(B)/tests/test_marks_count: LDLIBS += -Wl,--wrap=pread
# What may wait for others, and the engine.
$(B)/tests/test_speedup_off: LDLIBS += $(patsubst %,-Xlinker --wrap=%,engine_set_speedup truth_set lease_beat lease_stop \
	handlers_stop session_sleep trials_trust engine_read_ledger engine_forget_sleepers flaws_tell quotas_look \
	expect_begin expect_conclude points_interrupt experiment_run command_terminate)
# What happens meanwhile.
$(B)/tests/test_window_discard: LDLIBS += $(patsubst %,-Xlinker --wrap=%,session_lost lease_lapsed_ns engine_read_ledger \
	handlers_speed quotas_begin quotas_read flaws_probes_ns)
# A file system that a program makes up.
$(B)/tests/test_map_files: LDLIBS += -Wl,--wrap=fstatfs
# One that does not answer.
$(B)/tests/test_mark_search: LDLIBS += -Wl,--wrap=held_file_open

.PHONY: unit system bench
unit: $(UNIT) ## the unit tests
	$(say_end)
system: $(SYSTEM) $(B)/faults.so $(B)/fuzz/read_elf $(B)/fuzz/read_loads $(B)/fuzz/amplify_traces ## what the tests of this system run
	$(say_end)
bench: $(BENCH) ## what the measurements run
	$(say_end)
$(B)/tests/%: tests/unit/%.c $(B)/libscozcore.a
	$(directories)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) $(headers) -o $@ $< $(B)/libscozcore.a $(LDLIBS) -lcmocka
$(BENCH): $(B)/bench/%: tests/bench/%.c
$(SYSTEM): $(B)/system/%: tests/system/%.c
$(BENCH) $(SYSTEM): $(B)/libscozcore.a Makefile
	$(directories)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) $(headers) -o $@ $(filter %.c,$^) $(B)/libscozcore.a $(LDLIBS)
# Preloaded into scozd: nothing of ours is in it.
$(B)/faults.so: tests/faults/faults.c tests/syscall_onward.h
	$(directories)
	$(call say,CC)
	$(Q)$(CC) -O2 -g -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -fno-optimize-sibling-calls \
		-shared -fPIC -pthread -o $@ $< -ldl

# Unless the user says something else.
all_cores = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))

.PHONY: deps deps-test deps-vm
deps: ## installs what building needs (Debian)
	tools/install-deps
deps-test: ## and what the tests need
	tools/install-deps test
deps-vm: ## and what building and booting kernels needs
	tools/install-deps vm

.PHONY: check check-unit check-system check-vm check-style check-kernels vm-kernels demo
# The kernels that are needed are built beside the tests (tests/run).
check: deps-vm ## installs what is missing and runs all tests, most of which need root
	$(MAKE) $(all_cores) all unit system
	tests/run --beside 'make vm-kernels'
check-unit: unit ## runs the unit tests
	tests/run unit
check-system: all system ## runs the tests of this system; most need root
	tests/run system
check-vm: deps-vm ## runs the tests in virtual machines
	$(MAKE) $(all_cores) all system
	$(MAKE) vm-kernels
	tests/run vm
# What takes hours: every patch of the series builds, an hour of stress with and without KASAN and
# lockdep, data races (KCSAN), each fuzzer for FUZZ_S seconds.
FUZZ_S ?= 3600
.PHONY: check-long
check-long: deps-vm ## runs what takes hours: stress, data races, each fuzzer for FUZZ_S seconds
	$(MAKE) $(all_cores) all system
	$(MAKE) check-kernels
	tools/vm/every-patch 6.1
	tools/vm/every-patch 6.12
	VM_DUE=all SCOZ_STRESS_SECONDS=3600 SCOZ_STRESS_KERNELS="6.1:debug 6.12:debug 6.1:kcsan 6.12:kcsan" \
		tests/vm/test-kernel-selftests
	KERNELS="6.12 6.1" tests/vm/test-record
	KERNELS="6.12 6.1" tests/vm/test-kernel-engine
	KERNELS="6.12 6.1" tests/vm/test-verified
	tests/vm/long-text-poke
	tests/vm/long-perf
	tests/vm/long-arm64 || [ $$? = 77 ] # which needs a cross compiler
	KERNELS="6.12:unpatched 6.1:unpatched stock-6.12 stock" VM_TEST_TIMEOUT=4000 tests/vm/test-module
	SCOZ_FAULTS=all tests/system/test-faults
	SCOZ_EXPERIMENTS_ALL=1 tests/system/test-experiments-faults
	workloads/run all --quick --check --tries 3
	SCOZ_RECORD_SWITCHES=10000000 tests/system/test-record-switches
	SCOZ_RECORD_THREADS=10000 tests/system/test-record-threads
	$(MAKE) check-tsan
	$(MAKE) $(all_cores) fuzz
	tests/fuzz/run -s $(FUZZ_S)
# But for test_sim and test_whatif (and test_whatif_devices, test_whatif_cpus), whose threads are OpenMP's, which TSan does not know, and test_plan_simulated,
# which has one thread and takes minutes so.
.PHONY: check-tsan
check-tsan: ## the unit tests under the thread sanitizer
	$(MAKE) $(all_cores) B=$(B)-tsan EXTRA_CFLAGS='-fsanitize=thread -Wno-tsan' EXTRA_LDFLAGS=-fsanitize=thread \
		$(patsubst $(B)/%,$(B)-tsan/%,$(filter-out %/test_sim %/test_whatif %/test_whatif_devices %/test_whatif_cpus %/test_plan_simulated,$(UNIT)))
	TSAN_OPTIONS=die_after_fork=0 B=$(B)-tsan tests/run unit
check-style: ## format, licences, sizes, who includes whom
	tools/check-style
# The kernels that the tests boot (docs/vm.md).
vm-kernels: ## builds the kernels that the tests boot
	set -e; kernels=$$(tools/vm/vm needed); for kernel in $$kernels; do \
		tools/vm/vm build $${kernel%:*} --config $${kernel#*:}; \
	done
check-kernels: deps-vm ## tests also the kernels that make check need not test again, and notes that they passed
	VM_DUE=all $(MAKE) vm-kernels
	VM_DUE=all tests/vm/test-vm-boot
	VM_DUE=all tests/vm/test-kernel-ends
	VM_DUE=all tests/vm/test-kernel-selftests
	tools/vm/vm tested
demo: deps ## installs what is missing, profiles a program and checks what was predicted; needs root
	$(MAKE) $(all_cores) all
	workloads/pipeline/demo

.PHONY: bench-record-accuracy bench-record-cost bench-record-start bench-causal-cost
bench-record-accuracy: all system ## samples of waits against what programs measured
	tests/bench/record-accuracy
bench-record-cost: all bench ## what recording costs
	tests/bench/record-cost
bench-record-start: all bench ## what the beginning of a recording costs
	tests/bench/record-start
bench-causal-cost: all bench ## what causal recordings cost, beside perf sched record
	tests/bench/record-cost -v again,causal,perf-sched

# Accuracy and cost; each prints its table. They want an otherwise idle machine.
.PHONY: bench-truth bench-truth-coz bench-sim bench-accuracy bench-overhead bench-latency bench-rt-latency
.PHONY: experiments bench-weather bench-real bench-linetable bench-memory bench-engines bench-kernel-cost
experiments: all ## what scoz predicts beside what a real change brings, in programs of the papers (docs/experiments.md)
	workloads/run all
bench-real: all ## programs that people run
	tests/bench/real-programs
bench-engines: all ## one engine against the other
	tests/bench/engines
bench-kernel-cost: ## what the kernel series costs when nobody profiles
	tests/bench/kernel-cost
bench-truth: all ## predictions against the truth
	tests/bench/truth-suite
bench-truth-coz: all ## the same, beside coz
	tests/bench/truth-suite --coz
bench-weather: all bench ## predictions while the machine does other things
	tests/bench/weather
bench-sim: $(B)/sim ## the simulator
	tests/bench/sim
bench-accuracy: all ## short iterations
	tests/bench/truth-compare -t 4 -s 5 -d 30 "barrier2 --iter-us 500" \
		"barrier2 --iter-us 1000" "barrier2 --iter-us 5000" "barrier2 --iter-us 50000" churn2
bench-overhead: all bench system ## what profiling costs
	tests/bench/overhead
bench-latency: all bench ## how much of the delay is consumed, and how long after a hit
	tests/bench/latency
bench-rt-latency: all system ## how late real-time threads wake up
	tests/bench/rt-latency
bench-linetable: bench ## making and asking tables of 100 MB of debug information
	tests/bench/make-big-binary $(B)/big 100
	$(B)/bench/linetable $(B)/big
bench-memory: all bench ## scozd's memory and rings where there are many binaries
	tests/bench/many-binaries map
	tests/bench/many-binaries run

# The same for all that is made of it.
VERSION := $(shell sed -n 's/^.define PROGRAM_VERSION "\(.*\)"/\1/p' lib/base/version.h)

# From the option tables, by what --help prints.
COMPLETIONS := $(addprefix $(B)/completions/,scoz scozd _scoz scoz.fish)
$(COMPLETIONS) &: tools/completions $(B)/scozd $(B)/scoz
	@mkdir -p $(B)/completions
	$(call say,GEN)
	$(Q)tools/completions $(B) $(B)/completions
.PHONY: completions
completions: $(COMPLETIONS) ## for bash, zsh and fish, into build/completions

# Mode, file, and where it goes below PREFIX.
INSTALLED := 755:$(B)/scozd:sbin/scozd 755:$(B)/scoz:bin/scoz \
	644:include/scoz.h:include/scoz.h 644:include/scoz-compat/coz.h:include/scoz-compat/coz.h \
	644:docs/man/scozd.8:share/man/man8/scozd.8 \
	$(foreach m,scoz scoz-top,644:docs/man/$(m).1:share/man/man1/$(m).1) \
	644:$(B)/scoz.pc:share/pkgconfig/scoz.pc \
	644:$(B)/completions/scoz:share/bash-completion/completions/scoz \
	644:$(B)/completions/scozd:share/bash-completion/completions/scozd \
	644:$(B)/completions/_scoz:share/zsh/site-functions/_scoz \
	644:$(B)/completions/scoz.fish:share/fish/vendor_completions.d/scoz.fish \
	$(foreach d,README.md CHANGELOG.md $(wildcard docs/*.md docs/accuracy/*.md docs/*.svg docs/*.png),644:$(d):share/doc/scoz/$(d)) \
	755:workloads/profile-mpi:share/doc/scoz/examples/profile-mpi \
	$(foreach m,Kbuild Makefile dkms.conf scoz.c scoz.h scoz_trace.h,644:kernel-patches/module/$(m):share/scoz/module/$(m)) \
	755:kernel-patches/module/add-types:share/scoz/module/add-types \
	$(foreach l,$(wildcard LICENSES/*.txt),644:$(l):share/doc/scoz/$(l))
each_installed = @set -e; for f in $(INSTALLED); do \
	IFS=:; set -- $$f; unset IFS; to='$(DESTDIR)$(PREFIX)'/$$3; $(1)

.PHONY: install uninstall scoz.pc
scoz.pc:
	@mkdir -p $(B)
	@printf '%s\n' 'prefix=$(PREFIX)' 'includedir=$${prefix}/include' '' 'Name: scoz' \
		'Description: marks for the scoz causal profiler (headers only)' 'Version: $(VERSION)' \
		'Cflags: -I$${includedir}' >$(B)/scoz.pc
install: programs completions scoz.pc ## into DESTDIR/PREFIX; STRIP=1: without symbols
	$(call each_installed,install -D -m $$1 $$2 "$$to"); done
	@$(if $(STRIP),strip '$(DESTDIR)$(PREFIX)'/sbin/scozd '$(DESTDIR)$(PREFIX)'/bin/scoz)
	@echo "installed $(words $(INSTALLED)) files below $(DESTDIR)$(PREFIX); make uninstall takes them away"
uninstall: ## removes what install put there, and nothing else
	$(call each_installed,rm -f "$$to"); done
	@rmdir '$(DESTDIR)$(PREFIX)'/share/scoz/module '$(DESTDIR)$(PREFIX)'/share/scoz \
		'$(DESTDIR)$(PREFIX)'/include/scoz-compat '$(DESTDIR)$(PREFIX)'/share/doc/scoz/docs/accuracy '$(DESTDIR)$(PREFIX)'/share/doc/scoz/docs \
		'$(DESTDIR)$(PREFIX)'/share/doc/scoz/examples '$(DESTDIR)$(PREFIX)'/share/doc/scoz/LICENSES '$(DESTDIR)$(PREFIX)'/share/doc/scoz \
		2>/dev/null || true

.PHONY: deb
deb: ## build/deb/scoz_*.deb, from what git knows of the tree as it is (needs debhelper)
	tools/make-deb $(B)/deb

# Linked once more: the libraries lie beside them, and for programs with capabilities in /usr/local.
$(B)/tarball/scozd: $(B)/scozd $(call obj,$(DAEMON_SRC)) $(B)/libscozcore.a
$(B)/tarball/scoz: $(B)/scoz $(call obj,$(TOOL_SRC)) $(B)/libscozcore.a
$(B)/tarball/scozd $(B)/tarball/scoz:
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -o $@ $(filter %.o %.a,$^) $(if $(filter %/scoz,$@),$(TOOL_LIBS)) $(LDLIBS) \
		-Wl,--disable-new-dtags,-rpath,'$$ORIGIN/../lib/scoz:/usr/local/lib/scoz'
.PHONY: tarball
tarball: programs completions $(B)/tarball/scozd $(B)/tarball/scoz ## build/tarball/scoz-*.tar.gz: programs and libraries for systems that are not Debian
	tools/make-tarball $(B)/tarball/scozd $(B)/tarball/scoz $(B)/tarball

.PHONY: clean
clean: ## removes build/
	rm -rf $(B)

include tests/fuzz/fuzz.mk

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)
.SECONDARY:
.DELETE_ON_ERROR:
