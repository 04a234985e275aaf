/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tracer's interface to the rest of the program: plain C, nothing of libbpf.
 *
 *	prepare   choose a backend, load the programs (nothing runs yet)
 *	start     attach them
 *	snapshot  every endpoint's ledger up to now; two snapshots subtract exactly
 *	stop      detach; may be started again
 *	finish    free
 *
 * Nothing is pinned: a killed process leaves nothing behind.
 */
#ifndef IPCSTALL_TRACER_TRACE_H
#define IPCSTALL_TRACER_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/err.h"
#include "bpf/causes.h"
#include "tracer/figure_rows.h"

#define TRACE_STATES 11 /* of a ledger; tx has TX_N, rx RX_N */
#define TRACE_HIST   24 /* slot 0: < 1 us; slot k: [2^(k-1), 2^k) us; the last is open */
#define TRACE_SLOT_DELACK \
	16 /* the slot of 40 ms, the delayed-ACK timer's minimum: [32.8, 65.5) ms */
#define TRACE_TGIDS 256
#define TRACE_SPLIT_NS \
	(1ull << 41) /* 37 minutes: a state that lasts longer is split into several episodes, and \
			`max` is that of a piece */
#define TRACE_VOTES 8

enum trace_backend {
	TRACE_AUTO,
	TRACE_FENTRY,
	TRACE_KPROBE,
	TRACE_RAWTP,
	TRACE_SAMPLED /* chosen by trace_options.budget */,
	TRACE_BACKENDS
};
enum trace_filter { TRACE_FILTER_ALL, TRACE_FILTER_TGIDS, TRACE_FILTER_TREE, TRACE_FILTER_CGROUP };
enum trace_proto {
	TRACE_TCP = 1,
	TRACE_UDP,
	TRACE_UNIX_STREAM,
	TRACE_UNIX_DGRAM,
	TRACE_UNIX_SEQPACKET,
	TRACE_PIPE,
	TRACE_PROTOS
};
enum trace_drop {
	TRACE_DROP_RCVBUF,
	TRACE_DROP_QDISC,
	TRACE_DROP_CHECKSUM,
	TRACE_DROP_OTHER,
	TRACE_DROPS
};
struct trace_stall;
struct trace_transition;
enum trace_timeline { TRACE_TIMELINE_NONE, TRACE_TIMELINE_ALL, TRACE_TIMELINE_ONE };
enum trace_resolution {
	TRACE_UNKNOWN,
	TRACE_BOUNDED,
	TRACE_EXACT,
	TRACE_BY_SAMPLES /* a state's time by samples: struct trace_samples says how sure it is */
};

/* Zero means the default everywhere. */
struct trace_options {
	enum trace_backend backend;
	enum trace_filter filter;
	pid_t tgids[TRACE_TGIDS]; /* TGIDS: these; TREE: also the children they fork from now on */
	size_t n_tgids;
	const char *cgroup; /* path of a cgroup v2 directory: it and all below it */
	bool existing; /* also trace what exists at the start: connections in mid-life, sleeping
			  calls and, with TREE, children */
	uint16_t port_lo, port_hi;  /* either end's port; 0: any */
	unsigned int protos;	    /* 1 << enum trace_proto; 0: all that the backend covers */
	unsigned int max_endpoints; /* 0: 4096 */
	unsigned int max_closed; /* closed endpoints to keep, the most stalled ones; 0: 32768 */
	uint64_t stall_threshold_ns; /* report each stall at least this long; 0: none */
	bool stacks;		     /* take kernel and user stacks at sleeps */
	bool stack_copies;	     /* trace_copy_stack() will be called */
	double budget; /* share of one CPU for samples at jittered instants, with no program on the
			  message path; 0: the ledger */
	bool samples;  /* trace_digests_take() will be called often: the kernel half fills the
			digests if it can */
	bool small_ring; /* fewer records between two readings; 1 MB, mapped twice, instead of 8 */
	enum trace_timeline
		timeline; /* ONE: of the endpoint that trace_timeline_of() names, none before */
	/*
	 * on_stall: a stall at least as long as the threshold. on_transition: a step or mark of the
	 * timeline. Called from trace_snapshot(), trace_poll() and the session's own thread, one at
	 * a time. They must not call functions of this header on the session.
	 */
	void (*on_stall)(void *ctx, const struct trace_stall *stall);
	void (*on_transition)(void *ctx, const struct trace_transition *tr);
	void *ctx;
};

