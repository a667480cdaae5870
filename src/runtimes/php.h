/* SPDX-License-Identifier: MIT */
/* php.h: PHP: which version an object is, and where that version keeps its frames. */
#ifndef SEAM_RUNTIMES_PHP_H
#define SEAM_RUNTIMES_PHP_H

#include "runtimes/kinds.h"
#include "runtimes/php_layout.h"

/* As of kinds_find. */
int php_find(struct runtime_object *ret, const struct runtime_source *source);

/* An instruction says its line itself: RUNTIME_LINES_GIVEN. */
uint32_t php_line(const struct runtime_lines *lines, uint32_t at);

#endif
