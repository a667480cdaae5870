# SPDX-License-Identifier: MIT
# The front door. meson and ninja do the work. `make` builds and installs nothing; setup, demo, test, test-vm, bench and
# deb install the Debian packages that are missing, and say which.
BUILD ?= build
prefix ?= /usr/local
DESTDIR ?=
MESON_FLAGS ?=

all: $(BUILD)/build.ninja
	ninja -C $(BUILD)

$(BUILD)/build.ninja:
	@command -v meson >/dev/null || { echo "make: meson is missing; 'make setup' installs what the build needs (Debian)" >&2; exit 1; }
	meson setup --prefix=$(prefix) $(MESON_FLAGS) $(BUILD)

setup:
	@scripts/setup build test

# Records a real program at real work and prints the profile.
demo: setup
	@$(MAKE) --no-print-directory all
	@scripts/demo $(BUILD)

# Unit, golden and system tests. The kernels in QEMU are `make test-vm`; CI runs both.
test: setup
	@$(MAKE) --no-print-directory all
	meson test -C $(BUILD) --print-errorlogs

test-vm: all
	@scripts/setup vm
	tests/vm/run

# Every command beside its peers, into docs/benchmarks.md: some 20 minutes on a machine that does nothing else.
# `bench/table --quick` prints a smaller one.
bench: all
	@scripts/setup bench
	bench/table --seam $(BUILD)/seam --output docs/benchmarks.md

install: all
	DESTDIR=$(DESTDIR) meson install -C $(BUILD) --no-rebuild

# Debian packages: seam, libseam0, libseam-dev.
deb:
	@scripts/setup build deb
	scripts/deb

clean:
	rm -rf $(BUILD) build-*

.PHONY: all setup demo test test-vm bench install deb clean
