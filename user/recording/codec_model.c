// SPDX-License-Identifier: GPL-2.0-only
/*
 * Encodes the structures of trace.h as sections with tags, and figures by their rows. A build reads
 * the sections that it knows and skips the others. Figures that a section lacks are marked in
 * `missing` (struct trace_endpoint), and recording_state.lacks names the section. So a new figure
 * goes to the end of its section or into a new one, and the version of the file stays the same. The
 * version grows if the meaning of a figure changes.
 */
#include "base/text.h"
#include "bpf/record.h"
#include "recording/codec.h"
#include "tracer/figure.h"

/* a new field must be walked too: these fail until that is done */
_Static_assert(sizeof(struct trace_listener) == 136, "struct trace_listener has changed");
_Static_assert(sizeof(struct trace_stall) == 192, "struct trace_stall has changed");

static void walk_pid(struct codec *c, pid_t *pid)
{
	uint64_t v = (uint64_t)*pid;

	codec_below(c, &v, 1ull << 31);
	*pid = (pid_t)v;
}

/* a foreign file may hold anything */
static void walk_comm(struct codec *c, char comm[16])
{
	codec_bytes(c, comm, 16);
	if (c->reads)
		text_clean(comm, 16);
}

static void walk_resolution(struct codec *c, uint8_t *r)
{
	uint64_t v = *r;

	codec_below(c, &v, TRACE_EXACT + 1);
	*r = (uint8_t)v;
}

/* n counts by state, or by another enumeration that may grow */
static void walk_counts(struct codec *c, uint32_t *v, size_t n)
{
	uint32_t passed;
	uint64_t there = n;

	codec_u64(c, &there);
	codec_u32s(c, v, there < n ? there : n);
	for (uint64_t i = n; i < there && !c->bad && !c->short_of; i++)
		codec_u32(c, &passed);
}

static void walk_state(struct codec *c, struct trace_ledger *l, uint32_t *hist, unsigned int state)
{
	codec_u64(c, &l->ns[state]);
	codec_u64(c, &l->max[state]);
	codec_u32(c, &l->count[state]);
	walk_counts(c, hist, TRACE_HIST);
	walk_resolution(c, &l->resolution[state]);
}

/* A build that knows more states has written more. Their time is missing here, so that the states
 * do not add up to the lifetime. */
static void walk_states(struct codec *c, struct trace_ledger *l, uint32_t (*hist)[TRACE_HIST],
			unsigned int states)
{
	struct trace_ledger other = {};
	uint32_t others[TRACE_HIST];
	uint64_t there = states;

	codec_below(c, &there, 256);
	for (uint64_t i = 0; i < there && !c->bad; i++)
		if (i < states)
			walk_state(c, l, hist[i], (unsigned int)i);
		else
			walk_state(c, &other, others, 0);
}

static void walk_ledger(struct codec *c, struct trace_ledger *l, uint32_t (*hist)[TRACE_HIST],
			unsigned int states)
{
	uint64_t now = l->now;

	walk_states(c, l, hist, states);
	codec_u64(c, &l->lifetime_ns);
	codec_i64(c, &l->unaccounted_ns);
	codec_below(c, &now, states);
	codec_u64(c, &l->since_ns);
	l->now = (unsigned int)now;
}

static void walk_left(struct codec *c, struct trace_call_stats *b)
{
	codec_u64(c, &b->left_ns);
	if (!b->left_ns)
		return;
	codec_bool(c, &b->let_go);
	walk_pid(c, &b->fd_owner);
	if (b->fd_owner)
		walk_comm(c, b->fd_owner_comm);
}

static void walk_who(struct codec *c, struct trace_who *w)
{
	walk_pid(c, &w->tgid);
	if (!w->tgid)
		return;
	walk_pid(c, &w->tid);
	codec_u64(c, &w->lead_ns);
	codec_u64(c, &w->sum_ns);
	codec_u32(c, &w->second);
	codec_u32(c, &w->mixed);
	walk_comm(c, w->comm);
}

