// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables made by processes without rights: the same ones, and what hostile files come to. */
#include "elf/table_make.h"
#include "test_map_util.h"

#include "files/file_open.h"
#include "table/table.h"
#include "progress/probe_sites.h"
#include "symbolizer/protocol.h"
#include "symbolizer/sandbox.h"
#include "symbolizer/symbolizer.h"
#include "unwind/unwind.h"
#include "unwind/unwind_table.h"

#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <zstd.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

static const char source[] =
	"static inline __attribute__((always_inline)) int twice(int x) { return x + x; }\n"
	"volatile int sink;\n"
	"__attribute__((noinline)) int work(int x) { sink = twice(x); return sink; }\n"
	"int main(int argc, char **argv) { (void)argv; return work(argc); }\n";

static char *source_top; /* where include/ is */

static void compile_source(const char *flags, const char *name)
{
	_cleanup_free_ char *c = in_scratch("s.c");

	write_file(c, source, strlen(source));
	sh("gcc -O1 -g %s s.c -o %s", flags, name);
}

static bool has_inline(const struct maptable *t)
{
	struct addr_ranges r;

	if (maptable_function_ranges(t, "twice", &r, NULL))
		return false;
	addr_ranges_free(&r);
	return true;
}

static struct maptable *open_it(const char *path, const struct map_options *opt)
{
	struct maptable *t = NULL;
	struct error err = { 0 };

	if (maptable_make(path, path, opt, &t, &err))
		fail_msg("%s", err.text);
	return t;
}

/* Of the file itself, of files that it names, and from the cache. */
static void test_same_tables(void **state)
{
	_cleanup_free_ char *plain = in_scratch("plain"), *cache = in_scratch("cache"),
			    *apart = in_scratch("apart"), *split = in_scratch("split");
	struct map_options opt = { .cache_dir = cache };
	struct maptable *t;

	(void)state;
	compile_source("", "plain");
	compile_source("-gz=zlib", "apart");
	sh("objcopy --only-keep-debug apart apart.debug; objcopy --strip-debug "
	   "--add-gnu-debuglink=apart.debug apart; chmod 644 apart.debug");
	compile_source("-gsplit-dwarf", "split");
	for (int round = 0; round < 3; round++) {
		t = open_it(plain, round ? &opt : NULL);
		assert_int_equal(maptable_source(t), MAP_DWARF);
		assert_true(has_inline(t));
		assert_true(t->mapped);
		maptable_free(t);
	}
	t = open_it(apart, NULL);
	assert_int_equal(maptable_source(t), MAP_DWARF);
	assert_true(has_inline(t));
	assert_null(maptable_warning(t));
	maptable_free(t);
	t = open_it(split, NULL);
	assert_true(has_inline(t));
	assert_null(maptable_warning(t));
	maptable_free(t);
}

/* A table is not kept in the cache while a file that its file refers to is missing. */
static void test_missing_then_there(void **state)
{
	_cleanup_free_ char *split = in_scratch("later"), *cache = in_scratch("cache-later"),
			    *box = in_scratch("box");
	struct map_options opt = { .cache_dir = cache }, in_box = { .root = NULL };
	struct maptable *t;

	(void)state;
	compile_source("-gsplit-dwarf", "later");
	sh("mkdir away; mv later*.dwo away");
	t = open_it(split, &opt);
	assert_false(has_inline(t));
	assert_non_null(strstr(maptable_warning(t), "s.dwo: it is not there"));
	maptable_free(t);
	/* In a container: below the root of the process. */
	sh("mkdir -p box%s; cp away/*.dwo box%s", scratch, scratch);
	in_box.root = box;
	t = open_it(split, &in_box);
	assert_true(has_inline(t));
	maptable_free(t);
	sh("mv away/*.dwo .");
	if (!geteuid()) {
		sh("chown 1234 later*.dwo");
		t = open_it(split, &opt);
		assert_non_null(strstr(maptable_warning(t), "s.dwo: it belongs to another user"));
		maptable_free(t);
		sh("chown 0 later*.dwo");
	}
	for (int round = 0; round < 2; round++) {
		t = open_it(split, &opt);
		assert_true(has_inline(t));
		assert_null(maptable_warning(t));
		maptable_free(t);
	}
}

