// SPDX-License-Identifier: GPL-2.0-only
#include "diagnose/observe.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "bench/traced.h"

/* The share of the time that an end was on a run queue. If both ends share one CPU, without the
 * time in which the other end ran on it. NaN: unknown. */
static double kept_off(const struct seen_point *p, enum role role, const struct diag_round *r)
{
	double own = p->end[role].run_delay_ns / p->elapsed_ns - (r->one_cpu ? r->cpu[!role] : 0);

	return own < 0 ? 0 : own;
}

void observe_begin(struct observation *o, const struct seen_point *p, struct diag_round *out)
{
	*o = (struct observation){ .p = *p, .out = out, .runq = { NAN, NAN } };
	*out = (struct diag_round){ .size = p->size,
				    .cost_ns = p->cost_ns,
				    .messages = p->messages,
				    .each_ns = p->messages > 0 ? p->elapsed_ns / p->messages : NAN,
				    .sent = p->sent,
				    .lost = p->lost,
				    .device = NAN,
				    .drops = { NAN, NAN, NAN },
				    .competing = p->competing,
				    .one_cpu = p->one_cpu,
				    .traced = p->traced,
				    .both_seen = p->traced };
	for (int i = 0; i < ROLES; i++) {
		out->cpu[i] = p->end[i].cpu_ns / p->elapsed_ns;
		out->who[i].pid = p->end[i].pid;
		strcpy(out->who[i].comm, "ipcstall");
	}
	for (int i = 0; i < ROLES; i++)
		out->delay[i] = kept_off(p, (enum role)i, out);
}

static void observe_states(const struct seen_endpoint *ep, double whole,
			   struct diag_wait waits[TX_N])
{
	for (unsigned int c = 0; c < TX_N; c++) {
		const struct seen_state *s = &ep->tx[c];

		waits[c].share += s->ns / whole;
		waits[c].count += s->count;
		waits[c].max_ns = fmax(waits[c].max_ns, s->max_ns);
		waits[c].delack += s->delack_ns / whole;
		waits[c].unread += s->unread_ns / whole;
	}
}

static double plus(double sum, double v)
{
	return (isnan(sum) ? 0 : sum) + v;
}

static void observe_drops(const struct seen_endpoint *ep, struct diag_round *r)
{
	const double by[2] = { ep->rcvbuf, ep->qdisc };

	for (int i = 0; i < 2; i++)
		if (!isnan(by[i]) && r->sent > 0)
			r->drops[i] = plus(r->drops[i], by[i] / r->sent);
}

/* Adds the time that this endpoint's reader was on a run queue after a wake-up: its delay is at
 * least that. A pipe's reader is the other end's process. */
static void observe_delay(struct observation *o, const struct seen_endpoint *ep, double whole)
{
	enum role reader = ep->pipe ? (enum role) !ep->sender : ep->sender;
	double *seen = &o->runq[reader], *delay = &o->out->delay[reader];

	if (isnan(ep->rx_runq_ns))
		return;
	*seen = plus(*seen, ep->rx_runq_ns / whole);
	*delay = isnan(*delay) ? *seen : fmax(*seen, *delay);
}

static bool stalled(const struct seen_endpoint *ep)
{
	for (unsigned int c = 0; c < TX_N; c++)
		if (tx_is_stall(c) && ep->tx[c].ns > 0)
			return true;
	return false;
}

/* If the ledger is of a second run, shares are of the endpoint's lifetime and not of the figures'
 * time. They also are if the lifetime is longer: the figures' time includes neither the filling nor
 * the emptying of a window. */
void observe_endpoint(struct observation *o, const struct seen_endpoint *ep)
{
	struct diag_round *r = o->out;
	struct diag_party *who = &r->who[ep->sender];
	double whole = fmax(o->p.same_run ? o->p.elapsed_ns : 0, ep->lifetime_ns);

	observe_states(ep, whole, r->wait[ep->sender]);
	observe_drops(ep, r);
	observe_delay(o, ep, whole);
	/* a woken writer's time on a run queue is part of the state in which it slept */
	if (!isnan(ep->tx_runq_ns))
		r->woken[ep->sender] += ep->tx_runq_ns / whole;
	if (!ep->peer_seen && stalled(ep))
		r->both_seen = false;
	if (ep->pipe)
		return;
	if (ep->pid)
		who->pid = ep->pid;
	if (*ep->comm) {
		memcpy(who->comm, ep->comm, sizeof(who->comm));
		text_clean(who->comm, sizeof(who->comm));
	}
}

