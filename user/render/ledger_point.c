// SPDX-License-Identifier: GPL-2.0-only
#include "render/ledger_point.h"

#include <math.h>

#include "base/human.h"
#include "render/environment.h"
#include "render/card.h"

/* The end of the benchmark that an endpoint is. A pipe is one endpoint for both ends. */
static const char *role_of(const struct point_ledger *l, const struct trace_endpoint *ep)
{
	if (ep->proto == TRACE_PIPE)
		return "pipe";
	return point_ledger_sender(l, ep) == ROLE_CLIENT ? "client" : "server";
}

static json_t *ab_ratio(const struct ab_ratio *r)
{
	return json_pack("{s:o, s:o, s:o}", "median", json_figure(r->median), "lo",
			 json_figure(r->ci.lo), "hi", json_figure(r->ci.hi));
}

static json_t *ab_arm(const struct ab_result *ab, enum ab_arm a)
{
	return json_pack("{s:o, s:o}", "cpu", ab_ratio(&ab->cpu[a]), "elapsed",
			 ab_ratio(&ab->elapsed[a]));
}

static json_t *ab_to_json(const struct ab_result *ab)
{
	if (!ab->pairs)
		return json_null();
	return json_pack("{s:I, s:I, s:o, s:o, s:f, s:s, s:o, s:o}", "pairs", (json_int_t)ab->pairs,
			 "slice_ns", (json_int_t)ab->slice_ns, "off_cpu_ns",
			 json_figure(ab->off_cpu_ns), "off_elapsed_ns",
			 json_figure(ab->off_elapsed_ns), "confidence", ab->cpu[AB_TRACED].ci.level,
			 "method", ab->cpu[AB_TRACED].ci.method, "traced", ab_arm(ab, AB_TRACED),
			 "beside", ab_arm(ab, AB_BESIDE));
}

json_t *point_ledger_to_json(const struct point *p)
{
	const struct point_ledger *l = p->ledger;
	json_t *o, *eps;

	if (!l)
		return NULL;
	o = ledger_to_json(&l->phase, &l->verdict);
	eps = json_object_get(o, "endpoints");
	for (size_t i = 0; i < l->phase.n; i++)
		json_object_set_new(json_array_get(eps, i), "role",
				    json_string(role_of(l, &l->phase.ep[i])));
	json_object_set_new(o, "stall_per_message_ns", json_figure(l->stall_per_message_ns));
	json_object_set_new(o, "normalised_stall", json_figure(l->normalised_stall));
	json_object_set_new(o, "traced_figure", json_figure(l->traced_headline));
	json_object_set_new(o, "cost_ratio", json_figure(l->cost_ratio));
	json_object_set_new(o, "ab", ab_to_json(&l->ab));
	return o;
}

json_t *traced_to_json(const struct traced *tr)
{
	return tr->t ? trace_to_json(tr->t)
		     : json_pack("{s:n, s:s}", "backend", "why", tr->failed.text);
}

/* ": 30.5 us, p99 83.7 us", or ": 1940 MB/s" */
static void point_figure(const struct point *p, char *buf, size_t len)
{
	char median[32], p99[32], rate[32];

	*buf = '\0';
	if (p->throughput.present && !isnan(p->throughput.bytes_per_s)) {
		human_figure(p->throughput.bytes_per_s / 1e6, 3, rate, sizeof(rate));
		snprintf(buf, len, ": %s MB/s", rate);
	} else if (p->latency.present) {
		human_ns(p->latency.s.median, median, sizeof(median));
		human_ns(p->latency.s.p99, p99, sizeof(p99));
		snprintf(buf, len, ": median %s, p99 %s", median, p99);
	}
}

/* "latency, 64K: median 30.5 us, p99 83.7 us": the point's own figure */
static void point_title(const struct point *p, const struct paint *paint)
{
	char size[24], figure[96];

	point_figure(p, figure, sizeof(figure));
	paint_paragraph(paint, INK_BOLD, 0, 2, "%s, %s%s", test_name(p->test),
			size_text(p->size, size), figure);
}

/* NIST's three stall points (the paper's section III), as one stopwatch for each sender. */
static void nist_rows(const struct point *p, const struct paint *paint)
{
	const struct point_ledger *l = p->ledger;
	char name[160], parts[4][32];

	for (size_t i = 0; i < l->phase.n; i++) {
		const struct trace_endpoint *ep = &l->phase.ep[i];
		uint64_t by_point[4] = {};
#define NIST_POINT(sym, num, name, stall, nist, what, fix) \
	if (stall) \
		by_point[nist] += ep->tx.ns[sym];
		TX_STATES(NIST_POINT)
		if (!endpoint_sent(ep))
			continue;
		endpoint_name(ep, name, sizeof(name));
		for (int k = 0; k < 4; k++)
			human_ns((double)by_point[k], parts[k], sizeof(parts[k]));
		paint_paragraph(paint, INK_PLAIN, 2, 4,
				"%s: stall %s = memory %s + window %s + partial packet %s + others "
				"(pacing, recovery) %s",
				name, human_time((double)ledger_stall_ns(&ep->tx)).text, parts[1],
				parts[2], parts[3], parts[0]);
	}
}

