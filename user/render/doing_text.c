// SPDX-License-Identifier: GPL-2.0-only
#include "render/doing_text.h"

#include <stdio.h>
#include <string.h>

#include "base/human.h"
#include "base/text.h"
#include "render/ledger_text.h"

/* of the samples, or of their time */
#define MOSTLY 0.5

static bool is_most(uint64_t part, uint64_t of)
{
	return of && (double)part >= MOSTLY * (double)of;
}

static bool is_for_others(const struct asleep *a)
{
	return a->n_chain || a->end == ASLEEP_END_FULL || a->end == ASLEEP_END_ASKED;
}

static bool sleeps_meanwhile(const struct asleep *a)
{
	return !a->awaits_waiter && a->n && a->v[0].nr >= 0 &&
	       is_most(asleep_in_call(a, 0), a->samples) &&
	       (!asleep_may_rest(a) || is_for_others(a));
}

/* It was found asleep more often than it had a CPU. */
static bool sleeps_more(const struct asleep *a)
{
	return a->rests && (double)(a->samples - a->running) * (double)a->over_ns >
				   (double)a->busiest_ns * (double)(a->samples + a->rests);
}

enum doing doing_of(const struct asleep *a)
{
	uint64_t awaited_ns;

	if (!a)
		return DOING_UNKNOWN;
	awaited_ns = a->awaited > 0 ? (uint64_t)(a->awaited * (double)a->over_ns) : a->over_ns;
	if (a->stopped)
		return DOING_STOPPED;
	if (is_most(a->quota_ns, awaited_ns))
		return DOING_THROTTLED;
	if (is_most(a->no_cpu_ns, awaited_ns))
		return DOING_STARVED;
	if (is_most(a->busiest_ns, awaited_ns) && !sleeps_more(a))
		return DOING_COMPUTES;
	return sleeps_meanwhile(a) ? DOING_SLEEPS : DOING_UNKNOWN;
}

static bool has_path(const struct asleep *a)
{
	return *a->v[0].path && is_most(a->v[0].found, a->samples);
}

static void append_path(const struct asleep *a, char *buf, size_t len)
{
	const struct asleep_call *c = &a->v[0];

	if (asleep_connects(c))
		text_append(buf, len, " to %s%s", c->path,
			    a->n_chain ? "" : ", whose backlog is full");
	else if (c->opens_fifo)
		text_append(buf, len, " of %s: no program has the other end of that FIFO open",
			    c->path);
	else
		text_append(buf, len, " of %s", c->path);
}

/* " to cat[12] > 2 more > cat[15]" */
#define NAMED_MOST 3

static void append_names(const struct asleep *a, char *buf, size_t len)
{
	const char *before = a->v[0].writes ? " to " : " for ";

	for (size_t i = 0; i < a->n_chain; i++) {
		if (a->n_chain > NAMED_MOST && i && i + 1 < a->n_chain)
			continue;
		if (a->n_chain > NAMED_MOST && i)
			text_append(buf, len, " > %zu more", a->n_chain - 2);
		text_append(buf, len, "%s%s[%d]", i ? " > " : before, a->chain[i].comm,
			    (int)a->chain[i].pid);
	}
}

/* ", which sleeps in clock_nanosleep(), for a timer" */
static void append_end(const struct asleep *a, char *buf, size_t len)
{
	const struct asleep_call in = { .nr = a->end_nr,
					.no_files = a->end_no_files,
					.timed_futex = a->end_timed_futex };
	const char *what = asleep_for(&in);
	char call[40];

	switch (a->end) {
	case ASLEEP_END_STOPPED:
		text_append(buf, len, ", which %s", stopped_phrase);
		break;
	case ASLEEP_END_RUNS:
		text_append(buf, len, ", which is busy on its CPU");
		break;
	case ASLEEP_END_CIRCLE:
		text_append(buf, len, ", which sleeps for %s: a deadlock",
			    a->n_chain > 1 ? "one of these" : "it in turn");
		break;
	case ASLEEP_END_SLEEPS:
		asleep_name(a->end_nr, call, sizeof(call));
		text_append(buf, len, ", %s sleeps in %s%s",
			    a->end_is_one_of_many ? "of which a thread" : "which", call,
			    a->end_nr < 0 ? "" : "()");
		if (*a->end_path)
			text_append(buf, len, " of %s", a->end_path);
		else if (what)
			text_append(buf, len, ", for %s", what);
		break;
	case ASLEEP_END_FULL:
		text_append(buf, len, ", %s connection to %s is full",
			    a->n_chain ? "whose" : "as its", a->end_at);
		break;
	case ASLEEP_END_ASKED:
		text_append(buf, len, "%s for an answer from %s", a->n_chain ? ", which waits" : "",
			    a->end_at);
		break;
	case ASLEEP_END_UNKNOWN:
		break;
	}
}

