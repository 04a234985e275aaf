/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long the thread that was last in the call was ready to run and waited for a CPU, in the call
 * or out of it. The scheduler keeps that sum for each task anyway (sched_info_arrive()), so nothing
 * needs to be done when a thread is woken or preempted.
 */
#ifndef IPCSTALL_STARVED_BPF_H
#define IPCSTALL_STARVED_BPF_H

#include "filter.bpf.h"

/*
 * By thread number modulo the array's size, or at a second place (call.bpf.h). A variable, since
 * even an array map's look-up costs three times as much, and each message needs six.
 */
struct call calls[CALL_SLOTS];

/* what the scheduler says about the thread that was last in the call */
struct cpu_wait {
	__u64 task;  /* 0: not known, or that thread is no more */
	ns_t waited; /* for a CPU, in all its life; the present wait is added at its end */
	ns_t queued; /* when its present wait began, by the scheduler's clock; 0: no wait */
};

static __always_inline struct cpu_wait cpu_wait_of(const struct call_stats *b)
{
	struct task_struct *task = CAST(task_struct, b->task);
	struct cpu_wait w = {};

	if (!b->task || (__u32)GET(task, pid) != b->tid)
		return w;
	w.task = b->task;
	w.waited = GET(task, sched_info.run_delay);
	w.queued = GET(task, sched_info.last_queued);
	return w;
}

#define AWAITED_NS 1000000 /* a thread awaited for less has had its CPU, or is one of many */

static __always_inline ns_t at_most(ns_t ns, ns_t most)
{
	return ns < most ? ns : most;
}

static __always_inline ns_t counted_until(struct call_stats *b, ns_t now)
{
	return __sync_lock_test_and_set(&b->no_cpu_until, now);
}

/* Of several threads that await this one at the same time, each reports it, but the time passed
 * once: what is counted already is not counted again. */
static __always_inline ns_t not_counted_yet(struct call_stats *b)
{
	ns_t now = bpf_ktime_get_ns(), until = counted_until(b, now);

	return now > until ? now - until : 0;
}

#define GROUPS 4

/* how often the task's cgroup, and those above it, had used up their CPU quota (cpu.max;
 * nr_throttled in their cpu.stat) */
static __always_inline __u32 quota_used_up(__u64 task)
{
	__u64 group = ADDRESS(task, task_struct___group, sched_task_group);
	__u32 n = 0;

	for (int i = 0; i < GROUPS && group; i++) {
		n += GET(CAST(task_group___quota, group), cfs_bandwidth.nr_throttled);
		group = ADDRESS(group, task_group___quota, parent);
	}
	return n;
}

static __always_inline __u32 throttled(__u64 task)
{
	struct task_group___quota *group = 0;

	return bpf_core_field_exists(group->cfs_bandwidth.nr_throttled) ? quota_used_up(task) : 0;
}

/* how long the thread has been stopped or frozen in its life; 0 if another thread has its place */
static __always_inline __u32 stopped_so_far(__u32 tid)
{
	struct call *c = &calls[tid & (CALL_SLOTS - 1)];

	return c->tid == tid ? c->stopped_sum : 0;
}

static __always_inline void stopped_meanwhile(struct call_stats *b, ns_t lasted)
{
	__u32 sum = stopped_so_far(b->tid), more = sum - b->stopped_then;
	ns_t ns = at_most((ns_t)more << STOP_SHIFT, lasted);

	b->stopped_then = sum;
	if (!more || more > sum)
		return;
	atomic_add(&b->stopped, ns);
	b->stopped_n++;
	if (ns > b->stopped_max)
		b->stopped_max = ns;
}

static __noinline int awaited_long(struct call_stats *b, ns_t lasted)
{
	__u32 times;
	ns_t waited, since, ns;

	if (!b)
		return 0;
	stopped_meanwhile(b, lasted);
	waited = cpu_wait_of(b).waited;
	since = b->waited_then;
	if (waited <= since)
		return 0;
	b->waited_then = waited;
	ns = at_most(at_most(waited - since, lasted), not_counted_yet(b));
	atomic_add(&b->no_cpu, ns);
	times = throttled(b->task);
	if (times != b->throttled_then)
		atomic_add(&b->quota, ns);
	b->throttled_then = times;
	return 1;
}

/* The thread that was last in the call was awaited for `lasted` until now: it may have been without
 * a CPU for that long, since this was last counted. */
static __always_inline void awaited(struct call_stats *b, ns_t lasted)
{
	if (lasted >= AWAITED_NS)
		awaited_long(b, lasted);
}