static void walk_blame(struct codec *c, struct trace_blame *b, struct trace_detail *d)
{
	codec_list(c, b->delack_ns, TX_N);
	codec_list(c, b->unread_ns, TX_N);
	walk_counts(c, b->delack_n, TX_N);
	walk_counts(c, b->unread_n, TX_N);
	codec_u64(c, &b->gathered_ns);
	codec_u32(c, &b->gathered_n);
	codec_list(c, b->starved_ns, TRACE_VOTES);
	walk_counts(c, b->starved_n, TRACE_VOTES);
	for (int i = 0; i < TRACE_VOTES; i++) {
		walk_who(c, &d->held_up[i]);
		walk_who(c, &d->late[i]);
	}
}

static void walk_address(struct codec *c, struct trace_addr *a)
{
	uint64_t port = a->port;

	codec_bytes(c, a->ip, sizeof(a->ip));
	codec_below(c, &port, 1 << 16);
	a->port = (uint16_t)port;
}

static void walk_identity(struct codec *c, struct trace_endpoint *ep)
{
	uint64_t proto = ep->proto, family = (uint64_t)ep->family;

	codec_u64(c, &ep->serial);
	codec_u64(c, &ep->inode);
	codec_u32(c, &ep->netns);
	codec_below(c, &proto, TRACE_PROTOS);
	codec_below(c, &family, 256);
	walk_address(c, &ep->local);
	walk_address(c, &ep->remote);
	codec_u64(c, &ep->born_ns);
	codec_u64(c, &ep->at_ns);
	codec_bool(c, &ep->closed);
	codec_bool(c, &ep->joined_late);
	ep->proto = (enum trace_proto)proto;
	ep->family = (int)family;
}

/* --- figures: the rows of tracer/figure_rows.h ------------------------------------------------ */

#define WALK(name, ...) \
	static void name(struct codec *c, void *v, size_t n) \
	{ \
		(void)n; \
		__VA_ARGS__; \
	}
#define WALK_EACH(name, type, walk) \
	WALK(name, for (type *at = v; at < (type *)v + n; at++) walk(c, at))

WALK_EACH(walk_u64s, uint64_t, codec_u64)
WALK_EACH(walk_u32s, uint32_t, codec_u32)
WALK(walk_flag, codec_bool(c, v))
WALK(walk_known, walk_resolution(c, v))
WALK(walk_process, walk_pid(c, v))
WALK(walk_name, walk_comm(c, v))
WALK(walk_list, codec_list(c, v, n))
WALK(walk_count_list, walk_counts(c, v, n))
WALK(walk_nothing, (void)c, (void)v)

/* two members in one number; the upper one is 0 in recordings that do not have it */
static void walk_u32_pair(struct codec *c, void *v, size_t n)
{
	uint32_t *pair = v;
	uint64_t both = pair[0] | (uint64_t)pair[n] << 32;

	codec_u64(c, &both);
	pair[0] = (uint32_t)both;
	pair[n] = (uint32_t)(both >> 32);
}

static void (*const walks[FIGURE_KINDS])(struct codec *, void *, size_t) = {
	[FIGURE_U64] = walk_u64s,	  [FIGURE_U32] = walk_u32s,
	[FIGURE_U32_LOW] = walk_u32_pair, [FIGURE_U32_HIGH] = walk_nothing,
	[FIGURE_FLAG] = walk_flag,	  [FIGURE_RES] = walk_known,
	[FIGURE_PID] = walk_process,	  [FIGURE_COMM] = walk_name,
	[FIGURE_SPREAD] = walk_u64s,	  [FIGURE_LIST] = walk_list,
	[FIGURE_COUNTS] = walk_count_list,
};

