// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "commands/command.h"
#include "host/noise.h"

void print_noise(const struct noise_report *r)
{
	char text[NOISE_WARNINGS][NOISE_TEXT];
	int n = noise_warnings(r, &noise_default_limits, text);

	for (int i = 0; i < n; i++)
		printf("warning: %s\n", text[i]);
}
