// SPDX-License-Identifier: GPL-2.0-only
/*
 * The raw-tracepoint backend: for kernels that forbid or lack everything else. No tracepoint fires
 * when an acknowledgement has been processed, so most of these hooks look back: what the socket's
 * fields say at an event, before its effects, has held since the event before. Needs
 * sock_send_length and sock_recv_length (6.3 on).
 */
#define ENDS_UNSEEN /* but TCP's */
#define LOOKS_BACK
#include "destination.bpf.h"
#include "passed_fd.bpf.h"
#include "preexisting.bpf.h"

/* the thread that goes on sending had slept for buffer memory */
static __always_inline bool tx_resumes(struct endpoint *ep)
{
	struct call *c = call_of((__u32)bpf_get_current_pid_tgid(), false);

	if (!c || c->key != ep->id.key || c->dir != DIR_TX || !c->off)
		return false;
	call_resume(ep, c);
	return true;
}

/* TCP: one thread at a time holds the socket, and the tracepoint fires for every piece of a call */
SEC("raw_tp/tcp_sendmsg_locked")
int BPF_PROG(on_tcp_sendmsg, struct sock *sk)
{
	struct endpoint *ep = endpoint_known((__u64)sk);
	bool stranger = !ep || ep->closed || !ep->id.inode;
	struct input in = {};

	if (!stranger && tx_working(ep))
		return 0;
	if (stranger && !current_wanted())
		return 0;
	if (task_flags(CURRENT()) &
	    PF_KTHREAD) /* what a kernel thread sends (the rest of a TLS record) is no call, and no
			   hook would see its end */
		return 0;
	in.at = bpf_ktime_get_ns();
	if (stranger)
		ep = sock_endpoint(sk, true, in.at);
	if (!ep)
		return 0;
	tcp_look_back_fast(ep, (__u64)sk, in.at);
	refused_back(ep, in.at);
	if (word_asleep(ep->tx.word) && tx_resumes(ep))
		return 0;
	call_enter(ep, DIR_TX, &in);
	count(COUNT_OBSERVED);
	return 0;
}

/* an endpoint that is not settled: is it wanted, is it still the same, what are its addresses? */
static __noinline struct endpoint *touch(__u64 sk, ns_t now)
{
	struct endpoint *ep = endpoint_known(sk);
	bool mine = current_wanted();

	if (!mine && (!ep || ep->closed))
		return 0;
	if (ep)
		told_apart(ep, mine);
	ep = sock_endpoint((struct sock *)sk, mine, now);
	if (!ep)
		return 0;
	refresh_addresses(ep, (struct sock *)sk);
	note_accepted(ep, now);
	endpoint_settles(ep);
	return ep;
}

/* the endpoint of a socket that the current task has called into, and when */
static __always_inline struct endpoint *touched(__u64 sk, ns_t *now)
{
	struct endpoint *ep = endpoint_known(sk);

	if (!ep && !current_wanted())
		return 0;
	*now = bpf_ktime_get_ns();
	return ep && ep->settled ? ep : touch(sk, *now);
}

/*
 * The last sleep of the call may have been cut short (by a signal, SO_SNDTIMEO or a reset), so that
 * no further piece came. Where tcp_sendmsg_locked is no tracepoint, a sleep may have been the first
 * that was seen of the call.
 */
static __always_inline void tcp_call_over(struct endpoint *ep, struct input *in, __u32 tid)
{
	struct call *c = call_of(tid, false);

	if (!c || c->key != ep->id.key || c->dir != DIR_TX)
		return;
	if (c->off && c->ran &&
	    tx_device(ep)) /* woken by its own timer: nothing has shown that the device is done */
		tcp_look_back_slow(ep, ep->id.key, c->ran, 0);
	call_resume(ep, c);
	if (c->before)
		in->bytes = moved_since(ep, DIR_TX, in->bytes);
	c->entered = c->before = 0;
}

static __always_inline void tcp_sent(void *ctx, struct endpoint *ep, struct sock *sk,
				     struct input *in, int ret, __u32 tid)
{
	refused_back(ep, in->at);
	tcp_call_over(ep, in, tid);
	if (word_working(ep->tx.word))
		tcp_tx_ended(ep, (__u64)sk, in->at, in->bytes);
	else
		tcp_tx_moved(ep, (__u64)sk, in);
	count(COUNT_OBSERVED);
	refused_after(ep, ret, in->at);
	note_held_stack(ctx, ep);
}

