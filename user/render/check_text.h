/* SPDX-License-Identifier: GPL-2.0-only */
/* What a kernel allows, as a person reads it. */
#ifndef IPCSTALL_RENDER_CHECK_TEXT_H
#define IPCSTALL_RENDER_CHECK_TEXT_H

#include "render/paint.h"
#include "tracer/trace.h"

/* best: TRACE_AUTO where no backend works; why: no better one does; not_covered: of `best` */
void check_text(const struct trace_feature *f, size_t n, enum trace_backend best, const char *why,
		const char *const *not_covered, const struct paint *p);

#endif