/* Time by state, from birth up to the snapshot. The first TX_N or RX_N entries are used. */
struct trace_ledger {
	uint64_t ns[TRACE_STATES], max[TRACE_STATES];
	uint32_t count[TRACE_STATES];	  /* episodes, including the present one */
	uint8_t resolution[TRACE_STATES]; /* enum trace_resolution */
	uint64_t lifetime_ns;
	int64_t unaccounted_ns; /* lifetime - sum of ns: 0, always */
	unsigned int now;	/* the state at the snapshot */
	uint64_t since_ns;	/* when that state began */
};

/* A bit for each row of figures. */
#define TRACE_FIGURE_WORDS 2

struct trace_figure_set {
	uint64_t bits[TRACE_FIGURE_WORDS];
};

struct trace_call_stats {
	CALL_FIGURES(FIGURE_MEMBER)
	struct trace_figure_set missing; /* the figures that are not known at all: see figure.h */
	bool let_go;	  /* left_ns is set, and the process lives: it closed its descriptor */
	uint64_t left_ns; /* since when process `tgid` has no descriptor of this end while others
			     have one, mostly because it ended; 0: not so */
	pid_t fd_owner;	  /* who has the descriptor since then, or had it last; 0: unknown */
	char fd_owner_comm[16];
};

static inline uint64_t trace_blocked_ns(const struct trace_call_stats *b)
{
	return b->blocked_ns + b->open_sleep_ns;
}

/* TCP counts bytes itself, but not the calls that moved them */
static inline bool trace_messages_known(const struct trace_call_stats *b)
{
	return b->bytes_res == TRACE_EXACT;
}

#define TRACE_FD_OWNER \
	0x7fffffff /* in a vote, in place of a pid: fd_owner of the end's trace_call_stats */

/* A majority vote among the processes at one end: the process that has more than half of some time,
 * if there is one (vote_is_sure()). */
struct trace_who {
	uint64_t lead_ns, sum_ns; /* its lead over all others together; the total */
	pid_t tgid, tid;	  /* 0: nobody; TRACE_FD_OWNER */
	uint32_t second, mixed;	  /* see vote_second(); 1: the voters' names differ */
	char comm[16];
};

/* tx stalls that the other end on this host explains, by tx state */
struct trace_blame {
	uint64_t delack_ns[TRACE_STATES], unread_ns[TRACE_STATES];
	uint32_t delack_n[TRACE_STATES], unread_n[TRACE_STATES];
	uint64_t gathered_ns; /* `nagle` stalls that the writer's own next call ended */
	uint32_t gathered_n, pad;
	uint64_t starved_ns[TRACE_VOTES]; /* by trace_vote(state): the other end's reader was ready
					     to run and had no CPU */
	uint32_t starved_n[TRACE_VOTES];
};

/* What every endpoint of a ledger session has, and few of a sampled one. */
struct trace_detail {
	uint32_t tx_hist[TRACE_STATES][TRACE_HIST], rx_hist[TRACE_STATES][TRACE_HIST];
	struct trace_who held_up[TRACE_VOTES],
		late[TRACE_VOTES]; /* by trace_vote(state): the writer that stalled; the process at
				      the other end that explains it */
};

static inline unsigned int trace_vote(enum tx_state stall)
{
	return stall & (TRACE_VOTES - 1);
}

struct trace_addr {
	uint8_t ip[16]; /* IPv4: the first four bytes */
	uint16_t port;
};

/* The sum of some times in microseconds, and the sum of their squares. */
struct trace_spread {
	uint64_t sum, squares;
};

struct trace_answers {
	ANSWER_FIGURES(FIGURE_MEMBER)
};

