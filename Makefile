# heed -- GNU make; everything it makes is in build/. `make help` lists what there is.
#
# CC, CXX, CFLAGS, LDFLAGS, PREFIX, LIBDIR (below PREFIX) and DESTDIR mean what they mean elsewhere. WERROR=1 turns warnings into errors,
# DEBUG=1 fills memory that is not in use with NaN, BUILD=folder builds elsewhere (one folder per variant),
# NO_INSTALL=1 names missing packages instead of installing them, SHARED=folder is where tests find the models of others, if they are there. EMBED=file is the model inside the program,
# EMBED= leaves it without.

.SUFFIXES: # no rule makes a program of a script
BUILD   ?= build
PREFIX  ?= /usr/local
LIBDIR  ?= lib
DESTDIR ?=
SHARED  ?= ../shared
EMBED   ?= models/default.safetensors
VERSION := $(shell sed -n 's/^\#define HEED_VERSION "\(.*\)"/\1/p' include/heed.h)
# Before 1.0 the minor version is the ABI.
ABI     := $(subst $() ,.,$(wordlist 1,2,$(subst ., ,$(VERSION))))
MACHINE := $(shell $(CC) -dumpmachine 2>/dev/null)

# -ffp-contract=off: a fused multiply-add is one where it is written and nowhere else, so that every compiler and
# CPU returns the same bits. For the same reason never -ffast-math, never -march=native.
FLAGS  := -O2 -g -fPIC -fvisibility=hidden -ffp-contract=off -fno-math-errno -pthread \
          -Wall -Wextra $(if $(WERROR),-Werror) $(if $(DEBUG),-DHEED_DEBUG) \
          $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer) \
          $(if $(COVERAGE),--coverage)
LINK   := -pthread $(if $(SANITIZE),-fsanitize=$(SANITIZE)) $(if $(COVERAGE),--coverage)
SONAME := $(if $(findstring apple,$(MACHINE)),-install_name,-soname)
NAMES  := $(if $(findstring apple,$(MACHINE)),,-Wl,--version-script=tools/libheed.map)

# One file is C++, the door to SentencePiece; its compiler is the C compiler's sibling.
ifeq ($(origin CXX),default)
CXX := $(if $(findstring clang,$(CC)),$(subst clang,clang++,$(CC)),$(if $(findstring gcc,$(CC)),$(subst gcc,g++,$(CC)),c++))
endif

