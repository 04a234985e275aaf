// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/limit.h"

#include <math.h>
#include <string.h>

#include "verdict/blame.h"
#include "verdict/pipeline.h"
#include "verdict/stopped_or_throttled.h"
#include "verdict/times.h"

/* A thread that runs for this share of the time is CPU-bound: accounting ticks and the VM's host
 * take the rest. */
#define BUSY_SHARE 0.75
/* Waits for a CPU shorter than this are not counted (bpf/starved.bpf.h). So if data is unread
 * for less on average, the share SHORT_WHILES is enough. */
#define COUNTED_NS   1000000
#define SHORT_WHILES 0.5
/* Two on one CPU, who take turns on it */
#define BOTH_SHARE 0.8
#define ITS_PART   0.2

/* The share of `lifetime_ns` that it ran on a CPU; NAN: unknown. */
static double cpu_share(const struct trace_call_stats *b, uint64_t lifetime_ns)
{
	return b->cpu_res == TRACE_UNKNOWN || !lifetime_ns
		       ? NAN
		       : (double)b->cpu_ns / (double)lifetime_ns;
}

static const struct trace_endpoint *reading_end(const struct trace_snapshot *s,
						const struct finding *f)
{
	const struct trace_endpoint *ep = &s->ep[f->endpoint];

	return ep->proto == TRACE_PIPE			  ? ep
	       : ep->peer >= 0 && (size_t)ep->peer < s->n ? &s->ep[ep->peer]
							  : NULL;
}

/* what a reader's pace holds up */
static bool may_be_readers_pace(const struct finding *f)
{
	switch (f->cause) {
	case TX_SNDBUF:
	case TX_RWND:
	case TX_CWND:
	case TX_PACING:
		return f->blamed == BLAME_NOBODY || f->blamed == BLAME_PEER_READER ||
		       f->blamed == BLAME_PEER_NO_CPU || f->blamed == BLAME_NO_CPU;
	default:
		return false;
	}
}

/* Reader and writer share one CPU, and each waits while the other runs. If another task used it
 * too, their shares would add up to less. */
static bool share_a_cpu(const struct trace_endpoint *ep, const struct trace_endpoint *end,
			double reader, double writer)
{
	uint64_t waited = end->rx_calls.no_cpu_ns + end->rx_calls.runq_ns + ep->tx_calls.no_cpu_ns +
			  ep->tx_calls.runq_ns;

	return writer >= ITS_PART && reader + writer >= BOTH_SHARE && reader + writer <= 1.05 &&
	       4 * waited >= end->rx.lifetime_ns;
}

/* Each waits for the other for a good part of its time, a thousand times, and for moments. */
#define TURNS_SHARE 0.3
#define TURNS	    1000
#define TURN_NS	    1000000

static bool take_turns(const struct trace_endpoint *ep, const struct trace_endpoint *end,
		       const struct finding *f)
{
	return (double)f->ns >= TURNS_SHARE * (double)ep->tx.lifetime_ns &&
	       (double)end->rx.ns[RX_WAIT] >= TURNS_SHARE * (double)end->rx.lifetime_ns &&
	       f->count >= TURNS && f->ns <= TURN_NS * f->count &&
	       end->rx.ns[RX_WAIT] <= (uint64_t)TURN_NS * end->rx.count[RX_WAIT];
}

static double share_explained(const struct trace_endpoint *end)
{
	const struct trace_ledger *rx = &end->rx;

	return rx->ns[RX_UNREAD] < COUNTED_NS * (uint64_t)rx->count[RX_UNREAD] ? SHORT_WHILES
									       : BUSY_SHARE;
}

/* It is never elsewhere: whenever there is something to read it runs, or would if it had a CPU; and
 * that is so for most of what held up the sender. */
static bool runs_or_is_ready(const struct trace_endpoint *end, const struct finding *f)
{
	const struct trace_call_stats *b = &end->rx_calls;
	uint64_t had_data = end->rx.ns[RX_UNREAD] + end->rx.ns[RX_WORK];

	return b->cpu_res != TRACE_UNKNOWN && had_data && 2 * had_data >= f->ns &&
	       (double)(b->cpu_ns + b->no_cpu_ns) >= share_explained(end) * (double)had_data;
}

/* CPU time is counted from the start of a process. Of one that is older than its endpoint it may
 * have been used before, on several CPUs; a tenth more of life makes no difference. */
