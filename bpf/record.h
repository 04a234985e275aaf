/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel half and user space exchange: map values, ring-buffer records, and the options of
 * a run. Fixed-width fields only; the asserts below check the layout on both sides.
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

/* Facts that a sample finds about a TCP socket, beside its states. A number is never reused. */
#define SAMPLE_FACTS(F)                                                                          \
	F(SAMPLE_ACK_OWED, 0, "ack_owed",                                                        \
	  "data has come that is not acknowledged yet, and the "                                 \
	  "delayed-ACK timer runs")                                                              \
	F(LOOK_BACKLOG, 1, "backlog", "it is established, and nobody has accepted it yet")       \
	F(SAMPLE_HOLE, 2, "hole", "data has come behind a hole: a segment before it is missing") \
	F(SAMPLE_DISORDER, 3, "disorder",                                                        \
	  "the peer has reported a hole, and nothing is taken for "                              \
	  "lost yet")                                                                            \
	F(SAMPLE_LOSS, 4, "loss",                                                                \
	  "it sends again what was lost: fast recovery, or after a timeout")                     \
	F(SAMPLE_UNANSWERED, 5, "unanswered",                                                    \
	  "it was the last to send, and nothing has come since")                                 \
	F(SAMPLE_UNDELIVERED, 6, "undelivered",                                                  \
	  "its retransmission timer has fired, and its data "                                    \
	  "is still on this host")                                                               \
	F(SAMPLE_OWES_ANSWER, 7, "owes_answer",                                                  \
	  "the peer was the last to send, and nothing has "                                      \
	  "gone out since")                                                                      \
	F(SAMPLE_UNPROMPTED, 8, "unprompted",                                                    \
	  "what was sent last is no reaction to what came from "                                 \
	  "the other end: it began a request")                                                   \
	F(SAMPLE_UNATTENDED, 9, "unattended",                                                    \
	  "the peer was the last to send, and no thread sleeps "                                 \
	  "until more comes")                                                                    \
	F(SAMPLE_IN_FLIGHT, 10, "in_flight", "data that it sent is not acknowledged yet")

#define SAMPLE_FACT_ENUM(sym, num, name, what)	sym = num,
#define SAMPLE_FACT_COUNT(sym, num, name, what) +1
enum sample_fact {
	SAMPLE_FACTS(SAMPLE_FACT_ENUM) SAMPLE_FACTS_N = 0 SAMPLE_FACTS(SAMPLE_FACT_COUNT)
};

enum {
	CHRONO_BUSY,
	CHRONO_RWND,
	CHRONO_SNDBUF,
	CHRONO_N
}; /* TCP's own chronographs, in its order */

/* What TCP and UDP themselves count for a socket, at one moment: see own_counts.h. */
struct own_counts {
	unsigned int chrono[CHRONO_N]; /* in ticks */
	unsigned int retransmits;
	unsigned int drops, filtered; /* UDP; whether the socket has a filter */
};

#define GAP_SHIFT  14 /* a gap is cubed in units of 16.4 us */
#define GAP_MOST   (1ULL << 20)
#define CUBE_SHIFT 12 /* so that the sum of 65,536 of the longest gaps has room */

/* In a sampled session: how often samples found each state, and found it again at the next sample.
 * The fields from `cubes` on are used in tx only, except `full`, `refilled` and `oldest`, in rx. */
