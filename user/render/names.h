/* SPDX-License-Identifier: GPL-2.0-only */
/* The names of endpoints, programs and states in every text. */
#ifndef IPCSTALL_RENDER_NAMES_H
#define IPCSTALL_RENDER_NAMES_H

#include "verdict/who.h"

/* "tcp 127.0.0.1:40112 > 127.0.0.1:80", "pipe:[1234]" */
void endpoint_name(const struct trace_endpoint *ep, char *buf, size_t len);
/* "tcp 127.0.0.1:37002 > :40441": if both ends have the same address, it is written once */
void endpoint_short_name(const struct trace_endpoint *ep, char *buf, size_t len);
/* a short label: "redis-server (812) 127.0.0.1:6379" */
void endpoint_label(const struct trace_endpoint *ep, char *buf, size_t len);
#define OTHERS " and others"
/* "curl[12]", "nginx[7] and others", "nobody seen" */
void program_name(const struct trace_call_stats *b, char *buf, size_t len);
/* program_name() for a struct who: also "several nginx", "helper[5], which has held the descriptor
 * since reader[4] ended," */
enum { PARTY_TEXT = 160 };
void who_name(const struct who *p, char *buf, size_t len);

/* the awaited process as seen by its waiter: "its own thread 12" if both are one process */
void awaited_name(const struct who *p, const struct who *waiter, char *buf, size_t len);
/* true for "nginx[7] and others", "several nginx" */
bool name_is_plural(const char *who);
/* the verb form for a name: `one` ("waits"), or `many` ("wait") if the name is plural */
const char *verb_of(const char *who, const char *one, const char *many);
/* "nagle", "wait", ... */
const char *state_name(bool rx, unsigned int state);

/* the name of an other end whose program was not seen: "127.0.0.1:80", "the other end" */
void address_of_peer(const struct trace_endpoint *ep, char *buf, size_t len);

/* the program at the other end, or the other end's address */
void peer_name(const struct trace_snapshot *s, const struct trace_endpoint *ep, char *buf,
	       size_t len);

#endif
