// SPDX-License-Identifier: GPL-2.0-or-later
#include "experiment.h"
#include "heatmap.h"
#include "replay.h"
#include "variate.h"
#include "shrink.h"
#include "summary.h"

#include "base/base.h"

#include <getopt.h>
#include <math.h>

#define MAX_CONFIGS 16
#define MAX_MODELS  256

static const char usage[] =
	"usage: sim errors [OPTION...]    error of each model program\n"
	"       sim graphs [OPTION...]    error of random task graphs\n"
	"       sim coverage [OPTION...]  how many intervals of short profiles hold the truth\n"
	"       sim windows [OPTION...]   what short windows change\n"
	"       sim replay [OPTION...]    what replay of one recording says: models, or with -n "
	"graphs\n"
	"       sim variate [OPTION...]   would replay make intervals of experiments narrower?\n"
	"       sim cpus [OPTION...]      what a recording says of more cores: models, or graphs\n"
	"       sim cores [OPTION...]     cost and error against the number of cores\n"
	"  -c WORDS    a way of profiling, repeatable: wait|core [exclude] [period=USEC|auto]\n"
	"              [batch=N] [engine=bpf|kernel] [cost=NS] [latency=NS] [seed=N]\n"
	"              [steal=PCT] [idle-too] [late=PCT] [jump=FACTOR] [common=PCT] "
	"[heartbeat=MS]\n"
	"              [hogs=PCT] [strangers] [foul] [no-waits] [no-devices] [no-servers]\n"
	"              [no-exchange] [no-spread] [seen] [max-stop=USEC]\n"
	"              [irregular=PCT] [nominal=USEC]\n"
	"  -s PCT,...  speedups (25,50,100)\n"
	"  -t SECONDS  simulated for each figure (20)\n"
	"  -x SCALE    length of everything the programs do (1)\n"
	"  -n N        graphs: how many, from -f; coverage: profiles of each program\n"
	"  -f SEED     graphs: the first\n"
	"  -o          graphs: more tasks than cores\n"
	"  -u          replay: it is not known what programs spin for\n"
	"  -k          replay: threads of the kernel are not recorded\n"
	"  -q          replay: requests to devices are the target, and nothing else\n"
	"  -i          sleeps and requests are the target, too\n"
	"  -y          who spins for a lock before the target is in it already (a system call)\n"
	"  -j          requests are made by a thread of the kernel, and are the target\n"
	"  -w MS/MS,... settling time and length of windows; auto\n"
	"  -C N        cpus: programs have N cores instead of their own\n"
	"  -m PART     only programs whose name contains PART; ^PART: does not\n"
	"  -g N[:RUN/SLEEP]  N strangers beside each program, which run and sleep (ms; 1/0)\n"
	"  -d PCT      coverage: by how much the machine's speed varies (0)\n"
	"  -p POINTS   coverage: profiles end at this precision\n"
	"  -r          coverage: intervals as in reports, and what they consist of\n"
	"  -S FILE     errors, graphs: also as a picture (SVG)\n"
	"  -l          errors, graphs: how often a core paid what was inserted, at most\n"
	"  -e POINTS   exit status 1 if some error is larger (and print the program)\n"
	"  -v          print the programs\n";

struct settings {
	struct sim_config config[MAX_CONFIGS];
	int n_configs;
	double speedup[SUMMARY_SPEEDUPS];
	int n_speedups;
	double seconds, scale;
	int n;
	uint64_t first;
	bool crowded, unnamed, no_kernel, requests, verbose, ledger, report, waits, journal, calls;
	const char *only, *svg;
	double limit, drift, precision;
	int strangers, cores;
	int64_t stranger_run, stranger_sleep;
	struct {
		double settle_s, length_s;
	} window[MAX_CONFIGS];
	int n_windows;
};

static void add_config(struct settings *s, const char *text)
{
	if (s->n_configs == MAX_CONFIGS || !config_parse(text, &s->config[s->n_configs++])) {
		fprintf(stderr, "sim: cannot use -c \"%s\"\n%s", text, usage);
		exit(2);
	}
}

static void parse_speedups(struct settings *s, char *text)
{
	char *save = NULL;

	s->n_speedups = 0;
	for (char *w = strtok_r(text, ",", &save); w && s->n_speedups < SUMMARY_SPEEDUPS;
	     w = strtok_r(NULL, ",", &save))
		s->speedup[s->n_speedups++] = atof(w) / 100;
}

