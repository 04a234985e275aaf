/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints for people which features this kernel allows. */
#ifndef IPCSTALL_RENDER_CHECK_TEXT_H
#define IPCSTALL_RENDER_CHECK_TEXT_H

#include "render/paint.h"
#include "tracer/trace.h"

/* best: TRACE_AUTO if no backend works; why: the reason that no better backend works; not_covered:
 * what `best` cannot see */
void check_text(const struct trace_feature *f, size_t n, enum trace_backend best, const char *why,
		const char *const *not_covered, const struct paint *p);

#endif
