// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/follow.h"
#include "base/cond_wait.h"
#include "base/hash_index.h"
#include "host/process.h"
#include "unwind/unwind_table.h"

#include <elf.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* A process that has just begun maps its libraries one after the other: told once. */
#define SETTLE_US   1000
#define AGAIN_NS    (10 * NSEC_PER_MSEC)  /* until the next look at who is looked at again */
#define BEHIND_NS   (100 * NSEC_PER_MSEC) /* the programs may have been right for so long */
#define PRIORITY    (-20)
#define SWEEP_NS    NSEC_PER_SEC /* between two looks at who has gone */
#define MAX_TRIES   3		 /* to make a table of a file that could not be opened */
#define MAX_REFUSED 50		 /* times that the kernel may have no memory, a list */

/* The machine that the programs know registers of. */
#if defined(__x86_64__)
#define UNWIND_KERNEL_MACHINE EM_X86_64
#else
#define UNWIND_KERNEL_MACHINE EM_NONE
#endif

struct followed {
	int pid;
	bool queued;
	bool waits; /* for tables */
	bool told;  /* all that was mapped when it was queued last */
	bool again; /* soon: it was about to execute, or what is known is behind the programs */
	bool involved;
	uint8_t refused;    /* how often the kernel had no memory for its list */
	uint64_t behind_ns; /* since when it is; 0: it is not */
};

/*
 * What is known of a binary; by its id, which may have been another one's. Only the thread's, but
 * for what unwind_follow_table() reads and says: that changes under the lock.
 */
struct known {
	uint64_t serial;
	bool asked;
	bool mapped; /* by those who are followed, as far as the last look tells */
	uint8_t tries;
	bool told; /* the programs know the file, by `file` */
	struct unwind_file_id file;
	uint64_t size;
	uint32_t generation;
	bool kept;		 /* somebody knows the number: it stays that table's */
	uint32_t number;	 /* of its table in the kernel; 0: none */
	struct unwind_header *h; /* of its table */
};

struct counts {
	uint32_t tables, without;  /* without: files that have none */
	uint64_t bytes;		   /* in the kernel */
	double build_s, publish_s; /* that the thread spent so */
};

struct unwind_follow {
	struct maps *maps;
	struct kernel_tables tables;
	char *cache_dir;

	pthread_mutex_t lock;
	pthread_cond_t more, ended;
	bool stop, runs;
	bool full;	 /* somebody found no place in the list */
	bool some_again; /* of the list */
	uint64_t swept_ns;
	struct followed *list;
	size_t n, cap;
	struct hash_index by_pid;
	int *queue;
	size_t queue_first, n_queue, cap_queue;

	struct known *known;
	size_t n_known;
	uint32_t *untold; /* ids of binaries with a table that the programs do not know by their
			     file */
	size_t n_untold, cap_untold;
	uint64_t dropped_ns; /* when tables were last looked for that nobody needs */
	int build_pid;	     /* whose files are read next; 0: nobody waits */
	bool build_involved;
	struct maps_region build;
	bool makes, makes_involved; /* a table, for whom; under the lock */
	struct counts counts;	    /* under the lock */
};

static struct followed *find(struct unwind_follow *f, int pid)
{
	uint32_t i = hash_index_find_id(&f->by_pid, pid);

	return i == HASH_NONE ? NULL : &f->list[i];
}

/* Under the lock, as all that follows up to the thread. */
static void enqueue(struct unwind_follow *f, struct followed *p)
{
	p->told = false;
	if (p->queued)
		return;
	p->queued = true;
	array_reserve(f->queue, f->cap_queue, f->queue_first + f->n_queue + 1);
	f->queue[f->queue_first + f->n_queue++] = p->pid;
	pthread_cond_signal(&f->more);
}

