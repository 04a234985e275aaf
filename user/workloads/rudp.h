/* SPDX-License-Identifier: GPL-2.0-only */
/* Reliable UDP on a socket: what the runner's loop needs beyond the workload's operations. */
#ifndef IPCSTALL_WORKLOADS_RUDP_H
#define IPCSTALL_WORKLOADS_RUDP_H

#include "workloads/workload.h"

enum { RUDP_TRIES_MAX = 1000, RUDP_REFUSALS_MAX = 16 };

/* Is there room in the window for another packet? */
bool rudp_can_send(const struct conn *c);
/* Send one packet of at most c->piece bytes and keep it until it is acknowledged. Never waits for
 * an acknowledgement. */
enum io rudp_push(struct conn *c, const void *buf, size_t len, int64_t *seq);
/* Wait until a packet is acknowledged, and retransmit those that fall due meanwhile. block false:
 * IO_LOST if no acknowledgement is there. IO_CLOSED with errno ETIMEDOUT or ECONNREFUSED: the other
 * end is given up. */
enum io rudp_await(struct conn *c, bool block, int64_t *seq);
bool rudp_settled(const struct conn *c);
/* What this end has counted since it was opened. */
void rudp_counts(const struct conn *c, struct reliable_counts *n);

#endif
