// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Second stage: folds the message's case, drops stopwords, reduces words to their stems, and
 * writes SERVICE LEVEL STATUS BYTES MICROSECONDS, a fingerprint and the stems.
 *
 * is_stopword() walks a list; --fast-lookup makes it a hash table. --calibrate measures by how
 * much that shortens the function: it processes its input and times the lookups with either.
 */
#include "../truth/knob.h"
#include "stage.h"
#include "variants.h"
#include "words.h"

#define MAX_WORDS  128
#define NR_STOP	   (sizeof(stopwords) / sizeof(*stopwords))
#define HASH_SLOTS 2048 /* a power of two, well above NR_STOP */

struct word {
	char *text;
	size_t len;
	bool stop;
};

static bool fast_lookup;
static const char *hash_slot[HASH_SLOTS];

static inline uint32_t hash(const char *s, size_t len)
{
	uint32_t h = 2166136261U;

	while (len--)
		h = (h ^ (unsigned char)*s++) * 16777619U;
	return h ^ h >> 15;
}

static inline bool same(const char *entry, const char *s, size_t len)
{
	while (len && *entry == *s) {
		entry++;
		s++;
		len--;
	}
	return !len && !*entry;
}

static void build_hash(void)
{
	for (size_t i = 0; i < NR_STOP; i++) {
		uint32_t h = hash(stopwords[i], strlen(stopwords[i]));

		while (hash_slot[h % HASH_SLOTS])
			h++;
		hash_slot[h % HASH_SLOTS] = stopwords[i];
	}
}

/* The bottleneck of the whole pipeline. */
STAGE_FN bool is_stopword(const char *s, size_t len)
{
	if (fast_lookup) {
		for (uint32_t h = hash(s, len); hash_slot[h % HASH_SLOTS]; h++)
			if (same(hash_slot[h % HASH_SLOTS], s, len))
				return true;
		return false;
	}
	for (size_t i = 0; i < NR_STOP; i++)
		if (same(stopwords[i], s, len))
			return true;
	return false;
}

STAGE_FN void fold_case(char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (s[i] >= 'A' && s[i] <= 'Z')
			s[i] = (char)(s[i] - 'A' + 'a');
}

STAGE_FN int split_words(char *s, size_t len, struct word *ret)
{
	char *end = s + len;
	int n = 0;

	while (s < end && n < MAX_WORDS) {
		char *from = s;

		while (s < end && *s >= 'a' && *s <= 'z')
			s++;
		if (s > from)
			ret[n++] = (struct word){ from, (size_t)(s - from), false };
		else
			s++;
	}
	return n;
}

STAGE_FN void mark_stopwords(struct word *w, int n)
{
	for (int i = 0; i < n; i++)
		w[i].stop = is_stopword(w[i].text, w[i].len);
}

static bool strip(struct word *w, const char *suffix, const char *put)
{
	size_t len = strlen(suffix), put_len = strlen(put);

	if (w->len < len + 3 || memcmp(w->text + w->len - len, suffix, len))
		return false;
	memcpy(w->text + w->len - len, put, put_len);
	w->len += put_len - len;
	return true;
}

/* A few of the rules English stemmers use. */
STAGE_FN void stem(struct word *w)
{
	if (strip(w, "sses", "ss") || strip(w, "ies", "i") || strip(w, "ss", "ss"))
		;
	else
		strip(w, "s", "");
	if (strip(w, "ing", "") || strip(w, "ed", "") || strip(w, "ly", "")) {
		char last = w->text[w->len - 1];

		if (w->len > 3 && last == w->text[w->len - 2] && last != 'l' && last != 's')
			w->len--;
	}
	if (!strip(w, "ization", "ize") && !strip(w, "ation", "ate") && !strip(w, "fulness", "ful"))
		strip(w, "ness", "");
	if (!strip(w, "ement", "") && !strip(w, "ment", "") && !strip(w, "able", ""))
		strip(w, "er", "");
	if (w->len > 3 && w->text[w->len - 1] == 'y')
		w->text[w->len - 1] = 'i';
}

static inline void weigh(int *weight, uint64_t h)
{
	h = (h ^ h >> 31) * 0x94d049bb133111ebULL;
	for (int bit = 0; bit < 64; bit++)
		weight[bit] += h >> bit & 1 ? 1 : -1;
}

