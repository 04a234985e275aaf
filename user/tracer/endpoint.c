// SPDX-License-Identifier: GPL-2.0-only
/* Fills a struct trace_endpoint from the kernel half's record, and marks as unknown the figures
 * that depend on calls that were not seen. */
#include <string.h>
#include <sys/param.h>

#include "tracer/endpoint_detail.h"
#include "tracer/internal.h"
#include "bpf/charge.h"
#include "base/text.h"

/* books what the kernel half had not booked yet when the copy was taken */
void endpoint_book(struct endpoint *ep)
{
	pending_book(&ep->tx);
	pending_book(&ep->rx);
}

static uint64_t ended_ns(const struct ledger *l, unsigned int states)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < states; i++)
		sum += l->ns[i];
	return sum;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* `since` on the full clock: the word holds only its lower bits, and settling keeps it near enough
 * to tell the rest (SPLIT_NS) */
static uint64_t full_since(const struct endpoint *ep, word_t w)
{
	return word_began(w, ep->closed ? ep->closed : later(ep->tx.seen, ep->rx.seen));
}

static bool adds_up(const struct endpoint *ep, const struct ledger *l, unsigned int states)
{
	return full_since(ep, l->word) - ep->born == ended_ns(l, states);
}

bool endpoint_whole(const struct endpoint *ep)
{
	return adds_up(ep, &ep->tx, TX_N) && adds_up(ep, &ep->rx, RX_N);
}

static void fill_ledger(struct trace_ledger *out, const struct endpoint *ep,
			const struct ledger *in, enum dir dir, uint64_t at)
{
	unsigned int states = dir == DIR_TX ? TX_N : RX_N;
	uint64_t since = full_since(ep, in->word);

	memcpy(out->ns, in->ns, sizeof(out->ns));
	memcpy(out->max, in->max, sizeof(out->max));
	for (unsigned int i = 0; i < states; i++)
		for (unsigned int k = 0; k < HIST_SLOTS; k++)
			out->count[i] += in->hist[i][k];
	out->now = word_state(in->word, dir);
	out->since_ns = since;
	if (at > since) {
		out->ns[out->now] += at - since;
		out->count[out->now]++;
		if (at - since > out->max[out->now])
			out->max[out->now] = at - since;
	}
	out->lifetime_ns = (at > since ? at : since) - ep->born;
	out->unaccounted_ns = (int64_t)out->lifetime_ns;
	for (unsigned int i = 0; i < states; i++)
		out->unaccounted_ns -= out->ns[i];
}

/* the slot of the episode that contained this part: it lasted as long, or longer */
static unsigned int slot_of_whole(const uint32_t *hist, unsigned int part)
{
	while (part < HIST_SLOTS && !hist[part])
		part++;
	return part;
}

static void tail_moves(struct trace_ledger *tx, uint32_t (*hist)[TRACE_HIST], unsigned int slot)
{
	unsigned int from = slot_of_whole(hist[TX_FLIGHT], slot);

	hist[TX_RECOVERY][slot]++;
	tx->count[TX_RECOVERY]++;
	if (from < HIST_SLOTS) {
		hist[TX_FLIGHT][from]--;
		tx->count[TX_FLIGHT]--;
	}
}

/* If every flight episode was moved, but flight time from before or after the loss is left, that
 * time counts as one episode. */
static void keep_the_rest(struct trace_ledger *tx, uint32_t (*hist)[TRACE_HIST])
{
	if (!tx->ns[TX_FLIGHT] || tx->count[TX_FLIGHT])
		return;
	tx->count[TX_FLIGHT] = 1;
	hist[TX_FLIGHT][hist_slot(tx->ns[TX_FLIGHT])] = 1;
}

/* the longest that an episode of this state can have been, by its histogram, its sum and the
 * present episode */
static uint64_t longest_possible(const struct trace_ledger *l, const uint32_t *hist,
				 unsigned int state, uint64_t present)
{
	uint64_t most = l->max[state];

	for (unsigned int slot = HIST_SLOTS - 1; slot && !hist[slot]; slot--)
		most = 1ull << (slot + HIST_BASE - 1);
	return MIN(later(MIN(most, l->max[state]), present), l->ns[state]);
}

