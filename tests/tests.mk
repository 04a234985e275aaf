# SPDX-License-Identifier: GPL-2.0-only
# Test targets; `make help` shows the lines with ##.
# nothing that a test starts outlives it, nor whoever kills make
CONTAIN := tests/contain

.PHONY: test-unit
test-unit: $(UNIT) ## the tests that need no root (TEST=name: one of them)
	$(Q)$(CONTAIN) tests/run-unit $(if $(TEST),$(filter %/test_$(TEST),$(UNIT)),$(UNIT))

.PHONY: test-vm test-vm-rig
test-vm: all guest-files ## the tests in guests (KERNELS=6.1,7.2 and TEST=name, or -name, choose)
	$(Q)tests/vm/run $(if $(KERNELS),--kernels $(KERNELS)) $(TEST:%=--test %)

test-vm-rig: all ## test the guest tools: exit statuses, crashes, what ^C leaves behind (QUICK=1: the most important third)
	$(Q)tests/vm/selftest $(if $(QUICK),--quick)

.PHONY: test-arm64 test-arm64-objects
test-arm64-objects: ## the BPF objects compiled for arm64, and what stack they need
	$(Q)$(MAKE) --no-print-directory BPF_ARCH=arm64 GEN=build/gen-arm64 $(BPF_NAMES:%=build/gen-arm64/%.bpf.o)
	$(Q)tests/bpf-stack $(BPF_NAMES:%=build/gen-arm64/%.bpf.o) && echo '1 passed, 0 failed, 0 skipped'

test-arm64: ## the known workloads in an emulated guest for arm64 (BACKEND=b: one; needs gcc-aarch64-linux-gnu and qemu-system-arm; three minutes)
	$(Q)tests/vm/arm64 $(BACKEND)

.PHONY: test-systemd
test-systemd: all ## the exporter's unit under a real systemd, in a guest (a minute)
	$(Q)tests/vm/systemd

.PHONY: test-bcc
test-bcc: build/guest/known ## analysis/bcc_probe.py in a guest with known workloads (needs python3-bpfcc; two minutes)
	$(Q)tests/vm/bcc

.PHONY: test test-all
test: ## install what is missing and run the tests that each change must pass, in ten minutes (STAGES="unit tree": those; tests/README.md)
	$(Q).ci/deps all
	$(Q)$(CONTAIN) tests/run $(STAGES)

test-all: ## run all tests: hours; stages that passed on the same files are not repeated (STAGES= chooses, FRESH=1 runs all)
	$(Q).ci/deps all
	$(Q).ci/deps rpc || true
	$(Q)$(CONTAIN) tests/run --all $(if $(FRESH),--fresh) $(STAGES)

.PHONY: test-killed
test-killed: ## kill the suite (SIGKILL) at ten random moments: nothing may be left of it (SEED=n: the same moments again)
	$(Q)tests/killed $(if $(SEED),--seed $(SEED))

