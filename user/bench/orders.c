// SPDX-License-Identifier: GPL-2.0-only
/* Orders to a worker, and its report when it fails: shared by the tests and by the stand-in for
 * another host. */
#include <errno.h>
#include <unistd.h>

#include "bench/run.h"

int worker_fail(const struct run *r, enum io rc, const char *what, struct err *e)
{
	const char *who = r->role == ROLE_CLIENT ? "client" : "server",
		   *other = r->role == ROLE_CLIENT ? "server" : "client";

	if (rc == IO_CLOSED)
		return err_peer(
			e, "%s %s: the %s closed the connection; see why it ended, and run again",
			who, what, other);
	if (rc == IO_LOST)
		return err_peer(e, "%s %s: no answer from the %s; give a longer --timeout", who,
				what, other);
	return err_sys(e, errno == EMSGSIZE || errno == ENOBUFS ? EXIT_NO_RESOURCE : EXIT_PEER,
		       errno == EMSGSIZE || errno == ENOBUFS
			       ? "give a smaller --size or a larger --sndbuf"
			       : NULL,
		       "%s %s", who, what);
}

bool order_read(int fd, struct order_msg *o)
{
	ssize_t n;

	do
		n = read(fd, o, sizeof(*o));
	while (n < 0 && errno == EINTR);
	return n == sizeof(*o);
}