#define OLDER 0.1

/* The thread that calls hands its work to others, as pigz does: the process has no more to give. */
static double process_cpu_share(const struct trace_call_stats *b, uint64_t at_ns,
				uint64_t endpoint_life)
{
	uint64_t life = b->born_ns && at_ns > b->born_ns ? at_ns - b->born_ns : 0;
	uint64_t before = life > endpoint_life ? life - endpoint_life : 0;

	return life && b->process_ran_ns > before &&
			       (double)before <= OLDER * (double)endpoint_life
		       ? (double)(b->process_ran_ns - before) / (double)(life - before)
		       : 0;
}

/* It is back soon, and does not sleep between its reads; or it has nothing else to work on. */
#define BACK_SOON_NS 10000000

static bool other_threads_work(const struct trace_snapshot *s, const struct trace_endpoint *end,
			       const struct finding *f)
{
	return f->count &&
	       process_cpu_share(&end->rx_calls, end->at_ns, end->rx.lifetime_ns) >= BUSY_SHARE &&
	       (f->ns / f->count < BACK_SOON_NS || is_filter(s, end->rx_calls.tgid));
}

double reader_cpu_share(const struct trace_snapshot *s, const struct finding *f)
{
	const struct trace_endpoint *end = reading_end(s, f);

	if (end && other_threads_work(s, end, f))
		return process_cpu_share(&end->rx_calls, end->at_ns, end->rx.lifetime_ns);
	if (end && end->rx_calls.busiest_cpu_ns) /* which thread reads is unknown */
		return fmin(1, (double)end->rx_calls.busiest_cpu_ns / (double)end->rx.lifetime_ns);
	return end ? fmin(cpu_share(&end->rx_calls, end->rx.lifetime_ns), 1) : NAN;
}

/* A compiler computes before it first writes: the call's own thread was not seen to run. */
double sender_cpu_share(const struct trace_call_stats *b, const struct trace_endpoint *ep)
{
	return fmin(1, fmax(cpu_share(b, ep->rx.lifetime_ns),
			    process_cpu_share(b, ep->at_ns, ep->rx.lifetime_ns)));
}

/* One who reads a byte at a time is slow by the number of its calls. */
#define SMALL_READ    256
#define MANY_READS    1000
#define READ_TAKES_NS 100000 /* at most, in a slow language; who reads more seldom works */

/* The window shuts after every few packets: its reader may be busy with its calls, but it is the
 * receive buffer that makes them so many. */
#define SMALL_WINDOW 8192

static bool window_is_small(const struct trace_endpoint *ep, const struct finding *f)
{
	return f->cause == TX_RWND && f->count >= MANY_READS &&
	       ep->tx_calls.bytes <= SMALL_WINDOW * f->count;
}

/* It takes all that has come: so small it was written. */
static bool writes_as_small(const struct trace_endpoint *ep, const struct trace_call_stats *reader)
{
	return trace_messages_known(&ep->tx_calls) && ep->tx_calls.messages >= reader->messages;
}

/* Its calls take no time to speak of: it sleeps, or waits for another, between them. */
#define SOME_CPU 0.2

static bool has_little_to_do(const struct trace_endpoint *end)
{
	const struct trace_call_stats *b = &end->rx_calls;

	return b->cpu_res != TRACE_UNKNOWN &&
	       (double)(b->cpu_ns + b->no_cpu_ns + b->runq_ns) <
		       SOME_CPU * (double)end->rx.lifetime_ns;
}

bool reads_small_pieces(const struct trace_endpoint *end)
{
	const struct trace_call_stats *b = &end->rx_calls;

	if ((end->proto != TRACE_TCP && end->proto != TRACE_PIPE &&
	     end->proto != TRACE_UNIX_STREAM) ||
	    has_little_to_do(end))
		return false;
	return trace_messages_known(b) && b->messages >= MANY_READS &&
	       b->bytes <= SMALL_READ * b->messages &&
	       b->messages * READ_TAKES_NS >= end->rx.lifetime_ns;
}

bool reads_small(const struct trace_snapshot *s, const struct finding *f)
{
	const struct trace_endpoint *end = reading_end(s, f);

	return end && may_be_readers_pace(f) && reads_small_pieces(end) &&
	       !writes_as_small(&s->ep[f->endpoint], &end->rx_calls);
}

