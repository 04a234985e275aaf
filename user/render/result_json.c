// SPDX-License-Identifier: GPL-2.0-only
/* The result document around its points. */
#include "json/json_options.h"
#include "host/machine.h"
#include "render/environment.h"
#include "remote/remote.h"
#include "render/sink.h"

json_t *json_result_head(const char *schema, int version, const struct bench_plan *plan,
			 const char *started)
{
	struct machine m;

	machine_read(&m);
	return json_pack("{s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "schema", schema,
			 "version", version, "tool", build_to_json(&build), "invocation",
			 invocation_to_json(), "machine", machine_to_json(&m),
			 "remote", remote_to_json(plan->remote), "clock",
			 tick_clock_to_json(&plan->clock), "options",
			 opt_to_json(bench_option_rows, &plan->o), "started", started);
}

json_t *json_of_result(const struct result *r)
{
	json_t *o = json_result_head("ipcstall.result", 1, r->plan, r->started),
	       *points = json_array(), *warnings = json_array();

	for (size_t i = 0; i < r->n; i++)
		json_array_append_new(points, json_of_point(&r->points[i], NULL));
	if (!r->complete)
		json_array_append_new(
			warnings,
			json_string("the run did not finish: only its completed points are here"));
	json_object_set_new(o, "complete", json_boolean(r->complete));
	json_object_set(o, "trace", r->trace ? r->trace : json_null());
	json_object_set_new(o, "points", points);
	json_object_set_new(o, "events", json_array());
	json_object_set_new(o, "warnings", warnings);
	return o;
}
