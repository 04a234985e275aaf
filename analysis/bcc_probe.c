// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel half of bcc_probe.py: what kprobes at the edges of TCP's calls can tell. bcc compiles
 * it on the machine that it runs on, against that machine's headers; PID and PORT (0: every one)
 * and MOST come from the command line.
 *
 * An end is known from its first call on. A call is work until it sleeps, a sleep until it goes on.
 */
#include <linux/tcp.h>
#include <net/sock.h>
#include <net/tcp.h>

enum { TX, RX, SIDES };
enum { OBSERVED, UNPAIRED, OVERFLOW, COUNTERS };

struct span {
	u64 ns, count, max;
};

struct side {
	struct span work, asleep;
	u64 bytes, messages, cgroup;
	u32 tgid;
	u32 unseen; /* bytes went a way that is not followed here */
	char comm[TASK_COMM_LEN];
};

struct end_key {
	u64 sk;
	u64 born; /* the address alone comes again */
};

struct end {
	u64 seen, inode, retransmits, rwnd_ns;
	u32 netns;
	u32 rwnd_before; /* jiffies of TCP's chronograph when first seen */
	u16 family, local_port, remote_port;
	u8 rwnd_runs, closed, late;
	u8 local[16], remote[16];
	struct side side[SIDES];
};

struct call {
	struct end_key key;
	u64 since;
	u32 side, asleep;
};

BPF_HASH(live, u64, u64, MOST); /* socket -> when it was first seen */
BPF_HASH(ends, struct end_key, struct end, MOST);
BPF_TABLE("lru_hash", u64, u64, births, 16384);
BPF_HASH(calls, u64, struct call, MOST);
BPF_PERCPU_ARRAY(copies, struct tcp_sock, 1);
BPF_ARRAY(blank, struct end, 1);
BPF_ARRAY(counters, u64, COUNTERS);
BPF_ARRAY(stopped, u32, 1);

static int is_stopped(void)
{
	int zero = 0;
	u32 *on = stopped.lookup(&zero);

	return !on || *on;
}

static void counted(int which)
{
	counters.increment(which);
}

/* Bit-fields cannot be read through a pointer into the kernel, of a copy they can. */
static struct tcp_sock *copy_of(struct sock *sk)
{
	int zero = 0;
	struct tcp_sock *t = copies.lookup(&zero);

	if (!t || bpf_probe_read_kernel(t, sizeof(*t), sk))
		return NULL;
	return t;
}

/* As tcp_get_info_chrono_stats() reads it: the period under way belongs to it. */
static u32 rwnd_jiffies(struct tcp_sock *t)
{
	u32 running = t->chrono_type == TCP_CHRONO_RWND_LIMITED
			      ? (u32)bpf_jiffies64() - t->chrono_start
			      : 0;

	return t->chrono_stat[TCP_CHRONO_RWND_LIMITED - 1] + running;
}

static void sighted(struct end *e, struct tcp_sock *t, u64 now)
{
	e->rwnd_ns = (u64)(rwnd_jiffies(t) - e->rwnd_before) * (NSEC_PER_SEC / HZ);
	e->rwnd_runs = t->chrono_type == TCP_CHRONO_RWND_LIMITED;
	e->seen = now;
}

static void sight(struct end *e, u64 sk, u64 now)
{
	struct tcp_sock *t = copy_of((struct sock *)sk);

	if (t)
		sighted(e, t, now);
}

static int port_fits(struct sock *c)
{
	return !PORT || c->sk_num == PORT || c->sk_dport == htons(PORT);
}

static void set_names(struct end *e, struct sock *c)
{
	struct net *net = c->__sk_common.skc_net.net;
	struct socket_alloc *file = (struct socket_alloc *)c->sk_socket;

	bpf_probe_read_kernel(&e->netns, sizeof(e->netns), &net->ns.inum);
	bpf_probe_read_kernel(&e->inode, sizeof(e->inode), &file->vfs_inode.i_ino);
	e->family = c->__sk_common.skc_family;
	e->local_port = c->__sk_common.skc_num;
	e->remote_port = ntohs(c->__sk_common.skc_dport);
	if (e->family == AF_INET6) {
		__builtin_memcpy(e->local, &c->__sk_common.skc_v6_rcv_saddr, 16);
		__builtin_memcpy(e->remote, &c->__sk_common.skc_v6_daddr, 16);
	} else {
		__builtin_memcpy(e->local, &c->__sk_common.skc_rcv_saddr, 4);
		__builtin_memcpy(e->remote, &c->__sk_common.skc_daddr, 4);
	}
}

static struct end *new_end(struct sock *sk, struct end_key *k, u64 now)
{
	struct tcp_sock *t = copy_of(sk);
	u64 *birth = births.lookup(&k->sk);
	struct sock *c = (struct sock *)t;
	struct end *e;
	int zero = 0;

	if (!t || c->__sk_common.skc_state == TCP_CLOSE || c->__sk_common.skc_state == TCP_LISTEN ||
	    !port_fits(c))
		return NULL;
	k->born = birth ? *birth : now;
	e = blank.lookup(&zero);
	if (!e || ends.insert(k, e) || live.update(&k->sk, &k->born) || !(e = ends.lookup(k))) {
		counted(OVERFLOW);
		return NULL;
	}
	set_names(e, c);
	e->late = !birth;
	e->rwnd_before = birth ? 0 : rwnd_jiffies(t);
	sighted(e, t, now);
	return e;
}

