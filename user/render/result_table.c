// SPDX-License-Identifier: GPL-2.0-only
/* The result as a table: one line for each size, the options above it, the warnings below it. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "bench/rpc_overhead.h"
#include "remote/remote.h"
#include "base/text.h"
#include "render/grid.h"
#include "render/histogram_text.h"
#include "render/sink.h"

enum { KINDS = TESTS };

static void time_text(int64_t ns, char *buf, size_t len)
{
	if (ns % 1000000000 == 0)
		snprintf(buf, len, "%" PRId64 "s", ns / 1000000000);
	else if (ns % 1000000 == 0)
		snprintf(buf, len, "%" PRId64 "ms", ns / 1000000);
	else
		snprintf(buf, len, "%" PRId64 "us", ns / 1000);
}

/* The options that differ from the defaults, as on a command line. */
static void print_options(const struct bench_options *o, char *buf, size_t len)
{
	struct bench_options plain = {};
	char was[4096], is[4096];

	bench_defaults(&plain);
	for (const struct opt *row = bench_option_rows; row->name || row->help; row++) {
		if (!row->name || row->hidden_from_result || !strcmp(row->name, "mode") ||
		    !strcmp(row->name, "size") || !strcmp(row->name, "placement") ||
		    !strcmp(row->name, "test"))
			continue;
		opt_format(row, &plain, was, sizeof(was));
		opt_format(row, o, is, sizeof(is));
		if (!strcmp(was, is))
			continue;
		if (row->type == OPT_TIME)
			time_text(*(const int64_t *)((const char *)o + row->offset), is,
				  sizeof(is));
		if (row->type == OPT_FLAG)
			text_append(buf, len, "  --%s%s",
				    *(const bool *)((const char *)o + row->offset) ? "" : "no-",
				    row->name);
		else
			text_append(buf, len, "  --%s %s", row->name, is);
	}
	opt_free(bench_option_rows, &plain);
}

static void print_head(const struct result *r, const struct paint *paint)
{
	const struct bench_plan *p = r->plan;
	char text[1500], buf[600];

	snprintf(text, sizeof(text), "%s  placement %s", p->w->name, placement_name(p->placement));
	if (p->cpus[0] >= 0)
		text_append(text, sizeof(text), " (CPU %d, %d)", p->cpus[ROLE_CLIENT],
			    p->cpus[ROLE_SERVER]);
	if (p->remote)
		text_append(text, sizeof(text), "  %s (%s, %s) to %s (%s, %s)",
			    p->remote->here.name, "here", p->remote->here.kernel,
			    p->remote->host.name, p->remote->address, p->remote->host.kernel);
	buf[0] = '\0';
	print_options(&p->o, buf, sizeof(buf));
	paint_paragraph(paint, INK_PLAIN, 0, 2, "%s%s  clock %s", text, buf, p->clock.name);
}

static const char *nodelay_text(const struct result *r, enum test t)
{
	if (!(r->plan->w->flags & WL_TCP) || t == TEST_CONNECT)
		return "";
	return bench_nodelay(r->plan, t) ? ", TCP_NODELAY" : ", Nagle as the kernel has it";
}

static const char *what(const struct result *r, enum test t)
{
	static const char *const names[KINDS] = {
		"Latency: half a round trip", "Throughput", "One-way time",
			"Connect: the time of connect()",
	};

	return t == TEST_LATENCY && r->plan->w->flags & WL_RELIABLE
		       ? "Latency: from a message to its acknowledgement"
		       : names[t];
}

static bool has_handshake(const struct result *r, enum test t)
{
	return t == TEST_CONNECT && r->plan->w->flags & WL_TCP;
}

static void title(const struct result *r, enum test t, const struct paint *paint)
{
	const char *how = "";

	if (t == TEST_THROUGHPUT)
		how = r->plan->o.ack == ACK_MESSAGE ? ", an application ack for each message"
						    : ", bulk, one final ack";
	else if (r->plan->o.rate > 0)
		how = ", from the intended start";
	if (has_handshake(r, t))
		how = "; medians of SYN to SYN-ACK (syn) and SYN-ACK to ACK (synack) by TCP's own "
		      "measure, in whole us";
	fputc('\n', paint->out);
	paint_paragraph(paint, INK_BOLD, 0, 2, "%s%s%s", what(r, t), how, nodelay_text(r, t));
}

