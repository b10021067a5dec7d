// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/json_values.h"

#include <math.h>

#include "tools/scoz/text.h"

json_t *json_clean(const char *s)
{
	json_t *j = json_string(s);
	_cleanup_free_ char *clean = j ? NULL : text_clean(s, "\xef\xbf\xbd");

	return j ? j : json_string(clean);
}

json_t *json_percent(double v)
{
	return isfinite(v) ? json_real(fabs(v) < 5e-7 ? 0.0 : v) : json_null();
}

json_t *json_interval(double lo, double hi)
{
	if (!isfinite(lo) || !isfinite(hi))
		return json_null();
	return json_pack("[o,o]", json_percent(lo), json_percent(hi));
}
