/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the ledgers say, as facts: which stall, of which endpoint, how much, and who kept it
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
	BLAME_PATH,	   /* the network lost or held it */
	/* the writer itself: Nagle gathers its small writes, which come one after the other */
	BLAME_OWN_WRITES,
	BLAME_NO_CPU,	   /* the writer had been woken, and waited for a CPU */
	BLAME_PEER_NO_CPU, /* its reader had */
	BLAME_N,
};

enum surety {
	SEEN_BOTH_ENDS, /* both ends were traced and agree */
	INFERRED,	/* one end was seen; the other end's part follows from the protocol */
	/* from looks alone, and they are too few or leave another explanation open */
	SUSPECTED,
	SURETY_N,
};

/* As documents call them; BLAME_NOBODY has no name: NULL. */
extern const char *const blame_names[BLAME_N], *const surety_names[SURETY_N];

/* What it all comes to. UNKNOWN: too little was seen to say. */
#define OUTCOMES(X) \
	X(OUTCOME_STALLED, "stalled") \
	X(OUTCOME_WAITING, "waiting") \
	X(OUTCOME_HEALTHY, "healthy") \
	X(OUTCOME_UNKNOWN, "unknown")
#define OUTCOME_ENUM(sym, name) sym,
enum outcome { OUTCOMES(OUTCOME_ENUM) OUTCOMES_N };
extern const char *const outcome_names[OUTCOMES_N];

/*
 * The kinds of findings, and the two verdicts without any. Whoever does something for each of them
 * has a table with a row a kind: verdict/judge.c ranks them, render/verdict_text.c has sentence and
 * fix, render/card.c the card, render/ledger_json.c the place in JSON and its schema.
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
	K(KIND_QUIET, quiet) \
	K(KIND_UNSEEN, unseen)
#define KIND_ENUM(sym, name) sym,
enum finding_kind { FINDING_KINDS(KIND_ENUM) KINDS_N };

/* A sender that is held up although nothing is wrong: whose pace it has. */
enum limit {
	LIMIT_NONE,
	LIMIT_READER_CPU, /* its reader reads as fast as a CPU lets it */
	LIMIT_WRITER_CPU, /* it writes as fast as a CPU lets it */
	LIMIT_SHARED_CPU, /* both do, on one CPU */
	LIMIT_LINK,	  /* the path carries no more */
	LIMIT_OWN_WRITES, /* it gathers its own small writes */
	LIMIT_TURNS,	  /* it writes while its reader waits, and waits while that reads */
	LIMIT_READER,	  /* a reader that was not seen is always back at once */
};

/* What a finding and those that are alike (merge_findings.h) have in all; of a single one what it
 * has itself. */
struct totals {
	size_t connections;
	uint64_t ns, max_ns, count, lifetime_ns, blamed_ns, blamed_n;
	uint64_t found;			      /* sampled: in so many looks */
	bool several_senders, several_blamed; /* processes, of one name */
	unsigned int causes;		      /* 1 << enum tx_state: all that are in `ns` */
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
		     none (verdict/root_cause.h) */
	bool root_by_amounts; /* that one of these passes on what it reads is concluded from how
				 much went in and out */
	int reader_waits; /* index of the endpoint at which whoever does not read waited meanwhile
			     for others to send (verdict/root_cause.h), -1: none */
	bool behind_wait; /* that is the wait which the verdict tells */
	bool behind_limit; /* nothing is wrong at its root, or its sender's own CPU is the limit */
	int deadlock; /* index of the endpoint at which whoever does not read waits in turn for the
			 one he keeps waiting (verdict/deadlock.h), -1: none */
	bool deadlock_reads; /* to write to him there; else to read */
	size_t circle; /* so many stalls, of which this is one, keep each other from reading, one
			  the next; 0: they do not, or see `deadlock` */
	bool unanswered_syn; /* what was lost is mostly the request for a connection */
	bool late_not_lost;  /* most of what was sent again the other end had already */
	struct totals
		all; /* the largest of them is the endpoint, and what stands above is its own */
	bool peaks_at_delack; /* episodes as long as the delayed-ACK timer's minimum are half of the
				 time, or more */
	bool sampled;	      /* from looks: it has no count and no longest */
	bool goes_on;	      /* it had not ended at the snapshot */
	enum limit limit;     /* LIMIT_NONE: somebody waits needlessly */
	bool small_reads;     /* by whoever is blamed: see verdict/limit.h */
	bool by_loss; /* its congestion control's window or pace, where the path loses segments */
	bool paced_by_itself; /* by its congestion control, and nobody's SO_MAX_PACING_RATE */
};

