// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scoz plot. PNG is made from the SVG by whichever converter the machine has: drawing glyphs is
 * not a profiler's business.
 */
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/scoz/cmds.h"
#include "tools/scoz/wrong_file.h"
#include "tools/scoz/causal/plot.h"
#include "tools/scoz/recording/record_model.h"
#include "tools/scoz/text.h"

#define DEFAULT_PLOT "profile.html"
#define DEFAULT_PAGE "record.html" /* of a recording */

extern char **environ;

static void usage(FILE *out)
{
	fprintf(out,
		"Usage: scoz plot [-o OUT.html|.svg|.png] [FILE]\n\n"
		"Draws FILE (default " DEFAULT_PROFILE
		") into one self-contained file: of a causal profile\n"
		"HTML is the ranking of the targets, with each curve; SVG and PNG the curves. Of "
		"a\n"
		"recording (scoz record) HTML is a flame graph with its classes, and the waits.\n\n"
		"  -o, --output OUT  default " DEFAULT_PLOT " or " DEFAULT_PAGE
		"; the name's end decides the format;\n"
		"                    - is standard output, as HTML\n"
		"  --source DIR      source lines in the page are of regular files below DIR, not "
		"those\n"
		"                    that scozd has put into the profile\n"
		"  --no-source       no source lines in the page\n"
		"  --no-idle         of a recording: leave out threads that only wait for work\n"
		"  --help\n\n"
		"PNG needs rsvg-convert, inkscape or chromium.\n\n"
		"Exit status: 0 done, 1 failed, 2 usage, 3 nothing can be concluded.\n");
}

/* ---- PNG ---- */

/* Returns the exit status, or -1 when there is no such program. */
static int run_program(char *const argv[])
{
	posix_spawn_file_actions_t actions;
	int status, r;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	r = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (r)
		return -1;
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return 1;
	}
	if (!WIFEXITED(status))
		return 1;
	return WEXITSTATUS(status) == 127 ? -1 : WEXITSTATUS(status);
}

/* The picture was written, and now: what an earlier run left does not count. */
static bool has_content(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_size > 0;
}

/* @shown: where the picture is to go, for messages. */
static int convert(const char *svg, const char *png, const char *shown, int width, int height)
{
	_cleanup_free_ char *ink = xasprintf("--export-filename=%s", png);
	_cleanup_free_ char *shot = xasprintf("--screenshot=%s", png);
	_cleanup_free_ char *size = xasprintf("--window-size=%d,%d", width, height);
	_cleanup_free_ char *url = xasprintf("file://%s", svg);
	char *converters[][8] = {
		{ "rsvg-convert", "-z", "2", "-o", (char *)png, (char *)svg },
		{ "inkscape", "--export-type=png", "--export-dpi=192", ink, (char *)svg },
		{ "chromium", "--headless", "--no-sandbox", "--hide-scrollbars",
		  "--force-device-scale-factor=2", size, shot, url },
	};
	const char *failed = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(converters); i++) {
		char *argv[ARRAY_SIZE(converters[0]) + 1] = { NULL };
		int r;

		memcpy(argv, converters[i], sizeof(converters[i]));
		r = run_program(argv);
		if (r == 0 && has_content(png))
			return EXIT_DONE;
		if (r >= 0)
			failed = argv[0];
	}
	if (failed)
		log_warn("%s: %s could not write it: is the disk full? Or write an .svg", shown,
			 failed);
	else
		log_warn("%s: a PNG needs a converter, and there is none: apt-get install "
			 "librsvg2-bin, or write an .svg or .html",
			 shown);
	return EXIT_FAILED;
}

static int copy_picture(const char *from, const char *path)
{
	_cleanup_fclose_ FILE *in = fopen(from, "re");
	FILE *out = in ? output_open(path) : NULL;
	char buf[16384];
	size_t n;

	if (!out)
		return EXIT_FAILED;
	while ((n = fread(buf, 1, sizeof(buf), in)) > 0)
		fwrite(buf, 1, n, out);
	return output_close(out, path);
}

static int draw_and_convert(const struct model *m, const char *svg, const char *png,
			    const char *path)
{
	FILE *out = fopen(svg, "wxe");
	int ret, width, height;

	if (!out) {
		log_warn("%s: cannot create: %s: choose another file with -o", svg,
			 strerror(errno));
		return EXIT_FAILED;
	}
	plot_size(m, &width, &height);
	plot_write_svg(m, out);
	ret = output_close(out, svg);
	if (!ret)
		ret = convert(svg, png, path, width, height);
	return ret ? ret : copy_picture(png, path);
}

