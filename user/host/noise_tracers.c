// SPDX-License-Identifier: GPL-2.0-only
#include <bpf/bpf.h>
#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "host/noise.h"

static int is_tracer(enum bpf_prog_type type)
{
	switch (type) {
	case BPF_PROG_TYPE_KPROBE:
	case BPF_PROG_TYPE_TRACEPOINT:
	case BPF_PROG_TYPE_PERF_EVENT:
	case BPF_PROG_TYPE_RAW_TRACEPOINT:
	case BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE:
	case BPF_PROG_TYPE_TRACING:
		return 1;
	default:
		return 0;
	}
}

/* 1 or 0; -1 when the program may not be looked at; 0 too when it has gone meanwhile. */
static int inspect(__u32 id)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id), rc;

	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	rc = bpf_obj_get_info_by_fd(fd, &info, &len);
	close(fd);
	return rc ? -1 : is_tracer(info.type);
}

double noise_count_tracers(void)
{
	__u32 id = 0;
	double n = 0;

	while (bpf_prog_get_next_id(id, &id) == 0) {
		int one = inspect(id);

		if (one < 0)
			return NAN;
		n += one;
	}
	return errno == ENOENT ? n : NAN;
}