static void follow(struct unwind_follow *f, int pid, bool involved)
{
	struct followed *p = find(f, pid);

	if (p) {
		p->involved |= involved;
		return;
	}
	if (f->n >= UNWIND_MAX_SPACES) { /* the thread looks who has gone */
		f->full = true;
		pthread_cond_signal(&f->more);
		return;
	}
	array_reserve(f->list, f->cap, f->n + 1);
	hash_index_add_id(&f->by_pid, pid, f->n);
	f->list[f->n++] = (struct followed){ .pid = pid, .involved = involved };
	enqueue(f, &f->list[f->n - 1]);
}

static void forget(struct unwind_follow *f, int pid)
{
	uint32_t i = hash_index_find_id(&f->by_pid, pid);
	struct followed *last;

	if (i == HASH_NONE)
		return;
	last = &f->list[--f->n];
	hash_index_remove_id(&f->by_pid, pid, i);
	if (i != f->n) {
		hash_index_remove_id(&f->by_pid, last->pid, f->n);
		hash_index_add_id(&f->by_pid, last->pid, i);
		f->list[i] = *last;
	}
	kernel_tables_drop_space(&f->tables.maps, pid);
}

void unwind_follow_sampled(struct unwind_follow *f, int pid)
{
	pthread_mutex_lock(&f->lock);
	follow(f, pid, false);
	pthread_mutex_unlock(&f->lock);
}

void unwind_follow_involved(struct unwind_follow *f, int pid)
{
	pthread_mutex_lock(&f->lock);
	follow(f, pid, true);
	pthread_mutex_unlock(&f->lock);
}

bool unwind_follow_busy(struct unwind_follow *f, bool involved_only)
{
	bool busy;

	pthread_mutex_lock(&f->lock);
	busy = f->makes && (f->makes_involved || !involved_only);
	for (size_t i = 0; i < f->n && !busy; i++) {
		const struct followed *p = &f->list[i];

		/* Else who is queued is told in a moment: that programs come and go is no work. */
		busy = (p->waits || (f->makes && !p->told)) && (p->involved || !involved_only);
	}
	pthread_mutex_unlock(&f->lock);
	return busy;
}

void unwind_follow_mapped(struct unwind_follow *f, int pid)
{
	struct followed *p;

	pthread_mutex_lock(&f->lock);
	p = find(f, pid);
	if (p)
		enqueue(f, p);
	pthread_mutex_unlock(&f->lock);
}

void unwind_follow_forked(struct unwind_follow *f, int parent, int child)
{
	struct followed *p;

	pthread_mutex_lock(&f->lock);
	p = parent != child ? find(f, parent) : NULL;
	if (p)
		follow(f, child, p->involved);
	pthread_mutex_unlock(&f->lock);
}

void unwind_follow_execed(struct unwind_follow *f, int pid)
{
	struct followed *p;

	pthread_mutex_lock(&f->lock);
	p = find(f, pid);
	/* What the programs have may be of the new image by now; else it does not fit that. */
	if (p)
		enqueue(f, p);
	pthread_mutex_unlock(&f->lock);
}

void unwind_follow_exited(struct unwind_follow *f, int pid)
{
	struct followed *p;

	pthread_mutex_lock(&f->lock);
	p = find(f, pid);
	kernel_tables_drop_space(&f->tables.maps, pid); /* the programs may have made one */
	/* Else the thread forgets it, having looked at its files: others of its kind may follow. */
	if (!p || !p->queued)
		forget(f, pid);
	pthread_mutex_unlock(&f->lock);
}

double unwind_follow_cut(struct unwind_follow *f)
{
	struct unwind_counts c;
	uint64_t walks = 0;

	if (!kernel_tables_counts(&f->tables.maps, &c))
		return 0;
	for (int i = 0; i < UNWIND_KERNEL_WHYS; i++)
		walks += c.ended[i];
	return walks ? (double)c.ended[UNWIND_NO_RULE] / walks : 0;
}

