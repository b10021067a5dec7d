# SPDX-License-Identifier: GPL-2.0-or-later
# `make fuzz`: the parsers under libFuzzer, ASan and UBSan, by clang (tests/fuzz/run runs them).
# `make fuzz-coverage`: the same parsers built to tell which of their lines a fuzzer's inputs reach.

FUZZ_B		?= $(B)/fuzz
FUZZ_SANITIZE	?= -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_FLAGS	= -O1 -g $(FUZZ_SANITIZE)
FUZZ_NAMES	:= $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ		:= $(addprefix $(FUZZ_B)/,$(FUZZ_NAMES))
# Of the library and the tool all that reads, and nothing that wants the kernel or a terminal.
FUZZED := $(wildcard lib/base/*.c lib/elf/*.c lib/files/*.c lib/host/*.c lib/jsonl/*.c lib/maps/*.c lib/table/*.c lib/profile/*.c lib/progress/*.c lib/stats/*.c \
	lib/symbolizer/*.c lib/trace/*.c lib/unwind/*.c lib/waits/*.c lib/whatif/*.c) lib/plan/period.c lib/plan/window_length.c \
	$(addprefix lib/record/,call_check.c class_names.c format.c futex.c reader.c wait_kinds.c writer.c) \
	$(filter-out %/main.c %/doctor.c %/record.c %/record_causal.c %/prove.c %/prove_program.c, \
	$(filter-out tools/scoz/top/% tools/scoz/commands/top.c,$(wildcard tools/scoz/*.c tools/scoz/*/*.c)))
fuzz_obj = $(patsubst %.c,$(FUZZ_B)/obj/%.o,$(1))
FUZZED_OBJ = $(call fuzz_obj,$(FUZZED) tests/fuzz/common.c tests/fuzz/mutate.c)
fuzz_compile = $(CLANG) $(filter-out $(CFLAGS),$(ALL_CFLAGS)) -Wno-unknown-warning-option $(FUZZ_FLAGS) \
	-fsanitize=fuzzer-no-link

# What objects are compiled with, and which ones there are: files that change where that does, so that no
# objects of two kinds are linked.
remember = @mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(1))' $(2) | cmp -s - $@ || \
	printf '%s\n' '$(subst ','\'',$(1))' $(2) >$@
.PHONY: fuzz-look
fuzz-look:
$(FUZZ_B)/compiler: fuzz-look
	$(call remember,$(fuzz_compile),"$$($(CLANG) --version)")
$(FUZZ_B)/objects: fuzz-look
	$(call remember,$(FUZZED_OBJ))

$(FUZZ_B)/obj/%.o: %.c $(FUZZ_B)/compiler | $(B)/syscalls.h $(B)/page.h
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(fuzz_compile) -MMD -MP -c $< -o $@
$(FUZZ_B)/libfuzzed.a: $(FUZZED_OBJ) $(FUZZ_B)/objects
	@rm -f $@
	$(call say,AR)
	$(Q)$(AR) rcs $@ $(filter %.o,$^)
$(FUZZ): $(FUZZ_B)/%: $(FUZZ_B)/obj/tests/fuzz/fuzz_%.o $(FUZZ_B)/libfuzzed.a
	$(call say,LD)
	$(Q)$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ $(LDLIBS)

# What they begin with is made of small programs and by our own writers.
$(B)/fuzz/make_seeds $(B)/fuzz/read_elf $(B)/fuzz/read_loads $(B)/fuzz/amplify_traces: $(B)/fuzz/%: tests/fuzz/%.c $(B)/libscozcore.a
	$(directories)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) $(headers) -o $@ $< $(B)/libscozcore.a $(LDLIBS)
$(B)/fuzz/seeds/done: tests/fuzz/seeds $(B)/fuzz/make_seeds tests/fuzz/amplify include/scoz.h
	$(call say,GEN)
	$(Q)tests/fuzz/seeds $(B)/fuzz/make_seeds $(@D)
	@touch $@

.PHONY: fuzz fuzz-coverage
fuzz: $(FUZZ) $(B)/fuzz/seeds/done $(B)/fuzz/read_elf $(B)/fuzz/read_loads $(B)/fuzz/amplify_traces ## the fuzzers
fuzz-coverage: $(B)/fuzz/seeds/done ## the fuzzers, built to tell which lines they reach
	$(MAKE) FUZZ_B=$(B)/fuzz-coverage \
		FUZZ_SANITIZE="-fprofile-instr-generate -fcoverage-mapping" \
		$(addprefix $(B)/fuzz-coverage/,$(FUZZ_NAMES))

-include $(shell find $(FUZZ_B)/obj -name '*.d' 2>/dev/null)
