/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef IPCSTALL_RENDER_HISTOGRAM_TEXT_H
#define IPCSTALL_RENDER_HISTOGRAM_TEXT_H

#include "render/paint.h"
#include "stats/hdr.h"

/* Prints one line for each power of two, from the shortest to the longest time: its samples as a
 * bar, a share and a count. */
void histogram_print(const struct hdr *h, const struct paint *p);

#endif
