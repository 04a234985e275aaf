/* SPDX-License-Identifier: GPL-2.0-only */
/* What the commands that trace other programs share: their options, the session, the report. */
#ifndef IPCSTALL_SESSION_SESSION_H
#define IPCSTALL_SESSION_SESSION_H

#include "base/opt.h"
#include "base/progress.h"
#include "verdict/verdict.h"
#include "recording/recorder.h"
#include "session/culprits.h"
#include "render/card.h"
#include "render/ledger_outputs.h"
#include "render/ledger_stream.h"

struct session_opts {
	int backend; /* enum trace_backend: the names' order is the enum's */
	int64_t threshold_ns;
	int64_t duration_ns; /* 0: until it ends or Ctrl-C */
	int64_t max_endpoints;
	unsigned int max_closed; /* closed endpoints to keep, the most stalled; 0: max_endpoints */
	int64_t shown;
	struct str_list protos;
	struct str_list ports;
	bool all, cost, quiet, progress, stacks, json_schema, ledger;
	bool sampled, exact;
	char *budget, *zoom_budget;  /* of sampling and of zooms; NULL: the default */
	int colour;		     /* enum colour_when */
	char *out[LEDGER_OUTPUTS_N]; /* by enum ledger_output; NULL: not asked for */
	char *ndjson, *html;
	int64_t interval_ns, timeline_max;
	/* of `record` */
	char *record;
	int64_t max_size;
	bool steps;
	/* of commands that trace running programs */
	struct str_list pids;
	char *cgroup, *comm;
	/* the user that runs CMD; of `export`, `watch`, `top`: the command itself, once attached */
	char *user;
	bool as_root;
};

#define SESSION_OPT(member) offsetof(struct session_opts, member)

/* The options that choose the processes. */
#define TARGET_OPTIONS \
	{ OPT_MULTI, 'p', "pid", "PID", "this process, its children, and what they fork " \
		"(several: repeat, or separate by commas)", SESSION_OPT(pids) }, \
	{ OPT_STRING, 0, "comm", "NAME", "every process of this name that runs now", \
		SESSION_OPT(comm) }, \
	{ OPT_STRING, 'c', "cgroup", "PATH", "the processes of this cgroup v2 directory and of " \
		"those below it", SESSION_OPT(cgroup) }, \
	{ OPT_FLAG, 'a', "all", NULL, "every process of this machine", SESSION_OPT(all) }

/* The options that choose the user that runs CMD. */
#define IDENTITY_OPTIONS \
	{ OPT_STRING, 'u', "user", "USER", "run CMD as this user, with its groups and no " \
		"capabilities (default under sudo: the caller of sudo)", SESSION_OPT(user) }, \
	{ OPT_FLAG, 0, "as-root", NULL, "run CMD as root, under sudo too", SESSION_OPT(as_root) }

/* The option for the user as which the command itself continues: session_drop_privileges(). */
#define DROP_OPTION(when) \
	{ OPT_STRING, 'u', "user", "NAME", "run as this user " when " (default for root: nobody; " \
		"root: stay root)", SESSION_OPT(user) }

/* The options that choose sockets, pipes and the backend. */
#define SEEN_OPTIONS \
	{ OPT_MULTI, 0, "proto", "NAME", "only this kind: tcp, udp, pipe, unix (may be given " \
		"several times)", SESSION_OPT(protos), 0, 0, session_proto_words }, \
	{ OPT_MULTI, 'P', "port", "N", "only sockets with this port at either end; A-B for a " \
		"range", SESSION_OPT(ports) }, \
	{ OPT_INT, 0, "max-endpoints", "N", "room for this many live endpoints; any " \
					    "more are counted but not recorded", \
		SESSION_OPT(max_endpoints), 16, \
	  1 << 20 }, \
	{ OPT_ENUM, 0, "backend", "NAME", "auto, fentry, kprobe or rawtp; see `ipcstall check`", \
		SESSION_OPT(backend), 0, 0, session_backends }

#define PROGRESS_OPTION \
	{ OPT_FLAG, 0, "progress", NULL, PROGRESS_HELP, SESSION_OPT(progress) }

/* The options of every such command, for its own table. */
#define SESSION_OPTIONS \
	OPT_HEAD("What to trace"), \
	SEEN_OPTIONS, \
	{ OPT_TIME, 0, "threshold", "TIME", "also report each single stall of at least this " \
		"length", SESSION_OPT(threshold_ns) }, \
	{ OPT_FLAG, 0, "stacks", NULL, "record the stacks of each stall: of the call that " \
		"stalled, and of what the other end's reader did meanwhile (--threshold is then " \
		"10 us unless given)", SESSION_OPT(stacks) }, \
	{ OPT_INT, 0, "timeline-max", "N", "keep the newest N steps and marks of the timeline; " \
		"older ones are counted as lost", \
	  SESSION_OPT(timeline_max), 1, 1e9 }, \
	LEDGER_OUTPUT_OPTIONS("interval of the running report (default 1s)"), \
	PROGRESS_OPTION, \
	{ OPT_FLAG, 0, "cost", NULL, "also show what the tracing itself cost, program by program", \
		SESSION_OPT(cost) }

