/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the ledgers show, as facts: which stall, of which endpoint, how long, and who kept it
 * waiting. No text is made here; the sinks turn a finding into a sentence, a JSON object or a
 * label.
 */
#ifndef IPCSTALL_VERDICT_VERDICT_H
#define IPCSTALL_VERDICT_VERDICT_H

#include "host/asleep.h"
#include "tracer/trace.h"

enum blamed {
	/* the cause is the endpoint's own, or nothing is known of the other end */
	BLAME_NOBODY,
	BLAME_PEER_DELACK, /* the peer owed an ACK and its delayed-ACK timer released it */
	BLAME_PEER_READER, /* data lay unread at the peer: its application was elsewhere */
	BLAME_PATH,	   /* the network lost or delayed the data */
	/* the writer itself: Nagle's algorithm or a cork gathers its successive small writes */
	BLAME_OWN_WRITES,
	BLAME_NO_CPU,	   /* the writer was ready to run and had no CPU */
	BLAME_PEER_NO_CPU, /* the peer's reader was ready to run and had no CPU */
	BLAME_N,
};

enum surety {
	SEEN_BOTH_ENDS, /* both ends were traced and agree */
	INFERRED,	/* one end was seen; the part of the other end follows from the protocol */
	/* from samples alone, which are too few or leave another explanation open */
	SUSPECTED,
	SURETY_N,
};

/* Their names in documents. BLAME_NOBODY has none: NULL. */
extern const char *const blame_names[BLAME_N], *const surety_names[SURETY_N];

/* The overall result. UNKNOWN: too little was seen to tell. */
#define OUTCOMES(X) \
	X(OUTCOME_STALLED, "stalled") \
	X(OUTCOME_WAITING, "waiting") \
	X(OUTCOME_HEALTHY, "healthy") \
	X(OUTCOME_UNKNOWN, "unknown")
#define OUTCOME_ENUM(sym, name) sym,
enum outcome { OUTCOMES(OUTCOME_ENUM) OUTCOMES_N };
extern const char *const outcome_names[OUTCOMES_N];

/*
 * The kinds of findings, and the two verdicts without a finding. Code that handles every kind has a
 * table with one row per kind: verdict/judge.c ranks them, render/verdict_text.c has sentence and
 * fix, render/card_*.c the card, render/ledger_json.c the place in JSON and its schema.
 */
#define FINDING_KINDS(K) \
	K(KIND_STALL, stall) \
	K(KIND_LIMIT, limit) \
	K(KIND_UNDELIVERED, undelivered) \
	K(KIND_WITHHELD, withheld) \
	K(KIND_LATE, late) \
	K(KIND_STARVED, starved) \
	K(KIND_LOSS, loss) \
	K(KIND_SCATTERED, scattered) \
	K(KIND_UNANSWERED, unanswered) \
	K(KIND_CONNECT, connect) \
	K(KIND_ANSWERS, answers) \
	K(KIND_MUTUAL, mutual) \
	K(KIND_WAIT, wait) \
	K(KIND_OPENING, opening) \
	K(KIND_QUIET, quiet) \
	K(KIND_UNSEEN, unseen)
#define KIND_ENUM(sym, name) sym,
enum finding_kind { FINDING_KINDS(KIND_ENUM) KINDS_N };

/* What sets the pace of a sender that is held up although nothing is wrong. */
enum limit {
	LIMIT_NONE,
	LIMIT_READER_CPU, /* its reader reads as fast as a CPU lets it */
	LIMIT_WRITER_CPU, /* it writes as fast as a CPU lets it */
	LIMIT_SHARED_CPU, /* reader and writer share one CPU */
	LIMIT_LINK,	  /* the path carries no more */
	LIMIT_OWN_WRITES, /* it gathers its own small writes */
	LIMIT_TURNS,	  /* writer and reader take turns: each waits while the other works */
	LIMIT_READER,	  /* its reader was not seen, but is always back at once */
	LIMIT_HOST,	  /* it stays on this host, whose CPUs carry no more */
};

/* Sums over a finding and those merged with it (merge_findings.h); for a single finding, its own
 * figures. */
