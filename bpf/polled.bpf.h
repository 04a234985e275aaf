/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that sleep in poll() or select() before they read or write. A writer that polls a full
 * socket or pipe for room counts as refused (refused.bpf.h), although it did not try. A reader that
 * polls one endpoint waits as in a receive call; if it polls several, nobody can tell for which.
 * The arguments of epoll_wait() do not show what it waits for: a writer usually tries first, and a
 * reader is usually a server that waits for any client.
 */
#ifndef IPCSTALL_POLLED_BPF_H
#define IPCSTALL_POLLED_BPF_H

#include "tracepoints.bpf.h"

#define ASKS_IN	 (0x1 | 0x40)  /* POLLIN, POLLRDNORM */
#define ASKS_OUT (0x4 | 0x100) /* POLLOUT, POLLWRNORM */
#define POLLED	 64	       /* so many entries of one call are looked at */
#define SELECTED 4	       /* so many words of a select() set, of 64 descriptors each */
#define SET_BITS 8	       /* so many descriptors of each word */

struct polled { /* struct pollfd */
	__s32 fd;
	__s16 events, revents;
};

/* The room of a UDP socket depends on the device. That of a Unix datagram socket also depends on
 * its receiver: a sender that was slower than others sleeps on, and does not try again. */
static __always_inline bool has_room_of_its_own(const struct endpoint *ep)
{
	return ep->id.proto != PROTO_UDP;
}

/* null: a listening socket, a file, or not traced */
static __always_inline struct endpoint *asked_at(__u64 task, __u32 fd)
{
	struct target to = {};

	return file_target(&to, file_of(CAST(task_struct, task), fd)) ? target_known(&to) : 0;
}

SUBPROG int wants_room(__u64 task, __u32 fd)
{
	struct endpoint *ep = asked_at(task, fd);

	if (!ep || ep->refused || !has_room_of_its_own(ep) || room_left(ep))
		return 0;
	return begin_refusal(ep, bpf_ktime_get_ns());
}

SUBPROG int polls_for_room(__u64 task, __u64 fds, __u64 n)
{
	for (__u64 i = 0; i < POLLED && i < n; i++) {
		struct polled p;

		if (bpf_probe_read_user(&p, sizeof(p), (void *)(fds + i * sizeof(p))))
			break;
		if (p.events & ASKS_OUT)
			wants_room(task, p.fd);
	}
	return 0;
}

/* The process has both ends: another of its threads, or a signal handler, wakes it by this. */
static __always_inline bool wakes_itself(struct endpoint *ep, __u32 tgid)
{
	struct endpoint *peer = ep->id.proto <= PROTO_UDP ? 0 : peer_of(ep);
	__u32 who;

	if (!peer)
		return false;
	who = peer->tx_calls.tgid || peer == ep ? peer->tx_calls.tgid : peer->rx_calls.tgid;
	return (!who && peer != ep) || who == tgid;
}

#define NOBODY	0
#define SEVERAL 1 /* or an unknown one; no key is odd */

/* An epoll waits for whatever was added to it. Its private data points to its file
 * (do_epoll_create()); that of no other kind of file does. */
static __always_inline bool is_epoll(__u64 file)
{
	struct eventpoll___file *ep =
		(struct eventpoll___file *)GET(CAST(file, file), private_data);
	__u64 own = 0;

	if (ep && bpf_core_field_exists(ep->file))
		bpf_core_read(&own, sizeof(own), &ep->file);
	return own == file;
}

/* a file that may have data all the same: a listening socket, a socket that is not traced, a
 * terminal, an epoll */
static __always_inline bool may_matter(const struct target *to, __u64 file)
{
	struct inode *inode = CAST(inode, ADDRESS(file, file, f_inode));
	struct sock *sk =
		CAST(sock, (__u64)to->sk); /* GET() would take `to` for the kernel's too */
	__u32 family = sk ? GET(sk, __sk_common.skc_family) : 0;

	if (sk)
		return family == AF_INET || family == AF_INET6;
	return !to->pipe && ((GET(inode, i_mode) & S_IFMT) == S_IFCHR || is_epoll(file));
}

/* The endpoint that a process waits for when it polls a file to read: its key, NOBODY or SEVERAL. A
 * pipe's write end is polled to see that no reader is left. */
SUBPROG __u64 readable_by(__u64 file, __u32 tgid)
{
	struct target to = {};
	struct endpoint *ep;

	if (!file)
		return NOBODY;
	ep = file_target(&to, file) ? target_known(&to) : 0;
	if (!ep)
		return may_matter(&to, file) ? SEVERAL : NOBODY;
	if (!to.pipe && takes_connections(to.sk)) /* Unix; a TCP listener is no endpoint */
		return SEVERAL;
	if (to.pipe && !(GET(CAST(file, file), f_mode) & FMODE_READ))
		return NOBODY;
	return wakes_itself(ep, tgid) ? NOBODY : ep->id.key;
}

static __always_inline __u64 readable_at(__u64 task, __u32 fd)
{
	return readable_by(file_of(CAST(task_struct, task), fd),
			   current_tgid(bpf_get_current_pid_tgid()));
}

static __always_inline __u64 one_more(__u64 asked, __u64 found)
{
	if (!found || found == asked)
		return asked;
	return asked ? SEVERAL : found;
}

