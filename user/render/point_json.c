// SPDX-License-Identifier: GPL-2.0-only
/* One point as JSON. Every key is always there: null says that it is unknown or does not apply. */
#include <inttypes.h>
#include <math.h>

#include "bench/rpc_overhead.h"
#include "render/environment.h"
#include "render/sink.h"

json_t *(*json_ledger_of_point)(const struct point *p);

static json_t *fact(int64_t v)
{
	return v == FACT_UNKNOWN ? json_null() : json_integer(v);
}

static json_t *outliers(const struct summary *s)
{
	json_t *all = json_array();

	for (int i = 0; i < STATS_KS; i++)
		json_array_append_new(all,
				      json_pack("[f, I]", stats_ks[i], (json_int_t)s->outliers[i]));
	if (isnan(s->k_suggested))
		return json_pack("{s:n, s:n, s:o}", "k", "count", "sensitivity", all);
	return json_pack("{s:f, s:I, s:o}", "k", s->k_suggested, "count",
			 (json_int_t)s->outliers_suggested, "sensitivity", all);
}

static json_t *json_of_summary(const struct summary *s)
{
	const struct {
		const char *name;
		double v;
	} figures[] = {
		{ "min", s->min }, { "q1", s->q1 }, { "median", s->median }, { "q3", s->q3 },
			{ "p90", s->p90 }, { "p95", s->p95 },
		{ "p99", s->p99 }, { "p999", s->p999 }, { "max", s->max }, { "mean", s->mean },
			{ "mad", s->mad },
		{ "uncertainty", s->uncertainty },
	};
	json_t *o = json_pack("{s:s, s:I}", "unit", "ns", "n", (json_int_t)s->n);

	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		json_object_set_new(o, figures[i].name, json_figure(figures[i].v));
	json_object_set_new(o, "outliers", outliers(s));
	return o;
}

static json_t *latency(const struct latency_result *l)
{
	json_t *o;

	if (!l->present)
		return json_null();
	o = json_of_summary(&l->s);
	json_object_set_new(o, "there",
			    l->has_directions ? json_of_summary(&l->there) : json_null());
	json_object_set_new(o, "back", l->has_directions ? json_of_summary(&l->back) : json_null());
	json_object_set_new(o, "syn", l->has_syn ? json_of_summary(&l->syn) : json_null());
	json_object_set_new(o, "synack", l->has_synack ? json_of_summary(&l->synack) : json_null());
	return o;
}

static json_t *histogram(const struct hdr *h)
{
	json_t *buckets;
	struct hdr_bucket b;
	unsigned int at = 0;

	if (!h)
		return json_null();
	buckets = json_array();
	while (hdr_next(h, &at, &b))
		json_array_append_new(buckets, json_pack("[I, I, I]", (json_int_t)b.lo,
							 (json_int_t)b.hi, (json_int_t)b.count));
	return json_pack("{s:s, s:f, s:o}", "unit", "ns", "relative_error", HDR_REL_ERROR,
			 "buckets", buckets);
}

static json_t *throughput(const struct throughput_result *t)
{
	json_t *trials, *lasted, *o;

	if (!t->present)
		return json_null();
	trials = json_array();
	lasted = json_array();
	for (size_t i = 0; i < t->n_trials; i++) {
		json_array_append_new(trials, json_real(t->trials[i]));
		json_array_append_new(lasted, json_integer((json_int_t)t->trial_ns[i]));
	}
	o = json_pack("{s:f, s:o, s:o}", "confidence", t->ci.level, "trials", trials, "trial_ns",
		      lasted);
	json_object_set_new(o, "bytes_per_s", json_figure(t->bytes_per_s));
	json_object_set_new(o, "acked_bytes_per_s", json_figure(t->acked_bytes_per_s));
	json_object_set_new(o, "lo", json_figure(t->ci.lo));
	json_object_set_new(o, "hi", json_figure(t->ci.hi));
	json_object_set_new(o, "method", json_text(t->ci.method));
	return o;
}

