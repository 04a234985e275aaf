// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/verdict.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "verdict/suspected.h"
#include "verdict/merge_findings.h"
#include "verdict/blame.h"
#include "verdict/by_address.h"
#include "verdict/replies.h"
#include "verdict/stall_chain.h"
#include "verdict/judge.h"
#include "verdict/limit.h"
#include "verdict/long_wait.h"
#include "verdict/requests.h"
#include "verdict/mutual_wait.h"
#include "verdict/processes.h"
#include "verdict/reader_circle.h"
#include "verdict/rejected.h"
#include "verdict/stopped_or_throttled.h"
#include "verdict/times.h"
#include "verdict/who.h"
#include "verdict/deadlock.h"
#include "verdict/negligible.h"
#include "verdict/other_findings.h"

bool endpoint_sent(const struct trace_endpoint *ep)
{
	return ep->tx_calls.bytes || ep->tx_calls.messages || ledger_stall_ns(&ep->tx) ||
	       ep->tx.ns[TX_WORK] || ep->tx.ns[TX_FLIGHT];
}

bool endpoint_did_anything(const struct trace_endpoint *ep)
{
	return endpoint_sent(ep) || ep->rx_calls.bytes || ep->rx.ns[RX_WAIT] ||
	       ep->rx.ns[RX_WORK] || ep->rx.ns[RX_UNREAD];
}

static int by_stall(const void *a, const void *b, void *snapshot)
{
	const struct trace_snapshot *s = snapshot;
	uint64_t x = ledger_stall_ns(&s->ep[*(const size_t *)a].tx),
		 y = ledger_stall_ns(&s->ep[*(const size_t *)b].tx);

	return COMPARE(y, x);
}

size_t *endpoints_by_stall(const struct trace_snapshot *s, size_t *n)
{
	size_t *order = array_new(s->n, 1, sizeof(*order));

	*n = 0;
	for (size_t i = 0; order && i < s->n; i++)
		if (endpoint_did_anything(&s->ep[i]))
			order[(*n)++] = i;
	if (*n)
		qsort_r(order, *n, sizeof(*order), by_stall, (void *)s);
	return order;
}

static bool reads_known(const struct trace_endpoint *ep)
{
	return ep->rx.resolution[RX_UNREAD] != TRACE_UNKNOWN;
}

/* Was the reader seen: of a pipe in a call, of a socket as an endpoint? */
static bool reader_seen(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_PIPE ? ep->rx_calls.tgid && reads_known(ep) : other_end_seen(ep);
}

/* If no hook sees the reads (MPTCP, splice()), the unread time says nothing. */
static uint64_t unread_ns(const struct trace_snapshot *s, const struct trace_endpoint *ep,
			  enum tx_state cause)
{
	return ep->peer >= 0 && !reads_known(&s->ep[ep->peer]) ? 0 : ep->blame.unread_ns[cause];
}

static bool is_mostly_in_flight(const struct trace_snapshot *s, const struct trace_endpoint *ep,
				enum tx_state cause)
{
	const struct trace_samples *l = s->samples ? &s->samples[ep - s->ep] : NULL;

	return l && l->tx_seen[cause] && 2 * l->fact[TRACE_FACT_IN_FLIGHT] >= l->tx_seen[cause];
}

/* From samples: data in flight waits for its ACK for so long per segment sent that no short path
 * explains it. */
#define WITHHELD_NS 10000000

static bool looked_withheld(const struct trace_snapshot *s, const struct trace_endpoint *ep,
			    enum tx_state cause)
{
	return cause == TX_NAGLE && is_mostly_in_flight(s, ep, cause) && ep->path.sent_segments &&
	       ep->tx.ns[cause] >= WITHHELD_NS * (uint64_t)ep->path.sent_segments;
}

static void lay_blame(const struct trace_snapshot *s, const struct trace_endpoint *ep,
		      struct finding *f)
{
	const struct trace_call_stats *reader = who_reads(s, ep);
	struct blame_judged j = blame_judge(&(struct blame_facts){
		.cause = f->cause,
		.ns = f->ns,
		.delack_ns = ep->blame.delack_ns[f->cause],
		.unread_ns = unread_ns(s, ep, f->cause),
		.gathered_ns = ep->blame.gathered_ns,
		.gathered_n = ep->blame.gathered_n,
		.starved_ns = ep->blame.starved_ns[trace_vote(f->cause)],
		.writer_starved_ns = blame_starved(&ep->tx_calls),
		.reader_starved_ns = reader ? blame_starved(reader) : 0,
		.count = f->count,
		.rtt_ns = blame_round_trip(ep->rtt_us, ep->min_rtt_us),
		.both_ends = reader_seen(ep),
		.local_ipc = is_local_ipc(ep),
		.like_delack = f->peaks_at_delack,
		.in_flight = is_mostly_in_flight(s, ep, f->cause),
	});

