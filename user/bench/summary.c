// SPDX-License-Identifier: GPL-2.0-only
/* Computes the result from the workers' counts, after the measurement. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/run.h"
#include "base/array.h"
#include "stats/rng.h"

enum { TOO_FEW = 100 };

static uint64_t span_ns(const struct run *r, const struct tally *t)
{
	return t->to > t->from ? ticks_to_ns(&r->clock, t->to - t->from) : 0;
}

static struct hdr *histogram(const uint64_t *v, size_t n)
{
	struct hdr *h = malloc(sizeof(*h));

	if (!h)
		return NULL;
	hdr_reset(h);
	for (size_t i = 0; i < n; i++)
		hdr_record(h, v[i]);
	return h;
}

static int summarise(const uint64_t *v, size_t n, struct summary *out, struct err *e)
{
	uint64_t *sorted = array_resize(NULL, n, 1, sizeof(*sorted));
	struct sample s = sample_u64(sorted, n);

	if (!sorted)
		return err_resource(e, "statistics: out of memory; give a smaller --count");
	memcpy(sorted, v, n * sizeof(*sorted));
	stats_sort_u64(sorted, n);
	stats_summarise(&s, out);
	free(sorted);
	return 0;
}

/* Takes over `v` (ns). */
static int fill_latency(struct point *p, uint64_t *v, size_t n, struct err *e)
{
	p->samples = v;
	p->n_samples = n;
	if (!n) {
		point_warn(p,
			   "none of %llu messages arrived; give a smaller --size or a larger "
			   "--rcvbuf",
			   (unsigned long long)p->sent);
		return 0;
	}
	p->latency.present = true;
	p->latency.histogram = histogram(v, n);
	return summarise(v, n, &p->latency.s, e);
}

static uint64_t *new_samples(size_t n, struct err *e)
{
	uint64_t *v = array_resize(NULL, n, 1, sizeof(*v));

	if (!v)
		err_resource(e, "samples: out of memory; give a smaller --count");
	return v;
}

/* Samples of the client alone: RTT (halved for latency), connect time, or time from send to ack. */
static int from_client(const struct run *r, struct point *p, struct err *e)
{
	const struct tally *c = &r->counted[ROLE_CLIENT];
	uint64_t *v = new_samples(c->n, e);
	size_t n = 0;

	if (!v)
		return -1;
	for (uint64_t i = 0; i < c->n; i++) {
		if (r->samples[ROLE_CLIENT][i] & SAMPLE_LOST)
			continue;
		v[n] = ticks_to_ns(&r->clock, r->samples[ROLE_CLIENT][i]);
		if (is_round_trip(r))
			v[n] = (v[n] + 1) / 2;
		n++;
	}
	return fill_latency(p, v, n, e);
}

/* One end's part of the handshakes, as its TCP measured it; none if that was on another host. */
static int handshake_part(const struct run *r, enum role end, struct summary *out, bool *has,
			  struct err *e)
{
	size_t n = 0, most = r->counted[ROLE_CLIENT].n;
	uint64_t *v = new_samples(most, e);
	int rc;

	if (!v)
		return -1;
	for (size_t i = 0; i < most; i++)
		if (r->rtt[end][i])
			v[n++] = (uint64_t)(r->rtt[end][i] - 1) * 1000;
	*has = n > 0;
	rc = n ? summarise(v, n, out, e) : 0;
	free(v);
	return rc;
}

static int fill_from_client(const struct run *r, struct point *p, struct err *e)
{
	struct latency_result *l = &p->latency;

	if (from_client(r, p, e))
		return -1;
	if (!r->rtt[ROLE_CLIENT])
		return 0;
	return handshake_part(r, ROLE_CLIENT, &l->syn, &l->has_syn, e) ||
			       handshake_part(r, ROLE_SERVER, &l->synack, &l->has_synack, e)
		       ? -1
		       : 0;
}

