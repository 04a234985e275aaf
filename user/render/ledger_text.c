// SPDX-License-Identifier: GPL-2.0-only
/* Ledgers as a person reads them: names, durations, the table. */
#include "render/ledger_text.h"
#include "verdict/shares.h"

#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>

static void figure(uint64_t v, uint8_t res, char *buf, size_t len)
{
	if (res == TRACE_UNKNOWN)
		snprintf(buf, len, "-");
	else if (!v)
		snprintf(buf, len, "0");
	else
		human_ns((double)v, buf, len);
}

/* By looks: how sure its share is, in place of how often it was and how long. */
static void looked_row(const struct trace_looks *l, const struct trace_endpoint *ep, bool rx,
		       unsigned int i, bool stall, FILE *out)
{
	const struct trace_ledger *ledger = rx ? &ep->rx : &ep->tx;
	struct share_interval share = shares_of(l, ep, rx, i);
	char total[32];

	figure(ledger->ns[i], TRACE_BY_LOOKS, total, sizeof(total));
	fprintf(out,
		"      %-9s%s %10s  %5.1f %%  (%.1f to %.1f %%; found in %u of %" PRIu64
		" looks)\n",
		state_name(rx, i), stall ? "*" : " ", total,
		ledger->lifetime_ns ? 100.0 * (double)ledger->ns[i] / (double)ledger->lifetime_ns
				    : 0.0,
		100 * share.lo, 100 * share.hi, rx ? l->rx_seen[i] : l->tx_seen[i], l->n);
}

static void state_row(const struct trace_ledger *l, unsigned int i, const char *name, uint8_t res,
		      bool stall, FILE *out)
{
	char total[32], longest[32];

	figure(l->ns[i], res, total, sizeof(total));
	figure(l->max[i], res, longest, sizeof(longest));
	fprintf(out, "      %-9s%s %10s  %5.1f %%  %8u x  longest %10s%s\n", name,
		stall ? "*" : " ", total,
		l->lifetime_ns ? 100.0 * (double)l->ns[i] / (double)l->lifetime_ns : 0.0,
		l->count[i], longest, res == TRACE_BOUNDED ? "  (bounded)" : "");
}

/* What this backend cannot see has no row: it is not to be taken for 0. */
static void unseen_states(const struct trace_ledger *l, const char *const *names, unsigned int n,
			  FILE *out)
{
	const char *before = "; unknown: ";

	for (unsigned int i = n; i-- > 0;) {
		if (trace_state_resolution(l, i, names == trace_rx_names) != TRACE_UNKNOWN)
			continue;
		fprintf(out, "%s%s", before, names[i]);
		before = ", ";
	}
}

static const struct trace_looks *looks_at(const struct trace_snapshot *s,
					  const struct trace_endpoint *ep)
{
	return s->looks ? &s->looks[ep - s->ep] : NULL;
}

static void one_side(const struct trace_snapshot *s, const struct trace_endpoint *ep, bool rx,
		     FILE *out)
{
	const char *const *names = rx ? trace_rx_names : trace_tx_names;
	const struct trace_ledger *l = rx ? &ep->rx : &ep->tx;
	const struct trace_looks *looks = looks_at(s, ep);
	unsigned int n = rx ? RX_N : TX_N;
	char life[32];

	human_ns((double)l->lifetime_ns, life, sizeof(life));
	fprintf(out, "    %s  lifetime %s, unaccounted: %" PRId64 " ns", rx ? "rx" : "tx", life,
		l->unaccounted_ns);
	unseen_states(l, names, n, out);
	fputc('\n', out);
	for (unsigned int i = n; i-- > 0;) {
		uint8_t res = trace_state_resolution(l, i, rx);

		if (looks && res == TRACE_BY_LOOKS && l->ns[i])
			looked_row(looks, ep, rx, i, !rx && tx_is_stall(i), out);
		else if (res != TRACE_UNKNOWN && (l->ns[i] || l->count[i]))
			state_row(l, i, names[i], res, !rx && tx_is_stall(i), out);
	}
}

static void tcp_call_stats(const struct trace_endpoint *ep, FILE *out)
{
	char delack[32];

	if (ep->proto != TRACE_TCP)
		return;
	figure(ep->delack_ns, ep->delack_res, delack, sizeof(delack));
	fprintf(out, ", ACKs withheld %s (timer fired %" PRIu64 " x", delack, ep->delack_fires);
	if (ep->answers.n)
		fprintf(out, ", of which %" PRIu64 " were waited for", ep->answers.n);
	fputc(')', out);
	if (ep->retransmits_res != TRACE_UNKNOWN)
		fprintf(out, ", %" PRIu64 " retransmits", ep->retransmits);
	if (ep->needless)
		fprintf(out, ", of which %" PRIu64 " needless", ep->needless);
}

static void beside_row(const struct trace_endpoint *ep, FILE *out)
{
	const uint64_t *d = ep->drops;
	char blocked[32], runq[32];

	figure(trace_blocked_ns(&ep->tx_calls), ep->tx_calls.blocked_res, blocked, sizeof(blocked));
	figure(ep->tx_calls.runq_ns + ep->rx_calls.runq_ns, ep->tx_calls.runq_res, runq,
	       sizeof(runq));
	fprintf(out, "    beside  writer blocked %s, woken but waiting for a CPU %s", blocked,
		runq);
	tcp_call_stats(ep, out);
	if (ep->drops_res != TRACE_UNKNOWN && d[0] + d[1] + d[2] + d[3])
		fprintf(out,
			", dropped: %" PRIu64 " receive buffer, %" PRIu64 " qdisc, %" PRIu64
			" checksum, %" PRIu64 " other",
			d[TRACE_DROP_RCVBUF], d[TRACE_DROP_QDISC], d[TRACE_DROP_CHECKSUM],
			d[TRACE_DROP_OTHER]);
	fputc('\n', out);
}