struct totals {
	size_t connections;
	uint64_t ns, max_ns, count, lifetime_ns, blamed_ns, blamed_n;
	uint64_t found;			      /* sampled session: how many samples found it */
	bool several_senders, several_blamed; /* several processes of one name */
	unsigned int causes;		      /* 1 << enum tx_state: the causes that `ns` sums */
};

struct finding {
	size_t endpoint; /* index in the snapshot */
	enum tx_state cause;
	uint64_t ns, max_ns, count;
	double share; /* of the endpoint's lifetime */
	enum blamed blamed;
	enum surety surety;
	uint64_t blamed_ns; /* the part of ns that the blame explains; only with SEEN_BOTH_ENDS */
	uint64_t blamed_n;
	int peer; /* index of the peer, -1 */
	int root; /* index of the finding at the end of the chain of waits that this one begins, -1:
		     none (verdict/stall_chain.h) */
	bool root_by_amounts; /* a link of that chain is inferred from amounts: a process sent as
				 much as it had read */
	int reader_waits; /* index of the endpoint at which the process that does not read waited
			     meanwhile for others to send (verdict/stall_chain.h), -1: none */
	bool behind_wait; /* its reader is the process whose wait the verdict reports */
	bool behind_limit; /* the root of its chain is only a limit, or the sender's CPU is */
	int deadlock; /* index of the endpoint at which the process that does not read waits in turn
			 for the sender that it delays (verdict/deadlock.h), -1: none */
	bool deadlock_reads; /* there it waits for that sender to write; else for it to read */
	size_t circle; /* number of stalls in a circle with this one: each keeps the reader of
			  another from reading; 0: no circle, or only two (see `deadlock`) */
	bool unanswered_syn; /* most of the loss is of the handshake: an unanswered SYN, or a full
				accept queue */
	bool late_not_lost;  /* at least half of what was retransmitted had arrived */
	struct totals
		all; /* of all merged findings; the fields above are those of the largest */
	bool peaks_at_delack; /* episodes as long as the delayed-ACK timer's minimum make up at
				 least half of the time */
	bool sampled;	      /* from samples: `count` and `max_ns` are unknown */
	bool goes_on;	      /* it had not ended at the snapshot */
	enum limit limit;     /* LIMIT_NONE: somebody waits needlessly */
	bool small_reads;     /* the blamed reader reads in small pieces: reads_small() */
	bool within_host;     /* by its round trips */
	bool by_loss; /* its congestion control holds it back, and the path loses segments */
	bool paced_by_itself; /* its congestion control chose the pace: paces_itself() */
};

/* One state of an endpoint's ledger: the rx ledger, except for `undelivered` */
struct reader_spell {
	int endpoint; /* index in the snapshot, -1: there is none */
	uint64_t ns, max_ns, count;
	double share; /* of its lifetime */
};

/* A chain of processes, each of which waits for the next. by[] holds the endpoints at which they
 * wait; the last of these processes waits for the reader at `wait`. n 0: nobody was seen to wait
 * for that reader. */
enum { CHAIN_MAX = 16 };

struct wait_chain {
	size_t n;
	int by[CHAIN_MAX];
};

/* How a mutual wait ended. If the two ends differ, the larger value counts. */
enum wait_end {
	WAIT_GOES_ON,
	WAIT_GIVEN_UP, /* one end stopped waiting, and neither had sent */
	WAIT_CLOSED, /* neither had sent when an end was closed, or its program was ended */
	WAIT_ENDED,  /* one end closed or sent: it is not known which */
	WAIT_SENT
};

/* Two ends, each of which only waits for the other to send */
struct mutual_wait {
	int endpoint; /* where the other one waits: the socket's peer, or the other pipe; -1: it
			 does not wait */
	bool nobody_else; /* no third thread was seen that may send there, so neither end goes on */
	enum wait_end end;
	size_t circle; /* number of readers in a circle; `endpoint` is where the next one waits; 0:
			  only two wait */
};

/* Requests that were answered, and where their time went: unread at the server, on the way, and
 * `think_ns` from read to answer, whoever did the work */
