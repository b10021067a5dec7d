// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/causal/mpi_view.h"
#include "progress/point.h"
#include "tools/scoz/text.h"

#define MPI_CALLS_SHOWN	  3
#define MPI_LEAST_SAMPLES 100 /* of the ranks together, outside of MPI */

/* "MPI_Recv" for "func:PMPI_Recv@libmpi.so.40"; false: no such call. */
static bool mpi_call_of(const struct profile_sample *s, struct mpi_call *ret)
{
	const char *file = strrchr(s->binary, '/'), *name;
	size_t n;

	file = file ? file + 1 : s->binary;
	/* Not the interface for Fortran, which calls the one for C. */
	if (strncmp(file, "libmpi.so", 9) != 0 && strncmp(file, "libmpich.so", 11) != 0)
		return false;
	name = target_name_in(s->target, TARGET_FUNCTION, &n);
	if (!name)
		return false;
	if (*name == 'P') {
		name++;
		n--;
	}
	*ret = (struct mpi_call){ .name = name, .length = n };
	return !strncmp(name, "MPI_", 4);
}

static bool mpi_same_call(const struct mpi_call *a, const struct mpi_call *b)
{
	return a->length == b->length && !memcmp(a->name, b->name, a->length);
}

static void mpi_add(struct mpi_rank *r, const struct mpi_call *call, uint64_t samples)
{
	size_t i = 0;

	while (i < r->n_calls && !mpi_same_call(&r->calls[i], call))
		i++;
	if (i == r->n_calls) {
		r->calls = xreallocarray(r->calls, i + 1, sizeof(*r->calls));
		r->calls[r->n_calls++] = *call;
	}
	r->calls[i].samples += samples;
	r->in_mpi += samples;
}

static int mpi_most_first(const void *pa, const void *pb)
{
	const struct mpi_call *a = pa, *b = pb;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return strcmp(a->name, b->name);
}

static void mpi_add_process(const struct profile *p, const struct profile_process *q,
			    struct mpi_rank *r)
{
	r->samples += q->samples;
	r->polled += q->polled;
	for (size_t i = 0; i < q->n_places; i++) {
		struct mpi_call call;

		if (mpi_call_of(&p->samples[q->places[i].sample], &call) && q->places[i].total)
			mpi_add(r, &call, q->places[i].total);
	}
	if (r->n_calls)
		qsort(r->calls, r->n_calls, sizeof(*r->calls), mpi_most_first);
	/* One call may have called another. */
	if (r->in_mpi > r->samples)
		r->in_mpi = r->samples;
	if (r->polled > r->in_mpi)
		r->polled = r->in_mpi;
}

void mpi_of_process(const struct profile *p, const struct profile_process *q, struct mpi_rank *ret)
{
	*ret = (struct mpi_rank){ .rank = q->rank };
	mpi_add_process(p, q, ret);
}

static int mpi_in_order(const void *pa, const void *pb)
{
	const struct mpi_rank *a = pa, *b = pb;

	return (a->rank > b->rank) - (a->rank < b->rank);
}

void mpi_view_create(const struct profile *p, struct mpi_view *ret)
{
	bool calls = false;
	size_t cap = 0;

	*ret = (struct mpi_view){ .n = 0 };
	for (size_t i = 0; i < p->n_processes; i++) {
		const struct profile_process *q = &p->processes[i];
		size_t k = 0;

		if (q->rank < 0)
			continue;
		while (k < ret->n && ret->ranks[k].rank != q->rank)
			k++;
		if (k == ret->n) {
			array_reserve(ret->ranks, cap, ret->n + 1);
			ret->ranks[ret->n++] = (struct mpi_rank){ .rank = q->rank };
		}
		mpi_add_process(p, q, &ret->ranks[k]);
		calls |= ret->ranks[k].n_calls > 0;
	}
	if (!calls)
		mpi_view_deinit(ret);
	else
		qsort(ret->ranks, ret->n, sizeof(*ret->ranks), mpi_in_order);
}

void mpi_rank_deinit(struct mpi_rank *r)
{
	free(r->calls);
}

void mpi_view_deinit(struct mpi_view *v)
{
	for (size_t i = 0; i < v->n; i++)
		mpi_rank_deinit(&v->ranks[i]);
	free(v->ranks);
	*v = (struct mpi_view){ .n = 0 };
}

double mpi_imbalance_pct(const struct mpi_view *v, const struct mpi_rank **longest)
{
	uint64_t sum = 0, most = 0;

	*longest = NULL;
	for (size_t i = 0; i < v->n; i++) {
		uint64_t computes = v->ranks[i].samples - v->ranks[i].in_mpi;

		sum += computes;
		if (!*longest || computes > most) {
			most = computes;
			*longest = &v->ranks[i];
		}
	}
	return v->n < 2 || sum < MPI_LEAST_SAMPLES ? -1 : 100.0 * most * v->n / sum - 100;
}

/* ---- as text ---- */

/* The calls that take most, "MPI_Allreduce 60.1 %, MPI_Bcast 3.0 %". */
static char *mpi_calls_text(const struct mpi_rank *r)
{
	char *text = xstrdup("");

	for (size_t i = 0; i < r->n_calls && i < MPI_CALLS_SHOWN; i++) {
		const struct mpi_call *c = &r->calls[i];
		char *longer = xasprintf("%s%s%.*s %.1f %%", text, i ? ", " : "", c->length,
					 c->name, r->samples ? 100.0 * c->samples / r->samples : 0);

		free(text);
		text = longer;
	}
	return text;
}

/* Of nobody: it may not have been looked for (by an older scozd, by engine kernel). */
static bool mpi_polling_known(const struct mpi_view *v)
{
	for (size_t i = 0; i < v->n; i++) {
		if (v->ranks[i].polled)
			return true;
	}
	return false;
}

void mpi_view_print(const struct profile *p)
{
	const struct mpi_rank *longest;
	struct mpi_view v;
	struct table t;
	double imbalance;
	char **cell;

	mpi_view_create(p, &v);
	if (!v.n)
		return;
	printf("\nMPI (%% of the samples of each rank)\n");
	table_init_heads(&t, ">  RANK|>SAMPLES|>IN MPI|>POLLING|MOST OF IT IN");
	for (size_t i = 0; i < v.n; i++) {
		const struct mpi_rank *r = &v.ranks[i];
		_cleanup_free_ char *calls = mpi_calls_text(r);

		cell = table_row(&t);
		cell[0] = xasprintf("%d", r->rank);
		cell[1] = xasprintf("%llu", (unsigned long long)r->samples);
		cell[2] = xasprintf("%.1f %%", r->samples ? 100.0 * r->in_mpi / r->samples : 0.0);
		cell[3] = mpi_polling_known(&v) && r->samples
				  ? xasprintf("%.1f %%", 100.0 * r->polled / r->samples)
				  : xstrdup("-");
		cell[4] = text_shown(calls);
	}
	table_print(&t);
	imbalance = mpi_imbalance_pct(&v, &longest);
	if (imbalance >= 0)
		printf("  Outside of MPI rank %d runs longest, %.0f %% longer than ranks do on "
		       "average\n",
		       longest->rank, imbalance);
	mpi_view_deinit(&v);
}