/* A queue stands before the bottleneck, so that the round trip is longer than the path's own; few
 * are lost; and that is the rate it delivers. */
#define QUEUE_TIMES 1.5
#define QUEUE_BYTES 5000 /* less of it is no queue, but a round trip of microseconds that varies */
#define LOST_SHARE  0.02
#define QUEUE_LEAST_US 100 /* on this host: a round trip that is longer by that */
#define RATE_LEAST  0.5
#define BYTES_LEAST 100000

double rate_of_sending(const struct trace_endpoint *ep)
{
	uint64_t busy = ep->tx.lifetime_ns - ep->tx.ns[TX_IDLE];

	return busy ? 1e9 * (double)ep->tx_calls.bytes / (double)busy : 0;
}

bool queue_stands(const struct trace_endpoint *ep)
{
	double late_us = (double)ep->rtt_us - (double)ep->min_rtt_us;

	return ep->rtt_us >= QUEUE_TIMES * ep->min_rtt_us &&
	       late_us * (double)ep->path.delivery_bytes_per_s >= 1e6 * QUEUE_BYTES;
}

static bool loses_little(const struct trace_path *p)
{
	return (double)p->lost_segments <= LOST_SHARE * (double)p->sent_segments;
}

/* A congestion control makes of it what it will, a small window or a slow pace: so much of what was
 * sent was sent again. */
#define AGAIN_SHARE 0.01

bool is_held_by_loss(const struct trace_snapshot *s, const struct finding *f)
{
	const struct trace_endpoint *ep = &s->ep[f->endpoint];
	uint64_t again = ep->retransmits > ep->needless ? ep->retransmits - ep->needless : 0;
	bool own_pace = f->cause == TX_CWND || (f->cause == TX_PACING && f->paced_by_itself);

	return own_pace && f->blamed == BLAME_NOBODY && ep->retransmits_res != TRACE_UNKNOWN &&
	       ep->path.sent_segments &&
	       (double)again >= AGAIN_SHARE * (double)ep->path.sent_segments;
}

static bool has_much_to_send(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_TCP && !ep->path.app_limited && ep->min_rtt_us &&
	       ep->tx_calls.bytes >= BYTES_LEAST;
}

static bool path_is_full(const struct trace_endpoint *ep)
{
	const struct trace_path *p = &ep->path;

	return has_much_to_send(ep) && p->delivery_bytes_per_s && queue_stands(ep) &&
	       loses_little(p) &&
	       rate_of_sending(ep) >= RATE_LEAST * (double)p->delivery_bytes_per_s;
}

/* A congestion control that paces, as BBR does, lets no queue stand: it sends what it measured that
 * the path delivers, once it no longer looks for more. */
#define NO_PROBING    1.5

/* Nearly: the kernel may take a few per cent off (tcp_pacing_ss_ratio, BBR's margin). */
#define AT_MOST_RATE 0.9

bool paces_at_set_rate(const struct trace_endpoint *ep)
{
	const struct trace_path *p = &ep->path;

	return p->max_pacing_bytes_per_s &&
	       (double)p->pacing_bytes_per_s >= AT_MOST_RATE * (double)p->max_pacing_bytes_per_s;
}

bool paces_itself(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_TCP && *ep->path.congestion_control && !paces_at_set_rate(ep) &&
	       2 * ep->parts.ns[TRACE_PART_DEFERRED] < ep->tx.ns[TX_PACING];
}

/* A window that doubles with each round trip has room for ten thousand segments after ten; BBR
 * looks for the path's rate as long. */
#define SLOW_START_TRIPS 12

bool is_in_slow_start(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_TCP && ep->retransmits_res != TRACE_UNKNOWN &&
	       !ep->retransmits && is_far(ep) &&
	       ep->tx.lifetime_ns <= SLOW_START_TRIPS * 1000ull * ep->min_rtt_us;
}

/* For all but BBR, and its versions, the kernel makes the pace of window and round trip, 1.2 times
 * what is delivered (tcp_update_pacing_rate()): that measures nothing. */
static bool paces_by_rate(const struct trace_path *p)
{
	return !strncmp(p->congestion_control, "bbr", 3);
}

static bool sends_all_that_path_delivers(const struct trace_endpoint *ep)
{
	const struct trace_path *p = &ep->path;
	double delivered = (double)p->delivery_bytes_per_s;

	return delivered && !p->app_limited && is_far(ep) &&
	       ep->tx_calls.bytes >= BYTES_LEAST && loses_little(p) &&
	       rate_of_sending(ep) >= RATE_LEAST * delivered &&
	       (double)p->pacing_bytes_per_s <= NO_PROBING * delivered;
}

