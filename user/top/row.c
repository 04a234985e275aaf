// SPDX-License-Identifier: GPL-2.0-only
/* Questions about one row of `ipcstall top`: its endpoint, its other end and its rates. */
#include <stdlib.h>

#include "base/array.h"
#include "top/rows.h"

int row_key_order(const void *a, const void *b)
{
	const struct row_key *x = a, *y = b;

	return COMPARE(x->serial, y->serial);
}

bool row_active(const struct row *r)
{
	return r->tx_bytes || r->rx_bytes || r->tx_messages || r->rx_messages || r->stall_ns ||
	       r->drops || r->may_move;
}

const struct trace_digest *row_digest(const struct rows *p, const struct row *r)
{
	return &p->now.v[r->now];
}

uint32_t row_find(const struct rows *p, uint64_t serial)
{
	struct row_key want = { .serial = serial };
	struct row_key *k = serial && p->now.n
				    ? bsearch(&want, p->keys, p->now.n, sizeof(want), row_key_order)
				    : NULL;

	return k ? k->index : ROW_NEW;
}

const struct trace_digest *row_peer(const struct rows *p, const struct row *r)
{
	uint32_t i = row_find(p, p->now.v[r->now].peer);

	return i == ROW_NEW ? NULL : &p->now.v[i];
}

double row_per_second(const struct rows *p, uint64_t n)
{
	return p->interval_ns ? (double)n * 1e9 / (double)p->interval_ns : 0;
}
