/* SPDX-License-Identifier: MIT */
/*
 * grammar.h: is a format's text one that the kernel would write? libtraceevent's parser was made
 * for the kernel's own texts, and crashes on others, so only those that this grammar knows are
 * handed to it.
 */
#ifndef SEAM_TRACEPOINT_GRAMMAR_H
#define SEAM_TRACEPOINT_GRAMMAR_H

#include <stdbool.h>
#include <stddef.h>

/* The head and the list of fields, up to and without "print fmt:". */
bool grammar_fields(const char *text, size_t n);
/* What stands behind "print fmt:": a string and expressions over the fields of that list. */
bool grammar_print(const char *text, size_t n, const char *fields, size_t fields_n);

#endif