struct samples {
	unsigned int n;
	unsigned int seen[STATES_MAX], again[STATES_MAX], later[STATES_MAX];
	unsigned int earlier; /* the state at the last sample but one */
	ns_t since; /* when the last sample's state was first found; each sample since found it too
		     */
	unsigned int blamed; /* at the last sample: HELD_BY_* */
	unsigned int una;    /* TCP's snd_una, at the last sample */
	ns_t flew;	     /* flight while `una` stayed: was `recovery` if data was lost */
	ns_t resent; /* the part of that before a retransmission: it was `recovery`, unless the peer
			reports a duplicate */
	unsigned int dsacks; /* TCP's dsack_dups at the last sample before the retransmission */
	unsigned long long cubes; /* sum of the cubed gaps between samples, see GAP_SHIFT: how
				     uneven they are */
	unsigned int fact[SAMPLE_FACTS_N];
	struct own_counts then; /* at the first sample; `drops`: those booked so far */
	unsigned int filtered;	/* UDP: drops were not booked: a filter may have refused them */
	ns_t chrono[CHRONO_N];	/* since `then` */
	unsigned int head, head_then; /* of a pipe's ring, at the last sample and at the first */
	ns_t wrote_after, wrote_by; /* the last write that a sample found came between these two */
	unsigned int full; /* samples that found the receive queue of a Unix datagram socket full */
	unsigned int refilled; /* of these: some were read, and others came, since the sample
				  before */
	unsigned int oldest;   /* the datagram at the head of that queue, at the last sample */
};

enum { HELD_BY_DELACK = 1, HELD_BY_READER = 2 };

/* What a sample returns: the state of tx in the mask FOUND_TX, the state of rx from bit FOUND_RX
 * on, the facts from bit FOUND_FACTS on, and FOUND if the endpoint was there; else 0. */
enum { FOUND_TX = 15, FOUND_RX = 4, FOUND_FACTS = 8, FOUND = 1 << 30 };

/* one direction of one endpoint; see charge.h for who may change what */
struct ledger {
	word_t word; /* see step.h */
	ns_t seen;   /* when last looked at; what a later event shows is dated no earlier */
	word_t done; /* the turn bit of the last charge that was booked */
	word_t has_pending;
	word_t pending[PENDING]; /* ended episodes that wait to be booked */
	ns_t ns[STATES_MAX];	 /* ended episodes, by state */
	ns_t max[STATES_MAX];
	union {
		unsigned int hist[STATES_MAX]
				 [HIST_SLOTS]; /* their sum is the number of ended episodes */
		struct samples samples;	       /* of a sampled session, which sees no episode */
	};
};

/* the peer's reader, as it was when a stall began: see starved.bpf.h */
struct peer_reader {
	unsigned long long task; /* 0: not known */
	ns_t waited;		 /* for a CPU, in all its life, without the present wait */
	ns_t queued;		 /* when it began to wait, by the scheduler's clock; 0: it does
				    not */
	ns_t noticed, looked;	 /* when this wait was first seen, and when last looked at */
	ns_t before;		 /* how long it had lasted at `looked`, as far as it was seen */
};

/* A tail loss probe that went out. The data that was in flight then was acknowledged late or lost:
 * see probe_goes_out(). */
struct loss_probe {
	ns_t since, at; /* since when that data flew; when the probe went out, 0: none is under
			   way */
	unsigned int high, dsacks;	/* TCP's tlp_high_seq; its dsack_dups at `at` */
	unsigned long long retransmits; /* of the endpoint, at `at` */
};

/* The part of `flight` in which data was lost, as tail loss probes proved. User space moves it to
 * `recovery`. */
struct tail_loss {
	ns_t ns, max;
	unsigned int hist[HIST_SLOTS];
};

struct flow {
	unsigned long long bytes, messages, wakeups;
	ns_t blocked_ns, blocked_max; /* sleeps in the call, until the thread ran again; a writer:
					 only for room */
	ns_t runq_ns, runq_max;	      /* the last part of these: woken, no CPU yet */
};

/* How long replies took, and how many there were: see reply.bpf.h. */
struct replies {
	ns_t ns, max;
	ns_t first; /* when the first came: who asks first gets a reply before it gives one */
	unsigned int n;
	unsigned int refused; /* calls that ended with ECONNREFUSED: nobody is there */
};

/* asked: since when this end waits for an answer; took: since when a request that it read has had
 * no answer; 0: not so. A new TCP connection is a request, until its client sends one. */
struct asking {
	ns_t asked, took;
	ns_t given_up; /* TCP: when its program closed it */
};

