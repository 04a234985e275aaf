// SPDX-License-Identifier: GPL-2.0-only
/* /tmp/perf-PID.map, as Node and Java write it: "ADDRESS SIZE NAME", both numbers in hexadecimal.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "unwind/frame_sources.h"

/* the pid in the process's own PID namespace, which is in the file's name */
static pid_t inner_pid(pid_t tgid)
{
	pid_t inner = tgid;

	for_each_line (l, proc_path(tgid, "status").text) {
		const char *last = strncmp(l.text, "NSpid:", 6) ? NULL : strrchr(l.text, '\t');

		if (last)
			inner = atoi(last + 1);
	}
	return inner;
}

static struct proc_path map_path(pid_t tgid)
{
	return proc_path(tgid, "root/tmp/perf-%d.map", inner_pid(tgid));
}

/* the text after the kind of code and the mark of how it was compiled; NULL: the name is not Node's
 */
static const char *behind_kind(const char *text)
{
	static const char *const kinds[] = { "JS:", "Eval:", "LazyCompile:", "Function:",
					     "Script:" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t n = strlen(kinds[i]);

		if (!strncmp(text, kinds[i], n))
			return text + n + (text[n] && strchr("*~^+", text[n]));
	}
	return NULL;
}

/* Returns the number after the last colon, and cuts it off; 0: none. */
static int cut_number(char *text)
{
	char *colon = strrchr(text, ':');
	int number = colon ? atoi(colon + 1) : 0;

	if (number > 0)
		*colon = '\0';
	return number;
}

/* Node's "JS:*name /folder/file.js:12:5": the line and the column where the function begins */
static bool split_javascript(const char *text, struct call_frame *f)
{
	const char *name = behind_kind(text), *blank = name ? strchr(name, ' ') : NULL;

	if (!name)
		return false;
	if (!blank)
		blank = name + strlen(name);
	snprintf(f->function, sizeof(f->function), "%.*s", (int)(blank - name), name);
	if (blank == name)
		snprintf(f->function, sizeof(f->function), "(anonymous)");
	if (*blank)
		snprintf(f->file, sizeof(f->file), "%s", blank + 1);
	if (cut_number(f->file))
		f->line = cut_number(f->file);
	f->begins = f->line > 0;
	return true;
}

/* Java's "void app.Handler.answer(java.lang.String)", without the types. "Interpreter" stands for
 * all code that is interpreted. */
static void java_name(char *text, struct call_frame *f)
{
	char *open = strchr(text, '('), *blank;

	f->library = !strcmp(text, "Interpreter") || !open || open[-(open > text)] == ' ';
	if (open && !f->library)
		*open = '\0';
	blank = f->library ? NULL : strrchr(text, ' ');
	snprintf(f->function, sizeof(f->function), "%.*s", (int)sizeof(f->function) - 1,
		 blank ? blank + 1 : text);
}

static void name_it(char *text, struct call_frame *f)
{
	text[strcspn(text, "\n")] = '\0';
	f->managed = true;
	snprintf(f->module, sizeof(f->module), "made at run time");
	if (!split_javascript(text, f))
		java_name(text, f);
	text_clean(f->function, sizeof(f->function));
	text_clean(f->file, sizeof(f->file));
}

/* The last entry that covers the address counts: code is discarded and its memory is reused. */
bool perf_map_name(pid_t tgid, uint64_t addr, struct call_frame *f)
{
	char found[1024] = "";

	for_each_line (l, map_path(tgid).text) {
		uint64_t at, size;
		int used = 0;

		if (sscanf(l.text, "%" SCNx64 " %" SCNx64 " %n", &at, &size, &used) == 2 && used &&
		    addr >= at && addr < at + size)
			snprintf(found, sizeof(found), "%s", l.text + used);
	}
	if (found[0])
		name_it(found, f);
	return found[0];
}