static void phrase_of_sleep(const struct asleep *a, char *buf, size_t len)
{
	const char *what = asleep_for(&a->v[0]);
	char call[40];

	asleep_name(a->v[0].nr, call, sizeof(call));
	snprintf(buf, len, "%ssleeps in %s()", a->is_one_of_many ? "has a thread that " : "", call);
	if (has_path(a) && (!is_for_others(a) || asleep_opens(a)))
		append_path(a, buf, len);
	if (is_for_others(a)) {
		append_names(a, buf, len);
		append_end(a, buf, len);
		text_append(buf, len, "%s", asleep_opens(a) ? "; the backlog is full" : "");
	}
	if (is_for_others(a) || has_path(a))
		return;
	if (is_most(a->disk, a->samples))
		text_append(buf, len, ", uninterruptibly, as for a disk");
	else if (what)
		text_append(buf, len, ", for %s", what);
}

static void phrase_of_time(const struct asleep *a, const char *what, uint64_t part_ns, char *buf,
			   size_t len)
{
	snprintf(buf, len, "%s for %s of %s", what, human_time(part_ns).text,
		 human_time(a->over_ns).text);
}

#define NOTED_SHARE 0.1

/* "computes: its thread GC Thread#0[9] has a CPU for 61 % of the time, and waits for one for 35 %"
 */
static void phrase_of_computing(const struct asleep *a, char *buf, size_t len)
{
	char name[32];

	if (*a->busiest_comm)
		snprintf(name, sizeof(name), "%.16s[%d]", a->busiest_comm, (int)a->busiest);
	else
		snprintf(name, sizeof(name), "%d", (int)a->busiest);
	snprintf(buf, len, "computes: its thread %s has a CPU for %.0f %% of the time", name,
		 100 * (double)a->busiest_ns / (double)a->over_ns);
	if ((double)a->no_cpu_ns >= NOTED_SHARE * (double)a->over_ns)
		text_append(buf, len, ", and waits for one for %.0f %%",
			    100 * (double)a->no_cpu_ns / (double)a->over_ns);
}

/* strace(1) stops the process twice in each of its calls. */
static void append_tracer(const struct asleep *a, char *buf, size_t len)
{
	if (a && a->tracer.pid)
		text_append(buf, len, *buf ? ", and %s[%d] traces it" : "is traced by %s[%d]",
			    a->tracer.comm, (int)a->tracer.pid);
}

bool doing_phrase(const struct asleep *a, char *buf, size_t len)
{
	enum doing d = doing_of(a);

	*buf = '\0';
	if (d == DOING_STOPPED)
		snprintf(buf, len, "%s", stopped_phrase);
	else if (d == DOING_THROTTLED)
		phrase_of_time(a, throttled_phrase, a->quota_ns, buf, len);
	else if (d == DOING_STARVED)
		phrase_of_time(a, "was waiting for a CPU", a->no_cpu_ns, buf, len);
	else if (d == DOING_COMPUTES)
		phrase_of_computing(a, buf, len);
	else if (d == DOING_SLEEPS)
		phrase_of_sleep(a, buf, len);
	append_tracer(a, buf, len);
	return *buf;
}

/* The last process of the chain, or `a` itself. */
static struct asleep_process last_of(const struct asleep *a)
{
	struct asleep_process self = { .pid = a->pid };

	memcpy(self.comm, a->comm, sizeof(self.comm));
	return a->n_chain ? a->chain[a->n_chain - 1] : self;
}

/* The process waits for its child, which sleeps until the process reads. */
static bool waits_for_own_writer(const struct asleep *a)
{
	return asleep_for_child(a) && a->n_chain == 1 && a->end == ASLEEP_END_CIRCLE;
}

