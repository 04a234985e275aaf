/* SPDX-License-Identifier: GPL-2.0-only */
/* This program may be started with ignored signals: SIGHUP by nohup, SIGINT by a script's shell for
 * a background job. An ignored SIGHUP is meant, and holds for the program and what it starts. An
 * ignored SIGINT is not: a script that sends SIGINT to its background job wants it to end, as it
 * would a packet sniffer. A program that this one starts gets the signals as this one got them. */
#ifndef IPCSTALL_BASE_SIGNALS_H
#define IPCSTALL_BASE_SIGNALS_H

#include <signal.h>

/* Call once, before any other change of a signal. Then a closed pipe is only an error (EPIPE). */
void signals_begin(void);
/* Install a handler, but none for a SIGHUP that was ignored from the start. Only for signals below
 * 32. */
void signals_catch(int sig, const struct sigaction *sa);
/* Call in a child, before exec: restores the signals as this program got them. */
void signals_as_given(void);

#endif
