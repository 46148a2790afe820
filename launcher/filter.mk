# SPDX-License-Identifier: MIT
#
# The base seccomp filter, compiled to BPF while sbx is built. What uses it links $(SECCOMP) too.

FILTER_PROGRAMS := $(B)/obj/gen/filter_programs.o

# Like inih, it goes into our binaries where its archive is to be had.
SECCOMP := $(if $(wildcard $(shell $(CC) -print-file-name=libseccomp.a)),-l:libseccomp.a,\
	$(shell $(PKG_CONFIG) --libs libseccomp 2>/dev/null || echo -lseccomp))

# Runs on the machine that builds, without sanitizers: the same program in every variant.
FILTER_GEN := launcher/gen/filter.c launcher/filter_build.c launcher/calls.c
$(B)/gen/filter: $(FILTER_GEN) launcher/syscalls.def launcher/metacalls.def launcher/calls.h launcher/filter.h
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(DEFINES) $(WARNINGS) -o $@ $(FILTER_GEN) $(SECCOMP)

$(B)/gen/filter_programs.c: $(B)/gen/filter
	$(Q)$< >$@

$(B)/obj/gen/filter_programs.o: $(B)/gen/filter_programs.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -c -o $@ $<
