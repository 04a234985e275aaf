// SPDX-License-Identifier: GPL-2.0-only
/* UDP, connected at both ends: the kernel then skips the route and address work for each datagram.
 */
#include <arpa/inet.h>
#include <errno.h>

#include "workloads/workload.h"

enum { UDP4_MAX = 65507, UDP6_MAX = 65527 };

/* The default buffer holds three datagrams of 64 KiB: a message of more pieces would never arrive
 * whole if its receiver shares the sender's CPU. The buffer is changed only for messages of several
 * pieces, and the facts show it. */
static void room_for_pieces(const struct conn *c, const struct workload_options *o,
			    struct workload_options *roomy)
{
	if (!o->rcvbuf && o->message > c->piece)
		roomy->rcvbuf = 4 * (int64_t)o->message;
}

static int udp_socket(struct conn *c, const struct workload_options *o, struct err *e)
{
	struct workload_options roomy = *o;

	c->rfd = c->wfd = socket(o->v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (c->rfd < 0)
		return err_sys(e, errno == EAFNOSUPPORT ? EXIT_NO_FEATURE : EXIT_NO_RESOURCE, NULL,
			       "UDP socket");
	c->piece = o->v6 ? UDP6_MAX : UDP4_MAX;
	room_for_pieces(c, o, &roomy);
	return socket_apply(c->rfd, &roomy, e);
}

static int udp_listen(struct conn *c, const struct workload_options *o, struct address *bound,
		      struct err *e)
{
	if (inet_address(o, bound, e) || udp_socket(c, o, e))
		return -1;
	if (bind(c->rfd, (void *)&bound->ss, bound->len))
		return err_sys(e, EXIT_NO_RESOURCE, "give another --port, or none", "port %u",
			       o->port);
	bound->len = sizeof(bound->ss);
	getsockname(c->rfd, (void *)&bound->ss, &bound->len);
	return 0;
}

static int udp_connect(struct conn *c, const struct workload_options *o, const struct address *to,
		       struct address *from, struct err *e)
{
	if (udp_socket(c, o, e))
		return -1;
	if (connect(c->rfd, (const void *)&to->ss, to->len))
		return err_sys(e, EXIT_PEER, "is there a route to the server?", "connect");
	from->len = sizeof(from->ss);
	getsockname(c->rfd, (void *)&from->ss, &from->len);
	return 0;
}

static int udp_accept(struct conn *c, const struct workload_options *o, const struct address *from,
		      struct err *e)
{
	if (from->len && connect(c->rfd, (const void *)&from->ss, from->len))
		return err_sys(e, EXIT_PEER, "is there a route back to the client?", "connect");
	return 0;
}

const struct workload workload_udp = {
	.name = "udp",
	.summary = "UDP, connected at both ends (-6: over IPv6); loss is counted",
	.flags = WL_DATAGRAM | WL_LOSSY | WL_SOCKET | WL_INET,
	.read_least = 64 << 10,
	.listen = udp_listen,
	.connect = udp_connect,
	.accept = udp_accept,
	.send_msg = datagram_send,
	.recv_msg = datagram_recv,
	.recv_some = datagram_recv_some,
	.facts = socket_facts_read,
};
