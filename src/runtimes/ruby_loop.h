/* SPDX-License-Identifier: MIT */
/* ruby_loop.h: where Ruby's vm_exec is, which calls the interpreter's loop. */
#ifndef SEAM_RUNTIMES_RUBY_LOOP_H
#define SEAM_RUNTIMES_RUBY_LOOP_H

#include <stdbool.h>

#include "runtimes/kinds.h"

struct ruby_loop {
	uint64_t call; /* vm_exec */
	uint32_t call_bytes;
	bool by_library; /* its tag is filled in by the C library's setjmp, not by the compiler */
};

/* -ENOTSUP: it is not known for sure. */
int ruby_loop_find(struct ruby_loop *ret, const struct runtime_source *source);

#endif
