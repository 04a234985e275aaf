/* SPDX-License-Identifier: GPL-2.0-only */
/* Samples what a process does: nobody can tell afterwards. */
#ifndef IPCSTALL_SESSION_DOING_H
#define IPCSTALL_SESSION_DOING_H

#include "host/asleep.h"
#include "session/zoom.h"
#include "tracer/process_cpu.h"

/* More than `samples`, if others wait only at times: as many as then find what it does meanwhile.
 */
int doing_samples(int samples, double awaited);
/* Samples a->tid `samples` times, about DOING_APART_NS apart. Ends sooner if the thread ends, if
 * `stop` asks, or at `deadline`. */
#define DOING_APART_NS 10000000ull
void doing_sample(struct asleep *a, int samples, uint64_t deadline, const struct zoom_stop *stop);
/* Samples the thread of worker->pid that works on a request, by what the exact session `t` has
 * seen. */
enum worker { WORKER_UNKNOWN, WORKER_NONE, WORKER_SAMPLED };
enum worker doing_sample_worker(struct asleep *worker, struct trace *t);
/* Samples a->tid, and into `worker` the thread that works on a request. t NULL: only a->tid */
void doing_sample_both(struct asleep *a, struct asleep *worker, struct trace *t, int samples);
/* If enough samples found a thread at work, `a` has these from now on. */
void doing_prefer_worker(struct asleep *a, struct asleep *worker);
/* Adds what a->pid got of the CPUs between the two readings to the sums in `a`. */
void doing_cpu(struct asleep *a, const struct cpu_book *before, const struct cpu_book *after);

#endif
