// SPDX-License-Identifier: GPL-2.0-only
/* Ledgers as JSON; the keys are documented in docs/SCHEMA.md. What could not be observed is null,
 * never 0. */
#include "verdict/shares.h"
#include "render/ledger_text.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "verdict/merge_findings.h"
#include "verdict/requests.h"
#include "render/environment.h"
#include "render/schema_rows.h"
#include "tracer/figure.h"
#include "render/card.h"
#include "render/doing_json.h"

static const char *const resolutions[] = { "unknown", "bounded", "exact", "sampled" };

static json_t *known(uint64_t v, uint8_t resolution)
{
	return resolution == TRACE_UNKNOWN ? json_null() : json_integer((json_int_t)v);
}

struct amount {
	const char *key;
	uint64_t v;
	uint8_t res;
};

static void add_amounts(json_t *o, const struct amount *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		json_object_set_new(o, rows[i].key, known(rows[i].v, rows[i].res));
}

/* Several processes may have a name without a pid. */
static json_t *who_comm_to_json(const struct who *p)
{
	return (p->tgid || p->others) && p->comm && *p->comm
		       ? json_stringn(p->comm, strnlen(p->comm, 16))
		       : json_null();
}

static json_t *comm_to_json(const char *comm, pid_t tgid)
{
	return tgid ? json_stringn(comm, strnlen(comm, 16)) : json_null();
}

static json_t *pid_to_json(pid_t tgid)
{
	return tgid ? json_integer(tgid) : json_null();
}

static json_t *hist_to_json(const uint32_t *h)
{
	json_t *a = json_array();
	int last = TRACE_HIST;

	while (last > 0 && !h[last - 1])
		last--;
	for (int i = 0; i < last; i++)
		json_array_append_new(a, json_integer(h[i]));
	return a;
}

static json_t *state_to_json(const struct trace_endpoint *ep, unsigned int i, bool rx)
{
	const struct trace_detail *d = trace_detail(ep);
	const struct trace_ledger *l = rx ? &ep->rx : &ep->tx;
	uint8_t r = trace_state_resolution(l, i, rx);
	uint8_t episodes = r == TRACE_BY_SAMPLES ? TRACE_UNKNOWN : r; /* samples see no episodes */

	return json_pack("{s:o, s:o, s:o, s:s, s:o}", "ns", known(l->ns[i], r), "count",
			 known(l->count[i], episodes), "max_ns", known(l->max[i], episodes),
			 "resolution", resolutions[r], "log2_hist",
			 hist_to_json(rx ? d->rx_hist[i] : d->tx_hist[i]));
}

static json_t *one_ledger(const struct trace_endpoint *ep, bool rx)
{
	const struct trace_ledger *l = rx ? &ep->rx : &ep->tx;
	const char *const *names = rx ? trace_rx_names : trace_tx_names;
	unsigned int n = rx ? RX_N : TX_N;
	json_t *states = json_object();

	for (unsigned int i = n; i-- > 0;)
		json_object_set_new(states, names[i], state_to_json(ep, i, rx));
	return json_pack("{s:I, s:I, s:s, s:o}", "lifetime_ns", (json_int_t)l->lifetime_ns,
			 "unaccounted_ns", (json_int_t)l->unaccounted_ns, "now",
			 names[l->now < n ? l->now : 0], "states", states);
}

static json_t *left_to_json(const struct trace_call_stats *b)
{
	if (!b->left_ns)
		return json_null();
	return json_pack("{s:I, s:b, s:o, s:o}", "since_ns", (json_int_t)b->left_ns, "ended",
			 !b->let_go, "holder_pid", pid_to_json(b->fd_owner), "holder_comm",
			 comm_to_json(b->fd_owner_comm, b->fd_owner));
}

/* the rows of tracer/figure_rows.h that have a key */
static void add_rows(json_t *o, const struct figures *s, const void *owner)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct figure *f = &s->v[i];
		uint64_t v = figure_value(f, owner);
		bool seen;

		if (!f->key)
			continue;
		seen = figure_known(s, f, owner) != TRACE_UNKNOWN;
		json_object_set_new(o, f->key + (*f->key == '~'),
				    !seen		     ? json_null()
				    : f->kind == FIGURE_FLAG ? json_boolean(v)
							     : json_integer((json_int_t)v));
	}
}