	f->blamed = j.blamed;
	f->surety = j.surety;
	f->blamed_ns = j.ns;
	if (j.blamed == BLAME_OWN_WRITES)
		f->blamed_n = f->cause == TX_CORK ? f->count : ep->blame.gathered_n;
	else if (j.blamed == BLAME_PEER_NO_CPU &&
		 j.ns == ep->blame.starved_ns[trace_vote(f->cause)])
		f->blamed_n = ep->blame.starved_n[trace_vote(f->cause)];
	else if (j.blamed == BLAME_NO_CPU || j.blamed == BLAME_PEER_NO_CPU)
		f->blamed_n = f->count; /* not counted by stall */
	else if (j.blamed == BLAME_PEER_DELACK && j.surety == INFERRED)
		/* their time is not known to the nanosecond */
		f->blamed_n = trace_detail(ep)->tx_hist[f->cause][TRACE_SLOT_DELACK];
	else if (j.ns)
		f->blamed_n = j.blamed == BLAME_PEER_DELACK ? ep->blame.delack_n[f->cause]
							    : ep->blame.unread_n[f->cause];
}

/* Most retransmissions were of the SYN, or nothing ever came back. */
static bool waits_for_syn(const struct trace_endpoint *ep)
{
	return ep->syn_retransmits * 2 > ep->retransmits ||
	       (!ep->rtt_us && !ep->tx_calls.bytes && !ep->rx_calls.bytes);
}

/* A listener on this host whose accept queue is full also drops the last ACK of the handshake,
 * and the data after it, until there is room. */
static bool waits_for_full_queue(const struct trace_snapshot *s, const struct trace_endpoint *ep,
				 uint64_t ns)
{
	const struct trace_endpoint *server = ep->peer >= 0 ? &s->ep[ep->peer] : NULL;

	return server && full_listener(s, ep) && began(server) > began(ep) &&
	       2 * (began(server) - began(ep)) >= ns;
}

static void note_doubt(const struct trace_snapshot *s, struct finding *f)
{
	if (finding_is_suspected(s, f))
		f->surety = SUSPECTED;
	f->within_host = stays_on_host(&s->ep[f->endpoint]);
}

/* In how many samples, or by how many retransmissions: those are counted, and their time may become
 * known only afterwards. */
static uint64_t times_found(const struct trace_snapshot *s, size_t i, unsigned int cause)
{
	uint64_t n = s->samples[i].tx_seen[cause];

	return cause == TX_RECOVERY && s->ep[i].retransmits > n ? s->ep[i].retransmits : n;
}

static void fill(const struct trace_snapshot *s, size_t i, unsigned int cause, struct finding *f)
{
	const struct trace_endpoint *ep = &s->ep[i];

	*f = (struct finding){
		.endpoint = i,
		.cause = cause,
		.ns = ep->tx.ns[cause],
		.max_ns = ep->tx.max[cause],
		.count = ep->tx.count[cause],
		.share = ep->tx.lifetime_ns ? (double)ep->tx.ns[cause] / (double)ep->tx.lifetime_ns
					    : 0,
		.peer = ep->peer,
		.deadlock = -1,
		.reader_waits = -1,
		.root = -1,
		.goes_on = !ep->closed && ep->tx.now == cause,
		.sampled = s->samples,
		.unanswered_syn =
			cause == TX_RECOVERY &&
			(waits_for_syn(ep) || waits_for_full_queue(s, ep, ep->tx.ns[cause])),
		.late_not_lost =
			cause == TX_RECOVERY && ep->needless && 2 * ep->needless >= ep->retransmits,
		.peaks_at_delack =
			ep->proto == TRACE_TCP &&
			(blame_like_delack(trace_detail(ep)->tx_hist[cause][TRACE_SLOT_DELACK],
					   ep->tx.ns[cause]) ||
			 looked_withheld(s, ep, cause)),
	};
	lay_blame(s, ep, f);
	f->limit = limit_of(s, f);
	if (f->limit == LIMIT_NONE && reader_has_no_cpu(s, f))
		f->blamed = BLAME_PEER_NO_CPU;
	f->small_reads = reads_small(s, f);
	f->paced_by_itself = f->cause == TX_PACING && paces_itself(&s->ep[f->endpoint]);
	f->by_loss = is_held_by_loss(s, f);
	note_doubt(s, f);
	f->all = (struct totals){
		.causes = 1u << cause,
		.connections = 1,
		.ns = f->ns,
		.max_ns = f->max_ns,
		.count = f->count,
		.found = s->samples ? times_found(s, i, cause) : 0,
		.lifetime_ns = ep->tx.lifetime_ns,
		.blamed_ns = f->blamed_ns,
		.blamed_n = f->blamed_n,
	};
}

