// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall sweep: a benchmark over every combination of some options' values, with the ledger of
 * each point. */
#include <stdlib.h>

#include "base/array.h"
#include "base/progress.h"
#include "base/terminal.h"
#include "commands/command.h"
#include "render/ledger_point.h"
#include "render/sink.h"
#include "sweep/subprocess.h"
#include "sweep/sweep.h"

#define AT(field) offsetof(struct sweep_opts, field)

static const struct opt sweep_rows[] = {
	OPT_HEAD("What to vary"),
	{ OPT_MULTI, 'V', "vary", "OPTION=VALUES",
		"any option of a benchmark: size=1453:21000:+500, nodelay=0,1, cc=cubic,reno, "
		"'link=lo;veth,tso=off' (several: repeat)", AT(vary) },
	{ OPT_INT, 0, "repeats", "N", "run every combination N times, each time in a "
				      "new random order (default 1; --seed changes the "
				      "orders)", AT(repeats), 1, 10000 },
	{ OPT_STRING, 0, "together", "OPTION",
		"measure the values of this varied option back to back, in random order, so that "
		"a disturbance of some seconds affects all of them",
		AT(together) },
	{ OPT_FLAG, 0, "refine", NULL, "then find the exact sizes at which dips begin "
				       "and end, by bisection (at least 3 repeats)", AT(refine) },
	OPT_HEAD("What differs from `ipcstall bench`"),
	{ OPT_SIZES, 0, "size", "SIZE", "size of each message, if --vary does not name it: one "
					"value",
		AT(bench.sizes) },
	{ OPT_FLAG, 0, "trace", NULL, "run each point with both ends' ledgers on "
				      "(default if possible; --trace: fail if it is "
				      "not; --no-trace: no ledgers)", AT(bench.trace) },
	OPT_HEAD("Output"),
	{ OPT_STRING, 'o', "out", "FILE", "NDJSON: a header, one line for each point, "
					  "an end line (default: standard output)", AT(out) },
	{ OPT_FLAG, 0, "resume", NULL, "continue FILE where an interrupted sweep stopped",
		AT(resume) },
	OPT_END,
};

/* Both tables as one: the sweep's rows, then the benchmark's without those that a sweep replaces.
 */
enum { ROWS_MAX = 80 };
static struct opt all_rows[ROWS_MAX];

static void __attribute__((constructor)) join_rows(void)
{
	static const char *const but[] = { "json", "csv", "raw", "timeline", "perfetto", "repeat",
		"json-schema", "nist", "size", "trace", NULL };

	opt_join(all_rows, ROWS_MAX, sweep_rows, bench_option_rows, but);
}

static void sweep_defaults(void *opts)
{
	struct sweep_opts *o = opts;

	bench_defaults(&o->bench);
	o->repeats = 1;
}

/* A person is told what was found; where the analysis is not installed, how to look at it. */
static void say_findings(const struct sweep_opts *o)
{
	char self[] = "/proc/self/exe", summary[] = "summary", brief[] = "--brief";
	char *argv[] = { self, summary, brief, o->out, NULL };
	struct err e = {};

	if (o->bench.quiet || !o->out || sink_is_stdout(o->out) || !terminal_is(stdout))
		return;
	subprocess_run(argv, &e);
	printf("\nsaved: %s; next: ipcstall report %s\n", o->out, o->out);
}

static int make_room(struct sweep *s, struct err *e)
{
	s->done = array_new(sweep_total(s), 0, sizeof(*s->done));
	return s->done ? 0 : err_resource(e, "sweep: out of memory; give fewer values");
}

static int run_planned(struct sweep *s, struct bench_plan *first, struct err *e)
{
	int rc;

	tick_clock_init(&first->clock, TICK_CALIBRATE_NS);
	if (make_room(s, e) || sweep_spare(s, e) || sweep_trace_cell(s, first, e) ||
	    sweep_open(s, first, e))
		return -1;
	bench_catch_signals();
	rc = sweep_run(s, e);
	progress_clear(s->o->bench.quiet);
	return rc;
}

static int run_sweep(void *opts, struct opt_operands *rest, struct err *e)
{
	struct sweep s = { .o = opts };
	struct bench_plan first;
	int rc;

	json_ledger_of_point = point_ledger_to_json;
	progress_in_pipe(s.o->bench.progress);
	rc = sweep_plan(&s, &first, rest, e) || run_planned(&s, &first, e) ? -1 : 0;
	traced_end(&s.tr);
	rc = sweep_close(&s, rc, e);
	free(s.done);
	refine_free(&s.refiner);
	cells_free(&s.cells);
	if (rc == 0)
		say_findings(s.o);
	return rc ? (int)e->code : EXIT_DONE;
}

const struct command command_sweep = {
	.name = "sweep",
	.summary = "Benchmark every combination of some options' values, in random order",
	.description = "Each point runs with the ledger on (--no-trace: off), so that stall and "
		"time belong to the same messages. Each point is written as soon as it is "
		"measured; --resume continues an interrupted sweep. `ipcstall report FILE` draws "
		"it.",
	.examples = "ipcstall sweep -m tcp --pattern trailer=4 --ack message -t throughput -L "
		"veth,rate=100mbit,tso=off -V size=1453:21000:+500 -V nodelay=0,1 -o "
		"comb.ndjson\tdips at some sizes: Nagle and delayed ACKs\n"
		    "ipcstall sweep -m tcp --pattern chunks=4096 --ack message -t throughput -L "
			"veth,tso=off "
		    	"-V size=3500:7000:+500 --repeats 3 --refine -o edges.ndjson\tthe exact "
		    	"sizes of the dips\n"
		    "ipcstall sweep -m pipe -t throughput -V size=1K:256K:*2 -V pipe-size=64K,1M "
		    	"-o pipe.ndjson\tdoes a larger pipe help?\n",
	.options = all_rows,
	.options_size = sizeof(struct sweep_opts),
	.defaults = sweep_defaults,
	.run = run_sweep,
};