static __always_inline void other_sent(struct endpoint *ep, struct sock *sk, struct input *in,
				       int ret, __u32 tid)
{
	refused_back(ep, in->at);
	in->working = call_was_in(ep, DIR_TX, tid) ? -1 : 0;
	if (ep->id.proto == PROTO_UDP)
		udp_sent(ep, sk, in);
	apply_tx_slow(ep, in);
	ep->tx.seen = in->at;
	refused_after(ep, ret, in->at);
	count(COUNT_OBSERVED);
}

SEC("raw_tp/sock_send_length")
int BPF_PROG(on_sent, struct sock *sk, int ret)
{
	struct input in = {};
	struct endpoint *ep;
	__u32 tid;

	ep = touched((__u64)sk, &in.at);
	if (!ep)
		return 0;
	tid = bpf_get_current_pid_tgid();
	call_moved(&in, ret);
	if (ep->id.proto == PROTO_TCP)
		tcp_sent(ctx, ep, sk, &in, ret, tid);
	else
		other_sent(ep, sk, &in, ret, tid);
	call_done(ep, DIR_TX, ret, tid);
	return 0;
}

/* a reader that was not seen in its call has left it */
SUBPROG int rx_takes(struct endpoint *ep, ns_t at, __u32 full, __u32 bytes)
{
	struct input in = { .at = at, .says = IN_FULL, .full = full & 1, .bytes = bytes };

	return ep ? apply_rx_fast(ep, &in) : 0;
}

#define COMES_NS \
	1000000 /* from tcp_probe to the queue; what takes longer was dropped (a full buffer) */

/*
 * Did data come while a reader was leaving the call? It was announced before it was queued, and
 * nothing announces it again. Checked once, before the reader's own look is noted.
 */
static __always_inline bool tcp_comes(struct endpoint *ep, struct sock *sk, ns_t now)
{
	__u32 queued = GET(CAST(tcp_sock, sk), rcv_nxt);

	if (!tcp_announced(ep->announced, queued)) {
		if (tcp_announced_long_ago(ep->announced, queued))
			ep->announced = queued;
		return false;
	}
	ep->announced = queued;
	return (__s64)(now - ep->rx.seen) < COMES_NS;
}

static __always_inline void rx_left(struct endpoint *ep, struct sock *sk, struct input *in, int ret,
				    __u32 tid)
{
	bool tcp = ep->id.proto == PROTO_TCP;
	struct call *c = !tcp || word_working(ep->rx.word)
				 ? call_seen(ep, DIR_RX, tid)
				 : 0; /* the word does not tell several readers apart */
	__u32 len = 0;

	if (tcp) {
		in->full = tcp_unread(sk);
	} else {
		len = sock_queue(ep, sk);
		in->full = len > 0;
		queue_is(ep, len, in->at);
		if (ret >= 0) /* a datagram may be empty */
			atomic_add(&ep->dequeued, 1);
	}
	if (c) {
		if (c->before && tcp)
			in->bytes = moved_since(ep, DIR_RX, in->bytes);
		call_reads(ep, c, in);
		call_over(c);
	} else {
		rx_takes(ep, in->at, in->full, in->bytes);
	}
	if (tcp && !in->full &&
	    tcp_comes(ep, sk, in->at)) /* only now: the event that announced it before this step saw
					  a reader in the call, and left it to that reader */
		rx_holds(ep, in->at, 1);
	ep->rx.seen = in->at;
	refused_read(ep, in->at);
	count(COUNT_OBSERVED);
}

SEC("raw_tp/sock_recv_length")
int BPF_PROG(on_received, struct sock *sk, int ret, int flags)
{
	struct input in = {};
	struct endpoint *ep;
	__u32 tid;

	ep = touched((__u64)sk, &in.at);
	if (!ep)
		return 0;
	tid = bpf_get_current_pid_tgid();
	if (flags & TAKES_NOTHING)
		ret = TOOK_NOTHING;
	call_moved(&in, ret);
	rx_left(ep, sk, &in, ret, tid);
	call_done(ep, DIR_RX, ret, tid);
	return 0;
}

static __always_inline void sleep_in_sock(void *ctx, struct endpoint *ep, const struct target *to,
					  const struct thread *who, ns_t now)
{
	struct input in = { .at = now };
	bool tcp = ep->id.proto == PROTO_TCP, entered = tcp && to->dir == DIR_TX && tx_working(ep);

	if (tcp && to->dir == DIR_TX)
		tcp_facets_alone(ep, (__u64)to->sk, &in, HEAD_CORK,
				 0); /* a later look back tells whether fq holds it */
	call_sleep(ctx, ep, to->dir, who, entered, &in);
	if (to->dir == DIR_TX)
		ep->tx.seen = now;
}

