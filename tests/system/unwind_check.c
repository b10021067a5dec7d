// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Real stacks of a program and of all it starts, unwound by our tables and by libdw, side by side.
 *
 *   unwind_check [-n STACKS] [-t SECONDS] [-v] COMMAND [ARG...]   stops its threads at random
 * moments unwind_check --tables FILE...                                 sizes of tables, and what
 * they cost
 *
 * One line: stacks taken; those that reach the outermost function and are as libdw has them;
 * frames that both have and those of them that differ, or that only we have beyond libdw's end.
 */
#include "elf/eh_frame.h"
#include "unwind/unwind.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_FRAMES 4096

struct binary {
	char *path;
	struct unwind_table *table;
	GElf_Phdr load[16];
	size_t n_load;
	uint64_t ino;
};

struct mapping {
	uint64_t start, end, offset;
	struct binary *binary;
};

struct process {
	int pid;
	Dwfl *dwfl;
	bool attached;
	char *maps;
	struct mapping *map;
	size_t n_map, cap_map;
	int last; /* thread that was looked at, and what it had in its registers then */
	struct user_regs_struct registers;
};

static struct binary *binaries;
static size_t n_binary, cap_binary;
static struct process *processes;
static size_t n_process, cap_process;
static bool verbose;

static struct {
	uint64_t stacks, complete, frames, wrong, bad_stacks, beyond, by_pointer, no_reference;
	uint64_t again;
	uint64_t why[UNWIND_NO_STACK + 1], ns, dwfl_ns;
} sum;

static void read_loads(struct binary *b, Elf *elf)
{
	GElf_Phdr p;
	size_t n = 0;

	elf_getphdrnum(elf, &n);
	for (size_t i = 0; i < n && b->n_load < ARRAY_SIZE(b->load); i++) {
		if (gelf_getphdr(elf, i, &p) && p.p_type == PT_LOAD)
			b->load[b->n_load++] = p;
	}
}

static void read_binary(struct binary *b, int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	struct error err;

	if (elf) {
		read_loads(b, elf);
		if (unwind_table_build(elf, b->path, &b->table, &err) && verbose)
			printf("%s\n", err.text);
	} else if (verbose) {
		printf("%s: no table: %s\n", b->path, elf_errmsg(-1));
	}
	elf_end(elf);
}

/* The vdso is in memory only, and the same for all. */
static int copy_of_vdso(int pid, const struct mapping *m)
{
	size_t n = m->end - m->start;
	_cleanup_free_ void *bytes = xmalloc(n);
	struct iovec to = { bytes, n }, from = { (void *)m->start, n };
	int fd = memfd_create("vdso", MFD_CLOEXEC);

	if (process_vm_readv(pid, &to, 1, &from, 1, 0) != (ssize_t)n ||
	    write(fd, bytes, n) != (ssize_t)n) {
		close(fd);
		return -1;
	}
	return fd;
}

static struct binary *find_binary(int pid, const struct mapping *m, const char *path, uint64_t ino)
{
	_cleanup_close_ int fd = -1;
	struct binary *b;

	for (size_t i = 0; i < n_binary; i++) {
		if (binaries[i].ino == ino && !strcmp(binaries[i].path, path))
			return &binaries[i];
	}
	if (n_binary == cap_binary)
		return NULL; /* mappings point at them */
	fd = strcmp(path, "[vdso]") ? open(path, O_RDONLY | O_CLOEXEC) : copy_of_vdso(pid, m);
	if (fd < 0) {
		if (verbose)
			printf("%s: no table: %s\n", path, strerror(errno));
		return NULL;
	}
	b = &binaries[n_binary++];
	*b = (struct binary){ .path = xstrdup(path), .ino = ino };
	read_binary(b, fd);
	return b;
}

static void read_mappings(struct process *p)
{
	_cleanup_free_ char *text = xstrdup(p->maps);
	char *line, *rest = text;

	p->n_map = 0;
	while ((line = strsep(&rest, "\n"))) {
		struct mapping m = { 0 };
		unsigned long start, end, offset, ino;
		char prot[8], path[512] = "";

		if (sscanf(line, "%lx-%lx %7s %lx %*s %lu %511[^\n]", &start, &end, prot, &offset,
			   &ino, path) < 5 ||
		    prot[2] != 'x')
			continue;
		m.start = start;
		m.end = end;
		m.offset = offset;
		if (path[0] == '/' || !strcmp(path, "[vdso]"))
			m.binary = find_binary(p->pid, &m, path, ino);
		array_reserve(p->map, p->cap_map, p->n_map + 1);
		p->map[p->n_map++] = m;
	}
}

static int no_debuginfo(Dwfl_Module *m, void **data, const char *name, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word crc, char **ret)
{
	(void)m, (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)ret;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = no_debuginfo,
};

