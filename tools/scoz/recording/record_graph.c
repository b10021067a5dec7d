// SPDX-License-Identifier: GPL-2.0-or-later
/* Callers as trees, as perf report draws them. */
#include "tools/scoz/recording/record_model.h"
#include "tools/scoz/text.h"

#define MIN_PERCENT 0.5 /* of the whole table; lighter branches are left out */
#define MAX_DEPTH   20	/* branches within branches */
#define MAX_CHAIN   64	/* lines without a branch */

struct graph {
	const struct call_node *calls;
	uint64_t whole;
};

static uint32_t next_heavy(const struct graph *gr, uint32_t node)
{
	while (node && record_percent(gr->calls[node].points, gr->whole) < MIN_PERCENT)
		node = gr->calls[node].sibling;
	return node;
}

static void print_frame(const struct record_frame *f)
{
	_cleanup_free_ char *symbol = text_shown(f->symbol);

	printf("%s%s\n", symbol, f->kind == FRAME_INLINED ? " (inlined)" : "");
}

static void print_branches(const struct graph *gr, uint32_t first, const char *prefix, int depth)
{
	for (uint32_t node = next_heavy(gr, first), next; node; node = next) {
		const struct call_node *c = &gr->calls[node];
		_cleanup_free_ char *percent =
			xasprintf("--%.2f%%--", record_percent(c->points, gr->whole));
		_cleanup_free_ char *below = NULL;
		uint32_t child, last = node;

		next = next_heavy(gr, c->sibling);
		below = xasprintf("%s%s%*s", prefix, next ? "|" : " ", (int)strlen(percent), "");
		printf("%s|\n%s%s%s", prefix, prefix, next ? "|" : " ", percent);
		print_frame(c->frame);
		child = next_heavy(gr, c->child);
		for (int n = 0; child && gr->calls[child].points == c->points; n++) {
			if (n == MAX_CHAIN) {
				printf("%s...\n", below);
				child = 0;
				break;
			}
			fputs(below, stdout);
			print_frame(gr->calls[child].frame);
			last = child;
			child = next_heavy(gr, gr->calls[child].child);
		}
		if (gr->calls[last].cut)
			printf("%s...\n", below);
		if (child && depth < MAX_DEPTH)
			print_branches(gr, child, below, depth + 1);
	}
}

void record_print_graph(const struct record_group *g, const struct record_row *row)
{
	struct graph gr = { g->calls, g->points };

	print_branches(&gr, row->calls, "            ", 0);
	if (next_heavy(&gr, row->calls))
		putchar('\n');
}

void record_print_stack(const struct record_model *m, uint32_t node, const char *prefix,
			size_t limit)
{
	const struct recording *rec = m->rec;
	size_t n = 0, more = 0;

	for (; node != RECORDING_NONE; node = rec->stacks[node].parent) {
		const struct record_frame *f = &rec->frames[rec->stacks[node].frame];
		_cleanup_free_ char *symbol = NULL, *object = NULL, *file = NULL;
		const char *base;

		if (n++ >= limit) {
			more++;
			continue;
		}
		symbol = text_shown(f->symbol);
		object = text_shown(f->object);
		file = f->file ? text_shown(f->file) : NULL;
		base = strrchr(object, '/');
		printf("%s%s", prefix, symbol);
		if (file && f->line)
			printf(" (%s:%u)", file, f->line);
		else if (*object)
			printf(" (%s)", base ? base + 1 : object);
		putchar('\n');
	}
	if (more)
		printf("%s... %zu more\n", prefix, more);
}
