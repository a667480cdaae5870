# SPDX-License-Identifier: MIT
# The front door. meson and ninja do the work; scripts/setup installs what is missing (Debian).
BUILD ?= build
prefix ?= /usr/local
DESTDIR ?=
MESON_FLAGS ?=

all: $(BUILD)/build.ninja
	ninja -C $(BUILD)

$(BUILD)/build.ninja: | setup
	meson setup --prefix=$(prefix) $(MESON_FLAGS) $(BUILD)

setup:
	@scripts/setup build test

# Records a real program at real work and prints the profile.
demo: setup all
	@scripts/demo $(BUILD)

# Unit, golden and system tests. The kernels in QEMU are `make test-vm`; CI runs both.
test: setup all
	meson test -C $(BUILD) --print-errorlogs

test-vm: all
	@scripts/setup vm
	tests/vm/run

bench: all
	@scripts/setup bench
	bench/run $(BUILD)

install: all
	DESTDIR=$(DESTDIR) meson install -C $(BUILD) --no-rebuild

clean:
	rm -rf $(BUILD) build-*

.PHONY: all setup demo test test-vm bench install clean
