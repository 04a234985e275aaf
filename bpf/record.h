/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel half and user space say to each other: map values, ring-buffer records, and the
 * options of a run. Fixed-width fields only; the asserts below hold the layout on both sides.
 */
#ifndef IPCSTALL_RECORD_H
#define IPCSTALL_RECORD_H

#include "stack_copy.h"
#include "step.h"

#define STATES_MAX   11
#define COMM_LEN     16
#define FILTER_TGIDS 8
#define TGID_HINTS   65536

enum proto {
	PROTO_NONE,
	PROTO_TCP,
	PROTO_UDP,
	PROTO_UNIX_STREAM,
	PROTO_UNIX_DGRAM,
	PROTO_UNIX_SEQPACKET,
	PROTO_PIPE
};

enum drop { DROP_RCVBUF, DROP_QDISC, DROP_CHECKSUM, DROP_OTHER, DROP_N };

#define PENDING 4

/* What else a look finds of a TCP socket. The number is never reused. */
#define LOOK_FACTS(F) \
	F(LOOK_ACK_OWED, 0, "ack_owed", "data has come that is not acknowledged yet, and the " \
		"delayed-ACK timer runs") \
	F(LOOK_BACKLOG, 1, "backlog", "it is established, and nobody has accepted it yet") \
	F(LOOK_HOLE, 2, "hole", "data has come behind a hole: a segment before it is missing") \
	F(LOOK_DISORDER, 3, "disorder", "the peer has reported a hole, and nothing is taken for " \
		"lost yet") \
	F(LOOK_LOSS, 4, "loss", "it sends again what was lost: fast recovery, or after a timeout") \
	F(LOOK_UNANSWERED, 5, "unanswered", "it was the last to send, and nothing has come since") \
	F(LOOK_UNDELIVERED, 6, "undelivered", "its retransmission timer has fired, and its data " \
		"is still on this host") \
	F(LOOK_OWES_ANSWER, 7, "owes_answer", "the peer was the last to send, and nothing has " \
		"gone out since") \
	F(LOOK_UNPROMPTED, 8, "unprompted", "what was sent last is no reaction to what came from " \
		"the other end: it began a request") \
	F(LOOK_UNATTENDED, 9, "unattended", "the peer was the last to send, and no thread sleeps " \
		"until more comes") \
	F(LOOK_IN_FLIGHT, 10, "in_flight", "data that it sent is not acknowledged yet")

#define LOOK_FACT_ENUM(sym, num, name, what)  sym = num,
#define LOOK_FACT_COUNT(sym, num, name, what) +1
enum look_fact { LOOK_FACTS(LOOK_FACT_ENUM) LOOK_FACTS_N = 0 LOOK_FACTS(LOOK_FACT_COUNT) };

enum {
	CHRONO_BUSY,
	CHRONO_RWND,
	CHRONO_SNDBUF,
	CHRONO_N
}; /* TCP's own chronographs, in its order */

/* What TCP and UDP count of a socket by themselves, at one moment: see own_counts.h. */
struct own_counts {
	unsigned int chrono[CHRONO_N]; /* in ticks */
	unsigned int retransmits;
	unsigned int drops, filtered; /* UDP; the program has a filter on the socket */
};

#define GAP_SHIFT 14 /* the unit of a gap's cube is 16.4 us */
#define GAP_MOST  (1ULL << 17)

/* Of a sampled session: how often a state was found, and how often found again at the next look.
 * From `cubes` on of tx alone. */
struct looks {
	unsigned int n;
	unsigned int seen[STATES_MAX], again[STATES_MAX], later[STATES_MAX];
	unsigned int earlier; /* what the look before the last found */
	ns_t since; /* the last look's state was first found then, and at each look after */
	unsigned int blamed; /* at the last look: LOOK_BY_* */
	unsigned int una;    /* TCP's snd_una then */
	ns_t flew;	     /* charged as flight while that stayed: what was lost if it was */
	ns_t resent; /* so much of it had flown when it was sent again: lost, unless the peer says
			that it got it twice */
	unsigned int dsacks; /* TCP's count of that, then */
	unsigned long long
		cubes; /* of the gaps between looks, see GAP_SHIFT: how uneven they are */
	unsigned int fact[LOOK_FACTS_N];
	struct own_counts then; /* when this endpoint was first looked at; drops: booked so far */
	unsigned int filtered;	/* UDP: some were not booked: a filter may have refused them */
	ns_t chrono[CHRONO_N];	/* since `then` */
	unsigned int head, head_then; /* of a pipe's ring, at the last look and at the first */
	ns_t wrote_after, wrote_by;   /* the last write that a look found came between these two */
	unsigned int full; /* looks that found no room for one more in a queue of Unix datagrams */
	unsigned int refilled; /* of these: since the look before some were read, and others came */
	unsigned int oldest;   /* which datagram was the next to be read, at the last look */
};