static __always_inline void sleep_in_pipe(void *ctx, struct endpoint *ep, const struct target *to,
					  const struct thread *who, ns_t now)
{
	struct input in = { .at = now };

	pipe_look(ep, to->pipe, now);
	call_sleep(ctx, ep, to->dir, who, false, &in);
}

/*
 * A sender sleeps for something other than room. Among sockets, only TCP reports that a call has
 * begun, and reports the next piece when the call goes on; a pipe's writer is out of its call until
 * it runs again.
 */
static __noinline int pauses_in(struct endpoint *ep, const struct target *to,
				const struct thread *who, ns_t now)
{
	struct input in = { .at = now, .working = -1 };
	struct call *c;

	if (lacks_room(ep))
		return 0;
	c = call_of(who->tid, false);
	if (ep->id.proto == PROTO_TCP && tx_working(ep)) {
		tcp_facets_of(ep, (__u64)to->sk, &in, HEAD_NONE, 0);
		apply_tx_slow(ep, &in);
		ep->tx.seen = now;
	} else if (ep->id.proto != PROTO_TCP && c && c->entered && c->dir == DIR_TX &&
		   c->key == ep->id.key) {
		call_pauses(ep, c, who, &in);
		ep->tx.seen = now;
	}
	return 1;
}

/* a stack frame of its own, which is gone while a poll() is looked at */
static __noinline int sleep_in(void *ctx, struct endpoint *ep, const struct target *to,
			       const struct thread *who, ns_t now)
{
	if (to->pipe)
		sleep_in_pipe(ctx, ep, to, who, now);
	else
		sleep_in_sock(ctx, ep, to, who, now);
	return 0;
}

/* splice() sleeps at its other end now; what it moves is known when it ends, see splice_ends() */
static __noinline int splice_turns(struct call *c, ns_t now)
{
	struct endpoint *ep = c ? call_endpoint(c) : 0;
	struct input in = { .at = now };

	if (!ep || ep->closed)
		return 0;
	call_resume_slow(ep, c);
	if (ep->id.proto == PROTO_PIPE)
		pipe_look(ep, (struct pipe_inode_info *)c->key, now);
	call_leave(ep, c->dir, &in);
	return 1;
}

/* The current task gives up the CPU to sleep: in a call on an endpoint? Returns the time if the
 * clock was read. */
static __always_inline ns_t task_sleeps(void *ctx, const struct thread *who)
{
	struct call *c = call_of(who->tid, false);
	struct endpoint *ep;
	struct target to = {};
	struct syscall_args r;
	ns_t now;

	if (calls_nothing((struct task_struct *)who->task))
		return 0;
	request_of(&r, CAST(task_struct, who->task), current_regs(who->task));
	if (!bits_target(&to, CAST(task_struct, who->task), r.bits, r.first, r.third)) {
		asks_in(who, &r);
		return 0;
	}
	now = bpf_ktime_get_ns();
	ep = c && c->stranger ? target_known(&to) : target_endpoint(&to, now);
	if (!ep)
		return now;
	if (c && c->off && c->key == ep->id.key)
		call_resume(ep, c);
	else if (c && c->entered && c->key != ep->id.key && syscall_splices(r.bits))
		splice_turns(c, now);
	if (to.dir != DIR_TX || !pauses_in(ep, &to, who, now))
		sleep_in(ctx, ep, &to, who, now);
	return now;
}

#define THREAD_SLEEPS task_sleeps
#include "switch.bpf.h"

SEC("raw_tp/sk_data_ready")
int BPF_PROG(on_data_ready, struct sock *sk)
{
	struct endpoint *ep = came_for(sk);

	if (ep && ep->id.proto != PROTO_TCP && sock_is(ep, CAST(sock, sk)) &&
	    !takes_connections(sk))
		something_came(ep, sk);
	return 0;
}

SUBPROG int file_goes(__u64 file, __u32 closes)
{
	struct target to = {};

	if (!file_target(&to, file))
		return 0;
	if (closes && target_known(&to))
		file_passes(target_key(&to), file, current_tgid(bpf_get_current_pid_tgid()), 1);
	return seen_going(&to, bpf_ktime_get_ns()) != 0;
}

