// SPDX-License-Identifier: GPL-2.0-only
/* Names as the programmer wrote them: Rust's are demangled here, C++'s by its library if there is
 * one. */
#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "unwind/frame_sources.h"

/* --- Rust's older mangling: _ZN, parts with their length, E; the last part is a hash ---------- */

static bool is_hash(const char *part, size_t n)
{
	if (n != 17 || *part != 'h')
		return false;
	for (size_t i = 1; i < n; i++)
		if (!isxdigit((unsigned char)part[i]))
			return false;
	return true;
}

struct escape {
	const char *from, *to;
};

static const struct escape escapes[] = {
	{ "$LT$", "<" }, { "$GT$", ">" }, { "$RF$", "&" },   { "$BP$", "*" },	{ "$C$", "," },
	{ "$SP$", "@" }, { "$LP$", "(" }, { "$RP$", ")" },   { "$u20$", " " },	{ "$u7b$", "{" },
	{ "$u7d$", "}" }, { "$u5b$", "[" }, { "$u5d$", "]" }, { "$u27$", "'" }, { "$u3b$", ";" },
	{ "$u2b$", "+" }, { "..", "::" },
};

static const struct escape *escape_at(const char *at, size_t left)
{
	for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++)
		if (strlen(escapes[i].from) <= left &&
		    !strncmp(at, escapes[i].from, strlen(escapes[i].from)))
			return &escapes[i];
	return NULL;
}

static void add_part(const char *part, size_t n, char *buf, size_t len)
{
	/* an underscore comes before an escape at the beginning, where no name may have one */
	size_t i = n > 1 && part[0] == '_' && part[1] == '$';

	if (buf[0])
		text_append(buf, len, "::");
	while (i < n) {
		const struct escape *e = escape_at(part + i, n - i);

		text_append(buf, len, "%.*s", e ? (int)strlen(e->to) : 1, e ? e->to : part + i);
		i += e ? strlen(e->from) : 1;
	}
}

static bool rust_legacy(const char *name, char *buf, size_t len)
{
	const char *at = name + 3;
	bool hash = false;

	buf[0] = '\0';
	if (strncmp(name, "_ZN", 3))
		return false;
	while (isdigit((unsigned char)*at)) {
		char *part;
		size_t n = strtoul(at, &part, 10);

		if (n > strlen(part))
			return false;
		hash = is_hash(part, n);
		if (!hash)
			add_part(part, n, buf, len);
		at = part + n;
	}
	return hash && *at == 'E';
}

/* --- C++ -------------------------------------------------------------------------------------- */

typedef char *(*cxa_demangle_fn)(const char *, char *, size_t *, int *);

/* Without the library C++'s names stay mangled: so in the static program, which loads no
 * library. */
#ifdef HAVE_LIBDW
static cxa_demangle_fn cxa_demangle(void)
{
	static const char *const libraries[] = { "libstdc++.so.6", "libc++abi.so.1" };
	static cxa_demangle_fn fn;

	for (size_t i = 0; !fn && i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		void *lib = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);

		*(void **)&fn = lib ? dlsym(lib, "__cxa_demangle") : NULL;
	}
	return fn;
}
#else
static cxa_demangle_fn cxa_demangle(void)
{
	return NULL;
}
#endif

/* cuts off the types of the arguments, which tell no more than the line number */
static void without_arguments(char *text)
{
	int depth = 0;

	for (char *at = text; *at; at++) {
		depth += *at == '<';
		depth -= *at == '>' && depth > 0;
		if (*at == '(' && !depth && at > text && strncmp(at, "(anonymous", 10)) {
			*at = '\0';
			return;
		}
	}
}

static bool cplusplus(const char *name, char *buf, size_t len)
{
	cxa_demangle_fn fn = strncmp(name, "_Z", 2) ? NULL : cxa_demangle();
	char *text = fn ? fn(name, NULL, NULL, NULL) : NULL;

	if (!text)
		return false;
	without_arguments(text);
	snprintf(buf, len, "%s", text);
	free(text);
	return true;
}

void demangle(const char *name, char *buf, size_t len)
{
	if (!rust_v0(name, buf, len) && !rust_legacy(name, buf, len) && !cplusplus(name, buf, len))
		snprintf(buf, len, "%s", name);
	text_clean(buf, len);
}
