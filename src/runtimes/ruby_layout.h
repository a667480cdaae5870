/* SPDX-License-Identifier: MIT */
/*
 * ruby_layout.h: where a version of Ruby keeps what leads from a thread to its frames. The programs
 * in the kernel and user space share this description; the tables are ruby.c's.
 *
 * Offsets are bytes within the structure that the name's first part means. What all versions have
 * at the same place is a number in ruby.bpf.h.
 */
#ifndef SEAM_RUNTIMES_RUBY_LAYOUT_H
#define SEAM_RUNTIMES_RUBY_LAYOUT_H

#include "base/fixed_width.h"

/* How the code gets at ruby_current_ec, a variable of the thread. */
enum ruby_access {
	RUBY_ACCESS_MODULE = 1, /* RUBY_CURRENT: two words, the module's number and the offset */
	RUBY_ACCESS_INITIAL,    /* RUBY_CURRENT: a word, the offset from the thread pointer */
	RUBY_ACCESS_STATIC,     /* `current` is that offset */
};

struct ruby_layout {
	uint32_t version;       /* 0x0301: 3.1 */
	uint32_t access;        /* enum ruby_access */
	uint64_t current;       /* as it is added: below the thread pointer */
	uint32_t ec_error;      /* errinfo: another build has it elsewhere */
	uint32_t frame_size;    /* of rb_control_frame_t */
	uint32_t body_line;     /* of rb_iseq_constant_body: location.first_lineno */
	uint32_t body_line_odd; /* it is a number of Ruby's: twice and one more */
	uint32_t body_lines;    /* insns_info: body, positions, size, succ_index_table */
	uint32_t body_local;    /* local_iseq */
	uint32_t string_inline; /* where a short string's bytes are */
	uint32_t string_length; /* 0: a short string has it in its flags */
	uint32_t class_path;    /* of RClass and what is behind it: classpath; 0: in a table */
	uint32_t class_permanent;
	uint32_t class_attached;  /* of a singleton class: attached_object */
	uint32_t class_singleton; /* the flag of one */
	uint32_t operators;       /* numbers of names up to this one are those of operators */
	/* vm_exec, whose tag says where a call of it is on the C stack */
	uint32_t call_bytes;
	uint32_t tag_mangled; /* setjmp is the C library's, which hides its addresses */
	uint32_t tag_sp, tag_pc, tag_previous;
	/* The garbage collection: how many words lead from RUBY_MACHINE to the virtual machine,
	 * where that has the heap, and that how many collections have begun (0: not known), and the
	 * byte that says what is done now: RUBY_GC_* in ruby_known.bpf.h. */
	uint32_t gc_words, gc_heap, gc_count, gc_state;
	uint32_t unused;
};

/* Addresses of an object (runtime_process.h). */
enum ruby_address {
	RUBY_CURRENT, /* see enum ruby_access */
	RUBY_CALL,    /* vm_exec */
	RUBY_NAMES,   /* the table of all symbols' names; 0: it was not found */
	RUBY_MACHINE, /* see gc_words */
};

#endif
