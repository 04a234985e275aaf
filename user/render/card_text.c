// SPDX-License-Identifier: GPL-2.0-only
/* Prints a card, and below it the part of the ledgers that matters. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/card.h"
#include "verdict/long_wait.h"
#include "verdict/replies.h"
#include "verdict/shares.h"

const char *const outcome_words[OUTCOMES_N] = {
	[OUTCOME_STALLED] = "STALLED",
	[OUTCOME_WAITING] = "WAITING",
	[OUTCOME_HEALTHY] = "HEALTHY",
	[OUTCOME_UNKNOWN] = "UNKNOWN",
};

static const enum ink outcome_inks[OUTCOMES_N] = {
	[OUTCOME_STALLED] = INK_BOLD_RED,
	[OUTCOME_WAITING] = INK_BOLD_YELLOW,
	[OUTCOME_HEALTHY] = INK_BOLD_GREEN,
	[OUTCOME_UNKNOWN] = INK_BOLD_YELLOW,
};

enum { INDENT = 9 }; /* the column at which a line's text begins */

/* ---- the card ---- */

static void headline(const struct card *c, const struct paint *p)
{
	char lead[48];

	snprintf(lead, sizeof(lead), "%s", outcome_words[c->outcome]);
	if (!isnan(c->share) && c->outcome != OUTCOME_HEALTHY)
		snprintf(lead, sizeof(lead), "%s %.*f %%", outcome_words[c->outcome],
			 c->share < 0.0995 ? 1 : 0, 100 * c->share);
	paint_text(p, outcome_inks[c->outcome], lead);
	fputs("  ", p->out);
	paint_wrapped(p, INK_BOLD, c->head, paint_width(lead) + 2, INDENT);
	fputc('\n', p->out);
}

/* "  why    TEXT      [TAG]": the tag is at the right; `brief` replaces a tag that does not fit */
static void line_with(const struct paint *p, const char *label, enum ink ink, const char *text,
		      const char *tag, const char *brief)
{
	int at;

	if (!*text)
		return;
	fprintf(p->out, "  %-7s", label);
	at = paint_wrapped(p, ink, text, INDENT, INDENT);
	if (*tag) {
		int w = paint_width(tag);

		if (at + 2 + w > p->width && *brief) {
			tag = brief;
			w = paint_width(tag);
		}
		if (at + 2 + w <= p->width)
			fprintf(p->out, "%*s", p->width - at - w, "");
		else
			fprintf(p->out, "\n%*s", INDENT, "");
		paint_text(p, INK_DIM, tag);
	}
	fputc('\n', p->out);
}

static void line(const struct paint *p, const char *label, enum ink ink, const char *text,
		 const char *tag)
{
	line_with(p, label, ink, text, tag, "");
}

static const char *surety_tag(const struct card *c)
{
	return !c->has_surety		     ? ""
	       : c->surety == SEEN_BOTH_ENDS ? "[seen at both ends]"
	       : c->surety == INFERRED	     ? "[inferred]"
					     : "[suspected]";
}

/* The text of the `where` line: the brief one if the other does not fit one line. */
static const char *where_text(const struct card *c, const struct paint *p)
{
	int room = p->width - INDENT;
	bool brief = paint_width(c->where) > room && paint_width(c->where_brief) <= room;

	return brief && *c->where_brief ? c->where_brief : c->where;
}

void card_print(const struct card *c, const struct paint *p)
{
	static const char *const states[FIX_STATES] = { "", "[suggested]", "[proven]",
		"[refuted]" };

	headline(c, p);
	line(p, "where", INK_PLAIN, where_text(c, p), "");
	line_with(p, "why", c->has_surety && c->surety != SEEN_BOTH_ENDS ? INK_YELLOW : INK_PLAIN,
		  c->why, surety_tag(c), c->surety == SEEN_BOTH_ENDS ? "[seen]" : "");
	line(p, "try", INK_CYAN, c->fix, states[c->fix_state]);
	line(p, "next", INK_CYAN, c->next, "");
	for (size_t i = 0; i < c->n_also; i++)
		line(p, i ? "" : "also", INK_PLAIN, c->also[i], "");
}

/* ---- states as bars ---- */

enum {
	NAME_W = 13,
	FIGURES_W = 20,
	TIMES_W = 9,
	LONGEST_W = 10,
	TIMES_FROM = 62,
	LONGEST_FROM = 54,
	BAR_MOST = 60
};

struct columns {
	bool times, longest;
	int bar;
};

static struct columns columns_for(int width)
{
	struct columns c = { .times = width >= TIMES_FROM, .longest = width >= LONGEST_FROM };