/* What matters of a process's mappings: heaps come and go. */
static char *mappings_of(int pid)
{
	_cleanup_free_ char *path = xasprintf("/proc/%d/maps", pid);
	char *all = read_file(path, NULL), *from = all, *to = all, *end;

	for (; from && *from; from = end) {
		end = strchrnul(from, '\n');
		end += *end == '\n';
		if (!memchr(from, '/', end - from) && !memmem(from, end - from, "x", 1))
			continue;
		memmove(to, from, end - from);
		to += end - from;
	}
	if (to)
		*to = '\0';
	return all;
}

/* libdw would keep modules that it saw while the dynamic linker was mapping them: begin anew. */
static void refresh(struct process *p)
{
	char *now = mappings_of(p->pid);

	if (!now || (p->maps && !strcmp(now, p->maps))) {
		free(now);
		return;
	}
	free(p->maps);
	p->maps = now;
	read_mappings(p);
	if (p->dwfl)
		dwfl_end(p->dwfl);
	p->dwfl = dwfl_begin(&callbacks);
	dwfl_linux_proc_report(p->dwfl, p->pid);
	dwfl_report_end(p->dwfl, NULL, NULL);
	p->attached = !dwfl_linux_proc_attach(p->dwfl, p->pid, true);
}

static void forget(int pid)
{
	for (size_t i = 0; i < n_process; i++) {
		struct process *p = &processes[i];

		if (p->pid != pid)
			continue;
		if (p->dwfl)
			dwfl_end(p->dwfl);
		free(p->maps);
		free(p->map);
		*p = processes[--n_process];
		return;
	}
}

static struct process *process_of(int tid)
{
	_cleanup_free_ char *path = xasprintf("/proc/%d/status", tid);
	_cleanup_free_ char *status = read_file(path, NULL);
	char *at = status ? strstr(status, "\nTgid:") : NULL;
	int pid = at ? atoi(at + 6) : tid;

	for (size_t i = 0; i < n_process; i++) {
		if (processes[i].pid == pid)
			return &processes[i];
	}
	array_reserve(processes, cap_process, n_process + 1);
	processes[n_process] = (struct process){ .pid = pid };
	return &processes[n_process++];
}

static bool read_memory(void *arg, uint64_t address, void *dst, size_t n)
{
	const struct process *p = arg;
	struct iovec to = { dst, n }, from = { (void *)address, n };

	return process_vm_readv(p->pid, &to, 1, &from, 1, 0) == (ssize_t)n;
}

static const struct mapping *mapping_at(const struct process *p, uint64_t pc)
{
	for (size_t i = 0; i < p->n_map; i++) {
		if (pc >= p->map[i].start && pc < p->map[i].end)
			return &p->map[i];
	}
	return NULL;
}

static bool find_table(void *arg, uint64_t pc, const struct unwind_table **t, uint64_t *address)
{
	const struct mapping *m = mapping_at(arg, pc);
	uint64_t off;

	*t = NULL;
	if (!m)
		return false;
	if (!m->binary)
		return true;
	off = pc - m->start + m->offset;
	for (size_t i = 0; i < m->binary->n_load; i++) {
		const GElf_Phdr *l = &m->binary->load[i];

		if (off >= l->p_offset && off - l->p_offset < l->p_filesz) {
			*t = m->binary->table;
			*address = off - l->p_offset + l->p_vaddr;
			return true;
		}
	}
	return true;
}

struct reference {
	uint64_t pc[MAX_FRAMES];
	size_t n;
	bool clean;
};

static int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct reference *r = arg;
	Dwarf_Addr pc;

	if (r->n == MAX_FRAMES || !dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	r->pc[r->n++] = pc;
	return DWARF_CB_OK;
}

static void registers_of(const struct user_regs_struct *u, struct unwind_registers *ret)
{
	const unsigned long long r[] = { u->rax, u->rdx, u->rcx, u->rbx, u->rsi, u->rdi,
					 u->rbp, u->rsp, u->r8,	 u->r9,	 u->r10, u->r11,
					 u->r12, u->r13, u->r14, u->r15 };

	*ret = (struct unwind_registers){ .pc = u->rip, .known = 0xffff };
	for (size_t i = 0; i < ARRAY_SIZE(r); i++)
		ret->r[i] = r[i];
}

static void print_frame(const struct process *p, const char *who, uint64_t pc)
{
	const struct mapping *m = mapping_at(p, pc);

	if (!pc)
		printf("  %-34s", "");
	else
		printf("  %s %10llx %-20.20s", who,
		       (unsigned long long)(m ? pc - m->start + m->offset : pc),
		       m && m->binary ? path_base(m->binary->path)
		       : m	      ? "(no file)"
				      : "(no code)");
}

