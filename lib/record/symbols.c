// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/symbols.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/hash_index.h"
#include "host/kallsyms.h"
#include "maps/made_code.h"
#include "record/call_check.h"
#include "record/futex.h"
#include "record/wait_kinds.h"

#define MAX_NAMES 127
#define SCHEDULER_NEAR \
	24	      /* within so many frames of a waiting thread's chain the scheduler lies \
		       */
#define FUTEX_NAMES 8 /* functions between futex() and the program's own, inlined ones included */
#define CACHE_LIMIT (1u << 20)

/* What an address in a binary means; the frames are innermost first, inlined ones included. */
struct place {
	uint32_t binary;
	uint64_t place; /* as maps_place_of() tells it */
	bool return_address;
	uint8_t n;
	/* While the program runs; it is known of what that had told by then, for these times. */
	struct made_code *made;
	uint32_t version;
	uint64_t since, until;
	uint32_t frames[MAP_MAX_INLINE];
	/* Of a return address: what the call before it says. */
	enum code_call call;
	bool framed, asked_frame; /* has it made itself a frame by then? */
	uint64_t target;
	const char *function; /* the out-of-line one; NULL unknown */
};

struct symbols {
	struct maps *maps;
	struct symbols_sink sink;
	struct record_frame *frames;
	struct wait_rules *rules; /* by frame: of the kernel, and what comes of its inlined calls */
	uint8_t *futex_names;	  /* by frame: enum futex_name */
	size_t n_frames, cap_frames, cap_rules, cap_names;
	struct record_stack *stacks;
	bool *broken; /* by stack */
	size_t n_stacks, cap_stacks, cap_broken;
	struct place *places;
	size_t n_places, cap_places;
	struct hash_index frame_index, stack_index, place_index;
	struct code *code;
	bool hurry, pending;
	bool unread;	  /* places of binaries without a table yet */
	uint64_t built;	  /* maps_built() at the first of them */
	uint32_t missing; /* the frame that says so; RECORDING_NONE: not told yet */
};

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_frame(const void *frames, uint32_t i, const void *key)
{
	const struct record_frame *a = (const struct record_frame *)frames + i, *b = key;

	return a->kind == b->kind && a->line == b->line && same_text(a->symbol, b->symbol) &&
	       same_text(a->object, b->object) && same_text(a->file, b->file);
}

static bool same_stack(const void *stacks, uint32_t i, const void *key)
{
	const struct record_stack *a = (const struct record_stack *)stacks + i, *b = key;

	return a->frame == b->frame && a->parent == b->parent;
}

static bool same_place(const void *places, uint32_t i, const void *key)
{
	const struct place *a = (const struct place *)places + i, *b = key;

	return a->place == b->place && a->binary == b->binary &&
	       a->return_address == b->return_address;
}

static uint32_t intern_frame(struct symbols *s, const struct record_frame *f)
{
	uint64_t h =
		hash_chosen(hash_chosen(hash_chosen(HASH_START, f->symbol), f->object), f->file);
	uint32_t found;

	h = hash_mix(h, (uint64_t)f->line << 8 | f->kind);
	found = hash_index_find(&s->frame_index, h, same_frame, s->frames, f);
	if (found != HASH_NONE)
		return found;
	hash_index_add(&s->frame_index, h, s->n_frames);
	array_reserve(s->frames, s->cap_frames, s->n_frames + 1);
	array_reserve(s->rules, s->cap_rules, s->n_frames + 1);
	array_reserve(s->futex_names, s->cap_names, s->n_frames + 1);
	s->frames[s->n_frames] = *f;
	s->futex_names[s->n_frames] =
		f->kind == FRAME_KERNEL ? FUTEX_NAME_SILENT : record_futex_name(f->symbol);
	if (f->kind == FRAME_KERNEL || f->kind == FRAME_INLINED)
		s->rules[s->n_frames] = record_wait_rules(f->symbol);
	s->sink.frame(s->n_frames, f, s->sink.arg);
	return s->n_frames++;
}

static uint32_t intern_stack(struct symbols *s, uint32_t frame, uint32_t parent)
{
	const struct record_stack key = { frame, parent };
	uint64_t h = hash_mix(hash_mix(HASH_START, frame), parent);
	uint32_t found = hash_index_find(&s->stack_index, h, same_stack, s->stacks, &key);

	if (found != HASH_NONE)
		return found;
	hash_index_add(&s->stack_index, h, s->n_stacks);
	array_reserve(s->stacks, s->cap_stacks, s->n_stacks + 1);
	array_reserve(s->broken, s->cap_broken, s->n_stacks + 1);
	s->stacks[s->n_stacks] = key;
	s->broken[s->n_stacks] = s->frames[frame].kind == FRAME_MISSING ||
				 (parent != RECORDING_NONE && s->broken[parent]);
	s->sink.stack(s->n_stacks, &s->stacks[s->n_stacks], s->sink.arg);
	return s->n_stacks++;
}