enum { LOOK_BY_DELACK = 1, LOOK_BY_READER = 2 };

/* What a look found: the state of tx in the bits of FOUND_TX, and from these on that of rx, the
 * facts, and that the endpoint was there; else 0. */
enum { FOUND_TX = 15, FOUND_RX = 4, FOUND_FACTS = 8, FOUND = 1 << 30 };

/* one direction of one endpoint; see charge.h for who may change what */
struct ledger {
	word_t word; /* see step.h */
	ns_t seen;   /* when this ledger was last looked at: a later finding reaches back no further
		      */
	word_t done; /* its turn bit: of the last charge that is booked */
	word_t has_pending;
	word_t pending[PENDING]; /* ended episodes that wait to be booked */
	ns_t ns[STATES_MAX];	 /* ended episodes, by state */
	ns_t max[STATES_MAX];
	union {
		unsigned int hist[STATES_MAX]
				 [HIST_SLOTS]; /* their sum is the number of ended episodes */
		struct looks looks;	       /* of a sampled session, which sees no episode */
	};
};

/* the peer's reader when a stall began: see starved.bpf.h */
struct peer_reader {
	unsigned long long task; /* 0: not known */
	ns_t waited;		 /* for a CPU, in all its life, not counting the present wait */
	ns_t queued;		 /* since when it waits, by the scheduler's clock; 0: it does not */
	ns_t noticed, looked;	 /* when this wait was first seen, and when the stall was */
	ns_t before;		 /* so long it had lasted by then, as far as it was seen */
};

/* A tail loss probe that went out, and what flew then, acknowledged late or lost: see
 * probe_goes_out() */
struct loss_probe {
	ns_t since, at; /* since when that flew; when the probe went. 0: none is under way */
	unsigned int high, dsacks;	/* tlp_high_seq; dsack_dups then */
	unsigned long long retransmits; /* of the endpoint, then */
};

/* Of what is charged as `flight`, what probes proved to have been lost. User space moves it to
 * `recovery`. */
struct tail_loss {
	ns_t ns, max;
	unsigned int hist[HIST_SLOTS];
};

struct flow {
	unsigned long long bytes, messages, wakeups;
	ns_t blocked_ns, blocked_max; /* a thread slept in the call, until it ran again; a writer:
					 for room */
	ns_t runq_ns, runq_max;	      /* the last part of that: woken, no CPU yet */
};

/* How long replies took, and how many there were: see reply.bpf.h. */
struct replies {
	ns_t ns, max;
	ns_t first; /* when the first was there: whoever asks first is answered before it answers */
	unsigned int n;
	unsigned int refused; /* calls that ended with ECONNREFUSED: nobody is there */
};

/* since when an answer is waited for; since when what was read has had none; 0: it does not */
struct asking {
	ns_t asked, took;
	ns_t given_up; /* TCP: when its program closed it */
};

/* beside the ledger: these overlap its states */
struct call_stats {
	struct flow own, crowd; /* booked by those whose turn it was, and by the others, also where
				   no time was to be booked */
	unsigned int tgid, tid; /* who was last in the call */
	char comm[COMM_LEN];
	int kstack, ustack;	   /* STACK_NUMBER(), < 0: unknown; of tx only */
	unsigned long long cgroup; /* of that task: its id in the v2 hierarchy */
	unsigned int others;	   /* 1: other processes were in the call before */
	unsigned int named;	   /* `renames` when the name was noted */
	ns_t left; /* since when that process has no descriptor of it, while others have: it ended,
		      or (`let_go`) closed it; 0: not so */
	unsigned long long task; /* the kernel's, of `tid`; 0: it is not known */
	ns_t no_cpu; /* time in which whoever was last in the call was awaited, ready to run and
			without a CPU: see starved.bpf.h */
	ns_t waited_then;
	ns_t quota;		   /* of `no_cpu`: its cgroup had used up its CPU quota */
	ns_t stopped, stopped_max; /* so long it was awaited while it was stopped or frozen */
	unsigned int stopped_n, stopped_then;
	unsigned int throttled_then, pad;
	ns_t no_cpu_until;  /* what lies before is counted in `no_cpu`, or was no such time */
	ns_t cpu, cpu_then; /* what the threads that were last in the call ran on a CPU since their
			       first, in the call and out of it; what the present one had run when
			       that was counted */
	ns_t born;	    /* when its process began; 0: not known */
	unsigned int let_go;
	unsigned int fd_owner; /* who had it last after that; 0: not known */
	char fd_owner_comm[COMM_LEN];
	unsigned int parent; /* of the first that was seen in the call: it had this end before; 0:
				it had not */
	char parent_comm[COMM_LEN];
	struct replies replies; /* of reads: the other end's; of sends: its own */
	unsigned int giver; /* who last passed this end to another process (SCM_RIGHTS); 0: nobody
			     */
	unsigned int giver_pad;
	char giver_comm[COMM_LEN];
	ns_t given;	    /* when; before that it was the giver's */
	ns_t giver_unread;  /* of reads: how long data had lain unread by then */
	ns_t giver_thought; /* of sends: how long what was read had had no answer by then */
	ns_t process_ran;   /* what that process had run on a CPU when that was last counted: this
			       thread and those that had ended */
};

