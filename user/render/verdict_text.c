// SPDX-License-Identifier: GPL-2.0-only
/* A verdict as text: the sentence of each finding, the findings beside it, the fix. */
#include "render/ledger_text.h"

#include <inttypes.h>
#include <math.h>
#include <sys/socket.h>

#include "base/text.h"
#include "verdict/times.h"
#include "verdict/merge_findings.h"
#include "verdict/blame.h"
#include "verdict/judge.h"
#include "verdict/stopped_or_throttled.h"
#include "verdict/limit.h"
#include "verdict/other_findings.h"
#include "verdict/own_window.h"
#include "verdict/pipeline.h"
#include "verdict/requests.h"

#define CAUSE_FIX(sym, num, name, stall, nist, what, fix) [sym] = fix,
static const char *const tx_fixes[TX_N] = { TX_STATES(CAUSE_FIX) },
	*const rx_fixes[RX_N] = { RX_STATES(CAUSE_FIX) };

/* A reader that reads again within OFTEN_NS, or several times in each stall, is not elsewhere: the
 * data that it reads takes it that long, or its buffer is small. But a pause of NEVER_AWAY_NS that
 * is LIKE_THE_OTHERS times the average is not like its other pauses. */
#define OFTEN_NS      1000000
#define NEVER_AWAY_NS 50000000
enum { READS_A_STALL = 3, LIKE_THE_OTHERS = 10 };

static uint64_t between_reads(const struct trace_call_stats *reader, const struct finding *f)
{
	uint64_t each;

	if (!reader || !trace_messages_known(reader) || !reader->messages)
		return 0;
	each = f->blamed_ns / reader->messages + 1;
	if (f->max_ns >= NEVER_AWAY_NS && f->max_ns >= LIKE_THE_OTHERS * each)
		return 0;
	return each <= OFTEN_NS || reader->messages >= READS_A_STALL * f->count ? each : 0;
}

static void how_it_reads(const struct trace_call_stats *reader, const struct finding *f,
			 bool several, char *buf, size_t len)
{
	uint64_t each = between_reads(reader, f);

	if (!each)
		snprintf(buf, len, "%s not reading", several ? "are" : "is");
	else
		snprintf(buf, len, "%s %s%s, and %s not keep up", several ? "read" : "reads",
			 each <= OFTEN_NS ? "often" : "every ",
			 each <= OFTEN_NS ? "" : human_time(each).text, several ? "do" : "does");
}

const char stopped_phrase[] = "was stopped (signal, debugger or freezer)";

const char stopped_fix[] = "let it continue, and find out who stopped it: kill -STOP, a debugger, "
			   "cgroup.freeze";

const char throttled_phrase[] = "had used up the CPU quota of its cgroup (cpu.max)";

const char throttled_fix[] = "raise the CPU quota of its cgroup (cpu.max), or make it use less CPU";

const char *halt_phrase(const struct trace_snapshot *s, const struct trace_call_stats *b,
			uint64_t ns)
{
	enum halt why = stopped_or_throttled(s, b, ns);

	if (why == HALT_THROTTLED)
		return throttled_phrase;
	return why == HALT_STOPPED ? stopped_phrase : NULL;
}

const char *halt_fix(const struct trace_snapshot *s, const struct trace_call_stats *b, uint64_t ns)
{
	enum halt why = stopped_or_throttled(s, b, ns);

	if (why == HALT_THROTTLED)
		return throttled_fix;
	return why == HALT_STOPPED ? stopped_fix : NULL;
}

const char *reader_halted(const struct trace_snapshot *s, const struct finding *f)
{
	return f->blamed == BLAME_PEER_READER || f->blamed == BLAME_PEER_NO_CPU
		       ? halt_phrase(s, who_reads(s, &s->ep[f->endpoint]), f->ns)
		       : NULL;
}

/* The reader is why a window or a buffer is full. It does not cause pacing, a small congestion
 * window or a missing ACK, even if it does not read meanwhile. */
bool is_readers_doing(const struct finding *f)
{
	return f->cause == TX_SNDBUF || f->cause == TX_RWND;
}

/* if there are several, none is named alone */
static void name_several(struct who *p, bool several)
{
	if (!several)
		return;
	p->tgid = 0;
	p->others = true;
	p->left = NULL;
}