/* Closed loop: client samples are round trips from stamp to stamp, server samples stamps within. */
static int oneway_closed(const struct run *r, struct point *p, struct err *e)
{
	const struct tally *c = &r->counted[ROLE_CLIENT], *s = &r->counted[ROLE_SERVER];
	size_t n = c->n < s->n ? c->n : s->n;
	uint64_t *v = new_samples(2 * n, e), asked = c->from;
	int rc;

	if (!v)
		return -1;
	for (size_t i = 0; i < n; i++) {
		uint64_t back = asked + r->samples[ROLE_CLIENT][i];

		v[i] = ticks_to_ns(&r->clock, r->samples[ROLE_SERVER][i] - asked);
		v[n + i] = ticks_to_ns(&r->clock, back - r->samples[ROLE_SERVER][i]);
		asked = back;
	}
	p->latency.has_directions = n > 0;
	rc = n ? summarise(v, n, &p->latency.there, e) || summarise(v + n, n, &p->latency.back, e)
	       : 0;
	/* the result's samples are those of the way to the server; the way back has a summary */
	return fill_latency(p, v, n, e) || rc ? -1 : 0;
}

static int oneway_open(const struct run *r, struct point *p, struct err *e)
{
	const struct tally *c = &r->counted[ROLE_CLIENT];
	uint64_t *v = new_samples(c->n, e);
	size_t n = 0;

	if (!v)
		return -1;
	for (uint64_t i = 0; i < c->n; i++)
		if (r->samples[ROLE_SERVER][i] > r->samples[ROLE_CLIENT][i])
			v[n++] = ticks_to_ns(&r->clock, r->samples[ROLE_SERVER][i] -
								r->samples[ROLE_CLIENT][i]);
	p->messages = n;
	p->bytes = n * r->size;
	p->lost = c->n - n;
	return fill_latency(p, v, n, e);
}

static int fill_oneway(const struct run *r, struct point *p, struct err *e)
{
	uint64_t sent = r->counted[ROLE_CLIENT].n, received = r->counted[ROLE_SERVER].n;

	if (r->plan->o.rate > 0 && r->size < sizeof(uint32_t) && received < sent) {
		p->lost = sent - received;
		point_warn(p,
			   "%llu messages were lost, and a message below %zu bytes has no number, "
			   "so the time stamps of the two ends cannot be paired; give --size %zu "
			   "or more",
			   (unsigned long long)p->lost, sizeof(uint32_t), sizeof(uint32_t));
		return 0;
	}
	if (r->plan->o.rate > 0)
		return oneway_open(r, p, e);
	if (p->lost) {
		point_warn(p,
			   "%llu messages were lost, so the time stamps of the two ends cannot be "
			   "paired and there is no one-way time; use --rate",
			   (unsigned long long)p->lost);
		return 0;
	}
	return oneway_closed(r, p, e);
}

static int trials_alloc(struct throughput_result *t, size_t n, struct err *e)
{
	t->trials = array_resize(NULL, n, 1, sizeof(*t->trials));
	t->trial_ns = array_resize(NULL, n, 1, sizeof(*t->trial_ns));
	if (!t->trials || !t->trial_ns)
		return err_resource(e, "trials: out of memory; give fewer --trials");
	return 0;
}

static void trial_add(struct throughput_result *t, uint64_t bytes, uint64_t ns)
{
	t->trials[t->n_trials] = (double)bytes * 1e9 / (double)ns;
	t->trial_ns[t->n_trials++] = (double)ns;
}

static int trials_from_slices(const struct run *r, struct point *p, struct err *e)
{
	const struct tally *s = &r->counted[ROLE_SERVER];

	if (trials_alloc(&p->throughput, s->n_slices, e))
		return -1;
	for (size_t i = 0; i < s->n_slices; i++)
		trial_add(&p->throughput, r->sh->slices[i].bytes,
			  ticks_to_ns(&r->clock, r->sh->slices[i].ticks));
	return 0;
}

/* The tick at which message i was done; `before`: that of the previous message in its chain of
 * round trips. */
static uint64_t done_at(const struct run *r, size_t i, uint64_t before)
{
	uint64_t took = r->samples[ROLE_CLIENT][i] & ~SAMPLE_LOST, slot_ends;

	if (!(r->plan->o.rate > 0))
		return before + took;
	slot_ends = (uint64_t)(schedule_gap(r) * (double)(i + 1));
	took += (uint64_t)(schedule_gap(r) * (double)i);
	return took > slot_ends ? took : slot_ends;
}

