// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One page that needs nothing else: no script, no font, no image from anywhere. The style sheet
 * names colours once for light and once for dark surroundings.
 */
#include <math.h>

#include "tools/scoz/causal/plot.h"
#include "tools/scoz/text.h"

static const char style[] =
	":root{color-scheme:light dark;--page:#f6f7f8;--card:#fff;--line:#dfe3e8;--text:#1f2933;"
	"--soft:#566370;--grid:#e9ecef;--axis:#aab3bd;--zero:#7b8794;--limit:#b4bcc5;"
	"--good:#0b7a4b;--bad:#c03d0c;--none:#66727f;--open:#946200}\n"
	"@media(prefers-color-scheme:dark){:root{--page:#14181c;--card:#1b2126;--line:#2d363e;"
	"--text:#e4e9ed;--soft:#9aa7b3;--grid:#272f36;--axis:#55626e;--zero:#74828f;"
	"--limit:#4b5761;--good:#4cc38a;--bad:#ff8f66;--none:#a3afba;--open:#e0b04c}}\n"
	"*{box-sizing:border-box}\n"
	"body{margin:0;background:var(--page);color:var(--text);"
	"font:15px/1.5 system-ui,'Helvetica Neue',Helvetica,Arial,sans-serif}\n"
	"main{max-width:1560px;margin:0 auto;padding:32px 28px 56px}\n"
	"h1{font-size:24px;line-height:1.2;margin:0 0 4px;letter-spacing:-.01em}\n"
	"h2{font-size:17px;margin:40px 0 12px}\n"
	"code,.target{font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace}\n"
	".command{margin:0 0 18px;color:var(--soft);overflow-wrap:anywhere}\n"
	"dl{display:flex;flex-wrap:wrap;gap:10px 36px;margin:0 0 22px}\n"
	"dt{font-size:12px;color:var(--soft)}dd{margin:0;font-variant-numeric:tabular-nums}\n"
	".hint{max-width:76ch;color:var(--soft);margin:0 0 22px}\n"
	".grid-of-curves{display:grid;gap:18px;"
	"grid-template-columns:repeat(auto-fill,minmax(min(100%,340px),1fr))}\n"
	"article{background:var(--card);border:1px solid var(--line);border-radius:8px;"
	"padding:14px 14px 8px;display:flex;flex-direction:column;min-width:0}\n"
	"article h3{font-size:13px;line-height:1.4;margin:0;overflow-wrap:anywhere;"
	"display:-webkit-box;-webkit-line-clamp:3;-webkit-box-orient:vertical;overflow:hidden}\n"
	".meta{font-size:12px;color:var(--soft);overflow-wrap:anywhere}\n"
	".result{display:flex;flex-wrap:wrap;gap:2px 10px;align-items:baseline;font-size:13px;"
	"margin-top:8px;font-variant-numeric:tabular-nums}\n"
	".badge{font-weight:600}.badge::before{content:'';display:inline-block;width:9px;height:"
	"9px;"
	"border-radius:50%;margin-right:6px;background:currentColor}\n"
	".badge.open::before{background:none;border:2px solid currentColor}\n"
	".badge.good,td.good{color:var(--good)}.badge.bad,td.bad{color:var(--bad)}"
	".badge.none,td.none{color:var(--none)}.badge.open,td.open{color:var(--open)}\n"
	"article svg{width:100%;height:auto;margin-top:auto;padding-top:6px;display:block}\n"
	".warning{font-size:12px;color:var(--soft);border-top:1px solid var(--line);"
	"margin:6px 0 0;padding:7px 0 4px}\n"
	"svg text{font-family:system-ui,'Helvetica "
	"Neue',Helvetica,Arial,sans-serif;fill:var(--text)}\n"
	"svg .tick,svg .name{font-size:10.5px;fill:var(--soft)}\n"
	".grid{stroke:var(--grid)}.axis{stroke:var(--axis)}.zero{stroke:var(--zero)}\n"
	".limit{stroke:var(--limit);stroke-dasharray:3 4}\n"
	"svg .good{--c:var(--good)}svg .bad{--c:var(--bad)}svg .none{--c:var(--none)}"
	"svg .open{--c:var(--open)}\n"
	".curve{fill:none;stroke:var(--c);stroke-width:1.8;stroke-linejoin:round}\n"
	".open .curve{stroke-dasharray:5 3}.bar{fill:none;stroke:var(--c)}\n"
	".band{fill:var(--c);fill-opacity:.14}.dot{fill:var(--c);stroke:var(--card);stroke-width:1."
	"2}\n"
	".measured{fill:none;stroke:var(--text);stroke-width:1.3}\n"
	"svg .label{font-size:11.5px;font-weight:600;fill:var(--c);paint-order:stroke;"
	"stroke:var(--card);stroke-width:4px;stroke-linejoin:round}\n"
	".scroll{overflow-x:auto;border:1px solid var(--line);border-radius:8px;"
	"background:var(--card)}\n"
	"table{border-collapse:collapse;width:100%;font-size:13px;font-variant-numeric:tabular-"
	"nums}\n"
	"th,td{padding:7px 12px;text-align:left;vertical-align:top;"
	"border-bottom:1px solid var(--line);white-space:nowrap}\n"
	"tr:last-child td{border-bottom:0}th{font-size:12px;color:var(--soft);font-weight:600}\n"
	"td.target{white-space:normal;overflow-wrap:anywhere;min-width:44ch;max-width:64ch;"
	"font-size:12.5px}\n"
	".number{text-align:right}td .ci{color:var(--soft)}\n"
	".notes{padding-left:20px;max-width:90ch}.notes li{margin:4px 0;overflow-wrap:anywhere}\n"
	"@media print{body{background:none}article{break-inside:avoid}}\n";

