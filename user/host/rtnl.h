/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of rtnetlink that a link needs: build a request, send it, and read the kernel's answer
 * and error message. */
#ifndef IPCSTALL_HOST_RTNL_H
#define IPCSTALL_HOST_RTNL_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RTNL_ROOM 1024

struct rtnl_req {
	struct nlmsghdr n;
	char rest[RTNL_ROOM];
};

/* Called for each message of a dump. */
typedef void (*rtnl_fn)(const struct nlmsghdr *n, void *arg);

int rtnl_open(void);
/* Begin a request whose fixed part is `len` bytes at `fixed` (ifinfomsg, tcmsg, ...). */
void rtnl_begin(struct rtnl_req *r, uint16_t type, uint16_t flags, const void *fixed, size_t len);
void rtnl_put(struct rtnl_req *r, uint16_t type, const void *data, size_t len);
void rtnl_put_u32(struct rtnl_req *r, uint16_t type, uint32_t v);
void rtnl_put_str(struct rtnl_req *r, uint16_t type, const char *s);
/* Attributes put between open and close lie inside; rtnl_raw() appends plain bytes (a nested
 * message's header). */
struct rtattr *rtnl_nest(struct rtnl_req *r, uint16_t type);
void rtnl_raw(struct rtnl_req *r, const void *data, size_t len);
void rtnl_nest_end(struct rtnl_req *r, struct rtattr *nest);
/* Send, and wait for the acknowledgement. -1 with errno, and in `why` the kernel's error message if
 * there is one. */
int rtnl_call(int fd, struct rtnl_req *r, char *why, size_t len);
int rtnl_dump(int fd, struct rtnl_req *r, rtnl_fn fn, void *arg);
/* Asks for one thing. */
int rtnl_get(int fd, struct rtnl_req *r, rtnl_fn fn, void *arg);

/* The attribute of that type in a run of attributes, NULL when absent or cut short. */
const struct rtattr *rtnl_attr(const void *first, int len, uint16_t type);

#endif
