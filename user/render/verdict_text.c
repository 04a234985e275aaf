// SPDX-License-Identifier: GPL-2.0-only
/* A verdict as text: the sentence of each kind of finding, the findings beside it, the fix. */
#include "render/verdict_text.h"

#include <inttypes.h>
#include <math.h>

#include "base/text.h"
#include "verdict/judge.h"
#include "verdict/limit.h"
#include "verdict/other_findings.h"
#include "verdict/own_window.h"
#include "verdict/requests.h"

/* "curl[12] on tcp A > B was woken 30 times and then waited for a CPU: 2.7 s in all..." */
static void starved_sentence(const struct trace_snapshot *s, const struct verdict *v, char *buf,
			     size_t len)
{
	const struct reader_spell *starved = &v->starved;
	const struct trace_endpoint *ep = &s->ep[starved->endpoint];
	char name[160], who[48], total[32], longest[32];

	endpoint_name(ep, name, sizeof(name));
	program_name(starved_end(ep, starved), who, sizeof(who));
	human_ns((double)starved->ns, total, sizeof(total));
	human_ns((double)starved->max_ns, longest, sizeof(longest));
	if (!starved->count) {
		snprintf(buf, len,
			 "%s on %s was waiting for a CPU while others waited for it: %s in all "
			 "(%.1f %% of its time)",
			 who, name, total, 100 * starved->share);
		return;
	}
	snprintf(buf, len,
		 "%s on %s was woken %" PRIu64
		 " time%s and then waited for a CPU: %s in all (%.1f %% of its time), longest %s",
		 who, name, starved->count, plural(starved->count), total, 100 * starved->share,
		 longest);
}

const char no_room_phrase[] =
	"its queue is full most of the time: whoever sends to it sleeps until there is "
	"room, or is refused (EAGAIN)";

/* "curl[12] on tcp A > B: unread: 12 times, 3.2 s in all..." */
static void late_sentence(const struct trace_snapshot *s, const struct verdict *v, char *buf,
			  size_t len)
{
	const struct reader_spell *late = &v->late;
	const struct trace_endpoint *ep = &s->ep[late->endpoint];
	struct who late_one = who_is_not_reading(ep, late->ns);
	char name[160], reader[PARTY_TEXT], extent[128];

	endpoint_name(ep, name, sizeof(name));
	who_name(&late_one, reader, sizeof(reader));
	extent_phrase(late->count, late->ns, late->share, late->max_ns, extent, sizeof(extent));
	snprintf(buf, len, "%s on %s has unread data: %s; %s", reader, name, extent,
		 v->no_room	      ? no_room_phrase
		 : v->late_is_full    ? "the sender's buffer is full"
		 : v->late_answers    ? "these are answers to it, and nothing else kept it busy"
		 : other_end_seen(ep) ? "the sender may wait for an answer"
				      : "the sender was not traced, and may wait for an answer");
	append_busy_thread(&ep->rx_calls, late->ns, buf, len);
}

/* "curl[12] on tcp A > B for 3.24 s (98.0 % of its time)" */
static void append_waiter(const struct trace_snapshot *s, size_t i, char *buf, size_t len)
{
	const struct trace_endpoint *ep = &s->ep[i];
	char name[160], reader[48];
	uint64_t ns = ep->rx.ns[RX_WAIT];

	endpoint_name(ep, name, sizeof(name));
	program_name(&ep->rx_calls, reader, sizeof(reader));
	text_append(buf, len, "%s on %s for %s (%.1f %% of its time)", reader, name,
		    human_time(ns).text, 100.0 * (double)ns / (double)ep->rx.lifetime_ns);
}

static const char *circle_phrase(const struct mutual_wait *m)
{
	if (m->end == WAIT_CLOSED)
		return m->nobody_else ? "each waited for the next to send, a deadlock until one "
					"closed"
				      : "each waited for the next to send, and none did until one "
					"closed";
	return m->nobody_else ? "each waits for the next to send, a deadlock"
			      : "each waits for the next to send, and none goes on unless another "
				"thread sends";
}

