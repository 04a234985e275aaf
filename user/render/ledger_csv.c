// SPDX-License-Identifier: GPL-2.0-only
/* One line for each endpoint; an unknown figure is an empty field. */
#include <inttypes.h>
#include <string.h>

#include "render/ledger_text.h"
#include "render/ledger_outputs.h"
#include "render/sink.h"

/* Quotes a text as in RFC 4180: names of processes and cgroups may contain anything. */
static void text(FILE *f, const char *s, size_t max)
{
	fputc('"', f);
	if (s[0] && strchr("=+-@", s[0])) /* a spreadsheet would take it for a formula */
		fputc('\'', f);
	for (size_t i = 0; i < max && s[i]; i++) {
		if (s[i] == '"')
			fputc('"', f);
		fputc(s[i], f);
	}
	fputs("\",", f);
}

static void number(FILE *f, uint64_t v, bool known)
{
	if (known)
		fprintf(f, "%" PRIu64, v);
	fputc(',', f);
}

static void states(FILE *f, const struct trace_ledger *l, unsigned int n)
{
	number(f, l->lifetime_ns, true);
	for (unsigned int i = 0; i < n; i++)
		number(f, l->ns[i], trace_state_resolution(l, i, n == RX_N) != TRACE_UNKNOWN);
}

static void side(FILE *f, const struct trace_call_stats *b)
{
	number(f, b->bytes, b->bytes_res != TRACE_UNKNOWN);
	number(f, b->messages, trace_messages_known(b));
	number(f, trace_blocked_ns(b), b->blocked_res != TRACE_UNKNOWN);
	number(f, b->runq_ns, b->runq_res != TRACE_UNKNOWN);
}

static void line(FILE *f, const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	const struct trace_call_stats *b = ep->tx_calls.tgid ? &ep->tx_calls : &ep->rx_calls;
	char name[160], path[512];

	endpoint_name(ep, name, sizeof(name));
	number(f, ep->serial, true);
	number(f, ep->peer >= 0 ? s->ep[ep->peer].serial : 0, ep->peer >= 0);
	text(f, name, sizeof(name));
	number(f, (uint64_t)b->tgid, b->tgid);
	text(f, b->comm, sizeof(b->comm));
	text(f, trace_cgroup_path(b->cgroup_id, path, sizeof(path)) ? path : "", sizeof(path));
	number(f, ep->netns, ep->netns);
	number(f, ep->born_ns, true);
	number(f, ep->at_ns, true);
	fprintf(f, "%d,%d,", ep->closed, ep->joined_late);
	number(f, ledger_stall_ns(&ep->tx), true);
	states(f, &ep->tx, TX_N);
	states(f, &ep->rx, RX_N);
	side(f, &ep->tx_calls);
	side(f, &ep->rx_calls);
	number(f, ep->delack_ns, ep->delack_res != TRACE_UNKNOWN);
	if (ep->retransmits_res != TRACE_UNKNOWN)
		fprintf(f, "%" PRIu64, ep->retransmits);
	fputc('\n', f);
}

int ledger_csv_write(const struct ledger_view *view, const char *path, struct err *e)
{
	FILE *f = sink_open(path, e);

	if (!f)
		return -1;
	fputs("serial,peer_serial,endpoint,pid,comm,cgroup,netns,born_ns,at_ns,closed,joined_late,"
	      "stall_ns,tx_lifetime_ns",
	      f);
	for (unsigned int i = 0; i < TX_N; i++)
		fprintf(f, ",tx_%s_ns", state_name(false, i));
	fputs(",rx_lifetime_ns", f);
	for (unsigned int i = 0; i < RX_N; i++)
		fprintf(f, ",rx_%s_ns", state_name(true, i));
	fputs(",tx_bytes,tx_messages,tx_blocked_ns,tx_runq_ns,rx_bytes,rx_messages,rx_blocked_ns,"
	      "rx_runq_ns,delack_ns,retransmits\n",
	      f);
	for (size_t i = 0; i < view->s->n && !ferror(f); i++)
		line(f, view->s, &view->s->ep[i]);
	return sink_close(f, path, e);
}
