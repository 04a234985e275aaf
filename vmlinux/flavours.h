/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fields that some kernels have and some have not, as CO-RE flavours: the part of a name from ___
 * on is ignored when the access is relocated, and bpf_core_field_exists() asks first. By hand, each
 * with the change that made it.
 */
#ifndef FLAVOURS_H
#define FLAVOURS_H

#pragma clang attribute push (__attribute__((preserve_access_index)), apply_to = record)

/* until 6.18 the timers stood in the connection socket; then "tcp: move icsk_retransmit_timer to
 * sock" */
struct inet_connection_sock___timers {
	struct {
		void *function;
	} icsk_retransmit_timer, icsk_delack_timer;
};

struct sock___timer {
	struct {
		void *function;
	} tcp_retransmit_timer;
};

/* until 6.16 the deadline of the pending event stood beside the timer, which may fire early: "tcp:
 * remove icsk_timeout" */
struct inet_connection_sock___timeout {
	unsigned long icsk_timeout;
};

/* What a port belongs to. -1: connect() chose it, and nobody else may bind() to it
 * (__inet_hash_connect()). */
struct inet_bind_bucket___chosen {
	signed char fastreuse;
};

struct inet_connection_sock___bound {
	struct inet_bind_bucket___chosen *icsk_bind_hash;
};

/* SMC was offered, and taken, in the handshake (CONFIG_SMC) */
struct tcp_sock___smc {
	unsigned char syn_smc : 1;
};

/* groups of tasks, and what of a CPU they may use (CONFIG_CGROUP_SCHED, CONFIG_CFS_BANDWIDTH) */
struct task_struct___group {
	struct task_group *sched_task_group;
};

struct signal_struct___ran {
	__u64 sum_sched_runtime; /* of the threads that are gone: they have no sighand any more */
};

struct task_struct___gone {
	void *sighand;
};

struct task_group___quota {
	struct task_group *parent;
	struct {
		int nr_throttled;
	} cfs_bandwidth;
};

/* an MPTCP socket, where the kernel has them: its first subflow is a TCP socket */
struct mptcp_sock___first {
	struct sock *first;
};

/* what an epoll's descriptor has for private data; the type stands in no header (fs/eventpoll.c) */
struct eventpoll___file {
	struct file *file;
};

/* arm64's registers at a system call; vmlinux.h has those of the machine that it was made on */
struct pt_regs___call {
	unsigned long long regs[31];
	unsigned long long orig_x0;
	int syscallno;
};

/* what a kprobe gets there */
struct user_pt_regs {
	unsigned long long regs[31], sp, pc, pstate;
};

/* arm64 says here what x86 says in thread_info.status: that a task is a 32-bit program's */
struct task_struct___flags {
	struct {
		unsigned long flags;
	} thread_info;
};

/* 5.14 renamed the field: "sched: Change task_struct::state" */
struct task_struct___state {
	unsigned int __state;
};

struct task_struct___old_state {
	long state;
};

/* from a process number to its task: pid_namespace.idr is an xarray of struct pid; arrays of
 * structs are none of vmlinux/make's */
struct upid___numbered {
	int nr;
	void *ns;
};

struct pid___numbered {
	unsigned int level;
	struct {
		void *first;
	} tasks[4];
	struct upid___numbered numbers[1];
};

struct pid_namespace___numbered {
	struct {
		struct {
			void *xa_head;
		} idr_rt;
	} idr;
};

struct xa_node___numbered {
	unsigned char shift;
	void *slots[64];
};

struct task_struct___numbered {
	void *thread_pid;
	void *group_leader;
	void *real_parent;
	struct {
		void *next;
	} pid_links[4];
	char comm[16];
};

struct tcp_sock___least {
	struct {
		struct {
			unsigned int v;
		} s[3];
	} rtt_min;
};

struct sock___err {
	int sk_err;
};

struct file___mode {
	unsigned int f_mode;
};

/* until 6.13, which counts from 0: "fs: port files to file_ref" */
struct file___count {
	struct {
		long counter;
	} f_count;
};

struct file___ref {
	struct {
		struct {
			long counter;
		} refcnt;
	} f_ref;
};

/* bpf_get_func_arg() is of 5.17 */
enum bpf_func_id___arg {
	BPF_FUNC_get_func_arg___arg = 183,
};

/* 5.17 on: why a packet was dropped */
enum skb_drop_reason {
	SKB_DROP_REASON_UDP_CSUM = 1,
	SKB_DROP_REASON_SOCKET_RCVBUFF,
	SKB_DROP_REASON_QDISC_DROP,
	SKB_DROP_REASON_PROTO_MEM,
	SKB_DROP_REASON_QDISC_OVERLIMIT,
	SKB_DROP_REASON_QDISC_CONGESTED,
	SKB_DROP_REASON_QDISC_BURST_DROP,
	SKB_DROP_REASON_CAKE_FLOOD,
	SKB_DROP_REASON_FQ_BAND_LIMIT,
	SKB_DROP_REASON_FQ_HORIZON_LIMIT,
	SKB_DROP_REASON_FQ_FLOW_LIMIT,
};

enum skb_drop_reason_subsys {
	SKB_DROP_REASON_SUBSYS_QDISC = 1,
};

#pragma clang attribute pop

#endif
