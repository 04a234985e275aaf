// SPDX-License-Identifier: GPL-2.0-only
/* The card of a wait for data */
#include "render/card_parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "render/doing_text.h"
#include "verdict/kept_output.h"
#include "verdict/long_wait.h"
#include "verdict/other_clients.h"
#include "verdict/own_window.h"
#include "verdict/replies.h"
#include "verdict/stopped_or_throttled.h"
#include "verdict/times.h"

static void append_busy(const struct making *m, const struct trace_call_stats *sender,
			const struct trace_endpoint *ep)
{
	card_append_share_of_cpu(m->c, card_busy_share(sender, ep));
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
void card_why_requests(const struct making *m, const struct requests *r,
		       const struct trace_call_stats *sender, const struct trace_endpoint *ep)
{
	SET(m->c->why, "%s ",
	    name_is_plural(m->c->who) && name_is_plural(m->c->whom) ? "they" : m->c->whom);
	append_requests(r, name_is_plural(m->c->whom), m->c->why, sizeof(m->c->why));
	if (!r->bounded && !r->unanswered && !r->pieces && !mostly_given_up(r))
		append_other_parts(r, m->c->why, sizeof(m->c->why));
	if (!r->unanswered)
		append_busy(m, sender, ep);
	card_set_surety(m->c, r->bounded || r->uneven ? INFERRED : SEEN_BOTH_ENDS);
}

static void why_queued_between(const struct making *m)
{
	append_queued(m->s, m->v, m->c->why, sizeof(m->c->why));
	card_set_fix(m->c, "let it forward more requests at once: more connections, a larger pool");
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
		card_set_fix(m->c, ep->proto == TRACE_TCP ? defer_fix : card_accept_fix);
		return;
	}
	SET(m->c->why, "nothing was held back: %s %s", whom, verb_of(whom, "works", "work"));
	if (!(card_busy_share(sender, ep) >= BUSY)) /* true also for NAN, unknown */
		ADD(m->c->why, ", %s, or %s for another", verb_of(whom, "sleeps", "sleep"),
		    verb_of(whom, "waits", "wait"));
}

/* Whom it sleeps for takes a line of the card. */
static bool follows_chain(const struct making *m)
{
	return doing_of(m->v->doing) == DOING_SLEEPS && m->v->doing->n_chain;
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
		card_set_surety(m->c, SEEN_BOTH_ENDS);
		return;
	}
	why_silent(m, sender, ep);
	if (trace_messages_known(sent) && sent->messages > 1) {
		human_ns((double)ep->rx.lifetime_ns / (double)sent->messages, each, sizeof(each));
		SET(m->c->why, "%s%s sent %" PRIu64 " times, every %s on average",
		    follows_chain(m) ? "" : "nothing was held back: ", m->c->whom, sent->messages,
		    each);
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
	card_set_surety(m->c, SUSPECTED);
}

static void why_sender_halted(const struct making *m, const struct trace_call_stats *sender)
{
	char name[48];

	program_name(sender, name, sizeof(name));
	card_why_halted(m, name, sender, card_longest_of(&m->v->wait));
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
	const struct trace_endpoint *in = &m->s->ep[kept_input(m->s, (size_t)m->v->wait.endpoint)];
	char name[48], from[48], waited[32];

	program_name(&in->rx_calls, name, sizeof(name));
	program_name(&in->tx_calls, from, sizeof(from));
	human_ns((double)in->rx.ns[RX_WAIT], waited, sizeof(waited));
	SET(m->c->why,
	    "%s read %" PRIu64 " times meanwhile and wrote nothing: its output is in its own "
	    "buffer, or it needs all of its input first; it waited for %s for %s",
	    name, in->rx_calls.messages, from, waited);
	card_set_fix(m->c, "make it write each line at once: stdbuf -oL, grep --line-buffered, "
			   "python -u, fflush()");
	card_set_surety(m->c, INFERRED);
}

/* "redis-server[7] had nothing to answer until redis-cli[9] sent it something" */
static void why_brought(const struct making *m)
{
	char other[PARTY_TEXT];

	peer_name(m->s, &m->s->ep[m->v->brought_by], other, sizeof(other));
	SET(m->c->why, "%s had nothing to answer until %s sent it something", m->c->whom, other);
	card_set_surety(m->c, INFERRED);
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
	    !who_does_not_accept(m, ep) && !unread_while_it_waits(m) && !may_be_answered_late(ep))
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