static void parse_windows(struct settings *s, char *text)
{
	char *save = NULL;

	for (char *w = strtok_r(text, ",", &save); w && s->n_windows < MAX_CONFIGS;
	     w = strtok_r(NULL, ",", &save)) {
		double settle, length;

		if (!strcmp(w, "auto")) {
			s->n_windows++;
			continue;
		}
		if (sscanf(w, "%lf/%lf", &settle, &length) != 2)
			exit(2);
		s->window[s->n_windows].settle_s = settle / 1e3;
		s->window[s->n_windows++].length_s = length / 1e3;
	}
}

static void parse_strangers(struct settings *s, const char *text)
{
	double run = 1, sleep = 0;

	if (sscanf(text, "%d:%lf/%lf", &s->strangers, &run, &sleep) < 1 || run <= 0 || sleep < 0) {
		fprintf(stderr, "sim: cannot use -g \"%s\"\n%s", text, usage);
		exit(2);
	}
	s->stranger_run = run * SIM_MS;
	s->stranger_sleep = sleep * SIM_MS;
}

static void parse(int argc, char **argv, struct settings *s)
{
	int opt;

	*s = (struct settings){
		.speedup = { .25, .5, 1 }, .n_speedups = 3, .seconds = 20, .scale = 1, .first = 1
	};
	while ((opt = getopt(argc, argv, "c:s:t:x:n:f:g:m:e:w:d:p:C:S:ijkloqruvy")) != -1) {
		switch (opt) {
		case 'C':
			s->cores = atoi(optarg);
			break;
		case 'c':
			add_config(s, optarg);
			break;
		case 's':
			parse_speedups(s, optarg);
			break;
		case 't':
			s->seconds = atof(optarg);
			break;
		case 'x':
			s->scale = atof(optarg);
			break;
		case 'n':
			s->n = atoi(optarg);
			break;
		case 'f':
			s->first = strtoull(optarg, NULL, 10);
			break;
		case 'g':
			parse_strangers(s, optarg);
			break;
		case 'm':
			s->only = optarg;
			break;
		case 'e':
			s->limit = atof(optarg);
			break;
		case 'w':
			parse_windows(s, optarg);
			break;
		case 'S':
			s->svg = optarg;
			break;
		case 'd':
			s->drift = atof(optarg) / 100;
			break;
		case 'p':
			s->precision = atof(optarg);
			break;
		case 'i':
			s->waits = true;
			break;
		case 'y':
			s->calls = true;
			break;
		case 'j':
			s->journal = true;
			break;
		case 'u':
			s->unnamed = true;
			break;
		case 'k':
			s->no_kernel = true;
			break;
		case 'q':
			s->requests = true;
			break;
		case 'o':
			s->crowded = true;
			break;
		case 'l':
			s->ledger = true;
			break;
		case 'r':
			s->report = true;
			break;
		case 'v':
			s->verbose = true;
			break;
		default:
			fputs(usage, stderr);
			exit(2);
		}
	}
}

/* ---- errors ---- */

/* On average over the cores. */
static double times_paid(const struct sim_program *p, const struct sim_ledger *l)
{
	return l->own > 0 ? (double)l->stopped / l->own / p->cores : 0;
}

/* What is left of a program when everything is left out that the error does not need. */
static void print_minimal(const struct settings *s, const struct sim_program *p,
			  const struct sim_result *r)
{
	for (int i = 0; i < s->n_speedups * s->n_configs; i++) {
		const struct sim_config *c = &s->config[i % s->n_configs];
		double speedup = s->speedup[i / s->n_configs];
		struct sim_program *small;

		if (r[i].stuck || r[i].coarse || fabs(r[i].predicted - r[i].truth) <= s->limit)
			continue;
		small = shrink(p, c, speedup, s->seconds, s->limit);
		printf("at %.0f %% with \"%s\" still wrong by more than %g points:\n",
		       100 * speedup, c->text, s->limit);
		program_print(small);
		program_free(small);
		return;
	}
	program_print(p);
}

