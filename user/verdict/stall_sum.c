// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/verdict.h"

uint64_t ledger_stall_ns(const struct trace_ledger *tx)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < TX_N; i++)
		if (tx_is_stall(i))
			sum += tx->ns[i];
	return sum;
}
