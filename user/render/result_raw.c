// SPDX-License-Identifier: GPL-2.0-only
/* Every sample in the order it was taken: test, size, ns. */
#include <inttypes.h>

#include "render/sink.h"

int raw_write(const struct result *r, const char *path, struct err *e)
{
	FILE *f = sink_open(path, e);

	if (!f)
		return -1;
	fputs("# test size ns\n", f);
	for (size_t i = 0; i < r->n && !ferror(f); i++) {
		const struct point *p = &r->points[i];

		for (size_t k = 0; k < p->n_samples; k++)
			fprintf(f, "%s %" PRId64 " %" PRIu64 "\n", test_name(p->test), p->size,
				p->samples[k]);
	}
	return sink_close(f, path, e);
}
