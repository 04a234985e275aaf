/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef IPCSTALL_JSON_JSON_TEXT_H
#define IPCSTALL_JSON_JSON_TEXT_H

#include <jansson.h>

/* A JSON string of a clean copy: see text_clean(). */
json_t *text_json(const char *s);
/* Clean every text and name of a value from a file or from another host, in place; returns it. NULL
 * stays NULL. */
json_t *text_clean_json(json_t *v);

#endif
