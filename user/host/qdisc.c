// SPDX-License-Identifier: GPL-2.0-only
#include "host/qdisc.h"

#include <errno.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>

#include "host/rtnl.h"

#define FRAME_EXTRA 14U /* tbf counts the Ethernet header */
#define DEFAULT_LIMIT \
	(8U << 20) /* deep enough that a sender waits for its own buffer, not for a drop */
#define WIRE_PACKETS 200000U /* a long wire drops nothing */

/* One queue in the chain: its place, and what its parameters are computed from. */
struct stage {
	int nl, ifindex;
	uint32_t parent;
	uint32_t handle;
	uint64_t mtu;
	const struct link_spec *s;
};

typedef void (*stage_fn)(struct rtnl_req *r, const struct stage *st);

static uint64_t burst_of(const struct link_spec *s, uint64_t mtu)
{
	uint64_t quarter_ms = s->rate / 8 / 4000, frames = 2 * (mtu + FRAME_EXTRA);

	if (s->burst)
		return s->burst;
	return quarter_ms > frames ? quarter_ms : frames;
}

/* limit= in packets, for the queues which count those. */
static uint32_t limit_packets(const struct stage *st)
{
	uint64_t n = st->s->limit / (st->mtu + FRAME_EXTRA);

	return n ? (uint32_t)n : 1;
}

/* net/sched/sch_tbf.c: tbf_change(). If the link layer is given, the old rate table is not needed.
 * The buffer in bytes (TCA_TBF_BURST) overrides the one in scheduler ticks. */
static void put_tbf(struct rtnl_req *r, const struct stage *st)
{
	uint64_t bytes_s = st->s->rate / 8;
	struct tc_tbf_qopt q = {
		.rate = { .rate = bytes_s < UINT32_MAX ? (uint32_t)bytes_s : UINT32_MAX,
			.linklayer = TC_LINKLAYER_ETHERNET },
		.limit = st->s->limit ? (uint32_t)st->s->limit : DEFAULT_LIMIT,
	};

	rtnl_put(r, TCA_TBF_PARMS, &q, sizeof(q));
	rtnl_put_u32(r, TCA_TBF_BURST, (uint32_t)burst_of(st->s, st->mtu));
	if (bytes_s >= UINT32_MAX)
		rtnl_put(r, TCA_TBF_RATE64, &bytes_s, sizeof(bytes_s));
}

static uint32_t loss_scaled(uint64_t ppm)
{
	return (uint32_t)(ppm * UINT32_MAX / 1000000);
}

/* net/sched/sch_netem.c: netem_change() takes a tc_netem_qopt with the attributes behind it, not
 * nested. The 64-bit delays (since 4.15) override the ones in ticks. */
static void put_netem(struct rtnl_req *r, const struct stage *st)
{
	struct tc_netem_qopt q = { .limit = WIRE_PACKETS, .loss = loss_scaled(st->s->loss) };
	int64_t delay = (int64_t)st->s->delay, jitter = (int64_t)st->s->jitter;

	rtnl_raw(r, &q, sizeof(q));
	rtnl_put(r, TCA_NETEM_LATENCY64, &delay, sizeof(delay));
	rtnl_put(r, TCA_NETEM_JITTER64, &jitter, sizeof(jitter));
}

static void put_fq(struct rtnl_req *r, const struct stage *st)
{
	if (st->s->limit)
		rtnl_put_u32(r, TCA_FQ_PLIMIT, limit_packets(st));
}

static void put_fq_codel(struct rtnl_req *r, const struct stage *st)
{
	if (st->s->limit)
		rtnl_put_u32(r, TCA_FQ_CODEL_LIMIT, limit_packets(st));
}

static void put_pfifo(struct rtnl_req *r, const struct stage *st)
{
	struct tc_fifo_qopt q = { .limit = st->s->limit ? limit_packets(st) : 1000 };

	rtnl_raw(r, &q, sizeof(q));
}

static int no_such_qdisc(struct err *e, const char *kind, const char *keys)
{
	return err_feature(
		e,
		"--link: this kernel has no %s queue, which %s needs: sch_%s is neither built in "
		"nor loadable; `modprobe sch_%s`, take a kernel that has it, or leave that key out",
		kind, keys, kind, kind);
}

