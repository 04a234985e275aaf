// SPDX-License-Identifier: GPL-2.0-only
#include "workloads/rudp_machine.h"

#include <string.h>

void rudp_sender_init(struct rudp_sender *s, struct rudp_slot *slots, uint32_t window, uint64_t rto)
{
	memset(s, 0, sizeof(*s));
	memset(slots, 0, window * sizeof(*slots));
	s->window = window;
	s->rto = rto;
	s->slots = slots;
	s->first = s->last = -1;
}

static void enqueue(struct rudp_sender *s, int32_t i, uint64_t due)
{
	s->slots[i].due = due;
	s->slots[i].before = s->last;
	s->slots[i].after = -1;
	if (s->last >= 0)
		s->slots[s->last].after = i;
	else
		s->first = i;
	s->last = i;
}

static void dequeue(struct rudp_sender *s, int32_t i)
{
	struct rudp_slot *p = &s->slots[i];

	if (p->before >= 0)
		s->slots[p->before].after = p->after;
	else
		s->first = p->after;
	if (p->after >= 0)
		s->slots[p->after].before = p->before;
	else
		s->last = p->before;
}

int64_t rudp_send(struct rudp_sender *s, uint64_t now)
{
	int64_t seq = s->next++;
	int32_t i = (int32_t)rudp_slot_of(seq, s->window);

	s->slots[i].tries = 1;
	s->slots[i].acked = false;
	enqueue(s, i, now + s->rto);
	s->transmissions++;
	return seq;
}

uint64_t rudp_due(const struct rudp_sender *s)
{
	return s->first >= 0 ? s->slots[s->first].due : RUDP_NEVER;
}

/* The packet in a slot: the only number within the window that maps to this slot. */
static int64_t seq_in(const struct rudp_sender *s, int32_t i)
{
	int64_t ahead = (int64_t)i - rudp_slot_of(s->base, s->window);

	return s->base + (ahead < 0 ? ahead + s->window : ahead);
}

int64_t rudp_retry(struct rudp_sender *s, uint64_t now)
{
	int32_t i = s->first;

	if (i < 0 || s->slots[i].due > now)
		return -1;
	dequeue(s, i);
	enqueue(s, i, now + s->rto);
	s->slots[i].tries++;
	s->transmissions++;
	s->retransmits++;
	return seq_in(s, i);
}

uint32_t rudp_tries(const struct rudp_sender *s, int64_t seq)
{
	return s->slots[rudp_slot_of(seq, s->window)].tries;
}

bool rudp_acked(struct rudp_sender *s, int64_t seq)
{
	int32_t i;

	if (seq < s->base || seq >= s->next ||
	    s->slots[i = (int32_t)rudp_slot_of(seq, s->window)].acked) {
		s->stale_acks++;
		return false;
	}
	s->acks++;
	s->slots[i].acked = true;
	dequeue(s, i);
	while (s->base < s->next && s->slots[rudp_slot_of(s->base, s->window)].acked)
		s->base++;
	return true;
}

void rudp_receiver_init(struct rudp_receiver *r, bool *got, uint32_t window, double drop,
			uint64_t seed)
{
	memset(r, 0, sizeof(*r));
	memset(got, 0, window * sizeof(*got));
	r->window = window;
	r->got = got;
	r->drop = drop;
	rng_seed(&r->rng, seed);
}

enum rudp_arrival rudp_arrive(struct rudp_receiver *r, int64_t seq)
{
	r->arrivals++;
	if (rng_chance(&r->rng, r->drop)) {
		r->dropped++;
		return RUDP_DROPPED;
	}
	if (seq < 0 || seq >= r->next + r->window) {
		r->aliens++;
		return RUDP_ALIEN;
	}
	if (seq < r->next || r->got[rudp_slot_of(seq, r->window)]) {
		r->duplicates++;
		return RUDP_DUPLICATE;
	}
	r->got[rudp_slot_of(seq, r->window)] = true;
	r->early += seq != r->next;
	return RUDP_FRESH;
}

int64_t rudp_take(struct rudp_receiver *r)
{
	r->got[rudp_slot_of(r->next, r->window)] = false;
	return r->next++;
}
