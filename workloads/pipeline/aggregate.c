// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Last stage: counts services, levels, stems and pairs of neighbouring stems, adds up bytes by
 * response time, tells repeated messages, and prints what is most frequent. A unit of work is
 * done when batch_done() is called: every 512 lines.
 */
#include "stage.h"
#include "variants.h"

#define BATCH	     512
#define SLOTS	     (1 << 16) /* a power of two */
#define MAX_KEY	     64
#define SKETCH_ROWS  4
#define SKETCH_WIDTH 16384     /* a power of two */
#define RECENT	     256       /* a power of two */
#define SEEN_BITS    (1 << 20) /* a power of two */

struct entry {
	uint32_t hash;
	uint32_t len;
	uint64_t count;
	char key[MAX_KEY];
};

static struct entry table[SLOTS];
static uint32_t used;
static uint64_t histogram[64];
static uint32_t sketch[SKETCH_ROWS][SKETCH_WIDTH];
static uint64_t seen[SEEN_BITS / 64];
static uint64_t recent[RECENT];
static uint64_t pairs, frequent_pairs, repeated, alike;
static uint64_t first_ns, last_ns, batches, lines;

/* The progress point. In a program of one's own: SCOZ_PROGRESS() from <scoz.h> in its place. */
STAGE_FN void batch_done(void)
{
	last_ns = stage_now();
	if (!batches++)
		first_ns = last_ns;
}

STAGE_FN uint32_t count(const char *key, size_t len)
{
	uint32_t h = 2166136261U;
	struct entry *e;

	if (len > MAX_KEY)
		len = MAX_KEY;
	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)key[i]) * 16777619U;
	h ^= h >> 15;
	for (uint32_t i = h;; i++) {
		e = &table[i & (SLOTS - 1)];
		if (!e->count)
			break;
		if (e->hash == h && e->len == len && !memcmp(e->key, key, len)) {
			e->count++;
			return h;
		}
	}
	if (++used > SLOTS / 2)
		stage_die("more than %d different words", SLOTS / 2);
	e->hash = h;
	e->len = (uint32_t)len;
	e->count = 1;
	memcpy(e->key, key, len);
	return h;
}

static const char *number(const char *p, uint64_t *ret)
{
	uint64_t v = 0;

	while (*p >= '0' && *p <= '9')
		v = v * 10 + (uint64_t)(*p++ - '0');
	*ret = v;
	return p;
}

/* A Bloom filter over fingerprints. */
STAGE_FN void note_fingerprint(uint64_t print)
{
	bool known = true;

	for (int i = 0; i < 3; i++) {
		uint64_t bit = print & (SEEN_BITS - 1);

		known &= seen[bit / 64] >> bit % 64 & 1;
		seen[bit / 64] |= 1ULL << bit % 64;
		print = (print ^ print >> 31) * 0x94d049bb133111ebULL;
	}
	repeated += known;
}

