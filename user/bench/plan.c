// SPDX-License-Identifier: GPL-2.0-only
/* Turns options into a plan: resolves defaults, refuses what cannot work before anything runs. */
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "bench/run.h"
#include "bench/tune.h"
#include "bench/rpc_overhead.h"
#include "base/array.h"

enum {
	OUTSTANDING_BYTES = 64 << 10,
	UNIX_SNDBUF = 212992, /* net.core.wmem_default as the kernel has it */
	UNIX_ANSWER = 1024,
	UNIX_QUEUE = 10, /* net.unix.max_dgram_qlen, as the kernel has it */
};

static int parse_tests(const char *list, unsigned int *mask, struct err *e)
{
	char copy[128], *rest = copy, *word;
	const char *names[TESTS], *near;

	for (int t = 0; t < TESTS; t++)
		names[t] = test_name((enum test)t);
	*mask = 0;
	snprintf(copy, sizeof(copy), "%s", list ? list : "latency,throughput");
	while ((word = strsep(&rest, ","))) {
		int t = 0;

		while (t < TESTS && strcmp(word, names[t]))
			t++;
		near = nearest_word(word, names, TESTS);
		if (t == TESTS)
			return err_usage(
				e,
				"--test '%s': unknown; %s%s%s latency, throughput, oneway, connect",
				word, near ? "did you mean '" : "give some", near ? near : "",
				near ? "'? Known:" : " of");
		*mask |= 1u << t;
	}
	return 0;
}

/* The first two CPUs we may run on. */
static void allowed_cpus(int cpu[2], int *n)
{
	cpu_set_t set;

	*n = 0;
	if (sched_getaffinity(0, sizeof(set), &set))
		return;
	for (int i = 0; i < CPU_SETSIZE && *n < 2; i++)
		if (CPU_ISSET(i, &set))
			cpu[(*n)++] = i;
}

static int check_cpu(int cpu, struct err *e)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) || (cpu < CPU_SETSIZE && CPU_ISSET(cpu, &set)))
		return 0;
	return err_resource(e,
			    "--cpus %d: no such CPU, or not one this process may use; this machine "
			    "has %ld online",
			    cpu, sysconf(_SC_NPROCESSORS_ONLN));
}

static int place_given(struct bench_plan *p, struct err *e)
{
	bool same = p->o.cpus.a == p->o.cpus.b;

	if (check_cpu(p->o.cpus.a, e) || check_cpu(p->o.cpus.b, e))
		return -1;
	if (p->placement == PLACE_AUTO)
		p->placement = same ? PLACE_SAME : PLACE_CROSS;
	if (p->placement == PLACE_NONE)
		return err_usage(
			e,
			"--placement none with --cpus: they contradict each other; leave one out");
	if (same != (p->placement == PLACE_SAME))
		return err_usage(e,
				 "--placement %s with --cpus %d,%d: that is %s; give one of them",
				 placement_name(p->placement), p->o.cpus.a, p->o.cpus.b,
				 same ? "one CPU" : "two CPUs");
	p->cpus[ROLE_CLIENT] = p->o.cpus.a;
	p->cpus[ROLE_SERVER] = p->o.cpus.b;
	return 0;
}

/* The other end is on another host, and so are its CPUs. */
static int place_one(struct bench_plan *p, struct err *e)
{
	enum role role = p->o.serving ? ROLE_SERVER : ROLE_CLIENT;
	int asked = p->o.serving ? p->o.cpus.b : p->o.cpus.a, cpu[2] = { -1, -1 }, n;

	if (p->placement == PLACE_SAME)
		return err_usage(e, "--placement same with --connect: two hosts share no CPU; give "
				    "none, cross, cross-awake or spin");
	if (asked >= 0 && p->placement == PLACE_NONE)
		return err_usage(
			e,
			"--placement none with --cpus: they contradict each other; leave one out");
	if (asked >= 0 && check_cpu(asked, e))
		return -1;
	if (p->placement == PLACE_AUTO)
		p->placement = asked >= 0 ? PLACE_CROSS : PLACE_NONE;
	allowed_cpus(cpu, &n);
	p->cpus[role] = asked >= 0 ? asked : p->placement == PLACE_NONE ? -1 : cpu[0];
	return 0;
}