static json_t *call_stats_to_json(const struct trace_call_stats *b)
{
	json_t *o = json_object();

	add_rows(o, &figures_of_calls, b);
	json_object_set_new(o, "pid", pid_to_json(b->tgid));
	json_object_set_new(o, "comm", comm_to_json(b->comm, b->tgid));
	json_object_set_new(o, "stopped", json_boolean(b->open_stop_ns));
	json_object_set_new(o, "others", json_boolean(b->others));
	json_object_set_new(o, "left", left_to_json(b));
	return o;
}

static json_t *addr_to_json(int family, const struct trace_addr *a)
{
	char text[INET6_ADDRSTRLEN + 10];

	if (family != AF_INET && family != AF_INET6)
		return json_null();
	trace_addr_text(family, a, text, sizeof(text));
	return json_string(text);
}

/* the socket's own count of drops, without a reason; hooks know the reason, and count no `other` */
enum { DROPS_OTHER = TRACE_DROPS - 1 };

/* If a checksum is verified when the datagram is read (udp_recvmsg()), the kernel does not report
 * whose datagram failed. So a count of 0 is unknown. */
static enum trace_resolution drop_resolution(const struct trace_endpoint *ep, int kind,
					     bool by_samples)
{
	bool unknown = by_samples ? kind != DROPS_OTHER
				  : kind == DROPS_OTHER ||
					    (kind == TRACE_DROP_CHECKSUM && !ep->drops[kind]);

	return unknown ? TRACE_UNKNOWN : ep->drops_res;
}

static json_t *drops_to_json(const struct trace_endpoint *ep, bool by_samples)
{
	json_t *o = json_object();

	for (int i = 0; i < TRACE_DROPS; i++)
		json_object_set_new(o, drop_name((enum trace_drop)i),
				    known(ep->drops[i], drop_resolution(ep, i, by_samples)));
	return o;
}

static json_t *queue_to_json(const struct trace_endpoint *ep)
{
	if (ep->queue_res == TRACE_UNKNOWN)
		return json_null();
	return json_pack("{s:o, s:I, s:I}", "mean_residence_ns",
			 ep->dequeued
				 ? json_integer((json_int_t)(ep->queue_integral / ep->dequeued))
				 : json_null(),
			 "max", (json_int_t)ep->queue_max, "dequeued", (json_int_t)ep->dequeued);
}

/* A sampled session has only the time, so that `count` is null. */
static void add_blame(json_t *list, unsigned int state, const char *by, uint64_t ns, uint32_t n,
		      const struct who *who)
{
	if (!n && !ns)
		return;
	json_array_append_new(
		list, json_pack("{s:s, s:s, s:s, s:I, s:o, s:o, s:o}", "ledger", "tx", "state",
				trace_tx_names[state], "by", by, "ns", (json_int_t)ns, "count",
				n ? json_integer((json_int_t)n) : json_null(), "pid",
				pid_to_json(who->tgid), "comm", who_comm_to_json(who)));
}

static json_t *blame_to_json(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	struct who late = {}, writer = who_was_held_up(ep, TX_NAGLE);
	const struct trace_blame *b = &ep->blame;
	json_t *list = json_array();

	for (unsigned int i = 0; i < TX_N; i++) {
		if (!tx_is_stall(i))
			continue;
		who_is_late(s, ep, (enum tx_state)i, &late);
		add_blame(list, i, blame_names[BLAME_PEER_DELACK], b->delack_ns[i], b->delack_n[i],
			  &late);
		add_blame(list, i, blame_names[BLAME_PEER_READER], b->unread_ns[i], b->unread_n[i],
			  &late);
		add_blame(list, i, blame_names[BLAME_PEER_NO_CPU], b->starved_ns[trace_vote(i)],
			  b->starved_n[trace_vote(i)], &late);
	}
	add_blame(list, TX_NAGLE, blame_names[BLAME_OWN_WRITES], b->gathered_ns, b->gathered_n,
		  &writer);
	return list;
}

