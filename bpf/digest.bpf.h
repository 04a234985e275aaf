/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Many endpoints at a time, settled and summed up for a live screen. User space runs these programs
 * when it wants to look, and reads the result from mapped memory, which saves it three system calls
 * per endpoint.
 */
#ifndef IPCSTALL_DIGEST_BPF_H
#define IPCSTALL_DIGEST_BPF_H

#define BPF_F_MMAPABLE (1U << 10)

/* every key in use; user space sets its size to that of `endpoints` */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} keys_in_use SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct digest_order);
} digests SEC(".maps");

__u64 n_keys;

static long list_key(void *map, __u64 *key, void *value, void *ctx)
{
	__u32 n = n_keys;
	__u64 *slot = bpf_map_lookup_elem(&keys_in_use, &n);

	if (!slot)
		return 1;
	*slot = *key;
	n_keys = n + 1;
	return 0;
}

SEC("raw_tp/list_keys")
int list_keys(struct bpf_raw_tracepoint_args *ctx)
{
	n_keys = 0;
	if (opt.hashed)
		bpf_for_each_map_elem(&hashed, list_key, 0, 0);
	else
		bpf_for_each_map_elem(&places, list_key, 0, 0);
	return 0;
}

/* adds what ended but is not booked yet */
static __always_inline void add_pending(ns_t *ns, const struct ledger *l)
{
	for (int i = 0; i < PENDING; i++) {
		word_t p = LATEST(l->pending[i]);
		__u64 s = pending_state(p);

		BOUND(s, 15);
		if (pending_filled(p) && s < STATES_MAX)
			ns[s] += pending_ns(p);
	}
}

#ifndef SAMPLED
static __always_inline unsigned int episodes_ended(const struct endpoint *ep, enum tx_state s)
{
	unsigned int n = 0;

	if (!ep->tx.ns[s])
		return 0;
	for (int i = 0; i < HIST_SLOTS; i++)
		n += ep->tx.hist[s][i];
	return n;
}
#endif

/* a sampled session counts no episodes */
static __always_inline void digest_episodes(struct digest *d, const struct endpoint *ep)
{
#ifdef SAMPLED
	d->nagle_n = d->nagle_delack_n = d->rwnd_n = 0;
#else
	d->nagle_n = episodes_ended(ep, TX_NAGLE);
	d->nagle_delack_n = ep->tx.hist[TX_NAGLE][SLOT_DELACK];
	d->rwnd_n = episodes_ended(ep, TX_RWND);
#endif
}

static __always_inline void digest_ledgers(struct digest *d, const struct endpoint *ep)
{
	d->tx_word = ep->tx.word;
	d->rx_word = ep->rx.word;
	__builtin_memcpy(d->tx_ns, ep->tx.ns, sizeof(d->tx_ns));
	__builtin_memcpy(d->rx_ns, ep->rx.ns, RX_N * sizeof(ns_t));
	add_pending(d->tx_ns, &ep->tx);
	if (ep->tail_lost.ns && ep->tail_lost.ns <= d->tx_ns[TX_FLIGHT]) {
		d->tx_ns[TX_FLIGHT] -= ep->tail_lost.ns;
		d->tx_ns[TX_RECOVERY] += ep->tail_lost.ns;
	}
	add_pending(d->rx_ns, &ep->rx);
	__builtin_memcpy(d->delack_ns, ep->blame.delack_ns, sizeof(d->delack_ns));
	__builtin_memcpy(d->unread_ns, ep->blame.unread_ns, sizeof(d->unread_ns));
	__builtin_memcpy(d->starved_ns, ep->blame.starved_ns, sizeof(d->starved_ns));
	d->gathered_ns = ep->blame.gathered_ns;
	d->gathered_n = ep->blame.gathered_n;
	digest_episodes(d, ep);
}

static __always_inline __u32 who_is_at(const struct endpoint *ep, const struct call_stats *b,
				       const struct call_stats *other)
{
	return ep->id.proto == PROTO_PIPE && is_mere_holder(b, other) ? 0 : b->tgid;
}