struct requests {
	uint64_t n, unread_ns, way_ns, think_ns;
	uint64_t unread_max_ns, think_max_ns; /* the longest of one request */
	uint64_t whole, whole_ns; /* requests that came and were answered while the server was
				     watched, and the server's own time for them */
	bool first_may_be_cut;	  /* the first of these may have come before the session */
	uint64_t pieces; /* pieces of answers: the first came soon, the others slowly */
	uint64_t pieces_max_ns; /* the longest time between two pieces */
	uint64_t unanswered, retry_ns; /* requests without an answer, each of which cost the client
					  a wait of up to `retry_ns` */
	bool may_be_lost; /* the unanswered ones were datagrams, which may have been lost */
	uint64_t given_up, given_up_ns; /* of connections that closed without an answer */
	uint64_t cut;	       /* those that may have begun before the session, or end after it */
	uint64_t unfinished;   /* of `n`: those that had no answer yet when the session ended */
	uint64_t uncounted_ns; /* of requests without an answer that are not in `n` */
	uint64_t open; /* of `n`: on connections where no request was answered yet */
	uint64_t slow; /* of `n`: those that took most of the time, if the others were short */
	bool waits_itself; /* the server waits for another one meanwhile */
	bool bounded; /* the other end was not seen: it read and thought within `think_ns` */
	bool uneven;  /* numbers of messages differ: not each is a request or an answer */
};

enum request_part { REQUEST_THINK, REQUEST_UNREAD, REQUEST_WAY };

/* A long wait, with the waits like it: those of the same program for the same server */
struct waits_together {
	size_t connections; /* 0: there is none */
	uint64_t ns, lifetime_ns;
	uint64_t together_ns; /* how long at least one of these connections existed */
	size_t open, unaccepted; /* connections to ends that were not seen: still open, and of
				    these in a listener's queue */
	bool estimated; /* some connections were never sampled: see unsampled_connections.h */
	bool helpers; /* the program started a new helper, of the same name, for each wait */
	bool others_wait, others_awaited; /* several processes of one name wait, or are awaited */
	struct requests requests;
};

/* A client that spends most of its time waiting for answers, each of which comes soon: it is not
 * reported as a wait, but that is what limits the client. */
struct quick_answers {
	int endpoint; /* index in the snapshot, -1: there is none */
	uint64_t n;   /* answers; in a sampled session, how often its thread got a CPU */
	uint64_t each_ns;
};

/* A stream whose sender runs on a CPU nearly all the time while its reader waits: it is not
 * reported as a wait, but that is what limits the stream. */
struct busy_sender {
	int endpoint; /* index in the snapshot: where it is read; -1: there is none */
	double share; /* of a CPU */
};

/* ACKs that this host's delayed-ACK timer withheld while a sender that was not seen waited */
struct withheld_ack {
	int endpoint; /* index in the snapshot: the end that owed the ACKs; -1: there is none */
	uint64_t ns, count;
	double share; /* of its lifetime */
};

/* Datagrams dropped on this host, or lost between two ends on it. No program is told, and none
 * waits for them. */
struct datagram_loss {
	int endpoint; /* index in the snapshot: the socket that should have received them; if a full
			 qdisc dropped them, the socket that sent them; -1: there is none */
	uint64_t sent; /* 0: they were dropped for the reason `kind`; otherwise how many were sent,
			  `n` of which did not arrive */
	enum trace_drop kind;
	uint64_t n;
	double share; /* of what was read or dropped there, or sent; NAN: unknown */
	bool stray;   /* negligible beside the datagrams that went through: no verdict */
	uint64_t over_ns; /* 0: in the session; otherwise the socket at the other end of `endpoint`
			     dropped them, in so short a time */
};

/* Datagrams without an answer, though the program expected one: of one socket, or of several
 * sockets of one program to one address */
struct unanswered {
	int endpoint;	/* index in the snapshot, -1: there is none */
	int server;	/* the socket that they went to, if seen on this host; -1: not */
	size_t sockets;
	uint64_t n, ns; /* how many; how long the client waited in all, 0: not known */
	uint64_t answered;	  /* by another server: the client asks several in turn */
	uint64_t others_answered; /* that program's other sockets that the server did answer */
	int passed_on; /* `server` forwarded them by this socket, unanswered; -1: none */
	bool refused;	/* ICMP said that nobody is there */
};

