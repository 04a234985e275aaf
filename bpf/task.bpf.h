/* SPDX-License-Identifier: GPL-2.0-only */
/* What a sleeping task sleeps in: its system call's number and first argument, from the registers
 * it entered the kernel with. */
#ifndef IPCSTALL_TASK_BPF_H
#define IPCSTALL_TASK_BPF_H

#include "refused.bpf.h"
#include "syscall_args.bpf.h"

#define TASK_INTERRUPTIBLE 1

/* the socket or pipe that a call leads to */
struct target {
	struct sock *sk;
	struct pipe_inode_info *pipe;
	__u64 node; /* the address of its inode */
	enum dir dir;
};

/* Of the current task, whose table cannot go away meanwhile, or of another task under RCU: there
 * the caller looks twice. */
static __always_inline __u64 file_of(struct task_struct *task, __u32 fd)
{
	struct fdtable *table = CAST(fdtable, GET(task, files, fdt));

	if (fd >= GET(table, max_fds))
		return 0;
	return load_word((__u64)GET(table, fd) + fd * sizeof(__u64));
}

/* the key of its endpoint */
static __always_inline __u64 target_key(const struct target *to)
{
	return to->sk ? (__u64)to->sk : (__u64)to->pipe;
}

static __always_inline bool target_is(struct target *to, struct sock *sk,
				      struct pipe_inode_info *pipe, __u64 node)
{
	to->sk = sk;
	to->pipe = pipe;
	to->node = node;
	return sk || pipe;
}

/* the inode's kind is tested first, since most files are neither */
static __always_inline bool file_leads(struct target *to, __u64 file, bool sockets)
{
	__u64 at = ADDRESS(file, file, f_inode);
	struct inode *inode = CAST(inode, at);
	__u32 kind = GET(inode, i_mode) & S_IFMT;

	if (kind == S_IFIFO)
		return target_is(to, 0, (struct pipe_inode_info *)ADDRESS(at, inode, i_pipe), at);
	if (sockets && kind == S_IFSOCK)
		return target_is(
			to, (struct sock *)ADDRESS(ADDRESS(file, file, private_data), socket, sk),
			0, at);
	return false;
}

static __always_inline bool file_target(struct target *to, __u64 file)
{
	return file_leads(to, file, true);
}

static __always_inline bool splice_reads(struct target *to, struct task_struct *task, __u64 first)
{
	to->dir = DIR_RX;
	return file_target(to, file_of(task, first)) && to->pipe;
}

static __always_inline bool splice_writes(struct target *to, struct task_struct *task, __u64 third)
{
	to->dir = DIR_TX;
	return file_target(to, file_of(task, third));
}

/* splice() has two ends, and begins with the pipe it reads */
static __always_inline bool splice_target(struct target *to, struct task_struct *task, __u64 first,
					  __u64 third)
{
	return splice_reads(to, task, first) || splice_writes(to, task, third);
}

/*
 * Where splice() sleeps: in the pipe that it reads while that is empty, else in the file that it
 * writes to. If it writes to a pipe that has room, it waits for something that no ledger has: a
 * socket's receive queue, a device.
 */
static __always_inline bool splice_sleeps_in(struct target *to, struct task_struct *task,
					     __u64 first, __u64 third)
{
	if (splice_reads(to, task, first) && !pipe_queue(to->pipe))
		return true;
	if (splice_writes(to, task, third))
		return !to->pipe || pipe_full(to->pipe);
	return splice_reads(to, task, first);
}

#define FMODE_WRITE 2

/* vmsplice() goes by its descriptor: at a pipe's read end it reads */
static __always_inline enum dir call_dir(__u32 bits, __u64 file)
{
	if (bits & SYS_EITHER && file && !(GET(CAST(file, file), f_mode) & FMODE_WRITE))
		return DIR_RX;
	return syscall_dir(bits);
}

static __always_inline bool bits_target(struct target *to, struct task_struct *task, __u32 bits,
					__u64 first, __u64 third)
{
	__u64 file;

	if (!syscall_moves(bits))
		return false;
	if (syscall_splices(bits))
		return splice_sleeps_in(to, task, first, third);
	file = file_of(task, first);
	to->dir = call_dir(bits, file);
	return file_target(to, file);
}

/* a call that may be on a pipe */
static __always_inline bool pipe_target(struct target *to, struct task_struct *task, __u32 bits,
					__u64 first, __u64 third)
{
	__u64 file;

	if (syscall_splices(bits))
		return splice_target(to, task, first, third) && to->pipe;
	file = file_of(task, first);
	to->dir = call_dir(bits, file);
	return file_leads(to, file, false);
}