/* null for 0, which means none or unknown */
static json_t *unless_zero(uint64_t v)
{
	return v ? json_integer((json_int_t)v) : json_null();
}

static json_t *congestion_control_to_json(const struct trace_path *p)
{
	const char *name = p->congestion_control;

	return *name ? json_stringn(name, strnlen(name, sizeof(p->congestion_control)))
		     : json_null();
}

static json_t *tcp_to_json(const struct trace_endpoint *ep)
{
	json_t *o;

	if (ep->proto != TRACE_TCP)
		return json_null();
	o = json_object();
	add_rows(o, &figures_of_endpoint, ep);
	json_object_set_new(o, "congestion_control", congestion_control_to_json(&ep->path));
	return o;
}

static void add_cgroup(json_t *o, const struct trace_call_stats *who)
{
	char path[512];
	bool known = trace_cgroup_path(who->cgroup_id, path, sizeof(path));

	json_object_set_new(o, "cgroup_id",
			    who->cgroup_id ? json_integer((json_int_t)who->cgroup_id)
					   : json_null());
	json_object_set_new(o, "cgroup", known ? json_string(path) : json_null());
}

static json_t *unseen_by(enum trace_unseen u)
{
	const char *name = trace_unseen_name(u);

	return name ? json_string(name) : json_null();
}

/* the user of the socket or pipe that no hook sees; null: none */
static json_t *unseen_to_json(const struct trace_endpoint *ep)
{
	return json_pack("{s:o, s:o}", "tx", unseen_by((enum trace_unseen)ep->unseen[0]), "rx",
			 unseen_by((enum trace_unseen)ep->unseen[1]));
}

static json_t *share_to_json(uint32_t seen, const struct share_interval *i)
{
	return json_pack("{s:I, s:o, s:o}", "found", (json_int_t)seen, "share_low",
			 json_figure(i->lo), "share_high", json_figure(i->hi));
}

/* each state that a sample found, or that a sample had taken for another state */
static json_t *samples_side(const struct trace_samples *l, const struct trace_endpoint *ep, bool rx)
{
	const struct trace_ledger *ledger = rx ? &ep->rx : &ep->tx;
	const uint32_t *seen = rx ? l->rx_seen : l->tx_seen;
	json_t *o = json_object();

	for (unsigned int i = 0; i < (rx ? (unsigned int)RX_N : (unsigned int)TX_N); i++) {
		struct share_interval share = shares_of(l, ep, rx, i);

		if (seen[i] || ledger->ns[i])
			json_object_set_new(o, state_name(rx, i), share_to_json(seen[i], &share));
	}
	return o;
}

static json_t *facts_to_json(const struct trace_samples *l)
{
	json_t *o = json_object();

	for (unsigned int i = 0; i < TRACE_SAMPLE_FACTS; i++) {
		struct share_interval share = shares_of_fact(l, i);

		json_object_set_new(o, trace_fact_name(i), share_to_json(l->fact[i], &share));
	}
	return o;
}

static json_t *samples_to_json(const struct trace_samples *l, const struct trace_endpoint *ep)
{
	bool tcp = ep->proto == TRACE_TCP, counted = tcp && ep->retransmits_res != TRACE_UNKNOWN;
	json_t *chronographs =
		counted ? json_pack("{s:I, s:I, s:I}", "busy_ns", (json_int_t)l->chrono_ns[0],
				"rwnd_limited_ns", (json_int_t)l->chrono_ns[1], "sndbuf_limited_ns",
				(json_int_t)l->chrono_ns[2])
		    : json_null();

	return json_pack("{s:I, s:o, s:o, s:o, s:o}", "n", (json_int_t)l->n, "tx",
			 samples_side(l, ep, false), "rx", samples_side(l, ep, true), "facts",
			 tcp ? facts_to_json(l) : json_null(), "chronographs", chronographs);
}