/* The output options; - is standard output. */
#define LEDGER_OUT_ROW(sym, name, help) \
	{ OPT_STRING, 0, #name, "FILE", help, SESSION_OPT(out[sym]) },
#define LEDGER_OUTPUT_OPTIONS(of_what) \
	OPT_HEAD("Output (a FILE of - is standard output)"), \
	LEDGER_OUTPUTS(LEDGER_OUT_ROW) \
	{ OPT_STRING, 0, "html", "FILE", "a report to look at in a browser: ledgers, time line, " \
		"slowest message", SESSION_OPT(html) }, \
	{ OPT_STRING, 0, "ndjson", "FILE", "a running report: one JSON object per line, for each " \
		"interval and each stall", \
	  SESSION_OPT(ndjson) }, \
	{ OPT_TIME, 'i', "interval", "TIME", of_what, SESSION_OPT(interval_ns), 1e7, 86400e9 }, \
	{ OPT_INT, 'n', "shown", "N", "show the N most stalled endpoints (default 10)", \
		SESSION_OPT(shown), 1, 100000 }, \
	{ OPT_FLAG, 0, "ledger", NULL, "show whole ledgers: every state of every endpoint", \
		SESSION_OPT(ledger) }, \
	{ OPT_ENUM, 0, "color", "WHEN", "auto (on a terminal, unless NO_COLOR is set), always or " \
		"never", SESSION_OPT(colour), 0, 0, colour_choices }, \
	{ OPT_FLAG, 'q', "quiet", NULL, "print nothing", SESSION_OPT(quiet) }, \
	{ OPT_FLAG, 0, "json-schema", NULL, "print the schema of the JSON document " \
					    "and of the lines of --ndjson, and exit", \
		SESSION_OPT(json_schema) }

extern const char *const session_backends[], *const session_proto_words[];

void session_defaults(void *opts);

struct session {
	struct trace *t;
	const struct session_opts *o;
	struct trace_snapshot end;
	struct verdict verdict;
	const struct prover *prover; /* its rulings are for every verdict; NULL: no proofs */
	struct culprits culprits;    /* of a session of the ledger */
	pid_t only_target;  /* 0: there are several, or none is listed */
	struct asleep own;  /* samples of only_target, whether or not the verdict is about it */
	bool has_threads;   /* only_target has several threads: `own` is of the first */
	struct stalls stalls; /* filled by the session's own thread, as the timeline is: read after
				 its end */
	struct timeline timeline;
	struct ledger_stream stream;
	bool streaming;
	bool shares_terminal; /* with the command that is traced, which writes there itself */
	struct recorder *rec; /* NULL: nothing is recorded */
	uint64_t began_ns;
	uint64_t next_ns;     /* when the running report is due */
	uint64_t recorded_ns; /* of a recording: the last snapshot's time */
};

/* Makes the filter from the options. Exactly one way to choose processes must be given. */
int targets_from_options(const struct session_opts *o, const char *command,
			 struct trace_options *filter, struct err *e);
/* The same, but without a choice all processes are followed. */
int targets_or_all(struct session_opts *o, const char *command, struct trace_options *filter,
		   struct err *e);
/* Is one of the listed processes still there? Without a list: yes. */
bool targets_any_alive(const struct trace_options *filter);
/* Checks the options, then prepares and starts the session. `filter` says which processes to
 * follow. */
int session_begin(struct session *l, const struct session_opts *o, struct trace_options *filter,
		  struct err *e);
/* Begins the running report or the recording, if one was asked for. about: what is traced. */
int session_announce(struct session *l, json_t *about, struct err *e);
/* Call several times a second: writes the running report and the recording. -1: see *e, or the
 * report's reader is gone. */
int session_tick(struct session *l, struct err *e);
/* Prepares and starts the session alone, with the callbacks in `filter`. *l must be zeroed. */
int session_open(struct session *l, const struct session_opts *o, struct trace_options *filter,
		 struct err *e);
/* Takes a snapshot. Its counters include what this session itself has lost. */
int session_snapshot(struct session *l, struct trace_snapshot *s, struct err *e);
/* Prints the card on stderr, and writes every file that was asked for. about: what was traced,
 * for the documents. */
int session_report(struct session *l, json_t *about, struct err *e);
/* Takes the last snapshot, stops, and reports. */
int session_end_and_report(struct session *l, json_t *about, struct err *e);
void session_free(struct session *l);

/* The whole of `run`, `attach` and `record`, from the start to the report. session_run() traces
 * a command, session_attach() running programs. */
int session_run(const struct session_opts *o, struct opt_operands *cmd, struct err *e);
int session_attach(const struct session_opts *o, const char *command, struct err *e);

/* The head of every document. */
json_t *session_head(struct session *l, json_t *about);
/* Check the options given as text: output paths, protocols and ports. */
int session_check_outputs(const struct session_opts *o, const char *input,
			  struct err *e); /* input: what is read, NULL: nothing */
int session_seen(const struct session_opts *o, struct trace_options *t, struct err *e);
/* Prints the card, and the ledgers behind it. */
void session_screen(const struct session_opts *o, const struct trace_snapshot *s,
		    const struct verdict *v, FILE *out);
/*
 * Gives up root for good and becomes o->user (base/drop.h). Keeps the capabilities that reading
 * still needs, and applies confine(). attaches: the process will attach loaded programs again. Open
 * files stay open; open all others before.
 */
int session_drop_privileges(struct session *l, bool attaches, struct err *e);
/* Writes a report of the view as one HTML file. */
int session_html(const struct ledger_view *view, const char *path, struct err *e);
bool session_wants_timeline(const struct session_opts *o);
bool session_wants_stalls(const struct session_opts *o);
bool session_wants_stacks(const struct session_opts *o);
uint64_t session_threshold(const struct session_opts *o);

/* session_record.c */
int session_record_begin(struct session *l, json_t *about, struct err *e);
int session_record_tick(struct session *l, struct err *e);
int session_record_end(struct session *l, struct err *e);

/* Ctrl-C and TERM end a session in good order. */
void session_catch_signals(void);
bool session_interrupted(void);
/* How many signals came, and whether the last came from the terminal, which signals the whole
 * foreground process group. */
int session_interrupts(void);
bool session_from_terminal(void);

#endif