static int place(struct bench_plan *p, struct err *e)
{
	int cpu[2] = { -1, -1 }, n;

	p->placement = (enum placement)p->o.placement;
	p->cpus[0] = p->cpus[1] = -1;
	if (p->o.connect || p->o.serving)
		return place_one(p, e);
	if (p->o.cpus.a >= 0)
		return place_given(p, e);
	if (p->placement == PLACE_NONE)
		return 0;
	if (p->placement == PLACE_AUTO)
		p->placement = PLACE_SAME;
	allowed_cpus(cpu, &n);
	if (p->placement != PLACE_SAME && n < 2)
		return err_resource(e,
				    "--placement %s: needs two CPUs and this process may use %d; "
				    "give --placement same",
				    placement_name(p->placement), n);
	p->cpus[ROLE_CLIENT] = cpu[0];
	p->cpus[ROLE_SERVER] = p->placement == PLACE_SAME ? cpu[0] : cpu[1];
	return 0;
}

#define RPCS  "grpc, grpc-unix, thrift"
#define TCPS  "tcp, grpc, thrift"
#define INETS "tcp, udp, rudp, grpc, thrift"

/* Options that belong to some workloads only, one row each. */
static int check_belonging(const struct bench_plan *p, struct err *e)
{
	const struct bench_options *o = &p->o;
	const struct {
		bool given;
		unsigned int needs;
		const char *flag, *has_it;
	} rows[] = {
		{ o->v6, WL_INET, "-6", INETS },
		{ o->nodelay, WL_TCP, "--nodelay", TCPS },
		{ o->nagle, WL_TCP, "--nagle", TCPS },
		{ o->cork, WL_TCP, "--cork", TCPS },
		{ o->quickack, WL_TCP, "--quickack", TCPS },
		{ o->more, WL_TCP, "--more", TCPS },
		{ o->mss != 0, WL_TCP, "--mss", TCPS },
		{ o->cc != NULL, WL_TCP, "--cc", TCPS },
		{ o->delack_max != 0, WL_TCP, "--delack-max", TCPS },
		{ o->pacing != 0, WL_TCP, "--pacing", TCPS },
		{ o->sndbuf != 0, WL_SOCKET, "--sndbuf", "the sockets" },
		{ o->rcvbuf != 0, WL_SOCKET, "--rcvbuf", "the sockets" },
		{ o->payload != RPC_STRING, WL_RPC, "--payload", RPCS },
		{ o->transport != RPC_BUFFERED, WL_RPC, "--transport", "thrift" },
		{ o->nagle_end != NAGLE_BOTH, WL_RPC, "--nagle-end", RPCS },
		{ o->unoptimised, WL_RPC, "--unoptimised", RPCS },
		{ o->rto != RTO_NS, WL_RELIABLE, "--rto", "rudp" },
		{ o->window != 1, WL_RELIABLE, "--window", "rudp" },
		{ o->drop > 0, WL_RELIABLE, "--drop", "rudp" },
		{ o->connect != NULL, WL_INET, "--connect", INETS },
		{ o->pipe_size != 0, WL_PIPE, "--pipe-size", "pipe" },
		{ o->link != NULL, WL_INET, "--link", INETS },
		{ o->port != 0, WL_INET, "--port", INETS },
		{ p->tests >> TEST_CONNECT & 1, WL_CONNECT, "--test connect", "tcp, unix" },
		{ p->pattern.kind != PATTERN_SINGLE, WL_STREAM, "--pattern",
			"streams: tcp, unix, socketpair, pipe" },
		{ o->engine == ENGINE_MMSG || o->engine == ENGINE_GSO, engines[o->engine].needs,
			"this --engine", "udp" },
		{ o->engine == ENGINE_SPLICE || o->engine == ENGINE_VMSPLICE,
			engines[o->engine].needs, "this --engine", "pipe" },
		{ o->engine == ENGINE_ZEROCOPY, engines[o->engine].needs, "this --engine", "tcp" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].given && !(p->w->flags & rows[i].needs))
			return err_usage(e,
					 "%s with --mode %s: belongs to %s; leave one of them out",
					 rows[i].flag, p->w->name, rows[i].has_it);
	return 0;
}

