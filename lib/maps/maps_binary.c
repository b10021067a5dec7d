// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The binaries of a `struct maps`.
 *
 * A binary is a file: device and inode as the kernel tells them. Inode numbers are used again soon
 * after a file is deleted (a compiler's output, time after time), so size and modification time
 * are compared too, at most every RECHECK_NS a binary, and the generation that the kernel tells
 * with some mappings; when they differ it is a new binary with a new id. What no process has mapped
 * for a while is forgotten, unless a sample fell into it, or somebody has got at what is told of
 * it: a build maps thousands of files a minute that nobody will ask about. Their ids are given away
 * again, their serial numbers never.
 *
 * Whoever tells of mappings touches no file. What there is to do with files is noted and done by
 * another thread (maps_threads.c): the file is opened soon after it is first seen, since the
 * process may be gone by the time its table is wanted, and stays open until the table is built (up
 * to max_fd files; those that nobody has mapped any more and that no sample fell into go first).
 *
 * Building: whoever finds a binary UNBUILT under build_lock makes it BUILDING, builds without any
 * lock and makes it BUILT; others wait on `built`. After that nothing in `pub` changes, but that
 * the file's generation may become known (maps_file_of()).
 */
#include "elf/table_make.h"
#include "host/process.h"
#include "maps/made_code.h"
#include "maps/maps_internal.h"
#include "table/table.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECHECK_NS     (50 * NSEC_PER_MSEC)
#define SWEEP_NS       NSEC_PER_SEC
#define FORGET_NS      (10 * NSEC_PER_SEC)
#define FEW	       256   /* binaries, of which none need be forgotten */
#define MANY	       16384 /* of which those are forgotten at once that nobody needs */
#define FLOOD_SWEEP_NS (100 * NSEC_PER_MSEC)
#define MADE_KEEP_NS   (10 * NSEC_PER_SEC)
#define CLOCK_READS    5
#define CLOCK_READ_NS  (100 * NSEC_PER_USEC)

/* Without an inode number the path is all there is. */
static uint64_t file_hash(const struct file_id *id, const char *path)
{
	uint64_t h = hash_mix(HASH_START, (uint64_t)id->dev_major << 32 | id->dev_minor);

	return id->ino ? hash_mix(h, id->ino) : hash_text(h, path);
}

static bool same_file(const struct binary *b, const struct seen *seen)
{
	const struct file_id *x = &b->pub.file, *y = &seen->id;

	return x->ino == y->ino && x->dev_major == y->dev_major && x->dev_minor == y->dev_minor &&
	       (!x->generation || !y->generation || x->generation == y->generation) &&
	       (x->ino || !strcmp(b->pub.path, seen->path));
}

/* The newest one of that kind. */
static struct binary *find(const struct maps *m, const struct seen *seen)
{
	uint64_t h = file_hash(&seen->id, seen->path);
	struct binary *found = NULL;
	uint32_t i;

	for (size_t at = 0; (i = hash_index_next(&m->by_file, h, &at)) != HASH_NONE;) {
		if ((!found || m->binary[i]->pub.serial > found->pub.serial) &&
		    same_file(m->binary[i], seen))
			found = m->binary[i];
	}
	return found;
}

static bool in_scope(const struct maps *m, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!m->n_scope)
		return true;
	for (size_t i = 0; i < m->n_scope; i++) {
		if (glob_match(m->scope[i], path) || (slash && glob_match(m->scope[i], slash + 1)))
			return true;
	}
	return false;
}

static size_t count_binaries(const struct maps *m)
{
	return m->n_binary - m->n_free;
}

static struct binary *numbered(const struct maps *m, const struct numbered *n)
{
	struct binary *b = m->binary[n->id];

	return b && b->pub.serial == n->serial ? b : NULL;
}

/* Files come by the hundred thousand where somebody wants it so, and go. */
static void put_in_order(struct maps *m, const struct binary *b)
{
	size_t kept = 0;

	if (m->n_in_order > 2 * count_binaries(m) + FEW) {
		for (size_t i = 0; i < m->n_in_order; i++) {
			if (numbered(m, &m->in_order[i]))
				m->in_order[kept++] = m->in_order[i];
		}
		m->n_in_order = kept;
	}
	array_reserve(m->in_order, m->cap_in_order, m->n_in_order + 1);
	m->in_order[m->n_in_order++] = (struct numbered){ b->pub.serial, b->pub.id };
}

