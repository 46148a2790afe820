# SPDX-License-Identifier: MIT
#
# policy/ makes libsbx and sbx-policy, with the bundled profiles and the man pages.

# The evaluate side is listed by hand, because to be on this list is a promise: these files need
# nothing but what tests/lint/may-use.tab says. All else in libsbx is compile and query side.
EVAL_SRC    := $(addprefix policy/,image.c walk.c eval.c evalnet.c glob.c peer.c names.c out.c words.c \
	suggest.c credentials.c)
COMMAND_SRC := policy/main.c $(wildcard policy/cmd_*.c)
COMPILE_SRC := $(filter-out $(EVAL_SRC) $(COMMAND_SRC),$(wildcard policy/*.c))
SBX_OBJS    := $(call objects,$(EVAL_SRC) $(COMPILE_SRC))

PRODUCTS += bin/sbx-policy lib/libsbx.a lib/libsbx.so.0 lib/libsbx.so lib/pkgconfig/sbx.pc \
	include/sbx.h \
	$(patsubst policy/%,share/sbx/%,$(wildcard policy/profiles/*.ini)) \
	$(patsubst policy/%,share/man/man1/%,$(wildcard policy/*.1)) \
	$(patsubst policy/%.in,share/man/man5/%,$(wildcard policy/*.5.in)) \
	$(patsubst policy/%.bash,share/bash-completion/completions/%,$(wildcard policy/*.bash))

# inih goes into our binaries where its archive is to be had, so that they need no package to run.
INIH := $(if $(wildcard $(shell $(CC) -print-file-name=libinih.a)),-l:libinih.a,\
	$(shell $(PKG_CONFIG) --libs inih 2>/dev/null || echo -linih))

# The evaluate side also runs inside other programs, under any libc: no glibc-only *_chk functions.
$(call objects,$(EVAL_SRC)): FLAGS := -U_FORTIFY_SOURCE

DATADIR_OBJS := $(call objects,$(shell grep -ls SBX_DATADIR policy/*.c))
$(DATADIR_OBJS): FLAGS += -DSBX_DATADIR='"$(PREFIX)/share/sbx"'
$(DATADIR_OBJS): $(B)/prefix

$(B)/lib/libsbx-eval.a: $(call objects,$(EVAL_SRC))
$(B)/lib/libsbx.a: $(SBX_OBJS)

# The public functions are those that sbx.h declares, each at the beginning of a line.
$(B)/libsbx.map: policy/sbx.h policy/module.mk
	@mkdir -p $(@D)
	$(Q){ echo 'SBX_0 {'; echo '	global:'; \
	sed -n 's/^[a-z].*[ *]\(sbx_[a-z_]*\)(.*/		\1;/p' $<; \
	echo '	local: *;'; echo '};'; } >$@

$(B)/lib/libsbx.so.0: $(SBX_OBJS) $(B)/libsbx.map
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -shared -Wl,-soname,libsbx.so.0 -Wl,--version-script=$(B)/libsbx.map \
		-Wl,--no-undefined-version -Wl,-z,defs -o $@ $(SBX_OBJS) $(INIH)

$(B)/lib/libsbx.so: $(B)/lib/libsbx.so.0
	@ln -sf libsbx.so.0 $@

$(B)/bin/sbx-policy: $(call objects,$(COMMAND_SRC)) $(B)/lib/libsbx.a
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK_EXE) -o $@ $^ $(INIH)

# Says where it is relative to itself: true in the build tree and below any PREFIX.
$(B)/lib/pkgconfig/sbx.pc: GNUmakefile policy/module.mk
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$${pcfiledir}/../..' '' \
		'Name: sbx' 'Description: ask an sbx policy what it allows' 'Version: $(VERSION)' \
		'Cflags: -I$${prefix}/include' 'Libs: -L$${prefix}/lib -lsbx' \
		'Libs.private: -linih' >$@

# keys.def also makes sbx-policy(5)'s table and the fuzzers' dictionary.
$(B)/gen/keys: policy/gen/keys.c $(wildcard policy/*.def) policy/values.h policy/image.h
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(DEFINES) $(WARNINGS) -o $@ $<

$(B)/policy.dict: $(B)/gen/keys
	$(Q)$< dict >$@

$(B)/share/man/man5/%: policy/%.in $(B)/gen/keys
	@mkdir -p $(@D)
	$(Q)$(B)/gen/keys man >$(B)/gen/keys.man
	$(Q)sed -e 's/@VERSION@/$(VERSION)/' -e '/^@KEYS@$$/{r $(B)/gen/keys.man' -e 'd}' $< >$@

copy = @mkdir -p $(@D) && cp $< $@
$(B)/share/man/man1/%: policy/%
	$(copy)
$(B)/share/sbx/profiles/%: policy/profiles/%
	$(copy)
$(B)/share/bash-completion/completions/%: policy/%.bash
	$(copy)
$(B)/include/sbx.h: policy/sbx.h
	$(copy)
