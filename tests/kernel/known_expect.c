// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a right ledger must show, as data: compare.py holds a ledger against it. The tolerance is
 * that of a native run (1 ms + 1 %); compare.py widens it for an emulated machine.
 */
#include <string.h>

#include "known.h"

#define TOL_NS	1000000
#define TOL_REL 0.01

static const char *const stalls[] = { "rwnd", "cwnd", "nagle", "cork", "pacing", "recovery",
	"sndbuf" };

void truth_ns(struct known *k, const char *name, uint64_t value)
{
	json_int(&k->truth, name, value);
}

static struct json *expect_open(struct known *k, const char *role, const char *ledger,
				const char *states)
{
	struct json *j = &k->expect;

	json_open(j, NULL, '{');
	json_text(j, "endpoint", role);
	json_text(j, "ledger", ledger);
	if (states)
		json_text(j, "state", states);
	return j;
}

static void tolerance(struct json *j)
{
	json_int(j, "tol_ns", TOL_NS);
	json_real(j, "tol_rel", TOL_REL);
}

void expect_ns(struct known *k, const char *role, const char *ledger, const char *states,
	       uint64_t ns)
{
	struct json *j = expect_open(k, role, ledger, states);

	json_int(j, "ns", ns);
	tolerance(j);
	json_close(j, '}');
}

void expect_range(struct known *k, const char *role, const char *ledger, const char *states,
		  uint64_t low, uint64_t high)
{
	struct json *j = expect_open(k, role, ledger, states);

	json_int(j, "low_ns", low);
	json_int(j, "high_ns", high);
	tolerance(j);
	json_close(j, '}');
}

/* A cause that did not act: at most 1 % of the time the workload took. */
void expect_none(struct known *k, const char *role, const char *ledger, const char *states)
{
	struct json *j = expect_open(k, role, ledger, states);

	json_real(j, "at_most_rel", TOL_REL);
	json_int(j, "of_ns", k->elapsed_ns);
	json_close(j, '}');
}

void expect_no_stall(struct known *k, const char *role)
{
	size_t i;

	for (i = 0; i < sizeof(stalls) / sizeof(stalls[0]); i++)
		expect_none(k, role, "tx", stalls[i]);
}

/* The right cause: at least 97 % of the stall time, and at most 1 % of the whole for each of the
 * others. */
void expect_cause(struct known *k, const char *role, const char *state)
{
	struct json *j = expect_open(k, role, "tx", state);
	size_t i;

	json_real(j, "of_stall_at_least", 0.97);
	json_close(j, '}');
	for (i = 0; i < sizeof(stalls) / sizeof(stalls[0]); i++)
		if (strcmp(stalls[i], state))
			expect_none(k, role, "tx", stalls[i]);
}

void expect_count(struct known *k, const char *role, const char *ledger, const char *state,
		  uint64_t low, uint64_t high)
{
	struct json *j = expect_open(k, role, ledger, state);

	json_int(j, "count_low", low);
	json_int(j, "count_high", high);
	json_close(j, '}');
}

/* the longest visit was not shorter */
void expect_longest(struct known *k, const char *role, const char *ledger, const char *state,
		    uint64_t low)
{
	struct json *j = expect_open(k, role, ledger, state);

	json_int(j, "longest_low", low);
	json_close(j, '}');
}

static struct json *beside_open(struct known *k, const char *role, const char *ledger,
				const char *figure, uint64_t low, uint64_t high)
{
	struct json *j = expect_open(k, role, ledger, NULL);

	json_text(j, "beside", figure);
	json_int(j, "low", low);
	json_int(j, "high", high);
	return j;
}

void expect_beside(struct known *k, const char *role, const char *ledger, const char *figure,
		   uint64_t low, uint64_t high)
{
	json_close(beside_open(k, role, ledger, figure, low, high), '}');
}

void expect_beside_ns(struct known *k, const char *role, const char *ledger, const char *figure,
		      uint64_t ns)
{
	struct json *j = expect_open(k, role, ledger, NULL);

	json_text(j, "beside", figure);
	json_int(j, "ns", ns);
	tolerance(j);
	json_close(j, '}');
}

/* The end `by` kept this one waiting in `state`, and the ledger says so. */
void expect_blame(struct known *k, const char *role, const char *state, const char *by)
{
	struct json *j = expect_open(k, role, "tx", state);

	json_text(j, "blame", by);
	json_close(j, '}');
}

/* The expectations that follow rest on a way into the kernel that a backend may not see; it must
 * say so. */
void expect_covers(struct known *k, const char *feature)
{
	struct json *j = &k->expect;

	json_open(j, NULL, '{');
	json_text(j, "covers", feature);
	json_close(j, '}');
}

/* Calls that no backend sees: the bytes are the socket's own count then, how many calls there were
 * is not known. */
void expect_unseen_calls(struct known *k, const char *role, const char *ledger, uint64_t bytes)
{
	struct json *j;

	expect_beside(k, role, ledger, "bytes", bytes, bytes);
	j = beside_open(k, role, ledger, "messages", 0, 0);
	json_int(j, "unknown", 1);
	json_close(j, '}');
}

/* Bytes to the byte, both ways, where there were any. */
void expect_traffic(struct known *k, const char *role)
{
	struct end *e = end_find(k, role);

	if (e->tx_bytes)
		expect_beside(k, role, "tx", "bytes", e->tx_bytes, e->tx_bytes);
	if (e->rx_bytes)
		expect_beside(k, role, "rx", "bytes", e->rx_bytes, e->rx_bytes);
}

/*
 * Many endpoints alike: how many there were, and that connection i sent (ledger "tx") or got ("rx")
 * first + i * step bytes: each once.
 */
void group(struct known *k, const char *role, const char *proto, const char *side, int port,
	   long endpoints, long first, long step)
{
	struct end *e = end_find(k, role);
	struct json *j = &k->groups;

	json_open(j, NULL, '{');
	json_text(j, "role", role);
	json_text(j, "proto", proto);
	json_int(j, "pid", e->pid);
	json_text(j, "port_of", side);
	json_int(j, "port", port);
	json_text(j, "ledger", strcmp(side, "local") ? "tx" : "rx");
	json_int(j, "endpoints", endpoints);
	json_int(j, "bytes_first", first);
	json_int(j, "bytes_step", step);
	json_close(j, '}');
}