/* Moves time from `flight` to `recovery`: data that was booked as in flight and later proved lost.
 * The longest flight that remains is known only up to its histogram slot. */
static void move_tail_losses(struct trace_endpoint *out, const struct tail_loss *tail)
{
	struct trace_ledger *tx = &out->tx;
	uint32_t(*hist)[TRACE_HIST] = out->detail->tx_hist;

	if (tail->ns > tx->ns[TX_FLIGHT])
		return;
	tx->ns[TX_FLIGHT] -= tail->ns;
	tx->ns[TX_RECOVERY] += tail->ns;
	tx->max[TX_RECOVERY] = later(tx->max[TX_RECOVERY], tail->max);
	for (unsigned int slot = 0; slot < HIST_SLOTS; slot++)
		for (unsigned int i = 0; i < tail->hist[slot]; i++)
			tail_moves(tx, hist, slot);
	keep_the_rest(tx, hist);
	tx->max[TX_FLIGHT] = longest_possible(
		tx, hist[TX_FLIGHT], TX_FLIGHT,
		tx->now == TX_FLIGHT && out->at_ns > tx->since_ns ? out->at_ns - tx->since_ns : 0);
}

/*
 * A sleep is booked when it ends. One that has not ended has lasted at least since the present
 * state began. That state need not be `sndbuf`: a TCP writer sleeps for room while the window holds
 * its queue.
 */
static void add_open_sleep(struct trace_endpoint *out, const struct endpoint *ep)
{
	uint64_t lasts = out->at_ns > out->tx.since_ns ? out->at_ns - out->tx.since_ns : 0;

	if (word_asleep(ep->tx.word) <=
	    (ep->refused ? 1u
			 : 0u)) /* a refused writer counts as asleep, and waits elsewhere */
		return;
	out->tx_calls.open_sleep_ns = lasts;
	out->tx_calls.blocked_max_ns = later(out->tx_calls.blocked_max_ns, lasts);
}

static void fill_call_stats(struct trace_call_stats *out, const struct call_stats *in)
{
	const struct flow *own = &in->own, *crowd = &in->crowd;

	out->bytes = own->bytes + crowd->bytes;
	out->messages = own->messages + crowd->messages;
	out->blocked_ns = own->blocked_ns + crowd->blocked_ns;
	out->blocked_max_ns = later(own->blocked_max, crowd->blocked_max);
	out->runq_ns = own->runq_ns + crowd->runq_ns;
	out->runq_max_ns = later(own->runq_max, crowd->runq_max);
	out->wakeups = own->wakeups + crowd->wakeups;
	out->no_cpu_ns = in->no_cpu;
	out->quota_ns = in->quota;
	out->stopped_ns = in->stopped;
	out->stopped_max_ns = in->stopped_max;
	out->stopped_n = in->stopped_n;
	out->no_cpu_res = in->task ? TRACE_BOUNDED : TRACE_UNKNOWN;
	out->cpu_ns = in->cpu;
	out->cpu_res = in->task ? TRACE_BOUNDED : TRACE_UNKNOWN;
	out->born_ns = in->born;
	out->tgid = in->tgid;
	out->tid = in->tid;
	out->cgroup_id = in->cgroup;
	out->others = in->others;
	text_comm(out->comm, in->comm);
	out->left_ns = in->left;
	out->let_go = in->let_go;
	out->fd_owner = in->left ? in->fd_owner : 0;
	text_comm(out->fd_owner_comm, in->fd_owner_comm);
	out->reply_ns = in->replies.ns;
	out->reply_max_ns = in->replies.max;
	out->reply_n = in->replies.n;
	out->first_reply_ns = in->replies.first;
	out->refused_n = in->replies.refused;
	out->parent = in->parent;
	text_comm(out->parent_comm, in->parent_comm);
	out->giver = in->giver;
	text_comm(out->giver_comm, in->giver_comm);
	out->given_ns = in->given;
	out->giver_unread_ns = in->giver_unread;
	out->giver_thought_ns = in->giver_thought;
	out->process_ran_ns = in->process_ran;
}

