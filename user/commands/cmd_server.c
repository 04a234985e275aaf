// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall server: the other end of `--connect`. */
#include "commands/command.h"
#include "remote/listener.h"

#define AT(field) offsetof(struct listener_options, field)

static const struct opt rows[] = {
	{ OPT_STRING, 'l', "listen", "ADDRESS[:PORT]", "where to listen (default 127.0.0.1:6739: clients on this host only); port 0: any free one", AT(listen) },
	{ OPT_FLAG, '1', "once", NULL, "end after the first run, with its exit code", AT(once) },
	{ OPT_FLAG, 'q', "quiet", NULL, "no line for each client", AT(quiet) },
	OPT_END,
};

static int run_server(void *opts, struct opt_operands *rest, struct err *e)
{
	return listener_run(opts, e);
}

const struct command command_server = {
	.name = "server",
	.summary = "Run the other end of benchmarks that clients on other hosts ask for (--connect)",
	.description = "Takes one run at a time and tells others that it is busy. Nothing is authenticated or encrypted: whoever reaches the port can run "
		       "tests on this host, so it listens on loopback unless told otherwise. Data goes over ports of its own, which a firewall must let pass "
		       "(--port at the client fixes them).",
	.examples = "ipcstall server --listen 10.0.0.2\ton one host\n"
		    "ipcstall --mode tcp --size 64K --connect 10.0.0.2\ton the other\n",
	.options = rows,
	.options_size = sizeof(struct listener_options),
	.run = run_server,
};