static int add_stage(struct stage *st, const char *kind, const char *keys, stage_fn put,
		     struct err *e)
{
	struct tcmsg t = { .tcm_ifindex = st->ifindex, .tcm_parent = st->parent,
		.tcm_handle = st->handle };
	struct rtattr *options;
	struct rtnl_req r;
	char why[128];

	rtnl_begin(&r, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, &t, sizeof(t));
	rtnl_put_str(&r, TCA_KIND, kind);
	options = rtnl_nest(&r, TCA_OPTIONS);
	put(&r, st);
	rtnl_nest_end(&r, options);
	if (rtnl_call(st->nl, &r, why, sizeof(why)) == 0) {
		st->parent = st->handle | 1; /* the one class of tbf and netem */
		st->handle += TC_H_MAKE(1U << 16, 0);
		return 0;
	}
	if (errno == ENOENT)
		return no_such_qdisc(e, kind, keys);
	return err_sys(e, EXIT_NO_RESOURCE, "check the values given to --link",
		       "--link: %s queue refused (%s)", kind, why);
}

int qdisc_setup(int nl, int ifindex, const struct link_spec *s, unsigned int parts, uint64_t mtu,
		struct err *e)
{
	struct stage st = { .nl = nl, .ifindex = ifindex, .parent = TC_H_ROOT, .handle = 1U << 16,
		.mtu = mtu, .s = s };

	if (parts & QDISC_WIRE && (s->delay || s->loss) &&
	    add_stage(&st, "netem", "delay, jitter or loss", put_netem, e))
		return -1;
	if (!(parts & QDISC_HOST))
		return 0;
	if (s->rate && add_stage(&st, "tbf", "rate", put_tbf, e))
		return -1;
	switch ((enum link_qdisc)s->qdisc) {
	case LINK_Q_FQ: return add_stage(&st, "fq", "qdisc=fq", put_fq, e);
	case LINK_Q_FQ_CODEL: return add_stage(&st, "fq_codel", "qdisc=fq_codel", put_fq_codel, e);
	case LINK_Q_PFIFO: return add_stage(&st, "pfifo", "qdisc=pfifo", put_pfifo, e);
	case LINK_Q_UNSET: break;
	}
	return 0;
}

struct reading {
	int ifindex;
	uint32_t innermost;
	struct link_stats *st;
};

static const struct gnet_stats_queue *queue_stats(const struct nlmsghdr *n)
{
	const struct tcmsg *t = NLMSG_DATA(n);
	const struct rtattr *a =
		rtnl_attr(TCA_RTA(t), (int)NLMSG_PAYLOAD(n, sizeof(*t)), TCA_STATS2);

	if (a)
		a = rtnl_attr(RTA_DATA(a), (int)RTA_PAYLOAD(a), TCA_STATS_QUEUE);
	return a && RTA_PAYLOAD(a) >= sizeof(struct gnet_stats_queue) ? RTA_DATA(a) : NULL;
}

/* A drop in a child is counted again by its parents (netem_dequeue(), tbf_enqueue()), so the root
 * has them all. The backlog is that of the innermost queue: packets in netem are on the wire, and
 * do not wait for it. Our handles grow inwards: 1:, 2:, 3:. A handle of 0 is a default queue that
 * we did not add (noqueue on veth and lo). */
static void read_one(const struct nlmsghdr *n, void *arg)
{
	const struct tcmsg *t = NLMSG_DATA(n);
	const struct gnet_stats_queue *q = queue_stats(n);
	struct reading *r = arg;

	if (n->nlmsg_type != RTM_NEWQDISC || t->tcm_ifindex != r->ifindex || !q ||
	    TC_H_MAJ(t->tcm_handle) == 0)
		return;
	r->st->has_queue = true;
	if (t->tcm_parent == TC_H_ROOT)
		r->st->drops += q->drops;
	r->st->overlimits += q->overlimits;
	r->st->requeues += q->requeues;
	if (t->tcm_handle >= r->innermost) {
		r->innermost = t->tcm_handle;
		r->st->backlog = q->backlog;
		r->st->qlen = q->qlen;
	}
}

int qdisc_read(int nl, int ifindex, struct link_stats *st)
{
	struct tcmsg t = { .tcm_ifindex = ifindex };
	struct reading r = { .ifindex = ifindex, .st = st };
	struct rtnl_req req;

	rtnl_begin(&req, RTM_GETQDISC, 0, &t, sizeof(t));
	return rtnl_dump(nl, &req, read_one, &r);
}
