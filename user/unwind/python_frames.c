// SPDX-License-Identifier: GPL-2.0-only
/* The frames of CPython. From 3.13 on the interpreter has a table of its offsets
 * (_Py_DebugOffsets); for older ones they follow from the version. PEP 626's table leads from an
 * instruction to its line. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "unwind/frame_sources.h"

/* offsets in the objects that are read here, and not in the kernel half */
struct python_objects {
	unsigned int file, name, table, first_line, instructions; /* in a code object */
	unsigned int text;					  /* in a string that is ASCII */
};

struct version {
	unsigned int number; /* 0x030b: 3.11 */
	unsigned int runtime_head, interpreter_head;
	struct python_layout layout;
	struct python_objects objects;
};

/* from the headers of these versions, for 64-bit machines */
static const struct version versions[] = {
	{ 0x030b,
	  40,
	  16,
	  { .next = 8,
	    .tid = 160,
	    .cframe = 56,
	    .frame = 8,
	    .code = 32,
	    .previous = 48,
	    .instr = 56 },
	  { 112, 128, 136, 72, 184, 48 } },
	{ 0x030c,
	  40,
	  72,
	  { .next = 8,
	    .tid = 144,
	    .cframe = 56,
	    .frame = 0,
	    .code = 0,
	    .previous = 8,
	    .instr = 56 },
	  { 112, 128, 136, 68, 192, 40 } },
};

enum { TEXT_LENGTH = 16, BYTES_LENGTH = 16, BYTES_AT = 32 }; /* offsets in every version so far */

/* indices of words in _Py_DebugOffsets of 3.13 */
enum {
	OFFSETS_VERSION = 1,
	OFFSETS_FREE_THREADED,
	OFFSETS_RUNTIME_HEAD = 5,
	OFFSETS_INTERPRETER_HEAD = 9,
	OFFSETS_NEXT = 21,
	OFFSETS_FRAME = 23,
	OFFSETS_TID = 25,
	OFFSETS_PREVIOUS = 29,
	OFFSETS_CODE,
	OFFSETS_INSTR,
	OFFSETS_FILE = 35,
	OFFSETS_NAME = 37,
	OFFSETS_TABLE,
	OFFSETS_FIRST_LINE,
	OFFSETS_INSTRUCTIONS = 43,
	OFFSETS_WORDS
};

static bool by_offsets(pid_t tgid, uint64_t runtime, struct version *v)
{
	uint64_t w[OFFSETS_WORDS];

	if (!read_process(tgid, runtime, w, sizeof(w)) || memcmp(w, "xdebugpy", 8) ||
	    w[OFFSETS_VERSION] >> 16 != 0x030d || w[OFFSETS_FREE_THREADED])
		return false;
	*v = (struct version){
		.number = 0x030d,
		.runtime_head = (unsigned int)w[OFFSETS_RUNTIME_HEAD],
		.interpreter_head = (unsigned int)w[OFFSETS_INTERPRETER_HEAD],
		.layout = { .next = (unsigned int)w[OFFSETS_NEXT],
			    .tid = (unsigned int)w[OFFSETS_TID],
			    .frame = (unsigned int)w[OFFSETS_FRAME],
			    .code = (unsigned int)w[OFFSETS_CODE],
			    .previous = (unsigned int)w[OFFSETS_PREVIOUS],
			    .instr = (unsigned int)w[OFFSETS_INSTR] },
		.objects = { (unsigned int)w[OFFSETS_FILE], (unsigned int)w[OFFSETS_NAME],
			     (unsigned int)w[OFFSETS_TABLE], (unsigned int)w[OFFSETS_FIRST_LINE],
			     (unsigned int)w[OFFSETS_INSTRUCTIONS], 40 },
	};
	return true;
}

static bool by_number(uint64_t number, struct version *v)
{
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (number >> 16 == versions[i].number) {
			*v = versions[i];
			return true;
		}
	return false;
}

static bool version_of(pid_t tgid, uint64_t runtime, struct version *v)
{
	uint64_t at, number = 0;

	if (by_offsets(tgid, runtime, v))
		return true;
	return native_variable(tgid, "Py_Version", &at) &&
	       read_process(tgid, at, &number, sizeof(number)) && by_number(number, v);
}

void python_layout_find(pid_t tgid, struct python_layout *out)
{
	uint64_t runtime, interpreter;
	struct version v;

	*out = (struct python_layout){};
	if (!native_variable(tgid, "_PyRuntime", &runtime) || !version_of(tgid, runtime, &v) ||
	    !read_process(tgid, runtime + v.runtime_head, &interpreter, sizeof(interpreter)))
		return;
	*out = v.layout;
	out->threads_head = interpreter + v.interpreter_head;
}