static void test_errors(void **state)
{
	_cleanup_free_ char *text = in_scratch("text");
	struct maptable *t;
	struct error err;

	(void)state;
	write_file(text, "no program\n", 11);
	assert_int_equal(maptable_make(text, "shown-name", NULL, &t, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "shown-name"));
}

/* What somebody who runs as another user wants us to read for him. */
static void test_private_files(void **state)
{
	_cleanup_free_ char *path = in_scratch("curious");
	struct maptable *t;

	(void)state;
	if (geteuid())
		skip();
	compile_source("", "curious");
	sh("objcopy --only-keep-debug curious curious.debug; objcopy --strip-debug "
	   "--add-gnu-debuglink=curious.debug curious; chmod 600 curious.debug; chown 1234 "
	   "curious");
	t = open_it(path, NULL);
	assert_int_equal(maptable_source(t), MAP_SYMTAB);
	maptable_free(t);
	sh("chown 1234 curious.debug");
	t = open_it(path, NULL);
	assert_int_equal(maptable_source(t), MAP_DWARF);
	maptable_free(t);
	/* Nor what another user says of it: in a mount namespace anything lies beside it. */
	sh("chown 0 curious; chmod 644 curious.debug");
	t = open_it(path, NULL);
	assert_int_equal(maptable_source(t), MAP_SYMTAB);
	maptable_free(t);
	sh("chown 0 curious.debug");
	t = open_it(path, NULL);
	assert_int_equal(maptable_source(t), MAP_DWARF);
	maptable_free(t);
}

/* No rights, from the beginning. */
static void test_rights(void **state)
{
	_cleanup_free_ char *path = xasprintf("/proc/%d/status", child_of(getpid()));
	_cleanup_free_ char *status = NULL;

	(void)state;
	/* It has got them off when it answers. */
	test_errors(NULL);
	status = read_file(path, NULL);
	assert_non_null(status);
	assert_non_null(strstr(status, "NoNewPrivs:\t1\n"));
	assert_non_null(strstr(status, "CapEff:\t0000000000000000\n"));
	assert_non_null(strstr(status, "CapPrm:\t0000000000000000\n"));
	if (!geteuid()) {
		assert_non_null(strstr(status, "Uid:\t65534\t65534\t65534\t65534\n"));
		assert_non_null(strstr(status, "CapBnd:\t0000000000000000\n"));
	}
}

/* Has a nursery of its own begin a job; returns its worker, which waits to be told to go on. */
static int worker_with_limits(int nursery, const int job[2], uint64_t memory, uint64_t cpu_s)
{
	_cleanup_free_ struct message *m = xcalloc(1, sizeof(*m));
	_cleanup_close_ int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int fds[MSG_FDS] = { file, job[1] }, worker = 0;
	bool ready = false;

	m->type = MSG_JOB;
	m->memory = memory;
	m->cpu_s = cpu_s;
	assert_true(message_send(nursery, m, fds, 2));
	close(job[1]);
	while (!ready || !worker) {
		assert_true(message_receive(job[0], m, fds));
		ready |= m->type == MSG_READY;
		if (m->type == MSG_STARTED)
			worker = m->number;
		for (int i = 0; i < MSG_FDS; i++) {
			if (fds[i] >= 0)
				close(fds[i]);
		}
	}
	return worker;
}

static void check_limit(const char *limits, const char *which, unsigned long long soft,
			unsigned long long hard)
{
	unsigned long long is_soft = 0, is_hard = 0;
	const char *line = strstr(limits, which);

	assert_non_null(line);
	sscanf(line + strlen(which), "%llu %llu", &is_soft, &is_hard);
	if (is_soft != soft || is_hard != hard)
		fail_msg("not %llu and %llu: %.70s", soft, hard, line);
}