enum { MSS_LEAST = 88, MSS_MOST = 32767 }; /* do_tcp_setsockopt(): TCP_MIN_MSS, MAX_TCP_WINDOW */

/* Options that exclude each other, and the message that says why. */
struct conflict {
	bool clash;
	const char *text;
};

static int first_clash(const struct conflict *rows, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].clash)
			return err_usage(e, "%s", rows[i].text);
	return 0;
}

#define FIRST_CLASH(rows, e) first_clash(rows, sizeof(rows) / sizeof((rows)[0]), e)

static bool is_bulk(const struct bench_plan *p)
{
	return p->tests >> TEST_THROUGHPUT & 1 && p->o.ack == ACK_FINAL;
}

static int check_schedule(const struct bench_plan *p, struct err *e)
{
	const struct bench_options *o = &p->o;
	const struct conflict rows[] = {
		{ o->count && o->bytes, "--count with --bytes: both say how much; give one" },
		{ o->rate > 0 && o->outstanding > 1, "--rate with --outstanding: a schedule has no "
			"window; give one" },
		{ o->rate > 0 && is_bulk(p), "--rate with bulk throughput: bulk has no schedule; "
			"give --test latency or oneway" },
		{ o->rate > 0 && p->tests >> TEST_CONNECT & 1,
			"--rate with --test connect: connects are made one after the other; leave "
			"--rate out" },
		{ o->outstanding > 1 && is_bulk(p) && !(p->tests & ~(1u << TEST_THROUGHPUT)),
			"--outstanding with one final ack: no answer is awaited; give --ack "
			"message" },
		{ o->outstanding > 1 && p->tests >> TEST_ONEWAY & 1,
			"--outstanding with --test oneway: one-way time is measured one message "
			"at a time; give --rate to load the path" },
		{ o->outstanding > 1 && p->w->flags & WL_LOSSY,
			"--outstanding with udp: a lost answer cannot be told from a late one; use "
			"a stream, or --rate with --test oneway" },
	};

	return FIRST_CLASH(rows, e);
}

static int check_reliable(const struct bench_plan *p, struct err *e)
{
	const struct bench_options *o = &p->o;
	bool rudp = p->w->flags & WL_RELIABLE;
	const struct conflict rows[] = {
		{ rudp && p->tests >> TEST_ONEWAY & 1, "--test oneway with rudp: a repeated "
						       "packet has no single one-way time; give "
						       "--test latency" },
		{ rudp && o->rate > 0, "--rate with rudp: a message starts when the window has "
			"room; leave --rate out" },
		{ rudp && o->outstanding > 1, "--outstanding with rudp: its window limits what "
					      "is under way; give --window" },
		{ rudp && o->ack == ACK_MESSAGE, "--ack message with rudp: the protocol "
			"acknowledges each packet itself; leave it out" },
		{ rudp && o->reader_pause, "--reader-pause with rudp: the protocol itself "
					   "reads; leave out --reader-pause" },
	};

	return FIRST_CLASH(rows, e);
}

