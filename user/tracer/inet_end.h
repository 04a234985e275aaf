/* SPDX-License-Identifier: GPL-2.0-only */
/* An address and a port. IPv4 addresses are written as IPv6 ones: a server may listen for both. */
#ifndef IPCSTALL_TRACER_INET_END_H
#define IPCSTALL_TRACER_INET_END_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "base/array.h"

struct inet_end {
	uint8_t ip[16];
	uint16_t port;
};

static inline struct inet_end inet_end(int family, const void *ip, uint16_t port)
{
	struct inet_end e = { .port = port };

	if (family == AF_INET6) {
		memcpy(e.ip, ip, 16);
	} else {
		e.ip[10] = e.ip[11] = 0xff;
		memcpy(e.ip + 12, ip, 4);
	}
	return e;
}

static inline int inet_end_compare(const struct inet_end *a, const struct inet_end *b)
{
	return memcmp(a->ip, b->ip, sizeof(a->ip)) ?: COMPARE(a->port, b->port);
}

static inline bool inet_end_is_mapped(const struct inet_end *e)
{
	static const uint8_t prefix[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(e->ip, prefix, sizeof(prefix));
}

static inline bool inet_end_is_loopback(const struct inet_end *e)
{
	static const uint8_t one[16] = { [15] = 1 };

	return !memcmp(e->ip, one, 16) || (inet_end_is_mapped(e) && e->ip[12] == 127);
}

#endif
