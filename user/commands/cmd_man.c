// SPDX-License-Identifier: GPL-2.0-only
/* The man page and the shell completion, from the same rows as --help. */
#include <string.h>

#include "commands/command.h"

static void man_examples(const char *lines, FILE *out)
{
	while (*lines) {
		size_t line = strcspn(lines, "\n"), tab = strcspn(lines, "\t");

		if (tab < line)
			fprintf(out, ".TP\n.B %.*s\n%.*s\n", (int)tab, lines, (int)(line - tab - 1), lines + tab + 1);
		lines += line + (lines[line] == '\n');
	}
}

static void man_words(const struct command *c, FILE *out)
{
	char text[256];
	const char *name;

	fprintf(out, ".SS %s\n", c->words_title);
	for (size_t i = 0; c->words(i, &name, text, sizeof(text)); i++)
		opt_man_word(name, text, out);
}

static void man_command(const struct command *c, FILE *out)
{
	void *values = command_defaults(c);

	fprintf(out, ".SH IPCSTALL %s\n%s.\n", c->name, c->summary);
	if (c->description)
		fprintf(out, ".PP\n%s\n", c->description);
	if (c->options)
		opt_man(c->options, values, out);
	if (c->words)
		man_words(c, out);
	if (c->examples)
		man_examples(c->examples, out);
	command_free(c, values);
}

static const char man_head[] =
	".TH IPCSTALL 8 \"\" \"ipcstall " IPCSTALL_VERSION "\" \"System Administration\"\n"
	".SH NAME\nipcstall \\- where an IPC conversation stalls, why, and what mends it\n"
	".SH SYNOPSIS\n.B ipcstall \\-\\-mode\n.I MODE\n[\\fIOPTION\\fR...]\n.br\n.B ipcstall\n.I COMMAND\n[\\fIOPTION\\fR...]\n"
	".SH DESCRIPTION\nRuns IPC benchmarks and traces live programs, and divides the life of every socket and pipe into states that exclude each "
	"other and leave no gap. The states in which the protocol waits while the device is idle are its stall.\n";

static const char man_tail[] =
	".SH EXIT STATUS\n.TP\n.B 0\nthe job was done whole\n.TP\n.B 2\nan option is wrong\n.TP\n.B 3\na privilege is missing\n"
	".TP\n.B 4\nthis kernel, build or machine cannot do it\n.TP\n.B 5\na resource is taken or missing\n"
	".TP\n.B 6\nan output could not be written\n.TP\n.B 7\nthe other end died, refused or fell silent\n"
	".TP\n.B 8\nthe other end or a file speaks another version\n.TP\n.B 9\nan input file is truncated or corrupt\n"
	".TP\n.B 10\ndone, but too noisy to be trusted\n.TP\n.B 70\nan invariant of ipcstall is broken: report it\n"
	".TP\n.B 130\ninterrupted\n"
	".PP\n.B run\nand\n.B record\npass on the exit status of CMD, and 128+N where signal N ended it; a CMD that cannot be run gives 2, or 3 where it may "
	"not be.\n";

static int run_man(void *opts, struct opt_operands *rest, struct err *e)
{
	fputs(man_head, stdout);
	fputs(".SH VALUES\n", stdout);
	opt_man_text(opt_values_help, stdout);
	putchar('\n');
	for (const struct command *const *c = commands; *c; c++)
		man_command(*c, stdout);
	fputs(man_tail, stdout);
	return EXIT_DONE;
}

const struct command command_man = {
	.name = "man",
	.summary = "Print the man page (roff)",
	.examples = "ipcstall man | man -l -\tread it\n",
	.run = run_man,
};

static void complete_options(const struct opt *rows, FILE *out)
{
	for (; rows && (rows->name || rows->help); rows++)
		if (rows->name)
			fprintf(out, " --%s", rows->name);
}

static int run_completion(void *opts, struct opt_operands *rest, struct err *e)
{
	if (rest->n != 1 || strcmp(rest->v[0], "bash"))
		return err_set(e, EXIT_BAD_USAGE, "completion: give the shell's name; known: bash"), EXIT_BAD_USAGE;
	puts("_ipcstall() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} words\n\tcase ${COMP_WORDS[1]} in");
	for (const struct command *const *c = commands; *c; c++) {
		printf("\t%s) words='", (*c)->name);
		complete_options((*c)->options, stdout);
		puts(" --help' ;;");
	}
	fputs("\t*) words='", stdout);
	for (const struct command *const *c = commands; *c; c++)
		printf("%s ", (*c)->name);
	complete_options(commands[0]->options, stdout);
	puts("' ;;\n\tesac\n\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n}\ncomplete -o default -F _ipcstall ipcstall");
	return EXIT_DONE;
}

const struct command command_completion = {
	.name = "completion",
	.summary = "Print a shell's completion script",
	.operands = "bash",
	.examples = "source <(ipcstall completion bash)\tcomplete in this shell\n",
	.takes_operands = true,
	.run = run_completion,
};
