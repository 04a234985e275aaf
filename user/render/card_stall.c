// SPDX-License-Identifier: GPL-2.0-only
/* The cards of stalls and of limits */
#include "render/card_parts.h"

#include <inttypes.h>

#include "base/text.h"
#include "verdict/blame.h"
#include "verdict/limit.h"
#include "verdict/pipeline.h"

#define CAUSE_WHAT(sym, num, name, stall, nist, what, fix) [sym] = what,
static const char *const whats[TX_N] = { TX_STATES(CAUSE_WHAT) };

/* what a sender waits for if nobody is blamed */
static const char *const waits_for[TX_N] = {
	[TX_SNDBUF] = "room in its send buffer",
	[TX_RECOVERY] = "a retransmission",
	[TX_PACING] = "its own pacing",
	[TX_CORK] = "its own next write",
	[TX_NAGLE] = "an ACK",
	[TX_CWND] = "its congestion window",
	[TX_RWND] = "the receive window",
};

static void whom_of_stall(const struct making *m, const struct finding *f)
{
	struct card *c = m->c;

	if (blame_is_peers(f->blamed) || f->blamed == BLAME_PATH || f->cause == TX_RWND ||
	    f->cause == TX_NAGLE || f->unanswered_syn || f->small_reads || f->by_loss)
		card_blamed_name(m, f, c->whom, sizeof(c->whom));
}

static bool grows_its_window(const struct trace_endpoint *ep, const struct finding *f)
{
	return is_in_slow_start(ep) && f->blamed == BLAME_NOBODY &&
	       (f->cause == TX_CWND || (f->cause == TX_PACING && paces_itself(ep)));
}

static void head_of_stall(const struct making *m, const struct finding *f)
{
	struct card *c = m->c;

	whom_of_stall(m, f);
	if (f->blamed == BLAME_PEER_DELACK || (f->cause == TX_NAGLE && f->blamed == BLAME_NOBODY))
		WAITS_FOR(c, "an ACK from %s", c->whom);
	else if (f->small_reads && *c->whom)
		WAITS_FOR(c, "%s", c->whom);
	else if (f->blamed == BLAME_PEER_NO_CPU)
		WAITS_FOR(c, "%s, which %s for a CPU", c->whom, card_verb_waits(c->whom));
	else if (f->blamed == BLAME_NO_CPU)
		WAITS_FOR(c, "a CPU");
	else if (f->unanswered_syn)
		WAITS_FOR(c, "%s to answer its SYN", c->whom);
	else if (f->blamed == BLAME_PATH || f->by_loss)
		WAITS_FOR(c, "the path to %s", c->whom);
	else if (f->blamed == BLAME_OWN_WRITES)
		WAITS_FOR(c, "its own next write");
	else if (f->blamed == BLAME_PEER_READER)
		WAITS_FOR(c, "%s", c->whom);
	else if (grows_its_window(&m->s->ep[f->endpoint], f))
		WAITS_FOR(c, "its window to grow");
	else
		WAITS_FOR(c, "%s%s%s", waits_for[f->cause], *c->whom ? " of " : "", c->whom);
}

/* Names the process at the end of the chain first, since it is the one to look at. */
static void head_of_root(const struct making *m, const struct finding *f,
			 const struct finding *root)
{
	char between[PARTY_TEXT];
	struct card *c = m->c;

	card_sender_name(m, root, between, sizeof(between));
	whom_of_stall(m, root);
	if (*c->whom)
		WAITS_FOR(c, "%s, through %s", c->whom, between);
	else
		WAITS_FOR(c, "%s, which %s for %s", between, card_verb_waits(between),
			  waits_for[root->cause]);
}

static void head_of_ring(const struct making *m, const struct finding *f)
{
	struct card *c = m->c;

	card_blamed_name(m, f, c->whom, sizeof(c->whom));
	SET(c->head,
	    f->goes_on ? "%s and %s wait for each other: a deadlock"
		       : "%s and %s waited for each other",
	    c->who, c->whom);
}

static void head_of_circle(const struct making *m, const struct finding *f)
{
	struct card *c = m->c;

	card_blamed_name(m, f, c->whom, sizeof(c->whom));
	SET(c->head,
	    f->goes_on ? "%zu wait in a circle, %s for %s: a deadlock"
		       : "%zu waited in a circle, %s for %s",
	    f->circle, c->who, c->whom);
}

/* Unread data holds up its sender only while no buffer has room for more, so it may lie there much
 * longer than the stall lasts. */
