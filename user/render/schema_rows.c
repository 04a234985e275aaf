// SPDX-License-Identifier: GPL-2.0-only
#include "render/schema_rows.h"

#include <string.h>

#include "render/json_file.h"

static json_t *reference(const char *name, size_t len)
{
	return json_pack("{s:o}", "$ref", json_sprintf("#/$defs/%.*s", (int)len, name));
}

static json_t *typed(const char *type)
{
	bool maybe = *type == '?';
	size_t len;
	json_t *o;

	type += maybe;
	len = strlen(type);
	if (len > 2 && !strcmp(type + len - 2, "[]"))
		o = json_pack("{s:s, s:o}", "type", "array", "items", reference(type, len - 2));
	else
		o = reference(type, len);
	return maybe ? json_pack("{s:[{s:s}, o]}", "oneOf", "type", "null", o) : o;
}

void schema_add(json_t *object, const struct schema_row *rows)
{
	json_t *properties = json_object_get(object, "properties"),
	       *required = json_object_get(object, "required");

	for (; rows->key; rows++) {
		const char *key = rows->key + (*rows->key == '~');

		json_object_set_new(properties, key, typed(rows->type));
		if (key == rows->key)
			json_array_append_new(required, json_string(key));
	}
}

json_t *schema_object(const struct schema_row *rows)
{
	json_t *o = json_pack("{s:s, s:{}, s:[], s:b}", "type", "object", "properties", "required",
			      "additionalProperties", false);

	schema_add(o, rows);
	return o;
}

void schema_drop(json_t *object, const char *key)
{
	json_t *required = json_object_get(object, "required");

	json_object_del(json_object_get(object, "properties"), key);
	for (size_t i = json_array_size(required); i-- > 0;)
		if (!strcmp(json_string_value(json_array_get(required, i)), key))
			json_array_remove(required, i);
}

json_t *schema_enum(const char *const *names, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, names[i] ? json_string(names[i]) : json_null());
	return json_pack("{s:o}", "enum", list);
}

json_t *schema_const(json_t *value)
{
	return json_pack("{s:o}", "const", value);
}

json_t *schema_document(const char *id, const char *title, json_t *top, json_t *defs)
{
	json_t *o = json_pack("{s:s, s:s, s:s}", "$schema",
			      "https://json-schema.org/draft/2020-12/schema", "$id", id, "title",
			      title);

	json_object_set_new(defs, "any", json_object());
	json_object_set_new(defs, "object", json_pack("{s:s}", "type", "object"));
	json_object_set_new(defs, "text", json_pack("{s:s}", "type", "string"));
	json_object_set_new(defs, "bool", json_pack("{s:s}", "type", "boolean"));
	json_object_set_new(defs, "number",
			    json_pack("{s:s, s:i}", "type", "number", "minimum", 0));
	json_object_set_new(defs, "count",
			    json_pack("{s:s, s:i}", "type", "integer", "minimum", 0));
	json_object_set_new(defs, "index",
			    json_pack("{s:s, s:i}", "type", "integer", "minimum", -1));
	json_object_update_new(o, top);
	json_object_set_new(o, "$defs", defs);
	return o;
}

int schema_print(json_t *schema, struct err *e)
{
	return json_to_file(schema, "-", JSON_INDENT(1), e) ? (int)e->code : EXIT_DONE;
}