const char *limit_phrase(enum limit l)
{
	static const char *const phrases[] = { [LIMIT_NONE] = "",
					       [LIMIT_READER_CPU] = "the reader's CPU",
					       [LIMIT_WRITER_CPU] = "the sender's CPU",
					       [LIMIT_SHARED_CPU] = "the CPU that both ends share",
					       [LIMIT_LINK] = "the link",
					       [LIMIT_OWN_WRITES] = "its own small writes",
					       [LIMIT_TURNS] = "both ends' turns",
					       [LIMIT_READER] = "its reader",
					       [LIMIT_HOST] = "this host's CPUs" };

	return phrases[l];
}

/* "waits for slowfeed[7] to send" */
static void reader_waits_phrase(const struct trace_snapshot *s, const struct finding *f,
				bool several, char *buf, size_t len)
{
	const struct trace_endpoint *ep = &s->ep[f->reader_waits];
	struct who sender = who_does_not_send(s, ep, ep->rx.ns[RX_WAIT]);
	char name[PARTY_TEXT] = "others";

	if (sender.tgid || sender.others)
		who_name(&sender, name, sizeof(name));
	else if (ep->remote.port)
		address_of_peer(ep, name, sizeof(name));
	snprintf(buf, len, "%s for %s to send", several ? "wait" : "waits", name);
}

void append_busy_thread(const struct trace_call_stats *b, uint64_t ns, char *buf, size_t len)
{
	char busy[32];

	if (!ns || 2 * b->busiest_cpu_ns < ns)
		return;
	human_ns((double)b->busiest_cpu_ns, busy, sizeof(busy));
	text_append(buf, len, "; one of its threads was busy on a CPU for %s, so it may compute",
		    busy);
}

const char *reader_phrase(const struct trace_snapshot *s, const struct finding *f, bool several,
			  char *buf, size_t len)
{
	const struct trace_call_stats *reader = who_reads(s, &s->ep[f->endpoint]);

	if (f->reader_waits >= 0) {
		reader_waits_phrase(s, f, several, buf, len);
		return buf;
	}
	how_it_reads(reader, f, several, buf, len);
	if (reader)
		append_busy_thread(reader, f->ns, buf, len);
	return buf;
}

static void name_late(const struct trace_snapshot *s, const struct finding *f, struct who *late,
		      char *buf, size_t len)
{
	const struct trace_endpoint *ep = &s->ep[f->endpoint];
	struct who held_up = finding_sender(s, f);
	bool seen = who_is_late(s, ep, f->cause, late);

	name_several(late, f->all.several_blamed);
	snprintf(buf, len, "the peer");
	if (late->tgid && late->tgid == held_up.tgid)
		awaited_name(late, &held_up, buf, len);
	else if (late->tgid || late->others || late->left || late->too_young)
		who_name(late, buf, len);
	else if (ep->making.other_pid)
		address_of_peer(ep, buf, len);
	else if (seen && f->blamed == BLAME_PEER_READER)
		snprintf(buf, len, "%s",
			 f->surety == SEEN_BOTH_ENDS ? "the peer, where no read was seen,"
						     : "its reader, which was not seen,");
}

static void blame_phrase(const struct trace_snapshot *s, const struct finding *f, char *buf,
			 size_t len)
{
	char name[PARTY_TEXT], how[PARTY_TEXT + 96];
	struct who late = {};

	name_late(s, f, &late, name, sizeof(name));
	buf[0] = '\0';
	if (f->blamed == BLAME_PEER_DELACK)
		snprintf(buf, len, " <- delayed ACK of %s", name);
	else if (f->small_reads)
		snprintf(buf, len, " <- %s %s in small pieces", name,
			 late.others ? "read" : "reads");
	else if (f->limit == LIMIT_READER_CPU)
		snprintf(buf, len, " <- %s %s CPU", name,
			 late.others ? "are busy on their" : "is busy on its");
	else if (f->limit != LIMIT_NONE && f->limit != LIMIT_OWN_WRITES)
		snprintf(buf, len, ", limited by %s", limit_phrase(f->limit));
	else if (reader_halted(s, f))
		snprintf(buf, len, " <- %s %s", name, reader_halted(s, f));
	else if (f->blamed == BLAME_PEER_READER)
		snprintf(buf, len, "%s %s %s", is_readers_doing(f) ? " <-" : ", while", name,
			 reader_phrase(s, f, late.others, how, sizeof(how)));
	else if (f->blamed == BLAME_PEER_NO_CPU)
		snprintf(buf, len, " <- %s %s waiting for a CPU", name, late.others ? "are" : "is");
	else if (f->blamed == BLAME_NO_CPU)
		snprintf(buf, len, " <- it was woken, and waited for a CPU");
	else if (f->unanswered_syn)
		snprintf(buf, len, " <- no answer to its SYN");
	else if (f->late_not_lost)
		snprintf(buf, len,
			 " <- the path delayed packets rather than lost them: most retransmitted "
			 "data had already arrived");
	else if (f->blamed == BLAME_PATH || f->by_loss)
		snprintf(buf, len, " <- loss on the path");
	else if (f->blamed == BLAME_OWN_WRITES)
		snprintf(buf, len, " <- its own next write: %s coalesces small writes",
			 f->cause == TX_NAGLE ? "Nagle's algorithm" : "the cork");
}

