# SPDX-License-Identifier: MIT
#
# Programs and libraries that are hard on a library in their process, and one that makes many calls.
# They get none of the variant's flags: a sanitizer of our own would be in their way.

HYGIENE_SRC  := $(wildcard tests/hygiene/*.c)
HYGIENE_OUT  := $(B)/tests/hygiene
HYGIENE_ASAN := $(addprefix $(HYGIENE_OUT)/,subject-asan subject-asan-static)
HYGIENE      := $(addprefix $(HYGIENE_OUT)/,load load-static sockets sockets-static subject \
	subject-early early.so \
	second.so audit.so)

define link_hygiene
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(HYGIENE_CC) -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -O1 -g -pthread $(HYGIENE_FLAGS) \
		-o $@ $(filter %.c %.so,$^)
endef

$(HYGIENE) $(HYGIENE_ASAN): tests/hygiene/module.mk
$(HYGIENE): private HYGIENE_CC := $(CC)
$(HYGIENE_ASAN): private HYGIENE_CC := gcc
$(HYGIENE_OUT)/load-static $(HYGIENE_OUT)/sockets-static: private HYGIENE_FLAGS := -static
$(HYGIENE_OUT)/subject-early: private HYGIENE_FLAGS := -rdynamic -Wl,--no-as-needed \
	-Wl,-rpath,'$$ORIGIN'
$(HYGIENE_OUT)/subject-asan: private HYGIENE_FLAGS := -fsanitize=address
$(HYGIENE_OUT)/subject-asan-static: private HYGIENE_FLAGS := -fsanitize=address -static-libasan
$(HYGIENE_OUT)/%.so: private HYGIENE_FLAGS = -shared -fPIC -Wl,-soname,$(@F)

$(HYGIENE_OUT)/subject-early: $(HYGIENE_OUT)/early.so
$(HYGIENE_OUT)/load $(HYGIENE_OUT)/load-static: tests/hygiene/load.c
	$(link_hygiene)
$(HYGIENE_OUT)/sockets $(HYGIENE_OUT)/sockets-static: tests/hygiene/sockets.c
	$(link_hygiene)
$(HYGIENE_ASAN) $(HYGIENE_OUT)/subject $(HYGIENE_OUT)/subject-early: tests/hygiene/subject.c
	$(link_hygiene)
$(HYGIENE_OUT)/%.so: tests/hygiene/%.c
	$(link_hygiene)