/* By TCP_INFO (tcp_chrono): the part of the time with data outstanding in which the peer's window
 * was the limit, over the whole connection, in jiffies. */
static void observe_tcp_info(const struct seen_point *p, struct diag_round *r)
{
	if (r->traced || !(p->busy_us > 0) || isnan(p->rwnd_limited_us))
		return;
	r->info = true;
	r->wait[ROLE_CLIENT][TX_RWND] = (struct diag_wait){
		.share = p->rwnd_limited_us / p->busy_us, .count = NAN, .max_ns = NAN
	};
}

int observe_end(struct observation *o)
{
	struct diag_round *r = o->out;

	if (r->traced)
		r->device = r->wait[ROLE_CLIENT][TX_DEVICE].share;
	observe_tcp_info(&o->p, r);
	return r->cost_ns > 0 ? 0 : -1;
}

/* --- a live point ----------------------------------------------------------------------------- */

static struct seen_point seen_of(const struct point *p)
{
	const struct socket_facts *f = &p->socket[ROLE_CLIENT];
	const struct point_ledger *l = p->ledger;
	struct seen_point out = {
		.size = p->size,
		.cost_ns = point_cost_ns(p),
		.messages = (double)p->messages,
		.sent = (double)p->sent,
		.lost = (double)p->lost,
		.elapsed_ns = (double)p->elapsed_ns,
		.competing = p->noise.competing_ns / p->noise.window_ns / p->noise.n_cpus,
		.one_cpu = !strcmp(p->placement, "same"),
		.busy_us = f->has_tcp_info ? (double)f->busy_us : NAN,
		.rwnd_limited_us = f->has_tcp_info ? (double)f->rwnd_limited_us : NAN,
		.traced = l,
		.same_run = l && isnan(l->cost_ratio),
	};

	for (int i = 0; i < ROLES; i++) {
		const struct worker_usage *u = &p->usage[i];

		out.end[i] = (struct seen_end){ .pid = u->pid,
						.cpu_ns = (double)(u->user_us + u->system_us) * 1e3,
						.run_delay_ns = p->noise.run_delay_ns[i] };
	}
	return out;
}

static double known(uint64_t v, uint8_t resolution)
{
	return resolution == TRACE_UNKNOWN ? NAN : (double)v;
}

static void see_states(const struct trace_endpoint *ep, struct seen_endpoint *out)
{
	for (unsigned int c = 0; c < TX_N; c++) {
		uint8_t res = trace_state_resolution(&ep->tx, c, false),
			episodes = res == TRACE_BY_SAMPLES ? TRACE_UNKNOWN : res;

		out->tx[c] = (struct seen_state){ known(ep->tx.ns[c], res),
						  known(ep->tx.count[c], episodes),
						  known(ep->tx.max[c], episodes),
						  (double)ep->blame.delack_ns[c],
						  (double)ep->blame.unread_ns[c] };
	}
}

static void see_endpoint(const struct point_ledger *l, const struct trace_endpoint *ep,
			 struct seen_endpoint *out)
{
	const struct trace_call_stats *tx = &ep->tx_calls, *rx = &ep->rx_calls,
				      *who = tx->tgid ? tx : rx;

	*out = (struct seen_endpoint){ .sender = point_ledger_sender(l, ep),
				       .pipe = ep->proto == TRACE_PIPE,
				       .peer_seen = ep->peer >= 0,
				       .pid = who->tgid,
				       .lifetime_ns = (double)ep->tx.lifetime_ns,
				       .rcvbuf = known(ep->drops[TRACE_DROP_RCVBUF], ep->drops_res),
				       .qdisc = known(ep->drops[TRACE_DROP_QDISC], ep->drops_res),
				       .tx_runq_ns = known(tx->runq_ns, tx->runq_res),
				       .rx_runq_ns = known(rx->runq_ns, rx->runq_res) };
	if (who->tgid)
		memcpy(out->comm, who->comm, sizeof(out->comm));
	see_states(ep, out);
}

int observe_point(const struct point *p, struct diag_round *out)
{
	const struct point_ledger *l = p->ledger;
	struct seen_point seen = seen_of(p);
	struct observation o;

	observe_begin(&o, &seen, out);
	for (size_t i = 0; l && i < l->phase.n; i++) {
		struct seen_endpoint ep;

		see_endpoint(l, &l->phase.ep[i], &ep);
		observe_endpoint(&o, &ep);
	}
	return observe_end(&o);
}
