// SPDX-License-Identifier: GPL-2.0-only
#include "render/check_text.h"

#include <stdio.h>

enum { INDENT = 9, DETAIL = 4 };

static void backend_line(enum trace_backend best, const char *why, const struct paint *p)
{
	char text[400];

	if (best == TRACE_AUTO)
		snprintf(text, sizeof(text), "none: %s", why);
	else
		snprintf(text, sizeof(text), "%s%s%s", trace_backend_name(best),
			 *why ? "; no better one works here: " : "", why);
	paint_text(p, best == TRACE_AUTO ? INK_BOLD_RED : INK_BOLD_GREEN, "backend:");
	fputc(' ', p->out);
	paint_wrapped(p, INK_BOLD, text, INDENT, INDENT);
	fputc('\n', p->out);
	if (best != TRACE_AUTO)
		return;
	paint_paragraph(p, INK_PLAIN, 2, 2,
			"benchmarks still run, with TCP_INFO's chronographs and the application's "
			"own clocks");
}

static void item(const char *label, enum ink ink, const char *text, const struct paint *p)
{
	fprintf(p->out, "%*s%-6s", DETAIL, "", label);
	paint_wrapped(p, ink, text, DETAIL + 6, DETAIL + 6);
	fputc('\n', p->out);
}

static void missing(const struct trace_feature *f, const struct paint *p)
{
	fputs("  ", p->out);
	paint_text(p, INK_YELLOW, "no ");
	fputs("  ", p->out);
	paint_wrapped(p, INK_BOLD, f->name, 7, 7);
	fputc('\n', p->out);
	item("why", INK_PLAIN, f->why_not, p);
	if (f->lost)
		item("lost", INK_PLAIN, f->lost, p);
	item("fix", INK_CYAN, f->fix ? f->fix : "nothing on this kernel", p);
}

static void present(const struct trace_feature *f, const struct paint *p)
{
	fputs("  ", p->out);
	paint_text(p, INK_GREEN, "yes");
	fputs("  ", p->out);
	paint_wrapped(p, INK_PLAIN, f->name, 7, 7);
	fputc('\n', p->out);
}

void check_text(const struct trace_feature *f, size_t n, enum trace_backend best, const char *why,
		const char *const *not_covered, const struct paint *p)
{
	backend_line(best, why, p);
	for (size_t i = 0; i < n; i++)
		if (!f[i].there)
			missing(&f[i], p);
	for (size_t i = 0; i < n; i++)
		if (f[i].there)
			present(&f[i], p);
	if (not_covered && *not_covered)
		fputs("not covered by this backend:\n", p->out);
	for (; not_covered && *not_covered; not_covered++)
		paint_paragraph(p, INK_PLAIN, 2, 4, "%s", *not_covered);
}
