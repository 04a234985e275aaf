/* SPDX-License-Identifier: GPL-2.0-only */
/* Whoever started this program may have it ignore signals: nohup the hangup, a script's shell the
 * Ctrl-C of what it runs in the background. nohup is meant, and holds for the program and what it
 * starts. The Ctrl-C is not: a script that sends SIGINT to its background job wants it to end, as
 * it would a packet sniffer. What the program starts is given what the program was. */
#ifndef IPCSTALL_BASE_SIGNALS_H
#define IPCSTALL_BASE_SIGNALS_H

#include <signal.h>

/* Once, before anything else changes a signal: a closed pipe is an error to report from now on. */
void signals_begin(void);
/* Install a handler; over a hangup that was to be ignored from the start none. Only of signals
 * below 32. */
void signals_catch(int sig, const struct sigaction *sa);
/* In a child, before exec: as this program was started itself. */
void signals_as_given(void);

#endif