enum rejection {
	REJECTED_NOT,
	REJECTED_REFUSED, /* no program listened there */
	REJECTED_RESET,	  /* the other end reset it; if that cost time, before any answer */
};

/* Connections of one program to one address, each of which took long to be made, or was rejected */
struct slow_connect {
	int endpoint; /* index in the snapshot: the first of them; -1: there is none */
	uint64_t n, ns, max_ns, lifetime_ns;
	enum rejection rejected; /* repeatedly, until that ended or the program gave up: `ns` is the
				    time lost before the retries; 0: there was no retry */
	bool is_awaited;	 /* another program waits as long for the one that connects */
};

/* A server that had a request to answer for most of the time that its clients were connected. None
 * of the clients was seen: they wait for the server. Sums over its connections. */
struct slow_answers {
	int endpoint; /* index in the snapshot: the first of them; -1: there is none */
	size_t connections;
	bool several; /* several processes of one name */
	bool goes_on; /* one request has no answer yet */
	bool suspected; /* inferred: a request older than the session, still unanswered */
	bool closed; /* some were closed: one client may have made several in turn */
	uint64_t ns, lifetime_ns;
	uint64_t cpu_ns; /* of `ns`, on a CPU, as far as is known */
	struct requests requests; /* n 0: samples count no requests */
	uint64_t requests_most;	  /* as each answer takes a segment */
	int behind; /* its own connection at which it waited as long and as often, and whose answers
		       it passed on; -1: none */
};

/* No single stall stands out, but together they take too much time to be called healthy: many small
 * ones, or those of many endpoints that lived briefly. */
struct scattered {
	uint64_t ns;	   /* 0: there is no such sum */
	double share;	   /* of the senders' time */
	uint64_t cause_ns; /* of its largest cause, without the closed endpoints that were not kept:
			      their causes are unknown */
	enum tx_state cause;
	int endpoint;	     /* the endpoint whose writer has the most of that cause; -1: unknown */
	uint64_t process_ns; /* time of that cause at all endpoints of that writer's process */
};

enum { FINDINGS_MAX = 16 };

struct verdict {
	struct finding v[FINDINGS_MAX]; /* the largest `all.ns` first */
	size_t n;
	/*
	 * Set where no sender that was seen stalled. `late`: the receiver with the longest time of
	 * unread data from a sender that was not seen; that sender may be waiting. `wait`: the
	 * reader that waited longest for another program to send: that program is slow, or its path
	 * to here.
	 */
	struct reader_spell late, wait;
	struct reader_spell busy; /* a reader on a CPU while data waits for it; nothing stalls */
	struct totals late_all; /* `late`, with the server's other connections read late */
	bool late_is_full; /* who sends to the reader of `late` cannot send more */
	bool no_room;	   /* the queue of `late` is full: a send without waiting is refused */
	bool late_answers; /* `late` leaves answers to its own requests: it delays only itself */
	bool late_in_wait; /* `late` is the lesser part of `wait` */
	bool end_held; /* no data and no EOF come: another process holds the descriptor */
	struct waits_together waits;	 /* `wait`, with the waits like it */
	struct wait_chain chain;	 /* which leads to `wait` */
	struct waits_together first_waits; /* of the first program of that chain */
	uint64_t queued_ns; /* how long its requests wait in the program between, before it
			       forwards them */
	int brought_by;	    /* the endpoint by which another client brought the answer; -1: none */
	struct quick_answers quick;	 /* instead of `wait` */
	struct busy_sender busy_sender;	 /* instead of `wait` */
	struct reader_spell fellow; /* the longest wait of another program for the same one */
	struct waits_together fellow_waits; /* `fellow`, with the waits like it */
	struct mutual_wait mutual;	 /* the other half of `wait` */
	struct reader_spell starved;	 /* threads that waited longest for a CPU, in both
					    directions, after `count` wake-ups */
	struct reader_spell undelivered; /* longest time in `device` of data still here when its
					    retransmission timer fired, `count` times */
	struct withheld_ack
		withheld;	   /* the longest, whatever else stalled; its sender was not seen */
	struct datagram_loss loss; /* the largest; if that is stray, all are */
	struct scattered scattered;
	struct unanswered unanswered; /* the client that waited longest */
	struct slow_connect connect;  /* the longest in all */
	struct slow_answers answers;  /* the longest in all */
	pid_t may_pause; /* sampled session, which counts no answers: a server that owes one for at
			    least a tenth of a connection's time, or a client that waits for one; 0:
			    none */
	uint64_t observed_ns;	      /* from the first endpoint's beginning to the snapshot */
	uint64_t stall_ns;	      /* NIST's stall, of all endpoints */
	uint64_t lifetime_ns; /* of all tx ledgers that carried data and tell what held it up */
	bool sent; /* did anything go out through them; an endpoint seen only at its end has no
		      lifetime */
	size_t n_unknown; /* endpoints that sent, but do not tell what held the data up */
	size_t n_active;  /* endpoints at which anything happened */
	size_t n_unseen; /* of these: endpoints whose calls or bytes no hook of this backend sees,
			    as `unseen` says */
	enum trace_unseen unseen; /* the last of them */
	int64_t unaccounted_ns;
	/* set by judge() (verdict/judge.h) */
	enum outcome outcome;
	enum finding_kind kind; /* the finding that leads */
	size_t lead;		/* index in v[], if a stall or limit leads */
	double share;		/* of the waiter's time (loss: of the datagrams), NAN: unknown */
	const struct asleep *doing; /* what the culprit did meanwhile; NULL: not sampled */
};