static const char *surety_phrase(const struct finding *f)
{
	if (f->surety == SUSPECTED)
		return "; suspected from samples";
	if (f->blamed == BLAME_NOBODY || f->blamed == BLAME_OWN_WRITES || f->blamed == BLAME_NO_CPU)
		return "";
	return f->surety == SEEN_BOTH_ENDS ? "; seen at both ends"
					   : "; inferred from this end alone";
}

enum { CAUSE_TEXT = 448 };

void causes_text(const struct finding *f, char *buf, size_t len)
{
	snprintf(buf, len, "%s", trace_tx_names[f->cause]);
	for (unsigned int c = 0; c < TX_N; c++)
		if (c != f->cause && f->all.causes & 1u << c)
			text_append(buf, len, ", %s", trace_tx_names[c]);
}

/* "known[12] on pipe:[34]: sndbuf <- known[13] is not reading" */
static void cause_phrase(const struct trace_snapshot *s, const struct finding *f, char *buf,
			 size_t len)
{
	const struct trace_endpoint *ep = &s->ep[f->endpoint];
	struct who held_up = finding_sender(s, f);
	char name[160], sender[PARTY_TEXT], causes[CAUSES_TEXT], blame[PARTY_TEXT + 64];

	endpoint_name(ep, name, sizeof(name));
	if (f->all.connections > 1)
		text_append(name, sizeof(name), " and %zu more", f->all.connections - 1);
	name_several(&held_up, f->all.several_senders);
	who_name(&held_up, sender, sizeof(sender));
	blame_phrase(s, f, blame, sizeof(blame));
	causes_text(f, causes, sizeof(causes));
	snprintf(buf, len, "%s on %s: %s%s", sender, name, causes, blame);
}

/* the part that the blame explains; empty if it explains none, or nearly all */
static void blamed_part(const struct finding *f, char *buf, size_t len)
{
	static const char *const parts[BLAME_N] = {
		[BLAME_NOBODY] = "for that reason",
		[BLAME_PEER_DELACK] = "by delayed ACKs",
		[BLAME_PEER_READER] = "with unread data there",
		[BLAME_PATH] = "by loss",
		[BLAME_OWN_WRITES] = "until its next write",
		[BLAME_NO_CPU] = "without a CPU",
		[BLAME_PEER_NO_CPU] = "without a CPU for the reader",
	};
	const struct totals *all = &f->all;
	bool inferred = !all->blamed_ns; /* blamed by their length; their time is not known */

	buf[0] = '\0';
	if (!all->blamed_n || (all->blamed_n * 10 >= all->count * 9 &&
			       (inferred || all->blamed_ns * 10 >= all->ns * 9)))
		return;
	snprintf(buf, len, ", of which %" PRIu64 " time%s%s%s%s %s", all->blamed_n,
		 plural(all->blamed_n), inferred ? "" : ", ",
		 inferred ? "" : human_time(all->blamed_ns).text, inferred ? "" : ",",
		 parts[f->blamed]);
}

/* "12 times, 3.2 s in all (80.0 % of its time), longest 1.1 s"; for several connections "12 times
 * in 6 connections, ... of their time" */
static void extent_of(size_t connections, uint64_t count, uint64_t ns, double share,
		      uint64_t max_ns, char *buf, size_t len)
{
	char total[32], longest[32], where[48] = "";

	human_ns((double)ns, total, sizeof(total));
	human_ns((double)max_ns, longest, sizeof(longest));
	if (connections > 1)
		snprintf(where, sizeof(where), " in %zu connections", connections);
	if (!count) { /* samples count no episodes */
		snprintf(buf, len, "%s%s in all (%.1f %% of %s time)", total, where, 100 * share,
			 connections > 1 ? "their" : "its");
		return;
	}
	snprintf(buf, len, "%" PRIu64 " time%s%s, %s in all (%.1f %% of %s time), longest %s",
		 count, plural(count), where, total, 100 * share, connections > 1 ? "their" : "its",
		 longest);
}