struct trace_making {
	MAKING_FIGURES(FIGURE_MEMBER)
};

struct trace_hole {
	HOLE_FIGURES(FIGURE_MEMBER)
};

/* The reason for a part of a state's time, where it is known. A sum of 0: no such part was seen. */
enum trace_part {
	TRACE_PART_DEFERRED = 1,	/* of `pacing`: TSO deferral */
	TRACE_PART_FQ,			/* of `pacing`: in the fq queueing discipline */
	TRACE_PART_TSQ,			/* of `device`: TCP small queues (TSQ) */
	TRACE_PART_AUTOCORK,		/* of `device`: automatic corking */
	TRACE_PARTS
};

struct trace_parts {
	PART_FIGURES(FIGURE_MEMBER)
};

static inline enum tx_state trace_part_of(enum trace_part p)
{
	return p == TRACE_PART_DEFERRED || p == TRACE_PART_FQ ? TX_PACING : TX_DEVICE;
}

struct trace_path {
	PATH_FIGURES(FIGURE_MEMBER)
};

/* What carries the calls or bytes that no hook of this backend sees. */
enum trace_unseen {
	TRACE_UNSEEN_NOT,
	TRACE_UNSEEN_CALLS,
	TRACE_UNSEEN_TLS,
	TRACE_UNSEEN_MPTCP,
	TRACE_UNSEEN_SOCKMAP,
	TRACE_UNSEEN_SMC,
	TRACE_UNSEEN_N
};

struct trace_endpoint {
	uint64_t serial; /* unique in a session, never reused: match snapshots by it */
	uint64_t inode;	 /* 0: unknown */
	uint32_t netns;	 /* inode number */
	enum trace_proto proto;
	int family; /* AF_INET, AF_INET6, AF_UNIX; a pipe: 0 */
	struct trace_addr local, remote;
	bool paired; /* the other end is or was an endpoint too, even if not in this snapshot */
	int peer; /* index of the other end in the same snapshot, -1: remote or not traced; a pipe:
		     itself */
	uint64_t born_ns, at_ns; /* CLOCK_MONOTONIC: first sight; the end of what is counted */
	bool closed;		 /* at_ns is its end */
	bool joined_late;	 /* it existed before it was first seen */
	bool let_go; /* it is `closed` only here: it was idle, and dropped to make room */
	struct trace_ledger tx, rx;
	struct trace_call_stats tx_calls, rx_calls;
	struct trace_blame blame;
	struct trace_detail *detail; /* NULL: all zero; see tracer/endpoint_detail.h */
	TCP_FIGURES(FIGURE_MEMBER)
	QUEUE_FIGURES(FIGURE_MEMBER)
	struct trace_answers answers;
	struct trace_making making;
	struct trace_hole hole;
	struct trace_parts parts;
	struct trace_path path;
	struct trace_figure_set missing; /* as in struct trace_call_stats */
	bool blame_missing;		 /* the whole of `blame` */
	uint8_t unseen[2];		 /* enum trace_unseen: tx, rx */
};

extern const struct trace_detail trace_no_detail;

static inline const struct trace_detail *trace_detail(const struct trace_endpoint *ep)
{
	return ep->detail ? ep->detail : &trace_no_detail;
}

/* At most the phase's `device` time: the wait that a timer ends may have begun before the phase. */
static inline uint64_t trace_undelivered_ns(const struct trace_endpoint *ep)
{
	uint64_t ns = ep->undelivered_ns + ep->open_undelivered_ns;

	return ns < ep->tx.ns[TX_DEVICE] ? ns : ep->tx.ns[TX_DEVICE];
}

/*
 * How well a state is known. If the hooks see only some of the calls, the time seen in a state that
 * a call reveals is a lower bound. No call reveals that nobody is in a call: those states stay
 * unknown.
 */
static inline uint8_t trace_state_resolution(const struct trace_ledger *l, unsigned int state,
					     bool rx)
{
	bool shown = rx ? state == RX_WORK || state == RX_WAIT : state != TX_IDLE;

	return l->resolution[state] == TRACE_UNKNOWN && l->ns[state] && shown
		       ? TRACE_BOUNDED
		       : l->resolution[state];
}

