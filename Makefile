# SPDX-License-Identifier: GPL-2.0-only
# ipcstall: `make help` lists what can be made.

VERSION  := 0.1.0
CC       ?= cc
CLANG    ?= clang
BPFTOOL  ?= $(firstword $(wildcard /usr/sbin/bpftool /sbin/bpftool) bpftool)
PYTHON   ?= $(firstword $(wildcard /usr/bin/python3) python3)
PREFIX   ?= /usr/local
OPT      ?= -O2
SAN      ?=
# what CC builds for, as libbpf calls it (x86, arm64), and a tag where that is not this machine's
MACHINE  := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
BPF_ARCH := $(patsubst x86_64,x86,$(patsubst aarch64,arm64,$(MACHINE)))
CROSS    := $(if $(filter $(MACHINE),$(shell uname -m)),,-$(BPF_ARCH))
FLAVOUR  ?= $(patsubst -%,%,$(OPT))$(if $(SAN),-san)$(if $(findstring clang,$(CC)),-clang)$(CROSS)
B        := build/$(FLAVOUR)
GEN      := build/gen$(CROSS)

V ?= 0
ifeq ($(V),0)
Q := @
say = @printf '  %-8s %s\n' '$(1)' '$(2)'
endif

# where nothing is inlined gcc takes the address of an array, kept to be filled later, for a read of it
O0_WARN  := $(if $(filter -O0,$(OPT)),$(if $(findstring clang,$(CC)),,-Wno-maybe-uninitialized))
WARN     := -Wall -Wextra -Werror -Wno-unused-parameter -Wno-missing-field-initializers -Wmissing-prototypes -Wstrict-prototypes $(O0_WARN)
comma    := ,
SANFLAGS := $(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
GIT_DESC := $(shell git describe --always --dirty --abbrev=10 2>/dev/null || echo unknown)
CPPFLAGS += -I. -Iuser -I$(GEN) -D_GNU_SOURCE -DIPCSTALL_VERSION='"$(VERSION)"' \
	    -DIPCSTALL_BUILD='"$(FLAVOUR)"' -DIPCSTALL_PREFIX='"$(PREFIX)"'
CFLAGS   += -std=gnu11 -g $(OPT) $(WARN) $(SANFLAGS) -pthread
LDLIBS   += -lbpf -lelf -lz -ljansson -lm -pthread
DEPFLAGS = -MMD -MP

SRCS     := $(sort $(shell find user -name '*.c'))
OBJS     := $(SRCS:%.c=$(B)/%.o)
LIBOBJS  := $(filter-out $(B)/user/main.o,$(OBJS))

# --- the kernel half: one row per object: NAME:SOURCE:FLAGS (read by the rules below) ---
-include bpf/objects.mk
BPF_NAMES := $(foreach r,$(BPF_OBJECTS),$(word 1,$(subst :, ,$(r))))
bpf_src    = bpf/$(word 2,$(subst :, ,$(filter $(1):%,$(BPF_OBJECTS))))
bpf_flags  = $(addprefix -D,$(subst $(comma), ,$(word 3,$(subst :, ,$(filter $(1):%,$(BPF_OBJECTS))))))
SKELS     := $(BPF_NAMES:%=$(GEN)/%.skel.h)

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all clean help deps install uninstall demo docs
all: ipcstall ## build ./ipcstall (default)

# Every time: which flavour the name stands for changes with CC, OPT and SAN, and .SECONDARY would take the old one for new.
ipcstall: $(B)/ipcstall FORCE
	$(Q)ln -sf $< $@

$(B)/ipcstall: $(OBJS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(B)/%.o: %.c $(SKELS)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(DEPFLAGS) -c -o $@ $<

# The commit is baked into one object only, so that a new commit does not rebuild the rest.
$(B)/git.stamp: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)echo '$(GIT_DESC)' | cmp -s - $@ || echo '$(GIT_DESC)' > $@
$(B)/user/host/machine.o: CPPFLAGS += -DIPCSTALL_GIT='"$(GIT_DESC)"' -DIPCSTALL_CFLAGS='"$(OPT) $(SANFLAGS)"'
$(B)/user/host/machine.o: $(B)/git.stamp

$(GEN)/%.bpf.o: bpf/objects.mk
	$(call say,BPF,$*)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) -target bpf -g -O2 -mcpu=v3 -Wall -Wextra -Werror -Wno-unused-parameter -D__TARGET_ARCH_$(BPF_ARCH) \
		-Ibpf -Ivmlinux $(call bpf_flags,$*) -MMD -MP -MT $@ -MF $(@:.o=.d) -c -o $@ $(call bpf_src,$*)
	$(Q)llvm-strip -g $@ 2>/dev/null || true

