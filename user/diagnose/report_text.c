// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/report.h"
#include "base/human.h"
#include "base/text.h"
#include "render/card.h"
#include "render/sink.h"

#define CAUSE_WHAT(sym, num, name, stall, nist, what, fix) [sym] = what,
static const char *const whats[DIAG_CAUSES] = {
	TX_STATES(CAUSE_WHAT)
	[DIAG_LOSS_RCVBUF] = "messages are dropped at the full receive buffer",
	[DIAG_LOSS_QDISC] = "messages are dropped by the device's full queue, and no call fails",
	[DIAG_LOSS_ELSEWHERE] = "messages are lost, and no drop that was seen explains it",
};

static const struct diag_round *last_round(const struct diagnosed_workload *p)
{
	return &p->rounds[p->n_rounds - 1];
}

static void party(const struct diagnosed_workload *p, enum role role, char *buf, size_t len)
{
	const struct diag_party *w = &last_round(p)->who[role];

	if (w->pid)
		snprintf(buf, len, "the %s (%s[%d])", role == ROLE_CLIENT ? "client" : "server",
			 w->comm, w->pid);
	else
		snprintf(buf, len, "the %s", role == ROLE_CLIENT ? "client" : "server");
}

enum { FIGURE = 24 };

/* "130 %", "0.31 %", "an unknown share" */
static const char *percent(double share, int digits, char buf[FIGURE])
{
	human_figure(100 * share, digits, buf, FIGURE - 2);
	return isnan(share) ? strcpy(buf, "an unknown share") : strcat(buf, " %");
}

static double median_traced(const struct diagnosed_workload *p, size_t offset)
{
	double v[ROUNDS_ROOM];

	for (size_t i = 0; i < p->n_rounds; i++)
		v[i] = *(const double *)((const char *)&p->rounds[i] + offset);
	return stats_median(v, p->n_rounds);
}

/* The share of the time in which neither end ran. It needs no ledger, and does not say why. */
static double nobody_works(const struct diagnosed_workload *p)
{
	double c = median_traced(p, offsetof(struct diag_round, cpu[ROLE_CLIENT])),
	       s = median_traced(p, offsetof(struct diag_round, cpu[ROLE_SERVER]));

	return fmax(0, 1 - (last_round(p)->one_cpu ? c + s : fmax(c, s)));
}

static void work_text(const struct diagnosed_workload *p, char *buf, size_t len)
{
	double c = median_traced(p, offsetof(struct diag_round, cpu[ROLE_CLIENT])),
	       s = median_traced(p, offsetof(struct diag_round, cpu[ROLE_SERVER]));
	double d = median_traced(p, offsetof(struct diag_round, device)), nobody;

	if (isnan(c) || isnan(s)) /* a saved series may lack them */
		snprintf(buf, len, "how long client and server were at work is unknown");
	else
		snprintf(buf, len, "the client is at work %.0f %% of the time, the server %.0f %%",
			 100 * c, 100 * s);
	if (!isnan(d))
		text_append(buf, len, ", the device or its queue %.0f %%", 100 * d);
	nobody = nobody_works(p) - d - (p->competing > 0 ? p->competing : 0);
	if (nobody > fmax(p->stalls.resolution,
			  p->stalls.most_lost)) /* false if the device's share is NAN */
		text_append(
			buf, len,
			", nobody %.0f %% (an application's own pause, or the way there and back)",
			100 * nobody);
}

/* Who is blamed for a wait, as the end of a sentence. */
static void blame(const struct diagnosed_workload *p, const struct diag_finding *f, char *buf,
		  size_t len)
{
	bool loss = f->cause >= DIAG_LOSS_RCVBUF;
	char who[64];

	party(p, loss ? f->role : (enum role) !f->role, who, sizeof(who));
	buf[0] = '\0';
	if (f->blamed == BLAME_PEER_DELACK)
		snprintf(buf, len, "; it ends with the delayed ACK of %s (%.0f %% of it, %s)",
			 who, 100 * f->blamed_share,
			 f->surety == SEEN_BOTH_ENDS ? "seen at both ends" : "inferred");
	else if (f->blamed == BLAME_PEER_READER)
		snprintf(buf, len, "; meanwhile %s does not read (%s)", who,
			 f->surety == SEEN_BOTH_ENDS ? "seen at both ends" : "inferred");
	else if (f->blamed == BLAME_PATH)
		snprintf(buf, len, "; the path loses or holds them");
}

