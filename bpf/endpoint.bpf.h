/* SPDX-License-Identifier: GPL-2.0-only */
/* Birth, death and identity of endpoints, and the join of the two ends of a connection. */
#ifndef IPCSTALL_ENDPOINT_BPF_H
#define IPCSTALL_ENDPOINT_BPF_H

#include "audit.bpf.h"

/* a connection as one of its ends sees it; netns 0: in whatever namespace */
struct tuple {
	struct address local, remote;
	__u32 netns;
	__u32 proto;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, struct tuple);
	__type(value, __u64);
} tuples SEC(".maps");

/*
 * Local ports that traced tasks listen on, with the network namespace in the key's upper half, and
 * how many sockets listen at each. Connections to them are born in softirq. Several sockets may
 * share a port (SO_REUSEPORT), and in a reload the old one ends after the new one has begun.
 */
struct port {
	__u32 sockets, pad;
	__u64 sk; /* the latest of them */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, struct port);
} listeners SEC(".maps");

/* These sockets, by address: other sockets end too, and one socket is found for every process that
 * holds it (seed_endpoint()). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, struct listener);
} listening SEC(".maps");

__u64 last_serial;

#ifdef SAMPLED
__u64 births[BIRTHS];

/* the sampler need not walk the map for a new endpoint */
static __always_inline void note_birth(const struct endpoint *ep)
{
	births[ep->id.serial & (BIRTHS - 1)] = ep->id.key;
}
#else
static __always_inline void note_birth(const struct endpoint *ep)
{
}
#endif

static __always_inline __u32 sock_netns(struct sock *sk)
{
#ifdef READ_PROBED
	return BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
#else
	return CAST(net, sk->__sk_common.skc_net.net)->ns.inum;
#endif
}

static __always_inline __u64 inode_number(__u64 node)
{
	return GET(CAST(inode, node), i_ino);
}

/* struct socket is the first member of struct socket_alloc, whose inode /proc/PID/fd shows */
static __always_inline __u64 sock_inode(struct sock *sk)
{
	struct socket_alloc *a = CAST(socket_alloc, GET(sk, sk_socket));

	return a ? GET(a, vfs_inode.i_ino) : 0;
}

/* a raw socket may have the same protocol number (inet_create()), but is neither */
static __always_inline __u32 inet_proto(struct sock *sk)
{
	__u32 p = GET(sk, sk_protocol), type = GET(sk, sk_type);

	if (p == IPPROTO_TCP && type == SOCK_STREAM)
		return PROTO_TCP;
	return p == IPPROTO_UDP && type == SOCK_DGRAM ? PROTO_UDP : PROTO_NONE;
}

static __always_inline __u32 unix_proto(struct sock *sk)
{
	switch (GET(sk, sk_type)) {
	case SOCK_STREAM:
		return PROTO_UNIX_STREAM;
	case SOCK_DGRAM:
		return PROTO_UNIX_DGRAM;
	case SOCK_SEQPACKET:
		return PROTO_UNIX_SEQPACKET;
	default:
		return PROTO_NONE;
	}
}

static __always_inline __u32 sock_proto(struct sock *sk)
{
	__u32 family = GET(sk, __sk_common.skc_family);

	if (family == AF_INET || family == AF_INET6)
		return inet_proto(sk);
	return family == AF_UNIX ? unix_proto(sk) : PROTO_NONE;
}

/* a kernel without IPv6 has no room for its addresses */
static __always_inline void read_ip6(struct identity *id, struct sock *sk)
{
	if (!bpf_core_field_exists(struct sock_common, skc_v6_daddr))
		return;
	bpf_core_read(id->local.ip, 16, &sk->__sk_common.skc_v6_rcv_saddr.in6_u.u6_addr8);
	bpf_core_read(id->remote.ip, 16, &sk->__sk_common.skc_v6_daddr.in6_u.u6_addr8);
}

static __always_inline void read_addresses(struct identity *id, struct sock *sk)
{
	if (id->family != AF_INET && id->family != AF_INET6)
		return;
	id->local.port = GET(sk, __sk_common.skc_num);
	id->remote.port = bpf_ntohs(GET(sk, __sk_common.skc_dport));
	if (id->family == AF_INET6)
		return read_ip6(id, sk);
	*(__u32 *)id->local.ip = GET(sk, __sk_common.skc_rcv_saddr);
	*(__u32 *)id->remote.ip = GET(sk, __sk_common.skc_daddr);
}

