// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands/command.h"
#include "base/signals.h"

static int unknown_command(const char *word)
{
	struct err e = {};
	const char *names[64], *near;
	size_t n = 0;

	for (const struct command *const *c = commands; *c && n < 64; c++)
		names[n++] = (*c)->name;
	near = nearest_word(word, names, n);
	err_usage(&e, "%s: no such command; %s%s%s", word,
		  near ? "did you mean '" : "see ipcstall --help", near ? near : "",
		  near ? "'? (ipcstall --help lists all)" : "");
	return err_print(&e);
}

/* `help COMMAND` and `--help COMMAND`; NULL: neither */
static const char *helped(int argc, char **argv)
{
	if (argc != 3)
		return NULL;
	if (!strcmp(argv[1], "help"))
		return argv[2];
	return (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) && command_find(argv[2])
		       ? argv[2]
		       : NULL;
}

static int help_of(const char *name)
{
	char help[] = "--help", *argv[] = { (char *)name, help, NULL };
	const struct command *c = command_find(name);

	return c ? command_invoke(c, 2, argv) : unknown_command(name);
}

/* If one of the first three descriptors is closed, the next opened file gets its number, and output
 * meant for a screen would go into a tracer's map or a worker's channel. So occupy these numbers
 * with descriptors that can neither be read nor written (O_PATH): reading or writing fails, as on a
 * closed one. Commands that we run do not inherit them. */
static void hold_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/", O_PATH | O_CLOEXEC);
}

/* A snapshot of many endpoints is large and short-lived. After the first, glibc would take memory
 * for the next from the heap, which then stays large. */
static void return_freed_arrays(void)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

int main(int argc, char **argv)
{
	const struct command *c = commands[0];
	struct err e = {};

	return_freed_arrays();
	command_list = commands;
	hold_standard_descriptors();
	signals_begin();
	if (argc < 2 || (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
				       !strcmp(argv[1], "help")))) {
		command_help_all(argc < 2 ? stderr : stdout);
		return argc < 2 ? EXIT_BAD_USAGE : command_end(EXIT_DONE, &e);
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("ipcstall %s (%s)\n", IPCSTALL_VERSION, IPCSTALL_BUILD);
		return command_end(EXIT_DONE, &e);
	}
	if (helped(argc, argv))
		return help_of(helped(argc, argv));
	if (argv[1][0] == '-')
		return command_invoke(c, argc, argv);
	c = command_find(argv[1]);
	return c ? command_invoke(c, argc - 1, argv + 1) : unknown_command(argv[1]);
}
