/* SPDX-License-Identifier: GPL-2.0-only */
/* Rounds from a file that a sweep or a benchmark wrote. Points that differ only in size and repeat
 * are one series. */
#ifndef IPCSTALL_DIAGNOSE_SAVED_H
#define IPCSTALL_DIAGNOSE_SAVED_H

#include "diagnose/measure.h"

struct series {
	json_t *options; /* the same for all points; the rounds have the sizes */
	enum test test;
	struct diag_round *rounds;
	size_t n;
	char label[160]; /* "throughput, nodelay=0": its difference to other series */
};

struct saved {
	struct series *v;
	size_t n;
	bool complete;
};

int saved_load(const char *path, struct saved *s, struct err *e);
void saved_free(struct saved *s);

#endif
