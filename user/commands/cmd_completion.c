// SPDX-License-Identifier: GPL-2.0-only
/* Completion for bash, zsh and fish, from the same rows as --help: commands, options, and the
 * values of options. */
#include <string.h>

#include "commands/command.h"

/* What completes a value, as each shell says it. */
struct source {
	const char *bash, *zsh, *fish;
};

static const struct source files = { "$(compgen -f -- \"$cur\")", "_files",
	"(__fish_complete_path)" };
static const struct source pids = { "$(ps -eo pid= 2>/dev/null)", "_pids",
	"(__fish_complete_pids)" };
static const struct source programs = { "$(ps -eo comm= 2>/dev/null | sort -u)",
					"(${(f)\"$(ps -eo comm= | sort -u)\"})",
					"(ps -eo comm= | sort -u)" };

/* By what stands for the value in the help. */
static const struct {
	const char *arg, *name;
	const struct source *source;
} by_arg[] = {
	{ "FILE", NULL, &files }, { "DIR", NULL, &files }, { "PATH", NULL, &files }, { "PID", NULL,
		&pids }, { "NAME", "comm", &programs },
};

static const struct source *source_of(const struct opt *row)
{
	for (size_t i = 0; row->arg && i < sizeof(by_arg) / sizeof(by_arg[0]); i++)
		if (!strcmp(row->arg, by_arg[i].arg) &&
		    (!by_arg[i].name || !strcmp(row->name, by_arg[i].name)))
			return by_arg[i].source;
	return NULL;
}

/* Its values in one line, blanks between them; choices may be a hint where others are allowed too.
 */
static void put_choices(const char *const *choices, const char *between, FILE *out)
{
	for (size_t i = 0; choices[i]; i++)
		fprintf(out, "%s%s", i ? between : "", choices[i]);
}

static bool is_row(const struct opt *row)
{
	return row->name || row->help;
}

static bool takes_value(const struct opt *row)
{
	return row->type != OPT_FLAG && row->type != OPT_GROUP;
}

/* The words of a command's operand: of a list that the program has, or that it prints. */
static void put_words(const struct command *c, FILE *out)
{
	char text[256];
	const char *name;

	for (size_t i = 0; c->words && c->words(i, &name, text, sizeof(text)); i++)
		fprintf(out, "%s%s", i ? " " : "", name);
}

/* In quotes of one kind for the shell. */
static void put_quoted(const char *text, const char *also, FILE *out)
{
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", out);
		else
			fprintf(out, "%s%c", strchr(also, *text) ? "\\" : "", *text);
}

/* --- bash ------------------------------------------------------------------------------------- */

static void bash_value(const struct command *c, const struct opt *row, FILE *out)
{
	const struct source *s = source_of(row);

	if (!takes_value(row))
		return;
	fprintf(out, "\t%s/--%s", c->name, row->name);
	if (row->shorthand)
		fprintf(out, "|%s/-%c", c->name, row->shorthand);
	fputs(") words=\"", out);
	if (row->choices)
		put_choices(row->choices, " ", out);
	else if (s)
		fputs(s->bash, out);
	fputs("\"; known=1 ;;\n", out);
}

static void bash_options(const struct command *c, FILE *out)
{
	fprintf(out, "\t%s) words=\"", c->name);
	for (const struct opt *row = c->options; row && is_row(row); row++)
		if (row->name)
			fprintf(out, "--%s ", row->name);
	fputs("--help\"; operands=\"", out);
	if (c->operand_source)
		fprintf(out, "$(%s 2>/dev/null)", c->operand_source);
	else
		put_words(c, out);
	fputs("\" ;;\n", out);
}