/*
 * The least that is reported. The tests hold the ledgers to 1 ms + 1 % of the applications' own
 * clocks (CONTRIBUTING.md): a stall below either could be the ledger's own error.
 */
#define VERDICT_MIN_SHARE 0.01
#define VERDICT_MIN_NS	  1000000

static inline double waits_share(const struct waits_together *w)
{
	return w->lifetime_ns ? (double)w->ns / (double)w->lifetime_ns : 0;
}

/* The share of the lifetimes of all merged findings. */
static inline double finding_share(const struct finding *f)
{
	return f->all.lifetime_ns ? (double)f->all.ns / (double)f->all.lifetime_ns : 0;
}

/* Did it drop connection requests because its accept queue was full? */
bool listener_was_full(const struct trace_listener *l);
/* The listener of this host that ep's SYN went to, if that dropped requests because its accept
 * queue was full; NULL: none was seen to. */
const struct trace_listener *full_listener(const struct trace_snapshot *s,
					   const struct trace_endpoint *ep);

/* The listener that accepted ep, or has it in its accept queue, if its process is known; NULL: not
 * known. */
const struct trace_listener *listener_of(const struct trace_snapshot *s,
					 const struct trace_endpoint *ep);

/* NIST's stall of one tx ledger: the sum of its stall rows. */
uint64_t ledger_stall_ns(const struct trace_ledger *tx);

/* A pipe or a Unix socket: its data crosses no network path. */
bool is_local_ipc(const struct trace_endpoint *ep);

/* A Unix socket of a connection: SOCK_STREAM or SOCK_SEQPACKET. */
bool is_unix_connection(const struct trace_endpoint *ep);

/* Was the other end an endpoint too? */
bool other_end_seen(const struct trace_endpoint *ep);

/* Did anything ever go out through this endpoint? */
bool endpoint_sent(const struct trace_endpoint *ep);

/* Did anything at all happen there, in either direction? */
bool endpoint_did_anything(const struct trace_endpoint *ep);

/* Indices of the endpoints that did anything, the most stalled first; to be freed. NULL: no memory.
 */
size_t *endpoints_by_stall(const struct trace_snapshot *s, size_t *n);

/* All findings, and the verdict that they lead to. */
void verdict_make(const struct trace_snapshot *s, struct verdict *out);

/* v->doing may sleep until its connection to another host takes more. If that one goes as fast as
 * it can, what the process leaves unread meanwhile is a consequence. */
void verdict_link_doing(const struct trace_snapshot *s, struct verdict *v);

#endif
