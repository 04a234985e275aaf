// SPDX-License-Identifier: GPL-2.0-only
#include "sinks/json_file.h"

#include <stdio.h>
#include <string.h>

static int dump(json_t *doc, FILE *out, size_t flags)
{
	return json_dumpf(doc, out, flags) || fputc('\n', out) == EOF || fflush(out) ? -1 : 0;
}

/* A full disk may show only when the file is closed. */
static int dump_and_close(json_t *doc, FILE *out, size_t flags)
{
	int rc = dump(doc, out, flags);

	return fclose(out) || rc ? -1 : 0;
}

int json_to_file(json_t *doc, const char *path, size_t flags, struct err *e)
{
	FILE *out;
	int rc;

	if (!doc)
		return err_set(e, EXIT_NO_RESOURCE, "%s: no memory for the document; free some and run again", path);
	if (!strcmp(path, "-")) {
		rc = dump(doc, stdout, flags);
	} else {
		out = fopen(path, "we");
		rc = out ? dump_and_close(doc, out, flags) : -1;
	}
	json_decref(doc);
	if (rc)
		return err_sys(e, EXIT_IO, "give a path that can be written, with room for it", "%s", path);
	return 0;
}
