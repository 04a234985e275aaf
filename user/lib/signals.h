/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whoever started this program may have it ignore signals: nohup the hangup, a script's shell the Ctrl-C of what it runs in the
 * background. That stays so, for the program itself and for what it starts: exec passes on what is ignored, and resets the rest.
 */
#ifndef IPCSTALL_SIGNALS_H
#define IPCSTALL_SIGNALS_H

#include <signal.h>

/* Once, before anything else changes a signal: a closed pipe is an error to report from now on, not a death. */
void signals_begin(void);
/* Install a handler, unless the signal was to be ignored from the start. */
void signals_catch(int sig, const struct sigaction *sa);
/* In a child, before exec: as this program was started itself. */
void signals_as_given(void);

#endif
