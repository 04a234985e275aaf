// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall report, figure, summary, compare: the Python side, from any folder. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/command.h"
#include "recording/blocks.h"
#include "sweep/python.h"
#include "sweep/subprocess.h"

struct analysis_opts {
	char *output, *fix, *title, *test, *x, *y, *dpi, *from, *to;
	bool mixed, brief;
	const char *called[2]; /* of compare, where the files are copies of others; NULL: by their
				  own names */
};

#define AT(field) offsetof(struct analysis_opts, field)

static const char *const test_words[] = { "latency", "oneway", "connect", "throughput", NULL };
static const char *const figure_kinds[] = { "stall", "throughput", "ledger", "curve", "box", "cdf",
	"rank", "heatmap", "timeline", "waterfall", "series", "flame", NULL };

#define OPT_OUTPUT(what) \
	{ \
		OPT_STRING, 'o', "output", "FILE", what, AT(output) \
	}
#define OPT_FIX \
	{ \
		OPT_STRING, 0, "fix", "NAME=VALUE", \
			"the option and value that are the fix (default: guessed)", AT(fix) \
	}
#define OPT_MIXED \
	{ \
		OPT_FLAG, 0, "mixed", NULL, \
			"accept files from different machines; the output marks it", \
			AT(mixed) \
	}
#define OPT_DRAWN \
	{ OPT_STRING, 0, "title", "TEXT", "title instead of the figure's own", AT(title) }, \
	{ OPT_STRING, 0, "test", "TEST", "which test to draw", AT(test), 0, 0, test_words }, \
	{ OPT_STRING, 0, "x", "NAME", "heatmap, curve: the option on the x axis", AT(x) }, \
	{ OPT_STRING, 0, "y", "NAME", "heatmap: the option on the y axis; curve: what " \
				      "is drawn", AT(y) }, \
	{ OPT_STRING, 0, "from", "MS", "timeline: from this many ms after its first event", \
		AT(from) }, \
	{ OPT_STRING, 0, "to", "MS", "timeline: to this many ms after its first event", AT(to) }

static const struct opt report_options[] = { OPT_OUTPUT("the report, one HTML file (default "
	"report.html)"), OPT_FIX, OPT_MIXED, OPT_DRAWN, OPT_END };
static const struct opt figure_options[] = { OPT_OUTPUT("FILE.svg or FILE.png (default KIND.svg)"),
					     OPT_FIX,
					     OPT_MIXED,
					     OPT_DRAWN,
					     { OPT_STRING, 0, "dpi", "N", "resolution of a PNG "
						     "(default 200)",
					       AT(dpi) },
					     OPT_END };
static const struct opt summary_options[] = {
	OPT_FIX, { OPT_FLAG, 0, "brief", NULL, "only the findings and the dips", AT(brief) },
		OPT_END
};
static const struct opt compare_options[] = { OPT_MIXED, OPT_END };

/* The command line for Python: `words` of them so far. */
struct line {
	struct python python;
	const char **argv;
	size_t n;
};

static int line_begin(struct line *l, size_t more, const char *command, struct err *e)
{
	l->argv = calloc(PYTHON_WORDS + more + 2, sizeof(*l->argv));
	l->n = PYTHON_WORDS;
	if (!l->argv)
		return err_resource(e, "%s: no memory; free some and run again", command);
	if (!python_start(&l->python, l->argv))
		return err_feature(e,
				   "%s: the Python package of ipcstall is not beside this program, "
				   "or others can write to it; run make install, or install the "
				   "package ipcstall-analysis",
				   command);
	setenv("IPCSTALL_PROGRAM", "ipcstall", 1);
	l->argv[l->n++] = command;
	return 0;
}

static void line_add(struct line *l, const char *word)
{
	l->argv[l->n++] = word;
}

static void line_option(struct line *l, const char *name, const char *value)
{
	if (!value)
		return;
	line_add(l, name);
	line_add(l, value);
}

static void line_options(struct line *l, const struct analysis_opts *o)
{
	line_option(l, "--fix", o->fix);
	line_option(l, "--title", o->title);
	line_option(l, "--test", o->test);
	line_option(l, "--x", o->x);
	line_option(l, "--y", o->y);
	line_option(l, "--from", o->from);
	line_option(l, "--to", o->to);
	line_option(l, "--dpi", o->dpi);
	if (o->mixed)
		line_add(l, "--mixed");
	if (o->brief)
		line_add(l, "--brief");
	line_option(l, "--called", o->called[0]);
	if (o->called[0])
		line_add(l, o->called[1]);
}

static int run_python(const struct line *l, struct err *e)
{
	int code = subprocess_run((char *const *)l->argv, e);

	if (code == 126 || code == 127)
		err_feature(e, "%s: %s cannot be run; install Python 3, or set PYTHON",
			    l->argv[PYTHON_WORDS], l->argv[0]);
	return err_is_set(e) ? (int)e->code : code;
}

enum { OPTION_WORDS = 20 };

static int analyse(const char *command, const struct analysis_opts *o,
		   const struct opt_operands *rest, const char *output, struct err *e)
{
	struct line l = {};
	int code = (int)EXIT_NO_FEATURE;

	if (line_begin(&l, (size_t)rest->n + OPTION_WORDS, command, e) == 0) {
		for (int i = 0; i < rest->n; i++)
			line_add(&l, rest->v[i]);
		line_option(&l, "-o", output);
		line_options(&l, o);
		code = run_python(&l, e);
	}
	free(l.argv);
	return err_is_set(e) ? (int)e->code : code;
}

