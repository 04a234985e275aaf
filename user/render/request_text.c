// SPDX-License-Identifier: GPL-2.0-only
/* Waits, and where the time of requests goes, as text. */
#include "render/verdict_text.h"

#include <inttypes.h>

#include "base/text.h"
#include "verdict/times.h"
#include "verdict/other_findings.h"
#include "verdict/requests.h"

static void append_sender(const struct trace_snapshot *s, const struct verdict *v,
			  const struct trace_endpoint *ep, char *buf, size_t len)
{
	struct who sender = who_does_not_send(s, ep, v->wait.ns),
		   waiter = who_was_last(&ep->rx_calls);
	char name[48];

	sender.others |= v->waits.others_awaited;
	if (sender.tgid)
		awaited_name(&sender, &waiter, name, sizeof(name));
	else if (ep->making.other_pid)
		address_of_peer(ep, name, sizeof(name));
	else
		snprintf(name, sizeof(name), "the other end%s",
			 other_end_seen(ep) || ep->proto == TRACE_UDP ? ""
								      : ", which was not seen,");
	text_append(buf, len, "%s to send", name);
}

/* A writer that has gone sends nothing more, but its reader gets no EOF while another process holds
 * the descriptor, which perhaps a fork() left open. */
static void append_held_end(const struct trace_endpoint *ep, const struct trace_call_stats *gone,
			    char *buf, size_t len)
{
	text_append(buf, len, "more data or EOF: %.16s[%d] has %s, ", gone->comm, gone->tgid,
		    gone->let_go ? "closed its descriptor" : "ended");
	if (gone->fd_owner)
		text_append(buf, len, "but %.16s[%d]%s still holds the descriptor",
			    gone->fd_owner_comm, gone->fd_owner,
			    gone->fd_owner == ep->rx_calls.tgid ? " itself" : "");
	else
		text_append(buf, len, "and it is unknown which process still holds the descriptor");
}

/* The other end answers at once, and the round trip is long. */
static void append_path(const struct trace_endpoint *ep, uint64_t wait_ns, char *buf, size_t len)
{
	struct round_trips r = wait_on_path(ep, wait_ns);
	char each[32];

	if (!r.n)
		return;
	human_ns((double)r.each_ns, each, sizeof(each));
	text_append(buf, len, ": its path takes %s for each of %" PRIu64 " answer%s", each, r.n,
		    plural(r.n));
}

/* "left 6 of 6 requests unanswered until close() after 250 ms each" */
static void append_given_up(const struct requests *r, char *buf, size_t len)
{
	bool one = r->given_up + r->n == 1;
	char each[32];

	human_ns((double)r->given_up_ns / (double)r->given_up, each, sizeof(each));
	if (one)
		text_append(buf, len,
			    "left the request unanswered until the connection closed, after %s",
			    each);
	else
		text_append(buf, len,
			    "left %" PRIu64 " of %" PRIu64
			    " requests unanswered until close() after %s each",
			    r->given_up, r->given_up + r->n, each);
}

static void append_unanswered(const struct requests *r, char *buf, size_t len)
{
	char each[32];

	human_ns((double)r->retry_ns, each, sizeof(each));
	text_append(buf, len,
		    "did not answer %" PRIu64 " of %" PRIu64
		    " requests%s; each cost a wait of up to %s",
		    r->unanswered, r->n + r->unanswered,
		    r->may_be_lost ? ", or they were lost" : "", each);
}

#define UNLIKE 3 /* times the average: then the average alone says little */

void append_longest(uint64_t longest_ns, uint64_t sum_ns, uint64_t n, char *buf, size_t len)
{
	if (n < 2 || longest_ns < UNLIKE * (sum_ns / n) || longest_ns > sum_ns)
		return;
	text_append(buf, len, ", longest %s", human_time(longest_ns).text);
}

