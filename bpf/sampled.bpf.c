// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sampled tier: programs that run once per connection, and one that samples many endpoints when
 * user space runs it. None of them runs for a message.
 */
#define SAMPLED
#define ENDS_UNSEEN				     /* but TCP's */
#pragma clang diagnostic ignored "-Wunused-function" /* of what the ledger does at a message */
#include "preexisting.bpf.h"
#include "evict_endpoint.bpf.h"
#include "sample.bpf.h"