/* A worker has them before it looks at anything. */
static void test_limits(void **state)
{
	_cleanup_free_ char *path = NULL, *limits = NULL;
	int nursery[2], job[2], pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, nursery), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, job), 0);
	pid = fork();
	if (!pid)
		nursery_main(nursery[1]);
	close(nursery[1]);
	path = xasprintf("/proc/%d/limits", worker_with_limits(nursery[0], job, 600 << 20, 7));
	limits = read_file(path, NULL);
	close(nursery[0]); /* it ends with that, and who is its own with it */
	close(job[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_non_null(limits);
	check_limit(limits, "Max cpu time", 7, 8);
	if (SANDBOX_LIMITS_MEMORY)
		check_limit(limits, "Max address space", 600 << 20, 600 << 20);
}

static int locked_in(int socket)
{
	int parent = getppid();

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (sandbox_enter() < 0)
		return 77;
	if (fcntl(socket, F_GETFD) < 0 || fcntl(socket, F_DUPFD_CLOEXEC, 0) < 0)
		return 1;
	/* The kernel would send signals for it. */
	if (!fcntl(socket, F_SETOWN, parent) || !fcntl(socket, F_SETSIG, SIGKILL) ||
	    !fcntl(socket, F_SETFL, O_ASYNC))
		return 2;
	return kill(parent, 0) ? 0 : 3;
}

static int alone(int socket_)
{
	int parent = getppid(), on = 1, pair[2];
	struct rlimit limit;
	cpu_set_t cpus;

	sched_getaffinity(parent, sizeof(cpus), &cpus);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (!sandbox_be_alone())
		return 77;
	if (open("/dev/null", O_RDONLY) < 0 || send(socket_, "x", 1, 0) != 1)
		return 1;
	if (!fcntl(socket_, F_SETOWN, parent) || !kill(parent, 0) ||
	    socket(AF_INET, SOCK_DGRAM, 0) >= 0 || !execlp("true", "true", NULL))
		return 2;
	if (!ioctl(socket_, FIOSETOWN, &parent) || !ioctl(socket_, FIOASYNC, &on) ||
	    !prlimit(parent, RLIMIT_NOFILE, NULL, &limit) || !setpriority(PRIO_USER, 0, 19) ||
	    !sched_setaffinity(parent, sizeof(cpus), &cpus) ||
	    !socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || syscall(0x40000000 + SYS_getppid) >= 0 ||
	    errno != EPERM)
		return 4;
	if (getrlimit(RLIMIT_NOFILE, &limit) || ioctl(socket_, FIONREAD, &on))
		return 5;
	return ptrace(PTRACE_SEIZE, parent, 0, 0) ? 0 : 3;
}

/* Who reads can compute, and do nothing to others. */
static void test_locked_in(void **state)
{
	int (*ways[])(int socket) = { locked_in, alone };
	int pair[2], status, pid;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
		pid = fork();
		if (!pid)
			_exit(ways[i](pair[0]));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		close(pair[0]);
		close(pair[1]);
		assert_true(WIFEXITED(status));
		if (WEXITSTATUS(status) == 77)
			skip();
		assert_int_equal(WEXITSTATUS(status), 0);
	}
}