/* At an exec() the descriptors that stay are looked at too, and nothing more. */
static __noinline int files_go(__u32 first, __u32 last, __u32 closes)
{
	struct fdtable *table = CAST(fdtable, GET(CURRENT(), files, fdt));
	__u64 files = (__u64)GET(table, fd);
	__u32 max = GET(table, max_fds);

	for (__u32 i = 0; i < FILES_MAX && first + i <= last && first + i < max; i++) {
		__u64 file = load_word(files + (first + i) * sizeof(__u64));

		if (file)
			file_goes(file, closes);
	}
	return 1;
}

#define CLOSE_RANGE_CLOEXEC 4 /* closes at the next exec(), not now */

static __always_inline void close_begins(const struct syscall_args *r)
{
	if (r->bits & SYS_EXEC)
		files_go(0, FILES_MAX, 0);
	else if (r->bits & SYS_RANGE)
		files_go(r->first, r->second, !(r->third & CLOSE_RANGE_CLOEXEC));
	else
		file_goes(file_of(CURRENT(), r->bits & SYS_SECOND ? r->second : r->first), 1);
}

/* the end of this call was missed: the thread is out of it by now */
static __noinline int pipe_call_lost(struct call *c, ns_t now)
{
	struct endpoint *ep = c ? call_endpoint(c) : 0;
	struct input in = { .at = now };

	if (!ep || ep->closed || ep->id.proto != PROTO_PIPE)
		return 0;
	call_resume_slow(ep, c);
	call_leave(ep, c->dir, &in);
	count(COUNT_UNPAIRED);
	return 1;
}

static __noinline int pipe_call_begins(__u32 bits, __u64 first, __u64 third)
{
	struct target to = {};
	struct input in = {};
	struct endpoint *ep;
	struct call *c;

	if (!pipe_target(&to, CURRENT(), bits, first, third))
		return 0;
	in.at = bpf_ktime_get_ns();
	ep = pipe_endpoint(to.pipe, to.node, in.at);
	c = call_of((__u32)bpf_get_current_pid_tgid(), true);
	if (!ep || !c)
		return 0;
	if (c->entered)
		pipe_call_lost(c, in.at);
	call_is_on(c, ep, to.dir);
	c->entered = 1;
	c->before = 0;
	pipe_look(ep, to.pipe, in.at);
	if (to.dir == DIR_TX)
		refused_back(ep, in.at);
	call_enter(ep, to.dir, &in);
	count(COUNT_OBSERVED);
	return 1;
}

/* for a call whose first argument is its only descriptor: most lead to a file or a TCP socket */
static __always_inline bool leads_to_pipe(struct task_struct *task, __u64 fd)
{
	struct target to = {};
	__u64 file = file_of(task, fd);

	return file && file_leads(&to, file, false);
}

static __always_inline int sys_begins(struct pt_regs *regs)
{
	struct syscall_args r;

	request_of(&r, CURRENT(), regs);
	if (r.bits & SYS_SOCKETS || !(r.bits & (SYS_IN | SYS_OUT | SYS_CLOSE)) || !current_wanted())
		return 0;
	if (r.bits & SYS_CLOSE)
		close_begins(&r);
	else
		pipe_call_begins(r.bits, r.first, r.third);
	return 1;
}

/* Pipes only: these two slow every system call of the machine, and are attached when pipes are
 * asked for. Most calls are ruled out by their number, or by what their descriptor is. */
SEC("raw_tp/sys_enter")
int BPF_PROG(on_sys_enter, struct pt_regs *regs0, long nr)
{
	struct pt_regs *regs = CAST(pt_regs, regs0);
	struct task_struct *task = CURRENT();
	__u32 bits = number_bits(task, nr);

	if (bits & SYS_PASSES && !is_compat(task) && current_wanted())
		return user_messages_pass(CALL_ARG_1(regs),
					  bits & SYS_ONE ? 1 : CALL_ARG_2(regs));
	if (bits & SYS_SOCKETS || !(bits & (SYS_IN | SYS_OUT | SYS_CLOSE | SYS_SOCKETCALL)))
		return 0;
	if (bits & SYS_ONE && !is_compat(task) && !leads_to_pipe(task, CALL_ARG_0(regs)))
		return 0;
	return sys_begins(regs);
}

static __noinline int fd_born(__u32 fd, ns_t now)
{
	__u64 file = file_of(CURRENT(), fd);

	if (file)
		file_comes(file, now);
	return 0;
}