/* One state of one end's ledger, rx but for `undelivered` */
struct reader_spell {
	int endpoint; /* index in the snapshot, -1: there is none */
	uint64_t ns, max_ns, count;
	double share; /* of its lifetime */
};

/* Who waits for somebody who waits in turn: endpoints, from the first of them to the one that waits
 * for the last. n 0: nobody waits for that one, as far as was seen. */
enum { CHAIN_MAX = 16 };

struct wait_chain {
	size_t n;
	int by[CHAIN_MAX];
};

/* of two ends, the larger counts */
enum wait_end {
	WAIT_GOES_ON,
	WAIT_GIVEN_UP, /* one no longer waits, and neither had sent */
	WAIT_CLOSED, /* neither had sent when an end was closed, or its program was ended */
	WAIT_ENDED,  /* by one of these two */
	WAIT_SENT
};

/* That of two ends each only waits for the other to send */
struct mutual_wait {
	int endpoint; /* where the other waits: of a socket the peer's, of pipes the other pipe; -1:
			 it does not */
	bool nobody_else; /* was seen that may send there, so that neither goes on */
	enum wait_end end;
	size_t circle; /* so many wait, each for the next, whose wait `endpoint` is; 0: two do */
};

/* Questions that were answered, and what the time between was: `think_ns` from read to answer,
 * whoever did the work */
struct requests {
	uint64_t n, unread_ns, way_ns, think_ns;
	uint64_t unread_max_ns, think_max_ns; /* of one of them */
	uint64_t whole, whole_ns; /* of those answered while the server was watched: its own time */
	uint64_t pieces; /* of answers whose first piece came soon, and the others by and by */
	uint64_t pieces_max_ns; /* the longest time between two of them */
	uint64_t unanswered, retry_ns; /* for each of which it waited so long */
	bool may_be_lost; /* these: they were datagrams */
	uint64_t given_up, given_up_ns; /* the connection was closed without an answer */
	uint64_t open; /* of the `n`, at connections at which none was answered yet */
	bool bounded; /* the other end was not seen: it read, and thought, in that time */
	bool uneven;  /* the two sent unlike numbers of messages: not each asks, or answers */
};

enum request_part { REQUEST_THINK, REQUEST_UNREAD, REQUEST_WAY };

/* A long wait, and those that are alike: of the same program for the same server */
struct waits_together {
	size_t connections; /* 0: there is none */
	uint64_t ns, lifetime_ns;
	uint64_t together_ns; /* in which any of them was there */
	bool estimated; /* some of them were not looked at: see unsampled_connections.h */
	bool helpers; /* it started a new one, of the same name, for each of them */
	bool others_wait, others_awaited; /* several processes of the same name do, or are */
	struct requests requests;
};

/* A client that waits for most of its time, one answer after the other, and no answer takes long:
 * no wait, and yet what limits it. */
struct quick_answers {
	int endpoint; /* index in the snapshot, -1: there is none */
	uint64_t n;   /* answers; by looks, how often it slept */
	uint64_t each_ns;
};

/* A stream whose sender has a CPU nearly all the time, and whose reader waits for that: no wait,
 * and yet what limits it. */
struct busy_sender {
	int endpoint; /* index in the snapshot: where it is read; -1: there is none */
	double share; /* of a CPU */
};

/* ACKs that this host's timer withheld while a sender that was not seen waited for them */
struct withheld_ack {
	int endpoint; /* index in the snapshot: who owed them; -1: there is none */
	uint64_t ns, count;
	double share; /* of its lifetime */
};

