# SPDX-License-Identifier: GPL-2.0-only
# Fuzzers: one of tests/fuzz/fuzz_*.c each, linked with the rooms that it includes files of, all built by clang with libFuzzer and
# sanitizers. The unit tests are linked with the same archives: one build by clang serves both.
FUZZERS      := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ         ?= $(FUZZERS)
FUZZ_SECONDS ?= 60
CLANG_BUILD   = $(MAKE) --no-print-directory CC=clang FLAVOUR=fuzz OPT=-O0 SAN=1 CFLAGS='$(CFLAGS) -fsanitize=fuzzer-no-link'
# With sanitizers -O1 takes clang four times as long as -O0. It pays where the tests compute much.
HOT_ROOMS    := base host recording stats
HOT_TESTS    := $(addprefix test_,diagnosis ladder ledger recording rudp sampler stats)
ifeq ($(FLAVOUR),fuzz)
$(filter $(HOT_ROOMS:%=$(B)/user/%/%),$(OBJS)): ALL_CFLAGS += -O1
$(HOT_TESTS:%=$(B)/tests/unit/%): TEST_OPT := -O1
# A recording of a few thousand connections reaches what drops those that are gone.
ALL_CPPFLAGS += -DCLOSED_KEPT=3200
endif
COVER_BUILD   = $(MAKE) --no-print-directory CC=clang FLAVOUR=fuzz-coverage OPT=-O1 HARDEN= HARDEN_LD= FORTIFY= \
	CFLAGS='$(CFLAGS) -fprofile-instr-generate -fcoverage-mapping'

$(B)/fuzz/%: tests/fuzz/fuzz_%.c tests/fuzz/fuzz.h $(ARCHIVES)
	$(call say,FUZZER,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) -Itests $(ALL_CFLAGS) -fsanitize=fuzzer $(DEPFLAGS) $(ALL_LDFLAGS) -o $@ $< \
		$(patsubst %,$(B)/rooms/%.a,$(shell $(PYTHON) tests/layers --link $<)) $(LIBS)
-include $(FUZZERS:%=$(B)/fuzz/%.d)

.PHONY: fuzzers fuzz-files unit-clang-files test-unit-clang fuzz fuzz-corpus fuzz-coverage
fuzzers: $(FUZZERS:%=$(B)/fuzz/%)

fuzz-files: ## the fuzzers, and the program as clang builds it
	+$(Q)$(CLANG_BUILD) fuzzers build/fuzz/ipcstall

unit-clang-files: fuzz-files
	+$(Q)$(CLANG_BUILD) unit-files

test-unit-clang: ## the unit tests built by clang, with address and undefined-behaviour sanitizers (TEST=name: one of them)
	+$(Q)$(CLANG_BUILD) test-unit

fuzz: fuzz-files ## the fuzzers, each from its kept corpus for FUZZ_SECONDS (60); FUZZ=name: one (tests/fuzz/README.md)
	$(Q)tests/fuzz/run --each $(FUZZ_SECONDS) $(FUZZ)

fuzz-corpus: fuzz-files ## keep those inputs found by the fuzzers that reach more of the program
	$(Q)tests/fuzz/keep $(FUZZ)

fuzz-coverage: ## lines of the parsers that the kept corpora run: 90 % at least
	+$(Q)$(COVER_BUILD) fuzzers
	$(Q)tests/fuzz/coverage $(FUZZ)
