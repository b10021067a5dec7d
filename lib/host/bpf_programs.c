// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/bpf_programs.h"
#include "host/kallsyms.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
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

bool btf_has_tracepoint(const struct btf *btf, const char *name)
{
	_cleanup_free_ char *type = xasprintf("btf_trace_%s", name);

	return btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF) > 0;
}

bool bpf_can_follow(const struct btf *btf, const struct bpf_program *prog)
{
	enum bpf_attach_type type = bpf_program__expected_attach_type(prog);
	const char *function = strchr(bpf_program__section_name(prog), '/') + 1;
	int id = btf__find_by_name_kind(btf, function, BTF_KIND_FUNC);

	return id > 0 && !bpf_try_load(BPF_PROG_TYPE_TRACING, type, id);
}

static bool find_member(const struct btf *btf, uint32_t id, const char *member, uint32_t *at)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	if (!t || !btf_is_composite(t))
		return false;
	for (int i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const char *name = btf__name_by_offset(btf, m->name_off);
		uint32_t deeper = *at + btf_member_bit_offset(t, i) / 8;

		/* Members of what has no name are members, too. */
		if (*name ? strcmp(name, member) != 0 : !find_member(btf, m->type, member, &deeper))
			continue;
		*at = deeper;
		return true;
	}
	return false;
}

uint64_t btf_preempt_count(const struct btf *btf)
{
	const struct kernel_addresses *a = kernel_addresses();
	uint32_t at = 0;
	int id;

	if (a->preempt_count || !a->pcpu_hot)
		return a->preempt_count;
	id = btf__find_by_name_kind(btf, "pcpu_hot", BTF_KIND_STRUCT);
	return id > 0 && find_member(btf, id, "preempt_count", &at) ? a->pcpu_hot + at : 0;
}

bool btf_tells_mappings(const struct btf *btf)
{
	return btf_has_tracepoint(btf, "mm_filemap_map_pages") &&
	       btf__find_by_name_kind(btf, "bpf_iter_task_vma_new", BTF_KIND_FUNC) > 0;
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
