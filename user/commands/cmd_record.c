// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall record: what run and attach would show, into a file. */
#include "commands/command.h"
#include "session/session.h"
#include "render/sink.h"

static const struct opt record_options[] = {
	OPT_HEAD("Which processes (or a command after --)"),
	TARGET_OPTIONS,
	OPT_HEAD("What to trace"),
	SEEN_OPTIONS,
	{ OPT_TIME, 0, "threshold", "TIME", "record each single stall of at least this length "
		"(default 1ms; 0: none)", SESSION_OPT(threshold_ns) },
	{ OPT_FLAG, 0, "stacks", NULL, "record with each stall the stacks of its call and of "
				       "the other end's reader", SESSION_OPT(stacks) },
	{ OPT_FLAG, 0, "timeline", NULL, "also record every change of state: larger and slower",
		SESSION_OPT(steps) },
	OPT_HEAD("The user that CMD runs as"),
	IDENTITY_OPTIONS,
	OPT_HEAD("The file"),
	{ OPT_STRING, 'o', "output", "FILE", "the recording (required)", SESSION_OPT(record) },
	{ OPT_SIZE, 0, "max-size", "SIZE",
	  "keep the file below this size (default 100M): drop the older half of the "
	  "steps and stalls, every second snapshot, and the closed endpoints that "
	  "stalled least; what is dropped is counted", SESSION_OPT(max_size), 1 << 20, 1ull << 40 },
	{ OPT_TIME, 'i', "interval", "TIME", "time between two snapshots; a crash "
					     "loses at most this much (default 1s)",
		SESSION_OPT(interval_ns), 1e7, 86400e9 },
	{ OPT_TIME, 'd', "duration", "TIME", "stop after this time (default: at Ctrl-C, or when "
		"the processes end)", SESSION_OPT(duration_ns), 1, 1e18 },
	PROGRESS_OPTION,
	{ OPT_FLAG, 'q', "quiet", NULL, "print nothing", SESSION_OPT(quiet) },
	OPT_END,
};

static void record_defaults(void *opts)
{
	struct session_opts *o = opts;

	session_defaults(o);
	o->threshold_ns = 1000000;
	o->max_size = 100 << 20;
}

static int run(void *opts, struct opt_operands *cmd, struct err *e)
{
	struct session_opts *o = opts;
	bool whom = o->all || o->pids.n || o->comm || o->cgroup;

	if (!o->record)
		return err_usage(e, "record: no output file given; use -o FILE");
	if (sink_is_stdout(o->record))
		return err_usage(e,
				 "record -o -: a recording is rewritten in place to stay within "
				 "--max-size, which standard output does not allow; give a file");
	if (cmd->n && whom)
		return err_usage(e, "record: a command and running programs exclude each other; "
				    "give one of them");
	if (!cmd->n && (o->user || o->as_root))
		return err_usage(e, "record: --user and --as-root apply to a command; give one "
				    "after --, or leave them out");
	return cmd->n ? session_run(o, cmd, e) : session_attach(o, "record", e);
}

const struct command command_record = {
	.name = "record",
	.summary = "Record the ledgers of programs into a file, for replay",
	.operands = "-o FILE [-- CMD [ARG...]]",
	.description = "The file is bounded in size and has a checksum for each block. After a "
		"crash or on a full disk it is readable up to its last whole block. An older "
		"recording of that name stays until the new one has its first snapshot. The exit "
		"code of CMD is passed on. Under sudo, CMD runs as the user who called sudo.",
	.examples = "ipcstall record -o web.rec -c /sys/fs/cgroup/system.slice/nginx.service -d "
		"1h\tan hour of a service, in at most 100 MB\n"
		    "ipcstall record -o build.rec --timeline -- make -j4\tevery change of state of "
		    	"a build's pipes\n"
		    "ipcstall replay web.rec\twhat attach would have shown\n",
	.options = record_options,
	.options_size = sizeof(struct session_opts),
	.defaults = record_defaults,
	.stop_at_first_operand = true,
	.takes_operands = true,
	.run = run,
};