static __always_inline void pair_born(__u64 where, ns_t now)
{
	__u32 fds[2] = {};

	if (bpf_probe_read_user(fds, sizeof(fds), (void *)where))
		return;
	fd_born(fds[0], now);
	fd_born(fds[1], now);
}

static __always_inline void sys_made(const struct syscall_args *r, long ret)
{
	enum made made = syscall_makes(r->bits);

	if (ret < 0)
		return;
	if (made == MADE_ONE)
		fd_born(ret, bpf_ktime_get_ns());
	else
		pair_born(made == MADE_PAIR_FIRST ? r->first : r->fourth, bpf_ktime_get_ns());
}

/* a stack frame of its own: making an endpoint, in sys_made(), needs the room */
static __noinline int pipe_call_ends(long ret)
{
	struct call *c = call_of((__u32)bpf_get_current_pid_tgid(), false);
	struct input in = {};
	struct endpoint *ep;

	if (!c || !c->entered)
		return 0;
	ep = call_endpoint(c);
	if (!ep || ep->id.proto != PROTO_PIPE)
		return 0;
	call_resume(ep, c);
	c->entered = c->before = 0;
	in.at = bpf_ktime_get_ns();
	pipe_look(ep, (struct pipe_inode_info *)c->key, in.at);
	call_moved(&in, ret);
	call_leave(ep, c->dir, &in);
	if (c->dir == DIR_TX)
		refused_after(ep, ret, in.at);
	else
		refused_read(ep, in.at);
	call_done(ep, c->dir, ret, bpf_get_current_pid_tgid());
	return 1;
}

/* books the pipe that a splice() read, if its call went on at the file that it wrote to */
static __noinline int splice_ends(__u32 first, long ret)
{
	struct call *c = call_of((__u32)bpf_get_current_pid_tgid(), false);
	struct target to = {};
	struct input in = {};
	struct endpoint *ep;

	if (ret <= 0 || !c || !splice_reads(&to, CURRENT(), first) || c->key == target_key(&to))
		return 0;
	ep = target_known(&to);
	if (!ep)
		return 0;
	in.at = bpf_ktime_get_ns();
	pipe_look(ep, to.pipe, in.at);
	call_moved(&in, ret);
	apply_rx_slow(ep, &in);
	refused_read(ep, in.at);
	call_done(ep, DIR_RX, ret, bpf_get_current_pid_tgid());
	return 1;
}

/* books the pipe that it filled, if its call was at the file that it read */
static __noinline int splice_filled(__u32 third, long ret)
{
	struct call *c = call_of((__u32)bpf_get_current_pid_tgid(), false);
	struct target to = {};
	struct input in = {};
	struct endpoint *ep;

	if (ret <= 0 || !c || !splice_writes(&to, CURRENT(), third) || !to.pipe ||
	    c->key == target_key(&to))
		return 0;
	in.at = bpf_ktime_get_ns();
	ep = pipe_endpoint(to.pipe, to.node, in.at);
	if (!ep)
		return 0;
	pipe_look(ep, to.pipe, in.at);
	call_moved(&in, ret);
	apply_tx_slow(ep, &in);
	call_done(ep, DIR_TX, ret, bpf_get_current_pid_tgid());
	return 1;
}

/* the end of a call with more to do than to end a call on a pipe */
static __noinline int sys_ends(struct pt_regs *regs, long ret)
{
	struct syscall_args r;

	request_of(&r, CURRENT(), regs);
	if (syscall_moves(r.bits)) {
		if (syscall_splices(r.bits)) {
			splice_ends(r.first, ret);
			splice_filled(r.third, ret);
		}
		if (!(r.bits & SYS_SOCKETS))
			pipe_call_ends(ret);
	} else if (syscall_makes(r.bits) && current_wanted()) {
		sys_made(&r, ret);
	}
	return 1;
}

SEC("raw_tp/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs *regs0, long ret)
{
	struct pt_regs *regs = CAST(pt_regs, regs0);
	__u32 bits = number_bits(CURRENT(), CALL_NR(regs, PLAINLY));

	if (!(bits & (SYS_IN | SYS_OUT | SYS_MADE | SYS_SOCKETCALL)))
		return 0;
	if (bits & SYS_ONE)
		return bits & SYS_SOCKETS ? 0 : pipe_call_ends(ret);
	return sys_ends(regs, ret);
}
