// SPDX-License-Identifier: GPL-2.0-only
#include "render/host_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/human.h"
#include "render/grid.h"
#include "render/paint.h"

enum { LABEL_ALONE = 60 }; /* on a narrower screen a rung's figures stand below its label */

/* ---- clock ---- */

static double cost_of(const struct clock_findings *f, const char *name)
{
	for (int i = 0; i < f->n; i++)
		if (!strcmp(f->probe[i].name, name))
			return f->probe[i].cost_median;
	return NAN;
}

static const char *yes(bool b)
{
	return b ? "yes" : "no";
}

static void tsc_text(const struct clock_findings *f, const struct paint *p)
{
	const struct tick_clock *c = &f->clock;
	char cost[120] = "";

	paint_paragraph(
		p, INK_PLAIN, 0, 2,
		"TSC: constant_tsc %s, nonstop_tsc %s, rdtscp %s, trusted by the kernel %s; "
		"clocksource %s",
		yes(f->facts.constant_tsc), yes(f->facts.nonstop_tsc), yes(f->facts.rdtscp),
		yes(f->facts.kernel_trusts),
		f->facts.clocksource[0] ? f->facts.clocksource : "unknown");
	if (c->tsc) {
		paint_paragraph(p, INK_PLAIN, 0, 2,
				"TSC frequency: %.9f GHz +- %.3f ppm, over %.3f s against "
				"CLOCK_MONOTONIC",
				c->hz / 1e9, c->rel_error * 1e6, (double)c->window_ns / 1e9);
		snprintf(cost, sizeof(cost),
			 "; %.1f ns a stamp against %.1f ns for CLOCK_MONOTONIC",
			 cost_of(f, "rdtscp"), cost_of(f, "CLOCK_MONOTONIC"));
	}
	paint_paragraph(p, INK_PLAIN, 0, 2, "Stamps in timed loops: %s%s", c->why, cost);
	paint_paragraph(p, INK_PLAIN, 0, 2,
			"Reported times: CLOCK_MONOTONIC, the same clock as the kernel's "
			"bpf_ktime_get_ns()");
}

void clock_text(const struct clock_findings *f, FILE *out)
{
	struct paint p = paint_on(out, COLOUR_NEVER);
	struct grid *g = grid_new("<clock|3:getres ns|2:smallest step ns|4:nops between|"
				  "1:cost ns: min|median ns");

	for (int i = 0; i < f->n; i++) {
		grid_text(g, "%s", f->probe[i].name);
		grid_figure(g, f->probe[i].resolution);
		grid_figure(g, f->probe[i].step);
		grid_text(g, "%d", f->probe[i].nops);
		grid_figure(g, f->probe[i].cost_min);
		grid_figure(g, f->probe[i].cost_median);
	}
	grid_print(g, out);
	fputc('\n', out);
	tsc_text(f, &p);
}

/* ---- syscall ---- */

static void quartiles(struct grid *g, const struct summary *s)
{
	grid_figure(g, s->min);
	grid_figure(g, s->q1);
	grid_figure(g, s->median);
	grid_figure(g, s->q3);
}

void calls_text(const struct call_findings *f, FILE *out)
{
	struct grid *g = grid_new("<call, median ns|2:raw min|3:raw Q1|raw|3:raw Q3|2:libc min|"
				  "3:libc Q1|libc|3:libc Q3|4:<note");

	for (int i = 0; i < f->n; i++) {
		grid_text(g, "%s", call_rows[i].name);
		quartiles(g, &f->raw[i]);
		quartiles(g, &f->libc[i]);
		grid_text(g, "%s",
			  call_was_faked(&f->raw[i], &f->libc[i])
				  ? "libc answers without entering the kernel"
				  : "");
	}
	grid_print(g, out);
}

/* ---- machine ---- */

static const char *or_unknown(const char *s)
{
	return s[0] ? s : "unknown";
}

static void described(const struct machine *m, const struct build *b, const struct paint *p)
{
	paint_paragraph(p, INK_PLAIN, 0, 2, "%s, kernel %s %s, %s", or_unknown(m->distribution),
			or_unknown(m->kernel), m->arch, m->hostname);
	paint_paragraph(p, INK_PLAIN, 0, 2,
			"%s, %d of %d CPUs, %.1f GiB, caches L1d %" PRIu64 "K L2 %" PRIu64
			"K L3 %" PRIu64 "K",
			or_unknown(m->cpu_model), m->cpus_online, m->cpus_configured,
			(double)m->memory_bytes / (1 << 30), m->l1d_bytes >> 10, m->l2_bytes >> 10,
			m->l3_bytes >> 10);
	paint_paragraph(p, INK_PLAIN, 0, 2,
			"virtualisation %s, clocksource %s, governor %s, idle driver %s, lockdown "
			"%s",
			or_unknown(m->virtualisation), or_unknown(m->clocksource),
			or_unknown(m->governor), or_unknown(m->idle_driver),
			or_unknown(m->lockdown));
	paint_paragraph(p, INK_PLAIN, 0, 2, "mitigations: %s", or_unknown(m->mitigations));
	paint_paragraph(p, INK_PLAIN, 0, 2, "build: %s (%s), %s, %s, sanitizers %s", b->version,
			b->git, b->compiler, b->flags, b->sanitizers);
	fputc('\n', p->out);
}

static void rungs_as_table(const struct machine_findings *f, FILE *out)
{
	struct grid *g = grid_new("<rung, ns|2:min|3:Q1|median|3:Q3|1:p99|4:n|5:<how");

	for (int i = 0; i < f->n; i++) {
		const struct summary *s = &f->rung[i].s;

		grid_text(g, "%s", ladder_rungs[i].label);
		grid_figure(g, s->min);
		grid_figure(g, s->q1);
		grid_figure(g, s->median);
		grid_figure(g, s->q3);
		grid_figure(g, s->p99);
		grid_text(g, "%zu", s->n);
		grid_text(g, "%s", f->rung[i].known ? f->rung[i].note : "not measured: see below");
	}
	grid_print(g, out);
}

static void rungs_as_lines(const struct machine_findings *f, const struct paint *p)
{
	for (int i = 0; i < f->n; i++) {
		const struct rung_result *r = &f->rung[i];
		char median[32], p99[32];

		human_ns(r->s.median, median, sizeof(median));
		human_ns(r->s.p99, p99, sizeof(p99));
		paint_paragraph(p, INK_PLAIN, 0, 2, "%s", ladder_rungs[i].label);
		if (r->known)
			paint_paragraph(p, INK_PLAIN, 2, 2, "median %s, p99 %s", median, p99);
	}
}

void machine_text(const struct machine_findings *f, FILE *out)
{
	struct paint p = paint_on(out, COLOUR_NEVER);

	described(&f->machine, f->build, &p);
	if (p.width < LABEL_ALONE)
		rungs_as_lines(f, &p);
	else
		rungs_as_table(f, out);
	for (int i = 0; i < f->n; i++)
		if (!f->rung[i].known)
			paint_paragraph(&p, INK_PLAIN, 0, 2, "not measured: %s: %s",
					ladder_rungs[i].label, f->rung[i].note);
}