/* In the place of a process in a vote: whoever has the end after the one that is named there has
 * left it. No process has this number (PID_MAX_LIMIT). */
#define FD_OWNER_TGID 0x7fffffff

/* who has most of some time, told by vote_won() */
struct vote {
	ns_t lead, sum;
	unsigned int tgid, tid; /* 0: nobody */
	unsigned int second;	/* whoever else voted: see vote_second() */
	unsigned int mixed;	/* 1: not all had the same name */
	char comm[COMM_LEN];
};

/* by tx state: those that are a stall follow one another, fewer than these */
#define VOTES		  8
#define VOTE_PLACE(state) ((state) & (VOTES - 1))

/* why the other end kept this one waiting, by tx state; whom each stall held up, and who of the
 * other end explains it */
struct blame {
	ns_t delack_ns[STATES_MAX]; /* the peer owed an ACK and withheld it; its timer released it
				     */
	ns_t unread_ns[STATES_MAX]; /* the peer had data queued and no reader in a call */
	unsigned int delack_n[STATES_MAX];
	unsigned int unread_n[STATES_MAX];
	ns_t gathered_ns; /* `nagle` that the writer's own next call ended: Nagle gathers its small
			     writes */
	unsigned int gathered_n, pad;
	ns_t starved_ns[VOTES]; /* the peer's reader was ready to run and had no CPU, by
				   VOTE_PLACE() */
	unsigned int starved_n[VOTES];
	struct vote held_up[VOTES], late[VOTES];
};

/* Of some times their sum and that of their squares, in microseconds: what they vary by. */
struct spread {
	unsigned long long sum, squares;
};

/* fires of the delayed-ACK timer after which data came as soon as the ACK could have let it go: how
 * often, and how long it had been withheld */
struct answers {
	unsigned long long n;
	ns_t ns;
	struct spread since_fired, since_owed;
};

/* with a threshold for stalls: what held the head of a TCP queue when it was last looked at; see
 * struct tcp_snap */
struct held {
	unsigned int queued;  /* bytes not yet sent */
	unsigned int unacked; /* bytes sent and not acknowledged */
	unsigned int small; /* of these, up to the end of the last small segment; 0: none is out */
	unsigned int mss, cwnd, in_flight, window;
	unsigned char head, nonagle; /* enum head; TCP_NAGLE_* */
	unsigned short pad;
};

/* the segment that last came in with an acknowledgement */
struct last_ack {
	ns_t at;		     /* 0: none was seen */
	unsigned int acked, payload; /* bytes it acknowledged, bytes it brought */
};

/*
 * A connection before it is one. What it costs until somebody has it stands beside the ledger: at
 * the client it is flight, at the server it lies in a queue.
 */
struct making {
	ns_t asked;	 /* when connect() began; 0: it did not here, or that was not seen */
	ns_t connect_ns; /* from then until the other end answered; 0: it has not */
	ns_t accepted; /* when somebody was given it; 0: nobody has been, or it was not seen in the
			  queue of its listener */
	ns_t unread_then;      /* its `unread` until then */
	unsigned int listened; /* it was born in a listener's queue */
	unsigned int moved;    /* UDP: it was connected after it had sent, or to another address */
	unsigned int origin;   /* enum origin */
	unsigned int bound;    /* UDP: its program chose the port, as servers do */
	ns_t reset; /* TCP: when the other end reset it; 0: it did not */
};

