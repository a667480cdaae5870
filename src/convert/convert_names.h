/* SPDX-License-Identifier: MIT */
/*
 * convert_names.h: functions of interpreters for tools that know nothing of them. In a recording
 * they have addresses at which no process has memory (abi/runtime_code.h). In a converted one they
 * are code of an ELF file that holds their names and lines (names_elf.h), which each process that
 * runs them is said to have mapped. For convert.c only.
 */
#ifndef SEAM_CONVERT_CONVERT_NAMES_H
#define SEAM_CONVERT_CONVERT_NAMES_H

#include "base/buf.h"
#include "convert/convert.h"

struct convert_names;

/*
 * Looks which functions the samples use, and writes the file: *ret, NULL if there are none, or if
 * it cannot be written: unwritten says why. It goes through the samples once, if there can be any.
 * -errno: they cannot be read.
 */
int convert_names_new(struct convert_names **ret, struct recording *rec,
                      const struct convert_opts *opts, struct seam_error *unwritten,
                      struct seam_error *err);
void convert_names_free(struct convert_names *names);
size_t convert_names_count(const struct convert_names *names); /* of functions */
/* The address in the output; one that is no interpreter's stays as it is. */
uint64_t convert_names_address(const struct convert_names *names, uint64_t address);
/* Whether a chain has a function of an interpreter. */
bool convert_names_in(const struct seam_u64s *user);
/* Appends the mapping for a process that has none yet. -ENOMEM. */
int convert_names_map(struct convert_names *names, struct buf *out, const struct seam_attr *attr,
                      const struct seam_id *id);
/* The record beside samples was written: a process may have lost its mappings. */
void convert_names_beside(struct convert_names *names, const struct seam_decoded *record);

#endif