const char *mutual_phrase(const struct mutual_wait *m)
{
	if (m->circle)
		return circle_phrase(m);
	switch (m->end) {
	case WAIT_SENT: return "each waited for the other to send, until one of them did";
	case WAIT_ENDED: return "each waited for the other to send, until one sent or closed";
	case WAIT_GIVEN_UP:
		return m->nobody_else ? "each waited for the other to send, a deadlock until one "
					"gave up"
				      : "each waited for the other to send, and neither did until "
					"one gave up";
	case WAIT_CLOSED:
		return m->nobody_else ? "each waited for the other to send, a deadlock until one "
					"closed"
				      : "each waited for the other to send, and neither did until "
					"one closed";
	default:
		return m->nobody_else ? "each waits for the other to send, a deadlock"
				      : "each waits for the other to send, and neither goes on "
					"unless another thread sends";
	}
}

/* "; each waits for the other to send, a deadlock: curl[12] on tcp A > B for 3.24 s..., nginx[7] of
 * tcp B > A for 3.24 s..." */
static void append_mutual(const struct trace_snapshot *s, const struct verdict *v, char *buf,
			  size_t len)
{
	text_append(buf, len, "%s%s: ", *buf ? "; " : "", mutual_phrase(&v->mutual));
	append_waiter(s, (size_t)v->wait.endpoint, buf, len);
	text_append(buf, len, ", ");
	append_waiter(s, (size_t)v->mutual.endpoint, buf, len);
	if (v->mutual.circle)
		text_append(buf, len, " and %zu more in a circle", v->mutual.circle - 2);
}

/* "dig[12] on udp A > B: no answer to 3 datagrams, for which it waited 15.0 s; named[7] has the
 * socket that they went to" */
static void unanswered_sentence(const struct trace_snapshot *s, const struct verdict *v, char *buf,
				size_t len)
{
	const struct unanswered *u = &v->unanswered;
	char name[160], who[48];

	endpoint_name(&s->ep[u->endpoint], name, sizeof(name));
	if (u->sockets > 1)
		text_append(name, sizeof(name), " and %zu more", u->sockets - 1);
	program_name(&s->ep[u->endpoint].tx_calls, who, sizeof(who));
	snprintf(buf, len, "%s on %s: no answer to %" PRIu64 " ", who, name, u->n);
	if (u->answered)
		text_append(buf, len, "of %" PRIu64 " ", u->n + u->answered);
	text_append(buf, len, "datagram%s", plural(u->n + u->answered));
	if (u->ns) {
		text_append(buf, len, ", for which it waited %s", human_time(u->ns).text);
	}
	if (u->refused)
		text_append(buf, len, "; ICMP said that no program listens there");
	if (u->server < 0)
		return;
	program_name(&s->ep[u->server].rx_calls, who, sizeof(who));
	text_append(buf, len, "; %s owns the socket that they went to", who);
	if (u->passed_on < 0)
		return;
	endpoint_name(&s->ep[u->passed_on], name, sizeof(name));
	text_append(buf, len, ", and got no answer to what it asked on %s", name);
}

static const char *fix_mutual(const struct trace_snapshot *s, const struct verdict *v)
{
	if (v->mutual.circle)
		return "find out which of them should send: its data may still be in its own "
		       "buffer (flush it), or it may have taken what it should pass on";
	return "find out which of the two should send: its data may still be in its own buffer "
	       "(flush it), or be less than the other end expects; a timeout at least ends the "
	       "wait";
}

/* "curl[12] on tcp A > B: what it sent was still on this host when the retransmission timer fired:
 * 2 times..." */
static void undelivered_sentence(const struct trace_snapshot *s, const struct verdict *v, char *buf,
				 size_t len)
{
	const struct reader_spell *u = &v->undelivered;
	const struct trace_endpoint *ep = &s->ep[u->endpoint];
	char name[160], who[48], extent[128];

	endpoint_name(ep, name, sizeof(name));
	program_name(&ep->tx_calls, who, sizeof(who));
	extent_phrase(u->count, u->ns, u->share, u->max_ns, extent, sizeof(extent));
	snprintf(buf, len,
		 "%s on %s: its data had not left this host when the retransmission timer fired: "
		 "%s",
		 who, name, extent);
}

static const char undelivered_fix[] =
	"find what it waits for: a neighbour that does not answer (ip neigh), a link that "
	"is down (ip link), a queue that does not drain (tc -s qdisc)";

/* Whether one cause is more than half of all stalls, so that its fix helps against most of them. */
static bool has_main_cause(const struct scattered *sum)
{
	return sum->cause_ns * 2 > sum->ns;
}