/* Insert in order, the largest first; the smallest falls off the end. */
static void keep(struct verdict *v, const struct finding *f)
{
	size_t at = v->n;

	while (at > 0 && v->v[at - 1].all.ns < f->all.ns)
		at--;
	if (at >= FINDINGS_MAX)
		return;
	if (v->n < FINDINGS_MAX)
		v->n++;
	memmove(&v->v[at + 1], &v->v[at], (v->n - 1 - at) * sizeof(*f));
	v->v[at] = *f;
}

/* Among many connections with few samples each, some sample finds any state. */
static bool is_found_again(const struct finding *f)
{
	return !f->sampled || f->all.found >= FEWEST_SAMPLES;
}

static void keep_united(struct candidates *c, const struct trace_snapshot *s, struct verdict *out)
{
	uint64_t observed = out->observed_ns;

	candidates_unite(c, s);
	for (size_t i = 0; i < c->n; i++)
		if (!is_negligible(c->v[i].f.all.ns, observed) && is_found_again(&c->v[i].f))
			keep(out, &c->v[i].f);
	candidates_free(c);
}

/* `device` is no stall, but if the link is full it limits the sender. */
static bool may_hold_up(const struct trace_endpoint *ep, unsigned int cause)
{
	return tx_is_stall(cause) || (cause == TX_DEVICE && device_is_full(ep));
}

static size_t findings_of(const struct trace_snapshot *s, size_t i, struct finding v[TX_N])
{
	size_t n = 0;

	for (unsigned int c = 0; c < TX_N; c++) {
		if (s->ep[i].tx.ns[c] < VERDICT_MIN_NS || !may_hold_up(&s->ep[i], c))
			continue;
		fill(s, i, c, &v[n]);
		n += v[n].share >= VERDICT_MIN_SHARE;
	}
	return n;
}

/* Without memory to merge findings, keeps each one that is large by itself. */
static void find_stalls(const struct trace_snapshot *s, size_t i, struct candidates *found,
			struct verdict *out)
{
	struct finding v[TX_N];
	size_t n = findings_unite_causes(s, v, findings_of(s, i, v));

	for (size_t at = 0; at < n; at++)
		if (candidates_add(found, s, &v[at]))
			keep(out, &v[at]);
}

/* Only the calls of this pipe's writers are known: see resolution_unseen(). */
static bool writers_unseen(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_PIPE && ep->tx.resolution[TX_SNDBUF] == TRACE_UNKNOWN &&
	       !ep->tx.ns[TX_SNDBUF];
}

static uint64_t stalled(const struct verdict *v)
{
	return v->n ? v->v[0].all.ns : v->scattered.ns;
}

static bool is_party(const struct trace_snapshot *s, const struct finding *f,
		     const struct trace_call_stats *b)
{
	const struct trace_endpoint *ep = &s->ep[f->endpoint];
	const struct trace_call_stats *reader = who_reads(s, ep);

	return b && b->tgid &&
	       (ep->tx_calls.tgid == b->tgid || (reader && reader->tgid == b->tgid));
}

/* The finding is a limit, or the consequence of one. */
static bool goes_as_fast_as_it_can(const struct finding *f)
{
	return f->limit != LIMIT_NONE || f->behind_limit;
}

/* The pipe from which that process reads most; NULL: it reads from none. */
static const struct trace_endpoint *input_of(const struct trace_snapshot *s, pid_t tgid)
{
	const struct trace_endpoint *most = NULL;

	for (size_t i = 0; tgid && i < s->n; i++) {
		const struct trace_endpoint *ep = &s->ep[i];

		if (ep->proto == TRACE_PIPE && ep->rx_calls.tgid == tgid &&
		    ep->rx_calls.bytes > (most ? most->rx_calls.bytes : 0))
			most = ep;
	}
	return most;
}

enum { PIPELINE_MAX = 8 }; /* programs between the one that limits it and the one that waits */

/* Is a party of `f` the awaited sender, or does it feed that sender through pipes? */
static bool feeds(const struct trace_snapshot *s, const struct finding *f,
		  const struct trace_call_stats *sender)
{
	for (int links = 0; sender && links < PIPELINE_MAX; links++) {
		const struct trace_endpoint *input;

		if (is_party(s, f, sender))
			return true;
		input = input_of(s, sender->tgid);
		sender = input ? &input->tx_calls : NULL;
	}
	return false;
}

/* A stream at its limit neither explains nor hides a wait of other programs. */
static bool is_beside_wait(const struct trace_snapshot *s, const struct finding *f,
			   const struct trace_endpoint *waits_at)
{
	return goes_as_fast_as_it_can(f) && !is_party(s, f, &waits_at->rx_calls) &&
	       !feeds(s, f, who_sends(s, waits_at));
}

/* The reader of `f` is the process that waits, so `f` is a consequence of the wait. */
static bool is_behind_wait(const struct trace_snapshot *s, const struct finding *f,
			   const struct trace_endpoint *waits_at)
{
	return f->reader_waits >= 0 &&
	       s->ep[f->reader_waits].rx_calls.tgid == waits_at->rx_calls.tgid;
}