# COMPUTES=1 builds alone what computes, formulas of the models included; it needs no libraries.
DL      := $(if $(findstring apple,$(MACHINE)),,-ldl)
LIBS    := -lm $(DL)
ifneq ($(COMPUTES),)
SOURCES := $(wildcard src/base/*.c src/kernel/*.c src/graph/*.c) src/option/option.c $(foreach f,asking batch cache cell config_check ctc_head decoder describe encoder fields \
           first_state guidance head head_label head_span head_words model param placement position presets readout rnn score screen sieve source_none source_question source_text source_vectors transformer weights,src/model/$f.c)
else
SOURCES := $(wildcard src/*.c src/*/*.c src/*/*.cc)
library  = $(or $(shell pkg-config --libs $1 2>/dev/null),$2)
LIBS    := -lsentencepiece_train $(filter-out -lsentencepiece_train,$(call library,sentencepiece,-lsentencepiece)) \
           $(call library,jansson,-ljansson) $(call library,libutf8proc,-lutf8proc) $(call library,zlib,-lz) \
           $(if $(findstring apple,$(MACHINE)),-lc++,-lstdc++) -lm $(DL)
INCLUDE := $(shell pkg-config --cflags sentencepiece jansson libutf8proc zlib 2>/dev/null)
endif
# Pictures are a module of their own, built where cairo and pango are; without it heed says what to install.
DRAW_NEEDS   := cairo pangocairo
HAS_DRAW     := $(shell pkg-config --exists $(DRAW_NEEDS) 2>/dev/null && echo yes)
DRAW_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard draw/*.c))
DRAW_FLAGS   := -I. -Isrc $(if $(HAS_DRAW),$(shell pkg-config --cflags $(DRAW_NEEDS)))
DRAW_LIBS    := $(if $(HAS_DRAW),$(shell pkg-config --libs $(DRAW_NEEDS)))
DRAW         := $(if $(HAS_DRAW),$(BUILD)/heed_draw.so)
# Talking to other machines is a module as well, built where MPI is.
MPICC        := $(shell command -v mpicc 2>/dev/null)
MPI          := $(if $(MPICC),$(BUILD)/heed_mpi.so)
MPI_FLAGS    := $(if $(MPICC),-I. -Isrc $(or $(shell pkg-config --cflags ompi-c 2>/dev/null),$(shell pkg-config --cflags mpich 2>/dev/null),$(shell $(MPICC) --showme:compile 2>/dev/null)))
MPI_LIBS     := $(if $(MPICC),$(or $(shell pkg-config --libs ompi-c 2>/dev/null),$(shell pkg-config --libs mpich 2>/dev/null),$(shell $(MPICC) --showme:link 2>/dev/null)))
# Serving is one more, built where libmicrohttpd is. It has a libheed inside.
HAS_SERVE     := $(shell pkg-config --exists libmicrohttpd 2>/dev/null && echo yes)
SERVE_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard serve/*.c))
FLAGS_serve/page = -DHD_WEB='"$(BUILD)/web/"'
SERVE_FLAGS   := -I. -Isrc $(if $(HAS_SERVE),$(shell pkg-config --cflags libmicrohttpd))
SERVE_LIBS    := $(if $(HAS_SERVE),$(shell pkg-config --libs libmicrohttpd))
SERVE         := $(if $(HAS_SERVE),$(BUILD)/heed_serve.so)
# So is reading HTML and XML, built where gumbo and libxml2 are.
MARKUP_NEEDS   := gumbo libxml-2.0
HAS_MARKUP     := $(shell pkg-config --exists $(MARKUP_NEEDS) 2>/dev/null && echo yes)
MARKUP_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard markup/*.c))
MARKUP_FLAGS   := -I. -Isrc $(if $(HAS_MARKUP),$(patsubst -I%,-isystem %,$(shell pkg-config --cflags $(MARKUP_NEEDS))))
MARKUP_LIBS    := $(if $(HAS_MARKUP),$(shell pkg-config --libs $(MARKUP_NEEDS)))
MARKUP         := $(if $(HAS_MARKUP),$(BUILD)/heed_markup.so)
# And sound and pictures as files, where libsndfile, libpng and libjpeg are.
FEATURES_NEEDS   := sndfile libpng libjpeg
HAS_FEATURES     := $(shell pkg-config --exists $(FEATURES_NEEDS) 2>/dev/null && echo yes)
FEATURES_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard features/*.c))
FEATURES_FLAGS   := -I. -Isrc $(if $(HAS_FEATURES),$(patsubst -I%,-isystem %,$(shell pkg-config --cflags $(FEATURES_NEEDS))))
FEATURES_LIBS    := $(if $(HAS_FEATURES),$(shell pkg-config --libs $(FEATURES_NEEDS)))
FEATURES         := $(if $(HAS_FEATURES),$(BUILD)/heed_features.so)
OBJECTS  := $(addprefix $(BUILD)/obj/,$(addsuffix .o,$(basename $(SOURCES))))
CLI      := $(wildcard cli/*.c)
COMMANDS := $(shell sed -n 's/^const struct command command_\([a-z]*\) = {/\1/p' $(CLI))
# Man pages and completion are made from the program's own tables. RUN=qemu-... runs a program built for another CPU.
MAN      := $(addprefix $(BUILD)/man/,heed.1 $(COMMANDS:%=heed-%.1))
MANUAL   := $(MAN) $(addprefix $(BUILD)/completion/heed.,bash zsh fish)
EXAMPLES := $(patsubst examples/%.c,%,$(wildcard examples/*.c))
TESTS    := $(patsubst tests/%.c,%,$(filter-out tests/arm/% $(if $(HAS_DRAW),,tests/draw/%) $(if $(HAS_MARKUP),,tests/markup/%) $(if $(HAS_FEATURES),,tests/features/%),$(wildcard tests/*/test_*.c)))
FUZZ     := $(patsubst tests/fuzz/%.c,%,$(filter-out $(if $(HAS_MARKUP),,tests/fuzz/fuzz_markup.c tests/fuzz/fuzz_tmx.c) $(if $(HAS_FEATURES),,tests/fuzz/fuzz_features.c),$(wildcard tests/fuzz/fuzz_*.c)))
SCRIPTS  := $(patsubst tests/%,%,$(wildcard tests/*/test_*.sh))
ARM      := $(patsubst tests/arm/%.c,%,$(wildcard tests/arm/*.c))

# Flags of single files: FLAGS_<path without .c>. The kernels of one instruction set are chosen when the program
# runs, so each is built for its own CPU, whatever the CPU at hand; on other machines they are empty files.
# (A sanitizer looks at every load of every tile: at -O1 that is compiled in seconds, at -O3 in minutes.)
$(foreach k,generic avx2 avx512 avx512vnni avx512bf16 amx neon,$(eval FLAGS_src/kernel/$k = $(if $(SANITIZE),-O1,-O3)))
ifneq (,$(filter x86_64% amd64%,$(MACHINE)))
AVX2   := -mavx2 -mfma -mf16c
AVX512 := $(AVX2) -mavx512f -mavx512bw -mavx512dq -mavx512vl
FLAGS_src/kernel/avx2       += $(AVX2)
FLAGS_src/kernel/avx512     += $(AVX512)
FLAGS_src/kernel/avx512vnni += $(AVX512) -mavx512vnni
FLAGS_src/kernel/avx512bf16 += $(AVX512) -mavx512vnni -mavx512bf16
FLAGS_src/kernel/amx        += $(AVX512) -mavx512vnni -mamx-tile -mamx-int8 -mamx-bf16
endif
ifneq ($(FUZZER),) # sanitizing the kernels takes clang minutes, and `make sanitize` does it
$(foreach k,generic avx2 avx512 avx512vnni avx512bf16 amx neon,$(eval FLAGS_src/kernel/$k += -fno-sanitize=address,undefined))
endif
LIBS_bench/bench_kernel = -ldnnl
FLAGS_tests/cli/test_options = -Icli
LIBS_tests/cli/test_options  = $(if $(findstring apple,$(MACHINE)),,-lutil)
FLAGS_tests/fuzz/replay = -Isrc -Itests
# Three programs have the module that reads markup inside.
LIBS_tests/markup/test_marks = $(MARKUP_LIBS)
LIBS_tests/fuzz/fuzz_markup  = $(MARKUP_LIBS)
LIBS_tests/fuzz/fuzz_tmx     = $(MARKUP_LIBS)
# One has the module that reads sound and pictures.
LIBS_tests/fuzz/fuzz_features = $(FEATURES_LIBS)
# Tests of pictures read them with cairo, and one has the module's parts inside, to make its memory fail.
$(foreach t,$(filter draw/%,$(TESTS)),$(eval FLAGS_tests/$t = $(DRAW_FLAGS))$(eval LIBS_tests/$t = $(DRAW_LIBS)))
-include $(wildcard tests/*/flags.mk)

PACKAGES    = NO_INSTALL='$(NO_INSTALL)' CC='$(CC)' CXX='$(CXX)' CPPFLAGS='$(CPPFLAGS)' LDFLAGS='$(LDFLAGS)' tools/packages.sh
COMPILE     = $(CC) -std=gnu11 $(FLAGS) -Iinclude $(INCLUDE) $(CPPFLAGS) $(CFLAGS) -MMD -MP
COMPILE_CXX = $(CXX) -std=c++17 $(FLAGS) $(if $(SANITIZE),-fno-sanitize=vptr) -Iinclude $(INCLUDE) $(CPPFLAGS) $(CXXFLAGS) -MMD -MP

# Pictures, markup and the server are wanted where they can be had, and left out where not.
TRY_DRAW    = $(PACKAGES) draw || echo 'Going on without pictures.'; $(PACKAGES) markup || echo 'Going on without HTML and XML.'; \
              $(PACKAGES) features || echo 'Going on without sound and picture files.'
TRY_SERVE   = $(PACKAGES) serve || echo 'Going on without a server.'

# ---- the library and the program --------------------------------------------------------------------------------

.PHONY: all program
all: $(BUILD)/libheed.a $(BUILD)/libheed.so $(BUILD)/heed $(or $(DRAW),no-draw) $(or $(MPI),no-mpi) $(or $(MARKUP),no-markup) $(or $(FEATURES),no-features) $(or $(SERVE),no-serve) $(MANUAL)  ## the library and the program (default)
program: $(BUILD)/heed $(DRAW) $(MARKUP) $(FEATURES)

$(BUILD)/libheed.a: $(OBJECTS)
	@rm -f $@
	$(QUIET)$(AR) rcs $@ $^

$(BUILD)/libheed.so: $(OBJECTS) tools/libheed.map
	$(QUIET)$(CC) -shared $(NAMES) -Wl,$(SONAME),libheed.so.$(ABI) $(LINK) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIBS)
	@ln -sf libheed.so $(BUILD)/libheed.so.$(ABI)