/* Always printed, even when 0. All are 64 bits, in the order of a recording: add new ones at the
 * end. */
struct trace_counters {
	uint64_t observed, lost, unpaired, overflow, contended, reused;
	uint64_t events_lost; /* the part of `lost` that is steps and marks of the timeline */
	uint64_t missed;      /* programs not run because one was running on that CPU */
	uint64_t opened, closed;
	uint64_t dropped; /* closed endpoints no longer kept (see max_closed), and the sums of what
			     they had: */
	uint64_t dropped_tx_bytes, dropped_rx_bytes, dropped_stall_ns, dropped_lifetime_ns;
	struct trace_existing {
		uint64_t made;	 /* sockets and pipes that existed when the session began, and are
				    traced since then */
		uint64_t asleep; /* threads that slept in a call on one of these */
		uint64_t unreadable; /* processes whose descriptors could not be listed: those show
					at their first event */
	} existing;
	uint64_t blind;	      /* times when the kernel ran no program at all on some CPU */
	uint64_t stacks_lost; /* stacks not stored, because their place was taken */
	uint64_t let_go; /* of `closed`: they live, were idle and were dropped to make room */
};

/* The first of the ports that a system assigns by itself (ip_local_port_range). */
#define TRACE_EPHEMERAL_PORT 32768

#define TRACE_SAMPLE_FACTS \
	11 /* enum sample_fact of bpf/record.h: the names are trace_fact_name()'s */
enum {
	TRACE_FACT_UNANSWERED = 5,
	TRACE_FACT_OWES_ANSWER = 7,
	TRACE_FACT_UNPROMPTED = 8,
	TRACE_FACT_UNATTENDED = 9,
	TRACE_FACT_IN_FLIGHT = 10,
};
#define TRACE_CHRONOS	 3

/* The samples of one endpoint of a sampled session. `seen`: how many found each state; `again`:
 * of these, how many came right after a sample that found the same state; `later`: how many came
 * two samples after one. */
struct trace_samples {
	uint64_t key; /* the endpoint's, for trace_sample_again() */
	uint64_t n;
	unsigned int again; /* of `n`: samples that are in no sum of time, see suspects_confirm() */
	uint32_t tx_seen[TRACE_STATES], tx_again[TRACE_STATES], tx_later[TRACE_STATES];
	uint32_t rx_seen[TRACE_STATES], rx_again[TRACE_STATES], rx_later[TRACE_STATES];
	uint32_t fact[TRACE_SAMPLE_FACTS]; /* samples that found the fact */
	double unevenness;		   /* of the gaps between samples, see sampler/interval.h */
	uint64_t chrono_ns[TRACE_CHRONOS]; /* TCP's chronographs, in whole ticks: busy, limited by
					      the peer's window, limited by the send buffer */
	uint32_t writes, earlier_writes; /* to a pipe: between samples; before the first sample */
	uint64_t wrote_after_ns, wrote_by_ns; /* the last of `writes` came between these samples */
	uint32_t full, refilled; /* Unix datagrams: samples with a full queue; of these: refilled */
};

/* What a sampled session did and cost so far. */
struct trace_sampling {
	bool on;
	double budget, rate_hz; /* rate_hz: samples a second, now */
	double part;		/* share of the endpoints in each sample */
	uint64_t samples, endpoint_samples;
	uint64_t samples_cpu_ns,
		find_ns; /* CPU time of sampling; of reading /proc, and of trace_sample_again() */
	uint64_t since_ns;
	uint64_t endpoints; /* that there are now */
};

/*
 * A listening TCP socket. Established connections wait in its accept queue. A connection request
 * that finds the queue full is dropped, and the client repeats it a second later.
 */
