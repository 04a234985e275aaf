/* SPDX-License-Identifier: GPL-2.0-only */
/* A thread's way through a call on an endpoint: enter, sleep, wake, leave; blocked and run-queue
 * time beside the ledger. */
#ifndef IPCSTALL_CALL_BPF_H
#define IPCSTALL_CALL_BPF_H

#include "endpoint.bpf.h"
#include "stack_copy.bpf.h"

/* a thread, as sched_switch names it */
struct thread {
	__u64 task;
	__u32 tid;
};

/* how long a task has waited for a CPU in all its life (sched_info_arrive()) */
static __always_inline ns_t run_delay(__u64 task)
{
	return GET(CAST(task_struct, task), sched_info.run_delay);
}

/* a thread is in the call, and is still to be seen to leave it */
static __always_inline bool call_busy(const struct call *c)
{
	return c->entered || c->off || c->polls;
}

/* 1: a thread once found its place taken, and went to its second */
__u8 calls_crowded;

/* puts threads with neighbouring numbers far apart */
static __always_inline __u32 second_place(__u32 tid)
{
	return tid * 0x9E3779B1u >> 17;
}

/* The place of a thread that is not at its first place, or a new place. CALL_SLOTS: none; its
 * sleeps are not counted then, and that is reported. */
SUBPROG int call_place(__u32 tid, __u32 make)
{
	__u32 first = tid & (CALL_SLOTS - 1), second = second_place(tid), at = first;
	struct call *c = &calls[second & (CALL_SLOTS - 1)];

	if (c->tid == tid)
		return second;
	if (!make)
		return CALL_SLOTS;
	if (call_busy(&calls[first])) {
		if (call_busy(c)) {
			count(COUNT_UNPAIRED);
			return CALL_SLOTS;
		}
		at = second;
		calls_crowded = 1;
	}
	c = &calls[at & (CALL_SLOTS - 1)];
	__builtin_memset(c, 0, sizeof(*c));
	c->tid = tid;
	return at;
}

static __always_inline struct call *call_of(__u32 tid, bool make)
{
	struct call *c = &calls[tid & (CALL_SLOTS - 1)];

	if (c->tid != tid) {
		__u32 at = make || calls_crowded ? call_place(tid, make) : CALL_SLOTS;

		c = at < CALL_SLOTS ? &calls[at & (CALL_SLOTS - 1)] : 0;
	}
	OPAQUE(c); /* else the compiler tests the place's number again, from which the verifier
		      learns nothing */
	return c;
}

/* TASK_STOPPED, TASK_TRACED, and from 6.1 on TASK_FROZEN: cgroup v1's freezer */
#define TASK_HALTED (4 | 8 | 0x8000)

/* A stopped thread does not run until it is continued, and a thread that waits for it waits that
 * long too. It may have no place yet: a thread that waits in epoll is in no call on an endpoint. */
static __noinline int thread_stops(__u32 tid)
{
	struct call *c = call_of(tid, true);

	if (!c)
		return 0;
	c->stopped = bpf_ktime_get_ns() >> STOP_SHIFT;
	c->stops = 1;
	return 1;
}

/* a thread that has exited gives up its place, whatever was seen of its last call */
static __always_inline void call_dies(__u32 tid)
{
	struct call *c = call_of(tid, false);

	if (c)
		__builtin_memset(c, 0, sizeof(*c));
}

static __always_inline void call_is_on(struct call *c, const struct endpoint *ep, enum dir dir)
{
	c->key = ep->id.key;
	c->place = ep->place;
	c->dir = dir;
}

static __always_inline struct endpoint *call_endpoint(const struct call *c)
{
	return opt.hashed ? endpoint_known(c->key) : endpoint_at(c->place, c->key);
}

static __always_inline int apply(struct endpoint *ep, struct input *in, enum dir dir)
{
	return dir == DIR_TX ? apply_tx_slow(ep, in) : apply_rx_slow(ep, in);
}

static __always_inline struct call_stats *call_stats_of(struct endpoint *ep, enum dir dir)
{
	return dir == DIR_TX ? &ep->tx_calls : &ep->rx_calls;
}

static __always_inline bool tx_device(const struct endpoint *ep)
{
	return *(const volatile word_t *)&ep->tx.word >> DEVICE_SHIFT & 1;
}

/* on_switch ignores threads that are not traced, unless they have a place. With one, the sleeps of
 * this thread on this endpoint are seen from now on. */
static __always_inline void note_stranger(__u32 tid)
{
	struct call *c = current_wanted() ? 0 : call_of(tid, true);

	if (c)
		c->stranger = 1;
}

/* how often a process got another name, by execve() or by itself: a noted name may be stale */
__u32 renames;

#define NOBODY_BEFORE 0x7ffffffe /* as FD_OWNER_TGID: no process has it */

