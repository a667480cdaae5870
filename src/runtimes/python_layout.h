/* SPDX-License-Identifier: MIT */
/*
 * python_layout.h: where a version of CPython keeps what leads from a thread to its frames. The
 * programs in the kernel and user space share this description; the tables are python.c's.
 *
 * Offsets are bytes within the structure that the name's first part means. All are of 64-bit
 * little-endian builds.
 */
#ifndef SEAM_RUNTIMES_PYTHON_LAYOUT_H
#define SEAM_RUNTIMES_PYTHON_LAYOUT_H

#include "base/fixed_width.h"

/* How a call of the interpreter's loop shows on the C stack. But in the first, an address within
 * the native frame of the loop stands in the chain of frames: by it both stacks are joined. */
enum python_entry {
	/* 3.8, 3.9: a call runs one frame, and leaves no mark: it is told by where its code is */
	PYTHON_ENTRY_CALL,
	PYTHON_ENTRY_CALL_CFRAME, /* 3.10: likewise, with a struct _PyCFrame on the stack */
	/* 3.11: a frame says that the loop was entered with it; a struct _PyCFrame is on the
	 * stack */
	PYTHON_ENTRY_CFRAME,
	/* 3.12: below the frames that one call of the loop runs there is a frame without code on
	 * the stack, and the newest frame is found through a struct _PyCFrame */
	PYTHON_ENTRY_FRAME_BY_CFRAME,
	PYTHON_ENTRY_FRAME, /* 3.13 and later: likewise, and the thread state has the newest */
};

#define PYTHON_NO_OWNER 256u /* more than any owner */

/* The form of a code object's location table. */
enum python_lines {
	PYTHON_LINES,       /* 3.11 and later: co_linetable */
	PYTHON_LINES_310,   /* 3.10: likewise, another form */
	PYTHON_LINES_LNOTAB /* 3.8, 3.9: co_lnotab */
};

struct python_layout {
	uint32_t version; /* 0x030b: 3.11 */
	uint32_t entry;   /* enum python_entry */
	uint32_t runtime_interpreters;
	uint32_t interpreter_next, interpreter_threads;
	uint32_t interpreter_id; /* its number, which no other one gets; 0: it is not needed */
	uint32_t thread_next, thread_id; /* thread_id: what pthread_self() gives */
	uint32_t thread_frame;           /* the newest frame, or the struct _PyCFrame */
	/* PYTHON_ENTRY_CALL_CFRAME: the newest struct _PyCFrame; where the state's own is */
	uint32_t thread_cframe, thread_root;
	uint32_t cframe_frame, cframe_previous;
	uint32_t frame_size; /* that much is read of a frame */
	/* frame_instruction: an address; of PYTHON_ENTRY_CALL and _CALL_CFRAME a number of 32 bits,
	 * times 1 << instruction_shift bytes */
	uint32_t frame_previous, frame_code, frame_instruction, frame_owner;
	uint32_t instruction_shift;
	uint32_t frame_entry; /* PYTHON_ENTRY_CFRAME only */
	uint32_t owner_entry; /* the owner of a frame without code, or PYTHON_NO_OWNER */
	/* 3.15: below a thread's outermost frame is one without code, no call of the loop's */
	uint32_t has_base;
	/* Of free-threaded builds: by so much an object's head is longer. What is read of an object
	 * is read from so far on, and offsets are from there. */
	uint32_t object_more;
	/* Likewise, 3.14: the number (32 bits) of the copy of its code that a frame runs, and where
	 * a code object has the address of how many copies there are, and behind it of each. */
	uint32_t frame_copy, code_copies;
	uint32_t code_instructions; /* behind all else of a code object, or its end */
	uint32_t code_line, code_file, code_name, code_lines;
	/* 3.11: a function's code, and a number (32 bits) that no other one of the process gets,
	 * and itself not again with other code, or 0. */
	uint32_t frame_function, function_code, function_version;
	/* 3.12 and later: a number (32 bits) that no other code object of the interpreter gets, or
	 * 0. Of 3.12 none of the process. 0: there is none. */
	uint32_t code_version;
	uint32_t text_ascii, text_other; /* a string's characters */
	uint32_t text_kind;              /* the bit in its state at which the kind begins */
	uint32_t lines;                  /* enum python_lines */
	uint32_t loop_bytes, cold_bytes; /* PYTHON_ENTRY_CALL */
	/* PYTHON_ENTRY_CFRAME, _FRAME_BY_CFRAME: behind so many bytes of its code the loop has made
	 * room for so much of the stack, its struct _PyCFrame among it. 0: that is not known. */
	uint32_t loop_begins, loop_frame;
	/* 3.14 and later: asyncio's tasks, which say who awaits them. thread_task: the one that
	 * runs; 0: they are not known. task_flags: two bytes: it is a task, and several await it.
	 * coroutine_state: a byte; state_awaits and the number behind it: it awaits another. */
	uint32_t thread_task;
	uint32_t task_awaited_by, task_coroutine, task_flags;
	uint32_t coroutine_frame, coroutine_state, state_awaits;
	/* Behind what a frame has on its stack of values; by so much below it is what it awaits. */
	uint32_t frame_stack, awaited_below;
	uint32_t type_name;
	uint32_t set_used, set_mask, set_table;
};

/* Addresses of an object (runtime_process.h). */
enum python_address {
	PYTHON_RUNTIME,   /* _PyRuntime */
	PYTHON_CODE_TYPE, /* PyCode_Type: what is no code object is not taken for one */
	/* PYTHON_ENTRY_CALL, _CFRAME, _FRAME_BY_CFRAME: where the code of the loop is */
	PYTHON_LOOP,
	PYTHON_COLD, /* PYTHON_ENTRY_CALL: the part of it that rarely runs */
	/* if tasks are known: types of what is awaited, and is a function that waits or leads to
	 * one */
	PYTHON_COROUTINE_TYPE,
	PYTHON_GENERATOR_TYPE,
	PYTHON_ASYNC_GENERATOR_TYPE,
	PYTHON_ASEND_TYPE,
};

#endif