$(BUILD)/heed: $(CLI:%.c=$(BUILD)/obj/%.o) $(BUILD)/libheed.a
	$(QUIET)$(CC) $(LINK) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/tables: $(BUILD)/heed
	@$(RUN) $< --tables > $@.new && mv $@.new $@
$(MAN): $(BUILD)/man/%.1: $(BUILD)/tables tools/manual.awk
	@mkdir -p $(@D)
	@awk -v format=man -v page=$* -v version=$(VERSION) -f tools/manual.awk $< > $@
$(BUILD)/completion/heed.%: $(BUILD)/tables tools/manual.awk
	@mkdir -p $(@D)
	@awk -v format=$* -f tools/manual.awk $< > $@
.PHONY: reference
reference: $(BUILD)/tables  ## docs/reference/commands.md, from the program's own tables
	awk -v format=markdown -f tools/manual.awk $< > docs/reference/commands.md

# What it uses of src/base it has inside, so that libheed need not show it.
$(BUILD)/heed_draw.so: $(DRAW_OBJECTS) $(BUILD)/libheed.a
	$(QUIET)$(CC) -shared $(LINK) $(LDFLAGS) -o $@ $^ $(DRAW_LIBS)
$(DRAW_OBJECTS): $(BUILD)/obj/draw/%.o: draw/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(QUIET)$(COMPILE) $(DRAW_FLAGS) -c $< -o $@
$(BUILD)/heed_mpi.so: $(BUILD)/obj/mpi/mpi_module.o $(BUILD)/libheed.a
	$(QUIET)$(CC) -shared $(LINK) $(LDFLAGS) -o $@ $^ $(MPI_LIBS)
$(BUILD)/obj/mpi/mpi_module.o: mpi/mpi_module.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(QUIET)$(COMPILE) $(MPI_FLAGS) -c $< -o $@
$(BUILD)/heed_serve.so: $(SERVE_OBJECTS) $(BUILD)/libheed.a
	$(QUIET)$(CC) -shared -Wl,--exclude-libs,ALL $(LINK) $(LDFLAGS) -o $@ $^ $(SERVE_LIBS) $(LIBS)
$(SERVE_OBJECTS): $(BUILD)/obj/serve/%.o: serve/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(QUIET)$(COMPILE) $(SERVE_FLAGS) $(FLAGS_serve/$*) -c $< -o $@
# The page as it is embedded: without comments and needless spaces.
PAGE := $(patsubst %,$(BUILD)/%,$(wildcard web/*))
$(BUILD)/obj/serve/page.o: $(PAGE)
$(BUILD)/web/%.js: web/%.js tools/pack_js.awk
	@mkdir -p $(@D)
	@awk -f tools/pack_js.awk $< > $@.new && mv $@.new $@
$(BUILD)/web/%.css: web/%.css
	@mkdir -p $(@D)
	@sed -e 's|/\*.*\*/||' $< | tr '\n' ' ' | sed -e 's/  */ /g' -e 's/ *\([{};,]\) */\1/g' -e 's/: /:/g' -e 's/;}/}/g' > $@
$(BUILD)/web/%: web/%
	@mkdir -p $(@D)
	@cp $< $@
.PHONY: no-draw no-mpi no-serve no-markup no-features
no-serve:
	@echo 'heed_serve.so: not built, as pkg-config finds no libmicrohttpd (tools/packages.sh serve installs it)'
$(BUILD)/heed_markup.so: $(MARKUP_OBJECTS) $(BUILD)/libheed.a
	$(QUIET)$(CC) -shared $(LINK) $(LDFLAGS) -o $@ $^ $(MARKUP_LIBS)
$(MARKUP_OBJECTS): $(BUILD)/obj/markup/%.o: markup/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(QUIET)$(COMPILE) $(MARKUP_FLAGS) -c $< -o $@
no-markup:
	@echo 'heed_markup.so: not built, as pkg-config finds no gumbo or no libxml-2.0 (tools/packages.sh markup installs them)'