/* a stack frame of its own, verified once; adds an entry to what was asked before */
SUBPROG __u64 polled_for_data(__u64 task, __u64 at, __u64 asked)
{
	struct polled p;

	if (bpf_probe_read_user(&p, sizeof(p), (void *)at))
		return SEVERAL;
	return p.events & ASKS_IN ? one_more(asked, readable_at(task, p.fd)) : asked;
}

/* the endpoint that the reader waits for; SEVERAL: nobody can tell */
SUBPROG __u64 polls_for_data(__u64 task, __u64 fds, __u64 n)
{
	__u64 asked = n > POLLED ? SEVERAL : NOBODY;

	for (__u64 i = 0; i < POLLED && i < n && asked != SEVERAL; i++)
		asked = polled_for_data(task, fds + i * sizeof(struct polled), asked);
	return asked;
}

static __always_inline __u64 set_word(__u64 set, __u32 i)
{
	__u64 word = 0;

	if (set)
		bpf_probe_read_user(&word, sizeof(word), (void *)(set + i * sizeof(word)));
	return word;
}

/* without the descriptors behind the end of a set */
static __always_inline __u64 asked_of(__u64 word, __u64 rest)
{
	return rest < 64 ? word & ((1ULL << (rest & 63)) - 1) : word;
}

SUBPROG __u64 readers_in(__u64 task, __u64 word, __u32 first, __u64 asked)
{
	for (int i = 0; i < SET_BITS && word; i++, word &= word - 1)
		asked = one_more(asked, readable_at(task, first + log2_ns(word & -word)));
	return word ? SEVERAL : asked;
}

static __always_inline void writers_in(__u64 task, __u64 word, __u32 first)
{
	for (int i = 0; i < SET_BITS && word; i++, word &= word - 1)
		wants_room(task, first + log2_ns(word & -word));
}

SUBPROG int selects_for_room(__u64 task, __u64 n, __u64 set)
{
	for (__u32 i = 0; i < SELECTED && i * 64 < n; i++)
		writers_in(task, set_word(set, i), i * 64);
	return 0;
}

SUBPROG __u64 selects_for_data(__u64 task, __u64 n, __u64 set)
{
	__u64 asked = n > SELECTED * 64 ? SEVERAL : NOBODY;

	for (__u32 i = 0; i < SELECTED && i * 64 < n && asked != SEVERAL; i++)
		asked = readers_in(task, asked_of(set_word(set, i), n - i * 64), i * 64, asked);
	return asked;
}

/* the thread was refused room there and polls for that too; its place holds the refusal already */
static __always_inline bool refused_there(const struct call *c, const struct endpoint *ep)
{
	return ep->refused && c->dir == DIR_TX && c->key == ep->id.key;
}

SUBPROG int waits_for_data(__u64 task, __u64 key, __u32 tid)
{
	struct endpoint *ep = endpoint_known(key);
	struct call *c = call_of(tid, true);

	if (!ep || ep->closed || !c || call_busy(c) || refused_there(c, ep))
		return 0;
	call_is_on(c, ep, DIR_RX);
	c->polls = 1;
	c->task = task;
	rx_sleeps_in(ep, bpf_ktime_get_ns());
	note_task(ep, DIR_RX, tid);
	count(COUNT_OBSERVED);
	return 1;
}

/* the current thread is about to sleep, in no call on an endpoint */
static __always_inline void asks_in(const struct thread *who, const struct syscall_args *r)
{
	__u64 key = NOBODY;

	if (r->bits & SYS_SELECTS) {
		selects_for_room(who->task, r->first, r->third);
		key = selects_for_data(who->task, r->first, r->second);
	} else if (r->bits & SYS_POLLS) {
		polls_for_room(who->task, r->first, r->second);
		key = polls_for_data(who->task, r->first, r->second);
	}
	if (key > SEVERAL)
		waits_for_data(who->task, key, who->tid);
}

static __always_inline void thread_asks(const struct thread *who)
{
	struct syscall_args r;

	if (calls_nothing((struct task_struct *)who->task))
		return;
	request_of(&r, CAST(task_struct, who->task), current_regs(who->task));
	asks_in(who, &r);
}

static __noinline int poll_ended(struct call *c, ns_t now)
{
	struct input in = { .working = -1, .asleep = -1 };
	struct endpoint *ep;

	if (!c)
		return 0;
	c->polls = 0;
	ep = call_endpoint(c);
	if (!ep || ep->closed)
		return 0;
	in.at = now ? now : bpf_ktime_get_ns();
	if (WORD_STATE(LATEST(ep->rx.word), DIR_RX) == RX_WAIT)
		answer_came(ep, word_elapsed(ep->rx.word, in.at));
	if (ep->id.proto == PROTO_TCP) { /* data that came was left to this thread: tcp_arrived() */
		in.says = IN_FULL;
		in.full = tcp_unread((struct sock *)ep->id.key);
	}
	return apply_rx_slow(ep, &in);
}

/* The thread runs again, which ends its wait; if it goes back to sleep there, that is another. */
static __always_inline void poll_over(struct call *c, const struct thread *who, ns_t now)
{
	if (c && c->polls && c->task == who->task)
		poll_ended(c, now);
}

#endif