#define LONGER 2 /* times the stall */

static void append_unread(const struct making *m, const struct finding *f, char *buf, size_t len)
{
	const struct trace_endpoint *ep = &m->s->ep[f->endpoint],
				    *end = ep->peer >= 0 ? &m->s->ep[ep->peer] : NULL;

	if (!end || f->deadlock >= 0 || f->circle || end->rx.ns[RX_UNREAD] < LONGER * f->all.ns)
		return;
	text_append(buf, len, "; data lay unread there for %s",
		    human_time(end->rx.ns[RX_UNREAD]).text);
}

static void why_of_reader(const struct making *m, const struct finding *f, const char *name)
{
	const struct trace_call_stats *reader = who_reads(m->s, &m->s->ep[f->endpoint]);
	char causes[CAUSES_TEXT], how[PARTY_TEXT + 32];

	causes_text(f, causes, sizeof(causes));
	if (f->small_reads)
		SET(m->c->why, "%s: %s %s %" PRIu64 " times, %.1f B each", causes, name,
		    verb_of(name, "reads", "read"), reader->messages,
		    (double)reader->bytes / (double)reader->messages);
	else if (reader_halted(m->s, f))
		SET(m->c->why, "%s: %s %s", causes, name, reader_halted(m->s, f));
	else
		SET(m->c->why, "%s%s %s %s", causes, is_readers_doing(f) ? ":" : ", while", name,
		    reader_phrase(m->s, f, name_is_plural(name), how, sizeof(how)));
	append_unread(m, f, m->c->why, sizeof(m->c->why));
}

static const char *why_of_path(const struct finding *f)
{
	return f->late_not_lost ? "the path delayed packets rather than lost them: most "
				  "retransmitted data had already arrived"
				: "packets were lost on the path";
}

/* A listener on this host tells whether its full accept queue dropped the SYN. */
static void why_of_syn(const struct making *m, const struct finding *f)
{
	const struct trace_listener *l = full_listener(m->s, &m->s->ep[f->endpoint]);

	SET(m->c->why, "%s: its SYN was not answered", trace_tx_names[f->cause]);
	if (l && l->tgid)
		ADD(m->c->why, ": the accept queue of %.16s[%d] was full", l->comm, l->tgid);
	else if (l)
		ADD(m->c->why, ": the listener's accept queue was full");
}

/* loss makes the congestion window small and the pace slow */
static void append_retransmits(const struct trace_endpoint *ep, char *buf, size_t len)
{
	if (ep->proto == TRACE_TCP && ep->retransmits_res != TRACE_UNKNOWN &&
	    ep->retransmits > ep->needless)
		text_append(buf, len, "; it retransmitted %" PRIu64 " segment%s", ep->retransmits,
			    plural(ep->retransmits));
}

/* Names no rate: in slow start the last rate is not the rate at which data was sent. */
static void why_of_slow_start(const struct making *m, const struct trace_endpoint *ep,
			      const char *cause)
{
	SET(m->c->why,
	    "%s: slow start: the connection lived for %.0f round trips of %s, and its window still "
	    "grew",
	    cause, (double)ep->tx.lifetime_ns / (1e3 * ep->min_rtt_us),
	    human_time(1e3 * ep->min_rtt_us).text);
}

/* Says who sets the pace, if that is known. */
static void why_of_pacing(const struct making *m, const struct trace_endpoint *ep)
{
	char rate[32];

	if (paces_itself(ep) && is_in_slow_start(ep)) {
		why_of_slow_start(m, ep, "pacing");
	} else if (paces_at_set_rate(ep)) {
		card_rate_text((double)ep->path.max_pacing_bytes_per_s, "B", rate, sizeof(rate));
		SET(m->c->why, "pacing: SO_MAX_PACING_RATE limits it to %s", rate);
	} else if (paces_itself(ep)) {
		card_rate_text((double)ep->path.pacing_bytes_per_s, "B", rate, sizeof(rate));
		SET(m->c->why, "pacing: %.16s sends at %s", ep->path.congestion_control, rate);
	} else {
		SET(m->c->why, "pacing: %s", whats[TX_PACING]);
	}
}