/* An IPv4-mapped IPv6 address (::ffff:a.b.c.d, of a dual-stack socket) is the same as the IPv4
 * address that the other end's socket has. */
static __always_inline void undress(struct address *a)
{
	__u32 ip[4];

	__builtin_memcpy(ip, a->ip, sizeof(ip));
	if (ip[0] || ip[1] || ip[2] != bpf_htonl(0xffff))
		return;
	ip[0] = ip[3];
	ip[2] = ip[3] = 0;
	__builtin_memcpy(a->ip, ip, sizeof(ip));
}

static __always_inline void tuple_of(struct tuple *t, const struct identity *id, bool mirrored)
{
	__builtin_memset(t, 0, sizeof(*t));
	t->local = mirrored ? id->remote : id->local;
	t->remote = mirrored ? id->local : id->remote;
	undress(&t->local);
	undress(&t->remote);
	t->proto = id->proto;
}

static __always_inline bool is_loopback(const struct address *a)
{
	__u32 ip[4];

	__builtin_memcpy(ip, a->ip, sizeof(ip));
	if (ip[0] || ip[1] || ip[2])
		return (ip[0] & bpf_htonl(0xff000000)) == bpf_htonl(0x7f000000) &&
		       !(ip[1] | ip[2] | ip[3]);
	return ip[3] == bpf_htonl(1);
}

/* Loopback addresses exist in every namespace, and lead into no other: the entry under netns 0
 * would be that of whichever endpoint came last. */
static __always_inline bool leaves_netns(const struct tuple *t)
{
	return !is_loopback(&t->local) && !is_loopback(&t->remote);
}

static __always_inline bool has_both_ports(const struct identity *id)
{
	return id->local.port && id->remote.port;
}

static __always_inline void tuple_put(struct tuple *t, __u32 netns, __u64 key)
{
	t->netns = netns;
	if (bpf_map_update_elem(&tuples, t, &key, BPF_ANY))
		count(COUNT_OVERFLOW);
}

static __always_inline __u64 tuple_find(struct tuple *t, __u32 netns)
{
	__u64 *key;

	t->netns = netns;
	key = bpf_map_lookup_elem(&tuples, t);
	return key ? *key : 0;
}

/* the entry may be another endpoint's by now */
static __always_inline void tuple_drop(struct tuple *t, __u32 netns, __u64 key)
{
	if (tuple_find(t, netns) == key)
		bpf_map_delete_elem(&tuples, t);
}

/* the peer that this endpoint names, if it is alive and names this one too */
static __always_inline struct endpoint *partner_of(const struct endpoint *ep)
{
	__u64 key = ep->peer;
	struct endpoint *other = key ? endpoint_here(key) : 0;

	return other && !other->closed && other->peer == ep->id.key ? other : 0;
}

static __always_inline void set_peer(struct endpoint *ep, __u64 key)
{
	struct endpoint *peer = endpoint_known(key);

	if (!peer || peer == ep)
		return;
	ep->peer = key;
	peer->peer = ep->id.key;
}

/*
 * In one namespace, two addresses belong to one connection only. A match in another namespace may
 * belong to a pair that is joined already: a client is born before its server
 * (tcp_finish_connect(), tcp_check_req()), and finds nothing in its own namespace.
 */
static __always_inline void join_found(struct endpoint *ep, struct tuple *t)
{
	__u64 own = tuple_find(t, ep->id.netns),
	      key = own || !leaves_netns(t) ? own : tuple_find(t, 0);
	struct endpoint *peer = key ? endpoint_here(key) : 0,
			*partner = peer ? partner_of(peer) : 0;

	if (!peer)
		return;
	if (partner && partner != ep) {
		if (!own)
			return;
		partner->peer = 0;
	}
	set_peer(ep, key);
}

SUBPROG int join_inet(struct endpoint *ep)
{
	struct tuple t;

	if (!ep || !has_both_ports(&ep->id))
		return 0;
	tuple_of(&t, &ep->id, false);
	tuple_put(&t, ep->id.netns, ep->id.key);
	if (leaves_netns(&t))
		tuple_put(&t, 0, ep->id.key);
	tuple_of(&t, &ep->id, true);
	join_found(ep, &t);
	return 0;
}