static json_t *reliable(const struct reliable_result *r)
{
	const struct reliable_counts *n = &r->n;
	const struct {
		const char *name;
		uint64_t v;
	} counts[] = {
		{ "packets", n->packets }, { "transmissions", n->transmissions }, { "retransmits",
			n->retransmits },
		{ "stale_acks", n->stale_acks }, { "arrivals", n->arrivals },
			{ "dropped", n->dropped }, { "duplicates", n->duplicates },
		{ "early", n->early }, { "aliens", n->aliens }, { "over_rto", r->over_rto },
			{ "over_second", r->over_second },
	};
	json_t *o;

	if (!r->present)
		return json_null();
	o = json_pack("{s:o}", "loss", json_figure(r->loss));
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		json_object_set_new(o, counts[i].name, json_integer((json_int_t)counts[i].v));
	return o;
}

static json_t *rpc(const struct point *p)
{
	const struct rpc_result *r = &p->rpc;
	json_t *o;

	if (!r->present)
		return json_null();
	o = json_pack("{s:s, s:o, s:o, s:s}", "payload", r->payload, "transport",
		      json_text(r->transport), "library", json_text(r->facts.library),
		      "plain_mode", r->plain_mode);
	json_object_set_new(o, "connect_ns", fact(r->facts.connect_ns));
	json_object_set_new(o, "first_call_ns", fact(r->facts.first_call_ns));
	json_object_set_new(o, "marshal_ns", fact(r->facts.marshal_ns));
	json_object_set_new(o, "unmarshal_ns", fact(r->facts.unmarshal_ns));
	json_object_set_new(o, "marshalled_bytes", fact(r->facts.marshalled_bytes));
	json_object_set_new(o, "plain_ns", json_figure(r->plain_ns));
	json_object_set_new(o, "plain_bytes_per_s", json_figure(r->plain_bytes_per_s));
	json_object_set_new(o, "overhead", json_figure(rpc_overhead(p)));
	return o;
}

static json_t *tcp_info(const struct socket_facts *f)
{
	if (!f->has_tcp_info)
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:I, s:I}", "rtt_us",
			 (json_int_t)f->rtt_us, "rttvar_us", (json_int_t)f->rttvar_us, "min_rtt_us",
			 (json_int_t)f->min_rtt_us, "cwnd", (json_int_t)f->cwnd, "snd_wnd",
			 fact(f->snd_wnd), "retransmits", (json_int_t)f->retransmits, "busy_us",
			 (json_int_t)f->busy_us, "rwnd_limited_us", (json_int_t)f->rwnd_limited_us,
			 "sndbuf_limited_us", (json_int_t)f->sndbuf_limited_us);
}

static json_t *socket_facts(const struct socket_facts *f)
{
	json_t *o =
		json_pack("{s:o, s:o, s:o, s:o}", "sndbuf", fact(f->sndbuf), "rcvbuf",
			  fact(f->rcvbuf), "pipe_size", fact(f->pipe_size), "mss", fact(f->mss));

	json_object_set_new(o, "nodelay", f->nodelay < 0 ? json_null() : json_boolean(f->nodelay));
	json_object_set_new(o, "cc", json_text(f->cc));
	json_object_set_new(o, "send_errors", fact(f->send_errors));
	json_object_set_new(o, "strays", fact(f->strays));
	json_object_set_new(o, "tcp_info", tcp_info(f));
	return o;
}

static json_t *usage(const struct point *p, enum role r)
{
	const struct worker_usage *u = &p->usage[r];

	return json_pack("{s:I, s:o, s:i, s:i, s:I, s:I, s:I, s:I, s:o}", "pid", (json_int_t)u->pid,
			 "pinned", p->cpus[r] < 0 ? json_null() : json_integer(p->cpus[r]),
			 "cpu_first", u->cpu_first, "cpu_last", u->cpu_last, "voluntary_switches",
			 (json_int_t)u->voluntary, "involuntary_switches",
			 (json_int_t)u->involuntary, "user_us", (json_int_t)u->user_us, "system_us",
			 (json_int_t)u->system_us, "run_delay_ns",
			 json_figure(p->noise.run_delay_ns[r]));
}

