// SPDX-License-Identifier: GPL-2.0-only
/* Ledgers as text: names, durations, the table. */
#include "render/ledger_text.h"
#include "base/text.h"
#include "verdict/shares.h"

#include <inttypes.h>
#include <string.h>

static void figure(uint64_t v, uint8_t res, char *buf, size_t len)
{
	if (res == TRACE_UNKNOWN)
		snprintf(buf, len, "-");
	else if (!v)
		snprintf(buf, len, "0");
	else
		human_ns((double)v, buf, len);
}

/* The least widths of a screen at which a row has its count and its longest. */
enum { COUNT_FROM = 50, LONGEST_FROM = 70, INDENT_WIDE = 6, INDENT_NARROW = 4 };

static int row_indent(const struct paint *p)
{
	return p->width >= LONGEST_FROM ? INDENT_WIDE : INDENT_NARROW;
}

static void row_begin(const struct paint *p, const char *name, bool stall, const char *total,
		      double share)
{
	fprintf(p->out, "%*s%-9s%s %10s  %5.1f %%", row_indent(p), "", name, stall ? "*" : " ",
		total, 100 * share);
}

static double share_of_life(const struct trace_ledger *l, unsigned int i)
{
	return l->lifetime_ns ? (double)l->ns[i] / (double)l->lifetime_ns : 0;
}

/* Prints a sampled state: the interval of its share instead of its count and longest. */
static void looked_row(const struct trace_samples *l, const struct trace_endpoint *ep, bool rx,
		       unsigned int i, bool stall, const struct paint *p)
{
	const struct trace_ledger *ledger = rx ? &ep->rx : &ep->tx;
	struct share_interval share = shares_of(l, ep, rx, i);
	char total[32];

	figure(ledger->ns[i], TRACE_BY_SAMPLES, total, sizeof(total));
	row_begin(p, state_name(rx, i), stall, total, share_of_life(ledger, i));
	if (p->width >= COUNT_FROM)
		fprintf(p->out, "  (%.1f to %.1f %%", 100 * share.lo, 100 * share.hi);
	if (p->width > 80)
		fprintf(p->out, "; found in %u of %" PRIu64 " samples",
			rx ? l->rx_seen[i] : l->tx_seen[i], l->n);
	fputs(p->width >= COUNT_FROM ? ")\n" : "\n", p->out);
}

static void state_row(const struct trace_ledger *l, unsigned int i, const char *name, uint8_t res,
		      bool stall, const struct paint *p)
{
	char total[32], longest[32];

	figure(l->ns[i], res, total, sizeof(total));
	figure(l->max[i], res, longest, sizeof(longest));
	row_begin(p, name, stall, total, share_of_life(l, i));
	if (p->width >= COUNT_FROM)
		fprintf(p->out, "  %8u x", l->count[i]);
	if (p->width >= LONGEST_FROM)
		fprintf(p->out, "  longest %10s", longest);
	fputc('\n', p->out);
}

/* "; unknown: work, wait": the states of one resolution that matter. A state that this backend
 * cannot see has no row, and must not be taken for 0. */
static void name_states(const struct trace_ledger *l, bool rx, uint8_t resolution, const char *what,
			char *buf, size_t len)
{
	const char *before = what;

	for (unsigned int i = rx ? RX_N : TX_N; i-- > 0;) {
		if (trace_state_resolution(l, i, rx) != resolution ||
		    (resolution != TRACE_UNKNOWN && !l->ns[i] && !l->count[i]))
			continue;
		text_append(buf, len, "%s%s", before, state_name(rx, i));
		before = ", ";
	}
}

static const struct trace_samples *looks_at(const struct trace_snapshot *s,
					    const struct trace_endpoint *ep)
{
	return s->samples ? &s->samples[ep - s->ep] : NULL;
}