static void extent_phrase(uint64_t count, uint64_t ns, double share, uint64_t max_ns, char *buf,
			  size_t len)
{
	extent_of(1, count, ns, share, max_ns, buf, len);
}

void finding_sentence(const struct trace_snapshot *s, const struct finding *f, char *buf,
		      size_t len)
{
	char cause[CAUSE_TEXT], extent[160], part[96];

	cause_phrase(s, f, cause, sizeof(cause));
	blamed_part(f, part, sizeof(part));
	extent_of(f->all.connections, f->all.count, f->all.ns, finding_share(f), f->all.max_ns,
		  extent, sizeof(extent));
	snprintf(buf, len, "%s: %s%s%s", cause, extent, part, surety_phrase(f));
}

/* The stall, cause and blame at the end of the chain of waits that `f` begins; empty: it begins
 * none. */
static void root_sentence(const struct trace_snapshot *s, const struct verdict *v,
			  const struct finding *f, char *buf, size_t len)
{
	buf[0] = '\0';
	if (f->root >= 0)
		cause_phrase(s, &v->v[f->root], buf, len);
}

/* Only the reader's end shows whether the reader was late or its window small. */
static bool reader_state_known(const struct trace_snapshot *s, const struct finding *f)
{
	return f->surety == SEEN_BOTH_ENDS &&
	       (f->peer < 0 || s->ep[f->peer].rx.resolution[RX_UNREAD] != TRACE_UNKNOWN);
}

static const char more_datagrams_fix[] =
	"read sooner, or let more messages queue at the reader: net.unix.max_dgram_qlen limits "
	"their number, whatever SO_SNDBUF is here";

const char read_while_writing_fix[] =
	"let one of the two read while it waits: poll() for both directions, or a thread "
	"for each (for a subprocess: communicate())";

static const char *deadlock_fix(const struct finding *f)
{
	return f->circle ? "let one of them read while it waits: poll() for both directions, or a "
			   "thread for each"
			 : read_while_writing_fix;
}

/* Whether the connection's listener was seen, and has dropped nothing. */
static bool listens_with_room(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	const struct trace_listener *l = ep->peer < 0 ? NULL : listener_of(s, &s->ep[ep->peer]);

	return l && !l->dropped;
}

static const char slow_start_fix[] =
	"keep connections open and use them again, or begin with a larger window (ip route change "
	"... initcwnd 30)";

static const char *pacing_fix(const struct trace_endpoint *ep)
{
	if (paces_at_set_rate(ep))
		return "raise SO_MAX_PACING_RATE, or do not set it";
	if (paces_itself(ep) && is_in_slow_start(ep))
		return slow_start_fix;
	if (paces_itself(ep))
		return "look for loss on the path and for small buffers, or try another "
		       "congestion control (net.ipv4.tcp_congestion_control)";
	return tx_fixes[TX_PACING];
}

#define PAUSES 0.2 /* of its time */

static bool starts_after_pauses(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_TCP && is_far(ep) && ep->retransmits_res != TRACE_UNKNOWN &&
	       !ep->retransmits &&
	       (double)ep->tx.ns[TX_IDLE] >= PAUSES * (double)ep->tx.lifetime_ns;
}

/* the fix for a sender that its congestion control or its pacing holds up */
static const char *own_pace_fix(const struct trace_endpoint *ep, const struct finding *f)
{
	if (f->by_loss)
		return "find what drops packets on the path: a full queue, a bad link, a policer "
		       "(ip -s link, tc -s qdisc, nstat)";
	if (f->cause == TX_CWND && f->blamed == BLAME_NOBODY && is_in_slow_start(ep))
		return slow_start_fix;
	if (f->cause == TX_CWND && f->blamed == BLAME_NOBODY && starts_after_pauses(ep))
		return "set net.ipv4.tcp_slow_start_after_idle to 0: nothing was lost, but after "
		       "each pause the congestion window starts small again";
	return f->cause == TX_PACING ? pacing_fix(ep) : tx_fixes[f->cause];
}

