// SPDX-License-Identifier: GPL-2.0-only
/* Makes the text of a card from a verdict: one function for each kind of finding. */
#include "render/card.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/socket.h>

#include "base/text.h"
#include "verdict/by_address.h"
#include "verdict/merge_findings.h"
#include "verdict/blame.h"
#include "render/doing_text.h"
#include "render/environment.h"
#include "verdict/unsampled_connections.h"
#include "verdict/stopped_or_throttled.h"
#include "verdict/times.h"
#include "verdict/kept_output.h"
#include "verdict/limit.h"
#include "verdict/live_fix.h"
#include "verdict/long_wait.h"
#include "verdict/other_clients.h"
#include "verdict/other_findings.h"
#include "verdict/own_window.h"
#include "verdict/pipeline.h"
#include "verdict/replies.h"
#include "verdict/requests.h"

static const char *const fix_state_names[FIX_STATES] = { NULL, "suggested", "proven", "refuted" };

#define CAUSE_WHAT(sym, num, name, stall, nist, what, fix) [sym] = what,
static const char *const whats[TX_N] = { TX_STATES(CAUSE_WHAT) };

/* snprintf() and text_append() to an array */
#define SET(array, ...) snprintf(array, sizeof(array), __VA_ARGS__)
#define ADD(array, ...) text_append(array, sizeof(array), __VA_ARGS__)
/* "curl[7] waits for what" */
#define WAITS_FOR(c, what, ...) \
	SET((c)->head, "%s %s for " what, (c)->who, waits((c)->who), ##__VA_ARGS__)

/* the card that is made, and its sources */
struct making {
	const struct trace_snapshot *s;
	const struct verdict *v;
	struct card *c;
};

/* ---- names ---- */

static void someone(struct who *p, bool several, char *buf, size_t len)
{
	if (several) {
		p->tgid = 0;
		p->others = true;
		p->left = NULL;
	}
	who_name(p, buf, len);
}

/* the program that reads what this endpoint sends, or its address */
static void reader_name(const struct making *m, const struct finding *f, char *buf, size_t len)
{
	const struct trace_call_stats *b = who_reads(m->s, &m->s->ep[f->endpoint]);

	if (b && b->tgid)
		program_name(b, buf, len);
	else
		address_of_peer(&m->s->ep[f->endpoint], buf, len);
}

/* the process that is blamed for a stall; if none is, the owner of the other end */
static void blamed_name(const struct making *m, const struct finding *f, char *buf, size_t len)
{
	struct who late = finding_blamed(m->s, f), held_up = finding_sender(m->s, f);

	if (late.tgid && late.tgid == held_up.tgid && !f->all.several_blamed)
		awaited_name(&late, &held_up, buf, len);
	else if (late.tgid || late.others || late.left || late.too_young)
		someone(&late, f->all.several_blamed, buf, len);
	else if (f->small_reads || (f->blamed == BLAME_NOBODY &&
				    m->s->ep[f->endpoint].proto != TRACE_PIPE))
		reader_name(m, f, buf, len);
	else if (m->s->ep[f->endpoint].proto == TRACE_PIPE)
		snprintf(buf, len, "its reader");
	else
		address_of_peer(&m->s->ep[f->endpoint], buf, len);
}

static void sender_name(const struct making *m, const struct finding *f, char *buf, size_t len)
{
	struct who held_up = finding_sender(m->s, f);

	someone(&held_up, f->all.several_senders, buf, len);
}

/* ---- where ---- */

/* "tcp A > B and 5 more: nagle 833 ms of 836 ms, 19 times, longest 43.9 ms" */
static void where(struct card *c, const struct trace_endpoint *ep, const struct spent *x)
{
	char name[160], longest[32];

	endpoint_short_name(ep, name, sizeof(name));
	human_ns((double)x->max_ns, longest, sizeof(longest));
	c->spent = *x;
	SET(c->where, "%s", name);
	if (x->connections > 1)
		ADD(c->where, " and %zu more", x->connections - 1);
	ADD(c->where, ": %s%s%s of %s", x->state ? x->state : "", x->state ? " " : "",
	    human_time(x->ns).text, human_time(x->lifetime_ns).text);
	if (x->estimated)
		ADD(c->where, ", estimated");
	memcpy(c->where_brief, c->where, sizeof(c->where_brief));
	if (x->goes_on)
		ADD(c->where_brief, "; it goes on");
	if (x->count)
		ADD(c->where, ", %" PRIu64 " x, longest %s", x->count, longest);
	if (x->goes_on)
		ADD(c->where, "; it goes on");
}

static void where_spell(const struct making *m, const struct reader_spell *r, const char *state,
			uint64_t lifetime_ns)
{
	where(m->c, &m->s->ep[r->endpoint],
	      &(struct spent){ .state = state,
			       .ns = r->ns,
			       .lifetime_ns = lifetime_ns,
			       .count = r->count,
			       .max_ns = r->max_ns });
}

static void where_finding(const struct making *m, const struct finding *f)
{
	const struct totals *a = &f->all;

	where(m->c, &m->s->ep[f->endpoint],
	      &(struct spent){ .connections = a->connections,
			       .ns = a->ns,
			       .lifetime_ns = a->lifetime_ns,
			       .count = a->count,
			       .max_ns = a->max_ns,
			       .goes_on = f->goes_on });
}

static void set_surety(struct card *c, enum surety s)
{
	c->has_surety = true;
	c->surety = s;
}

static void set_fix(struct card *c, const char *fix)
{
	SET(c->fix, "%s", fix);
	c->fix_state = *fix ? FIX_SUGGESTED : FIX_NONE;
}

static void take_fix(const struct making *m)
{
	set_fix(m->c, verdict_fix(m->s, m->v));
}

static const char *waits(const char *who)
{
	return verb_of(who, "waits", "wait");
}

/* "; it sleeps in flock(), for a lock on a file" */
static void append_doing(const struct making *m)
{
	char text[DOING_TEXT];
	struct card *c = m->c;
	bool named = !*c->whom || name_is_plural(c->whom) || strstr(c->why, c->whom);

	if (doing_phrase(m->v->doing, text, sizeof(text)))
		ADD(c->why, "; %s %s", named ? "it" : c->whom, text);
}

/* "; sshd[12] sleeps in flock(), for a lock on a file": whom the reader waits for */
static void append_doing_of_another(const struct making *m)
{
	const struct asleep *a = m->v->doing;
	char text[DOING_TEXT];

	if (doing_phrase(a, text, sizeof(text)))
		ADD(m->c->why, "; %s[%d] %s", a->comm, (int)a->pid, text);
}

static void fix_doing(const struct making *m, bool reads)
{
	char text[DOING_TEXT];

	doing_fix(m->v->doing, reads, text, sizeof(text));
	if (*text)
		set_fix(m->c, text);
}

/* ---- stalls ---- */

/* what a sender waits for if nobody is blamed */
static const char *const waits_for[TX_N] = {
	[TX_SNDBUF] = "room in its send buffer", [TX_RECOVERY] = "a retransmission",
		[TX_PACING] = "its own pacing",
	[TX_CORK] = "its own next write", [TX_NAGLE] = "an ACK",
		[TX_CWND] = "its congestion window", [TX_RWND] = "the receive window",
};

static void whom_of_stall(const struct making *m, const struct finding *f)
{
	struct card *c = m->c;

	if (blame_is_peers(f->blamed) || f->blamed == BLAME_PATH || f->cause == TX_RWND ||
	    f->cause == TX_NAGLE || f->unanswered_syn || f->small_reads || f->by_loss)
		blamed_name(m, f, c->whom, sizeof(c->whom));
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
		WAITS_FOR(c, "%s, which %s for a CPU", c->whom, waits(c->whom));
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

	sender_name(m, root, between, sizeof(between));
	whom_of_stall(m, root);
	if (*c->whom)
		WAITS_FOR(c, "%s, through %s", c->whom, between);
	else
		WAITS_FOR(c, "%s, which %s for %s", between, waits(between),
			  waits_for[root->cause]);
}

static void head_of_ring(const struct making *m, const struct finding *f)
{
	struct card *c = m->c;

	blamed_name(m, f, c->whom, sizeof(c->whom));
	SET(c->head,
	    f->goes_on ? "%s and %s wait for each other: a deadlock"
		       : "%s and %s waited for each other",
	    c->who, c->whom);
}

static void head_of_circle(const struct making *m, const struct finding *f)
{
	struct card *c = m->c;

	blamed_name(m, f, c->whom, sizeof(c->whom));
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

/* "7.72 Mbit/s" */
static void rate_text(double a_second, const char *unit, char *buf, size_t len)
{
	char text[24];
	size_t n;

	human_count(a_second, text, sizeof(text));
	n = strspn(text, "0123456789.");
	snprintf(buf, len, "%.*s %s%s/s", (int)n, text, text + n, unit);
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
		rate_text((double)ep->path.max_pacing_bytes_per_s, "B", rate, sizeof(rate));
		SET(m->c->why, "pacing: SO_MAX_PACING_RATE limits it to %s", rate);
	} else if (paces_itself(ep)) {
		rate_text((double)ep->path.pacing_bytes_per_s, "B", rate, sizeof(rate));
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

	rate_text((double)ep->path.pacing_bytes_per_s, "B", rate, sizeof(rate));
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

	blamed_name(m, f, name, sizeof(name));
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
		set_surety(m->c, f->surety);
}

/* Whether the stall is explained by what its reader does instead of reading. */
static bool is_elsewhere(const struct making *m, const struct finding *f)
{
	return f->blamed == BLAME_PEER_READER && f->deadlock < 0 && !f->circle &&
	       !f->small_reads && !reader_halted(m->s, f);
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
	set_fix(m->c, read_while_writing_fix);
}

/* What the reader does, or whom it waits for. */
static void append_elsewhere(const struct making *m, const struct finding *f)
{
	if (f->reader_waits < 0)
		append_doing(m);
	else
		append_doing_of_another(m);
	if (!comes_in_bursts(&m->s->ep[f->endpoint]))
		fix_doing(m, f->reader_waits < 0);
}

static void card_stall(const struct making *m)
{
	const struct finding *f = &m->v->v[m->v->lead],
			     *root = f->root >= 0 ? &m->v->v[f->root] : NULL,
			     *why = root ? root : f;

	sender_name(m, f, m->c->who, sizeof(m->c->who));
	if (f->deadlock >= 0)
		head_of_ring(m, f);
	else if (f->circle)
		head_of_circle(m, f);
	else if (root)
		head_of_root(m, f, root);
	else
		head_of_stall(m, f);
	where_finding(m, f);
	why_of_stall(m, why);
	take_fix(m);
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
		rate_text(8 * (double)ep->path.delivery_bytes_per_s, "bit", rate, sizeof(rate));
		SET(m->c->why, "%.16s measures that the path carries %s, and sends at that pace",
		    ep->path.congestion_control, rate);
		return;
	}
	rate_text(8 * rate_of_sending(ep), "bit", rate, sizeof(rate));
	SET(m->c->why,
	    "the path carries %s at most, and a queue builds up: round trip %s, minimum %s", rate,
	    human_time(1e3 * ep->rtt_us).text, human_time(1e3 * ep->min_rtt_us).text);
}

static void why_of_unseen_reader(const struct making *m, const struct finding *f)
{
	const struct trace_endpoint *ep = &m->s->ep[f->endpoint];
	char rate[24];

	rate_text(1e9 * (double)ep->tx_calls.bytes / (double)ep->tx.lifetime_ns, "B", rate,
		  sizeof(rate));
	SET(m->c->why,
	    "%s reads %s, and when the window is full it reads again within %s on average",
	    m->c->whom, rate, human_time((double)f->ns / (double)f->count).text);
}

static void why_of_host(const struct making *m, const struct finding *f)
{
	const struct trace_endpoint *ep = &m->s->ep[f->endpoint];
	char rate[24];

	rate_text(1e9 * (double)ep->tx_calls.bytes / (double)ep->tx.lifetime_ns, "B", rate,
		  sizeof(rate));
	SET(m->c->why, "%s goes to a program on this host", rate);
}

/* share of a CPU from which a program computes, rather than sleeps or waits for another */
#define BUSY 0.5

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
static void card_limit(const struct making *m)
{
	const struct finding *f = &m->v->v[m->v->lead];
	struct card *c = m->c;

	sender_name(m, f, c->who, sizeof(c->who));
	reader_name(m, f, c->whom, sizeof(c->whom));
	SET(c->head, "%s to %s, limited by: %s", c->who, c->whom, limit_phrase(f->limit));
	where_finding(m, f);
	ADD(c->where, " (%s)", trace_tx_names[f->cause]);
	ADD(c->where_brief, " (%s)", trace_tx_names[f->cause]);
	why_of_limit(m, f);
	if (f->limit != LIMIT_OWN_WRITES)
		set_surety(c, f->limit == LIMIT_LINK || f->limit == LIMIT_READER ||
					      f->limit == LIMIT_HOST
				      ? INFERRED
				      : SEEN_BOTH_ENDS);
}

/* ---- findings without a stall of a sender that was seen ---- */

static void card_undelivered(const struct making *m)
{
	const struct reader_spell *u = &m->v->undelivered;
	const struct trace_endpoint *ep = &m->s->ep[u->endpoint];
	struct card *c = m->c;

	program_name(&ep->tx_calls, c->who, sizeof(c->who));
	address_of_peer(ep, c->whom, sizeof(c->whom));
	WAITS_FOR(c, "this host's device to send to %s", c->whom);
	where_spell(m, u, "device", ep->tx.lifetime_ns);
	SET(c->why, "its data had not left this host when the retransmission timer fired");
	take_fix(m);
}

static void card_withheld(const struct making *m)
{
	const struct withheld_ack *w = &m->v->withheld;
	const struct trace_endpoint *ep = &m->s->ep[w->endpoint];
	struct card *c = m->c;

	address_of_peer(ep, c->who, sizeof(c->who));
	program_name(ep->rx_calls.tgid ? &ep->rx_calls : &ep->tx_calls, c->whom, sizeof(c->whom));
	WAITS_FOR(c, "an ACK from %s", c->whom);
	where(c, ep,
	      &(struct spent){ .state = "ACKs withheld",
			       .ns = w->ns,
			       .lifetime_ns = ep->rx.lifetime_ns,
			       .count = w->count,
			       .max_ns = w->ns / w->count });
	SET(c->why,
	    "its delayed ACKs held up the other end: more data came one round trip after each");
	set_surety(c, INFERRED);
	take_fix(m);
}

/* The reader reads its answers late, which delays only the reader itself. */
static void card_of_late_answers(const struct making *m)
{
	const struct reader_spell *late = &m->v->late;
	const struct trace_endpoint *ep = &m->s->ep[late->endpoint];
	struct card *c = m->c;
	char each[32];

	program_name(&ep->rx_calls, c->who, sizeof(c->who));
	peer_name(m->s, ep, c->whom, sizeof(c->whom));
	SET(c->head, "%s %s the answers of %s late", c->who, verb_of(c->who, "reads", "read"),
	    c->whom);
	where_spell(m, late, "unread", ep->rx.lifetime_ns);
	human_ns((double)late->ns / (double)late->count, each, sizeof(each));
	SET(c->why, "each lay unread for %s on average, though nothing else kept the reader busy",
	    each);
	set_surety(c, SEEN_BOTH_ENDS);
	take_fix(m);
}

/* "nginx[7] was stopped (signal, debugger or freezer) for 2.00 s"; false: it could run */
static bool why_halted(const struct making *m, const char *who, const struct trace_call_stats *b,
		       uint64_t ns)
{
	enum halt why = stopped_or_throttled(m->s, b, ns);
	struct card *c = m->c;

	if (why == HALT_NONE)
		return false;
	SET(c->why, "%s %s", who, halt_phrase(m->s, b, ns));
	if (!m->s->samples)
		ADD(c->why, " for %s", human_time((double)halted_ns(m->s, b, why)).text);
	set_fix(c, halt_fix(m->s, b, ns));
	return true;
}

/* the longest spell; samples see no episodes, so for them the whole time */
static uint64_t longest_of(const struct reader_spell *r)
{
	return r->max_ns ? r->max_ns : r->ns;
}

static const char serve_more_fix[] =
	"serve more clients at once (workers, threads), or each of them faster";

/* "redis-server[7] was busy with another client: redis-cli[9], 1.02 s"; false: it was not */
static bool why_busy_with_others(const struct making *m, const struct reader_spell *late)
{
	struct other_clients o = other_clients_meanwhile(m->s, (size_t)late->endpoint, late->ns);
	char client[PARTY_TEXT], ns[32];
	struct card *c = m->c;

	if (!o.n)
		return false;
	peer_name(m->s, &m->s->ep[o.one], client, sizeof(client));
	human_ns((double)o.ns, ns, sizeof(ns));
	SET(c->why, "%s %s busy with ", c->whom, verb_of(c->whom, "was", "were"));
	if (m->v->late_all.connections > 1)
		ADD(c->why, "other clients meanwhile");
	else if (o.n == 1)
		ADD(c->why, "another client: %s, %s", client, ns);
	else
		ADD(c->why, "%zu other clients for %s", o.n, ns);
	set_fix(c, serve_more_fix);
	return true;
}

static const char accept_fix[] = "call accept() sooner, or from more threads";

static void why_not_accepted(struct card *c)
{
	SET(c->why,
	    "its data lay unread in the listener's queue: accept() was not called, or failed");
	set_fix(c, accept_fix);
}

/* The process that does not read. For a connection that is not accepted yet it is the listener. */
static struct who late_reader(const struct making *m, const struct trace_endpoint *ep, uint64_t ns)
{
	struct who reader = who_is_not_reading(ep, ns);
	const struct trace_listener *l = reader.tgid || reader.others ? NULL
								       : listener_of(m->s, ep);

	return l ? (struct who){ .tgid = l->tgid, .comm = l->comm } : reader;
}

/* The read calls of that process at any endpoint; those of `ep` if it reads at none. */
static const struct trace_call_stats *process_of(const struct making *m,
						 const struct trace_endpoint *ep, pid_t tgid)
{
	for (size_t i = 0; ep->rx_calls.tgid != tgid && i < m->s->n; i++)
		if (m->s->ep[i].rx_calls.tgid == tgid)
			return &m->s->ep[i].rx_calls;
	return &ep->rx_calls;
}

static void where_late(const struct making *m)
{
	const struct totals *a = &m->v->late_all;

	where(m->c, &m->s->ep[m->v->late.endpoint],
	      &(struct spent){ .state = "unread",
			       .connections = a->connections,
			       .ns = a->ns,
			       .lifetime_ns = a->lifetime_ns,
			       .count = a->count,
			       .max_ns = a->max_ns });
}

static void card_of_late_reader(const struct making *m)
{
	const struct reader_spell *late = &m->v->late;
	const struct trace_endpoint *ep = &m->s->ep[late->endpoint];
	struct who reader = late_reader(m, ep, late->ns);
	bool not_accepted = lay_in_queue(ep, late->ns) ||
			    (reader.tgid && !ep->rx_calls.tgid && listener_of(m->s, ep));
	struct card *c = m->c;

	peer_name(m->s, ep, c->who, sizeof(c->who));
	if (m->v->late_all.several_senders)
		ADD(c->who, OTHERS);
	who_name(&reader, c->whom, sizeof(c->whom));
	if (m->v->late_all.several_blamed && !reader.others)
		ADD(c->whom, OTHERS);
	WAITS_FOR(c, "%s to read", c->whom);
	where_late(m);
	if (not_accepted)
		WAITS_FOR(c, "%s to accept the connection", c->whom);
	if (why_halted(m, c->whom, process_of(m, ep, reader.tgid), longest_of(late)))
		return;
	if (why_busy_with_others(m, late))
		return;
	if (not_accepted) {
		why_not_accepted(c);
		return;
	}
	if (m->v->late_is_full)
		SET(c->why, "%s %s unread data, and its sender's buffer is full", c->whom,
		    verb_of(c->whom, "has", "have"));
	else
		SET(c->why, "%s %s unread data; the sender %smay wait for %s", c->whom,
		    verb_of(c->whom, "has", "have"),
		    other_end_seen(ep) ? "" : "was not traced, and ",
		    ep->proto == TRACE_PIPE ? "room" : "an answer");
	append_busy_thread(&ep->rx_calls, late->ns, c->why, sizeof(c->why));
	take_fix(m);
	if (doing_of(m->v->doing) != DOING_COMPUTES)
		append_doing(m);
}

static void card_no_room(const struct making *m)
{
	const struct reader_spell *late = &m->v->late;
	const struct trace_endpoint *ep = &m->s->ep[late->endpoint];
	struct card *c = m->c;

	program_name(&ep->rx_calls, c->whom, sizeof(c->whom));
	SET(c->head, "%s reads its datagrams too slowly", c->whom);
	where_spell(m, late, "unread", ep->rx.lifetime_ns);
	SET(c->why, "%s", no_room_phrase);
	take_fix(m);
}

static void card_late(const struct making *m)
{
	if (m->v->no_room) {
		card_no_room(m);
		return;
	}
	(m->v->late_answers ? card_of_late_answers : card_of_late_reader)(m);
}

static void card_starved(const struct making *m)
{
	const struct reader_spell *st = &m->v->starved;
	const struct trace_endpoint *ep = &m->s->ep[st->endpoint];
	struct card *c = m->c;

	program_name(starved_end(ep, st), c->who, sizeof(c->who));
	SET(c->whom, "a CPU");
	WAITS_FOR(c, "a CPU");
	where_spell(m, st, "no CPU", ep->rx.lifetime_ns);
	if (stopped_or_throttled(m->s, starved_end(ep, st), st->ns) == HALT_THROTTLED &&
	    why_halted(m, "it", starved_end(ep, st), st->ns))
		return;
	SET(c->why, st->count ? "after being woken, it waited for a CPU"
			      : "it was waiting for a CPU while others waited for it");
	take_fix(m);
}

static void card_loss(const struct making *m)
{
	const struct datagram_loss *l = &m->v->loss;
	const struct trace_endpoint *ep = &m->s->ep[l->endpoint];
	struct card *c = m->c;

	loss_party(ep, l, c->who, sizeof(c->who));
	SET(c->head,
	    l->kind == TRACE_DROP_QDISC ? "datagrams from %s are lost" : "datagrams to %s are lost",
	    c->who);
	endpoint_name(ep, c->where, sizeof(c->where));
	append_loss(l, c->why, sizeof(c->why));
	if (l->sent || l->over_ns)
		set_surety(c, INFERRED);
	take_fix(m);
}

static void card_scattered(const struct making *m)
{
	const struct scattered *sum = &m->v->scattered;
	struct card *c = m->c;

	SET(c->head, "many small stalls, or many short connections");
	SET(c->where, "all senders: %s of %s", human_time(sum->ns).text,
	    human_time(m->v->lifetime_ns).text);
	if (sum->cause_ns)
		SET(c->why, "%s: %.1f %% of it", trace_tx_names[sum->cause],
		    100.0 * (double)sum->cause_ns / (double)sum->ns);
	append_main_writer(m->s, sum, c->why, sizeof(c->why));
	take_fix(m);
}

/* ---- waits ---- */

static double busy_share(const struct trace_call_stats *sender, const struct trace_endpoint *ep)
{
	return sender ? sender_cpu_share(sender, ep) : 0;
}

static void append_share_of_cpu(struct card *c, double busy)
{
	if (busy >= BUSY)
		ADD(c->why, "; on its CPU %.0f %%", 100 * busy);
}

static void append_busy(const struct making *m, const struct trace_call_stats *sender,
			const struct trace_endpoint *ep)
{
	append_share_of_cpu(m->c, busy_share(sender, ep));
}

#define WORTH_A_WORD 0.01 /* of the longest part */

/* the shorter parts of a request: "; unread there 1.2 ms, on the way 3 ms each"; "... in all", if
 * one request took most of the time */
static void append_other_parts(const struct requests *r, char *buf, size_t len)
{
	static const char *const names[] = { "it thinks", "unread there", "on the way" };
	const uint64_t ns[] = { r->think_ns, r->unread_ns, r->way_ns };
	enum request_part most = longest_part(r);
	bool each = !longest_request(r);
	const char *before = "; ";

	for (int i = 0; i < 3; i++) {
		if (i == (int)most || (double)ns[i] < WORTH_A_WORD * (double)ns[most])
			continue;
		text_append(buf, len, "%s%s %s", before, names[i],
			    human_time((double)ns[i] / (each ? (double)r->n : 1)).text);
		before = ", ";
	}
	if (r->n > 1 && *before == ',')
		text_append(buf, len, each ? " each" : " in all");
}

/* "nginx[7] thinks 300 ms a request, 41 requests; unread there 1.2 ms, on the way 3 ms each" */
static void why_requests(const struct making *m, const struct requests *r,
			 const struct trace_call_stats *sender, const struct trace_endpoint *ep)
{
	SET(m->c->why, "%s ",
	    name_is_plural(m->c->who) && name_is_plural(m->c->whom) ? "they" : m->c->whom);
	append_requests(r, name_is_plural(m->c->whom), m->c->why, sizeof(m->c->why));
	if (!r->bounded && !r->unanswered && !r->pieces && !mostly_given_up(r))
		append_other_parts(r, m->c->why, sizeof(m->c->why));
	if (!r->unanswered)
		append_busy(m, sender, ep);
	set_surety(m->c, r->bounded || r->uneven ? INFERRED : SEEN_BOTH_ENDS);
}

static void why_queued_between(const struct making *m)
{
	append_queued(m->s, m->v, m->c->why, sizeof(m->c->why));
	set_fix(m->c, "let it forward more requests at once: more connections, a larger pool");
}

static uint64_t unread_while_it_waits(const struct making *m)
{
	return unread_meanwhile(m->s, (size_t)m->v->wait.endpoint, m->v->wait.ns);
}

/* "nginx[7] answered within 600 us, and sent nothing more until it closed" */
static void why_answered(const struct making *m, const struct trace_endpoint *ep)
{
	const struct trace_endpoint *other = ep->peer >= 0 ? &m->s->ep[ep->peer] : NULL;

	SET(m->c->why, "%s answered within %s, and %s nothing more%s", m->c->whom,
	    human_time(ep->rx_calls.reply_max_ns).text,
	    other && other->closed ? "sent" : "has sent",
	    other && other->closed ? " until it closed" : "");
}

/* How much later than this end the server's end began, if that is most of the wait; else 0. A Unix
 * server's end begins at accept(); with TCP_DEFER_ACCEPT a TCP server's end begins with the first
 * data, or once the time to wait for data is over. */
#define MOST_OF_IT 0.8

static uint64_t accepted_after(const struct making *m, const struct trace_endpoint *ep)
{
	const struct trace_endpoint *at = ep->peer >= 0 ? &m->s->ep[ep->peer] : NULL;
	uint64_t late;

	if (!at || at == ep || began(at) <= began(ep))
		return 0;
	late = began(at) - began(ep);
	return (double)late >= MOST_OF_IT * (double)m->v->wait.ns &&
			       2 * m->v->wait.max_ns >= m->v->wait.ns
		       ? late
		       : 0;
}

static const char defer_fix[] =
	"clear TCP_DEFER_ACCEPT: it delays accept() until the client sends, but here the server "
	"sends first";

/* "nothing was held back: python3[7] works, sleeps, or waits for another" */
static void why_silent(const struct making *m, const struct trace_call_stats *sender,
		       const struct trace_endpoint *ep)
{
	const char *whom = m->c->whom;

	if (was_answered_soon(ep, m->v->wait.ns)) {
		why_answered(m, ep);
		return;
	}
	if (accepted_after(m, ep)) {
		char after[32];

		human_ns((double)accepted_after(m, ep), after, sizeof(after));
		SET(m->c->why, "%s was given the connection %s after it was made", whom, after);
		set_fix(m->c, ep->proto == TRACE_TCP ? defer_fix : accept_fix);
		return;
	}
	SET(m->c->why, "nothing was held back: %s %s", whom, verb_of(whom, "works", "work"));
	if (!(busy_share(sender, ep) >= BUSY)) /* true also for NAN, unknown */
		ADD(m->c->why, ", %s, or %s for another", verb_of(whom, "sleeps", "sleep"),
		    verb_of(whom, "waits", "wait"));
}

/* "python3[7] sent 20 times, every 103 ms on average" */
static void why_nothing_comes(const struct making *m, const struct trace_call_stats *sender,
			      const struct trace_endpoint *ep)
{
	const struct trace_call_stats *sent = ep->proto == TRACE_PIPE ? &ep->tx_calls : sender;
	uint64_t unread = unread_while_it_waits(m);
	char each[32];

	if (unread) {
		human_ns((double)unread, each, sizeof(each));
		SET(m->c->why, "%s %s unread data for %s of that time", m->c->whom,
		    verb_of(m->c->whom, "has", "have"), each);
		set_surety(m->c, SEEN_BOTH_ENDS);
		return;
	}
	why_silent(m, sender, ep);
	if (trace_messages_known(sent) && sent->messages > 1) {
		human_ns((double)ep->rx.lifetime_ns / (double)sent->messages, each, sizeof(each));
		SET(m->c->why,
		    "nothing was held back: %s sent %" PRIu64 " times, every %s on average",
		    m->c->whom, sent->messages, each);
		append_longest(m->v->wait.max_ns, m->v->wait.ns, sent->messages, m->c->why,
			       sizeof(m->c->why));
	}
	append_busy(m, sender, ep);
}

static void why_held_end(const struct making *m, const struct trace_call_stats *gone)
{
	SET(m->c->why, "%.16s[%d] has %s, and %s still holds the descriptor", gone->comm,
	    gone->tgid, gone->let_go ? "closed its end" : "ended",
	    *m->c->whom ? m->c->whom : "somebody");
}

/* A UDP socket's send calls name its destination, and samples see no calls. */
static bool is_destination_unknown(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_UDP && !ep->remote.port &&
	       ep->rx.resolution[RX_WAIT] == TRACE_BY_SAMPLES;
}

static void why_under_way(const struct making *m)
{
	SET(m->c->why, "%s had sent a request before tracing began, and nothing has come since",
	    m->c->who);
	set_surety(m->c, SUSPECTED);
}

static void why_sender_halted(const struct making *m, const struct trace_call_stats *sender)
{
	char name[48];

	program_name(sender, name, sizeof(name));
	why_halted(m, name, sender, longest_of(&m->v->wait));
}

/* Whether a server gets its request in pieces: it has received far more often than it answered. */
static bool is_fed(const struct making *m, const struct trace_endpoint *ep)
{
	return is_servers_end(m->s, (size_t)m->v->wait.endpoint) &&
	       trace_messages_known(&ep->rx_calls) &&
	       ep->rx_calls.messages > PIECES * ep->tx_calls.messages;
}

static bool is_kept(const struct making *m)
{
	return m->v->wait.endpoint >= 0 && kept_input(m->s, (size_t)m->v->wait.endpoint) >= 0;
}

static void why_kept(const struct making *m)
{
	const struct trace_endpoint *in =
		&m->s->ep[kept_input(m->s, (size_t)m->v->wait.endpoint)];
	char name[48], from[48], waited[32];

	program_name(&in->rx_calls, name, sizeof(name));
	program_name(&in->tx_calls, from, sizeof(from));
	human_ns((double)in->rx.ns[RX_WAIT], waited, sizeof(waited));
	SET(m->c->why,
	    "%s read %" PRIu64 " times meanwhile and wrote nothing: its output is in its own "
	    "buffer, or it needs all of its input first; it waited for %s for %s",
	    name, in->rx_calls.messages, from, waited);
	set_fix(m->c, "make it write each line at once: stdbuf -oL, grep --line-buffered, "
		      "python -u, fflush()");
	set_surety(m->c, INFERRED);
}

/* "redis-server[7] had nothing to answer until redis-cli[9] sent it something" */
static void why_brought(const struct making *m)
{
	char other[PARTY_TEXT];

	peer_name(m->s, &m->s->ep[m->v->brought_by], other, sizeof(other));
	SET(m->c->why, "%s had nothing to answer until %s sent it something", m->c->whom, other);
	set_surety(m->c, INFERRED);
}

/* Whether most of a sampled wait was flight, at either end. Samples count no answers. An unseen end
 * may have withheld its ACK until it answered, but not for long. */
static bool is_seen_on_its_way(const struct making *m, const struct trace_endpoint *ep)
{
	const struct trace_endpoint *at = ep->peer >= 0 ? &m->s->ep[ep->peer] : NULL;
	uint64_t flight = ep->tx.ns[TX_FLIGHT] + (at ? at->tx.ns[TX_FLIGHT] : 0);

	return m->s->samples && (at ? is_far(ep) : ep->min_rtt_us >= WITHHELD_MOST_US) &&
	       (double)flight >= MOST_OF_IT * (double)m->v->wait.ns;
}

/* The listener that has not accepted ep's connection; NULL: accepted, or not known. */
static const struct trace_listener *who_does_not_accept(const struct making *m,
							const struct trace_endpoint *ep)
{
	const struct trace_endpoint *at = ep->peer >= 0 ? &m->s->ep[ep->peer] : NULL;

	return at && at != ep && !at->rx_calls.tgid && !at->tx_calls.tgid ? listener_of(m->s, at)
									  : NULL;
}

/* What came may answer a request that was sent before tracing began. */
#define FEW_PIECES 8

static bool may_be_answered_late(const struct trace_endpoint *ep)
{
	return ep->joined_late && trace_messages_known(&ep->rx_calls) && ep->rx_calls.messages &&
	       ep->rx_calls.messages <= FEW_PIECES;
}

/* Says that the waiter asked for nothing, if no request was seen. */
static void append_unasked(const struct making *m, const struct trace_endpoint *ep)
{
	bool known = ep->proto == TRACE_TCP || trace_messages_known(&ep->tx_calls);

	if (ep->proto != TRACE_PIPE && known && !m->v->chain.n &&
	    !has_asked(m->s, (size_t)(ep - m->s->ep)) && !accepted_after(m, ep) &&
	    !who_does_not_accept(m, ep) && !unread_while_it_waits(m) &&
	    !may_be_answered_late(ep))
		ADD(m->c->why,
		    sent_last_before(m->s, (size_t)(ep - m->s->ep))
			    ? "; %s had sent the last data before tracing began"
			    : "; %s asked for nothing meanwhile",
		    m->c->who);
	if (ep->proto == TRACE_TCP && ep->peer < 0 && ep->making.other_receives)
		ADD(m->c->why, "; %s waits for data there too: neither sends", m->c->whom);
}

/* A download: many pieces come without a request, and the longest pause is no exception. */
#define MANY_PAUSES 50
#define EVEN_PAUSES 10 /* the longest, as a multiple of the average */

static bool comes_evenly(const struct trace_endpoint *ep)
{
	uint64_t n = ep->rx.count[RX_WAIT];

	return n >= MANY_PAUSES && ep->rx.max[RX_WAIT] <= EVEN_PAUSES * (ep->rx.ns[RX_WAIT] / n) &&
	       trace_messages_known(&ep->tx_calls) && trace_messages_known(&ep->rx_calls) &&
	       ep->rx_calls.messages >= MANY_PAUSES * (ep->tx_calls.messages + 1);
}

#define MUCH_CAME 65536

static void why_unseen(const struct making *m, const struct trace_endpoint *ep)
{
	uint64_t n = trace_messages_known(&ep->rx_calls) ? ep->rx_calls.messages : 0;
	char rate[24];

	if (ep->proto != TRACE_TCP || !comes_evenly(ep)) {
		SET(m->c->why, "nothing was held back here; ");
		if (n > 1)
			ADD(m->c->why, "data came %" PRIu64 " times in %s; ", n,
			    human_time(ep->rx.lifetime_ns).text);
		rate_text(rate_of_receiving(ep), "B", rate, sizeof(rate));
		if (!n && ep->rx_calls.bytes >= MUCH_CAME)
			ADD(m->c->why, "%s came; ", rate);
		ADD(m->c->why, "the other end was not traced");
		append_unasked(m, ep);
		return;
	}
	rate_text(rate_of_receiving(ep), "B", rate, sizeof(rate));
	SET(m->c->why,
	    "%s come evenly: the path or the sender limits them; only the other end can tell which",
	    rate);
}

static void why_no_request(const struct making *m, const struct trace_endpoint *ep,
			   const struct trace_call_stats *sender)
{
	if (sender) {
		why_nothing_comes(m, sender, ep);
		append_unasked(m, ep);
	} else if (ep->making.own_writer) {
		SET(m->c->why,
		    "%s itself holds the only open write end, so neither data nor EOF can come",
		    m->c->who);
		set_fix(m->c, "close the write end that is not needed: after fork(), or by "
			      "O_CLOEXEC and exec()");
		set_surety(m->c, INFERRED);
	} else if (ep->proto == TRACE_PIPE) {
		SET(m->c->why, "nothing was held back here; no process that holds the other end "
			       "was seen to write");
	} else {
		why_unseen(m, ep);
	}
}

static void why_own_window(const struct making *m, const struct trace_endpoint *ep)
{
	char window[24], rate[24];

	rate_text(ep->path.receive_window, "B", window, sizeof(window));
	window[strcspn(window, "/")] = '\0';
	rate_text(rate_of_receiving(ep), "B", rate, sizeof(rate));
	SET(m->c->why,
	    "its own receive window of %s lets in no more than that in each round trip of %s: %s "
	    "arrive",
	    window, human_time(1e3 * ep->min_rtt_us).text, rate);
	set_fix(m->c, "raise SO_RCVBUF, or do not set it; net.ipv4.tcp_rmem limits what the kernel "
		      "chooses by itself");
}

/* When sock_diag was asked, the connection was in a listener's queue. */
static bool is_unaccepted(const struct trace_endpoint *ep)
{
	return ep->peer < 0 && ep->making.other_unaccepted;
}

/* Accepting takes no time, as a rule: at one instant, hardly any connection is in a queue. */
static bool are_mostly_unaccepted(const struct waits_together *w)
{
	return w->connections > 1 && w->unaccepted && 2 * w->unaccepted >= w->open;
}

static bool waits_in_queue(const struct making *m, const struct trace_endpoint *ep)
{
	return is_unaccepted(ep) || are_mostly_unaccepted(&m->v->waits);
}

static void why_unaccepted(const struct making *m, const struct trace_endpoint *ep)
{
	const struct waits_together *w = &m->v->waits;

	if (is_unaccepted(ep))
		SET(m->c->why, "the connection lies in a listener's queue: %s %s not accepted it",
		    m->c->whom, verb_of(m->c->whom, "has", "have"));
	else
		SET(m->c->why,
		    "of %zu open connections %zu %s in a listener's queue: %s %s not accepted %s",
		    w->open, w->unaccepted, w->unaccepted == 1 ? "lies" : "lie", m->c->whom,
		    verb_of(m->c->whom, "has", "have"), w->unaccepted == 1 ? "it" : "them");
}

/* ---- data that waits for a segment before it ---- */

#define OF_THE_WAIT 0.1

static void append_missing(const struct making *m, const struct trace_endpoint *ep)
{
	if (ep->proto != TRACE_TCP || !ep->hole.ns ||
	    (double)ep->hole.ns < OF_THE_WAIT * (double)m->v->wait.ns)
		return;
	ADD(m->c->why,
	    "%sfor %s, %" PRIu64 " time%s, a segment was missing while later ones had come",
	    *m->c->why ? "; " : "", human_time(ep->hole.ns).text, ep->hole.n, plural(ep->hole.n));
}

static void why_queue_on_path(const struct making *m, const struct trace_endpoint *ep)
{
	SET(m->c->why,
	    "a round trip takes %s, and took %s at its shortest: it is spent in a queue on "
	    "the way, which other traffic may fill",
	    human_time(1000ull * ep->rtt_us).text, human_time(1000ull * ep->min_rtt_us).text);
	set_surety(m->c, INFERRED);
}

/* The `why` line of a wait. */
static void why_wait(const struct making *m, const struct trace_endpoint *ep,
		     const struct trace_call_stats *sender)
{
	struct round_trips r = wait_on_path(ep, m->v->wait.ns);
	char each[32];

	human_ns((double)r.each_ns, each, sizeof(each));
	if (is_held_by_own_window(ep))
		why_own_window(m, ep);
	else if (waits_in_queue_on_path(ep, &m->v->wait))
		why_queue_on_path(m, ep);
	else if (r.n)
		SET(m->c->why, "its path takes %s for each of %" PRIu64 " answers", each, r.n);
	else if (is_seen_on_its_way(m, ep))
		SET(m->c->why, "a round trip takes %s, and data was in flight for most of the wait",
		    each);
	else if (sender && who_left(sender, ep, m->v->wait.ns))
		why_held_end(m, sender);
	else if (stopped_or_throttled(m->s, sender, longest_of(&m->v->wait)))
		why_sender_halted(m, sender);
	else if (waits_in_queue(m, ep))
		why_unaccepted(m, ep);
	else if (asked_before(m->s, (size_t)m->v->wait.endpoint))
		why_under_way(m);
	else if (m->v->brought_by >= 0)
		why_brought(m);
	else if (has_requests(&m->v->waits.requests) && !is_fed(m, ep))
		why_requests(m, &m->v->waits.requests, sender, ep);
	else if (is_token_pipe(ep))
		SET(m->c->why, "several processes read this pipe and write back to it; one of the "
			       "others still holds what it took");
	else if (is_kept(m))
		why_kept(m);
	else if (is_destination_unknown(ep) && !sender)
		SET(m->c->why,
		    "it has sent, and waits to receive; samples do not see where its datagrams go");
	else
		why_no_request(m, ep, sender);
	append_missing(m, ep);
}

static void next_wait(const struct making *m, const struct trace_endpoint *ep, pid_t sender)
{
	char *buf = m->c->next;
	size_t len = sizeof(m->c->next);

	if (ep->making.own_writer)
		return;
	if (is_kept(m) && sender) {
		snprintf(buf, len,
			 "see whether it writes: sudo strace -f -e trace=write,writev,sendto -p "
			 "%d",
			 sender);
		return;
	}
	if (doing_of(m->v->doing) == DOING_SLEEPS && m->v->doing->n_chain) {
		doing_next(m->v->doing, buf, len);
		return;
	}
	if (!sender)
		sender = ep->making.other_pid;
	if (sender)
		snprintf(buf, len, "see what it does: sudo ipcstall attach -p %d -d 10s",
			 sender);
	else if (is_destination_unknown(ep))
		snprintf(buf, len, "see where it sends: sudo ipcstall attach --exact -a -d 10s");
	else if (ep->remote.port)
		snprintf(buf, len, "there: sudo ipcstall attach -a -P %u -d 10s", ep->remote.port);
	else
		snprintf(buf, len, "trace every program: sudo ipcstall attach -a -d 10s");
}

static void where_wait(const struct making *m)
{
	const struct waits_together *w = &m->v->first_waits;
	int first = m->v->chain.n ? m->v->chain.by[0] : m->v->wait.endpoint;

	where(m->c, &m->s->ep[first],
	      &(struct spent){ .connections = w->connections,
			       .ns = w->ns,
			       .lifetime_ns = w->lifetime_ns,
			       .estimated = w->estimated });
}

/* Whether the wait is for accept(): the connection is not accepted, or most of the data sent on it
 * lay in the listener's queue. */
static bool waits_for_accept(const struct making *m, const struct trace_endpoint *ep)
{
	const struct trace_endpoint *at = ep->peer >= 0 ? &m->s->ep[ep->peer] : NULL;

	if (is_unaccepted(ep))
		return true;
	if (who_does_not_accept(m, ep))
		return true;
	return at && at != ep && at->making.accept_unread_ns &&
	       lay_in_queue(at, at->rx.ns[RX_UNREAD]);
}

static const char *what_is_awaited(const struct making *m, const struct trace_endpoint *ep)
{
	const struct requests *r = &m->v->waits.requests;

	if (waits_in_queue(m, ep))
		return "accept the connection";
	if (has_requests(r) ? !r->uneven && longest_part(r) == REQUEST_UNREAD
			    : unread_while_it_waits(m) > 0)
		return waits_for_accept(m, ep) ? "accept the connection" : "read";
	if (has_requests(r) && r->pieces && longest_part(r) == REQUEST_THINK)
		return "send";
	if (!has_requests(r) && was_answered_soon(ep, m->v->wait.ns))
		return "send more, or to close";
	if (!has_requests(r) && accepted_after(m, ep))
		return "accept the connection";
	return ep->proto != TRACE_PIPE && !is_fed(m, ep) &&
			       (ep->tx_calls.bytes || is_destination_unknown(ep) ||
				asked_before(m->s, (size_t)m->v->wait.endpoint))
		       ? "answer"
		       : "send";
}

#define NAMED_BETWEEN 2 /* if there are more, only the last is named */

/* "webd[2] and jobd[3]": the programs between the first waiter and the one that does not send */
static void names_between(const struct making *m, char *buf, size_t len)
{
	const struct wait_chain *chain = &m->v->chain;
	char name[PARTY_TEXT];

	*buf = '\0';
	for (size_t i = 1; i < chain->n && chain->n <= NAMED_BETWEEN; i++) {
		program_name(&m->s->ep[chain->by[i]].rx_calls, name, sizeof(name));
		text_append(buf, len, "%s and ", name);
	}
	if (chain->n > NAMED_BETWEEN)
		text_append(buf, len, "%zu others and ", chain->n - 1);
	program_name(&m->s->ep[m->v->wait.endpoint].rx_calls, name, sizeof(name));
	text_append(buf, len, "%s", name);
}

/* Names the first waiter of a chain, which is the one that the user came for. The `why` line is
 * about the chain's end. */
static void head_of_chain(const struct making *m)
{
	char between[3 * PARTY_TEXT];
	struct card *c = m->c;
	const char *others = strstr(c->whom, OTHERS); /* cut off here; `why` has it */
	int len = others ? (int)(others - c->whom) : (int)strlen(c->whom);

	names_between(m, between, sizeof(between));
	program_name(&m->s->ep[m->v->chain.by[0]].rx_calls, c->who, sizeof(c->who));
	WAITS_FOR(c, "%.*s, through %s", len, c->whom, between);
}

static bool mostly_unread(const struct making *m)
{
	const struct requests *r = &m->v->waits.requests;

	return has_requests(r) && longest_part(r) == REQUEST_UNREAD;
}

/* Whether requests lie unread while the server is busy with other clients. */
static bool is_behind_others(const struct making *m, const struct trace_endpoint *ep)
{
	return mostly_unread(m) && ep->peer >= 0 &&
	       other_clients_meanwhile(m->s, (size_t)ep->peer, m->s->ep[ep->peer].rx.ns[RX_UNREAD])
		       .n;
}

/* Whether the waiter asks again and again, and most of each wait is a round trip. */
static bool waits_for_path(const struct making *m, const struct trace_endpoint *ep)
{
	const struct requests *r = &m->v->waits.requests;

	if (m->v->chain.n || ep->proto != TRACE_TCP)
		return false;
	if (waits_in_queue_on_path(ep, &m->v->wait))
		return true;
	if (!is_far(ep))
		return false;
	return wait_on_path(ep, m->v->wait.ns).n || is_seen_on_its_way(m, ep) ||
	       (has_requests(r) && !r->unanswered && !mostly_given_up(r) &&
		longest_part(r) == REQUEST_WAY);
}

static void fix_wait(const struct making *m, const struct trace_endpoint *ep)
{
	if (waits_in_queue_on_path(ep, &m->v->wait)) {
		set_fix(m->c,
			"find the transfer that fills the queue, and limit its rate, or give the "
			"link a queue that is fair or short (fq_codel, cake)");
		return;
	}
	if (waits_for_path(m, ep)) {
		set_fix(m->c, "send the next request before the answer (a pipeline, a batch), or "
			      "ask for more at once: each costs a round trip");
		return;
	}
	if (is_behind_others(m, ep))
		set_fix(m->c, serve_more_fix);
	else if (mostly_unread(m) && waits_for_accept(m, ep))
		set_fix(m->c, accept_fix);
	else if (m->v->queued_ns)
		why_queued_between(m);
}

static void head_of_wait(const struct making *m, const struct trace_endpoint *ep)
{
	struct card *c = m->c;

	if (waits_for_path(m, ep))
		WAITS_FOR(c, "the path to %s", c->whom);
	else
		WAITS_FOR(c, "%s to %s", c->whom, what_is_awaited(m, ep));
}

/* Whether neither the path, a closed end, a stop nor computing explains the wait. */
static bool awaits_its_doing(const struct making *m, const struct trace_endpoint *ep,
			     const struct trace_call_stats *sender)
{
	return !waits_for_path(m, ep) &&
	       !(sender && who_left(sender, ep, m->v->wait.ns)) &&
	       !stopped_or_throttled(m->s, sender, longest_of(&m->v->wait)) &&
	       !(busy_share(sender, ep) >= BUSY);
}

/* Names both parties of a wait, and returns the one that does not send. */
static struct who parties_of_wait(const struct making *m, const struct trace_endpoint *ep)
{
	struct who silent = who_does_not_send(m->s, ep, m->v->wait.ns),
		   waiter = who_was_last(who_waits(ep));
	struct card *c = m->c;

	if (!silent.tgid && who_does_not_accept(m, ep))
		silent = (struct who){ .tgid = who_does_not_accept(m, ep)->tgid,
				       .comm = who_does_not_accept(m, ep)->comm };
	silent.others |= m->v->waits.others_awaited;
	waiter.others |= m->v->waits.others_wait;
	who_name(&waiter, c->who, sizeof(c->who));
	if (silent.tgid && m->v->chain.n) /* it is no thread of the chain's first waiter */
		who_name(&silent, c->whom, sizeof(c->whom));
	else if (silent.tgid)
		awaited_name(&silent, &waiter, c->whom, sizeof(c->whom));
	else
		address_of_peer(ep, c->whom, sizeof(c->whom));
	return silent;
}

static struct who head_of_held_end(const struct making *m, const struct trace_call_stats *sender)
{
	struct who owner = who_owns_fd(sender);
	struct card *c = m->c;

	owner.left = NULL; /* that is said in `why` */
	owner.others = m->v->waits.others_awaited;
	*c->whom = '\0';
	if (owner.tgid)
		who_name(&owner, c->whom, sizeof(c->whom));
	WAITS_FOR(c, "more data or EOF");
	return owner;
}

static void head_of_token(const struct making *m, const struct trace_endpoint *ep)
{
	struct card *c = m->c;

	SET(c->whom, "another process");
	SET(c->who, "%.16s[%d]", ep->rx_calls.comm, ep->rx_calls.tgid);
	SET(c->head, "%s waits for a token that %s took from a pipe", c->who, c->whom);
}

static void head_of_own_window(const struct making *m)
{
	struct card *c = m->c;

	SET(c->whom, "its own receive window");
	WAITS_FOR(c, "%s", name_is_plural(c->who) ? "their own receive windows" : c->whom);
}

/* The head for a pipe that no other process can write to. */
static void head_of_own_end(const struct making *m)
{
	SET(m->c->whom, "itself");
	WAITS_FOR(m->c, "data that only it can send");
}

static void card_wait(const struct making *m)
{
	const struct trace_endpoint *ep = &m->s->ep[m->v->wait.endpoint];
	const struct trace_call_stats *sender = who_sends(m->s, ep);
	struct who silent = parties_of_wait(m, ep);

	if (sender && who_left(sender, ep, m->v->wait.ns))
		silent = head_of_held_end(m, sender);
	else if (is_token_pipe(ep))
		head_of_token(m, ep);
	else if (!sender && ep->making.own_writer)
		head_of_own_end(m);
	else if (m->v->chain.n)
		head_of_chain(m);
	else
		head_of_wait(m, ep);
	if (is_held_by_own_window(ep))
		head_of_own_window(m);
	where_wait(m);
	why_wait(m, ep, sender);
	if (is_held_by_own_window(ep)) {
		set_surety(m->c, INFERRED);
		return;
	}
	if (!is_kept(m) && awaits_its_doing(m, ep, sender)) {
		append_doing(m);
		fix_doing(m, false);
	}
	fix_wait(m, ep);
	if (m->v->waits.estimated)
		set_surety(m->c, INFERRED);
	if (!waits_for_path(m, ep))
		next_wait(m, ep, silent.tgid);
}

static void card_mutual(const struct making *m)
{
	const struct trace_endpoint *ep = &m->s->ep[m->v->wait.endpoint],
				    *other = &m->s->ep[m->v->mutual.endpoint];
	struct who awaited = who_was_last(&other->rx_calls),
		   waiter = who_was_last(&ep->rx_calls);
	bool threads = awaited.tgid == waiter.tgid && !awaited.others;
	struct card *c = m->c;

	program_name(&ep->rx_calls, c->who, sizeof(c->who));
	awaited_name(&awaited, &waiter, c->whom, sizeof(c->whom));
	if (m->v->mutual.circle)
		SET(c->head, "%zu wait in a circle, %s for %s", m->v->mutual.circle, c->who,
		    c->whom);
	else
		SET(c->head,
		    threads ? "two threads of %s wait for each other"
			    : "%s and %s wait for each other",
		    c->who, c->whom);
	where_wait(m);
	SET(c->why, "%s", mutual_phrase(&m->v->mutual));
	set_surety(c, SEEN_BOTH_ENDS);
	take_fix(m);
}

/* If the program waits in no call, the time of its wait is unknown. */
static void where_unanswered(struct card *c, const struct trace_endpoint *ep,
			     const struct unanswered *u)
{
	if (u->ns)
		where(c, ep,
		      &(struct spent){ .connections = u->sockets,
				       .ns = u->ns,
				       .lifetime_ns = u->ns > ep->rx.lifetime_ns
							      ? u->ns
							      : ep->rx.lifetime_ns });
	else
		endpoint_short_name(ep, c->where, sizeof(c->where));
}

static void whom_it_asked(const struct making *m, const struct trace_endpoint *ep, int server,
			  char *buf, size_t len)
{
	if (server >= 0)
		program_name(&m->s->ep[server].rx_calls, buf, len);
	else
		address_of_peer(ep, buf, len);
}

/* "dig[7] waits for 192.0.2.1:53, through dnsmasq[8]" */
static void head_unanswered_chain(const struct making *m, const struct unanswered *u)
{
	const struct trace_endpoint *last = &m->s->ep[u->passed_on];
	struct card *c = m->c;
	char between[sizeof(c->whom)];

	SET(between, "%s", c->whom);
	whom_it_asked(m, last, bound_where_it_sends(m->s, last), c->whom, sizeof(c->whom));
	WAITS_FOR(c, "%s, through %s", c->whom, between);
}

static void card_unanswered(const struct making *m)
{
	const struct unanswered *u = &m->v->unanswered;
	const struct trace_endpoint *ep = &m->s->ep[u->endpoint];
	struct card *c = m->c;

	program_name(&ep->tx_calls, c->who, sizeof(c->who));
	whom_it_asked(m, ep, u->server, c->whom, sizeof(c->whom));
	if (u->passed_on >= 0)
		head_unanswered_chain(m, u);
	else
		WAITS_FOR(c, "%s to answer", c->whom);
	where_unanswered(c, ep, u);
	if (u->answered)
		SET(c->why,
		    "%" PRIu64 " of %" PRIu64 " datagrams got no answer, and it waited for each",
		    u->n, u->n + u->answered);
	else if (u->others_answered && !u->refused)
		SET(c->why,
		    "%" PRIu64 " datagram%s went out, and nothing came back; %" PRIu64
		    " other socket%s of the program had an answer",
		    u->n, plural(u->n), u->others_answered, plural(u->others_answered));
	else
		SET(c->why, "%" PRIu64 " datagram%s went out, and %s", u->n, plural(u->n),
		    u->refused ? "no program listens there: ICMP port unreachable"
			       : "nothing came back");
	take_fix(m);
}

static void where_connects(struct card *c, const struct trace_endpoint *ep,
			   const struct slow_connect *x)
{
	static const char *const states[] = { [REJECTED_NOT] = "connect",
					      [REJECTED_REFUSED] = "refused",
					      [REJECTED_RESET] = "reset" };

	if (!x->ns) { /* it did not try again */
		endpoint_short_name(ep, c->where, sizeof(c->where));
		return;
	}
	where(c, ep,
	      &(struct spent){ .state = states[x->rejected],
			       .connections = x->n,
			       .ns = x->ns,
			       .lifetime_ns = x->lifetime_ns,
			       .count = x->n,
			       .max_ns = x->max_ns });
}

static void card_connect(const struct making *m)
{
	const struct slow_connect *x = &m->v->connect;
	const struct trace_endpoint *ep = &m->s->ep[x->endpoint];
	char each[32];
	struct card *c = m->c;

	program_name(program_at(ep), c->who, sizeof(c->who));
	address_of_peer(ep, c->whom, sizeof(c->whom));
	where_connects(c, ep, x);
	take_fix(m);
	if (x->rejected == REJECTED_RESET) {
		peer_name(m->s, ep, c->whom, sizeof(c->whom));
		SET(c->head, "%s is reset by %s, and tries again", c->who, c->whom);
		SET(c->why, "%" PRIu64 " connections were reset before any answer came", x->n);
		return;
	}
	if (x->rejected == REJECTED_REFUSED) {
		WAITS_FOR(c, "a program to listen on %s", c->whom);
		SET(c->why, "connect() was refused %" PRIu64 " time%s: no program listened there",
		    x->n, plural(x->n));
		return;
	}
	WAITS_FOR(c, "connections to %s", c->whom);
	human_ns((double)x->ns / (double)x->n, each, sizeof(each));
	SET(c->why,
	    "each handshake takes %s and no SYN was retransmitted: the path has a long round trip",
	    each);
	set_surety(c, INFERRED);
}

static double busy_answering(const struct slow_answers *a, const struct trace_endpoint *ep)
{
	return fmax((double)a->cpu_ns / (double)a->ns, busy_share(program_at(ep), ep));
}

/* The server waits at no connection, so it computes or sleeps. */
static void next_answers(const struct making *m, const struct trace_endpoint *ep)
{
	const struct trace_call_stats *b = program_at(ep);

	if (busy_answering(&m->v->answers, ep) >= BUSY)
		SET(m->c->next, "see where it computes: sudo perf top -p %d", b->tgid);
	else if (doing_of(m->v->doing) != DOING_UNKNOWN)
		doing_next(m->v->doing, m->c->next, sizeof(m->c->next));
	else
		SET(m->c->next, "a lock, a disk or a timer may hold it: sudo strace -f -p %d",
		    b->tgid);
}

/* Says that the server was stopped, throttled or without a CPU; false: it could run. */
static bool why_it_could_not_run(const struct making *m, const struct trace_call_stats *b,
				 uint64_t ns)
{
	struct card *c = m->c;

	if (why_halted(m, c->whom, b, ns))
		return true;
	if (b->no_cpu_res == TRACE_UNKNOWN || 2 * b->no_cpu_ns < ns)
		return false;
	SET(c->why, "%s %s waiting for a CPU for %s of that time", c->whom,
	    verb_of(c->whom, "was", "were"),
	    human_time(fmin((double)b->no_cpu_ns, (double)ns)).text);
	set_fix(c, starved_fix);
	return true;
}

/* The server passes each request on, and waits for another server. */
static void answers_behind(const struct making *m, const struct slow_answers *a)
{
	const struct trace_endpoint *behind = &m->s->ep[a->behind];
	const struct trace_call_stats *sender = who_sends(m->s, behind);
	const struct requests *r = &a->requests;
	struct card *c = m->c;
	char between[sizeof(c->whom)], each[32];

	SET(between, "%s", c->whom);
	peer_name(m->s, behind, c->whom, sizeof(c->whom));
	SET(c->head, "%s %s for %s, through %s", c->who, a->connections > 1 ? "wait" : "waits",
	    c->whom, between);
	human_ns((double)r->think_ns / (double)r->n, each, sizeof(each));
	SET(c->why, "%s answers after %s, and waits as long and as often for ", between, each);
	ADD(c->why, "%s", c->whom);
	append_doing(m);
	set_surety(c, INFERRED);
	next_wait(m, behind, sender ? sender->tgid : 0);
}

static void why_samples(const struct making *m, const struct slow_answers *a)
{
	SET(m->c->why,
	    "a request takes %s or more on average: %.0f %% of the samples found one that had no "
	    "answer yet",
	    human_time((double)a->ns / (double)a->requests_most).text, 100 * m->v->share);
}

static void card_answers(const struct making *m)
{
	const struct slow_answers *a = &m->v->answers;
	const struct trace_endpoint *ep = &m->s->ep[a->endpoint];
	struct who server = who_was_last(program_at(ep));
	struct card *c = m->c;

	if (a->connections > 1 && a->closed)
		SET(c->who, "clients");
	else if (a->connections > 1)
		SET(c->who, "%zu clients", a->connections);
	else
		address_of_peer(ep, c->who, sizeof(c->who));
	someone(&server, a->several, c->whom, sizeof(c->whom));
	SET(c->head, "%s %s for %s to answer", c->who, a->connections > 1 ? "wait" : "waits",
	    c->whom);
	where(c, ep,
	      &(struct spent){ .connections = a->connections,
			       .ns = a->ns,
			       .lifetime_ns = a->lifetime_ns,
			       .goes_on = a->goes_on });
	if (a->behind >= 0) {
		answers_behind(m, a);
		return;
	}
	if (why_it_could_not_run(m, program_at(ep), a->ns))
		return;
	if (has_requests(&a->requests))
		why_requests(m, &a->requests, program_at(ep), ep);
	else if (a->suspected && ep->making.other_receives)
		SET(c->why, "%s %s sent nothing, while %s %s in a call to receive", c->whom,
		    verb_of(c->whom, "has", "have"), c->who, a->connections > 1 ? "wait" : "waits");
	else if (a->suspected)
		SET(c->why, "%s has sent nothing since the last request came", c->whom);
	else
		why_samples(m, a);
	fix_doing(m, false);
	if (busy_answering(a, ep) < BUSY)
		append_doing(m);
	else if (busy_share(program_at(ep), ep) < BUSY)
		append_share_of_cpu(c, busy_answering(a, ep));
	set_surety(c, a->suspected ? SUSPECTED : INFERRED);
	next_answers(m, ep);
}

/* ---- no finding ---- */

/* Samples miss refused sends, which do not sleep, and single messages, which leave no trace. */
static void what_samples_do_not_see(const struct making *m)
{
	size_t unsampled = count_unsampled(m->s);
	struct card *c = m->c;

	if (unsampled)
		SET(c->why, "%zu of them ended before they were sampled", unsampled);
	SET(c->next, "samples miss refused sends and single messages; --exact sees them");
}

static void card_of_busy_sender(const struct making *m)
{
	const struct busy_sender *busy = &m->v->busy_sender;
	const struct trace_endpoint *ep = &m->s->ep[busy->endpoint];
	struct card *c = m->c;

	program_name(who_sends(m->s, ep), c->who, sizeof(c->who));
	program_name(&ep->rx_calls, c->whom, sizeof(c->whom));
	SET(c->head, "%s to %s, limited by: %s", c->who, c->whom, limit_phrase(LIMIT_WRITER_CPU));
	where(c, ep,
	      &(struct spent){ .state = "wait",
			       .ns = ep->rx.ns[RX_WAIT],
			       .lifetime_ns = ep->rx.lifetime_ns });
	append_busy_sender(m->s, m->v, c->why, sizeof(c->why));
	set_surety(c, SEEN_BOTH_ENDS);
}

/* Says what the only traced process waits for that is neither a socket nor a pipe. */
static void append_own_sleep(const struct making *m)
{
	const struct asleep *a = m->v->doing;
	char text[DOING_TEXT];

	if (doing_phrase(a, text, sizeof(text)))
		ADD(m->c->why, "%s%s[%d] itself %s", *m->c->why ? "; " : "", a->comm, (int)a->pid,
		    text);
}

/* ---- a download, of which only the reader was traced ---- */

#define ONE_WAY	    10	/* times as much as it sends */
#define LITTLE_LEFT 0.1 /* of its time */

static bool is_download(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_TCP && ep->peer < 0 && ep->rx_calls.tgid &&
	       !ep->making.accepted && ep->local.port >= TRACE_EPHEMERAL_PORT &&
	       ep->rx_calls.bytes >= MUCH_CAME &&
	       ep->rx_calls.bytes >= ONE_WAY * ep->tx_calls.bytes &&
	       ep->rx.resolution[RX_UNREAD] != TRACE_UNKNOWN &&
	       (double)ep->rx.ns[RX_UNREAD] < LITTLE_LEFT * (double)ep->rx.lifetime_ns;
}

/* "rclone[7] got 227 kB/s from 192.0.2.1:80, and left hardly any of it unread" */
static void append_download(const struct making *m)
{
	const struct trace_endpoint *ep = NULL;
	char name[PARTY_TEXT], from[64], rate[24];

	for (size_t i = 0; i < m->s->n; i++)
		if (is_download(&m->s->ep[i]) &&
		    (!ep || m->s->ep[i].rx_calls.bytes > ep->rx_calls.bytes))
			ep = &m->s->ep[i];
	if (!ep)
		return;
	program_name(&ep->rx_calls, name, sizeof(name));
	address_of_peer(ep, from, sizeof(from));
	rate_text(rate_of_receiving(ep), "B", rate, sizeof(rate));
	ADD(m->c->why, "%s%s got %s from %s, and left hardly any of it unread",
	    *m->c->why ? "; " : "", name, rate, from);
}

static void card_quiet(const struct making *m)
{
	struct card *c = m->c;

	if (m->v->busy_sender.endpoint >= 0) {
		card_of_busy_sender(m);
		return;
	}
	SET(c->head, "%zu connection%s, nothing waits needlessly", m->v->n_active,
	    plural(m->v->n_active));
	if (m->v->lifetime_ns)
		SET(c->where, "stalls add up to %s, %.2f %% of the senders' time",
		    human_time(m->v->stall_ns).text, 100 * m->v->share);
	append_busy_reader(m->s, m->v, c->why, sizeof(c->why));
	append_quick_answers(m->s, m->v, c->why, sizeof(c->why));
	if (m->s->samples)
		what_samples_do_not_see(m);
	append_download(m);
	append_own_sleep(m);
}

static void card_opening(const struct making *m)
{
	const struct asleep *a = m->v->doing;
	struct card *c = m->c;
	char text[DOING_TEXT];

	SET(c->who, "%s[%d]", a->comm, (int)a->pid);
	if (a->n_chain)
		SET(c->whom, "%s[%d]", a->chain[0].comm, (int)a->chain[0].pid);
	else
		SET(c->whom, "another program");
	SET(c->head,
	    asleep_connects(&a->v[0]) ? "%s waits for %s to accept the connection"
				      : "%s waits for %s to open a FIFO",
	    c->who, c->whom);
	SET(c->where, "%s: in %u of %u samples", a->v[0].path, asleep_in_call(a, 0), a->samples);
	doing_phrase(a, text, sizeof(text));
	SET(c->why, "%s %s", c->who, text);
	doing_next(a, c->next, sizeof(c->next));
}

/* Says what the only traced process does instead; false: that is not known. */
static bool why_of_idle(const struct making *m)
{
	const struct asleep *a = m->v->doing;
	char text[DOING_TEXT];

	if (!doing_phrase(a, text, sizeof(text)))
		return false;
	SET(m->c->why, "nothing was sent or awaited; %s[%d] %s", a->comm, (int)a->pid, text);
	if (!*a->v[0].path)
		SET(m->c->next, "see what else it does: sudo strace -f -p %d", (int)a->pid);
	return true;
}

/* Existing connections without traffic are told apart from no connection at all. */
static void head_of_idle(const struct making *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->s->n; i++)
		n += m->s->ep[i].proto != TRACE_PIPE && !m->s->ep[i].closed;
	if (n)
		SET(m->c->head, "%zu connection%s, and nothing was sent on %s", n, plural(n),
		    n == 1 ? "it" : "them");
	else
		SET(m->c->head, "nothing was observed");
}