static void print_both(const struct process *p, const struct unwind_frame *f, size_t n,
		       enum unwind_why why, const struct reference *r)
{
	printf("thread of %d: ours %zu frames (end %d), libdw %zu%s\n", p->pid, n, why, r->n,
	       r->clean ? "" : ", and an error");
	for (size_t i = 0; i < n || i < r->n; i++) {
		print_frame(p, "ours", i < n ? f[i].pc : 0);
		print_frame(p, "libdw", i < r->n ? r->pc[i] : 0);
		printf("%s\n", i < n && f[i].by_pointer ? " by pointer" : "");
	}
}

static void compare(struct process *p, int tid)
{
	static struct unwind_frame f[MAX_FRAMES];
	static struct reference r;
	struct unwind_source source = { EM_X86_64, p, read_memory, find_table };
	struct unwind_registers registers;
	struct user_regs_struct u;
	uint64_t t0, t1, wrong = 0;
	enum unwind_why why;
	size_t n, both;

	if (ptrace(PTRACE_GETREGS, tid, 0, &u))
		return;
	/*
	 * Where cores are short it may not have run since: one place would be counted again and
	 * again, and some, like _fini(), have no rule.
	 */
	if (p->last == tid && !memcmp(&p->registers, &u, sizeof(u))) {
		sum.again++;
		return;
	}
	p->last = tid;
	p->registers = u;
	registers_of(&u, &registers);
	/* A process that has just begun has no stack of its own yet, or ends. */
	if (!mapping_at(p, u.rip))
		return;
	t0 = clock_now_ns();
	n = unwind_stack(&source, &registers, f, MAX_FRAMES, &why);
	t1 = clock_now_ns();
	r.n = 0;
	r.clean = !dwfl_getthread_frames(p->dwfl, tid, take_frame, &r);
	sum.dwfl_ns += clock_now_ns() - t1;
	/* It may go by a frame pointer that is none, for instance between clone()'s two entries. */
	for (size_t i = 0; i < r.n; i++) {
		if (!mapping_at(p, r.pc[i])) {
			r.n = i;
			r.clean = false;
		}
	}
	sum.ns += t1 - t0;
	both = n < r.n ? n : r.n;
	for (size_t i = 0; i < both; i++)
		wrong += f[i].pc != r.pc[i];
	if (r.clean && n > r.n)
		wrong += n - r.n;
	else if (n > r.n)
		sum.beyond += n - r.n;
	if (why == UNWIND_COMPLETE && r.clean && n < r.n)
		wrong++;
	for (size_t i = 0; i < n; i++)
		sum.by_pointer += f[i].by_pointer;
	sum.stacks++;
	sum.frames += both;
	sum.wrong += wrong;
	sum.bad_stacks += wrong != 0;
	sum.complete += why == UNWIND_COMPLETE && !wrong;
	sum.no_reference += !r.clean;
	sum.why[why]++;
	if (verbose && (wrong || why != UNWIND_COMPLETE))
		print_both(p, f, n, why, &r);
}

struct threads {
	int *tid;
	size_t n, cap;
};

static void add_thread(struct threads *t, int tid)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->tid[i] == tid)
			return;
	}
	array_reserve(t->tid, t->cap, t->n + 1);
	t->tid[t->n++] = tid;
}

static void drop_thread(struct threads *t, int tid)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->tid[i] == tid)
			t->tid[i--] = t->tid[--t->n];
	}
	forget(tid);
}

static void handle(struct threads *t, int tid, int status)
{
	int signal = 0;

	if (WIFEXITED(status) || WIFSIGNALED(status)) {
		drop_thread(t, tid);
		return;
	}
	add_thread(t, tid);
	switch (status >> 16) {
	case 0:
		signal = WSTOPSIG(status);
		break;
	case PTRACE_EVENT_EXEC:
		forget(tid);
		break;
	case PTRACE_EVENT_STOP:
		if (WSTOPSIG(status) == SIGTRAP) {
			struct process *p = process_of(tid);

			refresh(p);
			if (p->attached)
				compare(p, tid);
		}
		break;
	}
	ptrace(PTRACE_CONT, tid, 0, signal);
}

static bool runs(int tid)
{
	_cleanup_free_ char *path = xasprintf("/proc/%d/stat", tid);
	_cleanup_free_ char *stat = read_file(path, NULL);
	char *at = stat ? strrchr(stat, ')') : NULL;

	return at && at[1] && at[2] == 'R';
}

