/* SPDX-License-Identifier: MIT */
/*
 * otel_thread.h: OpenTelemetry's thread context (OTEP 4947): where an object keeps the variable
 * that leads from a thread to the record of its trace, and what such a record says.
 */
#ifndef SEAM_RUNTIMES_OTEL_THREAD_H
#define SEAM_RUNTIMES_OTEL_THREAD_H

#include "runtimes/context_elf.h"
#include "runtimes/context_layout.h"

/* 0, or -ENOENT: the object has no such variable, or nothing that leads to it. */
int otel_thread_find(struct context_process *ret, const struct context_elf *e);
/* Bytes of an entry of the thread's vector of modules, if the object is the dynamic linker; 0: it
 * is not. */
uint32_t otel_thread_vector(const struct context_elf *e);

#endif