# --- known workloads: a program of its own, which knows nothing of the tool ---
KNOWN     := $(B)/tests/kernel/known
KNOWN_OBJ := $(patsubst tests/kernel/%.c,$(B)/tests/kernel/%.o,$(wildcard tests/kernel/known*.c))
.PHONY: known
known: $(KNOWN)
$(KNOWN): $(KNOWN_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ -pthread
$(B)/tests/kernel/%.o: tests/kernel/%.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -D_GNU_SOURCE $(ALL_CFLAGS) $(DEPFLAGS) -c -o $@ $<
-include $(KNOWN_OBJ:.o=.d)

# --- a crowd of connections, for the live screen and the exporter ---
CROWD := $(B)/tests/cli/crowd
$(CROWD): tests/cli/crowd.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -D_GNU_SOURCE $(ALL_CFLAGS) $(DEPFLAGS) $(ALL_LDFLAGS) -o $@ $<
-include $(CROWD).d

# --- connections that come and go ---
CHURN := $(B)/tests/soak/churn
$(CHURN): tests/soak/churn.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -D_GNU_SOURCE $(ALL_CFLAGS) $(DEPFLAGS) $(ALL_LDFLAGS) -o $@ $< -pthread
-include $(CHURN).d

# --- programs that do nothing, at the hooks that the ledger has ---
FLOOR := $(B)/tests/floor
$(FLOOR): tests/floor.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -D_GNU_SOURCE $(ALL_CFLAGS) $(DEPFLAGS) $(ALL_LDFLAGS) -o $@ $< -lbpf
-include $(FLOOR).d

.PHONY: test-native guest-files
test-native: ipcstall $(KNOWN) ## known workloads traced here, against their own clock (TEST=name: one; BACKEND=b; CORE=1: those of make test)
	$(Q)IPCSTALL=./ipcstall KNOWN=$(KNOWN) PYTHON=$(PYTHON) $(CONTAIN) tests/kernel/retry $(if $(BACKEND),--backend $(BACKEND)) $(if $(CORE),--set core) $(TEST)

.PHONY: test-programs
test-programs: all ## real programs traced here: the verdict each must get (TEST=name: one case)
	$(Q).ci/deps programs || true
	$(Q)$(CONTAIN) $(PYTHON) tests/programs/run $(TEST)

.PHONY: test-truth test-mistakes docs-truth
test-truth: all ## trace healthy and faulty programs here, and compare each verdict with the expected one (TEST=name: one; PART=1/2)
	$(Q).ci/deps truth || true
	$(Q)$(CONTAIN) $(PYTHON) tests/truth/run $(if $(PART),--part $(PART)) $(TEST)

test-mistakes: all $(UNIT) $(KNOWN) $(if $(GUESTS),guest-files) ## the tests that docs/TRUTH.md names, except its programs (GUESTS=1: known workloads in guests)
	$(Q)$(PYTHON) tests/truth/mistakes.py $(if $(GUESTS),--guests,--run)

docs-truth: ## write docs/TRUTH.md and docs/TRUTH-PROGRAMS.md from the latest results of make test-truth and test-mistakes
	$(Q)$(PYTHON) tests/truth/run --doc docs/TRUTH-PROGRAMS.md
	$(Q)$(PYTHON) tests/truth/mistakes.py --doc docs/TRUTH.md

.PHONY: test-try test-try-kills docs-try
test-try: all ## `ipcstall try` on real programs, with and without a CPU hog: compare the gain with that of a restart with the fix (TEST=name: one)
	$(Q).ci/deps programs || true
	$(Q)$(CONTAIN) $(PYTHON) tests/try/live $(if $(TEST),'$(TEST)')

test-try-kills: all ## kill `ipcstall try` at 50 random moments: every option must have its old value (SEED=n: the same moments again)
	$(Q)tests/steady --tries 2 --limit 3600 $(PYTHON) tests/try/kills $(if $(SEED),--seed $(SEED))

docs-try: all ## measure docs/TRY.md's table of real programs, a quarter of an hour on a quiet machine (FRESH=1: also what build/try has)
	$(Q)$(if $(FRESH),rm -rf build/try)
	$(Q)$(PYTHON) tests/try/live --keep build/try --doc docs/TRY.md; true

.PHONY: test-soak test-kills
test-soak: all $(CHURN) ## the tracer under many short connections, for SOAK seconds (30)
	$(Q)CHURN=$(CHURN) tests/steady --tries 2 $(PYTHON) tests/soak/run $(SOAK)

test-kills: all $(CHURN) ## kill and restart the tracer 50 times during live traffic
	$(Q)CHURN=$(CHURN) tests/steady --limit 1800 $(PYTHON) tests/soak/kills

# What the guests need that is not theirs: the workloads, and the test of links (netem and fq are there), and
# a Python with as much of its library as the real programs' cases ask for.
GUEST_FILES := build/guest/known build/guest/test_link build/guest/python3 build/guest/programs.zip build/guest/postgres
guest-files: $(GUEST_FILES)
build/guest/known: $(KNOWN)
	$(Q)mkdir -p $(@D)
	$(Q)cp $< $@
build/guest/test_link: $(B)/tests/unit/test_link
	$(Q)mkdir -p $(@D)
	$(Q)cp $< $@
build/guest/python3:
	$(Q)mkdir -p $(@D)
	$(Q)cp -L $(PYTHON) $@
build/guest/postgres: tests/vm/postgres-tree $(wildcard /usr/lib/postgresql/*/bin/postgres)
	$(Q)tests/vm/postgres-tree $@
build/guest/programs.zip: tests/programs/pylib.py tests/programs/run $(wildcard tests/programs/*.py) build/guest/python3
	$(Q)mkdir -p $(@D)
	$(Q)$(PYTHON) -I -S tests/programs/pylib.py $@ tests/programs/run

.PHONY: test-analysis
test-analysis: ## the Python side: statistics, figures, report, bad files (pytest); test-analysis-thorough: more of the same
	$(Q)$(PYTHON) -m pytest -q -p no:cacheprovider -m "not thorough" tests/analysis

.PHONY: test-analysis-thorough
test-analysis-thorough:
	$(Q)$(PYTHON) -m pytest -q -p no:cacheprovider -m thorough tests/analysis

# --- screens whose figures are made, not measured ---
DRAWERS := $(patsubst tests/golden/%.c,$(B)/tests/golden/%,$(wildcard tests/golden/draw_*.c))
$(B)/tests/golden/%: tests/golden/%.c tests/golden/kept.h $(ARCHIVES)
	$(call say,TEST,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) -Itests $(ALL_CFLAGS) $(DEPFLAGS) $(ALL_LDFLAGS) -o $@ $< \
		$(patsubst %,$(B)/rooms/%.a,$(shell $(PYTHON) tests/layers --link $<)) $(LIBS)
-include $(DRAWERS:=.d)

.PHONY: golden
golden: all $(DRAWERS) ## draw the kept screens again (tests/golden); review them before you commit
	$(Q)tests/golden/run --make

.PHONY: test-browser
test-browser: ## reports in a headless Chromium at three widths: layout, hover, click, no request
	$(Q)$(PYTHON) tests/browser/run

.PHONY: test-diagnosis docs-diagnosis
test-diagnosis: all ## run diagnose on planted faults and healthy workloads, some under load (MATCH=text: those)
	$(Q)$(CONTAIN) $(PYTHON) tests/diagnosis/run $(if $(MATCH),--match '$(MATCH)',--short) --again 1
	$(Q)$(if $(MATCH),true,$(CONTAIN) $(PYTHON) tests/diagnosis/run --short --load --again 1)

docs-diagnosis: all ## measure docs/DIAGNOSIS.md again: every planted fault, about ten minutes on a quiet machine
	$(Q)$(PYTHON) tests/diagnosis/run --doc docs/DIAGNOSIS.md $(if $(UNDER),--under '$(UNDER)'); true

.PHONY: test-docs
test-docs: all $(KNOWN) ## check the documents against the program: figures (docs/figures), screens, options, codes
	$(Q)KNOWN=$(KNOWN) tests/steady --whole --tries 1 --limit 3000 $(PYTHON) tests/docs/run $(DOCS)

.PHONY: test-mutants
test-mutants: ## break the state machine on purpose: a test must fail each time
	$(Q)$(PYTHON) tests/mutants $(if $(TEST),'$(TEST)')

.PHONY: test-cli
test-cli: all $(CROWD) $(CHURN) $(KNOWN) ## the command line: options, output, exit codes (TEST=name: one file of tests/cli; tests/run-cli --stage core: those of make test)
	$(Q)tests/run-cli $(TEST)

# Packages and the programs by which they show. netperf and lmbench are not free software: only when asked for.
PEERS := sockperf:sockperf qperf:qperf iperf3:iperf3 netpipe-tcp:NPtcp rt-tests:hackbench linux-perf:perf
.PHONY: bench-peers
bench-peers: all ## compare with sockperf, qperf, iperf3, NPtcp, perf, hackbench, in interleaved pairs: quiet machine, most of an hour (PAIRS=10 ONLY=words DOC=1 NONFREE=1: netperf, lmbench too)
	$(Q)for p in $(PEERS); do command -v $${p#*:} >/dev/null || apt-get install -y --no-install-recommends $${p%:*} >/dev/null 2>&1 || true; done
	$(Q)$(if $(NONFREE),test -x build/peers/usr/bin/netperf || tests/peers/nonfree build/peers)
	$(Q)tests/bench-peers --json build/peers.json $(if $(PAIRS),--pairs $(PAIRS)) $(if $(ONLY),--only '$(ONLY)') $(if $(DOC),--markdown docs/PEERS.md)

.PHONY: test-fuzz
test-fuzz: fuzz-files ## the state machine under ten million random steps, and every fuzzer for some seconds
	$(Q)tests/fuzz/run

.PHONY: test-cost bench-cost
test-cost: all ## the ledger's own cost, against loose bounds
	$(Q)PYTHON=$(PYTHON) tests/steady --limit 1800 tests/kernel/cost --duration 300ms

bench-cost: all $(FLOOR) ## the same against strict limits, and the cost of empty BPF programs: quiet machine
	$(Q)PYTHON=$(PYTHON) FLOOR=$(FLOOR) tests/kernel/cost --bars

.PHONY: bench-sampled bench-churn bench-detect
bench-sampled: all $(KNOWN) ## what the sampled tier costs redis, nginx, 64 B messages and a 64 KiB stream: quiet machine, ten minutes
	$(Q)$(PYTHON) tests/sampled/cost.py

bench-detect: all $(KNOWN) $(CROWD) ## how soon `watch` finds one stalled conversation among a thousand, by cause (ROUNDS=7)
	$(Q)KNOWN=$(KNOWN) CROWD=$(CROWD) $(PYTHON) tests/sampled/detect.py --rounds $(or $(ROUNDS),7)

bench-churn: all $(CHURN) ## `watch` with 5,000 connections a second, for SECONDS (600), after its cost for their rate: quiet machine
	$(Q)CHURN=$(CHURN) $(PYTHON) tests/soak/watched $(or $(SECONDS),600)

.PHONY: bench-O0
bench-O0: all ## what the compiler's optimisation changes: compare this build with one with -O0, in interleaved pairs (PAIRS=10)
	$(Q)$(MAKE) -s OPT=-O0 build/O0/ipcstall
	$(Q)$(PYTHON) tests/bench-flavours $(if $(PAIRS),--pairs $(PAIRS)) ./ipcstall build/O0/ipcstall

.PHONY: docs-overhead
docs-overhead: all guest-files ## count the instructions of the ledger, bpftrace, tcptop and tcppktlat, in a guest (KERNELS=6.12)
	$(Q)$(PYTHON) tests/overhead/run $(if $(KERNELS),--kernels $(KERNELS))

.PHONY: test-records
test-records: ipcstall $(KNOWN) ## timeline, stalls, streams and recordings of known workloads, compared with the ledger (TEST=name: one)
	$(Q)IPCSTALL=./ipcstall KNOWN=$(KNOWN) tests/steady --limit 1800 $(PYTHON) tests/kernel/records $(TEST)

.PHONY: test-capacity
test-capacity: all $(CROWD) ## attach to 5,000 connections in time; account for each of 50,000 endpoints; count the overflow
	$(Q)IPCSTALL=./ipcstall CROWD=$(CROWD) tests/steady --limit 1800 $(PYTHON) tests/kernel/capacity

.PHONY: bench-served
bench-served: all $(FLOOR) ## throughput of redis and nginx while traced, in interleaved rounds: quiet machine (PAIRS=9)
	$(Q)for p in redis-server redis-tools:redis-benchmark nginx-light:nginx wrk; do command -v $${p#*:} >/dev/null || apt-get install -y --no-install-recommends $${p%:*} >/dev/null 2>&1 || true; done
	$(Q)FLOOR=$(FLOOR) $(PYTHON) tests/bench-served $(if $(PAIRS),--pairs $(PAIRS)) $(if $(ONLY),--only $(ONLY))

# What the stages of make test need beside the program, built once for all of them.
.PHONY: test-files unit-files
unit-files: $(UNIT)
test-files: unit-files $(KNOWN) $(CROWD) $(CHURN) $(DRAWERS) build/guest/known

.PHONY: test-corpus corpus
test-corpus: all ## replay kept recordings: each must get its expected verdict (a second)
	$(Q)tests/corpus/run $(TEST)

corpus: all $(KNOWN) ## record tests/corpus again (TEST=name: one), after a change of the format
	$(Q)KNOWN=$(KNOWN) tests/corpus/run --record $(TEST)
