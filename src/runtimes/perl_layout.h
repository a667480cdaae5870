/* SPDX-License-Identifier: MIT */
/*
 * perl_layout.h: where a version of Perl keeps what leads from a thread to its contexts. The
 * programs in the kernel and user space share this description; the table is perl.c's.
 *
 * What all versions have at the same place is a number in perl_names.bpf.h.
 */
#ifndef SEAM_RUNTIMES_PERL_LAYOUT_H
#define SEAM_RUNTIMES_PERL_LAYOUT_H

#include "base/fixed_width.h"

struct perl_layout {
	uint32_t version;  /* 0x0524: 5.36 */
	uint32_t threaded; /* a thread has its interpreter; else there is one, in variables */
	/* Variables of the interpreter: bytes into it, or, if there is one, behind PERL_LOOP. */
	uint64_t stacks, cop, op, loop, jump, main;
	uint32_t op_entersub, op_goto, op_nextstate, op_dbstate, op_dofile; /* numbers of ops */
	/* bytes of the functions whose addresses are below, in that order */
	uint32_t loop_bytes, call_bytes, eval_bytes, overload_bytes, run_bytes;
	uint64_t text, text_bytes; /* all code of the object, in bytes behind PERL_LOOP */
};

/* Addresses of an object (runtime_process.h). */
enum perl_address {
	PERL_KEY,  /* PL_thr_key, of the thread's interpreter */
	PERL_LOOP, /* Perl_runops_standard */
	PERL_CALL, /* Perl_call_sv, Perl_eval_sv, Perl_amagic_call: these run the loop for a sub */
	PERL_EVAL,
	PERL_OVERLOAD,
	PERL_RUN, /* perl_run: this runs it for the main program */
};

/* What stands for a call of the loop among a thread's frames, and who called the loop in the native
 * stack: keys of frames (runtime_frame.h). */
enum perl_call {
	PERL_BY_MAIN,    /* perl_run */
	PERL_BY_CALL,    /* PERL_CALL, PERL_EVAL, PERL_OVERLOAD */
	PERL_BY_INSIDE,  /* another function of Perl: sort, a regular expression, defer */
	PERL_BY_OUTSIDE, /* a function of an extension: List::Util */
	PERL_BY_DOUBT,   /* of frames only: by PERL_CALL, or none, but the last op of a block */
};

#endif
