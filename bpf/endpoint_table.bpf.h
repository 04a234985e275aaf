/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The endpoints: an array, with an index by address. A hash look-up costs over 100 instructions,
 * and each message needs six; a hint finds nearly every endpoint for a fifth of that. An array
 * allocates all its memory at once, so a large session (opt.hashed) uses a hash that grows. A
 * program never uses both, because everything after a look-up would be verified once per map.
 */
#ifndef IPCSTALL_ENDPOINT_TABLE_BPF_H
#define IPCSTALL_ENDPOINT_TABLE_BPF_H

#include "emit.bpf.h"

/* user space gives these three the same size, and fills the last with the numbers of the places */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct endpoint);
} endpoints SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, __u32);
} places SEC(".maps");

/* The place that has been vacant for longest comes first: programs that still use the endpoint that
 * was there are done by then. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 4096);
	__type(value, __u32);
} vacant SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, struct endpoint);
} hashed SEC(".maps");

static struct endpoint blank;

static __always_inline struct endpoint *endpoint_hinted(__u64 key)
{
	__u32 place = key_hint[key_slot(key) & (HINTS - 1)] - 1; /* no hint: beyond the array */
	struct endpoint *ep = bpf_map_lookup_elem(&endpoints, &place);

	return ep && ep->key == key ? ep : 0;
}

/* what the index leads to: perhaps one that is being made or removed, which no caller may see */
static __always_inline struct endpoint *endpoint_listed(__u64 key)
{
	__u32 *found = bpf_map_lookup_elem(&places, &key), place;

	if (!found)
		return 0;
	place = *found;
	return bpf_map_lookup_elem(&endpoints, &place);
}

static __always_inline struct endpoint *endpoint_by_index(__u64 key)
{
	struct endpoint *ep = endpoint_listed(key);

	return ep && ep->key == key ? ep : 0;
}

static __always_inline struct endpoint *endpoint_hashed(__u64 key)
{
	struct endpoint *ep = bpf_map_lookup_elem(&hashed, &key);

	return ep && ep->key == key ? ep : 0;
}

static __noinline struct endpoint *endpoint_indexed(__u64 key)
{
	return endpoint_by_index(key);
}

/* looks first at the place where the caller saw it last */
static __always_inline struct endpoint *endpoint_at(__u32 place, __u64 key)
{
	struct endpoint *ep = bpf_map_lookup_elem(&endpoints, &place);

	return ep && ep->key == key ? ep : endpoint_indexed(key);
}

static __always_inline struct endpoint *endpoint_known(__u64 key)
{
	struct endpoint *ep;

	if (opt.hashed)
		return key_maybe(key) ? endpoint_hashed(key) : 0;
	ep = endpoint_hinted(key);
	return ep || !key_maybe(key) ? ep : endpoint_indexed(key);
}

/* the same where the stack has no room for one more frame: see tests/bpf-stack */
static __always_inline struct endpoint *endpoint_here(__u64 key)
{
	struct endpoint *ep;

	if (opt.hashed)
		return endpoint_hashed(key);
	ep = endpoint_hinted(key);
	return ep ? ep : endpoint_by_index(key);
}

/*
 * A socket or pipe that found no room asks again at each of its events. A Bloom filter tells which
 * ones have asked before: at worst one in some hundred is taken for another, and not counted.
 */
#define REFUSED_BITS (1u << 18)
__u64 refused_before[REFUSED_BITS / 64];
__u64 no_room;	   /* how often there was no room: user space makes some */
__u32 no_room_for; /* the process that ran then */

static __always_inline bool refused_bit(__u32 bit)
{
	__u64 mask = 1ULL << (bit & 63);

	return __sync_fetch_and_or(&refused_before[bit / 64 & (REFUSED_BITS / 64 - 1)], mask) &
	       mask;
}

static __noinline int refused_room(__u64 key)
{
	__u64 hash = key * 0x9e3779b97f4a7c15ULL;
	bool first = refused_bit(hash >> 46), second = refused_bit(hash >> 28 & (REFUSED_BITS - 1));

	no_room++;
	no_room_for = bpf_get_current_pid_tgid() >> 32;
	if (!first || !second)
		count(COUNT_OVERFLOW);
	return 0;
}

/* Both return a blank endpoint, or the one that has the address already; null: no room. */
static __always_inline struct endpoint *insert_hashed(__u64 key)
{
	long err = bpf_map_update_elem(&hashed, &key, &blank, BPF_NOEXIST);

	if (err && err != -17 /* EEXIST; else E2BIG, or ENOMEM */)
		refused_room(key);
	return bpf_map_lookup_elem(&hashed, &key);
}

static __always_inline struct endpoint *insert_placed(__u64 key)
{
	struct endpoint *ep = endpoint_listed(key);
	__u32 place;

	if (ep)
		return ep;
	if (bpf_map_pop_elem(&vacant, &place)) {
		refused_room(key);
		return 0;
	}
	bpf_map_update_elem(&endpoints, &place, &blank, BPF_ANY);
	ep = bpf_map_lookup_elem(&endpoints, &place);
	if (!ep)
		return 0;
	ep->place = place;
	if (bpf_map_update_elem(&places, &key, &place,
				BPF_NOEXIST)) { /* another processor was first */
		bpf_map_push_elem(&vacant, &place, BPF_ANY);
		return 0;
	}
	return ep;
}

/* of two processors that meet a socket at once, one makes its endpoint */
static __always_inline bool claim_blank(struct endpoint *ep, __u64 key)
{
	return !__sync_val_compare_and_swap(&ep->id.key, 0, key);
}

/* A new endpoint for the caller to fill, which nobody else sees until it is announced. Null: no
 * room, or another processor is making it. */
static __always_inline struct endpoint *endpoint_insert(__u64 key)
{
	struct endpoint *ep = opt.hashed ? insert_hashed(key) : insert_placed(key);

	return ep && claim_blank(ep, key) ? ep : 0;
}

static __always_inline void endpoint_announce(struct endpoint *ep)
{
	key_hint[key_slot(ep->id.key) & (HINTS - 1)] = ep->place + 1;
	__sync_lock_test_and_set(
		&ep->key, ep->id.key); /* every processor sees the fields before the key */
}

/* Of two processors that remove an endpoint at the same time only one may: the index might lead to
 * the next endpoint at this address by then. */
static __always_inline bool claim(struct endpoint *ep, __u64 key)
{
	return __sync_val_compare_and_swap(&ep->key, key, 0) == key;
}

static __always_inline void endpoint_remove(struct endpoint *ep, __u64 key)
{
	__u32 place = ep->place;

	if (!claim(ep, key))
		return;
	if (opt.hashed) {
		bpf_map_delete_elem(&hashed, &key);
		return;
	}
	bpf_map_delete_elem(&places, &key);
	bpf_map_push_elem(&vacant, &place, BPF_ANY);
}

#endif
