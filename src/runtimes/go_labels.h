/* SPDX-License-Identifier: MIT */
/*
 * go_labels.h: where a program of Go keeps the labels of the goroutine that a thread runs
 * (runtime/pprof's), by its version.
 */
#ifndef SEAM_RUNTIMES_GO_LABELS_H
#define SEAM_RUNTIMES_GO_LABELS_H

#include "runtimes/context_elf.h"
#include "runtimes/context_layout.h"

/* 0; -ENOENT: the file is none of Go's. A version, or a build, that is not known is
 * CONTEXT_GO_OTHER. */
int go_labels_find(struct context_process *ret, const struct context_elf *e);
/* The same, once the version's text is known: "go1.24.4". */
void go_labels_version(struct context_process *ret, const char *version);

#endif