/* What a socket itself tells of how it was made, also long before anybody traced it. Of Unix
 * sockets PAIR: neither end has a name that the other lacks; TALKS: and something went both ways.
 */
enum origin { ORIGIN_UNTOLD, ORIGIN_PAIR, ORIGIN_CONNECT, ORIGIN_LISTENER, ORIGIN_TALKS };

/* What a delayed ACK waited for before it went out: its timer, or data of ours to ride on. */
enum delack { DELACK_NONE, DELACK_FIRED, DELACK_RODE };

struct withheld {
	ns_t owed, went;  /* since when, until when */
	unsigned int how; /* enum delack */
	unsigned int pad;
};

/*
 * What holds the head of a queue holds on while its writer adds to it, whose calls are `work`: one
 * hold in pieces. It is counted once, and as long as they are together: see hold.bpf.h.
 */
struct hold {
	ns_t ns;	      /* of its pieces that ended */
	ns_t from, until;     /* since when; the end of the last piece */
	ns_t unread, starved; /* by the other end, for its record */
	struct withheld ack;
	unsigned int state, next; /* enum tx_state; TCP's snd_nxt when the last piece ended: what
				     goes out ends it */
	unsigned int going,
		went_on; /* the present piece is not the first; nor was the one that ended last */
	unsigned int untold, pad; /* with a threshold: reported once it is known to be over */
};

struct address {
	unsigned char ip[16]; /* IPv4: the first four bytes */
	unsigned short port;  /* host order */
};

/*
 * A listening socket of a traced process. Its queue holds what is established and nobody has
 * accepted; what comes while that is full is thrown away, and asked for again a second later.
 */
struct listener {
	unsigned long long key, inode; /* of the socket */
	unsigned long long port;       /* its namespace and port: see listener_key() */
	ns_t born, closed;	       /* closed 0: it listens */
	unsigned int netns, family;
	struct address local;
	unsigned int backlog, queue,
		peak; /* how many may wait (one more may: sk_acceptq_is_full()); do, at the last
			 look; did, at any */
	unsigned int drops,
		drops_then; /* requests that were thrown away: sk_drops, now and when this began */
	unsigned long long established,
		accepted;	/* connections, since: while it is alone at its port */
	ns_t wait_ns, wait_max; /* of the accepted ones: in the queue */
	unsigned int tgid, tid; /* who accepted last; before: who made it listen, or holds it */
	char comm[COMM_LEN];
};

/* TCP: data came and could not be read, since what belongs before it had not come */
struct hole {
	ns_t since; /* 0: there is none */
	ns_t ns, max;
	unsigned int n, ooo_then; /* segments out of order before this began */
};

/* What a part of a state was, where that can be told: see note_part(). Beside the ledger, and never
 * more than the state. */
enum slice {
	SLICE_NONE,
	SLICE_DEFERRED,		/* of `pacing`: TSO deferral (tcp_tso_should_defer()) */
	/* of `pacing`: in the queueing discipline fq, which paces for TCP */
	SLICE_FQ,
	/*
	 * of `device`: more is queued, and TCP leaves no more than that below
	 * (tcp_small_queue_check())
	 */
	SLICE_TSQ,
	/* of `device`: a partial segment waits for what is below (tcp_should_autocork()) */
	SLICE_AUTOCORK,
	SLICE_N
};

struct parts {
	ns_t since; /* of the present one, which `episode` names */
	ns_t ns[SLICE_N];
	unsigned int n[SLICE_N];
	unsigned int pad;
};

/* What the path of a TCP connection gives, by TCP's own reckoning at the last look. */
struct path {
	unsigned int rate_delivered,
		rate_interval_us; /* segments in that time: the last sample; 0: none */
	unsigned int mss, cwnd, ssthresh;
	unsigned int lost, lost_then;	  /* segments marked lost so far, and when this began */
	unsigned int segs_out, segs_then; /* with data, sent */
	unsigned int ooo;		  /* came out of order */
	unsigned int app_limited;
	unsigned int rcv_wnd; /* what this end lets the other one send at once */
	unsigned long long pacing_rate, max_pacing_rate;
	char congestion_control[16];
};

/* what an upper protocol, or a program of somebody else's, does with a socket's calls and bytes */
enum upper {
	UPPER_NONE,
	UPPER_CALLS /* unseen, whatever they are */,
	UPPER_TLS,
	UPPER_MPTCP,
	UPPER_SOCKMAP,
	UPPER_SMC,
	UPPER_N
};