/* beside the ledger: these overlap its states */
struct call_stats {
	struct flow own, crowd; /* own: booked by the processor that had the turn (see charge.h);
				   crowd: by the others, and where no time was to be booked */
	unsigned int tgid, tid; /* who was last in the call */
	char comm[COMM_LEN];
	int kstack, ustack;	   /* STACK_NUMBER(), < 0: unknown; of tx only */
	unsigned long long cgroup; /* of that thread: the id in the v2 hierarchy */
	unsigned int others;	   /* 1: other processes were in the call before */
	unsigned int named;	   /* `renames` when the name was noted */
	ns_t left; /* since when that process has no descriptor of this end, while others have one:
		      it ended, or (`let_go`) closed it; 0: not so */
	unsigned long long task; /* address of the task_struct of `tid`; 0: unknown */
	ns_t no_cpu; /* time in which the thread that was last in the call was awaited, ready to run
			and without a CPU: see starved.bpf.h */
	ns_t waited_then;
	ns_t quota;		   /* of `no_cpu`: its cgroup had used up its CPU quota */
	ns_t stopped, stopped_max; /* time in which it was awaited while stopped or frozen */
	unsigned int stopped_n, stopped_then;
	unsigned int throttled_then, pad;
	ns_t no_cpu_until;  /* time before this is counted in `no_cpu`, or was no such time */
	ns_t cpu, cpu_then; /* CPU time of the threads that were last in the call, from their first
			       call on, in the call and out of it; CPU time of the present one when
			       that was counted */
	ns_t born;	    /* when its process began; 0: not known */
	unsigned int let_go;
	unsigned int fd_owner; /* the process that had the last descriptor after that; 0: unknown */
	char fd_owner_comm[COMM_LEN];
	unsigned int parent; /* parent of the first process seen in the call, if it had this end
				before; else 0 */
	char parent_comm[COMM_LEN];
	struct replies replies; /* in rx_calls: the other end's; in tx_calls: this end's own */
	unsigned int giver; /* who last passed this end to another process (SCM_RIGHTS); 0: nobody
			     */
	unsigned int giver_pad;
	char giver_comm[COMM_LEN];
	ns_t given;	    /* when; until then this end was the giver's */
	ns_t giver_unread;  /* in rx_calls: how long data had lain unread by then */
	ns_t giver_thought; /* in tx_calls: how long what was read had had no answer by then */
	ns_t process_ran;   /* CPU time of that process when last counted: of this thread and of
			       those that had ended */
};

/* Stands for a process in a vote: the process named in the peer's rx_calls has left the end, and
 * the vote is for the one that has it now. No process has this number (PID_MAX_LIMIT). */
#define FD_OWNER_TGID 0x7fffffff

/* the process that has most of some time: see vote_won() */
struct vote {
	ns_t lead, sum;
	unsigned int tgid, tid; /* 0: nobody */
	unsigned int second;	/* who else voted: see vote_second() */
	unsigned int mixed;	/* 1: voters had different names */
	char comm[COMM_LEN];
};

/* one place per tx state that is a stall: their numbers are consecutive, and fewer than VOTES */
#define VOTES		  8
#define VOTE_PLACE(state) ((state) & (VOTES - 1))

/* why the other end kept this one waiting, by tx state; which process each stall held up, and which
 * process at the other end explains it */
struct blame {
	ns_t delack_ns[STATES_MAX]; /* the peer owed an ACK and withheld it, until its timer fired
				       or data carried it */
	ns_t unread_ns[STATES_MAX]; /* the peer had data queued and no reader in a call */
	unsigned int delack_n[STATES_MAX];
	unsigned int unread_n[STATES_MAX];
	ns_t gathered_ns; /* `nagle` that ended with the writer's own next call: Nagle gathers its
			     small writes */
	unsigned int gathered_n, pad;
	ns_t starved_ns[VOTES]; /* the peer's reader was ready to run and had no CPU, by
				   VOTE_PLACE() */
	unsigned int starved_n[VOTES];
	struct vote held_up[VOTES], late[VOTES];
};