static void one_side(const struct trace_snapshot *s, const struct trace_endpoint *ep, bool rx,
		     const struct paint *p)
{
	const struct trace_ledger *l = rx ? &ep->rx : &ep->tx;
	const struct trace_samples *samples = looks_at(s, ep);
	char how[200] = "";

	name_states(l, rx, TRACE_UNKNOWN, "; unknown: ", how, sizeof(how));
	name_states(l, rx, TRACE_BOUNDED, "; bounded by the next event: ", how, sizeof(how));
	paint_paragraph(p, INK_PLAIN, row_indent(p) - 2, row_indent(p) + 2,
			"%s  lifetime %s, unaccounted: %" PRId64 " ns%s", rx ? "rx" : "tx",
			human_time(l->lifetime_ns).text, l->unaccounted_ns, how);
	for (unsigned int i = rx ? RX_N : TX_N; i-- > 0;) {
		uint8_t res = trace_state_resolution(l, i, rx);

		if (samples && res == TRACE_BY_SAMPLES && l->ns[i])
			looked_row(samples, ep, rx, i, !rx && tx_is_stall(i), p);
		else if (res != TRACE_UNKNOWN && (l->ns[i] || l->count[i]))
			state_row(l, i, state_name(rx, i), res, !rx && tx_is_stall(i), p);
	}
}

static void tcp_call_stats(const struct trace_endpoint *ep, char *buf, size_t len)
{
	char delack[32];

	if (ep->proto != TRACE_TCP)
		return;
	figure(ep->delack_ns, ep->delack_res, delack, sizeof(delack));
	text_append(buf, len, ", ACKs withheld %s (timer fired %" PRIu64 " x", delack,
		    ep->delack_fires);
	if (ep->answers.n)
		text_append(buf, len, ", of which %" PRIu64 " were waited for", ep->answers.n);
	text_append(buf, len, ")");
	if (ep->retransmits_res != TRACE_UNKNOWN)
		text_append(buf, len, ", %" PRIu64 " retransmits", ep->retransmits);
	if (ep->needless)
		text_append(buf, len, ", of which %" PRIu64 " needless", ep->needless);
}

static void beside_row(const struct trace_endpoint *ep, const struct paint *p)
{
	const uint64_t *d = ep->drops;
	char blocked[32], runq[32], more[400] = "";

	figure(trace_blocked_ns(&ep->tx_calls), ep->tx_calls.blocked_res, blocked, sizeof(blocked));
	figure(ep->tx_calls.runq_ns + ep->rx_calls.runq_ns, ep->tx_calls.runq_res, runq,
	       sizeof(runq));
	tcp_call_stats(ep, more, sizeof(more));
	if (ep->drops_res != TRACE_UNKNOWN && d[0] + d[1] + d[2] + d[3])
		text_append(more, sizeof(more),
			    ", dropped: %" PRIu64 " receive buffer, %" PRIu64 " qdisc, %" PRIu64
			    " checksum, %" PRIu64 " other",
			    d[TRACE_DROP_RCVBUF], d[TRACE_DROP_QDISC], d[TRACE_DROP_CHECKSUM],
			    d[TRACE_DROP_OTHER]);
	paint_paragraph(p, INK_PLAIN, row_indent(p) - 2, row_indent(p) + 2,
			"beside  writer blocked %s, woken but waiting for a CPU %s%s", blocked,
			runq, more);
}

/* TCP's own chronographs are exact to a tick; the facts are counted in samples. */
static void looked_beside(const struct trace_samples *l, const struct trace_endpoint *ep,
			  const struct paint *p)
{
	char busy[32], window[32], buffer[32];

	if (ep->retransmits_res == TRACE_UNKNOWN) /* no TCP, or no sample yet */
		return;
	figure(l->chrono_ns[0], TRACE_EXACT, busy, sizeof(busy));
	figure(l->chrono_ns[1], TRACE_EXACT, window, sizeof(window));
	figure(l->chrono_ns[2], TRACE_EXACT, buffer, sizeof(buffer));
	paint_paragraph(p, INK_PLAIN, row_indent(p) - 2, row_indent(p) + 2,
			"beside  %" PRIu64 " retransmits; by TCP's own chronographs busy %s, of "
			"that limited by the peer's window %s, by the send buffer %s",
			ep->retransmits, busy, window, buffer);
	for (unsigned int i = 0; i < TRACE_SAMPLE_FACTS; i++)
		if (l->fact[i])
			paint_paragraph(p, INK_PLAIN, row_indent(p) + 6, row_indent(p) + 8,
					"%s in %.1f %% of the samples", trace_fact_name(i),
					100.0 * l->fact[i] / (double)l->n);
}

