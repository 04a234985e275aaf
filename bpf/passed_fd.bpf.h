/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Descriptors that a process passes to another in a message (SCM_RIGHTS). Until then the descriptor
 * was the giver's: whoever gets it is not to blame for data that had lain unread before, or
 * requests that had no answer.
 */
#ifndef IPCSTALL_PASSED_FD_BPF_H
#define IPCSTALL_PASSED_FD_BPF_H

#include "fd_holders.bpf.h"

#define SOL_SOCKET 1
#define SCM_RIGHTS 1

#define PASSED_AT_ONCE 16 /* so many descriptors of a message are read */
#define CONTROLS       3  /* so many parts of it: credentials may come first */

/* the message in the caller's memory, or as the kernel has copied it */
enum memory { OF_CALLER, OF_KERNEL };

struct control_part { /* struct cmsghdr, whose length counts itself */
	__u64 length;
	__s32 level, type;
};

struct control {
	__u64 at, length;
};

static __always_inline bool memory_read(void *to, __u32 size, __u64 at, enum memory of)
{
	return of == OF_CALLER ? !bpf_probe_read_user(to, size, (void *)at)
			       : !bpf_probe_read_kernel(to, size, (void *)at);
}

static __always_inline void note_giver(struct call_stats *b, ns_t now)
{
	b->giver = current_tgid(bpf_get_current_pid_tgid());
	process_name(b->giver_comm);
	b->given = now;
}

static __always_inline ns_t thought_until(const struct endpoint *ep, ns_t now)
{
	bool read = ep->rx_calls.own.bytes || ep->rx_calls.crowd.bytes;
	ns_t took = read ? ep->asking.took : 0;

	return ep->tx_calls.replies.ns + (took && now > took ? now - took : 0);
}

SUBPROG int descriptor_passes(__u32 fd)
{
	__u64 file = file_of(CURRENT(), fd);
	struct target to = {};
	struct endpoint *ep;
	ns_t now;

	if (!file || !file_target(&to, file))
		return 0;
	ep = target_known(&to);
	if (!ep)
		return 0;
	now = bpf_ktime_get_ns();
	if (ends_of(ep, file) & FMODE_WRITE) {
		ep->tx_calls.giver_thought = thought_until(ep, now);
		note_giver(&ep->tx_calls, now);
	}
	if (ends_of(ep, file) & FMODE_READ) {
		ep->rx_calls.giver_unread = unread_until(ep, now);
		note_giver(&ep->rx_calls, now);
	}
	return 1;
}

SUBPROG int rights_pass(__u64 at, __u64 length, enum memory of)
{
	__u32 fd;

	for (__u32 i = 0; i < PASSED_AT_ONCE && (i + 1) * sizeof(fd) <= length; i++)
		if (memory_read(&fd, sizeof(fd), at + i * sizeof(fd), of))
			descriptor_passes(fd);
	return 1;
}

/* parts stand at multiples of eight */
static __always_inline int control_passes(struct control c, enum memory of)
{
	struct control_part part;

	for (int i = 0; i < CONTROLS && c.length >= sizeof(part); i++) {
		if (!memory_read(&part, sizeof(part), c.at, of) || part.length < sizeof(part) ||
		    part.length > c.length)
			return 0;
		if (part.level == SOL_SOCKET && part.type == SCM_RIGHTS)
			return rights_pass(c.at + sizeof(part), part.length - sizeof(part), of);
		part.length = (part.length + 7) & ~7ULL;
		c.at += part.length;
		c.length -= part.length < c.length ? part.length : c.length;
	}
	return 0;
}

#define MSG_CONTROL 32 /* of struct user_msghdr: where it is, and after that how long */

SUBPROG int user_message_passes(__u64 message)
{
	struct control c;

	if (!memory_read(&c, sizeof(c), message + MSG_CONTROL, OF_CALLER) || !c.length)
		return 0;
	return control_passes(c, OF_CALLER);
}

#define MESSAGE_SIZE	 64 /* of struct mmsghdr, which begins with a struct user_msghdr */
#define MESSAGES_AT_ONCE 4

/* as sendmmsg() is given them */
static __always_inline int user_messages_pass(__u64 at, __u32 n)
{
	for (__u32 i = 0; i < MESSAGES_AT_ONCE && i < n; i++)
		user_message_passes(at + i * MESSAGE_SIZE);
	return 0;
}

SUBPROG int message_passes(__u64 message)
{
	struct control c = { ADDRESS(message, msghdr, msg_control),
			     ADDRESS(message, msghdr, msg_controllen) };

	return current_wanted() ? control_passes(c, OF_KERNEL) : 0;
}

#endif