static void card_unseen(const struct making *m)
{
	struct card *c = m->c;

	if (m->v->n_unseen) {
		SET(c->head, "%zu of %zu connections could not be observed", m->v->n_unseen,
		    m->v->n_active);
		SET(c->why, "no hook of this backend sees %s", trace_unseen_name(m->v->unseen));
		return;
	}
	if (m->v->n_unknown) {
		SET(c->head, "it is unknown why the senders waited");
		SET(c->why, "no hook saw their calls");
		SET(c->next, "sudo ipcstall check shows what this kernel lets ipcstall see");
		return;
	}
	head_of_idle(m);
	if (why_of_idle(m))
		return;
	if (m->s->samples) {
		SET(c->why,
		    "no sample found a traced program waiting for data, or data waiting for it: it "
		    "had ended, was idle, or waits for several descriptors at once (poll, epoll)");
		SET(c->next, "trace every message of the same programs: --exact");
		return;
	}
	SET(c->why, "no traced program sent or received through a socket or a pipe: it had ended, "
		    "was idle, or uses something else");
	SET(c->next, m->s->everything
			     ? "start before the traffic does, or trace for longer: sudo "
			       "ipcstall attach -a -d 60s"
			     : "start before the traffic does, or trace every program: sudo "
			       "ipcstall attach -a -d 10s");
}