static void fact(FILE *out, const char *name, char *value)
{
	fprintf(out, "<div><dt>%s</dt><dd>", name);
	text_xml(out, value);
	fprintf(out, "</dd></div>\n");
	free(value);
}

static void write_facts(FILE *out, const struct model *m)
{
	const struct profile *p = m->profile;
	const struct profile_header *h = &p->runs[p->n_runs - 1].header;
	double share = m->kept_wall_s > 0 ? 100 * m->inserted_s / m->kept_wall_s : 0;
	size_t discarded = p->n_windows - m->kept;

	fprintf(out, "<dl>\n");
	fact(out, "Recorded",
	     xasprintf("%.1f s in %zu run%s", m->duration_s, p->n_runs, p->n_runs == 1 ? "" : "s"));
	fact(out, "Windows", xasprintf("%zu kept, %zu discarded", m->kept, discarded));
	fact(out, "Samples",
	     xasprintf("%llu, %llu lost", (unsigned long long)m->samples_total,
		       (unsigned long long)m->samples_lost));
	fact(out, "Inserted delay", xasprintf("%.2f s (%.1f %%)", m->inserted_s, share));
	for (size_t i = 0; i < p->n_progress; i++) {
		_cleanup_free_ char *latency = model_latency_text(m, i);

		fprintf(out, "<div><dt>Progress \xe2\x80\x9c");
		text_xml(out, p->progress[i].name);
		fprintf(out, "\xe2\x80\x9d</dt><dd>%.0f visits, %.4g/s", m->progress[i].visits,
			m->progress[i].rate_per_s);
		if (latency) {
			fprintf(out, "<br/>");
			text_xml(out, latency);
		}
		fprintf(out, "</dd></div>\n");
	}
	fact(out, "Machine", xasprintf("%s, Linux %s, %d cores", h->host, h->kernel, h->cpus));
	fact(out, "Method",
	     xasprintf("%s engine, %s model, %.0f Hz, seed %llu%s", h->engine, h->model,
		       h->frequency_hz, (unsigned long long)h->seed,
		       strcmp(h->mode, "end-to-end") ? "" : ", end to end"));
	fprintf(out, "</dl>\n");
}

static void write_card(FILE *out, const struct model_row *row, const struct plot_axis *axis,
		       size_t id)
{
	_cleanup_free_ char *summary = estimate_best_text(row->e);
	const char *class = plot_verdict_class(row->e->verdict);

	fprintf(out, "<article>\n<h3 class=\"target\" title=\"");
	text_xml(out, row->target->name);
	fprintf(out, "\">");
	text_xml(out, row->target->name);
	fprintf(out, "</h3>\n<div class=\"meta\">");
	if (*row->target->location) {
		text_xml(out, row->target->location);
		fprintf(out, " \xc2\xb7 ");
	}
	fprintf(out, "%llu samples \xc2\xb7 progress ", (unsigned long long)row->samples);
	text_xml(out, row->progress->name);
	fprintf(out,
		"</div>\n<div class=\"result\"><span class=\"badge %s\">%s</span>"
		"<span class=\"meta\">%s</span></div>\n",
		class, verdict_name(row->e->verdict), summary);
	fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"t%zu d%zu\">\n",
		PLOT_WIDTH, PLOT_HEIGHT, id, id);
	plot_curve(out, row, axis, id);
	fprintf(out, "</svg>\n");
	if (row->e->warning) {
		fprintf(out, "<p class=\"warning\">");
		text_xml(out, row->e->warning);
		fprintf(out, "</p>\n");
	}
	fprintf(out, "</article>\n");
}

