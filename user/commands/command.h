/* SPDX-License-Identifier: GPL-2.0-only */
/* A command is one file that defines one of these and one row in command_table.h. */
#ifndef IPCSTALL_COMMANDS_COMMAND_H
#define IPCSTALL_COMMANDS_COMMAND_H

#include "base/opt.h"

struct command {
	const char *name;
	const char *summary;	 /* one line, for the list */
	const char *operands;	 /* in the usage line, e.g. "-- CMD [ARG...]"; NULL: none */
	const char *description; /* a paragraph for --help and the man page */
	const char
		*words_title; /* of a list that one of the options takes words from; NULL: none */
	bool (*words)(size_t i, const char **name, char *text,
		      size_t len);  /* false: there are no more */
	const char *operand_source; /* for completion: a command that prints the operand's words;
				       NULL: `words`, or files */
	const char *examples;	    /* lines "COMMAND LINE\tWHAT IT DOES\n" */
	const struct opt *options;  /* ends with OPT_END; NULL: none */
	size_t options_size;	    /* of the struct which the rows fill */
	void (*defaults)(void *opts);
	bool stop_at_first_operand; /* what follows is another program's command line */
	bool takes_operands;
	/* Returns the exit code; errors other than usage are already recorded in e (printed by
	 * main). */
	int (*run)(void *opts, struct opt_operands *rest, struct err *e);
};

extern const struct command
	*const commands[]; /* NULL-terminated; the first one is the benchmark, the default */
/* The same, for the commands themselves: main() sets it. */
extern const struct command *const *command_list;

/* The options at their defaults; NULL: no memory. */
void *command_defaults(const struct command *c);
void command_free(const struct command *c, void *opts);
const struct command *command_find(const char *name);
void command_help_all(FILE *out);
/* What is left to do at the end: standard output is flushed, an error printed. Returns the exit
 * code. */
int command_end(int rc, struct err *e);
/* For commands that measure: what on this machine speaks against their figures, a line each. */
struct noise_report;
void print_noise(const struct noise_report *r);
int command_invoke(const struct command *c, int argc, char **argv);

#endif
