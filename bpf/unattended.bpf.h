/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does a thread sleep until something comes to a socket? The socket's wait queue leads to all that
 * do: in a call or in poll() themselves, or by an epoll that they sleep in. If there is none, and a
 * request has come, the program is at work on it.
 */
#ifndef IPCSTALL_UNATTENDED_BPF_H
#define IPCSTALL_UNATTENDED_BPF_H

#include "filter.bpf.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct wait_queue_head___waits {
	struct {
		void *next;
	} head;
};

struct wait_queue_entry___waits {
	void *private;
	void *func;
	struct {
		void *next;
	} entry;
};

struct socket_wq___waits {
	struct wait_queue_head___waits wait;
};

struct sock___waits {
	struct socket_wq___waits *sk_wq;
};

struct eppoll_entry___waits {
	void *base;
	struct wait_queue_entry___waits wait;
};

struct epitem___waits {
	void *ep;
};

struct eventpoll___waits {
	struct wait_queue_head___waits wq;
	void *file;
};

#pragma clang attribute pop

#define WAITERS_LOOKED_AT 4

#define WAIT_HEAD(type, field) \
	(bpf_core_field_offset(struct type, \
		field) + bpf_core_field_offset(struct wait_queue_head___waits, head))

/* An epoll's entry in a queue leads to the epoll, which knows its file (is_epoll()). */
static __always_inline __u64 epoll_of(__u64 entry)
{
	__u64 item = ADDRESS(entry - bpf_core_field_offset(struct eppoll_entry___waits, wait),
			     eppoll_entry___waits, base),
	      ep = item ? ADDRESS(item, epitem___waits, ep) : 0,
	      file = ep ? ADDRESS(ep, eventpoll___waits, file) : 0;

	return file && ADDRESS(file, file, private_data) == ep ? ep : 0;
}

/* a thread sleeps until something happens there: in a call, in poll(), in epoll_wait() */
static __always_inline bool is_attended_by(__u64 entry)
{
	__u64 ep = 0, head;

	if (bpf_core_type_exists(struct eppoll_entry___waits))
		ep = epoll_of(entry);
	head = ep + WAIT_HEAD(eventpoll___waits, wq);
	return !ep || load_word(head) != head;
}

/* as far as it is known: of many entries some are not looked at */
SUBPROG int is_unattended(__u64 sk)
{
	__u64 wq = ADDRESS(sk, sock___waits, sk_wq),
	      head = wq + WAIT_HEAD(socket_wq___waits, wait), link;

	if (!wq)
		return 0;
	link = load_word(head);
	for (int i = 0; i < WAITERS_LOOKED_AT && link && link != head; i++) {
		if (is_attended_by(link - bpf_core_field_offset(struct wait_queue_entry___waits,
								entry)))
			return 0;
		link = load_word(link);
	}
	return link == head;
}

#endif
