// SPDX-License-Identifier: GPL-2.0-only
/* The dips over a range of sizes, as text and as JSON. */
#include <math.h>

#include "diagnose/report.h"
#include "render/environment.h"
#include "render/grid.h"
#include "render/ledger_text.h"
#include "render/sink.h"

static double rate(const struct dip_size *s)
{
	return (double)s->size * 1e3 / s->median; /* MB/s */
}

static void size_row(const struct dip_size *s, struct grid *g)
{
	char size[24];

	grid_text(g, "  %s", size_text(s->size, size));
	grid_text(g, "%.4g", rate(s));
	grid_text(g, "%s", human_time(s->median).text);
	grid_text(g, "%s", human_time(s->lawful).text);
	if (s->dip)
		grid_text(g, "%.0f %% (p %.2g)", 100 * s->depth, s->p);
	else
		grid_text(g, "-");
}

static void band_row(const struct range *r, const struct band *b, const struct paint *p)
{
	char first[24], last[24], deepest[24], stall[32] = "-", why[160];

	if (!isnan(b->stall_ns))
		human_ns(b->stall_ns, stall, sizeof(stall));
	snprintf(why, sizeof(why), "no stall explains it");
	if (b->cause < DIAG_CAUSES)
		snprintf(why, sizeof(why), "%s is %s of it: %.0f %% explained [at least %.0f]",
			 diag_cause_name(b->cause), stall, 100 * b->explained,
			 100 * b->explained_lo);
	paint_paragraph(p, INK_PLAIN, 2, 4,
			"%s to %s, deepest at %s: %.0f %% of the throughput missing, %s too long "
			"per message; %s",
			size_text(r->sizes[b->b.first].size, first),
			size_text(r->sizes[b->b.last].size, last),
			size_text(r->sizes[b->b.deepest].size, deepest),
			100 * r->sizes[b->b.deepest].depth, human_time(b->excess_ns).text, why);
}

void report_range_text(const struct range *r, const struct paint *p)
{
	struct grid *g;

	if (!r->judged) {
		paint_paragraph(p, INK_PLAIN, 0, 2,
				"Dips: not judged; this needs at least %d sizes and %d repeats of "
				"each",
				RANGE_LEAST, DIPS_REPEATS_LEAST);
		return;
	}
	paint_paragraph(p, INK_BOLD, 0, 2,
			"Dips: %zu among %zu sizes (a message takes longer than a larger one, or "
			"longer per byte than a smaller one, by more than repeats vary; %.0f %% "
			"level for all sizes together)",
			r->n_bands, r->n, 100 * DIAG_LEVEL);
	for (size_t i = 0; i < r->n_bands; i++)
		band_row(r, &r->bands[i], p);
	fputc('\n', p->out);
	g = grid_new("  size|MB/s|1:time/message|2:expected at most|missing");
	for (size_t i = 0; i < r->n; i++)
		size_row(&r->sizes[i], g);
	grid_print(g, p->out);
}

static json_t *size_json(const struct dip_size *s)
{
	return json_pack("{s:I, s:I, s:o, s:o, s:o, s:o, s:b}", "size", (json_int_t)s->size,
			 "repeats", (json_int_t)s->n, "time_ns", json_figure(s->median),
			 "lawful_ns", json_figure(s->lawful), "depth", json_figure(s->depth), "p",
			 json_figure(s->p), "dip", s->dip);
}

static json_t *band_json(const struct range *r, const struct band *b)
{
	json_t *o = json_pack(
		"{s:I, s:I, s:I, s:o, s:o}", "first", (json_int_t)r->sizes[b->b.first].size, "last",
		(json_int_t)r->sizes[b->b.last].size, "deepest",
		(json_int_t)r->sizes[b->b.deepest].size, "depth",
		json_figure(r->sizes[b->b.deepest].depth), "excess_ns", json_figure(b->excess_ns));

	json_object_set_new(o, "cause",
			    b->cause < DIAG_CAUSES ? json_string(diag_cause_name(b->cause))
						   : json_null());
	json_object_set_new(o, "stall_ns", json_figure(b->stall_ns));
	json_object_set_new(o, "explained", json_figure(b->explained));
	json_object_set_new(o, "explained_lo", json_figure(b->explained_lo));
	return o;
}

json_t *report_range_json(const struct range *r)
{
	json_t *sizes = json_array(), *bands = json_array();

	for (size_t i = 0; r->judged && i < r->n; i++)
		json_array_append_new(sizes, size_json(&r->sizes[i]));
	for (size_t i = 0; i < r->n_bands; i++)
		json_array_append_new(bands, band_json(r, &r->bands[i]));
	return json_pack("{s:s, s:b, s:o, s:o}", "test", test_name(r->test), "judged", r->judged,
			 "sizes", sizes, "bands", bands);
}