#define WAITERS 4

/* what an endpoint is; but for addresses, which it may get later, or of UDP change, the same while
 * it lives */
struct identity {
	unsigned long long key; /* address of the kernel's struct sock or struct pipe_inode_info */
	unsigned long long serial; /* one for each endpoint of a session: addresses are reused */
	unsigned long long inode;
	unsigned int netns;
	unsigned char proto, family;
	unsigned short pad;
	struct address local, remote;
	unsigned int pad2;
};

struct endpoint {
	/* what nearly every event asks for: one cache line, with the head of `tx` behind it */
	unsigned long long key; /* the address it is found by; 0: it is gone */
	ns_t closed;		/* 0 while it lives */
	unsigned int settled;	/* of a TCP socket that lives all is known that does not change: see
				   endpoint_settles() */
	unsigned int announced; /* TCP: up to here data was told of that had not been queued yet:
				   see tcp_data() */
	ns_t ack_owed;		/* since when an ACK is owed; 0: none */
	ns_t flown; /* since when no segment of ours went out and none was acknowledged, of those
		       that fly */
	unsigned int flying; /* packets_out then */
	unsigned int
		refused; /* a writer was refused room and has not come back: see refused.bpf.h */
	unsigned int episode; /* inside one of no window (bit 0), and in which part of a state (enum
				 slice) */
	unsigned int flags;   /* EP_* */
	union {
		unsigned int tail;     /* of a pipe's ring, when last looked at */
		unsigned int went_out; /* of a TCP socket: the last segment, by the lower bits of
					  the clock */
	};
	unsigned int place; /* in the array */
	struct ledger tx, rx;
	struct identity id;
	ns_t born;
	struct call_stats tx_calls, rx_calls;
	struct blame blame;
	unsigned long long waiters[WAITERS]; /* of a Unix datagram socket: keys of senders that it
						refused room */
	unsigned long long peer; /* key of the other end, 0: not on this host or not traced */
	ns_t peer_unread;	 /* the peer's `unread` so far, when the present stall began */
	struct peer_reader peer_reader; /* then */
	ns_t peer_left;			/* the peer's `unread` when it closed, if it closed first */
	ns_t looked_at, unread_then;	/* TCP: when a segment last left others behind it, and the
					   peer's `unread` then */
	struct withheld withheld[2];	/* the last ACK that was, and the one before */
	ns_t delack_ns;			/* ACKs withheld until the timer fired */
	ns_t unanswered; /* when it fired, if no data has come since nor had long before; since when
			    that ACK was owed */
	ns_t unanswered_owed;
	unsigned int sent_then, got_then; /* how far both directions were then */
	struct answers answers;
	unsigned long long syn_retransmits; /* of `retransmits`: nobody had answered yet */
	union {
		unsigned short rare; /* asked with each segment, for both at once: */
		struct {
			unsigned char probing, holed; /* `probe` is under way; `hole` is there */
		};
	};
	unsigned short pad3;
	unsigned int pad4;
	struct loss_probe probe; /* TCP's, under way */
	struct tail_loss tail_lost;
	ns_t ack_debt_ns; /* all time in which an ACK was owed */
	unsigned long long delack_fires, retransmits, timeouts, zero_windows;
	ns_t fired; /* when the retransmission timer last did */
	ns_t undelivered_ns; /* until the timer fired, and what had been sent was on this host */
	unsigned long long drops[DROP_N];
	ns_t queue_at; /* residence: the integral of queue length over time, by Little's law */
	unsigned long long queue_integral, queue_len, queue_max, dequeued;
	unsigned long long through[2]; /* by direction: bytes that had gone through the socket when
					  this began, see audit.bpf.h */
	unsigned long long
		moved[2]; /* tx, rx: where the calls fall short, what TCP itself counted since the
			     birth, also of a call under way; a SYN and a FIN may be in it */
	unsigned int astray[2]; /* looks in a row at which the calls did not account for what went
				   through */
	unsigned int rtt_us, min_rtt_us;  /* TCP's smoothed round-trip time, at the last look, and
					     the least of late; 0 and ~0: unknown */
	unsigned int dsacks, dsacks_then; /* TCP's count of what the peer got twice, at the last
					     look, and when this began */
	unsigned long long
		node; /* of a pipe: the address of its inode, by which pipe_lives() asks for it */
	struct held held;
	struct last_ack ack;
	struct hold held_on;
	struct making making;
	struct asking asking; /* of a socket; of a pipe `asked` alone, since the last write */
	struct hole hole;
	struct parts parts;
	struct path path;
	struct address sent_to; /* UDP, not connected: where datagrams went; port 0: none went */
	unsigned short sent_elsewhere; /* 1: some went to another address, or to one not known */
	unsigned int upper;	       /* enum upper */
};

