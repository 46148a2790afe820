# SPDX-License-Identifier: MIT
#
# launcher/ confines and runs. Its parts make one archive, for the command and for the tests.

DEFINES += -Ilauncher

include launcher/filter.mk

LAUNCH_OBJS := $(call objects,$(wildcard launcher/*.c)) $(FILTER_PROGRAMS)

$(B)/lib/liblaunch.a: $(LAUNCH_OBJS)

# Archives are searched in order: what these objects need of libsbx comes once more, behind them.
LAUNCH_TESTS := $(patsubst %.c,$(B)/%.t,$(wildcard tests/kernel/test_*.c) \
	$(addprefix tests/unit/,test_env.c test_filter.c test_landlock.c test_private.c))
$(LAUNCH_TESTS): $(B)/lib/liblaunch.a
$(LAUNCH_TESTS): private LIBS := $(B)/lib/libsbx.a $(SECCOMP)
