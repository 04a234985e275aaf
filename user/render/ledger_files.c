// SPDX-License-Identifier: GPL-2.0-only

#include "render/json_file.h"
#include "render/ledger_text.h"
#include "render/ledger_outputs.h"

int ledger_write(enum ledger_output which, const struct ledger_view *view, const char *path,
		 struct err *e)
{
#define OUT_WRITE(sym, name, help) [sym] = ledger_##name##_write,
	static int (*const write[LEDGER_OUTPUTS_N])(const struct ledger_view *, const char *,
		struct err *) = { LEDGER_OUTPUTS(OUT_WRITE) };

	return write[which](view, path, e);
}

static json_t *stalls_to_json(const struct stalls *l)
{
	json_t *a = json_array();

	for (size_t i = 0; i < l->n && a; i++)
		append_or_drop(&a, stall_to_json(stalls_at(l, i)));
	return a;
}

int ledger_json_write(const struct ledger_view *view, const char *path, struct err *e)
{
	json_t *doc = json_pack("{s:s, s:i}", "schema", "ipcstall.trace", "version", 1);

	if (json_object_update_missing(doc, view->head) ||
	    json_object_set_new(doc, "ledger", ledger_to_json(view->s, view->v)) ||
	    json_object_set_new(doc, "stalls",
				view->wants_stalls ? stalls_to_json(view->stalls) : json_null())) {
		json_decref(doc);
		doc = NULL; /* json_to_file() reports it */
	}
	json_object_set_new(doc, "stalls_dropped",
			    view->wants_stalls ? json_integer((json_int_t)view->stalls->dropped)
					       : json_null());
	return json_to_file(doc, path, JSON_COMPACT, e);
}
