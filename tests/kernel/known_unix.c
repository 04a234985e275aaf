// SPDX-License-Identifier: GPL-2.0-only
/* Unix sockets of each type, as connected pairs. */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "known.h"

struct unix_ends {
	int fd[2];
	struct flow flow;
	struct end *reader;
};

static void unix_reader(struct known *k, void *arg)
{
	struct unix_ends *u = arg;

	if (!k->threads)
		close(u->fd[0]);
	end_here(u->reader, u->fd[1]);
	flow_reader(k, u->reader, u->fd[1], &u->flow);
	meet(k);
	close(u->fd[1]);
	end_gone(u->reader);
}

static void unix_run(struct known *k, int type, struct flow f)
{
	struct end *w = end_new(k, "writer", "unix");
	struct unix_ends u = { .flow = f };

	u.reader = end_new(k, "reader", "unix");
	u.flow.whole = type != SOCK_STREAM;
	if (socketpair(AF_UNIX, type, 0, u.fd))
		die("socketpair");
	other_side(k, unix_reader, &u);
	if (!k->threads)
		close(u.fd[1]);
	end_here(w, u.fd[0]);
	flow_writer(k, w, u.fd[0], &u.flow);
	meet(k);
	close(u.fd[0]);
	end_gone(w);
	join_other_side(k);
	flow_expect(k, &u.flow);
}

static int unix_type(struct known *k)
{
	const char *type = param_text(k, "type", "stream");

	if (!strcmp(type, "stream"))
		return SOCK_STREAM;
	if (!strcmp(type, "dgram"))
		return SOCK_DGRAM;
	if (!strcmp(type, "seqpacket"))
		return SOCK_SEQPACKET;
	die("type=%s: expected stream, dgram or seqpacket", type);
}

/* 64 KiB: three fit the send buffer; a stream's write then ends only when most of its bytes do. */
static void unix_slow_reader(struct known *k)
{
	unix_run(k, unix_type(k), flow_params(k, true, 24, 65536, 10));
}

static void unix_slow_writer(struct known *k)
{
	unix_run(k, unix_type(k), flow_params(k, false, 20, 4096, 10));
}

const struct known_case unix_cases[] = {
	{ "unix-slow-reader", unix_slow_reader, "the sender sleeps: type=stream|dgram|seqpacket n size nap_ms" },
	{ "unix-slow-writer", unix_slow_writer, "the receiver sleeps: type=stream|dgram|seqpacket n size nap_ms" },
	{ NULL }
};