/* With an ack for each message, a trial is a run of samples, with their timeouts. With K messages
 * in flight, every K-th belongs to one chain without a gap. On a schedule each message has its own
 * start. */
static int trials_from_samples(const struct run *r, struct point *p, struct err *e)
{
	const struct tally *c = &r->counted[ROLE_CLIENT];
	struct throughput_result *t = &p->throughput;
	uint64_t trials = (uint64_t)r->plan->o.trials,
		 whole = c->to > c->from ? c->to - c->from : 1;
	uint64_t at = 0, from = 0, n = 0, chain = (uint64_t)r->plan->o.outstanding;

	if (trials_alloc(t, trials, e))
		return -1;
	for (uint64_t i = chain - 1; i < c->n; i += chain) {
		at = done_at(r, i, at);
		n += r->samples[ROLE_CLIENT][i] & SAMPLE_LOST ? 0 : chain;
		if (at * trials / whole == from * trials / whole)
			continue;
		trial_add(t, n * r->size, ticks_to_ns(&r->clock, at - from));
		from = at;
		n = 0;
	}
	return 0;
}

static void trial_interval(const struct run *r, struct point *p)
{
	struct throughput_result *t = &p->throughput;
	struct sample s = sample_f64(t->trials, t->n_trials);
	struct rng rng;

	rng_seed(&rng, (uint64_t)r->plan->o.seed);
	t->ci = (struct interval){ .lo = NAN, .hi = NAN, .level = 0.95, .method = "none" };
	if (t->n_trials >= 3)
		t->ci = stats_bootstrap_mean(&s, t->trial_ns, 0.95, &rng);
	else if (!isnan(t->bytes_per_s)) /* no rate: no_rate() has warned already */
		point_warn(p, "only %zu trials: no interval is given for the throughput; give %s",
			   t->n_trials,
			   r->plan->o.count || r->plan->o.bytes ? "more messages"
								: "a longer --duration");
}

/* The receiver's time begins with its first receive. If most bytes had been sent by then, its reads
 * only emptied a buffer, and their speed says nothing of the path. */
static bool only_emptied(const struct point *p, uint64_t received_ns)
{
	return received_ns < p->elapsed_ns / 2;
}

static void no_rate(struct point *p, uint64_t received_ns)
{
	p->throughput.bytes_per_s = NAN;
	p->throughput.n_trials = 0;
	point_warn(p,
		   "receiving took %.3g us and sending %.3g us, so there is no rate; give a "
		   "longer --duration or a larger --count",
		   (double)received_ns / 1e3, (double)p->elapsed_ns / 1e3);
}

static int fill_throughput(const struct run *r, struct point *p, struct err *e)
{
	const struct tally *c = &r->counted[ROLE_CLIENT], *s = &r->counted[ROLE_SERVER];
	bool acked = r->plan->o.ack == ACK_MESSAGE;
	uint64_t received_ns = acked ? p->elapsed_ns : span_ns(r, s),
		 unclocked = acked ? 0 : s->unclocked;

	if (!acked) {
		p->bytes = s->bytes;
		p->messages = s->messages;
		p->lost = c->messages > s->messages ? c->messages - s->messages
						    : 0; /* one in pieces is lost whole */
	}
	p->throughput.present = true;
	p->throughput.bytes_per_s =
		unclocked <= p->bytes ? (double)(p->bytes - unclocked) * 1e9 / (double)received_ns
				      : NAN; /* only another host can report this */
	p->throughput.acked_bytes_per_s = r->w->flags & WL_LOSSY && !acked
						  ? NAN
						  : (double)p->bytes * 1e9 / (double)p->elapsed_ns;
	if (acked ? from_client(r, p, e) || trials_from_samples(r, p, e)
		  : trials_from_slices(r, p, e))
		return -1;
	if (only_emptied(p, received_ns))
		no_rate(p, received_ns);
	trial_interval(r, p);
	return 0;
}

