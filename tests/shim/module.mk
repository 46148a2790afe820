# SPDX-License-Identifier: MIT
#
# Tests of the shim are programs that it is loaded into: built once for glibc and, where musl-gcc is
# to be had, once for musl; without the variant's flags, which would change what libc is called for.

SHIM_TEST_SRC := $(wildcard tests/shim/test_*.c)
SHIM_HELP_SRC := tests/shim/watch.c tests/libtap/tap.c
SHIM_TESTS    := $(SHIM_TEST_SRC:%.c=$(B)/%.t)
ifneq ($(shell command -v musl-gcc),)
SHIM_TESTS    += $(SHIM_TEST_SRC:%.c=$(B)/%-musl.t)
endif

# Programs that the tests start. The script's first line is the path of one of them.
SHIM_PROGRAMS := $(addprefix $(B)/tests/shim/programs/,report report-static report-static-pie \
	report-script report32 tries image)

ifneq ($(shell command -v musl-gcc),)
SHIM_PROGRAMS += $(B)/tests/shim/programs/tries-musl
endif

define link_shim_test
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(1) -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -O1 -g -pthread -Ipolicy -Itests/libtap \
		-o $@ $(filter %.c,$^) $(2)
endef

SHIM_TEST_DEPS := $(SHIM_HELP_SRC) $(wildcard tests/shim/*.h) tests/libtap/tap.h shim/hooks.def \
	policy/contract.h tests/shim/module.mk
$(filter-out %-musl.t,$(SHIM_TESTS)): $(B)/tests/shim/%.t: tests/shim/%.c $(SHIM_TEST_DEPS)
	$(call link_shim_test,$(CC))
$(filter %-musl.t,$(SHIM_TESTS)): $(B)/tests/shim/%-musl.t: tests/shim/%.c $(SHIM_TEST_DEPS)
	$(call link_shim_test,musl-gcc,$(addprefix -idirafter ,$(KERNEL_HEADERS)))
$(SHIM_TESTS): $(B)/lib/libsbx-shim.so $(SHIM_PROGRAMS)

$(B)/tests/shim/programs/report: tests/shim/report.c
	$(call link_shim_test,$(CC),-pie -fPIE)
$(B)/tests/shim/programs/report-static: tests/shim/report.c
	$(call link_shim_test,$(CC),-static)
$(B)/tests/shim/programs/report-static-pie: tests/shim/report.c
	$(call link_shim_test,$(CC),-static-pie -fPIE)
$(B)/tests/shim/programs/report-script: $(B)/tests/shim/programs/report-static-pie
	@echo '#! $(abspath $<)' >$@ && chmod +x $@
# Of another architecture; where it cannot be had, an empty file that is no program.
$(B)/tests/shim/programs/report32: tests/shim/report32.c
	@mkdir -p $(@D)
	@$(CC) -m32 -O1 -ffreestanding -fno-stack-protector -nostdlib -static -fno-pie -o $@ $< \
		2>/dev/null || : >$@
$(B)/tests/shim/programs/tries: tests/shim/tries.c
	$(call link_shim_test,$(CC))
$(B)/tests/shim/programs/tries-musl: tests/shim/tries.c
	$(call link_shim_test,musl-gcc)
$(B)/tests/shim/programs/image: $(call objects,tests/shim/image.c) $(B)/lib/libsbx.a
	$(link_test)
