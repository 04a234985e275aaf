// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall server: the other end of `--connect`. */
#include "commands/command.h"
#include "remote/listener.h"

#define AT(field) offsetof(struct listener_options, field)

static const struct opt rows[] = {
	{ OPT_STRING, 'l', "listen", "ADDRESS[:PORT]", "where to listen (default 127.0.0.1:6739: "
		"clients on this host only); port 0: any free one", AT(listen) },
	{ OPT_STRING, 'k', "key", "FILE", "a secret that clients must know too (their --key): 16 "
		"bytes or more, in a file that only its owner may read", AT(key) },
	{ OPT_FLAG, 0, "insecure", NULL, "other hosts may use it without --key: whoever reaches "
		"the port can run tests here", AT(insecure) },
	{ OPT_STRING, 'u', "user", "NAME", "run as this user once the port is bound (default for "
		"root: nobody; root: stay root)", AT(user) },
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
	.summary = "Run the other end of benchmarks for clients on other hosts (--connect)",
	.description = "Serves one run at a time and tells other clients that it is busy. Clients "
		"on other hosts need --key, or --insecure in a lab. With --key both ends prove "
		"that they know the secret; nothing is encrypted. If root starts it, it runs as "
		"nobody. A client may use 256 MiB, ports from 1024 on, and the congestion "
		"controls that any user may choose. Data uses ports of its own, which a firewall "
		"must let through (--port at the client fixes them).",
	.examples = "ipcstall server --listen 10.0.0.2 --key secret\ton one host\n"
		    "ipcstall --mode tcp --size 64K --connect 10.0.0.2 --key secret\ton the "
		    	"other\n",
	.options = rows,
	.options_size = sizeof(struct listener_options),
	.run = run_server,
};
