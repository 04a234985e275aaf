// SPDX-License-Identifier: GPL-2.0-only
#include "render/json_file.h"

#include <stdio.h>

#include "render/sink.h"

static int no_memory(const char *path, struct err *e)
{
	return err_resource(e, "%s: no memory for the document; free some and run again",
			    sink_name(path));
}

int json_to_file(json_t *doc, const char *path, size_t flags, struct err *e)
{
	FILE *out = doc ? sink_open(path, e) : NULL;
	bool whole;

	if (!doc)
		return no_memory(path, e);
	whole = out && !json_dumpf(doc, out, flags) && fputc('\n', out) != EOF;
	json_decref(doc);
	if (!out)
		return -1;
	if (whole || ferror(out))
		return sink_close(out, path, e);
	sink_drop(out);
	return no_memory(path, e);
}