/* Returns the number of programs that are out of bounds. */
static int study_programs(const struct settings *s, struct sim_program **programs, int n)
{
	int per = s->n_speedups * s->n_configs, bad = 0;
	_cleanup_free_ struct sim_result *r = xcalloc((size_t)n * per, sizeof(*r));
	struct sim_summary sum[MAX_CONFIGS] = {};

#pragma omp parallel for schedule(dynamic)
	for (int i = 0; i < n * per; i++)
		r[i] = study(programs[i / per], &s->config[i % s->n_configs],
			     s->speedup[i % per / s->n_configs], s->seconds);

	for (int c = 0; c < s->n_configs; c++)
		printf("# %d: %s\n", c + 1, s->config[c].text);
	printf("%-24s %4s %6s", "program", "s", "truth");
	for (int c = 0; c < s->n_configs; c++)
		printf("  %8s %5s", "error", "us");
	printf("\n");
	for (int i = 0; i < n; i++) {
		bool off = false;

		for (int k = 0; k < s->n_speedups; k++) {
			const struct sim_result *row = &r[i * per + k * s->n_configs];

			printf("%-24s %4.0f %6.1f", programs[i]->name, 100 * s->speedup[k],
			       row->truth);
			for (int c = 0; c < s->n_configs; c++) {
				double error = row[c].predicted - row[c].truth;

				if (row[c].stuck) {
					printf("  %8s      ", "stuck");
					off = true;
					continue;
				}
				printf("  %+8.2f %4.0f%c", error, row[c].period / 1e3,
				       row[c].coarse ? '!' : ' ');
				sum[c].paid =
					fmax(sum[c].paid, times_paid(programs[i], &row[c].ledger));
				if (s->ledger)
					printf(" %5.2f", times_paid(programs[i], &row[c].ledger));
				if (programs[i]->unmendable || row[c].coarse)
					continue;
				summary_note(&sum[c], k, error);
				off |= s->limit > 0 && fabs(error) > s->limit;
			}
			printf("%s\n", programs[i]->unmendable ? "  (not counted)" : "");
		}
		if (s->verbose)
			program_print(programs[i]);
		if (off)
			print_minimal(s, programs[i], &r[i * per]);
		bad += off;
	}
	summaries_print(sum, s->n_configs, s->speedup, s->n_speedups, s->ledger);
	for (int c = 0; c < s->n_configs; c++)
		summary_free(&sum[c]);
	if (s->svg && heatmap_write(s->svg, programs, n, s->config, s->n_configs, s->speedup,
				    s->n_speedups, r))
		fprintf(stderr, "sim: cannot write %s: %m\n", s->svg);
	return bad;
}

static bool is_wanted(const struct settings *s, const struct sim_program *p)
{
	const char *part = s->only ?: "";

	return *part == '^' ? !strstr(p->name, part + 1) : !!strstr(p->name, part);
}

static int models(const struct settings *s, struct sim_program **p)
{
	int n = 0;

	for (int i = 0; i < MAX_MODELS && (p[n] = model_create(i, s->scale)); i++) {
		if (!is_wanted(s, p[n])) {
			program_free(p[n]);
			continue;
		}
		if (s->waits)
			program_target_waits(p[n]);
		if (s->calls)
			program_target_calls(p[n]);
		if (s->journal)
			program_commit_requests(p[n]);
		program_add_strangers(p[n++], s->strangers, s->stranger_run, s->stranger_sleep);
	}
	return n;
}

static int errors(const struct settings *s)
{
	struct sim_program *p[MAX_MODELS];
	int n = models(s, p), bad = study_programs(s, p, n);

	while (n--)
		program_free(p[n]);
	return bad > 0;
}

static int graphs(const struct settings *s)
{
	int n = s->n ? s->n : 60, bad;
	struct sim_program **p = xcalloc(n, sizeof(*p));

	for (int i = 0; i < n; i++)
		p[i] = graph_create(s->first + i, s->crowded, s->scale);
	for (int i = 0; s->waits && i < n; i++)
		program_target_waits(p[i]);
	for (int i = 0; s->journal && i < n; i++)
		program_commit_requests(p[i]);
	bad = study_programs(s, p, n);
	for (int i = 0; i < n; i++)
		program_free(p[i]);
	free(p);
	return bad > 0;
}

/* ---- many cores ---- */