static void us(struct grid *g, double ns)
{
	if (isnan(ns))
		grid_text(g, "-");
	else
		grid_text(g, ns < 1e5 ? "%.2f" : "%.0f", ns / 1e3);
}

static void mb(struct grid *g, double bytes_per_s)
{
	if (isnan(bytes_per_s))
		grid_text(g, "-");
	else
		grid_text(g,
			  bytes_per_s < 1e5   ? "%.3g"
			  : bytes_per_s < 1e8 ? "%.2f"
					      : "%.0f",
			  bytes_per_s / 1e6);
}

static void latency_cells(struct grid *g, const struct latency_result *l)
{
	const double v[] = { l->s.min, l->s.q1, l->s.median, l->s.q3, l->s.p95, l->s.p99, l->s.p999,
		l->s.max };

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		us(g, l->present ? v[i] : NAN);
	if (l->present && !isnan(l->s.uncertainty))
		grid_text(g, "%.4f", l->s.uncertainty / 1e3);
	else
		grid_text(g, "-");
}

static void mean_cell(struct grid *g, const struct point *p, const struct result *r)
{
	if (r->plan->o.mean)
		us(g, p->latency.present ? p->latency.s.mean : NAN);
}

static void lost_cell(struct grid *g, const struct point *p, bool lossy)
{
	if (lossy)
		grid_text(g, "%" PRIu64, p->lost);
}

static void handshake_cells(struct grid *g, const struct result *r, const struct point *p)
{
	if (!has_handshake(r, p->test))
		return;
	us(g, p->latency.has_syn ? p->latency.syn.median : NAN);
	us(g, p->latency.has_synack ? p->latency.synack.median : NAN);
}

/* Prints the histogram of a single size; for many sizes a picture shows more. */
static void histogram(const struct result *r, enum test t, FILE *out)
{
	struct paint paint = paint_on(out, (enum colour_when)r->plan->o.colour);
	const struct point *one = NULL;

	for (size_t i = 0; i < r->n; i++) {
		if (r->points[i].test != t)
			continue;
		if (one)
			return;
		one = &r->points[i];
	}
	if (one && one->latency.present)
		histogram_print(one->latency.histogram, &paint);
}

static void latency_table(const struct result *r, enum test t, FILE *out)
{
	bool lossy = r->plan->w->flags & WL_LOSSY;
	struct grid *g;
	char columns[160], buf[24];

	snprintf(columns, sizeof(columns),
		 "size|2:samples|min us|5:q1|median|5:q3|4:p95|p99|3:p99.9|max|1:+-%s%s%s",
		 r->plan->o.mean ? "|mean" : "", lossy ? "|lost" : "",
		 has_handshake(r, t) ? "|syn|synack" : "");
	g = grid_new(columns);

	for (size_t i = 0; i < r->n; i++) {
		const struct point *p = &r->points[i];

		if (p->test != t)
			continue;
		grid_text(g, "%s", size_text(p->size, buf));
		grid_text(g, "%zu", p->latency.present ? p->latency.s.n : 0);
		latency_cells(g, &p->latency);
		mean_cell(g, p, r);
		lost_cell(g, p, lossy);
		handshake_cells(g, r, p);
	}
	grid_print(g, out);
	histogram(r, t, out);
}

static void throughput_row(struct grid *g, const struct point *p, bool lossy, bool acked)
{
	const struct throughput_result *t = &p->throughput;
	char buf[24];

	grid_text(g, "%s", size_text(p->size, buf));
	mb(g, t->bytes_per_s);
	mb(g, t->ci.lo);
	mb(g, t->ci.hi);
	grid_text(g, "%zu", t->n_trials);
	grid_figure(g, p->elapsed_ns ? (double)p->messages * 1e9 / (double)p->elapsed_ns : NAN);
	grid_text(g, "%.2f", (double)p->elapsed_ns / 1e9);
	if (acked) {
		us(g, p->latency.s.median);
		us(g, p->latency.s.p99);
	}
	lost_cell(g, p, lossy);
}

