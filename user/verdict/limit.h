/* SPDX-License-Identifier: GPL-2.0-only */
/* What limits a sender that is held up although nothing is wrong: a CPU, the link, or its own small
 * writes. No socket option makes it faster. */
#ifndef IPCSTALL_VERDICT_LIMIT_H
#define IPCSTALL_VERDICT_LIMIT_H

#include "verdict/verdict.h"

enum limit limit_of(const struct trace_snapshot *s, const struct finding *f);

/* The reader takes a stream in pieces so small that it spends its time on the calls. */
bool reads_small(const struct trace_snapshot *s, const struct finding *f);
/* The congestion control's own window or pace is the cause, and the path loses segments. */
bool is_held_by_loss(const struct trace_snapshot *s, const struct finding *f);
/* The reader makes so many calls for so few bytes, whoever waits for it, that they take its
 * time. */
bool reads_small_pieces(const struct trace_endpoint *end);

/* The reader seems not to read, but for most of that time it was waiting for a CPU. */
bool reader_has_no_cpu(const struct trace_snapshot *s, const struct finding *f);

/* The share of a CPU that the program awaited by the reader of `ep` used: its thread, or its
 * process if that used more. */
double sender_cpu_share(const struct trace_call_stats *b, const struct trace_endpoint *ep);
/* The share of its life that the reader ran on a CPU; more than 1 if several of its threads did;
 * NAN: unknown. */
double reader_cpu_share(const struct trace_snapshot *s, const struct finding *f);

/* Bytes per second, while there was anything to send. */
double rate_of_sending(const struct trace_endpoint *ep);

/* The round trip is longer than the path's own by more than a few packets. */
bool queue_stands(const struct trace_endpoint *ep);

/* It sends as fast as SO_MAX_PACING_RATE allows. */
bool paces_at_set_rate(const struct trace_endpoint *ep);

/* The congestion control chose the pace, not SO_MAX_PACING_RATE or TSO deferral. */
bool paces_itself(const struct trace_endpoint *ep);

/* The connection is so young, for its path, that its window still grows from the initial one, and
 * nothing was lost. */
bool is_in_slow_start(const struct trace_endpoint *ep);

/* Data waits on this host for the device most of the time, and the path is full. */
bool device_is_full(const struct trace_endpoint *ep);

#endif
