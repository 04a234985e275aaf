/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef IPCSTALL_TRACER_OTHER_NETNS_H
#define IPCSTALL_TRACER_OTHER_NETNS_H

#include "tracer/lone_ends.h"

/* Finds the other ends of connections that none of the searched namespaces has. */
void lone_ends_find_in_other_netns(struct lone_ends *all);

#endif