static void forget_replies(struct trace_call_stats *b)
{
	b->reply_ns = b->reply_max_ns = b->reply_n = b->first_reply_ns = 0;
}

/* A client that is greeted sends something then. One that never sends waits for news, or made the
 * connection in advance: what comes is no answer. */
static void forget_unasked_replies(struct trace_endpoint *out, const struct endpoint *ep)
{
	if (out->proto != TRACE_TCP || out->joined_late)
		return;
	if (ep->making.asked && !out->tx_calls.bytes)
		forget_replies(&out->rx_calls);
	if (ep->making.listened && !out->rx_calls.bytes)
		forget_replies(&out->tx_calls);
}

/* A connection through which nothing has gone yet may have been made in advance. */
static bool has_carried_nothing(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_TCP && !ep->tx_calls.bytes && !ep->rx_calls.bytes &&
	       ep->rx.now != RX_UNREAD;
}

/* Requests that are not answered yet. Data that came but is unread counts as an answer. */
static void fill_open_replies(struct trace_endpoint *out, const struct endpoint *ep)
{
	uint64_t until = out->rx.now == RX_UNREAD ? out->rx.since_ns : out->at_ns;

	if (ep->asking.given_up && ep->asking.given_up < until)
		until = ep->asking.given_up;
	if (out->proto == TRACE_PIPE || (has_carried_nothing(out) && !out->joined_late))
		return;
	if (ep->asking.asked && until > ep->asking.asked)
		out->rx_calls.open_reply_ns = until - ep->asking.asked;
	if (ep->asking.took && out->at_ns > ep->asking.took)
		out->tx_calls.open_reply_ns = out->at_ns - ep->asking.took;
}

/* A send clears `took` and a read clears `asked`: what is set is the time of the last message, or
 * of the connection. */
static void fill_quiet(struct trace_endpoint *out, const struct endpoint *ep)
{
	uint64_t asked = ep->asking.asked, took = ep->asking.took,
		 last = asked || took ? later(asked, took) : ep->born;

	if (out->at_ns > last)
		out->tx_calls.quiet_ns = out->at_ns - last;
}

/* Sent data is still on this host, and no segment went out or was acknowledged since the timer
 * fired and tried to send it again. */
static void fill_open_undelivered(struct trace_endpoint *out, const struct endpoint *ep)
{
	if (ep->fired && ep->flown <= ep->fired + RETRY_NS && out->tx.now == TX_DEVICE)
		out->open_undelivered_ns = out->at_ns - MIN(out->at_ns, ep->fired);
}

/* The present episode continues one that is counted already: see bpf/split_stall.bpf.h. */
static void join_present(struct trace_ledger *tx, const struct endpoint *ep, uint64_t at)
{
	const struct hold *h = &ep->held_on;

	if (!h->going || tx->now != h->state || at <= tx->since_ns)
		return;
	tx->count[tx->now]--;
	tx->max[tx->now] = later(tx->max[tx->now], h->ns + at - tx->since_ns);
}

/* How long the thread has been stopped, or the main thread of a process that only holds the
 * descriptor; 0: it is not. The kernel half notes it at the thread's last switch
 * (bpf/switch.bpf.h). */
static uint64_t stopped_since(const struct call *calls, const struct call_stats *b, uint64_t at)
{
	uint32_t tid = b->tid ? b->tid : b->tgid;
	const struct call *c = calls ? &calls[tid & (CALL_SLOTS - 1)] : NULL;

	if (!c || !tid || c->tid != tid || !c->stops)
		return 0;
	return (uint64_t)((uint32_t)(at >> STOP_SHIFT) - c->stopped) << STOP_SHIFT;
}

static void fill_open_stops(struct trace_endpoint *out, const struct endpoint *ep,
			    const struct trace *t)
{
	const struct call *calls = ep->closed ? NULL : t->calls;

	out->tx_calls.open_stop_ns = stopped_since(calls, &ep->tx_calls, out->at_ns);
	out->rx_calls.open_stop_ns = stopped_since(calls, &ep->rx_calls, out->at_ns);
}