/* called before its addresses change, and at its end */
SUBPROG int leave_tuples(struct endpoint *ep)
{
	struct tuple t;

	if (!ep || !has_both_ports(&ep->id))
		return 0;
	tuple_of(&t, &ep->id, false);
	tuple_drop(&t, ep->id.netns, ep->id.key);
	if (leaves_netns(&t))
		tuple_drop(&t, 0, ep->id.key);
	return 0;
}

/*
 * The inode distinguishes a socket from the next one at the same address. A closed socket has no
 * inode any more (sock_orphan()), and one that nobody has accepted has none yet: neither is the
 * same as a socket that had one.
 */
static __always_inline bool sock_same(struct endpoint *ep, struct sock *sk)
{
	__u64 inode = sock_inode(sk);

	if (!ep->id.inode) /* not accepted yet when it was made */
		ep->id.inode = inode;
	return !ep->closed && inode == ep->id.inode;
}

/* TCP: its end is seen (tcp_destroy_sock), or else the next connection at its address
 * (connection()) */
static __always_inline bool sock_is(struct endpoint *ep, struct sock *sk)
{
	if (ep->id.proto == PROTO_TCP && ep->id.inode)
		return !ep->closed;
	return sock_same(ep, sk);
}

static __always_inline void named_by_others(struct endpoint *ep)
{
	if (!(ep->flags & EP_NAMED))
		ep->flags |= EP_NAMED;
}

/* An accepted socket has its listener's name; in a pair neither has one. */
static __always_inline __u32 unix_origin(__u64 own, __u64 peer)
{
	bool named = ADDRESS(own, unix_sock, addr), other = ADDRESS(peer, unix_sock, addr);

	if (named == other)
		return ORIGIN_PAIR;
	return named ? ORIGIN_LISTENER : ORIGIN_CONNECT;
}

static __always_inline void note_unix_origin(struct endpoint *ep, __u64 peer)
{
	if (ep->id.proto != PROTO_UNIX_DGRAM && !ep->making.origin)
		ep->making.origin = unix_origin(ep->id.key, peer);
}

/* The peer's address may lead to an older endpoint, whose end was not seen. That one keeps its own
 * peer, and the two ends join when the new peer is born. */
static __always_inline void join_unix(struct endpoint *ep)
{
	__u64 own = ep->id.key, key = ADDRESS(own, unix_sock, peer);
	struct endpoint *peer;

	if (!key)
		return;
	note_unix_origin(ep, key);
	peer = endpoint_known(key);
	if (!peer || !sock_is(peer, CAST(sock, key)))
		return;
	set_peer(ep, key);
	note_unix_origin(peer, own);
	ep->flags &= ~EP_NAMED;
	if (ep->id.proto == PROTO_UNIX_DGRAM && !sends_to(key, own))
		named_by_others(peer);
}

/* both ledgers end at `at`; nothing is charged after */
static __always_inline void close_ledgers(struct endpoint *ep, ns_t at)
{
	struct input in = { .at = at, .says = IN_CLOSE };

	apply_tx_slow(ep, &in);
	apply_rx_slow(ep, &in);
	ep->settled = 0;
	ep->closed = at;
}

/* Sends the close record; without room for it the endpoint stays in the map, marked, until a
 * snapshot takes it. */
SUBPROG int endpoint_close(struct endpoint *ep, ns_t at)
{
	__u64 key;

	if (!ep || ep->closed)
		return 0;
	key = ep->id.key;
	close_ledgers(ep, at);
	count_cpu(&ep->tx_calls);
	count_cpu(&ep->rx_calls);
	if (opt.stall_threshold)
		hold_told(ep);
	tcp_audit(ep, 1);
	leaves_peer(ep, at);
	leave_tuples(ep);
	if (!emit_close(ep)) {
		ep->flags |= EP_UNSENT;
		return 0;
	}
	endpoint_remove(ep, key);
	return 1;
}

static __always_inline ns_t last_seen(const struct endpoint *ep)
{
	return ep->tx.seen > ep->rx.seen ? ep->tx.seen : ep->rx.seen;
}

/* the endpoint at this address is an older one, whose end was not seen or not sent */
SUBPROG int endpoint_evict(struct endpoint *ep, __u64 key, ns_t at)
{
	if (!ep)
		return 0;
	if (!ep->closed) {
		count(COUNT_REUSED);
		ep->flags |= EP_REUSED;
		close_ledgers(ep, last_seen(ep));
		leave_tuples(ep);
	}
	if (!emit_close(ep))
		count(COUNT_LOST);
	endpoint_remove(ep, key);
	return at != 0;
}

