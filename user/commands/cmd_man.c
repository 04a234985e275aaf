// SPDX-License-Identifier: GPL-2.0-only
/* The man pages, from the same rows as --help. */
#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "commands/command.h"
#include "render/sink.h"

static void man_examples(const char *lines, FILE *out)
{
	while (*lines) {
		size_t line = strcspn(lines, "\n"), tab = strcspn(lines, "\t");

		if (tab < line) {
			fputs(".TP\n.B ", out);
			opt_man_text_n(lines, tab, out);
			fputc('\n', out);
			opt_man_text_n(lines + tab + 1, line - tab - 1, out);
			fputc('\n', out);
		}
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

/* of the last change of what the pages say beside the option rows */
#define PAGE_DATE "2026-11-26"

static const char exit_codes[] = ".SH EXIT STATUS\n.TP\n.B 0\nsuccess\n.TP\n.B 2\nan option is "
				 "wrong\n.TP\n.B 3\na privilege is missing\n.TP\n.B 4\nthis "
				 "kernel, build or machine cannot do it\n.TP\n.B 5\na resource is "
				 "busy or missing\n.TP\n.B 6\nan output could not be "
				 "written\n.TP\n.B 7\nthe other end died, refused or fell "
				 "silent\n.TP\n.B 8\nthe other end or a file has another "
				 "version\n.TP\n.B 9\nan input file is truncated or "
				 "corrupt\n.TP\n.B 10\ndone, but too noisy to be trusted\n.TP\n.B "
				 "70\na bug in ipcstall: please report it\n.TP\n.B "
				 "130\ninterrupted\n.PP\n.B run\nand\n.B record\npass on the exit "
				 "status of CMD, and 128+N where signal N ended it.\nIf CMD "
				 "cannot be run, the exit status is 2, or 3 if permission is "
				 "missing.\n";

static void title(const char *name, const char *summary, FILE *out)
{
	char upper[32];
	size_t n = 0;

	for (; name[n] && n + 1 < sizeof(upper); n++)
		upper[n] = (char)toupper((unsigned char)name[n]);
	upper[n] = '\0';
	fprintf(out,
		".TH IPCSTALL%s%s 8 \"" PAGE_DATE "\" \"ipcstall " IPCSTALL_VERSION
		"\" \"System Administration\"\n"
		".SH NAME\nipcstall%s%s \\-\n",
		*name ? "\\-" : "", upper, *name ? "\\-" : "", name);
	opt_man_text(summary, out);
	fputc('\n', out);
}

static void synopsis(const struct command *c, FILE *out)
{
	fprintf(out, ".SH SYNOPSIS\n.B ipcstall%s%s\n", c == command_list[0] ? "" : " ",
		c == command_list[0] ? "" : c->name);
	fputs("[\\fIOPTION\\fR...]\n", out);
	if (c->operands) {
		opt_man_text(c->operands, out);
		fputc('\n', out);
	}
}

static void command_page(const struct command *c, FILE *out)
{
	void *values = command_defaults(c);

	title(c->name, c->summary, out);
	synopsis(c, out);
	fputs(".SH DESCRIPTION\n", out);
	opt_man_text(c->description ? c->description : c->summary, out);
	fputc('\n', out);
	fputs(exit_codes, out);
	if (c->options) {
		fputs(".SH OPTIONS\n", out);
		opt_man(c->options, values, out);
	}
	if (c->words)
		man_words(c, out);
	if (c->examples) {
		fputs(".SH EXAMPLES\n", out);
		man_examples(c->examples, out);
	}
	fputs(".SH SEE ALSO\n.BR ipcstall (8)\n", out);
	command_free(c, values);
}

static const char main_description[] =
	"ipcstall traces TCP, UDP and Unix sockets and pipes. It puts every nanosecond of their "
	"lives into exactly one state. The stall is the "
	"time in which data was ready and the protocol held it back. From the states of both ends "
	"it names the cause, and who waits for whom. "
	"It also benchmarks these transports.";

static void main_page(FILE *out)
{
	title("", "find out where an IPC connection loses time, why, and how to fix it", out);
	fputs(".SH SYNOPSIS\n.B ipcstall \\-\\-mode\n.I MODE\n[\\fIOPTION\\fR...]\n.br\n.B "
	      "ipcstall\n.I COMMAND\n[\\fIOPTION\\fR...]\n"
	      ".SH DESCRIPTION\n",
	      out);
	opt_man_text(main_description, out);
	fputc('\n', out);
	fputs(exit_codes, out);
	fputs(".SH COMMANDS\nEach has a page of its own, ipcstall\\-COMMAND(8).\n", out);
	for (const struct command *const *c = command_list; *c; c++)
		opt_man_word((*c)->name, (*c)->summary, out);
	fputs(".SH VALUES\n", out);
	opt_man_text(opt_values_help, out);
	fputs("\n.SH EXAMPLES\n.TP\n.B sudo ipcstall run \\-\\- curl http://127.0.0.1:8080/\nwhere "
	      "did this transfer wait?\n"
	      ".TP\n.B sudo ipcstall attach \\-p 1234 \\-d 10s\nten seconds of a running server\n"
	      ".TP\n.B sudo ipcstall \\-\\-mode tcp \\-\\-size 64K\nlatency, throughput and both "
	      "ends' ledgers at 64 KiB\n",
	      out);
}

static int page_to_file(const char *dir, const struct command *c, struct err *e)
{
	char path[PATH_MAX];
	FILE *out;

	snprintf(path, sizeof(path), "%s/ipcstall%s%s.8", dir, c ? "-" : "", c ? c->name : "");
	out = sink_open(path, e);
	if (!out)
		return -1;
	if (c)
		command_page(c, out);
	else
		main_page(out);
	return sink_close(out, path, e);
}

static int all_pages(const char *dir, struct err *e)
{
	for (const struct command *const *c = command_list; *c; c++)
		if (page_to_file(dir, *c, e))
			return -1;
	return page_to_file(dir, NULL, e);
}

struct man_opts {
	char *dir;
};

static const struct opt man_options[] = {
	{ OPT_STRING, 0, "dir", "DIR", "write every page to a file in this directory",
		offsetof(struct man_opts, dir) },
	OPT_END,
};

static int run_man(void *opts, struct opt_operands *rest, struct err *e)
{
	const struct man_opts *o = opts;
	const struct command *c = rest->n ? command_find(rest->v[0]) : NULL;

	if (o->dir)
		return all_pages(o->dir, e) ? (int)e->code : EXIT_DONE;
	if (rest->n > 1 || (rest->n && !c))
		return err_usage(e, "man %s: no such command; see ipcstall --help",
				 rest->v[rest->n - 1]),
		       EXIT_BAD_USAGE;
	if (c)
		command_page(c, stdout);
	else
		main_page(stdout);
	return EXIT_DONE;
}

const struct command command_man = {
	.name = "man",
	.summary = "Print a man page (roff)",
	.operands = "[COMMAND]",
	.examples = "ipcstall man run | man -l -\tread the page of a command\n",
	.options = man_options,
	.options_size = sizeof(struct man_opts),
	.takes_operands = true,
	.run = run_man,
};
