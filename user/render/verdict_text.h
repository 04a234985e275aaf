/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files that put a verdict into sentences share. */
#ifndef IPCSTALL_RENDER_VERDICT_TEXT_H
#define IPCSTALL_RENDER_VERDICT_TEXT_H

#include "render/ledger_text.h"

enum { CAUSE_TEXT = 448 };

extern const char *const tx_fixes[TX_N], *const rx_fixes[RX_N]; /* by state */
extern const char more_datagrams_fix[];

void name_several(struct who *p, bool several);
void extent_phrase(uint64_t count, uint64_t ns, double share, uint64_t max_ns, char *buf,
		   size_t len);
void root_sentence(const struct trace_snapshot *s, const struct verdict *v, const struct finding *f,
		   char *buf, size_t len);
void append_wait(const struct trace_snapshot *s, const struct verdict *v, char *buf, size_t len);

#endif
