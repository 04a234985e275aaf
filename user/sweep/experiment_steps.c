// SPDX-License-Identifier: GPL-2.0-only
#include "sweep/experiment_steps.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sweep/python.h"
#include "sweep/subprocess.h"

static void say_command(const struct plan_run *r)
{
	fprintf(stderr, "  ipcstall");
	for (size_t i = 0; i < r->n; i++)
		fprintf(stderr, " %s", r->words[i]);
	fputc('\n', stderr);
}

static int told(const struct plan_run *r, const char *dir, int code, struct err *e)
{
	if (code > 0)
		return err_set(e, (enum exit_code)code,
			       "experiment: the run '%s' ended with %d, see the line above; fix "
			       "it and continue with --resume --out %s",
			       r->name, code, dir);
	return code;
}

/* Runs this program with the run's words and the `n` words in `more`. */
static int run_with(const struct plan_run *r, const char *dir, char *const more[], size_t n,
		    struct err *e)
{
	static char self[] = "/proc/self/exe";
	char *argv[PLAN_WORDS_MAX + 1] = { self };
	size_t words = 1;

	for (size_t i = 0; i < r->n; i++)
		argv[words++] = r->words[i];
	for (size_t i = 0; i < n && words < PLAN_WORDS_MAX; i++)
		argv[words++] = more[i];
	return told(r, dir, subprocess_run(argv, e), e);
}

/* With --resume the sweep itself checks whether the file belongs to it, and is complete. */
static int sweep_into(const struct plan_run *r, const char *dir, const char *ending,
		      char *const repeats, bool resume, struct err *e)
{
	static char out[] = "--out", again[] = "--resume", times[] = "--repeats";
	char path[PATH_MAX], *more[5] = { out, path };
	size_t n = 2;

	snprintf(path, sizeof(path), "%s/%s%s.ndjson", dir, r->name, ending);
	if (repeats) {
		more[n++] = times;
		more[n++] = repeats;
	}
	if (resume && access(path, F_OK) == 0)
		more[n++] = again;
	return run_with(r, dir, more, n, e);
}

/* --json alone, or --timeline too; with --ab a timeline would be part of the measured cost. */
static size_t extra_words(const struct plan_run *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (!strcmp(r->words[i], "--ab"))
			return 2;
	return r->kind == PLAN_BENCH ? 5 : 2;
}

/* With --resume an existing file is kept, since it is written whole or not at all. */
static int measure_once(const struct plan_run *r, const char *dir, bool resume, struct err *e)
{
	static char json[] = "--json", timeline[] = "--timeline", quiet[] = "--quiet";
	char path[PATH_MAX], steps[PATH_MAX], *more[5] = { json, path, timeline, steps, quiet };

	snprintf(path, sizeof(path), "%s/%s.json", dir, r->name);
	snprintf(steps, sizeof(steps), "%s/%s.timeline", dir, r->name);
	if (resume && access(path, F_OK) == 0)
		return 0;
	return run_with(r, dir, more, extra_words(r), e);
}

int step_sweep(struct plan_run *r, const char *dir, bool resume, struct err *e)
{
	char repeats[16];

	say_command(r);
	if (r->kind != PLAN_SWEEP)
		return measure_once(r, dir, resume, e);
	snprintf(repeats, sizeof(repeats), "%d", r->most);
	return sweep_into(r, dir, "", r->pilot ? repeats : NULL, resume, e);
}

static int analyse(const char *const words[], size_t n, const char *file, const char *dir,
		   struct err *e)
{
	struct python p;
	const char *argv[PYTHON_WORDS + 8] = {};
	int code;

	if (!python_start(&p, argv))
		return err_feature(e,
				   "experiment: analysis/ is not beside this program, or others "
				   "may write there; the data are in %s, answer them with: python3 "
				   "-m analysis experiment %s --data %s",
				   dir, file, dir);
	for (size_t i = 0; i < n; i++)
		argv[PYTHON_WORDS + i] = words[i];
	code = subprocess_run((char *const *)argv, e);
	if (code == 126 || code == 127)
		return err_feature(e,
				   "experiment: %s cannot be run; install Python 3 or set PYTHON; "
				   "the data are in %s",
				   argv[0], dir);
	return code;
}

static int read_repeats(struct plan_run *r, const char *dir, struct err *e)
{
	char path[PATH_MAX];
	FILE *f;
	int n = 0;

	snprintf(path, sizeof(path), "%s/%s.repeats", dir, r->name);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%d", &n) != 1 || n < r->pilot || n > r->most)
		n = r->most;
	if (f)
		fclose(f);
	r->most = n;
	return 0;
}

int step_pilot(struct plan_run *r, const char *file, const char *dir, bool quick, bool resume,
	       struct err *e)
{
	const char *words[] = {
		"experiment", file, "--data", dir, "--pilot", r->name, quick ? "--quick" : NULL
	};
	char repeats[16];
	int code;

	if (!r->pilot)
		return 0;
	snprintf(repeats, sizeof(repeats), "%d", r->pilot);
	if (sweep_into(r, dir, ".pilot", repeats, resume, e))
		return -1;
	code = analyse(words, quick ? 7 : 6, file, dir, e);
	if (code > 0)
		return err_set(e, (enum exit_code)code,
			       "experiment: the run '%s' was not begun, see the line above; the "
			       "pilot's data are in %s",
			       r->name, dir);
	return code ? code : read_repeats(r, dir, e);
}

int step_answer(const char *file, const char *dir, bool quick, struct err *e)
{
	const char *words[] = { "experiment", file, "--data", dir, quick ? "--quick" : NULL };

	return analyse(words, quick ? 5 : 4, file, dir, e);
}