struct trace_listener {
	uint64_t inode;
	uint32_t netns;
	int family;
	struct trace_addr local;
	uint64_t born_ns, at_ns;
	bool closed; /* at_ns is its end */
	uint32_t backlog, queue,
		peak;	  /* how many may wait, wait now, waited at most; full: queue > backlog */
	uint64_t dropped; /* requests and connections dropped (sk_drops), mostly because the queue
			     was full */
	uint64_t established, accepted; /* connections of the session; these and the waits are 0
					   if several sockets share the port */
	uint64_t wait_ns, wait_max_ns;	/* of accepted connections: time in the queue */
	pid_t tgid;			/* who accepted last; before any accept: who listens */
	char comm[16];
};

#define TRACE_LISTENERS 48

/* If there are more, the worst are kept: most dropped, then the longest wait. */
struct trace_listeners {
	struct trace_listener v[TRACE_LISTENERS];
	size_t n;
	uint64_t left_out;
};

/* Samples suspect a stall at an endpoint, but a ledger of some seconds found something else. */
struct trace_ruling {
	uint64_t serial;
	unsigned int cause; /* the suspected state, TX_..., and its share of the endpoint's time */
	double share;
	int limit; /* enum limit: what the ledger found instead */
};

/* The memory of a snapshot's details: tracer/endpoint_detail.h. */
struct trace_details {
	struct details_chunk *newest;
	bool no_memory;
};

struct trace_snapshot {
	uint64_t at_ns;
	size_t n;
	struct trace_endpoint *ep; /* with the closed ones, unless forgotten */
	struct trace_details details;
	struct trace_samples *samples; /* by the same index; NULL: not a sampled session */
	struct trace_sampling sampling;
	bool everything; /* neither processes nor ports are filtered */
	struct trace_endpoint *rest; /* by protocol: the sums of the closed endpoints no longer kept
					(counters.dropped); NULL: none */
	struct trace_counters counters;
	struct trace_listeners listeners;
	const int *reverse_endpoints; /* by endpoint: the result of reverse_endpoint()
					 (verdict/mutual_wait.h); NULL: not computed yet */
	const int *bound_there; /* the same for bound_where_it_sends() (verdict/by_address.h) */
	const struct processes *processes; /* verdict/processes.h; NULL: not looked up */
	const struct trace_ruling *rulings; /* of a sampled session; owned by the caller */
	size_t n_rulings;
};

/* A snapshot kept to be subtracted from a later one. Words that are zero, as most of an endpoint's
 * are, take no memory here. */
struct trace_packed {
	struct trace_snapshot head;    /* without endpoints and samples */
	struct packed_endpoint *ep;    /* head.n, by serial */
	uint64_t *words;
	bool has_samples, has_details;
};

/* TCP: why the head of the queue waited, in the kernel's own fields */
struct trace_held {
	bool known;
	uint32_t queued;  /* bytes held back */
	uint32_t unacked; /* bytes sent and not acknowledged */
	uint32_t small;	  /* of `unacked`: up to the end of the last small segment; 0: none */
	uint32_t mss, cwnd, in_flight, window;
	bool nodelay, cork;
};

enum trace_delack {
	TRACE_DELACK_NONE,
	TRACE_DELACK_FIRED /* its timer sent it */,
	TRACE_DELACK_RODE /* it went with the peer's own data */,
	TRACE_DELACK_N
};

struct trace_stall {
	uint64_t serial, from_ns, to_ns;
	uint64_t peer_serial; /* 0: not on this host, or not traced */
	enum tx_state state;
	enum trace_delack
		by_delack; /* how the peer's delayed ACK went out that the stall waited for; NONE:
			      it waited for none */
	bool goes_on; /* the stall has not ended: to_ns is the end of the session */
	uint64_t ack_owed_ns, ack_went_ns; /* the delayed ACK: since when it was owed, when it was
					      sent; 0: unknown, or no such ACK */
	struct trace_held held;
	uint64_t ack_at_ns;			 /* the segment that ended the stall; 0: none did */
	uint32_t ack_bytes, ack_payload;	 /* bytes that it acknowledged; that it carried */
	uint64_t peer_unread_ns, peer_no_cpu_ns; /* no_cpu: see starved_ns */
	pid_t tgid, peer_tgid;
	char comm[16], peer_comm[16];
	int kstack, ustack, peer_kstack, peer_ustack; /* for trace_stack(); < 0: none */
};

