// SPDX-License-Identifier: GPL-2.0-only
/* A finding about a sender as text: its sentence and its fix. */
#include "render/verdict_text.h"

#include <inttypes.h>
#include <sys/socket.h>

#include "base/text.h"
#include "verdict/times.h"
#include "verdict/merge_findings.h"
#include "verdict/stopped_or_throttled.h"
#include "verdict/limit.h"
#include "verdict/pipeline.h"

#define CAUSE_FIX(sym, num, name, stall, nist, what, fix) [sym] = fix,
const char *const tx_fixes[TX_N] = { TX_STATES(CAUSE_FIX) };
const char *const rx_fixes[RX_N] = { RX_STATES(CAUSE_FIX) };

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
void name_several(struct who *p, bool several)
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

void extent_phrase(uint64_t count, uint64_t ns, double share, uint64_t max_ns, char *buf,
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
void root_sentence(const struct trace_snapshot *s, const struct verdict *v, const struct finding *f,
		   char *buf, size_t len)
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

const char starved_fix[] =
	"give it a CPU: see what else runs on the CPUs that it may use (taskset, cpuset, "
	"cpu.max of its cgroup), or raise its priority";

const char more_datagrams_fix[] =
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
