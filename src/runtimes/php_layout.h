/* SPDX-License-Identifier: MIT */
/*
 * php_layout.h: where a version of PHP keeps what leads from its globals to its frames. The
 * programs in the kernel and user space share this description; the tables are php.c's.
 *
 * Offsets are bytes within the structure that the name's first part means. What all versions have
 * at the same place is a number in php.bpf.h.
 */
#ifndef SEAM_RUNTIMES_PHP_LAYOUT_H
#define SEAM_RUNTIMES_PHP_LAYOUT_H

#include "base/fixed_width.h"

struct php_layout {
	uint32_t version;        /* 0x0802: 8.2 */
	uint32_t globals_size;   /* of executor_globals: another build has another one */
	uint32_t globals_frame;  /* current_execute_data */
	uint32_t globals_thrown; /* opline_before_exception */
	uint32_t code_instructions, code_n, code_file, code_line; /* of zend_op_array */
	uint32_t loop_bytes, cold_bytes;
	/* the loop's frame (loop.h), in which code of the JIT runs; body 0: not known */
	uint32_t body, frame_bytes, frame_by_fp, guard;
};

/* Addresses of an object (runtime_process.h). */
enum php_address {
	PHP_GLOBALS, /* executor_globals */
	PHP_LOOP,    /* execute_ex, and the part of it that rarely runs */
	PHP_COLD,
};

#endif
