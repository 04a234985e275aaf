// SPDX-License-Identifier: GPL-2.0-only
#include "session/culprits.h"

#include "base/clock.h"
#include "session/doing.h"
#include "session/sleep_chain.h"
#include "verdict/waiting_processes.h"

#define EVERY_NS    500000000ull
#define LOOKS_EACH  5
#define LOOKS_AT_END 20
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
	doing_cpu(a, &c->book, &book);
	cpu_book_free(&c->book);
	c->book = book;
	if (a->tid)
		doing_look(a, LOOKS_EACH, UINT64_MAX, NULL);
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

void culprits_look_now(struct culprits *c, const struct trace_snapshot *s, const struct verdict *v)
{
	struct culprit who = verdict_culprit(s, v);

	if (!who.pid || v->outcome == OUTCOME_HEALTHY)
		return;
	cpu_book_free(&c->book);
	cpu_book_make(&c->book, &(struct cpu_book){}, &who.pid, 1);
	for (int i = 0; i < LOOKS_AT_END; i += LOOKS_EACH)
		look_at(c, who);
}

#define CHAIN_NS 1000000000ull

const struct asleep *culprits_doing(struct culprits *c, const struct trace_snapshot *s,
				    const struct verdict *v)
{
	pid_t pid = verdict_culprit(s, v).pid;

	for (size_t i = 0; pid && i < c->n; i++) {
		if (c->v[i].pid != pid)
			continue;
		sleep_chain_follow(&c->v[i], now_ns() + CHAIN_NS);
		return &c->v[i];
	}
	return NULL;
}

void culprits_end(struct culprits *c)
{
	cpu_book_free(&c->book);
}