$(BUILD)/heed_features.so: $(FEATURES_OBJECTS) $(BUILD)/libheed.a
	$(QUIET)$(CC) -shared $(LINK) $(LDFLAGS) -o $@ $^ $(FEATURES_LIBS)
$(FEATURES_OBJECTS): $(BUILD)/obj/features/%.o: features/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(QUIET)$(COMPILE) $(FEATURES_FLAGS) -c $< -o $@
no-features:
	@echo 'heed_features.so: not built, as pkg-config finds no sndfile, libpng or libjpeg (tools/packages.sh features installs them)'
no-mpi:
	@echo 'heed_mpi.so: not built, as there is no mpicc (tools/packages.sh mpi installs one)'
no-draw:
	@echo 'heed_draw.so: not built, as pkg-config finds no cairo or no pango (tools/packages.sh draw installs them)'

$(BUILD)/obj/src/%.o: src/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(QUIET)$(COMPILE) -Isrc -I. $(FLAGS_src/$*) -c $< -o $@

$(BUILD)/obj/src/%.o: src/%.cc $(BUILD)/flags
	@mkdir -p $(@D)
	$(QUIET)$(COMPILE_CXX) -Isrc -c $< -o $@

# The model inside the program; a file that says which, so that it is built again when there is another or none.
EMBEDDED := $(wildcard $(EMBED))
$(BUILD)/obj/cli/embedded.o: cli/embedded.c $(EMBEDDED) $(BUILD)/embedded $(BUILD)/flags
	@mkdir -p $(@D)
	$(QUIET)$(COMPILE) $(if $(EMBEDDED),'-DHEED_EMBEDDED="$(EMBEDDED)"') -c $< -o $@
$(BUILD)/embedded: FORCE
	@mkdir -p $(@D)
	@[ -f $@ ] && [ "$$(cat $@)" = '$(EMBEDDED)' ] || echo '$(EMBEDDED)' > $@

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(QUIET)$(COMPILE) $(FLAGS_$*) -c $< -o $@

OF_FILES := $(foreach v,$(sort $(filter FLAGS_% LIBS_%,$(.VARIABLES))),$v=$($v))

# Rebuild when the compiler or its flags change: this file changes with them, and with nothing else.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@now='$(subst ','\'',$(shell $(CC) --version 2>/dev/null | head -n 1) $(COMPILE) $(COMPILE_CXX) $(LINK) $(LDFLAGS) $(LIBS) $(DRAW_FLAGS) $(DRAW_LIBS) $(MPI_FLAGS) $(MPI_LIBS) $(SERVE_FLAGS) $(SERVE_LIBS) $(MARKUP_FLAGS) $(MARKUP_LIBS) $(FEATURES_FLAGS) $(FEATURES_LIBS) $(OF_FILES))'; \
	 [ -f $@ ] && [ "$$(cat $@)" = "$$now" ] || printf '%s\n' "$$now" > $@
FORCE:

