// SPDX-License-Identifier: GPL-2.0-only
/* Copies an end's counts out of the memory that it shares with the coordinator. The end is a
 * separate process, and its counts may come from another host. They are copied before they are
 * checked, so that they cannot change afterwards. No count serves as an array length before it is
 * known to fit. */
#include <string.h>

#include "base/text.h"
#include "bench/run.h"

/* The server's n counts array elements only for one-way time in closed loop; elsewhere it counts
 * calls or messages. */
static uint64_t most_samples(const struct run *r, enum role role)
{
	bool places = role == ROLE_CLIENT || (r->test == TEST_ONEWAY && !(r->plan->o.rate > 0));

	return places ? r->max_samples : INT64_MAX;
}

static int counts_check(const struct run *r, enum role role, const struct tally *t, struct err *e)
{
	const struct reliable_counts *c = &t->reliable;
	const struct {
		const char *what;
		uint64_t n, most;
	} rows[] = {
		{ "samples", t->n, most_samples(r, role) }, { "slices", t->n_slices, MAX_SLICES },
		{ "messages", t->messages, INT64_MAX }, { "bytes", t->bytes, INT64_MAX },
			{ "bytes before its first stamp", t->unclocked, INT64_MAX },
		{ "lost messages", t->lost, t->messages }, { "late messages", t->late, INT64_MAX },
		{ "packets", c->packets, INT64_MAX }, { "transmissions", c->transmissions,
			INT64_MAX },
		{ "repetitions", c->retransmits, INT64_MAX }, { "stale acknowledgements",
			c->stale_acks, INT64_MAX },
		{ "arrivals", c->arrivals, INT64_MAX }, { "dropped packets", c->dropped,
			c->arrivals },
		{ "duplicates", c->duplicates, INT64_MAX }, { "early packets", c->early,
			INT64_MAX }, { "alien packets", c->aliens, INT64_MAX },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].n > rows[i].most)
			return err_peer(e,
					"the %s: counted %llu %s, and %llu is the most there can "
					"be; use the same version at both ends",
					role == ROLE_CLIENT ? "client" : "server",
					(unsigned long long)rows[i].n, rows[i].what,
					(unsigned long long)rows[i].most);
	return 0;
}

/* Turn arbitrary bytes into a bool and a text. */
static void clean_facts(struct socket_facts *f)
{
	unsigned char byte;

	memcpy(&byte, &f->has_tcp_info, 1);
	f->has_tcp_info = byte != 0;
	f->cc[sizeof(f->cc) - 1] = 0;
	text_clean(f->cc, sizeof(f->cc));
}

int counts_take(struct run *r, enum role role, struct err *e)
{
	struct tally *t = &r->counted[role];

	memcpy(t, &r->sh->tally[role], sizeof(*t));
	clean_facts(&t->facts);
	return counts_check(r, role, t, e);
}