/* the endpoint was first seen in the middle of its life; its record could not be sent yet */
enum {
	EP_JOINED_LATE = 1,
	EP_UNSENT = 2,
	EP_REUSED = 4,
	EP_LOOKED = 8,
	EP_MISSED = 16 /* << dir: bytes moved unseen, see `moved` */,
	EP_UNSEEN = 64 /* << dir: most of them */,
	EP_NAMED = 256 /* its `peer` sends to it, and not it to that one */,
	EP_LET_GO = 1024 /* it lives, and nothing happened in it: it made room */,
	EP_STRANGE = 512 /* born at a port that is listened on here too, and another's: see
			    is_strangers() */
};

/* Another program that listens on the same port accepted it. As the other end of one of ours it is
 * reported all the same. */
static inline int is_strangers(unsigned int flags, unsigned long long peer)
{
	return flags & EP_STRANGE && !peer;
}

/*
 * Whoever was not seen at this end of a pipe (tid 0) holds its descriptor. Of several that do,
 * nobody knows who uses it; nor is who waits at the other end the one he waits for.
 */
static inline int is_mere_holder(const struct call_stats *b, const struct call_stats *other)
{
	return !b->tid && (b->others || (other->tid && other->tgid == b->tgid));
}

#define RETRY_NS 1000000 /* what TCP's timer does when it fires takes less */

#define SYN_AND_FIN 2 /* each takes a sequence number, and is no byte */
#define AUDIT_LOOKS \
	3 /* in a row that must find bytes astray: one that falls between a call's work and its \
	     being counted does so too */

enum record_type {
	RECORD_CLOSE = 2,
	RECORD_STALL = 3,
	RECORD_STEP = 4,
	RECORD_MARK = 5,
	RECORD_LISTENER = 6
};

struct record_head {
	unsigned int type, size;
};

struct record_close {
	struct record_head head;
	struct endpoint ep;
};

/* it listens no more */
struct record_listener {
	struct record_head head;
	struct listener l;
};

/* one stall at least as long as the threshold */
struct record_stall {
	struct record_head head;
	unsigned long long serial, peer_serial;
	ns_t from, to;
	unsigned int state;
	unsigned int tgid, peer_tgid;
	int kstack, ustack;
	int peer_kstack, peer_ustack;
	unsigned short by_delack; /* enum delack */
	unsigned short goes_on;	  /* `to` is the session's end, and not its own */
	ns_t peer_unread, peer_no_cpu;
	ns_t ack_owed, ack_went; /* by the peer: since when, and when it went out; 0: it was not
				    waited for */
	struct held held;	 /* head 0: unknown */
	struct last_ack ack;	 /* that ended it; at 0: none did */
	char comm[COMM_LEN], peer_comm[COMM_LEN];
};

/*
 * What happens beside the states, worth a mark on a timeline: one row each, the number is never
 *reused. M(symbol, number, name, what happened)
 */
#define MARKS(M) \
	M(MARK_SEND, 1, "message", "a send call left; bytes: what it took") \
	M(MARK_RECV, 2, "read", "a receive call left; bytes: what it brought") \
	M(MARK_SEGMENT, 3, "segment", "a TCP segment with data arrived; bytes: its payload") \
	M(MARK_ACK, 4, "ack", "a TCP segment without data arrived") \
	M(MARK_DELACK, 5, "delack", "this end's delayed-ACK timer fired") \
	M(MARK_RETRANSMIT, 6, "retransmit", "a segment was sent again") \
	M(MARK_TIMEOUT, 7, "timeout", "the retransmission timer fired") \
	M(MARK_WAKEUP, 8, "wakeup", "a thread that slept in a call here runs again") \
	M(MARK_TRANSMIT, 9, "transmit", "a driver was given a packet; bytes: its payload") \
	M(MARK_ARRIVAL, 10, "arrival", "something came for whoever reads a datagram or Unix socket")

#define MARK_ENUM(sym, num, name, what)	 sym = num,
#define MARK_COUNT(sym, num, name, what) +1
enum mark { MARKS(MARK_ENUM) MARK_N = 1 MARKS(MARK_COUNT) };

