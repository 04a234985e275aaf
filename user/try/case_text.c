// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>

#include "base/text.h"
#include "render/paint.h"
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

/* The program's own frame that made the send call, and its callers. */
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

static size_t empty_windows(const struct live_trial *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		for (int k = 0; k < TRIAL_WINDOWS; k++)
			n += !t->rounds[i].w[k].delivered;
	return n;
}

/* Whether nothing arrived in most windows, so that they decide nothing. */
static bool hardly_sent(const struct live_trial *t)
{
	return t->outcome == TRIAL_NOISY && 2 * empty_windows(t) > TRIAL_WINDOWS * t->n;
}

/* "24.0 to 17.4k messages/s, x 725 [690, 760]" */
static void gain_text(const struct live_trial *t, char *buf, size_t len)
{
	char ratio[96];

	if (hardly_sent(t)) {
		snprintf(buf, len,
			 "nothing arrived in %zu of %zu windows; a longer --window may tell",
			 empty_windows(t), TRIAL_WINDOWS * t->n);
		return;
	}
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
	if (t->n_unwatched)
		text_append(buf, len,
			    "; then %zu and %zu without the ledger, for the rates it slows down",
			    t->n_unwatched, 2 * t->n_unwatched);
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
		       : "NOT every option could be restored: check the program's own settings");
}

static void keep_line(const struct live_case *c, const struct live_trial *t, const struct paint *p)
{
	char text[400];

	if (spelling_for(t->fix->setting, t->fix->at_peer ? 0 : c->scope.tgid, text, sizeof(text)))
		line(p, "keep", INK_CYAN, text);
}

static const char *outcome_text(enum trial_outcome o, enum ink *ink)
{
	static const struct {
		const char *text;
		enum ink ink;
	} rows[TRIAL_OUTCOMES] = {
		[TRIAL_PROVEN] = { "PROVEN", INK_BOLD_GREEN },
		[TRIAL_REFUTED] = { "REFUTED", INK_BOLD_RED },
		[TRIAL_NOISY] = { "TOO NOISY TO SAY", INK_BOLD_YELLOW },
		[TRIAL_NOT_RUN] = { "NOT TRIED", INK_BOLD_YELLOW },
	};

	*ink = rows[o].ink;
	return rows[o].text;
}

/* The outcome that leads the report: a proven fix, else one that may help, else a refuted one. */
static enum trial_outcome leading_outcome(const struct live_case *c)
{
	static const enum trial_outcome order[] = { TRIAL_PROVEN, TRIAL_NOISY, TRIAL_REFUTED };

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (of_outcome(c, order[i]))
			return order[i];
	return TRIAL_NOT_RUN;
}

/* "TCP_NODELAY, TCP_QUICKACK on known[7]" */
static void subject_text(const struct live_case *c, enum trial_outcome o, char *buf, size_t len)
{
	char who[64];
	const char *between = "";

	buf[0] = '\0';
	for (size_t i = 0; o != TRIAL_NOT_RUN && i < c->n; i++) {
		if (c->trials[i].outcome != o)
			continue;
		text_append(buf, len, "%s%s", between, c->trials[i].setting->said);
		between = ", ";
	}
	who_text(c, who, sizeof(who));
	text_append(buf, len, "%s%s", buf[0] ? " on " : "", who);
}

static void headline(const struct paint *p, enum ink ink, const char *outcome, const char *text)
{
	paint_text(p, ink, outcome);
	fputs("  ", p->out);
	paint_wrapped(p, INK_BOLD, text, paint_width(outcome) + 2, INDENT);
	fputc('\n', p->out);
}

/* Says why no fix was tried, if no fix has a line of its own. */
static void no_fix_line(const struct live_case *c, const struct paint *p)
{
	char text[200];

	if (c->n)
		return;
	snprintf(text, sizeof(text),
		 "no option that can be set from outside cures this; `ipcstall explain %s` says "
		 "what does",
		 trace_tx_names[c->finding->cause]);
	line(p, "next", INK_CYAN, text);
}

static void tried_text(const struct live_case *c, const struct paint *p)
{
	enum trial_outcome o = leading_outcome(c);
	const struct live_trial *lead = of_outcome(c, o);
	char text[400], head[640];
	enum ink ink;
	const char *outcome = outcome_text(o, &ink);

	subject_text(c, o, head, sizeof(head));
	if (o == TRIAL_PROVEN) {
		rates_text(lead, text, sizeof(text));
		text_append(head, sizeof(head), ": %s", text);
	}
	headline(p, ink, outcome, head);
	stall_lines(c, p);
	for (size_t i = 0; i < c->n; i++)
		trial_line(c, &c->trials[i], p);
	no_fix_line(c, p);
	if (o != TRIAL_NOT_RUN) {
		tested_text(c, lead, text, sizeof(text));
		line(p, "tested", INK_PLAIN, text);
	}
	if (c->outcome == CASE_TRIED)
		undone_line(c, p);
	if (o == TRIAL_PROVEN)
		keep_line(c, lead, p);
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