/* A larger buffer absorbs a burst; it does not help against a slow reader. */
static const char *sndbuf_fix(const struct trace_snapshot *s, const struct finding *f)
{
	const struct trace_endpoint *ep = &s->ep[f->endpoint];

	if (comes_in_bursts(ep))
		return "enlarge the pipe (F_SETPIPE_SZ): the writer writes in bursts, and between "
		       "them the reader waits; or read in larger pieces";
	if (ep->proto == TRACE_PIPE)
		return "read sooner or in larger pieces; a larger pipe (F_SETPIPE_SZ) only "
		       "absorbs bursts";
	if (ep->proto == TRACE_UNIX_DGRAM)
		return more_datagrams_fix;
	if (ep->family == AF_UNIX)
		return "read sooner or in larger pieces; a larger buffer (SO_SNDBUF) only absorbs "
		       "bursts";
	if (f->blamed == BLAME_PEER_READER)
		return "read sooner or in larger pieces; a larger buffer (SO_SNDBUF, tcp_wmem) "
		       "only absorbs bursts";
	if (reader_state_known(s, f))
		return "raise SO_SNDBUF or tcp_wmem: the reader is fast enough, but the buffer is "
		       "too small for the path";
	return "make the reader faster, or raise SO_SNDBUF or tcp_wmem";
}

const char *finding_fix(const struct trace_snapshot *s, const struct finding *f)
{
	if (f->deadlock >= 0 || f->circle)
		return deadlock_fix(f);
	if (f->cause == TX_SNDBUF && f->blamed == BLAME_PEER_DELACK)
		return "raise SO_SNDBUF here, or set TCP_QUICKACK at the peer: the buffer empties "
		       "only when the peer's delayed ACK comes";
	if (f->small_reads)
		return "read in larger pieces: a call for each few bytes takes more time than the "
		       "bytes (a buffered reader, a larger block size)";
	if (reader_halted(s, f))
		return halt_fix(s, who_reads(s, &s->ep[f->endpoint]), f->ns);
	if (f->blamed == BLAME_NO_CPU || f->blamed == BLAME_PEER_NO_CPU)
		return starved_fix;
	if (f->late_not_lost)
		return "nothing was lost: find what delays the path at times (a deep queue, a "
		       "radio link, a host without a free CPU), or raise the retransmission "
		       "timer's minimum (ip route ... rto_min)";
	if (f->unanswered_syn && full_listener(s, &s->ep[f->endpoint]))
		return "accept() sooner, or give listen() a larger backlog (and "
		       "net.core.somaxconn)";
	if (f->unanswered_syn && listens_with_room(s, &s->ep[f->endpoint]))
		return "find what drops the SYN: a firewall, loss on the path; a lost SYN is "
		       "retransmitted only after a second";
	if (f->unanswered_syn)
		return "let the listener take more connections (accept() sooner, a larger backlog "
		       "in listen(), net.core.somaxconn), or find what drops the SYN: a firewall, "
		       "loss on the path, a host that is down";
	if (f->blamed == BLAME_OWN_WRITES)
		return "write more at once; throughput gains from the waiting, so use TCP_NODELAY "
		       "only where each message must leave at once";
	if (f->blamed == BLAME_PEER_READER &&
	    (f->cause == TX_PACING || f->cause == TX_CWND || f->cause == TX_NAGLE))
		return "make the peer read sooner: sending faster gains nothing while it has "
		       "unread data";
	if (f->cause == TX_RWND && f->blamed == BLAME_NOBODY && !reader_state_known(s, f))
		return "if the reader reads all the time, raise its SO_RCVBUF or tcp_rmem: the "
		       "window is too small for the path; if not, make it read sooner (trace its "
		       "end to find out which)";
	if (f->cause == TX_RWND && f->blamed == BLAME_NOBODY)
		return "raise the reader's SO_RCVBUF or tcp_rmem: the reader is fast enough, but "
		       "the window is too small for the path";
	if (f->cause == TX_SNDBUF)
		return sndbuf_fix(s, f);
	return own_pace_fix(&s->ep[f->endpoint], f);
}

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

const char starved_fix[] =
	"give it a CPU: see what else runs on the CPUs that it may use (taskset, cpuset, "
	"cpu.max of its cgroup), or raise its priority";

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
static void append_wait(const struct trace_snapshot *s, const struct verdict *v, char *buf,
			size_t len)
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