/* ", 95 % of that in dd[7]" */
void append_main_writer(const struct trace_snapshot *s, const struct scattered *sum, char *buf,
			size_t len)
{
	char name[PARTY_TEXT];

	if (!sum->cause_ns || sum->endpoint < 0)
		return;
	program_name(&s->ep[sum->endpoint].tx_calls, name, sizeof(name));
	text_append(buf, len, ", %.0f %% of that in %s",
		    100 * (double)sum->process_ns / (double)sum->cause_ns, name);
}

/* "no single stall stands out, but together they make up 8.00 s, 80.00 % of the senders' time, most
 * of it sndbuf (95.0 %)" */
static void scattered_sentence(const struct trace_snapshot *s, const struct verdict *v, char *buf,
			       size_t len)
{
	const struct scattered *sum = &v->scattered;

	snprintf(buf, len,
		 "no single stall stands out, but together they make up %s, %.2f %% of the "
		 "senders' time",
		 human_time(sum->ns).text, 100 * sum->share);
	if (sum->cause_ns)
		text_append(buf, len, ", %s of it %s (%.1f %%)",
			    has_main_cause(sum) ? "most" : "the largest part that is known",
			    trace_tx_names[sum->cause],
			    100.0 * (double)sum->cause_ns / (double)sum->ns);
	append_main_writer(s, sum, buf, len);
}

static bool is_one_way(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_PIPE ? ep->tx_calls.messages < ep->rx_calls.messages
				       : !ep->tx_calls.bytes;
}

void append_busy_reader(const struct trace_snapshot *s, const struct verdict *v, char *buf,
			size_t len)
{
	const struct trace_endpoint *ep = v->busy.endpoint < 0 ? NULL : &s->ep[v->busy.endpoint];
	bool known = ep && ep->rx_calls.cpu_res != TRACE_UNKNOWN;
	char name[PARTY_TEXT];

	if (!ep)
		return;
	program_name(&ep->rx_calls, name, sizeof(name));
	text_append(buf, len, "%s%s is busy: %s ran on a CPU for %.0f %% of the time",
		    *buf ? "; " : "", name, known ? "it" : "one of its threads",
		    100 * fmin(1, (double)(known ? ep->rx_calls.cpu_ns
						 : ep->rx_calls.busiest_cpu_ns) /
					  (double)ep->rx.lifetime_ns));
	if (ep->rx_calls.no_cpu_ns > ep->rx.lifetime_ns / 10)
		text_append(buf, len, " and waited for one for %.0f %%",
			    100 * (double)ep->rx_calls.no_cpu_ns / (double)ep->rx.lifetime_ns);
	text_append(buf, len, ", while received data waits for its turn");
	if (reads_small_pieces(ep) && is_one_way(ep)) /* requests to a server are small */
		text_append(buf, len, "; it reads %" PRIu64 " times, %.1f B each",
			    ep->rx_calls.messages,
			    (double)ep->rx_calls.bytes / (double)ep->rx_calls.messages);
}

/* "xz[7] is busy on its CPU (97 % of one), and wc[8] waits for what it sends" */
void append_busy_sender(const struct trace_snapshot *s, const struct verdict *v, char *buf,
			size_t len)
{
	const struct trace_endpoint *ep =
		v->busy_sender.endpoint < 0 ? NULL : &s->ep[v->busy_sender.endpoint];
	char sender[PARTY_TEXT], reader[PARTY_TEXT];

	if (!ep)
		return;
	program_name(who_sends(s, ep), sender, sizeof(sender));
	program_name(&ep->rx_calls, reader, sizeof(reader));
	text_append(buf, len, "%s%s is busy on its CPU (%.0f %% of one), and %s %s for what it "
			      "sends",
		    *buf ? "; " : "", sender, 100 * v->busy_sender.share, reader,
		    verb_of(reader, "waits", "wait"));
}

/* "redis-cli[9] waits for redis-server[7] 38222 times, 32.8 us each" */
void append_quick_answers(const struct trace_snapshot *s, const struct verdict *v, char *buf,
			  size_t len)
{
	const struct trace_endpoint *ep = v->quick.endpoint < 0 ? NULL : &s->ep[v->quick.endpoint];
	char client[48], server[64], each[32];

	if (!ep)
		return;
	program_name(&ep->rx_calls, client, sizeof(client));
	peer_name(s, ep, server, sizeof(server));
	human_ns((double)v->quick.each_ns, each, sizeof(each));
	text_append(buf, len, "%s%s waits for %s %" PRIu64 " times, %s each", *buf ? "; " : "",
		    client, server, v->quick.n, each);
}

