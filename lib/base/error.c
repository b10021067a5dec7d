// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/base.h"

int error_set(struct error *err, int errnum, const char *fmt, ...)
{
	if (err) {
		va_list ap;

		err->code = -errnum;
		va_start(ap, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
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