void unwind_follow_log(struct unwind_follow *follow)
{
	struct counts f;
	struct unwind_counts c;
	uint64_t walks = 0;

	if (!kernel_tables_counts(&follow->tables.maps, &c))
		return;
	pthread_mutex_lock(&follow->lock);
	f = follow->counts;
	pthread_mutex_unlock(&follow->lock);
	for (int i = 0; i < UNWIND_KERNEL_WHYS; i++)
		walks += c.ended[i];
	log_info("%llu call chains were followed by the unwind tables of %u files (%.1f MB; %u "
		 "files "
		 "have none), %llu of them to their end, %llu as far as there is room; %llu by "
		 "frame "
		 "pointers only. No code: %llu, no rule: %llu, no value: %llu, no stack: %llu. "
		 "%llu frames, %llu of them by frame pointers; %.1f us each; %.2f s for tables, "
		 "%.2f s for processes",
		 (unsigned long long)walks, f.tables, f.bytes / 1e6, f.without,
		 (unsigned long long)c.ended[UNWIND_COMPLETE],
		 (unsigned long long)c.ended[UNWIND_FULL], (unsigned long long)c.unknown,
		 (unsigned long long)c.ended[UNWIND_NO_CODE],
		 (unsigned long long)c.ended[UNWIND_NO_RULE],
		 (unsigned long long)c.ended[UNWIND_NO_VALUE],
		 (unsigned long long)c.ended[UNWIND_NO_STACK], (unsigned long long)c.frames,
		 (unsigned long long)c.by_pointer, walks ? c.walked_ns / 1e3 / walks : 0, f.build_s,
		 f.publish_s);
}

/* ---- the thread: tables ---- */

static void drop_table(struct unwind_follow *f, struct known *k)
{
	struct known old;

	pthread_mutex_lock(&f->lock);
	old = *k;
	if (!old.kept)
		*k = (struct known){ .serial = k->serial };
	pthread_mutex_unlock(&f->lock);
	if (old.kept)
		return;
	if (old.told)
		kernel_tables_drop_file(&f->tables, &old.file);
	if (old.number)
		kernel_tables_drop(&f->tables, old.number);
	free(old.h);
}

static struct known *know(struct unwind_follow *f, const struct maps_region *r)
{
	uint32_t binary = r->binary;
	struct known *k;

	if (binary >= f->n_known) {
		size_t n = (binary + 1) * 2;

		pthread_mutex_lock(&f->lock);
		f->known = xreallocarray(f->known, n, sizeof(*f->known));
		memset(f->known + f->n_known, 0, (n - f->n_known) * sizeof(*f->known));
		f->n_known = n;
		pthread_mutex_unlock(&f->lock);
	}
	k = &f->known[binary];
	if (k->serial != r->serial) {
		drop_table(f, k);
		k->serial = r->serial;
	}
	return k;
}

static void note_mapped(struct unwind_follow *f, int pid)
{
	_cleanup_free_ struct maps_region *r = NULL;
	size_t n = maps_regions(f->maps, pid, &r);

	for (size_t i = 0; i < n; i++)
		know(f, &r[i])->mapped = true;
}

static int *followed_pids(struct unwind_follow *f, size_t *n)
{
	int *pids;

	pthread_mutex_lock(&f->lock);
	*n = f->n;
	pids = xcalloc(*n + 1, sizeof(*pids));
	for (size_t i = 0; i < *n; i++)
		pids[i] = f->list[i].pid;
	pthread_mutex_unlock(&f->lock);
	return pids;
}

/* Tables of what nobody who is followed has mapped any more make room for others'. */
static void drop_unmapped(struct unwind_follow *f)
{
	_cleanup_free_ int *pids = NULL;
	size_t n;

	for (size_t i = 0; i < f->n_known; i++)
		f->known[i].mapped = false;
	pids = followed_pids(f, &n);
	for (size_t i = 0; i < n; i++)
		note_mapped(f, pids[i]);
	for (size_t i = 0; i < f->n_known; i++) {
		if (f->known[i].number && !f->known[i].mapped)
			drop_table(f, &f->known[i]);
	}
}

