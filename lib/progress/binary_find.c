// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/similar.h"
#include "progress/point.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_LOOKED_AT 10000 /* files of a directory, for names that may have been meant */

/* Files beside @path that are called nearly so; "" else. */
static char *near_files(const char *path)
{
	const char *base = path_base(path);
	_cleanup_free_ char *dir = xstrndup(path, base - path);
	struct dirent *e;
	struct similar s;
	char *text;
	DIR *d = opendir(dir);

	if (!d)
		return xstrdup("");
	similar_init(&s, base);
	for (int i = 0; i < MOST_LOOKED_AT && (e = readdir(d)); i++) {
		if (e->d_type != DT_DIR && !(e->d_name[0] == '.' && base[0] != '.'))
			similar_add(&s, e->d_name);
	}
	closedir(d);
	text = similar_text(&s);
	return text;
}

static int check_file(const char *path, struct error *err)
{
	struct stat st;

	if (stat(path, &st)) {
		int code = errno;
		_cleanup_free_ char *near = err && code == ENOENT ? near_files(path) : xstrdup("");

		return error_set(err, code, "binary '%s': %s%s", path, strerror(code), near);
	}
	if (S_ISDIR(st.st_mode))
		return error_set(err, EISDIR, "binary '%s' is a directory: name a program in it",
				 path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, EINVAL, "binary '%s' is not a regular file", path);
	return 0;
}

/* What else "WORD:..." may have been than a point of a binary; NULL: nothing. */
static const char *other_meaning(const char *word)
{
	_cleanup_free_ char *prefix = xasprintf("%s:", word);
	static const struct {
		const char *word, *form;
	} points[] = {
		{ "usdt", "did you mean usdt:BINARY:PROVIDER:NAME?" },
		{ "tracepoint", "did you mean tracepoint:GROUP:NAME?" },
		{ "syscall", "did you mean syscall:NAME?" },
		{ "mark", "did you mean mark:NAME?" },
	};

	if (!strcmp(word, "kernel"))
		return "functions of the kernel are targets (--target) and no points: there are "
		       "tracepoint:GROUP:NAME and syscall:NAME";
	for (size_t i = 0; i < ARRAY_SIZE(points); i++) {
		if (edit_distance(points[i].word, word, 1) <= 1)
			return points[i].form;
	}
	return target_prefix(prefix, 0)
		       ? "that begins a target (--target), and a point in a program is "
			 "BINARY:FUNCTION or BINARY:FILE:LINE"
		       : NULL;
}

int binary_find(const char *binary, char **path, struct error *err)
{
	const char *dir = getenv("PATH"), *meaning;

	*path = NULL;
	if (!*binary)
		return error_set(err, EINVAL, "the name of the binary is empty");
	if (strchr(binary, '/')) {
		int r = check_file(binary, err);

		if (!r)
			*path = xstrdup(binary);
		return r;
	}
	if (!dir || !*dir)
		dir = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
	for (;;) {
		size_t n = strcspn(dir, ":");
		char *candidate = xasprintf("%.*s/%s", n ? (int)n : 1, n ? dir : ".", binary);

		if (!check_file(candidate, NULL) && !access(candidate, X_OK)) {
			*path = candidate;
			return 0;
		}
		free(candidate);
		if (!dir[n])
			break;
		dir += n + 1;
	}
	if (!access(binary, X_OK) && !check_file(binary, NULL))
		return error_set(err, ENOENT, "binary '%s' is not in PATH: did you mean ./%s?",
				 binary, binary);
	meaning = other_meaning(binary);
	if (meaning)
		return error_set(err, ENOENT, "binary '%s' is not in PATH; %s", binary, meaning);
	return error_set(err, ENOENT, "binary '%s' is not in PATH: write its path, for example %s",
			 binary,
			 strstr(binary, ".so") ? "as 'ldd PROGRAM' or /proc/PID/maps shows it"
					       : "./prog or /usr/bin/prog");
}
