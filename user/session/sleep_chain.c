// SPDX-License-Identifier: GPL-2.0-only
#include "session/sleep_chain.h"

#include "base/clock.h"
#include "session/doing.h"

#define LOOKS 8

static bool is_in_chain(const struct asleep *first, pid_t pid)
{
	if (pid == first->pid)
		return true;
	for (size_t i = 0; i < first->n_chain; i++)
		if (first->chain[i].pid == pid)
			return true;
	return false;
}

/* What the process does; of one with several threads nobody knows which of them counts. */
static struct asleep looked_at(pid_t pid, uint64_t deadline)
{
	struct asleep a = { .pid = pid, .tid = asleep_only_thread(pid) };
	struct cpu_book before = {}, after = {}, none = {};

	cpu_book_make(&before, &none, &pid, 1);
	if (a.tid)
		doing_look(&a, LOOKS, deadline, NULL);
	cpu_book_make(&after, &before, &pid, 1);
	doing_cpu(&a, &before, &after);
	cpu_book_free(&before);
	cpu_book_free(&after);
	return a;
}

static void note_end(struct asleep *first, const struct asleep *last)
{
	if (last->stopped) {
		first->end = ASLEEP_END_STOPPED;
	} else if ((last->looks && 2 * last->running >= last->looks) ||
		   (last->over_ns && 2 * last->busiest_ns >= last->over_ns)) {
		first->end = ASLEEP_END_RUNS;
	} else if (last->n && 2 * last->v[0].found >= last->looks) {
		first->end = ASLEEP_END_SLEEPS;
		first->end_call = last->v[0];
	}
}

void sleep_chain_follow(struct asleep *a, uint64_t deadline)
{
	struct asleep at = *a;

	while (a->n_chain < ASLEEP_CHAIN && !at.stopped && asleep_at_fd(&at) &&
	       now_ns() + LOOKS * DOING_APART_NS < deadline) {
		pid_t next = trace_fd_other_end(at.pid, at.fd, at.writes);
		struct asleep_process *to = &a->chain[a->n_chain];

		if (next && is_in_chain(a, next)) {
			a->n_chain = 0;
			return;
		}
		if (!next)
			break;
		at = looked_at(next, deadline);
		to->pid = next;
		asleep_comm(next, to->comm);
		a->n_chain++;
	}
	if (a->n_chain)
		note_end(a, &at);
}