$(GEN)/%.skel.h: $(GEN)/%.bpf.o
	$(call say,SKEL,$*)
	$(Q)$(BPFTOOL) gen skeleton $< name $* > $@

# --- tests: one executable per tests/unit/test_*.c, linked with everything but main ---
UNIT := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(wildcard tests/unit/test_*.c))
$(B)/tests/unit/%: tests/unit/%.c $(LIBOBJS)
	$(call say,TEST,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -Itests $(CFLAGS) $(DEPFLAGS) $(LDFLAGS) -o $@ $< $(LIBOBJS) -lcmocka $(LDLIBS)

-include tests/tests.mk

.PHONY: FORCE
FORCE:
deps: ## install what is missing (Debian/Ubuntu; elsewhere: name it)
	$(Q)sh .ci/deps

install: all ## install under PREFIX (default /usr/local): program, man page, completion, systemd unit
	$(call say,INSTALL,$(DESTDIR)$(PREFIX))
	$(Q)install -D -m 755 $(B)/ipcstall $(DESTDIR)$(PREFIX)/bin/ipcstall
	$(Q)install -d $(DESTDIR)$(PREFIX)/share/man/man8 $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	$(Q)./ipcstall man > $(DESTDIR)$(PREFIX)/share/man/man8/ipcstall.8
	$(Q)./ipcstall completion bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/ipcstall
	$(Q)install -d $(DESTDIR)$(PREFIX)/lib/systemd/system
	$(Q)sed 's|/usr/local/bin|$(PREFIX)/bin|' docs/monitoring/ipcstall-export.service > $(DESTDIR)$(PREFIX)/lib/systemd/system/ipcstall-export.service
	$(Q)for f in $$(find analysis -name '*.py' -o -name '*.j2' -o -name '*.css' -o -name '*.c') docs/experiments/*.md; do \
		install -D -m 644 $$f $(DESTDIR)$(PREFIX)/share/ipcstall/$$f; done

demo: ## install what is missing, build, run the main job and a short sweep, write a report
	$(Q).ci/deps demo
	$(Q)$(MAKE) --no-print-directory all
	$(Q)PYTHON=$(PYTHON) .ci/demo demo-report

docs-measured: all $(KNOWN) ## measure README's screen and pictures anew (quiet machine)
	$(Q)PYTHON=$(PYTHON) docs/refresh

.PHONY: experiments
experiments: all ## carry out the experiments and keep data and answers (quiet machine, half an hour; ONLY=name)
	$(Q)PYTHON=$(PYTHON) docs/experiments/refresh $(ONLY)

docs: all ## rewrite the documents that are made from the program
	$(Q)./ipcstall causes --markdown > docs/CAUSES.md

uninstall: ## remove what install put there
	$(Q)rm -f $(DESTDIR)$(PREFIX)/bin/ipcstall $(DESTDIR)$(PREFIX)/share/man/man8/ipcstall.8 \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/ipcstall $(DESTDIR)$(PREFIX)/lib/systemd/system/ipcstall-export.service
	$(Q)rm -rf $(DESTDIR)$(PREFIX)/share/ipcstall

clean: ## remove everything made
	$(Q)rm -rf build ipcstall

help: ## this list
	@printf 'make TARGET [V=1] [CC=clang] [SAN=1] [OPT=-O0]\n\n'
	@grep -hE '^[a-zA-Z0-9_-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | sort -u | awk -F'\t' '{ printf "  %-16s %s\n", $$1, $$2 }'

-include $(OBJS:.o=.d) $(UNIT:=.d) $(BPF_NAMES:%=$(GEN)/%.bpf.d)
