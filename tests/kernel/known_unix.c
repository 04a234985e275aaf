// SPDX-License-Identifier: GPL-2.0-only
/* Unix sockets of each type, as connected pairs. */
#include <sched.h>
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

static void pair_at(int fd[2])
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
		die("socketpair");
}

static void stay_on_one_cpu(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		die("sched_setaffinity");
}

static void expect_no_longer_than(struct known *k, const char *role)
{
	struct end *e = end_find(k, role);

	expect_range(k, role, "tx", "sndbuf+idle", 0, e->closed_ns - e->opened_ns);
}

static void close_pair(int fd[2])
{
	close(fd[0]);
	close(fd[1]);
}

/*
 * Freed memory is handed out again last in, first out, for each processor, and both ends of a pair
 * are freed when the second is closed. So with the spare pair freed after the flow's, and a single
 * socket in the place of one of it, the next pair stands where the spare's other end and one end of
 * the flow were, and the one after that where the single and the flow's other end were.
 */
static void mix_with(int spare[2], int next[2][2])
{
	int one;

	close_pair(spare);
	one = socket(AF_UNIX, SOCK_STREAM, 0);
	if (one < 0)
		die("socket");
	pair_at(next[0]);
	close(one);
	pair_at(next[1]);
}

/* Neither what comes after at the same addresses (unless mix=0) nor the time after may change what
 * the flow's ends have. */
static void unix_reuse(struct known *k)
{
	long mix = param(k, "mix", 1);
	int spare[2], next[2][2];

	stay_on_one_cpu();
	pair_at(spare);
	unix_run(k, SOCK_STREAM, flow_params(k, true, 24, 65536, 10));
	if (mix)
		mix_with(spare, next);
	nap_ns(param(k, "after_ms", 300) * NSEC_PER_MSEC);
	expect_no_longer_than(k, "writer");
	expect_no_longer_than(k, "reader");
	if (mix) {
		close_pair(next[0]);
		close_pair(next[1]);
	}
}

const struct known_case unix_cases[] = {
	{ "unix-slow-reader", unix_slow_reader, "the sender sleeps: type=stream|dgram|seqpacket n "
		"size nap_ms" },
	{ "unix-slow-writer", unix_slow_writer, "the receiver sleeps: type=stream|dgram|seqpacket "
		"n size nap_ms" },
	{ "unix-reuse", unix_reuse, "pairs where others were: n size nap_ms mix after_ms" },
	{ NULL }
};