static int start(char **argv, struct threads *t)
{
	int gate[2], pid;
	char c;

	if (pipe2(gate, O_CLOEXEC))
		exit(1);
	pid = fork();
	if (!pid) {
		if (read(gate[0], &c, 1) != 1)
			_exit(1);
		dup2(open("/dev/null", O_WRONLY), 1);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (ptrace(PTRACE_SEIZE, pid, 0,
		   PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
			   PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)) {
		printf("skipped: no process may be traced here: %s\n", strerror(errno));
		kill(pid, SIGKILL);
		exit(77);
	}
	if (write(gate[1], "", 1) != 1)
		exit(1);
	add_thread(t, pid);
	return pid;
}

static void watch(char **argv, uint64_t stacks, unsigned int seconds)
{
	struct threads t = { 0 };
	uint64_t end = clock_now_ns() + seconds * NSEC_PER_SEC;
	int status, tid;

	cap_binary = 4096;
	binaries = xcalloc(cap_binary, sizeof(*binaries));
	start(argv, &t);
	while (sum.stacks < stacks && clock_now_ns() < end) {
		struct timespec nap = { 0, 200000 + random() % 2000000 };
		bool again = true;

		while (t.n && (tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0)
			handle(&t, tid, status);
		if (!t.n)
			break;
		nanosleep(&nap, NULL);
		/* Mostly of threads that run; now and then of one that waits. */
		for (int i = 0; i < 8 && again; i++) {
			tid = t.tid[random() % t.n];
			again = random() % 8 && !runs(tid);
		}
		ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	}
	for (size_t i = 0; i < t.n; i++)
		kill(t.tid[i], SIGKILL);
	while ((tid = waitpid(-1, &status, __WALL)) > 0)
		;
}

static void print_sum(const char *name)
{
	printf("%s: stacks=%llu complete=%llu frames=%llu wrong=%llu wrong_stacks=%llu "
	       "beyond=%llu by_pointer=%llu libdw_failed=%llu no_code=%llu no_rule=%llu "
	       "no_value=%llu no_stack=%llu again=%llu ns=%llu libdw_ns=%llu\n",
	       name, (unsigned long long)sum.stacks, (unsigned long long)sum.complete,
	       (unsigned long long)sum.frames, (unsigned long long)sum.wrong,
	       (unsigned long long)sum.bad_stacks, (unsigned long long)sum.beyond,
	       (unsigned long long)sum.by_pointer, (unsigned long long)sum.no_reference,
	       (unsigned long long)sum.why[UNWIND_NO_CODE],
	       (unsigned long long)sum.why[UNWIND_NO_RULE],
	       (unsigned long long)sum.why[UNWIND_NO_VALUE],
	       (unsigned long long)sum.why[UNWIND_NO_STACK], (unsigned long long)sum.again,
	       (unsigned long long)(sum.stacks ? sum.ns / sum.stacks : 0),
	       (unsigned long long)(sum.stacks ? sum.dwfl_ns / sum.stacks : 0));
}

static size_t section_size(Elf *elf, const char *name)
{
	Elf_Scn *scn = NULL;
	size_t strings;
	GElf_Shdr sh;

	elf_getshdrstrndx(elf, &strings);
	while ((scn = elf_nextscn(elf, scn))) {
		if (gelf_getshdr(scn, &sh) && !strcmp(elf_strptr(elf, strings, sh.sh_name), name))
			return sh.sh_size;
	}
	return 0;
}

/* Of the processor: the machine may be busy. */
static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

static int print_table(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	struct unwind_table *t = NULL;
	struct unwind_table_size s;
	struct rusage usage;
	struct error err;
	uint64_t begun = cpu_ns();

	if (unwind_table_build(elf, path, &t, &err)) {
		printf("%s\n", err.text);
		return 1;
	}
	begun = cpu_ns() - begun;
	getrusage(RUSAGE_SELF, &usage);
	s = unwind_table_size(t);
	printf("%s: text=%zu eh_frame=%zu table=%zu rows=%u rules=%u entries=%u strange=%u "
	       "left_out=%u cpu_ms=%.1f peak_mb=%ld\n",
	       path_base(path), section_size(elf, ".text"), section_size(elf, ".eh_frame"), s.bytes,
	       s.rows, s.rules, s.entries, s.strange, s.left_out, begun / 1e6,
	       usage.ru_maxrss / 1024);
	unwind_table_free(t);
	elf_end(elf);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t stacks = 1000;
	unsigned int seconds = 60;
	int c, rc = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	elf_version(EV_CURRENT);
	if (argc > 2 && !strcmp(argv[1], "--tables")) {
		for (int i = 2; i < argc; i++)
			rc |= print_table(argv[i]);
		return rc;
	}
	while ((c = getopt(argc, argv, "+n:t:v")) != -1) {
		if (c == 'n')
			stacks = strtoull(optarg, NULL, 10);
		else if (c == 't')
			seconds = strtoul(optarg, NULL, 10);
		else if (c == 'v')
			verbose = true;
		else
			return 2;
	}
	if (optind == argc)
		return 2;
#ifndef __x86_64__
	printf("skipped: registers are read on x86-64 only\n");
	return 77;
#endif
	watch(argv + optind, stacks, seconds);
	print_sum(path_base(argv[optind]));
	return 0;
}
