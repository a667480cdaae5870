/* SPDX-License-Identifier: MIT */
/*
 * hotspot_layout.h: where a HotSpot keeps what leads from an address of its code to methods. The
 * programs in the kernel and user space share this description; it is read from the tables that
 * each HotSpot carries for its own debugger (hotspot.c).
 *
 * Offsets are bytes within the structure that the name's first part means, and below
 * HOTSPOT_OFFSETS. All are of 64-bit little-endian builds.
 */
#ifndef SEAM_RUNTIMES_HOTSPOT_LAYOUT_H
#define SEAM_RUNTIMES_HOTSPOT_LAYOUT_H

#include "base/fixed_width.h"

#define HOTSPOT_OFFSETS 448u

/* Addresses in the process (struct runtime_object's address). */
enum {
	HOTSPOT_STRUCTS, /* as found in the object: where its tables begin is kept here */
	HOTSPOT_TYPES,
	HOTSPOT_HEAPS, /* from here on as described: variables of the process */
	HOTSPOT_LOW,
	HOTSPOT_HIGH,
	HOTSPOT_CALL_STUB, /* the variable that says where Java's outermost frames return to */
};

struct hotspot_layout {
	uint32_t version; /* 17, 21, 25 */
	uint32_t list_length, list_data;
	uint32_t heap_memory, heap_segments, heap_log2;
	uint32_t space_low, space_high;
	uint32_t block_bytes, block_used; /* what stands before each blob */
	/* of a CodeBlob. relative: where its code begins and ends are numbers of 32 bits, from its
	 * beginning on; else addresses. complete_short: of 16 bits, else of 32. */
	uint32_t blob_name, blob_complete, blob_frame, blob_begin, blob_end, relative,
	        complete_short;
	/* of an nmethod; deopt and deopt_mh as blob_begin */
	uint32_t code_method, code_id, code_entry, code_orig_pc, code_deopt, code_deopt_mh;
	uint32_t code_bytes; /* that much holds all of these */
	uint32_t method_const;
	uint32_t const_pool, const_words, const_flags, const_code, const_name, const_bytes;
	uint32_t pool_bytes, pool_length, pool_class, pool_source;
	uint32_t class_name;
	uint32_t text_length, text_body;
	/* what inlining is told by: only user space looks there */
	uint32_t code_data, code_data_end;     /* 17, 21: an address; an offset from the blob */
	uint32_t code_scopes, code_scopes_end; /* 17, 21: offsets from the blob */
	uint32_t code_metadata;                /* likewise */
	uint32_t code_immutable, code_immutable_size, blob_mutable, blob_mutable_size,
	        blob_relocation; /* 25 */
};

/* The forms of numbers in the streams of bytes. */
enum hotspot_lines {
	HOTSPOT_LINES_17, /* up to 19 */
	HOTSPOT_LINES,
};

/* Instead of a bytecode's index. */
#define HOTSPOT_NO_BCI 0xffffffffu
/* Of a frame of a compiled method: the pc, from where its code begins on, and whether execution
 * stopped there. */
#define HOTSPOT_PC_EXACT (1u << 31)

#endif
