/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inputs and transitions as numbers, for a step that is a global function (apply_tx_numbers()). 5.10 takes no pointers in one
 * (btf_prepare_func_args()), and verifies any other function anew for each path to each call of it: the step, of which most programs have
 * ten, would be nine tenths of what it looks at, and the largest program a few instructions short of the million that are allowed. So
 * the endpoint goes by its key, and the input packed.
 */
#ifndef IPCSTALL_PACKED_H
#define IPCSTALL_PACKED_H

#include "step.h"

enum { PACK_SAYS = 32, PACK_HEAD = 40, PACK_FULL = 44, PACK_DEVICE, PACK_SLEPT, PACK_WORKING, PACK_ASLEEP = PACK_WORKING + 2 };

/* but for the times, which fill a number each */
static __always_inline word_t input_packed(const struct input *in)
{
	return in->bytes | (word_t)in->says << PACK_SAYS | (word_t)in->head << PACK_HEAD | (word_t)in->full << PACK_FULL |
	       (word_t)in->device << PACK_DEVICE | (word_t)in->slept << PACK_SLEPT | (word_t)(in->working + 1) << PACK_WORKING |
	       (word_t)(in->asleep + 1) << PACK_ASLEEP;
}

static __always_inline void input_unpack(struct input *in, word_t packed)
{
	in->bytes = packed;
	in->says = packed >> PACK_SAYS;
	in->head = packed >> PACK_HEAD & 7;
	in->full = packed >> PACK_FULL & 1;
	in->device = packed >> PACK_DEVICE & 1;
	in->slept = packed >> PACK_SLEPT & 1;
	in->working = (int)(packed >> PACK_WORKING & 3) - 1;
	in->asleep = (int)(packed >> PACK_ASLEEP & 3) - 1;
}

/* a transition that ended something, but for its word */
enum { PACK_TO = 4, PACK_ENDED = 8, PACK_NS };

static __always_inline word_t transition_packed(const struct transition *t)
{
	return t->from | (word_t)t->to << PACK_TO | (word_t)t->ended << PACK_ENDED | t->ns << PACK_NS;
}

static __always_inline void transition_unpack(struct transition *t, word_t packed)
{
	t->from = packed & 15;
	t->to = packed >> PACK_TO & 15;
	t->ended = packed >> PACK_ENDED & 1;
	t->ns = packed >> PACK_NS;
}

_Static_assert(PACK_NS + SINCE_BITS <= 64, "an episode's time does not fit");

#endif
