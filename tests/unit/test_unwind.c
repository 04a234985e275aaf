// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unwind/frame_sources.h"

static void is_called(const char *mangled, const char *name)
{
	char buf[200];

	demangle(mangled, buf, sizeof(buf));
	assert_string_equal(buf, name);
}

static void test_plain_names(void **state)
{
	is_called("write_body", "write_body");
	is_called("main.sendMessage", "main.sendMessage");
	is_called("_start", "_start");
}

static void test_rust_legacy(void **state)
{
	is_called("_ZN6writer10Connection12send_message17h0123456789abcdefE",
		  "writer::Connection::send_message");
	is_called("_ZN54_$LT$std..net..TcpStream$u20$as$u20$std..io..Write$GT$5write"
		  "17h0123456789abcdefE",
		  "<std::net::TcpStream as std::io::Write>::write");
}

static void test_rust_v0(void **state)
{
	is_called("_RNvMCs1234_6writerNtB2_10Connection12send_message",
		  "writer::Connection::send_message");
	is_called("_RNvNtCs1234_3std2rt19lang_start_internal", "std::rt::lang_start_internal");
	is_called("_RNvXs0_NtNtCsjrHSEGnQ3l9_3std3net3tcpNtB5_9TcpStreamNtNtB9_2io5Write5write",
		  "<std::net::tcp::TcpStream as std::io::Write>::write");
	is_called("_RINvCs1234_3app3runhmE", "app::run<u8, u32>");
	is_called("_RNCNvCs1234_3app4main0B3_", "app::main::{{closure}}");
}

/* whoever wrote them: they end, and what is no name stays as it is */
static void test_broken_names(void **state)
{
	static const char letters[] = "_RNCMXYIBsEvth0123456789ZLKTSA";
	char name[48], out[64];

	is_called("_R", "_R");
	is_called("_RB_", "_RB_");
	is_called("_ZN99999999999999999999x", "_ZN99999999999999999999x");
	srand(1);
	for (int i = 0; i < 100000; i++) {
		size_t n = 2 + (size_t)(rand() % 44);

		memcpy(name, i % 2 ? "_R" : "_Z", 2);
		for (size_t k = 2; k < n; k++)
			name[k] = letters[(size_t)rand() % (sizeof(letters) - 1)];
		name[n] = '\0';
		demangle(name, out, sizeof(out));
		assert_true(strlen(out) < sizeof(out));
	}
}

static void add(struct call_stack *s, const char *function, const char *file, bool library)
{
	struct call_frame *f = call_stack_next(s);

	snprintf(f->function, sizeof(f->function), "%s", function);
	snprintf(f->file, sizeof(f->file), "%s", file);
	f->line = 7;
	f->library = library;
}

static void test_own_frame(void **state)
{
	struct call_stack s = {};
	char text[300];

	assert_null(call_stack_own(&s));
	add(&s, "write", "", true);
	add(&s, "answer", "/home/me/app.c", false);
	assert_string_equal(call_stack_own(&s)->function, "answer");
	call_frame_text(call_stack_own(&s), text, sizeof(text));
	assert_string_equal(text, "answer (app.c:7)");
	s.v[1].library = true;
	add(&s, "reply", "app.js", false);
	s.v[2].managed = s.v[2].begins = true;
	assert_string_equal(call_stack_own(&s)->function, "reply");
	call_frame_text(call_stack_own(&s), text, sizeof(text));
	assert_string_equal(text, "reply (app.js, begins at line 7)");
	call_stack_disown(&s);
	assert_null(call_stack_own(&s));
}

static void is_in_map(uint64_t at, const char *function, int line)
{
	struct call_frame f = {};

	assert_true(perf_map_name(getpid(), at, &f));
	assert_string_equal(f.function, function);
	assert_int_equal(f.line, line);
	assert_true(f.managed);
}

static void test_perf_map(void **state)
{
	char path[64];
	struct call_frame none = {};
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("1000 100 JS:~old /a b/app.js:3:4\n1000 100 JS:*send /a b/app.js:9:21\n"
	      "2000 10 Eval:~ /app.js:1:1\n3000 10 void app.Server.answer(java.lang.String)\n"
	      "4000 10 Interpreter\nnonsense\n",
	      f);
	fclose(f);
	is_in_map(0x10ff, "send", 9);
	is_in_map(0x2000, "(anonymous)", 1);
	is_in_map(0x3001, "app.Server.answer", 0);
	is_in_map(0x4001, "Interpreter", 0);
	assert_false(perf_map_name(getpid(), 0x1100, &none));
	unlink(path);
	assert_false(perf_map_name(getpid(), 0x1000, &none));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_names), cmocka_unit_test(test_rust_legacy),
		cmocka_unit_test(test_rust_v0),	    cmocka_unit_test(test_broken_names),
		cmocka_unit_test(test_own_frame),   cmocka_unit_test(test_perf_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