/* "perl[7] slept in connect(): app.sock" */
static void opening_sentence(const struct trace_snapshot *s, const struct verdict *v, char *buf,
			     size_t len)
{
	const struct asleep *a = v->doing;
	char call[40];

	asleep_name(a->v[0].nr, call, sizeof(call));
	snprintf(buf, len, "%s[%d] slept in %s(): %s", a->comm, (int)a->pid, call, a->v[0].path);
}

/* No sender was held up, or nothing is known about the senders. */
static void quiet_sentence(const struct trace_snapshot *s, const struct verdict *v, char *buf,
			   size_t len)
{
	const char *health = v->wait.endpoint >= 0 ? "nothing holds a sender up" : "healthy";
	char total[32];

	human_ns((double)v->stall_ns, total, sizeof(total));
	if (v->lifetime_ns)
		snprintf(buf, len, "%s: stalls add up to %s, %.2f %% of the senders' time", health,
			 total, 100.0 * (double)v->stall_ns / (double)v->lifetime_ns);
	else if (v->sent)
		snprintf(buf, len, "%s: stalls add up to %s", health, total);
	else
		snprintf(buf, len, "nothing was sent through an endpoint that was seen");
	append_busy_reader(s, v, buf, len);
	append_quick_answers(s, v, buf, len);
	append_busy_sender(s, v, buf, len);
}

static void unseen_sentence(const struct trace_snapshot *s, const struct verdict *v, char *buf,
			    size_t len)
{
	if (v->n_unseen) {
		snprintf(buf, len, "%zu of %zu connections could not be observed: %s", v->n_unseen,
			 v->n_active, trace_unseen_name(v->unseen));
		return;
	}
	snprintf(buf, len,
		 v->n_unknown ? "it is unknown why the senders waited: no hook saw their calls"
			      : "nothing was sent through an endpoint that was seen");
}

/* "; each waits for the other, a deadlock: sh[3] waits for cat[4] to write to pipe:[12]" */
static void append_deadlock(const struct trace_snapshot *s, const struct finding *f, char *buf,
			    size_t len)
{
	const struct trace_endpoint *ep = &s->ep[f->endpoint];
	struct who held_up = who_was_held_up(ep, f->cause), late = {};
	char name[160], late_name[PARTY_TEXT], held_name[PARTY_TEXT];

	who_is_late(s, ep, f->cause, &late);
	who_name(&late, late_name, sizeof(late_name));
	who_name(&held_up, held_name, sizeof(held_name));
	endpoint_name(&s->ep[f->deadlock], name, sizeof(name));
	text_append(buf, len, "; each waits for the other, a deadlock: %s waits for %s to %s %s",
		    late_name, held_name, f->deadlock_reads ? "write to" : "read", name);
}

static void append_root(const struct trace_snapshot *s, const struct verdict *v,
			const struct finding *f, char *buf, size_t len)
{
	char root[CAUSE_TEXT];

	root_sentence(s, v, f, root, sizeof(root));
	if (*root)
		text_append(buf, len, "; root cause%s: %s",
			    f->root_by_amounts ? " (inferred from the bytes passed on)" : "", root);
}

static void stall_sentence(const struct trace_snapshot *s, const struct verdict *v, char *buf,
			   size_t len)
{
	const struct finding *f = &v->v[v->lead];

	finding_sentence(s, f, buf, len);
	if (f->deadlock >= 0)
		append_deadlock(s, f, buf, len);
	if (f->circle)
		text_append(buf, len, "; it is one of %zu that wait in a circle, each for the next",
			    f->circle);
	append_root(s, v, f, buf, len);
	if (f->goes_on)
		text_append(buf, len, "; it goes on");
}

static void limit_sentence(const struct trace_snapshot *s, const struct verdict *v, char *buf,
			   size_t len)
{
	const struct finding *f = &v->v[v->lead];
	char text[VERDICT_TEXT];

	finding_sentence(s, f, text, sizeof(text));
	snprintf(buf, len, "healthy, limited by: %s: %.900s", limit_phrase(f->limit), text);
}

/* ---- one row a kind ---- */