/* "pacing: the path loses packets: 2175 of 65000 segments were sent again; bbr sends at 44 MB/s" */
static void why_of_loss(const struct making *m, const struct finding *f)
{
	const struct trace_endpoint *ep = &m->s->ep[f->endpoint];
	char rate[32];

	card_rate_text((double)ep->path.pacing_bytes_per_s, "B", rate, sizeof(rate));
	SET(m->c->why,
	    "%s: the path loses packets: %" PRIu64 " of %" PRIu64 " segments were retransmissions",
	    trace_tx_names[f->cause], ep->retransmits, ep->path.sent_segments);
	if (f->cause == TX_PACING)
		ADD(m->c->why, "; %.16s sends at %s", ep->path.congestion_control, rate);
}

static void why_of_stall(const struct making *m, const struct finding *f)
{
	const char *cause = trace_tx_names[f->cause];
	char name[PARTY_TEXT + 48];

	card_blamed_name(m, f, name, sizeof(name));
	if (f->blamed == BLAME_PEER_READER || f->small_reads || reader_halted(m->s, f))
		why_of_reader(m, f, name);
	else if (f->blamed == BLAME_PEER_DELACK)
		SET(m->c->why, "%s: %s %s ACKs", cause, name,
		    verb_of(name, "delays its", "delay their"));
	else if (f->blamed == BLAME_PEER_NO_CPU)
		SET(m->c->why, "%s: %s %s data to read, but no CPU", cause, name,
		    verb_of(name, "has", "have"));
	else if (f->blamed == BLAME_NO_CPU)
		SET(m->c->why, "%s: after being woken, it waited for a CPU", cause);
	else if (f->unanswered_syn)
		why_of_syn(m, f);
	else if (f->blamed == BLAME_PATH)
		SET(m->c->why, "%s: %s", cause, why_of_path(f));
	else if (f->blamed == BLAME_OWN_WRITES)
		SET(m->c->why, "%s: small writes are coalesced into one segment", cause);
	else if (f->by_loss)
		why_of_loss(m, f);
	else if (f->cause == TX_PACING)
		why_of_pacing(m, &m->s->ep[f->endpoint]);
	else if (f->cause == TX_CWND && is_in_slow_start(&m->s->ep[f->endpoint]))
		why_of_slow_start(m, &m->s->ep[f->endpoint], cause);
	else
		SET(m->c->why, "%s: %s", cause, whats[f->cause]);
	if ((f->cause == TX_CWND || f->cause == TX_PACING) && !f->by_loss)
		append_retransmits(&m->s->ep[f->endpoint], m->c->why, sizeof(m->c->why));
	if (f->surety == SUSPECTED || (f->blamed != BLAME_NOBODY && f->blamed != BLAME_OWN_WRITES &&
				       f->blamed != BLAME_NO_CPU))
		card_set_surety(m->c, f->surety);
}

/* Whether the stall is explained by what its reader does instead of reading. */
static bool is_elsewhere(const struct making *m, const struct finding *f)
{
	return f->blamed == BLAME_PEER_READER && f->deadlock < 0 && !f->circle && !f->small_reads &&
	       !reader_halted(m->s, f);
}

/* Whether the only end that was seen had unread data all the while its own sends were stalled. If
 * the other end does the same, neither goes on. */
#define ALL_THE_WHILE 0.9

static bool may_be_deadlock(const struct making *m, const struct finding *f)
{
	const struct trace_endpoint *ep = &m->s->ep[f->endpoint];
	uint64_t least = (uint64_t)(ALL_THE_WHILE * (double)ep->tx.lifetime_ns);

	return (f->cause == TX_RWND || f->cause == TX_SNDBUF) && ep->proto != TRACE_PIPE &&
	       ep->peer < 0 && f->goes_on && f->ns >= least &&
	       ep->rx.resolution[RX_UNREAD] != TRACE_UNKNOWN && ep->rx.ns[RX_UNREAD] >= least;
}

static void append_unread_here(const struct making *m)
{
	ADD(m->c->why, "; %s has unread data itself: each may wait for the other to read",
	    m->c->who);
	card_set_fix(m->c, read_while_writing_fix);
}

/* What the reader does, or whom it waits for. */
static void append_elsewhere(const struct making *m, const struct finding *f)
{
	if (f->reader_waits < 0)
		card_append_doing(m);
	else
		card_append_doing_of_another(m);
	if (!comes_in_bursts(&m->s->ep[f->endpoint]))
		card_fix_doing(m, f->reader_waits < 0);
}

