// SPDX-License-Identifier: GPL-2.0-only
#include "host/machine.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <cmocka.h>

#include "render/environment.h"

static void machine_is_this_one(void **state)
{
	struct machine m;
	struct utsname u;

	(void)state;
	machine_read(&m);
	uname(&u);
	assert_string_equal(m.kernel, u.release);
	assert_string_equal(m.arch, u.machine);
	assert_int_equal(m.cpus_online, sysconf(_SC_NPROCESSORS_ONLN));
	assert_true(m.memory_bytes > 1 << 20);
	assert_true(strlen(m.distribution) == 0 || !strchr(m.distribution, '"'));
}

static void build_knows_its_compiler(void **state)
{
	(void)state;
#ifdef __clang__
	assert_non_null(strstr(build.compiler, "clang"));
#else
	assert_non_null(strstr(build.compiler, "gcc"));
#endif
	assert_true(strlen(build.git) > 0);
#ifdef __SANITIZE_ADDRESS__
	assert_string_equal(build.sanitizers, "address,undefined");
#endif
}

static void unknown_is_null(void **state)
{
	struct machine m = { .kernel = "6.1" };
	struct noise_report r = { .window_ns = 1e9, .steal_ns = NAN, .n_cpus = 1 };
	json_t *j = machine_to_json(&m), *n = noise_to_json(&r);

	(void)state;
	assert_non_null(j);
	assert_non_null(n);
	assert_string_equal(json_string_value(json_object_get(j, "kernel")), "6.1");
	assert_true(json_is_null(json_object_get(j, "cpu_model")));
	assert_true(json_is_null(json_object_get(j, "l2_bytes")));
	assert_true(json_is_null(json_object_get(n, "steal_ns")));
	assert_true(json_real_value(json_object_get(n, "window_ns")) == 1e9);
	assert_true(json_is_array(json_object_get(n, "warnings")));
	json_decref(j);
	json_decref(n);
}

static void everything_packs(void **state)
{
	struct tick_clock c;
	json_t *j;

	(void)state;
	tick_clock_monotonic(&c, "why");
	j = tick_clock_to_json(&c);
	assert_string_equal(json_string_value(json_object_get(j, "stamp")), "monotonic");
	json_decref(j);
	j = build_to_json(&build);
	assert_string_equal(json_string_value(json_object_get(j, "version")), IPCSTALL_VERSION);
	json_decref(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machine_is_this_one), cmocka_unit_test(build_knows_its_compiler),
		cmocka_unit_test(unknown_is_null), cmocka_unit_test(everything_packs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