static void fill_identity(struct trace_endpoint *out, const struct identity *id)
{
	out->serial = id->serial;
	out->inode = id->inode;
	out->netns = id->netns;
	out->proto = (enum trace_proto)id->proto;
	out->family = id->family;
	memcpy(out->local.ip, id->local.ip, sizeof(out->local.ip));
	memcpy(out->remote.ip, id->remote.ip, sizeof(out->remote.ip));
	out->local.port = id->local.port;
	out->remote.port = id->remote.port;
}

/* The remote address of a UDP socket that is not connected: the only one that it has sent to. */
static void fill_destination(struct trace_endpoint *out, const struct endpoint *ep)
{
	if (out->remote.port || !ep->sent_to.port || ep->sent_elsewhere)
		return;
	memcpy(out->remote.ip, ep->sent_to.ip, sizeof(out->remote.ip));
	out->remote.port = ep->sent_to.port;
	out->making.unconnected = true;
}

/* the time of the snapshot, a moment ago if it was settled, or of the endpoint's end */
static uint64_t truth(const struct endpoint *ep)
{
	uint64_t at = later(ep->tx.seen, ep->rx.seen);

	if (ep->closed)
		return ep->closed;
	at = later(at, full_since(ep, ep->tx.word));
	return later(at, full_since(ep, ep->rx.word));
}

/* TCP itself counts the bytes that go through a socket; other protocols have only the calls. */
uint8_t endpoint_moved(uint64_t *bytes, uint64_t moved)
{
	if (moved <= *bytes)
		return TRACE_UNKNOWN;
	*bytes = moved;
	return TRACE_BOUNDED;
}

/* minmax_reset() sets all bits while nothing is measured */
uint32_t endpoint_min_rtt(uint32_t us)
{
	return us == UINT32_MAX ? 0 : us;
}

/* A call under way is counted when it ends, but TCP has counted the bytes that it took so far. */
uint64_t endpoint_under_way(uint64_t bytes, uint64_t moved, word_t word)
{
	return word_working(word) && moved > bytes + SYN_AND_FIN ? moved - SYN_AND_FIN : bytes;
}

/* The end of a call was not seen: how much it moved and how it slept is unknown. */
static void end_missed(struct trace_call_stats *out, uint64_t moved)
{
	out->bytes_res = endpoint_moved(&out->bytes, moved);
	out->blocked_res = out->runq_res = TRACE_UNKNOWN;
}

/*
 * The most that a pipe's ring can have held when it was first seen, or can hold now: the limit of
 * F_SETPIPE_SZ for any user (pipe-max-size), or what was found in a ring that is larger
 * (CAP_SYS_RESOURCE), at a page per buffer.
 */
static uint64_t ring_room(const struct trace_endpoint *ep)
{
	return later(1 << 20, ep->queue_max * 4096);
}

/* Some or all reads were not seen, so the queue's length in between is unknown. */
void endpoint_reads_missed(struct trace_endpoint *out, uint64_t at_least)
{
	resolution_unseen(out, false, true);
	out->unseen[DIR_RX] = TRACE_UNSEEN_CALLS;
	end_missed(&out->rx_calls, at_least);
	out->queue_res = TRACE_UNKNOWN;
}

/* Data was in the ring, but no write was seen: it came by tee(), for example. */
static bool filled_unseen(const struct trace_endpoint *ep)
{
	return ep->queue_max && !ep->tx_calls.bytes && !ep->joined_late;
}

/*
 * All bytes read from a pipe were written to it, and all bytes written that are not in it any more
 * were read. If the calls seen at one end move too few bytes for that, other calls were made in
 * ways that no hook sees (io_uring), or by a process that is not traced. Then the figures of that
 * end are unknown, not zero. A call under way is counted when it ends.
 */
static void pipe_audit(struct trace_endpoint *out)
{
	uint64_t in = out->tx_calls.bytes, through = out->rx_calls.bytes, room = ring_room(out);

	if (!out->closed &&
	    (out->tx.now == TX_WORK || out->tx.now == TX_SNDBUF || out->rx.now == RX_WORK))
		return;
	if (out->dequeued && !through)
		endpoint_reads_missed(out, 0);
	if (through > in + (out->joined_late ? room : 0) || filled_unseen(out)) {
		resolution_unseen(out, true, false);
		out->unseen[DIR_TX] = TRACE_UNSEEN_CALLS;
		end_missed(&out->tx_calls, through);
	} else if (in > through + room) {
		endpoint_reads_missed(out, in - room);
	}
}

