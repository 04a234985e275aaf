// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/blame.h"

#include "verdict/times.h"

const char *const blame_names[BLAME_N] = {
	NULL,	  "peer delayed ACK",	"peer application not reading", "path", "own next write",
	"no CPU", "no CPU for the peer"
};
const char *const surety_names[SURETY_N] = { "both ends seen", "inferred from one end",
	"suspected from looks" };

bool blame_is_peers(enum blamed b)
{
	return b == BLAME_PEER_DELACK || b == BLAME_PEER_READER || b == BLAME_PEER_NO_CPU;
}

/* A withheld ACK can cause these stalls: it holds back segments and buffer memory. */
bool blame_delack_can_cause(enum tx_state s)
{
	return s == TX_NAGLE || s == TX_SNDBUF || s == TX_CWND;
}

/* An absent reader can cause these stalls. While data lies unread a faster sender gains nothing.
 * BBR takes the reader's pace for the path's, and paces to it. A program that does not read does
 * not make its kernel send the ACK that Nagle's rule waits for. */
static bool reader_can_cause(enum tx_state s)
{
	return s == TX_RWND || s == TX_SNDBUF || s == TX_PACING || s == TX_CWND || s == TX_NAGLE;
}

/* Time from a wake-up until the thread ran. Short times are normal for ends that take turns on a
 * CPU; long ones show that other tasks had it. */
#define STARVED_NS	   100000 /* on average */
#define STARVED_LONGEST_NS 4000000

uint64_t blame_starved(const struct trace_call_stats *b)
{
	return b->runq_res != TRACE_UNKNOWN && b->runq_max_ns >= STARVED_LONGEST_NS &&
			       b->runq_ns >= STARVED_NS * b->wakeups
		       ? b->runq_ns
		       : 0;
}

/* This time is counted over the endpoint's whole life. So it explains only what nothing else does,
 * and only stalls of a window or buffer that a reader empties. */
static uint64_t starves_reader(const struct blame_facts *f, uint64_t unread)
{
	uint64_t rest = f->ns > unread ? f->ns - unread : 0;

	if (f->cause != TX_RWND && f->cause != TX_SNDBUF)
		return 0;
	return f->reader_starved_ns < rest ? f->reader_starved_ns : rest;
}

/* The other end was traced: its own ledger tells how much of this stall it caused. The larger part
 * wins, if it is at least half of the stall. The time that the reader was elsewhere and the time
 * that it had no CPU are added up for that; the larger of them is named. */
static struct blame_judged judge_seen(const struct blame_facts *f)
{
	struct blame_judged none = { .surety = SEEN_BOTH_ENDS };
	uint64_t delack = blame_delack_can_cause(f->cause) ? f->delack_ns : 0;
	uint64_t unread = reader_can_cause(f->cause) ? f->unread_ns : 0;
	uint64_t seen = reader_can_cause(f->cause) ? f->starved_ns : 0;
	uint64_t starved = larger(seen, starves_reader(f, unread));
	uint64_t elsewhere = unread > seen ? unread - seen : 0;

	if (delack * 2 >= f->ns && delack >= unread)
		return (struct blame_judged){ BLAME_PEER_DELACK, SEEN_BOTH_ENDS, delack };
	if (f->cause == TX_RECOVERY)
		return (struct blame_judged){ BLAME_PATH, SEEN_BOTH_ENDS, f->ns };
	if ((elsewhere + starved) * 2 < f->ns)
		return none;
	if (elsewhere >= starved)
		return (struct blame_judged){ BLAME_PEER_READER, SEEN_BOTH_ENDS, unread };
	return (struct blame_judged){ BLAME_PEER_NO_CPU, SEEN_BOTH_ENDS, starved };
}

/* The writer slept for room, but for at least half of that time it had been woken and had no
 * CPU. */
static bool writer_starves(const struct blame_facts *f)
{
	return f->cause == TX_SNDBUF && f->writer_starved_ns && f->writer_starved_ns * 2 >= f->ns;
}

