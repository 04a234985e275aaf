/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef IPCSTALL_VERDICT_WAIT_CHAIN_H
#define IPCSTALL_VERDICT_WAIT_CHAIN_H

#include "verdict/other_findings.h"

/* Of one program for the same server, or for helpers of one name: short ones are one in all. */
bool waits_are_alike(const struct trace_snapshot *s, const struct trace_endpoint *a,
		     const struct trace_endpoint *b);

/* the wait that is why `first` lasts; itself, if its sender does not wait in turn */
struct reader_spell last_of_chain(const struct trace_snapshot *s, struct reader_spell first,
				  bool nothing_sent);

#endif