static uint32_t unknown_frame(struct symbols *s, const char *object, uint64_t address, bool kernel)
{
	const struct record_frame f = { .symbol = "[unknown]",
					.object = object,
					.address = address,
					.kind = kernel ? FRAME_KERNEL : FRAME_USER };

	return intern_frame(s, &f);
}

/* What the process had made, seen at @time; names in it outlive it. */
static void fill_made(struct symbols *s, struct place *p, const struct maps_binary *b,
		      uint64_t time)
{
	uint64_t address = p->place - p->return_address;
	struct record_frame f = { .object = b->path, .address = address, .kind = FRAME_USER };
	struct made_function made;
	bool known;

	*p = (struct place){ .binary = p->binary,
			     .place = p->place,
			     .return_address = p->return_address,
			     .made = b->made,
			     .version = made_code_version(b->made),
			     .until = UINT64_MAX,
			     .n = 1 };
	known = !b->outside && made_code_find(b->made, address, time, &made);
	if (!b->outside) {
		p->since = made.since;
		p->until = made.until;
	}
	if (!known) {
		p->frames[0] = unknown_frame(s, b->path, address, false);
		return;
	}
	p->function = f.symbol = made.name;
	f.file = made.file;
	f.line = made.line;
	p->frames[0] = intern_frame(s, &f);
}

static void fill_place(struct symbols *s, struct place *p, int pid, uint64_t time)
{
	const struct maps_binary *b = maps_binary_ask(s->maps, p->binary), *unread;
	uint64_t look_at = p->place - p->return_address;
	struct map_frame frames[MAP_MAX_INLINE];
	struct record_frame f = {};
	int n = 0;

	if (b && b->made) {
		fill_made(s, p, b, time);
		return;
	}
	if (b) {
		n = maps_names_at(b, look_at, frames, MAP_MAX_INLINE);
		look_at = maps_vaddr(b, look_at);
	}
	unread = b ? b : maps_binary_unread(s->maps, p->binary);
	f.object = unread && unread->path ? unread->path : "";
	f.address = look_at;
	for (int i = 0; i < n; i++) {
		f.symbol = frames[i].function;
		f.file = frames[i].file;
		f.line = frames[i].line;
		f.kind = i < n - 1 ? FRAME_INLINED : b->kernel ? FRAME_KERNEL : FRAME_USER;
		p->frames[p->n++] = intern_frame(s, &f);
	}
	if (!n)
		p->frames[p->n++] = unknown_frame(s, f.object, f.address, unread && unread->kernel);
	else
		p->function = frames[n - 1].function;
	if (p->return_address && b && b->table && !b->kernel)
		p->call = code_call_before(s->code, b, pid, look_at + 1, &p->target);
}

/* Is its table there, or not waited for? */
static bool is_ready(struct symbols *s, uint32_t binary)
{
	if (maps_binary_ask(s->maps, binary))
		return true;
	if (!s->hurry) {
		s->pending = true;
		return false;
	}
	if (!s->unread)
		s->built = maps_built(s->maps);
	s->unread = true;
	return true;
}

/* May it be code that was made a moment ago, whose name has not been read yet? */
static bool may_be_news(struct symbols *s, const struct place *p)
{
	const struct maps_binary *b;

	if (p->function)
		return false;
	b = maps_binary_ask(s->maps, p->binary);
	/* A file that is no program is memory, to whoever runs code there. */
	return b && !b->kernel && !b->outside && !b->table && strcmp(b->path, MAPS_VDSO) != 0;
}

/* Where it lay in memory at @time, what was known of it then or is by now may not count. */
static const struct place *look_again(struct symbols *s, struct place *p, uint64_t time)
{
	if (p->version == made_code_version(p->made) && time >= p->since && time < p->until)
		return p;
	fill_made(s, p, maps_binary_ask(s->maps, p->binary), time);
	return p;
}

