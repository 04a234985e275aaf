/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef IPCSTALL_RENDER_JSON_FILE_H
#define IPCSTALL_RENDER_JSON_FILE_H

#include <jansson.h>

#include "base/err.h"

/* Writes a document to a file, or to standard output for "-". flags: jansson's JSON_INDENT(1) or
 * JSON_COMPACT. Takes over the reference, also on failure. */
int json_to_file(json_t *doc, const char *path, size_t flags, struct err *e);

#endif
