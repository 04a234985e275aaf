/* SPDX-License-Identifier: GPL-2.0-only */
/* One refresh as plain lines, or as one line of JSON. */
#ifndef IPCSTALL_TOP_BATCH_H
#define IPCSTALL_TOP_BATCH_H

#include <stdio.h>

#include "top/rows.h"

/* rows: the most that are written; 0: all. Both return -1 if writing failed. */
int batch_lines(const struct rows *p, size_t rows, int width, FILE *out);
int batch_json(const struct rows *p, size_t rows, FILE *out);

enum { SUMMARY_TEXT = 320 };

/* "40 endpoints, 12 active, stall 3.1% of the senders' time, out 12.3M B/s, ..." */
void summary_text(const struct rows *p, char *buf, size_t len);

#endif