typedef void say(const struct trace_snapshot *s, const struct verdict *v, char *buf, size_t len);
typedef const char *advise(const struct trace_snapshot *s, const struct verdict *v);

static void say_wait(const struct trace_snapshot *s, const struct verdict *v, char *buf, size_t len)
{
	(v->mutual.endpoint >= 0 ? append_mutual : append_wait)(s, v, buf, len);
	if (v->mutual.endpoint < 0 && is_held_by_own_window(&s->ep[v->wait.endpoint]))
		text_append(buf, len, ", which its own receive window limits");
}

static const char *fix_stall(const struct trace_snapshot *s, const struct verdict *v)
{
	const struct finding *f = &v->v[v->lead];

	return finding_fix(s, f->root >= 0 ? &v->v[f->root] : f);
}

static const char late_answers_fix[] =
	"wait for the answer in the call, or in poll() or epoll, instead of sleeping "
	"between two checks";

static const char *fix_late(const struct trace_snapshot *s, const struct verdict *v)
{
	if (v->no_room)
		return more_datagrams_fix;
	return v->late_answers ? late_answers_fix : rx_fixes[RX_UNREAD];
}

static const char *fix_loss(const struct trace_snapshot *s, const struct verdict *v)
{
	return loss_fix(&v->loss);
}

static const char *fix_scattered(const struct trace_snapshot *s, const struct verdict *v)
{
	return has_main_cause(&v->scattered) ? tx_fixes[v->scattered.cause] : "";
}

static const char *fix_unanswered(const struct trace_snapshot *s, const struct verdict *v)
{
	if (v->unanswered.others_answered && !v->unanswered.refused)
		return "find where datagrams are dropped: the path, a firewall, the server's "
		       "receive buffer (netstat -su); or the server leaves some unanswered";
	return v->unanswered.server >= 0
		       ? "make that server answer: see what it does instead"
		       : "check whether a program listens there (ss -lun), and whether the "
			 "address, the port or a firewall is wrong";
}

/* "refused 4 times in 1.2 s: no program listened there" */
static void append_connects(const struct slow_connect *c, const char *other_end, char *buf,
			    size_t len)
{
	char total[32], longest[32];

	human_ns((double)c->ns, total, sizeof(total));
	human_ns((double)c->max_ns, longest, sizeof(longest));
	if (c->rejected == REJECTED_REFUSED && !c->ns)
		text_append(buf, len,
			    "connect() was refused %" PRIu64 " time%s: no program listened there",
			    c->n, plural(c->n));
	else if (c->rejected == REJECTED_REFUSED)
		text_append(buf, len,
			    "connect() was refused %" PRIu64 " times in %s: no program listened "
			    "there",
			    c->n, total);
	else if (c->rejected == REJECTED_RESET && c->ns)
		text_append(buf, len,
			    "%" PRIu64 " connections were reset by %s before any answer, and %s "
			    "passed before it tried again",
			    c->n, other_end, total);
	else if (c->rejected == REJECTED_RESET)
		text_append(buf, len, "reset by %s: %" PRIu64 " connection%s", other_end, c->n,
			    plural(c->n));
	else
		text_append(buf, len, "connecting took %s, %" PRIu64 " time%s, longest %s", total,
			    c->n, plural(c->n), longest);
}

/* "curl[12] on tcp A > B: connecting took 400 ms, 4 times, longest 101 ms" */
static void say_connect(const struct trace_snapshot *s, const struct verdict *v, char *buf,
			size_t len)
{
	const struct trace_endpoint *ep = &s->ep[v->connect.endpoint];
	char name[160], who[48], whom[64];

	endpoint_name(ep, name, sizeof(name));
	program_name(program_at(ep), who, sizeof(who));
	peer_name(s, ep, whom, sizeof(whom));
	snprintf(buf, len, "%s on %s: ", who, name);
	append_connects(&v->connect, whom, buf, len);
}

static const char resets_fix[] =
	"see why the other end resets it: it closed with the request unread, crashed, or has "
	"SO_LINGER 0";

static const char *fix_connect(const struct trace_snapshot *s, const struct verdict *v)
{
	if (v->connect.rejected == REJECTED_RESET)
		return resets_fix;
	if (v->connect.rejected == REJECTED_REFUSED)
		return "start the server first, or check the address and the port (ss -ltn)";
	return "keep the connection open for the next request (keep-alive, a pool), or move the "
	       "two ends closer together";
}

