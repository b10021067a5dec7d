// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/marked.h"
#include "daemon/members.h"

#include <sys/stat.h>

#define MOST_NS (20 * NSEC_PER_MSEC) /* of one look: the engine goes through all tasks for each */

struct file {
	dev_t dev;
	ino_t ino;
};

struct who {
	int pid;
	bool taken;
};

/* In order of their pids. */
struct crowd {
	struct who *list;
	size_t n, cap;
};

struct marked {
	struct file *binaries; /* by id; zero: not known */
	size_t n_binaries;
	struct file *files;
	size_t n_files, cap_files;
	struct crowd known; /* who had mapped one of them at the last look */
};

struct marked *marked_create(void)
{
	return xcalloc(1, sizeof(struct marked));
}

void marked_destroy(struct marked *m)
{
	if (!m)
		return;
	free(m->binaries);
	free(m->files);
	free(m->known.list);
	free(m);
}

void marked_note_binary(struct marked *m, uint32_t id, dev_t dev, ino_t ino)
{
	if (id >= m->n_binaries) {
		size_t n = 2 * id + 64;

		m->binaries = xreallocarray(m->binaries, n, sizeof(*m->binaries));
		memset(&m->binaries[m->n_binaries], 0, (n - m->n_binaries) * sizeof(*m->binaries));
		m->n_binaries = n;
	}
	m->binaries[id] = (struct file){ dev, ino };
}

static bool has_marks(const struct marked *m, const struct file *file)
{
	for (size_t i = 0; i < m->n_files; i++) {
		if (m->files[i].dev == file->dev && m->files[i].ino == file->ino)
			return true;
	}
	return false;
}

void marked_note_file(struct marked *m, int fd)
{
	struct stat st;
	struct file file;

	if (fstat(fd, &st))
		return;
	file = (struct file){ st.st_dev, st.st_ino };
	if (has_marks(m, &file))
		return;
	array_reserve(m->files, m->cap_files, m->n_files + 1);
	m->files[m->n_files++] = file;
}

static int add_mapping(const struct maps_mapping *mapping, void *arg)
{
	struct crowd *c = arg;

	array_reserve(c->list, c->cap, c->n + 1);
	c->list[c->n++] = (struct who){ .pid = mapping->pid };
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	const struct who *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct crowd who_has_marks(const struct marked *m, struct maps *maps)
{
	struct crowd c = {};
	size_t n = 0;

	for (size_t id = 0; id < m->n_binaries; id++) {
		if (m->binaries[id].ino && has_marks(m, &m->binaries[id]))
			maps_for_each_mapping(maps, id, add_mapping, &c);
	}
	if (c.n)
		qsort(c.list, c.n, sizeof(*c.list), by_pid);
	for (size_t i = 0; i < c.n; i++) {
		if (!n || c.list[n - 1].pid != c.list[i].pid)
			c.list[n++] = c.list[i];
	}
	c.n = n;
	return c;
}

/* False: of a user who does not count. */
static bool take(const struct marks *marks, const struct marked_take *t, int pid)
{
	struct error err = {};
	uid_t uid;

	if (!members_user_of(pid, &uid)) /* it has ended */
		return true;
	if (!marks_user_counts(marks, uid))
		return false;
	if (t->take(pid, t->arg, &err))
		log_debug("%s", err.text);
	return true;
}

void marked_look(struct marked *m, struct maps *maps, const struct marks *marks,
		 const struct marked_take *t, bool again)
{
	uint64_t began = clock_now_ns();
	struct crowd now;
	size_t kept = 0;

	if (!m->n_files)
		return;
	now = who_has_marks(m, maps);
	for (size_t i = 0; i < now.n; i++) {
		const struct who *was = m->known.n
						? bsearch(&now.list[i], m->known.list, m->known.n,
							  sizeof(*m->known.list), by_pid)
						: NULL;

		if (was && (was->taken || !again))
			now.list[i].taken = was->taken;
		else if (clock_now_ns() - began < MOST_NS)
			now.list[i].taken = take(marks, t, now.list[i].pid);
		else
			continue;
		now.list[kept++] = now.list[i];
	}
	now.n = kept;
	free(m->known.list);
	m->known = now;
}
