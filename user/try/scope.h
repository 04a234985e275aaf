/* SPDX-License-Identifier: GPL-2.0-only */
/* The endpoints on which a fix is tried, their descriptors, and their figures so far. */
#ifndef IPCSTALL_TRY_SCOPE_H
#define IPCSTALL_TRY_SCOPE_H

#include "verdict/verdict.h"
#include "try/fd_ref.h"

enum { LANES_MAX = 256 };

/* One connection, or pipe. */
struct lane {
	uint64_t serial;
	struct fd_ref ref;  /* the sending end; pid 0: it was not found */
	int err;	    /* -errno: why it was not found */
	uint64_t delivered; /* at the last sample */
};

struct scope {
	enum trace_proto proto;
	enum tx_state cause;
	pid_t tgid;    /* the sending process */
	bool with_new; /* also take connections that it opens later */
	struct lane v[LANES_MAX];
	size_t n;
	size_t left_out; /* connections for which there was no room */
};

/* The sums over all lanes so far; the difference of two marks is a window. */
struct mark {
	uint64_t at_ns;
	uint64_t messages, bytes, delivered, stall_ns, cause_ns, time_ns;
	uint64_t written; /* bytes of all write calls of the process, to any descriptor */
	bool messages_known;
	size_t alive; /* lanes that can still carry data */
};

/* Chooses the connections of the finding's sender that have the stall. */
void scope_choose(struct scope *sc, const struct trace_snapshot *s, const struct finding *f,
		  bool with_new);
/* Adds the connections that the sender opened since; returns the index of the first new one. */
size_t scope_extend(struct scope *sc, const struct trace_snapshot *s);
struct mark scope_mark(struct scope *sc, const struct trace_snapshot *s);
/* Without a ledger: at_ns, written, delivered and alive. TCP counts what it delivers; for other
 * transports it is what the process has written, less what is unread. */
struct mark scope_count(struct scope *sc);
/* The descriptor on which to set the fix of a lane: the sending end, or the other end if it is on
 * this host. 0, or -errno. */
int scope_descriptor(const struct scope *sc, const struct trace_snapshot *s, size_t lane,
		     bool at_peer, struct fd_ref *out);

#endif