/* False: there is no more than before; not again soon. What is known may lie elsewhere by then. */
static bool make_room(struct unwind_follow *f)
{
	uint64_t before = f->tables.bytes, now = clock_now_ns();

	if (now - f->dropped_ns > SWEEP_NS) {
		drop_unmapped(f);
		f->dropped_ns = now;
	}
	return f->tables.bytes < before;
}

static void keep(struct known *k, const struct unwind_table *t)
{
	k->h = xmalloc(sizeof(*k->h));
	*k->h = *t->h;
}

static void make_table(struct unwind_follow *f, int pid, const struct maps_region *r)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = maps_open_region(f->maps, pid, r, &path);
	struct known *k = know(f, r);
	struct unwind_table *t = NULL;
	struct error err = { 0 };
	struct stat st = { 0 };
	uint32_t number = 0;
	bool vdso;
	int ret;

	if (!path) /* it was forgotten: nobody has it mapped */
		return;
	vdso = !strcmp(path, MAPS_VDSO);
	if (vdso)
		fd = unwind_open_vdso();

	/* Its process may have gone, and memory comes back. */
	k->asked = ++k->tries >= MAX_TRIES;
	if (fd < 0 || fstat(fd, &st))
		ret = error_set(&err, ENOENT, "%s: cannot be opened", path);
	else
		ret = unwind_table_open(fd, path, vdso ? NULL : f->cache_dir, &t, &err);
	if (!ret && t->h->machine == UNWIND_KERNEL_MACHINE)
		ret = kernel_tables_add(&f->tables, t, path, &number, &err);
	if (ret == -E2BIG && make_room(f))
		ret = kernel_tables_add(&f->tables, t, path, &number, &err);
	k = know(f, r);
	k->asked |= fd >= 0 && ret != -ENOMEM;
	if (ret)
		log_debug("%s; its call chains are followed by frame pointers", err.text);
	pthread_mutex_lock(&f->lock);
	k->number = number;
	if (number)
		keep(k, t);
	k->file = (struct unwind_file_id){ file_id_dev(&r->file), r->file.ino };
	k->size = st.st_size;
	k->generation = r->file.generation;
	f->counts.tables += k->number > 0;
	f->counts.without += !k->number;
	f->counts.bytes = f->counts.bytes > f->tables.bytes ? f->counts.bytes : f->tables.bytes;
	pthread_mutex_unlock(&f->lock);
	unwind_table_free(t);
	if (!number || !r->file.ino)
		return;
	array_reserve(f->untold, f->cap_untold, f->n_untold + 1);
	f->untold[f->n_untold++] = r->binary;
}

uint32_t unwind_follow_table(struct unwind_follow *f, uint32_t binary, uint64_t *base)
{
	uint32_t number = 0;

	pthread_mutex_lock(&f->lock);
	if (binary < f->n_known && f->known[binary].number) {
		f->known[binary].kept = true;
		number = f->known[binary].number;
		*base = f->known[binary].h->base;
	}
	pthread_mutex_unlock(&f->lock);
	return number;
}

/* ---- address spaces ---- */

enum image { IMAGE_KNOWN, IMAGE_HIDDEN, IMAGE_NOT_YET, IMAGE_GONE };

/* What tells an image from that of before an exec, and from that of another process. */
static enum image read_image(int pid, uint64_t *start_code, uint64_t *start_stack)
{
	struct process_stat s;

	int ret = process_read_stat(pid, &s);

	if (!ret && process_has_ended(s.state))
		ret = process_read_stat(process_living_thread(pid), &s);
	if (ret)
		return ret == -ESRCH ? IMAGE_GONE : IMAGE_NOT_YET;
	*start_code = s.start_code;
	*start_stack = s.start_stack;
	if (!s.start_code) /* else it has ended, and its parent has not looked yet */
		return process_is_executing(&s) ? IMAGE_NOT_YET : IMAGE_GONE;
	return s.start_code > 1 ? IMAGE_KNOWN : IMAGE_HIDDEN;
}

