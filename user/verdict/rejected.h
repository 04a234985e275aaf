/* SPDX-License-Identifier: GPL-2.0-only */
/* Connections that were refused, or reset by the other end. */
#ifndef IPCSTALL_VERDICT_REJECTED_H
#define IPCSTALL_VERDICT_REJECTED_H

#include "verdict/verdict.h"

/* Is the lost time a large enough share of `lifetime_ns`? */
bool slow_connect_matters(const struct slow_connect *c);

/* Keeps the sum of n connections of one program to one address in `most`, if it is more. */
typedef void judge_alike(const struct trace_snapshot *s, const struct trace_endpoint **v, size_t n,
			 struct slow_connect *most);
/* The most of all programs and addresses, of connections that are `wanted` */
struct slow_connect most_of_alike(const struct trace_snapshot *s,
				  bool wanted(const struct trace_endpoint *), judge_alike *judge);

/* The rejections of a program that tries again: those that cost it most time. */
struct slow_connect find_rejected(const struct trace_snapshot *s);

/* The program and address with the most connections that the other end reset; they cost no time. */
struct slow_connect find_reset(const struct trace_snapshot *s);
/* The refusals of a program that got no connection, and went on or ended. */
struct slow_connect find_refused(const struct trace_snapshot *s);

#endif