/* "127.0.0.1:5 of tcp A > B waited 1.98 s (99.0 % of its time) for python3[7] to answer; it thinks
 * 300 ms a request, 7 requests" */
static void say_answers(const struct trace_snapshot *s, const struct verdict *v, char *buf,
			size_t len)
{
	const struct slow_answers *a = &v->answers;
	const struct trace_endpoint *ep = &s->ep[a->endpoint];
	struct who server = who_was_last(program_at(ep));
	char name[160], who[PARTY_TEXT];
	bool several = a->connections > 1;

	endpoint_name(ep, name, sizeof(name));
	if (several)
		text_append(name, sizeof(name), " and %zu more", a->connections - 1);
	name_several(&server, a->several);
	who_name(&server, who, sizeof(who));
	snprintf(buf, len, "the client%s on %s waited %s (%.1f %% of %s time) for %s to answer",
		 several ? "s" : "", name, human_time(a->ns).text,
		 100.0 * (double)a->ns / (double)a->lifetime_ns, several ? "their" : "its", who);
	if (!has_requests(&a->requests))
		return;
	text_append(buf, len, "; it ");
	append_requests(&a->requests, false, buf, len);
	if (a->behind < 0)
		return;
	peer_name(s, &s->ep[a->behind], who, sizeof(who));
	text_append(buf, len, ", and waits as long for %s", who);
}

static const struct {
	say *sentence;
	advise *fix;
	const char *plain_fix; /* it does not depend on the verdict; neither: nothing to fix */
} texts[KINDS_N] = {
	[KIND_STALL] = { stall_sentence, fix_stall },
	[KIND_LIMIT] = { limit_sentence },
	[KIND_UNDELIVERED] = { undelivered_sentence, .plain_fix = undelivered_fix },
	[KIND_WITHHELD] = { withheld_sentence, .plain_fix = withheld_fix },
	[KIND_LATE] = { late_sentence, fix_late },
	[KIND_STARVED] = { starved_sentence, .plain_fix = starved_fix },
	[KIND_LOSS] = { loss_sentence, fix_loss },
	[KIND_SCATTERED] = { scattered_sentence, fix_scattered },
	[KIND_UNANSWERED] = { unanswered_sentence, fix_unanswered },
	[KIND_CONNECT] = { say_connect, fix_connect },
	[KIND_ANSWERS] = { say_answers },
	[KIND_MUTUAL] = { say_wait, fix_mutual },
	[KIND_WAIT] = { say_wait },
	[KIND_OPENING] = { opening_sentence },
	[KIND_QUIET] = { quiet_sentence },
	[KIND_UNSEEN] = { unseen_sentence },
};

static bool leads_with_wait(const struct verdict *v)
{
	return v->kind == KIND_WAIT || v->kind == KIND_MUTUAL;
}

/* The sentence of the leading finding. If a wait leads, its own sentence comes later; this one says
 * that nothing held a sender up, or names the stall that is negligible beside the wait. */
static void leading_sentence(const struct trace_snapshot *s, const struct verdict *v, char *buf,
			     size_t len)
{
	if (!leads_with_wait(v))
		texts[v->kind].sentence(s, v, buf, len);
	else if (v->n)
		(v->v[v->lead].limit == LIMIT_NONE ? stall_sentence : limit_sentence)(s, v, buf,
										      len);
	else
		(v->sent || !v->n_unknown ? quiet_sentence : unseen_sentence)(s, v, buf, len);
}

void verdict_sentence(const struct trace_snapshot *s, const struct verdict *v, char *buf,
		      size_t len)
{
	leading_sentence(s, v, buf, len);
	if (leads_with_wait(v) || judge_also_tells_wait(v))
		say_wait(s, v, buf, len);
	if (!v->n && v->kind != KIND_LATE && v->n_unknown && v->sent)
		text_append(buf, len, "; for %zu other%s the cause is unknown", v->n_unknown,
			    plural(v->n_unknown));
}

const char *verdict_fix(const struct trace_snapshot *s, const struct verdict *v)
{
	advise *fix = texts[v->kind].fix;
	const char *plain = texts[v->kind].plain_fix;

	return fix ? fix(s, v) : plain ? plain : "";
}

/* ---- the findings beside the leading one ---- */

/* The kinds that are reported beside the leading finding, in this order. A wait beside a stall is
 * part of the stall's sentence. */
