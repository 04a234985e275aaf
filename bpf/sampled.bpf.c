// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sampled tier: programs at what happens once to a connection, and one that looks at many
 * endpoints at an instant, which user space runs. Nothing here is on a message's way.
 */
#define SAMPLED
#define ENDS_UNSEEN				     /* but TCP's */
#pragma clang diagnostic ignored "-Wunused-function" /* of what the ledger does at a message */
#include "preexisting.bpf.h"
#include "room.bpf.h"
#include "sample.bpf.h"
