// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/bpf_programs.h"

#include "host/kernel_asks.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

static char kept[8192];
static size_t kept_len;

static int keep(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	int n;

	if (level == LIBBPF_DEBUG || !fmt)
		return 0;
	if (log_level >= LOG_DEBUG) {
		va_list copy;

		va_copy(copy, ap);
		vfprintf(stderr, fmt, copy);
		va_end(copy);
	}
	n = vsnprintf(kept + kept_len, sizeof(kept) - kept_len, fmt, ap);
	if (n > 0 && kept_len + n < sizeof(kept))
		kept_len += n;
	return n;
}

void bpf_keep_log(void)
{
	libbpf_set_print(keep);
}

const char *bpf_log_reason(void)
{
	static char line[512];
	char *best = NULL;

	for (char *s = strtok(kept, "\n"); s; s = strtok(NULL, "\n")) {
		if (!best || strstr(s, "failed") || strstr(s, "not "))
			best = s;
	}
	snprintf(line, sizeof(line), "%s", best ? best : strerror(errno));
	kept_len = 0;
	return line;
}

int bpf_may_load(struct error *err)
{
	if (!kernel_asks_misled())
		return 0;
	return error_set(
		err, ENOMEM,
		"engine bpf: loading the programs: a call of bpf(2) failed when the kernel "
		"was asked what it can do, and for want of that it would check them for "
		"minutes: free some memory, and start again");
}

int bpf_not_loaded(int r, struct error *err)
{
	const char *reason = bpf_log_reason();

	if (r == -EMFILE || r == -ENFILE)
		return error_set(err, -r,
				 "engine bpf: loading the programs: %s: raise the limit of open "
				 "files (ulimit -n, now %ld)",
				 strerror(-r), sysconf(_SC_OPEN_MAX));
	if (r == -ENOMEM)
		return error_set(err, -r, "engine bpf: loading the programs: %s (%s)", strerror(-r),
				 reason);
	return error_set(err, -r,
			 "engine bpf: the kernel refuses the programs: %s; run `scoz doctor` to "
			 "see what is missing",
			 reason);
}

int bpf_try_load(int program_type, int attach_type, int btf_id)
{
	const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach_type,
		    .attach_btf_id = btf_id);
	_cleanup_close_ int fd =
		bpf_prog_load(program_type, "scoz_try", "GPL", nothing, ARRAY_SIZE(nothing), &opts);

	return fd < 0 ? fd : 0;
}

int bpf_try_call(int program_type, int attach_type, int btf_id, int types, int func)
{
	const struct bpf_insn call[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1 },
		{ .code = BPF_JMP | BPF_CALL,
		  .src_reg = BPF_PSEUDO_KFUNC_CALL,
		  .off = 1, /* in the array below */
		  .imm = func },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	const int fds[] = { 0, types };
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach_type,
		    .attach_btf_id = btf_id, .fd_array = fds);
	_cleanup_close_ int fd =
		bpf_prog_load(program_type, "scoz_try", "GPL", call, ARRAY_SIZE(call), &opts);

	return fd < 0 ? fd : 0;
}

int bpf_run_iterator(const struct bpf_program *iterator)
{
	struct bpf_link *link = bpf_program__attach_iter(iterator, NULL);
	_cleanup_close_ int fd = -1;
	char buf[256];
	ssize_t n;
	int ret;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	while (fd >= 0 && (n = read(fd, buf, sizeof(buf))) > 0)
		;
	ret = fd < 0 || n < 0 ? -errno : 0;
	bpf_link__destroy(link);
	errno = -ret;
	return ret;
}
