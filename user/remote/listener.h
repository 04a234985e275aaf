/* SPDX-License-Identifier: GPL-2.0-only */
/* Waits for clients and gives each a process of its own, so that none can hold up or bring down the
 * others. */
#ifndef IPCSTALL_REMOTE_LISTENER_H
#define IPCSTALL_REMOTE_LISTENER_H

#include <stdbool.h>

#include "base/err.h"

struct listener_options {
	char *listen; /* ADDRESS[:PORT]; NULL: loopback */
	char *key;    /* the file with the secret; NULL: none */
	char *user;   /* NULL: nobody, for root */
	bool insecure, once, quiet;
};

/* Runs until a signal, or with `once` until the first run is over; then returns its exit code. */
int listener_run(const struct listener_options *o, struct err *e);

#endif