json_t *endpoint_to_json(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	const struct trace_call_stats *who = ep->tx_calls.tgid ? &ep->tx_calls : &ep->rx_calls;
	json_t *o = json_pack("{s:I, s:s, s:o, s:o, s:i, s:I, s:I, s:b, s:b}", "serial",
			      (json_int_t)ep->serial, "proto", trace_proto_name(ep->proto), "local",
			      addr_to_json(ep->family, &ep->local), "remote",
			      addr_to_json(ep->family, &ep->remote), "peer", ep->peer, "netns",
			      (json_int_t)ep->netns, "born_ns", (json_int_t)ep->born_ns, "closed",
			      ep->closed, "joined_late", ep->joined_late);

	json_object_set_new(o, "let_go", json_boolean(ep->let_go));
	json_object_set_new(o, "peer_serial",
			    ep->peer >= 0 ? json_integer((json_int_t)s->ep[ep->peer].serial)
					  : json_null());
	json_object_set_new(o, "inode",
			    ep->inode ? json_integer((json_int_t)ep->inode) : json_null());
	json_object_set_new(o, "pid", pid_to_json(who->tgid));
	json_object_set_new(o, "comm", comm_to_json(who->comm, who->tgid));
	add_cgroup(o, who);
	json_object_set_new(o, "unseen", unseen_to_json(ep));
	json_object_set_new(o, "tx", one_ledger(ep, false));
	json_object_set_new(o, "rx", one_ledger(ep, true));
	json_object_set_new(
		o, "beside",
		json_pack("{s:o, s:o, s:o, s:o, s:o}", "tx", call_stats_to_json(&ep->tx_calls),
			  "rx", call_stats_to_json(&ep->rx_calls), "tcp", tcp_to_json(ep), "drops",
			  drops_to_json(ep, s->samples), "queue", queue_to_json(ep)));
	json_object_set_new(o, "blame",
			    ep->blame_missing ? json_null() : blame_to_json(s, ep));
	json_object_set_new(o, "looks",
			    s->samples ? samples_to_json(&s->samples[ep - s->ep], ep)
				       : json_null());
	return o;
}

static void add_parties(json_t *o, const struct trace_snapshot *s, const struct finding *f)
{
	struct who held_up = finding_sender(s, f), blamed = finding_blamed(s, f);

	json_object_set_new(o, "pid", pid_to_json(held_up.tgid));
	json_object_set_new(o, "comm", who_comm_to_json(&held_up));
	json_object_set_new(o, "blamed_pid", pid_to_json(blamed.tgid));
	json_object_set_new(o, "blamed_comm", who_comm_to_json(&blamed));
}

static json_t *causes_to_json(unsigned int causes)
{
	json_t *list = json_array();

	for (unsigned int c = 0; c < TX_N; c++)
		if (causes & 1u << c)
			json_array_append_new(list, json_string(trace_tx_names[c]));
	return list;
}

/* the figures of all stalls that the finding unites */
static void add_sums(json_t *o, const struct finding *f)
{
	uint8_t episodes = f->sampled ? TRACE_UNKNOWN : TRACE_EXACT;
	const struct amount rows[] = {
		{ "connections", f->all.connections, TRACE_EXACT },
		{ "all_ns", f->all.ns, TRACE_EXACT },
		{ "all_count", f->all.count, episodes },
		{ "all_max_ns", f->all.max_ns, episodes },
		{ "all_blamed_ns", f->all.blamed_ns, TRACE_EXACT },
		{ "all_blamed_count", f->all.blamed_n, episodes },
		{ "count", f->count, episodes },
		{ "max_ns", f->max_ns, episodes },
		{ "blamed_count", f->blamed_n, episodes },
	};

	add_amounts(o, rows, sizeof(rows) / sizeof(rows[0]));
	json_object_set_new(o, "all_share", json_real(finding_share(f)));
	json_object_set_new(o, "all_causes", causes_to_json(f->all.causes));
}

