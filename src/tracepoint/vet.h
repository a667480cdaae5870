/* SPDX-License-Identifier: MIT */
/*
 * vet.h: is it safe to hand this to libtraceevent? Its parser recurses without a limit, and its
 * printer believes offsets, counts and widths. Each function gives NULL for yes, else why not.
 *
 * Together with the padded copy of the raw data that tracepoint.c prints from (VET_ROOM bytes,
 * zeros behind the data), the answers bound every read: fields lie inside the data; what the data
 * say of dynamic fields has 16 bits; counts and indexes that an expression may compute are refused
 * unless they are constants or fields, which vet_raw then holds against VET_COUNT.
 */
#ifndef SEAM_TRACEPOINT_VET_H
#define SEAM_TRACEPOINT_VET_H

#include <stddef.h>

#include <traceevent/event-parse.h>

#define VET_TEXT (32u << 10) /* bytes of a format's text; Linux 6.18's longest has 5.5 KiB */
#define VET_DEPTH 48         /* brackets inside brackets; Linux 6.18: 14 */
#define VET_OPERATORS 128    /* in one argument; Linux 6.18: 27 */
#define VET_ARGUMENTS 128    /* of a format, nested ones not counted */
#define VET_RAW 65536u       /* bytes of raw data: a record has at most so many */
#define VET_COUNT 65535u     /* elements of an array that a format prints */
/* What a read may reach: two offsets and two sizes of 16 bits, or a count of 8-byte elements. */
#define VET_ROOM (VET_RAW * 12u)

const char *vet_text(const char *text, size_t n);
const char *vet_event(const struct tep_event *event);
/* For an event that vet_event accepted. Not safe means that its fields may be printed one by one,
 * but not by its print format. */
const char *vet_format(const struct tep_event *event);
/* For an event that vet_event accepted. */
const char *vet_raw(const struct tep_event *event, const unsigned char *raw, size_t n);

#endif