static void forget_who(struct trace_call_stats *b)
{
	b->tgid = 0;
	b->cgroup_id = 0;
	b->others = false;
	b->left_ns = 0;
	b->fd_owner = 0;
	memset(b->comm, 0, sizeof(b->comm));
}

/* forgets processes that only hold a pipe's descriptor, and the votes for them */
static void forget_mere_holders(struct trace_endpoint *out, const struct endpoint *ep)
{
	if (is_mere_holder(&ep->tx_calls, &ep->rx_calls)) {
		forget_who(&out->tx_calls);
		if (out->detail)
			memset(out->detail->held_up, 0, sizeof(out->detail->held_up));
	}
	if (is_mere_holder(&ep->rx_calls, &ep->tx_calls)) {
		forget_who(&out->rx_calls);
		if (out->detail)
			memset(out->detail->late, 0, sizeof(out->detail->late));
	}
}

static bool all_zero(const void *v, size_t n)
{
	const char *bytes = v;

	return !bytes[0] && !memcmp(bytes, bytes + 1, n - 1);
}

static bool has_votes(const struct blame *b)
{
	return !all_zero(b->held_up, sizeof(b->held_up)) || !all_zero(b->late, sizeof(b->late));
}

/* In a sampled session the samples are where a ledger has its histogram. */
static bool has_episodes(const struct endpoint *ep)
{
	return !all_zero(ep->tx.hist, sizeof(ep->tx.hist)) ||
	       !all_zero(ep->rx.hist, sizeof(ep->rx.hist));
}

static void fill_votes(struct trace_detail *out, const struct blame *in)
{
	memcpy(out->held_up, in->held_up, sizeof(out->held_up));
	memcpy(out->late, in->late, sizeof(out->late));
	for (int i = 0; i < VOTES; i++) {
		text_comm(out->held_up[i].comm, in->held_up[i].comm);
		text_comm(out->late[i].comm, in->late[i].comm);
	}
}

static void fill_detail(struct trace_endpoint *out, const struct endpoint *ep, bool sampled,
			struct trace_details *details)
{
	bool episodes = !sampled && (ep->tail_lost.ns || has_episodes(ep));

	if ((!episodes && !has_votes(&ep->blame)) || !detail_of(details, out))
		return;
	fill_votes(out->detail, &ep->blame);
	if (!episodes)
		return;
	memcpy(out->detail->tx_hist, ep->tx.hist, sizeof(out->detail->tx_hist));
	memcpy(out->detail->rx_hist, ep->rx.hist, sizeof(out->detail->rx_hist));
	if (ep->tail_lost.ns)
		move_tail_losses(out, &ep->tail_lost);
}

static uint64_t lasts(uint64_t from, uint64_t until, uint64_t now)
{
	return (until ? until : now) - from;
}

/* the part that every backend knows */
static void fill_origin(struct trace_making *out, const struct making *in, uint64_t at)
{
	out->connected = in->asked || in->origin == ORIGIN_CONNECT;
	out->accepted = in->listened || in->origin == ORIGIN_LISTENER;
	out->bound = in->bound;
	out->reset = in->reset;
	out->after_reset_ns = in->reset && at > in->reset ? at - in->reset : 0;
}

/* What has not ended has lasted until at_ns, which is the end of an endpoint that closed. */
static void fill_making(struct trace_making *out, const struct making *in,
			const struct trace_endpoint *ep)
{
	out->moved = in->moved;
	out->connecting = in->asked && !in->connect_ns && !ep->closed;
	out->connect_ns = in->connect_ns;
	if (in->asked && !in->connect_ns && ep->at_ns > in->asked)
		out->connect_ns = ep->at_ns - in->asked;
	if (!in->listened)
		return;
	out->accepting = !in->accepted && !ep->closed;
	out->accept_ns = lasts(ep->born_ns, in->accepted, ep->at_ns);
	out->accept_unread_ns = in->accepted ? in->unread_then : ep->rx.ns[RX_UNREAD];
}

