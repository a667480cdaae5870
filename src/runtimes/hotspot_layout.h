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

#define HOTSPOT_OFFSETS 512u

/* Of a ContinuationEntry, in all versions that have one. */
#define HOTSPOT_ENTRY_CONT 16u
#define HOTSPOT_ENTRY_FLAGS 32u /* 4 bytes, and how many words of arguments there are */

/* Addresses in the process (struct runtime_object's address). */
enum {
	HOTSPOT_STRUCTS, /* as found in the object: where its tables begin is kept here */
	HOTSPOT_TYPES,
	HOTSPOT_HEAPS, /* from here on as described: variables of the process */
	HOTSPOT_LOW,
	HOTSPOT_HIGH,
	HOTSPOT_CALL_STUB, /* the variable that says where Java's outermost frames return to */
	/* These are not published: only user space looks there. */
	HOTSPOT_CLASSES, /* well-known classes; this is Object's place among them */
	HOTSPOT_WORDS,   /* well-known texts */
	HOTSPOT_OOP_BASE,
	HOTSPOT_OOP_SHIFT,
	HOTSPOT_CLASS_BASE,
	HOTSPOT_CLASS_SHIFT,
	HOTSPOT_ADDRESSES
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
	/* 21, 25: how hotspot_chunk.c finds what follows */
	uint32_t class_fields, class_pool, class_size, list_bytes;
	uint32_t entry_bytes; /* of a ContinuationEntry, which says where they wait */
	/* Of frames of virtual threads that wait on the heap, in this process. */
	struct hotspot_chunks {
		uint32_t known; /* 0: nothing of it is */
		uint32_t build; /* for who reads it: which one, and how often that failed */
		uint32_t tries;
		uint32_t oop_shift, class_at, class_shift;
		/* a reference of the heap: masked, shifted, and the base added */
		uint64_t oop_mask, oop_base;
		/* what stands in a chunk's header for its class */
		uint64_t class_mask, chunk_class;
		uint32_t tail; /* of a Continuation */
		/* of a chunk; sp and bottom are words from `frames` on */
		uint32_t chunk_cont, chunk_parent, chunk_sp, chunk_size, chunk_bottom, frames;
	} chunks;
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
