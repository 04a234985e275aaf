// SPDX-License-Identifier: GPL-2.0-only
#include "tracer/forwarded_request.h"

#include <stdlib.h>

#include "base/array.h"

#define AROUND_MS 100  /* nothing else was sent so near to it: no chance brought them together */
#define WAITS_MS  30   /* sooner than that it may be answered yet */
#define MOST	  2048 /* accepted connections */

static bool is_accepted(const struct tcp_turns *t, const struct tcp_turn *x)
{
	return x->is_known && t->listens[x->port / 64] >> x->port % 64 & 1;
}

/* Nearly each has an answer: a subscriber's acknowledgements, or its pings, are fewer. */
#define LITTLE 8 /* part of them */

static bool have_answers(unsigned int asked, unsigned int answered)
{
	return (uint64_t)answered + asked / LITTLE + 1 >= asked;
}

/* Its peer has asked, and awaits an answer. */
static bool is_asked(const struct tcp_turn *x)
{
	return x->came_ms >= WAITS_MS && x->came_ms < TCP_TURN_LONG_AGO_MS &&
	       tcp_turn_owes_answer(x) && have_answers(x->comes, x->sends);
}

/* Its peer was sent something that it should answer. */
static bool is_sent_to(const struct tcp_turn *x)
{
	return x->comes && tcp_turn_awaits_answer(x) && have_answers(x->sends, x->comes);
}

static bool is_within(unsigned int a, unsigned int b, unsigned int ms)
{
	return (a > b ? a - b : b - a) <= ms;
}

/* The only one that was sent something about then, if that was in the same tick */
static const struct tcp_turn *sent_to_at(const struct tcp_turn *const *v, size_t n, unsigned int ms)
{
	const struct tcp_turn *one = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!is_sent_to(v[i]) || !is_within(v[i]->sent_ms, ms, AROUND_MS))
			continue;
		if (one)
			return NULL;
		one = v[i];
	}
	return one && is_within(one->sent_ms, ms, TCP_TURN_TICK_MS) ? one : NULL;
}

/* asked: of what came there; NULL: of the oldest that was passed on */
static const struct tcp_turn *passed_oldest(const struct tcp_turn *const *v, size_t n,
					    const struct tcp_turn *asked)
{
	const struct tcp_turn *oldest = NULL, *through = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct tcp_turn *to;

		if ((asked && v[i] != asked) || !is_asked(v[i]) ||
		    (oldest && oldest->came_ms >= v[i]->came_ms))
			continue;
		to = sent_to_at(v, n, v[i]->came_ms);
		if (!to)
			continue;
		oldest = v[i];
		through = to;
	}
	return through;
}

static const struct tcp_turn *passed(const struct tcp_turns *t, const uint64_t *inodes, size_t n,
				     const struct tcp_turn *asked)
{
	const struct tcp_turn **v = array_new(n, 1, sizeof(*v));
	const struct tcp_turn *through = NULL;
	size_t accepted = 0;

	for (size_t i = 0; v && i < n; i++) {
		const struct tcp_turn *x = tcp_turns_find(t, inodes[i]);

		if (x && is_accepted(t, x))
			v[accepted++] = x;
	}
	if (accepted <= MOST)
		through = passed_oldest(v, accepted, asked);
	free(v);
	return through;
}

const struct tcp_turn *passed_request(const struct tcp_turns *t, const uint64_t *inodes, size_t n)
{
	return passed(t, inodes, n, NULL);
}

bool is_passed_on(const struct tcp_turns *t, const uint64_t *inodes, size_t n,
		  const struct tcp_turn *asked)
{
	return passed(t, inodes, n, asked);
}