/* A step or mark of the timeline. */
struct trace_transition {
	uint64_t serial, at_ns;
	uint64_t ns;	  /* how long the state that ended at at_ns lasted; 0 is possible */
	uint64_t bytes;	  /* of a mark */
	uint8_t rx;	  /* which ledger: 0 tx, 1 rx */
	uint8_t from, to; /* enum tx_state or rx_state */
	uint8_t closes;	  /* the ledger ends */
	uint8_t mark;	  /* enum mark of record.h; 0: a step, a state ended */
};

struct trace;

/* NULL: *e says why. Options that exclude each other are refused here. */
struct trace *trace_prepare(const struct trace_options *o, struct err *e);
int trace_start(struct trace *t, struct err *e);
int trace_snapshot(struct trace *t, struct trace_snapshot *s, struct err *e);
/* Between start and stop: end the session's own threads, and start them again. The programs stay
 * attached. */
void trace_pause(struct trace *t);
int trace_resume(struct trace *t, struct err *e);
/* May this process, with its present capabilities, read what is attached? Kernels before 5.19
 * may refuse every bpf() without CAP_BPF. */
bool trace_may_read(const struct trace *t);
/* Is there a program that is attached only when it turns out to be needed? */
bool trace_attaches_later(const struct trace *t);
void trace_snapshot_free(struct trace_snapshot *s);
void trace_stop(struct trace *t);
/* Sets fd_owner of live endpoints whose process has left them, from /proc. */
void trace_name_fd_owners(struct trace_snapshot *s);
/* Sets making.other_pid of connections whose other end is on this host, but not in the snapshot. */
void trace_name_other_ends(struct trace_snapshot *s);
/* Sets making.other_drops of such connections. Takes a fifth of a second if such a socket ever
 * dropped datagrams. */
void trace_count_other_drops(struct trace_snapshot *s);
/* The process on this host at the other end of the pipe or connection that `pid` has as
 * descriptor `fd`. writes: `pid` writes there, so the reader is meant. 0: none was found, or
 * several were. */
pid_t trace_fd_other_end(pid_t pid, int fd, bool writes);
/* `pid` started `child` within the last minute, `after_s` seconds or more after it began itself:
 * perhaps to answer a request. */
bool trace_is_late_child(pid_t pid, pid_t child, unsigned int after_s);

struct trace_fd_server {
	int fd;
	pid_t server; /* 0: there is none, or it owes no answer */
};
/* For descriptors of sockets of one process: the process that it has asked there, on a connection
 * that it made, or that it started with a socket pair. */
void trace_fd_servers(pid_t pid, struct trace_fd_server *v, size_t n);

struct trace_asked {
	pid_t server; /* one of its processes; 0: it is on another host */
	int family;
	struct trace_addr remote;
};
/* The only process from which a thread awaits an answer now. Either the thread's process made a
 * connection to it, TCP or Unix, and the thread sleeps in a read there, or polls. Or it connected
 * to the thread's process, a broker that polls, which passed a request on to it. */
bool trace_asked_server(pid_t pid, pid_t tid, struct trace_asked *out);

/* From whom a connected UDP socket gets its datagrams. False: it is none. */
bool trace_fd_datagrams(pid_t pid, int fd, struct trace_asked *out);

/* The only process that listens on a Unix socket of that name, whatever its folder, and whose
 * backlog is full; 0: none was found, or several were. client: who connects to it. */
pid_t trace_full_unix_listener(pid_t client, const char *path);

struct trace_held_output {
	pid_t reader; /* 0: of another host, or unknown */
	int family;   /* AF_UNIX: 0 */
	struct trace_addr remote;
};
/* The only process, or address, that takes nothing of what `pid` has sent it. asked_only: a request
 * that lies unread, on a connection that `pid` made. Else the connection's send buffer is full, and
 * `pid` has at most one other party. Takes about 40 ms. */
bool trace_held_output(pid_t pid, bool asked_only, struct trace_held_output *out);
/* Drops what is neither an endpoint of these processes nor the other end of one. If there is no
 * memory for that, all stay. */
