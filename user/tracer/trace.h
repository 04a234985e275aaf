/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ledger, as the rest of the program sees it: plain C, nothing of libbpf.
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

#include "bpf/causes.h"
#include "tracer/figure_rows.h"

#define TRACE_STATES 11 /* of a ledger; tx has TX_N, rx RX_N */
#define TRACE_HIST   24 /* slot 0: < 1 us; slot k: [2^(k-1), 2^k) us; the last is open */
#define TRACE_SLOT_DELACK \
	16 /* where the delayed-ACK timer's minimum falls, 40 ms: [32.8, 65.5) ms */
#define TRACE_TGIDS 256
#define TRACE_SPLIT_NS \
	(1ull << 41) /* 37 minutes: a state that lasts longer stands as several episodes, and its \
			longest is no longer than that */
#define TRACE_VOTES 8

/* what went wrong, why, and what to do next; code: enum exit_code of user/base/err.h */
struct trace_error {
	int code; /* 0: nothing */
	char what[160], why[240], next[240];
};

enum trace_backend {
	TRACE_AUTO,
	TRACE_FENTRY,
	TRACE_KPROBE,
	TRACE_RAWTP,
	TRACE_SAMPLED /* by trace_options.budget */,
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
	TRACE_BY_LOOKS /* of a state's time: trace_looks says how sure it is */
};

/* Zero means the default everywhere. */
struct trace_options {
	enum trace_backend backend;
	enum trace_filter filter;
	pid_t tgids[TRACE_TGIDS]; /* TGIDS: these; TREE: these and what they fork from now on */
	size_t n_tgids;
	const char *cgroup; /* path of a cgroup v2 directory: it and all below it */
	bool existing; /* also what exists at the start: connections in mid-life, calls that sleep,
			  and, with TREE, children */
	uint16_t port_lo, port_hi;  /* either end's port; 0: any */
	unsigned int protos;	    /* 1 << enum trace_proto; 0: all the backend covers */
	unsigned int max_endpoints; /* 0: 4096 */
	unsigned int max_closed; /* of those that are gone, keep the most stalled ones; 0: 32768 */
	uint64_t stall_threshold_ns; /* 0: no single stalls */
	bool stacks;		     /* take kernel and user stacks at sleeps */
	bool stack_copies;	     /* trace_copy_stack() will be called */
	double budget; /* of one CPU, for looks at jittered instants, and nothing on a message's
			  way; 0: the ledger */
	bool looks;    /* trace_digests_take() will be called often: have the kernel half sum up for
			  it, where it can */
	enum trace_timeline
		timeline; /* ONE: of the endpoint that trace_timeline_of() names, none before */
	/*
	 * A stall at least as long as the threshold; a step or mark of the timeline. Called from
	 * trace_snapshot(), trace_poll() and the session's own thread, one at a time; they call
	 * nothing of this header on the session.
	 */
	void (*on_stall)(void *ctx, const struct trace_stall *stall);
	void (*on_transition)(void *ctx, const struct trace_transition *tr);
	void *ctx;
};

/* ns of the whole life, up to the moment of the snapshot; the first TX_N or RX_N entries are used
 */
struct trace_ledger {
	uint64_t ns[TRACE_STATES], max[TRACE_STATES];
	uint32_t count[TRACE_STATES]; /* episodes, the present one too */
	uint32_t hist[TRACE_STATES][TRACE_HIST];
	uint8_t resolution[TRACE_STATES]; /* enum trace_resolution */
	uint64_t lifetime_ns;
	int64_t unaccounted_ns; /* lifetime - sum of ns: 0, always */
	unsigned int now;	/* the state at the snapshot */
	uint64_t since_ns;	/* when that began */
};

