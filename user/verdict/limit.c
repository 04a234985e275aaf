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
/* Reader and writer take turns on one CPU: the least sum of their shares, and the writer's least */
#define BOTH_SHARE 0.8
#define ITS_PART   0.2

/* The share of `lifetime_ns` in which the thread ran on a CPU; NAN: unknown. */
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

/* Is it a stall that a slow reader may cause? */
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

/* Reader and writer each wait for the other for a good part of their time, at least a thousand
 * times, but only for moments. */
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

/* The reader is never elsewhere: whenever data is there it runs, or is ready and has no CPU.
 * That covers at least half of the time that held up the sender. */
static bool runs_or_is_ready(const struct trace_endpoint *end, const struct finding *f)
{
	const struct trace_call_stats *b = &end->rx_calls;
	uint64_t had_data = end->rx.ns[RX_UNREAD] + end->rx.ns[RX_WORK];

	return b->cpu_res != TRACE_UNKNOWN && had_data && 2 * had_data >= f->ns &&
	       (double)(b->cpu_ns + b->no_cpu_ns) >= share_explained(end) * (double)had_data;
}

/* CPU time is counted from the start of a process. A process older than its endpoint may have
 * used it before that. A life longer by a tenth makes no difference. */
#define OLDER 0.1

/* The calling thread may hand its work to other threads, as pigz does, so the process's CPU time
 * counts. */
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

/* The reader is back soon, so it does not sleep between its reads; or it has nothing else to
 * work on. */
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

/* A compiler computes before its first write. The thread of the call was not seen to run then,
 * so its process counts too. */
double sender_cpu_share(const struct trace_call_stats *b, const struct trace_endpoint *ep)
{
	return fmin(1, fmax(cpu_share(b, ep->rx.lifetime_ns),
			    process_cpu_share(b, ep->at_ns, ep->rx.lifetime_ns)));
}

/* A reader that takes a byte at a time is slow because of the number of its calls. */
#define SMALL_READ    256
#define MANY_READS    1000
#define READ_TAKES_NS 100000 /* at most, in a slow language; with fewer calls it computes */

/* The window closes after every few packets. The reader may be busy with its calls, but the
 * small receive buffer makes them so many. */
#define SMALL_WINDOW 8192

static bool window_is_small(const struct trace_endpoint *ep, const struct finding *f)
{
	return f->cause == TX_RWND && f->count >= MANY_READS &&
	       ep->tx_calls.bytes <= SMALL_WINDOW * f->count;
}

/* The reader takes all that has come: the writer's pieces are as small. */
static bool writes_as_small(const struct trace_endpoint *ep, const struct trace_call_stats *reader)
{
	return trace_messages_known(&ep->tx_calls) && ep->tx_calls.messages >= reader->messages;
}

/* The reader uses little CPU: between its calls it sleeps, or waits for another. */
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

/* The path is full if a queue at the bottleneck lengthens the round trip, few segments are lost,
 * and the sender's rate is near the delivery rate. */
#define QUEUE_TIMES 1.5
#define QUEUE_BYTES 5000 /* less is no queue, but jitter of a round trip of microseconds */
#define LOST_SHARE  0.02
#define QUEUE_LEAST_US 100 /* added to the round trip by a queue on this host */
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

/* At this share of retransmitted segments, loss is the cause, whether the congestion control
 * answers it with a small window or a slow pace. */
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

/* A congestion control that paces, as BBR does, builds no queue. Once it stops probing, it sends
 * at the rate that it measured the path to deliver. */
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

/* A window that doubles each round trip has room for ten thousand segments after ten of them.
 * BBR probes for the path's rate as long. */
#define SLOW_START_TRIPS 12

bool is_in_slow_start(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_TCP && ep->retransmits_res != TRACE_UNKNOWN &&
	       !ep->retransmits && is_far(ep) &&
	       ep->tx.lifetime_ns <= SLOW_START_TRIPS * 1000ull * ep->min_rtt_us;
}

/* Except for BBR and its versions, the kernel computes the pacing rate from window and round
 * trip, at 1.2 times the delivered rate (tcp_update_pacing_rate()). That measures nothing. */
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