static struct end *end_of(struct sock *sk, struct end_key *k)
{
	u64 *born;

	k->sk = (u64)sk;
	born = live.lookup(&k->sk);
	if (!born)
		return NULL;
	k->born = *born;
	return ends.lookup(k);
}

static void add(struct span *s, u64 ns)
{
	lock_xadd(&s->ns, ns);
	lock_xadd(&s->count, 1);
	if (ns > s->max)
		s->max = ns;
}

static void set_caller(struct side *s, u32 tgid)
{
	counted(OBSERVED);
	s->tgid = tgid;
	s->cgroup = bpf_get_current_cgroup_id();
	bpf_get_current_comm(s->comm, TASK_COMM_LEN);
}

static int begins(struct sock *sk, u32 side)
{
	u64 thread = bpf_get_current_pid_tgid(), now = bpf_ktime_get_ns();
	struct call c = { .since = now, .side = side };
	struct end *e;

	if (is_stopped() || (PID && thread >> 32 != PID))
		return 0;
	e = end_of(sk, &c.key);
	if (!e)
		e = new_end(sk, &c.key, now);
	if (e)
		set_caller(&e->side[side & 1], thread >> 32);
	else
		c.key.sk = 0; /* its end is to be known as one of nobody */
	if (calls.update(&thread, &c))
		counted(OVERFLOW);
	return 0;
}

int send_begins(struct pt_regs *ctx, struct sock *sk)
{
	return begins(sk, TX);
}

int receive_begins(struct pt_regs *ctx, struct sock *sk)
{
	return begins(sk, RX);
}

/* What a thread did in its call since the last turn, put where it belongs. */
static struct end *turn(struct call *c, u64 now)
{
	struct end *e = ends.lookup(&c->key);
	struct side *s;

	if (!e)
		return NULL;
	s = &e->side[c->side & 1];
	add(c->asleep ? &s->asleep : &s->work, now - c->since);
	c->since = now;
	return e;
}

static int sleeps(u32 asleep)
{
	u64 thread = bpf_get_current_pid_tgid(), now = bpf_ktime_get_ns();
	struct call *c = calls.lookup(&thread);
	struct end *e;

	if (is_stopped() || !c)
		return 0;
	e = turn(c, now);
	c->asleep = asleep;
	if (e)
		sight(e, c->key.sk, now);
	return 0;
}

int sleep_begins(struct pt_regs *ctx)
{
	return sleeps(1);
}

int sleep_ends(struct pt_regs *ctx)
{
	return sleeps(0);
}

int call_ends(struct pt_regs *ctx)
{
	u64 thread = bpf_get_current_pid_tgid(), now = bpf_ktime_get_ns();
	struct call *found = calls.lookup(&thread), c;
	int bytes = PT_REGS_RC(ctx);
	struct end *e;

	if (is_stopped() || (PID && thread >> 32 != PID))
		return 0;
	if (!found) { /* began before the session */
		counted(UNPAIRED);
		return 0;
	}
	c = *found;
	calls.delete(&thread);
	e = turn(&c, now);
	if (!e)
		return 0;
	if (bytes > 0) {
		lock_xadd(&e->side[c.side & 1].bytes, bytes);
		lock_xadd(&e->side[c.side & 1].messages, 1);
	}
	sight(e, c.key.sk, now);
	return 0;
}

/* splice(2) takes bytes out past tcp_recvmsg(): of these nothing is counted, so that the sum is
 * unknown. */
int splice_begins(struct pt_regs *ctx, struct socket *sock)
{
	struct end_key k = {};
	struct end *e = end_of(sock->sk, &k);

	if (e && !is_stopped())
		e->side[RX].unseen = 1;
	return 0;
}

/* A segment may end a full window without a call of the program. */
int segment_comes(struct pt_regs *ctx, struct sock *sk)
{
	struct end_key k = {};
	struct end *e = end_of(sk, &k);

	if (!e || is_stopped())
		return 0;
	counted(OBSERVED);
	sight(e, k.sk, bpf_ktime_get_ns());
	return 0;
}

/* trace_tcp_retransmit_skb(sk, skb) */
int retransmitted(struct bpf_raw_tracepoint_args *ctx)
{
	struct end_key k = {};
	struct end *e = end_of((struct sock *)ctx->args[0], &k);

	if (!e || is_stopped())
		return 0;
	counted(OBSERVED);
	lock_xadd(&e->retransmits, 1);
	return 0;
}

static void over(struct sock *sk, u64 now)
{
	struct end_key k = {};
	struct end *e = end_of(sk, &k);

	births.delete(&k.sk);
	if (!e)
		return;
	counted(OBSERVED);
	sight(e, k.sk, now);
	e->seen = now;
	e->closed = 1;
	live.delete(&k.sk);
}

/* trace_inet_sock_set_state(sk, from, to), also of what is not TCP: no such address is looked up
 * later */
int state_set(struct bpf_raw_tracepoint_args *ctx)
{
	struct sock *sk = (struct sock *)ctx->args[0];
	int from = ctx->args[1], to = ctx->args[2];
	u64 now = bpf_ktime_get_ns(), key = (u64)sk;

	if (is_stopped())
		return 0;
	if (to == TCP_CLOSE)
		over(sk, now);
	else if (to == TCP_SYN_SENT || from == TCP_SYN_RECV)
		births.update(&key, &now);
	return 0;
}
