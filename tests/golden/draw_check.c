// SPDX-License-Identifier: GPL-2.0-only
/* `ipcstall check` on kernels that this one is not: draw_check full|locked|none. */
#include <string.h>

#include "golden/kept.h"
#include "render/check_text.h"

#define LOCKED "not permitted: the kernel is locked down (integrity)"

/* The texts are the program's own; what is there is the scene's. */
static size_t features(struct trace_feature *f, const char *const *absent, const char *why)
{
	const struct trace_feature *own;
	size_t n = trace_features(&own);

	for (size_t i = 0; i < n; i++) {
		f[i] = own[i];
		f[i].there = true;
		for (const char *const *a = absent; *a; a++)
			if (!strcmp(*a, f[i].name)) {
				f[i].there = false;
				snprintf(f[i].why_not, sizeof(f[i].why_not), "%s", why);
			}
	}
	return n;
}

int main(int argc, char **argv)
{
	static const char *const nothing[] = { NULL }, *const locked[] = { "fentry", "kprobe",
		NULL }, *const none[] = { "BTF", "raw tracepoints", NULL };
	struct paint p = paint_on(stdout, kept_colour());
	bool full = argc > 1 && !strcmp(argv[1], "full"),
	     is_locked = argc > 1 && !strcmp(argv[1], "locked");
	enum trace_backend best = full ? TRACE_FENTRY : is_locked ? TRACE_RAWTP : TRACE_AUTO;
	const char *why = full	      ? ""
			  : is_locked ? LOCKED
				      : "not permitted: no CAP_BPF and CAP_PERFMON";
	struct trace_feature f[32];
	size_t n = features(f, full ? nothing : is_locked ? locked : none, why);

	check_text(f, n, best, why, best == TRACE_AUTO ? NULL : trace_not_covered(best), &p);
	return 0;
}
