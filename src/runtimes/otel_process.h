/* SPDX-License-Identifier: MIT */
/*
 * otel_process.h: OpenTelemetry's process context (OTEP 4719): what a process says of itself in a
 * message of protobuf, as far as samples need it: the name of its service, and what the attributes
 * in its threads' records are called (OTEP 4947).
 */
#ifndef SEAM_RUNTIMES_OTEL_PROCESS_H
#define SEAM_RUNTIMES_OTEL_PROCESS_H

#include <stddef.h>
#include <stdint.h>

#include "base/fixed_width.h"

#define OTEL_PROCESS_MOST 65536u /* bytes of a message that are read */
#define OTEL_PROCESS_KEYS 256u
#define OTEL_PROCESS_NAME ":OTEL_CTX" /* in the name of the mapping that begins with the head */

/* What stands at the beginning of the mapping. */
struct otel_process_head {
	char signature[8]; /* "OTEL_CTX" */
	uint32_t version, size;
	uint64_t published_ns; /* 0: it is being written */
	uint64_t payload;      /* the address of the message */
};

struct otel_process_text {
	uint32_t at, n; /* in text; n 0: there is none */
};

struct otel_process {
	uint32_t n_keys;
	struct otel_process_text service, keys[OTEL_PROCESS_KEYS];
	char text[OTEL_PROCESS_MOST];
};

/* Whether a message may be read at all. */
int otel_process_head_is_sound(const struct otel_process_head *head);
/* The first n bytes of ret->text are the message, n at most OTEL_PROCESS_MOST. What is unsound in
 * it is not there. */
void otel_process_read(struct otel_process *ret, size_t n);

#endif
