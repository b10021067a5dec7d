// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * First stage: reads log lines, checks their CRC, takes the fields apart and writes
 *	EPOCH_MS HOST SERVICE LEVEL STATUS BYTES MICROSECONDS MESSAGE
 * separated by tabs. Reads its file over and over, for as long as it is told.
 */
#include "../truth/knob.h"
#include "stage.h"
#include "crc.h"
#include "variants.h"
#include <fcntl.h>
#include <sys/prctl.h>

static bool fast_checksum;
static volatile sig_atomic_t stop;

struct record {
	uint64_t epoch_ms, status, bytes, took_us;
	const char *host, *service, *level, *message;
	size_t host_len, service_len, level_len, message_len;
};

/* Bit by bit: hot, and a table makes it several times faster. */
STAGE_FN bool verify_checksum(const char *line, size_t len)
{
	uint32_t want = 0, got;

	if (len < 13 || memcmp(line + len - 13, " crc=", 5))
		return false;
	for (size_t i = len - 8; i < len; i++) {
		uint32_t c = (unsigned char)line[i];

		want = want << 4 | (c >= 'a' ? c - 'a' + 10 : c - '0');
	}
	got = fast_checksum ? crc_by_table(line, len - 13) : crc_bitwise(line, len - 13);
	return got == want;
}

static const char *number(const char *p, uint64_t *ret)
{
	uint64_t v = 0;

	while (*p >= '0' && *p <= '9')
		v = v * 10 + (uint64_t)(*p++ - '0');
	*ret = v;
	return p;
}