void doing_fix(const struct asleep *a, bool reads, char *buf, size_t len)
{
	enum doing d = doing_of(a);
	struct asleep_process last = a ? last_of(a) : (struct asleep_process){};

	*buf = '\0';
	if (d == DOING_STOPPED)
		snprintf(buf, len, "%s", stopped_fix);
	else if (d == DOING_THROTTLED)
		snprintf(buf, len, "%s", throttled_fix);
	else if (d == DOING_STARVED)
		snprintf(buf, len, "%s", starved_fix);
	else if (d == DOING_COMPUTES && reads)
		snprintf(buf, len, "let another thread read meanwhile, or compute less: sudo perf "
				   "top -p %d",
			 (int)a->pid);
	else if (d == DOING_UNKNOWN && a && a->tracer.pid && reads)
		snprintf(buf, len, "let it run without %s[%d], which slows each of its calls",
			 a->tracer.comm, (int)a->tracer.pid);
	else if (d == DOING_SLEEPS && a->n_chain && a->end == ASLEEP_END_STOPPED)
		snprintf(buf, len, "%s", stopped_fix);
	else if (d == DOING_SLEEPS && a->end == ASLEEP_END_FULL)
		snprintf(buf, len,
			 "that connection sets the pace; see what limits it: sudo ipcstall attach "
			 "-p %d -d 10s",
			 (int)last.pid);
	else if (d == DOING_SLEEPS && reads && waits_for_own_writer(a))
		snprintf(buf, len,
			 "read what the child writes before waiting for its end (wait(), join())");
	else if (d == DOING_SLEEPS && a->n_chain && reads)
		snprintf(buf, len, "let %s[%d] go on sooner: it keeps the others waiting",
			 last.comm, (int)last.pid);
	else if (d == DOING_SLEEPS && reads && has_path(a) && a->v[0].is_terminal &&
		 !a->v[0].writes)
		snprintf(buf, len, "it goes on once its user types at %s", a->v[0].path);
	else if (d == DOING_SLEEPS && reads && has_path(a) && a->v[0].is_terminal)
		snprintf(buf, len,
			 "%s takes no more output: press Ctrl-Q there, in case Ctrl-S stopped it",
			 a->v[0].path);
	else if (d == DOING_SLEEPS && has_path(a) && a->v[0].at_fd && !a->v[0].is_terminal)
		snprintf(buf, len,
			 "its disk sets the pace: see iostat -x 1; write in larger pieces, or let "
			 "another thread write");
	else if (d == DOING_SLEEPS && reads && !has_path(a))
		snprintf(buf, len,
			 "let another thread read meanwhile, or shorten what it sleeps for");
}

static void next_own_code(const struct asleep *a, char *buf, size_t len)
{
	if (!strcmp(a->comm, "java"))
		snprintf(buf, len, "see which code waits: sudo jstack %d", (int)a->pid);
	else if (!strncmp(a->comm, "python", strlen("python")))
		snprintf(buf, len, "see which code waits: sudo py-spy dump -p %d", (int)a->pid);
	else
		snprintf(buf, len,
			 "see which code waits: sudo gdb -p %d -batch -ex 'thread apply all bt'",
			 (int)a->pid);
}

void doing_next(const struct asleep *a, char *buf, size_t len)
{
	struct asleep_process last = a ? last_of(a) : (struct asleep_process){};

	*buf = '\0';
	if (doing_of(a) == DOING_COMPUTES)
		snprintf(buf, len, "see where it computes: sudo perf top -p %d", (int)a->pid);
	else if (doing_of(a) == DOING_SLEEPS && a->n_chain)
		snprintf(buf, len, "see what %s[%d] does: sudo ipcstall attach -p %d -d 10s",
			 last.comm, (int)last.pid, (int)last.pid);
	else if (doing_of(a) == DOING_SLEEPS && !a->tracer.pid && asleep_by_its_own_code(a))
		next_own_code(a, buf, len);
	else if (doing_of(a) == DOING_SLEEPS && !a->tracer.pid)
		snprintf(buf, len, "see what it calls: sudo strace -f -p %d", (int)a->pid);
}
