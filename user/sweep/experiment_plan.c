// SPDX-License-Identifier: GPL-2.0-only
#include "sweep/experiment_plan.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/json_text.h"
#include "base/text.h"

#define SCHEMA	       "ipcstall.experiment"
#define SCHEMA_VERSION 1
#define SEE	       "see docs/experiments/README.md"

enum { FILE_MAX = 1 << 20 };

static void end_clean(char *text, size_t n)
{
	text[n] = 0;
	text_clean_lines(text, n + 1);
}

static char *slurp(const char *path, struct err *e)
{
	FILE *f = fopen(path, "re");
	char *text = f ? malloc(FILE_MAX + 1) : NULL;
	size_t n = text ? fread(text, 1, FILE_MAX + 1, f) : 0;
	bool bad = !f || !text || ferror(f);

	if (bad)
		err_sys(e, EXIT_DATA, "name one that `ipcstall experiment --list` shows", "%s",
			path);
	else if (n > FILE_MAX || memchr(text, 0, n))
		err_data(e, "%s: no experiment file; " SEE, path);
	else
		end_clean(text, n);
	if (f)
		fclose(f);
	if (err_is_set(e)) {
		free(text);
		return NULL;
	}
	return text;
}

static char *title_of(const char *text)
{
	const char *at = strncmp(text, "# ", 2) == 0 ? text : strstr(text, "\n# ");

	if (!at)
		return NULL;
	at += *at == '\n' ? 3 : 2;
	return strndup(at, strcspn(at, "\n"));
}

/* Parses the text between ```json and the next fence. */
static json_t *fenced(const char *text, const char *path, struct err *e)
{
	const char *start = strstr(text, "\n```json\n"),
		   *end = start ? strstr(start + 9, "\n```") : NULL;
	json_error_t why;
	json_t *o;
	int line = 1;

	if (!end) {
		err_data(e, "%s: has no ```json block; " SEE, path);
		return NULL;
	}
	for (const char *c = text; c < start + 9; c++)
		line += *c == '\n';
	o = text_clean_json(
		json_loadb(start + 9, (size_t)(end - start - 9), JSON_REJECT_DUPLICATES, &why));
	if (!o)
		err_data(e, "%s: line %d: %s; " SEE, path, line + why.line - 1, why.text);
	return o;
}

static int check_schema(const json_t *o, const char *path, struct err *e)
{
	const char *schema = json_string_value(json_object_get(o, "schema"));
	json_int_t version = json_integer_value(json_object_get(o, "version"));

	if (!schema || strcmp(schema, SCHEMA))
		return err_data(e, "%s: the schema is not " SCHEMA "; " SEE, path);
	if (version != SCHEMA_VERSION)
		return err_version(
			e,
			"%s: version %lld of " SCHEMA
			", and this reads %d; take the file that came with this ipcstall",
			path, (long long)version, SCHEMA_VERSION);
	return 0;
}

/* Splits a command at spaces; no option's value contains one. */
static int add_words(struct plan_run *r, const char *text, const char *path, struct err *e)
{
	while (*(text += strspn(text, " \n"))) {
		size_t len = strcspn(text, " \n");

		if (r->n == PLAN_WORDS_MAX - 8)
			return err_data(
				e, "%s: the command of '%s' has too many words; make it two runs",
				path, r->name);
		r->words[r->n] = strndup(text, len);
		if (!r->words[r->n++])
			return err_resource(e, "%s: out of memory", path);
		text += len;
	}
	return 0;
}

static bool good_name(const char *name)
{
	return name && *name && strlen(name) < 64 &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(name);
}

/* Accepts only measurements: a file from elsewhere must not be able to run anything else. */
static bool find_kind(struct plan_run *r)
{
	static const struct {
		const char *command;
		enum plan_kind kind;
	} rows[] = { { "sweep", PLAN_SWEEP },
		     { "bench", PLAN_BENCH },
		     { "clock", PLAN_HOST },
		     { "syscall", PLAN_HOST },
		     { "machine", PLAN_HOST } };

	for (size_t i = 0; r->n && i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(r->words[0], rows[i].command))
			continue;
		r->kind = rows[i].kind;
		return true;
	}
	return false;
}