/* The sum of some times and the sum of their squares, in microseconds: for their variance. */
struct spread {
	unsigned long long sum, squares;
};

/* How often the delayed-ACK timer fired and data followed a round trip later, as if it had waited
 * for the ACK; and how long those ACKs had been withheld. */
struct answers {
	unsigned long long n;
	ns_t ns;
	struct spread since_fired, since_owed;
};

/* with opt.stall_threshold: what held the head of a TCP send queue at the last look; see struct
 * tcp_snap */
struct held {
	unsigned int queued;  /* bytes not yet sent */
	unsigned int unacked; /* bytes sent and not acknowledged */
	unsigned int small; /* the part of `unacked` up to the end of the last small segment; 0:
			       none is out */
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
 * A connection that is being made. The time until a program has it is kept beside the ledger: at
 * the client it is `flight`, at the server the connection lies in the accept queue.
 */
struct making {
	ns_t asked;	 /* when connect() began; 0: not at this end, or not seen */
	ns_t connect_ns; /* from then until the other end answered; 0: it has not */
	ns_t accepted; /* when a program got it; 0: none has yet, or it was not seen in its
			  listener's accept queue */
	ns_t unread_then;      /* `unread` up to then */
	unsigned int listened; /* it was born in a listener's accept queue */
	unsigned int moved;    /* UDP: it was connected after it had sent, or to another address */
	unsigned int origin;   /* enum origin */
	unsigned int bound;    /* UDP: its program chose the port, as servers do */
	ns_t reset; /* TCP: when the other end reset it; 0: it did not */
};

/* How a socket was made, as its own fields show at any later time. Unix sockets, PAIR: either both
 * ends have a name or none has; TALKS: and data went both ways. */
enum origin { ORIGIN_UNTOLD, ORIGIN_PAIR, ORIGIN_CONNECT, ORIGIN_LISTENER, ORIGIN_TALKS };

/* How a delayed ACK went out: its timer fired, or data of ours carried it. */
enum delack { DELACK_NONE, DELACK_FIRED, DELACK_RODE };

struct withheld {
	ns_t owed, went;  /* since when, until when */
	unsigned int how; /* enum delack */
	unsigned int pad;
};

/*
 * A stall of the queue's head goes on while its writer adds to the queue, but each of the writer's
 * calls is `work`: the stall is in pieces. It is counted as one, as long as the pieces together:
 * see split_stall.bpf.h.
 */
struct hold {
	ns_t ns;	      /* of its pieces that ended */
	ns_t from, until;     /* when it began; when the last piece ended */
	ns_t unread, starved; /* at the other end meanwhile, for the stall's record */
	struct withheld ack;
	unsigned int state, next; /* enum tx_state; TCP's snd_nxt when the last piece ended: a
				     segment that goes out ends the hold */
	unsigned int going,
		went_on; /* the present piece is not the first; nor was the piece that ended last */
	unsigned int untold, pad; /* with opt.stall_threshold: reported once it is known to be
				     over */
};

struct address {
	unsigned char ip[16]; /* IPv4: the first four bytes */
	unsigned short port;  /* host order */
};

/*
 * A listening socket of a traced process. Its accept queue holds established connections that
 * nobody has accepted yet. While it is full, requests are dropped, and the client asks again a
 * second later.
 */
struct listener {
	unsigned long long key, inode; /* of the socket */
	unsigned long long port;       /* its namespace and port: see listener_key() */
	ns_t born, closed;	       /* closed 0: it listens */
	unsigned int netns, family;
	struct address local;
	unsigned int backlog, queue,
		peak; /* how many connections may wait (in fact one more: sk_acceptq_is_full()); how
			 many do, at the last sample; the most at any sample */
	unsigned int drops,
		drops_then; /* requests dropped since this began; sk_drops at that time */
	unsigned long long established,
		accepted;	/* since then, while it is the only listener at its port */
	ns_t wait_ns, wait_max; /* accepted connections: how long they lay in the queue */
	unsigned int tgid, tid; /* who accepted last; before the first accept(): who called
				   listen(), or holds it */
	char comm[COMM_LEN];
};

/* TCP: data came out of order and cannot be read, because a segment before it is missing */
struct hole {
	ns_t since; /* 0: there is none */
	ns_t ns, max;
	unsigned int n, ooo_then; /* segments out of order before this began */
};

/* The reason for a part of a state, where the socket shows it: see note_part(). Counted beside the
 * ledger, and never more than the state. */
enum slice {
	SLICE_NONE,
	SLICE_DEFERRED,		/* of `pacing`: TSO deferral (tcp_tso_should_defer()) */
	/* of `pacing`: in the queueing discipline fq, which paces for TCP */
	SLICE_FQ,
	/*
	 * of `device`: more is queued, but TCP small queues let no more below
	 * (tcp_small_queue_check())
	 */
	SLICE_TSQ,
	/* of `device`: a partial segment waits for the bytes below (tcp_should_autocork()) */
	SLICE_AUTOCORK,
	SLICE_N
};

struct parts {
	ns_t since; /* of the present part, which `episode` names */
	ns_t ns[SLICE_N];
	unsigned int n[SLICE_N];
	unsigned int pad;
};

/* What TCP itself knows of a connection's path, at the last sample. */
struct path {
	unsigned int rate_delivered,
		rate_interval_us; /* TCP's last rate sample: segments delivered, and in what time;
				     0: none */
	unsigned int mss, cwnd, ssthresh;
	unsigned int lost, lost_then;	  /* segments marked lost since this began; before */
	unsigned int segs_out, segs_then; /* segments sent with data since this began; before */
	unsigned int ooo;		  /* segments that came out of order */
	unsigned int app_limited;
	unsigned int rcv_wnd; /* the receive window that this end offers */
	unsigned long long pacing_rate, max_pacing_rate;
	char congestion_control[16];
};

/* the upper protocol, or other BPF program (sockmap), that handles a socket's calls and bytes */
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

/* what an endpoint is: constant while it lives, except for its addresses, which it may get later,
 * and which may change for UDP */
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
	/* read by nearly every event: one cache line, followed by the head of `tx` */
	unsigned long long key; /* the address it is found by; 0: it is gone */
	ns_t closed;		/* 0 while it lives */
	unsigned int settled;	/* a live TCP socket of which everything constant is known: see
				   endpoint_settles() */
	unsigned int announced; /* TCP: sequence number up to which data was reported before it was
				   queued: see tcp_data() */
	ns_t ack_owed;		/* since when an ACK is owed; 0: none */
	ns_t flown; /* since when the segments in flight are the same: none went out, none was
		       acknowledged */
	unsigned int flying; /* packets_out at `flown` */
	unsigned int
		refused; /* a writer was refused room and has not come back: see refused.bpf.h */
	unsigned int episode; /* bit 0: data is queued and the peer's window is zero; above: the
				 present part of a state (enum slice) */
	unsigned int flags;   /* EP_* */
	union {
		unsigned int tail;     /* of a pipe's ring, when last looked at */
		unsigned int went_out; /* of a TCP socket: when the last segment went out, low 32
					  bits of the time */
	};
	unsigned int place; /* index in the array */
	struct ledger tx, rx;
	struct identity id;
	ns_t born;
	struct call_stats tx_calls, rx_calls;
	struct blame blame;
	unsigned long long waiters[WAITERS]; /* of a Unix datagram socket: keys of senders that it
						refused room */
	unsigned long long peer; /* key of the other end, 0: not on this host or not traced */
	ns_t peer_unread;	 /* the peer's `unread` so far, when the present stall began */
	struct peer_reader peer_reader; /* the peer's reader at that time */
	ns_t peer_left;			/* the peer's `unread` when it closed, if it closed first */
	ns_t looked_at, unread_then;	/* TCP: when a segment last went out while more was queued,
					   and the peer's `unread` then */
	struct withheld withheld[2];	/* the last ACK that was withheld, and the one before */
	ns_t delack_ns;			/* ACKs withheld until the timer fired */
	ns_t unanswered; /* when that timer fired, if no data has come since, nor had come for a
			    while before; since when that ACK was owed */
	ns_t unanswered_owed;
	unsigned int sent_then, got_then; /* snd_nxt and rcv_nxt then */
	struct answers answers;
	unsigned long long syn_retransmits; /* of `retransmits`: SYNs, still unanswered */
	union {
		unsigned short rare; /* read at each segment, to test both at once: */
		struct {
			unsigned char probing, holed; /* `probe` is under way; `hole` is there */
		};
	};
	unsigned short pad3;
	unsigned int pad4;
	struct loss_probe probe; /* TCP's tail loss probe under way */
	struct tail_loss tail_lost;
	ns_t ack_debt_ns; /* all time in which an ACK was owed */
	unsigned long long delack_fires, retransmits, timeouts, zero_windows;
	ns_t fired; /* when the retransmission timer last fired */
	ns_t undelivered_ns; /* time until that timer fired while the data that had been sent was
				still on this host */
	unsigned long long drops[DROP_N];
	ns_t queue_at; /* residence: the integral of queue length over time, by Little's law */
	unsigned long long queue_integral, queue_len, queue_max, dequeued;
	unsigned long long through[2]; /* by direction: bytes that went through the socket before
					  this began, see audit.bpf.h */
	unsigned long long
		moved[2]; /* tx, rx: where the observed calls fall short, TCP's own count since
			     birth; includes calls under way, and perhaps a SYN and a FIN */
	unsigned int astray[2]; /* looks in a row that found bytes unaccounted for */
	unsigned int rtt_us, min_rtt_us;  /* TCP's smoothed and recent minimum round-trip times, at
					     the last sample; 0 and ~0: unknown */
	unsigned int dsacks, dsacks_then; /* segments that the peer got twice (dsack_dups), since
					     this began; TCP's count then */
	unsigned long long
		node; /* of a pipe: the address of its inode, for pipe_lives() */
	struct held held;
	struct last_ack ack;
	struct hold held_on;
	struct making making;
	struct asking asking; /* of a socket; of a pipe only `asked`, its last write */
	struct hole hole;
	struct parts parts;
	struct path path;
	struct address sent_to; /* UDP, not connected: where datagrams went; port 0: none went */
	unsigned short sent_elsewhere; /* 1: some went to another address, or to one not known */
	unsigned int upper;	       /* enum upper */
};

