// SPDX-License-Identifier: GPL-2.0-only
#include "tracer/tcp_turns.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/array.h"
#include "host/sock_diag.h"
#include "tracer/trace.h"

#define LISTENS	 (1u << 10) /* TCP_LISTEN */
#define CLOSE_WAIT (1u << 8)
#define TALKS	   (1u << 1 | CLOSE_WAIT) /* TCP_ESTABLISHED */

/* kernels since 4.6 have as much of it as is used here */
static bool read_info(const struct nlmsghdr *n, const struct inet_diag_msg *m,
		       struct tcp_info *info)
{
	int len = (int)n->nlmsg_len - (int)NLMSG_SPACE(sizeof(*m));
	const struct rtattr *a = rtnl_attr(m + 1, len, INET_DIAG_INFO);

	if (!a || RTA_PAYLOAD(a) < offsetof(struct tcp_info, tcpi_data_segs_out))
		return false;
	memset(info, 0, sizeof(*info));
	memcpy(info, RTA_DATA(a), RTA_PAYLOAD(a) < sizeof(*info) ? RTA_PAYLOAD(a) : sizeof(*info));
	return true;
}

static unsigned int each(uint64_t bytes, unsigned int segments)
{
	return segments ? (unsigned int)(bytes / segments) : 0;
}

static void note_info(struct tcp_turn *one, const struct tcp_info *info)
{
	one->is_known = true;
	one->sent_ms = info->tcpi_last_data_sent;
	one->came_ms = info->tcpi_last_data_recv;
	one->sends = info->tcpi_data_segs_out;
	one->comes = info->tcpi_data_segs_in;
	one->gets = each(info->tcpi_bytes_received, one->comes);
	one->puts = each(info->tcpi_bytes_acked, one->sends);
}

static void note(const struct nlmsghdr *n, void *ctx)
{
	const struct inet_diag_msg *m = NLMSG_DATA(n);
	struct tcp_turns *t = ctx;
	struct tcp_info info;
	struct tcp_turn one = { .inode = m->idiag_inode,
				.port = ntohs(m->id.idiag_sport),
				.listens = 1u << m->idiag_state == LISTENS,
				.ends = 1u << m->idiag_state == CLOSE_WAIT };

	if (!array_grow(&t->v, t->n, &t->room, sizeof(*t->v)))
		return;
	if (one.listens)
		t->listens[one.port / 64] |= 1ull << one.port % 64;
	else if (read_info(n, m, &info))
		note_info(&one, &info);
	t->v[t->n++] = one;
}

ORDER_BY(by_inode, struct tcp_turn, inode)

void tcp_turns_read(struct tcp_turns *t)
{
	static const uint8_t families[] = { AF_INET, AF_INET6 };

	t->n = 0;
	memset(t->listens, 0, sizeof(t->listens));
	for (int i = 0; i < 2; i++) {
		struct inet_diag_req_v2 ask = { .sdiag_family = families[i],
						.sdiag_protocol = IPPROTO_TCP,
						.idiag_ext = 1 << (INET_DIAG_INFO - 1),
						.idiag_states = LISTENS | TALKS };
		struct rtnl_req r;

		rtnl_begin(&r, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, &ask, sizeof(ask));
		sock_diag_dump(&r, note, t);
	}
	if (t->n)
		qsort(t->v, t->n, sizeof(*t->v), by_inode);
}

const struct tcp_turn *tcp_turns_find(const struct tcp_turns *t, uint64_t inode)
{
	struct tcp_turn want = { .inode = inode };

	return inode && t->n ? bsearch(&want, t->v, t->n, sizeof(want), by_inode) : NULL;
}

bool tcp_turns_asks(const struct tcp_turns *t, const struct tcp_turn *turn)
{
	return tcp_turn_sent_last(turn) && turn->port >= TRACE_EPHEMERAL_PORT &&
	       !(t->listens[turn->port / 64] >> turn->port % 64 & 1);
}

/* as may_ask() of bpf/pending_request.bpf.h, which takes fewer segments for a first request */
#define FIRST_TIME	 3 /* segments */
#define SEGMENTS_A_REPLY 4
/* a segment, as in the body of a first request: log lines are shorter */
#define BODY_BYTES 700

static bool is_answered_mostly(unsigned int asked, unsigned int bytes, unsigned int answered)
{
	return answered ? (uint64_t)answered * SEGMENTS_A_REPLY >= asked
			: asked && (asked <= FIRST_TIME || bytes >= BODY_BYTES);
}

/* A conversation of one segment each has one that no segment has answered, if the ticks do not
 * tell. */
static bool is_open(unsigned int asked_ms, unsigned int asked, unsigned int answered_ms,
		    unsigned int answered)
{
	return !answered || asked_ms < answered_ms ||
	       (asked_ms == answered_ms && asked == answered + 1);
}

bool tcp_turn_is_answered(const struct tcp_turn *x)
{
	return x->is_known && x->sends && !x->ends &&
	       is_answered_mostly(x->sends, x->puts, x->comes);
}

bool tcp_turn_awaits_answer(const struct tcp_turn *x)
{
	return tcp_turn_is_answered(x) && is_open(x->sent_ms, x->sends, x->came_ms, x->comes);
}

bool tcp_turn_answers(const struct tcp_turn *x)
{
	return x->is_known && x->comes && is_answered_mostly(x->comes, x->gets, x->sends);
}

bool tcp_turn_owes_answer(const struct tcp_turn *x)
{
	return tcp_turn_answers(x) && is_open(x->came_ms, x->comes, x->sent_ms, x->sends);
}

bool tcp_turns_awaits_answer(const struct tcp_turns *t, const struct tcp_turn *turn)
{
	return tcp_turns_asks(t, turn) && tcp_turn_awaits_answer(turn);
}

void tcp_turns_free(struct tcp_turns *t)
{
	free(t->v);
	*t = (struct tcp_turns){};
}