static int check_calls(const struct bench_plan *p, struct err *e)
{
	const struct bench_options *o = &p->o;
	bool rpc = p->w->flags & WL_RPC;
	const struct conflict rows[] = {
		{ rpc && p->tests >> TEST_ONEWAY & 1, "--test oneway with calls: a call always "
						      "has an answer; give --test latency" },
		{ rpc && o->ack == ACK_MESSAGE, "--ack message with calls: their throughput is a "
			"stream, and a call for each message is --test latency; leave it out" },
		{ rpc && o->rate > 0, "--rate with calls: one follows the other; leave --rate "
			"out" },
		{ rpc && o->outstanding > 1, "--outstanding with calls: one follows the other; "
			"leave it out" },
		{ o->nagle_end != NAGLE_BOTH && !o->nagle, "--nagle-end without --nagle: "
			"TCP_NODELAY is set at both ends then; give --nagle too" },
		{ rpc && (o->cork || o->quickack), "--cork or --quickack with calls: the library "
			"reads and writes by itself; leave it out" },
		{ rpc && o->placement == PLACE_SPIN, "--placement spin with calls: the library "
			"waits in its own way; give --placement cross" },
		{ rpc && o->reader_pause, "--reader-pause with calls: the library reads by "
			"itself; leave the pause out" },
		{ rpc && o->engine != ENGINE_PLAIN, "--engine with calls: the library writes by "
			"itself; leave it out" },
		{ rpc && o->payload != RPC_STRING && p->tests >> TEST_THROUGHPUT & 1,
			"--test throughput with this --payload: a stream carries strings; give "
			"--payload string" },
	};

	return FIRST_CLASH(rows, e);
}

static int check_engine(const struct bench_plan *p, struct err *e)
{
	const struct bench_options *o = &p->o;
	bool other = o->engine != ENGINE_PLAIN;
	const struct conflict rows[] = {
		{ o->placement == PLACE_SPIN && p->tests >> TEST_CONNECT & 1,
			"--placement spin with --test connect: accept() sleeps; give --placement "
			"cross" },
		{ other && (o->ack == ACK_MESSAGE || p->tests != 1u << TEST_THROUGHPUT),
			"--engine other than plain: it serves bulk throughput only; give --test "
			"throughput without --ack message" },
		{ other && p->pattern.kind != PATTERN_SINGLE,
			"--engine with --pattern: an engine writes in its own way; leave one "
			"out" },
		{ other && o->placement == PLACE_SPIN,
			"--engine with --placement spin: only plain calls can spin; give "
			"--placement cross" },
		{ other && o->reader_pause,
			"--reader-pause with --engine: an engine reads in its own way; leave "
			"one out" },
	};

	return FIRST_CLASH(rows, e);
}

static int check_traced(const struct bench_plan *p, struct err *e)
{
	const struct bench_options *o = &p->o;
	bool recording = o->timeline || o->perfetto;
	const struct conflict rows[] = {
		{ recording && !o->trace,
			"--timeline or --perfetto with --no-trace: nothing would be recorded; give "
			"one" },
		{ o->backend && !o->trace, "--backend with --no-trace: nothing is traced; give "
			"one" },
		{ recording && o->ab, "--timeline or --perfetto with --ab: the recording would "
				      "add to the measured cost; leave one out" },
		{ o->ab && !o->trace, "--ab with --no-trace: there is no cost to measure; give "
			"one" },
		{ o->nist && !o->trace, "--nist with --no-trace: the stopwatch needs the "
					"ledger; leave one out" },
		{ o->ab && o->connect, "--ab with --connect: the other end's CPU time is on "
			"another host; leave one out" },
	};

	return FIRST_CLASH(rows, e);
}

