// SPDX-License-Identifier: GPL-2.0-only
#include "diagnose/saved.h"

#include <stdlib.h>
#include <string.h>

#include "json/json_text.h"
#include "base/array.h"
#include "base/text.h"

static int test_of(const json_t *point)
{
	const char *name = json_string_value(json_object_get(point, "test"));

	for (int t = 0; name && t < TESTS; t++)
		if (!strcmp(name, test_name((enum test)t)))
			return t;
	return -1;
}

/* The file's options with the varied values of this point, except the size. They are the same for
 * all points of a series. */
static json_t *options_of(const json_t *head, const json_t *point)
{
	json_t *o = json_deep_copy(json_object_get(head, "options")), *v;
	const char *key;

	json_object_foreach (json_object_get(point, "vars"), key, v)
		if (strcmp(key, "size"))
			json_object_set(o, key, v);
	return o;
}

/* "throughput, nodelay=0, cc=bbr" */
static void label_of(const json_t *point, enum test test, char *buf, size_t len)
{
	json_t *v;
	const char *key;

	snprintf(buf, len, "%s", test_name(test));
	json_object_foreach (json_object_get(point, "vars"), key, v) {
		char *value = strcmp(key, "size") ? json_dumps(v, JSON_ENCODE_ANY) : NULL;

		if (value)
			text_append(buf, len, ", %s=%s", key, value);
		free(value);
	}
}

static struct series *series_for(struct saved *s, json_t *options, const json_t *point,
				 enum test test)
{
	struct series *grown;

	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].test == test && json_equal(s->v[i].options, options))
			return &s->v[i];
	grown = array_resize(s->v, s->n, 1, sizeof(*grown));
	if (!grown)
		return NULL;
	s->v = grown;
	s->v[s->n] = (struct series){ .options = json_incref(options), .test = test };
	label_of(point, test, s->v[s->n].label, sizeof(s->v[s->n].label));
	return &s->v[s->n++];
}

static int add_point(struct saved *s, const json_t *head, const json_t *point, const char *path,
		     struct err *e)
{
	int test = test_of(point);
	struct diag_round round;
	struct diag_round *grown;
	struct series *to;
	json_t *options;

	if (test < 0)
		return err_data(e,
				"--from %s: a point without a test; give a file written by 'sweep' "
				"or --json",
				path);
	if (observe_saved(point, &round))
		return 0; /* no message arrived in this point */
	options = options_of(head, point);
	to = series_for(s, options, point, (enum test)test);
	json_decref(options);
	grown = to ? array_resize(to->rounds, to->n, 1, sizeof(*grown)) : NULL;
	if (!grown)
		return err_resource(e, "--from %s: out of memory; give a smaller file", path);
	to->rounds = grown;
	to->rounds[to->n++] = round;
	return 0;
}

static int check_head(const json_t *head, const char *path, struct err *e)
{
	const char *schema = json_string_value(json_object_get(head, "schema"));
	json_int_t version = json_integer_value(json_object_get(head, "version"));

	if (!schema || (strcmp(schema, "ipcstall.sweep") && strcmp(schema, "ipcstall.result")) ||
	    !json_is_object(json_object_get(head, "options")))
		return err_data(e,
				"--from %s: neither a sweep nor a result of ipcstall; give a file "
				"written by 'sweep' or --json",
				path);
	if (version != 1)
		return err_version(e,
				   "--from %s: of version %" JSON_INTEGER_FORMAT
				   ", but this program reads 1; use the program that wrote it",
				   path, version);
	return 0;
}

/* A sweep's file has a line for each point after its head. A file that was cut off is used as far
 * as it goes. */
static int read_points(struct saved *s, const json_t *head, FILE *f, const char *path,
		       struct err *e)
{
	json_t *point, *inside = json_object_get(head, "points");
	json_error_t why;
	size_t i;
	int rc = 0;

	if (inside) {
		s->complete = json_is_true(json_object_get(head, "complete"));
		for (i = 0; rc == 0 && i < json_array_size(inside); i++)
			rc = add_point(s, head, json_array_get(inside, i), path, e);
		return rc;
	}
	while (rc == 0 && (point = text_clean_json(json_loadf(f, JSON_DISABLE_EOF_CHECK, &why)))) {
		if (json_object_get(point, "end"))
			s->complete = true;
		else
			rc = add_point(s, head, point, path, e);
		json_decref(point);
	}
	return rc;
}

int saved_load(const char *path, struct saved *s, struct err *e)
{
	FILE *f = fopen(path, "re");
	json_error_t why;
	json_t *head;
	int rc;

	*s = (struct saved){};
	if (!f)
		return err_sys(e, EXIT_DATA, "give a file written by 'sweep' or --json",
			       "--from %s", path);
	head = text_clean_json(json_loadf(f, JSON_DISABLE_EOF_CHECK, &why));
	rc = head ? check_head(head, path, e)
		  : err_data(e, "--from %s: %s (line %d); give a file written by 'sweep' or --json",
			     path, why.text, why.line);
	if (rc == 0)
		rc = read_points(s, head, f, path, e);
	if (rc == 0 && !s->n)
		rc = err_data(e, "--from %s: it has no point; give a file that has one", path);
	json_decref(head);
	fclose(f);
	return rc;
}

void saved_free(struct saved *s)
{
	for (size_t i = 0; i < s->n; i++) {
		json_decref(s->v[i].options);
		free(s->v[i].rounds);
	}
	free(s->v);
	*s = (struct saved){};
}