/* TCP's own chronographs are exact to a tick, and the facts are of the looks */
static void looked_beside(const struct trace_looks *l, const struct trace_endpoint *ep, FILE *out)
{
	char busy[32], window[32], buffer[32];

	if (ep->proto != TRACE_TCP)
		return;
	figure(l->chrono_ns[0], TRACE_EXACT, busy, sizeof(busy));
	figure(l->chrono_ns[1], TRACE_EXACT, window, sizeof(window));
	figure(l->chrono_ns[2], TRACE_EXACT, buffer, sizeof(buffer));
	fprintf(out,
		"    beside  %" PRIu64 " retransmits; by TCP's own chronographs busy %s, of that "
				       "limited by the peer's window %s, by the send buffer %s\n",
		ep->retransmits, busy, window, buffer);
	for (unsigned int i = 0; i < TRACE_LOOK_FACTS; i++)
		if (l->fact[i])
			fprintf(out, "            %s in %.1f %% of the looks\n", trace_fact_name(i),
				100.0 * l->fact[i] / (double)l->n);
}

/* where it lives, as far as that tells endpoints apart: its cgroup, and its network namespace where
 * there are several */
static void place(const struct trace_snapshot *s, const struct trace_endpoint *ep, FILE *out)
{
	const struct trace_call_stats *b = ep->tx_calls.tgid ? &ep->tx_calls : &ep->rx_calls;
	char path[512];

	if (trace_cgroup_path(b->cgroup_id, path, sizeof(path)) && strcmp(path, "/"))
		fprintf(out, "   cgroup %s", path);
	for (size_t i = 0; i < s->n; i++) {
		if (!ep->netns || !s->ep[i].netns || s->ep[i].netns == ep->netns)
			continue;
		fprintf(out, "   netns %u", ep->netns);
		break;
	}
}

static void one_endpoint(const struct trace_snapshot *s, const struct trace_endpoint *ep, FILE *out)
{
	char name[160], w[48], r[48];

	endpoint_name(ep, name, sizeof(name));
	program_name(&ep->tx_calls, w, sizeof(w));
	program_name(&ep->rx_calls, r, sizeof(r));
	fprintf(out, "  %s   writer %s, reader %s%s", name, w, r,
		ep->joined_late ? "   (first seen in mid-life: its past is unknown)" : "");
	place(s, ep, out);
	fputc('\n', out);
	one_side(s, ep, false, out);
	one_side(s, ep, true, out);
	if (looks_at(s, ep))
		looked_beside(looks_at(s, ep), ep, out);
	else
		beside_row(ep, out);
}

static void endpoint_blocks(const struct trace_snapshot *s, size_t max, FILE *out)
{
	size_t n, *order = endpoints_by_stall(s, &n), shown;

	shown = max && n > max ? max : n;
	for (size_t i = 0; i < shown; i++)
		one_endpoint(s, &s->ep[order[i]], out);
	if (n > shown)
		fprintf(out, "  ... and %zu endpoints that stalled less\n", n - shown);
	free(order);
}

static void counters_line(const struct trace_counters *c, FILE *out)
{
	const struct trace_existing *x = &c->existing;

	if (x->made || x->asleep)
		fprintf(out,
			"  existed before: %" PRIu64 " sockets and pipes, %" PRIu64
			" threads asleep in a call\n",
			x->made, x->asleep);
	if (x->unreadable)
		fprintf(out,
			"  the descriptors of %" PRIu64
			" processes could not be listed: theirs show at their first event\n",
			x->unreadable);
	fprintf(out,
		"  observed %" PRIu64 ", lost %" PRIu64 ", unpaired %" PRIu64 ", overflow %" PRIu64
		", missed %" PRIu64,
		c->observed, c->lost, c->unpaired, c->overflow, c->missed);
	if (c->blind)
		fprintf(out, ", blind %" PRIu64, c->blind);
	if (c->stacks_lost)
		fprintf(out, ", stacks lost %" PRIu64, c->stacks_lost);
	fputc('\n', out);
	if (c->dropped)
		fprintf(out, "  %" PRIu64 " closed endpoints that stalled least were not kept\n",
			c->dropped);
}

void sampling_line(const struct trace_sampling *m, uint64_t now_ns, FILE *out)
{
	double lasted = (double)(now_ns - m->since_ns);

	if (!m->on || !(lasted > 0))
		return;
	fprintf(out,
		"  sampled: %" PRIu64 " looks, %.0f a second, each at %.0f %% of the endpoints; "
				      "looking took %.2f %% of a CPU (budget %.2f %%)\n",
		m->looks, (double)m->looks / lasted * 1e9, 100 * m->part,
		100.0 * (double)(m->look_ns + m->find_ns) / lasted, 100 * m->budget);
}

void ledger_blocks(const struct trace_snapshot *s, size_t max, FILE *out)
{
	endpoint_blocks(s, max, out);
	counters_line(&s->counters, out);
	sampling_line(&s->sampling, s->at_ns, out);
}
