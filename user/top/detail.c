// SPDX-License-Identifier: GPL-2.0-only
/* The details of one endpoint: card, programs and rates, time line, and both ledgers as bars. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "top/opened.h"
#include "top/row_names.h"
#include "top/screen.h"
#include "top/sparkline.h"

struct detail {
	const struct screen *s;
	const struct rows *p;
	const struct row *r;
	const struct trace_digest *e, *peer;
	struct canvas *c;
	int y;
};

/* ---- the card ---- */

static enum attr attr_of_line(const struct card *c, const char *line, bool first)
{
	static const enum attr heads[OUTCOMES_N] = {
		[OUTCOME_STALLED] = ATTR_RED,
		[OUTCOME_WAITING] = ATTR_YELLOW,
		[OUTCOME_HEALTHY] = ATTR_GREEN,
		[OUTCOME_UNKNOWN] = ATTR_YELLOW,
	};

	return first					? heads[c->outcome]
	       : strstr(line, "  try ") == line ||
			 strstr(line, "  next ") == line ? ATTR_CYAN
						: ATTR_PLAIN;
}

/* The same card as in other commands, in the screen's width. */
static void draw_card(struct detail *d)
{
	const struct card *c = &d->s->opened->card;
	struct paint paint = { .width = d->c->w };
	char *text = NULL, *next;
	size_t n;

	paint.out = open_memstream(&text, &n);
	if (!paint.out)
		return;
	card_print(c, &paint);
	fclose(paint.out);
	next = text;
	for (char *line; next && (line = strsep(&next, "\n")) && *line;)
		canvas_text(d->c, d->y++, 0, attr_of_line(c, line, line == text), line);
	free(text);
}

/* The card and the time that it covers; before there is a card, why it is missing. */
static void draw_verdict(struct detail *d)
{
	const struct opened *o = d->s->opened;

	if (!o || !o->judged) {
		canvas_text(d->c, d->y, 0, ATTR_DIM,
			    o && o->attaching ? "attaching the ledger..." : "looking...");
		d->y += 2;
		return;
	}
	draw_card(d);
	d->y = canvas_wrapped(d->c, d->y, 2, ATTR_DIM, "(of %s, since this was opened)",
			      human_time(o->over_ns).text) +
	       1;
}

/* ---- programs and rates ---- */

static void draw_who(struct detail *d)
{
	char here[80], there[80];
	const struct trace_digest *e = d->e;

	local_text(e, here, sizeof(here));
	remote_text(e, d->peer, there, sizeof(there));
	canvas_fill(d->c, d->y, ATTR_REVERSE);
	canvas_printf(d->c, d->y++, 0, ATTR_REVERSE, "%s %s > %s%s%s", trace_proto_name(e->proto),
		      here, there, e->closed ? "  CLOSED" : "", d->s->paused ? "  PAUSED" : "");
}

static void draw_programs(struct detail *d)
{
	char cgroup[256], writer[48], reader[48], place[320] = "",
		other[48] = "not traced, or on another host";
	const struct trace_digest *e = d->e;

	program_text(e->tx_comm, e->tx_tgid, writer, sizeof(writer));
	program_text(e->rx_comm, e->rx_tgid, reader, sizeof(reader));
	if (d->peer)
		digest_who(d->peer, other, sizeof(other));
	cgroup_text(e, cgroup, sizeof(cgroup));
	if (strcmp(cgroup, "-") && strcmp(cgroup, "/"))
		snprintf(place, sizeof(place), "; cgroup %s", cgroup);
	if (d->peer && d->peer->netns != e->netns)
		text_append(place, sizeof(place),
			    "; network namespace %u, the other end in %u", e->netns,
			    d->peer->netns);
	d->y = canvas_wrapped(d->c, d->y, 2, ATTR_PLAIN,
			      "writer %s, reader %s; other end: %s%s%s", writer, reader, other,
			      e->joined_late ? "; already open when it was first seen" : "", place);
}

static void draw_rates(struct detail *d)
{
	char out[16], in[16], sent[16], received[16], rtt[32] = "-";
	const struct rows *p = d->p;

	rate_text(p, d->r->tx_bytes, d->r->tx_gap < GAP_BYTES, out, sizeof(out));
	rate_text(p, d->r->rx_bytes, d->r->rx_gap < GAP_BYTES, in, sizeof(in));
	rate_text(p, d->r->tx_messages, d->r->tx_gap == GAP_NONE, sent, sizeof(sent));
	rate_text(p, d->r->rx_messages, d->r->rx_gap == GAP_NONE, received, sizeof(received));
	if (d->e->rtt_us)
		human_ns(d->e->rtt_us * 1e3, rtt, sizeof(rtt));
	d->y = canvas_wrapped(d->c, d->y, 2, ATTR_PLAIN,
			      "stall %.1f%% of the last interval; out %s B/s, %s messages/s; in %s "
			      "B/s, %s messages/s; RTT %s; seen for %s",
			      100 * row_share(p, d->r), out, sent, in, received, rtt,
			      human_time((double)(d->e->at_ns - d->e->born_ns)).text);
	if (d->e->drops_known && d->e->drops)
		d->y = canvas_wrapped(d->c, d->y, 2, d->r->drops ? ATTR_BOLD : ATTR_PLAIN,
				      "datagrams dropped: %" PRIu64 " in the interval, %" PRIu64
				      " since it was seen",
				      d->r->drops, d->e->drops);
}

/* ---- its time line ---- */

