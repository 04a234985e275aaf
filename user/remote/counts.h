/* SPDX-License-Identifier: GPL-2.0-only */
/* An end's counts as JSON, for the other host. Times are sent in nanoseconds: two hosts' ticks
 * differ. */
#ifndef IPCSTALL_REMOTE_COUNTS_H
#define IPCSTALL_REMOTE_COUNTS_H

#include <jansson.h>

#include "bench/run.h"

json_t *tally_to_json(const struct run *r, const struct tally *t);
int tally_from_json(const struct run *r, struct tally *t, const json_t *o, struct err *e);
json_t *facts_to_json(const struct socket_facts *f);
int facts_from_json(struct socket_facts *f, const json_t *o, struct err *e);

#endif