/* SimHash over stems, pairs and triples: messages that have most in common differ in few bits. */
STAGE_FN uint64_t fingerprint(const struct word *w, int n)
{
	uint64_t ret = 0, last = 0, before = 0;
	int weight[64] = { 0 };

	for (int i = 0; i < n; i++) {
		uint64_t h = 14695981039346656037ULL;

		if (w[i].stop)
			continue;
		for (size_t k = 0; k < w[i].len; k++)
			h = (h ^ (unsigned char)w[i].text[k]) * 1099511628211ULL;
		weigh(weight, h);
		if (last)
			weigh(weight, h + 3 * last);
		if (before)
			weigh(weight, h + 3 * last + 5 * before);
		before = last;
		last = h;
	}
	for (int bit = 0; bit < 64; bit++)
		ret |= (uint64_t)(weight[bit] > 0) << bit;
	return ret;
}

STAGE_FN void emit(struct stage_out *out, char *fields, size_t len, struct word *w, int n)
{
	char *p = stage_room(out);

	p = stage_put(p, fields, len);
	*p++ = '\t';
	p = stage_put_number(p, fingerprint(w, n));
	*p++ = '\t';
	for (int i = 0; i < n; i++) {
		if (w[i].stop)
			continue;
		*p++ = ' ';
		p = stage_put(p, w[i].text, w[i].len);
	}
	*p++ = '\n';
	out->len = (size_t)(p - out->buf);
}

/* Nanoseconds spent in the lookups, if anybody wants to know. */
static void transform(struct stage_out *out, char *line, size_t len, uint64_t *lookup_ns)
{
	struct word word[MAX_WORDS];
	char *message = memrchr(line, '\t', len), *fields = line;
	size_t message_len;
	int n;

	if (!message)
		return;
	message++;
	message_len = len - (size_t)(message - line);
	for (int skip = 2; skip && fields < message; fields++)
		skip -= *fields == '\t';

	fold_case(message, message_len);
	n = split_words(message, message_len, word);
	if (lookup_ns) {
		uint64_t t = stage_now();

		mark_stopwords(word, n);
		*lookup_ns += stage_now() - t;
	} else {
		mark_stopwords(word, n);
	}
	for (int i = 0; i < n; i++)
		if (!word[i].stop)
			stem(&word[i]);
	emit(out, fields, (size_t)(message - 1 - fields), word, n);
}

static int calibrate(struct stage_in *in, struct stage_out *out)
{
	static struct stage_trial trial;
	uint64_t took;
	size_t len;
	char *line;

	stage_trial_init(&trial);
	do {
		line = stage_line(in, &len);
		if (!line)
			break;
		took = 0;
		fast_lookup = trial.fast;
		transform(out, line, len, &took);
		out->len = 0;
	} while (stage_trial_line(&trial, took));
	return stage_trial_report(&trial, "is_stopword");
}

static void usage(FILE *f)
{
	fprintf(f,
		"usage: parse FILE | transform [options]\n"
		"  --fast-lookup  look stopwords up in a hash table instead of a list\n"
		"  --knob-file FILE  do so while the first number in it (scozd --truth) is not 0\n"
		"  --calibrate    only measure how much faster that makes the lookup\n"
		"  -v             print the processor time used\n");
}

int main(int argc, char **argv)
{
	static const struct option opt[] = {
		{ "fast-lookup", no_argument, NULL, 'f' },
		{ "knob-file", required_argument, NULL, 'k' },
		{ "calibrate", no_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	static struct stage_in in = { .fd = STDIN_FILENO };
	static struct stage_out out = { .fd = STDOUT_FILENO };
	bool verbose = false, measure = false;
	const int32_t *knob = NULL;
	size_t len;
	char *line;
	int c;

	stage_init(argv);
	while ((c = getopt_long(argc, argv, "hv", opt, NULL)) != -1) {
		switch (c) {
		case 'f':
			fast_lookup = true;
			break;
		case 'k':
			knob = knob_map(optarg);
			if (!knob)
				stage_die("cannot map %s: %s", optarg, strerror(errno));
			break;
		case 'c':
			measure = true;
			break;
		case 'v':
			verbose = true;
			break;
		default:
			usage(c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
	}
	build_hash();
	if (measure)
		return calibrate(&in, &out);
	while ((line = stage_line(&in, &len))) {
		if (knob)
			fast_lookup = __atomic_load_n(&knob[KNOB_STOPWORD], __ATOMIC_RELAXED) != 0;
		transform(&out, line, len, NULL);
	}
	stage_flush(&out);
	if (verbose)
		stage_report_usage();
	return 0;
}
