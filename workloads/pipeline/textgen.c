// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Log lines from a seed: the same bytes on every machine. Word frequencies fall off as in
 * natural text, and about a third of the words are stopwords.
 */
#include "stage.h"
#include "crc.h"
#include "words.h"

#define VOCABULARY 6000

static const char *const onset[] = { "b", "c", "d", "f", "g", "l", "m",	 "n",  "p",  "r",
				     "s", "t", "v", "w", "k", "h", "st", "pr", "tr", "cl" };
static const char *const nucleus[] = { "a", "e", "i", "o", "u", "ea", "io", "ou" };
static const char *const coda[] = { "", "", "", "n", "r", "s", "t", "l", "nd", "ck" };
static const char *const suffix[] = { "",   "",	  "",	   "s",	   "ed",   "ing",
				      "er", "ly", "ation", "ness", "ment", "able" };
static const char *const service[] = { "orders",  "search",  "billing", "login",
				       "catalog", "mailer",  "queue",	"images",
				       "session", "reports", "gateway", "stock" };
static const char *const level[] = { "DEBUG", "INFO", "INFO", "INFO", "INFO", "WARN", "ERROR" };
static const int status[] = { 200, 200, 200, 200, 201, 204, 301, 304, 400, 403, 404, 500, 503 };

static uint64_t state;
static char vocabulary[VOCABULARY][40];

#define PICK(array) ((array)[below(sizeof(array) / sizeof(*(array)))])

static uint64_t below(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state * 0x2545f4914f6cdd1dULL >> 32) % n;
}

static void make_vocabulary(void)
{
	for (int i = 0; i < VOCABULARY; i++) {
		char *w = vocabulary[i];
		int syllables = 1 + (int)below(3);

		*w = '\0';
		for (int s = 0; s < syllables; s++) {
			strcat(w, PICK(onset));
			strcat(w, PICK(nucleus));
		}
		strcat(w, PICK(coda));
		strcat(w, PICK(suffix));
	}
}

static const char *word(void)
{
	if (below(100) < 35)
		return stopwords[below(1 + below(sizeof(stopwords) / sizeof(*stopwords)))];
	return vocabulary[below(1 + below(1 + below(VOCABULARY)))];
}

static int make_line(char *line, uint64_t *now_ms)
{
	int len, words = 6 + (int)below(9);
	time_t t;
	struct tm tm;

	*now_ms += below(40);
	t = (time_t)(*now_ms / 1000);
	gmtime_r(&t, &tm);
	len = (int)strftime(line, 32, "%Y-%m-%dT%H:%M:%S", &tm);
	len += sprintf(line + len, ".%03uZ web%02u %s[%u]: %s status=%d bytes=%u took=%u.%03ums",
		       (unsigned int)(*now_ms % 1000), (unsigned int)below(32), PICK(service),
		       (unsigned int)(100 + below(30000)), PICK(level), PICK(status),
		       (unsigned int)below(1 + below(1000000)),
		       (unsigned int)below(1 + below(2000)), (unsigned int)below(1000));
	len += sprintf(line + len, " msg=\"");
	for (int i = 0; i < words; i++) {
		char *p = line + len;

		len += sprintf(p, "%s%s", i ? " " : "", word());
		if (i && *p == ' ')
			p++;
		if (!i || !below(12))
			*p = (char)(*p - 'a' + 'A');
	}
	line[len++] = '"';
	len += sprintf(line + len, " crc=%08x", crc_by_table(line, (size_t)len));
	line[len++] = '\n';
	return len;
}

int main(int argc, char **argv)
{
	static const struct option opt[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "mib", required_argument, NULL, 'm' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	static struct stage_out out = { .fd = STDOUT_FILENO };
	uint64_t size = 16 << 20, done = 0, now_ms = 1704067200000ULL;
	int c;

	stage_init(argv);
	state = 1;
	while ((c = getopt_long(argc, argv, "h", opt, NULL)) != -1) {
		switch (c) {
		case 's':
			state = (uint64_t)stage_number("seed", optarg, 1, 1e15);
			break;
		case 'm':
			size = (uint64_t)(stage_number("mib", optarg, 0.01, 1e6) * 1048576);
			break;
		default:
			fprintf(c == 'h' ? stdout : stderr,
				"usage: textgen [--seed N] [--mib N] > FILE\n");
			return c == 'h' ? 0 : 2;
		}
	}
	state *= 0x9e3779b97f4a7c15ULL;
	crc_init();
	make_vocabulary();
	while (done < size) {
		int len = make_line(stage_room(&out), &now_ms);

		out.len += (size_t)len;
		done += (uint64_t)len;
	}
	stage_flush(&out);
	return 0;
}