/* CPU time of the exited threads of its process, and of this one */
static __always_inline ns_t process_ran(__u64 task, ns_t this_one)
{
	struct signal_struct___ran *signal = 0;
	__u64 address = ADDRESS(task, task_struct, signal);

	if (!address || !bpf_core_field_exists(signal->sum_sched_runtime))
		return 0;
	return GET(CAST(signal_struct___ran, address), sum_sched_runtime) +
	       (GET(CAST(task_struct___gone, task), sighand) ? this_one : 0);
}

/* Counts the CPU time up to now of the thread that was last in the call, if it is still there. */
static __noinline int count_cpu(struct call_stats *b)
{
	struct task_struct *task;
	ns_t ran;

	if (!b || !b->task)
		return 0;
	task = CAST(task_struct, b->task);
	if ((__u32)GET(task, pid) != b->tid)
		return 0;
	ran = GET(task, se.sum_exec_runtime);
	if (ran > b->cpu_then)
		b->cpu += ran - b->cpu_then;
	b->cpu_then = ran;
	b->process_ran = process_ran(b->task, ran);
	return 1;
}

static __always_inline ns_t born_of(__u64 task)
{
	return GET(CAST(task_struct, ADDRESS(task, task_struct___numbered, group_leader)),
		   start_time);
}

/*
 * From now on the current thread, `tid`, is the one that was last in the call. If it was so
 * already, some task of the machine has got another name (note_task()), and this thread's waits
 * until now are still to be counted. `held`: its process has held the descriptor until now, and was
 * perhaps stopped meanwhile. If a thread reads a request, waits for a CPU or is stopped, and then
 * answers, that time delays the answer: it counts from the thread's call in the other direction on.
 */
SUBPROG int starved_from(struct endpoint *ep, __u32 dir, __u32 tid, __u32 held)
{
	struct call_stats *b, *other;
	__u64 task = bpf_get_current_task();

	if (!ep)
		return 0;
	b = dir == DIR_TX ? &ep->tx_calls : &ep->rx_calls;
	other = dir == DIR_TX ? &ep->rx_calls : &ep->tx_calls;
	if (b->tid == tid && b->task == task)
		return 0;
	count_cpu(b);
	b->cpu_then = GET(CAST(task_struct, task), se.sum_exec_runtime);
	b->born = born_of(task);
	b->tid = tid;
	b->task = task;
	b->waited_then = other->task == task && other->waited_then ? other->waited_then
								    : cpu_wait_of(b).waited;
	b->throttled_then = throttled(task);
	if (!held)
		b->stopped_then = other->task == task ? other->stopped_then : stopped_so_far(tid);
	return 1;
}

/* A wait that goes on from the end of one stall to the beginning of the next is one wait. It is
 * dated by the clock, not by the stall: see seen_late(). */
static __always_inline void notice_queued(struct peer_reader *then, ns_t queued)
{
	if (queued) {
		then->looked = bpf_ktime_get_ns();
		if (queued != then->queued)
			then->noticed = then->looked;
		then->before = then->looked - then->noticed;
	}
	then->queued = queued;
}

static __always_inline void reader_looked(struct peer_reader *then, const struct cpu_wait *reader)
{
	then->task = reader->task;
	then->waited = reader->waited;
	notice_queued(then, reader->queued);
}

/* How long of the stall that ends now the peer's reader was ready to run and had no CPU, as far as
 * that was seen. 0 also if the reader is another thread by now. */
static __always_inline ns_t starved_since(const struct peer_reader *then,
					  const struct cpu_wait *reader, ns_t stall)
{
	ns_t before = then->queued ? then->before : 0;

	if (!then->task || reader->task != then->task)
		return 0;
	if (then->queued && reader->queued == then->queued)
		return at_most(bpf_ktime_get_ns() - then->looked, stall);
	if (!then->waited || reader->waited <= then->waited + before)
		return 0;
	return at_most(reader->waited - then->waited - before, stall);
}

/*
 * The reader waited for a CPU since the last look, but the stall's beginning or end at `at` is seen
 * only now, perhaps together with more recent ones: the wait may belong to any of them.
 */
static __always_inline bool seen_late(const struct peer_reader *then, const struct cpu_wait *reader,
				      ns_t at)
{
	return then->task && then->task == reader->task && reader->waited > then->waited &&
	       bpf_ktime_get_ns() - at >= AWAITED_NS;
}

static __always_inline void reader_at_stall(struct peer_reader *then, const struct cpu_wait *reader,
					    ns_t at)
{
	if (!seen_late(then, reader, at))
		reader_looked(then, reader);
}

/* `starved`: the part of the wait that this stall is charged with */
static __always_inline void reader_after_stall(struct peer_reader *then,
					       const struct cpu_wait *reader, ns_t at, ns_t starved)
{
	if (seen_late(then, reader, at))
		then->waited += starved;
	else
		reader_looked(then, reader);
}

#endif