struct trace_call_stats {
	CALL_FIGURES(FIGURE_MEMBER)
	uint64_t missing; /* figures that are not known at all, by row: see figure.h */
	bool let_go;	  /* see left_ns: it lives, and closed its descriptor */
	uint64_t left_ns; /* since when that process has no descriptor of it any more, while others
			     have: mostly, it ended; 0: not so */
	pid_t fd_owner;	  /* who had it last after that, or has it; 0: not known */
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
	0x7fffffff /* in a vote: whoever has the end after the one named there has left it */

/* of several processes at one end: who has most of some time, if one has more than half of it
 * (vote_is_sure()) */
struct trace_who {
	uint64_t lead_ns, sum_ns; /* before the others together; all of it */
	pid_t tgid, tid;	  /* 0: nobody; TRACE_FD_OWNER */
	uint32_t second, mixed;	  /* see vote_second(); 1: not all had the same name */
	char comm[16];
};

/* tx stalls that the other end on this host explains, by tx state */
struct trace_blame {
	uint64_t delack_ns[TRACE_STATES], unread_ns[TRACE_STATES];
	uint32_t delack_n[TRACE_STATES], unread_n[TRACE_STATES];
	uint64_t gathered_ns; /* `nagle` that the writer's own next call ended */
	uint32_t gathered_n, pad;
	uint64_t starved_ns[TRACE_VOTES]; /* at trace_vote(state): the other end's reader was ready
					     to run and had no CPU */
	uint32_t starved_n[TRACE_VOTES];
	struct trace_who held_up[TRACE_VOTES],
		late[TRACE_VOTES]; /* at trace_vote(state): whose stalls these were, who of the
				      other end explains them */
};

static inline unsigned int trace_vote(enum tx_state stall)
{
	return stall & (TRACE_VOTES - 1);
}

struct trace_addr {
	uint8_t ip[16]; /* IPv4: the first four bytes */
	uint16_t port;
};

/* Of some times their sum and that of their squares, in microseconds. */
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

/* What a part of a state was, where that can be told; 0: nothing of the kind was seen. */
enum trace_part {
	TRACE_PART_DEFERRED = 1,	/* of `pacing`: TSO deferral */
	TRACE_PART_FQ,			/* of `pacing`: in the queueing discipline fq */
	TRACE_PART_TSQ,			/* of `device`: TCP's small queues */
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

/* By whom calls or bytes go that no hook of this backend sees. */
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
	uint64_t serial; /* one for each endpoint of a session, never reused: match snapshots by it
			  */
	uint64_t inode;	 /* 0: unknown */
	uint32_t netns;	 /* inode number */
	enum trace_proto proto;
	int family; /* AF_INET, AF_INET6, AF_UNIX; a pipe: 0 */
	struct trace_addr local, remote;
	bool paired; /* the other end was an endpoint too, even if it is not in this snapshot */
	int peer; /* index of the other end in the same snapshot, -1: remote or not traced; a pipe:
		     itself */
	uint64_t born_ns, at_ns; /* CLOCK_MONOTONIC: first sight; what the figures are up to */
	bool closed;		 /* at_ns is its end */
	bool joined_late;	 /* existed before it was seen */
	bool let_go; /* `closed` only here: it was idle, and made room for others */
	struct trace_ledger tx, rx;
	struct trace_call_stats tx_calls, rx_calls;
	struct trace_blame blame;
	TCP_FIGURES(FIGURE_MEMBER)
	QUEUE_FIGURES(FIGURE_MEMBER)
	struct trace_answers answers;
	struct trace_making making;
	struct trace_hole hole;
	struct trace_parts parts;
	struct trace_path path;
	uint64_t missing;  /* as in struct trace_call_stats */
	uint8_t unseen[2]; /* enum trace_unseen: tx, rx */
};

/* Of a phase no more than its `device`: what the timer ends may have begun before. */
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

/* printed always, even when 0; words, in the order of a recording: a new one goes to the end */
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
				    seen since then */
		uint64_t asleep; /* threads that slept in a call on one of these */
		uint64_t unreadable; /* processes whose descriptors could not be listed: theirs show
					at their first event */
	} existing;
	uint64_t blind;	      /* stretches of a CPU in which the kernel ran no program at all */
	uint64_t stacks_lost; /* stacks that found their place taken: unknown */
	uint64_t let_go; /* of `closed`: they live, and were idle and made room for others */
};

/* A system gives out ports of its own choice from here on (ip_local_port_range). */
#define TRACE_EPHEMERAL_PORT 32768

#define TRACE_LOOK_FACTS 11 /* enum look_fact of bpf/record.h: the names are trace_fact_name()'s */
enum {
	TRACE_FACT_UNANSWERED = 5,
	TRACE_FACT_OWES_ANSWER = 7,
	TRACE_FACT_UNPROMPTED = 8,
	TRACE_FACT_UNATTENDED = 9,
	TRACE_FACT_IN_FLIGHT = 10,
};
#define TRACE_CHRONOS	 3

/* Of one endpoint of a sampled session: how many looks (samples) found each state (`seen`), how
 * many of these follow a look that found it too (`again`), or follow it at a distance of two
 * (`later`).
 */
