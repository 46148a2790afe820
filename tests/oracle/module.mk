# SPDX-License-Identifier: MIT
#
# The program whose calls are compared, and the one that attacks, with a loader and without one, and
# without the variant's flags: as for tests/agree.

DOERS := $(addprefix $(B)/tests/oracle/programs/,doer doer-static racer racer-static)

define link_doer
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -O2 -g -pthread -o $@ $< $(1)
endef

DOER_DEPS := tests/oracle/doer.c tests/oracle/doer.h tests/oracle/module.mk
$(B)/tests/oracle/programs/doer: $(DOER_DEPS)
	$(call link_doer,-pie -fPIE)
$(B)/tests/oracle/programs/doer-static: $(DOER_DEPS)
	$(call link_doer,-static -no-pie)

RACER_DEPS := tests/oracle/racer.c tests/oracle/module.mk
$(B)/tests/oracle/programs/racer: $(RACER_DEPS)
	$(call link_doer,-pie -fPIE)
$(B)/tests/oracle/programs/racer-static: $(RACER_DEPS)
	$(call link_doer,-static -no-pie)

ORACLE_TESTS := $(addprefix $(B)/tests/oracle/,test_oracle.t test_race.t)
$(ORACLE_TESTS): $(B)/lib/liblaunch.a
$(ORACLE_TESTS): private LIBS := $(B)/lib/libsbx.a $(SECCOMP)
