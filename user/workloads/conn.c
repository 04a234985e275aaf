// SPDX-License-Identifier: GPL-2.0-only
#include <unistd.h>

#include "workloads/workload.h"

void conn_close(struct conn *c)
{
	if (c->rfd >= 0)
		close(c->rfd);
	if (c->wfd >= 0 && c->wfd != c->rfd)
		close(c->wfd);
	if (c->lfd >= 0)
		close(c->lfd);
	c->rfd = c->wfd = c->lfd = -1;
}