struct trace_looks {
	uint64_t key; /* of its endpoint, for trace_look_again() */
	uint64_t n;
	unsigned int again; /* of these: looks that no sum of time has, see suspects_confirm() */
	uint32_t tx_seen[TRACE_STATES], tx_again[TRACE_STATES], tx_later[TRACE_STATES];
	uint32_t rx_seen[TRACE_STATES], rx_again[TRACE_STATES], rx_later[TRACE_STATES];
	uint32_t fact[TRACE_LOOK_FACTS];   /* looks that found it */
	double unevenness;		   /* of the gaps, see sampler/interval.h */
	uint64_t chrono_ns[TRACE_CHRONOS]; /* TCP's own chronographs, whole ticks: busy, limited by
					      the peer's window, by the send buffer */
	uint32_t writes, earlier_writes; /* of a pipe: between its looks; in its life before them */
	uint64_t wrote_after_ns, wrote_by_ns; /* the last of `writes`: between these two looks */
	uint32_t full, refilled; /* looks that found no room for one more in a queue of Unix
				    datagrams; of these: since the look before some were read */
};

/* Of a sampled session: what it did and cost so far. */
struct trace_sampling {
	bool on;
	double budget, rate_hz; /* looks a second, now */
	double part;		/* of the endpoints, in each look */
	uint64_t looks, endpoint_looks;
	uint64_t look_ns,
		find_ns; /* CPU of the looks; of what is asked of /proc */
	uint64_t since_ns;
	uint64_t endpoints; /* there are */
};

/*
 * A listening TCP socket. What is established and not accepted waits in its queue; a request that
 * finds that full is thrown away, and made again a second later.
 */
struct trace_listener {
	uint64_t inode;
	uint32_t netns;
	int family;
	struct trace_addr local;
	uint64_t born_ns, at_ns;
	bool closed; /* at_ns is its end */
	uint32_t backlog, queue,
		peak;	  /* how many may wait, do, and did at any look; full: queue > backlog */
	uint64_t dropped; /* requests and connections that were thrown away (sk_drops): mostly for a
			     full queue */
	uint64_t established, accepted; /* connections of the session; both 0, and what follows,
					   where several sockets share the port */
	uint64_t wait_ns, wait_max_ns;	/* of the accepted ones, until then */
	pid_t tgid;			/* who accepted last; before: who listens */
	char comm[16];
};

#define TRACE_LISTENERS 48

/* the worst of more: what was thrown away, what waited longest */
struct trace_listeners {
	struct trace_listener v[TRACE_LISTENERS];
	size_t n;
	uint64_t left_out;
};

/* Looks suspect a stall at an endpoint, and the ledger of some seconds had another view. */
struct trace_ruling {
	uint64_t serial;
	unsigned int cause; /* TX_... that looks suspect, and of which share of its time */
	double share;
	int limit; /* enum limit: what it found instead */
};

struct trace_snapshot {
	uint64_t at_ns;
	size_t n;
	struct trace_endpoint *ep; /* the closed ones too, unless forgotten */
	struct trace_looks *looks; /* by the same index; NULL: not a sampled session */
	struct trace_sampling sampling;
	bool everything; /* no program and no port was left out */
	struct trace_endpoint *rest; /* by protocol, the sums of the closed ones no longer kept
					(counters.dropped); NULL: none */
	struct trace_counters counters;
	struct trace_listeners listeners;
	const int *reverse_endpoints; /* the answers of reverse_endpoint() (verdict/mutual_wait.h),
				 looked up beforehand; NULL: they are not */
	const int *bound_there; /* those of bound_where_it_sends() (verdict/by_address.h) */
	const struct trace_ruling *rulings; /* of a sampled session; the user's */
	size_t n_rulings;
};

/* A snapshot that is kept to be subtracted from a later one. Most words of an endpoint are zero,
 * and take no memory here. */
struct trace_packed {
	struct trace_snapshot head;    /* without endpoints and looks */
	struct packed_endpoint *ep;    /* head.n, by serial */
	uint64_t *words;
	bool has_looks;
};

/* TCP: why the head of the queue waited, in the kernel's own fields */
struct trace_held {
	bool known;
	uint32_t queued;  /* bytes held back */
	uint32_t unacked; /* bytes sent and not acknowledged */
	uint32_t small;	  /* of these, up to the end of the last small segment; 0: none was out */
	uint32_t mss, cwnd, in_flight, window;
	bool nodelay, cork;
};

enum trace_delack {
	TRACE_DELACK_NONE,
	TRACE_DELACK_FIRED /* its timer */,
	TRACE_DELACK_RODE /* on the peer's own data */,
	TRACE_DELACK_N
};

