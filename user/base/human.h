/* SPDX-License-Identifier: GPL-2.0-only */
/* Figures as a person reads them. */
#ifndef IPCSTALL_BASE_HUMAN_H
#define IPCSTALL_BASE_HUMAN_H

#include <stddef.h>

/* "1.23 s", "836 ms", "44.1 us": three significant figures and a unit. */
void human_ns(double ns, char *buf, size_t len);
/* the same, to be used within the statement: printf("%s", human_time(ns).text) */
struct human {
	char text[32];
};
struct human human_time(double ns);

/* "1.23M", "456", "0.50": at most five characters below 1000 T */
void human_count(double v, char *buf, size_t len);

/* `digits` significant digits, never an exponent: "0.0312", "45.1", "130"; "-": unknown (NaN). */
void human_figure(double v, int digits, char *buf, size_t len);

/* The plural's ending: "" for 1, else "s". */
const char *plural(size_t n);

#endif
