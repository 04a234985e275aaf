/* SPDX-License-Identifier: GPL-2.0-only */
/* What a trivial kernel call costs, entered directly and through libc; and whether the kernel was
 * entered at all. */
#ifndef IPCSTALL_HOST_CALL_PROBE_H
#define IPCSTALL_HOST_CALL_PROBE_H

#include <stdbool.h>

#include "base/err.h"
#include "stats/stats.h"

struct call_row {
	const char *name;
	long (*raw)(int fd);
	long (*libc)(int fd);
	const char *path; /* opened for the call; NULL: none */
};

extern const struct call_row call_rows[]; /* ends with a NULL name */

#define CALL_BATCH 64

/* Each sample is the mean of CALL_BATCH back-to-back calls, ns. samples must have room for n. */
int call_measure(const struct call_row *row, bool raw, double *samples, int n, struct summary *out,
		 struct err *e);

/* The libc call cost less than half of the raw one: it was answered in user space (vDSO, or a
 * cached value). */
bool call_was_faked(const struct summary *raw, const struct summary *libc);

#endif
