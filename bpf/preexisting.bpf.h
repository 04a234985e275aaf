/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What existed before the session: sockets and pipes of running programs, and threads asleep in a
 * call on one. A stalled connection may never cause an event, so user space names each descriptor
 * and each sleeping thread, and runs these programs, which are attached to nothing, once for each.
 * They run under RCU (bpf_prog_test_run() of a raw tracepoint holds it): what they walk may be
 * closed meanwhile, but cannot vanish; so each looks again when the endpoint is made.
 */
#ifndef IPCSTALL_PREEXISTING_BPF_H
#define IPCSTALL_PREEXISTING_BPF_H

#include "pending_request.bpf.h"
#include "polled.bpf.h"
#include "unattended.bpf.h"

#define XA_SHIFT_MASK 63
#define XA_LEVELS     6

/* xas_load(): an entry whose low bits are 2 is a node; six bits of the index choose its slot */
static __always_inline __u64 xa_find(__u64 entry, __u32 index)
{
	for (int i = 0; i < XA_LEVELS; i++) {
		__u64 node = entry - 2;
		__u32 shift;

		if ((entry & 3) != 2)
			break;
		shift = GET(CAST(xa_node___numbered, node), shift);
		entry = load_word(node + bpf_core_field_offset(struct xa_node___numbered, slots) +
				  ((index >> (shift & XA_SHIFT_MASK)) & 63) * sizeof(__u64));
	}
	return entry;
}

/* find_task_by_vpid(): the thread with this number in the current task's PID namespace; 0: none */
static __noinline __u64 task_numbered(__u32 nr)
{
	__u64 me = ADDRESS(CURRENT(), task_struct___numbered, thread_pid), pid, node;
	__u32 level = GET(CAST(pid___numbered, me), level);
	__u64 ns = ADDRESS(upid_at(me, level), upid___numbered, ns);

	pid = xa_find(ADDRESS(ns, pid_namespace___numbered, idr.idr_rt.xa_head), nr);
	if (!pid || (__u32)GET(CAST(upid___numbered, upid_at(pid, level)), nr) != nr)
		return 0;
	node = ADDRESS(pid, pid___numbered, tasks);
	return node ? node - bpf_core_field_offset(struct task_struct___numbered, pid_links) : 0;
}

/* what bpf_get_current_cgroup_id() would return in that task */
static __always_inline __u64 task_cgroup(__u64 task)
{
	__u64 set = ADDRESS(task, task_struct, cgroups),
	      group = set ? ADDRESS(set, css_set, dfl_cgrp) : 0;
	__u64 node = group ? ADDRESS(group, cgroup, kn) : 0;

	return node ? ADDRESS(node, kernfs_node, id) : 0;
}

/* pid_nr_ns(): the number of the task's process in the current task's PID namespace; 0: it is in
 * another, or has just ended */
static __noinline __u32 tgid_numbered(__u64 task)
{
	__u64 me = ADDRESS(CURRENT(), task_struct___numbered, thread_pid);
	__u64 leader = ADDRESS(task, task_struct___numbered, group_leader),
	      pid = ADDRESS(leader, task_struct___numbered, thread_pid);
	__u32 level = GET(CAST(pid___numbered, me), level);

	if (!pid || GET(CAST(pid___numbered, pid), level) < level ||
	    ADDRESS(upid_at(pid, level), upid___numbered, ns) !=
		    ADDRESS(upid_at(me, level), upid___numbered, ns))
		return 0;
	return GET(CAST(upid___numbered, upid_at(pid, level)), nr);
}

/* a process that is not the current task, but the one that user space named */
static __always_inline struct holder holder_of(__u64 task)
{
	return (struct holder){ .task = task,
				.cgroup = task_cgroup(task),
				.tgid = tgid_numbered(task) };
}

/* sets both ledgers from the socket's present fields */
static __always_inline void sock_look(struct endpoint *ep, struct sock *sk, ns_t now)
{
	struct input rx = { .at = now, .says = IN_FULL };
	__u32 len;

	if (ep->id.proto == PROTO_TCP) {
		tcp_tx_looks(ep, (__u64)sk, now);
		count(COUNT_OBSERVED);
		rx.full = tcp_unread(sk);
	} else {
		len = sock_queue(ep, sk);
		rx.full = len > 0;
		queue_is(ep, len, now);
	}
	apply_rx_slow(ep, &rx);
	if (had_been_refused(ep))
		refused_begins(ep, now);
}

