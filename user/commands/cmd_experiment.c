// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall experiment FILE: the sweeps an experiment file names, then the test that answers its
 * hypothesis. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/command.h"
#include "sweep/experiment_share.h"
#include "sweep/experiment_steps.h"
#include "base/clock.h"
#include "base/progress.h"
#include "render/paint.h"

struct experiment_opts {
	bool quick, list, resume, progress;
	char *out;
};

#define AT(field) offsetof(struct experiment_opts, field)

static const struct opt experiment_options[] = {
	{ OPT_FLAG, 0, "list", NULL, "the experiments that come with the program", AT(list) },
	{ OPT_FLAG, 0, "quick", NULL, "the short form: at most three minutes; weaker evidence",
		AT(quick) },
	{ OPT_STRING, 'o', "out", "DIR", "where data, figures and report go (default: FILE's name, "
		"with -results)", AT(out) },
	{ OPT_FLAG, 0, "resume", NULL, "keep what DIR already has, and continue from there",
		AT(resume) },
	{ OPT_FLAG, 0, "progress", NULL, PROGRESS_HELP, AT(progress) },
	OPT_END,
};

#define DIRECTORY "docs/experiments"

static int is_experiment(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return n > 3 && strcmp(d->d_name + n - 3, ".md") == 0 && d->d_name[0] >= 'a' &&
	       d->d_name[0] <= 'z';
}

enum { TITLES_AT = 25, NARROW = 60 };

/* Where the screen is narrow the title stands below the name. */
static void print_title(const char *name, int n, const char *title)
{
	struct paint p = paint_on(stdout, COLOUR_NEVER);
	int at = p.width < NARROW ? 2 : TITLES_AT;

	printf(p.width < NARROW ? "%.*s\n  " : "%-24.*s ", n, name);
	paint_wrapped(&p, INK_PLAIN, title, at, at);
	putchar('\n');
}

static int list(struct err *e)
{
	char share[PATH_MAX], dir[PATH_MAX + 32], path[2 * PATH_MAX], title[200];
	struct dirent **found;
	int n;

	if (!share_dir(share))
		return err_feature(e, "experiment: " DIRECTORY
				      " is not beside this program; name a file");
	snprintf(dir, sizeof(dir), "%s/" DIRECTORY, share);
	n = scandir(dir, &found, is_experiment, alphasort);
	if (n < 0)
		return err_sys(e, EXIT_DATA, "name a file", "%s", dir);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, found[i]->d_name);
		if (plan_title(path, title, sizeof(title)))
			print_title(found[i]->d_name, (int)strlen(found[i]->d_name) - 3, title);
		free(found[i]);
	}
	free(found);
	return 0;
}

/* A file, or the bare name of one that comes with the program. */
static void find_file(const char *word, char path[PATH_MAX])
{
	char share[PATH_MAX];

	snprintf(path, PATH_MAX, "%s", word);
	if (access(word, F_OK) == 0 || strchr(word, '/') || !share_dir(share))
		return;
	if (snprintf(path, PATH_MAX, "%.3000s/" DIRECTORY "/%.500s.md", share, word) <= 0 ||
	    access(path, F_OK) != 0)
		snprintf(path, PATH_MAX, "%s", word);
}

static int choose_dir(const struct experiment_opts *o, const char *file, char dir[PATH_MAX],
		      struct err *e)
{
	const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	struct stat st;

	if (o->out)
		snprintf(dir, PATH_MAX, "%s", o->out);
	else
		snprintf(dir, PATH_MAX, "%.*s-results", (int)strcspn(base, "."), base);
	if (mkdir(dir, 0777) == 0 ||
	    (errno == EEXIST && stat(dir, &st) == 0 && S_ISDIR(st.st_mode)))
		return 0;
	return err_sys(e, EXIT_IO, "give a writable directory with --out", "%s", dir);
}

/* What a run writes, reads or connects to is chosen by whoever starts the experiment, and not by
 * its file, which may come from anywhere. */
static bool may_be_named(const struct opt *row)
{
	static const char *const never[] = { "connect", "out", "json", "resume", NULL };
	bool takes_file = row->hidden_from_result &&
			  (row->type == OPT_STRING || row->type == OPT_MULTI);

	return !takes_file && !opt_is_among(row->name, never);
}

static int check_given(const struct plan_run *r, const struct opt_operands *rest, const char *file,
		       struct err *e)
{
	for (int i = 0; i < rest->n_given; i++)
		if (!may_be_named(rest->given[i]))
			return err_data(e,
					"%s: run '%s' has --%s, and an experiment file may name no "
					"files and no hosts; take the option out",
					file, r->name, rest->given[i]->name);
	return 0;
}