/* Days from 1970 in the proleptic Gregorian calendar; years begin in March. */
static uint64_t days_from_civil(uint64_t y, uint64_t m, uint64_t d)
{
	uint64_t era, yoe, doy;

	y -= m <= 2;
	era = y / 400;
	yoe = y % 400;
	doy = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;
	return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

STAGE_FN const char *parse_time(const char *p, uint64_t *ret_ms)
{
	uint64_t y, mo, d, h, mi, s, ms;

	p = number(p, &y);
	p = number(p + 1, &mo);
	p = number(p + 1, &d);
	p = number(p + 1, &h);
	p = number(p + 1, &mi);
	p = number(p + 1, &s);
	p = number(p + 1, &ms);
	*ret_ms = (((days_from_civil(y, mo, d) * 24 + h) * 60 + mi) * 60 + s) * 1000 + ms;
	return *p == 'Z' ? p + 1 : NULL;
}

static const char *field(const char *p, char end, const char **ret, size_t *ret_len)
{
	*ret = p;
	while (*p && *p != end)
		p++;
	*ret_len = (size_t)(p - *ret);
	return *p ? p + 1 : NULL;
}

static const char *keyed_number(const char *p, const char *key, uint64_t *ret)
{
	size_t len = strlen(key);

	if (strncmp(p, key, len))
		return NULL;
	return number(p + len, ret);
}

STAGE_FN bool parse_fields(const char *p, struct record *r)
{
	uint64_t pid, fraction;

	p = parse_time(p, &r->epoch_ms);
	if (!p || *p != ' ')
		return false;
	p = field(p + 1, ' ', &r->host, &r->host_len);
	if (!p)
		return false;
	p = field(p, '[', &r->service, &r->service_len);
	if (!p)
		return false;
	p = number(p, &pid);
	if (strncmp(p, "]: ", 3))
		return false;
	p = field(p + 3, ' ', &r->level, &r->level_len);
	if (!p)
		return false;
	p = keyed_number(p, "status=", &r->status);
	if (p)
		p = keyed_number(p, " bytes=", &r->bytes);
	if (p)
		p = keyed_number(p, " took=", &r->took_us);
	if (!p || *p != '.')
		return false;
	p = number(p + 1, &fraction);
	r->took_us = r->took_us * 1000 + fraction;
	if (strncmp(p, "ms msg=\"", 8))
		return false;
	return field(p + 8, '"', &r->message, &r->message_len);
}

STAGE_FN void emit(struct stage_out *out, const struct record *r)
{
	char *p = stage_room(out);

	p = stage_put_number(p, r->epoch_ms);
	*p++ = '\t';
	p = stage_put(p, r->host, r->host_len);
	*p++ = '\t';
	p = stage_put(p, r->service, r->service_len);
	*p++ = '\t';
	p = stage_put(p, r->level, r->level_len);
	*p++ = '\t';
	p = stage_put_number(p, r->status);
	*p++ = '\t';
	p = stage_put_number(p, r->bytes);
	*p++ = '\t';
	p = stage_put_number(p, r->took_us);
	*p++ = '\t';
	p = stage_put(p, r->message, r->message_len);
	*p++ = '\n';
	out->len = (size_t)(p - out->buf);
}

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static int calibrate(struct stage_in *in, struct stage_out *out)
{
	static struct stage_trial trial;
	struct record r;
	uint64_t took;
	size_t len;
	char *line;
	bool good;

	stage_trial_init(&trial);
	do {
		line = stage_line(in, &len);
		if (!line)
			break;
		fast_checksum = trial.fast;
		took = stage_now();
		good = verify_checksum(line, len);
		took = stage_now() - took;
		if (good && parse_fields(line, &r))
			emit(out, &r);
		out->len = 0;
	} while (stage_trial_line(&trial, took));
	return stage_trial_report(&trial, "verify_checksum");
}

static void usage(FILE *f)
{
	fprintf(f, "usage: parse [options] FILE\n"
		   "  --seconds S      read the file again and again for S seconds; 0: endlessly\n"
		   "  --repeat N       read it N times (1)\n"
		   "  --fast-checksum  CRC by table instead of bit by bit\n"
		   "  --knob-file FILE do so while the second number in it is not 0\n"
		   "  --calibrate      only measure how much faster that makes the check\n"
		   "  --with-parent    end when the parent does\n"
		   "  -v               print the processor time used\n");
}

int main(int argc, char **argv)
{
	static const struct option opt[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "repeat", required_argument, NULL, 'r' },
		{ "fast-checksum", no_argument, NULL, 'c' },
		{ "knob-file", required_argument, NULL, 'k' },
		{ "calibrate", no_argument, NULL, 'b' },
		{ "with-parent", no_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	static struct stage_in in;
	static struct stage_out out = { .fd = STDOUT_FILENO };
	uint64_t repeat = 1, bad = 0, lines = 0, end_ns = 0;
	struct sigaction sa = { .sa_handler = on_signal };
	bool verbose = false, measure = false, always;
	const int32_t *knob = NULL;
	int c;

	stage_init(argv);
	while ((c = getopt_long(argc, argv, "hv", opt, NULL)) != -1) {
		switch (c) {
		case 's':
			end_ns = stage_now() +
				 (uint64_t)(stage_number("seconds", optarg, 0, 1e9) * 1e9);
			if (!strtod(optarg, NULL))
				end_ns = UINT64_MAX;
			repeat = UINT64_MAX;
			break;
		case 'r':
			repeat = (uint64_t)stage_number("repeat", optarg, 1, 1e15);
			break;
		case 'c':
			fast_checksum = true;
			break;
		case 'k':
			knob = knob_map(optarg);
			if (!knob)
				stage_die("cannot map %s: %s", optarg, strerror(errno));
			break;
		case 'b':
			measure = true;
			break;
		case 'p':
			prctl(PR_SET_PDEATHSIG, SIGTERM);
			break;
		case 'v':
			verbose = true;
			break;
		default:
			usage(c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
	}
	if (optind + 1 != argc) {
		usage(stderr);
		return 2;
	}
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	crc_init();
	in.fd = open(argv[optind], O_RDONLY | O_CLOEXEC);
	if (in.fd < 0)
		stage_die("cannot open %s: %s", argv[optind], strerror(errno));

	if (measure)
		return calibrate(&in, &out);
	always = fast_checksum;
	while (repeat-- && !stop) {
		uint64_t before = lines;
		struct record r;
		size_t len;
		char *line;

		if (lseek(in.fd, 0, SEEK_SET) < 0)
			stage_die("cannot rewind %s: %s", argv[optind], strerror(errno));
		in.pos = in.end = 0;
		while (!stop && (line = stage_line(&in, &len))) {
			if (knob)
				fast_checksum = always || __atomic_load_n(&knob[KNOB_CHECKSUM],
									  __ATOMIC_RELAXED);
			if (verify_checksum(line, len) && parse_fields(line, &r))
				emit(&out, &r);
			else
				bad++;
			if (!(++lines & 63) && end_ns && stage_now() >= end_ns)
				stop = 1;
		}
		if (lines == before)
			stage_die("%s has no lines", argv[optind]);
	}
	stage_flush(&out);
	if (bad)
		fprintf(stderr, "parse: %llu of %llu lines dropped\n", (unsigned long long)bad,
			(unsigned long long)lines);
	if (verbose)
		stage_report_usage();
	return 0;
}
