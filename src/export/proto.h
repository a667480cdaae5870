/* SPDX-License-Identifier: MIT */
/*
 * proto.h: writes protocol buffers: a field's number and value, appended to a buf. A field that is
 * 0 or empty is left out, as proto3 does; proto_bytes writes empty ones too.
 */
#ifndef SEAM_EXPORT_PROTO_H
#define SEAM_EXPORT_PROTO_H

#include "base/buf.h"

#define PROTO_VARINT_MOST 10u /* bytes */
/* Writes a varint; how many bytes. */
size_t proto_put_varint(unsigned char *to, uint64_t v);
void proto_varint(struct buf *out, uint64_t v);
void proto_u64(struct buf *out, unsigned field, uint64_t v);
void proto_bool(struct buf *out, unsigned field, bool v);
void proto_bytes(struct buf *out, unsigned field, const void *bytes, size_t n);
void proto_text(struct buf *out, unsigned field, const char *text);
/* Begins a message of n bytes, which the caller puts behind it. */
void proto_begin(struct buf *out, unsigned field, size_t n);
/* What proto_bytes and proto_message write for n bytes, of a field below 16. */
size_t proto_size(size_t n);
/* A message composed in from, which is cleared. */
void proto_message(struct buf *out, unsigned field, struct buf *from);
/* Text with every byte that is not UTF-8 as U+FFFD: what a field of type string must hold. */
void proto_utf8(struct buf *out, const char *text, size_t n);

#endif