static json_t *finding_to_json(const struct trace_snapshot *s, const struct finding *f)
{
	char text[VERDICT_TEXT];
	json_t *o;

	finding_sentence(s, f, text, sizeof(text));
	o = json_pack("{s:I, s:s, s:I, s:f, s:s?, s:s, s:I, s:s, s:s, s:o}", "endpoint",
		      (json_int_t)f->endpoint, "cause", trace_tx_names[f->cause], "ns",
		      (json_int_t)f->ns, "share", f->share, "blamed", blame_names[f->blamed],
		      "surety", surety_names[f->surety], "blamed_ns", (json_int_t)f->blamed_ns,
		      "text", text, "fix", finding_fix(s, f), "root",
		      f->root >= 0 ? json_integer(f->root) : json_null());
	add_parties(o, s, f);
	add_sums(o, f);
	json_object_set_new(o, "root_by_amounts", json_boolean(f->root_by_amounts));
	json_object_set_new(o, "circle", json_integer((json_int_t)f->circle));
	json_object_set_new(o, "ring", f->deadlock >= 0 ? json_integer(f->deadlock) : json_null());
	json_object_set_new(o, "ring_for",
			    f->deadlock >= 0 ? json_string(f->deadlock_reads ? "write" : "read")
					     : json_null());
	json_object_set_new(o, "unanswered_syn", json_boolean(f->unanswered_syn));
	json_object_set_new(o, "limit",
			    f->limit ? json_string(limit_phrase(f->limit)) : json_null());
	json_object_set_new(o, "late_not_lost", json_boolean(f->late_not_lost));
	return o;
}

static void add_counters(json_t *o, const struct trace_counters *c)
{
	const struct {
		const char *name;
		uint64_t v;
	} rows[] = {
		{ "observed", c->observed }, { "lost", c->lost }, { "unpaired", c->unpaired },
		{ "overflow", c->overflow }, { "missed", c->missed }, { "blind", c->blind },
			{ "contended", c->contended },
		{ "dropped", c->dropped }, { "events_lost", c->events_lost },
			{ "reused", c->reused },     { "opened", c->opened },
			{ "closed", c->closed },
		{ "stacks_lost", c->stacks_lost }, { "let_go", c->let_go },
		{ "dropped_tx_bytes", c->dropped_tx_bytes },
		{ "dropped_rx_bytes", c->dropped_rx_bytes },
		{ "existed_before", c->existing.made },
		{ "asleep_before", c->existing.asleep },
		{ "unlisted_processes", c->existing.unreadable },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		json_object_set_new(o, rows[i].name, json_integer((json_int_t)rows[i].v));
}

static json_t *spell_to_json(const struct reader_spell *spell)
{
	if (spell->endpoint < 0)
		return json_null();
	return json_pack("{s:i, s:I, s:I, s:I, s:f}", "endpoint", spell->endpoint, "ns",
			 (json_int_t)spell->ns, "count", (json_int_t)spell->count, "max_ns",
			 (json_int_t)spell->max_ns, "share", spell->share);
}

static json_t *unless_bounded(const struct requests *r, uint64_t ns)
{
	return r->bounded ? json_null() : json_integer((json_int_t)ns);
}

static json_t *requests_to_json(const struct requests *r)
{
	if (!has_requests(r))
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:I, s:I, s:b, s:b}", "count",
			 (json_int_t)r->n, "slow", (json_int_t)(are_some_slow(r) ? r->slow : r->n),
			 "think_ns", (json_int_t)r->think_ns, "think_max_ns",
			 (json_int_t)r->think_max_ns, "way_ns", (json_int_t)r->way_ns, "unread_ns",
			 unless_bounded(r, r->unread_ns), "unread_max_ns",
			 unless_bounded(r, r->unread_max_ns), "pieces", (json_int_t)r->pieces,
			 "unanswered", (json_int_t)r->unanswered, "given_up",
			 (json_int_t)r->given_up, "bounded", r->bounded, "uneven", r->uneven);
}

