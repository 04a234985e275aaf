/* SPDX-License-Identifier: GPL-2.0-only */
/* Connections that were refused, or reset by the other end. */
#ifndef IPCSTALL_VERDICT_REJECTED_H
#define IPCSTALL_VERDICT_REJECTED_H

#include "verdict/verdict.h"

int address_order(const struct trace_endpoint *a, const struct trace_endpoint *b);

/* it is a large enough part of the time in which it could have been something else */
bool slow_connect_matters(const struct slow_connect *c);

/* of a program that tries again: those that it lost most time by */
struct slow_connect find_rejected(const struct trace_snapshot *s);

/* of one program to one address: the most that the other end reset; no time was lost by them */
struct slow_connect find_reset(const struct trace_snapshot *s);
/* of a program that got no connection, and went on or ended */
struct slow_connect find_refused(const struct trace_snapshot *s);

#endif
