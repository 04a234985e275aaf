/* SPDX-License-Identifier: GPL-2.0-only */
/* The timeline, only when asked for: every step of a ledger and what happened beside it, one small
 * record each. */
#ifndef IPCSTALL_TIMELINE_BPF_H
#define IPCSTALL_TIMELINE_BPF_H

#include "emit.bpf.h"

/* with TIMELINE_ONE: serial of the endpoint; user space writes it while the session runs */
__u64 timeline_serial;

static __always_inline bool timeline_wants(const struct endpoint *ep)
{
	return opt.timeline == TIMELINE_ALL || ep->id.serial == *(volatile __u64 *)&timeline_serial;
}

/* refused first when the ring fills up: the ends of endpoints are worth more than a step */
static __always_inline struct record_event *event_reserve(void)
{
	struct record_event *r = 0;

	if (bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA) < opt.ring_bytes / 4 * 3)
		r = bpf_ringbuf_reserve(&records, sizeof(*r), 0);
	if (!r) {
		count(COUNT_LOST);
		count(COUNT_EVENTS_LOST);
	}
	return r;
}

static __always_inline void emit_event(const struct endpoint *ep, __u32 type, ns_t at, __u64 value,
				       __u32 what)
{
	struct record_event *r;

	if (!timeline_wants(ep))
		return;
	r = event_reserve();
	if (!r)
		return;
	r->head.type = type;
	r->head.size = sizeof(*r);
	r->serial = ep->id.serial;
	r->at = at;
	r->value = value;
	r->what = what;
	r->pad = 0;
	bpf_ringbuf_submit(r, wake_flags());
}

/* `at` on the full clock: where the new state began, which is not always when the input was dated
 */
static __always_inline void note_step(const struct endpoint *ep, enum dir dir,
				      const struct transition *t)
{
	ns_t at = word_began(t->word, dir == DIR_TX ? ep->tx.seen : ep->rx.seen);

	if (opt.timeline)
		emit_event(ep, RECORD_STEP, at, t->ns,
			   EVENT_STEP(dir, t->from, t->to, t->word >> CLOSED_SHIFT));
}

static __always_inline void note_mark(const struct endpoint *ep, enum mark mark, ns_t at,
				      __u64 bytes)
{
	if (opt.timeline)
		emit_event(ep, RECORD_MARK, at, bytes, mark);
}

#endif