/* Replaces section @name of the file by @megabytes of zeros, compressed to next to nothing. */
static void inflate_section(const char *file, const char *name, size_t megabytes)
{
	_cleanup_free_ char *path = in_scratch("%s", file), *bytes = NULL;
	_cleanup_free_ char *zeros = xcalloc(1, 1 << 20), *out = xmalloc(4 << 20);
	ZSTD_CStream *z = ZSTD_createCStream();
	ZSTD_outBuffer o = { out, 4 << 20, 0 };
	Elf64_Chdr head = { .ch_type = ELFCOMPRESS_ZSTD, .ch_size = megabytes << 20 };
	const char *names;
	Elf64_Ehdr *e;
	Elf64_Shdr *s;
	size_t size;
	FILE *f;

	for (size_t i = 0; i < megabytes; i++) {
		ZSTD_inBuffer in = { zeros, 1 << 20, 0 };

		while (in.pos < in.size)
			assert_false(ZSTD_isError(ZSTD_compressStream(z, &o, &in)));
	}
	assert_false(ZSTD_isError(ZSTD_endStream(z, &o)));
	ZSTD_freeCStream(z);
	bytes = read_file(path, &size);
	e = (Elf64_Ehdr *)bytes;
	s = (Elf64_Shdr *)(bytes + e->e_shoff);
	names = bytes + s[e->e_shstrndx].sh_offset;
	for (int i = 0; i < e->e_shnum; i++) {
		if (strcmp(names + s[i].sh_name, name) != 0)
			continue;
		s[i].sh_offset = size;
		s[i].sh_size = sizeof(head) + o.pos;
		s[i].sh_flags |= SHF_COMPRESSED;
	}
	f = fopen(path, "w");
	fwrite(bytes, 1, size, f);
	fwrite(&head, 1, sizeof(head), f);
	fwrite(out, 1, o.pos, f);
	assert_int_equal(fclose(f), 0);
}

/* A small file that becomes a large one ends its reader; the next file has another. */
static void test_amplification(void **state)
{
	_cleanup_free_ char *bomb = in_scratch("bomb"), *good = in_scratch("plain");
	struct maptable *t = NULL;
	struct error err = { 0 };
	struct stat st;

	(void)state;
	compile_source("", "bomb");
	inflate_section("bomb", ".debug_str", 900);
	assert_int_equal(stat(bomb, &st), 0);
	assert_true(st.st_size < 256 << 10);
	if (!maptable_make(bomb, "bomb", NULL, &t, &err)) {
		/* Not even begun, because of what it says that it has. */
		assert_non_null(maptable_warning(t));
		maptable_free(t);
	} else {
		assert_non_null(strstr(err.text, "bomb: "));
	}
	t = open_it(good, NULL);
	assert_true(has_inline(t));
	maptable_free(t);
}

/* ---- where probes go ---- */

static int find_in(const char *path, const char *spec, struct probe_sites **ret, struct error *err)
{
	_cleanup_held_file_ struct held_file file = HELD_FILE_INIT;
	struct point point;
	int r = held_file_open(path, &file, err);

	if (!r && spec)
		r = point_parse(spec, &point, err);
	if (r)
		return r;
	r = probe_sites_find(&file, spec ? &point : NULL, ret, err);
	if (!r && (*ret)->n && !(*ret)->list[0].refused)
		assert_int_equal(probe_sites_unchanged(*ret, 0, &file, err), 0);
	if (spec)
		point_free(&point);
	return r;
}

/* Debug files are beside the file, however it is called. */
static void test_short_names(void **state)
{
	_cleanup_free_ char *path = in_scratch("beside"), *before = getcwd(NULL, 0);
	struct probe_sites *sites;
	struct error err = { 0 };
	struct maptable *t;

	(void)state;
	compile_source("-Wl,--build-id=none", "beside");
	sh("objcopy --only-keep-debug beside beside.debug; strip beside; "
	   "objcopy --add-gnu-debuglink=beside.debug beside; chmod 644 beside.debug");
	if (maptable_make(path, "beside", NULL, &t, &err))
		fail_msg("%s", err.text);
	assert_true(has_inline(t));
	maptable_free(t);
	assert_int_equal(chdir(scratch), 0);
	t = open_it("./beside", NULL);
	assert_true(has_inline(t));
	maptable_free(t);
	if (find_in("./beside", "./beside:s.c:3", &sites, &err))
		fail_msg("%s", err.text);
	probe_sites_free(sites);
	assert_int_equal(chdir(before), 0);
}