/* How many of the last messages differ in few bits? */
STAGE_FN void find_alike(uint64_t print)
{
	for (int i = 0; i < RECENT; i++) {
		uint64_t d = print ^ recent[i];

		d -= d >> 1 & 0x5555555555555555ULL;
		d = (d & 0x3333333333333333ULL) + (d >> 2 & 0x3333333333333333ULL);
		d = (d + (d >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
		alike += d * 0x0101010101010101ULL >> 56 <= 12;
	}
	recent[lines & (RECENT - 1)] = print;
}

/* Times in powers of two, and the key "SERVICE LEVEL STATUS". */
STAGE_FN const char *count_fields(const char *p, const char *end)
{
	uint64_t bytes, took, print;
	const char *key = p;
	int tabs = 0;

	for (; p < end && tabs < 3; p++)
		tabs += *p == '\t';
	if (tabs < 3)
		return end;
	count(key, (size_t)(p - 1 - key));
	p = number(p, &bytes);
	p = number(p + 1, &took);
	histogram[took ? 63 - __builtin_clzll(took) : 0] += bytes;
	p = number(p + 1, &print);
	note_fingerprint(print);
	find_alike(print);
	return p < end ? p + 1 : end;
}

/* A count-min sketch: there are too many pairs to keep them. */
STAGE_FN void count_pair(uint32_t a, uint32_t b)
{
	uint64_t h = ((uint64_t)a << 32 | b) * 0x9e3779b97f4a7c15ULL;
	uint32_t least = UINT32_MAX;

	for (int row = 0; row < SKETCH_ROWS; row++) {
		uint32_t *c = &sketch[row][h >> 32 & (SKETCH_WIDTH - 1)];

		if (++*c < least)
			least = *c;
		h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9ULL;
	}
	pairs++;
	frequent_pairs += least >= 100;
}

STAGE_FN void count_words(const char *p, const char *end)
{
	uint32_t before = 0;

	while (p < end) {
		const char *from;

		while (p < end && *p == ' ')
			p++;
		from = p;
		while (p < end && *p != ' ')
			p++;
		if (p > from) {
			uint32_t h = count(from, (size_t)(p - from));

			if (before)
				count_pair(before, h);
			before = h;
		}
	}
}

static int by_count(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	size_t len = x->len < y->len ? x->len : y->len;
	int c;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	c = memcmp(x->key, y->key, len);
	return c ? c : (int)x->len - (int)y->len;
}

static void usage(FILE *f)
{
	fprintf(f, "usage: ... | transform | aggregate [options]\n"
		   "  --top N          print the N most frequent keys\n"
		   "  --variants FILE  turn the stages' knobs in FILE by turns, print the rates\n"
		   "  -v               print the processor time used\n");
}

int main(int argc, char **argv)
{
	static const struct option opt[] = {
		{ "top", required_argument, NULL, 't' },
		{ "variants", required_argument, NULL, 'k' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	static struct stage_in in = { .fd = STDIN_FILENO };
	struct variants variants = { .fd = -1 };
	uint32_t top = 0;
	bool verbose = false;
	double seconds;
	size_t len;
	char *line;
	int c;

	stage_init(argv);
	while ((c = getopt_long(argc, argv, "hv", opt, NULL)) != -1) {
		switch (c) {
		case 't':
			top = (uint32_t)stage_number("top", optarg, 0, SLOTS);
			break;
		case 'k':
			variants_open(&variants, optarg);
			break;
		case 'v':
			verbose = true;
			break;
		default:
			usage(c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
	}
	while ((line = stage_line(&in, &len))) {
		count_words(count_fields(line, line + len), line + len);
		if (++lines % BATCH)
			continue;
		batch_done();
		if (variants.fd >= 0)
			variants_batch(&variants, last_ns, batches);
	}

	if (top) {
		qsort(table, SLOTS, sizeof(*table), by_count);
		for (uint32_t i = 0; i < top && i < used; i++)
			printf("%llu\t%.*s\n", (unsigned long long)table[i].count,
			       (int)table[i].len, table[i].key);
		for (int i = 0; i < 64; i++)
			if (histogram[i])
				printf("%llu bytes\ttook %llu us or more\n",
				       (unsigned long long)histogram[i], 1ULL << i);
	}
	if (top)
		printf("%llu of %llu pairs are frequent, %llu messages came before, %llu are "
		       "alike\n",
		       (unsigned long long)frequent_pairs, (unsigned long long)pairs,
		       (unsigned long long)repeated, (unsigned long long)alike);
	seconds = (double)(last_ns - first_ns) / 1e9;
	printf("{\"lines\": %llu, \"progress\": %llu, \"seconds\": %.3f, \"rate\": %.3f}\n",
	       (unsigned long long)lines, (unsigned long long)batches, seconds,
	       seconds > 0 ? (double)(batches - 1) / seconds : 0.0);
	if (verbose)
		stage_report_usage();
	return fflush(stdout) ? 1 : 0;
}
