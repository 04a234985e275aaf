// SPDX-License-Identifier: GPL-2.0-only
#include "remote/admit.h"

#include <string.h>

#include "remote/wire.h"

/* Values read from JSON are not checked against the rows (a result file may hold what the command line refuses). Here
 * they come from a stranger. */
static int in_range(const struct opt *row, const struct bench_options *o, const struct bench_options *plain, struct err *e)
{
	int64_t v, usual;

	if (row->type != OPT_INT && row->type != OPT_SIZE && row->type != OPT_TIME)
		return 0;
	v = *(const int64_t *)((const char *)o + row->offset);
	usual = *(const int64_t *)((const char *)plain + row->offset);
	if (v == usual || ((double)v >= row->min && (double)v <= row->max))
		return 0;
	return err_set(e, EXIT_VERSION, "option --%s: %lld is out of range here; use the same version at both ends", row->name, (long long)v);
}

static int all_in_range(const struct bench_options *o, struct err *e)
{
	struct bench_options plain;
	int rc = 0;

	bench_defaults(&plain);
	for (const struct opt *row = bench_option_rows; rc == 0 && (row->name || row->help); row++)
		if (row->name)
			rc = in_range(row, o, &plain, e);
	opt_free(bench_option_rows, &plain);
	for (size_t i = 0; rc == 0 && i < o->sizes.n; i++)
		if (o->sizes.v[i] < 1 || o->sizes.v[i] > 1 << 30)
			rc = err_set(e, EXIT_VERSION, "option --size: %lld is out of range here", (long long)o->sizes.v[i]);
	return rc;
}

/* An option this end knows and the other does not: the other is older, and would mean something else. */
static int all_named(const json_t *options, struct err *e)
{
	for (const struct opt *row = bench_option_rows; row->name || row->help; row++)
		if (row->name && !row->hidden_from_result && strcmp(row->name, "connect") && !json_object_get(options, row->name))
			return err_set(e, EXIT_VERSION, "option --%s: unknown to the client; use the same version at both ends", row->name);
	return 0;
}

static int same_protocol(const json_t *hello, struct err *e)
{
	int64_t protocol = 0;
	struct err none = {};
	char version[32];

	if (strcmp(wire_string(hello, "hello"), WIRE_NAME))
		return err_set(e, EXIT_VERSION, "not an introduction of ipcstall's");
	wire_text(hello, "version", version, sizeof(version));
	if (wire_int(hello, "protocol", WIRE_PROTOCOL, WIRE_PROTOCOL, &protocol, &none) == 0)
		return 0;
	return err_set(e, EXIT_VERSION, "this is version " IPCSTALL_VERSION ", of protocol %d, and the client is version %s, of another; use the same at both ends",
		       WIRE_PROTOCOL, version[0] ? version : "unknown");
}

int admit(const json_t *hello, struct bench_options *o, struct bench_plan *plan, struct err *e)
{
	json_t *options = json_object_get(hello, "options");
	struct err unread = {};

	if (same_protocol(hello, e))
		return -1;
	if (!json_is_object(options))
		return err_set(e, EXIT_VERSION, "an introduction without options; use the same version at both ends");
	if (all_named(options, e))
		return -1;
	if (opt_from_json(bench_option_rows, o, options, &unread))
		return err_set(e, EXIT_VERSION, "%s", unread.text);
	if (all_in_range(o, e))
		return -1;
	if (o->link || o->connect || o->repeat || o->json || o->csv || o->raw)
		return err_set(e, EXIT_BAD_USAGE, "an option that belongs to the client's host: leave it out");
	o->serving = true;
	if (bench_plan(o, plan, e))
		return -1;
	if (plan->w->flags & WL_INET)
		return 0;
	return err_set(e, EXIT_BAD_USAGE, "--mode %s: stays on one host; give tcp, udp or rudp", plan->w->name);
}
