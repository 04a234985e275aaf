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