/* A buffer or window that is too small makes the path look slow to it. */
static bool buffers_hold(const struct trace_endpoint *ep)
{
	return 10 * (ep->tx.ns[TX_SNDBUF] + ep->tx.ns[TX_RWND]) >= ep->tx.ns[TX_PACING];
}

static bool paces_at_path(const struct trace_endpoint *ep)
{
	return paces_itself(ep) && paces_by_rate(&ep->path) && !buffers_hold(ep) &&
	       sends_all_that_path_delivers(ep);
}

/* A queue on this host is seen: how much of it is dropped, or what was delivered last, tells no
 * more. Where the round trip is the path's own, as behind a qdisc that delays, it is not full. */
bool device_is_full(const struct trace_endpoint *ep)
{
	return 2 * ep->tx.ns[TX_DEVICE] >= ep->tx.lifetime_ns && has_much_to_send(ep) &&
	       ep->rtt_us >= QUEUE_TIMES * ep->min_rtt_us &&
	       ep->rtt_us - ep->min_rtt_us >= QUEUE_LEAST_US;
}

/* It holds what is left of a large write until the next ACK, which comes at once. */
static bool is_brief_nagle(const struct trace_snapshot *s, const struct finding *f)
{
	const struct trace_looks *l = s->looks ? &s->looks[f->endpoint] : NULL;

	return f->cause == TX_NAGLE && l && 2 * l->tx_again[TX_NAGLE] < l->tx_seen[TX_NAGLE];
}

/* Samples do not find a thread in a call that runs, but its CPU time is known. */
#define BYTES_A_SECOND 50e6
#define HALF_A_CPU     0.5

static bool is_at_work(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	double bytes = 1e9 * (double)ep->tx_calls.bytes,
	       cpu = cpu_share(&ep->tx_calls, ep->tx.lifetime_ns);

	return 2 * ep->tx.ns[TX_WORK] >= ep->tx.lifetime_ns ||
	       (s->looks && cpu >= HALF_A_CPU &&
		bytes >= BYTES_A_SECOND * (double)ep->tx.lifetime_ns);
}

/* Between two programs of one host a congestion control finds no path to be kind to: what it holds
 * up is little beside the time that the sender is at work. */

static bool is_at_work_on_this_host(const struct trace_snapshot *s, const struct finding *f)
{
	const struct trace_endpoint *ep = &s->ep[f->endpoint];
	bool holds_itself = f->cause == TX_CWND ||
			    (f->cause == TX_PACING && !paces_at_set_rate(ep)) ||
			    (f->cause == TX_SNDBUF && f->blamed == BLAME_NOBODY) ||
			    is_brief_nagle(s, f);

	return stays_on_host(ep) && holds_itself && is_at_work(s, ep);
}

static bool link_is_full(const struct trace_endpoint *ep, const struct finding *f)
{
	if (f->cause == TX_DEVICE)
		return device_is_full(ep);
	return (f->cause == TX_CWND || f->cause == TX_PACING) &&
	       (f->blamed == BLAME_NOBODY || f->blamed == BLAME_PATH) &&
	       (path_is_full(ep) || (f->cause == TX_PACING && paces_at_path(ep)));
}

/* A writer that tries again and again is busy too: its reader is elsewhere. */
static bool leaves_unread(const struct trace_endpoint *end, const struct finding *f)
{
	return f->blamed == BLAME_PEER_READER && 2 * end->rx.ns[RX_UNREAD] >= f->ns;
}

/* What has become so much more since then is not what the ledger saw. */
#define MORE_SINCE 1.5

/* LIMIT_NONE: the ledger was not asked, or found a stall too */
static enum limit ruled_by_ledger(const struct trace_snapshot *s, const struct finding *f)
{
	const struct trace_endpoint *ep = &s->ep[f->endpoint];

	for (size_t i = 0; i < s->n_rulings; i++) {
		const struct trace_ruling *r = &s->rulings[i];

		if (r->serial == ep->serial && r->cause == f->cause &&
		    (double)f->ns <= MORE_SINCE * r->share * (double)ep->tx.lifetime_ns)
			return (enum limit)r->limit;
	}
	return LIMIT_NONE;
}

