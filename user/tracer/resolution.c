// SPDX-License-Identifier: GPL-2.0-only
/* How well each backend sees each figure: exactly, up to the next event it can see, or not at all.
 */
#include "tracer/internal.h"

static void fill(uint8_t *res, unsigned int n, enum trace_resolution r)
{
	for (unsigned int i = 0; i < n; i++)
		res[i] = r;
}

/* The queue of a stream counts buffers, and one read may take many of them or a part of one. */
static enum trace_resolution queue_resolution(enum trace_proto proto,
					      enum trace_resolution otherwise)
{
	return proto == TRACE_TCP || proto == TRACE_UNIX_STREAM ? TRACE_UNKNOWN : otherwise;
}

/* Raw tracepoints: a change of state is seen at the next event. The beginning of a call that does
 * not sleep is not seen, except for tcp_sendmsg() and pipes. */
static void rawtp_fill(struct trace_endpoint *ep)
{
	bool tcp = ep->proto == TRACE_TCP, pipe = ep->proto == TRACE_PIPE;

	fill(ep->tx.resolution, TX_N, TRACE_BOUNDED);
	fill(ep->rx.resolution, RX_N, TRACE_BOUNDED);
	ep->rx.resolution[RX_WAIT] = TRACE_EXACT;
	ep->tx.resolution[TX_SNDBUF] = TRACE_EXACT;
	if (!tcp && !pipe)
		ep->tx.resolution[TX_WORK] = TRACE_UNKNOWN;
	if (!pipe)
		ep->rx.resolution[RX_WORK] = TRACE_UNKNOWN;
	ep->queue_res = queue_resolution(ep->proto, pipe ? TRACE_BOUNDED : TRACE_EXACT);
}

/* Hooks at function entry and exit; the state of TCP's queue is seen at the next event. This is for
 * kprobes, which may miss a return, and for fentry if one of its exact hooks is missing. */
static void entered_fill(struct trace_endpoint *ep, enum trace_resolution calls)
{
	bool tcp = ep->proto == TRACE_TCP, device = tcp || ep->proto == TRACE_UDP;

	fill(ep->tx.resolution, TX_N, device ? TRACE_BOUNDED : calls);
	fill(ep->rx.resolution, RX_N, tcp ? TRACE_BOUNDED : calls);
	ep->tx.resolution[TX_WORK] = ep->rx.resolution[RX_WORK] = calls;
	ep->tx.resolution[TX_SNDBUF] = ep->rx.resolution[RX_WAIT] = TRACE_EXACT;
	ep->queue_res = queue_resolution(ep->proto, calls);
}

static void exact_fill(struct trace_endpoint *ep)
{
	fill(ep->tx.resolution, TX_N, TRACE_EXACT);
	fill(ep->rx.resolution, RX_N, TRACE_EXACT);
	ep->queue_res = queue_resolution(ep->proto, TRACE_EXACT);
}

/* From 6.11 on kfree_skb names the socket that did not take a datagram (its argument rx_sk). */
enum trace_resolution resolution_drops(enum trace_proto proto)
{
	return proto == TRACE_UDP && feature_drop_args() > 3 ? TRACE_EXACT : TRACE_UNKNOWN;
}

/* the same for every backend */
static void common_fill(struct trace_endpoint *ep)
{
	bool tcp = ep->proto == TRACE_TCP;

	ep->tx_calls.bytes_res = ep->rx_calls.bytes_res = TRACE_EXACT;
	ep->tx_calls.blocked_res = ep->rx_calls.blocked_res = TRACE_EXACT;
	ep->tx_calls.runq_res = ep->rx_calls.runq_res = TRACE_EXACT;
	ep->delack_res = ep->retransmits_res = tcp ? TRACE_EXACT : TRACE_UNKNOWN;
	ep->drops_res = resolution_drops(ep->proto);
}

void resolution_fill(struct trace_endpoint *ep, enum trace_backend b, bool exact)
{
	common_fill(ep);
	if (b == TRACE_RAWTP)
		rawtp_fill(ep);
	else if (b == TRACE_KPROBE)
		entered_fill(ep, TRACE_BOUNDED);
	else if (!exact)
		entered_fill(ep, TRACE_EXACT);
	else
		exact_fill(ep);
}

/* No hook saw the calls that moved most of the bytes: states that depend on a call are unknown. */
void resolution_unseen(struct trace_endpoint *ep, bool tx, bool rx)
{
	if (tx && ep->proto == TRACE_PIPE) /* only its calls tell about a writer */
		fill(ep->tx.resolution, TX_N, TRACE_UNKNOWN);
	else if (tx) /* no socket tells whether its writer sleeps for room, nor therefore whether it
			had nothing to send */
		ep->tx.resolution[TX_WORK] = ep->tx.resolution[TX_IDLE] =
			ep->tx.resolution[TX_SNDBUF] = TRACE_UNKNOWN;
	if (rx)
		fill(ep->rx.resolution, RX_N, TRACE_UNKNOWN);
}