static void bash_script(FILE *out)
{
	fputs("_ipcstall() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} "
	      "prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words operands known\n"
	      "\t[[ $command == -* ]] && command=bench\n\tcase $command/$prev in\n",
	      out);
	for (const struct command *const *c = command_list; *c; c++)
		for (const struct opt *row = (*c)->options; row && is_row(row); row++)
			if (row->name)
				bash_value(*c, row, out);
	fputs("\tesac\n\tif [[ $known ]]; then\n\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" "
	      "-- \"$cur\")\n\t\treturn\n\tfi\n\tcase $command in\n",
	      out);
	for (const struct command *const *c = command_list; *c; c++)
		bash_options(*c, out);
	fputs("\tesac\n\tif ((COMP_CWORD == 1)) && [[ $cur != -* ]]; then words='help ", out);
	for (const struct command *const *c = command_list; *c; c++)
		fprintf(out, "%s ", (*c)->name);
	fputs("'\n\telif [[ $cur != -* ]]; then words=$operands\n\tfi\n\tmapfile -t COMPREPLY < "
	      "<(compgen -W \"$words\" -- \"$cur\")\n}\n"
	      "complete -o default -F _ipcstall ipcstall\n",
	      out);
}

/* --- zsh -------------------------------------------------------------------------------------- */

static void zsh_value(const struct opt *row, FILE *out)
{
	const struct source *s = source_of(row);

	if (!takes_value(row))
		return;
	fprintf(out, ":%s:", row->arg ? row->arg : "value");
	if (row->choices) {
		fputc('(', out);
		put_choices(row->choices, " ", out);
		fputc(')', out);
	} else if (s) {
		fputs(s->zsh, out);
	}
}

static void zsh_option(const struct opt *row, FILE *out)
{
	const char *again = row->type == OPT_MULTI ? "*" : "";

	if (row->shorthand)
		fprintf(out, " \\\n\t\t\t'%s-%c[", again, row->shorthand),
			put_quoted(row->help, "[]:", out), fputc(']', out), zsh_value(row, out),
			fputc('\'', out);
	fprintf(out, " \\\n\t\t\t'%s--%s[", again, row->name);
	put_quoted(row->help, "[]:", out);
	fputc(']', out);
	zsh_value(row, out);
	fputc('\'', out);
}

static void zsh_operand(const struct command *c, FILE *out)
{
	if (c->stop_at_first_operand)
		fputs(" \\\n\t\t\t'*::command:_normal'", out);
	else if (c->operand_source)
		fprintf(out, " \\\n\t\t\t\"*:operand:($(%s 2>/dev/null))\"", c->operand_source);
	else if (c->words && c->takes_operands)
		fputs(" \\\n\t\t\t'*:operand:(", out), put_words(c, out), fputs(")'", out);
	else if (c->takes_operands)
		fputs(" \\\n\t\t\t'*:file:_files'", out);
}

static void zsh_command(const struct command *c, FILE *out)
{
	fprintf(out, "\t%s)\n\t\t_arguments -S", c->name);
	for (const struct opt *row = c->options; row && is_row(row); row++)
		if (row->name)
			zsh_option(row, out);
	fputs(" \\\n\t\t\t'--help[explain this command]'", out);
	zsh_operand(c, out);
	fputs("\n\t\t;;\n", out);
}

static void zsh_script(FILE *out)
{
	fputs("#compdef ipcstall\n_ipcstall() {\n\tlocal command=$words[2]\n\tlocal -a "
	      "known\n\tknown=(\n",
	      out);
	for (const struct command *const *c = command_list; *c; c++) {
		fprintf(out, "\t\t'%s:", (*c)->name);
		put_quoted((*c)->summary, ":", out);
		fputs("'\n", out);
	}
	fputs("\t)\n\tif (( CURRENT == 2 )) && [[ $command != -* ]]; then\n\t\t_describe command "
	      "known\n\t\treturn\n\tfi\n"
	      "\tif [[ $command == -* ]]; then\n\t\tcommand=bench\n\telse\n\t\tshift words\n\t\t(( "
	      "CURRENT-- ))\n\tfi\n\tcase $command in\n",
	      out);
	for (const struct command *const *c = command_list; *c; c++)
		zsh_command(*c, out);
	fputs("\thelp) _describe command known ;;\n\tesac\n}\n"
	      "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n\t_ipcstall "
	      "\"$@\"\nelse\n\tcompdef _ipcstall ipcstall\nfi\n",
	      out);
}