static int check_run(const struct plan_run *r, const char *file, struct err *e)
{
	const struct command *c = command_find(r->words[0]);
	void *opts = c ? command_defaults(c) : NULL;
	char *argv[PLAN_WORDS_MAX], *operands[PLAN_WORDS_MAX];
	struct opt_operands rest = { .v = operands, .none = !c || !c->takes_operands };
	struct err why = {};
	int rc;

	if (!opts)
		return err_resource(e, "experiment: out of memory");
	memcpy(argv, r->words, r->n * sizeof(argv[0]));
	rc = opt_parse(c->options, opts, (int)r->n, argv, &rest, &why);
	if (rc)
		err_data(e, "%s: run '%s': %s", file, r->name, why.text);
	else
		rc = check_given(r, &rest, file, e);
	command_free(c, opts);
	return rc;
}

static int check_runs(const struct plan *p, const char *file, struct err *e)
{
	for (size_t i = 0; i < p->n; i++)
		if (check_run(&p->runs[i], file, e))
			return -1;
	return 0;
}

static int run_plan(struct plan *p, const struct experiment_opts *o, const char *file,
		    const char *dir, struct err *e)
{
	uint64_t t0 = now_ns();

	fprintf(stderr, "%s%s\n", p->title, o->quick ? " (quick form)" : "");
	for (size_t i = 0; i < p->n; i++) {
		fprintf(stderr, "run %zu of %zu: %s\n", i + 1, p->n, p->runs[i].name);
		if (step_pilot(&p->runs[i], file, dir, o->quick, o->resume, e) ||
		    step_sweep(&p->runs[i], dir, o->resume, e))
			return -1;
	}
	fprintf(stderr, "measured in %.0f s; data in %s\n\n", (double)(now_ns() - t0) / 1e9, dir);
	return 0;
}

static int carry_out(const struct experiment_opts *o, const char *word, bool is_part,
		     struct err *e);

/* What this build or this machine cannot do is left out, and the report of the whole says so; that
 * the data do not decide is an answer. */
static int carry_out_parts(const struct plan *p, const struct experiment_opts *o, const char *dir,
			   struct err *e)
{
	char part_dir[PATH_MAX];

	for (size_t i = 0; i < p->n_parts; i++) {
		struct experiment_opts part = { .quick = o->quick, .resume = o->resume,
						.out = part_dir };
		struct err why = {};
		int code;

		snprintf(part_dir, sizeof(part_dir), "%.3000s/%s", dir, p->parts[i]);
		code = carry_out(&part, p->parts[i], true, &why);
		if (code == EXIT_NO_FEATURE || (code == EXIT_NOISY && err_is_set(&why)))
			err_print(&why);
		else if (code != EXIT_DONE && code != EXIT_NOISY)
			return err_set(e, (enum exit_code)code, "%s",
				       err_is_set(&why) ? why.text : "experiment: a part failed");
	}
	return 0;
}

/* A part has no parts of its own. */
static int carry_out(const struct experiment_opts *o, const char *word, bool is_part, struct err *e)
{
	char file[PATH_MAX], dir[PATH_MAX];
	struct plan p;
	int code = -1;

	find_file(word, file);
	if (plan_read(&p, file, o->quick, e) == 0 && check_runs(&p, file, e) == 0 &&
	    choose_dir(o, file, dir, e) == 0 &&
	    (is_part || carry_out_parts(&p, o, dir, e) == 0) && run_plan(&p, o, file, dir, e) == 0)
		code = step_answer(file, dir, o->quick, e);
	plan_free(&p);
	return code < 0 ? (int)e->code : code;
}

static int run_experiment(void *opts, struct opt_operands *rest, struct err *e)
{
	const struct experiment_opts *o = opts;

	progress_in_pipe(o->progress);
	if (o->list && rest->n)
		return err_usage(e,
				 "experiment --list with '%s': one lists, the other runs; give one",
				 rest->v[0]);
	if (o->list)
		return list(e) ? (int)e->code : EXIT_DONE;
	if (rest->n != 1) {
		err_usage(e, "experiment: %d files; give one, or --list to see which there are",
			  rest->n);
		return e->code;
	}
	return carry_out(o, rest->v[0], false, e);
}

const struct command command_experiment = {
	.name = "experiment",
	.summary = "Run an experiment: its sweeps, its figures, and the test that answers its "
		"hypothesis",
	.operands = "FILE",
	.operand_source = "ipcstall experiment --list | cut -d\" \" -f1",
	.description = "FILE is an experiment file, or the name of one of docs/experiments. The "
		"command measures, tests the hypothesis, and prints the answer: supported, "
		"refuted, partly, no difference (beyond the stated margin) or not decided. A "
		"directory keeps everything: data, "
		"figures, report.html, answer.json. Exit code 10: not decided, or the machine was "
		"disturbed and nothing was measured.",
	.examples = "ipcstall experiment --list\twhich experiments there are\n"
		    "ipcstall experiment seed-000 --quick\tevery measurement of a paper: its "
		    	"figure, and the figure here\n"
		    "ipcstall experiment nagle-comb\tNIST's Figures 1, 2 and 3 on this machine\n"
		    "ipcstall experiment pipe-peak --quick -o /tmp/pipe\tthe short form, into a "
		    	"directory of your choice\n",
	.options = experiment_options,
	.options_size = sizeof(struct experiment_opts),
	.takes_operands = true,
	.run = run_experiment,
};
