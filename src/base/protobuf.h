/* SPDX-License-Identifier: MIT */
/*
 * protobuf.h: reads the fields of a protobuf message that is not trusted, one after the other.
 * Knows no message: which field means what is its reader's.
 */
#ifndef SEAM_BASE_PROTOBUF_H
#define SEAM_BASE_PROTOBUF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"

/*
 * The next field's number; of one that is bytes (a string, a message) *bytes, else bytes->at is
 * NULL and its value is passed over. False: the end, or nonsense (c->failed).
 */
bool protobuf_field(struct cursor *c, uint64_t *field, struct cursor *bytes);
/* The same; of one that is a number (not a fixed one) *number, else 0. */
bool protobuf_value(struct cursor *c, uint64_t *field, struct cursor *bytes, uint64_t *number);

#endif