	c.bar = width - NAME_W - FIGURES_W - (c.times ? TIMES_W : 0) - (c.longest ? LONGEST_W : 0) -
		1;
	if (c.bar > BAR_MOST)
		c.bar = BAR_MOST;
	return c;
}

static void bars_head(const struct paint *p, const struct columns *c, bool sampled)
{
	fprintf(p->out, "\n%s  %-*s%-*s%20s", paint_begin(p, INK_DIM), NAME_W - 2, "  state",
		c->bar, c->bar >= 13 ? "share of life" : "share", "time");
	if (c->times && !sampled)
		fprintf(p->out, "%*s", TIMES_W, "times");
	if (c->longest && !sampled)
		fprintf(p->out, "%*s", LONGEST_W, "longest");
	if (c->times && sampled)
		fprintf(p->out, "%*s", TIMES_W + LONGEST_W, "95 % interval");
	fprintf(p->out, "%s\n", paint_end(p, INK_DIM));
}

struct bar_row {
	const struct trace_ledger *l;
	const struct share_interval *sure; /* of a sampled share; NULL: count and longest */
	unsigned int state;
	const char *name;
	bool stall, work;
};

static enum ink ink_of(const struct bar_row *r)
{
	return r->stall ? INK_BOLD_RED : r->work ? INK_GREEN : !r->state ? INK_DIM : INK_YELLOW;
}

static void bar_row(const struct paint *p, const struct columns *c, const struct bar_row *r)
{
	double share = (double)r->l->ns[r->state] / (double)r->l->lifetime_ns;
	char longest[32];

	human_ns((double)r->l->max[r->state], longest, sizeof(longest));
	fprintf(p->out, "    %-9s%s ", r->name, r->stall ? "*" : " ");
	paint_bar(p, ink_of(r), share, c->bar - 2);
	fprintf(p->out, " %5.1f %% %10s", 100 * share, human_time(r->l->ns[r->state]).text);
	if (r->sure)
		snprintf(longest, sizeof(longest), "%.1f to %.1f %%", 100 * r->sure->lo,
			 100 * r->sure->hi);
	if (c->times && !r->sure)
		fprintf(p->out, "%*u", TIMES_W, r->l->count[r->state]);
	if (c->longest && !r->sure)
		fprintf(p->out, "%*s", LONGEST_W, longest);
	if (c->times && r->sure)
		fprintf(p->out, "%*s", TIMES_W + LONGEST_W, longest);
	fputc('\n', p->out);
}

/* a state with a smaller share gets no bar */
#define SHOWN_SHARE 0.005

static void one_bar(const struct paint *p, const struct columns *c, const struct trace_snapshot *s,
		    const struct trace_endpoint *ep, bool rx, unsigned int i)
{
	const struct trace_ledger *l = rx ? &ep->rx : &ep->tx;
	struct share_interval sure;
	struct bar_row r = { l, NULL, i, state_name(rx, i), !rx && tx_is_stall(i), rx ? i == RX_WORK
		: i == TX_WORK };

	if (s->samples && l->resolution[i] == TRACE_BY_SAMPLES) {
		sure = shares_of(&s->samples[ep - s->ep], ep, rx, i);
		r.sure = &sure;
	}
	bar_row(p, c, &r);
}

static bool is_shown(const struct trace_ledger *l, unsigned int i, bool rx)
{
	return trace_state_resolution(l, i, rx) != TRACE_UNKNOWN &&
	       (double)l->ns[i] >= SHOWN_SHARE * (double)l->lifetime_ns;
}

static void side_bars(const struct paint *p, const struct trace_snapshot *s,
		      const struct trace_endpoint *ep, bool rx)
{
	const struct trace_call_stats *who = rx ? who_waits(ep) : &ep->tx_calls;
	const struct trace_ledger *l = rx ? &ep->rx : &ep->tx;
	struct columns c = columns_for(p->width);
	char name[PARTY_TEXT], does[64];
	int at;

	if (!l->lifetime_ns)
		return;
	program_name(who, name, sizeof(name));
	snprintf(does, sizeof(does), "%s, %s",
		 rx ? verb_of(name, "reads", "read") : verb_of(name, "writes", "write"),
		 human_time(l->lifetime_ns).text);
	fputs("  ", p->out);
	paint_text(p, INK_BOLD, name);
	at = 3 + paint_width(name);
	fputs(at + paint_width(does) <= p->width ? " " : "\n    ", p->out);
	fprintf(p->out, "%s\n", does);
	for (unsigned int i = rx ? (unsigned int)RX_N : (unsigned int)TX_N; i-- > 0;)
		if (is_shown(l, i, rx))
			one_bar(p, &c, s, ep, rx, i);
	if (ep->unseen[rx])
		fprintf(p->out, "    not seen by any hook: %s\n",
			trace_unseen_name(ep->unseen[rx]));
}

