// SPDX-License-Identifier: GPL-2.0-only
/* Unwinds and names native frames by libdw, from the program's own files. */
#include <stdio.h>

#include "unwind/frame_sources.h"

#ifndef HAVE_LIBDW

void unwind_native(const struct stack_copy *copy, pid_t tgid, struct call_stack *out)
{
	snprintf(out->missing, sizeof(out->missing),
		 "this build unwinds no stacks: it was made without libdw");
}

bool native_variable(pid_t tgid, const char *name, uint64_t *at)
{
	return false;
}

#else

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* the process that libdw's callbacks read; a child process reads only one */
static pid_t reading;

/* Opens the file as the process sees it, which may be in another mount namespace. */
static int find_elf(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
		    char **file_name, Elf **elf)
{
	char path[PATH_MAX + 32];
	int fd;

	if (name[0] != '/')
		return dwfl_linux_proc_find_elf(mod, userdata, name, base, file_name, elf);
	snprintf(path, sizeof(path), "/proc/%d/root%s", reading, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		*file_name = strdup(path);
	return fd;
}

static Dwfl *files_of(pid_t tgid)
{
	static char *no_path;
	static const Dwfl_Callbacks callbacks = { .find_elf = find_elf,
						  .find_debuginfo = dwfl_standard_find_debuginfo,
						  .debuginfo_path = &no_path };
	Dwfl *dwfl;

	unsetenv("DEBUGINFOD_URLS"); /* download no debug information */
	reading = tgid;
	dwfl = dwfl_begin(&callbacks);
	if (dwfl && (dwfl_linux_proc_report(dwfl, tgid) || dwfl_report_end(dwfl, NULL, NULL))) {
		dwfl_end(dwfl);
		return NULL;
	}
	return dwfl;
}

/* --- variables -------------------------------------------------------------------------------- */

struct sought {
	const char *name;
	uint64_t at;
};

static int look_in(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base, void *arg)
{
	struct sought *s = arg;
	int n = dwfl_module_getsymtab(mod);

	for (int i = 1; i < n; i++) {
		GElf_Sym sym;
		GElf_Addr at;
		const char *found = dwfl_module_getsym_info(mod, i, &sym, &at, NULL, NULL, NULL);

		if (found && GELF_ST_TYPE(sym.st_info) == STT_OBJECT && sym.st_shndx &&
		    !strcmp(found, s->name)) {
			s->at = at;
			return DWARF_CB_ABORT;
		}
	}
	return DWARF_CB_OK;
}

bool native_variable(pid_t tgid, const char *name, uint64_t *at)
{
	static Dwfl *dwfl;
	static pid_t of;
	struct sought s = { .name = name };

	if (of != tgid) {
		dwfl_end(dwfl);
		dwfl = files_of(tgid);
		of = tgid;
	}
	if (dwfl)
		dwfl_getmodules(dwfl, look_in, &s, 0);
	*at = s.at;
	return s.at;
}

/* --- names ------------------------------------------------------------------------------------ */

/* the DIE that declares the function, which is inside its namespace */
static Dwarf_Die declaration(Dwarf_Die die)
{
	static const unsigned int leads[] = { DW_AT_abstract_origin, DW_AT_specification };

	for (size_t i = 0; i < 2; i++) {
		Dwarf_Attribute at;
		Dwarf_Die next;

		if (dwarf_attr(&die, leads[i], &at) && dwarf_formref_die(&at, &next))
			die = next;
	}
	return die;
}

static bool names_a_scope(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_namespace || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_class_type || tag == DW_TAG_enumeration_type;
}

/* "server::Handler::answer", by the scopes that contain the function */
static void qualified_name(Dwarf_Die *function, char *buf, size_t len)
{
	Dwarf_Die die = declaration(*function), *scopes = NULL;
	int n = dwarf_getscopes_die(&die, &scopes);

	buf[0] = '\0';
	for (int i = n - 1; i > 0; i--)
		if (names_a_scope(&scopes[i]) && dwarf_diename(&scopes[i]))
			text_append(buf, len, "%s::", dwarf_diename(&scopes[i]));
	text_append(buf, len, "%s", dwarf_diename(&die) ? dwarf_diename(&die) : "?");
	text_clean(buf, len);
	free(scopes);
}

static void set_file(struct call_frame *f, const char *file, int line)
{
	snprintf(f->file, sizeof(f->file), "%s", file ? file : "");
	text_clean(f->file, sizeof(f->file));
	f->line = file ? line : 0;
}

/* --- frames ----------------------------------------------------------------------------------- */

struct place {
	const char *file;
	int line;
};

/* where the function `die` is called in the function that it was inlined into */
static struct place call_place(Dwarf_Die *cu, Dwarf_Die *die)
{
	Dwarf_Attribute at;
	Dwarf_Word file = 0, line = 0;
	Dwarf_Files *files;
	size_t n;

	if (dwarf_getsrcfiles(cu, &files, &n) ||
	    dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &at), &file) || file >= n ||
	    dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &at), &line))
		return (struct place){};
	return (struct place){ dwarf_filesrc(files, file, NULL, NULL), (int)line };
}

/* Not every compiler writes the table that leads from an address to its unit. Without it, all units
 * are searched. */
static Dwarf_Die *unit_of(Dwfl_Module *mod, Dwarf_Addr pc, Dwarf_Addr *bias)
{
	Dwarf_Die *cu = dwfl_module_addrdie(mod, pc, bias);

	if (cu)
		return cu;
	while ((cu = dwfl_module_nextcu(mod, cu, bias)))
		if (dwarf_haspc(cu, pc - *bias) > 0)
			return cu;
	return NULL;
}

