# SPDX-License-Identifier: MIT
#
# The attacking program, built in every way that matters, and a hostile library. They get none of
# the variant's flags: a sanitizer would be in their way.

ATTACK_SRC := $(addprefix tests/attack/,alike.c asked.c attack.c calls.c files.c holes.c meta.c network.c \
	process.c shim.c start.c)
ATTACK_OUT := $(B)/tests/attack
ATTACKS    := $(addprefix $(ATTACK_OUT)/programs/,attack attack-static evil.so \
	without-namespaces)
ifneq ($(shell command -v musl-gcc),)
ATTACKS    += $(ATTACK_OUT)/programs/attack-musl
endif

define link_attack
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(1) -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -O1 -g -pthread -o $@ $(filter %.c,$^) $(2)
endef

ATTACK_DEPS := $(ATTACK_SRC) tests/attack/attack.h tests/attack/cases.def tests/attack/module.mk
$(ATTACK_OUT)/programs/attack: $(ATTACK_DEPS)
	$(call link_attack,$(CC))
$(ATTACK_OUT)/programs/attack-static: $(ATTACK_DEPS)
	$(call link_attack,$(CC),-static -DATTACK_STATIC)
# musl has no kernel headers of its own.
KERNEL_HEADERS = /usr/include /usr/include/$(shell musl-gcc -dumpmachine)
$(ATTACK_OUT)/programs/attack-musl: $(ATTACK_DEPS)
	$(call link_attack,musl-gcc,$(addprefix -idirafter ,$(KERNEL_HEADERS)))
$(ATTACK_OUT)/programs/evil.so: tests/attack/evil.c tests/attack/module.mk
	$(call link_attack,$(CC),-shared -fPIC)
$(ATTACK_OUT)/programs/without-namespaces: tests/e2e/without-namespaces.c tests/attack/module.mk
	$(call link_attack,$(CC),-static)
