// SPDX-License-Identifier: GPL-2.0-only
/* Which processes a session follows. */
#include <errno.h>
#include <signal.h>

#include "tracer/internal.h"

/* the pid by which the hooks know a process: its own, unless the session is in a PID namespace */
static __u32 number_of(struct trace *t, pid_t tgid)
{
	uint64_t args[1] = { tgid };
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = args, .ctx_size_in = sizeof(args));

	if (!t->numbered)
		return tgid;
	return bpf_prog_test_run_opts(t->number_fd, &o) ? 0 : o.retval;
}

static bool is_followed(const struct trace *t, __u32 tgid)
{
	const __u32 *hint = t->tgid_hint;
	unsigned char one;

	return !hint || hint[tgid % TGID_HINTS] == tgid ||
	       (hint[tgid % TGID_HINTS] && !bpf_map_lookup_elem(t->followed_fd, &tgid, &one));
}

/* A process that has ended is not followed any more, so it is no outsider. */
bool is_outsider(const struct trace *t, __u32 tgid)
{
	bool by_process =
		t->opts.filter == TRACE_FILTER_TGIDS || t->opts.filter == TRACE_FILTER_TREE;

	return by_process && !t->numbered && tgid && !is_followed(t, tgid) &&
	       (!kill((pid_t)tgid, 0) || errno == EPERM);
}

int trace_follow(struct trace *t, pid_t tgid, struct err *e)
{
	__u32 *hint = t->tgid_hint;
	unsigned char one = 1;
	__u32 key = number_of(t, tgid);

	if (!key)
		return err_resource(e, "cannot follow the process: it has exited, or this kernel "
				       "does not show its pid outside this PID namespace; trace a "
				       "cgroup instead, or from outside the container");
	if (!hint || bpf_map_update_elem(t->followed_fd, &key, &one, BPF_ANY))
		return fail_sys(e, errno, "cannot follow the process", "trace a cgroup instead");
	hint[key % TGID_HINTS] =
		hint[key % TGID_HINTS] ? ~0u : key; /* ~0: several, the programs ask the map */
	return 0;
}
