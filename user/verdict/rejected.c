// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections that were refused, or reset before anything was answered, of a program that tries
 * again. The time from one of them to the next try is lost.
 */
#include "verdict/rejected.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "verdict/negligible.h"
#include "verdict/other_findings.h"
#include "verdict/times.h"

/* a smaller share of the lifetime does not matter */
#define SLOW_SHARE 0.1

bool slow_connect_matters(const struct slow_connect *c)
{
	return (double)c->ns >= SLOW_SHARE * (double)c->lifetime_ns;
}

static int address_order(const struct trace_endpoint *a, const struct trace_endpoint *b)
{
	return COMPARE(a->family, b->family) ?:
	       memcmp(a->remote.ip, b->remote.ip, sizeof(a->remote.ip)) ?:
	       COMPARE(a->remote.port, b->remote.port);
}

/* A shell loop starts a new process, of the same name, for each try. */
static int place_order(const struct trace_endpoint *a, const struct trace_endpoint *b)
{
	return strcmp(program_at(a)->comm, program_at(b)->comm) ?: address_order(a, b);
}

/* Puts the tries of one program to one address together, in the order of time. */
static int try_order(const void *x, const void *y)
{
	const struct trace_endpoint *a = *(const struct trace_endpoint *const *)x,
				    *b = *(const struct trace_endpoint *const *)y;

	return place_order(a, b) ?: COMPARE(began(a), began(b));
}

static bool was_begun_here(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_TCP && ep->making.connect_ns;
}

/* A health check connects, and resets the connection without any data. */
static bool was_reset(const struct trace_endpoint *ep)
{
	return ep->making.reset && (ep->tx_calls.bytes || ep->rx_calls.bytes);
}

/* sorted by try_order(); NULL: no memory */
static const struct trace_endpoint **collect(const struct trace_snapshot *s,
					     bool wanted(const struct trace_endpoint *), size_t *n)
{
	const struct trace_endpoint **v = array_new(s->n, 0, sizeof(*v));

	*n = 0;
	for (size_t i = 0; v && i < s->n; i++)
		if (wanted(&s->ep[i]))
			v[(*n)++] = &s->ep[i];
	if (v)
		qsort(v, *n, sizeof(*v), try_order);
	return v;
}

static size_t count_alike(const struct trace_endpoint **v, size_t n)
{
	size_t i = 1;

	while (i < n && !place_order(v[0], v[i]))
		i++;
	return i;
}

struct slow_connect most_of_alike(const struct trace_snapshot *s,
				  bool wanted(const struct trace_endpoint *), judge_alike *judge)
{
	struct slow_connect most = { .endpoint = -1 };
	size_t n, alike;
	const struct trace_endpoint **v = collect(s, wanted, &n);

	for (size_t i = 0; i < n; i += alike) {
		alike = count_alike(v + i, n - i);
		judge(s, v + i, alike, &most);
	}
	free(v);
	return most;
}

/* ---- and tried again ---- */

static enum rejection rejection_of(const struct trace_endpoint *ep)
{
	if (ep->tx_calls.refused_n)
		return REJECTED_REFUSED;
	return was_reset(ep) && !ep->rx_calls.bytes ? REJECTED_RESET : REJECTED_NOT;
}

/* The time until the next try. A refusal takes no time; until a reset the program waits for an
 * answer. */
static uint64_t until_next(const struct trace_endpoint *ep, const struct trace_endpoint *next)
{
	uint64_t from = ep->tx_calls.refused_n ? began(ep)
					       : ep->at_ns - ep->making.after_reset_ns;

	return began(next) > from ? began(next) - from : 0;
}

/* The sum over n tries that are alike. */
static struct slow_connect sum_rejected(const struct trace_snapshot *s,
					const struct trace_endpoint **v, size_t n,
					enum rejection how)
{
	struct slow_connect sum = { .endpoint = -1, .rejected = how };

	for (size_t i = 0; i < n; i++) {
		if (rejection_of(v[i]) != how)
			continue;
		if (sum.endpoint < 0)
			sum.endpoint = (int)(v[i] - s->ep);
		sum.n++;
		sum.ns += i + 1 < n ? until_next(v[i], v[i + 1]) : 0;
	}
	sum.max_ns = sum.ns;
	sum.lifetime_ns = observed_ns(s);
	return sum;
}

/* A single refusal is an answer: a name may have several addresses. A program that tries again
 * waits. */
#define TRIES	 2
#define AGAIN_NS 100000000

static void keep_longer(struct slow_connect *most, const struct slow_connect *one)
{
	if (one->n >= TRIES && one->ns >= AGAIN_NS && one->ns > most->ns &&
	    slow_connect_matters(one))
		*most = *one;
}

static void keep_rejected(const struct trace_snapshot *s, const struct trace_endpoint **v, size_t n,
			  struct slow_connect *most)
{
	for (enum rejection how = REJECTED_REFUSED; how <= REJECTED_RESET; how++) {
		struct slow_connect one = sum_rejected(s, v, n, how);

		keep_longer(most, &one);
	}
}

struct slow_connect find_rejected(const struct trace_snapshot *s)
{
	return most_of_alike(s, was_begun_here, keep_rejected);
}

/* ---- by the other end ---- */

/* A program that has both ends closes them as it likes. */
static bool is_to_itself(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	return ep->peer >= 0 && program_at(&s->ep[ep->peer])->tgid == program_at(ep)->tgid;
}

static void keep_reset(const struct trace_snapshot *s, const struct trace_endpoint **v, size_t n,
		       struct slow_connect *most)
{
	struct slow_connect sum = { .lifetime_ns = observed_ns(s), .rejected = REJECTED_RESET };

	for (size_t i = 0; i < n; i++) {
		if (is_to_itself(s, v[i]))
			continue;
		if (!sum.n++)
			sum.endpoint = (int)(v[i] - s->ep);
	}
	if (sum.n > most->n)
		*most = sum;
}

/* ---- nothing but refusals ---- */

static bool was_refused(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_TCP && ep->tx_calls.refused_n;
}

static void keep_refused(const struct trace_snapshot *s, const struct trace_endpoint **v, size_t n,
			 struct slow_connect *most)
{
	if (n > most->n)
		*most = (struct slow_connect){ .endpoint = (int)(v[0] - s->ep),
					       .n = n,
					       .lifetime_ns = observed_ns(s),
					       .rejected = REJECTED_REFUSED };
}

struct slow_connect find_refused(const struct trace_snapshot *s)
{
	return most_of_alike(s, was_refused, keep_refused);
}

struct slow_connect find_reset(const struct trace_snapshot *s)
{
	return most_of_alike(s, was_reset, keep_reset);
}
