// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/own_window.h"

/* A window that the kernel chooses itself grows to at least twice what comes in a round trip. */
#define WINDOW_SHARE 0.6
#define LONG_PATH_US 1000
#define MUCH	     100000 /* bytes: less says little */

double rate_of_receiving(const struct trace_endpoint *ep)
{
	uint64_t ns = ep->rx.lifetime_ns;

	return ns ? 1e9 * (double)ep->rx_calls.bytes / (double)ns : 0;
}

bool is_held_by_own_window(const struct trace_endpoint *ep)
{
	double in_a_round_trip = rate_of_receiving(ep) * ep->min_rtt_us / 1e6;

	return ep->proto == TRACE_TCP && ep->path.receive_window &&
	       ep->min_rtt_us >= LONG_PATH_US && ep->rx_calls.bytes >= MUCH &&
	       in_a_round_trip >= WINDOW_SHARE * ep->path.receive_window;
}