ifeq ($(V),)
QUIET = @echo '  $(if $(filter %.o,$@),CC  ,LINK) $@';
endif
-include $(wildcard $(BUILD)/*.d) $(shell find $(BUILD)/obj $(BUILD)/tests $(BUILD)/examples $(BUILD)/bench -name '*.d' 2>/dev/null)

# ---- examples, tests ----------------------------------------------------------------------------------------------

$(BUILD)/examples/%: examples/%.c $(BUILD)/libheed.a $(BUILD)/flags
	@mkdir -p $(@D)
	$(QUIET)$(COMPILE) $(FLAGS_examples/$*) $< -o $@ $(BUILD)/libheed.a $(LINK) $(LDFLAGS) $(LIBS)

$(BUILD)/tests/%: tests/%.c $(BUILD)/libheed.a $(BUILD)/flags
	@mkdir -p $(@D)
	$(QUIET)$(COMPILE) -Isrc -Itests -I. $(FLAGS_tests/$*) $< -o $@ $(filter %.o,$^) $(BUILD)/libheed.a $(LINK) $(LDFLAGS) \
	  $(if $(filter arm/%,$*),,-lcmocka) $(LIBS_tests/$*) $(LIBS)

# A fuzz target is given the files of its corpus by a plain program, or made-up ones by libFuzzer.
$(FUZZ:%=$(BUILD)/tests/fuzz/%): $(BUILD)/tests/fuzz/%: tests/fuzz/%.c $(BUILD)/obj/tests/fuzz/replay.o $(BUILD)/libheed.a $(BUILD)/flags
	@mkdir -p $(@D)
	$(QUIET)$(COMPILE) -Isrc -Itests -I. $< -o $@ $(filter-out $(if $(FUZZER),%/replay.o),$(filter %.o,$^)) $(if $(FUZZER),-fsanitize=fuzzer) \
	  $(BUILD)/libheed.a $(LINK) $(LDFLAGS) $(LIBS_tests/fuzz/$*) $(LIBS)

# The program's own parts, tested without its main().
$(BUILD)/tests/cli/test_options: $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out cli/main.c,$(CLI)))

$(BUILD)/tests/draw/test_memory: $(DRAW_OBJECTS)
$(BUILD)/tests/markup/test_marks $(BUILD)/tests/fuzz/fuzz_markup $(BUILD)/tests/fuzz/fuzz_tmx: $(MARKUP_OBJECTS)
$(filter run/markup/% run/exchange/test_pairs,$(TESTS:%=run/%)): $(MARKUP)
$(BUILD)/tests/fuzz/fuzz_features: $(FEATURES_OBJECTS)
$(BUILD)/tests/fuzz/fuzz_form: $(BUILD)/obj/serve/form.o $(BUILD)/obj/serve/pieces.o
$(filter run/draw/%,$(TESTS:%=run/%)): $(DRAW)

.PHONY: demo
demo:  ## the first thing to run: builds heed, translates, trains a small model, shows what they attend to
	@$(PACKAGES) build
	@$(TRY_DRAW)
	@$(TRY_SERVE)
	+@MAKE='$(MAKE) $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell getconf _NPROCESSORS_ONLN))' tools/demo.sh $(BUILD)

# `check` may have to install a compiler first, so what it builds is worked out by a second make.
.PHONY: check check-now check-arm test
check:  ## everything: tests, examples, order of the rooms, the other CPU
	@$(PACKAGES) build check
	@$(TRY_DRAW)
	@$(TRY_SERVE)
	+@$(MAKE) --no-print-directory check-now
	+@$(MAKE) --no-print-directory check-page
	+@$(MAKE) --no-print-directory check-arm
check-now: all test
	@tools/check_rooms.sh
	@python3 tools/check_names.py

RUNS := $(TESTS:%=run/%) $(SCRIPTS:%=run/%) $(EXAMPLES:%=run/examples/%) $(FUZZ:%=run/fuzz/%)
test: $(RUNS)  ## the tests and examples alone; one of them: make run/base/test_arena
	@tools/run_test.sh --summary $(BUILD)/results $(RUNS:run/%=%)

.PHONY: $(RUNS)
$(TESTS:%=run/%): run/%: $(BUILD)/tests/% $(BUILD)/heed
	@BUILD=$(BUILD) SHARED='$(SHARED)' tools/run_test.sh $(BUILD)/results $* $<
$(SCRIPTS:%=run/%): run/%: tests/% all
	@BUILD=$(BUILD) SHARED='$(SHARED)' tools/run_test.sh $(BUILD)/results $* $<
$(EXAMPLES:%=run/examples/%): run/examples/%: $(BUILD)/examples/%
	@BUILD=$(BUILD) tools/run_test.sh $(BUILD)/results examples/$* $<
$(FUZZ:%=run/fuzz/%): run/fuzz/%: $(BUILD)/tests/fuzz/%
	@BUILD=$(BUILD) tools/run_test.sh $(BUILD)/results fuzz/$* $< tests/fuzz/corpus/$(*:fuzz_%=%)

.PHONY: python
python: $(BUILD)/libheed.a $(DRAW) $(MARKUP) $(FEATURES)  ## a Python wheel that needs no compiler and no libraries: BUILD/python/portable
	@MODEL='$(abspath $(EMBEDDED))' tools/python.sh $(BUILD) portable

.PHONY: check-abi abi
check-abi: $(BUILD)/libheed.so  ## the library's binary interface against that of the last release
	@$(PACKAGES) abi || true
	@tools/check_abi.sh $(BUILD) $(ABI)
abi: $(BUILD)/libheed.so  ## note the binary interface, for a release
	@tools/check_abi.sh $(BUILD) $(ABI) --write

# The other CPU: what computes, and plain test programs, cross-compiled and run by an emulator.
ARM_CC := aarch64-linux-gnu-gcc
QEMU   := qemu-aarch64 -L /usr/aarch64-linux-gnu
check-arm:  ## the same bits on aarch64, through a cross compiler and qemu
	+@if [ -z '$(ARM)' ]; then \
	    echo 'check-arm: there are no programs in tests/arm yet'; \
	elif ! command -v $(ARM_CC) >/dev/null || ! command -v $(firstword $(QEMU)) >/dev/null; then \
	    echo 'check-arm: skipped, as $(ARM_CC) or $(firstword $(QEMU)) is missing (tools/packages.sh arm installs them)'; \
	else \
	    $(MAKE) --no-print-directory CC=$(ARM_CC) BUILD=build/arm COMPUTES=1 CFLAGS= LDFLAGS= SANITIZE= COVERAGE= check-arm-now; \
	fi
.PHONY: check-arm-now
check-arm-now: $(ARM:%=$(BUILD)/tests/arm/%)
	@$(foreach p,$(ARM),BUILD=$(BUILD) tools/run_test.sh $(BUILD)/results arm/$p $(QEMU) $(BUILD)/tests/arm/$p;)
	@tools/run_test.sh --summary $(BUILD)/results $(ARM:%=arm/%)

# What has threads is run a second time under the thread sanitizer.
# (Not pictures: the sanitizer does not see glib's locks.)
THREADED := $(patsubst tests/%.c,run/%,$(filter-out tests/draw/%,\
              $(shell grep -lE 'hd_pool|pthread_create|heed_train|n_threads' tests/*/test_*.c 2>/dev/null))) \
            $(if $(SERVE),run/serve/test_serve.sh)
export LSAN_OPTIONS := suppressions=$(CURDIR)/tests/leaks.txt:print_suppressions=0
.PHONY: sanitize sanitize-threads
sanitize:  ## the tests under the address, undefined-behaviour and thread sanitizers
	@$(PACKAGES) build check
	@$(TRY_DRAW)
	@$(TRY_SERVE)
	+@$(MAKE) --no-print-directory BUILD=build/asan SANITIZE=address,undefined DEBUG=1 test
	+@$(MAKE) --no-print-directory BUILD=build/tsan SANITIZE=thread sanitize-threads
sanitize-threads: $(THREADED)
	@tools/run_test.sh --summary $(BUILD)/results $(THREADED:run/%=%)

FUZZ_SECONDS ?= 60
.PHONY: fuzz fuzz-now
fuzz:  ## broken files made up by libFuzzer for FUZZ_SECONDS (60) per target
	@$(PACKAGES) build clang
	+@$(MAKE) --no-print-directory BUILD=build/fuzz CC=clang CXX=clang++ FUZZER=1 \
	  SANITIZE=fuzzer-no-link,address,undefined DEBUG=1 fuzz-now
