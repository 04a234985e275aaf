// SPDX-License-Identifier: GPL-2.0-only
#include "workloads/workload.h"

#define ROW(id, name) extern const struct workload workload_##id;
#include "workloads/workload_table.h"
#undef ROW

const struct workload *const workloads[] = {
#define ROW(id, name) &workload_##id,
#include "workloads/workload_table.h"
#undef ROW
	NULL,
};

const char *const workload_names[] = {
#define ROW(id, name) name,
#include "workloads/workload_table.h"
#undef ROW
	NULL,
};
