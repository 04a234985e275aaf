// SPDX-License-Identifier: GPL-2.0-only
/* The stack of a stalled call, copied by the kernel half (bpf/stack_copy.bpf.h). */
#include <string.h>

#include "bpf/stack_copy.h"
#include "tracer/internal.h"

void trace_copy_stack(struct trace *t, uint64_t serial, const struct python_layout *python)
{
	struct stack_copy *c = object_var(t, "stack_copy");

	if (!c)
		return;
	__atomic_store_n(&c->wanted, 0, __ATOMIC_SEQ_CST);
	c->python = *python;
	__atomic_store_n(&c->bytes, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&c->wanted, serial, __ATOMIC_SEQ_CST);
}

bool trace_copied_stack(struct trace *t, struct stack_copy *out)
{
	const struct stack_copy *c = object_var(t, "stack_copy");

	if (!c || !__atomic_load_n(&c->bytes, __ATOMIC_ACQUIRE))
		return false;
	memcpy(out, c, sizeof(*out));
	return true;
}
