// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/kept_output.h"

#include "verdict/negligible.h"

#define READS_LEAST 5 /* each after a wait */
#define READS_TIMES 8 /* times as many reads as writes */
#define ONE_LONG    4 /* times as long as the longest wait for its input */

/* The pipe's reader waited once for at least half of the pipe's life. */
static bool is_waited_for_once(const struct trace_endpoint *pipe)
{
	uint64_t longest = pipe->rx.max[RX_WAIT];

	return pipe->proto == TRACE_PIPE && pipe->tx_calls.tgid &&
	       trace_messages_known(&pipe->tx_calls) && longest >= NOTICEABLE_NS &&
	       2 * longest >= pipe->rx.lifetime_ns;
}

static bool is_input_of(const struct trace_endpoint *in, const struct trace_endpoint *pipe)
{
	uint64_t reads = in->rx_calls.messages;

	return in->proto == TRACE_PIPE && in != pipe && in->rx_calls.tgid == pipe->tx_calls.tgid &&
	       trace_messages_known(&in->rx_calls) && reads >= READS_LEAST &&
	       reads >= READS_TIMES * pipe->tx_calls.messages &&
	       2 * in->rx.ns[RX_WAIT] >= in->rx.lifetime_ns &&
	       ONE_LONG * in->rx.max[RX_WAIT] <= pipe->rx.max[RX_WAIT];
}

int kept_input(const struct trace_snapshot *s, size_t pipe)
{
	for (size_t i = 0; is_waited_for_once(&s->ep[pipe]) && i < s->n; i++)
		if (is_input_of(&s->ep[i], &s->ep[pipe]))
			return (int)i;
	return -1;
}

bool keeps_from_another(const struct trace_snapshot *s, size_t input)
{
	const struct trace_endpoint *in = &s->ep[input];

	if (in->proto != TRACE_PIPE || in->rx_calls.messages < READS_LEAST)
		return false;
	for (size_t i = 0; i < s->n; i++)
		if (is_waited_for_once(&s->ep[i]) && is_input_of(in, &s->ep[i]))
			return true;
	return false;
}
