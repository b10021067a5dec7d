// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/locations.h"

#include "base/hash_index.h"
#include "maps/made_name.h"

#include <pthread.h>

struct interned {
	struct location location;
	struct location_site *sites;
	size_t n_sites, cap_sites;
};

struct locations {
	const struct options *opt;
	pthread_mutex_t lock;
	struct hash_index index; /* by target */
	struct interned **list;
	size_t n, cap;
};

struct locations *locations_create(const struct options *opt)
{
	struct locations *l = xcalloc(1, sizeof(*l));

	l->opt = opt;
	pthread_mutex_init(&l->lock, NULL);
	return l;
}

static void entry_free(struct interned *e)
{
	free(e->location.target);
	free(e->location.where);
	free(e->location.function);
	free(e->sites);
	free(e);
}

void locations_destroy(struct locations *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n; i++)
		entry_free(l->list[i]);
	hash_index_deinit(&l->index);
	free(l->list);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

static bool same_target(const void *items, uint32_t number, const void *target)
{
	return !strcmp(((struct interned *const *)items)[number]->location.target, target);
}

static bool in_source_scope(const struct options *opt, const char *file)
{
	if (!opt->n_source_scope)
		return true;
	for (size_t i = 0; file && i < opt->n_source_scope; i++) {
		_cleanup_free_ char *anywhere = xasprintf("*/%s", opt->source_scope[i]);

		if (glob_match(opt->source_scope[i], file) || glob_match(anywhere, file))
			return true;
	}
	return false;
}

/* What a person would type; long build paths keep their last two parts. */
const char *location_short_path(const char *path)
{
	const char *p = path + strlen(path);
	int slashes = 0;

	if (path[0] != '/')
		return !strncmp(path, "./", 2) ? path + 2 : path;
	while (p > path && slashes < 3) {
		p--;
		slashes += *p == '/';
	}
	return p + 1;
}

/*
 * Lines are for whoever can change them: libraries of the system are seen by function; and of code
 * that is made while the program runs nobody tells all places of a line.
 */
static bool by_line(const struct locations *l, const struct maps_binary *binary,
		    const struct map_frame *frame, enum code_origin origin)
{
	return frame->file && frame->line && !binary->made &&
	       l->opt->granularity != GRANULARITY_FUNCTION &&
	       (origin != CODE_LIBRARY || l->opt->granularity == GRANULARITY_LINE ||
		l->opt->n_source_scope);
}

char *location_function_target(const char *function, const char *path, bool made, bool kernel)
{
	if (made) /* in whichever process: its number would be another one next time */
		return target_compose(TARGET_FUNCTION, made_name_plain(function), NULL);
	return kernel ? target_compose(TARGET_KERNEL, function, NULL)
		      : target_compose(TARGET_FUNCTION, function, path_base(path));
}

static char *function_target(const struct maps_binary *binary, const struct map_frame *frame)
{
	return location_function_target(frame->function, binary->path, binary->made,
					binary->kernel);
}

char *locations_binary_target(const char *path)
{
	return target_compose(TARGET_BINARY, path_base(path), NULL);
}

static void describe(struct locations *l, const struct maps_binary *binary,
		     const struct map_frame *frame, enum code_origin origin, struct location *ret)
{
	ret->binary = binary->path;
	ret->where = frame->file ? xasprintf("%s:%u", location_short_path(frame->file), frame->line)
				 : xstrdup("");
	if (by_line(l, binary, frame, origin)) {
		ret->kind = TARGET_LINE;
		ret->target = xstrdup(ret->where);
		if (frame->function[0] != '[')
			ret->function = function_target(binary, frame);
	} else {
		ret->kind = binary->kernel ? TARGET_KERNEL : TARGET_FUNCTION;
		ret->target = function_target(binary, frame);
	}
}

/* A line is known by its file, everything else by its function. */
static void add_site(struct interned *e, uint32_t binary, const struct map_frame *frame)
{
	bool line = e->location.kind == TARGET_LINE;

	for (size_t i = 0; i < e->n_sites; i++) {
		const struct location_site *s = &e->sites[i];

		if (s->binary == binary &&
		    !strcmp(line ? s->file : s->function, line ? frame->file : frame->function))
			return;
	}
	array_reserve(e->sites, e->cap_sites, e->n_sites + 1);
	e->sites[e->n_sites++] =
		(struct location_site){ binary, frame->line, frame->file, frame->function };
}

uint32_t locations_intern(struct locations *l, const struct maps_binary *binary,
			  const struct map_frame *frame, uint8_t *origin)
{
	struct interned *e;
	uint64_t hash;
	uint32_t id;

	if (!in_source_scope(l->opt, frame->file))
		*origin = CODE_OUTSIDE;
	/* What lies in the scope is what the user means, whoever wrote it. */
	else if (l->opt->n_source_scope && *origin < CODE_PASSING)
		*origin = CODE_OWN;
	if (*origin == CODE_OUTSIDE || *origin == CODE_UNKNOWN)
		return LOCATION_NONE;
	if (frame->function[0] == '[' && !by_line(l, binary, frame, *origin))
		return LOCATION_NONE;
	if (l->opt->granularity == GRANULARITY_LINE && !by_line(l, binary, frame, *origin))
		return LOCATION_NONE;
	e = xcalloc(1, sizeof(*e));
	describe(l, binary, frame, *origin, &e->location);
	hash = hash_chosen(HASH_START, e->location.target);
	pthread_mutex_lock(&l->lock);
	id = hash_index_find(&l->index, hash, same_target, l->list, e->location.target);
	if (id == HASH_NONE) {
		id = l->n;
		array_reserve(l->list, l->cap, l->n + 1);
		l->list[l->n++] = e;
		hash_index_add(&l->index, hash, id);
		e = NULL;
	}
	add_site(l->list[id], binary->id, frame);
	pthread_mutex_unlock(&l->lock);
	if (e)
		entry_free(e);
	return id;
}

uint32_t locations_count(struct locations *l)
{
	uint32_t n;

	pthread_mutex_lock(&l->lock);
	n = l->n;
	pthread_mutex_unlock(&l->lock);
	return n;
}

const struct location *locations_get(struct locations *l, uint32_t id)
{
	const struct location *ret;

	pthread_mutex_lock(&l->lock);
	ret = &l->list[id]->location;
	pthread_mutex_unlock(&l->lock);
	return ret;
}

size_t locations_sites(struct locations *l, uint32_t id, struct location_site **ret)
{
	const struct interned *e;
	size_t n;

	pthread_mutex_lock(&l->lock);
	e = l->list[id];
	n = e->n_sites;
	*ret = xcalloc(n, sizeof(**ret));
	memcpy(*ret, e->sites, n * sizeof(**ret));
	pthread_mutex_unlock(&l->lock);
	return n;
}