/* The sender is itself the process whose CPU limits the pipeline. What holds it up for at most
 * half of that time does not matter. */
static bool is_sent_by_limit(const struct trace_snapshot *s, const struct finding *f,
			     const struct finding *limit)
{
	const struct trace_call_stats *reader = who_reads(s, &s->ep[limit->endpoint]);
	struct who sender = who_was_held_up(&s->ep[f->endpoint], f->cause);

	return limit->limit == LIMIT_READER_CPU && limit->all.ns >= DWARFS * f->all.ns && reader &&
	       reader->tgid && reader->tgid == sender.tgid;
}

static bool is_behind_limit(const struct trace_snapshot *s, const struct verdict *v,
			    const struct finding *f)
{
	if (f->limit != LIMIT_NONE)
		return false;
	for (size_t i = 0; i < v->n; i++)
		if (is_sent_by_limit(s, f, &v->v[i]))
			return true;
	return f->root >= 0 && v->v[f->root].limit != LIMIT_NONE;
}

static void mark_behind_limit(const struct trace_snapshot *s, struct verdict *v)
{
	for (size_t i = 0; i < v->n; i++)
		v->v[i].behind_limit = is_behind_limit(s, v, &v->v[i]);
}

/* The finding of a connection of that process that goes as fast as it can; -1: there is none. */
static int limited_sender(const struct trace_snapshot *s, const struct verdict *v, pid_t tgid)
{
	for (size_t i = 0; i < v->n; i++) {
		const struct finding *f = &v->v[i];

		if (f->limit != LIMIT_NONE && s->ep[f->endpoint].proto == TRACE_TCP &&
		    who_was_held_up(&s->ep[f->endpoint], f->cause).tgid == tgid)
			return (int)i;
	}
	return -1;
}

static bool is_read_by(const struct trace_snapshot *s, const struct finding *f, pid_t tgid)
{
	const struct trace_call_stats *reader = who_reads(s, &s->ep[f->endpoint]);

	return f->blamed == BLAME_PEER_READER && reader && reader->tgid == tgid;
}

void verdict_link_doing(const struct trace_snapshot *s, struct verdict *v)
{
	const struct asleep *a = v->doing;
	pid_t last = !a || a->end != ASLEEP_END_FULL ? 0
		     : a->n_chain		     ? a->chain[a->n_chain - 1].pid
						     : a->pid;
	int limit = last ? limited_sender(s, v, last) : -1;

	if (limit < 0)
		return;
	for (size_t i = 0; i < v->n; i++) {
		struct finding *f = &v->v[i];
		const struct finding *root = f->root >= 0 ? &v->v[f->root] : f;

		if ((int)i != limit && f->limit == LIMIT_NONE && is_read_by(s, root, last))
			f->root = limit;
	}
	mark_behind_limit(s, v);
	judge(v);
}

static void mark_behind_wait(const struct trace_snapshot *s, struct verdict *v)
{
	for (size_t i = 0; i < v->n && v->wait.endpoint >= 0; i++)
		v->v[i].behind_wait = is_behind_wait(s, &v->v[i], &s->ep[v->wait.endpoint]);
}

/* The time of the largest stall or limit of which the wait may be a part. */
static uint64_t stalled_there(const struct trace_snapshot *s, const struct verdict *v)
{
	for (size_t i = 0; i < v->n; i++)
		if (!is_beside_wait(s, &v->v[i], &s->ep[v->wait.endpoint]) &&
		    !is_behind_wait(s, &v->v[i], &s->ep[v->wait.endpoint]))
			return v->v[i].all.ns;
	return v->scattered.ns;
}

/* A wait is reported beside a stall if it is more than DWARFS times as long. A mutual wait is
 * reported unless the stall is more than DWARFS times as long. */
static bool matters_beside_stalls(const struct trace_snapshot *s, const struct verdict *v)
{
	uint64_t ns;

	if (v->wait.endpoint < 0)
		return false;
	ns = stalled_there(s, v);
	return v->waits.ns > DWARFS * ns ||
	       (v->mutual.endpoint >= 0 && DWARFS * v->wait.ns >= ns);
}

static struct mutual_wait judge_circle(const struct trace_snapshot *s,
				       const struct reader_spell *wait)
{
	struct reader_circle c = { .next = -1 };

	if (wait->endpoint >= 0)
		c = reader_circle_at(s, (size_t)wait->endpoint);
	return (struct mutual_wait){ .endpoint = c.next,
				     .nobody_else = c.nobody_else,
				     .end = c.closed ? WAIT_CLOSED : WAIT_GOES_ON,
				     .circle = c.n > 2 ? c.n : 0 };
}

