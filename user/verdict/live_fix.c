// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/live_fix.h"

#include <string.h>

#define C(cause) (1u << (cause))
#define P(proto) (1u << (proto))
/* A queue of Unix datagrams is limited by their number (net.unix.max_dgram_qlen), not by bytes. */
#define BYTES_QUEUED \
	(P(TRACE_TCP) | P(TRACE_UDP) | P(TRACE_UNIX_STREAM) | P(TRACE_UNIX_SEQPACKET))

static const struct live_fix fixes[] = {
	{ "nodelay", C(TX_NAGLE), 0, P(TRACE_TCP), false },
	{ "uncork", C(TX_CORK), 0, P(TRACE_TCP), false },
	{ "quickack", C(TX_NAGLE) | C(TX_SNDBUF) | C(TX_CWND), C(BLAME_PEER_DELACK), P(TRACE_TCP),
		true },
	{ "no-pacing", C(TX_PACING), 0, P(TRACE_TCP), false },
	{ "pipe-size", C(TX_SNDBUF), 0, P(TRACE_PIPE), false },
	{ "sndbuf-auto", C(TX_SNDBUF), 0, P(TRACE_TCP), false },
	{ "sndbuf", C(TX_SNDBUF), 0, BYTES_QUEUED, false },
	{ "rcvbuf-auto", C(TX_RWND), 0, P(TRACE_TCP), true },
	{ "rcvbuf", C(TX_RWND), 0, P(TRACE_TCP), true },
	{ "cc", C(TX_PACING) | C(TX_CWND) | C(TX_RECOVERY), 0, P(TRACE_TCP), false },
	/* only by name: it takes no stall away, but shortens the queue */
	{ "notsent-lowat", 0, 0, P(TRACE_TCP), false },
};

enum { FIXES = sizeof(fixes) / sizeof(fixes[0]) };

/* No option gives a program a CPU, or opens a connection. */
static bool no_option_helps(const struct finding *f)
{
	return f->blamed == BLAME_NO_CPU || f->blamed == BLAME_PEER_NO_CPU || f->unanswered_syn;
}

size_t live_fixes_for(const struct finding *f, enum trace_proto proto,
		      const struct live_fix *out[LIVE_FIXES_MAX])
{
	size_t n = 0;

	if (no_option_helps(f))
		return 0;

	for (size_t i = 0; i < FIXES && n < LIVE_FIXES_MAX; i++)
		if (fixes[i].causes & C(f->cause) && fixes[i].protos & P(proto) &&
		    (!fixes[i].blamed || fixes[i].blamed & C(f->blamed)))
			out[n++] = &fixes[i];
	return n;
}

const struct live_fix *live_fix_find(const char *name)
{
	for (size_t i = 0; i < FIXES; i++)
		if (!strcmp(fixes[i].setting, name))
			return &fixes[i];
	return NULL;
}

const char *live_fix_name(size_t i)
{
	return i < FIXES ? fixes[i].setting : NULL;
}

const char *const live_fix_words[] = { "nodelay",   "uncork",	   "quickack",	    "no-pacing",
				       "pipe-size", "sndbuf-auto", "sndbuf",	    "rcvbuf-auto",
				       "rcvbuf",    "cc",	   "notsent-lowat", NULL };
_Static_assert(sizeof(live_fix_words) / sizeof(live_fix_words[0]) == FIXES + 1,
	       "a fix without its word");
