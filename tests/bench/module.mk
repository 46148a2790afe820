# SPDX-License-Identifier: MIT
#
# What is measured, and 'make bench'. BENCH="calls workloads" measures these alone; tables and charts
# of those two are in build/bench, and 'make bench-readme' puts them where the README shows them.
# calls, network and under get none of the variant's flags: they stand for programs as they are.

BENCH_OUT   := $(B)/tests/bench
BENCH_CALLS := $(addprefix $(BENCH_OUT)/,calls calls-static network under)
BENCH       ?= $(notdir $(BENCH_BINS)) $(patsubst tests/bench/%.sh,%,$(wildcard tests/bench/*.sh))

.PHONY: bench bench-readme

$(BENCH_OUT)/calls-static: private LDFLAGS := -static
$(BENCH_OUT)/calls-static: tests/bench/calls.c
$(BENCH_OUT)/calls: tests/bench/calls.c
$(BENCH_OUT)/network: private LDFLAGS := -pthread
$(BENCH_OUT)/network: tests/bench/network.c
$(BENCH_OUT)/under: tests/bench/under.c launcher/landlock_abi.h
$(BENCH_CALLS): tests/bench/module.mk
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -O2 -g -o $@ $(filter %.c,$^) $(LDFLAGS)

bench: ## measure: verdicts, launches, system calls, workloads, network (BENCH=calls: these alone)
	$(call need,build bench)
	@$(MAKE) all $(BENCH_BINS) $(BENCH_CALLS)
	@export SBX_BUILD=$(abspath $(B)) SBX_TOP=$(CURDIR); \
	for name in $(BENCH); do \
		echo "== $$name"; \
		case $$name in \
		bench_*) $(BENCH_OUT)/$$name ;; \
		*) tests/bench/$$name.sh ;; \
		esac || exit; \
	done

bench-readme: ## show in the README what 'make bench' measured last
	@python3 tests/bench/readme.py
