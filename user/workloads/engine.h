/* SPDX-License-Identifier: GPL-2.0-only */
/* Ways to move bulk data other than one call per message. An engine is a row in engines[]; it
 * serves bulk throughput only. */
#ifndef IPCSTALL_WORKLOADS_ENGINE_H
#define IPCSTALL_WORKLOADS_ENGINE_H

#include "workloads/workload.h"

struct engine_ops {
	const char *name;
	unsigned int needs; /* the workload must have one of these flags */
	/* The leader sends, the follower receives; c->engine_state is the engine's. NULL: nothing
	 * to set up. */
	int (*setup)(struct conn *c, const struct workload_options *o, struct err *e);
	/* The most messages in one send_batch(). NULL: one. */
	size_t (*batch)(size_t size);
	/* Send `count` messages of `size` bytes. NULL: the workload's own way, one by one. */
	enum io (*send_batch)(struct conn *c, void *buf, size_t size, size_t count);
	ssize_t (*recv_some)(struct conn *c, void *buf,
			     size_t cap); /* NULL: the workload's own way */
};

extern const struct engine_ops engines[]; /* by enum engine */

/* After a failed datagram receive. True: try again. False: *give_up is what to return. */
bool datagram_again(struct conn *c, uint32_t since, enum io *give_up);

#endif
