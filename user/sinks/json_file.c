// SPDX-License-Identifier: GPL-2.0-only
#include "sinks/json_file.h"

#include <stdio.h>

#include "sinks/sink.h"

static int no_memory(const char *path, struct err *e)
{
	return err_set(e, EXIT_NO_RESOURCE, "%s: no memory for the document; free some and run again", sink_name(path));
}

int json_to_file(json_t *doc, const char *path, size_t flags, struct err *e)
{
	FILE *out = doc ? sink_open(path, e) : NULL;
	bool whole;
	int rc;

	if (!doc)
		return no_memory(path, e);
	whole = out && !json_dumpf(doc, out, flags) && fputc('\n', out) != EOF;
	rc = out ? sink_close(out, path, e) : -1;
	json_decref(doc);
	return rc == 0 && !whole ? no_memory(path, e) : rc;	/* of whatever else went wrong sink_close() tells */
}
