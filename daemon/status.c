// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/status.h"
#include "base/json_text.h"

#include <pthread.h>

/* Whoever finds no memory while he has it says so. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static char *shown; /* NULL: there is no line */

void status_clear(void)
{
	pthread_mutex_lock(&lock);
	if (shown)
		fputs("\r\033[K", stderr);
	free(shown);
	shown = NULL;
	pthread_mutex_unlock(&lock);
}

void status_show(const char *line)
{
	pthread_mutex_lock(&lock);
	if (!shown || strcmp(shown, line) != 0) {
		status_clear();
		log_before = status_clear;
		fputs(line, stderr);
		fflush(stderr);
		shown = xstrdup(line);
	}
	pthread_mutex_unlock(&lock);
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
	if (json)
		status_json(json_pack("{s:s, s:f, s:o}", "event", event, "time_s", time_s, "text",
				      json_text(text)));
	else
		log_info("%s: %s", event, text);
}