static const enum finding_kind also_kinds[] = { KIND_UNDELIVERED, KIND_WITHHELD, KIND_LATE,
	KIND_STARVED, KIND_LOSS, KIND_SCATTERED, KIND_UNANSWERED,
	KIND_CONNECT, KIND_ANSWERS };

/* Whether the lead covers finding `i`: it is the lead, or the lead is a limit at the same endpoint.
 * Short stalls of a limited stream are not worth a sentence: its states show them. */
static bool covered_by_lead(const struct verdict *v, size_t i)
{
	if (v->kind == KIND_LIMIT)
		return v->v[i].endpoint == v->v[v->lead].endpoint;
	return v->kind == KIND_STALL && i == v->lead;
}

static size_t other_stalls(const struct trace_snapshot *s, const struct verdict *v,
			   char text[][VERDICT_TEXT], size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < v->n && n < max; i++)
		if (!covered_by_lead(v, i))
			finding_sentence(s, &v->v[i], text[n++], VERDICT_TEXT);
	return n;
}

/* "curl[12] on tcp A > B waits for nginx[7] too: 2.90 s of 2.91 s" */
static void fellow_sentence(const struct trace_snapshot *s, const struct verdict *v, char *buf,
			    size_t len)
{
	const struct trace_endpoint *ep = &s->ep[v->fellow.endpoint];
	char name[160], reader[48], server[64];

	endpoint_name(ep, name, sizeof(name));
	if (v->fellow_waits.connections > 1)
		text_append(name, sizeof(name), " and %zu more", v->fellow_waits.connections - 1);
	program_name(&ep->rx_calls, reader, sizeof(reader));
	peer_name(s, ep, server, sizeof(server));
	snprintf(buf, len, "%s on %s waits for %s too: %s of %s", reader, name, server,
		 human_time(v->fellow_waits.ns).text, human_time(v->fellow_waits.lifetime_ns).text);
	if (!has_requests(&v->fellow_waits.requests))
		return;
	text_append(buf, len, "; it ");
	append_requests(&v->fellow_waits.requests, false, buf, len);
}

static void wait_sentence(const struct trace_snapshot *s, const struct verdict *v, char *buf,
			  size_t len)
{
	*buf = '\0';
	say_wait(s, v, buf, len);
}

/* Whether the lead is an unanswered SYN, or about connections that were slow or rejected. */
static bool tells_of_queue(const struct verdict *v)
{
	return v->kind == KIND_CONNECT ||
	       (v->kind == KIND_STALL && v->v[v->lead].unanswered_syn);
}

/* "the accept queue of nginx[7] at 10.0.0.1:80 was full: 290 requests or connections were dropped"
 */
static void queue_sentence(const struct trace_listener *l, char *buf, size_t len)
{
	char at[80];

	trace_addr_text(l->family, &l->local, at, sizeof(at));
	snprintf(buf, len,
		 "the accept queue of %.16s[%d] at %s was full: %" PRIu64
		 " requests or connections were dropped",
		 l->comm, l->tgid, at, l->dropped);
}

size_t verdict_also(const struct trace_snapshot *s, const struct verdict *v,
		    char text[][VERDICT_TEXT], size_t max)
{
	size_t n = other_stalls(s, v, text, max < VERDICT_ALSO_STALLS ? max : VERDICT_ALSO_STALLS);

	if (judge_also_tells_wait(v) && n < max)
		wait_sentence(s, v, text[n++], VERDICT_TEXT);
	if (v->kind == KIND_WAIT && v->fellow.endpoint >= 0 && n < max)
		fellow_sentence(s, v, text[n++], VERDICT_TEXT);
	for (size_t i = 0; i < sizeof(also_kinds) / sizeof(also_kinds[0]) && n < max; i++) {
		enum finding_kind k = also_kinds[i];

		if (k != v->kind &&
		    (judge_found(v, k) || (k == KIND_LOSS && v->loss.endpoint >= 0)))
			texts[k].sentence(s, v, text[n++], VERDICT_TEXT);
	}
	for (size_t i = 0; i < s->listeners.n && n < max && !tells_of_queue(v); i++)
		if (s->listeners.v[i].tgid && listener_was_full(&s->listeners.v[i]))
			queue_sentence(&s->listeners.v[i], text[n++], VERDICT_TEXT);
	return n;
}
