// SPDX-License-Identifier: GPL-2.0-only
#include "tracer/lone_ends.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <stdlib.h>

#include "host/sock_diag.h"

static int by_place(const void *a, const void *b)
{
	const struct lone_end *x = a, *y = b;

	return COMPARE(x->inode, y->inode) ?: inet_end_compare(&x->there, &y->there) ?:
	       inet_end_compare(&x->here, &y->here);
}

void lone_ends_sort(struct lone_ends *all)
{
	qsort(all->v, all->n, sizeof(*all->v), by_place);
}

struct lone_end *lone_ends_find(struct lone_ends *all, const struct lone_end *want, uint64_t other)
{
	struct lone_end *end = bsearch(want, all->v, all->n, sizeof(*want), by_place);

	if (end && other) {
		end->other = other;
		end->by = CONNECTED;
	}
	return end;
}

struct lone_end *lone_ends_note_connected(struct lone_ends *all, const struct inet_diag_msg *m)
{
	const struct inet_diag_sockid *id = &m->id;

	return lone_ends_find(
		all,
		&(struct lone_end){
			.there = inet_end(m->idiag_family, id->idiag_src, ntohs(id->idiag_sport)),
			.here = inet_end(m->idiag_family, id->idiag_dst, ntohs(id->idiag_dport)) },
		m->idiag_inode);
}

#define IS_OPEN (1u << 1 | 1u << 8) /* TCP_ESTABLISHED, TCP_CLOSE_WAIT: no close() yet */

void lone_ends_note_tcp(const struct nlmsghdr *n, void *ctx)
{
	const struct inet_diag_msg *m = NLMSG_DATA(n);
	int len = (int)n->nlmsg_len - (int)NLMSG_SPACE(sizeof(*m));
	struct lone_end *end = lone_ends_note_connected(ctx, m);

	if (!end || !(1u << m->idiag_state & IS_OPEN))
		return;
	end->sends_full = sock_diag_is_full(rtnl_attr(m + 1, len, INET_DIAG_SKMEMINFO));
	end->pending |= !m->idiag_inode;
}
