// SPDX-License-Identifier: GPL-2.0-only
#include "base/human.h"

#include <math.h>
#include <stdio.h>

void human_ns(double ns, char *buf, size_t len)
{
	static const struct {
		double scale;
		const char *unit;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
	size_t i = 0;

	while (i < 3 && ns < units[i].scale)
		i++;
	ns /= units[i].scale;
	snprintf(buf, len, "%.*f %s",
		 i == 3 || ns >= 100 ? 0
		 : ns >= 10	     ? 1
				     : 2,
		 ns, units[i].unit);
}

struct human human_time(double ns)
{
	struct human h;

	human_ns(ns, h.text, sizeof(h.text));
	return h;
}

void human_count(double v, char *buf, size_t len)
{
	static const char *const units[] = { "", "k", "M", "G", "T" };
	size_t i = 0;

	while (i < 4 && v >= 999.5) {
		v /= 1000;
		i++;
	}
	snprintf(buf, len, "%.*f%s",
		 v >= 99.95 || (i == 0 && v == (double)(int)v) ? 0
		 : v >= 9.995				       ? 1
							       : 2,
		 v, units[i]);
}

void human_figure(double v, int digits, char *buf, size_t len)
{
	double last = v != 0 ? pow(10, floor(log10(fabs(v))) + 1 - digits)
			     : 1; /* the value of one unit of the last digit */

	if (isnan(v))
		snprintf(buf, len, "-");
	else if (isinf(v))
		snprintf(buf, len, "%f", v);
	else
		snprintf(buf, len, "%.*f", last < 1 ? (int)lround(-log10(last)) : 0,
			 last > 1 ? round(v / last) * last : v);
}

const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}
