/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The judge of a diagnosis. From identical rounds of a workload it finds the waits that matter, and
 * from rounds with and without a fix it calls the fix confirmed, refuted or too noisy to say. Pure:
 * it measures nothing and prints nothing.
 *
 * The threshold is not a constant. A wait must exceed the measurement's own resolution: the
 * relative half width of the interval of the time per message, among rounds in which nothing was
 * changed. A smaller wait neither matters nor could be shown to matter.
 */
#ifndef IPCSTALL_DIAGNOSE_DIAGNOSIS_H
#define IPCSTALL_DIAGNOSE_DIAGNOSIS_H

#include "bench/point.h"
#include "verdict/verdict.h"

struct rng;

/* The causes: a sender's stall (enum tx_state), or a way in which messages are lost. */
enum diag_cause { DIAG_LOSS_RCVBUF = TX_N, DIAG_LOSS_QDISC, DIAG_LOSS_ELSEWHERE, DIAG_CAUSES };

#define DIAG_LEVEL 0.95

const char *diag_cause_name(unsigned int cause);

/* One sender's time in one state, in one round. Shares are of the round's time. */
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
	double cost_ns; /* time per message: the figure that is judged */
	double each_ns; /* elapsed time of the round over its messages */
	double messages, sent, lost;
	double cpu[ROLES];   /* CPU time of each end, share of the round */
	double delay[ROLES]; /* time on a run queue; with one CPU, without the other end's time */
	double woken[ROLES]; /* time on a run queue of a writer that slept in its call: the ledger
				counts it to the state in which the writer slept */
	double competing;    /* CPU time of other processes, share of the CPUs used */
	double device;	     /* the sender's bytes were in the qdisc, the driver or the NIC */
	bool traced, both_seen, one_cpu; /* one_cpu: the two ends share it */
	bool info; /* untraced, but TCP_INFO has the time limited by the peer's window */
	struct diag_wait wait[ROLES][TX_N];
	double drops[3]; /* by kind, from DIAG_LOSS_RCVBUF on; share of what was sent */
	struct diag_party who[ROLES];
};

enum diag_class {
	WAIT_NONE,     /* smaller than the resolution, or excused */
	WAIT_POSSIBLE, /* the interval contains the resolution, or the buffer is smaller than a
			  message: the trial of a fix decides */
	WAIT_CLEAR,    /* the whole interval is above the resolution */
};

struct diag_finding {
	unsigned int cause;
	enum role role; /* the end that waits to send; for a loss, the receiver */
	enum diag_class class;
	double share;	       /* of the time; for a loss, of the messages; mean of the rounds */
	struct interval lost;  /* interval of the part that no work excuses */
	double ns_per_message; /* NAN for a loss */
	double count, max_ns;  /* mean episodes per round; the longest */
	double sleeps;	       /* per message, if they alone make it WAIT_POSSIBLE; else 0 */
	enum blamed blamed;
	enum surety surety;
	double blamed_share; /* share of the wait that the blame explains */
};

enum { DIAG_FINDINGS = 6 };

struct diag_stalls {
	struct diag_finding v[DIAG_FINDINGS]; /* those not WAIT_NONE, the largest first */
	size_t n;
	size_t tested; /* number of kinds of wait that were judged, for the levels' correction */
	double resolution; /* h / (1 + h), for the relative half width h of the interval of the time
			      per message: below 1 */
	double cost_ns;	   /* time per message, median */
	struct interval cost;
	double most_lost;   /* the largest upper bound of all intervals: surely no wait is larger */
	double most_masked; /* the largest wait, if time on a run queue excuses nothing; median of
			       the rounds */
	bool traced;	    /* false: the causes are unknown */
	bool too_few;	    /* only one round was traced: the ledger may have caused its waits */
};

/* r: identical rounds; the traced ones tell the causes. */
void diag_find_stalls(const struct diag_round *r, size_t n, struct rng *rng,
		      struct diag_stalls *out);

enum diag_gain_class { GAIN_CONFIRMED, GAIN_REFUTED, GAIN_NOISY };

struct diag_gain {
	enum diag_gain_class class;
	double ratio; /* how many times faster with the fix, median of the rounds */
	struct interval ci;
	double predicted; /* the ratio that the wait's share promises */
	size_t pairs, faster;
};

/* Times per message in round i: before[i] and again[i] without the fix, after[i] with it. tested:
 * the number of fixes that are tried, for the correction of the level. */
void diag_judge_gain(const double *before, const double *again, const double *after, size_t n,
		     size_t tested, const struct diag_finding *f, struct rng *rng,
		     struct diag_gain *out);

enum diag_outcome { DIAG_HEALTHY, DIAG_ILL, DIAG_NOISY, DIAG_UNKNOWN };

/* gains[i] is that of the fix tried for s->v[of[i]]; *culprit: index of the finding on which the
 * outcome rests, or -1. */
enum diag_outcome diag_decide(const struct diag_stalls *s, const struct diag_gain *gains,
			      const size_t *of, size_t n, bool disturbed, int *culprit);

const char *diag_outcome_name(enum diag_outcome o);
const char *diag_gain_name(enum diag_gain_class c);

#endif
