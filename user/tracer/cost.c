// SPDX-License-Identifier: GPL-2.0-only
/* How often each program ran, how long it took, and whether its hook is attached. */
#include <errno.h>
#include <string.h>

#include "tracer/internal.h"

int trace_cost_enable(struct trace *t, struct err *e)
{
	t->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	return t->stats_fd < 0
		       ? fail_sys(e, errno, "cannot count the cost of the programs", "run as root")
		       : 0;
}

static bool read_cost(struct bpf_program *p, struct trace_cost *c)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);
	int fd = bpf_program__fd(p);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len))
		return false;
	snprintf(c->name, sizeof(c->name), "%s", bpf_program__name(p));
	c->runs = info.run_cnt;
	c->ns = info.run_time_ns;
	c->missed = info.recursion_misses;
	return true;
}

size_t trace_costs(struct trace *t, struct trace_cost *c, size_t max)
{
	struct bpf_program *p;
	size_t n = 0;

	bpf_object__for_each_program (p, t->obj)
		if (n < max && bpf_program__autoload(p) && read_cost(p, &c[n]))
			n++;
	return n;
}

static int64_t runs_of(struct trace *t, const char *program)
{
	struct bpf_program *p =
		t->stats_fd < 0 ? NULL : bpf_object__find_program_by_name(t->obj, program);
	struct trace_cost c;

	return p && read_cost(p, &c) ? (int64_t)c.runs : -1;
}

size_t trace_hooks(struct trace *t, struct trace_hook *h, size_t max)
{
	size_t n = t->n_at < max ? t->n_at : max;

	for (size_t i = 0; i < n; i++) {
		const struct attached *a = &t->at[i];

		h[i] = (struct trace_hook){ a->hooked && *a->point ? a->point : a->hook->point,
					    hook_kind_name(a->hook->kind),
					    a->hook->feeds,
					    a->hooked,
					    a->hooked ? NULL : a->why_not,
					    a->hook->program,
					    runs_of(t, a->hook->program) };
	}
	return n;
}
