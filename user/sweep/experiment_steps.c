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

int step_sweep(struct plan_run *r, const char *dir, bool resume, struct err *e)
{
	static char self[] = "/proc/self/exe", out[] = "--out", again[] = "--resume";
	char *argv[PLAN_WORDS_MAX + 1] = { self }, path[PATH_MAX];
	bool there;
	size_t n = 1;
	int code;

	snprintf(path, sizeof(path), "%s/%s.ndjson", dir, r->name);
	there = resume &&
		access(path, F_OK) ==
			0; /* the sweep itself knows whether it is this one, and complete */
	say_command(r);
	for (size_t i = 0; i < r->n; i++)
		argv[n++] = r->words[i];
	argv[n++] = out;
	argv[n++] = path;
	if (there)
		argv[n++] = again;
	code = subprocess_run(argv, e);
	if (code > 0)
		return err_set(e, (enum exit_code)code,
			       "experiment: the run '%s' ended with %d, see the line above; fix it "
			       "and go on with --resume --out %s",
			       r->name, code, dir);
	return code;
}

int step_answer(const char *file, const char *dir, bool quick, struct err *e)
{
	struct python p;
	const char *argv[PYTHON_WORDS + 6] = {}, **words = argv + PYTHON_WORDS;
	int code;

	if (!python_start(&p, argv))
		return err_set(e, EXIT_NO_FEATURE,
			       "experiment: analysis/ is not beside this program, or others may "
			       "write there; the data are in %s, answer "
			       "them with: python3 -m analysis experiment %s --data %s",
			       dir, file, dir);
	words[0] = "experiment";
	words[1] = file;
	words[2] = "--data";
	words[3] = dir;
	words[4] = quick ? "--quick" : NULL;
	code = subprocess_run((char *const *)argv, e);
	if (code == 126 || code == 127)
		return err_set(e, EXIT_NO_FEATURE,
			       "experiment: %s cannot be run; install Python 3 or set PYTHON; the "
			       "data are in %s",
			       argv[0], dir);
	return code;
}
