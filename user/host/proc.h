/* SPDX-License-Identifier: GPL-2.0-only */
/* What /proc tells of a process. */
#ifndef IPCSTALL_HOST_PROC_H
#define IPCSTALL_HOST_PROC_H

#include <stdbool.h>
#include <sys/types.h>

/* Calls fn for every entry of a folder whose name is a number; dir: that folder. False: it cannot
 * be opened. */
bool proc_numbers(const char *path, void (*fn)(void *ctx, int dir, long n), void *ctx);
bool process_lives(pid_t pid);
bool process_is_in(pid_t pid, const pid_t *pids, size_t n);
/* its name, as it may be printed; "": it is gone */
void process_comm(pid_t pid, char comm[16]);
/* Who started it, and who traces it by ptrace(); 0: nobody, or it is gone. */
pid_t process_parent(pid_t pid);
pid_t process_tracer(pid_t pid);
/* 0: it has none, or several */
pid_t process_only_child(pid_t pid);

#endif