static void finding_text(const struct diagnosed_workload *p, const struct diag_finding *f,
			 char *buf, size_t len)
{
	char who[64], by[160], longest[32], share[FIGURE];

	party(p, f->role, who, sizeof(who));
	blame(p, f, by, sizeof(by));
	percent(f->share, 3, share);
	if (f->cause >= DIAG_LOSS_RCVBUF) {
		snprintf(buf, len, "%s: %s of what is sent to %s: %s%s", diag_cause_name(f->cause),
			 share, who, whats[f->cause], by);
		return;
	}
	if (f->max_ns > 0)
		human_ns(f->max_ns, longest, sizeof(longest));
	else
		snprintf(longest, sizeof(longest), "unknown");
	snprintf(buf, len, "%s waits in %s %s of the time (%s a message, longest %s): %s%s", who,
		 diag_cause_name(f->cause), share, human_time(f->ns_per_message).text, longest,
		 whats[f->cause], by);
}

static const struct trial *best_confirmed(const struct diagnosed_workload *p)
{
	for (size_t i = 0; i < p->n_trials; i++)
		if (p->trials[i].judged && p->trials[i].gain.class == GAIN_CONFIRMED)
			return &p->trials[i];
	return NULL;
}

static void fix_text(const struct diagnosis_run *x, const struct diagnosed_workload *p, char *buf,
		     size_t len)
{
	const struct trial *t = best_confirmed(p);
	bool loss = t && p->stalls.v[t->p.finding].cause >= DIAG_LOSS_RCVBUF;
	char ratio[FIGURE], lo[FIGURE], hi[FIGURE];

	if (t) {
		human_figure(t->gain.ratio, 3, ratio, sizeof(ratio));
		human_figure(t->gain.ci.lo, 3, lo, sizeof(lo));
		human_figure(t->gain.ci.hi, 3, hi, sizeof(hi));
		snprintf(buf, len, " Proven fix: %s; with it %s %s times as %s [%s, %s].",
			 t->p.fix->said, loss ? "arrives" : "a message is", ratio,
			 loss ? "much" : "fast", lo, hi);
	} else if (!p->n_trials) {
		snprintf(buf, len, " No fix that ipcstall knows fits this workload.");
	} else if (!x->run_fixes) {
		snprintf(buf, len,
			 p->n_trials == 1 ? " One fix fits; it was not run."
					  : " %zu fixes fit; none was run.",
			 p->n_trials);
	} else {
		snprintf(buf, len,
			 p->n_trials == 1 ? " The one fix tried is not proven."
					  : " None of the %zu fixes tried is proven.",
			 p->n_trials);
	}
}

static void noise_text(const struct diagnosed_workload *p, char *buf, size_t len)
{
	char varies[FIGURE];

	if (p->n_rounds < 2)
		snprintf(buf, len, "one round does not show how much the time per message varies");
	else
		snprintf(buf, len, "the time per message varies by %s between identical rounds",
			 percent(p->stalls.resolution, 2, varies));
	if (p->disturbed)
		text_append(buf, len, ", and other processes took %.0f %% of the CPUs used",
			    100 * p->competing);
}

static void verdict_unknown(const struct diagnosis_run *x, const struct diagnosed_workload *p,
			    char *buf, size_t len)
{
	const char *why =
		p->stalls.too_few ? "one round is too few to exclude chance; sweep with "
				    "--repeats 3 or more"
		: x->from_file ? "the file has none; record it with the ledger, or give --fixes run"
		: x->why_untraced[0] ? x->why_untraced
				     : "--no-trace was given";
	char idle[FIGURE];

	snprintf(buf, len,
		 "CAUSE UNKNOWN. Neither end works for %s of the time. Only the ledger could show "
		 "why, and %s%s.",
		 percent(nobody_works(p), 3, idle),
		 p->stalls.too_few || x->from_file ? "" : "there is none: ", why);
}

