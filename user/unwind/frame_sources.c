// SPDX-License-Identifier: GPL-2.0-only
#include "unwind/frame_sources.h"

#include <sys/uio.h>

struct call_frame *call_stack_next(struct call_stack *s)
{
	if (s->n == CALL_FRAMES)
		return NULL;
	s->v[s->n] = (struct call_frame){};
	return &s->v[s->n++];
}

bool read_process(pid_t tgid, uint64_t at, void *buf, size_t len)
{
	struct iovec here = { buf, len }, there = { (void *)(uintptr_t)at, len };

	return process_vm_readv(tgid, &here, 1, &there, 1, 0) == (ssize_t)len;
}
