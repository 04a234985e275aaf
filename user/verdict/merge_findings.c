// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/merge_findings.h"
#include "base/array.h"
#include "verdict/blame.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct who finding_sender(const struct trace_snapshot *s, const struct finding *f)
{
	return who_was_held_up(&s->ep[f->endpoint], f->cause);
}

struct who finding_blamed(const struct trace_snapshot *s, const struct finding *f)
{
	struct who blamed = {};

	if (f->blamed == BLAME_OWN_WRITES)
		return finding_sender(s, f);
	if (blame_is_peers(f->blamed))
		who_is_late(s, &s->ep[f->endpoint], f->cause, &blamed);
	return blamed;
}

/* ---- one reader's doing ---- */

static bool blame_one_reader(const struct trace_snapshot *s, const struct finding *a,
			     const struct finding *b)
{
	struct who x = finding_blamed(s, a), y = finding_blamed(s, b);

	return a->blamed == BLAME_PEER_READER && b->blamed == BLAME_PEER_READER &&
	       a->limit == LIMIT_NONE && b->limit == LIMIT_NONE && a->surety == b->surety &&
	       a->small_reads == b->small_reads && x.tgid == y.tgid &&
	       finding_sender(s, a).tgid == finding_sender(s, b).tgid;
}

static void take_cause(struct totals *a, const struct totals *b)
{
	a->causes |= b->causes;
	a->ns += b->ns;
	a->count += b->count;
	a->found += b->found;
	a->blamed_ns += b->blamed_ns;
	a->blamed_n += b->blamed_n;
	a->max_ns = a->max_ns > b->max_ns ? a->max_ns : b->max_ns;
}

static void swap_if_larger(struct finding *a, struct finding *b)
{
	struct finding was = *a;

	if (b->ns <= a->ns)
		return;
	*a = *b;
	*b = was;
}

size_t findings_unite_causes(const struct trace_snapshot *s, struct finding *v, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		size_t into = 0;

		while (into < kept && !blame_one_reader(s, &v[into], &v[i]))
			into++;
		if (into == kept) {
			v[kept++] = v[i];
			continue;
		}
		swap_if_larger(&v[into], &v[i]);
		v[into].goes_on |= v[i].goes_on;
		take_cause(&v[into].all, &v[i].all);
	}
	return kept;
}

/* ---- candidates ---- */

int candidates_add(struct candidates *c, const struct trace_snapshot *s, const struct finding *f)
{
	if (!array_grow(&c->v, c->n, &c->room, sizeof(*c->v)))
		return -1;
	c->v[c->n++] = (struct candidate){ .f = *f,
					   .sender = finding_sender(s, f),
					   .blamed = finding_blamed(s, f) };
	return 0;
}

void candidates_free(struct candidates *c)
{
	free(c->v);
	*c = (struct candidates){};
}

/* ---- which are alike ---- */

/* How findings are compared. Threads of one process may have different names, and forked workers
 * have one name: those with the same process or the same name are alike. A server's port is the
 * remote one of its clients and the local one of itself. It is not known which end is the server,
 * but the client's port is not shared by many. */
struct way {
	const struct trace_snapshot *s;
	bool remote, sender_by_name, blamed_by_name;
};

static bool is_known(const struct who *p)
{
	return p->tgid || (p->comm && *p->comm);
}

static int order_names(const struct who *a, const struct who *b)
{
	return strncmp(a->comm ? a->comm : "", b->comm ? b->comm : "",
		       sizeof(((struct trace_call_stats *)NULL)->comm));
}

/* If there are several processes, none of which is sure, there is only a name to compare. */
static int order_whos(const struct who *a, const struct who *b, bool by_name)
{
	int d = by_name ? 0 : COMPARE(a->tgid, b->tgid);

	return d || (!by_name && a->tgid) ? d : order_names(a, b);
}

static int order_kinds(const struct finding *a, const struct finding *b)
{
	return COMPARE(a->cause, b->cause) ?: COMPARE(a->blamed, b->blamed) ?:
	       COMPARE(a->surety, b->surety) ?: COMPARE(a->unanswered_syn, b->unanswered_syn) ?:
	       COMPARE(a->late_not_lost, b->late_not_lost);
}