void card_stall(const struct making *m)
{
	const struct finding *f = &m->v->v[m->v->lead],
			     *root = f->root >= 0 ? &m->v->v[f->root] : NULL,
			     *why = root ? root : f;

	card_sender_name(m, f, m->c->who, sizeof(m->c->who));
	if (f->deadlock >= 0)
		head_of_ring(m, f);
	else if (f->circle)
		head_of_circle(m, f);
	else if (root)
		head_of_root(m, f, root);
	else
		head_of_stall(m, f);
	card_where_finding(m, f);
	why_of_stall(m, why);
	card_take_fix(m);
	if (may_be_deadlock(m, f))
		append_unread_here(m);
	else if (is_elsewhere(m, why))
		append_elsewhere(m, why);
}

static void why_of_link(const struct making *m, const struct finding *f)
{
	const struct trace_endpoint *ep = &m->s->ep[f->endpoint];
	char rate[24];

	if (f->cause != TX_DEVICE && !queue_stands(ep)) {
		card_rate_text(8 * (double)ep->path.delivery_bytes_per_s, "bit", rate,
			       sizeof(rate));
		SET(m->c->why, "%.16s measures that the path carries %s, and sends at that pace",
		    ep->path.congestion_control, rate);
		return;
	}
	card_rate_text(8 * rate_of_sending(ep), "bit", rate, sizeof(rate));
	SET(m->c->why,
	    "the path carries %s at most, and a queue builds up: round trip %s, minimum %s", rate,
	    human_time(1e3 * ep->rtt_us).text, human_time(1e3 * ep->min_rtt_us).text);
}

static void why_of_unseen_reader(const struct making *m, const struct finding *f)
{
	const struct trace_endpoint *ep = &m->s->ep[f->endpoint];
	char rate[24];

	card_rate_text(1e9 * (double)ep->tx_calls.bytes / (double)ep->tx.lifetime_ns, "B", rate,
		       sizeof(rate));
	SET(m->c->why,
	    "%s reads %s, and when the window is full it reads again within %s on average",
	    m->c->whom, rate, human_time((double)f->ns / (double)f->count).text);
}

static void why_of_host(const struct making *m, const struct finding *f)
{
	const struct trace_endpoint *ep = &m->s->ep[f->endpoint];
	char rate[24];

	card_rate_text(1e9 * (double)ep->tx_calls.bytes / (double)ep->tx.lifetime_ns, "B", rate,
		       sizeof(rate));
	SET(m->c->why, "%s goes to a program on this host", rate);
}

static void why_of_limit(const struct making *m, const struct finding *f)
{
	double reader = reader_cpu_share(m->s, f);
	struct card *c = m->c;
	char share[24] = "";

	if (reader >= BUSY) /* else it is another thread that computes */
		SET(share, " (%.0f %% of one)", 100 * reader);
	if (f->limit == LIMIT_READER_CPU)
		SET(c->why, "%s %s CPU%s and cannot keep up", c->whom,
		    verb_of(c->whom, "is busy on its", "are busy on their"), share);
	else if (f->limit == LIMIT_WRITER_CPU)
		SET(c->why, "%s %s CPU", c->who,
		    verb_of(c->who, "is busy on its", "are busy on their"));
	else if (f->limit == LIMIT_SHARED_CPU)
		SET(c->why, "both ends take turns on one CPU");
	else if (f->limit == LIMIT_LINK)
		why_of_link(m, f);
	else if (f->limit == LIMIT_READER)
		why_of_unseen_reader(m, f);
	else if (f->limit == LIMIT_HOST)
		why_of_host(m, f);
	else if (f->limit == LIMIT_TURNS)
		SET(c->why, "the buffer is full when one writes and empty when the other reads: "
			    "more room, or smaller writes, lets both run at once");
	else
		SET(c->why,
		    "small writes are coalesced into larger segments, which costs no throughput");
}

/* a healthy stream, and what limits it */
void card_limit(const struct making *m)
{
	const struct finding *f = &m->v->v[m->v->lead];
	struct card *c = m->c;

	card_sender_name(m, f, c->who, sizeof(c->who));
	card_reader_name(m, f, c->whom, sizeof(c->whom));
	SET(c->head, "%s to %s, limited by: %s", c->who, c->whom, limit_phrase(f->limit));
	card_where_finding(m, f);
	ADD(c->where, " (%s)", trace_tx_names[f->cause]);
	ADD(c->where_brief, " (%s)", trace_tx_names[f->cause]);
	why_of_limit(m, f);
	if (f->limit != LIMIT_OWN_WRITES)
		card_set_surety(c, f->limit == LIMIT_LINK || f->limit == LIMIT_READER ||
						   f->limit == LIMIT_HOST
					   ? INFERRED
					   : SEEN_BOTH_ENDS);
}
