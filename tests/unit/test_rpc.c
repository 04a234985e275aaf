// SPDX-License-Identifier: GPL-2.0-only
/* What the ends of --mode grpc and thrift are told, and the memory that they have by descriptor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/guarded.h"
#include "bench/run.h"
#include "workloads/rpc.h"

static void a_report_is_the_same_on_both_sides(void **state)
{
	assert_int_equal(sizeof(struct worker_report), sizeof(struct report_msg));
	assert_int_equal(offsetof(struct worker_report, err), offsetof(struct report_msg, err));
	assert_int_equal(offsetof(struct worker_report, err.text),
			 offsetof(struct report_msg, err) + offsetof(struct err, text));
}

static void the_job_says_what_was_asked(void **state)
{
	struct workload_options o = { .message = 700,
				      .nodelay = true,
				      .port = 7,
				      .cc = "reno",
				      .bind = "10.0.0.1",
				      .payload = RPC_STRUCT,
				      .transport = RPC_FRAMED,
				      .mss = 900 };
	struct worker_job job;

	rpc_job_fill(&job, &workload_thrift, &o, TEST_THROUGHPUT);
	assert_int_equal(job.test, TEST_THROUGHPUT);
	assert_int_equal(job.size, 700);
	assert_int_equal(job.payload, RPC_STRUCT);
	assert_int_equal(job.transport, RPC_FRAMED);
	assert_true(job.nodelay[0] && job.nodelay[1] && !job.unix_socket && !job.v6);
	o.nodelay = false;
	o.nagle_end = NAGLE_SERVER;
	rpc_job_fill(&job, &workload_thrift, &o, TEST_THROUGHPUT);
	assert_true(job.nodelay[ROLE_CLIENT] && !job.nodelay[ROLE_SERVER]);
	assert_int_equal(job.port, 7);
	assert_int_equal(job.mss, 900);
	assert_int_equal(job.clock_shift, TICK_SHIFT);
	assert_string_equal(job.cc, "reno");
	assert_string_equal(job.bind, "10.0.0.1");
	rpc_job_fill(&job, &workload_grpc_unix, &(struct workload_options){}, TEST_LATENCY);
	assert_true(job.unix_socket);
	assert_string_equal(job.cc, "");
}

/* The program maps the whole file, and takes the bytes at its end. */
static void a_program_finds_the_bytes_at_the_end_of_the_file(void **state)
{
	static const size_t sizes[] = { 128, 4096, 131080, sizeof(struct shared) };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct err e = {};
		struct stat st;
		int fd;
		char *ours = guarded_map_file(sizes[i], NULL, &fd, &e), *theirs;

		assert_non_null(ours);
		memset(ours, 0x5a, sizes[i]);
		assert_int_equal(fstat(fd, &st), 0);
		theirs = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		assert_ptr_not_equal(theirs, MAP_FAILED);
		assert_memory_equal(theirs + (size_t)st.st_size - sizes[i], ours, sizes[i]);
		theirs[(size_t)st.st_size - sizes[i]] = 1;
		assert_int_equal(ours[0], 1);
		munmap(theirs, (size_t)st.st_size);
		guarded_unmap(ours, sizes[i]);
		close(fd);
	}
}

static void a_payload_has_a_size_of_its_own_but_the_string(void **state)
{
	assert_int_equal(rpc_payload_size(RPC_STRING), 0);
	assert_int_equal(rpc_payload_size(RPC_INT), 4);
	assert_int_equal(rpc_payload_size(RPC_DOUBLE), 8);
	assert_true(rpc_payload_size(RPC_STRUCT) > 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_report_is_the_same_on_both_sides),
		cmocka_unit_test(the_job_says_what_was_asked),
		cmocka_unit_test(a_program_finds_the_bytes_at_the_end_of_the_file),
		cmocka_unit_test(a_payload_has_a_size_of_its_own_but_the_string),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