/*
 * Whose votes go to the process that is seen in a call now: FD_OWNER_TGID if the process named
 * before has left (these are the votes of the one that had the end after it), else the process
 * named before, if it is another. See first_reads().
 */
static __always_inline __u32 voted_before(const struct call_stats *b, __u32 tgid)
{
	if (b->left && (b->tid || b->tgid == tgid))
		return FD_OWNER_TGID;
	if (!b->tgid)
		return NOBODY_BEFORE;
	return b->tgid == tgid ? 0 : b->tgid;
}

/* the name of the process: the names of a pool's threads do not identify the program */
static __always_inline void process_name(char comm[COMM_LEN])
{
	__u64 leader = ADDRESS(bpf_get_current_task(), task_struct___numbered, group_leader);

	bpf_probe_read_kernel(
		comm, COMM_LEN,
		(void *)(leader + bpf_core_field_offset(struct task_struct___numbered, comm)));
}

/*
 * Remember that the current thread is in the call, by its global number, under which its sleeps are
 * noted (note_sleep()). Returns voted_before().
 */
static __always_inline __u32 note_task(struct endpoint *ep, enum dir dir, __u32 tid)
{
	struct call_stats *b = call_stats_of(ep, dir);
	__u32 tgid, before;

	if (b->tid == tid && b->named == LATEST(renames))
		return 0;
	tgid = current_tgid(bpf_get_current_pid_tgid());
	before = voted_before(b, tgid);
	b->left = 0;
	if (!b->tid || b->tgid != tgid) /* without a tid they only held it: see note_holder() */
		b->others = b->tid != 0;
	note_stranger(tid);
	follow_sleeps(tid);
	starved_from(ep, dir, tid, !b->tid && b->tgid == tgid);
	b->tgid = tgid;
	b->named = LATEST(renames);
	b->cgroup = bpf_get_current_cgroup_id();
	process_name(b->comm);
	return before;
}

/* How many descriptors the file has, by dup(), fork() and SCM_RIGHTS together. In a process of
 * several threads, a call that is under way counts as one (fdget()). */
static __always_inline __u64 holds_on(__u64 file)
{
	if (bpf_core_field_exists(struct file___ref, f_ref))
		return GET(CAST(file___ref, file), f_ref.refcnt.counter) +
		       1; /* FILE_REF_ONEREF is 0 */
	return GET(CAST(file___count, file), f_count.counter);
}

/* the same for a socket; 0: nobody has accepted it */
static __always_inline __u64 holds_on_sock(__u64 sk)
{
	__u64 socket = ADDRESS(sk, sock, sk_socket),
	      file = socket ? ADDRESS(socket, socket, file) : 0;

	return file ? holds_on(file) : 0;
}

/* Several processes have read, and only the present reader still has the socket. Where no hook sees
 * close(), the others closed it after their last call. */
static __always_inline bool has_it_alone(const struct endpoint *ep)
{
	return ep->id.proto != PROTO_PIPE && holds_on_sock(ep->id.key) == 1;
}

#define FMODE_READ 1
#define FDS_OF_PARENT 64 /* so many of its descriptors are looked at */

static __always_inline bool leads_there(const struct endpoint *ep, __u64 file)
{
	__u64 data = ADDRESS(file, file, private_data);

	if (ep->id.proto == PROTO_PIPE)
		return data == ep->id.key && GET(CAST(file___mode, file), f_mode) & FMODE_READ;
	return data && ADDRESS(data, socket, sk) == ep->id.key;
}

struct end_sought {
	const struct endpoint *ep;
	__u64 files;
	bool found;
};

/* returns 1 to end the search */
static long seek_end(__u32 fd, struct end_sought *s)
{
	__u64 file = load_word(s->files + fd * sizeof(__u64));

	s->found = file && leads_there(s->ep, file);
	return s->found;
}

/*
 * A process is the first that is seen to read. Its parent may have had this end before without
 * reading it, as a shell does that waits for another command first.
 */
SUBPROG int note_parent(struct endpoint *ep)
{
	__u64 parent = ADDRESS(bpf_get_current_task(), task_struct___numbered, real_parent), leader;
	struct fdtable *table = CAST(fdtable, GET(CAST(task_struct, parent), files, fdt));
	struct end_sought s = { .ep = ep, .files = (__u64)GET(table, fd) };

	if (!ep)
		return 0;
	bpf_loop(at_most(GET(table, max_fds), FDS_OF_PARENT), seek_end, &s, 0);
	if (!s.found)
		return 0;
	leader = ADDRESS(parent, task_struct___numbered, group_leader);
	/* its number in the reader's namespace is not known */
	ep->rx_calls.parent = opt.pidns_ino ? 0 : GET(CAST(task_struct, parent), tgid);
	bpf_probe_read_kernel(
		ep->rx_calls.parent_comm, COMM_LEN,
		(void *)(leader + bpf_core_field_offset(struct task_struct___numbered, comm)));
	return 1;
}

