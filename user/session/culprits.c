// SPDX-License-Identifier: GPL-2.0-only
#include "session/culprits.h"

#include <string.h>

#include "base/clock.h"
#include "session/doing.h"
#include "session/sleep_chain.h"
#include "verdict/waiting_processes.h"

#define EVERY_NS    500000000ull
#define SAMPLES_EACH   5
#define SAMPLES_AT_END 20
#define SAMPLES_SHARE  0.005 /* of a CPU: with very many endpoints a verdict is expensive */

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

/* Follows the chain while the session goes on: at its end those who took part may be gone. It holds
 * up the session for that long. */
#define FOLLOW_NS    150000000
#define FOLLOWS_MOST 8

static void follow_now(struct culprits *c, const struct asleep *a, bool to_read)
{
	struct asleep *then = &c->followed[a - c->v];

	if (then->n_chain || c->follows++ >= FOLLOWS_MOST)
		return;
	*then = *a;
	asleep_sort(then);
	doing_prefer_worker(then, &c->workers[a - c->v]);
	asleep_leave_out_rests(then);
	sleep_chain_follow(then, to_read, now_ns() + FOLLOW_NS, NULL);
}

static void look_at(struct culprits *c, struct trace *t, struct culprit who)
{
	struct asleep *a = entry_of(c, who), *worker;
	struct cpu_book book;

	if (!a)
		return;
	worker = &c->workers[a - c->v];
	worker->pid = a->pid;
	a->awaited = who.awaited;
	memcpy(a->waiters, who.waiters, sizeof(a->waiters));
	if (!a->tid)
		a->tid = who.tid ? who.tid : asleep_only_thread(a->pid);
	cpu_book_make(&book, &c->book, &a->pid, 1);
	doing_cpu(a, &c->book, &book);
	cpu_book_free(&c->book);
	c->book = book;
	doing_sample_both(a, worker, who.to_read ? NULL : t,
			  doing_samples(SAMPLES_EACH, a->awaited));
	follow_now(c, a, who.to_read);
}

/* Where somebody waits, or is held up; NULL: another kind of finding leads. */
static struct trace_endpoint *leading_endpoint(const struct trace_snapshot *s,
					       const struct verdict *v)
{
	return v->kind == KIND_WAIT    ? &s->ep[v->wait.endpoint]
	       : v->kind == KIND_STALL ? &s->ep[v->v[v->lead].endpoint]
	       : v->kind == KIND_LATE  ? &s->ep[v->late.endpoint]
				       : NULL;
}

/* The process at the other end may be none of the session. It is searched for once for each
 * connection, as that takes a walk through /proc. */
static struct culprit culprit_of(struct culprits *c, struct trace_snapshot *s,
				 const struct verdict *v)
{
	struct trace_endpoint *ep = leading_endpoint(s, v);
	struct culprit who = verdict_culprit(s, v);

	if (who.pid || !ep || ep->closed)
		return who;
	if (c->named_at == ep->serial) {
		ep->making.other_pid = c->named.pid;
	} else {
		trace_name_other_ends(s);
		c->named_at = ep->serial;
		c->named.pid = ep->making.other_shared ? 0 : ep->making.other_pid;
		memcpy(c->named.comm, ep->making.other_comm, sizeof(c->named.comm));
	}
	return verdict_culprit(s, v);
}

void culprits_name_ended(const struct culprits *c, struct trace_snapshot *s)
{
	for (size_t i = 0; c->named.pid && i < s->n; i++) {
		struct trace_endpoint *ep = &s->ep[i];

		if (ep->serial != c->named_at || ep->making.other_pid || ep->peer >= 0)
			continue;
		ep->making.other_pid = c->named.pid;
		memcpy(ep->making.other_comm, c->named.comm, sizeof(c->named.comm));
	}
}

/* Ticks at a fixed distance might always fall between two requests. */
static uint64_t jittered(struct culprits *c)
{
	return EVERY_NS * (14 + 7 * c->ticks++ % 13) / 20;
}

void culprits_tick(struct culprits *c, struct trace *t)
{
	uint64_t before = thread_cpu_ns(), now = now_ns();
	struct trace_snapshot s;
	struct culprit who;
	struct verdict v;

	if (!c->next_ns)
		c->next_ns = now + EVERY_NS;
	if (now < c->next_ns || trace_snapshot(t, &s, &(struct err){}))
		return;
	verdict_make(&s, &v);
	who = v.outcome == OUTCOME_HEALTHY ? (struct culprit){} : culprit_of(c, &s, &v);
	trace_snapshot_free(&s);
	if (who.pid)
		look_at(c, t, who);
	c->next_ns = now + gap_for_share(jittered(c), thread_cpu_ns() - before, SAMPLES_SHARE);
}

/* Is the endpoint at which it waited, or was held up, still open? */
static bool goes_on(const struct trace_snapshot *s, const struct verdict *v)
{
	const struct trace_endpoint *ep = leading_endpoint(s, v);

	return ep && !ep->closed;
}

void culprits_sample_now(struct culprits *c, const struct trace_snapshot *s,
			 const struct verdict *v)
{
	struct culprit who = verdict_culprit(s, v);
	struct cpu_book before = {}, after = {};
	struct asleep *a = who.pid && goes_on(s, v) ? entry_of(c, who) : NULL;

	if (!a)
		return;
	a->awaited = who.awaited;
	memcpy(a->waiters, who.waiters, sizeof(a->waiters));
	a->tid = who.tid ? who.tid : asleep_only_thread(a->pid);
	cpu_book_make(&before, &(struct cpu_book){}, &a->pid, 1);
	doing_sample(a, SAMPLES_AT_END, UINT64_MAX, NULL);
	cpu_book_make(&after, &before, &a->pid, 1);
	doing_cpu(a, &before, &after);
	cpu_book_free(&before);
	cpu_book_free(&after);
}

/* What was found while the session went on counts if nothing is found now, and if it did not sleep
 * for the one that waits for it. */
static bool is_followed_now(const struct asleep *now, const struct asleep *then)
{
	return now->n_chain || now->end || !then->n_chain ||
	       asleep_has_waiter(now, then->chain[0].pid);
}

const struct asleep *culprits_doing(struct culprits *c, const struct trace_snapshot *s,
				    const struct verdict *v)
{
	struct culprit who = verdict_culprit(s, v);

	for (size_t i = 0; who.pid && i < c->n; i++) {
		if (c->v[i].pid != who.pid)
			continue;
		c->v[i].awaited = who.awaited;
		memcpy(c->v[i].waiters, who.waiters, sizeof(who.waiters));
		doing_prefer_worker(&c->v[i], &c->workers[i]);
		asleep_leave_out_rests(&c->v[i]);
		sleep_chain_follow(&c->v[i], who.to_read, UINT64_MAX, NULL);
		return is_followed_now(&c->v[i], &c->followed[i]) ? &c->v[i] : &c->followed[i];
	}
	return NULL;
}

void culprits_end(struct culprits *c)
{
	cpu_book_free(&c->book);
}
