// SPDX-License-Identifier: GPL-2.0-only
#include "session/doing.h"

#include <string.h>
#include <sys/param.h>
#include <time.h>

#include "base/clock.h"
#include "host/proc.h"
#include "tracer/trace.h"

#define SELDOM_TIMES 4 /* at most */

int doing_samples(int samples, double awaited)
{
	return awaited > 0 ? (int)(samples * MIN(1 / awaited, SELDOM_TIMES)) : samples;
}

/* Sleeps until the next sample, with jitter. Returns how long. */
static uint64_t pause_after(int i)
{
	uint64_t ns = DOING_APART_NS * (unsigned int)(50 + 4 * (i * 7 % 26)) / 100;

	nanosleep(&(struct timespec){ .tv_nsec = (long)ns }, NULL);
	return ns;
}

void doing_sample(struct asleep *a, int samples, uint64_t deadline, const struct zoom_stop *stop)
{
	uint64_t apart = DOING_APART_NS;

	for (int i = 0; i < samples && now_ns() + apart < deadline; i++) {
		if ((stop && stop->asked(stop->ctx)) || (a->tid && !asleep_sample(a)))
			break;
		apart = pause_after(i);
	}
	asleep_sort(a);
}

static void forget_samples(struct asleep *a)
{
	a->samples = a->running = a->disk = a->rests = 0;
	a->n = 0;
}

bool doing_sample_at_work(struct asleep *a, struct trace *t)
{
	pid_t tid = trace_working_thread(t, a->pid);

	if (!tid)
		return false;
	if (!a->at_work)
		forget_samples(a);
	a->at_work = true;
	a->tid = tid;
	return asleep_sample(a);
}

/* A server may be idle for a while, between two requests. */
#define MORE_SAMPLES 10

void doing_sample_traced(struct asleep *a, struct trace *t, int samples)
{
	int n = a->tid || t ? samples : 0, more = t ? MORE_SAMPLES : 0;

	for (int i = 0; i < n || (!a->at_work && i < n + more); i++) {
		if (!(t && doing_sample_at_work(a, t)) && !a->at_work && a->tid)
			asleep_sample(a);
		pause_after(i);
	}
	asleep_sort(a);
}

static void name_busiest(struct asleep *a, pid_t tid)
{
	char process[16];

	a->busiest = tid;
	process_comm(a->pid, process);
	process_comm(tid, a->busiest_comm);
	if (!strcmp(a->busiest_comm, process))
		*a->busiest_comm = '\0';
}

void doing_cpu(struct asleep *a, const struct cpu_book *before, const struct cpu_book *after)
{
	const struct process_cpu *p = cpu_book_find(after, a->pid);
	uint64_t over = after->at_ns - before->at_ns;
	struct thread_cpu busiest;

	if (!p || !cpu_book_thread(after, before, a->pid, 0, &busiest))
		return;
	/* strace(1) stops it again and again, and lets it run in between */
	a->stopped = p->stopped && p->was_stopped && !busiest.ran_ns;
	if (a->busiest != busiest.tid)
		name_busiest(a, busiest.tid);
	a->over_ns += over;
	a->busiest_ns += MIN(busiest.ran_ns, over);
	a->no_cpu_ns += MIN(busiest.waited_ns, over);
	a->quota_ns += MIN(p->throttled_since_ns, over); /* the kernel updates it late */
}