static struct mutual_wait judge_mutual(const struct trace_snapshot *s,
				       const struct reader_spell *wait, bool nothing_sent)
{
	int back =
		wait->endpoint < 0 ? -1 : waits_for_it_too(s, (size_t)wait->endpoint, nothing_sent);

	if (back < 0)
		return judge_circle(s, wait);
	return (struct mutual_wait){
		.endpoint = back,
		.nobody_else = nobody_else_sends(s, (size_t)wait->endpoint, (size_t)back),
		.end = mutual_wait_end(s, (size_t)wait->endpoint, (size_t)back),
	};
}

static const struct reader_spell none = { .endpoint = -1 };

/* A smaller share of the observed time is normal on a busy machine. */
#define STARVED_OF_ALL 0.02

static void drop_negligible(struct reader_spell *r, uint64_t observed)
{
	if (r->endpoint >= 0 &&
	    (is_unnoticeable(r->ns, observed) || (double)r->ns < STARVED_OF_ALL * (double)observed))
		*r = none;
}

/* The late reader has nothing to do with the stalls, and its time is much longer. */
static bool is_apart(const struct trace_snapshot *s, const struct verdict *v)
{
	for (size_t i = 0; i < v->n; i++)
		if ((int)v->v[i].endpoint == s->ep[v->late.endpoint].peer ||
		    (int)v->v[i].endpoint == v->late.endpoint)
			return false;
	return v->late.ns > DWARFS * stalled(v);
}

/* The late reader is the one that waits, elsewhere, for about as long. */
static bool is_why_it_reads_late(const struct trace_snapshot *s, const struct verdict *v)
{
	struct who waits, reads;

	if (v->late.endpoint < 0 || v->wait.endpoint < 0)
		return false;
	if (v->mutual.endpoint >= 0 && (s->ep[v->wait.endpoint].peer == v->late.endpoint ||
					s->ep[v->mutual.endpoint].peer == v->late.endpoint))
		return true;
	waits = who_was_last(&s->ep[v->wait.endpoint].rx_calls);
	reads = who_is_not_reading(&s->ep[v->late.endpoint], v->late.ns);
	return who_is_same(&waits, &reads) &&
	       (double)v->wait.ns >= SAME_TIME * (double)v->late.ns;
}

/* Are both findings about the same server and its clients? */
static bool are_of_one_service(const struct trace_snapshot *s, const struct verdict *v)
{
	const struct trace_endpoint *late = &s->ep[v->late.endpoint],
				    *wait = &s->ep[v->wait.endpoint];
	const struct trace_endpoint *client = late->peer >= 0 ? &s->ep[late->peer] : NULL,
				    *server = wait->peer >= 0 ? &s->ep[wait->peer] : NULL;

	if (!client || !server || late->proto != wait->proto)
		return false;
	return late == server ||
	       ((is_unix_connection(late) || late->local.port) &&
		late->local.port == server->local.port &&
		!strcmp(late->rx_calls.comm, server->rx_calls.comm) &&
		!strcmp(client->rx_calls.comm, wait->rx_calls.comm));
}

/* On a single connection whose answers took hardly any time, the unread time alone explains the
 * wait. */
#define NO_THINKING 0.1

static bool requests_say_more(const struct verdict *v)
{
	const struct requests *r = &v->waits.requests;

	return r->n && v->waits.ns >= v->late_all.ns &&
	       (v->late_all.connections > 1 ||
		(double)r->think_ns > NO_THINKING * (double)r->unread_ns);
}

/* The unread data is the requests of that wait: they took less time than the answers, or both
 * times are known for each request. */
static bool is_part_of_wait(const struct trace_snapshot *s, const struct verdict *v)
{
	if (v->late.endpoint < 0 || !are_of_one_service(s, v))
		return false;
	return requests_say_more(v) || (s->ep[v->wait.endpoint].peer == v->late.endpoint &&
					v->waits.ns > DWARFS * v->late_all.ns);
}

static bool is_limited(const struct verdict *v)
{
	return v->n && goes_as_fast_as_it_can(&v->v[0]);
}

static bool is_brief(const struct verdict *v)
{
	uint64_t ns = smaller(v->waits.ns, v->waits.together_ns);
	bool is_small = (double)ns < NOTICEABLE_SHARE * (double)v->observed_ns;

	if (v->mutual.endpoint >= 0)
		return is_negligible(ns, v->observed_ns);
	return is_unnoticeable(ns, v->observed_ns) || (is_small && is_limited(v));
}

/* The time that it takes to wake a few threads: such an answer is not late. */
#define QUICK_NS 200000
#define PAUSE_NS 50000000

static struct quick_answers quick_answers(const struct trace_snapshot *s, const struct verdict *v)
{
	const struct trace_endpoint *ep = v->wait.endpoint < 0 ? NULL : &s->ep[v->wait.endpoint];
	uint64_t n = v->waits.requests.n, ns = v->waits.ns;