/* loss: share of transmissions that never reached the reader. A needless retransmit is no loss. */
static void fill_reliable(const struct run *r, struct point *p)
{
	const struct reliable_counts *c = &r->counted[ROLE_CLIENT].reliable,
				     *s = &r->counted[ROLE_SERVER].reliable;
	struct reliable_result *out = &p->reliable;

	out->present = r->w->flags & WL_RELIABLE;
	if (!out->present)
		return;
	out->n = *s;
	out->n.packets = c->packets;
	out->n.transmissions = c->transmissions;
	out->n.retransmits = c->retransmits;
	out->n.stale_acks = c->stale_acks;
	out->loss = c->transmissions
			    ? 1 - (double)(s->arrivals - s->dropped) / (double)c->transmissions
			    : NAN;
	if (c->transmissions > s->arrivals)
		point_warn(
			p,
			"%llu of %llu packets were lost on the way, not dropped on purpose: by the "
			"link, or the server's receive buffer (%lld) "
			"is too small for the window; give a smaller --window or a larger --rcvbuf",
			(unsigned long long)(c->transmissions - s->arrivals),
			(unsigned long long)c->transmissions,
			(long long)r->counted[ROLE_SERVER].facts.rcvbuf);
	for (size_t i = 0; i < p->n_samples; i++) {
		out->over_rto += p->samples[i] > (uint64_t)r->wo.rto_ns;
		out->over_second += p->samples[i] > 1000000000;
	}
}

/* The facts are the client's: its library makes the calls. */
static void fill_rpc(const struct run *r, struct point *p)
{
	const struct rpc_facts *f = &r->counted[ROLE_CLIENT].rpc;

	if (!(r->w->flags & WL_RPC))
		return;
	p->rpc = (struct rpc_result){
		.present = true,
		.payload = rpc_payloads[r->wo.payload],
		.transport = r->w == &workload_thrift ? rpc_transports[r->wo.transport] : NULL,
		.plain_mode = r->w->plain->name,
		.facts = *f,
		.plain_ns = NAN,
		.plain_bytes_per_s = NAN,
	};
	p->rpc.facts.library[sizeof(p->rpc.facts.library) - 1] = 0;
}

static void warn_common(const struct run *r, struct point *p)
{
	if (p->latency.present && p->latency.s.n < TOO_FEW)
		point_warn(p,
			   "only %zu samples: quantiles beyond the quartiles mean little; give a "
			   "longer --duration",
			   p->latency.s.n);
	if (p->lost && p->sent)
		point_warn(p, "%llu of %llu messages were lost (%.2f %%)",
			   (unsigned long long)p->lost, (unsigned long long)p->sent,
			   100.0 * (double)p->lost / (double)p->sent);
	if (p->late)
		point_warn(p,
			   "%llu messages started late: --rate is near or above what this path "
			   "carries",
			   (unsigned long long)p->late);
	for (int i = 0; i < ROLES; i++)
		if (p->usage[i].cpu_first != p->usage[i].cpu_last)
			point_warn(p, "the %s moved from CPU %d to %d while measured",
				   i ? "server" : "client", p->usage[i].cpu_first,
				   p->usage[i].cpu_last);
}

int summarise_point(const struct run *r, struct point *p, struct err *e)
{
	const struct tally *c = &r->counted[ROLE_CLIENT];
	int rc;

	p->elapsed_ns = span_ns(r, c);
	p->sent = c->messages;
	p->messages = c->messages - c->lost;
	p->bytes = c->bytes;
	p->late = c->late;
	for (int i = 0; i < ROLES; i++) {
		p->socket[i] = r->counted[i].facts;
		p->usage[i] = r->counted[i].usage;
	}
	p->lost = c->lost;
	if (p->test == TEST_THROUGHPUT)
		rc = fill_throughput(r, p, e);
	else
		rc = p->test == TEST_ONEWAY ? fill_oneway(r, p, e) : fill_from_client(r, p, e);
	if (rc == 0) {
		fill_reliable(r, p);
		fill_rpc(r, p);
		warn_common(r, p);
	}
	return rc;
}
