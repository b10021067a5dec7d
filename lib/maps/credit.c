// SPDX-License-Identifier: GPL-2.0-or-later
#include "maps/credit.h"

#include "maps/made_name.h"

#define MIN_SAMPLES	 20    /* and */
#define MIN_SHARE	 0.02  /* of what is credited to anything, and */
#define MIN_SHARE_OF_ALL 0.005 /* of all samples */

static bool begins_with_any(const char *s, const char *const *prefixes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (text_after(s, prefixes[i]))
			return true;
	}
	return false;
}

bool source_is_system(const char *path)
{
	/* /usr/src is where containers like to put what they are for. */
	static const char *const own[] = { "/usr/src/", "/usr/local/src/" };
	static const char *const not_own[] = { "/usr/src/debug/", "/usr/src/linux" };
	static const char *const tops[] = {
		"/usr/",       "/lib/",	      "/rustc/", "/rust/deps/", "/build/", "/builddir/",
		"/nix/store/", "/gnu/store/", "/snap/",	 "sysdeps/",	"<",
	};
	static const char *const parts[] = {
		"/sysdeps/",	"/.rustup/",	 "/rustlib/",	   "/.cargo/registry/",
		"/.cargo/git/", "/go/pkg/mod/",	 "/sdk/go1.",	   "/lib/gcc/",
		"/lib/clang/",	"/include/c++/", "/libstdc++-v3/", "/libgcc/",
	};

	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		if (text_after(path, own[i]) && !text_after(path, not_own[0]) &&
		    !text_after(path, not_own[1]))
			return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(tops); i++) {
		if (text_after(path, tops[i]))
			return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (strstr(path, parts[i]))
			return true;
	}
	return false;
}

/* Where distributions build: what a program of theirs has of its own. */
static bool source_is_of_package(const char *path)
{
	return text_after(path, "/build/") || text_after(path, "/builddir/") ||
	       text_after(path, "/usr/src/debug/") || !source_is_system(path);
}

bool binary_is_system(const char *path)
{
	static const char *const own[] = { "/usr/local/", "/usr/src/" };
	static const char *const tops[] = {
		"/usr/",       "/bin/",	 "/sbin/", "/lib",	     "/nix/store/",
		"/gnu/store/", "/snap/", "[",	   "/usr/local/go/",
	};

	if (strstr(path, "/.rustup/") || text_after(path, "/usr/local/go/"))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		if (text_after(path, own[i]))
			return false;
	}
	return begins_with_any(path, tops, ARRAY_SIZE(tops));
}

bool function_is_unnamed(const char *function)
{
	return function[0] == '[' || text_after(function, "0x");
}

/* What compilers add to every program, outermost in most chains. */
static bool is_entry(const char *function)
{
	static const char *const names[] = { "_start",	    "_init",
					     "_fini",	    "__libc_csu_init",
					     "frame_dummy", "_dl_relocate_static_pie" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(function, names[i]))
			return true;
	}
	return false;
}

/* Rust, demangled: "<u8 as core::fmt::Debug>::fmt", of a type that is of no other crate. */
static bool is_trait_of_language(const char *function)
{
	static const char *const crates[] = { "core::", "alloc::", "std::" };
	const char *as = *function == '<' ? strstr(function, " as ") : NULL;

	return as && !memmem(function, as - function, "::", 2) &&
	       begins_with_any(as + 4, crates, ARRAY_SIZE(crates));
}

/* Of the standard library of a language, by its name: where there are no lines. */
static bool is_of_language(const char *function)
{
	static const char *const prefixes[] = {
		"std::",	  "__gnu_cxx::", "__cxxabiv1::", "core::",   "alloc::",
		"hashbrown::",	  "_ZSt",	 "_ZNSt",	 "_ZNKSt",   "_ZN9__gnu_cxx",
		"_ZNK9__gnu_cxx", "<core::",	 "<alloc::",	 "<std::",   "runtime.",
		"runtime/",	  "internal/",	 "sync.",	 "syscall.", "reflect.",
	};

	if (begins_with_any(function, prefixes, ARRAY_SIZE(prefixes)))
		return true;
	if (is_trait_of_language(function))
		return true;
	/* Rust's newer mangling: the crate's name follows its hash. */
	return text_after(function, "_R") &&
	       (strstr(function, "_4core") || strstr(function, "_3std") ||
		strstr(function, "_5alloc"));
}

/*
 * Interrupts are what samples are taken by: what runs with interrupts disabled is seen where they
 * are enabled again. That place belongs to whoever had disabled them: a caller.
 */
