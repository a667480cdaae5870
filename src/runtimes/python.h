/* SPDX-License-Identifier: MIT */
/*
 * python.h: CPython: which version an object is, and where that version keeps the frames of a
 * thread. Asks for symbols and bytes of the object; opens nothing.
 */
#ifndef SEAM_RUNTIMES_PYTHON_H
#define SEAM_RUNTIMES_PYTHON_H

#include <stddef.h>
#include <stdint.h>

#include "runtimes/kinds.h"
#include "runtimes/python_layout.h"

/*
 * 0: the object is CPython of a version that is known; -ENOENT: it is no CPython. -ENOTSUP: it is
 * another version, or a build that is not understood; the layout's version says which, or is 0.
 */
int python_find(struct runtime_object *ret, const struct runtime_source *source);

/*
 * The line of an instruction by a code object's location table, whose form is of enum python_lines;
 * 0: the table does not say. offset is in bytes of instructions.
 */
uint32_t python_line(const struct runtime_lines *lines, uint32_t offset);

#endif
