/* SPDX-License-Identifier: MIT */
/* ruby.h: Ruby (CRuby): which version an object is, and where that version keeps its frames. */
#ifndef SEAM_RUNTIMES_RUBY_H
#define SEAM_RUNTIMES_RUBY_H

#include "runtimes/kinds.h"
#include "runtimes/ruby_layout.h"

/* As of kinds_find. */
int ruby_find(struct runtime_object *ret, const struct runtime_source *source);

/* The walk finds lines itself: RUNTIME_LINES_GIVEN. */
uint32_t ruby_line(const struct runtime_lines *lines, uint32_t at);

#endif