static int no_file(const char *command, struct err *e)
{
	return err_usage(e, "%s: no file given; name one that --json, sweep or --timeline wrote",
			 command),
	       EXIT_BAD_USAGE;
}

static int run_report(void *opts, struct opt_operands *rest, struct err *e)
{
	const struct analysis_opts *o = opts;
	int code;

	if (!rest->n)
		return no_file("report", e);
	code = analyse("report", o, rest, o->output ? o->output : "report.html", e);
	if (code == 0 && !o->output)
		fprintf(stderr, "ipcstall: wrote report.html\n");
	return code;
}

static int run_figure(void *opts, struct opt_operands *rest, struct err *e)
{
	const struct analysis_opts *o = opts;
	char output[64];

	if (rest->n < 2)
		return no_file("figure", e);
	snprintf(output, sizeof(output), "%.50s.svg", rest->v[0]);
	if (!o->output && !opt_is_among(rest->v[0], figure_kinds))
		return err_usage(e, "figure '%s': unknown kind; see ipcstall figure --help",
				 rest->v[0]),
		       EXIT_BAD_USAGE;
	return analyse("figure", o, rest, o->output ? o->output : output, e);
}

static int run_summary(void *opts, struct opt_operands *rest, struct err *e)
{
	return rest->n ? analyse("summary", opts, rest, NULL, e) : no_file("summary", e);
}

/* --- compare: recordings are replayed into documents first ------------------------------------ */

struct compared {
	const char *path;
	char document[64]; /* empty: the file is one */
};

static int replayed(struct compared *c, struct err *e)
{
	char self[] = "/proc/self/exe", replay[] = "replay", quiet[] = "-q", json[] = "--json";
	char *argv[] = { self, replay, quiet, json, c->document, (char *)c->path, NULL };
	int fd, code;

	c->document[0] = '\0';
	if (!recording_is_one(c->path))
		return 0;
	strcpy(c->document, "/tmp/ipcstall-compare-XXXXXX");
	fd = mkstemp(c->document);
	if (fd < 0)
		return err_sys(e, EXIT_IO, "free some space in /tmp", "compare: a temporary file");
	close(fd);
	code = subprocess_run(argv, e);
	if (code > 0)
		return err_set(e, (enum exit_code)code,
			       "compare: %s cannot be replayed; see the line above", c->path);
	return code;
}

static void forget(const struct compared *c)
{
	if (c->document[0])
		unlink(c->document);
}

static int run_compare(void *opts, struct opt_operands *rest, struct err *e)
{
	struct analysis_opts *o = opts;
	struct compared a = {}, b = {};
	struct opt_operands both = { .n = 2 };
	char *files[2];
	int code = EXIT_BAD_USAGE;

	if (rest->n != 2)
		return err_usage(e, "compare: %d files; give two", rest->n), EXIT_BAD_USAGE;
	a.path = rest->v[0];
	b.path = rest->v[1];
	if (replayed(&a, e) == 0 && replayed(&b, e) == 0) {
		files[0] = a.document[0] ? a.document : (char *)a.path;
		files[1] = b.document[0] ? b.document : (char *)b.path;
		both.v = files;
		o->called[0] = a.path;
		o->called[1] = b.path;
		code = analyse("compare", o, &both, NULL, e);
	}
	forget(&a);
	forget(&b);
	return err_is_set(e) ? (int)e->code : code;
}

static bool kind_words(size_t i, const char **name, char *text, size_t len)
{
	static const char *const texts[] = {
		"stall and throughput against message size",
		"throughput against message size, without and with the fix",
		"where the time of each size goes",
		"one measured value against an option",
		"quartiles of latency by size",
		"distribution of latency",
		"transports by size",
		"one measured value over two options",
		"one session's states and events against time",
		"a message through the layers",
		"throughput and stall against time",
		"flame graph of single stalls",
	};

	*name = i < sizeof(texts) / sizeof(texts[0]) ? figure_kinds[i] : NULL;
	if (*name)
		snprintf(text, len, "%s", texts[i]);
	return *name;
}

#define ANALYSIS(word, ...) \
	const struct command command_##word = { .name = #word, .options = word##_options, \
						   .options_size = sizeof(struct analysis_opts), \
						   	.takes_operands = true, \
						   .run = run_##word, __VA_ARGS__ }

ANALYSIS(report, .summary = "Write one HTML file that shows what results, sweeps or traces found",
	 .operands = "FILE...",
	 .examples = "ipcstall report comb.ndjson -o comb.html\tfinding first, then the figures; "
		     "it works offline\n");
ANALYSIS(figure, .summary = "Draw one figure of a result, sweep, trace or timeline",
	 .operands = "KIND FILE...", .words_title = "Kinds", .words = kind_words,
	 .examples = "ipcstall figure stall comb.ndjson -o comb.svg\tthe dips, and the stall "
		 "that explains them\nipcstall figure timeline t.ndjson --from 100 --to 200 -o "
		 "t.svg\ta tenth of a second\n");
ANALYSIS(
	summary, .summary = "Summarise a result, sweep, trace or timeline as text",
	.operands = "FILE...",
	.examples = "ipcstall summary comb.ndjson\tthe dips, what explains them, and the points\n");
ANALYSIS(compare, .summary = "Show what changed between two results, sweeps, traces or recordings",
	 .operands = "A B",
	 .description = "Points with the same options are compared by the ratio of their medians, "
		 "with its 95 % interval and a test. Sessions of `run` and `attach`, and "
		 "recordings, are shown side by side without a test, since each is a single "
		 "session.",
	 .examples = "ipcstall compare before.json after.json\twhat changed, and is it more than "
		     "chance?\n");
