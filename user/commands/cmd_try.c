// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall try: a fix, proven on the running program, and undone. */
#include <stdlib.h>

#include "base/terminal.h"
#include "commands/command.h"
#include "render/environment.h"
#include "render/json_file.h"
#include "render/schema_rows.h"
#include "try/case_report.h"

#define AT(field) offsetof(struct try_opts, field)

static const struct opt try_options[] = {
	OPT_HEAD("Which processes (-p and --comm, -c, or -a; -P alone: all)"),
	TARGET_OPTIONS,
	{ OPT_MULTI, 'P', "port", "N", "only sockets with this port at either end; A-B for a range",
	  SESSION_OPT(ports) },
	{ OPT_MULTI, 0, "proto", "NAME",
	  "only this kind: tcp, udp, pipe, unix (may be given "
	  "several times)",
	  SESSION_OPT(protos), 0, 0, session_proto_words },
	{ OPT_ENUM, 0, "backend", "NAME", "auto, fentry, kprobe or rawtp; see `ipcstall check`",
	  SESSION_OPT(backend), 0, 0, session_backends },
	OPT_HEAD("What to try"),
	{ OPT_MULTI, 0, "fix", "NAME",
	  "try this fix (several: repeat); default: those "
	  "that fit the stall",
	  AT(fixes), 0, 0, live_fix_words },
	{ OPT_FLAG, 0, "irreversible", NULL, "also try fixes that cannot be undone exactly",
	  AT(irreversible) },
	{ OPT_FLAG, 0, "new", NULL, "also use connections that the program opens meanwhile",
	  AT(with_new) },
	{ OPT_FLAG, 'y', "yes", NULL, "do not ask", AT(yes) },
	{ OPT_FLAG, 0, "dry-run", NULL, "show what would be set, and where; change nothing",
	  AT(dry_run) },
	OPT_HEAD("How long"),
	{ OPT_TIME, 0, "look", "TIME", "look for a stall for this long (default 10s)", AT(look_ns),
	  1e9, 3600e9 },
	{ OPT_TIME, 0, "window", "TIME",
	  "length of a window (default: about 20 messages, 100ms to "
	  "2s)",
	  AT(window_ns), 1e7, 600e9 },
	{ OPT_INT, 0, "windows", "N",
	  "windows with the fix; there are twice as many without "
	  "(default 8)",
	  AT(windows), 8, TRIAL_ROUNDS_MAX },
	{ OPT_TIME, 0, "for", "TIME", "try one fix for at most this time (default 2m)", AT(for_ns),
	  1e9, 86400e9 },
	{ OPT_INT, 0, "seed", "N", "seed of the windows' random order", AT(seed), 0, INT64_LIMIT },
	OPT_HEAD("Output (a FILE of - is standard output)"),
	{ OPT_STRING, 0, "json", "FILE", "every window and the outcome, as a document",
	  SESSION_OPT(out[OUT_JSON]) },
	PROGRESS_OPTION,
	{ OPT_FLAG, 'q', "quiet", NULL, "no card", SESSION_OPT(quiet) },
	{ OPT_FLAG, 0, "json-schema", NULL, "print the schema of the document and exit",
	  SESSION_OPT(json_schema) },
	OPT_END,
};

static void try_defaults(void *opts)
{
	struct try_opts *o = opts;

	session_defaults(&o->live);
	o->look_ns = 10000000000;
	o->for_ns = 120000000000;
	o->windows = 8;
	o->seed = 1;
}

static int check_fixes(const struct str_list *names, struct err *e)
{
	if (names->n > LIVE_FIXES_MAX)
		return err_usage(e, "--fix: given %zu times; give at most %d", names->n,
				 LIVE_FIXES_MAX);
	return 0;
}

static int check_consent(const struct try_opts *o, struct err *e)
{
	if (!o->yes && !o->dry_run && !(terminal_is(stdin) && terminal_is(stderr)))
		return err_usage(e, "try: it would change options of a running program, and there "
				    "is no terminal for the question; give --yes, or --dry-run to "
				    "see what it would do");
	return 0;
}

static bool is_agreed(void)
{
	char answer[16] = "";

	fputs("Go on? [y/N] ", stderr);
	return fgets(answer, sizeof(answer), stdin) && (*answer == 'y' || *answer == 'Y');
}

/* Shown unless it goes on without being asked; then the card says it all. */
static bool consents(const struct live_case *c)
{
	struct paint paint = paint_on(stderr, (enum colour_when)c->o->live.colour);

	if (c->o->dry_run || !c->o->yes)
		case_plan_text(c, &paint);
	return !c->o->dry_run && (c->o->yes || is_agreed());
}

