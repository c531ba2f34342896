# Peakbound: the whole build. `make help` lists the targets.
#
#   make deps lesson3 && ./run      install what is missing, build, run lesson 3
#   make deps test                  build and run the tests
#
# Everything made goes to build/ (and ./run). Useful variables: CC, NVCC, BUILD,
# CFLAGS, JOBS.

VERSION := 0.1.0
CC ?= cc
NVCC ?= nvcc
CLANG ?= clang
BUILD ?= build
PLOT_FLAGS ?= -s 1024
FUZZ_SECONDS ?= 60
JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
V ?= 0

# --- what there is --------------------------------------------------------------

# The kernels of lesson 0 are no rungs: every ./run has them, and no list shows them.
MACHINE := kernels/00_machine
RUNGS_GPU := $(filter-out $(MACHINE).cu,$(sort $(wildcard kernels/[0-9]*_*.cu)))
RUNGS_CPU := $(filter-out $(MACHINE).c,$(sort $(wildcard kernels/[0-9]*_*.c)))
LESSON_KERNELS := $(sort $(wildcard lessons/*/*.cu))
SOLUTIONS = $(patsubst tests/solutions/%.inc,$(KERNEL_BUILD)/%_solution.cu,$(sort $(wildcard tests/solutions/*.inc)))
WRONG := $(sort $(wildcard tests/wrong/*.cu))
PLANTED := $(sort $(wildcard tests/mutants/*.cu tests/tricky/*.cu))
HOST_SOURCES := $(filter-out host/main.c host/build/%.c host/sim/ops_%.c,\
    $(wildcard host/*.c host/*/*.c)) host/sim/ops_families.c
