# SPDX-License-Identifier: GPL-2.0-only
# ipcstall: `make help` lists what can be made.

# the one place for the version (CONTRIBUTING.md, Releases)
VERSION  := $(shell cat VERSION)
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
# O=DIR: everything made goes there, ipcstall too, and the tree stays as it is
O        ?= build
B        := $(O)/$(FLAVOUR)
GEN      := $(O)/gen$(CROSS)
PROGRAM  := $(if $(filter build,$(O)),ipcstall,$(O)/ipcstall)

V ?= 0
ifeq ($(V),0)
Q := @
say = @printf '  %-8s %s\n' '$(1)' '$(2)'
endif

# where nothing is inlined gcc takes the address of an array, kept to be filled later, for a read of it
O0_WARN  := $(if $(filter -O0,$(OPT)),$(if $(findstring clang,$(CC)),,-Wno-maybe-uninitialized))
# WERROR= builds on where a newer compiler warns of more
WERROR   ?= -Werror
WARN     := -Wall -Wextra $(WERROR) -Wno-unused-parameter -Wno-missing-field-initializers -Wmissing-prototypes -Wstrict-prototypes $(O0_WARN)
comma    := ,
SANFLAGS := $(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)

# What the compiler has against exploits, each asked for. With sanitizers none: a fortified call hides what they look for.
TRY      := stack-protector-strong stack-clash-protection cf-protection
HASH     := \#
try       = $(shell for f in $(1); do echo '$(HASH)include <stdio.h>' | $(CC) -Werror $(OPT) $$f -x c - -c -o /dev/null 2>/dev/null && echo $$f; done)
FORTIFY  := $(if $(SAN)$(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),,$(lastword $(foreach n,2 3,\
	    $(if $(call try,-D_FORTIFY_SOURCE=$(n)),-D_FORTIFY_SOURCE=$(n)))))
PIE      ?= -pie
HARDEN   := $(if $(SAN),,$(call try,$(TRY:%=-f%) -mbranch-protection=standard) -fPIE)
# With shadow stacks the kernel has to be asked by a mark in the file, which the linker leaves out where the C library's start code has
# none (Debian's). That code keeps to calls and returns; the other mark, ibt, no kernel acts upon in user space.
MARKS    := $(if $(filter -fcf-protection,$(HARDEN)),-Wl$(comma)-z$(comma)shstk -Wl$(comma)-z$(comma)ibt)
HARDEN_LD := $(if $(SAN),,$(PIE) -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack $(MARKS))

# The file is the same wherever the tree and O= lie: no path of theirs is in it.
SAME     := -ffile-prefix-map=$(CURDIR)=. $(if $(filter build,$(O)),,-ffile-prefix-map=$(O)=build)
# The commit: of this repository, not of one that a tarball was unpacked in; git archive writes it into packaging/commit.
GIT_DESC := $(or $(GIT_DESC),$(if $(wildcard .git),$(shell git describe --always --dirty --abbrev=10 --exclude='*' 2>/dev/null)),\
	    $(filter-out $$Format%,$(shell cut -c1-10 packaging/commit)),unknown)

# Ours first: the caller's CPPFLAGS, CFLAGS and LDFLAGS are added, and win.
ALL_CPPFLAGS := -I. -Iuser -I$(GEN) -D_GNU_SOURCE -DIPCSTALL_VERSION='"$(VERSION)"' -DIPCSTALL_BUILD='"$(FLAVOUR)"' \
	    -DIPCSTALL_PREFIX='"$(PREFIX)"' $(if $(FORTIFY),-U_FORTIFY_SOURCE $(FORTIFY)) \
	    $(CPPFLAGS)
# A backtrace needs lines only, which build and link faster; CFLAGS=-g has the variables too.
ALL_CFLAGS := -std=gnu11 -g1 $(OPT) $(WARN) $(SANFLAGS) $(HARDEN) $(SAME) -pthread $(CFLAGS)
ALL_LDFLAGS := $(HARDEN_LD) $(LDFLAGS)
# optional: without it no stack is unwound, and `try` says so (LIBDW= builds without)
LIBDW    ?= $(if $(CROSS),,$(shell pkg-config --silence-errors --libs-only-l libdw))
ALL_CPPFLAGS += $(if $(LIBDW),-DHAVE_LIBDW)
LIBS     := $(LIBDW) -lbpf -lelf -lz -ljansson -lnettle -lm -pthread $(LDLIBS)
DEPFLAGS = -MMD -MP

SRCS     := $(sort $(shell find user -name '*.c'))
OBJS     := $(SRCS:%.c=$(B)/%.o)
# One archive a room, in the order of user/LAYERS: the linker finds what a room calls in its own and in those after it only.
ROOMS    := $(filter-out main bpf,$(shell sed 's/[:\#].*//' user/LAYERS))
ARCHIVES := $(ROOMS:%=$(B)/rooms/%.a)

# --- the kernel half: one row per object: NAME:SOURCE:FLAGS (read by the rules below) ---
-include bpf/objects.mk
BPF_NAMES := $(foreach r,$(BPF_OBJECTS),$(word 1,$(subst :, ,$(r))))
bpf_src    = bpf/$(word 2,$(subst :, ,$(filter $(1):%,$(BPF_OBJECTS))))
bpf_flags  = $(addprefix -D,$(subst $(comma), ,$(word 3,$(subst :, ,$(filter $(1):%,$(BPF_OBJECTS))))))
SKELS     := $(BPF_NAMES:%=$(GEN)/%.skel.h)

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all clean help deps demo docs
all: $(PROGRAM) ## build ./ipcstall (default)

