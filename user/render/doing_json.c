// SPDX-License-Identifier: GPL-2.0-only
#include "render/doing_json.h"

static json_t *calls_to_json(const struct asleep *a)
{
	json_t *calls = json_array();
	char name[40];

	for (size_t i = 0; i < a->n; i++) {
		unsigned int found = asleep_in_call(a, i);

		asleep_name(a->v[i].nr, name, sizeof(name));
		if (found)
			json_array_append_new(calls, json_pack("{s:s, s:i}", "call", name, "found",
							       (int)found));
	}
	return calls;
}

static json_t *chain_to_json(const struct asleep *a)
{
	json_t *chain = json_array();

	for (size_t i = 0; i < a->n_chain; i++)
		json_array_append_new(chain, json_pack("{s:i, s:s}", "pid", (int)a->chain[i].pid,
						       "comm", a->chain[i].comm));
	return chain;
}

static json_t *end_to_json(const struct asleep *a)
{
	char name[40];

	switch (a->end) {
	case ASLEEP_END_STOPPED: return json_string("stopped");
	case ASLEEP_END_RUNS: return json_string("running");
	case ASLEEP_END_CIRCLE: return json_string("circle");
	case ASLEEP_END_FULL: return json_string("full connection");
	case ASLEEP_END_ASKED: return json_string("asked");
	case ASLEEP_END_SLEEPS:
		asleep_name(a->end_nr, name, sizeof(name));
		return json_string(name);
	default: return json_null();
	}
}

json_t *doing_to_json(const struct asleep *a)
{
	if (!a || !a->samples)
		return json_null();
	return json_pack("{s:i, s:i, s:b, s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o}", "pid",
			 (int)a->pid, "tid", (int)a->tid, "one_of_many", a->is_one_of_many, "looks",
			 (int)a->samples, "rests", (int)a->rests, "running", (int)a->running,
			 "disk", (int)a->disk, "calls", calls_to_json(a), "sleeps_for",
			 chain_to_json(a), "end", end_to_json(a), "end_at",
			 *a->end_at ? json_string(a->end_at) : json_null(), "end_path",
			 *a->end_path ? json_string(a->end_path) : json_null());
}
