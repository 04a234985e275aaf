// SPDX-License-Identifier: GPL-2.0-only
#include "render/environment.h"
#include "render/ledger_text.h"
#include "render/schema_rows.h"
#include "try/case_report.h"

static const char *const outcomes[CASE_OUTCOMES] = { "tried", "nothing-seen", "no-stall", "no-fix",
	"declined" };

static json_t *gain_json(const struct live_trial *t, const struct diag_gain *g)
{
	if (t->outcome == TRIAL_NOT_RUN)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:s}", "ratio", json_figure(g->ratio), "low",
			 json_figure(g->ci.lo), "high", json_figure(g->ci.hi), "verdict",
			 diag_gain_name(g->class));
}

static json_t *seen(bool watched, uint64_t value)
{
	return watched ? json_integer((json_int_t)value) : json_null();
}

static json_t *window_json(const struct window *w, bool watched, bool fixed, int place)
{
	return json_pack("{s:b, s:b, s:i, s:I, s:I, s:o, s:o, s:I, s:o, s:o}", "ledger", watched,
			 "fixed", fixed, "order", place, "from_ns", (json_int_t)w->from_ns, "to_ns",
			 (json_int_t)w->to_ns, "messages", seen(watched, w->messages), "bytes",
			 seen(watched, w->bytes), "delivered_bytes", (json_int_t)w->delivered,
			 "stall_ns", seen(watched, w->stall_ns), "ledger_ns",
			 seen(watched, w->time_ns));
}

static void append_windows(json_t *list, const struct trial_round *rounds, size_t n, bool watched)
{
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < TRIAL_WINDOWS; k++) {
			int kind = rounds[i].order[k];

			json_array_append_new(list, window_json(&rounds[i].w[kind], watched,
								kind == TRIAL_WINDOWS - 1, k));
		}
}

static json_t *windows_json(const struct live_trial *t)
{
	json_t *list = json_array();

	append_windows(list, t->rounds, t->n, true);
	append_windows(list, t->unwatched, t->n_unwatched, false);
	return list;
}

static json_t *pair(const struct live_trial *t, const double v[2])
{
	bool ran = t->outcome != TRIAL_NOT_RUN;

	return json_pack("[o, o]", ran ? json_figure(v[0]) : json_null(),
			 ran ? json_figure(v[1]) : json_null());
}

static json_t *trial_json(const struct live_trial *t)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:o, s:o, s:I}", "fix", t->fix->setting, "sets",
			      t->setting->said, "outcome", trial_outcome_names[t->outcome],
			      "why_not_run", json_text(t->why_not), "before", json_text(t->before),
			      "descriptors", (json_int_t)t->descriptors);

	json_object_set_new(o, "at_peer", json_boolean(t->fix->at_peer));
	json_object_set_new(o, "rate", gain_json(t, &t->rate));
	json_object_set_new(o, "stall", gain_json(t, &t->stall));
	json_object_set_new(o, "messages_per_s", pair(t, t->per_s));
	json_object_set_new(o, "bytes_per_s", pair(t, t->bytes_per_s));
	json_object_set_new(o, "stall_share", pair(t, t->stall_share));
	json_object_set_new(o, "proven_by_stall", json_boolean(t->by_stall));
	json_object_set_new(o, "windows", windows_json(t));
	return o;
}

static json_t *finding_json(const struct live_case *c)
{
	const struct trace_endpoint *ep;
	char name[200], text[VERDICT_TEXT];

	if (!c->finding)
		return json_null();
	ep = &c->seen.ep[c->finding->endpoint];
	endpoint_name(ep, name, sizeof(name));
	finding_sentence(&c->seen, c->finding, text, sizeof(text));
	return json_pack("{s:s, s:s, s:i, s:o, s:f, s:s}", "endpoint", name, "cause",
			 trace_tx_names[c->finding->cause], "pid", c->scope.tgid, "comm",
			 json_text(ep->tx_calls.comm), "share", c->finding->share, "verdict", text);
}

static json_t *frame_json(const struct call_frame *f)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:b, s:b}", "function", json_text(f->function),
			 "file", json_text(f->file), "line",
			 f->line ? json_integer(f->line) : json_null(), "module",
			 json_text(f->module), "inlined", f->inlined, "library", f->library);
}

/* null: no stack was seen */
static json_t *stack_json(const struct call_stack *s)
{
	json_t *list = s->n ? json_array() : json_null();

	for (size_t i = 0; i < s->n; i++)
		json_array_append_new(list, frame_json(&s->v[i]));
	return list;
}

json_t *case_json(struct live_case *c, json_t *about)
{
	json_t *doc = session_head(&c->live, about), *trials = json_array();

	json_object_set_new(doc, "schema", json_string("ipcstall.try"));
	json_object_set_new(doc, "version", json_integer(1));
	json_object_set_new(doc, "outcome", json_string(outcomes[c->outcome]));
	json_object_set_new(doc, "complete", json_boolean(!c->interrupted));
	json_object_set_new(doc, "finding", finding_json(c));
	json_object_set_new(doc, "stack", stack_json(&c->stack));
	json_object_set_new(doc, "stack_missing", json_text(c->stack.missing));
	json_object_set_new(doc, "window_ns", json_integer((json_int_t)c->window_ns));
	json_object_set_new(doc, "connections", json_integer((json_int_t)c->scope.n));
	json_object_set_new(doc, "undone", json_boolean(c->undone));
	for (size_t i = 0; i < c->n; i++)
		json_array_append_new(trials, trial_json(&c->trials[i]));
	json_object_set_new(doc, "trials", trials);
	return doc;
}

/* --- the shape -------------------------------------------------------------------------------- */

static const struct schema_def objects[] = {
	{ "finding", "endpoint:text cause:text pid:count comm:?text share:number verdict:text" },
	{ "frame", "function:?text file:?text line:?count module:?text inlined:bool library:bool" },
	{ "trial", "fix:text sets:text outcome:trial_outcome why_not_run:?text before:?text "
		   "descriptors:count at_peer:bool rate:?gain stall:?gain messages_per_s:any "
		   "bytes_per_s:any stall_share:any proven_by_stall:bool windows:window[]" },
	{ "gain", "ratio:?number low:?number high:?number verdict:text" },
	{ "window", "ledger:bool fixed:bool order:count from_ns:count to_ns:count messages:?count "
		    "bytes:?count delivered_bytes:count stall_ns:?count ledger_ns:?count" },
	{}
};

json_t *case_schema(void)
{
	json_t *defs = schema_objects(objects),
	       *top = schema_object("tool:object machine:object written:text trace:object "
				    "attached_to:object outcome:outcome complete:bool "
				    "finding:?finding stack:?frame[] stack_missing:?text "
				    "window_ns:count connections:count undone:bool "
				    "trials:trial[]");

	schema_set_kind(top, "ipcstall.try");
	json_object_set_new(defs, "outcome", schema_enum(outcomes, CASE_OUTCOMES));
	json_object_set_new(defs, "trial_outcome",
			    schema_enum(trial_outcome_names, TRIAL_OUTCOMES));
	return schema_document("urn:ipcstall:try:1", "ipcstall try, version 1", top, defs);
}
