// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>

#include "base/text.h"
#include "render/paint.h"
#include "verdict/merge_findings.h"
#include "render/ledger_text.h"
#include "try/case_report.h"
#include "try/spelling.h"

static void who_text(const struct live_case *c, char *buf, size_t len)
{
	const struct trace_endpoint *ep = &c->seen.ep[c->finding->endpoint];

	program_name(&ep->tx_calls, buf, len);
}

static void where_text(const struct live_case *c, char *buf, size_t len)
{
	endpoint_name(&c->seen.ep[c->finding->endpoint], buf, len);
	if (c->scope.n > 1)
		text_append(buf, len, " and %zu more like it", c->scope.n - 1);
}

enum { INDENT = 10 };

static void line(const struct paint *p, const char *label, enum ink ink, const char *text)
{
	fprintf(p->out, "  %-7s ", label);
	paint_wrapped(p, ink, text, INDENT, INDENT);
	fputc('\n', p->out);
}

enum { CALLERS_SHOWN = 2 };

/* The program's own frame that wrote, and who called it. */
static void from_lines(const struct call_stack *s, const struct paint *p)
{
	const struct call_frame *f = call_stack_own(s);
	char text[900] = "", one[400];

	for (int shown = 0; f && f < s->v + s->n && shown <= CALLERS_SHOWN; f++) {
		if (!f->function[0] || f->library)
			continue;
		call_frame_text(f, one, sizeof(one));
		text_append(text, sizeof(text), "%s%s", shown++ ? " < " : "", one);
	}
	if (text[0])
		line(p, "from", INK_PLAIN, text);
	if (s->missing[0])
		line(p, text[0] ? "" : "from", INK_DIM, s->missing);
}

static void stall_lines(const struct live_case *c, const struct paint *p)
{
	char text[VERDICT_TEXT];

	where_text(c, text, sizeof(text));
	line(p, "where", INK_PLAIN, text);
	finding_sentence(&c->seen, c->finding, text, sizeof(text));
	line(p, "why", INK_PLAIN, text);
	from_lines(&c->stack, p);
}

/* --- before ----------------------------------------------------------------------------------- */

void case_plan_text(const struct live_case *c, const struct paint *p)
{
	char who[64], each[32], text[400];

	who_text(c, who, sizeof(who));
	human_ns((double)c->window_ns, each, sizeof(each));
	fprintf(p->out, "ipcstall try: %s stalls\n", who);
	stall_lines(c, p);
	for (size_t i = 0; i < c->n; i++) {
		const struct live_trial *t = &c->trials[i];

		if (t->outcome == TRIAL_NOT_RUN)
			snprintf(text, sizeof(text), "%s: %s", t->fix->setting, t->why_not);
		else
			snprintf(text, sizeof(text),
				 "%s: sets %s on %zu descriptor%s (now: %s), %lld times for %s "
				 "each, and undoes it",
				 t->fix->setting, t->setting->said, t->descriptors,
				 plural(t->descriptors), t->before, (long long)c->o->windows, each);
		line(p, t->outcome == TRIAL_NOT_RUN ? "skip" : "try", INK_CYAN, text);
	}
}

/* --- after ------------------------------------------------------------------------------------ */

static const struct live_trial *of_outcome(const struct live_case *c, enum trial_outcome o)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->trials[i].outcome == o)
			return &c->trials[i];
	return NULL;
}

static void interval_text(const struct diag_gain *g, char *buf, size_t len)
{
	char ratio[24], lo[24], hi[24];

	human_figure(g->ratio, 3, ratio, sizeof(ratio));
	human_figure(g->ci.lo, 3, lo, sizeof(lo));
	human_figure(g->ci.hi, 3, hi, sizeof(hi));
	snprintf(buf, len, "x %s [%s, %s]", ratio, lo, hi);
}

static void rates_text(const struct live_trial *t, char *buf, size_t len)
{
	char before[24], after[24];
	bool messages = !isnan(t->per_s[0]);
	const double *v = messages ? t->per_s : t->bytes_per_s;

	human_count(v[0], before, sizeof(before));
	human_count(v[1], after, sizeof(after));
	snprintf(buf, len, "%s to %s %s/s", before, after, messages ? "messages" : "bytes");
}

/* "24.0 to 17.4k messages/s, x 725 [690, 760]" */
static void gain_text(const struct live_trial *t, char *buf, size_t len)
{
	char ratio[96];

	interval_text(&t->rate, ratio, sizeof(ratio));
	rates_text(t, buf, len);
	text_append(buf, len, ", %s; stall %.1f to %.1f %% of the time", ratio,
		    100 * t->stall_share[0], 100 * t->stall_share[1]);
	if (t->by_stall)
		text_append(buf, len,
			    " (it sends no more than before, but each message arrives "
			    "that much sooner)");
}

