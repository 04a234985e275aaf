// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as the result or the sweep of `diagnose --from`: judged and shown, or refused. */
#include "commands/cmd_diagnose.c"

#include "fuzz/fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	silence_stdout();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory_file m = memory_file_open(data, size);
	struct outcome_so_far out = { .print = true, .list = json_array(), .ranges = json_array() };
	struct diagnosis_run x = { .quiet = true,
				   .base_rounds = BASE_ROUNDS,
				   .pairs = PAIRS_LEAST };
	struct err e = {};

	if (diagnose_saved(&x, m.path, &out, &e))
		must_be_refusal(&e);
	else
		MUST(json_array_size(out.list) > 0);
	json_decref(out.list);
	json_decref(out.ranges);
	memory_file_close(&m);
	return 0;
}