/*
 * An MPTCP socket listens through its first subflow, a TCP socket (mptcp_listen()). A client
 * without MPTCP is accepted as an ordinary TCP socket (mptcp_stream_accept()), which is born at the
 * port of that subflow.
 */
static __always_inline __u64 listens_by(struct sock *sk0)
{
	struct sock *sk = CAST(sock, sk0);

	if (!sk0 || GET(sk, sk_protocol) != IPPROTO_MPTCP ||
	    !bpf_core_field_exists(struct mptcp_sock___first, first))
		return (__u64)sk0;
	return ADDRESS(sk0, mptcp_sock___first, first);
}

/* the state of a TCP socket that is no connection; else 0 */
static __always_inline __u32 unconnected(__u64 sk0)
{
	struct sock *sk = CAST(sock, sk0);
	__u32 state = GET(sk, __sk_common.skc_state);

	return sk0 && sock_proto(sk) == PROTO_TCP && (state == TCP_CLOSE || state == TCP_LISTEN)
		       ? state
		       : 0;
}

static __always_inline void target_look(struct endpoint *ep, const struct target *to, ns_t now)
{
	if (to->pipe)
		pipe_look(ep, to->pipe, now);
	else
		sock_look(ep, to->sk, now);
}

/* Nothing has gone through it yet. Only TCP and pipes count what goes through; of other sockets the
 * queue must be empty. */
static __always_inline bool is_fresh(const struct endpoint *ep, const struct target *to)
{
	struct pipe_inode_info *pipe0 = to->pipe, *pipe = CAST(pipe_inode_info, pipe0);

	if (pipe0)
		return !GET(pipe, head);
	return ep->id.proto == PROTO_TCP
		       ? ep->through[DIR_TX] + ep->through[DIR_RX] <= 2 * SYN_AND_FIN
		       : !ep->queue_len;
}

/* for a file that is new here: an accepted Unix socket has its listener's name, the sockets of a
 * pair have none */
static __always_inline bool is_accepted(const struct endpoint *ep)
{
	struct unix_sock *u = CAST(unix_sock, ep->id.key);

	if (ep->id.proto == PROTO_UDP)
		return false;
	return ep->id.proto == PROTO_TCP || GET(u, addr);
}

/* A process that gets an accepted or passed connection should read it: it is named as the reader,
 * without a tid, until another is seen to read. */
static __always_inline void note_owner(struct endpoint *ep, ns_t now)
{
	if (ep->rx_calls.tgid || (ep->born == now && !is_accepted(ep)))
		return;
	note_task(ep, DIR_RX, bpf_get_current_pid_tgid());
	ep->rx_calls.tid = 0;
}

/*
 * A descriptor is installed for a file that is new to the process: a file just made, one that
 * another process passed on, or an accepted connection, perhaps with data in it.
 */
static __always_inline void file_comes(__u64 file, ns_t now)
{
	struct target to = {};
	struct endpoint *ep;

	if (!file_target(&to, file))
		return;
	ep = target_endpoint(&to, now);
	if (!ep)
		return;
	if (!to.pipe) {
		note_accepted(ep, now);
		note_owner(ep, now);
	}
	if (ep->born != now) {
		look_before_accept(ep, (__u64)to.sk);
		return;
	}
	target_look(ep, &to, now);
	if (is_fresh(ep, &to))
		ep->flags &= ~EP_JOINED_LATE;
}

/* The other end of a Unix connection was made in this session. */
static __always_inline bool is_new_connection(__u64 sk)
{
	__u64 key = ADDRESS(sk, unix_sock, peer);
	struct endpoint *peer = key ? endpoint_known(key) : 0;

	return peer && !(peer->flags & EP_JOINED_LATE) && sock_is(peer, CAST(sock, key));
}

/*
 * A Unix connection can be written to before it is accepted: it has no file yet, and only its
 * writer, the current task, is known (unix_stream_connect(), unix_stream_sendmsg()). Or a program
 * that is not traced has just accepted it. No data came before.
 */
