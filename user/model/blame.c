// SPDX-License-Identifier: GPL-2.0-only
#include "model/blame.h"

const char *const blame_names[BLAME_N] = { NULL, "peer delayed ACK", "peer application not reading", "path", "own next write" };
const char *const surety_names[SURETY_N] = { "both ends seen", "inferred from one end" };

/* What the other end can cause at all: a withheld ACK holds segments and memory, an absent reader memory and window. */
static bool delack_can_cause(enum tx_state s)
{
	return s == TX_NAGLE || s == TX_SNDBUF || s == TX_CWND;
}

/* While data lies unread a faster sender gains nothing; and BBR takes the reader's pace for the path's, and paces to it. */
static bool reader_can_cause(enum tx_state s)
{
	return s == TX_RWND || s == TX_SNDBUF || s == TX_PACING || s == TX_CWND;
}

/* The other end was traced: its own ledger tells how much of this stall it caused. The larger part wins. */
static struct blame_judged judge_seen(const struct blame_facts *f)
{
	struct blame_judged j = { .surety = SEEN_BOTH_ENDS };
	uint64_t delack = delack_can_cause(f->cause) ? f->delack_ns : 0;
	uint64_t unread = reader_can_cause(f->cause) ? f->unread_ns : 0;
	bool timer = delack >= unread;

	if (delack * 2 < f->ns && unread * 2 < f->ns)
		return j;
	j.blamed = timer ? BLAME_PEER_DELACK : BLAME_PEER_READER;
	j.ns = timer ? delack : unread;
	return j;
}

/* What the path takes by itself. A window that a slow reader holds shut makes round trips long, and the smoothed one with them. */
uint64_t blame_round_trip(uint32_t smoothed_us, uint32_t least_us)
{
	return 1000ull * (least_us ? least_us : smoothed_us);
}

/* An absent reader holds a window for as long as it likes; one that is only too small for the path opens again within a round trip, or two. */
static bool window_is_the_paths(const struct blame_facts *f)
{
	return f->rtt_ns && f->ns <= 2 * f->rtt_ns * f->count;
}

/* Only this end was seen: what the protocol lets one conclude. */
static struct blame_judged judge_inferred(const struct blame_facts *f)
{
	struct blame_judged j = { .surety = INFERRED };

	if ((f->cause == TX_NAGLE || f->cause == TX_SNDBUF) && f->like_delack)
		j.blamed = BLAME_PEER_DELACK;
	else if ((f->cause == TX_RWND && !window_is_the_paths(f)) || (f->cause == TX_SNDBUF && f->local_ipc))
		j.blamed = BLAME_PEER_READER;
	else if (f->cause == TX_RECOVERY)
		j.blamed = BLAME_PATH;
	return j;
}

/*
 * Most of it was ended by the writer's next call, which came soon: nobody waits for what is held, it fills up a segment. A writer
 * that comes back later than that leaves a message lying for as long as the other end likes.
 */
#define SOON_NS 100000

static bool gathers(const struct blame_facts *f)
{
	return f->cause == TX_NAGLE && f->gathered_n && f->gathered_ns * 2 >= f->ns && f->gathered_ns / f->gathered_n < SOON_NS;
}

struct blame_judged blame_judge(const struct blame_facts *f)
{
	if (gathers(f))
		return (struct blame_judged){ BLAME_OWN_WRITES, f->both_ends ? SEEN_BOTH_ENDS : INFERRED, f->gathered_ns };
	return f->both_ends ? judge_seen(f) : judge_inferred(f);
}
