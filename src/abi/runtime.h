/* SPDX-License-Identifier: MIT */
/*
 * runtime.h: the interpreters whose functions are put into native stacks (runtimes.def): what they
 * are called, and how a function's name in a file says which it is of.
 */
#ifndef SEAM_ABI_RUNTIME_H
#define SEAM_ABI_RUNTIME_H

#include <stddef.h>

#include "abi/runtime_kind.h"

/* "python"; NULL: no such number. */
const char *runtime_name(enum runtime_kind kind);
/* "Python" */
const char *runtime_label(enum runtime_kind kind);
/* "py::" */
const char *runtime_prefix(enum runtime_kind kind);
/* Between a class or package and a function of it. */
const char *runtime_separator(enum runtime_kind kind);
/* "[python]", the object of its functions; "[runtime]": no such number. */
const char *runtime_object_name(enum runtime_kind kind);
/* By a name as options say it, of n bytes; RUNTIME_NO_KIND: none. */
enum runtime_kind runtime_of_name(const char *name, size_t n);
/* By the prefix of a function's name; RUNTIME_NO_KIND: none. */
enum runtime_kind runtime_of_function(const char *name);

/* Behind the ':' of "py::name:file"; NULL: the name has no file. */
const char *runtime_function_file(const char *name);

#endif