struct trace_stall {
	uint64_t serial, from_ns, to_ns;
	uint64_t peer_serial; /* 0: not on this host, or not traced */
	enum tx_state state;
	enum trace_delack
		by_delack; /* the peer's delayed ACK was waited for, and how that went out */
	bool goes_on; /* it has not ended: to_ns is when it was looked at, at the end of the session
		       */
	uint64_t ack_owed_ns, ack_went_ns; /* that one: since when it was owed, when it went; 0:
					      unknown, or there was none */
	struct trace_held held;
	uint64_t ack_at_ns;			 /* the segment that ended it; 0: none did */
	uint32_t ack_bytes, ack_payload;	 /* what it acknowledged, and brought */
	uint64_t peer_unread_ns, peer_no_cpu_ns; /* no_cpu: see starved_ns */
	pid_t tgid, peer_tgid;
	char comm[16], peer_comm[16];
	int kstack, ustack, peer_kstack, peer_ustack; /* for trace_stack(); < 0: none */
};

/* enum mark of record.h; 0: a state ended */
struct trace_transition {
	uint64_t serial, at_ns;
	uint64_t ns;	  /* how long the state that ended at at_ns lasted; 0 is possible */
	uint64_t bytes;	  /* of a mark */
	uint8_t rx;	  /* which ledger: 0 tx, 1 rx */
	uint8_t from, to; /* enum tx_state or rx_state */
	uint8_t closes;	  /* the ledger's end */
	uint8_t mark;
};

struct trace;

/* NULL: see *e. An option that excludes another is refused here. */
struct trace *trace_prepare(const struct trace_options *o, struct trace_error *e);
int trace_start(struct trace *t, struct trace_error *e);
int trace_snapshot(struct trace *t, struct trace_snapshot *s, struct trace_error *e);
/* Between start and stop: end the session's own threads, and start them anew. What is attached
 * stays attached. */
void trace_pause(struct trace *t);
int trace_resume(struct trace *t, struct trace_error *e);
/* May this process, with the capabilities it has now, read what is attached? Kernels before 5.19
 * may refuse every bpf() without CAP_BPF. */
bool trace_may_read(const struct trace *t);
/* Is there a program that is attached only when it turns out to be needed? */
bool trace_attaches_later(const struct trace *t);
void trace_snapshot_free(struct trace_snapshot *s);
int trace_stop(struct trace *t, struct trace_error *e);
/* Of endpoints that live, whose process has left them: who has them now, as /proc has it. */
void trace_name_fd_owners(struct trace_snapshot *s);
/* who holds the other ends, on this host, of connections that have one end in the snapshot */
void trace_name_other_ends(struct trace_snapshot *s);
/* Sets making.server_polls of its connections. It takes a tenth of a second. */
void trace_ask_server(struct trace_snapshot *s, pid_t server);
/* How many MPTCP sockets the process has: no hook sees them, nor does a snapshot hold them. */
size_t trace_mptcp_sockets(pid_t pid);
/* After stop: on_stall() for those that went on at `at_ns`, a snapshot's, and so never ended. */
void trace_tell_ongoing(struct trace *t, uint64_t at_ns);
void trace_finish(struct trace *t);

/* collect what was closed since, so that the ring buffer does not fill; snapshot does it too. A
 * session has a thread for it. */
int trace_poll(struct trace *t, int timeout_ms);
/* drop the closed endpoints that a snapshot has shown: for a program that runs for days and has
 * reported them */
void trace_forget_closed(struct trace *t);
/* Of a session that samples: what it did so far. */
void trace_sampled(const struct trace *t, struct trace_sampling *out);

#define TRACE_STALLED_KEPT 1024

struct trace_stalled {
	uint64_t key;
	enum tx_state state;
};

/* What looks found stalled since this was last asked, in the order of the looks; `out` has room for
 * as much as is kept, or is NULL. Returns how many looks. */
size_t trace_take_stalled(struct trace *t, struct trace_stalled *out);
/* Of these that still live, and of their other ends, alone; what is counted is of all. */
int trace_snapshot_some(struct trace *t, const uint64_t *keys, size_t n, struct trace_snapshot *s,
			struct trace_error *e);
/* What one more look at a snapshot's endpoint `i` finds; the session's sums do not have it. False:
 * it has ended. */
struct trace_look {
	unsigned int tx, rx, facts; /* enum tx_state, enum rx_state; a bit for each fact */
};

bool trace_look_again(struct trace *t, const struct trace_snapshot *s, size_t i,
		      struct trace_look *found);
/* how many closed endpoints are kept now: each takes 5 KB until it is forgotten */
size_t trace_closed_kept(struct trace *t);