/*
 * The programs find them in processes that this thread has not heard of yet. Where they cannot be
 * given the tables now, each process is told of its own later.
 */
static void tell_files(struct unwind_follow *f)
{
	int ret = kernel_tables_flush(&f->tables);

	for (size_t i = 0; i < f->n_untold && !ret; i++) {
		struct known *k = &f->known[f->untold[i]];
		const struct unwind_table t = { .h = k->h };

		if (!k->number || k->told)
			continue;
		k->told = true;
		kernel_tables_set_file(&f->tables, &k->file, k->size, k->generation, k->number, &t);
	}
	f->n_untold = 0;
}

static bool add_mapping(struct unwind_follow *f, struct unwind_space *s,
			const struct maps_region *r)
{
	const struct known *k = know(f, r);
	const struct unwind_table t = { .h = k->h };
	struct unwind_mapping m = { .start = r->start, .end = r->end };
	uint64_t zero;

	if (k->number && kernel_tables_zero(&t, r->start, r->pgoff, &zero)) {
		m.zero = zero;
		m.table = k->number;
		m.serial = f->tables.table[k->number].serial;
	}
	s->map[s->n++] = m;
	return m.table;
}

/* A table of one of these is still to be made, which f->build says. */
static bool misses_table(struct unwind_follow *f, int pid, bool involved,
			 const struct maps_region *r, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (know(f, &r[i])->asked)
			continue;
		if (!f->build_pid || (involved && !f->build_involved)) {
			f->build_pid = pid;
			f->build_involved = involved;
			f->build = r[i];
		}
		return true;
	}
	return false;
}

/* What ended so soon may come again: it will find its tables made. */
static void describe_ended(struct unwind_follow *f, int pid, bool involved)
{
	_cleanup_free_ struct maps_region *r = NULL;
	size_t n = maps_last_regions(f->maps, pid, &r);

	misses_table(f, pid, involved, r, n);
}

/* false: a table of it is still to be made, which f->build says. */
static bool describe(struct unwind_follow *f, int pid, bool involved, struct unwind_space *s,
		     bool *useful, enum image *image)
{
	_cleanup_free_ struct maps_region *r = NULL;
	bool found = false, tables = false;
	uint64_t code, stack;
	size_t n;

	*useful = false;
	memset(s, 0, sizeof(*s));
	/* First: what an exec since then has mapped does not go with the old image. */
	*image = read_image(pid, &code, &stack);
	if (*image == IMAGE_GONE)
		describe_ended(f, pid, involved);
	if (*image != IMAGE_KNOWN)
		return true;
	s->start_code = code;
	s->start_stack = stack;
	n = maps_regions(f->maps, pid, &r);
	if (misses_table(f, pid, involved, r, n))
		return false;
	if (n > UNWIND_MAX_MAPPINGS) {
		log_debug("process %d has %zu executable mappings, more than %d: its call chains "
			  "are followed by frame pointers",
			  pid, n, UNWIND_MAX_MAPPINGS);
		return true;
	}
	for (size_t i = 0; i < n; i++) {
		tables |= add_mapping(f, s, &r[i]);
		found |= s->start_code >= r[i].start && s->start_code < r[i].end;
	}
	for (size_t i = n; i <= UNWIND_MAX_MAPPINGS; i++)
		s->map[i].start = UNWIND_NOWHERE;
	*useful = found && tables;
	return true;
}