static void fill_hole(struct trace_hole *out, const struct hole *in, uint64_t at)
{
	uint64_t open = in->since && at > in->since ? at - in->since : 0;

	out->ns = in->ns + open;
	out->n = in->n + (open ? 1 : 0);
	out->max_ns = later(in->max, open);
}

static void fill_parts(struct trace_endpoint *out, const struct endpoint *ep)
{
	unsigned int now = ep->episode >> 1;

	for (unsigned int i = 1; i < SLICE_N; i++) {
		uint64_t open =
			i == now && out->at_ns > ep->parts.since ? out->at_ns - ep->parts.since : 0;

		out->parts.ns[i] =
			MIN(ep->parts.ns[i] + open, out->tx.ns[trace_part_of((enum trace_part)i)]);
		out->parts.n[i] = ep->parts.n[i];
	}
}

/* all bits set is the kernel's value for an unlimited rate, in 64 and in 32 bits */
static uint64_t rate_or_zero(uint64_t rate)
{
	return rate == UINT64_MAX || rate == UINT32_MAX ? 0 : rate;
}

static void fill_path(struct trace_path *out, const struct path *in)
{
	if (in->rate_interval_us)
		out->delivery_bytes_per_s =
			(uint64_t)in->rate_delivered * in->mss * 1000000 / in->rate_interval_us;
	out->pacing_bytes_per_s = rate_or_zero(in->pacing_rate);
	out->max_pacing_bytes_per_s = rate_or_zero(in->max_pacing_rate);
	memcpy(out->congestion_control, in->congestion_control, sizeof(out->congestion_control));
	out->lost_segments = in->lost;
	out->sent_segments = in->segs_out;
	out->out_of_order = in->ooo;
	out->cwnd = in->cwnd;
	out->ssthresh = in->ssthresh;
	out->receive_window = in->rcv_wnd;
	out->app_limited = in->app_limited;
}

static void fill_tcp(struct trace_endpoint *out, const struct endpoint *ep)
{
	fill_hole(&out->hole, &ep->hole, out->at_ns);
	fill_parts(out, ep);
	fill_path(&out->path, &ep->path);
}

/* sets what carries the calls of each direction that no hook sees */
static void fill_unseen(struct trace_endpoint *out, unsigned int flags, unsigned int upper)
{
	for (int dir = 0; dir < 2; dir++) {
		if (flags & EP_UNSEEN << dir)
			out->unseen[dir] =
				upper && upper < UPPER_N ? (uint8_t)upper : TRACE_UNSEEN_CALLS;
	}
	resolution_unseen(out, out->unseen[DIR_TX], out->unseen[DIR_RX]);
}

static void fill_about(struct trace_endpoint *out, const struct endpoint *ep)
{
	fill_identity(out, &ep->id);
	fill_destination(out, ep);
	out->peer = -1;
	out->born_ns = ep->born;
	out->at_ns = truth(ep);
	out->closed = ep->closed;
	out->joined_late = ep->flags & EP_JOINED_LATE;
	out->let_go = ep->flags & EP_EVICTED;
	out->paired = ep->peer || ep->id.proto == PROTO_PIPE;
}

static void fill_ledgers(struct trace_endpoint *out, const struct endpoint *ep)
{
	fill_ledger(&out->tx, ep, &ep->tx, DIR_TX, out->at_ns);
	join_present(&out->tx, ep, out->at_ns);
	fill_ledger(&out->rx, ep, &ep->rx, DIR_RX, out->at_ns);
}

static void fill_calls(struct trace_endpoint *out, const struct endpoint *ep, const struct trace *t)
{
	fill_call_stats(&out->tx_calls, &ep->tx_calls);
	fill_call_stats(&out->rx_calls, &ep->rx_calls);
	add_open_sleep(out, ep);
	fill_open_stops(out, ep, t);
	fill_open_replies(out, ep);
	fill_quiet(out, ep);
	out->tx_calls.outsider = is_outsider(t, (uint32_t)out->tx_calls.tgid);
	out->rx_calls.outsider = is_outsider(t, (uint32_t)out->rx_calls.tgid);
	out->tx_calls.bytes =
		endpoint_under_way(out->tx_calls.bytes, ep->moved[DIR_TX], ep->tx.word);
	out->rx_calls.bytes =
		endpoint_under_way(out->rx_calls.bytes, ep->moved[DIR_RX], ep->rx.word);
	forget_unasked_replies(out, ep);
}

