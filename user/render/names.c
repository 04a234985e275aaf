// SPDX-License-Identifier: GPL-2.0-only
/* The names of endpoints, programs and states in every text. */
#include "render/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

const char *state_name(bool rx, unsigned int state)
{
	return state >= (rx ? (unsigned int)RX_N : (unsigned int)TX_N) ? "?"
	       : rx						       ? trace_rx_names[state]
								       : trace_tx_names[state];
}

void endpoint_name(const struct trace_endpoint *ep, char *buf, size_t len)
{
	char l[64], r[64];

	if ((ep->family == AF_INET || ep->family == AF_INET6) && !ep->local.port &&
	    ep->remote.port) {
		trace_addr_text(ep->family, &ep->remote, r, sizeof(r));
		snprintf(buf, len, "%s to %s", trace_proto_name(ep->proto), r);
	} else if (ep->family == AF_INET || ep->family == AF_INET6) {
		trace_addr_text(ep->family, &ep->local, l, sizeof(l));
		trace_addr_text(ep->family, &ep->remote, r, sizeof(r));
		snprintf(buf, len, "%s %s > %s", trace_proto_name(ep->proto), l, r);
	} else if (ep->inode) {
		snprintf(buf, len, "%s:[%" PRIu64 "]", trace_proto_name(ep->proto), ep->inode);
	} else {
		snprintf(buf, len, "%s #%" PRIu64, trace_proto_name(ep->proto), ep->serial);
	}
}

void endpoint_short_name(const struct trace_endpoint *ep, char *buf, size_t len)
{
	char l[64];

	if ((ep->family != AF_INET && ep->family != AF_INET6) || !ep->local.port ||
	    !ep->remote.port || memcmp(ep->local.ip, ep->remote.ip, sizeof(ep->local.ip))) {
		endpoint_name(ep, buf, len);
		return;
	}
	trace_addr_text(ep->family, &ep->local, l, sizeof(l));
	snprintf(buf, len, "%s %s > :%u", trace_proto_name(ep->proto), l, ep->remote.port);
}

void endpoint_label(const struct trace_endpoint *ep, char *buf, size_t len)
{
	const struct trace_call_stats *b = ep->tx_calls.tgid ? &ep->tx_calls : &ep->rx_calls;
	char name[160];

	endpoint_name(ep, name, sizeof(name));
	if (b->tgid)
		snprintf(buf, len, "%.16s (%d) %s", b->comm, b->tgid, name);
	else
		snprintf(buf, len, "%s", name);
}

/* "helper[5], which has held the descriptor since reader[4] ended," */
static void fd_owner_name(const struct who *p, char *buf, size_t len)
{
	char name[40] = "an unseen process";

	if (p->tgid)
		snprintf(name, sizeof(name), "%.16s[%d]", p->comm, p->tgid);
	snprintf(buf, len, "%s, which has held the descriptor since %.16s[%d] %s,", name,
		 p->left->comm, p->left->tgid, p->left->let_go ? "closed it" : "ended");
}

void who_name(const struct who *p, char *buf, size_t len)
{
	if (p->too_young)
		snprintf(buf, len, "the process that had it before %.16s[%d] started",
			 p->too_young->comm, p->too_young->tgid);
	else if (p->left)
		fd_owner_name(p, buf, len);
	else if (p->tgid)
		snprintf(buf, len, "%.16s[%d]%s", p->comm, p->tgid, p->others ? OTHERS : "");
	else if (p->others && *p->comm)
		snprintf(buf, len, "several %.16s", p->comm);
	else
		snprintf(buf, len, p->others ? "several processes" : "nobody seen");
}

void awaited_name(const struct who *p, const struct who *waiter, char *buf, size_t len)
{
	if (!p->tgid || p->tgid != waiter->tgid || p->others || p->left)
		who_name(p, buf, len);
	else if (p->tid && p->tid != waiter->tid)
		snprintf(buf, len, "its own thread %d", p->tid);
	else /* after fork() it may hold both ends, and another process may use the other one */
		snprintf(buf, len, p->tid ? "its own other end" : "the other end");
}

bool name_is_plural(const char *who)
{
	static const char others[] = OTHERS, several[] = "several ";
	size_t n = strlen(who), tail = sizeof(others) - 1;

	return !strncmp(who, several, sizeof(several) - 1) ||
	       (n > tail && !strcmp(who + n - tail, others));
}

const char *verb_of(const char *who, const char *one, const char *many)
{
	return name_is_plural(who) ? many : one;
}

void program_name(const struct trace_call_stats *b, char *buf, size_t len)
{
	struct who last = who_was_last(b);

	who_name(&last, buf, len);
}

void address_of_peer(const struct trace_endpoint *ep, char *buf, size_t len)
{
	if (ep->making.other_pid)
		snprintf(buf, len, "%s[%d]%s", ep->making.other_comm, (int)ep->making.other_pid,
			 ep->making.other_shared ? OTHERS : "");
	else if ((ep->family == AF_INET || ep->family == AF_INET6) && ep->remote.port)
		trace_addr_text(ep->family, &ep->remote, buf, len);
	else
		snprintf(buf, len, "the other end");
}

void peer_name(const struct trace_snapshot *s, const struct trace_endpoint *ep, char *buf,
	       size_t len)
{
	const struct trace_call_stats *b = who_sends(s, ep);

	if (b)
		program_name(b, buf, len);
	else
		address_of_peer(ep, buf, len);
}