/* NULL: its table is not there yet. @time: when it was seen. */
static const struct place *find_place(struct symbols *s, int pid, uint64_t time, uint32_t binary,
				      uint64_t at_place, bool return_address)
{
	const struct place key = { .binary = binary,
				   .place = at_place,
				   .return_address = return_address };
	uint64_t h = hash_mix(hash_mix(hash_mix(HASH_START, return_address), binary), at_place);
	uint32_t found = hash_index_find(&s->place_index, h, same_place, s->places, &key);
	struct place *p;

	if (found != HASH_NONE && s->places[found].made)
		return look_again(s, &s->places[found], time);
	if (found != HASH_NONE)
		return &s->places[found];
	if (!is_ready(s, binary))
		return NULL;
	hash_index_add(&s->place_index, h, s->n_places);
	array_reserve(s->places, s->cap_places, s->n_places + 1);
	p = &s->places[s->n_places];
	*p = key;
	fill_place(s, p, pid, time);
	return &s->places[s->n_places++];
}

/* Places hold no references to each other, so the cache may simply be emptied. */
static void limit_cache(struct symbols *s)
{
	if (s->n_places < CACHE_LIMIT && !(s->unread && maps_built(s->maps) != s->built))
		return;
	s->unread = false;
	s->n_places = 0;
	hash_index_clear(&s->place_index);
}

static uint32_t special_frame(struct symbols *s, const char *symbol, enum record_frame_kind kind)
{
	const struct record_frame f = { .symbol = symbol, .object = "", .kind = kind };

	return intern_frame(s, &f);
}

static uint32_t missing_frame(struct symbols *s)
{
	if (s->missing == RECORDING_NONE)
		s->missing = special_frame(s, "[missing frames]", FRAME_MISSING);
	return s->missing;
}

/* The first function of a thread, where its chain may end. */
static bool is_outermost(const char *function)
{
	static const char *const names[] = {
		"_start",  "__libc_start_main", "start_thread",	  "clone",    "clone3",
		"__clone", "_dl_start",		"_dl_start_user", "__clone3", "ret_from_fork"
	};

	if (!function)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(function, names[i]))
			return true;
	}
	return !strncmp(function, "__libc_start_", 13) || !strncmp(function, "__GI___clone", 12) ||
	       !strncmp(function, "_dl_start", 9);
}

/* Does the function that called before return address @p keep its caller's frame pointer? */
static bool has_frame(struct symbols *s, int pid, struct place *p)
{
	const struct maps_binary *b = maps_binary_ask(s->maps, p->binary);
	struct map_frame frames[MAP_MAX_INLINE];
	uint64_t begins;
	int n;

	if (p->asked_frame || !p->return_address || !p->function || !b || !b->table || b->kernel)
		return p->framed;
	p->asked_frame = true;
	if (!code_frame_before(s->code, b, pid, maps_vaddr(b, p->place - 1) + 1, &begins))
		return false;
	n = maptable_lookup(b->table, begins, frames, MAP_MAX_INLINE);
	return p->framed = n && same_text(frames[n - 1].function, p->function);
}

/* Does the call before return address @caller lead into the function of @callee? */
static bool leads_to(struct symbols *s, const struct place *caller, const struct place *callee)
{
	const struct maps_binary *b;
	struct map_frame frames[MAP_MAX_INLINE];
	int n;

	if (caller->call == CODE_UNKNOWN || caller->call == CODE_INDIRECT)
		return true;
	if (caller->call == CODE_NO_CALL)
		return false;
	b = maps_binary_ask(s->maps, caller->binary); /* as there is a call */
	n = maptable_lookup(b->table, caller->target, frames, MAP_MAX_INLINE);
	/* Stubs that jump on to other binaries belong to no function. */
	if (!n || code_is_stub(s->code, caller->binary, caller->target))
		return callee->binary != caller->binary || !callee->function;
	return callee->binary == caller->binary &&
	       same_text(frames[n - 1].function, callee->function);
}

/* What is still to be told about where a sample was, while others go on. */
struct symbols_later {
	struct nameless {
		struct maps_made_place made;
		size_t at; /* of frames */
		bool caller;
	} * place;
	size_t n_places, cap_places;
	size_t n;
	uint32_t *frames;
};

/*
 * The name of what lies at @address, frame @at of @later, may be read soon. Of callers only what is
 * told anyway is waited for: not what comes seldom, nor whether the process will tell something,
 * but where the sample waits for that by itself.
 */
static void await_name(struct symbols *s, const struct raw_chain *c, uint64_t address, size_t at,
		       struct symbols_later **later)
{
	struct maps_made_place made = { .pid = c->pid, .time = c->time, .address = address };
	bool awaited = maps_name_awaited(s->maps, &made);
	struct symbols_later *l = *later;