static void draw_sparkline(struct detail *d, bool rx)
{
	char line[STRIP_MAX + 1];
	struct strip s = {
		.serial = d->e->serial, .rx = rx, .now = rx ? d->e->rx_now : d->e->tx_now,
			.since_ns = d->s->since_ns,
		.from_ns = d->e->at_ns > d->s->span_ns ? d->e->at_ns - d->s->span_ns : 0,
			.to_ns = d->e->at_ns,
	};

	sparkline_draw(&s, d->s->recent, d->c->w - 5, line);
	canvas_text(d->c, d->y, 0, ATTR_PLAIN, rx ? "rx  |" : "tx  |");
	for (int i = 0; line[i]; i++) {
		bool stall = !rx && strchr("SRPKNCW", toupper(line[i]));

		canvas_text(d->c, d->y, 5 + i, stall ? ATTR_RED : ATTR_GREEN,
			    (char[]){ line[i], 0 });
	}
	d->y++;
}

static void draw_time_line(struct detail *d)
{
	char letters[160] = "";

	for (unsigned int i = 0; i < TX_N; i++)
		if (d->e->tx_ns[i])
			text_append(letters, sizeof(letters), " %c %s",
				    sparkline_letter(false, i), trace_tx_names[i]);
	d->y = canvas_wrapped(d->c, d->y, 2, ATTR_DIM, "last %s (+ -):%s; rx: u unread w wait",
			      human_time(d->s->span_ns).text, letters);
	draw_sparkline(d, false);
	draw_sparkline(d, true);
}

/* The recent stalls, the newest first, as many as fit the line. */
static void draw_stalls(struct detail *d)
{
	const struct timeline *t = d->s->recent;
	int x = 0;

	for (size_t i = t->n; i-- > 0 && x < d->c->w;) {
		const struct trace_transition *tr = timeline_at(t, i);

		if (tr->mark || tr->rx || tr->serial != d->e->serial || !tx_is_stall(tr->from) ||
		    !tr->ns)
			continue;
		if (!x)
			x = canvas_text(d->c, d->y, 0, ATTR_DIM, "stalls, newest first:");
		x = canvas_printf(d->c, d->y, x, ATTR_PLAIN, " %s %s,", trace_tx_names[tr->from],
				  human_time(tr->ns).text);
	}
	d->y += x > 0;
}

static void draw_bar(struct detail *d, int x, int width, double share, enum attr attr)
{
	int n = (int)(share * width + 0.5);

	for (int i = 0; i < width; i++)
		canvas_text(d->c, d->y, x + i, i < n ? attr : ATTR_DIM, i < n ? "#" : ".");
}

enum { NAME_W = 11, FIGURES_W = 26, BAR_MAX = 60 };

static void draw_state(struct detail *d, const char *name, bool stall, uint64_t ns, uint64_t life,
		       uint64_t all)
{
	int bar = d->c->w - NAME_W - FIGURES_W;
	double share = d->r->ns ? (double)ns / (double)d->r->ns : 0,
	       of_life = all ? (double)life / (double)all : 0;

	bar = bar > BAR_MAX ? BAR_MAX : bar;
	canvas_printf(d->c, d->y, 0, stall && ns ? ATTR_RED : ATTR_PLAIN, "%-9s%s", name,
		      stall ? "*" : "");
	if (bar >= 5)
		draw_bar(d, NAME_W, bar, share, stall ? ATTR_RED : ATTR_GREEN);
	canvas_printf(d->c, d->y++, NAME_W + (bar >= 5 ? bar : 0), ATTR_PLAIN,
		      " %5.1f%% %9s %6.1f%%", 100 * share, ns ? human_time(ns).text : "-",
		      100 * of_life);
}

static void draw_ledger(struct detail *d, const char *title, const char *const *names,
			unsigned int n, uint32_t stalls, const uint64_t *ns, const uint64_t *life)
{
	uint64_t all = 0;

	for (unsigned int i = 0; i < n; i++)
		all += life[i];
	canvas_printf(d->c, d->y++, 0, ATTR_BOLD, "%s", title);
	for (unsigned int i = n; i-- > 0;)
		if (life[i])
			draw_state(d, names[i], stalls >> i & 1, ns[i], life[i], all);
}

void detail_draw(const struct screen *s, const struct rows *p, struct canvas *c)
{
	uint32_t i = row_find(p, s->picked);
	struct detail d = { .s = s, .p = p, .c = c };
	uint64_t tx[TX_N], rx[RX_N];

	if (i == ROW_NEW) { /* keep the last drawing on the screen */
		canvas_fill(c, c->h - 1, ATTR_BOLD);
		canvas_printf(c, c->h - 1, 0, ATTR_BOLD, "%-60s",
			      "this endpoint is gone (esc goes back)");
		return;
	}
	canvas_clear(c);
	d.r = &p->v[i];
	d.e = row_digest(p, d.r);
	d.peer = row_peer(p, d.r);
	draw_who(&d);
	draw_verdict(&d);
	draw_programs(&d);
	draw_rates(&d);
	draw_time_line(&d);
	draw_stalls(&d);
	row_states(p, d.r, tx, rx);
	draw_ledger(&d, "tx: this interval, and its whole life", trace_tx_names, TX_N, TX_STALLS,
		    tx, d.e->tx_ns);
	draw_ledger(&d, "rx", trace_rx_names, RX_N, 0, rx, d.e->rx_ns);
	if (d.y < c->h)
		canvas_pieces(c, c->h - 1, 0, ATTR_DIM,
			      "esc back  t try a fix  space pause  +- span of the time line  "
			      "q quit", "  ");
}
