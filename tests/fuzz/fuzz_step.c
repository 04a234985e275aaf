// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine under any inputs in any order: late, twice, unpaired, with clocks that disagree.
 * Whatever comes, both ledgers of an endpoint stay exclusive (one known state), exhaustive (charged
 * + open = lifetime, to the nanosecond) and monotone (no present that begins before the last one,
 * nothing charged after the close).
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/step.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t steps_done;

static void __attribute__((destructor)) say_steps(void)
{
	fprintf(stderr, "steps: %" PRIu64 "\n", steps_done);
}

#define MUST(cond) \
	do { \
		if (!(cond)) { \
			fprintf(stderr, "fuzz_step: %s does not hold\n", #cond); \
			abort(); \
		} \
	} while (0)

struct model {
	enum dir dir;
	word_t word;
	ns_t born;  /* 64 bits: the true time of the first sight */
	ns_t since; /* true time at which the present state began */
	ns_t sum, ns[16];
	int closed;
};

/* One record of the input: when, what it says, by how much the counts move. */
struct op {
	uint8_t kind, facets, counts, by;
	uint32_t delta;
};

static struct input input_of(const struct op *op, ns_t at)
{
	static const signed char moves[] = { 0, 1, -1, 0 };
	struct input in = {
		.at = at,
		.says = op->kind & (IN_HEAD | IN_FULL | IN_DEVICE),
		.head = op->facets % HEAD_REST,
		.full = op->facets >> 3 & 1,
		.device = op->facets >> 4 & 1,
		.working = moves[op->counts & 3],
		.asleep = moves[op->counts >> 2 & 3],
	};

	if (op->by == 255) /* a close is rare, or nothing would be tested after it */
		in.says |= IN_CLOSE;
	return in;
}

static void check_transition(struct model *m, const struct input *in, const struct transition *t)
{
	unsigned int n = m->dir == DIR_TX ? TX_N : RX_N;

	MUST(t->from < n && t->to < n);
	MUST(t->from == word_state(m->word, m->dir));
	MUST(!m->closed || (!t->ended && t->word == m->word));
	MUST(t->ended || word_since(t->word) == word_since(m->word));
	MUST(!t->ended || (t->from != t->to || (in->says & IN_CLOSE)));
	MUST(!t->ended || t->ns == (in->at > m->since ? in->at - m->since : 0));
	MUST(word_awake(t->word) + word_asleep(t->word) <= COUNT_MAX);
}

static void charge(struct model *m, const struct input *in, const struct transition *t)
{
	if (t->ended) {
		m->ns[t->from] += t->ns;
		m->sum += t->ns;
		m->since += t->ns;
	}
	m->closed |= !m->closed && in->says & IN_CLOSE;
	m->word = t->word;
	MUST(((m->born + m->sum) & SINCE_MASK) == word_since(m->word));
	MUST(m->since == m->born + m->sum);
}

static void check_sums(const struct model *m)
{
	ns_t sum = 0;

	for (int i = 0; i < 16; i++)
		sum += m->ns[i];
	MUST(sum == m->sum);
}

static void run(struct model *m, const uint8_t *data, size_t size)
{
	ns_t clock = m->born;

	for (size_t at = 0; at + sizeof(struct op) <= size; at += sizeof(struct op)) {
		struct op op;
		struct input in;
		struct transition t;

		memcpy(&op, data + at, sizeof(op));
		clock += op.delta % 50000000;
		/* another processor's clock is behind, by anything up to 4 us */
		in = input_of(&op, clock - (op.by & 7 ? 0 : op.delta & 4095));
		t = step(m->word, &in, m->dir);
		check_transition(m, &in, &t);
		charge(m, &in, &t);
		steps_done++;
	}
	check_sums(m);
}

/* A socket's fields, whatever they are, and the dates of a look that comes late. */
struct queue {
	struct tcp_snap snap;
	struct tcp_dates dates;
	uint32_t chrono, cwnd_limited, ticks;
};

static void check_head(const struct tcp_snap *s)
{
	enum head head = tcp_head(s);

	MUST(head <= HEAD_REST);
	MUST(tcp_unsent(s) || head == tcp_all_sent(s));
	MUST(tcp_unsent(s) || head <= HEAD_RECOVERY);
	MUST(head != HEAD_NAGLE || (!s->nonagle && tcp_unsent(s) < s->mss));
	MUST(head != HEAD_CORK || s->nonagle & 2);
	MUST(head != HEAD_REST || !s->refused);
}

static void check_before(const struct queue *q)
{
	unsigned int head = tcp_head(&q->snap);
	unsigned int before = tcp_held_before(head, q->chrono, q->cwnd_limited);

	MUST(before == head || before == HEAD_RWND || before == HEAD_CWND);
	MUST(q->chrono != TCP_CHRONO_RWND_LIMITED || before == HEAD_RWND);
	MUST(head != HEAD_PACING || q->chrono == TCP_CHRONO_RWND_LIMITED || before == head);
	MUST(!tcp_fin_alone(&q->snap, q->chrono) || tcp_unsent(&q->snap) == 1);
}

/* No date lies outside the stretch that is looked back upon. */
static void check_dates(const struct queue *q)
{
	const struct tcp_dates *d = &q->dates;
	ns_t left = tcp_left_at(d), paced = tcp_left_paced(d, d->seen);
	ns_t shut = tcp_window_shut_since(d->seen, d->now, q->ticks, 4000000);

	MUST(!left || (left > d->seen && left <= d->now));
	MUST(paced == d->seen || paced == d->now);
	MUST(!shut || (shut > d->seen && shut <= d->now));
	MUST(!tcp_pacing_passed(d->stamp, d->seen, d->now) || tcp_left_at(d) == d->stamp);
}

static void check_queue(const uint8_t *data, size_t size)
{
	for (size_t at = 0; at + sizeof(struct queue) <= size; at += sizeof(struct queue)) {
		struct queue q;

		memcpy(&q, data + at, sizeof(q));
		q.chrono %= 4;
		q.dates.seen >>= 1; /* a clock that has not come round */
		q.dates.now >>= 1;
		check_head(&q.snap);
		check_before(&q);
		check_dates(&q);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ns_t born;

	if (size < sizeof(born))
		return 0;
	check_queue(data, size);
	memcpy(&born, data, sizeof(born));
	born &= (1ULL << 60) - 1;
	for (int dir = DIR_TX; dir <= DIR_RX; dir++) {
		struct model m = { .dir = (enum dir)dir, .word = word_open(born), .born = born,
			.since = born };

		run(&m, data + sizeof(born), size - sizeof(born));
	}
	return 0;
}

#ifdef STANDALONE
/* Without libFuzzer: random inputs from a seed, as many steps as asked for. */
int main(int argc, char **argv)
{
	uint64_t want = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
	uint8_t buf[4096];

	srandom(argc > 2 ? (unsigned int)atoi(argv[2]) : 1);
	while (steps_done < want) {
		for (size_t i = 0; i < sizeof(buf); i++)
			buf[i] = (uint8_t)random();
		LLVMFuzzerTestOneInput(buf, sizeof(buf));
	}
	return 0;
}
#endif
