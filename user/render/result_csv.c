// SPDX-License-Identifier: GPL-2.0-only
/* One line for each point; an unknown figure is an empty field. */
#include <inttypes.h>
#include <math.h>

#include "render/sink.h"

static void real(FILE *f, double v)
{
	if (isnan(v))
		fputc(',', f);
	else
		fprintf(f, ",%.9g", v);
}

static void latency(FILE *f, const struct latency_result *l)
{
	const struct summary *s = &l->s;
	const double v[] = { s->min, s->q1, s->median, s->q3, s->p90, s->p95, s->p99, s->p999,
		s->max, s->mad, s->uncertainty };

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		real(f, l->present ? v[i] : NAN);
}

static void line(FILE *f, const struct point *p)
{
	const struct throughput_result *t = &p->throughput;

	fprintf(f, "%s,%s,%" PRId64 ",%s,%zu,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, p->mode,
		test_name(p->test), p->size, p->placement, p->latency.present ? p->latency.s.n : 0,
		p->elapsed_ns, p->messages, p->bytes, p->lost);
	latency(f, &p->latency);
	real(f, t->present ? t->bytes_per_s : NAN);
	real(f, t->present ? t->ci.lo : NAN);
	real(f, t->present ? t->ci.hi : NAN);
	fputc('\n', f);
}

int csv_write(const struct result *r, const char *path, struct err *e)
{
	FILE *f = sink_open(path, e);

	if (!f)
		return -1;
	fputs("mode,test,size,placement,samples,elapsed_ns,messages,bytes,lost,min_ns,q1_ns,median_"
	      "ns,q3_ns,p90_ns,p95_ns,p99_ns,p999_ns,"
	      "max_ns,mad_ns,uncertainty_ns,bytes_per_s,bytes_per_s_lo,bytes_per_s_hi\n",
	      f);
	for (size_t i = 0; i < r->n; i++)
		line(f, &r->points[i]);
	return sink_close(f, path, e);
}
