/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The judge of a diagnosis: from identical rounds of a workload to waits that matter, and from
 * pairs of rounds with and without a fix to 'confirmed', 'refuted' or 'too noisy to say'. Pure: it
 * measures nothing and prints nothing.
 *
 * No limit here is typed in. What a wait must exceed is the measurement's own resolution: the half
 * width of the interval of the time per message among rounds in which nothing was changed,
 * relative. A wait smaller than that can neither matter nor be shown to.
 */
#ifndef IPCSTALL_DIAGNOSE_DIAGNOSIS_H
#define IPCSTALL_DIAGNOSE_DIAGNOSIS_H

#include "bench/point.h"
#include "verdict/verdict.h"

struct rng;

/* The stalls of a sender, and then the ways in which a message is lost. */
enum diag_cause { DIAG_LOSS_RCVBUF = TX_N, DIAG_LOSS_QDISC, DIAG_LOSS_ELSEWHERE, DIAG_CAUSES };

#define DIAG_LEVEL 0.95

const char *diag_cause_name(unsigned int cause);

/* One sender's time in one state, of one round. Shares are of the round's time. */
struct diag_wait {
	double share, delack, unread;
	double count, max_ns;
};

struct diag_party {
	int pid; /* 0: unknown */
	char comm[16];
};

/* One run of the workload. NAN is unknown. */
struct diag_round {
	int64_t size;
	double cost_ns; /* the figure that is judged: time per message */
	double each_ns; /* the round over its messages */
	double messages, sent, lost;
	double cpu[ROLES];   /* CPU time of each end, share of the round */
	double delay[ROLES]; /* ready to run but not running, the other end's own CPU time apart */
	double woken[ROLES]; /* the same of each end as a writer, after it slept in its call: the
				ledger counts it to the state it slept in */
	double competing;    /* CPU that went to others, share of the CPUs used */
	double device;	     /* the sender's bytes were with the device */
	bool traced, both_seen, one_cpu; /* one_cpu: the two ends share it */
	bool info; /* not traced, but TCP_INFO tells how long the peer's window held the client */
	struct diag_wait wait[ROLES][TX_N];
	double drops[3]; /* by kind, from DIAG_LOSS_RCVBUF on; share of what was sent */
	struct diag_party who[ROLES];
};

enum diag_class {
	WAIT_NONE,     /* smaller than the resolution, or excused */
	WAIT_POSSIBLE, /* its interval reaches above the resolution, or the buffer is smaller than a
			  message: fixes decide */
	WAIT_CLEAR,    /* its whole interval is above the resolution */
};

struct diag_finding {
	unsigned int cause;
	enum role role; /* whose wait: the end that sends; a loss: the receiver */
	enum diag_class class;
	double share;	       /* of the time; a loss: of the messages; mean of the rounds */
	struct interval lost;  /* of the part that is not excused by a reader at work */
	double ns_per_message; /* NAN for a loss */
	double count, max_ns;  /* episodes per round, mean; longest */
	double sleeps;	       /* for one message in a buffer smaller than it; else 0 */
	enum blamed blamed;
	enum surety surety;
	double blamed_share; /* of the wait */
};

enum { DIAG_FINDINGS = 6 };

struct diag_stalls {
	struct diag_finding v[DIAG_FINDINGS]; /* those not WAIT_NONE, the largest first */
	size_t n;
	size_t tested; /* kinds of wait that were looked at: the levels are corrected for so many */
	double resolution; /* half width of the interval of the time per message, over what it then
			      may be: below 1 */
	double cost_ns;	   /* time per message, median */
	struct interval cost;
	double most_lost;   /* the largest upper end of all that was tested: more than this is
			       certainly not waited */
	double most_masked; /* the largest share that is excused only because a reader may have
			       waited for its CPU */
	bool traced;	    /* false: the causes are unknown */
	bool too_few;	    /* one round with the ledger: what waits there may be its own */
};

/* rounds: identical ones; those that were traced tell the causes. */
void diag_find_stalls(const struct diag_round *r, size_t n, struct rng *rng,
		      struct diag_stalls *out);

enum diag_gain_class { GAIN_CONFIRMED, GAIN_REFUTED, GAIN_NOISY };

struct diag_gain {
	enum diag_gain_class class;
	double ratio; /* how many times faster, median of the pairs */
	struct interval ci;
	double predicted; /* what the wait's share promised */
	size_t pairs, faster;
};

/* before[i], after[i]: time per message in the same round, without the fix twice (again[i]: the
 * second time), with it once. tested: how many fixes stand trial, for the correction of the
 * level. */
void diag_judge_gain(const double *before, const double *again, const double *after, size_t n,
		     size_t tested, const struct diag_finding *f, struct rng *rng,
		     struct diag_gain *out);

enum diag_outcome { DIAG_HEALTHY, DIAG_ILL, DIAG_NOISY, DIAG_UNKNOWN };

/* gains[i] belongs to the fix tried for findings[of[i]]; *culprit: index of the finding that the
 * outcome rests on, or -1. */
enum diag_outcome diag_decide(const struct diag_stalls *s, const struct diag_gain *gains,
			      const size_t *of, size_t n, bool disturbed, int *culprit);

const char *diag_outcome_name(enum diag_outcome o);
const char *diag_gain_name(enum diag_gain_class c);

#endif