static __always_inline bool was_given_after_most(const struct endpoint *ep)
{
	const struct call_stats *b = &ep->rx_calls;

	return b->giver != b->tgid && 2 * b->giver_unread > unread_until(ep, bpf_ktime_get_ns());
}

/*
 * The process that is first seen to read was late until now, and not the one that had the
 * descriptor before: that one accepted the connection, or began to read it, and forked. Not so if
 * the reader was given this end late.
 */
SUBPROG int first_reads(struct endpoint *ep, __u32 before)
{
	struct endpoint *sender = ep ? peer_of(ep) : 0;

	if (ep && !ep->rx_calls.others)
		note_parent(ep);
	if (!ep || before == NOBODY_BEFORE || was_given_after_most(ep) ||
	    (ep->rx_calls.others && before != FD_OWNER_TGID && !has_it_alone(ep)))
		return 0;
	for (int i = 0; sender && i < VOTES; i++) {
		struct vote *v = &sender->blame.late[i];

		if (v->tgid != before && v->tgid != FD_OWNER_TGID)
			continue;
		v->tgid = ep->rx_calls.tgid;
		v->tid = ep->rx_calls.tid;
		__builtin_memcpy(v->comm, ep->rx_calls.comm, COMM_LEN);
	}
	return 0;
}

static __always_inline void note_caller(struct endpoint *ep, enum dir dir, __u32 tid)
{
	__u32 before = note_task(ep, dir, tid);

	if (before && dir == DIR_RX)
		first_reads(ep, before);
}

static __always_inline void note_stack(void *ctx, struct call_stats *b)
{
	if (!opt.stacks)
		return;
	b->kstack = stack_number(ctx, 0);
	b->ustack = stack_number(ctx, BPF_F_USER_STACK);
}

/* a send call leaves its bytes in a stall: its stack is the stall's */
static __always_inline void note_held_stack(void *ctx, struct endpoint *ep)
{
	if (!opt.stacks && !opt.copies)
		return;
	if (tx_is_stall(WORD_STATE(*(const volatile word_t *)&ep->tx.word, DIR_TX))) {
		note_stack(ctx, &ep->tx_calls);
		copy_stack(ep);
	}
}

#define BOTH_ENDS 2 /* entry and exit of a call that is seen at both, counted together */

/* `in` carries what else is known of the endpoint at this moment. The caller counts the event. */
static __always_inline void call_enter(struct endpoint *ep, enum dir dir, struct input *in)
{
	in->working = 1;
	if (in->says)
		apply(ep, in, dir);
	else if (dir == DIR_TX)
		tx_begins(ep, in->at);
	else
		rx_begins(ep, in->at);
}

static __always_inline void call_leave(struct endpoint *ep, enum dir dir, struct input *in)
{
	in->working = -1;
	apply(ep, in, dir);
	count(COUNT_OBSERVED);
}

/* MSG_PEEK leaves what it reads, MSG_ERRQUEUE reads what was sent */
#define TAKES_NOTHING (2 | 0x2000)
#define TOOK_NOTHING \
	(-1) /* taken as the result of such a call: not 0, which an empty datagram returns */

#define ALL_OF_IT 0x7fffffff /* the most that one call moves: MAX_RW_COUNT */

/* the part of its bytes that a call under way at the session's begin has moved since, by TCP's
 * count */
static __noinline int moved_since(struct endpoint *ep, enum dir dir, __u32 bytes)
{
	struct tcp_sock *tp = CAST(tcp_sock, ep->id.key);
	const struct call_stats *b = call_stats_of(ep, dir);
	__s64 more = (dir == DIR_TX ? tcp_put(tp) : tcp_taken(tp)) - ep->through[dir & 1] -
		     b->own.bytes - b->crowd.bytes;

	return more <= 0 ? 0 : more < bytes ? more : bytes;
}

/* the bytes that a call moved go with the step that ends it */
static __always_inline void call_moved(struct input *in, long ret)
{
	in->bytes = ret > 0 ? ret : 0;
}

#define ECONNREFUSED 111 /* by ICMP, for an earlier send */

static __always_inline void call_done(struct endpoint *ep, enum dir dir, long ret, __u32 tid)
{
	note_caller(ep, dir, tid);
	if (ret == -ECONNREFUSED)
		call_stats_of(ep, dir)->replies.refused++;
	if (opt.timeline && ret > 0)
		note_mark(ep, dir == DIR_TX ? MARK_SEND : MARK_RECV, bpf_ktime_get_ns(), ret);
}