	if (!n && ep && s->samples && ep->tx_calls.bytes) {
		n = ep->rx_calls.cpu_turns; /* of this endpoint alone */
		ns = v->wait.ns;
	}
	if (!n || v->chain.n || ns >= QUICK_NS * n || v->wait.max_ns >= PAUSE_NS ||
	    stopped_or_throttled(s, who_sends(s, ep), v->wait.ns) != HALT_NONE)
		return (struct quick_answers){ .endpoint = -1 };
	return (struct quick_answers){ v->wait.endpoint, n, ns / n };
}

/* A stream: nobody asks for the data, and enough of it comes. */
#define SENDER_BUSY  0.75
#define STREAM_SENDS 10
#define STREAM_BYTES 65536

static bool is_stream(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	const struct trace_call_stats *sent =
		ep->proto == TRACE_PIPE ? &ep->tx_calls : &ep->rx_calls;

	return !has_asked(s, (size_t)(ep - s->ep)) && !ep->rx_calls.others &&
	       (ep->rx_calls.bytes >= STREAM_BYTES ||
		(trace_messages_known(sent) && sent->messages >= STREAM_SENDS));
}

static struct busy_sender busy_sender(const struct trace_snapshot *s, const struct verdict *v)
{
	const struct trace_endpoint *ep = v->wait.endpoint < 0 ? NULL : &s->ep[v->wait.endpoint];
	const struct trace_call_stats *sender = ep ? who_sends(s, ep) : NULL;
	struct busy_sender none = { .endpoint = -1 },
			   busy = { .endpoint = v->wait.endpoint };

	if (!sender || sender->others || s->samples || v->waits.connections > 1 ||
	    has_requests(&v->waits.requests) || !is_stream(s, ep))
		return none;
	busy.share = sender_cpu_share(sender, ep);
	return busy.share >= SENDER_BUSY ? busy : none;
}

/* The late reader, or its process at another connection, had no CPU for most of that time. */
static bool could_not_read(const struct trace_snapshot *s, const struct verdict *v)
{
	const struct trace_call_stats *b;

	if (v->late.endpoint < 0 || v->starved.endpoint < 0 || 2 * v->starved.ns < v->late.ns)
		return false;
	b = starved_end(&s->ep[v->starved.endpoint], &v->starved);
	return v->late.endpoint == v->starved.endpoint ||
	       (b->tgid && b->tgid == s->ep[v->late.endpoint].rx_calls.tgid);
}

static bool waits_for_end(const struct trace_snapshot *s, const struct reader_spell *wait)
{
	const struct trace_endpoint *ep = wait->endpoint < 0 ? NULL : &s->ep[wait->endpoint];
	const struct trace_call_stats *sender = ep ? who_sends(s, ep) : NULL;

	return sender && who_left(sender, ep, wait->ns);
}

static struct waits_together first_of_chain(const struct trace_snapshot *s,
					    const struct verdict *v, bool nobody_asks)
{
	struct reader_spell first;

	if (!v->chain.n)
		return v->waits;
	first = waited_at(s, (size_t)v->chain.by[0]);
	return sum_waits(s, &first, nobody_asks);
}

/* Several clients wait for a program that forwards fewer requests at a time to its own server.
 * The rest of their wait is spent in its queue. Each request is forwarded once, except
 * greetings, which the program answers itself. */
#define QUEUED_SHARE 0.3

static bool are_passed_on(const struct requests *came, const struct requests *went)
{
	return came->n && !came->bounded && 5 * went->n >= 2 * came->n &&
	       4 * went->n <= 5 * came->n;
}

/* The time of all requests together, however many ran at a time. */
static uint64_t took_in_all(const struct requests *r)
{
	return r->think_ns + r->unread_ns + r->way_ns;
}

static uint64_t queued_between(const struct verdict *v)
{
	const struct waits_together *first = &v->first_waits, *last = &v->waits;
	uint64_t came = took_in_all(&first->requests), went = took_in_all(&last->requests);

	if (v->chain.n != 1 || first->helpers || first->connections < 2 || came <= went ||
	    !are_passed_on(&first->requests, &last->requests))
		return 0;
	return (double)(came - went) >= QUEUED_SHARE * (double)came ? came - went : 0;
}

/* A proxy whose server is down tries to connect again and again, while its client waits. */
static bool awaits_who_connects(const struct trace_snapshot *s, const struct verdict *v)
{
	const struct trace_call_stats *awaited;

	if (v->connect.endpoint < 0 || v->wait.endpoint < 0)
		return false;
	awaited = who_sends(s, &s->ep[v->wait.endpoint]);
	return awaited && awaited->tgid == program_at(&s->ep[v->connect.endpoint])->tgid &&
	       (double)v->connect.ns >= SAME_TIME * (double)v->wait.ns;
}

/* The sender, which was not seen, has a full send buffer and still waits. */
static bool keeps_sender_full(const struct trace_snapshot *s, const struct reader_spell *late)
{
	const struct trace_endpoint *ep = late->endpoint < 0 ? NULL : &s->ep[late->endpoint];

	return ep && ep->peer < 0 && ep->making.other_full && ep->rx.now == RX_UNREAD &&
	       2 * late->ns >= ep->rx.lifetime_ns;
}