/* JOINED_LATE: first seen in mid-life; UNSENT: its close record could not be sent yet */
enum {
	EP_JOINED_LATE = 1,
	EP_UNSENT = 2,
	EP_REUSED = 4,
	EP_LOOKED = 8,
	EP_MISSED = 16 /* << dir: bytes moved unseen, see `moved` */,
	EP_UNSEEN = 64 /* << dir: most bytes moved unseen */,
	EP_NAMED = 256 /* its `peer` sends to it, but it does not send to `peer` */,
	EP_EVICTED = 1024 /* it is alive, but was idle and was evicted to make room */,
	EP_STRANGE = 512 /* born at a port that a traced process listens on, but accepted by another
			    program: see is_strangers() */
};

/* Another program that listens on the same port accepted this connection. It is reported all the
 * same if its other end is one of ours. */
static inline int is_strangers(unsigned int flags, unsigned long long peer)
{
	return flags & EP_STRANGE && !peer;
}

/*
 * A process named without a tid was never seen at this end of a pipe: it only holds a descriptor.
 * If several hold one, nobody knows which of them uses it. If it is the process that is seen at the
 * other end, it does not wait for itself.
 */
static inline int is_mere_holder(const struct call_stats *b, const struct call_stats *other)
{
	return !b->tid && (b->others || (other->tid && other->tgid == b->tgid));
}

