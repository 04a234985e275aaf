/* SPDX-License-Identifier: GPL-2.0-only */
/* From a point as it stands in a result or a sweep to what the judge wants of it. A live point
 * takes the same way. */
#ifndef IPCSTALL_DIAGNOSE_OBSERVE_H
#define IPCSTALL_DIAGNOSE_OBSERVE_H

#include <jansson.h>

#include "diagnose/diagnosis.h"

/* point: as json_of_point() makes it. Returns 0; -1: no time per message in it. */
int observe_point(const json_t *point, struct diag_round *out);

#endif