/* the endpoint is filled in: from now on every processor takes steps */
static __always_inline void endpoint_open(struct endpoint *ep, ns_t now, __u32 flags)
{
	ep->id.serial = __sync_fetch_and_add(&last_serial, 1) + 1;
	ep->flags = flags;
	ep->tx_calls.kstack = ep->tx_calls.ustack = ep->rx_calls.kstack = ep->rx_calls.ustack = -1;
	ep->born = ep->tx.seen = ep->rx.seen = ep->queue_at = now;
	ep->rx.word = word_open(now);
	*(volatile word_t *)&ep->tx.word = word_open(now);
	endpoint_announce(ep);
	note_birth(ep);
	count(COUNT_OPENED);
}

static __always_inline bool port_was_chosen(__u64 sk)
{
	struct inet_connection_sock___bound *icsk = 0;
	struct inet_bind_bucket___chosen *bucket = 0;
	__u64 at;

	if (!bpf_core_field_exists(icsk->icsk_bind_hash) ||
	    !bpf_core_field_exists(bucket->fastreuse))
		return false;
	at = ADDRESS(sk, inet_connection_sock___bound, icsk_bind_hash);
	return at &&
	       (__s8)load_word(at + bpf_core_field_offset(struct inet_bind_bucket___chosen,
							  fastreuse)) < 0;
}

/* An accepted socket still has its listener's backlog (sk_clone_lock()). A program that binds its
 * socket before it connects leaves no trace. */
static __always_inline __u32 origin_of(__u64 sk)
{
	if (GET(CAST(sock, sk), sk_max_ack_backlog))
		return ORIGIN_LISTENER;
	return port_was_chosen(sk) ? ORIGIN_CONNECT : ORIGIN_UNTOLD;
}

/* in sk_userlocks; bind() to port 0 sets the first alone */
#define SOCK_BINDADDR_LOCK 4
#define SOCK_BINDPORT_LOCK 8
#define SOCK_BOUND	   (SOCK_BINDADDR_LOCK | SOCK_BINDPORT_LOCK)

static __always_inline void note_addresses(struct endpoint *ep, struct sock *sk)
{
	read_addresses(&ep->id, sk);
	if (ep->id.proto == PROTO_UDP)
		ep->making.bound = !!(GET_BITS(sk, sk_userlocks) & SOCK_BOUND);
}

SUBPROG int sock_create(__u64 sk0, __u32 proto, ns_t now, __u32 flags)
{
	struct sock *sk = CAST(sock, sk0);
	struct endpoint *ep;
	__u16 local = GET(sk, __sk_common.skc_num),
	      remote = bpf_ntohs(GET(sk, __sk_common.skc_dport));

	if (proto <= PROTO_UDP && !port_wanted(local, remote))
		return 0;
	ep = endpoint_insert(sk0);
	if (!ep)
		return 0;
	ep->id.proto = proto;
	ep->id.family = GET(sk, __sk_common.skc_family);
	ep->id.netns = sock_netns(sk);
	ep->id.inode = sock_inode(sk);
	note_addresses(ep, sk);
	if (proto == PROTO_TCP) {
		audit_begins(ep, sk0);
		ep->making.origin = origin_of(sk0);
	}
	endpoint_open(ep, now, flags);
	if (proto <= PROTO_UDP)
		join_inet(ep);
	else
		join_unix(ep);
	return 1;
}

static __always_inline bool remote_ip_is(const struct identity *id, struct sock *sk)
{
	__u32 known[4], ip = 0;

	__builtin_memcpy(known, id->remote.ip, sizeof(known));
	if (id->family != AF_INET6 || !bpf_core_field_exists(struct sock_common, skc_v6_daddr))
		return GET(sk, __sk_common.skc_daddr) == known[0];
	bpf_core_read(&ip, sizeof(ip), &sk->__sk_common.skc_v6_daddr.in6_u.u6_addr8[12]);
	OPAQUE(ip); /* else the compiler uses one load for this and for a map's value, which the
		       verifier refuses */
	return ip == known[3];
}

/* A datagram socket may connect() again, to another socket. Others are connected once; a peer that
 * becomes an endpoint later joins by itself. */