static void find_late(const struct trace_snapshot *s, struct verdict *out)
{
	out->late = find_late_reader(s);
	out->busy = find_busy_reader(s);
	if (out->late.endpoint >= 0 && out->n &&
	    !is_apart(s, out)) /* a sender that was seen is judged by itself */
		out->late = none;
	if (could_not_read(s, out))
		out->late = none;
	out->late_all = sum_late(s, &out->late);
	if (is_unnoticeable(out->late_all.ns, out->observed_ns) &&
	    out->late_all.max_ns < FREEZE_NS) {
		out->late = none;
		out->late_all = (struct totals){};
	}
	out->late_answers = out->late.endpoint >= 0 && leaves_answers_unread(s, &out->late);
	out->late_is_full = keeps_sender_full(s, &out->late);
	out->no_room = out->late.endpoint >= 0 && leaves_no_room(s, (size_t)out->late.endpoint);
}

/* A proxy's answers take as long as those of the server that it asks. */
static bool server_waits_itself(const struct trace_snapshot *s, const struct verdict *v)
{
	pid_t server = v->answers.endpoint < 0 ? 0 : program_at(&s->ep[v->answers.endpoint])->tgid;

	return server && v->wait.endpoint >= 0 && s->ep[v->wait.endpoint].rx_calls.tgid == server;
}

static void find_unstalled(const struct trace_snapshot *s, struct verdict *out)
{
	bool nobody_asks;

	out->loss = find_loss(s);
	out->unanswered = find_unanswered(s);
	out->connect = find_slow_connect(s);
	if (out->connect.endpoint < 0 && !out->n_active)
		out->connect = find_refused(s);
	out->answers = find_slow_answers(s);
	out->may_pause = find_server_that_may_pause(s);
	if (!out->may_pause)
		out->may_pause = find_client_that_may_wait(s);
	nobody_asks = !out->sent && out->answers.endpoint < 0;
	out->withheld = find_withheld_ack(s);
	out->starved = find_starved(s);
	out->undelivered = find_undelivered(s);
	drop_negligible(&out->starved, out->observed_ns);
	find_late(s, out);
	out->wait = find_long_wait(s, &out->answers, nobody_asks, &out->chain);
	out->waits = sum_waits(s, &out->wait, nobody_asks);
	out->connect.is_awaited = awaits_who_connects(s, out);
	out->first_waits = first_of_chain(s, out, nobody_asks);
	out->queued_ns = queued_between(out);
	out->brought_by = who_brings_answer(s, &out->wait);
	out->fellow = find_fellow(s, &out->wait, nobody_asks);
	out->fellow_waits = sum_waits(s, &out->fellow, nobody_asks);
	out->mutual = judge_mutual(s, &out->wait, nobody_asks);
	out->answers.requests.waits_itself = server_waits_itself(s, out);
	out->end_held = waits_for_end(s, &out->wait);
	out->quick = quick_answers(s, out);
	out->busy_sender = busy_sender(s, out);
	if (matters_beside_stalls(s, out) && !is_brief(out) && out->quick.endpoint < 0 &&
	    out->busy_sender.endpoint < 0) {
		if (is_why_it_reads_late(s, out))
			out->late = none;
		out->late_in_wait = is_part_of_wait(s, out);
		return;
	}
	out->wait = none;
	out->waits = out->first_waits = (struct waits_together){};
	out->queued_ns = 0;
	out->brought_by = -1;
	out->chain = (struct wait_chain){};
	out->fellow = none;
	out->fellow_waits = (struct waits_together){};
	out->mutual.endpoint = -1;
	out->end_held = out->answers.requests.waits_itself = false;
}

/* Many small stalls are reported together only if they take this share of the observed time. */
#define SCATTERED_OF_ALL 0.05

/* Names the writer that has most of the main cause of the scattered stalls. */
static void name_main_writer(const struct trace_snapshot *s, struct scattered *sum)
{
	uint64_t most = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct trace_endpoint *ep = &s->ep[i];

		if (!ep->tx_calls.tgid || ep->tx.ns[sum->cause] <= most)
			continue;
		most = ep->tx.ns[sum->cause];
		sum->endpoint = (int)i;
	}
	for (size_t i = 0; i < s->n && sum->endpoint >= 0; i++)
		if (s->ep[i].tx_calls.tgid == s->ep[sum->endpoint].tx_calls.tgid)
			sum->process_ns += s->ep[i].tx.ns[sum->cause];
}

static uint64_t sum_of_stalls(const uint64_t by_cause[TX_N])
{
	uint64_t ns = 0;

	for (unsigned int c = 0; c < TX_N; c++)
		ns += tx_is_stall(c) ? by_cause[c] : 0;
	return ns;
}

