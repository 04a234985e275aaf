/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef IPCSTALL_VERDICT_OWN_WINDOW_H
#define IPCSTALL_VERDICT_OWN_WINDOW_H

#include "tracer/trace.h"

/* This end receives what its receive window lets through in a round trip, whatever the sender could
 * do: the receive buffer is too small for so long a path. */
bool is_held_by_own_window(const struct trace_endpoint *ep);

/* Bytes received per second. */
double rate_of_receiving(const struct trace_endpoint *ep);

#endif