static void verdict_healthy(const struct diagnosed_workload *p, const char *noise, char *buf,
			    size_t len)
{
	char work[320], bound[120], most[FIGURE];

	work_text(p, work, sizeof(work));
	if (p->stalls.most_lost > 0)
		snprintf(bound, sizeof(bound),
			 "any stall that work does not explain is below %s of the time (%.0f %% "
			 "level)",
			 percent(p->stalls.most_lost, 2, most), 100 * DIAG_LEVEL);
	else
		snprintf(bound, sizeof(bound), "work explains every stall that was seen");
	snprintf(buf, len, "HEALTHY. Nobody waits needlessly: %s; %s; %s.", bound, work, noise);
}

void report_verdict(const struct diagnosis_run *x, const struct diagnosed_workload *p, char *buf,
		    size_t len)
{
	const struct diag_finding *f = p->culprit >= 0 ? &p->stalls.v[p->culprit] : NULL;
	char what[640], fix[320], noise[200], size[24], most[FIGURE];

	noise_text(p, noise, sizeof(noise));
	switch (p->outcome) {
	case DIAG_ILL:
		finding_text(p, f, what, sizeof(what));
		fix_text(x, p, fix, sizeof(fix));
		if (what[0] >= 'a' && f->cause < TX_N)
			what[0] -= 'a' - 'A';
		snprintf(buf, len, "STALLED (%s, %s). %s.%s", test_name(p->test),
			 size_text(p->size, size), what, fix);
		break;
	case DIAG_HEALTHY:
		verdict_healthy(p, noise, buf, len);
		break;
	case DIAG_NOISY:
		snprintf(buf, len,
			 "TOO NOISY TO SAY. Waits may take up to %s of the time, but %s. "
			 "Stop what competes, choose other --cpus, "
			 "or give a longer --duration.",
			 percent(fmax(p->stalls.most_lost, p->stalls.most_masked), 2, most), noise);
		break;
	case DIAG_UNKNOWN:
		verdict_unknown(x, p, buf, len);
		break;
	}
}

static void trial_line(const struct trial *t, const struct paint *p)
{
	static const enum ink inks[] = { [GAIN_CONFIRMED] = INK_GREEN, [GAIN_REFUTED] = INK_RED,
		[GAIN_NOISY] = INK_YELLOW };
	char ratio[FIGURE], lo[FIGURE], hi[FIGURE], before[32];

	if (!t->judged) {
		paint_paragraph(p, INK_PLAIN, 2, 4, "not run: %s (%s)%s%s", t->p.fix->said,
				t->p.sets, t->why_not[0] ? ": " : "", t->why_not);
		return;
	}
	human_figure(t->gain.ratio, 3, ratio, sizeof(ratio));
	human_figure(t->gain.ci.lo, 3, lo, sizeof(lo));
	human_figure(t->gain.ci.hi, 3, hi, sizeof(hi));
	paint_paragraph(p, inks[t->gain.class], 2, 4, "%-10s %7s x  [%s, %s]  %s  (%s)",
			diag_gain_name(t->gain.class), ratio, lo, hi, t->p.fix->said, t->p.sets);
	if (isnan(t->wait_after))
		return;
	human_ns(t->wait_before, before, sizeof(before));
	paint_paragraph(p, INK_DIM, 4, 6, "the wait itself: %s a message before, %s with it",
			before, human_time(t->wait_after).text);
}

static void trials_text(const struct diagnosed_workload *p, const struct paint *paint)
{
	if (!p->n_trials)
		return;
	fputc('\n', paint->out);
	if (p->pairs)
		paint_paragraph(paint, INK_BOLD, 0, 2,
				"Fixes, by gain (%zu interleaved rounds; gain: time per message "
				"without the fix divided by that with it; %.0f %% interval, "
				"corrected for %zu fix%s and two tests of each)",
				p->pairs, 100 * DIAG_LEVEL, p->compared,
				p->compared == 1 ? "" : "es");
	else
		paint_paragraph(paint, INK_BOLD, 0, 2, "Fixes that fit, not run (--fixes run)");
	for (size_t i = 0; i < p->n_trials; i++)
		trial_line(&p->trials[i], paint);
}