static uint16_t server_port(const struct trace_endpoint *ep, bool remote)
{
	return remote ? ep->remote.port : ep->local.port;
}

/* A server that was not seen is known only by its address. */
static int order_servers(const struct candidate *a, const struct candidate *b, const struct way *w)
{
	const struct trace_endpoint *x = &w->s->ep[a->f.endpoint], *y = &w->s->ep[b->f.endpoint];
	int d = COMPARE(x->proto, y->proto)
			?: COMPARE(server_port(x, w->remote), server_port(y, w->remote));

	if (d || !w->remote || is_known(&a->blamed) || is_known(&b->blamed))
		return d;
	return COMPARE(x->family, y->family)
		       ?: memcmp(x->remote.ip, y->remote.ip, sizeof(x->remote.ip));
}

static int order_candidates_alike(const struct candidate *a, const struct candidate *b,
				  const struct way *w)
{
	return order_kinds(&a->f, &b->f) ?: order_whos(&a->sender, &b->sender, w->sender_by_name) ?:
	       order_whos(&a->blamed, &b->blamed, w->blamed_by_name) ?: order_servers(a, b, w);
}

/* Puts the largest first among the findings that are alike. */
static int by_likeness(const void *a, const void *b, void *way)
{
	const struct candidate *x = a, *y = b;

	return order_candidates_alike(x, y, way) ?: COMPARE(y->f.ns, x->f.ns) ?:
	       COMPARE(x->f.endpoint, y->f.endpoint);
}

/* Two processes of one name that are no workers: one reads what the other sends, as in `cat | cat |
 * cat`. */
static bool one_behind_the_other(const struct candidate *a, const struct candidate *b)
{
	return a->sender.tgid != b->sender.tgid &&
	       ((a->blamed.tgid && a->blamed.tgid == b->sender.tgid) ||
		(b->blamed.tgid && b->blamed.tgid == a->sender.tgid));
}

/* A pipe is like no other, whoever holds its ends. A Unix socket has no port that tells one service
 * from another, so it is only like others of the same two processes. */
static bool has_likes(const struct trace_endpoint *ep, const struct way *w)
{
	if (ep->proto == TRACE_PIPE)
		return false;
	if (ep->family == AF_UNIX)
		return !w->sender_by_name && !w->blamed_by_name;
	return server_port(ep, w->remote);
}

static bool mergeable(const struct candidate *a, const struct candidate *b, const struct way *w)
{
	return has_likes(&w->s->ep[a->f.endpoint], w) && is_known(&a->sender) &&
	       !order_candidates_alike(a, b, w) && !one_behind_the_other(a, b);
}

/* ---- and together ---- */

static void take_in(struct candidate *into, const struct candidate *c)
{
	struct totals *a = &into->f.all;
	const struct totals *b = &c->f.all;

	take_cause(a, b);
	a->connections += b->connections;
	a->lifetime_ns += b->lifetime_ns;
	a->several_senders |= b->several_senders || into->sender.tgid != c->sender.tgid;
	a->several_blamed |= b->several_blamed || into->blamed.tgid != c->blamed.tgid;
}

static void unite_by(struct candidates *c, struct way *w)
{
	size_t kept = 0;

	qsort_r(c->v, c->n, sizeof(*c->v), by_likeness, w);
	for (size_t i = 0; i < c->n; i++) {
		if (kept && mergeable(&c->v[kept - 1], &c->v[i], w))
			take_in(&c->v[kept - 1], &c->v[i]);
		else
			c->v[kept++] = c->v[i];
	}
	c->n = kept;
}

enum { BY_SENDERS_NAME = 1, BY_BLAMED_NAME = 2, BY_LOCAL_PORT = 4, WAYS = 8 };

void candidates_unite(struct candidates *c, const struct trace_snapshot *s)
{
	for (int i = 0; i < WAYS && c->n > 1; i++)
		unite_by(c, &(struct way){ .s = s,
					   .remote = !(i & BY_LOCAL_PORT),
					   .sender_by_name = i & BY_SENDERS_NAME,
					   .blamed_by_name = i & BY_BLAMED_NAME });
}