static int check_ends(const struct bench_plan *p, struct err *e)
{
	const struct bench_options *o = &p->o;
	const struct conflict rows[] = {
		{ o->nodelay && o->nagle, "--nodelay with --nagle: they contradict each other; "
					  "leave one out" },
		{ o->more && p->pattern.kind == PATTERN_SINGLE,
			"--more with one write a message: there is no write to follow; give "
			"--pattern header, trailer or chunks=N" },
		{ o->tuned && o->connect, "--tuned with --connect: the trials set this host's "
			"buffers only; give --sndbuf, --rcvbuf and --cc" },
		{ o->tuned && p->tests == 1u << TEST_CONNECT,
			"--tuned with --test connect: buffers and windows play no part there; "
			"leave it out" },
		{ o->key && !o->connect, "--key without --connect: there is no server to prove it "
			"to; leave it out" },
		{ o->connect && o->link, "--connect with --link: one goes to another host, the "
			"other stays on this one; give one" },
		{ o->mss && (o->mss < MSS_LEAST || o->mss > MSS_MOST),
			"--mss: the kernel takes 88 to 32767; give one of these, or 0 to leave it "
			"alone" },
		{ o->repeat && o->json_schema, "--repeat with --json-schema: one runs, the other "
			"does not; give one" },
	};

	return FIRST_CLASH(rows, e);
}

static int check_conflicts(const struct bench_plan *p, struct err *e)
{
	return check_ends(p, e) || check_schedule(p, e) || check_reliable(p, e) ||
			       check_calls(p, e) || check_engine(p, e) || check_traced(p, e)
		       ? -1
		       : 0;
}

/* K messages are sent before an answer is read. A Unix socket charges each answer, even of one
 * byte, with a buffer of its own (SKB_TRUESIZE(), 768 bytes), and a datagram's receiver queues no
 * more than max_dgram_qlen. Beyond that the answering end blocks, and then the asking end too. */
static int64_t outstanding_most(const struct bench_plan *p)
{
	int64_t room = p->o.sndbuf ? product(2, p->o.sndbuf) : UNIX_SNDBUF,
		most = room / UNIX_ANSWER;
	long queue = UNIX_QUEUE;
	FILE *f;

	if (!(p->w->flags & WL_DATAGRAM) || p->w->pair_type == SOCK_SEQPACKET)
		return most;
	f = fopen("/proc/sys/net/unix/max_dgram_qlen", "re");
	if (f && fscanf(f, "%ld", &queue) != 1)
		queue = UNIX_QUEUE;
	if (f)
		fclose(f);
	return queue < most ? queue : most;
}

static int check_outstanding(const struct bench_plan *p, struct err *e)
{
	int64_t most = outstanding_most(p);

	if (p->o.outstanding < 2 || !(p->w->flags & WL_SOCKET) || p->w->flags & WL_INET ||
	    p->o.outstanding <= most)
		return 0;
	return err_usage(e,
			 "--outstanding %lld with --mode %s: so many answers find no room, and "
			 "both ends would block each other; give %lld at most%s",
			 (long long)p->o.outstanding, p->w->name, (long long)most,
			 p->o.sndbuf ? ", or a larger --sndbuf" : "");
}

int bench_plan_check_point(const struct bench_plan *plan, enum test t, int64_t size, struct err *e)
{
	const struct pattern *p = &plan->pattern;

	if (t == TEST_CONNECT)
		return 0;
	if ((p->kind == PATTERN_HEADER || p->kind == PATTERN_TRAILER) && size <= p->bytes)
		return err_usage(e,
				 "--size %lld with --pattern of %lld bytes: nothing would be left "
				 "for the body; give larger sizes",
				 (long long)size, (long long)p->bytes);
	if (plan->o.engine == ENGINE_MMSG && size > 65507)
		return err_usage(e,
				 "--engine mmsg with --size %lld: one datagram at most, 65507 "
				 "bytes; give smaller sizes",
				 (long long)size);
	if (plan->w->max_message && (uint64_t)size > plan->w->max_message)
		return err_usage(
			e, "--size %lld with --mode %s: the most is %zu bytes; give smaller sizes",
			(long long)size, plan->w->name, plan->w->max_message);
	if (t == TEST_LATENCY && plan->o.outstanding > 1 &&
	    product(plan->o.outstanding, size) > OUTSTANDING_BYTES)
		return err_usage(e,
				 "--outstanding %lld at size %lld: questions and answers of more "
				 "than 64K under way would block each other; give fewer, or --test "
				 "throughput --ack message",
				 (long long)plan->o.outstanding, (long long)size);
	if (t != TEST_THROUGHPUT && plan->o.bytes / (size ? size : 1) > 1 << 24)
		return err_usage(e, "--bytes: more than %d messages of %lld bytes; give fewer",
				 1 << 24, (long long)size);
	return 0;
}