static void limits_line(const struct diagnosed_workload *p, const struct paint *paint)
{
	char work[320];

	work_text(p, work, sizeof(work));
	paint_paragraph(paint, INK_PLAIN, 2, 4, "%s", work);
}

static void finding_line(const struct diagnosed_workload *p, const struct diag_finding *f,
			 const struct paint *paint)
{
	char what[640], lo[FIGURE], hi[FIGURE];

	finding_text(p, f, what, sizeof(what));
	if (f->sleeps) {
		paint_paragraph(paint, INK_PLAIN, 2, 4,
				"possible: %s; the writer sleeps %.0f times for each message",
				what, f->sleeps);
		return;
	}
	human_figure(100 * f->lost.lo, 3, lo, sizeof(lo));
	human_figure(100 * f->lost.hi, 3, hi, sizeof(hi));
	paint_paragraph(paint, INK_PLAIN, 2, 4,
			"%s %s; %s to %s %% of the time is not explained by work",
			f->class == WAIT_CLEAR ? "clear:" : "possible:", what, lo, hi);
}

static void evidence_text(const struct diagnosed_workload *p, const struct paint *paint)
{
	const struct diag_stalls *s = &p->stalls;
	char buf[640], size[24], range[80] = "";
	size_t traced = 0;

	for (size_t i = 0; i < p->n_rounds; i++)
		traced += p->rounds[i].traced;
	if (!isnan(s->cost.lo))
		snprintf(range, sizeof(range), " [%s, %s]", human_time(s->cost.lo).text,
			 human_time(s->cost.hi).text);
	fputc('\n', paint->out);
	paint_paragraph(paint, INK_BOLD, 0, 2, "Evidence: %s %s, %s",
			p->v.plan.w ? p->v.plan.w->name : "", test_name(p->test),
			size_text(p->size, size));
	paint_paragraph(paint, INK_PLAIN, 2, 4,
			"time per message %s%s, %zu round%s, %zu of them with the ledger",
			human_time(s->cost_ns).text, range, p->n_rounds, plural(p->n_rounds),
			traced);
	limits_line(p, paint);
	for (size_t i = 0; i < s->n; i++)
		finding_line(p, &s->v[i], paint);
	noise_text(p, buf, sizeof(buf));
	paint_paragraph(paint, INK_PLAIN, 2, 4,
			"a wait counts when the %.0f %% interval of its unexplained share "
			"(corrected for %zu kind%s) exceeds the resolution: %s",
			100 * DIAG_LEVEL, s->tested, plural(s->tested), buf);
}

static void modes_line(const struct diagnosed_workload *p, const struct paint *paint)
{
	const struct modes *m = &p->modes;
	char fast_share[FIGURE], slow_share[FIGURE], explained[80] = "";
	double excess = m->slow_share * (m->slow - m->fast);

	if (!m->several || isnan(m->slow_share))
		return;
	if (p->culprit >= 0 && p->stalls.v[p->culprit].ns_per_message > 0)
		snprintf(explained, sizeof(explained),
			 "; the stall explains %.0f %% of the difference",
			 100 * fmin(1, p->stalls.v[p->culprit].ns_per_message / excess));
	paint_paragraph(paint, INK_PLAIN, 2, 4,
			"the times have several modes (dip test, p %.2g): %s about %s, %s about "
			"%s%s",
			m->p, percent(1 - m->slow_share, 3, fast_share), human_time(m->fast).text,
			percent(m->slow_share, 3, slow_share), human_time(m->slow).text, explained);
}

/* ---- the card, the same as everywhere ---- */

static const struct trial *first_refuted(const struct diagnosed_workload *p)
{
	for (size_t i = 0; i < p->n_trials; i++)
		if (p->trials[i].judged && p->trials[i].gain.class == GAIN_REFUTED)
			return &p->trials[i];
	return NULL;
}