static json_t *wait_to_json(const struct trace_snapshot *s, const struct verdict *v)
{
	json_t *o = spell_to_json(&v->wait);

	if (v->wait.endpoint < 0)
		return o;
	json_object_set_new(o, "connections", json_integer((json_int_t)v->waits.connections));
	json_object_set_new(o, "all_ns", json_integer((json_int_t)v->waits.ns));
	json_object_set_new(o, "all_share", json_real(waits_share(&v->waits)));
	json_object_set_new(o, "surety",
			    v->waits.estimated ? json_string(surety_names[INFERRED]) : json_null());
	json_object_set_new(o, "requests", requests_to_json(&v->waits.requests));
	json_object_set_new(o, "mutual",
			    v->mutual.endpoint >= 0 ? json_integer(v->mutual.endpoint)
						    : json_null());
	json_object_set_new(o, "circle", json_integer((json_int_t)v->mutual.circle));
	json_object_set_new(o, "queued_ns", json_integer((json_int_t)v->queued_ns));
	json_object_set_new(o, "brought_by",
			    v->brought_by >= 0 ? json_integer(v->brought_by) : json_null());
	return o;
}

static json_t *loss_to_json(const struct trace_snapshot *s, const struct verdict *v)
{
	const struct datagram_loss *loss = &v->loss;
	const char *kind = loss->sent ? LOST_ON_PATH : drop_name(loss->kind);
	char text[VERDICT_TEXT];

	if (loss->endpoint < 0)
		return json_null();
	loss_sentence(s, v, text, sizeof(text));
	return json_pack("{s:i, s:s, s:I, s:o, s:s, s:s}", "endpoint", loss->endpoint, "kind",
			 kind, "count", (json_int_t)loss->n, "share", json_figure(loss->share),
			 "text", text, "fix", loss_fix(loss));
}

static json_t *withheld_to_json(const struct trace_snapshot *s, const struct verdict *v)
{
	const struct withheld_ack *w = &v->withheld;
	char text[VERDICT_TEXT];

	if (w->endpoint < 0)
		return json_null();
	withheld_sentence(s, v, text, sizeof(text));
	return json_pack("{s:i, s:I, s:I, s:f, s:s, s:s, s:s}", "endpoint", w->endpoint, "ns",
			 (json_int_t)w->ns, "count", (json_int_t)w->count, "share", w->share,
			 "surety", surety_names[INFERRED], "text", text, "fix", withheld_fix);
}

static json_t *scattered_to_json(const struct trace_snapshot *s, const struct verdict *v)
{
	const struct scattered *sum = &v->scattered;

	if (!sum->ns)
		return json_null();
	return json_pack("{s:I, s:f, s:s?, s:I, s:i, s:I}", "ns", (json_int_t)sum->ns, "share",
			 sum->share, "cause", sum->cause_ns ? trace_tx_names[sum->cause] : NULL,
			 "cause_ns", (json_int_t)sum->cause_ns, "endpoint", sum->endpoint,
			 "process_ns", (json_int_t)sum->process_ns);
}

/* A list that lacks an entry would say that the entry does not exist. So the list is dropped, and
 * the document with it. */
void append_or_drop(json_t **list, json_t *entry)
{
	if (!json_array_append_new(*list, entry))
		return;
	json_decref(*list);
	*list = NULL;
}

static json_t *sampling_to_json(const struct trace_snapshot *s)
{
	const struct trace_sampling *m = &s->sampling;

	if (!m->on)
		return json_null();
	return json_pack("{s:f, s:I, s:I, s:f, s:f, s:I, s:I, s:I}", "budget", m->budget, "looks",
			 (json_int_t)m->samples, "endpoint_looks", (json_int_t)m->endpoint_samples,
			 "rate_hz", m->rate_hz, "part", m->part, "look_cpu_ns",
			 (json_int_t)m->samples_cpu_ns, "find_cpu_ns", (json_int_t)m->find_ns, "ns",
			 (json_int_t)(s->at_ns - m->since_ns));
}

static void add_card(json_t *o, const struct trace_snapshot *s, const struct verdict *v)
{
	struct card *c = malloc(sizeof(*c));

	json_object_set_new(o, "outcome", json_string(outcome_names[v->outcome]));
	if (c)
		card_make(s, v, c);
	json_object_set_new(o, "card", c ? card_to_json(c) : json_null());
	json_object_set_new(o, "doing", doing_to_json(v->doing));
	free(c);
}