/* A figure that was read completely is not missing any more. */
static void walk_figures(struct codec *c, const struct figures *s, void *owner,
			 enum figure_section section)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct figure *f = &s->v[i];

		if (f->section != (uint8_t)section)
			continue;
		walks[f->kind](c, (char *)owner + f->at, f->n);
		if (c->reads && !c->short_of)
			figures_set_lack(s, owner, i, false);
	}
}

static void all_missing(const struct figures *s, void *owner)
{
	for (size_t i = 0; i < s->n; i++)
		figures_set_lack(s, owner, i, s->v[i].section != SECTION_SHOWN);
}

static void walk_unseen(struct codec *c, uint8_t *u)
{
	uint64_t v = *u;

	codec_below(c, &v, TRACE_UNSEEN_N);
	*u = (uint8_t)v;
}

/* --- the sections of an endpoint -------------------------------------------------------------- */

struct endpoint_walk {
	struct trace_endpoint *ep;
	uint64_t *peer_serial;
};

static void walk_whose(struct codec *c, struct endpoint_walk *w)
{
	walk_identity(c, w->ep);
	codec_u64(c, w->peer_serial);
	codec_bool(c, &w->ep->paired);
}

static void walk_blamed(struct codec *c, struct trace_endpoint *ep)
{
	walk_blame(c, &ep->blame, ep->detail);
	if (c->reads && !c->short_of)
		ep->blame_missing = false;
}

/* A section that holds the figures of both directions cannot grow: the second direction's first
 * figure would be read as the first one's last. New figures of calls go to SECTION_CALLS. */