static int cores(const struct settings *s)
{
	static const int numbers[] = { 1, 2, 4, 16, 48, 96, 256, 1024 };
	static const char *const shapes[] = { "one-hot", "all-hot" };
	int n = ARRAY_SIZE(numbers) * ARRAY_SIZE(shapes);
	_cleanup_free_ struct sim_result *r = xcalloc((size_t)n * s->n_configs, sizeof(*r));

#pragma omp parallel for schedule(dynamic)
	for (int i = n * s->n_configs - 1; i >= 0; i--) {
		int number = numbers[i / s->n_configs % ARRAY_SIZE(numbers)];
		struct sim_program *p = model_wide(shapes[i / s->n_configs / ARRAY_SIZE(numbers)],
						   number, s->scale);

		r[i] = study(p, &s->config[i % s->n_configs], s->speedup[0],
			     fmin(s->seconds, 100.0 / number));
		program_free(p);
	}
	for (int c = 0; c < s->n_configs; c++) {
		printf("# %s, speedup %.0f %%\n", s->config[c].text, 100 * s->speedup[0]);
		printf("%-8s %6s %7s %7s %9s %10s %10s %12s %8s\n", "program", "cores", "truth",
		       "error", "slowdown", "period us", "hits/s", "looks/s/core", "waived");
		for (int i = 0; i < n; i++) {
			const struct sim_result *x = &r[i * s->n_configs + c];
			int number = numbers[i % ARRAY_SIZE(numbers)];

			printf("%-8s %6d %7.1f %+7.2f %9.2f %10.0f %10.0f %12.0f %7.0f%%\n",
			       shapes[i / ARRAY_SIZE(numbers)], number, x->truth,
			       x->predicted - x->truth, x->slowdown, x->period / 1e3,
			       x->ledger.hits / x->seconds / 1.1,
			       x->ledger.waiver_looks / x->seconds / 1.1 / number,
			       x->ledger.own ? 100.0 * x->ledger.waived / x->ledger.own : 0);
		}
	}
	return 0;
}

/* ---- profiles in windows ---- */

static struct sim_options options_for(const struct sim_program *p, const struct sim_config *c)
{
	struct sim_options o = c->o;
	bool coarse;

	if (c->auto_period)
		o.period = study_period(p, c, &coarse);
	return o;
}

static const struct estimate_point *point_at(const struct sim_estimate *e, double speedup)
{
	for (size_t i = 0; e->e.n && i < e->e.e[0].n_points; i++) {
		if (fabs(e->e.e[0].points[i].speedup_pct - 100 * speedup) < 1e-6)
			return &e->e.e[0].points[i];
	}
	return NULL;
}

static void free_estimate(struct sim_estimate *e)
{
	estimates_free(&e->e);
}

/* One long profile with each length of windows beside one long stretch. */
static int windows(const struct settings *s)
{
	struct sim_program *p[MAX_MODELS];
	int n = models(s, p), per = s->n_speedups * s->n_windows;
	_cleanup_free_ double *difference = xcalloc((size_t)n * per, sizeof(*difference));
	_cleanup_free_ double *one = xcalloc((size_t)n * s->n_speedups, sizeof(*one));

#pragma omp parallel for schedule(dynamic)
	for (int i = 0; i < n * s->n_speedups; i++)
		one[i] = study(p[i / s->n_speedups], &s->config[0], s->speedup[i % s->n_speedups],
			       s->seconds)
				 .predicted;
#pragma omp parallel for schedule(dynamic)
	for (int i = 0; i < n * per; i++) {
		int row = i / s->n_windows, w = i % s->n_windows;
		struct sim_program *program = study_beside(p[row / s->n_speedups], &s->config[0]);
		double speedup = s->speedup[row % s->n_speedups];
		struct sim_options o = options_for(program, &s->config[0]);
		struct sim_experiment x = { .speedups = &speedup,
					    .n_speedups = 1,
					    .seconds = s->seconds * 4,
					    .settle_s = s->window[w].settle_s,
					    .length_s = s->window[w].length_s };
		const struct estimate_point *point;
		struct sim_estimate e;

		experiment(program, &o, &x, &e);
		point = point_at(&e, speedup);
		difference[i] = point ? point->program_speedup_pct - one[row] : NAN;
		free_estimate(&e);
		program_free(program);
	}
	printf("%-24s %4s %6s", "program", "s", "long");
	for (int w = 0; w < s->n_windows; w++)
		printf("  %4.0f/%-4.0f", 1e3 * s->window[w].settle_s, 1e3 * s->window[w].length_s);
	printf("\n");
	for (int i = 0; i < n * s->n_speedups; i++) {
		printf("%-24s %4.0f %6.1f", p[i / s->n_speedups]->name,
		       100 * s->speedup[i % s->n_speedups], one[i]);
		for (int w = 0; w < s->n_windows; w++)
			printf("  %+9.2f", difference[i * s->n_windows + w]);
		printf("\n");
	}
	while (n--)
		program_free(p[n]);
	return 0;
}