static json_t *set_or_null(int64_t v)
{
	return v ? json_integer(v) : json_null();
}

static json_t *knobs(const struct knobs *k)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "cc", json_text(k->cc), "sndbuf",
			 set_or_null(k->sndbuf), "rcvbuf", set_or_null(k->rcvbuf), "pipe_size",
			 set_or_null(k->pipe_size));
}

static json_t *tuned(const struct point *p)
{
	json_t *tried = json_array();

	if (!p->tuned.present) {
		json_decref(tried);
		return json_null();
	}
	for (size_t i = 0; i < p->tuned.n_tried; i++) {
		json_t *one = knobs(&p->tuned.tried[i].knobs);

		json_object_set_new(one, "score", json_figure(p->tuned.tried[i].score));
		json_array_append_new(tried, one);
	}
	return json_pack("{s:s, s:o, s:o}", "unit",
			 p->test == TEST_THROUGHPUT ? "bytes_per_s" : "ns", "chosen",
			 knobs(&p->tuned.chosen), "tried", tried);
}

static json_t *both(json_t *client, json_t *server)
{
	return json_pack("{s:o, s:o}", "client", client, "server", server);
}

static json_t *warnings(const struct point *p)
{
	json_t *a = json_array();

	for (size_t i = 0; i < p->n_warnings; i++)
		json_array_append_new(a, json_string(p->warnings[i]));
	return a;
}

static double per_second(const struct point *p)
{
	return p->elapsed_ns ? (double)p->messages * 1e9 / (double)p->elapsed_ns : NAN;
}

static void set_counts(json_t *o, const struct point *p)
{
	const struct {
		const char *name;
		uint64_t v;
	} counts[] = {
		{ "warmup", p->warmup }, { "warmup_ns", p->warmup_ns }, { "started_ns",
			p->started_ns }, { "ended_ns", p->ended_ns },
		{ "elapsed_ns", p->elapsed_ns }, { "messages", p->messages }, { "bytes", p->bytes },
			{ "sent", p->sent },
		{ "lost", p->lost }, { "late", p->late },
		{ "n", p->latency.present ? p->latency.s.n : p->throughput.n_trials },
	};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		json_object_set_new(o, counts[i].name, json_integer((json_int_t)counts[i].v));
}

json_t *json_of_point(const struct point *p, json_t *ledger)
{
	json_t *o = json_pack("{s:s, s:s, s:I, s:s, s:b}", "mode", p->mode, "test",
			      test_name(p->test), "size", (json_int_t)p->size, "placement",
			      p->placement, "nodelay", p->nodelay);

	json_object_set_new(o, "ack", json_text(p->ack));
	set_counts(o, p);
	json_object_set_new(o, "messages_per_s", json_figure(per_second(p)));
	json_object_set_new(o, "latency", latency(&p->latency));
	json_object_set_new(o, "histogram", histogram(p->latency.histogram));
	json_object_set_new(o, "throughput", throughput(&p->throughput));
	json_object_set_new(o, "reliable", reliable(&p->reliable));
	json_object_set_new(o, "rpc", rpc(p));
	json_object_set_new(o, "tuned", tuned(p));
	json_object_set_new(
		o, "socket",
		both(socket_facts(&p->socket[ROLE_CLIENT]), socket_facts(&p->socket[ROLE_SERVER])));
	json_object_set_new(o, "process", both(usage(p, ROLE_CLIENT), usage(p, ROLE_SERVER)));
	json_object_set_new(o, "noise", noise_to_json(&p->noise));
	if (!ledger && json_ledger_of_point)
		ledger = json_ledger_of_point(p);
	json_object_set_new(o, "ledger", ledger ? ledger : json_null());
	json_object_set_new(o, "warnings", warnings(p));
	return o;
}
