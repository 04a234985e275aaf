// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall machine: what the machine is, and its ladder of latencies from a cache hit to the disk.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json/json_options.h"
#include "base/terminal.h"
#include "commands/command.h"
#include "host/ladder.h"
#include "stats/stats.h"
#include "render/environment.h"
#include "render/host_text.h"
#include "render/json_file.h"
#include "render/sink.h"

struct options {
	char *dir;
	int64_t seed;
	const char *json;
};

static const struct opt rows[] = {
	{ OPT_STRING, 0, "dir", "DIR", "where to read the disk: a file of 64 MiB, removed "
				       "afterwards (default /var/tmp)",
	  offsetof(struct options, dir) },
	{ OPT_INT, 0, "seed", "N", "seed of the random order, bits and bytes (default 1)",
		offsetof(struct options, seed), 0,
	  9e15 },
	{ OPT_STRING, 0, "json", "FILE", "write the result as JSON to FILE, - for standard output",
	  offsetof(struct options, json), .hidden_from_result = true },
	OPT_END,
};

static void defaults(void *opts)
{
	*(struct options *)opts = (struct options){ .dir = strdup("/var/tmp"), .seed = 1 };
}

static void climb(struct ladder *l, const struct rung *rung, struct rung_result *out)
{
	int n = rung->run(l);
	struct sample s = sample_f64(l->ns, n > 0 ? (size_t)n : 0);

	out->known = n > 0;
	stats_sort_f64(l->ns, s.n);
	stats_summarise(&s, &out->s);
	snprintf(out->note, sizeof(out->note), "%s", l->why);
}

static void measure(const struct options *o, struct machine_findings *f)
{
	struct noise_window w;
	pid_t self = getpid();
	struct ladder l;
	cpu_set_t used;

	ladder_init(&l, o->dir, (uint64_t)o->seed);
	f->machine = l.machine;
	f->build = &build;
	CPU_ZERO(&used);
	if (l.cpu >= 0)
		CPU_SET(l.cpu, &used); /* an empty set means all */
	noise_begin(&w, &self, 1, &used);
	for (f->n = 0; ladder_rungs[f->n].name; f->n++)
		climb(&l, &ladder_rungs[f->n], &f->rung[f->n]);
	noise_end(&w, &f->noise);
	ladder_free(&l);
}

static json_t *ladder_to_json(const struct machine_findings *f)
{
	json_t *list = json_array();

	for (int i = 0; i < f->n; i++) {
		const struct summary *s = &f->rung[i].s;

		json_array_append_new(
			list,
			json_pack("{ss, ss, sb, sI, so, so, so, so, so, so, so, so}", "name",
				  ladder_rungs[i].name, "label", ladder_rungs[i].label, "known",
				  f->rung[i].known, "n", (json_int_t)s->n, "min_ns",
				  json_figure(s->min), "q1_ns", json_figure(s->q1), "median_ns",
				  json_figure(s->median), "q3_ns", json_figure(s->q3), "max_ns",
				  json_figure(s->max), "p99_ns", json_figure(s->p99), "mad_ns",
				  json_figure(s->mad), "note", json_text(f->rung[i].note)));
	}
	return list;
}

static json_t *to_json(const struct machine_findings *f, const struct options *o)
{
	return json_pack("{si, ss, so, so, so, so, so}", "schema_version", 1, "kind", "machine",
			 "options", opt_to_json(rows, o), "build", build_to_json(&build), "machine",
			 machine_to_json(&f->machine), "noise", noise_to_json(&f->noise), "ladder",
			 ladder_to_json(f));
}

/* One that was named is meant: half a minute later is too late to say that it is not there. */
static int check_dir(const char *dir, struct err *e)
{
	struct stat st;

	if (stat(dir, &st) == 0 && !S_ISDIR(st.st_mode))
		errno = ENOTDIR;
	else if (access(dir, W_OK | X_OK) == 0)
		return 0;
	return err_sys(e, EXIT_IO, "name a writable directory", "--dir %s", dir);
}

static int run(void *opts, struct opt_operands *rest, struct err *e)
{
	const struct options *o = opts;
	struct machine_findings f = { 0 };

	if ((opt_given(rest, "dir") && check_dir(o->dir, e)) || outputs_check(&o->json, 1, e))
		return e->code;
	if (terminal_is(stderr))
		fprintf(stderr, "measuring latencies from cache to disk, a few seconds...\n");
	measure(o, &f);
	if (!sink_is_stdout(o->json)) {
		machine_text(&f, stdout);
		print_noise(&f.noise);
	}
	if (o->json && json_to_file(to_json(&f, o), o->json, JSON_INDENT(1), e))
		return e->code;
	return EXIT_DONE;
}

const struct command command_machine = {
	.name = "machine",
	.summary = "Show what this machine is, and its latencies from L1 to the disk",
	.description = "Prints a scale to compare message latencies with: caches, a "
		"mispredicted branch, a mutex, memory, compression, loopback TCP, disk. If a rung "
		"cannot be measured, it says why.",
	.examples = "ipcstall machine\tthe description and the ladder\n"
		    "ipcstall machine --dir /mnt/nvme --json machine.json\tread another disk, keep "
		    	"the data\n",
	.options = rows,
	.options_size = sizeof(struct options),
	.defaults = defaults,
	.run = run,
};