static void tested_text(const struct live_case *c, const struct live_trial *t, char *buf,
			size_t len)
{
	char each[32];

	human_ns((double)c->window_ns, each, sizeof(each));
	snprintf(buf, len,
		 "%zu windows with it and %zu without, %s each, in random order, on %zu "
		 "descriptor%s",
		 t->n, 2 * t->n, each, t->descriptors, plural(t->descriptors));
}

static void trial_line(const struct live_case *c, const struct live_trial *t,
		       const struct paint *p)
{
	static const char *const words[TRIAL_OUTCOMES] = { "proven", "refuted", "noisy", "skip" };
	static const enum ink inks[TRIAL_OUTCOMES] = { INK_GREEN, INK_RED, INK_YELLOW, INK_DIM };
	char text[640], gain[400];

	if (t->outcome != TRIAL_NOT_RUN)
		gain_text(t, gain, sizeof(gain));
	snprintf(text, sizeof(text), "%s: %s",
		 t->outcome == TRIAL_NOT_RUN ? t->fix->setting : t->setting->said,
		 t->outcome == TRIAL_NOT_RUN ? t->why_not : gain);
	line(p, words[t->outcome], inks[t->outcome], text);
}

static void undone_line(const struct live_case *c, const struct paint *p)
{
	line(p, "undone", c->undone ? INK_PLAIN : INK_BOLD_RED,
	     c->undone ? "every option is as it was"
		       : "NOT every option could be set back: check the program's own settings");
}

static void keep_lines(const struct live_case *c, const struct live_trial *t,
		       const struct paint *p)
{
	char text[400];

	if (t &&
	    spelling_for(t->fix->setting, t->fix->at_peer ? 0 : c->scope.tgid, text, sizeof(text)))
		line(p, "keep", INK_CYAN, text);
}

static const char *outcome_text(const struct live_case *c, enum ink *ink)
{
	*ink = INK_BOLD_GREEN;
	if (of_outcome(c, TRIAL_PROVEN))
		return "PROVEN";
	*ink = INK_BOLD_YELLOW;
	if (of_outcome(c, TRIAL_NOISY))
		return "TOO NOISY TO SAY";
	*ink = INK_BOLD_RED;
	return of_outcome(c, TRIAL_REFUTED) ? "REFUTED" : "NOT TRIED";
}

static void headline(const struct paint *p, enum ink ink, const char *outcome, const char *text)
{
	paint_text(p, ink, outcome);
	fputs("  ", p->out);
	paint_wrapped(p, INK_BOLD, text, paint_width(outcome) + 2, INDENT);
	fputc('\n', p->out);
}

static void tried_text(const struct live_case *c, const struct paint *p)
{
	const struct live_trial *best = of_outcome(c, TRIAL_PROVEN), *any = best;
	char text[400], who[64], head[640];
	const char *outcome;
	enum ink ink;

	for (size_t i = 0; !any && i < c->n; i++)
		any = c->trials[i].outcome != TRIAL_NOT_RUN ? &c->trials[i] : NULL;
	who_text(c, who, sizeof(who));
	if (best)
		rates_text(best, text, sizeof(text));
	snprintf(head, sizeof(head), "%s%son %s%s%s", best ? best->setting->said : "",
		 best ? " " : "", who, best ? ": " : "", best ? text : "");
	outcome = outcome_text(c, &ink);
	headline(p, ink, outcome, head);
	stall_lines(c, p);
	for (size_t i = 0; i < c->n; i++)
		trial_line(c, &c->trials[i], p);
	if (any) {
		tested_text(c, any, text, sizeof(text));
		line(p, "tested", INK_PLAIN, text);
		undone_line(c, p);
	}
	keep_lines(c, best, p);
}

void case_text(const struct live_case *c, const struct paint *p)
{
	static const char *const nothing[CASE_OUTCOMES] = {
		[CASE_NOTHING_SEEN] = "nothing was sent meanwhile; `ipcstall top` shows which "
				      "programs send",
		[CASE_NO_STALL] = "nothing stalled, so there is nothing to fix; `ipcstall attach` "
				  "shows where the time goes",
		[CASE_DECLINED] = "nothing was changed",
	};
	char text[VERDICT_TEXT];

	if (c->outcome == CASE_TRIED || c->outcome == CASE_NO_FIX) {
		tried_text(c, p);
		return;
	}
	headline(p, INK_BOLD_YELLOW, "NOT TRIED", nothing[c->outcome]);
	if (c->outcome == CASE_NO_STALL) {
		verdict_sentence(&c->seen, &c->verdict, text, sizeof(text));
		line(p, "seen", INK_PLAIN, text);
	}
}
