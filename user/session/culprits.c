// SPDX-License-Identifier: GPL-2.0-only
#include "session/culprits.h"

#include <sys/param.h>
#include <time.h>

#include "base/clock.h"
#include "verdict/waiting_processes.h"

void culprit_look(struct asleep *a, int looks, uint64_t deadline, const struct zoom_stop *stop)
{
	uint64_t apart = DOING_APART_NS;

	for (int i = 0; i < looks && now_ns() + apart < deadline; i++) {
		if ((stop && stop->asked(stop->ctx)) || (a->tid && !asleep_look(a)))
			break;
		apart = DOING_APART_NS * (unsigned int)(50 + 4 * (i * 7 % 26)) / 100; /* no beat */
		nanosleep(&(struct timespec){ .tv_nsec = (long)apart }, NULL);
	}
	asleep_sort(a);
}

void culprit_cpu(struct asleep *a, const struct cpu_book *before, const struct cpu_book *after)
{
	const struct process_cpu *p = cpu_book_find(after, a->pid);
	uint64_t over = after->at_ns - before->at_ns;
	struct thread_cpu busiest;

	if (!p || !cpu_book_thread(after, before, a->pid, 0, &busiest))
		return;
	a->stopped = p->stopped && p->was_stopped;
	a->busiest = busiest.tid;
	a->over_ns += over;
	a->busiest_ns += MIN(busiest.ran_ns, over);
	a->no_cpu_ns += MIN(busiest.waited_ns, over);
	a->quota_ns += MIN(p->throttled_since_ns, over); /* the kernel tells it late */
}

#define EVERY_NS    500000000ull
#define LOOKS_EACH  5
#define LOOKS_SHARE 0.005 /* of a CPU: of very many endpoints a verdict takes its time */

static struct asleep *entry_of(struct culprits *c, struct culprit who)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].pid == who.pid)
			return &c->v[i];
	if (c->n == CULPRITS_MOST)
		return NULL;
	c->v[c->n] = (struct asleep){ .pid = who.pid };
	return &c->v[c->n++];
}

static void look_at(struct culprits *c, struct culprit who)
{
	struct asleep *a = entry_of(c, who);
	struct cpu_book book;

	if (!a)
		return;
	if (!a->tid)
		a->tid = who.tid ? who.tid : asleep_only_thread(a->pid);
	cpu_book_make(&book, &c->book, &a->pid, 1);
	culprit_cpu(a, &c->book, &book);
	cpu_book_free(&c->book);
	c->book = book;
	if (a->tid)
		culprit_look(a, LOOKS_EACH, UINT64_MAX, NULL);
}

void culprits_tick(struct culprits *c, struct trace *t)
{
	uint64_t before = thread_cpu_ns(), now = now_ns();
	struct trace_error te = {};
	struct trace_snapshot s;
	struct culprit who;
	struct verdict v;

	if (!c->next_ns)
		c->next_ns = now + EVERY_NS;
	if (now < c->next_ns || trace_snapshot(t, &s, &te))
		return;
	verdict_make(&s, &v);
	who = v.outcome == OUTCOME_HEALTHY ? (struct culprit){} : verdict_culprit(&s, &v);
	trace_snapshot_free(&s);
	if (who.pid)
		look_at(c, who);
	c->next_ns = now + gap_for_share(EVERY_NS, thread_cpu_ns() - before, LOOKS_SHARE);
}

const struct asleep *culprits_doing(const struct culprits *c, const struct trace_snapshot *s,
				    const struct verdict *v)
{
	pid_t pid = verdict_culprit(s, v).pid;

	for (size_t i = 0; pid && i < c->n; i++)
		if (c->v[i].pid == pid)
			return &c->v[i];
	return NULL;
}

void culprits_end(struct culprits *c)
{
	cpu_book_free(&c->book);
}