#define RETRY_NS 1000000 /* TCP's timer finishes its work in less time than this */

#define SYN_AND_FIN 2 /* each takes a sequence number, but is no byte */
#define AUDIT_LOOKS \
	3 /* so many looks in a row must find bytes unaccounted for: a single one may come between \
	     a call's work and its count */

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

/* a socket that has stopped listening */
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
	unsigned short goes_on;	  /* the stall goes on: `to` is the session's end, not its own */
	ns_t peer_unread, peer_no_cpu;
	ns_t ack_owed, ack_went; /* the peer's ACK: since when it was owed, and when it went out; 0:
				    the stall did not wait for it */
	struct held held;	 /* head 0: unknown */
	struct last_ack ack;	 /* the ACK that ended it; at 0: none did */
	char comm[COMM_LEN], peer_comm[COMM_LEN];
};

/*
 * Events beside the states that get a mark on a timeline, one row each. A number is never reused.
 *
 *	M(symbol, number, name, what happened)
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

/* the histogram's slot [32.8, 65.5) ms: the delayed-ACK timer's minimum of 40 ms falls there */
#define SLOT_DELACK 16

/* The summary of an endpoint for a live screen. The kernel half writes it into memory that user
 * space has mapped. */
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

#define DIGESTS 256 /* endpoints at a time */