static void why_unseen(const struct making *m, const struct trace_endpoint *ep)
{
	uint64_t n = trace_messages_known(&ep->rx_calls) ? ep->rx_calls.messages : 0;
	char rate[24];

	if (ep->proto != TRACE_TCP || !comes_evenly(ep)) {
		SET(m->c->why, "nothing was held back here; ");
		if (n > 1)
			ADD(m->c->why, "data came %" PRIu64 " times in %s; ", n,
			    human_time(ep->rx.lifetime_ns).text);
		card_rate_text(rate_of_receiving(ep), "B", rate, sizeof(rate));
		if (!n && ep->rx_calls.bytes >= MUCH_CAME)
			ADD(m->c->why, "%s came; ", rate);
		ADD(m->c->why, "the other end was not traced");
		append_unasked(m, ep);
		return;
	}
	card_rate_text(rate_of_receiving(ep), "B", rate, sizeof(rate));
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
		card_set_fix(m->c, "close the write end that is not needed: after fork(), or by "
				   "O_CLOEXEC and exec()");
		card_set_surety(m->c, INFERRED);
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

	card_rate_text(ep->path.receive_window, "B", window, sizeof(window));
	window[strcspn(window, "/")] = '\0';
	card_rate_text(rate_of_receiving(ep), "B", rate, sizeof(rate));
	SET(m->c->why,
	    "its own receive window of %s lets in no more than that in each round trip of %s: %s "
	    "arrive",
	    window, human_time(1e3 * ep->min_rtt_us).text, rate);
	card_set_fix(m->c,
		     "raise SO_RCVBUF, or do not set it; net.ipv4.tcp_rmem limits what the kernel "
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
	card_set_surety(m->c, INFERRED);
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
	else if (stopped_or_throttled(m->s, sender, card_longest_of(&m->v->wait)))
		why_sender_halted(m, sender);
	else if (waits_in_queue(m, ep))
		why_unaccepted(m, ep);
	else if (asked_before(m->s, (size_t)m->v->wait.endpoint))
		why_under_way(m);
	else if (m->v->brought_by >= 0)
		why_brought(m);
	else if (has_requests(&m->v->waits.requests) && !is_fed(m, ep))
		card_why_requests(m, &m->v->waits.requests, sender, ep);
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

/* Tracing the awaited process would not tell more. */
static bool is_explained(const struct asleep *a)
{
	enum doing d = doing_of(a);

	return d == DOING_COMPUTES ||
	       (d == DOING_SLEEPS && (a->n_chain || asleep_by_its_own_code(a)));
}

void card_next_wait(const struct making *m, const struct trace_endpoint *ep, pid_t sender)
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
	if (is_explained(m->v->doing)) {
		doing_next(m->v->doing, buf, len);
		if (*buf)
			return;
	}
	if (!sender)
		sender = ep->making.other_pid;
	if (sender)
		snprintf(buf, len, "see what it does: sudo ipcstall attach -p %d -d 10s", sender);
	else if (is_destination_unknown(ep))
		snprintf(buf, len, "see where it sends: sudo ipcstall attach --exact -a -d 10s");
	else if (ep->remote.port)
		snprintf(buf, len, "there: sudo ipcstall attach -a -P %u -d 10s", ep->remote.port);
	else
		snprintf(buf, len, "trace every program: sudo ipcstall attach -a -d 10s");
}

void card_where_wait(const struct making *m)
{
	const struct waits_together *w = &m->v->first_waits;
	int first = m->v->chain.n ? m->v->chain.by[0] : m->v->wait.endpoint;

	card_where(m->c, &m->s->ep[first],
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
		card_set_fix(
			m->c,
			"find the transfer that fills the queue, and limit its rate, or give the "
			"link a queue that is fair or short (fq_codel, cake)");
		return;
	}
	if (waits_for_path(m, ep)) {
		card_set_fix(m->c,
			     "send the next request before the answer (a pipeline, a batch), or "
			     "ask for more at once: each costs a round trip");
		return;
	}
	if (is_behind_others(m, ep))
		card_set_fix(m->c, card_serve_more_fix);
	else if (mostly_unread(m) && waits_for_accept(m, ep))
		card_set_fix(m->c, card_accept_fix);
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
	return !waits_for_path(m, ep) && !(sender && who_left(sender, ep, m->v->wait.ns)) &&
	       !stopped_or_throttled(m->s, sender, card_longest_of(&m->v->wait)) &&
	       !(card_busy_share(sender, ep) >= BUSY);
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

void card_wait(const struct making *m)
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
	card_where_wait(m);
	why_wait(m, ep, sender);
	if (is_held_by_own_window(ep)) {
		card_set_surety(m->c, INFERRED);
		return;
	}
	if (!is_kept(m) && awaits_its_doing(m, ep, sender)) {
		card_append_doing(m);
		card_fix_doing(m, false);
	}
	fix_wait(m, ep);
	if (m->v->waits.estimated)
		card_set_surety(m->c, INFERRED);
	if (!waits_for_path(m, ep))
		card_next_wait(m, ep, silent.tgid);
}
