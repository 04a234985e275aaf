/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a hook reads kernel memory. The hooks are written once; an object chooses by a define.
 *
 *	(none)		a read-only cast: plain loads, faults read as 0 (bpf_rdonly_cast, 6.2 on)
 *	READ_PROBED	bpf_probe_read_kernel: every kernel, dearer
 */
#ifndef IPCSTALL_COMPAT_BPF_H
#define IPCSTALL_COMPAT_BPF_H

#include "vmlinux.h"
#include "flavours.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_endian.h>

#ifdef READ_PROBED
#define CAST(type, p)	   ((struct type *)(p))
#define GET(p, ...)	   BPF_CORE_READ(p, __VA_ARGS__)
#define GET_BITS(p, field) BPF_CORE_READ_BITFIELD_PROBED(p, field)

static __always_inline __u64 load_word(__u64 addr)
{
	__u64 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), (void *)addr);
	return v;
}
#else
extern void *bpf_rdonly_cast(const void *obj, __u32 btf_id) __ksym __attribute__((const));

/*
 * A function for each type, not the macro alone: clang takes a type's number for a new value
 * wherever it is written, and so does not merge two casts of one address. On the path of every
 * message each cast costs five instructions, and the registers that a call clobbers. CAST_ANEW: for
 * types off that path, whose cast would otherwise stay on the stack until the next one.
 */
#define CAST(type, p) cast_##type((const void *)(p))
#define CAST_KEPT(type) \
	static __always_inline struct type *cast_##type(const void *p) \
	{ \
		return bpf_rdonly_cast(p, bpf_core_type_id_kernel(struct type)); \
	}
#define CAST_ANEW(type) \
	static __always_inline struct type *cast_##type(const void *p) \
	{ \
		asm volatile("" : "+r"(p)); \
		return bpf_rdonly_cast(p, bpf_core_type_id_kernel(struct type)); \
	}
CAST_KEPT(inet_connection_sock)
CAST_KEPT(inet_connection_sock___timeout)
CAST_KEPT(sk_buff)
CAST_KEPT(sock)
CAST_KEPT(sock___err)
CAST_KEPT(tcp_sock)
CAST_KEPT(tcp_sock___least)
CAST_ANEW(tcp_sock___smc)
CAST_KEPT(tcphdr)
CAST_KEPT(udp_sock)
CAST_ANEW(fdtable)
CAST_ANEW(file)
CAST_ANEW(file___count)
CAST_ANEW(file___mode)
CAST_ANEW(file___ref)
CAST_ANEW(inode)
CAST_ANEW(net)
CAST_ANEW(pid___numbered)
CAST_ANEW(pipe_inode_info)
CAST_ANEW(pt_regs)
CAST_ANEW(signal_struct)
CAST_ANEW(signal_struct___ran)
CAST_ANEW(socket)
CAST_ANEW(socket_alloc)
CAST_ANEW(task_group___quota)
CAST_ANEW(task_struct)
CAST_ANEW(task_struct___flags)
CAST_ANEW(task_struct___gone)
CAST_ANEW(timespec64)
CAST_ANEW(unix_sock)
CAST_ANEW(upid___numbered)
CAST_ANEW(xa_node___numbered)

#define GET(p, ...)	   ___arrow(p, ##__VA_ARGS__)
#define GET_BITS(p, field) BPF_CORE_READ_BITFIELD(p, field)

/* Any kernel struct that begins with a plain 64-bit number will do: the verifier takes the loaded
 * value for a number. */
static __always_inline __u64 load_word(__u64 addr)
{
	return CAST(timespec64, addr)->tv_sec;
}
#endif

/* A pointer as a number: the verifier takes the difference of two pointers for one
 * (adjust_reg_min_max_vals()), here of this pointer and a null pointer. */
#define NUMBER(p) ((__u64)((const char *)(p) - (const char *)CAST(sock, 0)))

/* a field that is a pointer, as a number: an address that is hashed must not be a pointer to the
 * verifier */
#define ADDRESS(p, type, field) load_word((__u64)(p) + bpf_core_field_offset(struct type, field))

#define AF_UNIX	       1
#define AF_INET	       2
#define AF_INET6       10
#define IPPROTO_TCP    6
#define TCP_SYN_SENT   2
#define TCP_LISTEN     10 /* a Unix socket's state too */
#define IPPROTO_UDP    17
#define IPPROTO_MPTCP  262
#define SOCK_STREAM    1
#define SOCK_DGRAM     2
#define SOCK_SEQPACKET 5
#define S_IFMT	       0170000
#define S_IFIFO	       0010000
#define S_IFCHR	       0020000
#define S_IFSOCK       0140000

#ifdef READ_PROBED
#define CURRENT() ((struct task_struct *)bpf_get_current_task())
#else
#define CURRENT() ((struct task_struct *)bpf_get_current_task_btf())
#endif

/* a 32-bit program's call: see syscall_args.bpf.h */
static __always_inline bool is_compat(struct task_struct *task)
{
#if defined(__TARGET_ARCH_arm64)
#define TIF_32BIT 22
	return GET(CAST(task_struct___flags, task), thread_info.flags) & 1ULL << TIF_32BIT;
#else
#define TS_COMPAT 2
	return bpf_core_field_exists(task->thread_info.status) &&
	       GET(task, thread_info.status) & TS_COMPAT;
#endif
}

/* An argument of a traced function as a number: what stands in the context is a pointer to the
 * verifier, and cannot be hashed. */
#ifdef READ_PROBED
static __always_inline __u64 func_arg(void *ctx, __u32 n)
{
	__u64 v = 0;

	if (bpf_core_enum_value_exists(enum bpf_func_id___arg,
				       BPF_FUNC_get_func_arg___arg)) /* 5.17 on, and quicker */
		bpf_get_func_arg(ctx, n, &v);
	else
		bpf_probe_read_kernel(&v, sizeof(v), (__u64 *)ctx + n);
	return v;
}
#else
static __always_inline __u64 func_arg(void *ctx, __u32 n)
{
	return NUMBER(((const char **)ctx)[n]);
}
#endif

/* the state that follows from a word's facets, by direction: see step.h; filled before load */
#define STATE_TABLE 128
const volatile __u8 state_of[2][STATE_TABLE];
#define WORD_STATE(w, dir) state_of[dir][word_facets(w)]

/* the histogram's slots for up to 255 units: most episodes are no longer */
const volatile __u8 slot_of[256];
#define HIST_SLOT(ns) \
	({ \
		__u64 unit_ = (ns) >> HIST_BASE; \
		BOUND(unit_, 255); \
		(ns) >> HIST_BASE < SLOTS_TABLED ? slot_of[unit_] : hist_slot(ns); \
	})

/* A global function is verified once, not at every call. */
#define SUBPROG __noinline

/* on the path of every message a call costs more than it saves */
#define QUICK static __always_inline

#define atomic_add(p, v) ((void)__sync_fetch_and_add((p), (v)))

/* the number that a struct pid has in its namespace of that level */
static __always_inline __u64 upid_at(__u64 pid, __u32 level)
{
	return pid + bpf_core_field_offset(struct pid___numbered, numbers) +
	       (level & 31) * bpf_core_type_size(struct upid___numbered);
}

#endif
