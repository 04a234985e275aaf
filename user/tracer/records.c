// SPDX-License-Identifier: GPL-2.0-only
/* Handles the records of the ring buffer: closed endpoints are kept, stalls and steps are passed
 * on. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "tracer/endpoint_detail.h"
#include "tracer/internal.h"
#include "tracer/closed_sums.h"
#include "base/smaller_half.h"
#include "base/text.h"

uint64_t endpoint_stalled_ns(const struct endpoint *ep)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < TX_N; i++)
		if (tx_is_stall(i))
			sum += ep->tx.ns[i];
	return sum;
}

/* Finds the half that stalled less. False: no memory. */
static bool less_stalled(const struct closed_list *l, struct smaller_half *h)
{
	uint64_t *v = array_resize(NULL, l->n, 0, sizeof(*v));

	for (size_t i = 0; v && i < l->n; i++)
		v[i] = endpoint_stalled_ns(&l->ep[i]);
	if (!v)
		return false;
	smaller_half_begin(h, v, l->n);
	free(v);
	return true;
}

static uint64_t bytes_of(const struct call_stats *b)
{
	return b->own.bytes + b->crowd.bytes;
}

static void add_to_rest(struct trace *t, const struct endpoint *ep)
{
	struct closed_list *l = &t->closed;
	struct trace_details details = {};
	struct trace_endpoint e;

	if (!l->rest && !(l->rest = closed_sums_new()))
		return;
	endpoint_fill(&e, ep, t, &details);
	rest_add(l->rest, &e);
	details_free(&details);
}

static void drop(struct trace *t, const struct endpoint *ep, uint64_t stall)
{
	struct closed_list *l = &t->closed;

	add_to_rest(t, ep);
	l->dropped++;
	l->tx_bytes += bytes_of(&ep->tx_calls);
	l->rx_bytes += bytes_of(&ep->rx_calls);
	l->stall_ns += stall;
	if (bytes_of(&ep->tx_calls) || stall)
		l->lifetime_ns += ep->closed - ep->born;
}

/* A session of days must not grow without bound, so only the half of the closed endpoints that
 * stalled more is kept. */
static void drop_least_stalled(struct trace *t)
{
	struct closed_list *l = &t->closed;
	size_t kept = 0, shown = 0;
	struct smaller_half less;

	if (!less_stalled(l, &less))
		return;
	for (size_t i = 0; i < l->n; i++) {
		uint64_t stall = endpoint_stalled_ns(&l->ep[i]);

		if (smaller_half_goes(&less, stall)) {
			drop(t, &l->ep[i], stall);
			continue;
		}
		shown += i < l->shown;
		l->ep[kept++] = l->ep[i];
	}
	l->n = kept;
	l->shown = shown;
}

static bool keep_closed(struct trace *t, const struct endpoint *ep)
{
	struct closed_list *l = &t->closed;

	if (l->n >= t->opts.max_closed)
		drop_least_stalled(t);
	if (!array_grow(&l->ep, l->n, &l->room, sizeof(*l->ep)))
		return false;
	l->ep[l->n] = *ep;
	endpoint_book(&l->ep[l->n++]);
	return true;
}

static void fill_held(struct trace_held *out, const struct held *in)
{
	*out = (struct trace_held){ in->head != 0,   in->queued,     in->unacked,   in->small,
				    in->mss,	     in->cwnd,	     in->in_flight, in->window,
				    in->nonagle & 1, in->nonagle & 2 };
}

static void report_stall(const struct trace *t, const struct record_stall *r)
{
	struct trace_stall s = {
		.serial = r->serial, .from_ns = r->from, .to_ns = r->to, .state = r->state,
			.by_delack = (enum trace_delack)r->by_delack, .goes_on = r->goes_on,
		.peer_unread_ns = r->peer_unread, .peer_no_cpu_ns = r->peer_no_cpu, .tgid = r->tgid,
			.peer_tgid = r->peer_tgid, .kstack = r->kstack,
		.peer_serial = r->peer_serial, .ack_owed_ns = r->ack_owed,
			.ack_went_ns = r->ack_went, .ack_at_ns = r->ack.at,
		.ack_bytes = r->ack.acked, .ack_payload = r->ack.payload, .ustack = r->ustack,
			.peer_kstack = r->peer_kstack, .peer_ustack = r->peer_ustack,
	};

	fill_held(&s.held, &r->held);
	text_comm(s.comm, r->comm);
	text_comm(s.peer_comm, r->peer_comm);
	if (t->opts.on_stall)
		t->opts.on_stall(t->opts.ctx, &s);
}

static void report_event(const struct trace *t, const struct record_event *r)
{
	struct trace_transition tr = { .serial = r->serial, .at_ns = r->at };

	if (!t->opts.on_transition)
		return;
	if (r->head.type == RECORD_MARK) {
		tr.mark = r->what;
		tr.bytes = r->value;
	} else {
		tr.ns = r->value;
		tr.rx = r->what & 1;
		tr.from = r->what >> 4 & 15;
		tr.to = r->what >> 8 & 15;
		tr.closes = r->what >> 12 & 1;
	}
	t->opts.on_transition(t->opts.ctx, &tr);
}

/* Nothing is known of this endpoint except that it existed, so it is not kept among the closed
 * ones. */
static bool made_room_unused(const struct endpoint *ep)
{
	return ep->flags & EP_EVICTED && !bytes_of(&ep->tx_calls) && !bytes_of(&ep->rx_calls) &&
	       !endpoint_stalled_ns(ep);
}

static void on_close(struct trace *t, const struct endpoint *ep)
{
	t->n_closed++;
	if (is_strangers(ep->flags, ep->peer))
		return;
	if (made_room_unused(ep))
		add_to_rest(t, ep);
	else if (!keep_closed(t, ep))
		t->lost++;
}

int on_record(void *ctx, void *data, size_t size)
{
	const struct record_head *head = data;
	struct trace *t = ctx;

	if (head->type == RECORD_CLOSE) {
		on_close(t, &((struct record_close *)data)->ep);
	} else if (head->type == RECORD_LISTENER) {
		listeners_gone(t, &((struct record_listener *)data)->l);
	} else if (head->type == RECORD_STALL) {
		report_stall(t, data);
	} else if (head->type == RECORD_STEP || head->type == RECORD_MARK) {
		report_event(t, data);
	}
	return 0;
}

static void closed_forget_shown(struct closed_list *l)
{
	if (l->n > l->shown)
		memmove(l->ep, l->ep + l->shown, (l->n - l->shown) * sizeof(*l->ep));
	l->n -= l->shown;
	l->shown = 0;
}

void trace_forget_closed(struct trace *t)
{
	pthread_mutex_lock(&t->lock);
	closed_forget_shown(&t->closed);
	pthread_mutex_unlock(&t->lock);
}

size_t trace_closed_kept(struct trace *t)
{
	size_t n;

	pthread_mutex_lock(&t->lock);
	n = t->closed.n;
	pthread_mutex_unlock(&t->lock);
	return n;
}