SUBPROG int embryo_made(__u64 sk0, ns_t now)
{
	struct sock *sk = CAST(sock, sk0);
	struct endpoint *ep;
	bool accepted;
	__u32 proto;

	if (GET(sk, __sk_common.skc_family) != AF_UNIX || !current_wanted())
		return 0;
	accepted = GET(sk, sk_socket) != 0;
	if (accepted && !is_new_connection(sk0))
		return 0;
	proto = sock_proto(sk);
	if (proto == PROTO_NONE || proto == PROTO_UNIX_DGRAM || !proto_wanted(proto))
		return 0;
	ep = endpoint_known(sk0);
	if (ep)
		endpoint_evict(ep, sk0, now);
	return accepted ? sock_create(sk0, proto, now, 0) : born_in_queue(sk0, proto, now);
}

/* The end of this endpoint was not seen, and another Unix connection is at its address. */
static __always_inline bool is_anothers(struct endpoint *ep, struct sock *sk)
{
	return ep->id.proto > PROTO_UDP && ep->id.proto != PROTO_UNIX_DGRAM && ep->id.inode &&
	       ep->id.inode != sock_inode(CAST(sock, sk));
}

/* the endpoint whose reader has something to read now; null: it is not traced */
static __always_inline struct endpoint *came_for(struct sock *sk)
{
	struct endpoint *ep = endpoint_known((__u64)sk);

	if (!ep || is_anothers(ep, sk)) {
		embryo_made((__u64)sk, bpf_ktime_get_ns());
		ep = endpoint_known((__u64)sk);
	}
	return ep && !ep->closed ? ep : 0;
}

#define TCP_CLOSE_WAIT 8
#define SEED_QUEUED    16 /* connections of one listener, at most */

/* No descriptor leads to a connection that waits for accept(). */
SUBPROG int seed_queued(__u64 sk0, __u64 port, ns_t now)
{
	struct sock *sk = CAST(sock, sk0);
	__u32 state = GET(sk, __sk_common.skc_state);
	struct endpoint *ep;

	if (!sk0 || (state != TCP_ESTABLISHED && state != TCP_CLOSE_WAIT) ||
	    listener_key(sk) != port || endpoint_known(sk0))
		return 0;
	listener_gains(port);
	born_in_queue(sk0, PROTO_TCP, now);
	ep = endpoint_known(sk0);
	if (!ep)
		return 0;
	ep->flags |= EP_JOINED_LATE;
	sock_look(ep, (struct sock *)sk0, now);
	return 1;
}

static __always_inline void seed_queue(__u64 listener)
{
	__u64 port = listener_key(CAST(sock, listener)), request;
	ns_t now = bpf_ktime_get_ns();

	request = ADDRESS(listener, inet_connection_sock, icsk_accept_queue.rskq_accept_head);
	for (int i = 0; i < SEED_QUEUED && request; i++) {
		seed_queued(ADDRESS(request, request_sock, sk), port, now);
		request = ADDRESS(request, request_sock, dl_next);
	}
}

/* if it stopped listening while we looked, no hook reports that again */
static __always_inline void seed_listener(__u64 sk)
{
	listens(sk);
	if (unconnected(sk) != TCP_LISTEN)
		listens_no_more(sk);
}

/* The retransmission timer had fired before tracing began, and the data is still on this host. */
SUBPROG int seed_undelivered(struct endpoint *ep, ns_t now)
{
	__u64 sk;

	if (!ep || ep->id.proto != PROTO_TCP || !tx_device(ep))
		return 0;
	sk = ep->id.key;
	if (!timer_unanswered(sk))
		return 0;
	ep->flying = GET(CAST(tcp_sock, sk), packets_out);
	ep->fired = now;
	return 1;
}

/* A request is pending, one way or the other: as far as is known, since the session began. */
SUBPROG int seed_request(struct endpoint *ep, ns_t now)
{
	__u32 facts;

	if (!ep || ep->id.proto != PROTO_TCP)
		return 0;
	facts = pending_request(ep->id.key);
	if (facts & 1u << SAMPLE_OWES_ANSWER && is_unattended(ep->id.key))
		facts |= 1u << SAMPLE_UNPROMPTED;
	if (!(facts & 1u << SAMPLE_UNPROMPTED))
		return 0;
	if (facts & 1u << SAMPLE_OWES_ANSWER)
		ep->asking.took = now;
	else
		ep->asking.asked = now;
	return 1;
}