static int check_points(const struct bench_plan *p, struct err *e)
{
	if (check_outstanding(p, e))
		return -1;
	for (int t = 0; t < TESTS; t++)
		for (size_t i = 0; p->tests >> t & 1 && i < p->o.sizes.n; i++)
			if (bench_plan_check_point(p, (enum test)t, p->o.sizes.v[i], e))
				return -1;
	return 0;
}

static int find_workload(struct bench_plan *p, struct err *e)
{
	if (p->o.mode < 0)
		return err_usage(
			e, "--mode: missing; give one of pipe, socketpair, unix, unix-seqpacket, "
			   "unix-dgram, tcp, udp, rudp, grpc, grpc-unix, thrift");
	p->w = workloads[p->o.mode];
	return 0;
}

static void to_workload_options(const struct bench_plan *p, struct workload_options *wo)
{
	*wo = (struct workload_options){ .v6 = p->o.v6,
					 .engine = (enum engine)p->o.engine,
					 .spin = p->placement == PLACE_SPIN,
					 .cc = p->o.cc,
					 .transport = (enum rpc_transport)p->o.transport,
					 .unoptimised = p->o.unoptimised,
					 .mss = p->o.mss };
}

/* An int, a double and a structure have one size each, and no stream carries them. */
static void fixed_payload(struct bench_plan *p)
{
	static int64_t sizes[RPC_STRUCT + 1];
	int64_t size = (int64_t)rpc_payload_size((enum rpc_payload)p->o.payload);

	if (!size)
		return;
	sizes[p->o.payload] = size;
	p->o.sizes = (struct size_list){ &sizes[p->o.payload], 1 };
	if (!p->o.tests)
		p->tests = 1u << TEST_LATENCY;
}

int bench_plan(const struct bench_options *o, struct bench_plan *p, struct err *e)
{
	struct workload_options wo;

	*p = (struct bench_plan){ .o = *o, .link = LINK_NONE, .warmup_ns = BENCH_WARMUP_NS };
	if (find_workload(p, e) || parse_tests(o->tests, &p->tests, e) ||
	    pattern_parse(o->pattern ? o->pattern : "single", &p->pattern, e))
		return -1;
	fixed_payload(p);
	if (!o->tests && o->engine != ENGINE_PLAIN) /* an engine can only do throughput */
		p->tests = 1u << TEST_THROUGHPUT;
	if (check_belonging(p, e) || check_conflicts(p, e) || place(p, e) || check_points(p, e))
		return -1;
	if (o->link && link_parse(o->link, &p->link_spec, e))
		return -1;
	to_workload_options(p, &wo);
	return p->w->validate ? p->w->validate(&wo, e) : 0;
}

int bench_setup(struct bench_plan *plan, const struct far_end_ops *far_end, struct err *e)
{
	tick_clock_init(&plan->clock, TICK_CALIBRATE_NS);
	if (plan->o.connect)
		return (plan->far_end = far_end)->open(plan, e);
	if (!plan->o.link || link_is_plain(&plan->link_spec))
		return 0;
	if (link_up(&plan->link_spec, &plan->link, e))
		return -1;
	plan->has_link = true;
	return 0;
}

void bench_teardown(struct bench_plan *plan)
{
	if (plan->remote)
		plan->far_end->close(plan);
	if (plan->has_link)
		link_down(&plan->link);
	plan->has_link = false;
}

uint64_t bench_point_ns(const struct bench_plan *plan)
{
	return (uint64_t)plan->o.duration + 150000000 + bench_tuning_ns(plan) +
	       rpc_overhead_ns(plan);
}