void trace_keep_ends_of(struct trace_snapshot *s, const pid_t *pids, size_t n);
/* The thread that has read a request, if `pid` has not answered it yet; of several requests, the
 * last: an older one may need no answer. 0: there is none. A sampled session cannot tell. */
#define TRACE_WORKER_UNKNOWN (-1) /* no client is seen, or too many endpoints */
pid_t trace_working_thread(struct trace *t, pid_t pid);
/* Sets making.sent_last, and rx_calls.open_reply_ns of connections on which a reader sleeps for the
 * answer to a request that was sent before the session began. */
void trace_find_outstanding(struct trace_snapshot *s);
/* bytes: a subscriber's answer to what it is sent, with what TLS or ssh adds */
#define TRACE_ACK_MOST 64
/* Sets making.server_polls and making.server_works of the server's connections. Takes half a
 * second. */
void trace_ask_server(struct trace_snapshot *s, pid_t server);
/* How many MPTCP sockets the process has: no hook sees them, and no snapshot has them. */
size_t trace_mptcp_sockets(pid_t pid);
/* After stop: calls on_stall() for each stall that still went on at `at_ns`, a snapshot's time. */
void trace_tell_ongoing(struct trace *t, uint64_t at_ns);
void trace_finish(struct trace *t);

/* Empties the ring buffer, so that it does not fill. trace_snapshot() does so too, and a session
 * has a thread for it. */
int trace_poll(struct trace *t, int timeout_ms);
/* drop the closed endpoints that a snapshot has shown: for a program that runs for days and has
 * reported them */
void trace_forget_closed(struct trace *t);
/* What a sampled session did so far. */
void trace_sampled(const struct trace *t, struct trace_sampling *out);

#define TRACE_STALLED_KEPT 1024

struct trace_stalled {
	uint64_t key; /* of an endpoint; another one may have it later */
	enum tx_state state;
	uint64_t at_ns;
};

/* The stalls that samples found since the last call, in their order, at most TRACE_STALLED_KEPT.
 * `out` has room for as many, or is NULL. Returns their number. */
size_t trace_take_stalled(struct trace *t, struct trace_stalled *out);
/* A snapshot of those of these endpoints that still live, and of their other ends. The counters are
 * those of the whole session. */
int trace_snapshot_some(struct trace *t, const uint64_t *keys, size_t n, struct trace_snapshot *s,
			struct err *e);
struct trace_one_sample {
	unsigned int tx, rx, facts; /* enum tx_state, enum rx_state; a bit for each fact */
};

/* Takes one more sample of a snapshot's endpoint `i`. The session's sums do not count it. False:
 * the endpoint has ended. */
bool trace_sample_again(struct trace *t, const struct trace_snapshot *s, size_t i,
			struct trace_one_sample *found);
/* how many closed endpoints are kept now: each takes 5 KB until it is forgotten */
size_t trace_closed_kept(struct trace *t);

/* out -= a; `existing` stays: it is of the time before the session. */
void trace_counters_sub(struct trace_counters *out, const struct trace_counters *a);
/* -1: no memory. */
int trace_pack(struct trace_packed *out, const struct trace_snapshot *s);
void trace_packed_free(struct trace_packed *p);
/*
 * The snapshot becomes a phase: sums (ns, count, hist, bytes, ...) become what they grew by since
 * `a`; maxima stay those of the whole life. An endpoint missing in `a` counts whole. -1: no memory,
 * and the snapshot stays as it was.
 */
int trace_subtract(struct trace_snapshot *s, const struct trace_packed *a);
/* The snapshot becomes the phase since `last`, and `last` becomes what the snapshot was. -1: no
 * memory, and both stay as they were. */
int trace_next_phase(struct trace_snapshot *s, struct trace_packed *last);

/* For a stopped session with TREE: it forgets all that it knew, and follows these processes when it
 * is started again. */
int trace_retarget(struct trace *t, const pid_t *tgids, size_t n, struct err *e);
/* with TREE or TGIDS: follow this process from now on too */
int trace_follow(struct trace *t, pid_t tgid, struct err *e);