fuzz-now: $(FUZZ:%=$(BUILD)/tests/fuzz/%)
	@set -e; for target in $(FUZZ:fuzz_%=%); do \
	    mkdir -p $(BUILD)/corpus/$$target; \
	    echo "fuzz: $$target for $(FUZZ_SECONDS) seconds; what it finds stays in $(BUILD)/corpus/$$target"; \
	    $(BUILD)/tests/fuzz/fuzz_$$target -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -rss_limit_mb=1024 -malloc_limit_mb=256 \
	      -print_final_stats=1 -verbosity=0 -artifact_prefix=$(BUILD)/$$target- $(BUILD)/corpus/$$target tests/fuzz/corpus/$$target; \
	done

# Everything that can go wrong around the program, at random: a seed makes it again. Findings stay in build/torture.
MINUTES ?= 10
.PHONY: torture torture-fuzz
torture:  ## kills, faults, odd options and broken files for MINUTES (10), by SEED
	@$(PACKAGES) build check
	+@$(MAKE) --no-print-directory all $(BUILD)/torture/faults.so
	+@$(MAKE) --no-print-directory BUILD=build/asan SANITIZE=address,undefined DEBUG=1 program torture-fuzz
	@python3 tests/torture/torture.py $(BUILD) build/asan --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) $(TRIAL)
torture-fuzz: $(FUZZ:%=$(BUILD)/tests/fuzz/%) $(SERVE)
$(BUILD)/torture/faults.so: tests/torture/faults.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(QUIET)$(CC) -std=gnu11 -O1 -Wall -Wextra $(if $(WERROR),-Werror) -fPIC -shared -fvisibility=hidden $< -o $@ $(DL)

$(filter run/train/test_faults.sh,$(SCRIPTS:%=run/%)): $(BUILD)/torture/faults.so

.PHONY: coverage
coverage:  ## which lines the tests reach
	@$(PACKAGES) build check
	@$(TRY_DRAW)
	@$(TRY_SERVE)
	+@$(MAKE) --no-print-directory BUILD=build/coverage COVERAGE=1 coverage-clean test
	@tools/coverage.sh build/coverage
.PHONY: coverage-clean
coverage-clean:
	@find $(BUILD) -name '*.gcda' -delete 2>/dev/null || true

# Real clients, each in a folder of its own below build/.
CLIENTS := build/clients
.PHONY: check-clients
check-clients: all  ## clients of LibreTranslate and DeepL, as they are published, against heed serve
	@tools/check_clients.sh $(BUILD) $(CLIENTS)

# The page in a real browser, where there is one.
.PHONY: check-page
check-page: all  ## the page of heed serve in a Chromium: clicked, typed, hovered; pictures of it in BUILD/page
	@tools/check_page.sh $(BUILD) $(PART)

# Hosts of our own: network namespaces, which are root's to make.
.PHONY: check-hosts
check-hosts: all  ## training on two and four hosts (network namespaces, 1 Gbit/s): the same file, hosts that are lost; as root
	@BUILD=$(BUILD) tests/hosts/check_hosts.sh

# ---- speed ----------------------------------------------------------------------------------------------------------

$(BUILD)/bench/%: bench/%.c $(BUILD)/libheed.a $(BUILD)/flags
	@mkdir -p $(@D)
	$(QUIET)$(COMPILE) -Isrc -Ibench -I. $(FLAGS_bench/$*) $< -o $@ $(BUILD)/libheed.a $(LINK) $(LDFLAGS) $(LIBS_bench/$*) $(LIBS)

.PHONY: bench bench-kernel bench-kernel-now
bench: bench-kernel bench-train bench-decode bench-serve  ## all measurements
bench-kernel:  ## arithmetic against this machine's peak and against oneDNN
	@$(PACKAGES) build bench
	+@$(MAKE) --no-print-directory bench-kernel-now
bench-kernel-now: $(BUILD)/bench/bench_kernel
	@$<

# PyTorch is a peer in training and decoding: a virtual environment in build/peers, or TORCH=/path/to/python of one that has it.
PEERS := build/peers
TORCH := $(PEERS)/torch/bin/python
$(PEERS)/torch/bin/python:
	@echo 'Installing PyTorch and SentencePiece for Python into $(PEERS)/torch: some 200 MB to 3 GB, once.'
	@mkdir -p $(PEERS)
	python3 -m venv $(PEERS)/torch && $(PEERS)/torch/bin/pip install --quiet torch sentencepiece numpy
.PHONY: bench-train
bench-train: all $(BUILD)/bench/bench_train $(TORCH)  ## training against PyTorch, and what an update is made of
	@python3 bench/train.py $(BUILD) '$(SHARED)' $(PEERS) $(TORCH)

.PHONY: bench-scale
bench-scale: all  ## training by 1, 2 and 4 ranks, and what more would do
	@$(PACKAGES) mpi
	+@$(MAKE) --no-print-directory all
	@python3 bench/scale.py $(BUILD) $(SHARED)

.PHONY: bench-hosts
bench-hosts: all  ## training on two and four hosts with 1 and 10 Gbit/s between them, beside what is expected; as root
	@BUILD=$(BUILD) bench/hosts.sh

.PHONY: bench-lines
bench-lines: all  ## training on ten million lines: time and memory
	@python3 bench/lines.py $(BUILD) $(SHARED) build/lines $(LINES)

.PHONY: bench-sentences
bench-sentences: $(BUILD)/bench/bench_sentences  ## cutting text into sentences against pysbd, Punkt and others
	@bench/sentences.sh build/peers/sentences
	@build/peers/sentences/bin/python bench/sentences.py $(BUILD) '$(SHARED)'

# Peers stay in build/peers; CTranslate2 is measured with the instruction set that is faster for it (CT2_ISA).
CT2_ISA ?= AVX512
.PHONY: bench-decode
bench-decode: $(BUILD)/bench/bench_decode $(BUILD)/heed $(TORCH)  ## searching sentences against CTranslate2, on the same weights, and PyTorch
	@bench/peers.sh $(PEERS) '$(SHARED)' $(BUILD)/heed '$(EMBED)' $(TORCH)
	@CT2_FORCE_CPU_ISA=$(CT2_ISA) $(PEERS)/ct2/bin/python bench/decode.py $(BUILD) $(PEERS) $(TORCH)
