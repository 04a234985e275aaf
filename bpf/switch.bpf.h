/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A processor switches from one task to the next. Each backend defines THREAD_SLEEPS(ctx, thread):
 * the current thread falls asleep, perhaps in a call on an endpoint. It returns the time if the
 * clock was read.
 */
#ifndef IPCSTALL_SWITCH_BPF_H
#define IPCSTALL_SWITCH_BPF_H

static __noinline int thread_continues(struct call *c)
{
	if (!c)
		return 0;
	c->stops = 0;
	c->stopped_sum += (__u32)(bpf_ktime_get_ns() >> STOP_SHIFT) - c->stopped;
	return 1;
}

/* only noted: the thread itself takes the step, when it leaves the call or sleeps again */
static __always_inline void thread_runs(const struct thread *who, ns_t now)
{
	struct call *c = call_of(who->tid, false);

	if (c && c->rare) {
		if (c->stops)
			thread_continues(c);
		poll_over(c, who, now);
	}
	if (c && c->off && !c->ran && c->task == who->task)
		c->ran = now ? now : bpf_ktime_get_ns();
}

/* the thread's process is traced, or the thread is in a call on an endpoint of a traced one */
static __always_inline bool thread_wanted(const struct thread *who, __u32 tgid)
{
	return task_wanted(tgid) || call_of(who->tid, false);
}

SEC("raw_tp/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u64 leaves = current_numbers(prev), comes = pid_tgid_of(next);
	struct thread leaver = { (__u64)prev, leaves }, comer = { (__u64)next, comes };
	bool sleeps = !preempt && thread_wanted(&leaver, leaves >> 32);
	ns_t now = 0;

	switch_joins((__u64)prev, (__u64)next);
	if (sleeps && prev_state(ctx) & TASK_INTERRUPTIBLE && !is_frozen(prev))
		now = THREAD_SLEEPS(ctx, &leaver);
	else if (sleeps && prev_state(ctx) & (TASK_INTERRUPTIBLE | TASK_HALTED))
		thread_stops(leaves);
	if (opt.stacks && sleeps)
		note_sleep(ctx, leaves);
	thread_runs(&comer, now);
	return 0;
}

#endif