enum trace_backend trace_backend(const struct trace *t);
const char *trace_backend_name(enum trace_backend b);
const char *trace_proto_name(enum trace_proto p);
/* "MPTCP"; NULL: nothing is unseen */
const char *trace_unseen_name(enum trace_unseen u);
/* names of the states, by enum tx_state and enum rx_state */
extern const char *const trace_tx_names[TX_N], *const trace_rx_names[RX_N];
/* "127.0.0.1:80", "[::1]:80"; family: AF_INET, AF_INET6 */
void trace_addr_text(int family, const struct trace_addr *a, char *buf, size_t len);
/* why not a better backend; empty when this is the best */
const char *trace_why(const struct trace *t);
/* "fentry_probed": which of the backend's objects runs; NULL: none is loaded yet */
const char *trace_object(const struct trace *t);
/* True: the verifier refused the programs meant for this kernel, so slower ones run. `buf` says so
 * for people. */
bool trace_refusal(const struct trace *t, char *buf, size_t size);

/* TRACE_TIMELINE_ONE: the endpoint whose steps and marks are reported from now on; 0: none */
void trace_timeline_of(struct trace *t, uint64_t serial);
/* "ack_owed", "hole", ...; NULL: no such fact */
const char *trace_fact_name(unsigned int fact);
/* "message", "ack", ...; NULL: no such mark */
const char *trace_mark_name(unsigned int mark);

/*
 * The path of a cgroup below the v2 mount ("/system.slice/x.service"; "/" is the root), by its id.
 * False: unknown. Cached: a cgroup that is gone keeps the path it had when it was last asked for.
 */
bool trace_cgroup_path(uint64_t id, char *buf, size_t size);
/* From now on this id has this path: a recording's, from another time or machine. */
void trace_cgroup_remember(uint64_t id, const char *path);
/* From now on this machine's cgroups are not searched. */
void trace_cgroup_offline(void);

/* resolve a stack to text, one frame a line, into buf; returns the number of frames, 0: none */
int trace_stack(struct trace *t, int number, pid_t tgid, char *buf, size_t size);

/*
 * Copies the stack of that endpoint's next send call that stalls, with the frames of a Python
 * interpreter if it runs in one. A new request replaces the last one; serial 0 cancels it. Does
 * nothing without trace_options.stack_copies.
 */
struct python_layout;
struct stack_copy;
void trace_copy_stack(struct trace *t, uint64_t serial, const struct python_layout *python);
/* False: no such call yet. */
bool trace_copied_stack(struct trace *t, struct stack_copy *out);

/* the cost of each program: what bpf_enable_stats counted */
struct trace_cost {
	char name[32];
	uint64_t runs, ns, missed;
};
int trace_cost_enable(struct trace *t, struct err *e); /* before start */
size_t trace_costs(struct trace *t, struct trace_cost *c, size_t max);

/* one hook and what became of it */
struct trace_hook {
	const char *point, *kind; /* "tcp_write_xmit", "fexit" */
	const char *feeds;	  /* what is lost without it */
	bool attached;
	const char *why_not; /* NULL when attached */
	const char *program; /* the program attached there */
	int64_t runs;	     /* of that program; < 0: not counted, see trace_cost_enable() */
};
size_t trace_hooks(struct trace *t, struct trace_hook *h, size_t max);

/* ---- what this kernel allows: probed once ---- */

struct trace_feature {
	const char *name; /* "BTF", "fentry", ... */
	bool there;
	char why_not[160]; /* "not permitted: the kernel is locked down (integrity)" */
	const char *lost;  /* what cannot be seen without it */
	const char *fix;   /* what would change that; NULL: nothing */
};
size_t trace_features(const struct trace_feature **f);
/* the backend AUTO would take, TRACE_AUTO when none works; *why says it in one sentence */
enum trace_backend trace_best_backend(const char **why);
/* what a backend cannot see at all, a word or a few each; the list ends with NULL */
const char *const *trace_not_covered(enum trace_backend b);

#endif