/*
 * Many short profiles of each program. "Bias" is what is wrong with their mean; coverage is that of
 * the truth moved by the bias, so that it judges the interval and not the model.
 */
struct coverage {
	double truth, mean, width, seconds, explained, valid, error;
	int n, hit, hit_truth, lengthened, unknown, wrong, undecided;
	/* Mean half widths: what scatters, and what does not shrink. */
	double noise, fixed[N_FIXED_PARTS];
};

/* What must not be. */
static bool wrong_verdict(enum verdict v, double truth)
{
	return (v == VERDICT_OPTIMIZE && truth <= 0) || (v == VERDICT_CONTENTION && truth >= 0) ||
	       (v == VERDICT_NO_EFFECT && truth >= 5);
}

static void add_profile(struct coverage *c, const double *values, const double (*ci)[2], int n)
{
	c->n = n;
	for (int i = 0; i < n; i++) {
		c->mean += values[i] / n;
		c->width += (ci[i][1] - ci[i][0]) / 2 / n;
		c->error += fabs(values[i] - c->truth) / n;
	}
	for (int i = 0; i < n; i++) {
		c->hit += ci[i][0] <= c->mean && c->mean <= ci[i][1];
		c->hit_truth += ci[i][0] <= c->truth && c->truth <= ci[i][1];
	}
}

static void add_parts(struct coverage *c, const struct estimate_point *p, bool report)
{
	double half = (p->ci_hi - p->ci_lo) / 2, fixed = report ? p->fixed_pp : 0;

	c->noise += sqrt(fmax(half * half - fixed * fixed, 0));
	for (int i = 0; i < N_FIXED_PARTS; i++)
		c->fixed[i] += p->fixed_part[i];
}

static struct coverage cover(const struct settings *s, const struct sim_program *alone,
			     double speedup)
{
	struct sim_program *p = study_beside(alone, &s->config[0]);
	int n = s->n ? s->n : 100, known = 0;
	_cleanup_free_ double *values = xcalloc(n, sizeof(*values));
	_cleanup_free_ double(*ci)[2] = xcalloc(n, sizeof(*ci));
	struct sim_options o = options_for(p, &s->config[0]);
	/* Weather that differs from core to core moves the truth, too: so it is taken in it. */
	bool foul = o.weather.stolen > 0 || o.weather.jump > 1;
	struct coverage c = {
		.truth = study(alone, &s->config[0], speedup,
			       foul ? fmax(2000, 4 * s->seconds) : 4 * s->seconds)
				 .truth,
	};

	o.drift = s->drift;
#pragma omp parallel for schedule(dynamic)
	for (int i = 0; i < n; i++) {
		struct sim_experiment x = { .speedups = &speedup,
					    .n_speedups = 1,
					    .seconds = s->seconds,
					    .precision = s->precision,
					    .seed = i,
					    .method = s->report };
		struct sim_options mine = o;
		const struct estimate_point *point;
		struct sim_estimate e;

		mine.seed = s->first + i;
		experiment(p, &mine, &x, &e);
		point = point_at(&e, speedup);
#pragma omp critical
		{
			c.seconds += e.seconds / n;
			c.lengthened += e.lengthened;
			c.explained += e.e.n ? e.e.e[0].control.explained / n : 0;
			c.valid += e.e.n ? e.e.e[0].control.valid / n : 0;
			c.wrong += e.e.n && wrong_verdict(e.e.e[0].verdict, c.truth);
			c.undecided += !e.e.n || e.e.e[0].verdict == VERDICT_UNDECIDED;
			if (point && isfinite(point->ci_lo)) {
				add_parts(&c, point, s->report);
				values[known] = point->program_speedup_pct;
				ci[known][0] = point->ci_lo;
				ci[known++][1] = point->ci_hi;
			}
		}
		free_estimate(&e);
	}
	c.unknown = n - known;
	c.noise /= known;
	for (int i = 0; i < N_FIXED_PARTS; i++)
		c.fixed[i] /= known;
	add_profile(&c, values, ci, known);
	program_free(p);
	return c;
}

