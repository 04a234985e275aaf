/* SPDX-License-Identifier: GPL-2.0-only */
/* What endpoints, programs and states are called in every text. */
#ifndef IPCSTALL_RENDER_NAMES_H
#define IPCSTALL_RENDER_NAMES_H

#include "verdict/who.h"

/* "tcp 127.0.0.1:40112 > 127.0.0.1:80", "pipe:[1234]" */
void endpoint_name(const struct trace_endpoint *ep, char *buf, size_t len);
/* "tcp 127.0.0.1:37002 > :40441": an address that both ends have is said once */
void endpoint_short_name(const struct trace_endpoint *ep, char *buf, size_t len);
/* who it is, as short as it can be said: "redis-server (812) 127.0.0.1:6379" */
void endpoint_label(const struct trace_endpoint *ep, char *buf, size_t len);
#define OTHERS " and others"
/* "curl[12]", "nginx[7] and others", "nobody seen" */
void program_name(const struct trace_call_stats *b, char *buf, size_t len);
/* the same, of several too: "several nginx", "helper[5], which has held the descriptor since
 * reader[4] ended," */
enum { PARTY_TEXT = 160 };
void who_name(const struct who *p, char *buf, size_t len);

/* as its waiter would say: "its own thread 12" where both are of one process */
void awaited_name(const struct who *p, const struct who *waiter, char *buf, size_t len);
/* "nginx[7] and others", "several nginx" */
bool name_is_plural(const char *who);
/* the form of a verb after such a name: "waits", or "wait" where it is plural */
const char *verb_of(const char *who, const char *one, const char *many);
/* "nagle", "wait", ... */
const char *state_name(bool rx, unsigned int state);

/* the other end where its program was not seen: "127.0.0.1:80", "the other end" */
void address_of_peer(const struct trace_endpoint *ep, char *buf, size_t len);

/* the program at the other end, or its address */
void peer_name(const struct trace_snapshot *s, const struct trace_endpoint *ep, char *buf,
	       size_t len);

#endif
