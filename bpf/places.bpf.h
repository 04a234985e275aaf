/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where endpoints stand: in an array, with an index by address beside it. A look-up in a hash costs over a hundred instructions, and
 * each message asks six times; a hint by the address's hash tells the place of nearly every endpoint for a fifth of that. An array
 * takes all its memory at once, so those of a large session that find no vacant place stand in a hash, which takes it as it is filled.
 */
#ifndef IPCSTALL_PLACES_BPF_H
#define IPCSTALL_PLACES_BPF_H

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

/* the one that has been vacant for longest comes first: whoever still holds what stood there has let go by then */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 4096);
	__type(value, __u32);
} vacant SEC(".maps");

/* user space makes room for the rest here */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct endpoint);
} more SEC(".maps");

#define NO_PLACE (~0U - 1)	/* as a hint too it is beyond the array, and not 0 */

static struct endpoint blank;

static __always_inline struct endpoint *endpoint_hinted(__u64 key)
{
	__u32 place = key_hint[key_slot(key) & (HINTS - 1)] - 1;	/* no hint: beyond the array */
	struct endpoint *ep = bpf_map_lookup_elem(&endpoints, &place);

	return ep && ep->key == key ? ep : 0;
}

static __always_inline struct endpoint *endpoint_by_index(__u64 key)
{
	__u32 *found = bpf_map_lookup_elem(&places, &key), place;

	if (!found)
		return opt.more ? bpf_map_lookup_elem(&more, &key) : 0;
	place = *found;
	return bpf_map_lookup_elem(&endpoints, &place);
}

static __noinline struct endpoint *endpoint_indexed(__u64 key)
{
	return endpoint_by_index(key);
}

static __always_inline struct endpoint *endpoint_known(__u64 key)
{
	struct endpoint *ep = endpoint_hinted(key);

	return ep || !key_maybe(key) ? ep : endpoint_indexed(key);
}

static __always_inline struct endpoint *insert_more(__u64 key)
{
	struct endpoint *ep;
	long err = opt.more ? bpf_map_update_elem(&more, &key, &blank, BPF_NOEXIST) : -7 /* E2BIG */;

	if (err == -7)
		count(COUNT_OVERFLOW);
	if (err)
		return endpoint_indexed(key);
	ep = bpf_map_lookup_elem(&more, &key);
	if (ep)
		ep->place = NO_PLACE;
	return ep;
}

static __always_inline struct endpoint *insert_at(__u32 place, __u64 key)
{
	struct endpoint *ep;

	bpf_map_update_elem(&endpoints, &place, &blank, BPF_ANY);
	if (bpf_map_update_elem(&places, &key, &place, BPF_NOEXIST)) {	/* another processor was first */
		bpf_map_push_elem(&vacant, &place, BPF_ANY);
		return endpoint_indexed(key);
	}
	ep = bpf_map_lookup_elem(&endpoints, &place);
	if (ep)
		ep->place = place;
	return ep;
}

/* a place for a new endpoint, empty; or the endpoint that has the address already; null where there is no room */
static __always_inline struct endpoint *endpoint_insert(__u64 key)
{
	struct endpoint *ep = endpoint_indexed(key);
	__u32 place;

	if (ep)
		return ep;
	ep = bpf_map_pop_elem(&vacant, &place) ? insert_more(key) : insert_at(place, key);
	if (!ep || ep->key)
		return ep;
	key_hint[key_slot(key) & (HINTS - 1)] = ep->place + 1;
	ep->key = ep->id.key = key;
	return ep;
}

/* only one of two processors that remove it at a time may: the index might be of the next endpoint at this address by then */
static __always_inline bool claim(struct endpoint *ep, __u64 key)
{
#ifdef NO_CMPXCHG
	if (ep->key != key)
		return false;
	ep->key = 0;
	return true;
#else
	return __sync_val_compare_and_swap(&ep->key, key, 0) == key;
#endif
}

static __always_inline void endpoint_remove(struct endpoint *ep, __u64 key)
{
	__u32 place = ep->place;

	if (!claim(ep, key))
		return;
	if (place == NO_PLACE) {
		bpf_map_delete_elem(&more, &key);
		return;
	}
	bpf_map_delete_elem(&places, &key);
	bpf_map_push_elem(&vacant, &place, BPF_ANY);
}

#endif
