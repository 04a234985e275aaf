// SPDX-License-Identifier: GPL-2.0-only
/* --html: the session's documents in a directory of their own, and a report made of them. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "session/session.h"
#include "sweep/python.h"
#include "sweep/subprocess.h"

struct pages {
	char dir[64], json[96], timeline[96];
	bool with_timeline;
};

static int write_pages(struct pages *p, const struct ledger_view *view, struct err *e)
{
	snprintf(p->dir, sizeof(p->dir), "/tmp/ipcstall-html-XXXXXX");
	if (!mkdtemp(p->dir)) {
		p->dir[0] = '\0';
		return err_sys(e, EXIT_IO, "free some space in /tmp",
		"--html: a temporary directory");
	}
	snprintf(p->json, sizeof(p->json), "%s/session.json", p->dir);
	snprintf(p->timeline, sizeof(p->timeline), "%s/timeline.ndjson", p->dir);
	p->with_timeline = view->wants_timeline && view->timeline->n;
	if (ledger_write(OUT_JSON, view, p->json, e))
		return -1;
	return p->with_timeline ? ledger_write(OUT_TIMELINE, view, p->timeline, e) : 0;
}

static void remove_pages(const struct pages *p)
{
	if (!p->dir[0])
		return;
	unlink(p->json);
	unlink(p->timeline);
	rmdir(p->dir);
}

static int report_of(const struct pages *p, const char *path, struct err *e)
{
	struct python python;
	const char *argv[PYTHON_WORDS + 7];
	size_t n = PYTHON_WORDS;
	int code;

	if (!python_start(&python, argv))
		return err_feature(
			e, "--html: the Python package of ipcstall is not beside this program; run "
			   "make install, or install the package ipcstall-analysis");
	setenv("IPCSTALL_PROGRAM", "ipcstall", 1);
	argv[n++] = "report";
	argv[n++] = "--copies";
	argv[n++] = "-o";
	argv[n++] = path;
	argv[n++] = p->json;
	if (p->with_timeline)
		argv[n++] = p->timeline;
	argv[n] = NULL;
	code = subprocess_run((char *const *)argv, e);
	if (code > 0)
		err_set(e, (enum exit_code)code, "--html %s: no report; see the line above", path);
	return code ? -1 : 0;
}

int session_html(const struct ledger_view *view, const char *path, struct err *e)
{
	struct pages p = {};
	int rc = write_pages(&p, view, e) || report_of(&p, path, e) ? -1 : 0;

	remove_pages(&p);
	return rc;
}
