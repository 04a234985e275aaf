// SPDX-License-Identifier: GPL-2.0-only
/* The table of commands. */
#include "commands/command.h"

#include <stddef.h>

#define ROW(name) extern const struct command command_##name;
#include "commands/command_table.h"
#undef ROW

const struct command *const commands[] = {
#define ROW(name) &command_##name,
#include "commands/command_table.h"
#undef ROW
	NULL,
};