/* The kernel may have no memory for it just now. */
static void set_space(struct unwind_follow *f, struct followed *p, const struct unwind_space *s,
		      int flushed)
{
	int ret = flushed ? flushed : kernel_tables_set_space(&f->tables, p->pid, s);

	if (!ret) {
		p->refused = 0;
	} else if (++p->refused < MAX_REFUSED) {
		enqueue(f, p);
	} else {
		log_debug("call chains of process %d are followed by frame pointers: %s", p->pid,
			  strerror(-ret));
		p->refused = 0;
	}
}

/* Its records come late: what the programs have learned by then stays, for a while. */
static bool is_behind(struct unwind_follow *f, struct followed *p, const struct unwind_space *s)
{
	uint64_t now = clock_now_ns();

	if (!kernel_tables_know_more(&f->tables, p->pid, s))
		p->behind_ns = 0;
	else if (!p->behind_ns)
		p->behind_ns = now;
	return p->behind_ns && now - p->behind_ns < BEHIND_NS;
}

static void publish(struct unwind_follow *f, int pid, bool involved)
{
	static __thread struct unwind_space s;
	uint64_t began = clock_now_ns();
	struct followed *p;
	enum image image;
	int flushed = 0;
	bool behind = false, useful, complete = describe(f, pid, involved, &s, &useful, &image);

	if (useful) /* it refers to tables */
		flushed = kernel_tables_flush(&f->tables);
	pthread_mutex_lock(&f->lock);
	p = find(f, pid);
	if (p) {
		p->waits = !complete;
		p->told = complete && !p->queued;
		behind = complete && image == IMAGE_KNOWN && is_behind(f, p, &s);
		p->again = behind || image == IMAGE_NOT_YET;
		f->some_again |= p->again;
	}
	f->makes = f->build_pid;
	f->makes_involved = f->build_involved;
	/* Its last records may be read after that of its end, from other cores' rings. */
	if (p && image == IMAGE_GONE && !p->queued)
		forget(f, pid);
	else if (p && useful && !p->queued && !behind)
		set_space(f, p, &s, flushed);
	else if (p && complete && !useful && !behind)
		kernel_tables_drop_space(&f->tables.maps, pid);
	f->counts.publish_s += (clock_now_ns() - began) / 1e9;
	pthread_mutex_unlock(&f->lock);
}

/* ---- the thread ---- */

/*
 * Under the lock. Who is about to execute is looked at again: a program without libraries maps
 * nothing more that would have it told. So is he of whom the programs knew more.
 */
static void await_more(struct unwind_follow *f)
{
	if (!f->some_again) {
		pthread_cond_wait(&f->more, &f->lock);
		return;
	}
	cond_wait_until(&f->more, &f->lock, clock_now_ns() + AGAIN_NS);
	f->some_again = false;
	for (size_t i = 0; i < f->n; i++) {
		if (f->list[i].again)
			enqueue(f, &f->list[i]);
	}
}

/* Under the lock. */
static int take(struct unwind_follow *f, bool *involved)
{
	struct followed *p;
	int pid;

	while (f->n_queue) {
		pid = f->queue[f->queue_first++];
		if (!--f->n_queue)
			f->queue_first = 0;
		p = find(f, pid);
		if (p) {
			p->queued = false;
			*involved = p->involved;
			return pid;
		}
	}
	return 0;
}

static void forget_who_has_gone(struct unwind_follow *f)
{
	uint64_t code, stack;
	size_t n;
	_cleanup_free_ int *pids = followed_pids(f, &n);

	for (size_t i = 0; i < n; i++) {
		if (read_image(pids[i], &code, &stack) == IMAGE_GONE)
			unwind_follow_exited(f, pids[i]);
	}
	pthread_mutex_lock(&f->lock);
	if (f->n >= UNWIND_MAX_SPACES && !f->swept_ns)
		log_warn("more than %d processes are profiled: call chains of the others are "
			 "followed by frame pointers",
			 UNWIND_MAX_SPACES);
	f->full = false;
	f->swept_ns = clock_now_ns();
	pthread_mutex_unlock(&f->lock);
}

