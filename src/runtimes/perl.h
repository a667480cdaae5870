/* SPDX-License-Identifier: MIT */
/* perl.h: Perl: which version an object is, where that version keeps its contexts, and which of
 * them run in which call of the loop. */
#ifndef SEAM_RUNTIMES_PERL_H
#define SEAM_RUNTIMES_PERL_H

#include <stdbool.h>
#include <stddef.h>

#include "runtimes/kinds.h"
#include "runtimes/perl_layout.h"
#include "runtimes/runtime_frame.h"

/* As of kinds_find. */
int perl_find(struct runtime_object *ret, const struct runtime_source *source);

/* A statement says its line itself: RUNTIME_LINES_GIVEN. */
uint32_t perl_line(const struct runtime_lines *lines, uint32_t at);

/*
 * Gives the calls of the loop (RUNTIME_FRAME_LOOP; key: enum perl_call) among *n frames their
 * native frames, by those that were met there (RUNTIME_FRAME_MET, behind all others), and takes out
 * what none runs. False: they do not fit.
 */
bool perl_match(struct runtime_frame *frames, size_t *n);

/* As of kinds_meet. */
void perl_meet(const struct runtime_object *o, struct runtime_frame *frames, size_t *n,
               const struct runtime_natives *natives);

#endif