static void card_fix(const struct diagnosed_workload *p, struct card *c)
{
	const struct trial *t = best_confirmed(p);
	char ratio[FIGURE], lo[FIGURE], hi[FIGURE];

	c->fix_state = t ? FIX_PROVEN : FIX_SUGGESTED;
	if (!t && (t = first_refuted(p)))
		c->fix_state = FIX_REFUTED;
	if (!t && !p->n_trials) {
		c->fix_state = FIX_NONE;
		return;
	}
	snprintf(c->fix, sizeof(c->fix), "%s", (t ? t : &p->trials[0])->p.fix->said);
	if (!t)
		return;
	human_figure(t->gain.ratio, 3, ratio, sizeof(ratio));
	human_figure(t->gain.ci.lo, 3, lo, sizeof(lo));
	human_figure(t->gain.ci.hi, 3, hi, sizeof(hi));
	text_append(c->fix, sizeof(c->fix), ": %s times as fast [%s, %s]", ratio, lo, hi);
}

/* "3547 B", "64K" */
static void size_words(int64_t size, char *buf, size_t len)
{
	char text[24];

	size_text(size, text);
	snprintf(buf, len, "%s%s", text, text[strspn(text, "0123456789")] ? "" : " B");
}

static void head_of_ill(const struct diagnosed_workload *p, const struct diag_finding *f,
			struct card *c)
{
	bool loss = f->cause >= DIAG_LOSS_RCVBUF;

	party(p, f->role, c->who, sizeof(c->who));
	party(p, (enum role) !f->role, c->whom, sizeof(c->whom));
	if (loss)
		snprintf(c->head, sizeof(c->head), "messages to %s are lost", c->who);
	else if (f->blamed == BLAME_PEER_DELACK)
		snprintf(c->head, sizeof(c->head), "%s waits for an ACK from %s", c->who, c->whom);
	else if (f->blamed == BLAME_PEER_READER)
		snprintf(c->head, sizeof(c->head), "%s waits for %s", c->who, c->whom);
	else
		snprintf(c->head, sizeof(c->head), "%s waits in %s", c->who,
			 diag_cause_name(f->cause));
}

static void card_of_ill(const struct diagnosed_workload *p, struct card *c)
{
	const struct diag_finding *f = &p->stalls.v[p->culprit];
	char size[32];

	c->share = f->share;
	head_of_ill(p, f, c);
	size_words(p->size, size, sizeof(size));
	snprintf(c->where, sizeof(c->where), "%s, %s", test_name(p->test), size);
	if (f->cause < DIAG_LOSS_RCVBUF)
		text_append(c->where, sizeof(c->where), ": %s a message",
			    human_time(f->ns_per_message).text);
	snprintf(c->why, sizeof(c->why), "%s: %s", diag_cause_name(f->cause), whats[f->cause]);
	c->has_surety = true;
	c->surety = f->surety;
	card_fix(p, c);
}

static void card_of(const struct diagnosis_run *x, const struct diagnosed_workload *p,
		    struct card *c)
{
	static const enum outcome outcomes[] = { [DIAG_HEALTHY] = OUTCOME_HEALTHY,
						 [DIAG_ILL] = OUTCOME_STALLED,
						 [DIAG_NOISY] = OUTCOME_UNKNOWN,
						 [DIAG_UNKNOWN] = OUTCOME_UNKNOWN };
	char text[1200], size[32];

	*c = (struct card){ .outcome = outcomes[p->outcome], .share = NAN };
	if (p->outcome == DIAG_ILL) {
		card_of_ill(p, c);
		return;
	}
	report_verdict(x, p, text, sizeof(text));
	size_words(p->size, size, sizeof(size));
	snprintf(c->head, sizeof(c->head), "%s, %s: %s", test_name(p->test), size,
		 p->outcome == DIAG_HEALTHY ? "nobody waits needlessly"
		 : p->outcome == DIAG_NOISY ? "too noisy to say"
					    : "the cause is unknown");
	work_text(p, c->where, sizeof(c->where));
	noise_text(p, c->also[0], VERDICT_TEXT);
	c->n_also = 1;
	if (p->outcome != DIAG_HEALTHY)
		snprintf(c->why, sizeof(c->why), "%.470s", text);
}

void report_text(const struct diagnosis_run *x, const struct diagnosed_workload *p,
		 const struct paint *paint)
{
	struct card *c = malloc(sizeof(*c));

	if (c) {
		card_of(x, p, c);
		card_print(c, paint);
	}
	free(c);
	trials_text(p, paint);
	evidence_text(p, paint);
	modes_line(p, paint);
}
