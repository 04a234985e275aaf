/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef IPCSTALL_VERDICT_OWN_WINDOW_H
#define IPCSTALL_VERDICT_OWN_WINDOW_H

#include "tracer/trace.h"

/* What comes is what the receive window of this end lets through in a round trip, whatever the
 * sender could do: its receive buffer is small for so long a path. */
bool is_held_by_own_window(const struct trace_endpoint *ep);

/* so much comes a second */
double rate_of_receiving(const struct trace_endpoint *ep);

#endif