	if (at ? !awaited || (made.binary == UINT32_MAX && !l) : !awaited && !made.late)
		return;
	if (!l)
		l = *later = xcalloc(1, sizeof(*l));
	array_reserve(l->place, l->cap_places, l->n_places + 1);
	l->place[l->n_places++] = (struct nameless){ made, at, at > 0 };
}

static bool by_pointer(const struct raw_chain *c, size_t i)
{
	return c->how == RECORD_CHAIN_POINTERS || c->pointed[i >> 6 & 1] >> (i & 63) & 1;
}

/* The user's frames, outermost last, into @list. */
static size_t user_frames(struct symbols *s, const struct raw_chain *c, uint32_t *list,
			  struct symbols_later **later)
{
	bool exact = true; /* no return address */
	struct place inner = {};
	size_t inner_at = 0;
	size_t n = 0;

	for (size_t i = 0; i < c->n_user; i++) {
		const struct place *p;
		uint64_t place;
		uint32_t binary;

		if (c->user[i] == RECORD_EXACT_USER && c->how != RECORD_CHAIN_POINTERS) {
			exact = true;
			inner = (struct place){}; /* nothing has called it */
			continue;
		}
		if ((int64_t)c->user[i] < 0) { /* the kernel's half: it was no frame pointer */
			inner.function = NULL;
			break;
		}
		if (!maps_place_of(s->maps, c->pid, c->user[i], &binary, &place)) {
			await_name(s, c, c->user[i], n, later);
			list[n++] = special_frame(s, "[unknown]", FRAME_USER);
			inner = (struct place){};
			exact = false;
			continue;
		}
		p = find_place(s, c->pid, c->time, binary, place, !exact);
		exact = false;
		if (!p)
			continue; /* all that are missing are asked for at once */
		if (may_be_news(s, p))
			await_name(s, c, c->user[i], n, later);
		/* To code that is made one comes by way of trampolines. */
		if (by_pointer(c, i) && inner.n && !inner.made && !leads_to(s, p, &inner) &&
		    (p->call != CODE_DIRECT || !has_frame(s, c->pid, &s->places[inner_at])))
			list[n++] = missing_frame(s);
		for (int j = 0; j < p->n; j++)
			list[n++] = p->frames[j];
		inner = *p;
		inner_at = p - s->places;
	}
	if (c->n_user && c->how != RECORD_CHAIN_WHOLE && !is_outermost(inner.function))
		list[n++] = missing_frame(s);
	return n;
}

static bool in_scheduler(uint64_t address)
{
	const struct kernel_addresses *a = kernel_addresses();

	return address - 1 >= a->sched_text_start && address - 1 < a->sched_text_end;
}

/* Returns where the chain of a waiting thread begins: at the scheduler, and behind it. */
static size_t skip_scheduler(const struct raw_chain *c, size_t *scheduler)
{
	size_t i = 0;

	while (i < c->n_kernel && i < SCHEDULER_NEAR && !in_scheduler(c->kernel[i]))
		i++;
	if (i == c->n_kernel || i == SCHEDULER_NEAR) {
		*scheduler = 0;
		return 0;
	}
	*scheduler = i;
	while (i < c->n_kernel && in_scheduler(c->kernel[i]))
		i++;
	return i < c->n_kernel ? i : *scheduler;
}

static size_t kernel_frames(struct symbols *s, const struct raw_chain *c, uint32_t *list,
			    enum record_class *class, const char **kind)
{
	struct wait_rules rules[MAX_NAMES];
	size_t n = 0, n_rules = 0, scheduler = 0, first = 0;

	if (c->waited)
		first = skip_scheduler(c, &scheduler);
	for (size_t i = scheduler; i < c->n_kernel; i++) {
		const struct place *p;
		uint64_t place;
		uint32_t binary;

		if (!maps_place_of(s->maps, c->pid, c->kernel[i], &binary, &place))
			continue;
		p = find_place(s, c->pid, c->time, binary, place, c->waited || i > 0);
		if (!p)
			continue;
		for (int j = 0; j < p->n; j++) {
			if (i >= first)
				list[n++] = p->frames[j];
			if (n_rules < MAX_NAMES)
				rules[n_rules++] = s->rules[p->frames[j]];
		}
	}
	*kind = c->waited ? record_wait_kind_of(rules, n_rules, class) : NULL;
	return n;
}

