/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A feed: what its server sends are no answers, but news: a broker's messages, pings. What its
 * client sends are acknowledgements, if anything: small, and the server is at work on none.
 */
#ifndef IPCSTALL_VERDICT_FEED_H
#define IPCSTALL_VERDICT_FEED_H

#include "verdict/verdict.h"

bool is_feed(const struct trace_snapshot *s, size_t i);

/* Only the server can tell what it does: trace_ask_server(). */
bool may_be_feed(const struct trace_snapshot *s, size_t i);

#endif