struct digest_order {
	unsigned long long key[DIGESTS]; /* in: keys of endpoints; 0: none */
	struct digest digest[DIGESTS];	 /* out */
};

/* what became of a descriptor, or of a sleeping thread, that existed before the session: see
 * preexisting.bpf.h */
enum seeded { SEED_GONE, SEED_UNWANTED, SEED_NO_ROOM, SEED_LISTENS, SEED_KNOWN, SEED_MADE };
#define SEED_FIFO \
	(~0ULL) /* stands for an inode number: a FIFO has that of its file system, and overlayfs \
		   shows another */

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
	unsigned int hashed;	   /* endpoints are in a hash: see endpoint_table.bpf.h */
	unsigned int switch_state; /* sched_switch passes the state (5.18 on) */
	unsigned int drop_args;	   /* number of those of kfree_skb: the third is the reason (5.17
				      on), the fourth the receiver (6.11 on) */
	unsigned int retransmit_args; /* number of those of tcp_retransmit_skb: the third is an
					 error, since when failures are reported too (6.17 on) */
	unsigned int dgram_sock;   /* the hook of Unix datagram receives gets a struct sock */
	unsigned int
		recv_args; /* arguments of tcp_recvmsg() and udp_recvmsg(): 6 before 5.19, then 5,
			      from 7.2 on 4 */
	unsigned int ring_bytes;
	ns_t tick;	   /* a jiffy */
	ns_t stall_threshold; /* RECORD_STALL from this length on; 0: none */
	unsigned long long fn_delack,
		fn_write; /* addresses of tcp_delack_timer, tcp_write_timer; 0: unknown */
};

/* functions that wake a task asleep in a call or in poll(): see waiters.bpf.h; 0: unknown */
struct sleeper_functions {
	unsigned long long woken, autoremove, receiver, poll;
};

#define BIRTHS \
	16384 /* keys of the newest endpoints are kept, by serial: see note_birth() */

#define SAMPLED_AT_ONCE 256 /* endpoints that one run of sample_endpoints() samples */

enum counter {
	COUNT_OBSERVED, /* inputs given to a machine */
	COUNT_UNPAIRED, /* leave without enter, or more threads than are counted */
	/*
	 * endpoints that found no room in the map, each counted once however often it is seen; also
	 * their addresses and listening ports, if these found none
	 */
	COUNT_OVERFLOW,
	/* records that found no room in the ring buffer; a close, once its endpoint is removed */
	COUNT_LOST,
	/* other processors kept changing the word: the ended time was charged to the next state */
	COUNT_CONTENDED,
	COUNT_EVENTS_LOST, /* the part of COUNT_LOST that is steps and marks of the timeline */
	/* an address was reused by another endpoint before the end of the first was seen */
	COUNT_REUSED,
	COUNT_OPENED,  /* endpoints made */
	COUNT_BLIND,   /* gaps in which a processor ran no program: see switch_joins() */
	COUNT_STACKS,  /* stacks not kept: their place in the map was taken */
	COUNT_EVICTED, /* idle endpoints evicted to make room: see evict_endpoint.bpf.h */
	COUNT_N
};

