// SPDX-License-Identifier: GPL-2.0-only
/* The benchmark's options, one row each. */
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "bench/bench.h"
#include "workloads/rpc.h"

static const char *const placements[] = { "auto", "same", "cross", "cross-awake", "spin", "none",
	NULL };
static const char *const acks[] = { "final", "message", NULL };
static const char *const backends[] = { "auto", "fentry", "kprobe", "rawtp", NULL };
static const char *const colours[] = { "auto", "always", "never", NULL };
static const char *const engines[] = { "plain", "mmsg", "gso", "splice", "vmsplice", "zerocopy",
	NULL };
/* hints for completion; other values are allowed */
static const char *const test_words[] = { "latency", "throughput", "latency,throughput", "oneway",
	"connect", NULL };
static const char *const link_words[] = { "lo", "veth", "bridge", NULL };
static const char *const pattern_words[] = { "single", "header", "trailer", "chunks=", NULL };
static const char *const cc_words[] = { "cubic", "reno", "bbr", NULL };

#define AT(field) offsetof(struct bench_options, field)
#define GIB	  (1024.0 * 1024 * 1024)

const struct opt bench_option_rows[] = {
	OPT_HEAD("What to run"),
	{ OPT_ENUM, 'm', "mode", "MODE", "pipe, socketpair, unix, unix-seqpacket, unix-dgram, tcp, "
		"udp, rudp, grpc, grpc-unix or thrift", AT(mode), 0, 0, workload_names },
	{ OPT_FLAG, '6', "ipv6", NULL, "tcp, udp: over IPv6", AT(v6) },
	{ OPT_SIZES, 0, "size", "LIST", "message sizes: 64K, 4,16,64 or a range 1400:9000:+4, "
		"4:512K:*2 (default: 4 B to 512 KiB, ten sizes)", AT(sizes) },
	{ OPT_STRING, 't', "test", "LIST", "what to measure: latency, throughput, "
					   "oneway, connect (default: "
					   "latency,throughput)", AT(tests), 0, 0, test_words },
	{ OPT_STRING, 0, "pattern", "PATTERN", "how a message is written: single, header[=16], "
		"trailer[=4] (two writes) or chunks=N (a message of N or less is one write)",
		AT(pattern), 0, 0, pattern_words },
	{ OPT_ENUM, 0, "ack", "WHEN", "throughput: final (bulk, one ack at the end) or message "
		"(the application acknowledges each with one byte)", AT(ack), 0, 0, acks },
	{ OPT_INT, 0, "outstanding", "K", "messages sent before waiting for an answer (default "
					  "1); if more than one, the first and the last K "
					  "messages are not timed",
		AT(outstanding), 1, 4096 },
	{ OPT_RATE, 0, "rate", "N", "messages per second on a fixed schedule; each is "
				    "timed from its scheduled start", AT(rate), 0, 1e7 },
	{ OPT_STRING, 'L', "link", "SPEC",
		"tcp, udp: over a virtual link made for the run: lo, veth or bridge, with "
		"keys, as in veth,rate=100mbit,delay=10ms (`ipcstall bench --help` "
		"lists the keys)", AT(link), 0, 0,
		link_words },
	{ OPT_STRING, 'C', "connect", "HOST[:PORT]", "tcp, udp, rudp: run the other "
						     "end on that host, by its "
						     "'ipcstall server'", AT(connect) },
	{ OPT_STRING, 0, "key", "FILE", "with --connect: the same secret that the "
					"server was given (ipcstall server --key)",
		AT(key), .hidden_from_result = true },
	{ OPT_INT, 0, "port", "N", "tcp, udp: the server's port (default: any free one)", AT(port),
		0, 65535 },
	OPT_HEAD("How much"),
	{ OPT_TIME, 'd', "duration", "TIME", "time for each test at each size", AT(duration), 1e6,
		86400e9 },
	{ OPT_SIZE, 0, "bytes", "BYTES", "instead of a duration: this many bytes in each test",
		AT(bytes), 0, 1024 * GIB },
	{ OPT_INT, 0, "count", "N", "instead of a duration: this many messages in each test",
		AT(count), 0, 1 << 24 },
	{ OPT_INT, 0, "trials", "N", "throughput: cut the run into this many slices, for an "
				     "interval of its rate (default 20); separate runs differ "
				     "more: use sweep --repeats",
		AT(trials), 1, 1000 },
	{ OPT_INT, 0, "warmup", "N", "at least this many messages first, not recorded "
				     "(default 40; 0: none)", AT(warmup), 0, 1000000 },
	{ OPT_TIME, 0, "timeout", "TIME", "give up when an end is silent this much "
					  "longer than expected (default 20s)",
		AT(timeout), 1e8, 86400e9 },
	{ OPT_INT, 0, "seed", "N", "seed of every random choice (default 1)", AT(seed), 0,
		9007199254740992.0 },
	OPT_HEAD("Where"),
	{ OPT_ENUM, 0, "placement", "HOW", "same (one CPU), cross (two), cross-awake "
					   "(two, kept out of idle states), spin (two, "
					   "never sleeping), none, auto (default: "
					   "auto, which is same, or what --cpus "
					   "implies)", AT(placement), 0, 0, placements },
	{ OPT_CPUS, 0, "cpus", "A,B", "the client's CPU and the server's", AT(cpus) },
	OPT_HEAD("Sockets and pipes"),
	{ OPT_FLAG, 0, "nodelay", NULL, "set TCP_NODELAY in every test (default: only in latency "
		"and oneway with single writes)", AT(nodelay) },
	{ OPT_FLAG, 0, "nagle", NULL, "never set TCP_NODELAY", AT(nagle) },
	{ OPT_FLAG, 0, "cork", NULL, "set TCP_CORK and leave it on", AT(cork) },
	{ OPT_FLAG, 0, "quickack", NULL, "set TCP_QUICKACK before each receive", AT(quickack) },
	{ OPT_FLAG, 0, "more", NULL, "set MSG_MORE on every write of a message except the "
		"last", AT(more) },
	{ OPT_SIZE, 0, "sndbuf", "BYTES", "SO_SNDBUF (default: the kernel's own choice)",
		AT(sndbuf), 0, GIB },
	{ OPT_SIZE, 0, "rcvbuf", "BYTES", "SO_RCVBUF (default: the kernel's own choice)",
		AT(rcvbuf), 0, GIB },
	{ OPT_SIZE, 0, "pipe-size", "BYTES", "F_SETPIPE_SZ (default: the kernel's own choice)",
		AT(pipe_size), 0, GIB },
	{ OPT_FLAG, 0, "tuned", NULL, "find the best buffers and congestion control by short "
		"trials of each point, then measure with them", AT(tuned) },
	{ OPT_INT, 0, "mss", "BYTES", "TCP_MAXSEG", AT(mss), 0, 65535 },
	{ OPT_STRING, 0, "cc", "NAME", "TCP_CONGESTION: cubic, reno, bbr ...", AT(cc), 0, 0,
		cc_words },
	{ OPT_TIME, 0, "delack-max", "TIME", "TCP_DELACK_MAX_US: withhold an acknowledgement for "
		"at most this time", AT(delack_max), 0, 2e8 },
	{ OPT_SIZE, 0, "pacing", "BYTES", "SO_MAX_PACING_RATE, bytes a second (default: none)",
		AT(pacing), 0, 4294967295.0 },
	{ OPT_TIME, 0, "reader-pause", "TIME", "the server is busy elsewhere this long before each "
		"receive (default 0)", AT(reader_pause), 0, 1e9 },
	{ OPT_ENUM, 'E', "engine", "ENGINE", "plain, mmsg or gso (udp), splice or vmsplice (pipe), "
		"zerocopy (tcp)", AT(engine), 0, 0, engines },
	OPT_HEAD("Reliable UDP (rudp)"),
	{ OPT_TIME, 0, "rto", "TIME", "send a packet again if it is not acknowledged "
				      "within this time (default 1s)", AT(rto), 1e5, 60e9 },
	{ OPT_INT, 0, "window", "N", "packets in flight, each with its own "
				     "acknowledgement and timer (default 1: stop and "
				     "wait)", AT(window), 1, 4096 },
	{ OPT_REAL, 0, "drop", "PERCENT", "chance that the receiver drops an arrived "
					  "packet, drawn with --seed (default 0)",
		AT(drop), 0, 95 },
	OPT_HEAD("Remote calls (grpc, grpc-unix, thrift)"),
	{ OPT_ENUM, 0, "payload", "WHAT", "what a call sends and returns: string (of "
					  "--size bytes), int, double or struct "
					  "(default string)", AT(payload), 0, 0, rpc_payloads },
	{ OPT_ENUM, 0, "transport", "HOW", "thrift: buffered, framed or unbuffered (a write for "
		"each field; default buffered)", AT(transport), 0, 0, rpc_transports },
	{ OPT_ENUM, 0, "nagle-end", "END", "with --nagle: at both ends, at the client or at the "
		"server only (default both)", AT(nagle_end), 0, 0, rpc_nagle_ends },
	{ OPT_FLAG, 0, "unoptimised", NULL, "use the programs built with -O0 at both ends",
		AT(unoptimised) },
	OPT_HEAD("The stall ledger"),
	{ OPT_FLAG, 0, "trace", NULL, "trace both ends in a second run of each point, "
				      "so that the figures stay undisturbed (default if "
				      "possible; --trace: fail if it is not; --no-trace: "
				      "no ledgers)", AT(trace) },
	{ OPT_ENUM, 0, "backend", "NAME", "auto, fentry, kprobe or rawtp; see `ipcstall check`",
		AT(backend), 0, 0, backends },
	{ OPT_FLAG, 0, "ab", NULL, "measure the tool's own cost: slices of each test "
				   "with tracing off, on, and on for other processes, "
				   "in turn", AT(ab) },
	{ OPT_FLAG, 0, "nist", NULL, "print each sender's stall by NIST's three stall points "
		"instead of whole ledgers",
		AT(nist) },
	OPT_HEAD("Output"),
	{ OPT_STRING, 'j', "json", "FILE", "the result as one JSON document (-: standard output, "
		"without the table)", AT(json), .hidden_from_result = true },
	{ OPT_STRING, 0, "csv", "FILE", "one line for each point (-: standard output, without the "
					"table)",
		AT(csv), .hidden_from_result = true },
	{ OPT_STRING, 0, "raw", "FILE", "every sample, one on each line", AT(raw),
		.hidden_from_result = true },
	{ OPT_STRING, 0, "timeline", "FILE", "every change of state of the traced run, to be "
		"drawn: ipcstall figure timeline FILE", AT(timeline), .hidden_from_result = true },
	{ OPT_STRING, 0, "perfetto", "FILE", "the same as trace events, for ui.perfetto.dev or "
		"chrome://tracing", AT(perfetto), .hidden_from_result = true },
	{ OPT_FLAG, 0, "mean", NULL, "show the mean too, in the tables of times", AT(mean),
		.hidden_from_result = true },
	{ OPT_FLAG, 0, "ledger", NULL, "show whole ledgers: every state of every endpoint",
		AT(ledger), .hidden_from_result = true },
	{ OPT_ENUM, 0, "color", "WHEN", "auto (on a terminal, unless NO_COLOR is set), always or "
		"never", AT(colour), 0, 0, colours, .hidden_from_result = true },
	{ OPT_FLAG, 0, "progress", NULL, PROGRESS_HELP, AT(progress), .hidden_from_result = true },
	{ OPT_FLAG, 'q', "quiet", NULL, "no table, no progress", AT(quiet),
		.hidden_from_result = true },
	{ OPT_STRING, 0, "repeat", "FILE", "repeat the run that this result file describes",
		AT(repeat), .hidden_from_result = true },
	{ OPT_FLAG, 0, "json-schema", NULL, "print the schema of the result and exit",
		AT(json_schema), .hidden_from_result = true },
	OPT_END,
};