static void fill_figures(struct trace_endpoint *out, const struct endpoint *ep)
{
	memcpy(out->drops, ep->drops, sizeof(out->drops));
	out->delack_ns = ep->delack_ns;
	out->delack_fires = ep->delack_fires;
	out->ack_debt_ns = ep->ack_debt_ns;
	memcpy(&out->answers, &ep->answers, sizeof(out->answers));
	out->retransmits = ep->retransmits;
	out->syn_retransmits = ep->syn_retransmits;
	out->needless = MIN(ep->dsacks, ep->retransmits);
	out->timeouts = ep->timeouts;
	out->zero_windows = ep->zero_windows;
	out->undelivered_ns = ep->undelivered_ns;
	fill_open_undelivered(out, ep);
	out->rtt_us = ep->rtt_us;
	out->min_rtt_us = endpoint_min_rtt(ep->min_rtt_us);
	out->queue_integral = ep->queue_integral;
	out->queue_max = ep->queue_max;
	out->dequeued = ep->dequeued;
}

/* how well the figures are known, by the backend and by calls whose end was missed */
static void fill_known(struct trace_endpoint *out, const struct endpoint *ep, const struct trace *t)
{
	resolution_fill(out, t->backend, t->exact);
	if (ep->flags & EP_MISSED << DIR_TX)
		end_missed(&out->tx_calls, ep->moved[DIR_TX]);
	if (ep->flags & EP_MISSED << DIR_RX)
		end_missed(&out->rx_calls, ep->moved[DIR_RX]);
}

void endpoint_fill(struct trace_endpoint *out, const struct endpoint *ep, const struct trace *t,
		   struct trace_details *details)
{
	memset(out, 0, sizeof(*out));
	fill_about(out, ep);
	fill_ledgers(out, ep);
	fill_detail(out, ep, t->backend == TRACE_SAMPLED, details);
	fill_calls(out, ep, t);
	memcpy(&out->blame, &ep->blame, sizeof(out->blame));
	fill_figures(out, ep);
	fill_origin(&out->making, &ep->making, out->at_ns);
	if (t->backend == TRACE_SAMPLED) {
		sampled_endpoint(out, ep);
	} else {
		fill_known(out, ep, t);
		fill_making(&out->making, &ep->making, out);
	}
	fill_unseen(out, ep->flags, ep->upper);
	if (out->proto == TRACE_TCP)
		fill_tcp(out, ep);
	if (out->proto != TRACE_PIPE || t->backend == TRACE_SAMPLED)
		return;
	pipe_audit(out);
	forget_mere_holders(out, ep);
}

_Static_assert((int)TRACE_PARTS == (int)SLICE_N && (int)TRACE_UNSEEN_N == (int)UPPER_N &&
		       (int)TRACE_UNSEEN_SMC == (int)UPPER_SMC,
	       "trace.h and record.h number their enums differently");
_Static_assert(sizeof(struct trace_blame) == offsetof(struct blame, held_up) &&
		       sizeof(trace_no_detail.late) == sizeof(((struct blame *)0)->late),
	       "the two blames differ");
_Static_assert(sizeof(struct trace_answers) == sizeof(struct answers),
	       "the two counts of answers differ");
_Static_assert(TRACE_STATES == STATES_MAX && TRACE_HIST == HIST_SLOTS &&
		       (int)TRACE_DROPS == (int)DROP_N,
	       "trace.h and record.h differ");
_Static_assert(TRACE_VOTES == VOTES && TRACE_FD_OWNER == FD_OWNER_TGID,
	       "trace.h and record.h differ");
_Static_assert((int)TRACE_TIMELINE_ONE == (int)TIMELINE_ONE,
	       "trace.h and record.h number their timelines differently");
_Static_assert((int)TRACE_PIPE == (int)PROTO_PIPE && (int)TRACE_FILTER_CGROUP == (int)FILTER_CGROUP,
	       "trace.h and record.h number their enums differently");
