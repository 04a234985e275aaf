/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef IPCSTALL_JSON_FILE_H
#define IPCSTALL_JSON_FILE_H

#include <jansson.h>

#include "lib/err.h"

/* Write a document to a file, or to standard output for "-". Takes over the reference, also on failure. */
int json_to_file(json_t *doc, const char *path, struct err *e);

#endif
