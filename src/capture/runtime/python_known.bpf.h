/* SPDX-License-Identifier: MIT */
/*
 * python_known.bpf.h: what CPython's code objects are known by (runtime_known.bpf.h).
 *
 * A code object is one that was met if its number is the same. Since 3.12 an interpreter numbers
 * its code objects and never gives a number twice. 3.11 numbers functions so, once they are called
 * often, and takes the number from one that is given other code: the frame has the function.
 */
#ifndef SEAM_CAPTURE_RUNTIME_PYTHON_KNOWN_BPF_H
#define SEAM_CAPTURE_RUNTIME_PYTHON_KNOWN_BPF_H

#include "capture/runtime/runtime_known.bpf.h"

/* Whose code objects the thread's frames have: numbers are an interpreter's. */
INLINE void python_whose(struct runtime_walk *p)
{
	PY(p)->whose = runtime_mix(runtime_whose(p), PY(p)->id);
}

/* Reads the number of the function that py->frame_bytes is of, if its code is what the frame runs.
 * 0: it has none. */
INLINE __u32 python_function_number(struct runtime_walk *p)
{
	struct python *py = PY(p);
	__u64 function = PYTHON_FRAME_WORD(py, AT(frame_function));
	__u32 from = AT(function_code) & 120, size = AT(function_version) + 4 - from;

	FORGET(size);
	if (size > sizeof(py->object) - 128 ||
	    bpf_probe_read_user(&py->object[from], size, (void *)(function + from)) ||
	    *(volatile __u64 *)&py->object[from] != py->code)
		return 0;
	return *(volatile __u32 *)&py->object[AT(function_version) & 252];
}

/* What the code object at py->code is told apart by; 0: it has no number. */
INLINE __u64 python_identity(struct runtime_walk *p)
{
	struct python *py = PY(p);
	__u32 number = 0;
	__u64 is;

	if (AT(function_version))
		number = python_function_number(p);
	else if (AT(code_version) &&
	         bpf_probe_read_user(&number, 4, (void *)(py->code + AT(code_version))))
		return 0;
	if (!number)
		return 0;
	is = runtime_mix(ANEW(py->whose), py->code + py->awaits);
	return runtime_mix(is, number) | 1;
}

#endif
