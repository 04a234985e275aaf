/* SPDX-License-Identifier: GPL-2.0-only */
/* The control channel: JSON objects over TCP, each after its length (32 bits, big endian). Every
 * length is bounded, every wait has an end, and nothing received is trusted before it is
 * checked. */
#ifndef IPCSTALL_REMOTE_WIRE_H
#define IPCSTALL_REMOTE_WIRE_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"

#define WIRE_PORT     6739
#define WIRE_PROTOCOL 3
#define WIRE_NAME     "ipcstall"

enum { WIRE_MAX = 256 << 10, WIRE_HELLO_MAX = 64 << 10 };

/* Set TCP_NODELAY, non-blocking mode, and keepalive probes, so that a vanished host is noticed
 * within 10 s. */
int wire_prepare(int fd, struct err *e);
/* Takes over the reference to msg, also on failure. deadline: of CLOCK_MONOTONIC. */
int wire_send(int fd, json_t *msg, uint64_t deadline, struct err *e);
/* A new reference to an object, or NULL. */
json_t *wire_recv(int fd, size_t max, uint64_t deadline, struct err *e);

/* Read an integer member; -1 with the reason if it is missing, not an integer or out of bounds. */
int wire_int(const json_t *o, const char *key, int64_t min, int64_t max, int64_t *out,
	     struct err *e);
/* Read a text; "" if it is missing. Control characters become '?'. For display, not for
 * decisions. */
void wire_text(const json_t *o, const char *key, char *out, size_t size);
static inline const char *wire_string(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

#endif