/* null if several sockets share the port: it is unknown whose a connection was */
static json_t *unless_shared(const struct trace_listener *l, uint64_t v)
{
	return l->established || l->accepted || !l->peak ? json_integer((json_int_t)v)
							 : json_null();
}

/* a figure of accept(), which samples do not see */
static json_t *if_accepts_seen(const struct trace_listener *l, bool sampled, uint64_t v)
{
	return sampled ? json_null() : unless_shared(l, v);
}

static json_t *listener_to_json(const struct trace_listener *l, bool sampled)
{
	json_t *o = json_pack("{s:o, s:I, s:o, s:b, s:I, s:I, s:I, s:I, s:I}", "local",
			      addr_to_json(l->family, &l->local), "netns", (json_int_t)l->netns,
			      "inode", unless_zero(l->inode), "closed", l->closed, "lifetime_ns",
			      (json_int_t)(l->at_ns - l->born_ns), "backlog",
			      (json_int_t)l->backlog, "queue", (json_int_t)l->queue, "peak",
			      (json_int_t)l->peak, "dropped", (json_int_t)l->dropped);

	json_object_set_new(o, "established", unless_shared(l, l->established));
	json_object_set_new(o, "accepted", if_accepts_seen(l, sampled, l->accepted));
	json_object_set_new(o, "accept_wait_ns", if_accepts_seen(l, sampled, l->wait_ns));
	json_object_set_new(o, "accept_wait_max_ns", if_accepts_seen(l, sampled, l->wait_max_ns));
	json_object_set_new(o, "pid", pid_to_json(l->tgid));
	json_object_set_new(o, "comm", comm_to_json(l->comm, l->tgid));
	return o;
}

static json_t *listeners_to_json(const struct trace_listeners *l, bool sampled)
{
	json_t *a = json_array();

	for (size_t i = 0; i < l->n; i++)
		json_array_append_new(a, listener_to_json(&l->v[i], sampled));
	return a;
}

static json_t *late_to_json(const struct trace_snapshot *s, const struct verdict *v)
{
	json_t *o = spell_to_json(&v->late);

	if (v->late.endpoint < 0)
		return o;
	json_object_set_new(o, "connections", json_integer((json_int_t)v->late_all.connections));
	json_object_set_new(o, "all_ns", json_integer((json_int_t)v->late_all.ns));
	return o;
}

static json_t *starved_to_json(const struct trace_snapshot *s, const struct verdict *v)
{
	return spell_to_json(&v->starved);
}

static json_t *undelivered_to_json(const struct trace_snapshot *s, const struct verdict *v)
{
	return spell_to_json(&v->undelivered);
}

static json_t *connect_to_json(const struct trace_snapshot *s, const struct verdict *v)
{
	const struct slow_connect *c = &v->connect;

	if (c->endpoint < 0)
		return json_null();
	return json_pack("{s:i, s:I, s:I, s:I, s:f, s:b, s:b}", "endpoint", c->endpoint, "ns",
			 (json_int_t)c->ns, "count", (json_int_t)c->n, "max_ns",
			 (json_int_t)c->max_ns, "share", (double)c->ns / (double)c->lifetime_ns,
			 "refused", c->rejected == REJECTED_REFUSED, "reset",
			 c->rejected == REJECTED_RESET);
}

static json_t *answers_to_json(const struct trace_snapshot *s, const struct verdict *v)
{
	const struct slow_answers *a = &v->answers;

	if (a->endpoint < 0)
		return json_null();
	return json_pack("{s:i, s:I, s:I, s:f, s:b, s:o}", "endpoint", a->endpoint, "connections",
			 (json_int_t)a->connections, "ns", (json_int_t)a->ns, "share",
			 (double)a->ns / (double)a->lifetime_ns, "goes_on", a->goes_on, "requests",
			 requests_to_json(&a->requests));
}

static json_t *findings_to_json(const struct trace_snapshot *s, const struct verdict *v)
{
	json_t *finds = json_array();

	for (size_t i = 0; i < v->n && finds; i++)
		append_or_drop(&finds, finding_to_json(s, &v->v[i]));
	return finds;
}

