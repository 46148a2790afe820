# SPDX-License-Identifier: MIT
#
# shim/ makes libsbx-shim.so, which is loaded into every dynamic program in the sandbox, whatever its
# libc. It is linked against none, brings its own few functions of string.h, and exports exactly the
# rows of hooks.def.

PRODUCTS += lib/libsbx-shim.so

SHIM_OBJS := $(call objects,$(wildcard shim/*.c)) $(EVAL_SRC:%.c=$(B)/obj/shim/%.o)

# Nothing that needs another library: no sanitizer, no *_chk function, no stack protector (musl on
# some machines has no guard). Functions of string.h are compiled as what they are, not as calls of
# themselves. Frames stay small, because they stand on strangers' stacks.
SHIM_CC    := $(if $(findstring clang,$(CC)),,-fno-tree-loop-distribute-patterns)
SHIM_FLAGS := -U_FORTIFY_SOURCE -fno-sanitize=all -fno-stack-protector -fno-stack-clash-protection \
	-fvisibility=hidden -fno-builtin -fomit-frame-pointer $(SHIM_CC)
$(SHIM_OBJS): FLAGS := $(SHIM_FLAGS)
$(filter-out %/memory.o,$(call objects,$(wildcard shim/*.c))): FLAGS += -Wframe-larger-than=1024

# The evaluate side once more, for here.
$(B)/obj/shim/policy/%.o: policy/%.c GNUmakefile shim/module.mk
	$(call say,CC,$< for the shim)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<

# One name a line: what the library exports, also for the test that compares it with libc.
$(B)/shim.names: shim/hooks.def shim/module.mk
	@mkdir -p $(@D)
	$(Q)$(CC) -E -P -x c -D'HOOK(t, n, ...)=@n' -D'LIST(n, k)=@n' \
		-D'TWICE(n)=@n' $< | \
		grep -o '@ *[A-Za-z_0-9]*' | tr -d '@ ' >$@

$(B)/shim.map: $(B)/shim.names
	$(Q){ echo '{ global:'; sed 's/$$/;/' $<; echo 'local: *; };'; } >$@

# Few segments: every program that starts maps each of them.
$(B)/lib/libsbx-shim.so: $(SHIM_OBJS) $(B)/shim.map
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -nostdlib -fno-sanitize=all \
		-Wl,-soname,libsbx-shim.so -Wl,--version-script=$(B)/shim.map \
		-Wl,--no-undefined-version -Wl,-z,relro,-z,now,-z,noseparate-code -Wl,-Bsymbolic \
		-o $@ $(SHIM_OBJS)