/* a step or a mark of the timeline */
struct record_event {
	struct record_head head;
	unsigned long long serial;
	ns_t at;		  /* a step: the end of the state `from` */
	unsigned long long value; /* a step: how long that lasted; a mark: bytes */
	unsigned int what;	  /* a step: EVENT_STEP; a mark: enum mark */
	unsigned int pad;
};

#define EVENT_STEP(dir, from, to, closes) \
	((dir) | (from) << 4 | (to) << 8 | (unsigned int)(closes) << 12)

enum timeline { TIMELINE_NONE, TIMELINE_ALL, TIMELINE_ONE };

/* of a histogram: [32.8, 65.5) ms, where the delayed-ACK timer's minimum of 40 ms falls */
#define SLOT_DELACK 16

/* An endpoint as a live screen wants it: written by the kernel half into memory that user space has
 * mapped. */
struct digest {
	struct identity id; /* serial 0: no such endpoint */
	ns_t born, at;
	word_t tx_word, rx_word;
	ns_t tx_ns[STATES_MAX], rx_ns[STATES_MAX];
	ns_t delack_ns[STATES_MAX], unread_ns[STATES_MAX];
	unsigned long long tx_bytes, tx_messages, rx_bytes, rx_messages, moved[2];
	ns_t blocked_ns;
	unsigned long long retransmits, drops, cgroup;
	unsigned long long peer; /* serial of the other end, 0: none */
	ns_t gathered_ns, starved_ns[VOTES];
	unsigned int gathered_n;
	unsigned int nagle_n, nagle_delack_n, rwnd_n;
	unsigned int rtt_us, min_rtt_us, flags;
	unsigned int tx_tgid, rx_tgid;
	char tx_comm[COMM_LEN], rx_comm[COMM_LEN];
};

#define DIGESTS 256 /* at a time */

struct digest_order {
	unsigned long long key[DIGESTS]; /* in: whose; 0: none */
	struct digest digest[DIGESTS];	 /* out */
};

/* what became of a descriptor, or of a sleeping thread, that existed before the session: see
 * preexisting.bpf.h */
enum seeded { SEED_GONE, SEED_UNWANTED, SEED_NO_ROOM, SEED_LISTENS, SEED_KNOWN, SEED_MADE };
#define SEED_FIFO \
	(~0ULL) /* in the place of an inode's number: that of a FIFO is its file system's, and \
		   overlayfs shows another */

enum filter_kind { FILTER_ALL, FILTER_TGIDS_ONLY, FILTER_TREE, FILTER_CGROUP };

/* set before load: the verifier then removes what is not asked for */
struct options {
	unsigned int filter; /* enum filter_kind */
	unsigned int tgids[FILTER_TGIDS];
	unsigned long long pidns_dev, pidns_ino; /* of the reader's PID namespace, whose numbers are
						    reported; 0: the machine's */
	unsigned short port_lo, port_hi;	 /* 0: any */
	unsigned int stacks;			 /* record stacks of stalls */
	unsigned int copies;			 /* stack_copy may be asked for */
	unsigned int timeline;			 /* enum timeline */
	unsigned int protos;			 /* 1 << enum proto */
	unsigned int hashed;	   /* endpoints stand in a hash: see endpoint_table.bpf.h */
	unsigned int switch_state; /* sched_switch passes the state (5.18 on) */
	unsigned int drop_args;	   /* of kfree_skb: a third is the reason (5.17 on), a fourth the
				      receiver (6.11 on) */
	unsigned int dgram_sock;   /* the hook of Unix datagram receives gets a struct sock */
	unsigned int
		recv_args; /* of tcp_recvmsg() and udp_recvmsg(): 6 before 5.19, 5, 4 from 7.2 on */
	ns_t tick;	   /* a jiffy */
	ns_t stall_threshold; /* RECORD_STALL from this length on; 0: none */
	unsigned long long fn_delack,
		fn_write; /* addresses of tcp_delack_timer, tcp_write_timer; 0: unknown */
};

/* addresses of what wakes a task that sleeps in a call, or in poll(): see waiters.bpf.h; 0: unknown
 */
struct sleeper_functions {
	unsigned long long woken, autoremove, receiver, poll;
};

#define BIRTHS \
	16384 /* keys of the endpoints that were made last, by serial, are kept for whoever looks \
	      */

#define LOOKS_AT_ONCE 256 /* endpoints that one run of `look` looks at */