/* The least round trip is the path's own. A window that a slow reader keeps shut makes round trips
 * long, and the smoothed one with them. */
uint64_t blame_round_trip(uint32_t smoothed_us, uint32_t least_us)
{
	return 1000ull * (least_us ? least_us : smoothed_us);
}

/* An absent reader keeps the window shut for any length of time. A window that is only too small
 * for the path opens again within a round trip or two. Samples count no episodes, but find data in
 * flight. */
#define SAMPLES_TRIP_NS 1000000
static bool window_is_the_paths(const struct blame_facts *f)
{
	if (f->rtt_ns >= SAMPLES_TRIP_NS && f->in_flight)
		return true;
	return f->rtt_ns && f->ns <= 2 * f->rtt_ns * f->count;
}

/* Takes the shortest time of the slot for each episode: the histogram counts episodes, not their
 * time. */
bool blame_like_delack(uint64_t n, uint64_t ns)
{
	return n && 2 * n * (1000ull << (TRACE_SLOT_DELACK - 1)) >= ns;
}

/* The awaited ACKs came after the delayed-ACK timer's minimum and a round trip. The histogram tells
 * for how much of the stall's time. On a long path its slots are too wide for that; there the
 * average tells, which without a timer would be the round trip. */
#define DELACK_NS    40000000
#define LONG_PATH_NS 5000000

static bool like_delack(const struct blame_facts *f)
{
	uint64_t mean = f->count ? f->ns / f->count : 0;

	if (f->rtt_ns < LONG_PATH_NS)
		return f->like_delack;
	return mean > f->rtt_ns + DELACK_NS / 2 && mean < f->rtt_ns + 2 * DELACK_NS;
}

/* Only this end was seen: the blame follows from the protocol. */
static struct blame_judged judge_inferred(const struct blame_facts *f)
{
	struct blame_judged j = { .surety = INFERRED };

	if ((f->cause == TX_NAGLE || f->cause == TX_SNDBUF) && like_delack(f))
		j.blamed = BLAME_PEER_DELACK;
	else if ((f->cause == TX_RWND && !window_is_the_paths(f)) ||
		 (f->cause == TX_SNDBUF && f->local_ipc))
		j.blamed = BLAME_PEER_READER;
	else if (f->cause == TX_RECOVERY)
		j.blamed = BLAME_PATH;
	return j;
}

struct gathered {
	uint64_t ns, n;
};

/* A cork is always ended by its writer. */
static struct gathered gathered_of(const struct blame_facts *f)
{
	if (f->cause == TX_CORK)
		return (struct gathered){ f->ns, f->count };
	return f->cause == TX_NAGLE ? (struct gathered){ f->gathered_ns, f->gathered_n }
				    : (struct gathered){};
}

/* The writer's next call came soon, and ended at least half of the stall: the held data fills up a
 * segment, and nobody waits for it. A writer that comes back later leaves a message held for as
 * long as the other end likes. */
#define SOON_NS 200000

static bool gathers(const struct blame_facts *f, const struct gathered *g)
{
	return g->n && g->ns * 2 >= f->ns && g->ns / g->n < SOON_NS;
}

struct blame_judged blame_judge(const struct blame_facts *f)
{
	struct gathered g = gathered_of(f);
	struct blame_judged j;
	uint64_t starved;

	if (gathers(f, &g))
		return (struct blame_judged){ BLAME_OWN_WRITES,
					      f->both_ends ? SEEN_BOTH_ENDS : INFERRED, g.ns };
	j = f->both_ends ? judge_seen(f) : judge_inferred(f);
	starved = f->writer_starved_ns < f->ns ? f->writer_starved_ns : f->ns;
	if (writer_starves(f) && starved > j.ns)
		return (struct blame_judged){ BLAME_NO_CPU, j.surety, starved };
	return j;
}
