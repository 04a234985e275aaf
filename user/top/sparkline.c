// SPDX-License-Identifier: GPL-2.0-only
#include "top/sparkline.h"

#include <ctype.h>

char sparkline_letter(bool rx, unsigned int state)
{
	static const char tx_letters[TX_N] = {
		[TX_IDLE] = '.',   [TX_FLIGHT] = '-', [TX_SNDBUF] = 'S', [TX_RECOVERY] = 'R',
		[TX_PACING] = 'P', [TX_CORK] = 'K',   [TX_NAGLE] = 'N',	 [TX_CWND] = 'C',
		[TX_RWND] = 'W',   [TX_DEVICE] = 'd', [TX_WORK] = '#'
	};
	static const char rx_letters[RX_N] = { [RX_IDLE] = '.', [RX_UNREAD] = 'u', [RX_WAIT] = 'w',
		[RX_WORK] = '#' };

	return rx	      ? (state < RX_N ? rx_letters[state] : '?')
	       : state < TX_N ? tx_letters[state]
			      : '?';
}

_Static_assert((int)RX_N <= (int)TX_N, "a slice has no room for the states");

struct slices {
	uint64_t from, step;
	int n;
	uint64_t ns[STRIP_MAX][TX_N];
};

/* Adds the part of [start, end) that falls into each slice. */
static void add(struct slices *s, unsigned int state, uint64_t start, uint64_t end)
{
	uint64_t stop = s->from + s->step * (uint64_t)s->n;

	if (start < s->from)
		start = s->from;
	if (end > stop)
		end = stop;
	while (start < end && state < TX_N) {
		uint64_t i = (start - s->from) / s->step, edge = s->from + (i + 1) * s->step,
			 to = end < edge ? end : edge;

		s->ns[i][state] += to - start;
		start = to;
	}
}

/* Turns `flight` into `recovery` for data that turned out to be lost: see probe_goes_out(). */
static void redraw(struct slices *s, uint64_t start, uint64_t end)
{
	struct slices lost = { .from = s->from, .step = s->step, .n = s->n };

	add(&lost, TX_RECOVERY, start, end);
	for (int i = 0; i < s->n; i++) {
		uint64_t ns = lost.ns[i][TX_RECOVERY] < s->ns[i][TX_FLIGHT]
				      ? lost.ns[i][TX_RECOVERY]
				      : s->ns[i][TX_FLIGHT];

		s->ns[i][TX_FLIGHT] -= ns;
		s->ns[i][TX_RECOVERY] += ns;
	}
}

static char fullest(const uint64_t *ns, bool rx)
{
	unsigned int best = 0, held = 0;
	char letter;

	for (unsigned int i = 0; i < TX_N; i++) {
		held += ns[i] > 0;
		if (ns[i] > ns[best])
			best = i;
	}
	letter = sparkline_letter(rx, best);
	if (!held)
		return ' ';
	return held > 1 && !rx ? (char)tolower(letter) : letter;
}

void sparkline_draw(const struct strip *s, const struct timeline *t, int n, char *out)
{
	struct slices sl = { .from = s->from_ns, .n = n > STRIP_MAX ? STRIP_MAX : n };
	uint64_t last = s->since_ns;

	out[0] = '\0';
	if (sl.n <= 0 || s->to_ns <= s->from_ns)
		return;
	sl.step = (s->to_ns - s->from_ns) / (uint64_t)sl.n;
	if (!sl.step)
		sl.step = 1;
	for (size_t i = 0; i < t->n; i++) {
		const struct trace_transition *tr = timeline_at(t, i);

		if (tr->mark || tr->serial != s->serial || tr->rx != s->rx)
			continue;
		if (tr->from == TX_RECOVERY && !tr->rx && tr->at_ns - tr->ns < last) {
			redraw(&sl, tr->at_ns - tr->ns, tr->at_ns);
			continue;
		}
		add(&sl, tr->from, tr->at_ns - tr->ns, tr->at_ns);
		last = tr->at_ns > last ? tr->at_ns : last;
	}
	add(&sl, s->now, last, s->to_ns);
	for (int i = 0; i < sl.n; i++)
		out[i] = fullest(sl.ns[i], s->rx);
	out[sl.n] = '\0';
}
