/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef IPCSTALL_RENDER_DOING_JSON_H
#define IPCSTALL_RENDER_DOING_JSON_H

#include <jansson.h>

#include "host/asleep.h"

/* The object `asleep` of the schema; null: no thread was looked at. */
json_t *doing_to_json(const struct asleep *a);

#endif
