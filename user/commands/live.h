/* SPDX-License-Identifier: GPL-2.0-only */
/* What the commands that look at other programs share: their options, the session, the report. */
#ifndef IPCSTALL_LIVE_H
#define IPCSTALL_LIVE_H

#include "lib/opt.h"
#include "model/verdict.h"

struct live_opts {
	int backend; /* enum trace_backend: the names' order is the enum's */
	int64_t threshold_ns;
	int64_t duration_ns; /* 0: until it ends or Ctrl-C */
	int64_t max_endpoints;
	int64_t shown;
	struct str_list protos;
	struct str_list ports;
	bool all, cost, quiet;
	char *json;
	/* of those that look at running programs */
	struct str_list pids;
	char *cgroup, *comm;
};

#define LIVE_OPT(member) offsetof(struct live_opts, member)

/* The rows that say whom to look at. */
#define LIVE_WHOM                                                                                                                            \
	{ OPT_MULTI, 'p', "pid", "PID", "this process and what it forks from now on (several: repeat)", LIVE_OPT(pids) },                   \
	{ OPT_STRING, 0, "comm", "NAME", "every process of this name that runs now", LIVE_OPT(comm) },                                      \
	{ OPT_STRING, 'c', "cgroup", "PATH", "the processes of this cgroup v2 directory", LIVE_OPT(cgroup) },                               \
	{ OPT_FLAG, 'a', "all", NULL, "every process of this machine", LIVE_OPT(all) }

/* What of theirs is seen. */
#define LIVE_SEEN                                                                                                                       \
	{ OPT_MULTI, 0, "proto", "NAME", "only this kind: tcp, udp, pipe, unix (may be given several times)", LIVE_OPT(protos) },          \
	{ OPT_MULTI, 'P', "port", "N", "only sockets with this port at either end; A-B for a range", LIVE_OPT(ports) },                    \
	{ OPT_INT, 0, "max-endpoints", "N", "room for so many live endpoints; more are counted, not recorded", LIVE_OPT(max_endpoints), 16, \
	  1 << 20 },                                                                                                                        \
	{ OPT_ENUM, 0, "backend", "NAME", "auto, fentry, kprobe or rawtp; see `ipcstall check`", LIVE_OPT(backend), 0, 0, live_backends }

/* The rows every such command has; placed inside its own table. */
#define LIVE_OPTIONS                                                                                                                        \
	OPT_HEAD("What is seen"),                                                                                                           \
	LIVE_SEEN,                                                                                                                     \
	{ OPT_TIME, 0, "threshold", "TIME", "also report each single stall of at least this length", LIVE_OPT(threshold_ns) },             \
	OPT_HEAD("Output"),                                                                                                                 \
	{ OPT_STRING, 0, "json", "FILE", "write the ledgers as JSON (- is standard output); --quiet leaves the table out", LIVE_OPT(json) },\
	{ OPT_INT, 'n', "shown", "N", "show the N most stalled endpoints in the table", LIVE_OPT(shown), 1, 100000 },                      \
	{ OPT_FLAG, 0, "cost", NULL, "also show what the tracing itself cost, program by program", LIVE_OPT(cost) },                       \
	{ OPT_FLAG, 'q', "quiet", NULL, "no table", LIVE_OPT(quiet) }

extern const char *const live_backends[];

void live_defaults(void *opts);

struct live {
	struct trace *t;
	const struct live_opts *o;
	struct trace_snapshot end;
	struct verdict verdict;
};

/* From the options to the filter; exactly one way of choosing must be given. */
int live_whom(const struct live_opts *o, const char *command, struct trace_options *filter, struct err *e);
/* Is one of the listed processes still there? Without a list: yes. */
bool live_any_alive(const struct trace_options *filter);
/* Prepare and start; `filter` says whom to follow. Checks the options that are text. */
int live_begin(struct live *l, const struct live_opts *o, struct trace_options *filter, struct err *e);
/* Take the last snapshot, stop. */
int live_end(struct live *l, struct err *e);
/* The table on stderr, the JSON where it was asked for; command: what was traced, for the document. */
int live_report(struct live *l, json_t *about, struct err *e);
void live_free(struct live *l);

/* From a trace_error to the program's one-line error. */
int live_error(struct err *e, const struct trace_error *te);

/* Ctrl-C and TERM end a session in good order. */
void live_catch_signals(void);
bool live_interrupted(void);

#endif
