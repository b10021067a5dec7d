// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/status.h"
#include "base/json_text.h"

static char *shown; /* NULL: there is no line */

void status_clear(void)
{
	if (shown)
		fputs("\r\033[K", stderr);
	free(shown);
	shown = NULL;
}

void status_show(const char *line)
{
	if (shown && !strcmp(shown, line))
		return;
	status_clear();
	fputs(line, stderr);
	fflush(stderr);
	shown = xstrdup(line);
}

void status_json(json_t *object)
{
	char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(9));

	fprintf(stderr, "%s\n", text ? text : "{}");
	free(text);
	json_decref(object);
}

void status_event(bool json, double time_s, const char *event, const char *text)
{
	if (json) {
		status_json(json_pack("{s:s, s:f, s:o}", "event", event, "time_s", time_s, "text",
				      json_text(text)));
	} else {
		status_clear();
		log_info("%s: %s", event, text);
	}
}