static struct place line_at(Dwarf_Die *cu, Dwarf_Addr pc)
{
	Dwarf_Line *line = cu ? dwarf_getsrc_die(cu, pc) : NULL;
	struct place p = {};

	if (line && !dwarf_lineno(line, &p.line))
		p.file = dwarf_linesrc(line, NULL, NULL);
	return p;
}

static void module_name(Dwfl_Module *mod, char *buf, size_t len)
{
	const char *path = dwfl_module_info(mod, NULL, NULL, NULL, NULL, NULL, NULL, NULL), *slash;

	slash = path ? strrchr(path, '/') : NULL;
	snprintf(buf, len, "%s", slash ? slash + 1 : path ? path : "");
	text_clean(buf, len);
}

/* One frame for each function that was inlined there, and one for the function that contains
 * them. */
static bool add_by_debug_info(Dwfl_Module *mod, Dwarf_Addr pc, struct call_stack *out)
{
	Dwarf_Addr bias = 0;
	Dwarf_Die *cu = unit_of(mod, pc, &bias), *inner = NULL, *scopes = NULL;
	int n = cu ? dwarf_getscopes(cu, pc - bias, &inner) : 0;
	struct place place = line_at(cu, pc - bias);
	bool any = false;

	n = n > 0 ? dwarf_getscopes_die(&inner[0], &scopes) : 0;
	for (int i = 0; i < n; i++) {
		int tag = dwarf_tag(&scopes[i]);
		struct call_frame *f;

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		f = call_stack_next(out);
		if (!f)
			break;
		any = true;
		qualified_name(&scopes[i], f->function, sizeof(f->function));
		module_name(mod, f->module, sizeof(f->module));
		set_file(f, place.file, place.line);
		f->inlined = tag == DW_TAG_inlined_subroutine;
		if (!f->inlined)
			break;
		place = call_place(cu, &scopes[i]);
	}
	free(inner);
	free(scopes);
	return any;
}

static void add_by_symbol(Dwfl_Module *mod, Dwarf_Addr pc, struct call_frame *f)
{
	const char *name = dwfl_module_addrname(mod, pc);
	Dwarf_Addr bias = 0;
	Dwarf_Die *cu = unit_of(mod, pc, &bias);
	struct place place = line_at(cu, pc - bias);

	if (name)
		demangle(name, f->function, sizeof(f->function));
	module_name(mod, f->module, sizeof(f->module));
	set_file(f, place.file, place.line);
}

static void add_frames(Dwfl *dwfl, Dwarf_Addr pc, struct call_stack *out)
{
	Dwfl_Module *mod = dwfl_addrmodule(dwfl, pc);
	struct call_frame *f;

	if (mod && add_by_debug_info(mod, pc, out))
		return;
	f = call_stack_next(out);
	if (f && mod)
		add_by_symbol(mod, pc, f);
	if (f && !f->function[0]) /* JIT code may lie between the mappings of a file, too */
		perf_map_name(reading, pc, f);
}

struct walk {
	const struct stack_copy *copy;
	Dwfl *dwfl;
	struct call_stack *out;
	bool begun;
};

static int on_frame(Dwfl_Frame *frame, void *arg)
{
	struct walk *w = arg;
	Dwarf_Addr pc;
	bool exact;

	if (!dwfl_frame_pc(frame, &pc, &exact) || w->out->n == CALL_FRAMES)
		return DWARF_CB_ABORT;
	/* a return address may belong to the next line or function already */
	add_frames(w->dwfl, w->begun && !exact ? pc - 1 : pc, w->out);
	w->begun = true;
	return DWARF_CB_OK;
}

/* --- the copied stack, for libdw -------------------------------------------------------------- */

static bool read_memory(Dwfl *dwfl, Dwarf_Addr at, Dwarf_Word *out, void *arg)
{
	const struct stack_copy *c = ((struct walk *)arg)->copy;

	if (at >= c->from && at - c->from + sizeof(*out) <= c->bytes) {
		memcpy(out, c->slice + (at - c->from), sizeof(*out));
		return true;
	}
	return read_process(reading, at, out, sizeof(*out));
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const unsigned long long *r = ((struct walk *)arg)->copy->regs;

#ifdef __x86_64__
	/* for each DWARF register number, its index in struct pt_regs */
	static const unsigned char at[] = {
		10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16
	};
	Dwarf_Word words[sizeof(at)];

	for (size_t i = 0; i < sizeof(at); i++)
		words[i] = r[at[i]];
	return dwfl_thread_state_registers(thread, 0, sizeof(at), words);
#else
	Dwarf_Word words[32];

	for (size_t i = 0; i < 32; i++)
		words[i] = r[i];
	dwfl_thread_state_register_pc(thread, r[32]);
	return dwfl_thread_state_registers(thread, 0, 32, words);
#endif
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	if (*thread_arg)
		return 0;
	*thread_arg = arg;
	return reading;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	*thread_arg = arg;
	return true;
}

void unwind_native(const struct stack_copy *copy, pid_t tgid, struct call_stack *out)
{
	static const Dwfl_Thread_Callbacks callbacks = { .next_thread = next_thread,
							 .get_thread = get_thread,
							 .memory_read = read_memory,
							 .set_initial_registers = set_registers };
	struct walk w = { .copy = copy, .dwfl = files_of(tgid), .out = out };

	if (!w.dwfl || !dwfl_attach_state(w.dwfl, NULL, tgid, &callbacks, &w)) {
		const char *why = dwfl_errmsg(0); /* NULL: the error is the kernel's, not libdw's */

		snprintf(out->missing, sizeof(out->missing), "its files could not be read%s%s",
			 why ? ": " : "", why ? why : "");
	} else {
		dwfl_getthread_frames(w.dwfl, tgid, on_frame, &w);
	}
	dwfl_end(w.dwfl);
}

#endif
