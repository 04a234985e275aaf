/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests and replies, told apart by the direction of the bytes alone; of a server that sends
 * first the connection is the request. The first data received after a send is the reply to it. The
 * time from a receive to the next send is this end's own reply time.
 *
 * A pipe goes one way, so for two pipes the request belongs to the process. The same holds for two
 * socket pairs that are a child's stdin and stdout.
 */
#ifndef IPCSTALL_REPLY_BPF_H
#define IPCSTALL_REPLY_BPF_H

#include "blame.bpf.h"

struct process_asking {
	struct asking is;
	__u32 tgid, pad;
};

#define PROCESSES_ASKING 1024 /* if two processes share a place, the last one has it */

static struct process_asking processes_asking[PROCESSES_ASKING];

static __always_inline struct asking *asking_of_process(void)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct process_asking *p = &processes_asking[tgid & (PROCESSES_ASKING - 1)];

	if (p->tgid != tgid) {
		p->tgid = tgid;
		p->is.asked = p->is.took = 0;
	}
	return &p->is;
}

static __always_inline void reply_took(struct replies *sum, ns_t since, ns_t at)
{
	ns_t ns = at - since;

	if (!sum->n++)
		sum->first = at;
	sum->ns += ns;
	if (ns > sum->max)
		sum->max = ns;
}

/*
 * A send begins, or is over. The answer may be read before the send call has returned: then no
 * answer is awaited any more.
 */
static __always_inline void reply_sends(struct asking *is, struct endpoint *ep, ns_t at, bool over)
{
	if (over) {
		if (is->asked)
			is->asked = at;
		return;
	}
	if (is->took && at > is->took)
		reply_took(&ep->tx_calls.replies, is->took, at);
	is->took = 0;
	is->asked = at;
}

/* data came at `at`, or (`took`) was read */
static __always_inline void reply_receives(struct asking *is, struct endpoint *ep, ns_t at,
					   bool took)
{
	if (is->asked && at > is->asked) {
		reply_took(&ep->rx_calls.replies, is->asked, at);
		is->asked = 0;
	}
	if (took)
		is->took = at;
}

/*
 * `back`: the calls in the other direction. Once there are some, an earlier request or read at this
 * end does not belong to its process any more: no other endpoint answers it.
 */
static __always_inline bool is_two_way(struct endpoint *ep, const struct call_stats *back)
{
	struct asking *is;

	if (ep->id.proto == PROTO_PIPE || (!back->own.bytes && !back->crowd.bytes))
		return false;
	is = asking_of_process();
	if (is->asked == ep->asking.asked)
		is->asked = 0;
	if (is->took == ep->asking.took)
		is->took = 0;
	ep->making.origin = ORIGIN_TALKS;
	return true;
}

/* used instead of reply_sends() while nothing has gone the other way through this end */
SUBPROG int one_way_sends(struct endpoint *ep, ns_t at, bool over)
{
	if (!ep)
		return 0;
	if (is_two_way(ep, &ep->rx_calls)) {
		reply_sends(&ep->asking, ep, at, over);
		return 0;
	}
	if (!over || ep->id.proto == PROTO_PIPE || ep->asking.asked)
		ep->asking.asked = at;
	reply_sends(asking_of_process(), ep, at, over);
	return 0;
}

SUBPROG int one_way_receives(struct endpoint *ep, ns_t at, bool took)
{
	if (!ep)
		return 0;
	if (is_two_way(ep, &ep->tx_calls)) {
		reply_receives(&ep->asking, ep, at, took);
		return 0;
	}
	if (took && ep->id.proto != PROTO_PIPE)
		ep->asking.took = at;
	reply_receives(asking_of_process(), ep, at, took);
	return 0;
}

/* a pipe, or one end of a pair through which nothing is known to have gone both ways */
static __always_inline bool may_go_one_way(const struct endpoint *ep)
{
	return ep->id.proto == PROTO_PIPE ||
	       (ep->id.proto == PROTO_UNIX_STREAM && ep->making.origin <= ORIGIN_PAIR);
}

/* How long this end had no CPU, or was stopped, before it answers. If the thread that asked sleeps
 * in a call of its own, answer_came() counts the time after that until it is woken. A process that
 * answers for the first time is known by its reads. */
static __always_inline void was_thinking(struct endpoint *ep, ns_t at)
{
	if (ep->asking.took && at > ep->asking.took)
		awaited(ep->tx_calls.task ? &ep->tx_calls : &ep->rx_calls, at - ep->asking.took);
}

static __always_inline void reply_endpoint_sends(struct endpoint *ep, ns_t at, bool over)
{
	if (may_go_one_way(ep)) {
		one_way_sends(ep, at, over);
		return;
	}
	if (!over)
		was_thinking(ep, at);
	reply_sends(&ep->asking, ep, at, over);
}

static __always_inline void reply_endpoint_receives(struct endpoint *ep, ns_t at, bool took)
{
	if (may_go_one_way(ep))
		one_way_receives(ep, at, took);
	else
		reply_receives(&ep->asking, ep, at, took);
}

/* with a step of the tx ledger; a call whose beginning was not seen has only its end */
static __always_inline void reply_tx(struct endpoint *ep, const struct input *in)
{
#ifndef SAMPLED
	if (in->working > 0)
		reply_endpoint_sends(ep, in->at, false);
	else if (in->bytes)
		reply_endpoint_sends(ep, in->at, in->working < 0);
#endif
}

/* with a step of the rx ledger: something was read */
static __always_inline void reply_rx(struct endpoint *ep, const struct input *in)
{
#ifndef SAMPLED
	if (in->bytes)
		reply_endpoint_receives(ep, in->at, true);
#endif
}

#ifdef SAMPLED
#define reply_tx_slow reply_tx
#define reply_rx_slow reply_rx
#else
/* Real calls, with only these two arguments: the stack of the slow steps has no room. */
SUBPROG int reply_tx_slow(struct endpoint *ep, const struct input *in)
{
	if (ep && in)
		reply_tx(ep, in);
	return 0;
}

/* Before a step: the data that is read may have been there for a time. Also others than the reader
 * find data there. */
SUBPROG int reply_rx_slow(struct endpoint *ep, const struct input *in)
{
	struct asking *is;
	word_t word;

	if (!ep || !in || !(in->working || in->bytes))
		return 0;
	is = may_go_one_way(ep) && !is_two_way(ep, &ep->tx_calls) ? asking_of_process()
								  : &ep->asking;
	word = LATEST(ep->rx.word);
	if (WORD_STATE(word, DIR_RX) == RX_UNREAD)
		reply_receives(is, ep, in->at - word_elapsed(word, in->at), false);
	if (in->bytes)
		reply_receives(is, ep, in->at, true);
	if (in->bytes && ep->id.proto != PROTO_PIPE)
		ep->asking.took = in->at;
	return 0;
}
#endif

#endif