static int read_pilot(struct plan_run *r, const json_t *o, const char *path, struct err *e)
{
	json_int_t pilot = json_integer_value(json_object_get(o, "pilot")),
		   most = json_integer_value(json_object_get(o, "most"));

	if (!o)
		return 0;
	if (r->kind != PLAN_SWEEP || pilot < 2 || most < pilot || most > 1000)
		return err_data(e,
				"%s: run '%s': \"repeats\" is not a sweep's \"pilot\" (2 or more) "
				"and \"most\" (1000 or less); " SEE,
				path, r->name);
	r->pilot = (int)pilot;
	r->most = (int)most;
	return 0;
}

static int read_run(struct plan *p, const json_t *o, const char *path, bool quick, struct err *e)
{
	struct plan_run *r = &p->runs[p->n++];
	const char *command = json_string_value(json_object_get(o, "command"));
	const char *more = json_string_value(json_object_get(o, quick ? "quick" : "full"));

	r->name = json_string_value(json_object_get(o, "name"));
	if (!good_name(r->name))
		return err_data(
			e, "%s: a run without a name of small letters, digits and dashes; " SEE,
			path);
	if (!command || !more)
		return err_data(e, "%s: run '%s' has no \"command\", \"quick\" or \"full\"; " SEE,
				path, r->name);
	for (size_t i = 0; i + 1 < p->n; i++)
		if (strcmp(p->runs[i].name, r->name) == 0)
			return err_data(e,
					"%s: two runs have the name '%s'; call one something else",
					path, r->name);
	if (add_words(r, command, path, e) || add_words(r, more, path, e))
		return -1;
	if (!find_kind(r))
		return err_data(e,
				"%s: run '%s' begins with '%s'; a run is a sweep, bench, clock, "
				"syscall or machine",
				path, r->name, r->n ? r->words[0] : "");
	return read_pilot(r, json_object_get(o, "repeats"), path, e);
}

static int read_parts(struct plan *p, const char *path, struct err *e)
{
	const json_t *parts = json_object_get(p->json, "parts"), *o;
	size_t i;

	if (json_array_size(parts) > PLAN_PARTS_MAX)
		return err_data(e, "%s: %zu parts; give %d at most", path, json_array_size(parts),
				PLAN_PARTS_MAX);
	json_array_foreach (parts, i, o) {
		p->parts[i] = json_string_value(o);
		if (!good_name(p->parts[i]))
			return err_data(e, "%s: a part is the name of an experiment; " SEE, path);
	}
	p->n_parts = json_array_size(parts);
	return 0;
}

static int read_runs(struct plan *p, const char *path, bool quick, struct err *e)
{
	const json_t *runs = json_object_get(p->json, "runs"), *o;
	size_t i;

	if (read_parts(p, path, e))
		return -1;
	if ((!json_array_size(runs) && !p->n_parts) || json_array_size(runs) > PLAN_RUNS_MAX)
		return err_data(e, "%s: %zu runs; give 1 to %d", path, json_array_size(runs),
				PLAN_RUNS_MAX);
	json_array_foreach (runs, i, o)
		if (read_run(p, o, path, quick, e))
			return -1;
	return 0;
}

int plan_read(struct plan *p, const char *path, bool quick, struct err *e)
{
	*p = (struct plan){ .text = slurp(path, e) };
	if (!p->text)
		return -1;
	p->title = title_of(p->text);
	if (!p->title)
		return err_data(e, "%s: has no title; begin it with '# TITLE'", path);
	p->json = fenced(p->text, path, e);
	return p->json ? check_schema(p->json, path, e) || read_runs(p, path, quick, e) ? -1 : 0
		       : -1;
}

void plan_free(struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < p->runs[i].n; k++)
			free(p->runs[i].words[k]);
	json_decref(p->json);
	free(p->title);
	free(p->text);
	*p = (struct plan){};
}

bool plan_title(const char *path, char *buf, size_t len)
{
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(buf, (int)len, f) && strncmp(buf, "# ", 2) == 0;

	if (f)
		fclose(f);
	if (!ok)
		return false;
	memmove(buf, buf + 2, strlen(buf) - 1);
	buf[strcspn(buf, "\n")] = 0;
	text_clean(buf, len);
	return true;
}