/* ---- which endpoints the card is about ---- */

struct subject {
	int tx, rx; /* the endpoint that sends, and the one that reads; -1: none */
};

static int reading_end(const struct trace_snapshot *s, size_t i)
{
	return s->ep[i].proto == TRACE_PIPE ? (int)i : s->ep[i].peer;
}

static struct subject subject_of(const struct trace_snapshot *s, const struct verdict *v)
{
	struct subject none = { -1, -1 };
	size_t i;

	switch (v->kind) {
	case KIND_STALL:
	case KIND_LIMIT:
		i = v->v[v->lead].endpoint;
		return (struct subject){ (int)i, reading_end(s, i) };
	case KIND_WAIT: return (struct subject){ -1, v->wait.endpoint };
	case KIND_MUTUAL: return (struct subject){ -1, v->wait.endpoint };
	case KIND_LATE: return (struct subject){ -1, v->late.endpoint };
	case KIND_STARVED: return (struct subject){ v->starved.endpoint, v->starved.endpoint };
	case KIND_UNDELIVERED: return (struct subject){ v->undelivered.endpoint, -1 };
	case KIND_WITHHELD: return (struct subject){ -1, v->withheld.endpoint };
	default: return none;
	}
}

static void bars(const struct trace_snapshot *s, const struct subject *sub, const struct paint *p)
{
	struct columns c = columns_for(p->width);

	if (sub->tx < 0 && sub->rx < 0)
		return;
	bars_head(p, &c, s->samples);
	if (sub->tx >= 0)
		side_bars(p, s, &s->ep[sub->tx], false);
	if (sub->rx >= 0)
		side_bars(p, s, &s->ep[sub->rx], true);
}

/* ---- the other endpoints ---- */

/* Whether the endpoint's reader waits for long, if waiting is the verdict's outcome. */
static bool is_waiting(const struct trace_snapshot *s, const struct verdict *v, size_t i)
{
	return v->outcome == OUTCOME_WAITING && !ledger_stall_ns(&s->ep[i].tx) &&
	       ((int)i == v->mutual.endpoint || waits_long(s, i, !v->sent));
}

/* "waits 801 ms of 803 ms" */
static void wait_of(const struct trace_snapshot *s, size_t i, const char *reader, char *buf,
		    size_t len)
{
	struct reader_spell r = waited_at(s, i);

	snprintf(buf, len, "%s %s of %s", verb_of(reader, "waits", "wait"), human_time(r.ns).text,
		 human_time(s->ep[i].rx.lifetime_ns).text);
}

static void worst_stall(const struct trace_endpoint *ep, char *buf, size_t len)
{
	uint64_t all = ledger_stall_ns(&ep->tx);
	unsigned int worst = TX_SNDBUF;
	char life[32];

	for (unsigned int i = 0; i < TX_N; i++)
		if (tx_is_stall(i) && ep->tx.ns[i] > ep->tx.ns[worst])
			worst = i;
	human_ns((double)ep->tx.lifetime_ns, life, sizeof(life));
	if (!all && ep->tx.resolution[TX_SNDBUF] == TRACE_UNKNOWN)
		snprintf(buf, len, "stalls unknown, %s", life);
	else if (!all || !ep->tx.lifetime_ns)
		snprintf(buf, len, "no stall in %s", life);
	else
		snprintf(buf, len, "%s %s (%.1f %%) in %s", trace_tx_names[worst],
			 human_time(all).text, 100.0 * (double)all / (double)ep->tx.lifetime_ns,
			 life);
}

/* The name of an endpoint; if that does not fit, its ports alone; if they do not fit, nothing. */
static void fitting_name(const struct trace_endpoint *ep, size_t room, char *buf, size_t len)
{
	endpoint_short_name(ep, buf, len);
	if (strlen(buf) <= room)
		return;
	snprintf(buf, len, "%s :%u > :%u", trace_proto_name(ep->proto), ep->local.port,
		 ep->remote.port);
	if (strlen(buf) > room || !ep->local.port || !ep->remote.port)
		buf[0] = '\0';
}

/* "curl[1] > nginx[2]  no stall in 1.83 s  tcp A > B", "curl[1]  waits 801 ms of 803 ms  tcp A > B"
 */