#define IN_SECTION(within, member, type, unit, difference, section, ...) \
	+(SECTION_##section == COUNTED_SECTION)
#define COUNTED_SECTION SECTION_STOPS
_Static_assert(0 CALL_FIGURES(IN_SECTION) == 6, "the section of stops has changed");
#undef COUNTED_SECTION
#define COUNTED_SECTION SECTION_REPLIES
_Static_assert(0 CALL_FIGURES(IN_SECTION) == 8, "the section of replies has changed");
#undef COUNTED_SECTION
#define COUNTED_SECTION SECTION_GIVEN
_Static_assert(0 CALL_FIGURES(IN_SECTION) == 8, "the section of passed descriptors has changed");
#undef COUNTED_SECTION

#define OF_CALLS(calls, part) walk_figures(c, &figures_of_calls, &ep->calls, SECTION_##part)
#define OF_ENDPOINT(part)     walk_figures(c, &figures_of_endpoint, ep, SECTION_##part)

#define ENDPOINT_SECTIONS(S) \
	S(1, identity, "identity", walk_whose(c, w)) \
	S(2, tx, "tx ledger", walk_ledger(c, &ep->tx, ep->detail->tx_hist, TX_N)) \
	S(3, rx, "rx ledger", walk_ledger(c, &ep->rx, ep->detail->rx_hist, RX_N)) \
	S(4, tx_calls, "calls that send", OF_CALLS(tx_calls, CALLS)) \
	S(5, rx_calls, "calls that read", OF_CALLS(rx_calls, CALLS)) \
	S(6, blame, "blame", walk_blamed(c, ep)) \
	S(7, acks, "withheld ACKs", OF_ENDPOINT(ACKS)) \
	S(8, losses, "losses and round trips", OF_ENDPOINT(LOSSES)) \
	S(9, queue, "drops and queue", OF_ENDPOINT(QUEUE)) \
	S(10, left, "who left the descriptor", walk_left(c, &ep->tx_calls); \
	  walk_left(c, &ep->rx_calls)) \
	S(11, stops, "stopped and throttled processes", OF_CALLS(tx_calls, STOPS); \
	  OF_CALLS(rx_calls, STOPS)) \
	S(12, unseen, "calls that went unseen", walk_unseen(c, &ep->unseen[0]); \
	  walk_unseen(c, &ep->unseen[1])) \
	S(13, making, "connecting and accepting", OF_ENDPOINT(MAKING)) \
	S(14, parts, "parts of a state, holes", OF_ENDPOINT(PARTS)) \
	S(15, path, "path", OF_ENDPOINT(PATH)) \
	S(16, let_go, "endpoints that made room", codec_bool(c, &ep->let_go)) \
	S(17, replies, "replies", OF_CALLS(tx_calls, REPLIES); OF_CALLS(rx_calls, REPLIES)) \
	S(18, given, "who passed the descriptor", OF_CALLS(tx_calls, GIVEN); \
	  OF_CALLS(rx_calls, GIVEN))

#define SECTION_WALK(number, name, text, ...) \
	static void section_##name(struct codec *c, void *what) \
	{ \
		struct endpoint_walk *w = what; \
		struct trace_endpoint *ep = w->ep; \
		(void)ep; \
		__VA_ARGS__; \
	}
ENDPOINT_SECTIONS(SECTION_WALK)

#define SECTION_ROW(number, name, text, ...) { number, text, section_##name },
static const struct codec_section endpoint_sections[] = { ENDPOINT_SECTIONS(SECTION_ROW) };

enum { SECTIONS = sizeof(endpoint_sections) / sizeof(endpoint_sections[0]) };

const char *codec_endpoint_section(size_t row)
{
	return row < SECTIONS ? endpoint_sections[row].name : NULL;
}

/* An endpoint without its identity section is bad. Where it has no detail, zeros are written, and
 * what is read goes nowhere. */
void codec_endpoint(struct codec *c, struct trace_endpoint *ep, uint64_t *peer_serial)
{
	struct trace_detail none = {}, *own = ep->detail;
	struct endpoint_walk w = { ep, peer_serial };
	uint32_t before = c->lacks;

	ep->detail = own ? own : &none;
	c->lacks = 0;
	if (c->reads) {
		all_missing(&figures_of_calls, &ep->tx_calls);
		all_missing(&figures_of_calls, &ep->rx_calls);
		all_missing(&figures_of_endpoint, ep);
		ep->blame_missing = true;
	}
	codec_sections(c, endpoint_sections, SECTIONS, &w);
	ep->detail = own;
	c->bad |= c->lacks & 1;
	c->lacks |= before;
	if (c->reads)
		ep->peer = -1;
}

void codec_part(struct codec *c, struct part *p)
{
	codec_u64(c, &p->at_ns);
	codec_list(c, (uint64_t *)&p->counters, sizeof(p->counters) / sizeof(uint64_t));
	codec_bool(c, &p->last);
	codec_u64(c, &p->n);
}

static void walk_listener(struct codec *c, void *what)
{
	struct trace_listener *l = what;
	uint64_t family = (uint64_t)l->family;

	codec_u64(c, &l->inode);
	codec_u32(c, &l->netns);
	codec_below(c, &family, 256);
	walk_address(c, &l->local);
	codec_u64(c, &l->born_ns);
	codec_u64(c, &l->at_ns);
	codec_bool(c, &l->closed);
	codec_u32(c, &l->backlog);
	codec_u32(c, &l->queue);
	codec_u32(c, &l->peak);
	codec_u64(c, &l->dropped);
	codec_u64(c, &l->established);
	codec_u64(c, &l->accepted);
	codec_u64(c, &l->wait_ns);
	codec_u64(c, &l->wait_max_ns);
	walk_pid(c, &l->tgid);
	walk_comm(c, l->comm);
	l->family = (int)family;
}

static const struct codec_section listener_sections[] = { { 1, "listener", walk_listener } };

void codec_listeners(struct codec *c, struct trace_listeners *l)
{
	uint64_t n = l->n;

	codec_below(c, &n, TRACE_LISTENERS + 1);
	codec_u64(c, &l->left_out);
	for (uint64_t i = 0; i < n && !c->bad; i++)
		codec_sections(c, listener_sections, 1, &l->v[i]);
	l->n = c->bad ? 0 : n;
}

static void walk_held(struct codec *c, struct trace_held *h)
{
	codec_bool(c, &h->known);
	codec_u32(c, &h->queued);
	codec_u32(c, &h->unacked);
	codec_u32(c, &h->small);
	codec_u32(c, &h->mss);
	codec_u32(c, &h->cwnd);
	codec_u32(c, &h->in_flight);
	codec_u32(c, &h->window);
	codec_bool(c, &h->nodelay);
	codec_bool(c, &h->cork);
}

struct stall_walk {
	struct trace_stall *s;
	uint64_t *texts;
};

static void walk_stall(struct codec *c, void *what)
{
	struct trace_stall *s = ((struct stall_walk *)what)->s;
	uint64_t *texts = ((struct stall_walk *)what)->texts;
	uint64_t state = s->state, ns = s->to_ns - s->from_ns, delack = s->by_delack;

	codec_u64(c, &s->serial);
	codec_u64(c, &s->from_ns);
	codec_u64(c, &ns);
	codec_u64(c, &s->peer_serial);
	codec_below(c, &state, TX_N);
	codec_below(c, &delack, TRACE_DELACK_N);
	codec_bool(c, &s->goes_on);
	codec_u64(c, &s->ack_owed_ns);
	codec_u64(c, &s->ack_went_ns);
	walk_held(c, &s->held);
	codec_u64(c, &s->ack_at_ns);
	codec_u32(c, &s->ack_bytes);
	codec_u32(c, &s->ack_payload);
	codec_u64(c, &s->peer_unread_ns);
	codec_u64(c, &s->peer_no_cpu_ns);
	walk_pid(c, &s->tgid);
	walk_pid(c, &s->peer_tgid);
	walk_comm(c, s->comm);
	walk_comm(c, s->peer_comm);
	codec_list(c, texts, STACKS);
	s->to_ns = s->from_ns + ns;
	s->state = (enum tx_state)state;
	s->by_delack = (enum trace_delack)delack;
	if (c->reads)
		s->kstack = s->ustack = s->peer_kstack = s->peer_ustack = -1;
}

static const struct codec_section stall_sections[] = { { 1, "stall", walk_stall } };

void codec_stall(struct codec *c, struct trace_stall *s, uint64_t texts[STACKS])
{
	struct stall_walk w = { s, texts };
	uint32_t before = c->lacks;

	codec_sections(c, stall_sections, 1, &w);
	c->lacks = before;
}

/* the mark, or the ledger and the state that ended, in one number of 9 bits */
static uint64_t pack(const struct trace_transition *tr)
{
	return tr->mark ? (uint64_t)tr->mark << 1 | 1
			: (uint64_t)tr->from << 3 | (uint64_t)tr->closes << 2 |
				  (uint64_t)tr->rx << 1;
}

static void unpack(struct codec *c, struct trace_transition *tr, uint64_t v)
{
	if (v & 1) {
		tr->mark = (uint8_t)(v >> 1);
		c->bad |= !tr->mark || tr->mark >= MARK_N || v >> 9;
	} else {
		tr->rx = v >> 1 & 1;
		tr->closes = v >> 2 & 1;
		tr->from = (uint8_t)(v >> 3 & 15);
		c->bad |= v >> 7 || tr->from >= (tr->rx ? (int)RX_N : (int)TX_N);
	}
}

void codec_transition(struct codec *c, struct trace_transition *tr, uint64_t *base)
{
	uint64_t what = pack(tr), value = tr->mark ? tr->bytes : tr->ns, to = tr->to;
	int64_t later = (int64_t)(tr->at_ns - *base);

	codec_u64(c, &tr->serial);
	codec_i64(c, &later);
	codec_u64(c, &what);
	codec_u64(c, &value);
	codec_below(c, &to, TRACE_STATES);
	if (c->reads)
		unpack(c, tr, what);
	tr->at_ns = *base + (uint64_t)later;
	tr->to = (uint8_t)to;
	if (tr->mark)
		tr->bytes = value;
	else
		tr->ns = value;
	*base = tr->at_ns;
}