typedef void make(const struct making *m);

static make *const makers[KINDS_N] = {
#define MAKER(sym, name) [sym] = card_##name,
	FINDING_KINDS(MAKER)
};

static const char *cause_of(const struct verdict *v)
{
	if (v->kind == KIND_STALL || v->kind == KIND_LIMIT)
		return trace_tx_names[v->v[v->lead].cause];
	return v->kind == KIND_SCATTERED && v->scattered.cause_ns
		       ? trace_tx_names[v->scattered.cause]
		       : NULL;
}

#define KIND_NAME(sym, name) [sym] = #name,
static const char *const kind_names[KINDS_N] = { FINDING_KINDS(KIND_NAME) };

/* No option helps against a reader that does not read, or a path that drops packets. */
static bool may_be_cured(const struct finding *f)
{
	return f->cause != TX_RECOVERY && !(f->blamed == BLAME_PEER_READER && f->cause == TX_RWND);
}

void card_point_to_try(const struct trace_snapshot *s, const struct verdict *v, struct card *c)
{
	const struct finding *f = v->kind == KIND_STALL ? &v->v[v->lead] : NULL;
	const struct live_fix *fixes[LIVE_FIXES_MAX];
	pid_t pid;

	if (f && f->root >= 0)
		f = &v->v[f->root];
	if (!f || !may_be_cured(f) || !*c->fix || f->circle || f->deadlock >= 0 || f->small_reads ||
	    f->by_loss || !strcmp(c->fix, read_while_writing_fix) || reader_halted(s, f) ||
	    (f->blamed == BLAME_PEER_READER && f->cause == TX_SNDBUF) ||
	    !live_fixes_for(f, s->ep[f->endpoint].proto, fixes))
		return;
	pid = finding_sender(s, f).tgid;
	if (pid)
		ADD(c->fix, "; `ipcstall try -p %d --fix %s` proves it", pid, fixes[0]->setting);
}