/* Converters take paths: in a directory of our own, where nobody else can put links. */
static int write_png(const struct model *m, const char *path)
{
	const char *tmp = getenv("TMPDIR");
	_cleanup_free_ char *dir = xasprintf("%s/scoz-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	_cleanup_free_ char *svg = NULL, *png = NULL;
	int ret;

	if (!mkdtemp(dir)) {
		log_warn("%s: cannot create: %s: set TMPDIR to a writable directory", dir,
			 strerror(errno));
		return EXIT_FAILED;
	}
	svg = xasprintf("%s/plot.svg", dir);
	png = xasprintf("%s/plot.png", dir);
	ret = draw_and_convert(m, svg, png, path);
	unlink(svg);
	unlink(png);
	rmdir(dir);
	return ret;
}

/* ------------------------------------------------------------------------------------------ */

static int plot(const char *path, const char *output, const char *source)
{
	struct error err = { 0 };
	struct model *m;
	FILE *out;
	int ret;

	if (model_load(path, &m, &err))
		return cannot_read(path, FILE_PROFILE, &err);
	if (output_ends_with(output, ".png")) {
		ret = write_png(m, output);
	} else {
		out = output_open(output);
		if (!out) {
			model_free(m);
			return EXIT_FAILED;
		}
		if (output_ends_with(output, ".svg"))
			plot_write_svg(m, out);
		else
			plot_write_html(m, source, out);
		ret = output_close(out, output);
	}
	if (!ret && strcmp(output, "-"))
		printf("%s: %zu target%s\n", output, m->n_rows, m->n_rows == 1 ? "" : "s");
	if (!ret && !m->n_rows) {
		fflush(stdout);
		model_print_reasons(m);
		ret = EXIT_NOTHING;
	}
	model_free(m);
	return ret;
}

static int plot_recording(const char *path, const char *output, bool no_idle)
{
	struct record_options o;
	int ret;

	if (output && !output_is_page(output)) {
		log_warn("%s: %s is a recording, which becomes a page: let the name end in .html",
			 output, path);
		return EXIT_USAGE;
	}
	record_options_init(&o);
	o.no_idle = no_idle;
	ret = record_plot(path, &o, output ? output : DEFAULT_PAGE);
	record_filter_deinit(&o.filter);
	return ret;
}

/* Else no file in it is found, and the page has no source, without a word. */
static bool can_search(const char *dir)
{
	_cleanup_close_ int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		log_warn("--source: %s: cannot open this directory: %s: give that of the sources",
			 dir, strerror(errno));
	return fd >= 0;
}

int cmd_plot(int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "source", required_argument, NULL, 's' },
		{ "no-source", no_argument, NULL, 'n' },
		{ "no-idle", no_argument, NULL, 'i' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *output = NULL, *source = NULL, *path;
	bool no_idle = false;
	int c;

	optind = 0;
	while ((c = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
		switch (c) {
		case 'o':
			output = optarg;
			break;
		case 's':
			source = optarg;
			break;
		case 'i':
			no_idle = true;
			break;
		case 'n':
			source = "";
			break;
		case 'h':
			usage(stdout);
			return EXIT_DONE;
		default:
			return EXIT_USAGE;
		}
	}
	if (output && !output_is_page(output) && !output_ends_with(output, ".svg") &&
	    !output_ends_with(output, ".png")) {
		log_warn("%s: which format? let the name end in .html, .svg or .png", output);
		return EXIT_USAGE;
	}
	if (more_than_one("FILE", argc, argv))
		return EXIT_USAGE;
	path = optind < argc ? input_file(argv[optind]) : DEFAULT_PROFILE;
	if (recording_is(path)) {
		if (source) {
			log_warn("--%s is for causal profiles (scozd), and %s is a recording",
				 *source ? "source" : "no-source", path);
			return EXIT_USAGE;
		}
		return plot_recording(path, output, no_idle);
	}
	if (no_idle) {
		log_warn("--no-idle is for recordings (scoz record), and %s is none", path);
		return EXIT_USAGE;
	}
	if (source && *source && !can_search(source))
		return EXIT_FAILED;
	return plot(path, output ? output : DEFAULT_PLOT, source);
}
