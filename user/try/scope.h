/* SPDX-License-Identifier: GPL-2.0-only */
/* Which endpoints a fix is tried on, their descriptors, and what they have done so far. */
#ifndef IPCSTALL_TRY_SCOPE_H
#define IPCSTALL_TRY_SCOPE_H

#include "verdict/verdict.h"
#include "try/fd_ref.h"

enum { LANES_MAX = 256 };

/* One connection, or pipe. */
struct lane {
	uint64_t serial;
	struct fd_ref ref;  /* of the end that sends; pid 0: it was not found, */
	int err;	    /* -errno: for this reason */
	uint64_t delivered; /* at the last look */
};

struct scope {
	enum trace_proto proto;
	enum tx_state cause;
	pid_t tgid;    /* who sends */
	bool with_new; /* also what it opens later */
	struct lane v[LANES_MAX];
	size_t n;
	size_t left_out; /* for which there was no room */
};

/* What they have done so far, all together: two of these subtract. */
struct mark {
	uint64_t at_ns;
	uint64_t messages, bytes, delivered, stall_ns, cause_ns, time_ns;
	uint64_t written; /* by all write calls of the process, wherever to */
	bool messages_known;
	size_t alive; /* can still be sent into */
};

/* The connections of that sender that have the stall. */
void scope_choose(struct scope *sc, const struct trace_snapshot *s, const struct finding *f,
		  bool with_new);
/* What it opened since; returns the index of the first one that is new. */
size_t scope_extend(struct scope *sc, const struct trace_snapshot *s);
struct mark scope_mark(struct scope *sc, const struct trace_snapshot *s);
/* Without a ledger: at_ns, delivered and alive. TCP counts what it delivers; what else is sent is
 * what the process writes. */
struct mark scope_count(struct scope *sc);
/* Where the fix of that lane is to be set: at the end that sends, or at the other one if this host
 * has it. 0, or -errno. */
int scope_descriptor(const struct scope *sc, const struct trace_snapshot *s, size_t lane,
		     bool at_peer, struct fd_ref *out);

#endif
