// SPDX-License-Identifier: GPL-2.0-only
#include "render/ledger_point.h"

#include <math.h>

#include "render/environment.h"
#include "render/card.h"

/* Which end of the benchmark an endpoint is; a pipe has one ledger of each. */
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
	return tr->t ? trace_to_json(tr->t) : json_pack("{s:n, s:s}", "backend", "why", tr->why);
}

static void point_title(const struct point *p, FILE *out)
{
	char size[24];

	fprintf(out, "%s, %s", test_name(p->test), size_text(p->size, size));
}

/* NIST's three stall points (the paper's section III), as one stopwatch for each sender. */
static void nist_rows(const struct point *p, FILE *out)
{
	const struct point_ledger *l = p->ledger;
	char name[160], sum[32], parts[4][32];

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
		human_ns((double)ledger_stall_ns(&ep->tx), sum, sizeof(sum));
		for (int k = 0; k < 4; k++)
			human_ns((double)by_point[k], parts[k], sizeof(parts[k]));
		fprintf(out,
			"  %s: stall %s = memory %s + window %s + partial packet %s + others "
			"(pacing, recovery) %s\n",
			name, sum, parts[1], parts[2], parts[3], parts[0]);
	}
}

static void cost_line(const struct point_ledger *l, FILE *out)
{
	if (!isnan(l->cost_ratio))
		fprintf(out,
			"  the figures above were taken without the ledger; with it this test ran "
			"%.2f times as long\n",
			l->cost_ratio);
}

static void ab_line(const char *what, const struct ab_result *ab, enum ab_arm a, const char *unit,
		    FILE *out)
{
	const struct ab_ratio *cpu = &ab->cpu[a], *elapsed = &ab->elapsed[a];
	char more[32];

	human_ns((cpu->median - 1) * ab->off_cpu_ns, more, sizeof(more));
	fprintf(out,
		"    %s  CPU time x %.3f [%.3f, %.3f] (+%s a %s), elapsed x %.3f [%.3f, %.3f]\n",
		what, cpu->median, cpu->ci.lo, cpu->ci.hi, more, unit, elapsed->median,
		elapsed->ci.lo, elapsed->ci.hi);
}

static void ab_lines(const struct ab_result *ab, enum test t, FILE *out)
{
	const char *unit = t == TEST_THROUGHPUT ? "message" : "round trip";

	if (!ab->pairs)
		return;
	fprintf(out, "  own cost, %zu rounds of %.0f ms slices:\n", ab->pairs,
		(double)ab->slice_ns / 1e6);
	ab_line("traced              ", ab, AB_TRACED, unit, out);
	ab_line("others traced beside", ab, AB_BESIDE, unit, out);
}

static void whole(const struct point *p, const struct bench_options *o, const struct paint *paint)
{
	const struct point_ledger *l = p->ledger;

	point_title(p, paint->out);
	fputc('\n', paint->out);
	verdict_screen(&l->phase, &l->verdict, &(struct card_extent){ .ledger = o->ledger }, paint);
	cost_line(l, paint->out);
	ab_lines(&l->ab, p->test, paint->out);
	fputc('\n', paint->out);
}

static void in_one_line(const struct point *p, FILE *out)
{
	const struct point_ledger *l = p->ledger;
	char text[VERDICT_TEXT], per[32] = "-";

	if (!isnan(l->stall_per_message_ns))
		human_ns(l->stall_per_message_ns, per, sizeof(per));
	verdict_sentence(&l->phase, &l->verdict, text, sizeof(text));
	fputs("  ", out);
	point_title(p, out);
	fprintf(out, ": stall per message %s; %s\n", per, text);
	ab_lines(&l->ab, p->test, out);
}

enum { WHOLE_UP_TO = 2 };

void ledgers_print(const struct result *r, const struct traced *tr, bool nist, FILE *out)
{
	const struct bench_options *o = &r->plan->o;
	struct paint paint = paint_on(out, (enum colour_when)o->colour);
	size_t n = 0;

	if (!tr->t) {
		if (tr->why[0])
			fprintf(out, "\nno ledger: %s\n", tr->why);
		return;
	}
	for (size_t i = 0; i < r->n; i++)
		n += r->points[i].ledger != NULL;
	for (size_t i = 0; i < r->n; i++) {
		const struct point *p = &r->points[i];

		if (!p->ledger)
			continue;
		if (nist) {
			point_title(p, out);
			fputc('\n', out);
			nist_rows(p, out);
		} else {
			n <= WHOLE_UP_TO || o->ledger ? whole(p, o, &paint) : in_one_line(p, out);
		}
	}
}