/* A stack's number: its place in a stack map, and the age at which that map was filled; see
 * stack_number(). */
#define STACK_PLACES		 16384u
#define STACK_AGES		 32768u
#define STACK_NUMBER(age, place) ((int)(((age) % STACK_AGES) << 16 | (unsigned int)(place)))
#define STACK_PLACE(number)	 ((unsigned int)(number)&65535)
#define STACK_AGE(number)	 ((unsigned int)(number) >> 16)

/* A thread's call on an endpoint: see call.bpf.h. */
struct call {
	unsigned long long key; /* endpoint; 0: in no call that matters */
	ns_t off, ran;		/* off: left the CPU to sleep; ran: got one again */
	ns_t run_delay; /* sched_info.run_delay at `off`; CALL_PAUSED: it sleeps for something that
			   the endpoint cannot give */
	unsigned long long task; /* the task that sleeps since `off` */
	unsigned int tid;
	unsigned int place; /* index of the endpoint, if it is in the array */
	unsigned char dir, entered;
	unsigned char before; /* it was in this call when the session began */
	unsigned char peeks;  /* the call takes nothing from the queue (MSG_PEEK) */
	union {
		unsigned short rare; /* read at each switch, to test both at once: */
		struct {
			unsigned char polls; /* asleep in poll() or select() for data at the
						endpoint, and in no call on it: see polled.bpf.h */
			unsigned char stops; /* stopped by a signal or a tracer, or frozen */
		};
	};
	unsigned char stranger; /* not traced itself, but it uses an endpoint of a traced process */
	unsigned int stopped,
		stopped_sum; /* since when it is stopped; how long it was before, in all its life:
				see STOP_SHIFT */
} __attribute__((aligned(64)));

#define STOP_SHIFT  16 /* the unit of `stopped` and `stopped_sum` is 65.5 us: three days fit */
#define CALL_PAUSED (~0ULL)
#define CALL_SLOTS  32768

/* A processor's own data, in the variable `processors`: found by a shift and an addition, where a
 * per-CPU map would take a look-up. */
struct processor {
	unsigned long long task; /* the task that came to this processor last: see switch_joins() */
	unsigned long long counts[COUNT_N];
} __attribute__((aligned(128)));

#define PROCESSORS 8192u /* no kernel is built for more */

#define OFFSET_IS(type, field, off) \
	_Static_assert(__builtin_offsetof(type, field) == (off), #type "." #field " has moved")

_Static_assert(TX_STALLS / (TX_STALLS & -TX_STALLS) < 1 << VOTES, "stalls share a vote");
_Static_assert(TX_N <= STATES_MAX && RX_N <= STATES_MAX, "a ledger has no room for its states");
_Static_assert(sizeof(struct ledger) == 8 * (4 + PENDING) + STATES_MAX * (8 + 8 + 4 * HIST_SLOTS),
	       "struct ledger has changed");
_Static_assert(sizeof(struct samples) <= STATES_MAX * HIST_SLOTS * 4,
	       "samples take more room than the histogram that they replace");
_Static_assert(sizeof(struct identity) == 72, "struct identity has changed");
OFFSET_IS(struct endpoint, tx, 64);
_Static_assert(__builtin_offsetof(struct vote, comm) % 8 == 0 &&
		       __builtin_offsetof(struct call_stats, comm) % 8 == 0,
	       "names are compared by halves");
_Static_assert(sizeof(struct record_event) == 40, "struct record_event has changed");
OFFSET_IS(struct record_close, ep, 8);

#endif
