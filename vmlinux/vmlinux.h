/* SPDX-License-Identifier: GPL-2.0-only */
/* Written by vmlinux/make from types.list; do not edit. */
#ifndef VMLINUX_H
#define VMLINUX_H
#define __VMLINUX_H__	/* <bpf/bpf_tracing.h>: registers by the kernel's names */

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;

enum { false, true };

/* what the prototypes of BPF helpers ask for, from <linux/bpf.h> */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_STACK_TRACE = 7,
	BPF_MAP_TYPE_CGROUP_ARRAY = 8,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_QUEUE = 22,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum { BPF_ANY, BPF_NOEXIST, BPF_EXIST };
enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2 };
enum { BPF_RB_AVAIL_DATA, BPF_RB_RING_SIZE };
enum { BPF_F_USER_STACK = 1 << 8, BPF_F_FAST_STACK_CMP = 1 << 9, BPF_F_REUSE_STACKID = 1 << 10 };

struct bpf_raw_tracepoint_args {
	__u64 args[0];
};

#pragma clang attribute push (__attribute__((preserve_access_index)), apply_to = record)

struct task_struct {
	__u32 flags;
	__u32 frozen : 1;
	__s32 pid;
	__s32 tgid;
	struct files_struct *files;
	struct {
		__u64 sum_exec_runtime;
	} se;
	__u64 start_time;
	struct {
		__u64 run_delay;
		__u64 last_queued;
	} sched_info;
	struct css_set *cgroups;
	void *stack;
	struct signal_struct *signal;
	struct {
		__u32 status;
	} thread_info;
};

struct signal_struct {
	struct {
		__s32 counter;
	} live;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct kernfs_node {
	__u64 id;
};

struct files_struct {
	struct fdtable *fdt;
};

struct fdtable {
	__u32 max_fds;
	struct file **fd;
};

struct file {
	struct inode *f_inode;
	__u32 f_flags;
	__u32 f_mode;
	void *private_data;
};

struct inode {
	__u16 i_mode;
	__u64 i_ino;
	struct pipe_inode_info *i_pipe;
};

struct socket {
	struct sock *sk;
	struct file *file;
	__u64 flags;
	__u32 state;
};

struct socket_alloc {
	struct {
		__u64 i_ino;
	} vfs_inode;
};

struct pt_regs {
	__u64 di;
	__u64 si;
	__u64 dx;
	__u64 bx;
	__u64 r10;
	__u64 orig_ax;
	__u64 ax;
	__u64 cx;
	__u64 r8;
	__u64 bp;
	__u64 sp;
	__u64 ip;
};

struct request_sock {
	struct request_sock *dl_next;
	struct sock *sk;
};

struct sock_common {
	__u16 skc_family;
	__u8 skc_state;
	__u16 skc_num;
	__u16 skc_dport;
	__u32 skc_daddr;
	__u32 skc_rcv_saddr;
	struct {
		union {
			__u8 u6_addr8[16];
		} in6_u;
	} skc_v6_daddr;
	struct {
		union {
			__u8 u6_addr8[16];
		} in6_u;
	} skc_v6_rcv_saddr;
	struct {
		struct net *net;
	} skc_net;
};

struct sock {
	struct sock_common __sk_common;
	__u16 sk_protocol;
	__u16 sk_type;
	struct socket *sk_socket;
	struct {
		struct {
			__s32 counter;
		} refs;
	} sk_wmem_alloc;
	__s32 sk_wmem_queued;
	__s32 sk_sndbuf;
	__u32 sk_pacing_status;
	struct {
		__s32 owned;
	} sk_lock;
	struct {
		__u32 qlen;
	} sk_receive_queue;
	__u32 sk_max_ack_backlog;
	struct {
		struct sk_buff *next;
	} sk_write_queue;
	__u8 sk_shutdown;
	__u8 sk_userlocks;
	void *sk_user_data;
	__u64 sk_tsq_flags;
	__u32 sk_ack_backlog;
	struct {
		__s32 counter;
	} sk_drops;
	__u64 sk_pacing_rate;
	__u64 sk_max_pacing_rate;
};

struct net {
	struct {
		__u32 inum;
	} ns;
};

struct tcp_sock {
	__u32 srtt_us;
	__u32 write_seq;
	__u32 snd_nxt;
	__u32 snd_una;
	__u32 snd_wnd;
	__u32 snd_sml;
	__u32 snd_cwnd;
	__u32 mss_cache;
	__u32 packets_out;
	__u32 sacked_out;
	__u32 lost_out;
	__u32 retrans_out;
	__u8 nonagle : 4;
	__u8 chrono_type;
	__u32 chrono_start;
	__u8 is_cwnd_limited : 1;
	__u64 tcp_wstamp_ns;
	__u32 rcv_tstamp;
	__u32 rcv_nxt;
	__u32 rcv_wup;
	__u32 rcv_wnd;
	__u32 copied_seq;
	__u64 bytes_acked;
	__u64 bytes_received;
	__u32 tlp_high_seq;
	__u32 dsack_dups;
	__u32 lost;
	__u32 snd_ssthresh;
	struct {
		struct rb_node *rb_node;
	} out_of_order_queue;
	__u32 data_segs_out;
	__u32 delivered;
	__u32 rcv_ooopack;
	__u32 rate_delivered;
	__u32 rate_interval_us;
	__u8 rate_app_limited : 1;
};

struct inet_connection_sock {
	struct {
		struct request_sock *rskq_accept_head;
	} icsk_accept_queue;
	struct {
		__u8 pending;
	} icsk_ack;
	__u8 icsk_pending;
	__u8 icsk_retransmits;
	struct tcp_ulp_ops *icsk_ulp_ops;
	struct tcp_congestion_ops *icsk_ca_ops;
};

struct tcp_ulp_ops {
	char name[16];
};

struct tcp_congestion_ops {
	char name[16];
};

struct udp_sock {
	__s32 pending;
	struct {
		__u32 qlen;
	} reader_queue;
};

struct unix_sock {
	struct sock *peer;
	struct unix_address *addr;
};

struct sk_buff {
	struct sock *sk;
	__u32 len;
	void *data;
	void *head;
	__u16 transport_header;
	__u32 truesize;
	__s64 tstamp;
};

struct tcphdr {
	__u16 doff : 4;
	__u32 seq;
	__u32 ack_seq;
};

struct pipe_inode_info {
	__u32 head;
	__u32 tail;
	__u32 readers;
	__u32 writers;
	__u32 ring_size;
};

struct timer_list {
	void *function;
};

struct msghdr {
	void *msg_control;
	__u32 msg_flags;
	__u64 msg_controllen;
};

struct timespec64 {
	__s64 tv_sec;
};

struct kiocb {
	struct file *ki_filp;
};

#pragma clang attribute pop

#endif
