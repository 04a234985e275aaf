// SPDX-License-Identifier: GPL-2.0-only
/* Foreign texts, as JSON. */
#include "json/json_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

json_t *text_json(const char *s)
{
	char *copy = strdup(s);
	json_t *o;

	if (!copy)
		return NULL;
	text_clean(copy, strlen(copy) + 1);
	o = json_string(copy);
	free(copy);
	return o;
}

static void clean_string(json_t *v)
{
	json_t *o = text_json(json_string_value(v));

	json_string_set(v, o ? json_string_value(o) : "?");
	json_decref(o);
}

/* A name that changes moves to the end, where the loop meets it again, now clean. */
static void clean_member(json_t *object, const char *key, json_t *v)
{
	json_t *name = text_json(key);
	const char *shown = name ? json_string_value(name) : "?";

	text_clean_json(v);
	if (strcmp(key, shown)) {
		json_object_set(object, shown, v);
		json_object_del(object, key);
	}
	json_decref(name);
}

json_t *text_clean_json(json_t *v)
{
	const char *key;
	json_t *item;
	void *next;
	size_t i;

	if (json_is_string(v))
		clean_string(v);
	json_array_foreach (v, i, item)
		text_clean_json(item);
	json_object_foreach_safe (v, next, key, item)
		clean_member(v, key, item);
	return v;
}