static void throughput_table(const struct result *r, FILE *out)
{
	bool lossy = r->plan->w->flags & WL_LOSSY, acked = r->plan->o.ack == ACK_MESSAGE;
	char columns[160];
	struct grid *g;

	snprintf(columns, sizeof(columns),
		 "size|MB/s|95%% from|to|3:trials|1:messages/s|4:seconds%s%s",
		 acked ? "|median us|2:p99" : "", lossy ? "|lost" : "");
	g = grid_new(columns);
	for (size_t i = 0; i < r->n; i++)
		if (r->points[i].test == TEST_THROUGHPUT)
			throughput_row(g, &r->points[i], lossy, acked);
	grid_print(g, out);
}

/* Whether two warnings differ only in their figures. */
static bool same_kind(const char *a, const char *b)
{
	static const char figures[] = "0123456789.+-";

	for (;; a++, b++) {
		a += strspn(a, figures);
		b += strspn(b, figures);
		if (*a != *b)
			return false;
		if (!*a)
			return true;
	}
}

static size_t count_kind(const struct result *r, size_t from, const char *text)
{
	size_t n = 0;

	for (size_t i = from; i < r->n; i++)
		for (size_t k = 0; k < r->points[i].n_warnings; k++)
			n += same_kind(text, r->points[i].warnings[k]);
	return n;
}

static bool said_before(const struct result *r, size_t upto, const char *text)
{
	for (size_t i = 0; i < upto; i++)
		for (size_t k = 0; k < r->points[i].n_warnings; k++)
			if (same_kind(text, r->points[i].warnings[k]))
				return true;
	return false;
}

/* Prints the first warning of each kind, and how many are like it. The JSON has them all. */
static void print_caveats(const struct result *r, const struct paint *paint)
{
	char buf[24], more[40];
	bool any = false;

	for (size_t i = 0; i < r->n; i++) {
		const struct point *p = &r->points[i];

		for (size_t k = 0; k < p->n_warnings; k++) {
			size_t alike = count_kind(r, i + 1, p->warnings[k]);

			if (said_before(r, i, p->warnings[k]))
				continue;
			snprintf(more, sizeof(more), " (and %zu like it)", alike);
			if (!any)
				fputs("\nCaveats:\n", paint->out);
			any = true;
			paint_paragraph(paint, INK_YELLOW, 2, 4, "%s %s: %s%s", test_name(p->test),
					size_text(p->size, buf), p->warnings[k], alike ? more : "");
		}
	}
	if (!r->complete)
		paint_paragraph(paint, INK_BOLD_YELLOW, 0, 2,
				"The run did not finish: only its completed points are shown.");
}

/* The table for transports that retransmit: how often they did, and why. */
static void reliable_table(const struct result *r, FILE *out)
{
	struct grid *g = grid_new("size|<test|2:packets|sent|again|3:came|dropped|4:twice|5:early|"
				  "lost %|over --rto|1:over 1 s");
	char buf[24];

	for (size_t i = 0; i < r->n; i++) {
		const struct point *p = &r->points[i];
		const struct reliable_counts *n = &p->reliable.n;
		const uint64_t v[] = { n->packets, n->transmissions, n->retransmits, n->arrivals,
			n->dropped, n->duplicates, n->early };

		grid_text(g, "%s", size_text(p->size, buf));
		grid_text(g, "%s", test_name(p->test));
		for (size_t k = 0; k < sizeof(v) / sizeof(v[0]); k++)
			grid_text(g, "%" PRIu64, v[k]);
		grid_text(g, isnan(p->reliable.loss) ? "-" : "%.2f", p->reliable.loss * 100);
		grid_text(g, p->latency.present ? "%" PRIu64 : "-", p->reliable.over_rto);
		grid_text(g, p->latency.present ? "%" PRIu64 : "-", p->reliable.over_second);
	}
	fputs("\nPackets that were repeated\n", out);
	grid_print(g, out);
}

static void maybe_us(struct grid *g, int64_t ns)
{
	us(g, ns == FACT_UNKNOWN ? NAN : (double)ns);
}

