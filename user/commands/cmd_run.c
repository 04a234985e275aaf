// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall run -- CMD: the ledgers of a command and of what it starts. */
#include "json/json_text.h"
#include "commands/command.h"
#include "session/session.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/terminal.h"
#include "base/text.h"
#include "render/schema_rows.h"

static const struct opt run_options[] = {
	SESSION_OPTIONS,
	{ OPT_TIME, 'd', "duration", "TIME", "end the command and everything it "
					     "started after this time",
		SESSION_OPT(duration_ns), 1, 1e18 },
	OPT_HEAD("The user that CMD runs as"),
	IDENTITY_OPTIONS,
	OPT_END,
};

/*
 * The command receives a terminal's signal too. It may have work to do before it ends, and is
 * traced until then. A second signal, or one that did not come from the terminal, ends us and the
 * command.
 */
static bool told_to_end(void)
{
	return session_interrupts() > 1 || (session_interrupted() && !session_from_terminal());
}

/* Collect while the command runs, so that what it closes does not pile up in the kernel. */
static void follow(struct session *l, struct child *c, struct err *e)
{
	uint64_t deadline = l->o->duration_ns ? now_ns() + (uint64_t)l->o->duration_ns : 0;
	bool said = l->o->quiet;

	while (!told_to_end()) {
		uint64_t now = now_ns(), next = now + 50000000;

		if (session_interrupted() && !said)
			fprintf(stderr, "ipcstall: waiting for the command to end; press "
					"Ctrl-C again to end it\n");
		said = said || session_interrupted();
		if (deadline && now >= deadline)
			break;
		if (child_wait(c, deadline && deadline < next ? deadline : next) == 1)
			return;
		trace_poll(l->t, 0);
		session_tick(
			l, e); /* a report that cannot be written is no reason to end the command */
	}
	child_end(c, 2000);
}

static json_t *about_command(const struct child *c, struct opt_operands *cmd)
{
	json_t *words = json_array();

	for (int i = 0; i < cmd->n; i++)
		json_array_append_new(words, text_json(cmd->v[i]));
	return json_pack("{s:o, s:i, s:i}", "command", words, "pid", c->pid, "exit_code",
			 child_exit_code(c));
}

static int announce(struct session *l, const struct child *c, struct opt_operands *cmd,
		    struct err *e)
{
	json_t *about = about_command(c, cmd);
	int rc;

	json_object_del(about, "exit_code"); /* it has none yet */
	rc = session_announce(l, about, e);
	json_decref(about);
	return rc;
}

static int trace_child(struct session *l, struct child *c, struct opt_operands *cmd, struct err *e)
{
	json_t *about;
	int rc;

	if (announce(l, c, cmd, e) || child_go(c, cmd->v[0], e))
		return -1;
	follow(l, c, e);
	about = about_command(c, cmd);
	rc = session_end_and_report(l, about, e);
	json_decref(about);
	return rc;
}

/* Who calls sudo for the tracer does not mean the command. */
static void say_as_whom(const struct session_opts *o, const struct identity *as, const char *cmd)
{
	char name[256];

	if (!as->by_sudo || o->quiet)
		return;
	snprintf(name, sizeof(name), "%s", cmd);
	text_clean(name, sizeof(name));
	fprintf(stderr, "ipcstall: running %s as %s (--as-root: as root)\n", name, as->name);
}

int session_run(const struct session_opts *o, struct opt_operands *cmd, struct err *e)
{
	struct trace_options filter = { .filter = TRACE_FILTER_TREE, .n_tgids = 1 };
	static struct identity as; /* a large list of groups */
	struct child c;
	struct session l;
	int rc;

	session_catch_signals();
	if (identity_choose(&as, o->user, o->as_root, e) || child_spawn(&c, cmd->v, &as, e))
		return -1;
	filter.tgids[0] = c.pid;
	rc = session_begin(&l, o, &filter, e);
	l.shares_terminal = terminal_is(stdout) && terminal_is(stderr);
	if (rc == 0) {
		say_as_whom(o, &as, cmd->v[0]);
		rc = trace_child(&l, &c, cmd, e);
	}
	session_free(&l);
	child_end(&c, 2000);
	if (rc)
		return e->code;
	return told_to_end() ? EXIT_INTERRUPTED : child_exit_code(&c);
}

static int run(void *opts, struct opt_operands *cmd, struct err *e)
{
	const struct session_opts *o = opts;

	if (o->json_schema)
		return schema_print(ledger_schema(), e);
	if (!cmd->n)
		return err_usage(
			e, "run: no command; give it after --, as in: ipcstall run -- CMD ARG...");
	return session_run(o, cmd, e);
}

const struct command command_run = {
	.name = "run",
	.summary = "Run a command and show where its connections lost time",
	.operands = "-- CMD [ARG...]",
	.description = "Follows CMD and every process it starts. When CMD ends, standard error "
		"gets a card: which TCP, UDP or Unix socket or pipe stalled, who waited for whom, "
		"why, and what to try. The most stalled ledgers follow. The exit code of CMD is "
		"passed on. Ctrl-C goes to CMD; a second Ctrl-C ends it and everything it "
		"started. Under sudo, CMD runs as the user who called sudo.",
	.examples = "ipcstall run -- curl -s http://127.0.0.1:8080/\twhere did this transfer "
		"wait?\n"
		    "ipcstall run --json l.json -q -- make -j4\tno table, the ledgers in a file\n",
	.options = run_options,
	.options_size = sizeof(struct session_opts),
	.defaults = session_defaults,
	.stop_at_first_operand = true,
	.takes_operands = true,
	.run = run,
};
