/* SPDX-License-Identifier: GPL-2.0-only */
/* Converts options to JSON and back, by their rows: a result states its options, and can be
 * repeated. */
#ifndef IPCSTALL_JSON_JSON_OPTIONS_H
#define IPCSTALL_JSON_JSON_OPTIONS_H

#include <jansson.h>

#include "base/opt.h"

json_t *opt_value_to_json(const struct opt *row, const void *from);
json_t *opt_to_json(const struct opt *rows, const void *from);
/* The file may be a stranger's: a value out of the row's range is refused, and so is an option that
 * says where output goes. */
int opt_from_json(const struct opt *rows, void *into, const json_t *obj, struct err *e);

#endif