OPS_SOURCES := $(filter-out host/sim/ops_families.c,$(wildcard host/sim/ops_*.c))
TEST_SOURCES := $(sort $(wildcard tests/test_*.c)) tests/forms.c
number = $(shell echo $(patsubst %_,%,$(firstword $(subst _,_ ,$(notdir $(1))))) | sed 's/^0*\(.\)/\1/')
LESSONS := $(sort $(foreach f,$(RUNGS_GPU) $(wildcard lessons/*),$(call number,$(f))))
own = $(wildcard lessons/$(1)_*/*.cu lessons/0$(1)_*/*.cu)
upto = $(foreach f,$(2),$(if $(shell [ $(call number,$(f)) -le $(1) ] && echo y),$(f)))

# --- compilers ------------------------------------------------------------------

WARN := -Wall -Wextra -Wpedantic -Werror
CFLAGS ?= -O2 -g
BASE := -std=c11 -D_GNU_SOURCE -ffp-contract=off -fopenmp $(WARN) -MMD -MP
LDLIBS := -lm -ldl -lpthread
SANITIZE ?=
ALL_CFLAGS = $(BASE) $(CFLAGS) $(SANITIZE)

# The kernels' compiler: nvcc, or clang where there is no CUDA toolkit.
HAVE_NVCC := $(shell command -v $(NVCC) 2>/dev/null)
KERNEL_CC := $(if $(HAVE_NVCC),$(NVCC),$(CLANG))
KERNEL_BUILD ?= build/kernels
# Some planted kernels need the toolkit's headers.
ifeq (,$(HAVE_NVCC))
PLANTED := $(shell grep -L '^\#include <' $(PLANTED))
endif

# The instruction sets that CPU rungs and PTX executors are built for.
ifneq (,$(filter x86_64%,$(shell $(CC) -dumpmachine)))
ISAS := v1 v3 v4
ISA_v3 := -march=x86-64-v3
ISA_v4 := -march=x86-64-v4
OPS_ISAS := v1 v3
else
ISAS := v1
OPS_ISAS := v1
endif
# Without errno and traps the loops over lanes can be made of blends.
OPS_FLAGS := -O3 -fno-math-errno -fno-trapping-math
# Vectors wider than the instruction set's stay inside inline functions.
OPS_WARN := -Wno-psabi

ifeq ($(V),0)
Q := @
say = @printf '  %-6s %s\n' "$(1)" "$(2)";
else
say =
endif

# --- objects --------------------------------------------------------------------

stem = $(basename $(notdir $(1)))
image_stem = $(if $(filter lessons/%,$(1)),$(notdir $(patsubst %/,%,$(dir $(1))))_)$(call stem,$(1))
image_objects = $(foreach f,$(1),$(BUILD)/images/$(call image_stem,$(f)).o)
cpu_objects = $(foreach f,$(1),$(foreach i,$(ISAS),$(BUILD)/cpu/$(call stem,$(f)).$(i).o))
OPS_OBJECTS := $(foreach f,$(OPS_SOURCES),$(foreach i,$(OPS_ISAS),$(BUILD)/ops/$(call stem,$(f)).$(i).o))
HOST_OBJECTS := $(HOST_SOURCES:%.c=$(BUILD)/%.o) $(BUILD)/peaks_table.o $(OPS_OBJECTS) \
    $(call image_objects,$(MACHINE).cu) $(call cpu_objects,$(MACHINE).c)
TEST_OBJECTS := $(TEST_SOURCES:%.c=$(BUILD)/%.o)
FUZZ_TARGETS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_OBJECTS = $(filter $(BUILD)/host/sim/% $(BUILD)/ops/%,$(HOST_OBJECTS)) \
    $(addprefix $(BUILD)/host/,error.o output_file.o bench/npy.o bench/matrix.o)
MADE_TEST_OBJECTS := $(addprefix $(BUILD)/tests/,wrong.o planted_images.o planted.o solved.o)

# --- targets --------------------------------------------------------------------

.NOTPARALLEL:
.SUFFIXES:
.DELETE_ON_ERROR:
.PHONY: all help deps deps-dev test gpu-conformance check-ptx bench fuzz plots lint format clean FORCE

SUB = +$(Q)$(MAKE) --no-print-directory -j$(JOBS)

all: ## build ./run with every rung
	$(SUB) $(BUILD)/run.all
	$(Q)ln -f $(BUILD)/run.all run 2>/dev/null || cp -f $(BUILD)/run.all run

lesson%: ## lessonN: build ./run for lesson N (its rungs and all before it)
	@case " $(LESSONS) " in *" $* "*) ;; \
	*) echo "make: there is no lesson $*; lessons here: $(LESSONS)" >&2; exit 2;; esac
	$(SUB) $(BUILD)/run.$*
	$(Q)cmp -s $(BUILD)/run.$* run || { rm -f run; ln $(BUILD)/run.$* run 2>/dev/null || cp $(BUILD)/run.$* run; }

deps: ## install what is missing (apt, dnf or brew)
	@CC="$(CC)" NVCC="$(NVCC)" sh host/build/deps.sh

deps-dev: ## also install what lint, clang and sanitizer builds need
	@CC="$(CC)" NVCC="$(NVCC)" sh host/build/deps.sh dev

test: ## build and run the Criterion tests
	$(SUB) $(BUILD)/tests/run_tests $(BUILD)/run.all $(BUILD)/tests/fake_libcuda.so \
	    $(BUILD)/tests/gpu_conformance
	$(Q)PEAKBOUND_RUN=$(BUILD)/run.all PEAKBOUND_FAKE=$(BUILD)/tests/fake_libcuda.so \
	    PEAKBOUND_CONFORMANCE=$(BUILD)/tests/gpu_conformance \
	    $(BUILD)/tests/run_tests -j$(JOBS) $(TEST_FLAGS)

bench: ## how fast the simulator is, beside what it is meant to reach
	$(SUB) $(BUILD)/tests/bench_sim
	$(Q)$(BUILD)/tests/bench_sim $(BENCH_FLAGS)

gpu-conformance: ## the PTX cases on the GPU here, bit for bit against the simulator
	$(SUB) $(BUILD)/tests/gpu_conformance
	$(Q)$(BUILD)/tests/gpu_conformance

check-ptx: ## have ptxas assemble the PTX of the test cases
	$(SUB) $(BUILD)/tests/run_tests
	$(Q)sh host/build/check_ptx.sh $(BUILD)/tests/run_tests $(BUILD)/tests/ptx

# What a target finds new goes to build/fuzz/NAME; what breaks it to build/fuzz/NAME-*.
fuzz: ## give hostile input to each reader for FUZZ_SECONDS=60 (needs clang)
	$(Q)command -v $(CLANG) >/dev/null || { echo "make: fuzz needs clang: make deps-dev" >&2; exit 3; }
	+$(Q)$(MAKE) --no-print-directory -j$(JOBS) BUILD=build/fuzz CC=$(CLANG) CFLAGS="-O1 -g" OPS_FLAGS=-O1 \
	    SANITIZE="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined" \
	    $(FUZZ_TARGETS:%=build/fuzz/tests/fuzz/fuzz_%)
	$(Q)set -e; for t in $(FUZZ_TARGETS); do mkdir -p build/fuzz/$$t; \
	    build/fuzz/tests/fuzz/fuzz_$$t -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=1024 \
	        -max_len=16384 -print_final_stats=1 -artifact_prefix=build/fuzz/$$t- \
	        $$(test ! -f tests/fuzz/$$t.dict || echo -dict=tests/fuzz/$$t.dict) \
	        build/fuzz/$$t tests/fuzz/corpus_$$t; done

plots: ## draw the ladder of ./run into build/plots (needs gnuplot)
	$(Q)command -v gnuplot >/dev/null || { echo "make: plots need gnuplot: apt-get install gnuplot-nox (dnf, brew: gnuplot)" >&2; exit 3; }
	$(SUB) $(BUILD)/run.all
	$(Q)mkdir -p $(BUILD)/plots
	$(Q)$(BUILD)/run.all -l 6 $(PLOT_FLAGS) --json $(BUILD)/plots/results.json
	$(Q)awk -f plots/results_to_tsv.awk $(BUILD)/plots/results.json > $(BUILD)/plots/results.tsv
	$(Q)gnuplot -e "data='$(BUILD)/plots/results.tsv'; out='$(BUILD)/plots/ladder'" plots/ladder.gp
	@echo "plots: $(BUILD)/plots/ladder.svg and .png"

lint: ## format check, shell check, layer check
	$(Q)clang-format --dry-run -Werror $(shell git ls-files '*.c' '*.h' '*.cu')
	$(Q)if command -v shellcheck >/dev/null; then shellcheck host/build/*.sh .ci/run; \
	    else echo "lint: no shellcheck: shell scripts not checked"; fi
	$(Q)sh host/build/layers.sh

format: ## clang-format every source
	$(Q)clang-format -i $(shell git ls-files '*.c' '*.h' '*.cu')

clean: ## remove everything built
	rm -rf build run

help: ## this list
	@sed -n 's/^\([a-z%-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

# --- rules ----------------------------------------------------------------------

# Rewritten only when the compiler or its version changes; kernels depend on it.
$(KERNEL_BUILD)/compiler: FORCE
	@mkdir -p $(@D)
	@{ if [ -n "$(HAVE_NVCC)" ]; then \
	    $(NVCC) --version | sed -n 's/.*release [0-9.]*, V\([0-9.]*\).*/nvcc \1/p'; \
	elif command -v $(CLANG) >/dev/null; then \
	    $(CLANG) --version | sed -n '1s/.*version \([0-9.]*\).*/clang \1/p'; \
	else echo none; fi; } > $@.new
	@if grep -qx none $@.new; then rm -f $@.new; \
	    echo "make: neither nvcc nor clang on PATH: run make deps (installs clang)" >&2; exit 3; fi
	@cmp -s $@.new $@ && rm -f $@.new || mv $@.new $@
	@$(if $(HAVE_NVCC),true,echo "  note   no nvcc on PATH: clang makes the PTX; a real GPU will compile it itself")

# One image a .cu file, shared by all builds of the host.
define image_rule
$(KERNEL_BUILD)/$(call image_stem,$(1)).image: $(1) $(wildcard kernels/*.h) $(if $(filter $(PLANTED),$(1)),tests/planted.h) $(wildcard kernels/clang/*) \
    host/build/compile_kernel.sh $(KERNEL_BUILD)/compiler
	$(call say,$(notdir $(KERNEL_CC)),$(1))sh host/build/compile_kernel.sh $(KERNEL_CC) $(1) $$@ \
	    $(if $(filter tests/% %_solution.cu,$(1)),ptx $(if $(filter $(PLANTED),$(1)),80))
endef
$(foreach f,$(MACHINE).cu $(RUNGS_GPU) $(LESSON_KERNELS) $(WRONG) $(PLANTED) $(SOLUTIONS),$(eval $(call image_rule,$(f))))

# An exercise with its gap filled.
$(KERNEL_BUILD)/%_solution.cu: lessons/%/exercise.cu tests/solutions/%.inc tests/solutions/fill_in.awk
	@mkdir -p $(@D)
	$(Q)awk -v with=tests/solutions/$*.inc -f tests/solutions/fill_in.awk $< > $@

$(BUILD)/bin2c: host/build/bin2c.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 $(WARN) -O2 $< -o $@

$(BUILD)/images/%.o: $(KERNEL_BUILD)/%.image $(BUILD)/bin2c
	@mkdir -p $(@D)
	$(Q)$(BUILD)/bin2c image_$* $< > $(BUILD)/images/$*.c
	$(Q)$(CC) -std=c11 -O0 -c $(BUILD)/images/$*.c -o $@

$(BUILD)/peaks_table.c: host/report/gpus.tsv host/report/peaks_table.awk
	@mkdir -p $(@D)
	$(Q)LC_ALL=C awk -f host/report/peaks_table.awk $< > $@

$(BUILD)/peaks_table.o: $(BUILD)/peaks_table.c
	$(Q)$(CC) $(ALL_CFLAGS) -I. -c $< -o $@

$(BUILD)/host/%.o: host/%.c
	@mkdir -p $(@D)
	$(call say,$(notdir $(CC)),$<)$(CC) $(ALL_CFLAGS) -c $< -o $@

define isa_rules
$(BUILD)/cpu/%.$(1).o: kernels/%.c
	@mkdir -p $$(@D)
	$(call say,$(notdir $(CC)),$$< $(1))$(CC) $$(ALL_CFLAGS) -O3 $(ISA_$(1)) \
	    -DRUNG_SYMBOL=cpu_rung_$$*_$(1) -c $$< -o $$@
endef
$(foreach i,$(ISAS),$(eval $(call isa_rules,$(i))))

# Its multiply-adds are meant to become one instruction where the CPU has it.
$(BUILD)/cpu/00_machine.%.o: ALL_CFLAGS += -ffp-contract=fast

define ops_rules
$(BUILD)/ops/%.$(1).o: host/sim/%.c
	@mkdir -p $$(@D)
	$(call say,$(notdir $(CC)),$$< $(1))$(CC) $$(ALL_CFLAGS) $(OPS_WARN) $(OPS_FLAGS) $(ISA_$(1)) \
	    -DOPS_ISA=$(1) -include host/sim/ops_isa.h -c $$< -o $$@
endef
$(foreach i,$(OPS_ISAS),$(eval $(call ops_rules,$(i))))

define run_rules
$(BUILD)/registry.$(1).c: $(2) $(3) host/build/registry.sh Makefile $(KERNEL_BUILD)/compiler
	@mkdir -p $$(@D)
	$(Q)sh host/build/registry.sh registry $(4) "$$$$(cat $(KERNEL_BUILD)/compiler)" $(VERSION) \
	    $(2) -- $(3) > $$@

$(BUILD)/registry.$(1).o: $(BUILD)/registry.$(1).c
	$(Q)$(CC) $$(ALL_CFLAGS) -I. -c $$< -o $$@

$(BUILD)/run.$(1): $(BUILD)/host/main.o $(HOST_OBJECTS) $(BUILD)/registry.$(1).o \
    $(call image_objects,$(2)) $(call cpu_objects,$(3))
	$(call say,link,$$@)$(CC) $$(ALL_CFLAGS) $$^ -o $$@ $(LDLIBS)
endef
$(foreach n,$(LESSONS),$(eval $(call run_rules,$(n),$(call upto,$(n),$(RUNGS_GPU)) $(call own,$(n)),$(call upto,$(n),$(RUNGS_CPU)),$(n))))
$(eval $(call run_rules,all,$(RUNGS_GPU) $(LESSON_KERNELS),$(RUNGS_CPU),$(lastword $(shell printf '%s\n' $(LESSONS) | sort -n))))

$(BUILD)/tests/%.o: tests/%.c
	@mkdir -p $(@D)
	$(call say,$(notdir $(CC)),$<)$(CC) $(ALL_CFLAGS) -c $< -o $@

$(BUILD)/tests/fuzz/fuzz_%: $(BUILD)/tests/fuzz/fuzz_%.o $(FUZZ_OBJECTS)
	$(call say,link,$@)$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer $^ -o $@ $(LDLIBS)

.SECONDARY: $(FUZZ_TARGETS:%=$(BUILD)/tests/fuzz/fuzz_%.o)

$(BUILD)/tests/wrong.c: $(WRONG) host/build/registry.sh Makefile
	@mkdir -p $(@D)
	$(Q)sh host/build/registry.sh wrong 0 none 0 $(WRONG) > $@

$(BUILD)/tests/solved.c: $(SOLUTIONS) host/build/registry.sh Makefile
	@mkdir -p $(@D)
	$(Q)sh host/build/registry.sh solved 0 none 0 $(SOLUTIONS) > $@

$(BUILD)/tests/planted_images.c: $(PLANTED) host/build/registry.sh Makefile
	@mkdir -p $(@D)
	$(Q)sh host/build/registry.sh planted 0 none 0 $(PLANTED) > $@

$(BUILD)/tests/planted.c: $(PLANTED) tests/planted.awk Makefile
	@mkdir -p $(@D)
	$(Q)LC_ALL=C awk -f tests/planted.awk $(PLANTED) > $@

$(MADE_TEST_OBJECTS): $(BUILD)/tests/%.o: $(BUILD)/tests/%.c
	$(Q)$(CC) $(ALL_CFLAGS) -I. -c $< -o $@

$(BUILD)/tests/fake_libcuda.so: tests/fake_libcuda.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE) -O1 -fPIC -shared $< -o $@

$(BUILD)/tests/run_tests: $(TEST_OBJECTS) $(HOST_OBJECTS) $(BUILD)/registry.all.o $(MADE_TEST_OBJECTS) \
    $(call image_objects,$(RUNGS_GPU) $(LESSON_KERNELS) $(WRONG) $(PLANTED) $(SOLUTIONS)) $(call cpu_objects,$(RUNGS_CPU))
	$(call say,link,$@)$(CC) $(ALL_CFLAGS) $^ -o $@ -lcriterion $(LDLIBS)

$(BUILD)/tests/gpu_conformance: $(BUILD)/tests/gpu_conformance.o $(BUILD)/tests/forms.o $(HOST_OBJECTS) \
    $(BUILD)/registry.all.o $(call image_objects,$(RUNGS_GPU) $(LESSON_KERNELS)) $(call cpu_objects,$(RUNGS_CPU))
	$(call say,link,$@)$(CC) $(ALL_CFLAGS) $^ -o $@ $(LDLIBS)

$(BUILD)/tests/bench_sim: $(BUILD)/tests/bench/bench_sim.o $(HOST_OBJECTS) $(BUILD)/registry.all.o \
    $(call image_objects,$(RUNGS_GPU) $(LESSON_KERNELS)) $(call cpu_objects,$(RUNGS_CPU))
	$(call say,link,$@)$(CC) $(ALL_CFLAGS) $^ -o $@ $(LDLIBS)

-include $(wildcard $(BUILD)/*.d $(BUILD)/*/*.d $(BUILD)/*/*/*.d)