static __always_inline void rejoin_unix(struct endpoint *ep)
{
	__u64 key = ep->id.key;

	if (ep->peer && (ep->id.proto != PROTO_UNIX_DGRAM || sends_to(key, ep->peer)))
		return;
	if (ep->making.origin) /* it has a peer, which was no endpoint */
		return;
	if (ep->peer)
		named_by_others(ep);
	join_unix(ep);
}

/* A UDP socket may connect() again too, or disconnect (AF_UNSPEC) to send anywhere. */
static __always_inline bool connected_anew(const struct endpoint *ep, struct sock *sk)
{
	return ep->id.proto == PROTO_UDP &&
	       (bpf_ntohs(GET(sk, __sk_common.skc_dport)) != ep->id.remote.port ||
		!remote_ip_is(&ep->id, sk));
}

/* a socket gets its addresses, or its other end, after its birth: from bind(), connect() or the
 * first send */
static __always_inline void refresh_addresses(struct endpoint *ep, struct sock *sk0)
{
	struct sock *sk = CAST(sock, sk0);

	if (ep->id.proto > PROTO_UDP) {
		rejoin_unix(ep);
		return;
	}
	if (has_both_ports(&ep->id)) {
		if (!connected_anew(ep, sk))
			return;
		ep->making.moved = 1;
		if (!GET(sk, __sk_common.skc_dport))
			return;
		leave_tuples(ep);
		ep->peer = 0;
	}
	if (!GET(sk, __sk_common.skc_num)) /* not bound yet, or no longer */
		return;
	if (ep->id.local.port && !GET(sk, __sk_common.skc_dport))
		return;
	if (ep->tx_calls.own.messages + ep->tx_calls.crowd.messages)
		ep->making.moved = 1;
	note_addresses(ep, sk);
	join_inet(ep);
}

/* Data that comes after accept() sets the inode before anybody calls into the connection. */
static __always_inline bool is_unaccepted(const struct endpoint *ep)
{
	return !ep->id.inode || (ep->making.listened && !ep->making.accepted);
}

/*
 * If several processes listen at a port (SO_REUSEPORT, workers that share a socket), the first
 * process to call into a connection shows whose it is. A connection that is passed to a traced
 * process later is that one's.
 */
static __always_inline void told_apart(struct endpoint *ep, bool wanted)
{
	if (wanted && ep->flags & EP_STRANGE)
		ep->flags &= ~EP_STRANGE;
	else if (!wanted && ep->id.proto == PROTO_TCP && is_unaccepted(ep) &&
		 !(ep->flags & EP_STRANGE))
		ep->flags |= EP_STRANGE;
}

static __always_inline __u64 listener_key(struct sock *sk)
{
	return (__u64)sock_netns(sk) << 32 | GET(sk, __sk_common.skc_num);
}

/* the only listener at this port; null: there is none, or there are several, and nobody can tell
 * whose a connection is */
static __always_inline struct listener *listener_at(__u64 port)
{
	struct port *p = bpf_map_lookup_elem(&listeners, &port);
	__u64 sk;

	if (!p || p->sockets != 1)
		return 0;
	sk = p->sk;
	return bpf_map_lookup_elem(&listening, &sk);
}

static __always_inline void listener_look(struct listener *l)
{
	struct sock *sk = CAST(sock, l->key);
	__u32 queue = GET(sk, sk_ack_backlog);

	l->queue = queue;
	l->backlog = GET(sk, sk_max_ack_backlog);
	l->drops = GET(sk, sk_drops.counter) - l->drops_then;
	if (queue > l->peak)
		l->peak = queue;
}

/* a connection is in the queue from now on */
SUBPROG int listener_gains(__u64 port)
{
	struct listener *l = listener_at(port);

	if (!l)
		return 0;
	atomic_add(&l->established, 1);
	listener_look(l);
	return 1;
}

/* the current task has taken a connection from the queue */
SUBPROG int listener_loses(__u64 sk, ns_t waited)
{
	struct listener *l = listener_at(listener_key(CAST(sock, sk)));
	__u64 current = bpf_get_current_pid_tgid();

	if (!l)
		return 0;
	atomic_add(&l->accepted, 1);
	atomic_add(&l->wait_ns, waited);
	raise_max(&l->wait_max, waited);
	l->tid = (__u32)current;
	l->tgid = current_tgid(current);
	bpf_get_current_comm(l->comm, sizeof(l->comm));
	return 1;
}