.PHONY: bench-quality
bench-quality: $(BUILD)/heed $(TORCH)  ## what 8 bits cost in BLEU, here and in CTranslate2
	@bench/peers.sh $(PEERS) '$(SHARED)' $(BUILD)/heed '$(EMBED)' $(TORCH)
	@$(PEERS)/ct2/bin/python bench/quality.py $(BUILD) '$(SHARED)' $(PEERS)

.PHONY: bench-serve
bench-serve: $(BUILD)/heed $(SERVE) $(TORCH)  ## heed serve against a small server on CTranslate2, on the same weights
	@bench/peers.sh $(PEERS) '$(SHARED)' $(BUILD)/heed '$(EMBED)' $(TORCH)
	@python3 bench/serve.py $(BUILD) $(PEERS)
	@python3 bench/soak.py $(BUILD)

.PHONY: bench-python
bench-python: $(BUILD)/heed $(BUILD)/libheed.a $(TORCH)  ## one short sentence from Python, against CTranslate2's package
	@bench/peers.sh $(PEERS) '$(SHARED)' $(BUILD)/heed '$(EMBED)' $(TORCH)
	@MODEL='$(abspath $(EMBEDDED))' tools/python.sh $(BUILD) wheel
	@$(PEERS)/ct2/bin/pip install --quiet --disable-pip-version-check --force-reinstall cffi $(BUILD)/python/wheel/heed-*.whl
	@$(PEERS)/ct2/bin/python bench/python.py $(PEERS)

.PHONY: bench-language-model
bench-language-model: $(BUILD)/heed $(TORCH)  ## perplexity of language models after some updates, here and in PyTorch
	@$(TORCH) -c 'import safetensors' 2>/dev/null || $(PEERS)/torch/bin/pip install --quiet --disable-pip-version-check safetensors packaging
	@$(TORCH) bench/language_model.py $(BUILD) '$(SHARED)' $(PEERS)

.PHONY: bench-memory
bench-memory: $(BUILD)/heed  ## what a translation memory is worth in BLEU, and what it costs
	@python3 bench/memory.py $(BUILD) '$(SHARED)'

# ---- the study -------------------------------------------------------------------------------------------------------

# STEPS='length cost' repeats these alone, STUDY=folder keeps models and results elsewhere, SMOKE=1 is a try of a minute or two.
STUDY ?= $(BUILD)/study
.PHONY: study
study: all $(BUILD)/chart  ## what attention is good for, measured: hours; fills docs/study.md. STEPS='order beam': these alone
	@python3 study/study.py $(if $(SMOKE),--smoke) --build $(BUILD) --shared '$(SHARED)' --folder '$(STUDY)' $(STEPS)