enum counter {
	COUNT_OBSERVED,		/* inputs given to a machine */
	COUNT_UNPAIRED,		/* leave without enter, or more threads than are counted */
	/*
	 * endpoints that found no room in the map, each counted once however often it asked; and
	 * what else of them did not: their addresses, ports that listen
	 */
	COUNT_OVERFLOW,
	/* records that found no room in the ring buffer and were overwritten */
	COUNT_LOST,
	/* other processors kept at the word: what ended was charged to the next state */
	COUNT_CONTENDED,
	COUNT_EVENTS_LOST,	/* the part of COUNT_LOST that is steps and marks of the timeline */
	/* an address came back as another endpoint before its end was seen */
	COUNT_REUSED,
	COUNT_OPENED,		/* endpoints made */
	COUNT_BLIND,		/* stretches of a processor in which the kernel ran no program */
	COUNT_STACKS,		/* stacks whose place was taken: unknown */
	COUNT_LET_GO,		/* idle endpoints that made room: see evict_endpoint.bpf.h */
	COUNT_N
};

/* of a stack: its place in the map that was filled at that age, see stack_number() */
#define STACK_PLACES		 16384u
#define STACK_AGES		 32768u
#define STACK_NUMBER(age, place) ((int)(((age) % STACK_AGES) << 16 | (unsigned int)(place)))
#define STACK_PLACE(number)	 ((unsigned int)(number)&65535)
#define STACK_AGE(number)	 ((unsigned int)(number) >> 16)

/* A thread's call on an endpoint: see call.bpf.h. */
struct call {
	unsigned long long key; /* endpoint; 0: in no call that matters */
	ns_t off, ran;		/* off: left the CPU to sleep; ran: got one again */
	ns_t run_delay; /* sched_info.run_delay at `off`; CALL_PAUSED: it sleeps for nothing that
			   the endpoint could give */
	unsigned long long task; /* who sleeps since `off` */
	unsigned int tid;
	unsigned int place; /* of the endpoint, if it stands in the array */
	unsigned char dir, entered;
	unsigned char before; /* it was in this call when the session began */
	unsigned char peeks;  /* what it returns it does not take */
	union {
		unsigned short rare; /* asked at each switch, for both at once: */
		struct {
			unsigned char polls; /* in no call on it, but asleep in poll() or select()
						for what comes there: see polled.bpf.h */
			unsigned char stops; /* stopped by a signal or a tracer, or frozen */
		};
	};
	unsigned char stranger; /* nobody asked for its process: it uses an endpoint that is known
				   by others */
	unsigned int stopped,
		stopped_sum; /* since when; how long before, in all its life: see STOP_SHIFT */
} __attribute__((aligned(64)));

#define STOP_SHIFT  16 /* 65.5 us is the unit of these: three days fit */
#define CALL_PAUSED (~0ULL)
#define CALL_SLOTS  32768

/* What is a processor's own, in the variable `processors`: found by a shift and an addition, where
 * a per-CPU map takes a look-up. */
struct processor {
	unsigned long long task; /* that came there last: see switch_joins() */
	unsigned long long counts[COUNT_N];
} __attribute__((aligned(128)));

#define PROCESSORS 8192u /* no kernel is built for more */

#define OFFSET_IS(type, field, off) \
	_Static_assert(__builtin_offsetof(type, field) == (off), #type "." #field " has moved")

_Static_assert(TX_STALLS / (TX_STALLS & -TX_STALLS) < 1 << VOTES, "stalls share a vote");
_Static_assert(TX_N <= STATES_MAX && RX_N <= STATES_MAX, "a ledger has no room for its states");
_Static_assert(sizeof(struct ledger) == 8 * (4 + PENDING) + STATES_MAX * (8 + 8 + 4 * HIST_SLOTS),
	       "struct ledger has changed");
_Static_assert(sizeof(struct looks) <= STATES_MAX * HIST_SLOTS * 4,
	       "looks take more room than the histogram that they replace");
_Static_assert(sizeof(struct identity) == 72, "struct identity has changed");
OFFSET_IS(struct endpoint, tx, 64);
_Static_assert(__builtin_offsetof(struct vote, comm) % 8 == 0 &&
		       __builtin_offsetof(struct call_stats, comm) % 8 == 0,
	       "names are compared by halves");
_Static_assert(sizeof(struct record_event) == 40, "struct record_event has changed");
OFFSET_IS(struct record_close, ep, 8);

#endif
