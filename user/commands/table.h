/* SPDX-License-Identifier: GPL-2.0-only */
/* One row a command; included several times. The first is the default one. */
ROW(clock)
ROW(syscall)
ROW(machine)
ROW(man)
ROW(completion)
