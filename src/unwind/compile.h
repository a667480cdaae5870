/* SPDX-License-Identifier: MIT */
/*
 * compile.h: unwind sections -> table blob. Pure: bytes in, bytes out; nothing is opened.
 */
#ifndef SEAM_UNWIND_COMPILE_H
#define SEAM_UNWIND_COMPILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seam/error.h>

#include "base/buf.h"

struct compile_section {
	const unsigned char *bytes; /* decompressed; NULL: the object has none */
	size_t n;
	uint64_t address; /* ELF virtual address of its first byte */
};

/* Executable addresses: rows are made for these only. */
struct compile_range {
	uint64_t start, end;
};

#define COMPILE_RANGES_MAX 64
#define COMPILE_BRIDGE \
	16u /* bytes of padding between functions, fewer of which take the rule before them */
#define COMPILE_GAP 65536u /* bytes; smaller ones are assembly of a few functions */
#define COMPILE_GAPS_MAX 64
#define COMPILE_SWITCHES_MAX 16
#define COMPILE_PIECES_MAX 32

/* Where the caller's frame pointer is, in a piece of code. */
enum compile_piece_fp {
	COMPILE_FP_KEPT,  /* where it was */
	COMPILE_FP_SAVED, /* at the CFA - 16 */
	COMPILE_FP_FRAME, /* likewise, and the frame pointer is that address */
};

/* Code of which nothing says how its caller is found, and of which it is known: behind a switch,
 * or a function of no source. The return address stands below the CFA. */
struct compile_piece {
	uint64_t start, end;
	uint32_t fp;     /* enum compile_piece_fp */
	uint32_t cfa_sp; /* the CFA is the stack pointer + this; COMPILE_FP_FRAME: by that */
};

struct compile_input {
	uint32_t machine; /* enum frametab_machine */
	bool swap;        /* the object is of the other byte order */
	struct compile_section eh_frame, debug_frame, sframe;
	uint64_t text_address; /* DW_EH_PE_textrel: of .text */
	/* DW_EH_PE_datarel: of .got (or .eh_frame_hdr where that is the base) */
	uint64_t data_address;
	uint64_t entry; /* where a program starts, in ELF virtual addresses; 0: nowhere */
	struct compile_range ranges[COMPILE_RANGES_MAX];
	size_t n_ranges;
	/* Where code goes to another stack and its unwind information does not say so: from there
	 * to the function's end nothing is known, but for these pieces. x86_64 only. */
	uint64_t switches[COMPILE_SWITCHES_MAX];
	size_t n_switches;
	struct compile_piece pieces[COMPILE_PIECES_MAX];
	size_t n_pieces;
	/* Whether the code from start to end keeps frame pointers, as far as can be told. Called
	 * for what all sources leave out, from COMPILE_GAP bytes on. NULL: no code does. */
	bool (*keeps_fp)(void *ctx, uint64_t start, uint64_t end);
	/* Whether the few bytes from start to end, between two functions, are never run. NULL: they
	 * are run. */
	bool (*is_padding)(void *ctx, uint64_t start, uint64_t end);
	/* The bytes of the sections are looked at no more: they may go. NULL: they stay. */
	void (*spent)(void *ctx);
	void *code_ctx; /* of the three */
	/* Asked now and then, from all threads: the table is not wanted any more. NULL: it is. */
	bool (*stopped)(const void *ctx);
	const void *stopped_ctx;
	/* Threads that work at it, this one among them; 0: this one. */
	unsigned threads;
	/* Bytes of a section that are worth a thread; 0: 256 KiB, some milliseconds. Smaller
	 * sections stay in one. */
	size_t share_bytes;
};

/*
 * Compiles what there is: .eh_frame first, .debug_frame for functions that it does not cover,
 * .sframe for those that neither does. ret is cleared first. FDEs that cannot be understood are
 * skipped and counted in the table's header. The table and the errors are the same whatever the
 * number of threads is. Each takes about 5 MB beside what it collects. Who compiles several objects
 * at once divides the threads that it has among them (tables/tables.h does). -ENODATA: no section,
 * or not one row. -EFBIG: text of over 4 GiB or 2^22 rules. -ENOMEM. -EOPNOTSUPP: machine.
 * -ECANCELED: stopped.
 */
int compile_table(const struct compile_input *in, struct buf *ret, struct seam_error *err);

#endif