/* Datagrams thrown away on this host, or lost between two ends on it: nobody is told, and nobody
 * waits for them. */
struct datagram_loss {
	int endpoint; /* index in the snapshot: who would have received them, or of a full queue who
			 sent them; -1: there is none */
	uint64_t sent; /* 0: they were thrown away for `kind`; else they did not arrive, of so many
			*/
	enum trace_drop kind;
	uint64_t n;
	double share; /* of what was read or dropped there, or sent; NAN: unknown */
	bool stray;   /* next to nothing, beside what went through: no verdict */
};

/* Datagrams of a socket, or of several sockets of one program to one address, that nothing came
 * back to, though the program asked for answers */
struct unanswered {
	int endpoint;	/* index in the snapshot, -1: there is none */
	int server;	/* whose socket they went to, as far as it was seen on this host; -1: not */
	size_t sockets;
	uint64_t n, ns; /* how many; how long it waited in all, 0: not known */
	uint64_t answered;	  /* by another server: the client asks several in turn */
	uint64_t others_answered; /* sockets of that program, which asked there too */
	int passed_on; /* by this socket `server` passed them on, without an answer; -1: none
			 */
	bool refused;	/* ICMP said that nobody is there */
};

enum rejection {
	REJECTED_NOT,
	REJECTED_REFUSED, /* no program listened there */
	REJECTED_RESET,	  /* by the other end; if time was lost, before it had answered anything */
};

/* Connections of one program to one address, each of which took long to be made, or was rejected */
struct slow_connect {
	int endpoint; /* index in the snapshot: the first of them; -1: there is none */
	uint64_t n, ns, max_ns, lifetime_ns;
	enum rejection rejected; /* again and again, until that ended or the program gave up: `ns`
				    is the time lost before the retries; 0: there was no retry,
				    and that is no verdict */
	bool is_awaited;	 /* another program waits as long for the one that connects */
};

/* A server that had a request for most of the time that its clients were connected, none of which
 * was seen: they wait for it. Of alike connections, with what they have in all */
struct slow_answers {
	int endpoint; /* index in the snapshot: the first of them; -1: there is none */
	size_t connections;
	bool several; /* processes, of one name */
	bool goes_on; /* one has no answer yet */
	bool suspected; /* by looks alone: nothing was answered while they went on */
	bool closed; /* some were: one client may have made several, one after the other */
	uint64_t ns, lifetime_ns;
	uint64_t cpu_ns; /* of `ns`, on a CPU, as far as is known */
	struct requests requests; /* n 0: looks count none */
	int behind; /* at this connection of its own it waited as long, as often, and passed the
		       answers on; -1: at none */
};

/* No stall stands out, but together they are too much to be called health: many small ones, or of
 * many endpoints that lived briefly. */
struct scattered {
	uint64_t ns;	   /* 0: there is no such sum */
	double share;	   /* of the senders' time */
	uint64_t cause_ns; /* of its largest cause; nothing is known of the causes of closed
			      endpoints that were not kept */
	enum tx_state cause;
	int endpoint;	     /* whose writer has the most of that cause; -1: nobody is known */
	uint64_t process_ns; /* of that writer's process, of that cause, at all its endpoints */
};

enum { FINDINGS_MAX = 16 };

