/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Eviction. When the endpoint table is full, user space drops idle endpoints. Later activity makes
 * a new endpoint, marked as existing before it was seen.
 */
#ifndef IPCSTALL_EVICT_ENDPOINT_BPF_H
#define IPCSTALL_EVICT_ENDPOINT_BPF_H

#include "endpoint.bpf.h"

/* Nothing is under way, and nobody is in a call. */
static __always_inline bool is_quiet(const struct endpoint *ep)
{
	word_t tx = LATEST(ep->tx.word), rx = LATEST(ep->rx.word);

	return WORD_STATE(tx, DIR_TX) == TX_IDLE && WORD_STATE(rx, DIR_RX) == RX_IDLE &&
	       !word_working(tx) && !word_working(rx);
}

/* Not attached: user space runs it. args: the key and the serial of the endpoint to evict */
SEC("raw_tp/evict")
int evict(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 key = ctx->args[0];
	struct endpoint *ep = endpoint_known(key);

	if (!ep || ep->closed || ep->id.serial != ctx->args[1] || !is_quiet(ep))
		return 0;
	ep->flags |= EP_EVICTED;
	if (endpoint_close(ep, bpf_ktime_get_ns()))
		count(COUNT_EVICTED);
	return 1;
}

#endif
