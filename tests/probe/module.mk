# SPDX-License-Identifier: MIT
#
# The probing program, once for each way a program can be linked. Like the attacking one it gets none
# of the variant's flags.

PROBE_SRC  := $(wildcard tests/probe/*.c)
PROBE_OUT  := $(B)/tests/probe
PROBES     := $(addprefix $(PROBE_OUT)/,probe probe-static probe-static-pie)
ifneq ($(shell command -v musl-gcc),)
PROBES     += $(addprefix $(PROBE_OUT)/,probe-musl probe-musl-static)
endif
PROBE_DEPS := $(PROBE_SRC) $(wildcard tests/probe/*.h tests/probe/*.def) tests/probe/module.mk

define link_probe
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(1) -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -O1 -g -o $@ $(filter %.c,$^) $(2)
endef

$(PROBE_OUT)/probe: $(PROBE_DEPS)
	$(call link_probe,$(CC))
$(PROBE_OUT)/probe-static: $(PROBE_DEPS)
	$(call link_probe,$(CC),-static)
$(PROBE_OUT)/probe-static-pie: $(PROBE_DEPS)
	$(call link_probe,$(CC),-static-pie -fPIE)
$(PROBE_OUT)/probe-musl: $(PROBE_DEPS)
	$(call link_probe,musl-gcc,$(addprefix -idirafter ,$(KERNEL_HEADERS)))
$(PROBE_OUT)/probe-musl-static: $(PROBE_DEPS)
	$(call link_probe,musl-gcc,-static $(addprefix -idirafter ,$(KERNEL_HEADERS)))