#ifdef READ_PROBED
static __always_inline struct pt_regs *current_regs(__u64 task)
{
	return (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
}
#else
__u64 regs_at;

/*
 * The registers with which the current task entered the kernel are at the same place in every
 * task's stack: it is looked up once, not at each switch (docs/KERNEL_NOTES.md, "What a call
 * costs").
 */
static __always_inline struct pt_regs *current_regs(__u64 task)
{
	__u64 stack = ADDRESS(task, task_struct, stack);

	if (!regs_at) {
		__u64 regs = NUMBER(bpf_task_pt_regs(bpf_get_current_task_btf()));

		OPAQUE(regs); /* else the compiler adds to the pointer first */
		regs_at = regs - stack;
	}
	return CAST(pt_regs, stack + regs_at);
}
#endif

/* the endpoint that a call leads to, made if need be */
static __always_inline struct endpoint *target_endpoint(const struct target *to, ns_t now)
{
	if (to->pipe)
		return pipe_endpoint(to->pipe, to->node, now);
	return sock_endpoint(to->sk, true, now);
}

/* The endpoint at this address may be an older one, whose end nobody saw. */
static __always_inline struct endpoint *target_known(const struct target *to)
{
	struct endpoint *ep = endpoint_known(target_key(to));

	if (!ep || ep->closed)
		return 0;
	if (to->pipe)
		return ep->id.inode == inode_number(to->node) ? ep : 0;
	return sock_is(ep, CAST(sock, to->sk)) ? ep : 0;
}

static __always_inline __u32 task_state(struct task_struct *task0)
{
	struct task_struct___state *t = (void *)task0;

	if (bpf_core_field_exists(t->__state))
		return BPF_CORE_READ(t, __state);
	return BPF_CORE_READ((struct task_struct___old_state *)task0, state);
}

/* of the task that leaves the CPU; `ctx`: of sched_switch */
static __always_inline __u32 prev_state(const unsigned long long *ctx)
{
	return opt.switch_state ? (__u32)ctx[3] : task_state((struct task_struct *)ctx[1]);
}

/*
 * A task that is frozen with its cgroup sleeps as in a call, but after the call
 * (do_freezer_trap()), which its registers still name. The flag is set just before that sleep
 * (cgroup_enter_frozen()).
 */
static __always_inline bool is_frozen(struct task_struct *task0)
{
	struct task_struct *task = CAST(task_struct, task0);

	return GET_BITS(task, frozen);
}

#define PF_IO_WORKER 0x00000010 /* from 5.12 on; before, they are kernel threads */
#define PF_KTHREAD   0x00200000

static __always_inline __u32 task_flags(struct task_struct *task0)
{
	return GET(CAST(task_struct, task0), flags);
}

/* io_uring's workers are made by create_io_thread(), with a copy of their maker's registers
 * (copy_thread()): these name the maker's call. */
static __always_inline bool calls_nothing(struct task_struct *task)
{
	return task_flags(task) & (PF_KTHREAD | PF_IO_WORKER);
}

/* a task's pid and tgid, packed as by bpf_get_current_pid_tgid(); the two fields are adjacent */
static __always_inline __u64 pid_tgid_of(struct task_struct *task0)
{
	struct task_struct *task = CAST(task_struct, task0);
	__u32 pid_at = bpf_core_field_offset(struct task_struct, pid);

	if (bpf_core_field_offset(struct task_struct, tgid) == pid_at + sizeof(__u32))
		return load_word((__u64)task0 + pid_at);
	return (__u64)GET(task, tgid) << 32 | (__u32)GET(task, pid);
}

/* the same for the current task; where a load is a helper call too, by the helper for this */
static __always_inline __u64 current_numbers(struct task_struct *task)
{
#ifdef READ_PROBED
	return bpf_get_current_pid_tgid();
#else
	return pid_tgid_of(task);
#endif
}

#define O_NONBLOCK   04000
#define MSG_DONTWAIT 0x40

/* May this send call return before it has taken all, so that its writer waits elsewhere? One that
 * blocks is cut short only by a signal or its end. */
static __always_inline bool gives_up(const struct syscall_args *r)
{
	__u64 file = file_of(CURRENT(), r->first);
	__u32 flags = r->bits & SYS_LENGTH || !(r->bits & SYS_ONE) ? r->fourth : r->third;

	if (r->bits & SYS_SOCKETS && flags & MSG_DONTWAIT)
		return true;
	return file && GET(CAST(file, file), f_flags) & O_NONBLOCK;
}

struct chunk { /* struct iovec */
	__u64 at, length;
};

#define CHUNKS 16 /* so many are added up */

/* How much the call was given in chunks. All ones: unknown, or in more chunks than are added up. */
static __always_inline __u64 chunks_length(__u64 at, __u64 n)
{
	struct chunk c = {};
	__u64 sum = 0;

	if (n > CHUNKS)
		return ~0ULL;
	for (__u64 i = 0; i < CHUNKS && i < n; i++) {
		if (bpf_probe_read_user(&c, sizeof(c), (void *)(at + i * sizeof(c))))
			return ~0ULL;
		sum += c.length;
	}
	return sum;
}

#define MSG_IOV 16 /* of struct user_msghdr: the chunks, and after them how many */

static __always_inline __u64 given_length(const struct syscall_args *r)
{
	struct chunk in_header = {};

	if (r->bits & SYS_LENGTH)
		return r->third;
	if (r->bits & SYS_COUNT)
		return r->fourth;
	if (!(r->bits & (SYS_ONE | SYS_EITHER)) || is_compat(CURRENT()))
		return ~0ULL;
	if (!(r->bits & SYS_SOCKETS))
		return chunks_length(r->second, r->third);
	if (bpf_probe_read_user(&in_header, sizeof(in_header), (void *)(r->second + MSG_IOV)))
		return ~0ULL;
	return chunks_length(in_header.at, in_header.length);
}

/*
 * The send call that ends has taken `ret` bytes, or none: did it leave some to its writer, which
 * waits elsewhere? A call that blocks leaves some only at a deadline of its own (SO_SNDTIMEO) or at
 * a signal. For io_uring's calls the registers say nothing.
 */
SUBPROG int is_left_undone(const struct endpoint *ep, __s64 ret)
{
	struct syscall_args r;
	__u64 given;

	if (!ep)
		return 0;
	request_of(&r, CURRENT(), current_regs((__u64)CURRENT()));
	if (!(r.bits & SYS_OUT))
		return ret == -EAGAIN || ep->id.proto != PROTO_PIPE;
	if (syscall_splices(r.bits))
		return ret == -EAGAIN;
	if (!gives_up(&r))
		return 0;
	given = ret < 0 ? 0 : given_length(&r);
	return ret == -EAGAIN || (given != ~0ULL && ret < (__s64)given);
}

/* right after a send call: was it refused room? SOCK_NOSPACE stays after a sleep (TCP: until there
 * is room), so it alone says nothing. */
static __always_inline bool refuses(const struct endpoint *ep, long ret)
{
	struct sock *sk = CAST(sock, ep->id.key);

	if (ep->id.proto == PROTO_UDP) /* what fills its buffer is the device */
		return false;
	/* a socket that is not connected yet returns EAGAIN too; and poll() may have set
	 * SOCK_NOSPACE for a caller that does not wait */
	if (ep->id.proto == PROTO_TCP)
		return nospace(sk) && !tcp_room_left(sk) && (ret == -EAGAIN || ret > 0) &&
		       is_left_undone(ep, ret);
	/* splice() returns EAGAIN also if the file that it reads from has nothing */
	if (ret == -EAGAIN && ep->id.proto == PROTO_PIPE && room_left(ep))
		return false;
	if (ret <= 0)
		return ret == -EAGAIN && is_left_undone(ep, ret);
	return no_room_is_left(ep) && is_left_undone(ep, ret);
}

/* the thread keeps the refusal, and may end without another call: see refused_dies() */
static __always_inline void refused_one(struct endpoint *ep)
{
	struct call *c = call_of((__u32)bpf_get_current_pid_tgid(), true);

	if (c && !c->off)
		call_is_on(c, ep, DIR_TX);
}

static __always_inline void refused_after(struct endpoint *ep, long ret, ns_t now)
{
	if (!refuses(ep, ret))
		return;
	refused_begins(ep, now);
	refused_one(ep);
}

/* both ledgers of a pipe, after the call at hand has moved data */
static __always_inline void pipe_look(struct endpoint *ep, struct pipe_inode_info *pipe0, ns_t now)
{
	struct pipe_inode_info *pipe = CAST(pipe_inode_info, pipe0);
	__u32 tail = GET(pipe, tail), len = GET(pipe, head) - tail, taken = tail - ep->tail;
	struct input in = { .at = now, .says = IN_FULL, .full = len > 0 };

	if (ep->flags & EP_LOOKED && (__s32)taken > 0) /* pipe_resize_ring() begins at 0 again */
		atomic_add(&ep->dequeued, taken);
	ep->flags |= EP_LOOKED;
	ep->tail = tail;
	queue_is(ep, len, now);
	apply_rx_slow(ep, &in);
	ep->tx.seen = ep->rx.seen = now;
}

/*
 * The task that leaves a processor is the one that came there last. If it is not, there were
 * switches for which no program was run, and perhaps events of interrupts in between
 * (docs/KERNEL_NOTES.md, "A task that hides").
 */
static __always_inline void switch_joins(__u64 prev, __u64 next)
{
	struct processor *here = processor();

	if (here->task && here->task != prev)
		here->counts[COUNT_BLIND]++;
	here->task = next;
}

#endif