/* Of the functions nearest to the wait, the innermost one whose name says something. */
static enum futex_name futex_name_of(const struct symbols *s, const uint32_t *list, size_t n)
{
	for (size_t i = 0; i < n && i < FUTEX_NAMES; i++) {
		if (s->futex_names[list[i]] != FUTEX_NAME_SILENT)
			return s->futex_names[list[i]];
	}
	return FUTEX_NAME_SILENT;
}

static uint32_t stack_of(struct symbols *s, const uint32_t *list, size_t n, bool *broken)
{
	uint32_t stack = RECORDING_NONE;

	while (n)
		stack = intern_stack(s, list[--n], stack);
	*broken = stack != RECORDING_NONE && s->broken[stack];
	return stack;
}

struct resolved symbols_resolve(struct symbols *s, const struct raw_chain *c,
				enum record_class *class)
{
	/* Each address: its inlined calls and a mark that something is missing. */
	uint32_t list[(c->n_kernel + c->n_user + 1) * (MAP_MAX_INLINE + 1)];
	struct resolved r = { .stack = RECORDING_NONE };
	size_t n, user;

	limit_cache(s);
	s->pending = false;
	n = kernel_frames(s, c, list, class, &r.kind);
	user = user_frames(s, c, list + n, &r.later);
	if (s->pending) {
		symbols_later_free(r.later);
		return (struct resolved){ .stack = RECORDING_NONE, .pending = true };
	}
	r.names = futex_name_of(s, list + n, user);
	if (r.later) {
		for (size_t i = 0; i < r.later->n_places; i++)
			r.later->place[i].at += n;
		r.later->n = n + user;
		r.later->frames = xcalloc(n + user, sizeof(*list));
		memcpy(r.later->frames, list, (n + user) * sizeof(*list));
		return r;
	}
	r.stack = stack_of(s, list, n + user, &r.broken);
	return r;
}

/* What is there, by now; false: still nobody knows. */
static bool name_again(struct symbols *s, const struct nameless *it, uint32_t *frame)
{
	const struct maps_made_place *made = &it->made;
	struct place p = { .place = made->address,
			   .binary = made->binary,
			   .return_address = it->caller };
	const struct maps_binary *b =
		made->binary == UINT32_MAX ? NULL : maps_binary_ask(s->maps, made->binary);

	if (!b || !b->made)
		return false;
	fill_made(s, &p, b, made->time);
	*frame = p.frames[0];
	return p.function != NULL;
}

enum symbols_settled symbols_settle(struct symbols *s, struct symbols_later *later, bool now,
				    uint32_t *stack, bool *broken)
{
	bool late = false;

	for (size_t i = 0; i < later->n_places && !now; i++) {
		if (maps_name_awaited(s->maps, &later->place[i].made))
			return SYMBOLS_AWAITED;
	}
	for (size_t i = 0; i < later->n_places; i++) {
		struct nameless *it = &later->place[i];

		if (!name_again(s, it, &later->frames[it->at]) && it->made.late && !it->caller &&
		    !now) {
			it->made.wanted = clock_now_ns();
			late = true;
		}
	}
	if (late)
		return SYMBOLS_LATE;
	*stack = stack_of(s, later->frames, later->n, broken);
	return SYMBOLS_SETTLED;
}

void symbols_later_free(struct symbols_later *later)
{
	if (later) {
		free(later->place);
		free(later->frames);
	}
	free(later);
}

void symbols_hurry(struct symbols *s, bool hurry)
{
	s->hurry = hurry;
}

const struct record_frame *symbols_frame(const struct symbols *s, uint32_t id)
{
	return id < s->n_frames ? &s->frames[id] : NULL;
}

const struct record_stack *symbols_stack(const struct symbols *s, uint32_t id)
{
	return id < s->n_stacks ? &s->stacks[id] : NULL;
}

struct symbols *symbols_create(struct maps *maps, const struct symbols_sink *sink)
{
	struct symbols *s = xcalloc(1, sizeof(*s));

	s->maps = maps;
	s->sink = *sink;
	s->code = code_create();
	s->missing = RECORDING_NONE;
	return s;
}

void symbols_destroy(struct symbols *s)
{
	if (!s)
		return;
	code_destroy(s->code);
	free(s->frames);
	free(s->rules);
	free(s->futex_names);
	free(s->stacks);
	free(s->broken);
	free(s->places);
	hash_index_deinit(&s->frame_index);
	hash_index_deinit(&s->stack_index);
	hash_index_deinit(&s->place_index);
	free(s);
}