static void print_parts(const struct coverage *c)
{
	printf("    %-31s error %.2f, undecided %d; noise %.2f, method %.2f, crowded %.2f, "
	       "shared %.2f, period %.2f, steal %.2f, spins %.2f, far %.2f\n",
	       "", c->error, c->undecided, c->noise, c->fixed[FIXED_METHOD],
	       c->fixed[FIXED_CROWDED], c->fixed[FIXED_SHARED], c->fixed[FIXED_PERIOD],
	       c->fixed[FIXED_STEAL], c->fixed[FIXED_SPINS], c->fixed[FIXED_FAR]);
}

static int coverage(const struct settings *s)
{
	struct sim_program *p[MAX_MODELS];
	int n = models(s, p), hit = 0, all = 0;

	printf("%-24s %4s %6s %6s %7s %8s %8s %7s %7s %7s %5s %9s %5s\n", "program", "s", "truth",
	       "bias", "+-", "coverage", "of truth", "seconds", "longer", "unknown", "wrong",
	       "explained", "valid");
	for (int i = 0; i < n * s->n_speedups; i++) {
		const struct sim_program *program = p[i / s->n_speedups];
		double speedup = s->speedup[i % s->n_speedups];
		struct coverage c = cover(s, program, speedup);

		printf("%-24s %4.0f %6.1f %+6.2f %7.2f %7.1f%% %7.1f%% %7.1f %7.2f %7d %5d %8.0f%% "
		       "%5.2f\n",
		       program->name, 100 * speedup, c.truth, c.mean - c.truth, c.width,
		       100.0 * c.hit / c.n, 100.0 * c.hit_truth / c.n, c.seconds,
		       (double)c.lengthened / (c.n + c.unknown), c.unknown, c.wrong,
		       100 * c.explained, c.valid);
		if (s->report)
			print_parts(&c);
		fflush(stdout);
		hit += c.hit;
		all += c.n;
	}
	printf("%-24s %36.1f%%\n", "all", 100.0 * hit / all);
	while (n--)
		program_free(p[n]);
	return 0;
}

/*
 * What replay (lib/whatif) says, beside what really happens; with -n of so many graphs. With
 * @cores, of one core more and of twice as many.
 */
static int replay(const struct settings *s, bool cores)
{
	int n = s->n ? s->n : MAX_MODELS, m = 0, inside = 0, narrow = 0, nonzero = 0;
	int how = (s->unnamed ? 0 : SIM_NAMED) | (s->no_kernel ? SIM_NO_KERNEL : 0);
	int asked = cores ? 2 : s->n_speedups;
	struct sim_program **p = xcalloc(n, sizeof(*p));
	double error = 0, narrow_error = 0, width = 0;
	struct sim_replay *r;

	if (!s->n)
		n = models(s, p);
	for (int i = 0; s->n && i < n; i++)
		p[i] = graph_create(s->first + i, s->crowded, s->scale);
	for (int i = 0; s->requests && i < n; i++)
		program_target_requests(p[i]);
	for (int i = 0; cores && s->cores > 0 && i < n; i++)
		p[i]->cores = s->cores;
	r = xcalloc(n * asked, sizeof(*r));
#pragma omp parallel for schedule(dynamic)
	for (int i = 0; i < n * asked; i++) {
		const struct sim_program *x = p[i / asked];

		r[i] = cores ? replay_cpus(x, &s->config[0],
					   i % asked ? 2 * x->cores : x->cores + 1, s->seconds)
			     : replay_study(x, &s->config[0], s->speedup[i % asked], s->seconds,
					    how);
	}
	printf("%-24s %4s %7s %7s %7s %7s %7s\n", "program", cores ? "to" : "s", "truth", "replay",
	       "error", "low", "high");
	for (int i = 0; i < n * asked; i++) {
		const struct sim_program *of = p[i / asked];
		const struct sim_replay *x = &r[i];
		double e = x->middle - x->truth;
		bool in = x->truth > x->low - 1 && x->truth < x->high + 1;

		if (x->stuck)
			continue;
		if (cores && i % asked && of->cores == 1) /* it is one more */
			continue;
		printf("%-24s %4.0f %7.1f %7.1f %+7.2f %7.1f %7.1f%s", of->name,
		       !cores	   ? 100 * s->speedup[i % asked]
		       : i % asked ? 2 * of->cores
				   : of->cores + 1.0,
		       x->truth, x->middle, e, x->low, x->high, in ? "" : " outside");
		printf(cores ? " (fit %.3f)\n" : "\n", x->fit);
		m++;
		inside += in;
		error += fabs(e);
		width += x->high - x->low;
		nonzero += x->zero != 0;
		if (x->high - x->low < 5) {
			narrow++;
			narrow_error += fabs(e);
		}
	}
	printf("mean error %.2f, inside (+-1) %.1f %%, mean width %.1f; bounds narrower than 5: %d "
	       "of %d, "
	       "mean error there %.2f; not zero at zero: %d\n",
	       error / m, 100.0 * inside / m, width / m, narrow, m, narrow_error / narrow, nonzero);
	free(r);
	while (n--)
		program_free(p[n]);
	free(p);
	return nonzero > 0;
}

