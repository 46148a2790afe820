# SPDX-License-Identifier: MIT
#
# The program whose acts are compared, with a loader and without one. It gets none of the variant's
# flags: a sanitizer would be in the way of the shim. Without a loader it must not be at a random
# place either: what stands among the libraries is not asked about.

ACTORS := $(addprefix $(B)/tests/agree/programs/,actor actor-static)

define link_actor
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -Ipolicy $(WARNINGS) -O2 -g -o $@ $< $(1)
endef

ACTOR_DEPS := tests/agree/actor.c tests/agree/actor.h tests/agree/module.mk tests/kernel/acts.h \
	policy/sbx.h policy/contract.h
$(B)/tests/agree/programs/actor: $(ACTOR_DEPS)
	$(call link_actor,-pie -fPIE)
$(B)/tests/agree/programs/actor-static: $(ACTOR_DEPS)
	$(call link_actor,-static -no-pie)

# As for the tests in tests/kernel.
$(B)/tests/agree/test_agree.t: $(B)/lib/liblaunch.a
$(B)/tests/agree/test_agree.t: private LIBS := $(B)/lib/libsbx.a $(SECCOMP)
