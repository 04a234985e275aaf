/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A server that sends a ping each second, as for WebSockets, is answered at once. Seen from its end
 * the pong is a request that it answers a second later, with the next ping. What it does meanwhile
 * tells: it sleeps until events come, and nothing is under way.
 */
#ifndef IPCSTALL_VERDICT_PINGS_H
#define IPCSTALL_VERDICT_PINGS_H

#include "verdict/verdict.h"

#define PING_MOST 40 /* bytes: with what TLS adds */

/* What the culprit did is known now: v->doing (NULL: nobody looked). Slow answers that turn out to
 * be pings are struck from the verdict, and the judge is asked again. */
void verdict_strike_pings(struct verdict *v, const struct trace_snapshot *s);

#endif