/* a thread falls asleep in a call; if it was not seen to enter, it enters now */
static __always_inline void call_sleeps(void *ctx, struct endpoint *ep, struct call *c,
					enum dir dir, const struct thread *who, bool entered,
					struct input *in)
{
	if (c->key != ep->id.key || c->dir != dir)
		c->entered = c->before = 0;
	call_is_on(c, ep, dir);
	c->off = in->at;
	c->ran = 0;
	c->task = who->task;
	c->run_delay = run_delay(who->task);
	in->working = !entered && !c->entered;
	in->asleep = 1;
	if (!entered)
		c->entered = 1;
	if (dir == DIR_TX || in->says)
		apply(ep, in, dir);
	else if (in->working)
		rx_sleeps_in(ep, in->at);
	else
		rx_sleeps(ep, in->at);
	note_caller(ep, dir, who->tid);
	if (dir == DIR_TX) { /* a reader's stack: see note_sleep() */
		note_stack(ctx, &ep->tx_calls);
		copy_stack(ep);
	}
	count(COUNT_OBSERVED);
}

static __always_inline void call_sleep(void *ctx, struct endpoint *ep, enum dir dir,
				       const struct thread *who, bool entered, struct input *in)
{
	struct call *c = call_of(who->tid, true);

	if (c)
		call_sleeps(ctx, ep, c, dir, who, entered, in);
}

/*
 * The thread sleeps in a send call, but for something that the endpoint cannot give (see
 * lacks_room()). The protocol waits for its writer, which counts as out of the call until it runs
 * again.
 */
static __always_inline void call_pauses(struct endpoint *ep, struct call *c,
					const struct thread *who, struct input *in)
{
	c->off = in->at;
	c->ran = 0;
	c->task = who->task;
	c->run_delay = CALL_PAUSED;
	in->working = -1;
	apply_tx_slow(ep, in);
	count(COUNT_OBSERVED);
}

static __always_inline void call_slept(struct input *in, const struct call *c)
{
	ns_t runq = run_delay(c->task) - c->run_delay;

	in->asleep = -1;
	in->slept = 1;
	in->blocked = c->ran - c->off;
	in->runq = runq < in->blocked ? runq : in->blocked;
}

static __always_inline struct input call_wakes(const struct call *c)
{
	struct input in = { .at = c->ran };

	if (c->run_delay == CALL_PAUSED)
		in.working = 1;
	else
		call_slept(&in, c);
	return in;
}

/*
 * The thread has run again since c->ran, in the call that it slept in. Called by that thread, since
 * at the switch its run-queue time has not been added up yet. `deep`: the caller is deep in the
 * stack, where there is no room for a reader's fast step.
 */
static __always_inline void call_resumes(struct endpoint *ep, struct call *c, bool deep)
{
	struct input in;

	if (!c->off || !c->ran)
		return;
	in = call_wakes(c);
	note_mark(ep, MARK_WAKEUP, c->ran, 0);
	if (c->dir == DIR_RX) {
		if (deep)
			apply_rx_slow(ep, &in);
		else
			rx_wakes(ep, in.at, in.blocked, in.runq);
		answer_came(ep, in.blocked - in.runq);
	} else {
		apply_tx_slow(ep, &in);
	}
	count(COUNT_OBSERVED);
	c->off = 0;
}

static __always_inline void call_resume(struct endpoint *ep, struct call *c)
{
	call_resumes(ep, c, false);
}

static __always_inline void call_resume_slow(struct endpoint *ep, struct call *c)
{
	call_resumes(ep, c, true);
}

/* the call in this direction that this thread was seen to enter */
static __always_inline struct call *call_seen(const struct endpoint *ep, enum dir dir, __u32 tid)
{
	struct call *c = call_of(tid, false);

	return c && c->key == ep->id.key && c->dir == dir && c->entered ? c : 0;
}

/* true: this thread was seen to enter a call in this direction, and is now out of it */
static __always_inline bool call_was_in(struct endpoint *ep, enum dir dir, __u32 tid)
{
	struct call *c = call_seen(ep, dir, tid);

	if (!c)
		return false;
	call_resume(ep, c);
	c->entered = c->before = 0;
	return true;
}

/* a reader leaves the call that it was seen in; it may have slept until just now */
static __always_inline void call_reads(struct endpoint *ep, const struct call *c,
				       const struct input *in)
{
	struct input woke = {};

	if (!c->off || !c->ran) {
		rx_ends(ep, in->at, in->full, in->bytes);
		return;
	}
	call_slept(&woke, c);
	note_mark(ep, MARK_WAKEUP, c->ran, 0);
	rx_returns(ep, c->ran, woke.blocked, woke.runq, in);
	answer_came(ep, woke.blocked - woke.runq);
}

static __always_inline void call_over(struct call *c)
{
	c->entered = c->before = 0;
	c->off = 0;
}

#endif
