// SPDX-License-Identifier: MIT
// fuzz_debugframe.c: bytes as .debug_frame: compiled, opened, searched, walked.
#include <stddef.h>

#include "unwind_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_compile(data, size, offsetof(struct compile_input, debug_frame));
	return 0;
}
