// SPDX-License-Identifier: GPL-2.0-only
#include "render/schema_rows.h"

#include <string.h>

#include "render/json_file.h"

/* a type that ends at `end`: the name of a definition, or "=" and the allowed words */
static json_t *named(const char *type, const char *end)
{
	json_t *words = json_array();

	if (*type != '=') {
		json_decref(words);
		return json_pack("{s:o}", "$ref",
				 json_sprintf("#/$defs/%.*s", (int)(end - type), type));
	}
	while (type++ < end) {
		size_t n = strcspn(type, "|");

		n = type + n > end ? (size_t)(end - type) : n;
		json_array_append_new(words, json_stringn(type, n));
		type += n;
	}
	return json_pack("{s:o}", "enum", words);
}

static json_t *typed(const char *type, size_t len)
{
	bool maybe = *type == '?', list = len > 2 && type[len - 1] == ']';
	json_t *o = named(type + maybe, type + len - (list ? 2 : 0));

	if (list)
		o = json_pack("{s:s, s:o}", "type", "array", "items", o);
	return maybe ? json_pack("{s:[{s:s}, o]}", "oneOf", "type", "null", o) : o;
}

static void add(json_t *object, const char *key, size_t n, const char *type, size_t len)
{
	bool always = *key != '~';

	key += !always;
	n -= !always;
	json_object_setn_new(json_object_get(object, "properties"), key, n, typed(type, len));
	if (always)
		json_array_append_new(json_object_get(object, "required"), json_stringn(key, n));
}

void schema_add_key(json_t *object, const char *key, const char *type)
{
	add(object, key, strlen(key), type, strlen(type));
}

void schema_add(json_t *object, const char *fields)
{
	for (size_t len; *fields; fields += len, fields += *fields == ' ') {
		size_t key = strcspn(fields, ":");

		len = strcspn(fields, " ");
		if (*fields == '*')
			json_object_del(object, "additionalProperties");
		else
			add(object, fields, key, fields + key + 1, len - key - 1);
	}
}

json_t *schema_object(const char *fields)
{
	json_t *o = json_pack("{s:s, s:{}, s:[], s:b}", "type", "object", "properties", "required",
			      "additionalProperties", false);

	schema_add(o, fields);
	return o;
}

json_t *schema_objects(const struct schema_def *defs)
{
	json_t *o = json_object();

	for (; defs->name; defs++)
		json_object_set_new(o, defs->name, schema_object(defs->fields));
	return o;
}

void schema_set_kind(json_t *object, const char *schema)
{
	json_t *properties = json_object_get(object, "properties");

	schema_add(object, "schema:text version:count");
	json_object_set_new(properties, "schema", json_pack("{s:s}", "const", schema));
	json_object_set_new(properties, "version", json_pack("{s:i}", "const", 1));
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

static const struct {
	const char *name, *type;
} plain[] = {
	{ "object", "object" }, { "text", "string" },	{ "bool", "boolean" },
	{ "real", "number" },	{ "integer", "integer" },
};

static const struct {
	const char *name, *type;
	int minimum;
} least[] = { { "number", "number", 0 }, { "count", "integer", 0 }, { "index", "integer", -1 } };

json_t *schema_document(const char *id, const char *title, json_t *top, json_t *defs)
{
	json_t *o = json_pack("{s:s, s:s, s:s}", "$schema",
			      "https://json-schema.org/draft/2020-12/schema", "$id", id, "title",
			      title);

	json_object_set_new(defs, "any", json_object());
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		json_object_set_new(defs, plain[i].name, json_pack("{s:s}", "type", plain[i].type));
	for (size_t i = 0; i < sizeof(least) / sizeof(least[0]); i++)
		json_object_set_new(defs, least[i].name,
				    json_pack("{s:s, s:i}", "type", least[i].type, "minimum",
					      least[i].minimum));
	json_object_update_new(o, top);
	json_object_set_new(o, "$defs", defs);
	return o;
}

int schema_print(json_t *schema, struct err *e)
{
	return json_to_file(schema, "-", JSON_INDENT(1), e) ? (int)e->code : EXIT_DONE;
}
