/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Brokers, such as those for jobs and messages, are connected to by who works for them as by who
 * asks them. A request that is passed on goes out within the tick in which it came.
 */
#ifndef IPCSTALL_TRACER_FORWARDED_REQUEST_H
#define IPCSTALL_TRACER_FORWARDED_REQUEST_H

#include "tracer/tcp_turns.h"

/* Of the sockets with those inodes, those that their process accepted: through which of them did it
 * pass a request on, the oldest that has no answer yet? NULL: that cannot be told, or it did not.
 */
const struct tcp_turn *passed_request(const struct tcp_turns *t, const uint64_t *inodes, size_t n);
/* Did it pass on the request that came there last? */
bool is_passed_on(const struct tcp_turns *t, const uint64_t *inodes, size_t n,
		  const struct tcp_turn *asked);

#endif
