/* SPDX-License-Identifier: GPL-2.0-only */
/* Which option of a live socket or pipe can cure which stall: one row per fix (live_fix.c), named
 * as `diagnose` names it. */
#ifndef IPCSTALL_VERDICT_LIVE_FIX_H
#define IPCSTALL_VERDICT_LIVE_FIX_H

#include "verdict/verdict.h"

struct live_fix {
	const char *setting; /* as `try` calls it (try/setting.h) */
	unsigned int causes; /* 1 << enum tx_state */
	unsigned int blamed; /* 1 << enum blamed; 0: anybody */
	unsigned int protos; /* 1 << enum trace_proto */
	bool at_peer;	     /* set at the end that receives */
};

enum { LIVE_FIXES_MAX = 8 };

/* The rows that fit, in the order in which they are tried. Returns how many. */
size_t live_fixes_for(const struct finding *f, enum trace_proto proto,
		      const struct live_fix *out[LIVE_FIXES_MAX]);
/* NULL: there is no such row. */
const struct live_fix *live_fix_find(const char *name);
/* All names: the words of --fix. */
extern const char *const live_fix_words[];
/* The i-th name; NULL: there are no more. */
const char *live_fix_name(size_t i);

#endif