void card_make(const struct trace_snapshot *s, const struct verdict *v, struct card *c)
{
	struct making m = { s, v, c };

	*c = (struct card){ .outcome = v->outcome,
			    .kind = v->kind,
			    .cause = cause_of(v),
			    .share = fmin(v->share, 1) };
	if (isnan(v->share))
		c->share = NAN;
	makers[v->kind](&m);
	c->n_also = verdict_also(s, v, c->also, VERDICT_ALSO);
}

static json_t *figure_unless_0(uint64_t ns)
{
	return ns ? json_integer((json_int_t)ns) : json_null();
}

static void add_spent(json_t *o, const struct spent *x)
{
	bool told = x->lifetime_ns;

	json_object_set_new(o, "ns", told ? json_integer((json_int_t)x->ns) : json_null());
	json_object_set_new(o, "of_ns", figure_unless_0(x->lifetime_ns));
	json_object_set_new(o, "count", figure_unless_0(x->count));
	json_object_set_new(o, "max_ns", figure_unless_0(x->count ? x->max_ns : 0));
}

json_t *card_to_json(const struct card *c)
{
	json_t *also = json_array(), *o;

	for (size_t i = 0; i < c->n_also; i++)
		json_array_append_new(also, json_string(c->also[i]));
	o = json_pack("{s:s, s:s?, s:o, s:s, s:s, s:s, s:s, s:s, s:s?, s:s, s:s?, s:s, s:o}",
		      "kind", kind_names[c->kind], "cause", c->cause, "share",
		      json_figure(c->share), "who", c->who, "for_whom", c->whom, "head", c->head,
		      "where", c->where, "why", c->why, "surety",
		      c->has_surety ? surety_names[c->surety] : NULL, "fix", c->fix, "fix_state",
		      fix_state_names[c->fix_state], "next", c->next, "also", also);
	if (o)
		add_spent(o, &c->spent);
	return o;
}
