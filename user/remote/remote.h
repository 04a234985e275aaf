/* SPDX-License-Identifier: GPL-2.0-only */
/* The other end on another host, where `ipcstall server` runs it. On this host a process replaces
 * it: it takes the runner's orders, passes them over the control channel, and stores the other
 * end's counts where the runner reads them. So the runner sees no difference. */
#ifndef IPCSTALL_REMOTE_REMOTE_H
#define IPCSTALL_REMOTE_REMOTE_H

#include <jansson.h>
#include <sys/socket.h>

#include "bench/run.h"
#include "remote/host.h"

struct remote {
	int fd; /* the control channel */
	char address[128];
	struct sockaddr_storage ss;
	socklen_t len;
	struct host_id host, here;
	bool shares_clock;
};

/* The most samples in one frame of the server's answer. */
#define REMOTE_SAMPLES_CHUNK 4096

extern const struct far_end_ops remote_far_end;
/* Replaces the server's worker: the one of remote_far_end. */
void remote_worker_main(struct run *r, int orders, int reports) __attribute__((noreturn));
/* The other host in a result; null when there is none. */
json_t *remote_to_json(const struct remote *r);
/* "HOST", "HOST:PORT", "[V6]:PORT" into parts; -1 when it is neither. */
int remote_split(const char *text, char *host, size_t size, char port[8]);

#endif