static void rpc_row(struct grid *g, const struct point *p)
{
	const struct rpc_facts *f = &p->rpc.facts;
	char buf[24];

	grid_text(g, "%s", size_text(p->size, buf));
	grid_text(g, "%s", test_name(p->test));
	maybe_us(g, f->first_call_ns);
	us(g, p->latency.present ? 2 * p->latency.s.median : NAN);
	us(g, p->latency.present ? 2 * p->latency.s.mean : NAN);
	maybe_us(g, f->marshal_ns);
	maybe_us(g, f->unmarshal_ns);
	grid_text(g, f->marshalled_bytes == FACT_UNKNOWN ? "-" : "%" PRId64, f->marshalled_bytes);
	us(g, 2 * p->rpc.plain_ns);
	mb(g, p->rpc.plain_bytes_per_s);
	grid_text(g, isnan(rpc_overhead(p)) ? "-" : "%.2f", rpc_overhead(p));
}

/* Prints the times of whole calls, not of half of them, as the libraries' own benchmarks do. */
static void rpc_table(const struct result *r, FILE *out)
{
	const struct rpc_result *first = &r->points[0].rpc;
	char columns[200];
	struct grid *g;

	snprintf(columns, sizeof(columns),
		 "size|<test|first us|median us|2:mean|3:marshal|unmarshal|4:bytes|1:%s us|%s "
		 "MB/s|times",
		 first->plain_mode, first->plain_mode);
	g = grid_new(columns);
	for (size_t i = 0; i < r->n; i++)
		rpc_row(g, &r->points[i]);
	fprintf(out, "\nWhole calls (%s, %s%s%s), beside plain %s over the same path\n",
		first->facts.library, first->payload, first->transport ? ", " : "",
		first->transport ? first->transport : "", first->plain_mode);
	grid_print(g, out);
}

static void knobs_text(const struct knobs *k, char *buf, size_t len)
{
	const struct {
		const char *flag;
		int64_t v;
	} sizes[] = { { "sndbuf", k->sndbuf }, { "rcvbuf", k->rcvbuf }, { "pipe-size",
		k->pipe_size } };
	bool any = k->cc;
	char size[24];

	if (k->cc)
		text_append(buf, len, " --cc %s", k->cc);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (sizes[i].v)
			text_append(buf, len, " --%s %s", sizes[i].flag,
				    size_text(sizes[i].v, size));
		any |= sizes[i].v != 0;
	}
	if (!any)
		text_append(buf, len,
			    " the kernel's own choice; no setting that was tried was 3 "
			    "%% better");
}

/* Prints the knobs that the trials chose, and the figure of the kernel's own choice. */
static void print_tuned(const struct result *r, enum test t, const struct paint *p)
{
	char size[24], knobs[200];

	for (size_t i = 0; i < r->n; i++) {
		const struct tuned *k = &r->points[i].tuned;

		if (!k->present || r->points[i].test != t)
			continue;
		knobs[0] = '\0';
		knobs_text(&k->chosen, knobs, sizeof(knobs));
		if (k->n_tried && t == TEST_THROUGHPUT)
			text_append(knobs, sizeof(knobs), " (untuned %.0f MB/s)",
				    k->tried[0].score / 1e6);
		else if (k->n_tried)
			text_append(knobs, sizeof(knobs), " (untuned %.2f us)",
				    k->tried[0].score / 1e3);
		paint_paragraph(p, INK_PLAIN, 0, 2, "tuned %s:%s",
				size_text(r->points[i].size, size), knobs);
	}
}

void table_print(const struct result *r, FILE *out)
{
	struct paint p = paint_on(out, (enum colour_when)r->plan->o.colour);

	print_head(r, &p);
	for (int t = 0; t < TESTS; t++) {
		bool any = false;

		for (size_t i = 0; i < r->n; i++)
			any |= r->points[i].test == (enum test)t;
		if (!any)
			continue;
		title(r, (enum test)t, &p);
		if (t == TEST_THROUGHPUT)
			throughput_table(r, out);
		else
			latency_table(r, (enum test)t, out);
		print_tuned(r, (enum test)t, &p);
	}
	if (r->plan->w->flags & WL_RELIABLE && r->n)
		reliable_table(r, out);
	if (r->plan->w->flags & WL_RPC && r->n)
		rpc_table(r, out);
	print_caveats(r, &p);
}
