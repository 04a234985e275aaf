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
/* Samples the thread that works on a request, as that session has seen. Samples of idle threads
 * count no more then. False: no thread works. */
struct trace;
bool doing_sample_at_work(struct asleep *a, struct trace *t);
/* Samples the thread that works on a request; if none ever did, or `t` is NULL, a->tid. */
void doing_sample_traced(struct asleep *a, struct trace *t, int samples);
/* Adds what a->pid got of the CPUs between the two readings to the sums in `a`. */
void doing_cpu(struct asleep *a, const struct cpu_book *before, const struct cpu_book *after);

#endif