static __always_inline void digest_calls(struct digest *d, const struct endpoint *ep)
{
	d->tx_bytes = ep->tx_calls.own.bytes + ep->tx_calls.crowd.bytes;
	d->tx_messages = ep->tx_calls.own.messages + ep->tx_calls.crowd.messages;
	d->rx_bytes = ep->rx_calls.own.bytes + ep->rx_calls.crowd.bytes;
	d->rx_messages = ep->rx_calls.own.messages + ep->rx_calls.crowd.messages;
	d->moved[DIR_TX] = ep->moved[DIR_TX];
	d->moved[DIR_RX] = ep->moved[DIR_RX];
	d->blocked_ns = ep->tx_calls.own.blocked_ns + ep->tx_calls.crowd.blocked_ns;
	d->retransmits = ep->retransmits;
	d->drops = ep->drops[DROP_RCVBUF] + ep->drops[DROP_QDISC] + ep->drops[DROP_CHECKSUM] +
		   ep->drops[DROP_OTHER];
	d->cgroup = ep->tx_calls.cgroup ? ep->tx_calls.cgroup : ep->rx_calls.cgroup;
	d->tx_tgid = who_is_at(ep, &ep->tx_calls, &ep->rx_calls);
	d->rx_tgid = who_is_at(ep, &ep->rx_calls, &ep->tx_calls);
	__builtin_memcpy(d->tx_comm, ep->tx_calls.comm, COMM_LEN);
	__builtin_memcpy(d->rx_comm, ep->rx_calls.comm, COMM_LEN);
}

/* Blames the peer's reader for the stall so far; when the stall ends, it is charged for good. */
static __always_inline void digest_present(struct digest *d, const struct endpoint *ep,
					   const struct endpoint *peer)
{
	struct transition t = {};
	__u64 state;
	ns_t unread;

#ifdef SAMPLED /* each sample has asked the peer already */
	return;
#endif
	if (!stalls_at(ep, d->at, &t))
		return;
	state = t.from;
	unread = unread_meanwhile(ep, peer, d->at);
	BOUND(state, 15);
	if (state < STATES_MAX)
		d->unread_ns[state] += unread < t.ns ? unread : t.ns;
	d->starved_ns[VOTE_PLACE(t.from)] += starved_meanwhile(ep, peer, t.ns);
}

/* the endpoint was settled before; if it is gone by now, its serial stays 0 */
SUBPROG int digest_one(__u32 i)
{
	struct endpoint *ep, *peer;
	struct digest_order *o;
	struct digest *d;
	__u32 zero = 0;
	__u64 key;

	o = bpf_map_lookup_elem(&digests, &zero);
	if (!o || i >= DIGESTS)
		return 0;
	d = &o->digest[i];
	key = o->key[i];
	ep = endpoint_known(key);
	if (!ep || ep->closed)
		return 0;
#ifdef SAMPLED /* what it did since the last sample is unknown yet */
	d->at = last_seen(ep);
#else
	d->at = bpf_ktime_get_ns();
#endif
	digest_ledgers(d, ep);
	digest_calls(d, ep);
	d->rtt_us = ep->rtt_us;
	d->min_rtt_us = ep->min_rtt_us;
	d->born = ep->born;
	d->flags = ep->flags;
	peer = peer_of(ep);
	d->peer = peer ? peer->id.serial : 0;
	digest_present(d, ep, peer);
	d->id = ep->id;
	return 0;
}

SEC("raw_tp/digest")
int digest(struct bpf_raw_tracepoint_args *ctx)
{
	struct digest_order *o;
	__u32 zero = 0, n = ctx->args[0];

	o = bpf_map_lookup_elem(&digests, &zero);
	if (!o)
		return 0;
	for (__u32 i = 0; i < DIGESTS; i++) {
		if (i >= n)
			break;
		o->digest[i].id.serial = 0;
		if (settle_key(o->key[i]))
			digest_one(i);
	}
	return 0;
}

#endif