static __noinline int seed_endpoint(const struct target *to, ns_t now)
{
	__u64 sk = listens_by(to->sk), in_vain = no_room;
	__u32 state = unconnected(sk);

	if (state == TCP_LISTEN)
		seed_listener(sk);
	if (state)
		return state == TCP_LISTEN ? SEED_LISTENS : SEED_UNWANTED;
	if (endpoint_known(target_key(to)))
		return SEED_KNOWN;
	if (target_endpoint(to, now))
		return SEED_MADE;
	return no_room == in_vain ? SEED_UNWANTED : SEED_NO_ROOM;
}

/* The current task is user space, which named the socket: the process that holds it listens. */
static __noinline int listener_held(__u64 sk, __u64 task)
{
	struct listener *l = bpf_map_lookup_elem(&listening, &sk);

	if (!l || l->accepted)
		return 0;
	l->tgid = tgid_numbered(task);
	l->tid = GET(CAST(task_struct, task), pid);
	bpf_probe_read_kernel(
		l->comm, sizeof(l->comm),
		(void *)(task + bpf_core_field_offset(struct task_struct___numbered, comm)));
	return 1;
}

/* In a PID namespace of its own, user space has other process numbers than the hooks. Returns the
 * hooks' number; 0: there is no such process. */
SEC("raw_tp/global_number")
int global_number(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 task = task_numbered(ctx->args[0]);

	return task ? GET(CAST(task_struct, task), tgid) : 0;
}

static __always_inline bool is_what_was_seen(const struct target *to, __u64 inode)
{
	return inode == SEED_FIFO ? to->pipe != 0 : inode_number(to->node) == inode;
}

/* args: process; descriptor; the inode that user space saw there, or SEED_FIFO; 1 if the process
 * only waits for its children */
SEC("raw_tp/seed_fd")
int seed_fd(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 task = task_numbered(ctx->args[0]), file;
	ns_t now = bpf_ktime_get_ns();
	struct target to = {};
	struct endpoint *ep;
	struct holder h;
	int what;

	file = task ? file_of(CAST(task_struct, task), ctx->args[1]) : 0;
	if (!file || !file_target(&to, file) || !is_what_was_seen(&to, ctx->args[2]))
		return SEED_GONE;
	what = seed_endpoint(&to, now);
	if (what == SEED_LISTENS) {
		listener_held(listens_by(to.sk), task);
		seed_queue(listens_by(to.sk));
	}
	ep = what >= SEED_KNOWN ? endpoint_known(target_key(&to)) : 0;
	if (!ep)
		return what;
	if (what == SEED_MADE) {
		target_look(ep, &to, now);
		seed_undelivered(ep, now);
		seed_request(ep, now);
	}
	if (what == SEED_MADE && file_of(CAST(task_struct, task), ctx->args[1]) != file) {
		endpoint_close(ep, bpf_ktime_get_ns());
		return SEED_GONE;
	}
	h = holder_of(task);
	h.waits_for_child = ctx->args[3];
	note_holders(ep, &h, file);
	return what;
}

static __always_inline bool asleep_now(__u64 task)
{
	return task_state((struct task_struct *)task) & TASK_INTERRUPTIBLE &&
	       !is_frozen((struct task_struct *)task);
}

static __always_inline void note_sleeper(struct call_stats *b, __u64 task)
{
	__u32 before = b->tid ? b->tgid : 0, others = b->others;
	struct holder h = holder_of(task);

	b->tgid = 0;
	note_holder(b, &h);
	b->others = before && (others || before != b->tgid);
	b->tid = GET(CAST(task_struct, task), pid);
	follow_sleeps(b->tid);
}

/* The thread sleeps for something other than room, and enters the call when it runs; if each piece
 * of a TCP call is reported, with the next piece. */
static __always_inline int seed_pause(struct endpoint *ep, struct call *c, __u64 task, ns_t now)
{
	call_is_on(c, ep, DIR_TX);
	c->ran = 0;
	c->task = task;
	c->entered = c->before = 1;
#ifdef LOOKS_BACK
	if (ep->id.proto == PROTO_TCP)
		now = 0;
#endif
	c->run_delay = CALL_PAUSED;
	*(volatile ns_t *)&c->off = now;
	note_sleeper(&ep->tx_calls, task);
	if (asleep_now(task))
		return SEED_MADE;
	call_over(c);
	return SEED_GONE;
}

