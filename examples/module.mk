# SPDX-License-Identifier: MIT
#
# examples/: C programs that use libsbx as anybody would. Policies and
# scripts are run from where they are.

EXAMPLE_SRC := $(wildcard examples/query-c/*.c)
EXAMPLES    := $(EXAMPLE_SRC:%.c=$(B)/%)

.PHONY: examples
examples: $(EXAMPLES) ## build the C examples

# They find libsbx in the build tree they stand in.
$(EXAMPLES): $(B)/%: $(B)/obj/%.o $(B)/lib/libsbx.so
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK_EXE) -o $@ $< -L$(B)/lib -lsbx -Wl,-rpath,'$$ORIGIN/../../lib'