/* "sent 9 times for one request, every 100 ms on average": a streamed answer, or a subscription */
static void append_pieces(const struct requests *r, char *buf, size_t len)
{
	char each[32];

	human_ns((double)r->think_ns / (double)r->pieces, each, sizeof(each));
	text_append(buf, len, "sent %" PRIu64 " times for ", r->pieces);
	if (r->n == 1)
		text_append(buf, len, "one request");
	else
		text_append(buf, len, "%" PRIu64 " requests", r->n);
	text_append(buf, len, ", every %s on average", each);
	append_longest(smaller(r->pieces_max_ns, r->think_ns), r->think_ns, r->pieces, buf, len);
}

/* "leaves each request unread for 200 ms, 3 requests", "leaves one of 3 requests unread for 600 ms"
 */
static void append_left_unread(const struct requests *r, const char *s, char *buf, size_t len)
{
	const char *what = r->uneven ? "message" : "request";
	uint64_t longest = longest_request(r);
	char ns[32];

	human_ns(longest ? (double)longest : (double)r->unread_ns / (double)r->n, ns, sizeof(ns));
	if (longest)
		text_append(buf, len, "leave%s one of %" PRIu64 " %ss unread for %s", s, r->n, what,
			    ns);
	else
		text_append(buf, len, "leave%s %s %s unread for %s", s, r->n == 1 ? "the" : "each",
			    what, ns);
	if (longest || r->n < 2)
		return;
	text_append(buf, len, ", %" PRIu64 " %ss", r->n, what);
	append_longest(r->unread_max_ns, r->unread_ns, r->n, buf, len);
}

/* "thinks 300 ms a request, 41 requests", "thinks 121 ms over each of 16 of 40 requests" */
static void append_thinking_seen(const struct requests *r, bool several, const char *ns, char *buf,
				 size_t len)
{
	const char *what = r->uneven ? "message" : "request", *s = several ? "" : "s",
		   *verb = r->waits_itself ? "take" : "think",
		   *over = r->waits_itself ? "for" : "over";

	if (longest_request(r))
		text_append(buf, len, "%s%s %s %s one of %" PRIu64 " %ss", verb, s, ns, over, r->n,
			    what);
	else if (are_some_slow(r))
		text_append(buf, len, "%s%s %s %s each of %" PRIu64 " of %" PRIu64 " %ss", verb, s,
			    ns, over, r->slow, r->n, what);
	else
		text_append(buf, len, "%s%s %s a %s, %" PRIu64 " %s%s", verb, s, ns, what, r->n,
			    what, plural(r->n));
}

/* Of an end that was not seen: "reads and answers a request in 300 ms at most, 41 requests" */
static void append_thinking_bounded(const struct requests *r, bool several, const char *ns,
				    char *buf, size_t len)
{
	const char *what = r->uneven ? "message" : "request",
		   *does = several ? "read and answer" : "reads and answers",
		   *most = average_is_low(r) || are_all_cut(r) ? "" : " at most";

	if (longest_request(r))
		text_append(buf, len, "%s one of %" PRIu64 " %ss in %s%s", does, r->n, what, ns,
			    most);
	else if (are_some_slow(r))
		text_append(buf, len, "%s %" PRIu64 " of %" PRIu64 " %ss in %s each%s", does,
			    r->slow, r->n, what, ns, most);
	else
		text_append(buf, len, "%s a %s in %s%s, %" PRIu64 " %s%s", does, what, ns, most,
			    r->n, what, plural(r->n));
}

static void append_thinking(const struct requests *r, bool several, char *buf, size_t len)
{
	uint64_t longest = longest_request(r),
		 ns = longest ? longest
		      : average_is_low(r) || (are_all_cut(r) && is_longest_typical(r))
			      ? r->think_max_ns
			      : average_thinking(r);
	char number[32], text[40];

	human_ns((double)ns, number, sizeof(number));
	if (are_all_cut(r) && r->open != r->n)
		snprintf(text, sizeof(text), "%s or more", number);
	else
		snprintf(text, sizeof(text), "%s%s", average_is_low(r) ? "up to " : "", number);
	if (r->open == r->n) {
		text_append(buf, len, "%s not answered %" PRIu64 " request%s yet, after %s",
			    several ? "have" : "has", r->n, plural(r->n), text);
		return;
	}
	if (r->bounded)
		append_thinking_bounded(r, several, text, buf, len);
	else
		append_thinking_seen(r, several, text, buf, len);
	if (!longest && !are_some_slow(r) && !average_is_low(r))
		append_longest(r->think_max_ns, r->think_ns, r->n, buf, len);
}