/* The thread is in the call from now on. If it woke while we looked, no hook will report that, and
 * it is taken out again. */
static __always_inline int seed_sleep(struct endpoint *ep, const struct target *to, struct call *c,
				      __u64 task, ns_t now)
{
	struct input in = { .at = now, .working = 1, .asleep = 1 };
	bool pauses = to->dir == DIR_TX && !lacks_room(ep);

	if (pauses)
		return seed_pause(ep, c, task, now);
	if (ep->id.proto == PROTO_TCP && to->dir == DIR_TX) {
		tcp_facets(ep, (__u64)to->sk, &in, HEAD_CORK, 0);
		ep->tx.seen = now;
	}
	call_is_on(c, ep, to->dir);
	c->ran = 0;
	c->task = task;
	c->run_delay = run_delay(task);
	c->entered = c->before = 1;
	*(volatile ns_t *)&c->off = now;
	apply(ep, &in, to->dir);
	note_sleeper(call_stats_of(ep, to->dir), task);
	if (asleep_now(task))
		return SEED_MADE;
	in = (struct input){ .at = now, .working = -1, .asleep = -1 };
	apply(ep, &in, to->dir);
	call_over(c);
	return SEED_GONE;
}

/* args: thread, and the number, the first and the third argument of the call it sleeps in, or was
 * stopped in */
SEC("raw_tp/seed_call")
int seed_call(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 task = task_numbered(ctx->args[0]);
	ns_t now = bpf_ktime_get_ns();
	struct target to = {};
	struct endpoint *ep;
	struct call *c;

	if (task && task_state((struct task_struct *)task) & TASK_HALTED)
		return thread_stops(GET(CAST(task_struct, task), pid)) ? SEED_KNOWN : SEED_NO_ROOM;
	if (!task || !asleep_now(task) || calls_nothing((struct task_struct *)task))
		return SEED_GONE;
	if (!bits_target(&to, CAST(task_struct, task),
			 number_bits(CAST(task_struct, task), ctx->args[1]), ctx->args[2],
			 ctx->args[3]))
		return SEED_UNWANTED;
	ep = target_endpoint(&to, now);
	c = ep ? call_of(GET(CAST(task_struct, task), pid), true) : 0;
	if (!c)
		return SEED_UNWANTED;
	return c->off || c->entered ? SEED_KNOWN : seed_sleep(ep, &to, c, task, now);
}

#define SEED_POLLED 8 /* descriptors that a thread polls, at most */

/* the one endpoint that the thread polls to read; SEVERAL: nobody can tell */
static __always_inline __u64 polled_of(__u64 task, const __u64 fds[SEED_POLLED], __u64 n)
{
	__u64 asked = NOBODY;
	__u32 tgid = tgid_numbered(task);

	for (__u32 i = 0; i < SEED_POLLED && i < n; i++)
		asked = one_more(asked,
				 readable_by(file_of(CAST(task_struct, task), fds[i]), tgid));
	return asked;
}

/* the same as waits_for_data(), for a thread that is asleep already */
static __always_inline int seed_poller(struct endpoint *ep, struct call *c, __u64 task, ns_t now)
{
	call_is_on(c, ep, DIR_RX);
	c->task = task;
	c->polls = 1;
	rx_sleeps_in(ep, now);
	note_sleeper(&ep->rx_calls, task);
	if (asleep_now(task))
		return SEED_MADE;
	poll_ended(c, now);
	return SEED_GONE;
}

/* args: thread, how many descriptors it polls to read, and these */
SEC("raw_tp/seed_poll")
int seed_poll(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 task = task_numbered(ctx->args[0]), fds[SEED_POLLED], key;
	struct endpoint *ep;
	struct call *c;

	if (!task || !asleep_now(task) || calls_nothing((struct task_struct *)task))
		return SEED_GONE;
	for (int i = 0; i < SEED_POLLED; i++)
		fds[i] = ctx->args[2 + i];
	key = polled_of(task, fds, ctx->args[1]);
	ep = key > SEVERAL ? endpoint_known(key) : 0;
	c = ep ? call_of(GET(CAST(task_struct, task), pid), true) : 0;
	if (!c || ep->closed)
		return SEED_UNWANTED;
	return call_busy(c) ? SEED_KNOWN : seed_poller(ep, c, task, bpf_ktime_get_ns());
}

#endif
