/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef IPCSTALL_SESSION_LIVE_VERDICT_H
#define IPCSTALL_SESSION_LIVE_VERDICT_H

#include "verdict/verdict.h"

/* verdict_make() for running programs. If a server may be sending a feed instead of answers, or a
 * client that seems idle may have sent a request before the session, it asks /proc what the
 * server's threads do (trace_ask_server()), and judges again. */
void live_verdict(struct trace_snapshot *s, struct verdict *v);

#endif
