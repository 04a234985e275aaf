// SPDX-License-Identifier: GPL-2.0-only
/* Which endpoints there are: the kernel half lists their keys. */
#include "tracer/internal.h"

int digest_run(int fd, uint64_t arg)
{
	uint64_t args[1] = { arg };
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = args, .ctx_size_in = sizeof(args));

	return bpf_prog_test_run_opts(fd, &o);
}

size_t digest_list(struct trace *t)
{
	if (digest_run(t->look.list_fd, 0))
		return 0;
	return *t->look.n_keys < t->opts.max_endpoints ? *t->look.n_keys : t->opts.max_endpoints;
}
