/* SPDX-License-Identifier: GPL-2.0-only */
/* What a process does, which is known only while it does it. */
#ifndef IPCSTALL_SESSION_DOING_H
#define IPCSTALL_SESSION_DOING_H

#include "host/asleep.h"
#include "session/zoom.h"
#include "tracer/process_cpu.h"

/* So many looks at a->tid, at about so great a distance; fewer where it ends, or `stop` asks.
 * `deadline`: not after it. */
#define DOING_APART_NS 10000000ull
void doing_look(struct asleep *a, int looks, uint64_t deadline, const struct zoom_stop *stop);
/* what a->pid had of the CPUs between the two; it is added to what is there */
void doing_cpu(struct asleep *a, const struct cpu_book *before, const struct cpu_book *after);

#endif
