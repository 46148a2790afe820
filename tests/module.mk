# SPDX-License-Identifier: MIT
#
# tests/ has TAP tests, sorted into folders by what they need: C programs test_*.c, and scripts *.t.
# fuzz_*.c and bench_*.c are programs too; any other C file is linked into all of them on demand.
# Tests find what they test through SBX_BUILD and SBX_TOP; SBX_VARIANT says how it was built.

TEST_SRC  := $(wildcard tests/*/test_*.c)
FUZZ_SRC  := $(wildcard tests/fuzz/fuzz_*.c)
BENCH_SRC := $(wildcard tests/bench/bench_*.c)
include $(wildcard tests/*/module.mk)
HELP_SRC  := $(filter-out $(TEST_SRC) $(FUZZ_SRC) $(BENCH_SRC) $(ATTACK_SRC) tests/attack/evil.c \
	tests/shim/% tests/e2e/% tests/agree/actor.c tests/oracle/doer.c \
	tests/oracle/racer.c tests/probe/% $(HYGIENE_SRC) tests/bench/calls.c tests/bench/under.c, \
	$(wildcard tests/*/*.c))
TEST_SRC  := $(filter-out $(SHIM_TEST_SRC),$(TEST_SRC))

# What these ask of the kernel takes minutes under a sanitizer; their code is in unit tests too.
ifeq ($(VARIANT),asan)
TEST_SRC := $(filter-out tests/kernel/% tests/oracle/% tests/agree/% tests/attack/test_holes.c tests/attack/test_files.c \
	tests/attack/test_shim.c tests/attack/test_asked.c,$(TEST_SRC))
endif

TEST_BINS  := $(TEST_SRC:%.c=$(B)/%.t)
FUZZ_BINS  := $(FUZZ_SRC:%.c=$(B)/%)
BENCH_BINS := $(BENCH_SRC:%.c=$(B)/%)
TESTS      := $(TEST_BINS) $(SHIM_TESTS) $(wildcard tests/*/*.t)
# What makes the same calls over and over, under a sanitizer: test suites of others, races, loads; and
# what counts memory, or runs our own commands inside, where the sanitizer cannot look for leaks.
ifeq ($(VARIANT),asan)
TESTS := $(filter-out tests/e2e/transparent-% $(addprefix tests/e2e/,hide.t workspace.t load.t \
	healthy.t policy-errors.t policy-show.t policy-profiles.t names.t network-load.t \
	network.t network-errno.t errno.t tmp-mount.t),$(TESTS))
endif

# Test suites of others run once where a user has run them already.
ifeq ($(SBX_ONCE),yes)
TESTS := $(filter-out tests/e2e/transparent-%,$(TESTS))
endif

# What tests run.
PROGRAMS := $(SHIM_TESTS) $(ATTACKS) $(ACTORS) $(DOERS) $(PROBES) $(HYGIENE)

PROVEFLAGS   ?= --jobs $(JOBS)
TEST_UNDER   ?= # a command that runs each test
FUZZ_SECONDS ?= 60
AGREE_CASES  ?= 200000
RACES        ?= 100000

.PHONY: check agree races asan fuzz fuzz-run lint everything tidy

$(call objects,$(wildcard tests/*/*.c)): FLAGS := -Itests/libtap

$(B)/tests/libtests.a: $(call objects,$(HELP_SRC))

define link_test
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK_EXE) -o $@ $^ $(LIBS) $(INIH)
endef
$(TEST_BINS): $(B)/%.t: $(B)/obj/%.o $(B)/tests/libtests.a $(B)/lib/libsbx.a
	$(link_test)
$(BENCH_BINS) $(FUZZ_BINS): $(B)/%: $(B)/obj/%.o $(B)/tests/libtests.a $(B)/lib/libsbx.a
	$(link_test)
$(FUZZ_BINS): private LIBS := -fsanitize=fuzzer
# This one is about the launcher.
$(B)/tests/fuzz/fuzz_dns: $(B)/lib/liblaunch.a
$(B)/tests/fuzz/fuzz_dns: private LIBS := $(B)/lib/libsbx.a $(RESOLV) -fsanitize=fuzzer

# Tests become other users, who must be able to read what they make.
check: deps ## build and run all tests
	@umask 022; $(MAKE) all $(TEST_BINS) $(PROGRAMS) $(HYGIENE_ASAN) $(EXAMPLES)
	@umask 022; SBX_BUILD=$(abspath $(B)) SBX_TOP=$(CURDIR) SBX_VARIANT=$(VARIANT) \
		prove $(PROVEFLAGS) $(if $(TEST_UNDER),--exec '$(TEST_UNDER)') $(TESTS)

agree: ## AGREE_CASES (200,000) random cases: engine, vouched, notified and masked calls agree
	@$(MAKE) all $(B)/tests/agree/test_agree.t $(ACTORS)
	@tests/agree/run.sh $(abspath $(B)) $(AGREE_CASES) $(JOBS) $(SBX_SEED)

RACE_TESTS := $(B)/tests/attack/test_asked.t:V051 $(B)/tests/attack/test_asked.t:V051c \
	$(B)/tests/attack/test_holes.t:V051h $(B)/tests/attack/test_holes.t:V051n $(B)/tests/attack/test_network.t:V094b \
	$(B)/tests/attack/test_network.t:V097b $(B)/tests/attack/test_network.t:V101b

races: ## RACES (100,000) tries of each race: of a program with two threads, none may win
	@$(MAKE) all $(TEST_BINS) $(PROGRAMS)
	@export SBX_BUILD=$(abspath $(B)) SBX_TOP=$(CURDIR) SBX_VARIANT=$(VARIANT); \
	SBX_RACES=$(RACES) prove --timer $(B)/tests/oracle/test_race.t || exit; \
	for race in $(RACE_TESTS); do \
		echo "== $${race#*:}"; \
		SBX_ATTACK=$${race#*:} SBX_ATTACK_TIMES=$(RACES) prove --timer "$${race%:*}" || exit; \
	done

asan: ## the same tests under AddressSanitizer and UBSan
	@$(MAKE) VARIANT=asan check

fuzz: ## run each fuzzer for FUZZ_SECONDS (60)
	$(call need,build fuzz)
	@$(MAKE) VARIANT=fuzz fuzz-run

fuzz-run: $(FUZZ_BINS) $(B)/policy.dict
	@tests/fuzz/run.sh $(B) $(FUZZ_SECONDS) $(notdir $(FUZZ_BINS))

lint: ## warnings as errors, may-use proof, layout, analyzers
	$(call need,build lint)
	@$(MAKE) VARIANT=lint-gcc everything
	@$(MAKE) VARIANT=lint-clang everything
	$(call say,PROVE,the may-use table)
	$(Q)tests/lint/may-use.sh build/lint-gcc
	$(Q)tests/lint/may-use.sh build/lint-clang
	$(Q)tests/lint/banned.sh $(C_FILES) $(H_FILES) $(wildcard */*.def)
	$(call say,FORMAT,*.c *.h)
	$(Q)clang-format --dry-run --Werror $(C_FILES) $(H_FILES)
	$(call say,C++,policy/sbx.h)
	$(Q)clang -x c++ -fsyntax-only -Wall -Wextra -Werror policy/sbx.h
	@$(MAKE) VARIANT=lint-clang tidy
	$(call say,CHECK,cppcheck)
	$(Q)cppcheck --quiet -j $(JOBS) --enable=warning,performance,portability --std=c11 \
		--inline-suppr --suppress=missingIncludeSystem --error-exitcode=1 \
		$(DEFINES) -DSBX_DATADIR='""' -Itests/libtap $(C_FILES)
	$(call say,CHECK,shell scripts)
	$(Q)tests/lint/shell.sh

# All that can be compiled; the fuzzers only link where clang instruments them.
everything: all $(TEST_BINS) $(PROGRAMS) $(BENCH_BINS) $(EXAMPLES)
everything: $(call objects,$(FUZZ_SRC))
everything: $(BENCH_CALLS) $(B)/lib/libsbx-eval.a

# The analyzer that follows every way through a function is for what others run: tests would take most of
# its time, and are run under sanitizers.
UNANALYZED = $(if $(filter tests/%,$<),--checks='-clang-analyzer-*')

tidy: $(C_FILES:%=$(B)/tidy/%)
$(B)/tidy/%: % .clang-tidy $(H_FILES) $(wildcard */*.def)
	$(call say,TIDY,$<)
	@mkdir -p $(@D)
	$(Q)clang-tidy --quiet $(UNANALYZED) $< -- -std=gnu11 $(DEFINES) -DSBX_DATADIR='""' \
		-Itests/libtap >$@.log 2>&1 || { cat $@.log; exit 1; }
	@touch $@
