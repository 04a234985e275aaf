// SPDX-License-Identifier: GPL-2.0-only
#include "host/rtnl.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int rtnl_open(void)
{
	int on = 1, fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0)
		return -1;
	/* Without these options (before 4.12) an error has no message, but is just as true. */
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	return fd;
}

void rtnl_raw(struct rtnl_req *r, const void *data, size_t len)
{
	size_t at = NLMSG_ALIGN(r->n.nlmsg_len);

	if (at + RTA_ALIGN(len) > sizeof(*r))
		abort(); /* requests are ours and of known size */
	memcpy((char *)r + at, data, len);
	r->n.nlmsg_len = at + len;
}

void rtnl_begin(struct rtnl_req *r, uint16_t type, uint16_t flags, const void *fixed, size_t len)
{
	memset(r, 0, sizeof(*r));
	r->n.nlmsg_len = NLMSG_HDRLEN;
	r->n.nlmsg_type = type;
	r->n.nlmsg_flags = NLM_F_REQUEST | flags;
	rtnl_raw(r, fixed, len);
}

void rtnl_put(struct rtnl_req *r, uint16_t type, const void *data, size_t len)
{
	struct rtattr a = { .rta_type = type, .rta_len = RTA_LENGTH(len) };

	rtnl_raw(r, &a, sizeof(a));
	rtnl_raw(r, data, len);
}

void rtnl_put_u32(struct rtnl_req *r, uint16_t type, uint32_t v)
{
	rtnl_put(r, type, &v, sizeof(v));
}

void rtnl_put_str(struct rtnl_req *r, uint16_t type, const char *s)
{
	rtnl_put(r, type, s, strlen(s) + 1);
}

struct rtattr *rtnl_nest(struct rtnl_req *r, uint16_t type)
{
	struct rtattr a = { .rta_type = type };
	char *at = (char *)r + NLMSG_ALIGN(r->n.nlmsg_len);

	rtnl_raw(r, &a, sizeof(a));
	return (struct rtattr *)at;
}

void rtnl_nest_end(struct rtnl_req *r, struct rtattr *nest)
{
	nest->rta_len = (char *)r + r->n.nlmsg_len - (char *)nest;
}

const struct rtattr *rtnl_attr(const void *first, int len, uint16_t type)
{
	const struct rtattr *a = first;

	for (; RTA_OK(a, len); a = RTA_NEXT(a, len))
		if ((a->rta_type & NLA_TYPE_MASK) == type)
			return a;
	return NULL;
}

static int rtnl_send(int fd, struct rtnl_req *r)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	return sendto(fd, r, r->n.nlmsg_len, 0, (struct sockaddr *)&kernel, sizeof(kernel)) < 0 ? -1
												: 0;
}

static ssize_t rtnl_recv(int fd, void *buf, size_t len)
{
	ssize_t n;

	do
		n = recv(fd, buf, len, 0);
	while (n < 0 && errno == EINTR);
	return n;
}

static void copy_words(const struct nlmsghdr *n, const struct nlmsgerr *ack, char *why, size_t len)
{
	size_t at = sizeof(*ack) + (n->nlmsg_flags & NLM_F_CAPPED
					    ? 0
					    : NLMSG_ALIGN(ack->msg.nlmsg_len - NLMSG_HDRLEN));
	const struct rtattr *a = NULL;

	if (n->nlmsg_flags & NLM_F_ACK_TLVS && n->nlmsg_len > NLMSG_HDRLEN + at)
		a = rtnl_attr((const char *)ack + at, (int)(n->nlmsg_len - NLMSG_HDRLEN - at),
			      NLMSGERR_ATTR_MSG);
	if (a)
		snprintf(why, len, "%.*s", (int)RTA_PAYLOAD(a), (const char *)RTA_DATA(a));
}

int rtnl_call(int fd, struct rtnl_req *r, char *why, size_t len)
{
	_Alignas(struct nlmsghdr) char buf[8192];
	const struct nlmsghdr *n = (const struct nlmsghdr *)buf;
	const struct nlmsgerr *ack = NLMSG_DATA(n);
	ssize_t got;

	*why = '\0';
	r->n.nlmsg_flags |= NLM_F_ACK;
	if (rtnl_send(fd, r))
		return -1;
	got = rtnl_recv(fd, buf, sizeof(buf));
	if (got < 0)
		return -1;
	if (!NLMSG_OK(n, (uint32_t)got) || n->nlmsg_type != NLMSG_ERROR) {
		errno = EPROTO;
		return -1;
	}
	if (!ack->error)
		return 0;
	copy_words(n, ack, why, len);
	errno = -ack->error;
	return -1;
}

/* True when the dump has ended; *rc says how. */
static bool dump_part(const char *buf, ssize_t got, rtnl_fn fn, void *arg, int *rc)
{
	const struct nlmsghdr *n = (const struct nlmsghdr *)buf;

	for (; NLMSG_OK(n, (uint32_t)got); n = NLMSG_NEXT(n, got)) {
		if (n->nlmsg_type == NLMSG_DONE)
			return true;
		if (n->nlmsg_type == NLMSG_ERROR) {
			errno = -((const struct nlmsgerr *)NLMSG_DATA(n))->error;
			*rc = -1;
			return true;
		}
		fn(n, arg);
	}
	return false;
}

int rtnl_dump(int fd, struct rtnl_req *r, rtnl_fn fn, void *arg)
{
	_Alignas(struct nlmsghdr) char buf[32768];
	ssize_t got;
	int rc = 0;

	r->n.nlmsg_flags |= NLM_F_DUMP;
	if (rtnl_send(fd, r))
		return -1;
	do {
		got = rtnl_recv(fd, buf, sizeof(buf));
		if (got < 0)
			return -1;
	} while (!dump_part(buf, got, fn, arg, &rc));
	return rc;
}

int rtnl_get(int fd, struct rtnl_req *r, rtnl_fn fn, void *arg)
{
	_Alignas(struct nlmsghdr) char buf[8192];
	ssize_t got;
	int rc = 0;

	if (rtnl_send(fd, r))
		return -1;
	got = rtnl_recv(fd, buf, sizeof(buf));
	if (got < 0)
		return -1;
	dump_part(buf, got, fn, arg, &rc);
	return rc;
}