static bool enables_interrupts(const char *function)
{
	static const char *const prefixes[] = {
		"_raw_spin_unlock_irq",
		"__raw_spin_unlock_irq",
		"_raw_read_unlock_irq",
		"__raw_read_unlock_irq",
		"_raw_write_unlock_irq",
		"__raw_write_unlock_irq",
		"arch_local_irq_",
		"native_irq_enable",
		"raw_local_irq_",
		"native_restore_fl",
		"finish_task_switch",
		"finish_lock_switch",
		"raw_spin_rq_unlock_irq",
		"exit_to_user_mode",
		"syscall_enter_from_user_mode",
		"syscall_exit_to_user_mode",
		"irqentry_exit",
		"irq_exit_rcu",
		"asm_sysvec_",
		"asm_common_interrupt",
		"local_irq_",
		"raw_irqentry_",
		"do_syscall_64",
		"entry_SYSCALL_64",
		"syscall_return_via_sysret",
		"ret_from_fork",
	};

	return begins_with_any(function, prefixes, ARRAY_SIZE(prefixes));
}

bool function_yields(const char *function)
{
	return !strcmp(function, "sched_yield") || !strcmp(function, "__sched_yield");
}

static enum code_origin origin_in_program(const struct maps_binary *binary,
					  const struct map_frame *f)
{
	bool program = binary->table && maptable_is_program(binary->table);
	bool system = binary_is_system(binary->path);

	if (!strcmp(f->function, "[plt]"))
		return CODE_PASSING;
	if (f->function[0] == '[' && !f->file)
		return CODE_UNKNOWN;
	if (is_entry(f->function) || function_yields(f->function))
		return CODE_PASSING;
	if (f->file && f->line) {
		/* A relative path tells whose it is only by the binary. */
		if (!source_is_system(f->file) && (f->file[0] == '/' || !system))
			return CODE_OWN;
		return program && system && source_is_of_package(f->file) ? CODE_PROGRAM
									  : CODE_LIBRARY;
	}
	if (system)
		return program ? CODE_PROGRAM : CODE_LIBRARY;
	return is_of_language(f->function) ? CODE_LIBRARY : CODE_OWN_BINARY;
}

/*
 * What a compiler makes at run time is made of the user's program, and whoever calls it there is
 * the compiler's own: but for what that makes for itself, or brings along.
 */
static enum code_origin origin_of_made(const struct map_frame *f)
{
	static const char *const own[] = {
		"node:", "internal/", "java.", "jdk.", "sun.", "Ljava/"
	};
	const char *name = made_name_plain(f->function);
	char function[MADE_NAME_MAX];

	if (f->file && source_is_system(f->file))
		return CODE_LIBRARY;
	made_name_function(f->function, function, sizeof(function));
	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		if (text_after(function, own[i]) ||
		    (strchr(name, ' ') && text_after(strchr(name, ' ') + 1, own[i])))
			return CODE_LIBRARY;
	}
	return CODE_OWN;
}

static enum code_origin origin_of(const struct maps_binary *binary, const struct map_frame *f)
{
	if (binary->made)
		return origin_of_made(f);
	if (!binary->kernel)
		return origin_in_program(binary, f);
	if (enables_interrupts(f->function))
		return CODE_PASSING;
	return f->function[0] == '[' ? CODE_UNKNOWN : CODE_OWN;
}

void code_origins(const struct maps_binary *binary, const struct map_frame *frames, int n,
		  uint8_t *ret)
{
	for (int i = n - 1; i >= 0; i--) {
		ret[i] = origin_of(binary, &frames[i]);
		/* What is inlined into such a place is part of it. */
		if (i + 1 < n && ret[i + 1] == CODE_PASSING && binary->kernel)
			ret[i] = CODE_PASSING;
	}
}

int code_credit(const uint8_t *origin, int n)
{
	int best = -1;

	for (int i = 0; i < n; i++) {
		if (origin[i] == CODE_PASSING || origin[i] == CODE_OUTSIDE)
			continue;
		if (origin[i] == CODE_UNKNOWN)
			return best < 0 ? i : best;
		if (best < 0 || origin[i] < origin[best])
			best = i;
		if (origin[i] == CODE_OWN)
			break;
	}
	return best;
}

bool function_is_of_bpf(const char *function)
{
	static const char *const prefixes[] = {
		"bpf_prog_",	   "bpf_trace_run",  "__bpf_trace_run",
		"bpf_trampoline_", "trace_call_bpf", "__bpf_prog_",
	};

	return begins_with_any(function, prefixes, ARRAY_SIZE(prefixes));
}

bool code_worth_trying(uint64_t samples, uint64_t credited, uint64_t all)
{
	return samples >= MIN_SAMPLES && samples >= credited * MIN_SHARE &&
	       samples >= all * MIN_SHARE_OF_ALL;
}

bool code_can_tell(uint64_t credited)
{
	return credited * MIN_SHARE >= MIN_SAMPLES;
}
