// SPDX-License-Identifier: GPL-2.0-only
/* A short letter means one thing: the same long name in every command that has it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "commands/command.h"

enum { LETTERS = 128 };

/* `sweep` and `experiment` call -o --out: one meaning, two names */
static bool same_meaning(const char *a, const char *b)
{
	return !strcmp(a, b) || (!strcmp(a, "out") && !strcmp(b, "output")) ||
	       (!strcmp(a, "output") && !strcmp(b, "out"));
}

static int clashes(const struct command *const *list)
{
	const char *names[LETTERS] = {}, *whose[LETTERS] = {};
	int n = 0;

	for (; *list; list++)
		for (const struct opt *o = (*list)->options; o && !opt_is_end(o); o++) {
			unsigned char c = (unsigned char)o->shorthand;

			if (!c || c >= LETTERS)
				continue;
			if (names[c] && !same_meaning(names[c], o->name)) {
				print_error("-%c is --%s of %s and --%s of %s\n", c, names[c],
					    whose[c], o->name, (*list)->name);
				n++;
			}
			names[c] = o->name;
			whose[c] = (*list)->name;
		}
	return n;
}

static void no_letter_has_two_meanings(void **s)
{
	(void)s;
	assert_int_equal(clashes(commands), 0);
}

static void one_that_has_is_found(void **s)
{
	static const struct opt a[] = { { .type = OPT_FLAG, .shorthand = 'p', .name = "pid" },
		OPT_END },
		b[] = { { .type = OPT_FLAG, .shorthand = 'p', .name = "pattern" }, OPT_END };
	static const struct command one = { .name = "one", .options = a },
				    two = { .name = "two", .options = b };
	const struct command *const list[] = { &one, &two, NULL };

	(void)s;
	assert_int_equal(clashes(list), 1);
}

/* Every command that has a duration has it as -d, and every JSON goes where it is told to. */
static void what_commands_share_looks_the_same(void **s)
{
	(void)s;
	for (const struct command *const *c = commands; *c; c++)
		for (const struct opt *o = (*c)->options; o && !opt_is_end(o); o++) {
			if (o->name && !strcmp(o->name, "duration") && o->shorthand != 'd')
				fail_msg("--duration of %s has no -d", (*c)->name);
			if (o->name && !strcmp(o->name, "json") && o->type != OPT_STRING)
				fail_msg("--json of %s takes no file", (*c)->name);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_letter_has_two_meanings),
		cmocka_unit_test(one_that_has_is_found),
		cmocka_unit_test(what_commands_share_looks_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
