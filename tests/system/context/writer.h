/* SPDX-License-Identifier: MIT */
/*
 * writer.h: a writer of OpenTelemetry's thread context (OTEP 4947), from the words of its text: the
 * variable, in an object of its own where the test says so, and the record.
 */
#ifndef SEAM_TESTS_CONTEXT_WRITER_H
#define SEAM_TESTS_CONTEXT_WRITER_H

#include <stdint.h>

struct record {
	uint8_t trace[16], span[8], valid, flags;
	uint16_t size;
	uint8_t attributes[600];
};

/* Makes the variable of this thread point to a record. */
void writer_set(struct record *r);

#endif
