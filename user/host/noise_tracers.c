// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <linux/bpf.h>
#include <math.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/noise.h"

/* bpf(2) itself: only the tracer uses the library that loads programs */
static int ask(int command, union bpf_attr *a)
{
	return (int)syscall(SYS_bpf, command, a, sizeof(*a));
}

static int is_tracer(enum bpf_prog_type type)
{
	switch (type) {
	case BPF_PROG_TYPE_KPROBE:
	case BPF_PROG_TYPE_TRACEPOINT:
	case BPF_PROG_TYPE_PERF_EVENT:
	case BPF_PROG_TYPE_RAW_TRACEPOINT:
	case BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE:
	case BPF_PROG_TYPE_TRACING: return 1;
	default: return 0;
	}
}

/* 1: a tracing program; 0: another kind, or gone meanwhile; -1: it may not be inspected. */
static int inspect(__u32 id)
{
	struct bpf_prog_info info = {};
	union bpf_attr by_id = { .prog_id = id }, about = {};
	int fd = ask(BPF_PROG_GET_FD_BY_ID, &by_id), rc;

	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	about.info.bpf_fd = (__u32)fd;
	about.info.info_len = sizeof(info);
	about.info.info = (uintptr_t)&info;
	rc = ask(BPF_OBJ_GET_INFO_BY_FD, &about);
	close(fd);
	return rc ? -1 : is_tracer(info.type);
}

double noise_count_tracers(void)
{
	union bpf_attr next = {};
	double n = 0;

	while (ask(BPF_PROG_GET_NEXT_ID, &next) == 0) {
		int one = inspect(next.next_id);

		if (one < 0)
			return NAN;
		n += one;
		next = (union bpf_attr){ .start_id = next.next_id };
	}
	return errno == ENOENT ? n : NAN;
}