static void find_scattered(const struct trace_snapshot *s, const uint64_t by_cause[TX_N],
			   struct verdict *out)
{
	struct scattered sum = { .endpoint = -1,
		.ns = sum_of_stalls(by_cause) + s->counters.dropped_stall_ns };

	sum.share = out->lifetime_ns ? (double)sum.ns / (double)out->lifetime_ns : 0;
	if (out->n || sum.ns < VERDICT_MIN_NS || sum.share < VERDICT_MIN_SHARE ||
	    (double)sum.ns < SCATTERED_OF_ALL * (double)out->observed_ns)
		return;
	for (unsigned int c = 0; c < TX_N; c++) {
		if (!tx_is_stall(c) || by_cause[c] <= sum.cause_ns)
			continue;
		sum.cause = c;
		sum.cause_ns = by_cause[c];
	}
	if (sum.cause_ns)
		name_main_writer(s, &sum);
	out->scattered = sum;
}

/* In a pipeline that lives for less than this, and whose reader was started for it, the start
 * takes most of the time. */
#define SHORT_PIPELINE_NS 100000000

static bool is_short_pipeline(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_PIPE && ep->closed && !ep->joined_late &&
	       ep->tx.lifetime_ns < SHORT_PIPELINE_NS && ep->rx_calls.born_ns >= began(ep);
}

static void add_sender(const struct trace_endpoint *ep, struct verdict *out)
{
	out->sent = true;
	out->stall_ns += ledger_stall_ns(&ep->tx);
	out->lifetime_ns += ep->tx.lifetime_ns;
}

static void add_causes(const struct trace_endpoint *ep, uint64_t by_cause[TX_N])
{
	for (unsigned int c = 0; c < TX_N; c++)
		by_cause[c] += ep->tx.ns[c];
}

static bool is_others(const struct trace_call_stats *b)
{
	return !b->tgid || b->outsider;
}

/* A session that traces only a pipe's reader does not ask for its writers, and sees none of
 * their calls. The same holds for the readers in a session of the writer. */
static bool is_seen_from_here(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	const struct trace_call_stats *out = &ep->tx_calls, *in = &ep->rx_calls;

	if (ep->proto != TRACE_PIPE || s->everything)
		return false;
	if (is_others(out))
		return !ep->unseen[1];
	return is_others(in) && !ep->unseen[0];
}

/* A pipe at which somebody waits, but through which nothing passed: a log, for example. */
static bool looked_silent(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	return s->samples && ep->proto == TRACE_PIPE && !s->samples[ep - s->ep].writes &&
	       !endpoint_sent(ep) && !ep->rx.ns[RX_UNREAD];
}

static void count_active(const struct trace_snapshot *s, const struct trace_endpoint *ep,
			 struct verdict *out)
{
	uint8_t by = is_seen_from_here(s, ep) ? 0 : ep->unseen[0] ? ep->unseen[0] : ep->unseen[1];

	if ((!endpoint_did_anything(ep) || looked_silent(s, ep)) && !by)
		return;
	out->n_active++;
	if (!by)
		return;
	out->n_unseen++;
	out->unseen = (enum trace_unseen)by;
}

static void make(const struct trace_snapshot *s, struct verdict *out)
{
	uint64_t by_cause[TX_N] = {};
	struct candidates found = {};

	memset(out, 0, sizeof(*out));
	out->observed_ns = observed_ns(s);
	out->stall_ns = s->counters.dropped_stall_ns;
	out->lifetime_ns = s->counters.dropped_lifetime_ns;
	out->sent = out->lifetime_ns;
	for (size_t i = 0; i < s->n; i++) {
		const struct trace_endpoint *ep = &s->ep[i];

		out->unaccounted_ns += llabs(ep->tx.unaccounted_ns) + llabs(ep->rx.unaccounted_ns);
		count_active(s, ep, out);
		if (!endpoint_sent(ep))
			continue;
		if (writers_unseen(ep)) {
			out->n_unknown += !reader_is_at_work(ep);
			continue;
		}
		add_sender(ep, out);
		if (is_short_pipeline(ep))
			continue;
		add_causes(ep, by_cause);
		find_stalls(s, i, &found, out);
	}
	keep_united(&found, s, out);
	find_scattered(s, by_cause, out);
	verdict_link_waits(s, out);
	verdict_link(s, out);
	mark_behind_limit(s, out);
	find_unstalled(s, out);
	mark_behind_wait(s, out);
	verdict_deadlocks(s, out);
	judge(out);
}

void verdict_make(const struct trace_snapshot *s, struct verdict *out)
{
	struct trace_snapshot indexed = *s;
	int *reverse_endpoints = find_reverse_endpoints(s), *bound_there = find_bound_there(s);
	struct processes processes = processes_find(s);

	indexed.reverse_endpoints = reverse_endpoints;
	indexed.bound_there = bound_there;
	indexed.processes = &processes;
	make(&indexed, out);
	free(processes.v);
	free(reverse_endpoints);
	free(bound_there);
}