/* The first one that is newer. */
static size_t find_newer(const struct maps *m, uint64_t serial)
{
	size_t lo = 0, hi = m->n_in_order;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (m->in_order[mid].serial <= serial)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct binary *add(struct maps *m, const char *path, const struct file_id *id)
{
	struct binary *b = xcalloc(1, sizeof(*b));

	b->fd = -1;
	b->pub.file = *id;
	b->pub.path = xstrdup(path);
	b->pub.serial = ++m->serial;
	if (m->n_free) {
		b->pub.id = m->free_id[--m->n_free];
	} else {
		array_reserve(m->binary, m->cap_binary, m->n_binary + 1);
		b->pub.id = m->n_binary++;
	}
	m->binary[b->pub.id] = b;
	put_in_order(m, b);
	return b;
}

uint32_t binary_add_kernel(struct maps *m, const char *name, const char *file)
{
	struct file_id none = { 0 };
	struct binary *b;

	pthread_rwlock_wrlock(&m->lock);
	b = add(m, name, &none);
	b->pub.kernel = true;
	b->kernel_file = file ? xstrdup(file) : NULL;
	pthread_rwlock_unlock(&m->lock);
	return b->pub.id;
}

/* It is never found again. */
static void hide(struct maps *m, struct binary *b)
{
	if (b->findable)
		hash_index_remove(&m->by_file, file_hash(&b->pub.file, b->pub.path), b->pub.id);
	b->findable = false;
}

static struct binary *add_file(struct maps *m, int pid, const struct seen *seen)
{
	struct binary *b = add(m, seen->path, &seen->id), *old = find(m, seen);
	uint64_t h = file_hash(&seen->id, seen->path);

	if (old && old->pub.file.generation == seen->id.generation)
		hide(m, old);
	hash_index_add(&m->by_file, h, b->pub.id);
	b->findable = true;
	b->first = (struct sighting){ pid, seen->start, seen->end, seen->id, b->pub.path };
	if (!in_scope(m, seen->path) || !strcmp(seen->path, MAPS_VDSO)) {
		b->out_of_scope = true;
		b->error = xstrdup(strcmp(seen->path, MAPS_VDSO) ? "outside --binary-scope"
								 : "it belongs to the kernel");
		b->pub.outside = !in_scope(m, seen->path);
		b->pub.error = b->error;
		b->state = BUILT;
	}
	return b;
}

uint32_t binary_add_made(struct maps *m, int pid, const char *path, struct made_code *code)
{
	const struct file_id none = { 0 };
	struct binary *b = add(m, path, &none);

	b->pub.made = code;
	b->first.pid = pid;
	b->first.path = b->pub.path;
	b->opened = b->has_identity = true;
	b->out_of_scope = b->pub.outside = !in_scope(m, path);
	b->error = xstrdup(b->pub.outside ? "outside --binary-scope" : "it is in no file");
	b->pub.error = b->error;
	b->state = BUILT;
	binary_is_needed(b);
	return b->pub.id;
}

uint32_t binary_find_or_add(struct maps *m, int pid, const struct seen *seen)
{
	struct binary *b = find(m, seen);
	bool vdso = !strcmp(seen->path, MAPS_VDSO);

	if (!b) {
		b = add_file(m, pid, seen);
		/* Of too many some are opened only if their tables are wanted. */
		b->opened = !vdso && !chores_open(m, b->pub.id);
		b->checked_ns = clock_now_ns();
	} else if (!vdso && b->opened && !b->checking &&
		   clock_now_ns() - b->checked_ns > m->recheck_ns) {
		struct sighting s = { pid, seen->start, seen->end, seen->id, seen->path };

		b->checking = true;
		chores_check(m, b->pub.id, &s);
	}
	if (!b->pub.file.generation && seen->id.generation)
		__atomic_store_n(&b->pub.file.generation, seen->id.generation, __ATOMIC_RELAXED);
	return b->pub.id;
}

/* What was learned by opening the file goes to the binary; the descriptor, too, if it is kept. */
static void adopt(struct maps *m, struct binary *b, struct opened *o, uint64_t began_ns)
{
	b->opened = true;
	b->checked_ns = began_ns;
	if (o->fd < 0 || b->has_identity)
		return;
	b->has_identity = true;
	b->state_then = o->state;
	if (!b->out_of_scope && __atomic_load_n(&b->state, __ATOMIC_RELAXED) == UNBUILT &&
	    m->n_fd < m->max_fd) {
		b->fd = o->fd;
		o->fd = -1;
		m->n_fd++;
	}
}

static bool is_needed(const struct binary *b)
{
	return __atomic_load_n(&b->needed, __ATOMIC_RELAXED);
}

/* By id; whoever is gone is remembered for a while. */
static bool *mapped_binaries(const struct maps *m)
{
	bool *mapped = xcalloc(m->n_binary, sizeof(*mapped));

	for (size_t i = 0; i < m->n_process; i++) {
		const struct space *s = m->process[i]->space;

		for (size_t k = 0; k < s->n; k++)
			mapped[s->v[k].binary] = true;
	}
	return mapped;
}

static void binary_free(struct binary *b)
{
	if (b->fd >= 0)
		close(b->fd);
	maptable_free(b->table);
	made_code_destroy(b->pub.made);
	free(b->error);
	free(b->kernel_file);
	free((char *)b->pub.path);
	free(b);
}

static void forget(struct maps *m, struct binary *b)
{
	hide(m, b);
	m->binary[b->pub.id] = NULL;
	array_reserve(m->free_id, m->cap_free, m->n_free + 1);
	m->free_id[m->n_free++] = b->pub.id;
	binary_free(b);
}

/*
 * Under the write lock: where binaries have become many, forgets those that nobody needs. Where as
 * many files are open as may be, takes theirs; they are the caller's to close.
 */
static int *sweep(struct maps *m, size_t *ret)
{
	uint64_t now = clock_now_ns();
	size_t n_binaries = count_binaries(m);
	bool crowded = n_binaries > 2 * m->n_kept + FEW,
	     flooded = n_binaries > 2 * m->n_kept + MANY;
	_cleanup_free_ bool *mapped = NULL;
	int *fds = NULL;
	size_t n = 0, kept = 0;

	*ret = 0;
	if ((m->n_fd < m->max_fd && !crowded) ||
	    now - m->swept_ns < (flooded ? FLOOD_SWEEP_NS : SWEEP_NS))
		return NULL;
	m->swept_ns = now;
	mapped = mapped_binaries(m);
	fds = xcalloc(m->n_fd, sizeof(*fds));
	for (size_t i = 0; i < m->n_binary; i++) {
		struct binary *b = m->binary[i];

		if (!b)
			continue;
		if (mapped[i] || b->pub.kernel || is_needed(b)) {
			b->unmapped_ns = 0;
			kept++;
			continue;
		}
		if (!b->unmapped_ns)
			b->unmapped_ns = now;
		if (b->fd >= 0) {
			fds[n++] = b->fd;
			b->fd = -1;
			m->n_fd--;
		}
		if (b->opened && !b->checking && (flooded || now - b->unmapped_ns >= m->forget_ns))
			forget(m, b);
	}
	m->n_kept = kept;
	*ret = n;
	return fds;
}

void binary_open(struct maps *m, uint32_t id)
{
	_cleanup_free_ int *unneeded = NULL;
	uint64_t began = clock_now_ns();
	struct sighting first;
	struct binary *b;
	struct opened o;
	size_t n;

	pthread_rwlock_rdlock(&m->lock);
	b = m->binary[id];
	first = b->first;
	pthread_rwlock_unlock(&m->lock);
	sighting_open(&first, &o);
	pthread_rwlock_wrlock(&m->lock);
	unneeded = sweep(m, &n);
	adopt(m, b, &o, began);
	pthread_rwlock_unlock(&m->lock);
	while (n)
		close(unneeded[--n]);
	if (o.fd >= 0)
		close(o.fd);
}

/* When that was, by the clock of events; it may be before that began. */
static int64_t time_of(int64_t real_ns)
{
	struct timespec real;
	uint64_t now;

	/* Both of one moment: in between this thread may have to wait for its CPU. */
	for (int i = 0; i < CLOCK_READS; i++) {
		now = clock_now_ns();
		clock_gettime(CLOCK_REALTIME, &real);
		if (clock_now_ns() - now < CLOCK_READ_NS)
			break;
	}
	return (int64_t)now - (real.tv_sec * (int64_t)NSEC_PER_SEC + real.tv_nsec - real_ns);
}

/*
 * Since when it is as it is @now: not before @looked, when it was not, whatever it says. Who writes
 * a file can give it any time of modification; then that of its last change tells. A file server
 * may have another clock altogether.
 */
static uint64_t since_when(const struct file_state *now, uint64_t looked)
{
	const int64_t told[] = { time_of(now->mtime_ns), time_of(now->ctime_ns) };

	for (size_t i = 0; i < ARRAY_SIZE(told); i++) {
		if (told[i] > (int64_t)looked && told[i] < (int64_t)clock_now_ns())
			return told[i];
	}
	return looked;
}

static bool is_as(const struct binary *b, const struct file_state *now)
{
	return b->state_then.ino == now->ino && b->state_then.size == now->size &&
	       b->state_then.mtime_ns == now->mtime_ns;
}

/* Where generations tell files apart, the one that took the place of @old may be known already. */
static struct binary *find_successor(const struct maps *m, const struct binary *old,
				     const struct seen *seen, const struct file_state *now)
{
	uint64_t h = file_hash(&seen->id, seen->path);
	struct seen any = *seen;
	uint32_t i;

	any.id.generation = 0;
	for (size_t at = 0; (i = hash_index_next(&m->by_file, h, &at)) != HASH_NONE;) {
		struct binary *b = m->binary[i];

		if (b->pub.serial > old->pub.serial && same_file(b, &any) &&
		    (!b->has_identity || is_as(b, now)))
			return b;
	}
	return NULL;
}

/*
 * A path that leads to another inode by now says nothing about this file. Where the file is another
 * by now, so is what was mapped since then.
 */
void binary_check(struct maps *m, uint32_t id, const struct sighting *s)
{
	struct seen seen = { s->start, s->end, 0, s->id, s->path };
	uint64_t began = clock_now_ns(), looked;
	struct binary *b, *successor = NULL;
	uint32_t fresh = NONE_BINARY;
	struct file_state now;
	bool told = sighting_state(s, &now), added = false;

	pthread_rwlock_wrlock(&m->lock);
	b = m->binary[id];
	b->checking = false;
	looked = b->checked_ns;
	b->checked_ns = began;
	if (told && b->has_identity && now.ino == b->state_then.ino && !is_as(b, &now)) {
		successor = find_successor(m, b, &seen, &now);
		added = !successor;
		fresh = added ? add_file(m, s->pid, &seen)->pub.id : successor->pub.id;
	}
	pthread_rwlock_unlock(&m->lock);
	if (fresh == NONE_BINARY)
		return;
	/* First: to open a file forgets others, and @id may be another one's then. */
	maps_reassign(m, id, fresh, since_when(&now, looked));
	if (added)
		binary_open(m, fresh);
}

uint64_t binary_bias(const struct binary *b, const struct mapping *map)
{
	uint64_t page = sysconf(_SC_PAGESIZE), pgoff = map->start - map->shift;
	const struct maptable *t =
		__atomic_load_n(&b->state, __ATOMIC_ACQUIRE) == BUILT ? b->pub.table : NULL;
	const struct table_phdr *best = NULL;

	for (uint32_t i = 0; t && i < t->n_phdr; i++) {
		const struct table_phdr *s = &t->phdr[i];
		uint64_t first = s->offset & ~(page - 1);

		if (pgoff >= first && pgoff - first < s->filesz + (s->offset - first) &&
		    (!best || (s->exec && !best->exec)))
			best = s;
	}
	return best ? map->start - (best->vaddr + (pgoff - best->offset)) : map->shift;
}

uint64_t maps_vaddr(const struct maps_binary *b, uint64_t place)
{
	uint64_t vaddr;

	if (b->kernel || !b->table || !maptable_offset_to_vaddr(b->table, place, &vaddr))
		return place;
	return vaddr;
}

int maps_names_at(const struct maps_binary *b, uint64_t place, struct map_frame *frames, int max)
{
	struct made_function f;

	if (b->made && !b->outside && max > 0 && made_code_find(b->made, place, 0, &f)) {
		frames[0] = (struct map_frame){ f.name, f.file, f.line };
		return 1;
	}
	return b->table ? maptable_lookup(b->table, maps_vaddr(b, place), frames, max) : 0;
}

/* Debug files of a container's binary are looked for in the container first. */
static int container_root(int pid)
{
	int root = process_open(pid, "root");
	struct stat theirs, ours;

	if (root >= 0 && !fstat(root, &theirs) && !stat("/", &ours) &&
	    (theirs.st_dev != ours.st_dev || theirs.st_ino != ours.st_ino))
		return root;
	if (root >= 0)
		close(root);
	return -1;
}

static int take_fd(struct maps *m, struct binary *b)
{
	int fd;

	pthread_rwlock_wrlock(&m->lock);
	fd = b->fd;
	b->fd = -1;
	if (fd >= 0)
		m->n_fd--;
	pthread_rwlock_unlock(&m->lock);
	return fd;
}

static const char *why_not(int errnum)
{
	switch (errnum) {
	case ESTALE:
		return "the file has been replaced or deleted since it was mapped";
	case ETIMEDOUT:
	case EBUSY:
	case EAGAIN:
		return "its process keeps waiting who asks for its files, as it executes a program";
	default:
		return strerror(errnum);
	}
}

static void build_file(struct maps *m, struct binary *b, struct error *err)
{
	_cleanup_close_ int dir = container_root(b->first.pid);
	_cleanup_free_ char *root = dir < 0 ? NULL : maps_path_of(dir);
	_cleanup_close_ int fd = take_fd(m, b);
	struct map_options opt = m->table;

	if (fd < 0) {
		struct opened o;

		sighting_open(&b->first, &o);
		if (o.fd < 0) {
			error_set(err, o.errnum, "%s: cannot be opened: %s", b->pub.path,
				  why_not(o.errnum));
			return;
		}
		fd = o.fd;
	}
	opt.root = root;
	maptable_make_fd(fd, b->pub.path, &opt, &b->table, err);
}

int maps_open_region(struct maps *m, int pid, const struct maps_region *r, char **path)
{
	struct sighting s = { .pid = pid, .start = r->start, .end = r->end };
	struct opened o = { .fd = -1 };
	const struct binary *b;

	*path = NULL;
	pthread_rwlock_rdlock(&m->lock);
	b = m->binary[r->binary];
	if (b && b->pub.serial == r->serial) {
		s.id = b->pub.file;
		s.path = *path = xstrdup(b->pub.path);
		if (b->fd >= 0)
			o.fd = fcntl(b->fd, F_DUPFD_CLOEXEC, 0);
	}
	pthread_rwlock_unlock(&m->lock);
	if (o.fd < 0 && *path && strcmp(*path, MAPS_VDSO) != 0)
		sighting_open(&s, &o);
	return o.fd;
}

static void build_module(struct maps *m, struct binary *b, struct error *err)
{
	struct map_options opt = m->table;

	opt.kernel = true;
	opt.root = *sysroot ? sysroot : NULL;
	maptable_make(b->kernel_file, b->kernel_file, &opt, &b->table, err);
}

static void make_table_of(struct maps *m, struct binary *b)
{
	struct error err = { 0 };

	if (b->pub.kernel && !b->kernel_file)
		maptable_make_kallsyms(&b->table, &err);
	else if (b->pub.kernel)
		build_module(m, b, &err);
	else
		build_file(m, b, &err);
	if (!b->table)
		b->error = xstrdup(err.text);
}

static struct binary *by_id(struct maps *m, uint32_t id)
{
	struct binary *b = NULL;

	pthread_rwlock_rdlock(&m->lock);
	if (id < m->n_binary)
		b = m->binary[id];
	if (b)
		binary_is_needed(b);
	pthread_rwlock_unlock(&m->lock);
	return b;
}

const struct maps_binary *maps_binary_ask(struct maps *m, uint32_t id)
{
	struct binary *b = by_id(m, id);

	if (b && __atomic_load_n(&b->state, __ATOMIC_ACQUIRE) == BUILT)
		return &b->pub;
	if (b)
		chores_build(m, id);
	return NULL;
}

const struct maps_binary *maps_binary_unread(struct maps *m, uint32_t id)
{
	struct binary *b = by_id(m, id);

	return b ? &b->pub : NULL;
}

uint64_t maps_built(struct maps *m)
{
	return __atomic_load_n(&m->n_built, __ATOMIC_ACQUIRE);
}

const struct maps_binary *maps_binary_wait(struct maps *m, uint32_t id)
{
	struct binary *b = by_id(m, id);

	if (!b)
		return NULL;
	if (__atomic_load_n(&b->state, __ATOMIC_ACQUIRE) == BUILT)
		return &b->pub;
	pthread_mutex_lock(&m->build_lock);
	while (b->state == BUILDING)
		pthread_cond_wait(&m->built, &m->build_lock);
	if (b->state == UNBUILT) {
		__atomic_store_n(&b->state, BUILDING, __ATOMIC_RELAXED);
		pthread_mutex_unlock(&m->build_lock);
		make_table_of(m, b);
		pthread_mutex_lock(&m->build_lock);
		b->pub.table = b->table;
		b->pub.error = b->error;
		__atomic_store_n(&b->state, BUILT, __ATOMIC_RELEASE);
		__atomic_add_fetch(&m->n_built, 1, __ATOMIC_RELEASE);
		pthread_cond_broadcast(&m->built);
	}
	pthread_mutex_unlock(&m->build_lock);
	return &b->pub;
}

void maps_rest(struct maps *m)
{
	_cleanup_free_ struct maptable **table = NULL;
	size_t n = 0;

	pthread_rwlock_rdlock(&m->lock);
	table = xcalloc(m->n_binary, sizeof(*table));
	for (size_t i = 0; i < m->n_binary; i++) {
		struct binary *b = m->binary[i];

		/* What is needed stays: it is none that may be forgotten meanwhile. */
		if (b && is_needed(b) && __atomic_load_n(&b->state, __ATOMIC_ACQUIRE) == BUILT &&
		    b->table)
			table[n++] = b->table;
	}
	pthread_rwlock_unlock(&m->lock);
	for (size_t i = 0; i < n; i++)
		maptable_rest(table[i]);
}

const char *maps_binary_path(struct maps *m, uint32_t id)
{
	const struct binary *b = by_id(m, id);

	return b ? b->pub.path : NULL;
}

char *maps_next_file(struct maps *m, uint64_t *serial, uint32_t *id)
{
	const struct binary *next = NULL;
	char *path = NULL;

	pthread_rwlock_rdlock(&m->lock);
	for (size_t i = find_newer(m, *serial); i < m->n_in_order && !next; i++) {
		const struct binary *b = numbered(m, &m->in_order[i]);

		if (b && b->pub.path[0] == '/' && !b->pub.kernel && !b->pub.made)
			next = b;
	}
	*serial = next ? next->pub.serial : m->serial;
	path = next ? xstrdup(next->pub.path) : NULL;
	if (next && id)
		*id = next->pub.id;
	pthread_rwlock_unlock(&m->lock);
	return path;
}

bool maps_binary_is_kernel(struct maps *m, uint32_t id)
{
	bool kernel;

	pthread_rwlock_rdlock(&m->lock);
	kernel = id < m->n_binary && m->binary[id] && m->binary[id]->pub.kernel;
	pthread_rwlock_unlock(&m->lock);
	return kernel;
}

bool maps_binary_is_made(struct maps *m, uint32_t id)
{
	bool made;

	pthread_rwlock_rdlock(&m->lock);
	made = id < m->n_binary && m->binary[id] && m->binary[id]->pub.made;
	pthread_rwlock_unlock(&m->lock);
	return made;
}

uint32_t maps_binary_count(struct maps *m)
{
	uint32_t n;

	pthread_rwlock_rdlock(&m->lock);
	n = m->n_binary;
	pthread_rwlock_unlock(&m->lock);
	return n;
}

void binary_init(struct maps *m)
{
	struct rlimit limit;

	m->forget_ns = FORGET_NS;
	m->recheck_ns = RECHECK_NS;
	m->max_fd = 64;
	if (!getrlimit(RLIMIT_NOFILE, &limit))
		m->max_fd = limit.rlim_cur / 4 > 1024 ? 1024 : limit.rlim_cur / 4;
	m->max_made_fd = m->max_fd / 4;
	m->made_keep_ns = MADE_KEEP_NS;
	binary_add_kernel(m, "[kernel]", NULL);
}

void binary_deinit(struct maps *m)
{
	for (size_t i = 0; i < m->n_binary; i++) {
		if (m->binary[i])
			binary_free(m->binary[i]);
	}
	free(m->binary);
	free(m->in_order);
	free(m->free_id);
	hash_index_deinit(&m->by_file);
}
