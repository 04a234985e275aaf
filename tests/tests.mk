# SPDX-License-Identifier: GPL-2.0-only
# Test targets; `make help` shows the lines with ##.
.PHONY: test-unit
test-unit: $(UNIT) ## the tests that need no root (TEST=name: one of them)
	$(Q)tests/run-unit $(if $(TEST),$(filter %/test_$(TEST),$(UNIT)),$(UNIT))

.PHONY: test
test: ## install what is missing and run every test
	$(Q).ci/deps all
	$(Q)tests/run $(STAGES)