static int carry_out(struct live_case *c, struct trace_options *filter, struct err *e)
{
	if (!c->o->live.quiet)
		fprintf(stderr, "ipcstall: looking for a stall\n");
	if (case_look(c, filter, e) || case_plan(c, e))
		return -1;
	case_sender_stack(c);
	if (c->outcome != CASE_TRIED)
		return 0;
	if (!consents(c)) {
		c->outcome = CASE_DECLINED;
		return 0;
	}
	return case_run(c, filter, e);
}

static json_t *about(const struct try_opts *o, const struct trace_options *t)
{
	json_t *pids = json_array();

	for (size_t i = 0; i < t->n_tgids; i++)
		json_array_append_new(pids, json_integer(t->tgids[i]));
	return json_pack("{s:{s:o, s:o, s:o, s:b}}", "attached_to", "pids", pids, "comm",
			 json_text(o->live.comm), "cgroup", json_text(o->live.cgroup), "all",
			 t->filter == TRACE_FILTER_ALL);
}

static int write_json(struct live_case *c, const struct trace_options *filter, struct err *e)
{
	const char *path = c->o->live.out[OUT_JSON];
	json_t *head, *doc;

	if (!path)
		return 0;
	head = about(c->o, filter);
	doc = case_json(c, head);
	json_decref(head);
	return json_to_file(doc, path, JSON_INDENT(1), e);
}

static bool is_noisy(const struct live_case *c)
{
	bool noisy = false;

	for (size_t i = 0; i < c->n; i++) {
		if (c->trials[i].outcome == TRIAL_PROVEN)
			return false;
		noisy |= c->trials[i].outcome == TRIAL_NOISY;
	}
	return noisy && c->outcome == CASE_TRIED;
}

static int exit_code(const struct live_case *c)
{
	if (c->interrupted)
		return EXIT_INTERRUPTED;
	return is_noisy(c) ? EXIT_NOISY : EXIT_DONE;
}

/* The guardian comes first: it is not to hold what the session opens. */
static int begin(struct live_case *c, struct trace_options *filter, struct err *e)
{
	session_catch_signals();
	return guardian_start(&c->guardian, e) || session_begin(&c->live, &c->o->live, filter, e)
		       ? -1
		       : 0;
}

static int try_on(struct live_case *c, struct err *e)
{
	const struct try_opts *o = c->o;
	struct paint paint = paint_on(stderr, (enum colour_when)o->live.colour);
	struct trace_options filter = { .stack_copies = true };
	int rc;

	if (targets_from_options(&o->live, "try", &filter, e) || check_fixes(&o->fixes, e) ||
	    check_consent(o, e))
		return -1;
	rc = begin(c, &filter, e) || carry_out(c, &filter, e);
	guardian_end(&c->guardian);
	if (rc)
		return -1;
	if (!o->live.quiet && !(o->dry_run && c->outcome == CASE_DECLINED))
		case_text(c, &paint);
	return write_json(c, &filter, e);
}

static int run(void *opts, struct opt_operands *rest, struct err *e)
{
	const struct try_opts *o = opts;
	struct live_case *c;
	int rc;

	if (o->live.json_schema)
		return schema_print(case_schema(), e);
	c = calloc(1, sizeof(*c));
	if (!c)
		return err_resource(e, "try: no memory; free some and run again"), (int)e->code;
	c->o = o;
	c->guardian.fd = -1;
	rng_seed(&c->rng, (uint64_t)o->seed);
	rc = try_on(c, e) ? (int)e->code : exit_code(c);
	case_free(c);
	free(c);
	return rc;
}

const struct command command_try = {
	.name = "try",
	.summary = "Try a fix on a running program, measure what it gains, and undo it",
	.description = "Looks until something stalls, shows which option of which socket or pipe "
		"it would set, and asks. Then it sets the option from outside (pidfd_getfd), and "
		"compares windows with and without it, in random order. The answer is proven, "
		"refuted (both: exit status 0) or too noisy to say (10). A separate process sets "
		"every option back, even if this one is killed. Nothing else in the program is "
		"changed.",
	.examples = "ipcstall try -p 1234\tfind what stalls in this process, ask, and try the "
		"fixes that fit\n"
		    "ipcstall try -p 1234 --fix nodelay --yes\ttry TCP_NODELAY without asking\n"
		    "ipcstall try --comm nginx --dry-run\tonly say what would be set on what\n",
	.options = try_options,
	.options_size = sizeof(struct try_opts),
	.defaults = try_defaults,
	.run = run,
};
