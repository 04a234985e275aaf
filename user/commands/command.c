// SPDX-License-Identifier: GPL-2.0-only
/* What all commands share: finding, helping, running. */
#include "commands/command.h"

#include <stdlib.h>
#include <string.h>

const struct command *const *command_list;

const struct command *command_find(const char *name)
{
	for (const struct command *const *c = command_list; *c; c++)
		if (strcmp((*c)->name, name) == 0)
			return *c;
	return NULL;
}

static void help_examples(const char *lines, FILE *out)
{
	fputs("\nExamples:\n", out);
	while (*lines) {
		size_t line = strcspn(lines, "\n"), tab = strcspn(lines, "\t");
		char *command = strndup(lines, tab < line ? tab : line);
		char *means = tab < line ? strndup(lines + tab + 1, line - tab - 1) : NULL;

		fputs("  ", out);
		opt_wrap_command(out, command ? command : "", 4);
		if (means) {
			fprintf(out, "%*s", 6, "");
			opt_wrap(out, means, 6);
		}
		free(command);
		free(means);
		lines += line + (lines[line] == '\n');
	}
}

void *command_defaults(const struct command *c)
{
	void *opts = calloc(1, c->options_size + 1);

	if (opts && c->defaults)
		c->defaults(opts);
	return opts;
}

void command_free(const struct command *c, void *opts)
{
	if (opts && c->options)
		opt_free(c->options, opts);
	free(opts);
}

static void help_words(const struct command *c, FILE *out)
{
	char text[256];
	const char *name;

	fprintf(out, "\n%s:\n", c->words_title);
	for (size_t i = 0; c->words(i, &name, text, sizeof(text)); i++)
		opt_help_word(name, text, out);
}

static void command_help(const struct command *c, FILE *out)
{
	bool is_default = c == command_list[0];
	void *values = command_defaults(c);
	char text[400];

	snprintf(text, sizeof(text), "Usage: ipcstall %s%s[OPTION...]%s%s",
		 is_default ? "[bench]" : c->name, " ", c->operands ? " " : "",
		 c->operands ? c->operands : "");
	opt_wrap(out, text, 0);
	snprintf(text, sizeof(text), "%s.", c->summary);
	fputc('\n', out);
	opt_wrap(out, text, 0);
	if (c->description) {
		fputc('\n', out);
		opt_wrap(out, c->description, 0);
	}
	if (c->options)
		opt_help(c->options, values, out);
	if (c->words)
		help_words(c, out);
	if (c->examples)
		help_examples(c->examples, out);
	command_free(c, values);
}

static const struct {
	const char *title;
	const char *const names[12];
} help_groups[] = {
	{ "look at programs", { "run", "attach", "top", "watch", "try", "record", "replay",
		"export", NULL } },
	{ "measure", { "bench", "sweep", "diagnose", "experiment", "server", "machine", "clock",
		"syscall", NULL } },
	{ "show what was measured", { "report", "figure", "summary", "compare", NULL } },
};

static bool in_a_group(const char *name)
{
	for (size_t i = 0; i < sizeof(help_groups) / sizeof(help_groups[0]); i++)
		if (opt_is_among(name, help_groups[i].names))
			return true;
	return false;
}

static void help_line(const struct command *c, FILE *out)
{
	if (!c)
		return;
	fprintf(out, "  %-12s ", c->name);
	opt_wrap(out, c->summary, 15);
}

static void help_commands(FILE *out)
{
	fputs("Commands:\n", out);
	for (size_t i = 0; i < sizeof(help_groups) / sizeof(help_groups[0]); i++) {
		fprintf(out, "%s To %s:\n", i ? "\n" : "", help_groups[i].title);
		for (const char *const *name = help_groups[i].names; *name; name++)
			help_line(command_find(*name), out);
	}
	fputs("\n To understand:\n", out);
	for (const struct command *const *c = command_list; *c; c++)
		if (!in_a_group((*c)->name))
			help_line(*c, out);
}

void command_help_all(FILE *out)
{
	opt_wrap(out, "Find out where a TCP, UDP, pipe or Unix-socket connection loses time, why, "
		      "and how to fix it.", 0);
	fputs("\nUsage: ipcstall COMMAND [OPTION...]\n"
	      "       ipcstall --mode MODE [OPTION...]\n\n",
	      out);
	help_commands(out);
	fputc('\n', out);
	opt_wrap(out, "`ipcstall help COMMAND` explains a command, `ipcstall help bench` the "
		      "benchmark's options.", 0);
	fputc('\n', out);
	opt_wrap(out, opt_values_help, 0);
	help_examples("sudo ipcstall attach -p 1234 -d 10s\twhere does this program wait?\n"
		      "sudo ipcstall run -- curl -s URL\twhere does this command wait?\n"
		      "sudo ipcstall --mode tcp --size 64K\thow fast is TCP here, and why?\n",
		      out);
}

static bool wants_help(int argc, char **argv, const struct command *c)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return true;
		if (c->stop_at_first_operand && argv[i][0] != '-')
			return false;
	}
	return false;
}

static int run_parsed(const struct command *c, void *opts, int argc, char **argv, struct err *e)
{
	struct opt_operands rest = { .stop_at_first = c->stop_at_first_operand,
		.none = !c->takes_operands };
	static const struct opt none[] = { OPT_END };
	int rc = EXIT_BAD_USAGE;

	rest.v = calloc(argc + 1, sizeof(*rest.v));
	if (opt_parse(c->options ? c->options : none, opts, argc, argv, &rest, e) == 0)
		rc = c->run(opts, &rest, e);
	free(rest.v);
	return rc;
}

/* Output that was only buffered must not be lost in silence: a full disk or a closed pipe shows at
 * the flush. */
int command_end(int rc, struct err *e)
{
	if (fflush(stdout) || ferror(stdout))
		err_sys(e, EXIT_IO, "free some space or start its reader, and run "
				    "again", "standard output");
	return err_is_set(e) ? err_print(e) : rc;
}

int command_invoke(const struct command *c, int argc, char **argv)
{
	struct err e = {};
	void *opts;
	int rc;

	if (wants_help(argc, argv, c)) {
		command_help(c, stdout);
		return command_end(EXIT_DONE, &e);
	}
	opts = command_defaults(c);
	if (!opts)
		return EXIT_NO_RESOURCE;
	rc = command_end(run_parsed(c, opts, argc, argv, &e), &e);
	command_free(c, opts);
	return rc;
}