static void write_cell(FILE *out, const struct estimate_point *p)
{
	_cleanup_free_ char *text = p ? estimate_point_text(p) : xstrdup("\xe2\x80\x93");
	size_t value = strcspn(text, "[");

	fprintf(out, "<td class=\"number\">%.*s", (int)value, text);
	if (text[value])
		fprintf(out, "<span class=\"ci\">%s</span>", text + value);
	fprintf(out, "</td>");
}

static void write_table(FILE *out, const struct model *m)
{
	fprintf(out,
		"<h2>All numbers</h2>\n<div class=\"scroll\"><table>\n<thead><tr>"
		"<th scope=\"col\">Target</th><th scope=\"col\">Location</th>"
		"<th scope=\"col\" class=\"number\">Samples</th><th scope=\"col\">Progress</th>"
		"<th scope=\"col\">Verdict</th><th scope=\"col\" class=\"number\">Best</th>");
	for (size_t i = 0; i < m->n_speedups; i++)
		fprintf(out, "<th scope=\"col\" class=\"number\">at %g %%</th>", m->speedups[i]);
	fprintf(out, "</tr></thead>\n<tbody>\n");
	for (size_t r = 0; r < m->n_rows; r++) {
		const struct model_row *row = &m->rows[r];
		_cleanup_free_ char *best = estimate_best_text(row->e);

		fprintf(out, "<tr><td class=\"target\">");
		text_xml(out, row->target->name);
		fprintf(out, "</td><td>");
		text_xml(out, row->target->location);
		fprintf(out, "</td><td class=\"number\">%llu</td><td>",
			(unsigned long long)row->samples);
		text_xml(out, row->progress->name);
		fprintf(out, "</td><td class=\"%s\">%s</td><td class=\"number\">%s</td>",
			plot_verdict_class(row->e->verdict), verdict_name(row->e->verdict), best);
		for (size_t i = 0; i < m->n_speedups; i++)
			write_cell(out, model_point(row, m->speedups[i]));
		fprintf(out, "</tr>\n");
	}
	fprintf(out, "</tbody></table></div>\n");
}

static void write_list(FILE *out, const char *title, const struct text_list *l)
{
	if (!l->n)
		return;
	fprintf(out, "<h2>%s</h2>\n<ul class=\"notes\">\n", title);
	for (size_t i = 0; i < l->n; i++) {
		fprintf(out, "<li>");
		text_xml(out, l->text[i]);
		fprintf(out, "</li>\n");
	}
	fprintf(out, "</ul>\n");
}

static void write_trust(FILE *out, const struct model *m)
{
	const struct model_row *row = model_trust_row(m);
	_cleanup_free_ char *text = row ? model_trust_text(row) : NULL;
	_cleanup_free_ char *machine = model_machine_text(m);

	if (!row)
		return;
	fprintf(out, "<h2>Precision</h2>\n<p>");
	text_xml(out, text);
	if (row->trust.command) {
		fprintf(out, "</p>\n<p class=\"command\"><code>");
		text_xml(out, row->trust.command);
		fprintf(out, "</code>");
	}
	fprintf(out, "</p>\n");
	if (machine) {
		fprintf(out, "<p>The machine: ");
		text_xml(out, machine);
		fprintf(out, "</p>\n");
	}
}

static void write_curves(FILE *out, const struct model *m)
{
	struct plot_axis axis = plot_axis(m);

	fprintf(out, "<p class=\"hint\">If a target took x&#160;%% less time, by how much would "
		     "the time "
		     "for one unit of progress shrink? Dots are measurements, bars and bands their "
		     "95&#160;%% intervals; the dashed diagonal is the most a target can give. All "
		     "curves have the same scale.</p>\n<div class=\"grid-of-curves\">\n");
	for (size_t i = 0; i < m->n_rows; i++)
		write_card(out, &m->rows[i], &axis, i);
	fprintf(out, "</div>\n");
	write_table(out, m);
	write_trust(out, m);
}

void plot_write_html(const struct model *m, FILE *out)
{
	const struct profile_header *h = &m->profile->runs[m->profile->n_runs - 1].header;

	fprintf(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		     "<title>Causal profile: ");
	text_xml(out, m->profile->path);
	fprintf(out,
		"</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n<h1>Causal profile</h1>\n"
		"<p class=\"command\">",
		style);
	if (*h->command) {
		fprintf(out, "<code>");
		text_xml(out, h->command);
		fprintf(out, "</code>");
	} else {
		fprintf(out, "the whole system");
	}
	fprintf(out, "</p>\n");
	write_facts(out, m);
	if (m->n_rows)
		write_curves(out, m);
	else
		write_list(out, "Nothing can be concluded", &m->reasons);
	write_list(out, "Warnings", &m->warnings);
	fprintf(out, "</main>\n</body>\n</html>\n");
}