/* --- fish ------------------------------------------------------------------------------------- */

static void fish_when(const struct command *c, FILE *out)
{
	if (c == command_list[0])
		fputs("complete -c ipcstall -n '__ipcstall_is bench'", out);
	else
		fprintf(out, "complete -c ipcstall -n '__ipcstall_is %s'", c->name);
}

static void fish_option(const struct command *c, const struct opt *row, FILE *out)
{
	const struct source *s = source_of(row);

	fish_when(c, out);
	if (row->shorthand)
		fprintf(out, " -s %c", row->shorthand);
	fprintf(out, " -l %s", row->name);
	if (takes_value(row))
		fputs(s == &files ? " -r" : " -x", out);
	if (row->choices) {
		fputs(" -a '", out);
		put_choices(row->choices, " ", out);
		fputc('\'', out);
	} else if (s && s != &files) {
		fprintf(out, " -a '%s'", s->fish);
	}
	fputs(" -d '", out);
	put_quoted(row->help, "", out);
	fputs("'\n", out);
}

static void fish_operand(const struct command *c, FILE *out)
{
	if (!c->operand_source && !(c->words && c->takes_operands))
		return;
	fish_when(c, out);
	fputs(" -f -a '", out);
	if (c->operand_source)
		fprintf(out, "(%s 2>/dev/null)", c->operand_source);
	else
		put_words(c, out);
	fputs("'\n", out);
}

static void fish_script(FILE *out)
{
	fputs("function __ipcstall_is\n\tset -l words (commandline -opc)\n\ttest (count $words) "
	      "-ge 2; or return 1\n"
	      "\ttest $words[2] = $argv[1]; or begin; test $argv[1] = bench; and string match -q "
	      "-- '-*' $words[2]; end\nend\n"
	      "function __ipcstall_first\n\ttest (count (commandline -opc)) -eq 1\nend\n",
	      out);
	for (const struct command *const *c = command_list; *c; c++) {
		fprintf(out, "complete -c ipcstall -n __ipcstall_first -f -a %s -d '", (*c)->name);
		put_quoted((*c)->summary, "", out);
		fputs("'\n", out);
		for (const struct opt *row = (*c)->options; row && is_row(row); row++)
			if (row->name)
				fish_option(*c, row, out);
		fish_operand(*c, out);
	}
	fputs("complete -c ipcstall -n '__ipcstall_first' -l mode -x -a '", out);
	put_choices(opt_find(command_list[0]->options, "mode")->choices, " ", out);
	fputs("' -d 'benchmark this transport'\n", out);
}

/* ---------------------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*print)(FILE *out);
	const char *summary;
} shells[] = {
	{ "bash", bash_script, "source <(ipcstall completion bash)" },
	{ "zsh", zsh_script, "source <(ipcstall completion zsh), after compinit" },
	{ "fish", fish_script, "ipcstall completion fish | source" },
};

static bool shell_words(size_t i, const char **name, char *text, size_t len)
{
	if (i >= sizeof(shells) / sizeof(shells[0]))
		return false;
	*name = shells[i].name;
	snprintf(text, len, "%s", shells[i].summary);
	return true;
}

static int run(void *opts, struct opt_operands *rest, struct err *e)
{
	for (size_t i = 0; rest->n == 1 && i < sizeof(shells) / sizeof(shells[0]); i++) {
		if (strcmp(rest->v[0], shells[i].name))
			continue;
		shells[i].print(stdout);
		return EXIT_DONE;
	}
	return err_usage(e, "completion: give the shell's name; known: bash, zsh, fish"),
	       EXIT_BAD_USAGE;
}

const struct command command_completion = {
	.name = "completion",
	.summary = "Print a shell's completion script",
	.operands = "SHELL",
	.words_title = "Shells",
	.words = shell_words,
	.examples = "source <(ipcstall completion bash)\tcomplete in this shell\n",
	.takes_operands = true,
	.run = run,
};
