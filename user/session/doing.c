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

enum worker doing_sample_worker(struct asleep *worker, struct trace *t)
{
	pid_t tid = trace_working_thread(t, worker->pid);

	if (tid == TRACE_WORKER_UNKNOWN)
		return WORKER_UNKNOWN;
	if (!tid)
		return WORKER_NONE;
	worker->tid = tid;
	return asleep_sample(worker) ? WORKER_SAMPLED : WORKER_NONE;
}

/* A server may be idle for a while, between two requests. */
#define MORE_SAMPLES 10

void doing_sample_both(struct asleep *a, struct asleep *worker, struct trace *t, int samples)
{
	enum worker found = t ? WORKER_NONE : WORKER_UNKNOWN;

	for (int i = 0; i < samples || (found == WORKER_NONE && i < samples + MORE_SAMPLES); i++) {
		if (found != WORKER_UNKNOWN) {
			enum worker now = doing_sample_worker(worker, t);

			found = now == WORKER_NONE ? found : now;
		}
		if ((found == WORKER_UNKNOWN && !a->tid) || (a->tid && !asleep_sample(a)))
			break;
		pause_after(i);
	}
	asleep_sort(a);
}

/* With fewer samples, all of them may be of one request. */
#define WORKER_SAMPLES 10

/* An event loop among other threads has handed the request over to one of them. */
static bool has_handed_over(const struct asleep *worker)
{
	return asleep_seems_idle(worker) && !asleep_only_thread(worker->pid);
}

void doing_prefer_worker(struct asleep *a, struct asleep *worker)
{
	if (worker->samples < WORKER_SAMPLES)
		return;
	asleep_sort(worker);
	if (has_handed_over(worker))
		return;
	asleep_take_samples(a, worker);
	a->at_work = true;
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