static void one_line(const struct trace_snapshot *s, const struct verdict *v, size_t i,
		     const struct paint *p)
{
	const struct trace_endpoint *ep = &s->ep[i];
	char name[160], w[PARTY_TEXT], r[PARTY_TEXT], what[96], text[768];
	size_t used;

	program_name(&ep->tx_calls, w, sizeof(w));
	program_name(who_waits(ep), r, sizeof(r));
	if (is_waiting(s, v, i))
		wait_of(s, i, r, what, sizeof(what));
	else
		worst_stall(ep, what, sizeof(what));
	snprintf(text, sizeof(text), "%s%s%s  %s", w, strcmp(w, r) ? " > " : "",
		 strcmp(w, r) ? r : "", what);
	fputs("  ", p->out);
	used = (size_t)paint_wrapped(p, INK_PLAIN, text, 2, 4) + 2;
	fitting_name(ep, (size_t)p->width > used ? (size_t)p->width - used : 0, name, sizeof(name));
	if (name[0])
		fprintf(p->out, "  %s%s%s", paint_begin(p, INK_DIM), name,
			paint_end(p, INK_DIM));
	fputc('\n', p->out);
}

enum { CALM_SHOWN = 3 };

static void left_out(size_t left, const char *what, const struct paint *p)
{
	if (left)
		fprintf(p->out, "  ... and %zu more %s\n", left, what);
}

/* Prints a line for each endpoint that stalled, then for some of the others. */
static void others(const struct trace_snapshot *s, const struct verdict *v,
		   const struct subject *sub, size_t max, const struct paint *p)
{
	size_t n, *order = endpoints_by_stall(s, &n), shown = 0, left = 0, calm = 0;

	for (size_t i = 0; i < n; i++) {
		if ((int)order[i] == sub->tx)
			continue;
		if (!ledger_stall_ns(&s->ep[order[i]].tx) && ++calm > CALM_SHOWN)
			continue;
		if (max && shown >= max) {
			left++;
			continue;
		}
		if (!shown++)
			fputc('\n', p->out);
		one_line(s, v, order[i], p);
	}
	left_out(left, "that stalled less", p);
	left_out(calm > CALM_SHOWN ? calm - CALM_SHOWN : 0, "without stall", p);
	free(order);
}

/* ---- what was not seen, where that makes a difference ---- */

static void missed(const struct paint *p, uint64_t n, const char *what)
{
	char text[200];

	if (!n)
		return;
	snprintf(text, sizeof(text), "%" PRIu64 " %s", n, what);
	fputs("  ", p->out);
	paint_wrapped(p, INK_YELLOW, text, 2, 4);
	fputc('\n', p->out);
}

static void not_seen(const struct trace_counters *c, const struct paint *p)
{
	missed(p, c->lost, "events were lost: times may be too short");
	missed(p, c->overflow,
	       "endpoints did not fit in the table and were not traced; raise "
	       "--max-endpoints");
	missed(p, c->let_go, "idle endpoints were dropped to make room");
	missed(p, c->dropped, "closed endpoints that stalled least were not kept");
	missed(p, c->existing.unreadable,
	       "processes' descriptors could not be listed: their connections appear at their "
	       "first event");
	missed(p, c->missed > c->observed / 1000 ? c->missed : 0,
	       "calls were not counted: the kernel skipped the program");
}

/* Says that the tracing lost nothing; packets may be lost all the same. Samples pass through no
 * queue that could lose them. */
static const char *what_is_whole(const struct trace_snapshot *s)
{
	if (s->counters.lost || s->counters.overflow)
		return "";
	return s->sampling.on ? "no endpoint missed     " : "no event missed     ";
}

static void foot(const struct trace_snapshot *s, const struct verdict *v, const struct paint *p)
{
	char text[160];

	if (!v->n_active)
		return;
	snprintf(text, sizeof(text), "%s%smore: --ledger, ipcstall explain %s",
		 v->n ? "*: stall     " : "", what_is_whole(s),
		 v->n ? trace_tx_names[v->v[v->lead].cause] : "ledger");
	fputs("  ", p->out);
	paint_wrapped(p, INK_DIM, text, 2, 2);
	fputc('\n', p->out);
}

void verdict_screen(const struct trace_snapshot *s, const struct verdict *v,
		    const struct card_extent *x, const struct paint *p)
{
	struct subject sub = subject_of(s, v);
	struct card *c = malloc(sizeof(*c));

	if (!c)
		return;
	card_make(s, v, c);
	if (x->live)
		card_point_to_try(s, v, c);
	card_print(c, p);
	free(c);
	if (x->ledger) {
		fputc('\n', p->out);
		ledger_blocks(s, x->shown, p);
		return;
	}
	bars(s, &sub, p);
	others(s, v, &sub, x->shown, p);
	not_seen(&s->counters, p);
	sampling_line(&s->sampling, s->at_ns, p);
	foot(s, v, p);
}
