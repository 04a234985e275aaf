# SPDX-License-Identifier: GPL-2.0-only
# Installing, and packages of it. DESTDIR is put before every path; distributions set the directories.
bindir    ?= $(PREFIX)/bin
datadir   ?= $(PREFIX)/share
sharedir  ?= $(datadir)/ipcstall
libexecdir ?= $(PREFIX)/libexec
unitdir   ?= $(PREFIX)/lib/systemd/system
# in zsh's own search path, also below /usr/local
zshdir    ?= $(datadir)/zsh/site-functions
# where the Python side is put, as the package ipcstall_analysis; `ipcstall` finds it as sharedir/analysis
pythondir ?= $(sharedir)

MANDIR     = $(DESTDIR)$(datadir)/man/man8
# each shell's folder of completions, and the name that it looks for there
BASH_COMPLETION = $(DESTDIR)$(datadir)/bash-completion/completions/ipcstall
ZSH_COMPLETION  = $(DESTDIR)$(zshdir)/_ipcstall
FISH_COMPLETION = $(DESTDIR)$(datadir)/fish/vendor_completions.d/ipcstall.fish
UNITS      = ipcstall-export.service ipcstall-watch.service
UNIT_FILES = $(UNITS:%=$(DESTDIR)$(unitdir)/%)
PYTHON_FILES = $(sort $(shell cd analysis && find . -name '*.py' -o -name '*.j2' -o -name '*.css' -o -name '*.js' -o -name '*.c'))
# from sharedir to the package, so that the tree can be moved as a whole
PYTHON_LINK = $(shell realpath -ms --relative-to='$(sharedir)' '$(pythondir)/ipcstall_analysis')

.PHONY: install install-program install-analysis uninstall
install: install-program install-analysis ## install under PREFIX (default /usr/local): program, man pages, completions, systemd unit, analysis

install-program: all
	$(call say,INSTALL,$(DESTDIR)$(bindir)/ipcstall)
	$(Q)install -D -m 755 $(B)/ipcstall $(DESTDIR)$(bindir)/ipcstall
	$(Q)install -d $(MANDIR) $(dir $(BASH_COMPLETION) $(ZSH_COMPLETION) $(FISH_COMPLETION) $(UNIT_FILES))
	$(Q)$(B)/ipcstall man --dir $(MANDIR)
	$(Q)$(B)/ipcstall completion bash > $(BASH_COMPLETION)
	$(Q)$(B)/ipcstall completion zsh > $(ZSH_COMPLETION)
	$(Q)$(B)/ipcstall completion fish > $(FISH_COMPLETION)
	$(Q)for u in $(UNITS); do sed 's|/usr/local/bin|$(bindir)|' docs/monitoring/$$u > $(DESTDIR)$(unitdir)/$$u || exit; done
	$(Q)for p in $(RPC_PROGRAMS); do test ! -x $$p || install -D -m 755 $$p $(DESTDIR)$(libexecdir)/ipcstall/$${p##*/} || exit; done
	$(Q)for f in docs/experiments/*.md; do install -D -m 644 $$f $(DESTDIR)$(sharedir)/$$f || exit; done

install-analysis:
	$(call say,INSTALL,$(DESTDIR)$(pythondir)/ipcstall_analysis)
	$(Q)for f in $(PYTHON_FILES); do \
		install -D -m $$(test -x analysis/$$f && echo 755 || echo 644) analysis/$$f $(DESTDIR)$(pythondir)/ipcstall_analysis/$$f || exit; done
	$(Q)install -d $(DESTDIR)$(sharedir)
	$(Q)ln -sfn $(PYTHON_LINK) $(DESTDIR)$(sharedir)/analysis

uninstall: ## remove what install put there
	$(Q)rm -f $(DESTDIR)$(bindir)/ipcstall $(MANDIR)/ipcstall.8 $(MANDIR)/ipcstall-*.8 \
		$(BASH_COMPLETION) $(ZSH_COMPLETION) $(FISH_COMPLETION) $(UNIT_FILES)
	$(Q)rm -rf $(DESTDIR)$(sharedir) $(DESTDIR)$(pythondir)/ipcstall_analysis $(DESTDIR)$(libexecdir)/ipcstall

PACKAGES ?= $(O)/packages
.PHONY: deb
deb: ## Debian packages of the tracked tree, for this Debian, in build/packages
	$(Q)packaging/make-deb $(PACKAGES)

# One file without dynamic dependencies: it runs on any distribution of this machine's architecture, in an initramfs, in an empty container.
STATIC := $(B)/static/ipcstall
STATIC_LIBS = -Wl,-Bstatic $(shell pkg-config --static --libs libbpf libelf zlib jansson nettle) -lm -pthread $(LDLIBS)
.PHONY: static
static: $(STATIC) ## one file without dynamic dependencies, build/O2/static/ipcstall
# libdw loads parts of itself, which a static file cannot: it unwinds no stacks
UNWIND_OBJS := $(filter $(B)/user/unwind/%,$(OBJS))
STATIC_OBJS := $(filter-out $(UNWIND_OBJS),$(OBJS)) $(UNWIND_OBJS:$(B)/%=$(B)/static/%)
$(B)/static/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) -UHAVE_LIBDW $(ALL_CFLAGS) $(DEPFLAGS) -c -o $@ $<
$(STATIC): $(STATIC_OBJS)
	$(call say,STATIC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(filter-out -pie $(MARKS),$(ALL_LDFLAGS)) -static-pie -o $@ $^ $(STATIC_LIBS)
	$(Q)strip $@

# What is dated is dated as the last commit.
EPOCH = $(or $(SOURCE_DATE_EPOCH),$(if $(wildcard .git),$(shell git log -1 --format=%ct 2>/dev/null)),$(shell stat -c %Y VERSION))
.PHONY: image
image: $(STATIC) ## an OCI image of the static file, the folder build/packages/image (see packaging/README.md)
	$(call say,IMAGE,$(PACKAGES)/image)
	$(Q)mkdir -p $(PACKAGES)
	$(Q)packaging/oci $(STATIC) $(PACKAGES)/image $(VERSION) $(GIT_DESC) $(EPOCH)

.PHONY: rpm
rpm: ## RPM packages of the tracked tree, in build/packages
	$(Q)packaging/make-rpm $(PACKAGES)

.PHONY: test-packages
test-packages: all ## install, packages, static file and image, each in fresh roots (TEST=name: one; a quarter of an hour)
	$(Q).ci/deps package
	$(Q)tests/packages $(TEST)
