/* SPDX-License-Identifier: MIT */
/*
 * kernel_code.h: where kernel code came or went during a recording (BPF programs, modules). What
 * lies elsewhere is the same at any time, so stacks that touch none of it are equal at all times.
 */
#ifndef SEAM_SAMPLES_KERNEL_CODE_H
#define SEAM_SAMPLES_KERNEL_CODE_H

#include <seam/record.h>

/* Addresses [start, end]: the return address of a call that ends the code is its, too. */
struct kernel_code_range {
	uint64_t start, end;
};

/* Zero-initialise to start. */
struct kernel_code {
	struct kernel_code_range *ranges;
	size_t n, capacity, joined; /* of the first ones: in order and apart */
};

void kernel_code_free(struct kernel_code *k);
/* Code of len bytes came or went. -ENOMEM. */
int kernel_code_note(struct kernel_code *k, uint64_t start, uint64_t len);
/* To be called after the last one. Then any thread may ask. */
void kernel_code_seal(struct kernel_code *k);
bool kernel_code_changes(const struct kernel_code *k, uint64_t address);
/* Whether any of the words, which may be markers. */
bool kernel_code_changes_any(const struct kernel_code *k, const struct seam_u64s *words);

#endif