static const int64_t seed_sizes[] = { 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 524288 };

void bench_defaults(void *opts)
{
	struct bench_options *o = opts;

	*o = (struct bench_options){
		.mode = -1,
		.outstanding = 1,
		.cpus = { -1, -1 },
		.trials = 20,
		.warmup = 40,
		.duration = 1000000000,
		.timeout = 20000000000,
		.seed = 1,
		.trace = true,
		.rto = RTO_NS,
		.window = 1,
	};
	o->sizes.v = malloc(sizeof(seed_sizes));
	if (!o->sizes.v)
		return;
	memcpy(o->sizes.v, seed_sizes, sizeof(seed_sizes));
	o->sizes.n = sizeof(seed_sizes) / sizeof(seed_sizes[0]);
}

/* For these options 0 means "not given", so 0 cannot be asked for as an amount. */
int bench_check_given(const struct bench_options *o, const struct opt_operands *given,
		      struct err *e)
{
	const struct {
		const char *name;
		int64_t v;
	} amounts[] = { { "count", o->count }, { "bytes", o->bytes } };

	if (opt_given(given, "size") && rpc_payload_size((enum rpc_payload)o->payload))
		return err_usage(
			e, "--size with --payload %s: that has a size of its own; leave one out",
			rpc_payloads[o->payload]);

	for (size_t i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++) {
		if (!opt_given(given, amounts[i].name))
			continue;
		if (!amounts[i].v)
			return err_usage(e, "--%s 0: nothing would be sent; give 1 or more",
					 amounts[i].name);
		if (opt_given(given, "duration"))
			return err_usage(e, "--duration with --%s: both say how much; give one",
					 amounts[i].name);
	}
	return 0;
}

const char *placement_name(enum placement p)
{
	return placements[p];
}