/* What was counted since `a`; what there was before the session is no such count. */
void trace_counters_sub(struct trace_counters *out, const struct trace_counters *a);
/* -1: there is no memory for it. */
int trace_pack(struct trace_packed *out, const struct trace_snapshot *s);
void trace_packed_free(struct trace_packed *p);
/*
 * The snapshot becomes a phase: what was counted since `a` of all that both hold (ns, count, hist,
 * bytes, ...; maxima stay those of the whole life). An endpoint missing in `a` counts whole. -1:
 * there is no memory for it, and the snapshot stays as it was.
 */
int trace_subtract(struct trace_snapshot *s, const struct trace_packed *a);
/* The snapshot becomes the phase since the last one, and the last one becomes what it was. -1:
 * there is no memory for it, and both stay as they were. */
int trace_next_phase(struct trace_snapshot *s, struct trace_packed *last);

/* A session with TREE, stopped: it forgets all that it knew, and follows these processes when it is
 * started again. */
int trace_retarget(struct trace *t, const pid_t *tgids, size_t n, struct trace_error *e);
/* with TREE or TGIDS: follow this process from now on too */
int trace_follow(struct trace *t, pid_t tgid, struct trace_error *e);

enum trace_backend trace_backend(const struct trace *t);
const char *trace_backend_name(enum trace_backend b);
const char *trace_proto_name(enum trace_proto p);
/* "MPTCP"; NULL: nothing is unseen */
const char *trace_unseen_name(enum trace_unseen u);
/* of the states, by enum tx_state and enum rx_state */
extern const char *const trace_tx_names[TX_N], *const trace_rx_names[RX_N];
/* "127.0.0.1:80", "[::1]:80"; family: AF_INET, AF_INET6 */
void trace_addr_text(int family, const struct trace_addr *a, char *buf, size_t len);
/* why not a better backend; empty when this is the best */
const char *trace_why(const struct trace *t);
/* "fentry_plain": which of the backend's objects runs; NULL: none is loaded yet */
const char *trace_object(const struct trace *t);
/* for people: the verifier refused what is meant for this kernel, and slower programs run */
bool trace_refusal(const struct trace *t, char *buf, size_t size);

/* TRACE_TIMELINE_ONE: whose steps and marks are reported from now on; 0: nobody's */
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
/* from now on: what a recording says of another time or machine */
void trace_cgroup_remember(uint64_t id, const char *path);
/* from now on: this machine's cgroups are not asked */
void trace_cgroup_offline(void);

/* resolve a stack to text, one frame a line, into buf; returns the number of frames, 0: none */
int trace_stack(struct trace *t, int number, pid_t tgid, char *buf, size_t size);

/*
 * Copy the stack of the next send call of that endpoint that stalls, with the frames of the Python
 * interpreter that it may run in. One at a time: a new request takes the place of the last. 0: none
 * any more. Does nothing without trace_options.stack_copies.
 */
struct python_layout;
struct stack_copy;
void trace_copy_stack(struct trace *t, uint64_t serial, const struct python_layout *python);
/* False: there was no such call yet. */
bool trace_copied_stack(struct trace *t, struct stack_copy *out);

/* the cost of each program: what bpf_enable_stats counted */
struct trace_cost {
	char name[32];
	uint64_t runs, ns, missed;
};
int trace_cost_enable(struct trace *t, struct trace_error *e); /* before start */
size_t trace_costs(struct trace *t, struct trace_cost *c, size_t max);

/* one hook and what became of it */
struct trace_hook {
	const char *point, *kind; /* "tcp_write_xmit", "fexit" */
	const char *feeds;	  /* what is lost without it */
	bool attached;
	const char *why_not; /* NULL when attached */
	const char *program; /* which is run there */
	int64_t runs;	     /* so often; < 0: not counted, see trace_cost_enable() */
};
size_t trace_hooks(struct trace *t, struct trace_hook *h, size_t max);

/* ---- what this kernel allows: probed once ---- */

struct trace_feature {
	const char *name; /* "BTF", "fentry", ... */
	bool there;
	char why_not[160]; /* "lockdown is 'integrity'" */
	const char *lost;  /* what cannot be seen without it */
	const char *fix;   /* what would change that; NULL: nothing */
};
size_t trace_features(const struct trace_feature **f);
/* the backend AUTO would take, TRACE_AUTO when none works; *why says it in one sentence */
enum trace_backend trace_best_backend(const char **why);
/* what a backend cannot see at all, a word or a few each; the list ends with NULL */
const char *const *trace_not_covered(enum trace_backend b);

#endif