static void append_way(const struct requests *r, const char *s, char *buf, size_t len)
{
	const char *what = r->uneven ? "message" : "request";

	text_append(buf, len, "answer%s over a path that takes %s a %s, %" PRIu64 " %s%s", s,
		    human_time((double)r->way_ns / (double)r->n).text, what, r->n, what,
		    plural(r->n));
}

void append_requests(const struct requests *r, bool several, char *buf, size_t len)
{
	enum request_part most = longest_part(r);
	const char *s = several ? "" : "s";

	if (r->unanswered)
		append_unanswered(r, buf, len);
	else if (mostly_given_up(r))
		append_given_up(r, buf, len);
	else if (most == REQUEST_UNREAD)
		append_left_unread(r, s, buf, len);
	else if (most == REQUEST_WAY)
		append_way(r, s, buf, len);
	else if (r->pieces)
		append_pieces(r, buf, len);
	else
		append_thinking(r, several, buf, len);
}

/* "; before that each request waits 127 ms in haproxy[7], which forwards fewer at a time" */
void append_queued(const struct trace_snapshot *s, const struct verdict *v, char *buf, size_t len)
{
	char between[PARTY_TEXT], each[32];

	program_name(&s->ep[v->wait.endpoint].rx_calls, between, sizeof(between));
	human_ns((double)v->queued_ns / (double)v->first_waits.requests.n, each, sizeof(each));
	text_append(buf, len,
		    "; before that each request waits %s in %s, which forwards fewer at a time",
		    each, between);
}

/* "; curl[12] on tcp A > B waited 4.9 s (98.0 % of its time) for nginx[7] to send" */
void append_wait(const struct trace_snapshot *s, const struct verdict *v, char *buf, size_t len)
{
	const struct trace_endpoint *ep = &s->ep[v->wait.endpoint];
	const struct trace_call_stats *sender = who_sends(s, ep);
	char name[160], reader[48], total[32];
	bool several = v->waits.connections > 1;
	uint64_t unread;

	endpoint_name(ep, name, sizeof(name));
	if (several)
		text_append(name, sizeof(name), " and %zu more", v->waits.connections - 1);
	program_name(who_waits(ep), reader, sizeof(reader));
	human_ns((double)v->waits.ns, total, sizeof(total));
	text_append(buf, len, "%s%s on %s waited %s%s (%.1f %% of %s time) for ", *buf ? "; " : "",
		    reader, name, v->waits.estimated ? "an estimated " : "", total,
		    100 * waits_share(&v->waits), several ? "their" : "its");
	if (sender && who_left(sender, ep, v->wait.ns))
		append_held_end(ep, sender, buf, len);
	else
		append_sender(s, v, ep, buf, len);
	append_path(ep, v->wait.ns, buf, len);
	unread = unread_meanwhile(s, (size_t)v->wait.endpoint, v->wait.ns);
	if (!has_requests(&v->waits.requests) && unread) {
		human_ns((double)unread, total, sizeof(total));
		text_append(buf, len, "; it has unread data for %s of that time", total);
	}
	if (v->brought_by >= 0) {
		peer_name(s, &s->ep[v->brought_by], name, sizeof(name));
		text_append(buf, len, "; it had nothing to answer until %s sent it something",
			    name);
		return;
	}
	if (!has_requests(&v->waits.requests))
		return;
	text_append(buf, len, "; it ");
	append_requests(&v->waits.requests, false, buf, len);
	if (v->queued_ns)
		append_queued(s, v, buf, len);
}
