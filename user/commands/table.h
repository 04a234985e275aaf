/* SPDX-License-Identifier: GPL-2.0-only */
/* One row a command; included several times. The first is the default one. */
ROW(bench)
ROW(clock)
ROW(syscall)
ROW(machine)
ROW(sweep)
ROW(run)
ROW(attach)
ROW(check)
ROW(causes)
ROW(server)
ROW(man)
ROW(completion)
