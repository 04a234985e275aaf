/* SPDX-License-Identifier: GPL-2.0-only */
/* A ledger's recent time line as a strip of characters. Each character stands for a slice of time,
 * and shows the state that filled most of it. A stall that did not fill all of it has a small
 * letter. */
#ifndef IPCSTALL_TOP_SPARKLINE_H
#define IPCSTALL_TOP_SPARKLINE_H

#include "verdict/timeline.h"

enum { STRIP_MAX = 512 };

struct strip {
	uint64_t serial;
	bool rx;
	unsigned int now;  /* the ledger's present state, since its last step */
	uint64_t since_ns; /* from then on steps were reported; before is unknown: ' ' */
	uint64_t from_ns, to_ns; /* the time that the strip shows */
};

/* out gets n characters and a 0. */
void sparkline_draw(const struct strip *s, const struct timeline *t, int n, char *out);

char sparkline_letter(bool rx, unsigned int state);

#endif
