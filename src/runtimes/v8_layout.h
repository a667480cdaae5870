/* SPDX-License-Identifier: MIT */
/*
 * v8_layout.h: where a version of V8 keeps what leads from a frame to its function's name, file and
 * line. One description for both sides: v8.c fills it in, capture/runtime/v8.bpf.h walks by it.
 * Offsets are from an object's first byte, a reference to which is its address + 1.
 */
#ifndef SEAM_RUNTIMES_V8_LAYOUT_H
#define SEAM_RUNTIMES_V8_LAYOUT_H

#include "base/fixed_width.h"

/* Bytes of objects that are looked at: what a layout says is below it. */
#define V8_FUNCTION_BYTES 64u /* room: a power of two */
/* Those of a function without a prototype, which may be the last of a chunk of V8's heap, with
 * nothing mapped behind it. No more is read. */
#define V8_FUNCTION_LEAST 56u
#define V8_SHARED_BYTES 64u
#define V8_SCRIPT_BYTES 128u

struct v8_layout {
	uint32_t version; /* major << 16 | minor; 0: none */
	uint32_t function_shared;
	uint32_t shared_name, shared_script;
	uint32_t script_name, script_id, script_source;
	/* Bytes of both up to the last of these, and of the word behind a script's name. */
	uint32_t shared_bytes, script_bytes;
	uint32_t array_length, array_data;
	uint32_t map_type;
	uint32_t type_shared, type_scope, type_script, type_bytecodes;
	uint32_t scope_first;  /* words before the names of a scope's variables */
	uint32_t scope_places; /* the first of two words with its place in the source; 0: they come
	                        * behind the names */
	uint32_t scope_shift;  /* of its flags in their word */
	/* Of compiled code, by its first instruction: how far before it its object begins, and
	 * where that keeps a reference to what describes it; 0: it does so itself. */
	uint32_t code_before, code_described;
	/* In that: its first instruction (0: behind its head), its bytes, what was inlined, and its
	 * source position table. */
	uint32_t code_start, code_size, code_deopt, code_positions;
	uint32_t rows; /* enum v8_rows, of that table */
	/* Its kind, in four bits of a word (0: not known), and which of them is Maglev's */
	uint32_t code_flags, kind_maglev;
	uint32_t type_code, type_wrapper;                    /* 0: there are none */
	uint32_t type_arrays[4];                             /* of what the next is in */
	uint32_t deopt_count, deopt_literals, deopt_inlined; /* words of it */
	uint32_t scope_function; /* the kind of a function's scope, in its flags */
	/* Of bytecodes: their source position table, of which type that is, and where they begin */
	uint32_t bytecodes_positions, type_bytes, bytecodes_data;
	uint32_t calls_count; /* in the table of calls, which is behind the instructions */
};

/* What a row's first number says besides how far it is from the row before it. */
enum v8_rows {
	V8_ROWS_SIGN, /* that no statement begins there: -1 - the number */
	V8_ROWS_BIT,  /* whether one does: its lowest bit */
};

/* A function that is inlined in compiled code, where its caller calls it: a source position. */
struct v8_inlined {
	uint64_t key; /* of the function; 0: it is not known */
	uint64_t position;
};
#define V8_INLINED_MOST 120u /* of one piece of code */
#define V8_INLINED_ROOM 128u /* a power of two */
#define V8_TABLE_MOST 14336u /* bytes of its source position table */

/*
 * What is told of a piece of compiled code, in the place of a function's lines: the function whose
 * code it is, those that are inlined, and the table, cut off behind its bytes.
 */
struct v8_compiled {
	uint64_t key;
	uint32_t n, bytes;
	uint32_t cut;  /* the table goes on */
	uint32_t rows; /* enum v8_rows */
	/* Maglev's tables say for what stands in a loop where the loop begins: which function runs
	 * follows from them, but no line. */
	uint32_t placeless, unused;
	struct v8_inlined inlined[V8_INLINED_MOST];
	unsigned char table[V8_TABLE_MOST];
};

/* Characters of a function's source that are told, from where it begins. */
#define V8_SAMPLE 64u

/*
 * What is told of a function, in the place of its lines: where its source is in memory, which is
 * too much to be told, and what shows that it is still the same (capture/runtime/kwalk_v8.c).
 */
struct v8_told {
	uint64_t string;      /* the object with the characters of its script: its first byte */
	uint64_t map, length; /* its first two words */
	uint64_t characters;  /* where they are */
	uint32_t script;      /* its number */
	uint32_t width;       /* bytes of a character; 0: the source is not known */
	uint32_t from;        /* of these characters the script's begin */
	uint32_t start, end;  /* of the function, in the script's */
	uint32_t line;        /* of the script's first line: what is to be added */
	uint32_t n_sample;    /* bytes of the sample; 0: it was not in memory */
	uint32_t bytecodes;   /* behind this its source position table comes, of these rows */
	uint32_t rows;
	uint32_t thread; /* that runs it: numbers of scripts are an isolate's */
	unsigned char sample[V8_SAMPLE];
};

/* Of struct v8_told. */
#define V8_BYTECODES 1u
#define V8_BYTECODES_CUT 2u /* the table goes on */

/* Forms of lines: as one of the two structs above; or struct v8_source (v8.h). */
#define V8_LINES_COMPILED 1u
#define V8_LINES_TOLD 2u
#define V8_LINES_SOURCE 3u

/* A place in compiled code is an offset in it, with this bit where execution stopped there: else
 * it returns there. */
#define V8_AT_EXACT 0x80000000u

#endif