# Every time: which flavour the name stands for changes with CC, OPT and SAN, and .SECONDARY would take the old one for new.
$(PROGRAM): $(B)/ipcstall FORCE
	$(Q)ln -sf $(if $(filter build,$(O)),$<,$(FLAVOUR)/ipcstall) $@

$(B)/ipcstall: $(B)/user/main.o $(ARCHIVES)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

define ROOM
$(B)/rooms/$(1).a: $(filter $(B)/user/$(1)/%,$(OBJS))
	$$(Q)mkdir -p $$(@D)
	$$(Q)rm -f $$@
	$$(Q)$$(AR) rcs $$@ $$^
endef
$(foreach r,$(ROOMS),$(eval $(call ROOM,$(r))))

# Which objects include a skeleton their .d files say.
$(B)/%.o: %.c | $(SKELS) $(GEN)/tools.ok
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(DEPFLAGS) -c -o $@ $<

# The commit is baked into one object only, so that a new commit does not rebuild the rest.
$(B)/git.stamp: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)echo '$(GIT_DESC)' | cmp -s - $@ || echo '$(GIT_DESC)' > $@
$(B)/user/host/machine.o: ALL_CPPFLAGS += -DIPCSTALL_GIT='"$(GIT_DESC)"' -DIPCSTALL_CFLAGS='"$(strip $(OPT) $(SANFLAGS) $(filter-out -ffile-prefix-map=% -fdebug-prefix-map=%,$(CFLAGS)))"'
$(B)/user/host/machine.o: $(B)/git.stamp

# Too old a clang, bpftool or library is named in one line, not by the errors that follow from it.
$(GEN)/tools.ok: .ci/tools
	$(Q)mkdir -p $(@D)
	$(Q)CLANG='$(CLANG)' BPFTOOL='$(BPFTOOL)' sh .ci/tools $(if $(CROSS),,libraries)
	$(Q)touch $@

# Lines of inlined functions would double the objects and what the kernel keeps of them. For the
# verifier's log with all lines: make BPF_DEBUG=-g
BPF_DEBUG ?= -g -gno-inline-line-tables
$(GEN)/%.bpf.o: bpf/objects.mk | $(GEN)/tools.ok
	$(call say,BPF,$*)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) -target bpf $(BPF_DEBUG) -O2 -mcpu=v3 -Wall -Wextra $(WERROR) \
		-Wno-unused-parameter -D__TARGET_ARCH_$(BPF_ARCH) $(SAME) \
		-Ibpf -Ivmlinux $(call bpf_flags,$*) -MMD -MP -MT $@ -MF $(@:.o=.d) -c -o $@ $(call bpf_src,$*)
	$(Q)llvm-strip -g $@ 2>/dev/null || true

$(GEN)/%.skel.h: $(GEN)/%.bpf.o
	$(call say,SKEL,$*)
	$(Q)$(BPFTOOL) gen skeleton $< name $* > $@

# --- tests: one executable per tests/unit/test_*.c, linked with the rooms that it includes files of, and those below them ---
# A test's own code runs once: with less optimisation it compiles in half the time.
TEST_OPT := $(patsubst -O2,-O1,$(OPT))
UNIT := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(wildcard tests/unit/test_*.c))
$(B)/tests/unit/%: tests/unit/%.c $(ARCHIVES)
	$(call say,TEST,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) -Itests $(ALL_CFLAGS) $(TEST_OPT) $(DEPFLAGS) $(ALL_LDFLAGS) -o $@ $< \
		$(patsubst %,$(B)/rooms/%.a,$(shell $(PYTHON) tests/layers --link $<)) -lcmocka $(LIBS)

include user/workloads/rpc/rpc.mk
-include tests/tests.mk
-include tests/fuzz/fuzz.mk
-include packaging/packaging.mk

.PHONY: FORCE
FORCE:
deps: ## install missing packages (Debian, Ubuntu; elsewhere: print the command)
	$(Q)sh .ci/deps

demo: ## install what is missing, build, run the main job and a short sweep, write a report
	$(Q).ci/deps demo
	$(Q)$(MAKE) --no-print-directory all
	$(Q)PYTHON=$(PYTHON) .ci/demo demo-report

docs-measured: all $(KNOWN) ## measure README's screen and pictures again (quiet machine)
	$(Q)PYTHON=$(PYTHON) docs/refresh

.PHONY: docs-screens
docs-screens: all $(KNOWN) ## draw the pictures of screens (docs/images/*.svg) from the program in a terminal
	$(Q)docs/draw-screens

.PHONY: experiments
experiments: all ## run the experiments and keep data and answers (quiet machine, half an hour; ONLY=name)
	$(Q)PYTHON=$(PYTHON) docs/experiments/refresh $(ONLY)

docs: all ## rewrite the documents that are made from the program
	$(Q)$(B)/ipcstall causes --markdown > docs/CAUSES.md

clean: ## remove everything made
	$(Q)rm -rf $(O) ipcstall

help: ## this list
	@printf 'make TARGET [V=1] [CC=clang] [SAN=1] [OPT=-O0] [O=DIR]\n\n'
	@grep -hE '^[a-zA-Z0-9_-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | sort -u | awk -F'\t' '{ printf "  %-16s %s\n", $$1, $$2 }'

-include $(OBJS:.o=.d) $(UNIT:=.d) $(BPF_NAMES:%=$(GEN)/%.bpf.d)
