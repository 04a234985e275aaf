// SPDX-License-Identifier: GPL-2.0-only
/* Runs those programs of the kernel half that no event runs; one lists the keys of all
 * endpoints. */
#include "tracer/internal.h"

int run_program(int fd, uint64_t arg)
{
	uint64_t args[1] = { arg };
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = args, .ctx_size_in = sizeof(args));

	return bpf_prog_test_run_opts(fd, &o);
}

size_t list_endpoint_keys(struct trace *t)
{
	if (run_program(t->digester.list_fd, 0))
		return 0;
	return *t->digester.n_keys < t->opts.max_endpoints ? *t->digester.n_keys
							   : t->opts.max_endpoints;
}

/* program < 0: it is not loaded */
void snapshot_run(int program, uint64_t key, uint64_t at)
{
	uint64_t args[2] = { key, at };
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = args, .ctx_size_in = sizeof(args));

	if (program >= 0)
		bpf_prog_test_run_opts(program, &o);
}