# Numbers of each picture stand beside it.
.PHONY: pictures
pictures: all $(BUILD)/chart  ## draw the charts of docs/images again, from their numbers
	@for table in docs/images/*.tsv; do $(BUILD)/chart $$table $${table%.tsv}.svg || exit 1; done
# Beside the module that draws.
$(filter run/study/%,$(SCRIPTS:%=run/%)): $(BUILD)/chart
$(BUILD)/chart: study/chart.c $(BUILD)/libheed.a $(BUILD)/flags
	$(QUIET)$(COMPILE) $< -o $@ $(BUILD)/libheed.a $(LINK) $(LDFLAGS) $(LIBS)

# ---- install --------------------------------------------------------------------------------------------------------

.PHONY: install uninstall
# Where compilers, pkg-config and programs look by themselves. Elsewhere heed.pc tells a program where its library is.
SYSTEM  := /usr /usr/local
HEADERS := $(wildcard include/*.h)
TO       = $(DESTDIR)$(PREFIX)
DRAW_TO  = $(TO)/lib/heed/heed_draw.so
MPI_TO   = $(TO)/lib/heed/heed_mpi.so
SERVE_TO = $(TO)/lib/heed/heed_serve.so
MARKUP_TO = $(TO)/lib/heed/heed_markup.so
FEATURES_TO = $(TO)/lib/heed/heed_features.so
UNITS_TO = $(TO)/lib/systemd/system
MAN_TO   = $(MAN:$(BUILD)/man/%=$(TO)/share/man/man1/%)
BASH_TO  = $(TO)/share/bash-completion/completions/heed
ZSH_TO   = $(TO)/share/zsh/site-functions/_heed
FISH_TO  = $(TO)/share/fish/vendor_completions.d/heed.fish
install: all  ## into PREFIX (/usr/local), below DESTDIR if given
	install -d $(TO)/bin $(TO)/$(LIBDIR)/pkgconfig $(TO)/include
	install -m 755 $(BUILD)/heed $(TO)/bin/heed
	install -m 644 $(HEADERS) $(TO)/include
	install -d $(TO)/share/man/man1 $(dir $(BASH_TO) $(ZSH_TO) $(FISH_TO))
	install -m 644 $(MAN) $(TO)/share/man/man1
	install -m 644 $(BUILD)/completion/heed.bash $(BASH_TO)
	install -m 644 $(BUILD)/completion/heed.zsh $(ZSH_TO)
	install -m 644 $(BUILD)/completion/heed.fish $(FISH_TO)
	install -m 644 $(BUILD)/libheed.a $(TO)/$(LIBDIR)/libheed.a
	install -m 755 $(BUILD)/libheed.so $(TO)/$(LIBDIR)/libheed.so.$(VERSION)
	ln -sf libheed.so.$(VERSION) $(TO)/$(LIBDIR)/libheed.so.$(ABI)
	ln -sf libheed.so.$(ABI) $(TO)/$(LIBDIR)/libheed.so
	$(if $(DRAW),install -d $(TO)/lib/heed && install -m 755 $(DRAW) $(DRAW_TO))
	$(if $(MPI),install -d $(TO)/lib/heed && install -m 755 $(MPI) $(MPI_TO))
	$(if $(SERVE),install -d $(TO)/lib/heed $(UNITS_TO) && install -m 755 $(SERVE) $(SERVE_TO))
	$(if $(SERVE),sed -e 's|@PREFIX@|$(PREFIX)|' tools/heed.service.in > $(UNITS_TO)/heed.service && chmod 644 $(UNITS_TO)/heed.service)
	$(if $(SERVE),install -m 644 tools/heed.socket $(UNITS_TO)/heed.socket)
	$(if $(MARKUP),install -d $(TO)/lib/heed && install -m 755 $(MARKUP) $(MARKUP_TO))
	$(if $(FEATURES),install -d $(TO)/lib/heed && install -m 755 $(FEATURES) $(FEATURES_TO))
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@VERSION@|$(VERSION)|' -e 's|@LIBS@|$(LIBS)|' \
	  -e 's|@RPATH@|$(if $(filter $(SYSTEM),$(PREFIX)),, -Wl,-rpath,$${libdir})|' tools/heed.pc.in > $(TO)/$(LIBDIR)/pkgconfig/heed.pc
	chmod 644 $(TO)/$(LIBDIR)/pkgconfig/heed.pc
	@[ -n '$(DESTDIR)' ] || ldconfig 2>/dev/null || true  # so that programs find the library at once, where that is allowed
	$(if $(filter $(SYSTEM),$(PREFIX)),,@echo 'For programs of your own: export PKG_CONFIG_PATH=$(PREFIX)/$(LIBDIR)/pkgconfig')
uninstall:  ## takes out what install put there
	rm -f $(TO)/bin/heed $(HEADERS:include/%=$(TO)/include/%) $(TO)/$(LIBDIR)/libheed.a $(TO)/$(LIBDIR)/libheed.so \
	  $(TO)/$(LIBDIR)/libheed.so.$(ABI) $(TO)/$(LIBDIR)/libheed.so.$(VERSION) $(TO)/$(LIBDIR)/pkgconfig/heed.pc $(DRAW_TO) $(MPI_TO) $(SERVE_TO) $(UNITS_TO)/heed.service $(UNITS_TO)/heed.socket $(MARKUP_TO) $(FEATURES_TO) \
	  $(MAN_TO) $(BASH_TO) $(ZSH_TO) $(FISH_TO)
	@rmdir $(TO)/lib/heed $(UNITS_TO) 2>/dev/null || true

# What git has, and nothing else; it builds where there is no git.
DIST := heed-$(VERSION).tar.gz
.PHONY: dist deb
dist:  ## build/heed-VERSION.tar.gz, the committed sources
	@mkdir -p $(BUILD)
	git archive --format=tar --prefix=heed-$(VERSION)/ HEAD | gzip -n9 > $(BUILD)/$(DIST)
	@echo '$(BUILD)/$(DIST)'
deb:  ## build/heed_VERSION_CPU.deb, a package for Debian and Ubuntu
	@$(PACKAGES) build deb
	@$(TRY_DRAW)
	@$(TRY_SERVE)
	+@$(MAKE) --no-print-directory all
	+@tools/deb.sh $(BUILD) $(VERSION)

# ---- care -----------------------------------------------------------------------------------------------------------

C_FILES := $(wildcard include/*.h src/*.[ch] src/*/*.[ch] src/*/*.cc src/*/*.inc draw/*.[ch] mpi/*.[ch] serve/*.[ch] markup/*.[ch] features/*.[ch] cli/*.[ch] examples/*.c tests/*.h tests/*/*.[ch] bench/*.[ch] study/*.c)
.PHONY: format
format:  ## clang-format over all C files
	clang-format -i $(C_FILES)

LINTED := $(SOURCES) $(CLI) $(if $(DRAW),$(wildcard draw/*.c)) $(if $(SERVE),$(wildcard serve/*.c)) $(if $(MARKUP),$(wildcard markup/*.c)) $(if $(FEATURES),$(wildcard features/*.c))
LINTS := $(addprefix lint/,$(basename $(LINTED)))
LINT   = clang-tidy --quiet $< -- $(filter-out -Werror,$(FLAGS)) -Iinclude $(INCLUDE) $(if $(filter src/% draw/% serve/% markup/% features/%,$*),-Isrc -I.) $(if $(filter draw/%,$*),$(DRAW_FLAGS)) $(if $(filter markup/%,$*),$(MARKUP_FLAGS)) $(if $(filter features/%,$*),$(FEATURES_FLAGS)) $(FLAGS_$*) $1 2>&1 \
	  | { ! grep -v ' warnings\? generated\.$$\|^Suppressed \|^Use -header-filter'; }
.PHONY: lint $(LINTS)
ifeq (,$(shell command -v clang-tidy))
lint:
	@echo 'lint: skipped, as clang-tidy is missing (tools/packages.sh lint installs it)'
else
lint: $(LINTS)  ## clang-tidy over library and program
endif
$(patsubst %.c,lint/%,$(filter %.c,$(LINTED))): lint/%: %.c
	@$(call LINT,-std=gnu11)
$(patsubst %.cc,lint/%,$(filter %.cc,$(LINTED))): lint/%: %.cc
	@$(call LINT,-std=c++17)

.PHONY: clean distclean help
clean:  ## forget what was built; keeps build/peers
	@[ ! -d build ] || find build -mindepth 1 -maxdepth 1 ! -name peers -exec rm -rf {} +
distclean:  ## forget everything
	rm -rf build
help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## *\(.*\)/  make \1\t\2/p' Makefile | expand -t 24
