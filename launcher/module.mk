# SPDX-License-Identifier: MIT
#
# launcher/ confines and runs: sbx-launch. Its parts make one archive, for the command and for the
# tests.

PRODUCTS += bin/sbx-launch \
	$(patsubst launcher/%,share/man/man1/%,$(wildcard launcher/*.1)) \
	$(patsubst launcher/%.bash,share/bash-completion/completions/%,$(wildcard launcher/*.bash))

DEFINES += -Ilauncher

include launcher/filter.mk

LAUNCH_MAIN := $(call objects,launcher/main.c)
LAUNCH_OBJS := $(filter-out $(LAUNCH_MAIN),$(call objects,$(wildcard launcher/*.c))) \
	$(FILTER_PROGRAMS)

$(B)/lib/liblaunch.a: $(LAUNCH_OBJS)

# libresolv for its parser of messages: nobody here lets libc resolve.
RESOLV := -lresolv

# Static, because a loader would take as long as all the rest of a launch; sanitizers need one.
STATIC := $(if $(filter asan fuzz,$(VARIANT)),-pie,-static-pie)
$(B)/bin/sbx-launch: $(LAUNCH_MAIN) $(B)/lib/liblaunch.a $(B)/lib/libsbx.a
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) $(STATIC) -o $@ $^ $(INIH) $(SECCOMP) $(RESOLV)

$(B)/share/man/man1/%: launcher/%
	$(copy)
$(B)/share/bash-completion/completions/%: launcher/%.bash
	$(copy)

# Archives are searched in order: what these objects need of libsbx comes once more, behind them.
LAUNCH_TESTS := $(patsubst %.c,$(B)/%.t,$(wildcard tests/kernel/test_*.c) \
	$(addprefix tests/unit/,test_command.c test_dns.c test_env.c test_filter.c test_hold.c test_known.c test_landlock.c test_limit.c \
	test_listen.c test_options.c test_pins.c test_private.c test_report.c test_result.c test_tree.c \
	test_upstream.c))
$(LAUNCH_TESTS): $(B)/lib/liblaunch.a
$(LAUNCH_TESTS): private LIBS := $(B)/lib/libsbx.a $(SECCOMP) $(RESOLV)