struct verdict {
	struct finding v[FINDINGS_MAX]; /* the largest first, by what they have in all */
	size_t n;
	/*
	 * Where no sender stalled that was seen. `late`: the receiver that left unread longest what
	 * a sender had sent that was not seen; it may be what that one waits for. `wait`: the
	 * reader that waited longest for another program to send: what is slow is that one, or its
	 * way here.
	 */
	struct reader_spell late, wait;
	struct reader_spell busy; /* where nothing stalls: a reader that runs on a CPU meanwhile */
	struct totals late_all; /* `late`, and those that the same server leaves as long */
	bool no_room;	   /* at `late`: who sends there without waiting is refused */
	bool late_answers; /* `late` leaves answers to its own requests: it delays only itself */
	bool late_in_wait; /* `late` is the lesser part of `wait` */
	bool end_held; /* at `wait` no data come, and no end: another process holds the descriptor
			*/
	struct waits_together waits;	 /* `wait`, and those like it */
	struct wait_chain chain;	 /* which leads to `wait` */
	struct waits_together first_waits; /* of the first program of that chain */
	uint64_t queued_ns; /* how long its requests wait in the program between, before it
			       forwards them */
	int brought_by;	    /* by this endpoint came what it waited for; -1: not seen */
	struct quick_answers quick;	 /* instead of `wait` */
	struct busy_sender busy_sender;	 /* instead of `wait` */
	struct reader_spell fellow; /* of another program that waits for the same: the longest */
	struct waits_together fellow_waits; /* and those like it */
	struct mutual_wait mutual;	 /* the other half of `wait` */
	struct reader_spell starved;	 /* whose threads waited longest for a CPU after they were
					    woken: `count` times; of both directions */
	struct reader_spell undelivered; /* what TCP sent again while it was still on this host:
					    longest, `count` timeouts, and the time in `device` */
	struct withheld_ack
		withheld;	   /* the longest, whatever else stalled: no sender that was seen */
	struct datagram_loss loss; /* the largest; stray: all are */
	struct scattered scattered;
	struct unanswered unanswered; /* whoever waited longest */
	struct slow_connect connect;  /* the longest in all */
	struct slow_answers answers;  /* the longest in all */
	pid_t may_pause; /* by samples, which count no answers: a server that owes one for a tenth
			    of its clients' time or more; 0: none */
	uint64_t observed_ns;	      /* from the first endpoint's beginning to the snapshot */
	uint64_t stall_ns;	      /* NIST's stall, of all endpoints */
	uint64_t lifetime_ns; /* of all tx ledgers that ever carried data, and tell what held it */
	bool sent; /* did anything go out through them; some that were seen at their end alone have
		      no time */
	size_t n_unknown; /* of those that do not */
	size_t n_active;  /* endpoints at which anything happened */
	size_t n_unseen; /* of those: whose calls or bytes no hook of this backend sees, by `unseen`
			  */
	enum trace_unseen unseen; /* the last of them */
	int64_t unaccounted_ns;
	/* the judge's (verdict/judge.h) */
	enum outcome outcome;
	enum finding_kind kind; /* what leads */
	size_t lead;		/* of a stall or limit: which of v[] */
	double share;		/* of the time of whoever waits, NAN: unknown */
	const struct asleep *doing; /* the culprit's, meanwhile; NULL: nobody looked */
};

/*
 * What is worth a sentence. What the ledgers say is held, by the tests, against the applications'
 * own clocks to 1 ms + 1 % (CONTRIBUTING.md): a stall below either could be the ledger's own error.
 */
#define VERDICT_MIN_SHARE 0.01
#define VERDICT_MIN_NS	  1000000

static inline double waits_share(const struct waits_together *w)
{
	return w->lifetime_ns ? (double)w->ns / (double)w->lifetime_ns : 0;
}

/* of the lifetimes of all that are told together */
static inline double finding_share(const struct finding *f)
{
	return f->all.lifetime_ns ? (double)f->all.ns / (double)f->all.lifetime_ns : 0;
}

/* It threw away requests for want of room in its accept queue. */
bool listener_was_full(const struct trace_listener *l);
/* The listener of this host that ep's SYN went to, where it threw requests away because its queue
 * was full; NULL: none was seen to. */
const struct trace_listener *full_listener(const struct trace_snapshot *s,
					   const struct trace_endpoint *ep);

/* where ep was accepted, or waits to be, if it is known whose that is; NULL: it is not */
const struct trace_listener *listener_of(const struct trace_snapshot *s,
					 const struct trace_endpoint *ep);

/* NIST's stall of one tx ledger: the sum of its stall rows. */
uint64_t ledger_stall_ns(const struct trace_ledger *tx);

/* a pipe or a Unix socket: what goes through it takes no path */
bool is_local_ipc(const struct trace_endpoint *ep);

/* a Unix socket with one other end: a stream, or of messages */
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

/* All findings, and what they come to. */
void verdict_make(const struct trace_snapshot *s, struct verdict *out);

#endif
