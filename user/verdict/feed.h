/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A feed: the server sends news, as a broker's messages or pings, and no answers. Its client sends
 * at most small acknowledgements, and the server works on none of them.
 */
#ifndef IPCSTALL_VERDICT_FEED_H
#define IPCSTALL_VERDICT_FEED_H

#include "verdict/verdict.h"

bool is_feed(const struct trace_snapshot *s, size_t i);

/* By size it may be a feed. Only trace_ask_server() tells whether the server works on anything. */
bool may_be_feed(const struct trace_snapshot *s, size_t i);

#endif
