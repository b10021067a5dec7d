// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/base.h"

/* Whoever it befalls: what to do is the same. */
static void add_advice(struct error *err)
{
	size_t n = strlen(err->text);
	const char *advice = err->code == -EMFILE ? "raise the limit of open files (ulimit -n)"
			     : err->code == -ENFILE
				     ? "raise the machine's limit (sysctl fs.file-max)"
				     : NULL;

	if (advice && !strstr(err->text, "ulimit"))
		snprintf(err->text + n, sizeof(err->text) - n, ": %s", advice);
}

int error_set(struct error *err, int errnum, const char *fmt, ...)
{
	if (err) {
		va_list ap;

		err->code = -errnum;
		va_start(ap, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
		add_advice(err);
	}
	return -errnum;
}

int error_prefix(struct error *err, const char *fmt, ...)
{
	char old[sizeof(err->text)];
	va_list ap;
	int n;

	if (!err)
		return -EINVAL;
	memcpy(old, err->text, sizeof(old));
	va_start(ap, fmt);
	n = vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(err->text))
		snprintf(err->text + n, sizeof(err->text) - n, ": %s", old);
	return err->code;
}