/* Replay as control variate of the experiments: models in the weather of -c. */
static int variate(const struct settings *s)
{
	struct sim_program *p[MAX_MODELS];
	int n = models(s, p), m = n * s->n_speedups;
	struct sim_variate *v = xcalloc(m, sizeof(*v)), sum = {};
	double window_s = s->n_windows ? s->window[0].length_s : 1;
	int known = 0;

#pragma omp parallel for schedule(dynamic)
	for (int i = 0; i < m; i++) {
		struct sim_options o = options_for(p[i / s->n_speedups], &s->config[0]);
		struct sim_config c = s->config[0];

		c.o = o;
		variate_study(p[i / s->n_speedups], &c, s->speedup[i % s->n_speedups], s->seconds,
			      window_s, &v[i]);
	}
	printf("%-24s %4s %6s %7s %8s %11s %14s %16s\n", "program", "s", "pairs", "noise",
	       "CPU time", "then replay", "replay alone", "replay's shift");
	for (int i = 0; i < m; i++) {
		if (v[i].pairs < 4)
			continue;
		printf("%-24s %4.0f %6d %7.2f %7.1f%% %10.1f%% %13.1f%% %8.2f +- %-5.2f\n",
		       p[i / s->n_speedups]->name, 100 * s->speedup[i % s->n_speedups], v[i].pairs,
		       v[i].noise, 100 * v[i].cpu, 100 * v[i].replay, 100 * v[i].alone, v[i].shift,
		       1.96 * v[i].shift_se);
		known++;
		sum.cpu += v[i].cpu;
		sum.replay += v[i].replay;
		sum.alone += v[i].alone;
		sum.shift += fabs(v[i].shift);
	}
	printf("mean of %d: of the variance CPU times explain %.1f %%, replay then %.1f %% of the "
	       "rest, "
	       "alone %.1f %%; it is shifted by %.2f\n",
	       known, 100 * sum.cpu / known, 100 * sum.replay / known, 100 * sum.alone / known,
	       sum.shift / known);
	free(v);
	while (n--)
		program_free(p[n]);
	return 0;
}

int main(int argc, char **argv)
{
	struct settings s;

	if (argc < 2) {
		fputs(usage, stderr);
		return 2;
	}
	parse(argc - 1, argv + 1, &s);
	if (!s.n_configs)
		add_config(&s, "wait period=auto");
	if (s.n_configs > 1 && (!strcmp(argv[1], "coverage") || !strcmp(argv[1], "windows"))) {
		fprintf(stderr, "sim: %s takes one -c\n", argv[1]);
		return 2;
	}
	if (!strcmp(argv[1], "errors"))
		return errors(&s);
	if (!strcmp(argv[1], "graphs"))
		return graphs(&s);
	if (!strcmp(argv[1], "cores"))
		return cores(&s);
	if (!strcmp(argv[1], "coverage"))
		return coverage(&s);
	if (!strcmp(argv[1], "replay") || !strcmp(argv[1], "cpus"))
		return replay(&s, !strcmp(argv[1], "cpus"));
	if (!strcmp(argv[1], "variate"))
		return variate(&s);
	if (!strcmp(argv[1], "windows"))
		return windows(&s);
	fputs(usage, stderr);
	return 2;
}
