// SPDX-License-Identifier: GPL-2.0-only
/* Ledgers as a person reads them: names, durations, the table. */
#include "render/ledger_text.h"

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

static void state_row(const struct trace_ledger *l, unsigned int i, const char *name, uint8_t res, bool stall, FILE *out)
{
	char total[32], longest[32];

	figure(l->ns[i], res, total, sizeof(total));
	figure(l->max[i], res, longest, sizeof(longest));
	fprintf(out, "      %-9s%s %10s  %5.1f %%  %8u x  longest %10s%s\n", name, stall ? "*" : " ", total,
		l->lifetime_ns ? 100.0 * (double)l->ns[i] / (double)l->lifetime_ns : 0.0, l->count[i], longest,
		res == TRACE_BOUNDED ? "  (bounded)" : "");
}

/* What this backend cannot see has no row: it is not to be taken for 0. */
static void unseen_states(const struct trace_ledger *l, const char *const *names, unsigned int n, FILE *out)
{
	const char *before = "; unknown: ";

	for (unsigned int i = n; i-- > 0;) {
		if (trace_state_resolution(l, i, names == trace_rx_names) != TRACE_UNKNOWN)
			continue;
		fprintf(out, "%s%s", before, names[i]);
		before = ", ";
	}
}

static void one_side(const struct trace_ledger *l, const char *title, const char *const *names, unsigned int n, uint32_t stalls,
		     FILE *out)
{
	char life[32];

	human_ns((double)l->lifetime_ns, life, sizeof(life));
	fprintf(out, "    %s  lifetime %s, unaccounted: %" PRId64 " ns", title, life, l->unaccounted_ns);
	unseen_states(l, names, n, out);
	fputc('\n', out);
	for (unsigned int i = n; i-- > 0;) {
		uint8_t res = trace_state_resolution(l, i, names == trace_rx_names);

		if (res != TRACE_UNKNOWN && (l->ns[i] || l->count[i]))
			state_row(l, i, names[i], res, stalls >> i & 1, out);
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
	figure(ep->tx_calls.runq_ns + ep->rx_calls.runq_ns, ep->tx_calls.runq_res, runq, sizeof(runq));
	fprintf(out, "    beside  writer blocked %s, woken but waiting for a CPU %s", blocked, runq);
	tcp_call_stats(ep, out);
	if (ep->drops_res != TRACE_UNKNOWN && d[0] + d[1] + d[2] + d[3])
		fprintf(out, ", dropped: %" PRIu64 " receive buffer, %" PRIu64 " qdisc, %" PRIu64 " checksum, %" PRIu64 " other",
			d[TRACE_DROP_RCVBUF], d[TRACE_DROP_QDISC], d[TRACE_DROP_CHECKSUM], d[TRACE_DROP_OTHER]);
	fputc('\n', out);
}

/* where it lives, as far as that tells endpoints apart: its cgroup, and its network namespace where there are several */
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
	fprintf(out, "  %s   writer %s, reader %s%s", name, w, r, ep->joined_late ? "   (first seen in mid-life: its past is unknown)" : "");
	place(s, ep, out);
	fputc('\n', out);
	one_side(&ep->tx, "tx", trace_tx_names, TX_N, TX_STALLS, out);
	one_side(&ep->rx, "rx", trace_rx_names, RX_N, 0, out);
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
		fprintf(out, "  existed before: %" PRIu64 " sockets and pipes, %" PRIu64 " threads asleep in a call\n", x->made, x->asleep);
	if (x->unreadable)
		fprintf(out, "  the descriptors of %" PRIu64 " processes could not be listed: theirs show at their first event\n",
			x->unreadable);
	fprintf(out, "  observed %" PRIu64 ", lost %" PRIu64 ", unpaired %" PRIu64 ", overflow %" PRIu64 ", missed %" PRIu64, c->observed,
		c->lost, c->unpaired, c->overflow, c->missed);
	if (c->blind)
		fprintf(out, ", blind %" PRIu64, c->blind);
	if (c->stacks_lost)
		fprintf(out, ", stacks lost %" PRIu64, c->stacks_lost);
	fputc('\n', out);
	if (c->dropped)
		fprintf(out, "  %" PRIu64 " closed endpoints that stalled least were not kept\n", c->dropped);
}

void ledger_blocks(const struct trace_snapshot *s, size_t max, FILE *out)
{
	endpoint_blocks(s, max, out);
	counters_line(&s->counters, out);
}