/* how long data was unread until now, for lack of an accept() and not of a read */
static __always_inline ns_t unread_so_far(const struct endpoint *ep, ns_t now)
{
	word_t w = LATEST(ep->rx.word);

	return ep->rx.ns[RX_UNREAD] +
	       (WORD_STATE(w, DIR_RX) == RX_UNREAD ? word_elapsed(w, now) : 0);
}

/*
 * If the server sends first, its greeting is the answer to the connection. If the client does, its
 * request is timed as usual. Samples do not see who does.
 */
#ifdef SAMPLED
#define connection_asks(ep, now)  ((void)0)
#define connection_taken(ep, now) ((void)0)
#else
static __always_inline void connection_asks(struct endpoint *ep, ns_t now)
{
	if (!ep->asking.asked)
		ep->asking.asked = now;
}

static __always_inline void connection_taken(struct endpoint *ep, ns_t now)
{
	if (ep->id.proto == PROTO_TCP && !ep->asking.asked && !ep->asking.took)
		ep->asking.took = now;
}
#endif

/* A process has a descriptor of the connection, or calls it: it has been accepted. */
static __always_inline void note_accepted(struct endpoint *ep, ns_t now)
{
	if (!ep->making.listened || ep->making.accepted || !ep->id.inode)
		return;
	ep->making.accepted = now;
	ep->making.unread_then = unread_so_far(ep, now);
	connection_taken(ep, now);
	listener_loses(ep->id.key, now - ep->born);
}

/* A call on a settled endpoint need not check its inode, addresses, end and owner. */
static __always_inline void endpoint_settles(struct endpoint *ep)
{
	if (ep->id.proto != PROTO_TCP || !ep->id.inode || ep->flags & EP_STRANGE ||
	    !ep->id.local.port || !ep->id.remote.port || ep->closed)
		return;
	note_bypass(ep, ep->id.key);
	ep->settled = 1;
}

/* A listening TCP socket is no endpoint: its connections are. */
static __always_inline bool only_listens(struct sock *sk, __u32 proto)
{
	return proto == PROTO_TCP && GET(sk, __sk_common.skc_state) == TCP_LISTEN;
}

/*
 * The endpoint of a socket, made if a traced task touches it for the first time. The endpoint at
 * its address may be an older one, whose end nobody saw.
 */
static __always_inline struct endpoint *sock_endpoint(struct sock *sk0, bool make, ns_t now)
{
	struct endpoint *ep = endpoint_known((__u64)sk0);
	struct sock *sk;
	__u32 proto;

	if (!ep && !make)
		return 0;
	sk = CAST(sock, sk0);
	if (ep && sock_is(ep, sk))
		return ep->closed ? 0 : ep;
	if (ep)
		endpoint_evict(ep, (__u64)sk0, now);
	if (!make)
		return 0;
	proto = sock_proto(sk);
	if (!proto || !proto_wanted(proto) || only_listens(sk, proto))
		return 0;
	sock_create((__u64)sk0, proto, now, EP_JOINED_LATE);
	return endpoint_known((__u64)sk0);
}

/* a stack frame of its own, which is gone when the caller goes on */
static __noinline struct endpoint *pipe_create(__u64 pipe, __u64 node, __u64 inode, ns_t now)
{
	struct endpoint *ep = endpoint_insert(pipe);

	if (!ep)
		return endpoint_known(pipe);
	ep->id.proto = PROTO_PIPE;
	ep->id.inode = inode;
	ep->node = node;
	endpoint_open(ep, now, EP_JOINED_LATE);
	return ep;
}

static __always_inline struct endpoint *pipe_endpoint(struct pipe_inode_info *pipe, __u64 node,
						      ns_t now)
{
	__u64 inode = inode_number(node);
	struct endpoint *ep = endpoint_known((__u64)pipe);

	if (ep && !ep->closed && ep->id.inode == inode)
		return ep;
	if (!proto_wanted(PROTO_PIPE))
		return 0;
	if (ep)
		endpoint_evict(ep, (__u64)pipe, now);
	return pipe_create((__u64)pipe, node, inode, now);
}

#define ECONNRESET 104

/* A TCP connection ends: tcp_reset() notes in sk_err that the other end reset it; a reset of this
 * end's own is noted later. */
static __always_inline void note_reset(struct endpoint *ep, __u64 sk)
{
	if (GET(CAST(sock___err, sk), sk_err) == ECONNRESET)
		ep->making.reset = bpf_ktime_get_ns();
}

#endif