/* Which thread reads is unknown. One was on a CPU for most of what held up the sender, and so many
 * bytes went through meanwhile that whoever reads does nothing else. */
static bool busiest_may_read(const struct trace_endpoint *end, const struct finding *f)
{
	const struct trace_call_stats *b = &end->rx_calls;

	return b->cpu_res == TRACE_UNKNOWN &&
	       (double)b->busiest_cpu_ns >= BUSY_SHARE * (double)f->ns &&
	       1e9 * (double)b->bytes >= BYTES_A_SECOND * (double)end->rx.lifetime_ns;
}

/* Nobody knows what a reader does that is not traced, but this one is always back at once, and a
 * lot goes through. */
#define AT_ONCE_NS	1000000
#define AT_ONCE_MOST_NS 10000000

static bool reader_is_always_back(const struct trace_endpoint *ep, const struct finding *f)
{
	return stays_on_host(ep) && f->cause == TX_RWND && f->blamed == BLAME_PEER_READER &&
	       f->count && f->ns < AT_ONCE_NS * f->count && f->max_ns < AT_ONCE_MOST_NS &&
	       !window_is_small(ep, f) &&
	       1e9 * (double)ep->tx_calls.bytes >= BYTES_A_SECOND * (double)ep->tx.lifetime_ns;
}

/* By samples, of a stream that stays on this host and carries so much: whatever holds a segment
 * back, for microseconds, the CPUs set the pace. */
static bool is_at_full_speed(const struct trace_snapshot *s, const struct finding *f)
{
	const struct trace_endpoint *ep = &s->ep[f->endpoint];

	return s->looks && ep->proto == TRACE_TCP && ep->min_rtt_us &&
	       ep->min_rtt_us < ON_THIS_HOST_US && !is_held_by_loss(s, f) &&
	       (f->cause == TX_SNDBUF || f->cause == TX_RWND || f->cause == TX_CWND ||
		f->cause == TX_PACING) &&
	       1e9 * (double)ep->tx_calls.bytes >= FULL_SPEED * (double)ep->tx.lifetime_ns;
}

static enum limit limit_that_is_seen(const struct trace_snapshot *s, const struct finding *f)
{
	const struct trace_endpoint *ep = &s->ep[f->endpoint], *end = reading_end(s, f);
	double reader, writer;

	if (ruled_by_ledger(s, f) != LIMIT_NONE)
		return ruled_by_ledger(s, f);
	if (f->blamed == BLAME_OWN_WRITES)
		return LIMIT_OWN_WRITES;
	if (link_is_full(ep, f))
		return LIMIT_LINK;
	if (is_at_work_on_this_host(s, f))
		return LIMIT_WRITER_CPU;
	if (!end && reader_is_always_back(ep, f))
		return LIMIT_READER;
	if (!end || !may_be_readers_pace(f) || reads_small(s, f) || window_is_small(ep, f) ||
	    stopped_or_throttled(s, &end->rx_calls, f->ns) == HALT_STOPPED)
		return LIMIT_NONE;
	reader = reader_cpu_share(s, f);
	writer = cpu_share(&ep->tx_calls, ep->tx.lifetime_ns);
	if (share_a_cpu(ep, end, reader, writer))
		return LIMIT_SHARED_CPU;
	if (take_turns(ep, end, f))
		return LIMIT_TURNS;
	if (runs_or_is_ready(end, f) && end->rx_calls.cpu_ns >= end->rx_calls.no_cpu_ns)
		return LIMIT_READER_CPU;
	if (other_threads_work(s, end, f) || busiest_may_read(end, f))
		return LIMIT_READER_CPU;
	if (writer >= BUSY_SHARE && !leaves_unread(end, f))
		return LIMIT_WRITER_CPU;
	return LIMIT_NONE;
}

enum limit limit_of(const struct trace_snapshot *s, const struct finding *f)
{
	enum limit seen = limit_that_is_seen(s, f);

	return seen == LIMIT_NONE && is_at_full_speed(s, f) ? LIMIT_HOST : seen;
}

bool reader_has_no_cpu(const struct trace_snapshot *s, const struct finding *f)
{
	const struct trace_endpoint *end = reading_end(s, f);

	return end && f->blamed == BLAME_PEER_READER && runs_or_is_ready(end, f) &&
	       end->rx_calls.cpu_ns < end->rx_calls.no_cpu_ns;
}