/* One row for each kind with a key of its own in the document; a limit is among the findings. */
static const struct {
	const char *key, *type; /* type: of the key's value */
	json_t *(*make)(const struct trace_snapshot *s, const struct verdict *v);
} by_kind[KINDS_N] = {
	[KIND_STALL] = { "findings", "finding[]", findings_to_json },
	[KIND_UNDELIVERED] = { "~undelivered", "?spell", undelivered_to_json },
	[KIND_WITHHELD] = { "~withheld_ack", "?withheld", withheld_to_json },
	[KIND_LATE] = { "late_reader", "?late", late_to_json },
	[KIND_STARVED] = { "~starved", "?spell", starved_to_json },
	[KIND_LOSS] = { "~loss", "?loss", loss_to_json },
	[KIND_CONNECT] = { "~slow_connect", "?connects", connect_to_json },
	[KIND_ANSWERS] = { "~slow_answers", "?answers", answers_to_json },
	[KIND_SCATTERED] = { "~scattered", "?scattered", scattered_to_json },
	[KIND_WAIT] = { "~long_wait", "?wait", wait_to_json },
};

const char *ledger_kind_key(enum finding_kind k, const char **type)
{
	*type = by_kind[k].type;
	return by_kind[k].key;
}

/* false: no memory for all of it */
static bool add_kinds(json_t *o, const struct trace_snapshot *s, const struct verdict *v)
{
	bool whole = true;

	for (enum finding_kind k = 0; k < KINDS_N; k++) {
		const char *key = by_kind[k].key;

		if (key)
			whole &= !json_object_set_new(o, key + (*key == '~'),
						      by_kind[k].make(s, v));
	}
	return whole;
}

json_t *ledger_summary_to_json(const struct trace_snapshot *s, const struct verdict *v)
{
	json_t *o = json_object();
	char text[VERDICT_TEXT];

	verdict_sentence(s, v, text, sizeof(text));
	if (!add_kinds(o, s, v)) {
		json_decref(o);
		return NULL;
	}
	json_object_set_new(o, "stall_ns", json_integer((json_int_t)v->stall_ns));
	json_object_set_new(o, "unaccounted_ns", json_integer((json_int_t)v->unaccounted_ns));
	json_object_set_new(o, "verdict", json_string(text));
	add_card(o, s, v);
	json_object_set_new(o, "listeners", listeners_to_json(&s->listeners, s->samples));
	json_object_set_new(o, "listeners_left_out",
			    json_integer((json_int_t)s->listeners.left_out));
	add_counters(o, &s->counters);
	json_object_set_new(o, "sampling", sampling_to_json(s));
	return o;
}

json_t *ledger_to_json(const struct trace_snapshot *s, const struct verdict *v)
{
	json_t *o = json_object(), *eps = json_array();
	bool whole;

	for (size_t i = 0; i < s->n && eps; i++)
		append_or_drop(&eps, endpoint_to_json(s, &s->ep[i]));
	whole = !json_object_set_new(o, "endpoints", eps) &&
		!json_object_update_new(o, ledger_summary_to_json(s, v));
	if (whole)
		return o;
	json_decref(o);
	return NULL;
}

static json_t *hook_to_json(const struct trace_hook *h)
{
	return json_pack("{s:s, s:s, s:s, s:b, s:s?, s:s, s:o}", "point", h->point, "kind", h->kind,
			 "feeds", h->feeds, "attached", h->attached, "why_not", h->why_not,
			 "program", h->program, "runs",
			 h->runs < 0 ? json_null() : json_integer(h->runs));
}

json_t *trace_to_json(struct trace *t)
{
	struct trace_hook hooks[128];
	size_t n = trace_hooks(t, hooks, 128);
	json_t *hs = json_array(), *not_covered = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(hs, hook_to_json(&hooks[i]));
	for (const char *const *c = trace_not_covered(trace_backend(t)); c && *c; c++)
		json_array_append_new(not_covered, json_string(*c));
	return json_pack("{s:s, s:s?, s:s?, s:o, s:o}", "backend",
			 trace_backend_name(trace_backend(t)), "object", trace_object(t), "why",
			 trace_why(t), "hooks", hs, "not_covered", not_covered);
}