/* The same places as this process would find, and what is wrong in the same words. */
static void test_probes(void **state)
{
	_cleanup_free_ char *plain = in_scratch("plain"), *marked = in_scratch("marked"),
			    *c = in_scratch("m.c"), *text = in_scratch("text");
	static const struct {
		const char *spec;
		int result;
		size_t n;
	} specs[] = { { "x:work", 0, 1 },	   { "x:s.c:3", 0, 1 },
		      { "x:main", 0, 1 },	   { "x:work+1", -EOPNOTSUPP, 0 },
		      { "x:absent", -ENOENT, 0 },  { "x:s.c:99", -ENOENT, 0 },
		      { "usdt:x:a:b", -ENOENT, 0 } };
	static const char program[] =
		"#include <scoz.h>\n"
		"int main(void) { SCOZ_PROGRESS_NAMED(\"unit\"); return 0; }\n";
	struct probe_sites *sites, *here;
	struct error err, own;
	int fd;

	(void)state;
	compile_source("", "plain");
	fd = open(plain, O_RDONLY | O_CLOEXEC);
	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		int r = find_in(plain, specs[i].spec, &sites, &err);

		if (r != specs[i].result)
			fail_msg("%s: %d: %s", specs[i].spec, r, err.text);
		assert_int_equal(r, probe_sites_read(fd, plain, NULL, specs[i].spec, &here, &own));
		if (r) {
			assert_string_equal(err.text, own.text);
			continue;
		}
		assert_true(sites->mapped);
		assert_int_equal(sites->n, specs[i].n);
		assert_int_equal(sites->size, here->size);
		assert_memory_equal(sites->mem, here->mem, here->size);
		probe_sites_free(sites);
		probe_sites_free(here);
	}
	close(fd);
	write_file(c, program, strlen(program));
	sh("gcc -O1 -I%s/include m.c -o marked", source_top);
	assert_int_equal(find_in(marked, NULL, &sites, &err), 0);
	assert_int_equal(sites->n, 1);
	assert_string_equal(sites->list[0].name, "unit");
	assert_int_equal(sites->list[0].refused, 0);
	probe_sites_free(sites);
	assert_int_equal(find_in(plain, NULL, &sites, &err), 0);
	assert_int_equal(sites->n, 0);
	probe_sites_free(sites);
	write_file(text, "no program\n", 11);
	assert_int_equal(find_in(text, NULL, &sites, &err), -ENOEXEC);
}

/* What one that has been taken over could send. */
static void test_false_probes(void **state)
{
	_cleanup_free_ char *plain = in_scratch("plain");
	int fd = open(plain, O_RDONLY | O_CLOEXEC);
	struct probe_sites *good, *s;
	const size_t at = 2 * sizeof(uint64_t);
	struct error err;

	(void)state;
	assert_int_equal(probe_sites_read(fd, plain, NULL, "x:work", &good, &err), 0);
	close(fd);
	for (int what = 0; what < 9; what++) {
		char *block = xmalloc(good->size);
		struct probe_site *site = (void *)(block + at);
		uint64_t *head = (void *)block;
		size_t size = good->size;

		memcpy(block, good->mem, size);
		switch (what) {
		case 0:
			head[0] = 2; /* more places than it has room for */
			break;
		case 1:
			head[0] = UINT64_MAX / sizeof(*site);
			break;
		case 2:
			head[1]--;
			break;
		case 3:
			site->copy = size;
			break;
		case 4:
			site->code_size = UINT64_MAX;
			break;
		case 5: /* a probe that nothing is compared with */
			site->offset = site->code_offset + site->code_size;
			break;
		case 6:
			site->offset = site->code_offset - 1;
			break;
		case 7:
			site->refused = INT32_MIN;
			break;
		case 8:
			memset(site->name, 'x', sizeof(site->name));
			break;
		}
		s = probe_sites_attach(block, size, false);
		if (s)
			fail_msg("lie %d is believed", what);
	}
	probe_sites_free(good);
}

/* ---- a reader that is killed ---- */

