// SPDX-License-Identifier: GPL-2.0-only
/* The shape of a diagnosis. docs/SCHEMA.md says what the fields mean. */
#include "diagnose/report.h"
#include "render/schema_rows.h"
#include "verdict/blame.h"

static const struct schema_def objects[] = {
	{ "interval", "lo:?real hi:?real level:real" },
	{ "party", "role:=client|server pid:?integer comm:?text" },
	{ "finding",
	  "cause:text class:=possible|clear share:real unexcused:interval ns_per_message:?real "
	  "~episodes_per_round:?real ~sleeps_per_message:?real "
	  "~longest_ns:?real waits:?party blamed:?blamed "
	  "blamed_end:?party ~blamed_share:?real surety:surety" },
	{ "fix",
	  "name:text said:text sets:text cause:text verdict:?=confirmed|refuted|too-noisy "
	  "~why_not_run:?text gain:?real interval:?interval ~promised:?real ~pairs:?integer "
	  "~faster:?integer ~wait_ns_before:?real ~wait_ns_after:?real" },
	{ "round",
	  "traced:bool time_ns:real messages:?real lost:?real work:object "
	  "stall_shares:?object" },
	{ "diagnosis",
	  "test:text size:count outcome:=healthy|ill|too-noisy|unknown cause:?text verdict:text "
	  "~time_ns:?real ~time_interval:interval resolution:?real ~kinds_tested:count "
	  "~most_unexcused:?real ~competing:?real ~disturbed:bool ~modes:?object rounds:round[] "
	  "findings:finding[] fixes:fix[] *" },
	{ "size", "size:count repeats:count time_ns:?real lawful_ns:?real depth:?real p:?real "
		  "dip:bool" },
	{ "band",
	  "first:count last:count deepest:count depth:?real excess_ns:?real cause:?text "
	  "stall_ns:?real explained:?real ~explained_lo:?real" },
	{ "range", "test:text judged:bool sizes:size[] bands:band[] *" },
	{}
};

json_t *diagnosis_schema(void)
{
	static const char *const blamed[] = { "peer delayed ACK", "peer application not reading",
		"path" };
	json_t *defs = schema_objects(objects),
	       *top = schema_object("tool:any machine:any clock:any options:?object from:?text "
				    "started:any trace:?object verdict:text "
				    "diagnoses:diagnosis[] ranges:range[] *");

	schema_set_kind(top, "ipcstall.diagnosis");
	json_object_set_new(defs, "blamed", schema_enum(blamed, 3));
	json_object_set_new(defs, "surety", schema_enum(surety_names, 2));
	return schema_document("urn:ipcstall:diagnosis:1", "ipcstall diagnosis, version 1", top,
			       defs);
}