/* Those who wait may wait for this one, or for another. */
static void make_next_table(struct unwind_follow *f)
{
	uint64_t began = clock_now_ns();

	if (kernel_tables_count(&f->tables) >= UNWIND_MAX_TABLES / 2)
		make_room(f);
	make_table(f, f->build_pid, &f->build);
	f->build_pid = 0;
	pthread_mutex_lock(&f->lock);
	f->makes = false;
	f->counts.build_s += (clock_now_ns() - began) / 1e9;
	for (size_t i = 0; i < f->n; i++) {
		if (f->list[i].waits)
			enqueue(f, &f->list[i]);
	}
	pthread_mutex_unlock(&f->lock);
}

static void *follow_main(void *arg)
{
	struct unwind_follow *f = arg;
	bool involved;
	int pid;

	pthread_setname_np(pthread_self(), "scoz/unwind");
	/* Who reads rings must not wait for its lock until it had its turn among a hundred. */
	if (setpriority(PRIO_PROCESS, 0, PRIORITY))
		log_debug("priority of the thread for unwind tables: %s", strerror(errno));
	pthread_mutex_lock(&f->lock);
	while (!f->stop) {
		if (f->full && clock_now_ns() - f->swept_ns > SWEEP_NS) {
			pthread_mutex_unlock(&f->lock);
			forget_who_has_gone(f);
			pthread_mutex_lock(&f->lock);
		}
		pid = take(f, &involved);
		if (!pid && !f->build_pid && f->n_untold) {
			pthread_mutex_unlock(&f->lock);
			tell_files(f);
			pthread_mutex_lock(&f->lock);
			continue;
		}
		if (!pid && !f->build_pid) {
			await_more(f);
			pthread_mutex_unlock(&f->lock);
			usleep(SETTLE_US);
			pthread_mutex_lock(&f->lock);
			continue;
		}
		pthread_mutex_unlock(&f->lock);
		if (pid)
			publish(f, pid, involved);
		else
			make_next_table(f);
		pthread_mutex_lock(&f->lock);
	}
	f->runs = false;
	pthread_cond_broadcast(&f->ended);
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

static void destroy(struct unwind_follow *f)
{
	for (size_t i = 0; i < f->n_known; i++)
		free(f->known[i].h);
	free(f->known);
	free(f->untold);
	kernel_tables_deinit(&f->tables);
	free(f->list);
	hash_index_deinit(&f->by_pid);
	free(f->queue);
	free(f->cache_dir);
	pthread_mutex_destroy(&f->lock);
	pthread_cond_destroy(&f->more);
	pthread_cond_destroy(&f->ended);
	free(f);
}

int unwind_follow_start(struct maps *maps, const struct unwind_maps *to, const char *cache_dir,
			struct unwind_follow **ret, struct error *err)
{
	struct unwind_follow *f = xcalloc(1, sizeof(*f));
	pthread_t thread;
	int r;

	f->maps = maps;
	f->tables.maps = *to;
	f->cache_dir = cache_dir ? xstrdup(cache_dir) : NULL;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->more, NULL);
	pthread_cond_init(&f->ended, NULL);
	f->runs = true;
	r = pthread_create(&thread, NULL, follow_main, f);
	if (r) {
		destroy(f);
		return error_set(err, r, "starting a thread: %s", strerror(r));
	}
	pthread_detach(thread);
	*ret = f;
	return 0;
}

bool unwind_follow_stop(struct unwind_follow *f, double seconds)
{
	uint64_t end = clock_now_ns() + (uint64_t)(seconds * NSEC_PER_SEC);
	bool done;

	if (!f)
		return true;
	pthread_mutex_lock(&f->lock);
	f->stop = true;
	pthread_cond_broadcast(&f->more);
	while (f->runs && cond_wait_until(&f->ended, &f->lock, end))
		;
	done = !f->runs;
	pthread_mutex_unlock(&f->lock);
	if (done)
		destroy(f);
	return done;
}