static void cost_line(const struct point_ledger *l, const struct paint *p)
{
	if (!isnan(l->cost_ratio))
		paint_paragraph(p, INK_DIM, 2, 4,
				"measured without the ledger; with it, this test took %.2f times "
				"as long",
				l->cost_ratio);
}

static void ab_line(const char *what, const struct ab_result *ab, enum ab_arm a, const char *unit,
		    const struct paint *p)
{
	const struct ab_ratio *cpu = &ab->cpu[a], *elapsed = &ab->elapsed[a];

	paint_paragraph(p, INK_PLAIN, 4, 6,
			"%s  CPU time x %.3f [%.3f, %.3f] (+%s a %s), elapsed x %.3f [%.3f, %.3f]",
			what, cpu->median, cpu->ci.lo, cpu->ci.hi,
			human_time((cpu->median - 1) * ab->off_cpu_ns).text, unit, elapsed->median,
			elapsed->ci.lo, elapsed->ci.hi);
}

static void ab_lines(const struct ab_result *ab, enum test t, const struct paint *p)
{
	const char *unit = t == TEST_THROUGHPUT ? "message" : "round trip";

	if (!ab->pairs)
		return;
	paint_paragraph(p, INK_PLAIN, 2, 4, "own cost, %zu rounds of %.0f ms slices:", ab->pairs,
			(double)ab->slice_ns / 1e6);
	ab_line("traced              ", ab, AB_TRACED, unit, p);
	ab_line("others traced beside", ab, AB_BESIDE, unit, p);
}

static void whole(const struct point *p, const struct bench_options *o, const struct paint *paint)
{
	const struct point_ledger *l = p->ledger;

	point_title(p, paint);
	verdict_screen(&l->phase, &l->verdict, &(struct card_extent){ .ledger = o->ledger }, paint);
	cost_line(l, paint);
	ab_lines(&l->ab, p->test, paint);
	fputc('\n', paint->out);
}

/* "latency 16K: STALLED 95 %  a[1] waits for b[2], 43.9 ms a message" */
static void in_one_line(const struct point *p, const struct paint *paint)
{
	static const enum ink inks[OUTCOMES_N] = { [OUTCOME_STALLED] = INK_RED,
		[OUTCOME_WAITING] = INK_YELLOW, [OUTCOME_HEALTHY] = INK_GREEN,
		[OUTCOME_UNKNOWN] = INK_YELLOW };
	const struct point_ledger *l = p->ledger;
	struct card *c = malloc(sizeof(*c));
	char per[32] = "", share[16] = "", size[24];

	if (!c)
		return;
	card_make(&l->phase, &l->verdict, c);
	if (l->stall_per_message_ns > 0)
		human_ns(l->stall_per_message_ns, per, sizeof(per));
	if (!isnan(c->share) && c->outcome != OUTCOME_HEALTHY)
		snprintf(share, sizeof(share), " %.*f %%", c->share < 0.0995 ? 1 : 0,
			 100 * c->share);
	paint_paragraph(paint, inks[c->outcome], 2, 4, "%s %s: %s%s  %s%s%s%s%s%s",
			test_name(p->test), size_text(p->size, size), outcome_words[c->outcome],
			share, c->head, c->cause ? " (" : "", c->cause ? c->cause : "",
			c->cause ? ")" : "", *per ? ", stall a message " : "", per);
	ab_lines(&l->ab, p->test, paint);
	free(c);
}

static double stalled(const struct point *p)
{
	const struct point_ledger *l = p->ledger;

	return l && l->stall_per_message_ns > 0 ? l->stall_per_message_ns : 0;
}

/* Prints the whole card of the point whose messages stall longest, and a line for each point. */
static void many(const struct result *r, const struct paint *paint)
{
	const struct point *worst = NULL;

	for (size_t i = 0; i < r->n; i++)
		if (r->points[i].ledger && (!worst || stalled(&r->points[i]) > stalled(worst)))
			worst = &r->points[i];
	if (!worst)
		return;
	if (stalled(worst) > 0)
		whole(worst, &(struct bench_options){}, paint);
	for (size_t i = 0; i < r->n; i++)
		if (r->points[i].ledger)
			in_one_line(&r->points[i], paint);
	fputc('\n', paint->out);
}

static void one_point(const struct point *p, const struct bench_options *o, bool nist,
		      const struct paint *paint)
{
	if (!p->ledger)
		return;
	if (!nist) {
		whole(p, o, paint);
		return;
	}
	point_title(p, paint);
	nist_rows(p, paint);
}

enum { WHOLE_UP_TO = 2 };

void ledgers_print(const struct result *r, const struct traced *tr, bool nist, FILE *out)
{
	const struct bench_options *o = &r->plan->o;
	struct paint paint = paint_on(out, (enum colour_when)o->colour);
	size_t n = 0;

	if (!tr->t && err_is_set(&tr->failed))
		paint_paragraph(&paint, INK_YELLOW, 0, 2, "no ledger: %s", tr->failed.text);
	for (size_t i = 0; tr->t && i < r->n; i++)
		n += r->points[i].ledger != NULL;
	if (n > WHOLE_UP_TO && !o->ledger && !nist) {
		many(r, &paint);
		return;
	}
	for (size_t i = 0; tr->t && i < r->n; i++)
		one_point(&r->points[i], o, nist, &paint);
}