struct opening {
	char *path;
	int result;
	bool done;
	struct error err;
};

static void *open_slow(void *arg)
{
	struct opening *o = arg;
	struct maptable *t = NULL;

	o->result = maptable_make(o->path, o->path, NULL, &t, &o->err);
	maptable_free(t);
	__atomic_store_n(&o->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* In the middle of a file: it is told of in one line, and the next file has another reader. */
static void test_reader_killed(void **state)
{
	_cleanup_free_ char *good = in_scratch("plain"), *log = in_scratch("log"), *said = NULL;
	struct opening o = { .path = in_scratch("slow"), .done = true };
	int reader = 0, err_fd, log_fd, lines = 0;
	struct maptable *t;
	pthread_t thread;

	(void)state;
	if (access("/proc/thread-self/children", R_OK))
		skip();
	sh("{ echo .text; seq -f '.globl a_function_%%.0f' 200000; "
	   "seq -f 'a_function_%%.0f: nop' 200000; } > slow.s && gcc -shared -nostdlib -g "
	   "slow.s -o slow");
	err_fd = dup(2);
	log_fd = open(log, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
	dup2(log_fd, 2);
	/* The nursery's child keeps the one that reads; which may have ended before it was seen. */
	for (int tries = 0; !reader && tries < 50; tries++) {
		o.done = false;
		assert_int_equal(pthread_create(&thread, NULL, open_slow, &o), 0);
		while (!reader && !__atomic_load_n(&o.done, __ATOMIC_ACQUIRE)) {
			int keeper = child_of(child_of(getpid()));

			reader = keeper ? child_of(keeper) : 0;
			if (!reader)
				continue;
			usleep(20000);
			if (kill(reader, SIGKILL))
				reader = 0;
		}
		pthread_join(thread, NULL);
		if (o.result != -EBADMSG)
			reader = 0;
	}
	dup2(err_fd, 2);
	close(err_fd);
	close(log_fd);
	assert_true(reader > 0);
	assert_non_null(strstr(o.err.text, "slow: its reader was killed"));
	said = read_file(log, NULL);
	for (const char *p = said; (p = strchr(p, '\n')); p++)
		lines++;
	assert_int_equal(lines, 1);
	assert_non_null(strstr(said, "slow: its reader was killed"));
	t = open_it(good, NULL);
	assert_true(has_inline(t));
	maptable_free(t);
	assert_int_equal(maptable_make(o.path, "slow", NULL, &t, &o.err), 0);
	maptable_free(t);
	free(o.path);
}

static void *open_good(void *arg)
{
	struct maptable *t = NULL;
	struct error err;

	maptable_make(arg, arg, NULL, &t, &err);
	maptable_free(t);
	return NULL;
}

/* Stopped, it holds up nobody but who waits for a table, and not even that one for good. */
static void test_stopped(void **state)
{
	_cleanup_free_ char *good = in_scratch("plain");
	pthread_t thread;
	int status, pid = child_of(getpid());

	(void)state;
	if (!pid)
		skip();
	assert_false(symbolizer_is_stuck());
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(pthread_create(&thread, NULL, open_good, good), 0);
	while (!symbolizer_is_stuck())
		usleep(10000);
	symbolizer_abandon();
	assert_int_equal(pthread_join(thread, NULL), 0);
	symbolizer_stop();
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	assert_int_equal(kill(pid, 0), -1);
}

static struct unwind_table *open_unwind(const char *path, const char *cache)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct unwind_table *t = NULL;
	struct error err = { 0 };

	if (unwind_table_open(fd, path, cache, &t, &err))
		fail_msg("%s", err.text);
	return t;
}

/* The file that the table of @path is kept in; to be freed. */
static char *kept_unwind(const char *path, const char *cache)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	const struct map_options opt = { .cache_dir = cache };

	return cache_file_name(&opt, fd, "-unwind");
}

/* As this process would have made it; kept, and made again when the file or what is kept changes.
 */
static void test_unwind_tables(void **state)
{
	_cleanup_free_ char *path = in_scratch("frames"), *cache = in_scratch("cache-unwind");
	_cleanup_free_ char *kept = NULL, *bytes = NULL;
	struct unwind_table *t, *own;
	struct error err;
	uint64_t bias;
	size_t n;

	(void)state;
	compile_source("", "frames");
	assert_int_equal(unwind_table_read(open(path, O_RDONLY | O_CLOEXEC), path, &own, &err), 0);
	kept = kept_unwind(path, cache);
	for (int round = 0; round < 3; round++) {
		t = open_unwind(path, round ? cache : NULL);
		assert_true(t->mapped);
		assert_int_equal(t->size, own->size);
		assert_memory_equal(t->mem, own->mem, own->size);
		assert_true(t->h->n_segment);
		assert_true(unwind_table_bias(t, 0x7f0000001000, t->h->segment[0].offset & ~4095ULL,
					      &bias));
		assert_int_equal(bias, 0x7f0000001000 - (t->h->segment[0].vaddr & ~4095ULL));
		assert_false(unwind_table_bias(t, 0x7f0000001000, 1ULL << 40, &bias));
		unwind_table_free(t);
		assert_int_equal(access(kept, F_OK), round ? 0 : -1);
	}
	unwind_table_free(own);
	/* Damaged on the disk, even where it is a table still. */
	bytes = read_file(kept, &n);
	((struct unwind_header *)bytes)->segment[0].vaddr += 4096;
	write_file(kept, bytes, n);
	t = open_unwind(path, cache);
	assert_true(
		unwind_table_bias(t, 0x7f0000001000, t->h->segment[0].offset & ~4095ULL, &bias));
	assert_int_equal(bias, 0x7f0000001000 - (t->h->segment[0].vaddr & ~4095ULL));
	unwind_table_free(t);
	/* Others may write there. */
	assert_int_equal(chmod(kept, 0666), 0);
	assert_null(unwind_table_cached(kept, -1));
	/* The file has changed: it is another name from now on. */
	sh("touch -d @1000000000 frames");
	free(kept);
	kept = kept_unwind(path, cache);
	assert_int_equal(access(kept, F_OK), -1);
	unwind_table_free(open_unwind(path, cache));
	assert_int_equal(access(kept, F_OK), 0);
}

static void test_no_unwind_table(void **state)
{
	_cleanup_free_ char *text = in_scratch("text"), *bare = in_scratch("bare");
	struct unwind_table *t = NULL;
	struct error err = { 0 };
	int fd;

	(void)state;
	write_file(text, "no program\n", 11);
	fd = open(text, O_RDONLY | O_CLOEXEC);
	assert_int_equal(unwind_table_open(fd, "shown-name", NULL, &t, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "shown-name"));
	close(fd);
	sh("echo '.globl _start; _start: nop' | gcc -x assembler -nostdlib -static "
	   "-Wl,--no-ld-generated-unwind-info - -o bare");
	fd = open(bare, O_RDONLY | O_CLOEXEC);
	assert_int_equal(unwind_table_open(fd, "bare", NULL, &t, &err), -ENODATA);
	assert_null(t);
	close(fd);
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_tables),   cmocka_unit_test(test_missing_then_there),
		cmocka_unit_test(test_errors),	      cmocka_unit_test(test_private_files),
		cmocka_unit_test(test_rights),	      cmocka_unit_test(test_amplification),
		cmocka_unit_test(test_short_names),   cmocka_unit_test(test_probes),
		cmocka_unit_test(test_false_probes),  cmocka_unit_test(test_reader_killed),
		cmocka_unit_test(test_unwind_tables), cmocka_unit_test(test_no_unwind_table),
		cmocka_unit_test(test_limits),	      cmocka_unit_test(test_locked_in),
		cmocka_unit_test(test_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	struct error err;

	source_top = getcwd(NULL, 0);

	if (symbolizer_start(&err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	return run_in_scratch(run, true);
}