/* --- a code object ---------------------------------------------------------------------------- */

static uint64_t word_at(pid_t tgid, uint64_t at)
{
	uint64_t word = 0;

	return read_process(tgid, at, &word, sizeof(word)) ? word : 0;
}

/* False: no name could be read. Names that are not ASCII stay unknown. */
static bool read_text(pid_t tgid, uint64_t object, unsigned int at, char *buf, size_t size)
{
	uint64_t n = object ? word_at(tgid, object + TEXT_LENGTH) : 0;

	if (!n || n > 4096)
		return false;
	if (n >= size) { /* keep the end: of a path it says more than the beginning */
		at += (unsigned int)(n - size + 1);
		n = size - 1;
	}
	if (!read_process(tgid, object + at, buf, n))
		return false;
	buf[n] = '\0';
	text_clean(buf, size);
	return true;
}

struct bytes {
	unsigned char v[16384];
	size_t n, at;
};

static unsigned int varint(struct bytes *b)
{
	unsigned int value = 0, shift = 0, byte = 0x40;

	while (byte & 0x40 && b->at < b->n && shift < 30) {
		byte = b->v[b->at++];
		value |= (byte & 0x3f) << shift;
		shift += 6;
	}
	return value;
}

static int signed_varint(struct bytes *b)
{
	unsigned int value = varint(b);

	return value & 1 ? -(int)(value >> 1) : (int)(value >> 1);
}

/* `code` says how the entry's line and columns are encoded. *known: the entry has a line. */
static int line_step(struct bytes *b, unsigned int code, bool *known)
{
	int step = 0;

	*known = code != 15;
	if (code < 10) {
		b->at++;
	} else if (code < 13) {
		step = (int)code - 10;
		b->at += 2;
	} else if (code == 13) {
		step = signed_varint(b);
	} else if (code == 14) {
		step = signed_varint(b);
		for (int i = 0; i < 3; i++)
			varint(b);
	}
	return step;
}

static int line_in(struct bytes *b, int line, uint64_t instruction)
{
	uint64_t end = 0;

	while (b->at < b->n) {
		unsigned int head = b->v[b->at++];
		bool known;

		end += (head & 7) + 1;
		line += line_step(b, head >> 3 & 15, &known);
		if (instruction < end)
			return known ? line : 0;
	}
	return 0;
}

static int line_of(pid_t tgid, const struct python_objects *o, const struct python_frame *f)
{
	static struct bytes b;
	uint64_t table = word_at(tgid, f->code + o->table), from = f->code + o->instructions;
	int first = 0;

	b.at = 0;
	b.n = table ? word_at(tgid, table + BYTES_LENGTH) : 0;
	if (!b.n || b.n > sizeof(b.v) || f->instr < from ||
	    !read_process(tgid, table + BYTES_AT, b.v, b.n) ||
	    !read_process(tgid, f->code + o->first_line, &first, sizeof(first)))
		return 0;
	return line_in(&b, first, (f->instr - from) / 2);
}

/* A call from C into Python has a frame too, which belongs to no function. */
static bool is_code(pid_t tgid, const struct python_frame *f, uint64_t code_type)
{
	return f->code && (!code_type || word_at(tgid, f->code + 8) == code_type);
}

static void add_frame(pid_t tgid, const struct version *v, const struct python_frame *f,
		      struct call_stack *out)
{
	const struct python_objects *o = &v->objects;
	struct call_frame *c = call_stack_next(out);

	if (!c)
		return;
	c->managed = true;
	snprintf(c->module, sizeof(c->module), "python");
	if (!read_text(tgid, word_at(tgid, f->code + o->name), o->text, c->function,
		       sizeof(c->function)) ||
	    strstr(c->function, "<interpreter trampoline>")) {
		out->n--;
		return;
	}
	read_text(tgid, word_at(tgid, f->code + o->file), o->text, c->file, sizeof(c->file));
	c->line = line_of(tgid, o, f);
}

void python_frames_read(const struct stack_copy *copy, pid_t tgid, struct call_stack *out)
{
	uint64_t runtime, code_type = 0;
	struct version v;

	if (!native_variable(tgid, "_PyRuntime", &runtime) || !version_of(tgid, runtime, &v))
		return;
	native_variable(tgid, "PyCode_Type", &code_type);
	for (unsigned int i = 0; i < copy->python_n && i < PYTHON_FRAMES; i++)
		if (is_code(tgid, &copy->python_frames[i], code_type))
			add_frame(tgid, &v, &copy->python_frames[i], out);
}
