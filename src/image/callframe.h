/* SPDX-License-Identifier: MIT */
/*
 * callframe.h: the entries of .eh_frame and .debug_frame: which code each FDE is about, and where
 * its instructions and those of its CIE are. Pure: bytes in, values out. Instructions are not
 * looked into.
 *
 * Invariant: every read is bounded by its entry. What an entry gives depends on it and its CIE
 * alone.
 */
#ifndef SEAM_IMAGE_CALLFRAME_H
#define SEAM_IMAGE_CALLFRAME_H

#include "base/cursor.h"

struct callframe_section {
	const unsigned char *bytes; /* decompressed */
	size_t n;
	uint64_t address; /* linked address of the first byte */
	/* What DW_EH_PE_textrel and _datarel count from. */
	uint64_t text_address, data_address;
	bool swap; /* of the other byte order */
	bool is_debug_frame;
	bool is_32; /* plain addresses have 4 bytes */
};

struct callframe_cie {
	uint8_t encoding; /* of its FDEs' addresses */
	bool has_augmentation, is_signal_frame;
	uint64_t code_factor;
	int64_t data_factor;
	uint64_t ra_register;
	const unsigned char *instructions;
	size_t n_instructions;
};

/* Takes one entry and moves on to the next. It may be empty: linkers leave such terminators between
 * the parts of some objects. is_64: the entry is of the 64-bit form. False at the end, or where a
 * length leads out of the section. */
bool callframe_entry(struct cursor *c, struct cursor *entry, bool *is_64);
/* Whether the entry that was just taken is an FDE. *ret_cie is then the offset of its CIE in the
 * section, which may be any number, and entry stands behind it. entry->failed: it is neither FDE
 * nor CIE. */
bool callframe_is_fde(const struct callframe_section *s, struct cursor *entry, bool is_64,
                      uint64_t *ret_cie);
/* The CIE at an offset. False: it is none, or not understood. */
bool callframe_cie(const struct callframe_section *s, uint64_t offset, struct callframe_cie *ret);
/* The code that an FDE describes; entry stands at the FDE's instructions afterwards. False:
 * unsound. */
bool callframe_range(const struct callframe_section *s, const struct callframe_cie *cie,
                     struct cursor *entry, uint64_t *ret_start, uint64_t *ret_end);

#endif