/* A buffer or window that is too small makes the path look slow to the congestion control. */
static bool buffers_hold(const struct trace_endpoint *ep)
{
	return 10 * (ep->tx.ns[TX_SNDBUF] + ep->tx.ns[TX_RWND]) >= ep->tx.ns[TX_PACING];
}

static bool paces_at_path(const struct trace_endpoint *ep)
{
	return paces_itself(ep) && paces_by_rate(&ep->path) && !buffers_hold(ep) &&
	       sends_all_that_path_delivers(ep);
}

/* A queue on this host is seen directly, so drops and the delivery rate add nothing. If the
 * round trip is only the path's own, as behind a qdisc that delays, the device is not full. */
bool device_is_full(const struct trace_endpoint *ep)
{
	return 2 * ep->tx.ns[TX_DEVICE] >= ep->tx.lifetime_ns && has_much_to_send(ep) &&
	       ep->rtt_us >= QUEUE_TIMES * ep->min_rtt_us &&
	       ep->rtt_us - ep->min_rtt_us >= QUEUE_LEAST_US;
}

/* Nagle's algorithm holds the tail of a large write until the next ACK, which comes at once. */
static bool is_brief_nagle(const struct trace_snapshot *s, const struct finding *f)
{
	const struct trace_samples *l = s->samples ? &s->samples[f->endpoint] : NULL;

	return f->cause == TX_NAGLE && l && 2 * l->tx_again[TX_NAGLE] < l->tx_seen[TX_NAGLE];
}

/* Samples do not see a running thread inside a call, but its CPU time is known. */
#define BYTES_A_SECOND 50e6
#define HALF_A_CPU     0.5

static bool is_at_work(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	double bytes = 1e9 * (double)ep->tx_calls.bytes,
	       cpu = cpu_share(&ep->tx_calls, ep->tx.lifetime_ns);

	return 2 * ep->tx.ns[TX_WORK] >= ep->tx.lifetime_ns ||
	       (s->samples && cpu >= HALF_A_CPU &&
		bytes >= BYTES_A_SECOND * (double)ep->tx.lifetime_ns);
}

/* Between two programs of one host there is no path to protect: what the congestion control
 * holds up is little beside the sender's own work. */

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

/* A writer that retries again and again is busy too, though its reader, which is elsewhere, is
 * the cause. */
static bool leaves_unread(const struct trace_endpoint *end, const struct finding *f)
{
	return f->blamed == BLAME_PEER_READER && 2 * end->rx.ns[RX_UNREAD] >= f->ns;
}

/* A stall that has grown by more than this since the ruling is not what the ledger saw. */
#define MORE_SINCE 1.5

/* The limit that the ledger ruled; LIMIT_NONE: no ruling covers this stall */
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

/* It is unknown which thread reads. But one thread was on a CPU for most of the time that held
 * up the sender, and so many bytes passed that the reader can do nothing else. */
static bool busiest_may_read(const struct trace_endpoint *end, const struct finding *f)
{
	const struct trace_call_stats *b = &end->rx_calls;

	return b->cpu_res == TRACE_UNKNOWN &&
	       (double)b->busiest_cpu_ns >= BUSY_SHARE * (double)f->ns &&
	       1e9 * (double)b->bytes >= BYTES_A_SECOND * (double)end->rx.lifetime_ns;
}

/* A reader that is not traced may do anything, but this one is always back at once, and much
 * data passes. */
#define AT_ONCE_NS	1000000
#define AT_ONCE_MOST_NS 10000000

static bool reader_is_always_back(const struct trace_endpoint *ep, const struct finding *f)
{
	return stays_on_host(ep) && f->cause == TX_RWND && f->blamed == BLAME_PEER_READER &&
	       f->count && f->ns < AT_ONCE_NS * f->count && f->max_ns < AT_ONCE_MOST_NS &&
	       !window_is_small(ep, f) &&
	       1e9 * (double)ep->tx_calls.bytes >= BYTES_A_SECOND * (double)ep->tx.lifetime_ns;
}

/* From samples: a stream within this host carries so much that the CPUs set the pace, whatever
 * holds a segment back for microseconds. */
static bool is_at_full_speed(const struct trace_snapshot *s, const struct finding *f)
{
	const struct trace_endpoint *ep = &s->ep[f->endpoint];

	return s->samples && ep->proto == TRACE_TCP && ep->min_rtt_us &&
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
