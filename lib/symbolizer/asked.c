// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolizer/asked.h"
#include "base/hash_index.h"
#include "files/file_open.h"
#include "table/table.h"

#include <sys/mman.h>
#include <unistd.h>

#define MAX_ANSWERS 256

/* An answer and, at the end, what it is to. */
static char *answer_line(const char *path, int fd, const struct stat *st)
{
	if (fd < 0)
		return xasprintf("%d %s", -fd, path);
	return xasprintf("0 %llx %llx %llx %x %lld.%09ld %s", (unsigned long long)st->st_dev,
			 (unsigned long long)st->st_ino, (unsigned long long)st->st_size,
			 st->st_uid, (long long)st->st_ctim.tv_sec, st->st_ctim.tv_nsec, path);
}

/* No path that is opened here is relative. */
static const char *path_of(const char *line)
{
	return strchr(line, '/');
}

void asked_note(struct asked *a, const char *path, int fd, const struct stat *st)
{
	if (a->n >= MAX_ANSWERS || *path != '/' || strchr(path, '\n')) {
		a->lost = true;
		return;
	}
	array_reserve(a->answer, a->cap, a->n + 1);
	a->answer[a->n++] = answer_line(path, fd, st);
}

void asked_free(struct asked *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->answer[i]);
	free(a->answer);
	*a = (struct asked){ 0 };
}

/* Other programs here may look elsewhere. */
static char *file_beside(const char *cache)
{
	return xasprintf("%.*s-asked-%s.map", (int)(strlen(cache) - strlen(".map")), cache,
			 program_invocation_short_name);
}

/* The same work for the same program: one that is built anew may look elsewhere, too. */
static char *first_line(uint64_t work)
{
	struct stat st;

	if (stat("/proc/self/exe", &st))
		return NULL;
	return xasprintf("%llx %llx %llx %lld.%09ld", (unsigned long long)work,
			 (unsigned long long)st.st_dev, (unsigned long long)st.st_ino,
			 (long long)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
}

void asked_keep(const struct asked *a, const char *cache, uint64_t work, uint64_t fingerprint)
{
	_cleanup_free_ char *file = file_beside(cache), *first = first_line(work), *text = NULL;
	size_t size;
	FILE *f;

	if (a->lost || !first)
		return;
	f = open_memstream(&text, &size);
	if (!f)
		return;
	fprintf(f, "%s\n%llx\n", first, (unsigned long long)fingerprint);
	for (size_t i = 0; i < a->n; i++)
		fprintf(f, "%s\n", a->answer[i]);
	fputs("end\n", f);
	if (!fclose(f))
		cache_write(file, text, size);
}

static bool same_answer(const char *line, const char *root, uid_t owner)
{
	_cleanup_free_ char *now = NULL;
	struct stat st;
	int fd;

	if (!path_of(line))
		return false;
	fd = file_open_partner(root, path_of(line), owner, &st);
	now = answer_line(path_of(line), fd, &st);
	if (fd >= 0)
		close(fd);
	return !strcmp(now, line);
}

static char *load(const char *cache)
{
	_cleanup_free_ char *file = file_beside(cache);
	char *text;
	size_t size;
	void *mem = cache_map(file, &size, NULL);

	if (!mem)
		return NULL;
	text = xstrndup(mem, size);
	munmap(mem, size);
	return text;
}

bool asked_before(const char *cache, uint64_t work, const char *root, uid_t owner,
		  uint64_t *fingerprint)
{
	_cleanup_free_ char *text = load(cache), *first = first_line(work);
	char *at = text, *line = strsep(&at, "\n"), *end;

	if (!line || !first || strcmp(line, first) || !(line = strsep(&at, "\n")))
		return false;
	*fingerprint = strtoull(line, &end, 16);
	if (end == line || *end)
		return false;
	while ((line = strsep(&at, "\n")) && strcmp(line, "end")) {
		if (!same_answer(line, root, owner))
			return false;
	}
	return line;
}
