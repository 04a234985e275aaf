// SPDX-License-Identifier: GPL-2.0-only
#include "remote/admit.h"

#include <string.h>

#include "base/text.h"
#include "json/json_options.h"
#include "remote/wire.h"

#define CC_ALLOWED "/proc/sys/net/ipv4/tcp_allowed_congestion_control"
enum { PORT_LEAST = 1024 };

/* If this end knows an option and the client does not, the client is older and would mean something
 * else. */
static int all_named(const json_t *options, struct err *e)
{
	for (const struct opt *row = bench_option_rows; row->name || row->help; row++)
		if (row->name && !row->hidden_from_result && strcmp(row->name, "connect") &&
		    !json_object_get(options, row->name))
			return err_version(e,
					   "option --%s: unknown to the client; use the same "
					   "version at both ends",
					   row->name);
	return 0;
}

static int same_protocol(const json_t *hello, struct err *e)
{
	int64_t protocol = 0;
	struct err none = {};
	char version[32];

	if (strcmp(wire_string(hello, "hello"), WIRE_NAME))
		return err_version(e, "not a greeting of ipcstall");
	wire_text(hello, "version", version, sizeof(version));
	if (wire_int(hello, "protocol", WIRE_PROTOCOL, WIRE_PROTOCOL, &protocol, &none) == 0)
		return 0;
	return err_version(
		e,
		"this is version " IPCSTALL_VERSION
		", of protocol %d, and the client is version %s, of another; use the same "
		"at both ends",
		WIRE_PROTOCOL, version[0] ? version : "unknown");
}

/* Allow only what any user of this host could do, whoever runs the server. */
static int within_limits(const struct bench_options *o, struct err *e)
{
	char allowed[512];

	if (o->port && o->port < PORT_LEAST)
		return err_usage(e,
				 "--port %lld: a server gives its clients ports from %d on; give "
				 "one of these",
				 (long long)o->port, PORT_LEAST);
	if (o->cc && (!text_first_line(CC_ALLOWED, allowed, sizeof(allowed)) ||
		      !text_has_word(allowed, o->cc)))
		return err_perm(e,
				"--cc %s: not one that any user of the server's host may choose "
				"(" CC_ALLOWED "); give one of these",
				o->cc);
	return 0;
}

int admit(const json_t *hello, struct bench_options *o, struct bench_plan *plan, struct err *e)
{
	json_t *options = json_object_get(hello, "options");
	struct err unread = {};

	if (same_protocol(hello, e))
		return -1;
	if (!json_is_object(options))
		return err_version(e,
				   "a greeting without options; use the same version at both ends");
	if (all_named(options, e))
		return -1;
	if (opt_from_json(bench_option_rows, o, options, &unread))
		return err_version(e, "%s", unread.text);
	if (o->link || o->connect)
		return err_usage(e, "an option that belongs to the client's host: leave it out");
	if (within_limits(o, e))
		return -1;
	o->serving = true;
	if (bench_plan(o, plan, e))
		return -1;
	if (plan->w->flags & WL_INET)
		return 0;
	return err_usage(e, "--mode %s: stays on one host; give tcp, udp or rudp", plan->w->name);
}