/* the endpoint's cgroup, and its network namespace if there are several */
static void place(const struct trace_snapshot *s, const struct trace_endpoint *ep, char *buf,
		  size_t len)
{
	const struct trace_call_stats *b = ep->tx_calls.tgid ? &ep->tx_calls : &ep->rx_calls;
	char path[512];

	if (trace_cgroup_path(b->cgroup_id, path, sizeof(path)) && strcmp(path, "/"))
		text_append(buf, len, ", cgroup %s", path);
	for (size_t i = 0; i < s->n; i++) {
		if (!ep->netns || !s->ep[i].netns || s->ep[i].netns == ep->netns)
			continue;
		text_append(buf, len, ", netns %u", ep->netns);
		break;
	}
}

static void one_endpoint(const struct trace_snapshot *s, const struct trace_endpoint *ep,
			 const struct paint *p)
{
	char name[160], w[48], r[48], where[600] = "";

	endpoint_name(ep, name, sizeof(name));
	program_name(&ep->tx_calls, w, sizeof(w));
	program_name(&ep->rx_calls, r, sizeof(r));
	place(s, ep, where, sizeof(where));
	paint_paragraph(p, INK_BOLD, 2, 4, "%s: writer %s, reader %s%s%s", name, w, r,
			ep->joined_late ? ", already open (its earlier history is unknown)" : "",
			where);
	one_side(s, ep, false, p);
	one_side(s, ep, true, p);
	if (looks_at(s, ep))
		looked_beside(looks_at(s, ep), ep, p);
	else
		beside_row(ep, p);
}

static void endpoint_blocks(const struct trace_snapshot *s, size_t max, const struct paint *p)
{
	size_t n, *order = endpoints_by_stall(s, &n), shown;

	shown = max && n > max ? max : n;
	for (size_t i = 0; i < shown; i++)
		one_endpoint(s, &s->ep[order[i]], p);
	if (n > shown)
		fprintf(p->out, "  ... and %zu endpoints that stalled less\n", n - shown);
	free(order);
}

static void counters_line(const struct trace_counters *c, const struct paint *p)
{
	const struct trace_existing *x = &c->existing;
	char text[400];

	if (x->made || x->asleep)
		paint_paragraph(p, INK_PLAIN, 2, 4,
				"already open: %" PRIu64 " sockets and pipes, %" PRIu64
				" threads asleep in a call",
				x->made, x->asleep);
	if (x->unreadable)
		paint_paragraph(p, INK_PLAIN, 2, 4,
				"the descriptors of %" PRIu64 " processes could not be listed: "
				"theirs show at their first event",
				x->unreadable);
	snprintf(text, sizeof(text),
		 "observed %" PRIu64 ", lost %" PRIu64 ", unpaired %" PRIu64 ", overflow %" PRIu64
		 ", missed %" PRIu64,
		 c->observed, c->lost, c->unpaired, c->overflow, c->missed);
	if (c->blind)
		text_append(text, sizeof(text), ", blind %" PRIu64, c->blind);
	if (c->stacks_lost)
		text_append(text, sizeof(text), ", stacks lost %" PRIu64, c->stacks_lost);
	paint_paragraph(p, INK_PLAIN, 2, 4, "%s", text);
	if (c->dropped)
		paint_paragraph(p, INK_PLAIN, 2, 4,
				"%" PRIu64 " closed endpoints that stalled least were not kept",
				c->dropped);
}

void sampling_line(const struct trace_sampling *m, uint64_t now_ns, const struct paint *p)
{
	double lasted = (double)(now_ns - m->since_ns);

	if (!m->on || !(lasted > 0))
		return;
	paint_paragraph(p, INK_PLAIN, 2, 4,
			"sampled %" PRIu64 " times, %.0f a second, each time %.0f %% of the "
			"endpoints; this took %.2f %% of a CPU (budget %.2f %%)",
			m->samples, (double)m->samples / lasted * 1e9, 100 * m->part,
			100.0 * (double)(m->samples_cpu_ns + m->find_ns) / lasted, 100 * m->budget);
}

void ledger_blocks(const struct trace_snapshot *s, size_t max, const struct paint *p)
{
	endpoint_blocks(s, max, p);
	counters_line(&s->counters, p);
	sampling_line(&s->sampling, s->at_ns, p);
}
